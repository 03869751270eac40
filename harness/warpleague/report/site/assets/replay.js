// The replay of a match: all of its frames at once, as each seat saw them, with the links and buttons for a whole match.

"use strict";

(async () => {
  const { MatchPage, detailsOf, failed, inflate, keep, later, lossesOf, nextBlunder, unpackReplay } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const { frames, seats } = await unpackReplay(find("replay").textContent);
  const ends = JSON.parse(find("standings").dataset.end);
  // What the seats saw, and the record, may be in a file beside the page, which is loaded when it is wanted.
  const { more: source } = document.body.dataset;
  const load = later(frames, source, document.querySelector("script[nonce]")?.nonce ?? "");
  let whole = source === undefined;
  let linked = 0;
  let address = window.location.hash; // as it was last read or written here

  const blunder = () => nextBlunder(frames, page.n);
  const page = new MatchPage(seats.map((seat, at) => ({ ...seat, ...ends[at] })), {
    outcome: find("outcome").dataset.text,
    view: (seat) => look(page.viewer === seat + 1 ? 0 : seat + 1),
    details: (frame) => detailsOf(frame, page.mayRead(frame), page.viewer === 0),
    shown: () => {
      window.clearTimeout(linked);
      linked = window.setTimeout(link, 150); // browsers allow only so many a second
    },
    keys: {
      e: () => look(0),
      f: nextFault,
      b: () => blunder() >= 0 && page.go(blunder()),
      ...Object.fromEntries(seats.slice(0, 10).map((_, seat) => [seat, () => look(seat + 1)])),
    },
  });

  /** Shows what a seat saw, or everything; at once, or when it is there. */
  async function look(viewer) {
    if (viewer > 0 && !whole) await load();
    whole ||= viewer > 0;
    page.show(page.n, viewer);
  }

  function nextFault() {
    const all = [...frames.keys()].filter((n) => frames[n].fault);
    const at = all.find((n) => n > page.n) ?? all[0];
    if (at !== undefined) page.go(at);
  }

  function link() {
    if (window.location.hash !== address) return; // a link was followed, and its event is on its way
    const as = page.viewer === 0 ? "" : `&as=${page.viewer - 1}`;
    window.history.replaceState(null, "", `#n=${page.n}${as}`);
    address = window.location.hash;
  }

  function follow(event) {
    address = window.location.hash;
    const wanted = new URLSearchParams(address.slice(1));
    if (event) {
      if (!["n", "as", "play"].some((name) => wanted.has(name))) return; // another part of the page
      window.scrollTo(0, 0);
    }
    const n = wanted.get("n") === "end" ? page.course.last : Number.parseInt(wanted.get("n") ?? "", 10);
    page.show(Number.isNaN(n) ? page.course.opening : n, 0);
    const as = Number.parseInt(wanted.get("as") ?? "", 10);
    if (as >= 0 && as < seats.length) look(as + 1).catch(failed);
    if (wanted.has("play") && !page.timer) page.play(page.n);
  }

  const toggle = keep("warpleague-hide-result", (on) => (find("quiet").checked = on));
  find("quiet").addEventListener("change", () => {
    toggle();
    page.draw();
  });
  find("everything").addEventListener("click", () => look(0));
  find("fault").addEventListener("click", nextFault);
  find("fault").hidden = !frames.some((frame) => frame.fault);
  // A site says beside its pages which match comes before and after this one.
  const order = globalThis.warpleagueOrder ?? [];
  const here = order.findIndex((id) => window.location.pathname.endsWith(`/${id}.html`));
  for (const [id, at] of here < 0 ? [] : [["before", here - 1], ["after", here + 1]]) {
    if (order[at] === undefined) continue;
    find(id).href = `${order[at]}.html`;
    find(id).hidden = false;
  }
  find("copy").addEventListener("click", async () => {
    link();
    const done = await navigator.clipboard?.writeText(window.location.href).then(() => true, () => false);
    find("copy").textContent = done ? "copied" : "copy it from the address bar";
    window.setTimeout(() => (find("copy").textContent = "copy link"), 2000);
  });
  find("save").hidden = find("record") === null && whole;
  find("save").addEventListener("click", async () => {
    const record = await inflate(find("record")?.textContent ?? (await load()).record);
    const made = document.createElement("a");
    made.href = URL.createObjectURL(new Blob([record], { type: "application/x-ndjson" }));
    made.download = find("save").dataset.name;
    made.click();
    window.setTimeout(() => URL.revokeObjectURL(made.href), 10000);
  });
  document.body.classList.toggle("embed", new URLSearchParams(window.location.search).has("embed"));
  window.addEventListener("hashchange", follow);
  page.grow(frames);
  find("losses").textContent = lossesOf(frames, seats.map((seat) => seat.label)).join("; ");
  follow();
  document.body.classList.add("ready");
})().catch(globalThis.warpleague.failed);
