// Shows the replay of a match: the current frame, the seat that sees it, and the buttons, keys and links to change them.
//
// What bots wrote is only ever shown as text, never as markup.

"use strict";

(async () => {
  const { Board, Film, element, losses, make, moves, naming, panelsOf, showChart, showLegend, told, unpackReplay, words, zoomable } =
    globalThis.warpleague;
  const { judgedFacts, lossText, lossesOf, nextBlunder, showStrip, turnByStep, turnsOf } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const replay = await unpackReplay(find("replay").textContent);
  const { frames, seats } = replay;
  const last = frames.length - 1;
  const films = [...Array(seats.length + 1).keys()].map((viewer) => new Film(frames, viewer));
  const { say, titleOf } = naming(nameOf, () => seats.length, () => films[0].at(0).roles);
  const board = new Board(find("board"), nameOf, say, boardHeight);
  board.parted = () => narrow.matches;
  const zooming = zoomable(board, { near: find("near"), far: find("far"), all: find("all") });
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const narrow = window.matchMedia("(max-width: 900px)");
  const state = { n: 0, viewer: 0, timer: 0 };
  const turns = turnsOf(frames);
  const turnAt = turnByStep(turns, frames.length);

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

  // The card of each seat: who is ahead, and, as a button, what that seat knew

  const { scores, ...chart } = showChart(find("chart"), find("ticks"), frames, films[0].at(0).measure);
  const cards = [...document.querySelectorAll(".standing")].map((card, seat) => {
    const part = (name) => card.querySelector(name);
    const last = { score: part(".score").textContent, place: part(".about").textContent };
    card.addEventListener("click", () => show(state.n, state.viewer === seat + 1 ? 0 : seat + 1));
    return { card, last, score: part(".score"), change: part(".change"), about: part(".about"), done: part(".done") };
  });
  find("everything").addEventListener("click", () => show(state.n, 0));
  const actors = frames.map(() => null); // who acts after each step
  for (let n = last - 1; n >= 0; n -= 1) actors[n] = frames[n + 1].seat ?? actors[n + 1];

  /** The first step of what the sentence tells: of the turn, at its end, else that step itself. */
  function since(n) {
    const turn = turns[turnAt[n]];
    return n > 0 && turn.to === n ? turn.from : n;
  }

  function placeOf(now, seat) {
    const ahead = now.filter((score) => score > now[seat]).length;
    const same = now.filter((score) => score === now[seat]).length;
    if (now.length < 2) return "";
    if (same === now.length) return "level";
    const rank = ahead + 1;
    const ending = rank > 10 && rank < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[rank % 10] ?? "th";
    return `${rank}${ending}${same > 1 ? ", shared" : ""}`;
  }

  function showCards() {
    const now = scores[state.n];
    const before = scores[Math.max(0, since(state.n) - 1)];
    const lines = films[0].at(state.n).seat_lines;
    // Whoever wants no result sees no bar that tells how far it will go.
    const reach = Math.max(1e-9, ...scores.slice(0, hushed() ? state.n + 1 : last + 1).flat());
    cards.forEach(({ card, last: end, score, change, about, done }, seat) => {
      const { spent, bank } = clocks[state.n][seat];
      const fault = out[state.n][seat];
      const value = now[seat];
      const changed = value === undefined || before[seat] === undefined ? 0 : Math.round((value - before[seat]) * 1e3) / 1e3;
      const place = state.n === last ? end.place : value === undefined ? "" : placeOf(now, seat);
      score.textContent = value === undefined ? (state.n === last ? end.score : "") : String(value);
      change.textContent = changed === 0 ? "" : `${changed > 0 ? "+" : "−"}${Math.abs(changed)}`;
      change.className = `change ${changed < 0 ? "less" : ""}`;
      const time = bank !== null && bank !== undefined ? `bank ${bank.toFixed(2)} s` : "";
      card.title = [`show what ${seats[seat].label} knew${seat < 10 ? ` (key ${seat})` : ""}`, `${seconds(spent)} used so far`, time].filter(Boolean).join("; ");
      const hope = hopes[state.n][seat];
      const hoped = hope === undefined ? "" : `expects ${Math.round(100 * hope)} %`;
      const parts = fault ? [make("span", "fault", `out: ${fault}`)] : [say(lines[seat] ?? ""), hoped, time];
      // No line of a card breaks within what is between two points.
      const [rank, shared] = place.split(",");
      const told = parts.flatMap((part) => (typeof part === "string" ? part.split(" · ").map((words) => make("span", "", words)) : [part]));
      const ranked = shared ? make("span", "", rank, make("span", "shared", `,${shared}`)) : make("span", "", rank);
      const all = [ranked, ...told].filter((part) => part.textContent !== "");
      all.slice(0, -1).forEach((part) => part.append(" ·"));
      about.replaceChildren(...all.flatMap((part, at) => (at ? [" ", part] : [part])));
      done.setAttribute("width", value === undefined ? 0 : Math.max(0, Math.min(100, (100 * value) / reach)));
      card.setAttribute("aria-pressed", String(state.viewer === seat + 1));
      card.classList.toggle("out", Boolean(fault));
      card.classList.toggle("acts", actors[state.n] === seat && state.n < last);
      card.classList.toggle("ahead", place.startsWith("1st"));
    });
    find("everything").hidden = state.viewer === 0;
  }

  // What each bot last said that it expects.
  const hopes = [[]];
  for (const frame of frames.slice(1)) {
    const before = hopes[hopes.length - 1];
    if (typeof frame.value !== "number") hopes.push(before);
    else {
      const now = before.slice();
      now[frame.seat] = frame.value;
      hopes.push(now);
    }
  }

  // What happened last, in one sentence

  /** The texts of what happened from one step to another, as whole clauses; names stand before the first only. */
  function clausesOf(from, to) {
    const clauses = [];
    let whose = "";
    for (let n = from; n <= to; n += 1) {
      const frame = frames[n];
      for (const text of frame.kind === "chance" || frame.fault || told(frame, state.viewer).length === 0 ? [headline(frame)] : told(frame, state.viewer).map(say)) {
        const name = seats.map(({ label }) => label).find((label) => text.startsWith(`${label} `)) ?? "";
        const rest = name ? text.slice(name.length + 1) : text;
        if (name && name !== whose) clauses.push([name, rest]);
        else clauses.push(["", rest]);
        whose = name || whose;
      }
    }
    return clauses;
  }

  function showSaid() {
    const n = state.n;
    const [turn, at] = [turns[turnAt[n]], turnAt[n]];
    const parts = [];
    if (n === 0) parts.push(actors[0] === null ? "The match begins." : `The match begins. ${nameOf(actors[0])} acts first.`);
    else {
      const clauses = clausesOf(n === last ? n : since(n), n);
      const owner = frames[n].seat;
      if (!clauses[0][0] && owner !== undefined && frames[n].kind !== "chance" && mayRead(frames[n]) && !clauses[0][1].includes(nameOf(owner))) clauses[0][0] = `${nameOf(owner)}:`;
      clauses.forEach(([name, text], index) => {
        if (index > 0) parts.push("; ");
        const seat = seats.findIndex(({ label }) => name === label || name === `${label}:`);
        if (name) parts.push(make("b", seat < 0 ? "" : `who seat-${seat % 10}`, name), " ");
        parts.push(text);
      });
    }
    if (n === last) parts.unshift(make("b", "over", `${find("outcome").dataset.text}. `));
    find("sentence").replaceChildren(...parts);
    find("sentence").title = find("sentence").textContent;
    const steps = turn.to - turn.from + 1;
    // A game that counts its turns or rounds says so itself: another count beside it would only confuse.
    const facts = n === 0 || turns.some(({ number }) => number > 0) ? [] : [`turn ${at + 1} of ${turns.length}`];
    if (n > 0 && steps > 1) facts.push(`step ${n - turn.from + 1} of ${steps} of this turn`);
    const ms = frames.slice(since(n), n + 1).reduce((sum, frame) => sum + (frame.ms?.[0] ?? 0), 0);
    if (ms > 0) facts.push(seconds(ms));
    const loss = n > 0 && mayRead(frames[n]) ? lossText(frames[n]) : "";
    find("moment").replaceChildren(facts.join(" · "), ...(loss ? [" ", make("span", "loss", loss)] : []));
    find("said").className = `said ${frames[n].seat === undefined ? "" : `owned seat-${frames[n].seat % 10}`}`;
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
    if (lossText(frame) && mayRead(frame)) made.append(make("span", "loss", lossText(frame)));
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
    const head = make("p", "head");
    if (frame.kind === "start") head.append("Before the first step");
    else if (frame.kind === "chance") head.append(`Step ${state.n}: chance`);
    else {
      const who = make("span", `who seat-${frame.seat % 10}`, nameOf(frame.seat));
      if (told(frame, state.viewer).length === 0 && !mayRead(frame)) head.append(`Step ${state.n}: not seen by ${nameOf(state.viewer - 1)}`);
      else {
        const what = !frame.fault ? words(frame.ask ?? "act") : mayRead(frame) ? "fault" : "out";
        head.append(`Step ${state.n}: `, who, `, ${what}`);
      }
    }
    for (const mark of frame.marks ?? []) head.append(" ", make("span", "mark", MARKS[mark] ?? mark));
    if (frame.judged?.blunder && mayRead(frame)) head.append(" ", make("span", "mark fault", "blunder"));
    const parts = [head];
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

  /** What moved and what was lost in this turn up to now or, where nothing was, in the last steps before it. */
  function lately(film) {
    const whole = since(state.n);
    const [trail, gone] = [[], { pieces: [], links: [] }];
    const seen = new Set();
    for (let n = whole; n > 0 && n <= state.n; n += 1) {
      const [old, now] = [film.at(n - 1), film.at(n)];
      for (const move of moves(old, now)) {
        trail.push({ ...move, ghost: !seen.has(move.piece[6]) });
        seen.add(move.piece[6]);
      }
      const { pieces, links } = losses(old, now);
      gone.pieces.push(...pieces);
      gone.links.push(...links);
    }
    for (let n = whole - 1; trail.length + gone.pieces.length === 0 && n > 0 && n > whole - REMEMBERED; n -= 1) {
      trail.push(...moves(film.at(n - 1), film.at(n)));
    }
    return { trail, gone };
  }

  function showScene() {
    const film = films[state.viewer];
    const { trail, gone } = lately(film);
    const before = state.n > 0 ? film.at(state.n - 1) : undefined;
    const scene = film.at(state.n);
    if (scenes[0] === scene && scenes[1] === before) return;
    const step = scenes[0] !== undefined && Math.abs(turnAt[state.n] - turnAt[Math.max(0, shown)]) <= 1;
    scenes = [scene, before];
    find("caption").textContent = say(scene.caption);
    find("board").toggleAttribute("hidden", scene.cells.length === 0);
    find("board").classList.toggle("glide", step && !still.matches);
    find("stage").classList.toggle("apart", scene.apart);
    find("board").setAttribute("preserveAspectRatio", scene.apart ? "xMidYMin" : "xMidYMid");
    makeRoom();
    const there = new Set(scene.pieces.map((piece) => piece[6]));
    board.show(scene, before, { trail: trail.filter(({ piece }) => there.has(piece[6])), gone });
    const [, , wide, high] = board.box;
    find("stage").style.setProperty("--ratio", wide / high);
    showPanels(scene, before);
    showLegend(find("legend"), scene, say, find("board"));
    const panels = find("panels");
    if (!chosen && find("legend-box").open && panels.scrollHeight > panels.clientHeight + 4) find("legend-box").open = false;
  }

  /** How high the board may be: on a narrow screen so that its controls, status and last steps are in view, too. */
  function boardHeight() {
    const svg = find("board");
    if (!narrow.matches) return svg.getBoundingClientRect().height;
    if (find("stage").classList.contains("apart")) return window.innerHeight * 0.9;
    const top = svg.getBoundingClientRect().top + window.scrollY;
    return Math.max(280, window.innerHeight - top - find("controls").offsetHeight - 90);
  }

  let chosen = false; // whether somebody folded or unfolded the legend

  /** Shows the meaning of all marks at once where that takes room from nothing else. */
  function unfold() {
    const panels = find("panels");
    const held = [...panels.querySelectorAll(".panel")].reduce((low, panel) => Math.max(low, panel.offsetTop + panel.offsetHeight), panels.offsetTop);
    const left = find("stage").offsetTop + find("stage").offsetHeight - held;
    find("legend-box").open = !narrow.matches && left > 60 && !find("stage").classList.contains("apart");
    const legend = find("legend");
    if (panels.scrollHeight > panels.clientHeight + 4 || legend.scrollHeight > legend.clientHeight + 4) find("legend-box").open = false;
    find("legend-box").querySelector("summary").addEventListener("click", () => (chosen = true));
  }

  function makeRoom() {
    find("board").style.maxHeight = narrow.matches && !find("stage").classList.contains("apart") ? `${boardHeight()}px` : "";
  }

  function showPanels(scene, before) {
    const panels = panelsOf(scene, before, { nameOf, say, titleOf });
    find("panels").replaceChildren(...panels);
    find("panels").hidden = panels.length === 0;
    pack(panels);
  }

  /** Where panels stand in columns, each goes to the column that is the least full: no room is lost between them. */
  function pack(panels) {
    const many = getComputedStyle(find("panels")).gridTemplateColumns.split(" ").length;
    if (narrow.matches || many < 2 || panels.length <= many) return;
    const columns = [...Array(many).keys()].map(() => make("div", "column"));
    find("panels").replaceChildren(...columns);
    for (const panel of panels) {
      const room = columns.map((column) => [...column.children].reduce((sum, one) => sum + one.offsetHeight, 0));
      columns[room.indexOf(Math.min(...room))].append(panel);
    }
  }

  // The chart: the values at the cursor or the pointer; a click leads to the step.

  function showValues(n) {
    const shown = chart.values(n).flatMap((value, seat) => {
      const name = make("span", `who seat-${seat % 10}`, `${seat} `);
      name.title = nameOf(seat);
      return value === "" ? [] : [make("span", "value", name, value)];
    });
    find("values").replaceChildren(...shown);
  }

  function fillChart() {
    const svg = find("chart");
    find("course").toggleAttribute("hidden", chart.told === "");
    find("charted").textContent = chart.told;
    find("losses").textContent = lossesOf(frames, seats.map((seat) => seat.label)).join("; ");
    const stepAt = (event) => {
      const { left, width } = svg.getBoundingClientRect();
      return Math.max(0, Math.min(last, Math.round(((event.clientX - left) / width) * (last + 1) - 0.5)));
    };
    const go = (event) => {
      pause();
      show(event.shiftKey ? stepAt(event) : stopAt(stepAt(event)));
    };
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      go(event);
    });
    svg.addEventListener("pointermove", (event) => {
      if (event.buttons > 0) go(event);
      else if (!hushed()) showValues(stepAt(event));
    });
    svg.addEventListener("pointerleave", () => showValues(state.n));
    const settle = () => (narrow.matches ? find("controls") : find("side")).prepend(find("course"));
    narrow.addEventListener("change", settle);
    settle();
  }

  // Whoever does not want to know the result sees nothing of it, nor of what comes, before the end.

  const KEPT = "warpleague-hide-result";
  const kept = (act) => {
    try {
      return act(window.localStorage);
    } catch {
      return null; // where pages may keep nothing
    }
  };
  find("quiet").checked = kept((store) => store.getItem(KEPT)) === "yes";
  find("quiet").addEventListener("change", () => {
    kept((store) => store.setItem(KEPT, find("quiet").checked ? "yes" : "no"));
    show(state.n);
  });

  function hushed() {
    return find("quiet").checked && state.n < last;
  }

  function showHushed() {
    document.body.classList.toggle("hushed", hushed());
    const share = hushed() ? 1 - (state.n + 0.5) / (last + 1) : 0;
    find("chart").querySelector(".past").style.clipPath = share > 0 ? `inset(0 ${100 * share}% 0 0)` : "";
  }

  // Going anywhere

  const slider = find("slider");
  slider.max = last;
  slider.addEventListener("input", () => {
    pause();
    show(stopAt(Number(slider.value)));
  });
  const light = showStrip(find("strip"), find("rounds"), frames, turns, turnAt);

  /** Whether one goes by turns; a key that is pressed with Shift goes the other way. */
  function byTurns(shift = false) {
    return (find("by").value === "turn") !== shift;
  }

  /** The end of the turn of a step, where one goes by turns. */
  function stopAt(n) {
    return n === 0 || !byTurns() ? n : turns[turnAt[n]].to;
  }

  /** The step to which one goes on or, where `way` is -1, back. */
  function beyond(way, shift = false) {
    const { n } = state;
    if (!byTurns(shift)) return n + way;
    if (n === 0) return way > 0 ? turns[0]?.to ?? 0 : 0;
    const turn = turns[turnAt[n]];
    if (way < 0) return turn.from - 1;
    return n < turn.to ? turn.to : turns[turnAt[n] + 1]?.to ?? last;
  }

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
    showCards();
    showSaid();
    showScene(); // as large as the rest leaves room for
    showEntry(shown);
    showNow();
    slider.value = state.n;
    chart.at(state.n);
    showValues(state.n);
    light(state.n);
    showHushed();
    slider.setAttribute("aria-valuetext", `step ${state.n} of ${last}: ${headline(frames[state.n])}`);
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
    show(beyond(1));
    state.timer = window.setTimeout(turn, pace());
  }

  /** Milliseconds for a turn, or for a step. */
  function pace() {
    return (byTurns() ? 1500 : 500) / Number(find("speed").value);
  }

  function play() {
    find("play").classList.add("playing");
    find("play").setAttribute("aria-label", "pause");
    if (state.n >= last) show(0);
    state.timer = window.setTimeout(turn, pace());
    find("said").setAttribute("aria-live", "off"); // nobody can listen that fast
  }

  function pause() {
    window.clearTimeout(state.timer);
    state.timer = 0;
    find("play").classList.remove("playing");
    find("play").setAttribute("aria-label", "play");
    find("said").setAttribute("aria-live", "polite");
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

  function leap(count) {
    const at = turnAt[state.n] + count;
    if (state.n === 0 && count < 0) return;
    show(at < 0 ? 0 : turns[at]?.to ?? last);
  }

  const actions = {
    first: () => show(0),
    back: (event) => show(beyond(-1, event.shiftKey)),
    play: () => (state.timer ? pause() : play()),
    forth: (event) => show(beyond(1, event.shiftKey)),
    last: () => show(last),
    fault: nextFault,
    help: () => find("keys").showModal(),
  };
  for (const [id, act] of Object.entries(actions)) {
    find(id).addEventListener("click", (event) => {
      if (id !== "play" && id !== "help") pause();
      act(event);
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
    ArrowLeft: actions.back,
    ArrowRight: actions.forth,
    ArrowUp: () => nextOf(-1),
    ArrowDown: () => nextOf(1),
    PageUp: () => leap(-10),
    PageDown: () => leap(10),
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

  window.addEventListener("resize", makeRoom);
  window.addEventListener("hashchange", follow);
  document.body.classList.toggle("still", still.matches);
  still.addEventListener("change", () => document.body.classList.toggle("still", still.matches));
  document.body.classList.toggle("embed", new URLSearchParams(window.location.search).has("embed"));
  fillChart();
  follow();
  unfold();
  document.body.classList.add("ready");
})().catch(globalThis.warpleague.failed);
