// Shows the replay of a match: the current frame, the seat that sees it, and the buttons, keys and links to change them.
//
// What bots wrote is only ever shown as text, never as markup.

"use strict";

(async () => {
  const { Board, Film, make, moves, naming, showChart, showLegend, told, trays, unpackReplay, words, zoomable } = globalThis.warpleague;
  const { judgedFacts, nextBlunder } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const replay = await unpackReplay(find("replay").textContent);
  const { frames, seats } = replay;
  const last = frames.length - 1;
  const films = [...Array(seats.length + 1).keys()].map((viewer) => new Film(frames, viewer));
  const { say, titleOf } = naming(nameOf, () => seats.length, () => films[0].at(0).roles);
  const board = new Board(find("board"), nameOf, say);
  const zooming = zoomable(board, { near: find("near"), far: find("far"), all: find("all") });
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const state = { n: 0, viewer: 0, timer: 0 };

  // What the seats saw, and the record, may be in a file beside the page, which is loaded when it is wanted.
  const { more: source } = document.body.dataset;
  const load = globalThis.warpleague.later(frames, source, document.querySelector("script[nonce]")?.nonce ?? "");
  let whole = source === undefined;
  async function more() {
    const kept = await load();
    whole = true;
    return kept;
  }

  function nameOf(owner) {
    if (owner === null || owner === undefined) return "";
    return owner < seats.length ? seats[owner].label : "the game itself";
  }

  function seconds(ms) {
    if (ms >= 10000) return `${(ms / 1000).toFixed(1)} s`;
    return ms >= 100 ? `${Math.round(ms).toLocaleString("en")} ms` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;
  }

  // Times and banks of each seat up to each frame, so that going anywhere costs the same.
  const clocks = [seats.map(() => ({ spent: 0, asked: 0, bank: null }))];
  const out = [seats.map(() => null)];
  for (const frame of frames.slice(1)) {
    const before = clocks[clocks.length - 1];
    const gone = out[out.length - 1];
    // Where the record does not tell the bank that a decision left, it is not known from then on.
    const timed = frame.ms || frame.marks?.includes("substituted");
    if (!timed) clocks.push(before);
    else {
      const now = before.slice();
      const { spent, asked } = now[frame.seat];
      const ms = frame.ms ? frame.ms[0] : 0;
      now[frame.seat] = { spent: spent + ms, asked: asked + (frame.ms ? 1 : 0), bank: frame.bank ?? null };
      clocks.push(now);
    }
    if (frame.fault?.[1]) out.push(gone.map((fault, seat) => (seat === frame.seat ? frame.fault[0] : fault)));
    else out.push(gone);
  }

  // Who sees it

  const chips = [null, ...seats.keys()].map((seat) => {
    const chip = make("button", seat === null ? "chip" : `chip seat-${seat % 10}`);
    chip.type = "button";
    if (seat === null) {
      chip.append(make("span", "who", "Everything"), make("span", "clock", "all that happened"));
      chip.title = "show everything (key e)";
    } else {
      chip.append(make("span", "who", make("b", "", String(seat)), ` ${seats[seat].label}`), make("span", "clock"));
      chip.title = `show what ${seats[seat].label} knew${seat < 10 ? ` (key ${seat})` : ""}`;
    }
    chip.addEventListener("click", () => show(state.n, seat === null ? 0 : seat + 1));
    return chip;
  });
  find("seen").append(...chips);

  function showChips() {
    chips.forEach((chip, viewer) => {
      chip.setAttribute("aria-pressed", String(viewer === state.viewer));
      if (viewer === 0) return;
      const { spent, bank } = clocks[state.n][viewer - 1];
      const fault = out[state.n][viewer - 1];
      const parts = [fault ? `out: ${fault}` : `used ${seconds(spent)}`];
      if (!fault && bank !== null && bank !== undefined) parts.push(`bank ${bank.toFixed(2)} s`);
      chip.querySelector(".clock").textContent = parts.join(", ");
      chip.classList.toggle("out", Boolean(fault));
      chip.classList.toggle("acts", frames[Math.min(state.n + 1, last)].seat === viewer - 1 && state.n < last);
    });
    if (state.viewer !== shownViewer) {
      // On a narrow screen they are one row that scrolls.
      const chip = chips[state.viewer];
      find("seen").scrollLeft = chip.offsetLeft + chip.offsetWidth / 2 - find("seen").clientWidth / 2;
    }
  }

  // The log

  const log = find("log");
  let entries = [];

  function headline(frame) {
    const lines = told(frame, state.viewer);
    if (frame.kind === "start") return "the start";
    if (frame.fault && mayRead(frame)) {
      const after = frame.fault[1] ? "is out" : "is substituted";
      return [`${nameOf(frame.seat)} ${after}: ${frame.fault[0]}`, ...lines.map(say)].join("; ");
    }
    if (lines.length > 0) return lines.map(say).join("; ");
    if (state.viewer === 0) return frame.kind === "chance" ? "the dice are rolled" : `${nameOf(frame.seat)}: ${words(frame.ask ?? "act")}`;
    return `not seen by ${nameOf(state.viewer - 1)}`;
  }

  // Nobody but the seat itself knew of its note, its action as it stood, and its fault.
  function mayRead(frame) {
    return state.viewer === 0 || frame.seat === state.viewer - 1;
  }

  function entry(frame, n) {
    const made = make("li", `entry ${mayRead(frame) || !frame.fault ? frame.kind : "unseen"}`);
    made.id = `line-${n}`;
    made.setAttribute("role", "option");
    if (frame.seat !== undefined) made.classList.add("owned", `seat-${frame.seat % 10}`);
    if (frame.marks?.includes("auto")) made.classList.add("auto");
    made.append(make("span", "n", String(n)), make("span", "what", headline(frame)));
    if (frame.note && mayRead(frame)) made.append(make("span", "note", frame.note));
    if (frame.ms) made.append(make("span", "ms", seconds(frame.ms[0])));
    return made;
  }

  function fillLog() {
    entries = frames.map(entry);
    log.replaceChildren(...entries);
  }

  log.addEventListener("click", (event) => {
    const at = entries.indexOf(event.target.closest("li"));
    if (at < 0) return;
    pause();
    show(at);
  });

  function showEntry(before) {
    entries[before]?.removeAttribute("aria-selected");
    const made = entries[state.n];
    made.setAttribute("aria-selected", "true");
    log.setAttribute("aria-activedescendant", made.id);
    reveal(made, 6);
  }

  /** Scrolls the log, never the page, to an entry; again after layout, which first knows how tall all others are. */
  function reveal(made, tries) {
    const [list, own] = [log.getBoundingClientRect(), made.getBoundingClientRect()];
    const margin = Math.min(80, log.clientHeight / 3);
    const out = own.top < list.top + margin || own.bottom > list.top + log.clientHeight - margin;
    if (out) log.scrollTop += own.top + own.height / 2 - list.top - log.clientHeight / 2;
    if (tries > 0) window.requestAnimationFrame(() => entries[state.n] === made && reveal(made, tries - 1));
  }

  // What led here

  function fact(list, name, ...value) {
    list.append(make("dt", "", name), make("dd", "", ...value));
  }

  function showNow() {
    const frame = frames[state.n];
    const lines = told(frame, state.viewer);
    const head = make("p", "head");
    if (frame.kind === "start") head.append("Before the first line");
    else if (frame.kind === "chance") head.append(`Line ${state.n}: chance`);
    else {
      const who = make("span", `who seat-${frame.seat % 10}`, nameOf(frame.seat));
      if (lines.length === 0 && !mayRead(frame)) head.append(`Line ${state.n}: not seen by ${nameOf(state.viewer - 1)}`);
      else {
        const what = !frame.fault ? words(frame.ask ?? "act") : mayRead(frame) ? "fault" : "out";
        head.append(`Line ${state.n}: `, who, `, ${what}`);
      }
    }
    for (const mark of frame.marks ?? []) head.append(" ", make("span", "mark", MARKS[mark] ?? mark));
    if (frame.judged?.blunder && mayRead(frame)) head.append(" ", make("span", "mark fault", "blunder"));
    const parts = [head];
    if (lines.length > 0) parts.push(make("ul", "told", ...lines.map((line) => make("li", "", say(line)))));
    const list = make("dl");
    if (frame.note && mayRead(frame)) fact(list, "note", make("q", "", frame.note));
    if (frame.action && mayRead(frame)) fact(list, "action", make("code", "", frame.action));
    if (frame.outcome && state.viewer === 0) {
      const [of, outcome] = JSON.parse(frame.outcome);
      fact(list, "drawn numbers", outcome.map((shown, index) => side(shown, of[index])).join("; "));
    }
    if (frame.ms) {
      const [wall, cpu, wait] = frame.ms;
      const shares = [`${seconds(wall)}`];
      if (cpu !== null) shares.push(`${seconds(cpu)} on a processor`);
      if (wait) shares.push(`${seconds(wait)} waiting for one`);
      fact(list, "time", shares.join(", "));
    }
    if (frame.value !== undefined && mayRead(frame)) fact(list, "expects", `a share of ${frame.value.toFixed(2)}`);
    if (mayRead(frame)) for (const [name, text] of judgedFacts(frame)) fact(list, name, text);
    if (frame.bank !== undefined) fact(list, "bank left", `${frame.bank.toFixed(3)} s`);
    if (list.children.length > 0) parts.push(list);
    if (frame.fault && mayRead(frame)) parts.push(faultBox(frame.fault));
    if (state.n === last) parts.push(make("p", "over", find("outcome").dataset.text));
    find("now").replaceChildren(...parts);
  }

  const MARKS = {
    auto: "nothing to decide",
    then: "given ahead",
    substituted: "played by the referee",
  };

  function side(shown, of) {
    return Array.isArray(of) ? `${shown} of 0 to ${of.length - 1}, weighted` : `${shown} of 0 to ${of - 1}`;
  }

  function faultBox([kind, retired, evidence]) {
    const box = make("div", "fault");
    box.append(make("p", "verdict", `${kind}: ${retired ? "the seat is out" : "the referee plays for it"}`));
    const list = make("dl");
    for (const [name, text] of evidence) {
      if (text !== "") fact(list, name, make(text.includes("\n") || name !== "message" ? "pre" : "span", "", text));
    }
    box.append(list);
    return box;
  }

  // Board and panels

  let scenes = [undefined, undefined];
  const REMEMBERED = 8; // lines for which the last move stays on the board

  /** The moves of this line or, where it has none, those of the last line before it that has. */
  function lastMoves(film) {
    for (let n = state.n; n > 0 && n > state.n - REMEMBERED; n -= 1) {
      const found = moves(film.at(n - 1), film.at(n));
      if (found.length > 0) return found;
    }
    return [];
  }

  function showScene() {
    const film = films[state.viewer];
    const trail = lastMoves(film);
    const before = state.n > 0 ? film.at(state.n - 1) : undefined;
    const scene = film.at(state.n);
    if (scenes[0] === scene && scenes[1] === before) return;
    const step = scenes[0] !== undefined && Math.abs(state.n - shown) === 1;
    scenes = [scene, before];
    find("caption").textContent = say(scene.caption);
    find("board").toggleAttribute("hidden", scene.cells.length === 0);
    find("board").classList.toggle("glide", step && !still.matches);
    find("board").classList.toggle("tall", scene.apart);
    makeRoom(scene.apart);
    board.show(scene, before, trail.filter(({ piece }) => scene.pieces.some((now) => globalThis.warpleague.same(now, piece))));
    showPanels(scene, before);
    showLegend(find("legend"), scene, say, find("board"));
  }

  /** On a narrow screen: as high as the controls leave room for, so that they cover nothing of a board. */
  function makeRoom(tall) {
    const svg = find("board");
    const narrow = window.matchMedia("(max-width: 900px)").matches;
    if (!narrow || tall) svg.style.maxHeight = "";
    else {
      const top = svg.getBoundingClientRect().top + window.scrollY;
      const left = window.innerHeight - top - document.querySelector(".controls").offsetHeight - 24;
      svg.style.maxHeight = `${Math.max(300, left)}px`;
    }
  }

  function showPanels(scene, before) {
    const nobody = trays(scene, before, null);
    const owners = new Set();
    const panels = scene.panels.flatMap(([title, owner], index) => {
      const lines = scene.lines[index];
      const old = before?.lines[index] ?? [];
      const own = owner === null || owners.has(owner) ? [] : trays(scene, before, owner);
      if (owner !== null) owners.add(owner);
      if (lines.length + own.length === 0) return [];
      const panel = make("section", "panel", make("h2", "", titleOf(title, owner)), ...own);
      if (owner !== null) panel.classList.add("owned", `seat-${owner % 10}`);
      panel.append(make("div", "lines", ...lines.map((line, row) => {
        const changed = before !== undefined && old.length === lines.length && old[row] !== line;
        return make("div", changed ? "changed" : "", say(line) || "\u00a0");
      })));
      return [panel];
    });
    if (nobody.length > 0) panels.unshift(make("section", "panel", ...nobody));
    find("panels").replaceChildren(...panels);
    find("panels").hidden = panels.length === 0;
  }

  // The strip above the slider: a tick for every line, coloured by seat, faults and chance.

  function fillMarks() {
    const { element } = globalThis.warpleague;
    const paths = new Map();
    frames.forEach((frame, n) => {
      const name = frame.fault ? "fault" : frame.kind === "chance" ? "chance" : `seat-${(frame.seat ?? 0) % 10}`;
      if (frame.kind === "start") return;
      const height = frame.fault ? "M_,0v12" : frame.kind === "chance" ? "M_,9v3" : "M_,5v7";
      paths.set(name, (paths.get(name) ?? "") + height.replace("_", n));
    });
    const strip = find("strip");
    strip.setAttribute("viewBox", `-0.5 0 ${last + 1} 12`);
    const order = [...paths].sort(([one], [other]) => (one === "fault") - (other === "fault"));
    strip.replaceChildren(...order.map(([name, d]) => element("path", { class: name, d })));
  }

  // The chart below it: a click leads to the line.

  function fillChart() {
    const chart = find("chart");
    const told = showChart(chart, frames, seats.map((seat) => seat.label), films[0].at(0).measure);
    chart.toggleAttribute("hidden", told === "");
    find("charted").textContent = told;
    const go = (event) => {
      const { left, width } = chart.getBoundingClientRect();
      pause();
      show(Math.round(((event.clientX - left) / width) * (last + 1) - 0.5));
    };
    chart.addEventListener("pointerdown", (event) => {
      chart.setPointerCapture(event.pointerId);
      go(event);
    });
    chart.addEventListener("pointermove", (event) => event.buttons > 0 && go(event));
  }

  // Going anywhere

  const slider = find("slider");
  slider.max = last;
  slider.addEventListener("input", () => {
    pause();
    show(Number(slider.value));
  });

  let shown = -1;
  let shownViewer = -1;
  let linked = 0;
  let address = window.location.hash; // as it was last read or written here

  function show(n, viewer = state.viewer) {
    if (viewer > 0 && !whole) {
      more().then(() => show(state.n, viewer), globalThis.warpleague.failed);
      show(n, 0); // until that is there
      return;
    }
    state.n = Math.max(0, Math.min(last, n));
    state.viewer = Math.max(0, Math.min(seats.length, viewer));
    if (state.viewer !== shownViewer) fillLog();
    showScene();
    showChips();
    showEntry(shown);
    showNow();
    slider.value = state.n;
    find("chart").at(state.n);
    slider.setAttribute("aria-valuetext", `line ${state.n} of ${last}: ${headline(frames[state.n])}`);
    find("position").textContent = `${state.n} / ${last}`;
    for (const id of ["first", "back"]) find(id).disabled = state.n === 0;
    for (const id of ["forth", "last"]) find(id).disabled = state.n === last;
    [shown, shownViewer] = [state.n, state.viewer];
    window.clearTimeout(linked);
    linked = window.setTimeout(link, 150); // browsers allow only so many a second
  }

  function link() {
    if (window.location.hash !== address) return; // a link was followed, and its event is on its way
    const as = state.viewer === 0 ? "" : `&as=${state.viewer - 1}`;
    window.history.replaceState(null, "", `#n=${state.n}${as}`);
    address = window.location.hash;
  }

  function follow(event) {
    address = window.location.hash;
    const wanted = new URLSearchParams(window.location.hash.slice(1));
    if (event) {
      if (!["n", "as", "play"].some((name) => wanted.has(name))) return; // another part of the page
      window.scrollTo(0, 0);
    }
    const as = Number.parseInt(wanted.get("as") ?? "", 10);
    const n = wanted.get("n") === "end" ? last : Number.parseInt(wanted.get("n") ?? "0", 10) || 0;
    show(n, as >= 0 && as < seats.length ? as + 1 : 0);
    if (wanted.has("play") && !state.timer) play();
  }

  function turn() {
    if (state.n >= last) {
      pause();
      return;
    }
    show(state.n + 1);
    state.timer = window.setTimeout(turn, 1000 / Number(find("speed").value));
  }

  function play() {
    find("play").classList.add("playing");
    find("play").setAttribute("aria-label", "pause");
    if (state.n >= last) show(0);
    state.timer = window.setTimeout(turn, 1000 / Number(find("speed").value));
    find("now").setAttribute("aria-live", "off"); // nobody can listen that fast
  }

  function pause() {
    window.clearTimeout(state.timer);
    state.timer = 0;
    find("play").classList.remove("playing");
    find("play").setAttribute("aria-label", "play");
    find("now").setAttribute("aria-live", "polite");
  }

  function nextFault() {
    const after = [...frames.keys()].filter((n) => frames[n].fault);
    const at = after.find((n) => n > state.n) ?? after[0];
    if (at !== undefined) show(at);
  }

  function nextOf(step) {
    // The next decision that a bot was asked, skipping dice and what it had no choice about.
    let n = state.n + step;
    while (n > 0 && n < last && !frames[n].ms && !frames[n].fault) n += step;
    show(n);
  }

  const actions = {
    first: () => show(0),
    back: () => show(state.n - 1),
    play: () => (state.timer ? pause() : play()),
    forth: () => show(state.n + 1),
    last: () => show(last),
    fault: nextFault,
    help: () => find("keys").showModal(),
  };
  for (const [id, act] of Object.entries(actions)) {
    find(id).addEventListener("click", () => {
      if (id !== "play" && id !== "help") pause();
      act();
    });
  }
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
    const said = done ? "copied" : "copy it from the address bar";
    find("copy").textContent = said;
    window.setTimeout(() => (find("copy").textContent = "copy link"), 2000);
  });
  find("save").addEventListener("click", async () => {
    const record = await globalThis.warpleague.inflate(find("record")?.textContent ?? (await more()).record);
    const made = make("a");
    made.href = URL.createObjectURL(new Blob([record], { type: "application/x-ndjson" }));
    made.download = find("save").dataset.name;
    made.click();
    window.setTimeout(() => URL.revokeObjectURL(made.href), 10000);
  });
  find("save").hidden = find("record") === null && whole;
  find("close").addEventListener("click", () => find("keys").close());
  find("fault").hidden = !frames.some((frame) => frame.fault);

  const keys = {
    ArrowLeft: (event) => show(state.n - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => show(state.n + (event.shiftKey ? 10 : 1)),
    ArrowUp: () => nextOf(-1),
    ArrowDown: () => nextOf(1),
    PageUp: () => show(state.n - 25),
    PageDown: () => show(state.n + 25),
    Home: actions.first,
    End: actions.last,
    f: nextFault,
    b: () => nextBlunder(frames, state.n) >= 0 && show(nextBlunder(frames, state.n)),
    e: () => show(state.n, 0),
    "+": zooming.near,
    "=": zooming.near,
    "-": zooming.far,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || find("keys").open) return;
    if (event.target.closest("select, summary")) return;
    if (event.key === " ") {
      if (event.target.closest("button")) return; // which it presses
      actions.play();
    } else if (event.key === "?") actions.help();
    else if (/^\d$/.test(event.key)) {
      if (Number(event.key) >= seats.length) return;
      show(state.n, Number(event.key) + 1);
    } else if (keys[event.key]) {
      pause();
      keys[event.key](event);
    } else return;
    event.preventDefault();
  });

  window.addEventListener("resize", () => makeRoom(films[0].at(0).apart));
  window.addEventListener("hashchange", follow);
  document.body.classList.toggle("still", still.matches);
  still.addEventListener("change", () => document.body.classList.toggle("still", still.matches));
  document.body.classList.toggle("embed", new URLSearchParams(window.location.search).has("embed"));
  fillMarks();
  fillChart();
  follow();
  document.body.classList.add("ready");
})().catch(globalThis.warpleague.failed);
