// Shows the list of a league's matches: filters it, sorts it, and shows one page at a time.
//
// The address names what is shown (`#bot=...`), so that it can be linked to.

"use strict";

(async () => {
  const { Board, Film, make, naming, unpack } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const PAGE = window.matchMedia("(max-width: 700px)").matches ? 25 : 100;
  const form = find("filter");
  const body = find("list").querySelector("tbody");
  const folder = "matches";

  const nonce = document.querySelector("script[nonce]")?.nonce ?? "";
  const data = await unpack(find("data").textContent);
  const names = ["number", "id", "seats", "ranks", "scores", "why", "lines", "elapsed", "faults", "busy", "rival", "replay"];
  const named = (list) => list.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));
  const parts = data.parts ?? [];
  const total = data.total ?? data.rows.length;
  let rows = named(data.rows);
  const fields = ["bot", "other", "result", "fault", "why", "text", "replay", "busy"];
  const state = { sort: "number", down: false, page: 0, part: 0, here: "" };

  /** A score as all pages write it: two digits after the point at most. */
  function number(value) {
    return value.toLocaleString("en", { maximumFractionDigits: 2 });
  }

  function choices(field, values) {
    form.elements[field].append(...values.map((value) => {
      const option = make("option", "", value);
      option.value = value;
      return option;
    }));
  }

  if (data.picture) {
    const { names: seated, frames } = data.picture;
    find("scene").hidden = false;
    const scene = new Film(frames, 0).at(0);
    const nameOf = (owner) => seated[owner] ?? "";
    new Board(find("board"), nameOf, naming(nameOf, () => seated.length, () => scene.roles)).show(scene);
    if (!find("board").hasAttribute("viewBox")) find("scene").hidden = true;
  }

  const sorted = [...data.bots].sort((one, other) => one.localeCompare(other));
  choices("bot", sorted);
  choices("other", sorted);
  choices("why", data.ends ?? [...new Set(rows.map((row) => row.why))].sort());
  form.elements.busy.closest("label").hidden = !(data.busy ?? rows.some((row) => row.busy));
  form.elements.replay.closest("label").hidden = rows.length > 0 && rows.every((row) => row.replay);
  if (parts.length > 0) {
    form.elements.part.append(...parts.map(([, from, to], place) => {
      const option = make("option", "", `${from.toLocaleString("en")} to ${to.toLocaleString("en")}`);
      option.value = String(place);
      return option;
    }));
    form.elements.part.closest("label").hidden = false;
    find("parts").hidden = false;
    await load(0);
  }

  /** Makes a part of a long list the one that is shown. Scripts may be loaded from a disk, other files may not. */
  async function load(place) {
    const kept = (globalThis.warpleague.parts ??= {});
    if (!(place in kept)) {
      await new Promise((done, failed) => {
        const script = make("script");
        script.nonce = nonce;
        script.src = `assets/${parts[place][0]}`;
        script.addEventListener("load", done);
        script.addEventListener("error", () => failed(new Error(`${script.src} cannot be loaded`)));
        document.head.append(script);
      });
    }
    rows = named(await unpack(kept[place]));
    delete kept[place]; // so that memory does not grow with the parts that were looked at
    state.part = place;
    form.elements.part.value = String(place);
  }

  /** The next part in this direction that has a match which is asked for; the last one if none has. */
  async function turn(step) {
    do await load(state.part + step);
    while (wanted().length === 0 && parts[state.part + step] !== undefined);
    state.page = step > 0 ? 0 : Number.MAX_SAFE_INTEGER;
  }

  if (!rows.some((row) => row.seats.length > 1)) form.elements.other.closest("label").hidden = true;

  function places(row, bot) {
    return row.seats.flatMap((seated, seat) => (seated === bot ? [seat] : []));
  }

  function ended(row, seat) {
    if (row.ranks[seat] !== 1) return "lost";
    return row.ranks.filter((rank) => rank === 1).length > 1 ? "drawn" : "won";
  }

  function wanted() {
    const asked = Object.fromEntries(fields.map((name) => {
      const field = form.elements[name];
      return [name, field.type === "checkbox" ? field.checked : field.value];
    }));
    const bot = asked.bot === "" ? -1 : data.bots.indexOf(asked.bot);
    const other = asked.other === "" ? -1 : data.bots.indexOf(asked.other);
    const text = asked.text.trim().toLowerCase();
    return rows.filter((row) => {
      const seats = bot < 0 ? [...row.seats.keys()] : places(row, bot);
      if (seats.length === 0) return false;
      if (other >= 0 && places(row, other).filter((seat) => seats.length > 1 || seat !== seats[0]).length === 0) return false;
      if (asked.result && !seats.some((seat) => ended(row, seat) === asked.result)) return false;
      if (asked.fault === "-" && row.faults.length > 0) return false;
      if (asked.fault && asked.fault !== "-") {
        const found = row.faults.filter(([seat, kind]) => seats.includes(seat) && (asked.fault === "*" || kind === asked.fault));
        if (found.length === 0) return false;
      }
      if (asked.why && row.why !== asked.why) return false;
      if (text && String(row.number) !== text && !row.id.startsWith(text)) return false;
      return (!asked.replay || row.replay) && (!asked.busy || row.busy);
    });
  }

  const orders = {
    number: (row) => row.number,
    bots: (row) => data.bots[row.seats[winners(row)[0]]],
    why: (row) => row.why,
    lines: (row) => row.lines,
    elapsed: (row) => row.elapsed,
    faults: (row) => row.faults.length,
  };

  function winners(row) {
    return [...row.seats.keys()].sort((one, other) => row.ranks[one] - row.ranks[other] || one - other);
  }

  function order(found) {
    const key = orders[state.sort];
    const keyed = found.map((row) => [key(row), row]);
    const compare = ([one], [other]) => (one < other ? -1 : one > other ? 1 : 0);
    keyed.sort((one, other) => (state.down ? -compare(one, other) : compare(one, other)) || one[1].number - other[1].number);
    return keyed.map(([, row]) => row);
  }

  function link(row, text, fragment = "") {
    const made = make("a", row.replay ? "" : "absent", text);
    if (row.replay) made.href = `${folder}/${encodeURIComponent(row.id)}.html${fragment}`;
    else {
      made.href = `#match=${encodeURIComponent(row.id)}&number=${row.number}`;
      made.title = "this match has no page yet: how to make it";
    }
    return made;
  }

  function line(row) {
    const seats = winners(row).map((seat) => {
      const made = make("span", row.ranks[seat] === 1 ? "seat first" : "seat", make("bdi", "", data.bots[row.seats[seat]]), " ");
      made.append(make("span", "score", number(row.scores[seat])));
      made.title = `seat ${seat}, rank ${row.ranks[seat]}`;
      return made;
    });
    if (row.rival !== null) {
      seats.push(make("span", "seat", make("i", "", "the game itself "), make("span", "score", number(row.rival))));
    }
    const bots = make("td");
    seats.forEach((seat, index) => bots.append(index ? " " : "", seat));
    const faults = make("td", "fault");
    row.faults.slice(0, 4).forEach(([seat, kind, n], index) => {
      const found = link(row, kind, `#n=${n}`);
      found.title = `${data.bots[row.seats[seat]]}, line ${n}`;
      found.classList.add("fault");
      faults.append(index ? ", " : "", found);
    });
    if (row.faults.length > 4) faults.append(`, ${row.faults.length - 4} more`);
    const made = make("tr", row.id === state.here ? "here" : "");
    made.append(
      make("td", "num", link(row, String(row.number))),
      bots,
      make("td", "", row.why),
      make("td", "num", row.lines.toLocaleString("en")),
      make("td", "num", row.elapsed.toFixed(2)),
      faults,
      make("td", "", make("code", "", row.id.slice(0, 10))),
    );
    return made;
  }

  function button(text, step, now) {
    const made = make("button", "text", text);
    made.type = "button";
    made.disabled = now;
    made.dataset.step = step;
    made.addEventListener("click", async () => {
      const pages = Math.max(1, Math.ceil(wanted().length / PAGE));
      if (state.page + step < 0 || state.page + step >= pages) await turn(step);
      else state.page += step;
      show();
      // The button is another one now: the focus goes on with it, or with its neighbour at either end.
      (find("pager").querySelector(`[data-step="${step}"]:enabled`) ?? find("pager").querySelector(":enabled"))?.focus();
      find("list").scrollIntoView({ block: "start" });
    });
    return made;
  }

  function show() {
    const found = order(wanted());
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    state.page = Math.min(state.page, pages - 1);
    body.replaceChildren(...found.slice(state.page * PAGE, (state.page + 1) * PAGE).map(line));
    const all = found.length === total ? "" : ` of ${total.toLocaleString("en")}`;
    find("count").textContent = `${found.length.toLocaleString("en")}${all} match${total === 1 ? "" : "es"}`;
    for (const header of find("list").querySelectorAll("th")) {
      const sort = header.querySelector("button")?.dataset.sort;
      if (sort === state.sort) header.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    }
    const pager = [];
    const [first, last] = [state.part === 0, state.part >= parts.length - 1];
    if (pages > 1 || parts.length > 1) {
      pager.push(button("‹ back", -1, state.page === 0 && first));
      pager.push(make("span", "soft", `page ${(state.page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`));
      pager.push(button("on ›", 1, state.page === pages - 1 && last));
    }
    find("pager").replaceChildren(...pager);
  }

  function ask() {
    state.page = 0;
    if (parts.length > 0) form.elements.part.value = String(state.part);
    const told = new URLSearchParams();
    for (const name of fields) {
      const field = form.elements[name];
      const value = field.type === "checkbox" ? (field.checked ? "yes" : "") : field.value;
      if (value) told.set(name, value);
    }
    window.history.replaceState(null, "", told.size ? `#${told}` : "#matches");
    show();
  }

  function clear() {
    for (const name of fields) {
      const field = form.elements[name];
      if (field.type === "checkbox") field.checked = false;
      else field.value = "";
    }
  }

  /** Says how a match is opened that has no page. */
  function tell(row) {
    const how = find("how");
    how.hidden = !row || Boolean(row.replay);
    if (how.hidden) return;
    how.querySelector("p").textContent = `Match ${row.number.toLocaleString("en")} has no page here. To make one of it:`;
    const written = how.dataset.command.replace("ID", row.id.slice(0, 12));
    how.querySelector("pre").textContent = `warpleague replay page "$(${written})" -o match-${row.number}.html`;
  }

  /** Shows what the address asks for; sections are the browser's business. */
  async function follow() {
    const told = new URLSearchParams(window.location.hash.slice(1));
    const id = told.get("match");
    if (id !== null) {
      state.here = id;
      const number = Number(told.get("number") ?? 0);
      const place = parts.findIndex(([, from, to]) => from <= number && number <= to);
      const part = data.replays?.[id] ?? (place < 0 ? undefined : place);
      if (part !== undefined && part !== state.part) await load(part);
      if (!wanted().some((row) => row.id === id)) clear();
      const at = order(wanted()).findIndex((row) => row.id === id);
      if (at >= 0) state.page = Math.floor(at / PAGE);
      show();
      tell(rows.find((row) => row.id === id));
      (find("how").hidden ? (body.querySelector(".here") ?? find("matches")) : find("how")).scrollIntoView({ block: "center" });
      return;
    }
    if (fields.some((name) => told.has(name))) {
      for (const name of fields) {
        const field = form.elements[name];
        if (field.type === "checkbox") field.checked = told.has(name);
        else field.value = told.get(name) ?? "";
      }
      state.page = 0;
      show();
      find("matches").scrollIntoView();
      return;
    }
    show();
  }

  form.addEventListener("input", async (event) => {
    if (event.target.name === "part") await load(Number(event.target.value));
    ask();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => window.setTimeout(ask));
  find("list").querySelector("thead").addEventListener("click", (event) => {
    const sort = event.target.closest("button")?.dataset.sort;
    if (!sort) return;
    state.down = sort === state.sort ? !state.down : ["lines", "elapsed", "faults"].includes(sort);
    state.sort = sort;
    state.page = 0;
    show();
  });
  window.addEventListener("hashchange", follow);
  await follow();
  document.body.classList.add("ready");
})().catch(globalThis.warpleague.failed);
