// Plays a match: shows what the server tells of it, and sends what the person chooses on the board or from the list.
//
// An action says which things of the scene it touches, in order: clicking these one after the other chooses it.

"use strict";

(() => {
  const { MatchPage, keep, make } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const MAX_LISTED = 40;
  const MAX_CHOSEN = 2; // of the choices that are not sent yet
  const MAX_APART = 3; // of the actions that end a turn, where there are no others
  const MAX_SAID = 4; // of the actions that a thing on the board may mean
  const LOOK_MS = 250; // before the board shows what an entry of the list leads to
  const view = { key: "", listed: "", since: 0, aims: 0 };
  let state = { match: 0, phase: "starting", seats: [] };
  let picked = []; // the ids clicked so far
  let glow = []; // the marks on the board
  let busy = false;

  const page = new MatchPage([], {
    live: true,
    shown: showState,
    keys: {
      ...Object.fromEntries([...Array(9).keys()].map((at) => [at + 1, () => find("moves").querySelectorAll("button")[at]?.click()])),
      u: () => find("undo").click(),
      h: () => find("hint").click(),
      Enter: ({ target }) => target === document.body && find("send").click(),
      Escape: () => unpick(),
    },
  });

  // What comes from the server

  function listen() {
    const source = new EventSource("news");
    source.onmessage = (event) => hear(JSON.parse(event.data));
    source.onerror = () => {
      if (state.phase === "closed") source.close();
      else {
        trouble("The program has stopped, or cannot be reached. The match is kept: start warpleague play as its terminal says.");
        if (source.readyState === EventSource.CLOSED) window.setTimeout(listen, 2000);
      }
    };
    source.onopen = () => trouble("");
  }

  function hear(message) {
    const before = state.match;
    state = message.state;
    const seats = (state.seats ?? []).map(({ name, fault, out, resigned }) => (
      { label: name, out: out || resigned, note: fault ? `${out ? "out" : "the referee played for it"}: ${fault}` : "" }
    ));
    if (state.match !== before || seats.length !== page.seats.length) page.sit(seats);
    else if (message.reset) page.clear();
    Object.assign(page, { seats, foreseen: false, mine: state.seat ?? null, draft: state.question?.scene ?? null, outcome: state.result?.told ?? "" });
    rest();
    if (state.phase === "closed") trouble("");
    page.hear(message.frames);
  }

  async function send(wanted) {
    if (busy) return;
    busy = true;
    document.body.setAttribute("aria-busy", "true");
    const question = state.question;
    if (["act", "send"].includes(wanted.do)) view.since = page.course.last;
    const body = { match: state.match, question: question?.id, chosen: question?.chosen.length, ...wanted };
    try {
      const answer = await fetch("do", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      trouble(answer.status === 409 ? (await answer.json()).error : answer.ok ? "" : await answer.text());
      // What comes of it is told in the news; nothing is told if it changed nothing.
      if (answer.ok) window.setTimeout(rest, 1000);
      else rest();
    } catch {
      trouble("The server does not answer. Is warpleague play still running?");
      rest();
    }
  }

  function rest() {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }

  function trouble(text) {
    find("trouble").textContent = text;
    find("trouble").hidden = text === "";
  }

  // What is shown

  /** The question, once all that led to it was shown. */
  function asked() {
    return state.phase === "asked" && !page.timer ? state.question : undefined;
  }

  function isOver() {
    return state.phase === "over" && !page.timer;
  }

  function showState() {
    const question = asked();
    const curtain = find("curtain");
    if (state.phase === "curtain") {
      find("curtain-title").textContent = `${page.nameOf(state.curtain)}, it is your turn`;
      if (!curtain.open) curtain.showModal();
    } else if (curtain.open) curtain.close();
    const status = find("status");
    status.classList.toggle("yours", Boolean(question));
    if (state.phase === "closed") status.textContent = "This sitting has ended. You can close the page.";
    else if (question) status.textContent = `Your turn${question.left_s === null ? "" : `, ${Math.round(question.left_s)} s left`}`;
    else status.textContent = state.phase === "starting" ? "The players get ready" : "The others play";
    const key = question ? `${state.match} ${question.id} ${question.chosen.length} ${page.narrow}` : "";
    if (key !== view.key) {
      view.key = key;
      picked = [];
      find("search").value = "";
      document.title = `${question ? "● " : ""}Play ${document.body.dataset.game}`;
      find("choices").open = !page.narrow || !question?.actions.some(({ to }) => to.length > 0);
    }
    find("again").hidden = page.course.last <= view.since;
    showTalk(question);
    showTools(question);
    showChoices();
    showOver();
  }

  function showTools(question) {
    const chooses = question && !question.complete;
    find("moves-title").textContent = chooses ? page.say(question.heading) : question ? "Send it?" : "";
    find("asks").classList.toggle("idle", !question);
    find("how").hidden = !chooses || question.chosen.length > 0 || !question.actions.some((action) => action.to.length > 0);
    const chosen = find("chosen");
    chosen.hidden = !question || question.chosen.length === 0;
    chosen.textContent = question ? chosenWords(question.chosen) : "";
    find("undo").disabled = !question || question.chosen.length === 0;
    find("send").hidden = !question?.complete && !find("hold").checked;
    find("send").disabled = !question?.complete;
    find("hint").disabled = !question || question.complete;
    find("resign").disabled = (state.seat ?? null) === null || state.phase === "over" || state.phase === "closed";
    const hint = question?.hint;
    find("hinted").hidden = !hint;
    find("hinted").textContent = hint ? `${hint.bot} would: ${said(question.actions[hint.index])}` : "";
  }

  /** The last choices in words: all of a long turn would push the moves off the screen. */
  function chosenWords(chosen) {
    const earlier = chosen.length - MAX_CHOSEN;
    const last = page.say(chosen.slice(-MAX_CHOSEN).join("; "));
    return earlier > 0 ? `Chosen: ${earlier} more; ${last}` : `Chosen: ${last}`;
  }

  function showTalk(question) {
    const talks = Boolean(question && question.talk > 0);
    find("talk").hidden = !talks;
    if (!talks) return;
    find("left").textContent = `${question.talk} left`;
    const boxes = state.seats.map((seat, number) => [seat, number]).filter(([, number]) => number !== state.seat);
    if (find("to").children.length === boxes.length) return;
    find("to").replaceChildren(...boxes.map(([, number]) => {
      const box = make("input");
      Object.assign(box, { type: "checkbox", value: String(number), checked: true });
      return make("label", "check", box, ` ${page.nameOf(number)}`);
    }));
  }

  function showOver() {
    const appears = isOver() && find("over").hidden;
    find("over").hidden = !isOver();
    find("asks").hidden = isOver();
    if (!isOver()) return;
    const { ranks, scores, faults } = state.result;
    find("over-title").textContent = state.result.told;
    const faulted = faults.some((own) => own.length > 0);
    find("faulted").hidden = !faulted;
    const order = [...ranks.keys()].sort((one, other) => ranks[one] - ranks[other]);
    find("ranks").replaceChildren(...order.map((seat) => make("tr", "",
      make("td", "num", String(ranks[seat])),
      make("th", `who seat-${seat % 10}`, page.nameOf(seat)),
      make("td", "num", String(scores[seat])),
      ...(faulted ? [make("td", "fault", faults[seat].at(-1) ?? "")] : []),
    )));
    find("replay").href = `replay/${state.match}`;
    find("record").href = `record/${state.match}`;
    if (appears) find("over").scrollIntoView({ block: "nearest" });
  }

  // Choosing

  /** An action in words, with the names of seats. */
  function said(action) {
    return page.say(action.text);
  }

  /** Some actions in words: all of them, or the first and how many there are. */
  function allSaid(actions) {
    if (actions.length <= MAX_SAID) return actions.map(said).join(" / ");
    return `${said(actions[0])}, or one of ${actions.length - 1} more`;
  }

  /** The actions that what was clicked so far may still lead to, each with its index and the path left to click. */
  function candidates() {
    const question = asked();
    if (!question || question.complete) return [];
    const actions = question.actions.map((action, index) => ({ ...action, index }));
    const same = sameBeginning(actions.filter((action) => action.to.length > 0).map((action) => action.to));
    return actions
      .map((action) => ({ ...action, path: action.to.slice(same) }))
      .filter((action) => picked.every((id, place) => action.path[place] === id));
  }

  /** How many ids all paths begin with, so that these need no click: the one ship that may move. */
  function sameBeginning(paths) {
    if (paths.length === 0) return 0;
    let same = 0;
    const most = Math.min(...paths.map((path) => path.length)) - 1;
    while (same < most && paths.every((path) => path[same] === paths[0][same])) same += 1;
    return same;
  }

  function act(index) {
    window.clearTimeout(view.aims);
    picked = [];
    closeMenu();
    send({ do: "act", index, hold: find("hold").checked });
  }

  /** The actions of each id that `of` gives of one. */
  function byId(actions, of) {
    const found = new Map();
    for (const action of actions) found.set(of(action), [...(found.get(of(action)) ?? []), action]);
    found.delete(undefined);
    return found;
  }

  /** The ids that may be clicked next, each with the actions it leads to. */
  function reachable(open) {
    return byId(open, ({ path }) => path[picked.length]);
  }

  /** The ids at the end of longer paths, each with the actions it may mean: what leads there is to be clicked first. */
  function ends(open) {
    return byId(open.filter(({ path }) => path.length > 1), ({ path }) => path.at(-1));
  }

  function pick(id, at) {
    closeMenu();
    const open = candidates();
    const next = reachable(open).get(id);
    if (next) {
      picked.push(id);
      const done = next.every((action) => action.path.length <= picked.length);
      if (next.length === 1) act(next[0].index);
      else {
        showChoices();
        if (done) openMenu(next, at);
      }
    } else if (picked.length > 0) {
      unpick();
      if (reachable(candidates()).has(id)) pick(id, at);
    } else {
      const [only, other] = ends(open).get(id) ?? []; // it can mean only one, though something should be clicked first
      if (only && !other) act(only.index);
    }
  }

  /** A list of what a click may mean, where it was made. */
  function openMenu(actions, at) {
    const menu = find("menu");
    menu.replaceChildren(...actions.map((action) => choice(action)));
    menu.hidden = false;
    const { width, height } = menu.getBoundingClientRect();
    const room = document.documentElement;
    menu.style.setProperty("left", `${Math.max(4, Math.min(at.x + 8, room.clientWidth - width - 4))}px`);
    menu.style.setProperty("top", `${Math.max(4, Math.min(at.y + 8, room.clientHeight - height - 4))}px`);
    menu.querySelector("button").focus();
  }

  function closeMenu() {
    find("menu").hidden = true;
  }

  /** Takes back what was clicked on the board and chooses nothing yet. */
  function unpick() {
    picked = [];
    closeMenu();
    showChoices();
  }

  function showChoices() {
    const open = candidates();
    glow = page.rests ? glowing(open) : [];
    page.mark(glow);
    showList(open);
  }

  /** What is marked on the board: what may be clicked now or later, what was clicked, and what a bot would do. */
  function glowing(open) {
    const question = asked();
    const next = reachable(open);
    const later = picked.length > 0 ? [] : [...ends(open)].filter(([id]) => !next.has(id));
    const hint = question?.hint ? question.actions[question.hint.index].to : [];
    return [
      ...[...next].map(([id, actions]) => [id, "hot", allSaid(actions)]),
      ...later.map(([id, actions]) => [id, actions.length === 1 ? "maybe" : "end", allSaid(actions)]),
      ...(question ? picked : []).map((id) => [id, "picked"]),
      ...hint.map((id) => [id, "hint"]),
    ];
  }

  function showList(open) {
    const typed = find("search").value.trim().toLowerCase();
    // What ends a turn stands apart: no key chooses it, and it never has the focus. Where all of many do, it is the list.
    const ending = open.filter(({ ends }) => ends);
    const apart = ending.length < open.length || open.length <= MAX_APART ? ending : [];
    const found = open.filter((action) => !apart.includes(action) && typed.split(" ").every((word) => said(action).toLowerCase().includes(word)));
    const shown = found.slice(0, MAX_LISTED);
    find("choices").hidden = open.length === apart.length;
    find("search-field").hidden = open.length <= MAX_LISTED;
    const left = found.length - shown.length;
    find("more").hidden = left === 0;
    find("more").textContent = `${left} more: click on the board, or type a part of the move`;
    // What is listed already stays: a person may be about to click it.
    const look = JSON.stringify([view.key, [...shown, ...apart].map((action) => [action.index, said(action)])]);
    if (look === view.listed) return;
    view.listed = look;
    const focused = document.activeElement?.dataset?.index;
    find("moves").replaceChildren(...shown.map((action, place) => make("li", "", choice(action, place < 9 ? make("kbd", "", String(place + 1)) : ""))));
    find("ends").replaceChildren(...apart.map((action) => choice(action)));
    find("counted").textContent = `Moves (${found.length})`;
    if (focused !== undefined) find("moves").querySelector("button")?.focus();
  }

  /** A button for an action; while it is looked at, the board shows what that touches. */
  function choice(action, ...before) {
    const button = make("button", "text", ...before, said(action));
    button.type = "button";
    button.dataset.index = String(action.index);
    button.addEventListener("click", () => act(action.index));
    for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => aim(action));
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, unaim);
    return button;
  }

  /** Shows on the board what an action of the list touches, and after a moment what comes of it. */
  function aim(action) {
    window.clearTimeout(view.aims);
    if (!page.rests) return;
    page.mark([...glow, ...action.to.map((id) => [id, "aimed"])]);
    const { key } = view;
    view.aims = window.setTimeout(async () => {
      const answer = await fetch(`outlook/${action.index}`).catch(() => null);
      const scene = answer?.ok ? await answer.json() : null;
      if (scene && key === view.key && view.aims && page.rests) look(scene);
    }, LOOK_MS);
  }

  function unaim() {
    window.clearTimeout(view.aims);
    view.aims = 0;
    look(null);
    page.mark(glow);
  }

  /** Shows a position that is not there yet, or again that which is. */
  function look(scene) {
    if (scene === null && !page.foreseen) return;
    page.foreseen = scene !== null;
    page.draft = scene ?? state.question?.scene ?? null;
    page.mark([]);
    page.redraw();
  }

  const main = document.querySelector("main");
  main.addEventListener("click", (event) => {
    // What lies on top may not be meant: the first thing below that can be chosen is.
    const things = document.elementsFromPoint(event.clientX, event.clientY).map((found) => found.closest("[data-id]"));
    const [hot, maybe] = ["hot", "maybe"].map((name) => things.find((found) => found?.classList.contains(name)));
    const meant = hot ?? maybe;
    if (meant) pick(meant.dataset.means, { x: event.clientX, y: event.clientY });
    else if (picked.length > 0 && event.target.closest("#board")) unpick();
  });
  main.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    const hot = event.target.closest("[data-id].hot");
    if (!hot) return;
    event.preventDefault();
    event.stopPropagation();
    pick(hot.dataset.means, hot.getBoundingClientRect());
  });

  document.addEventListener("pointerdown", (event) => {
    if (!find("menu").contains(event.target)) closeMenu();
  });

  find("search").addEventListener("input", () => showList(candidates()));
  find("again").addEventListener("click", () => page.play(view.since));
  find("undo").addEventListener("click", () => send({ do: "undo" }));
  find("send").addEventListener("click", () => send({ do: "send" }));
  find("hint").addEventListener("click", () => {
    find("hinted").hidden = false;
    find("hinted").textContent = "a bot thinks";
    send({ do: "hint" });
  });
  find("hold").addEventListener("change", keep("warpleague-hold", (on) => {
    find("hold").checked = on;
    showTools(asked());
  }));
  find("resign").addEventListener("click", () => {
    if (window.confirm("Leave this match? You will be ranked below the others.")) send({ do: "resign" });
  });
  find("sit").addEventListener("click", () => send({ do: "sit", seat: state.curtain }));
  find("curtain").addEventListener("cancel", (event) => event.preventDefault());
  find("rematch").addEventListener("click", () => send({ do: "rematch" }));
  find("leave").addEventListener("click", () => send({ do: "leave" }));
  find("say").addEventListener("submit", (event) => {
    event.preventDefault();
    const to = [...find("to").querySelectorAll("input:checked")].map((box) => Number(box.value));
    const text = find("words").value.trim();
    if (text === "" || to.length === 0) return;
    find("words").value = "";
    send({ do: "say", to, text });
  });

  listen();
})();
