// The page of a match, whether it is replayed, watched or played: one state, one painter of it, and one way to go in it.
//
// What bots wrote is only ever shown as text, never as markup.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const { Board, Course, besideOf, lossText = () => "", losses, make, moves, naming, showLegend, timeline, told, zoomable } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const FEW = 3; // so many seats have on their cards all that is theirs
  const MANY = 6; // more seats are a strip of leaders
  const REMEMBERED = 8; // steps for which the last move stays on the board
  const ROOMS = ["caption", "standings", "said"]; // each as high as it once was
  const WIDE = 1.15; // a board that is wider by its height has what is told above and below it, not beside it
  const [TURN_MS, STEP_MS, LIVE_MS] = [1500, 500, 350];
  const narrow = window.matchMedia("(max-width: 900px)");

  function seconds(ms) {
    if (ms >= 10000) return `${(ms / 1000).toFixed(1)} s`;
    return ms >= 100 ? `${Math.round(ms).toLocaleString("en")} ms` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;
  }

  /** How a score changed, with its sign; empty where it did not. */
  function earned(change) {
    return make("b", change < 0 ? "earned less" : "earned", change === 0 ? "" : `${change > 0 ? "+" : "−"}${Math.abs(change)}`);
  }

  /** What this browser keeps of a choice; nothing where pages may keep nothing. */
  function kept(act) {
    try {
      return act(window.localStorage);
    } catch {
      return null;
    }
  }

  /** Has a switch keep its choice under a name, and calls `changed` with it, at first too. */
  function keep(name, changed) {
    let on = kept((store) => store.getItem(name)) === "yes";
    changed(on);
    return () => {
      on = !on;
      kept((store) => store.setItem(name, on ? "yes" : "no"));
      changed(on);
    };
  }

  class MatchPage {
    /**
     * Of `seats`, each with its `label` and, at the end, its `score` and `place`. `more` may have: `live`, whether
     * frames come while one looks; `details(frame)`, a list of elements with more about a step; `view(seat)`, which is
     * called when a card is pressed; `shown()`, which is called after all was drawn.
     */
    constructor(seats, more = {}) {
      Object.assign(this, { seats: [], n: 0, viewer: 0, timer: 0, follows: true, outcome: "", draft: null, marks: [], mine: null, opened: null, ...more });
      this.nameOf = (owner) => (owner === null || owner === undefined ? "" : this.seats[owner]?.label ?? "the game itself");
      this.say = naming(this.nameOf, () => this.seats.length, () => this.roles);
      this.board = new Board(find("board"), this.nameOf, this.say, () => this.#boardHeight());
      this.board.around = document.querySelector("main");
      this.board.parted = () => narrow.matches;
      // What shrinks keeps its room, so that what stands below it stays where it is.
      this.rooms = new ResizeObserver((seen) => seen.forEach(({ target, borderBoxSize: [size] }) => target.style.setProperty("min-height", `${size.blockSize}px`)));
      for (const id of ROOMS) this.rooms.observe(find(id));
      this.zooming = zoomable(this.board, { near: find("near"), far: find("far"), all: find("all") });
      find("numbers").addEventListener("click", keep("warpleague-numbers", (on) => {
        find("board").classList.toggle("numbered", on);
        find("numbers").setAttribute("aria-pressed", String(on));
      }));
      this.sit(seats);
      this.#control();
      narrow.addEventListener("change", () => this.draw());
    }

    /** Seats these at the table, for a match of which there are no frames yet. */
    sit(seats) {
      this.seats = seats;
      this.clear();
      this.cards = seats.map(({ label }, seat) => {
        const part = Object.fromEntries(["score", "about", "points", "own"].map((name) => [name, make(name === "own" ? "div" : "span", name)]));
        const who = make("span", "who", make("b", "", String(seat)), ` ${label}`);
        const button = make("button", "standing", make("span", "words", who, " ", part.about), part.points);
        button.type = "button";
        button.addEventListener("click", () => this.#press(seat));
        return { ...part, button, card: make("li", `card seat-${seat % 10}`, button, part.own) };
      });
      const list = find("standings");
      list.replaceChildren(...this.cards.map(({ card }) => card));
      list.className = `standings ${seats.length > MANY ? "many" : seats.length > FEW ? "some" : "few"}`;
      find("names").hidden = seats.length <= MANY;
    }

    /** Forgets all frames. */
    clear() {
      this.pause();
      Object.assign(this, { course: new Course(this.seats.length), n: 0, follows: true, draft: null, marks: [] });
      Object.assign(this, { pictured: [], groups: [], entries: [], logged: null, roles: [] });
      for (const id of ["log", "panels", "tray", "caption", "details"]) find(id)?.replaceChildren();
      this.cards?.forEach(({ own }) => own.replaceChildren());
      this.board.clear();
    }

    /** Adds frames as they come from a server, each with what its viewer was told and saw. */
    hear(frames) {
      const whole = frames.map(({ told: lines, scene = {} }) => ({ kind: "act", told: [lines], scene: [scene] }));
      this.grow(whole.filter(({ told: [lines], scene: [delta] }) => lines.length > 0 || Object.keys(delta).length > 0));
    }

    /** Adds frames at the end; who looked at the end is led on to the new one, step by step. */
    grow(frames) {
      const first = this.course.frames.length === 0;
      this.course.grow(frames);
      if (first) this.roles = this.course.scene(0).roles;
      find("slider").max = this.course.last;
      find("charted").textContent = timeline.draw(find("strip"), find("rounds"), this.course, this.scene.measure);
      if (first) this.n = this.live ? this.course.last : this.course.opening;
      this.#fillLog();
      if (!first && this.follows && !this.timer && frames.length > 0) this.#step();
      else this.draw();
    }

    /** The scene as the viewer of everything sees it now. */
    get scene() {
      return this.course.scene(this.n);
    }

    /** Whether all is in one column. */
    get narrow() {
      return narrow.matches;
    }

    /** Whether the last frame is shown. */
    get rests() {
      return this.n === this.course.last && !this.timer;
    }

    /** Shows step n, as somebody wants it. */
    go(n) {
      this.pause();
      this.show(n);
    }

    /** Shows step n, as a viewer saw it. */
    show(n, viewer = this.viewer) {
      this.n = Math.max(0, Math.min(this.course.last, n));
      this.viewer = viewer;
      this.follows = this.timer !== 0 || this.n === this.course.last;
      this.draw();
    }

    /** Draws all that is shown. */
    draw() {
      if (this.logged !== this.viewer) this.#fillLog(true);
      this.#drawScene();
      this.#drawCards();
      this.#drawSaid();
      this.#drawEntry();
      this.#drawControls();
      this.shown?.();
    }

    /** Draws the board alone, as where it shows what may come. */
    redraw() {
      this.#drawScene();
    }

    /** Marks things on the board and beside it, as `showMarks` takes it. */
    mark(marks) {
      this.marks = marks;
      this.board.mark(marks);
    }

    /** Whoever does not want to know the result sees nothing of it, nor of what comes, before the end. */
    get hushed() {
      return Boolean(find("quiet")?.checked) && this.n < this.course.last;
    }

    #press(seat) {
      this.opened = this.opened === seat ? null : seat;
      if (this.view) this.view(seat);
      else this.draw();
    }

    // Who is ahead: a card for each seat

    #drawCards() {
      const { course, n } = this;
      const now = course.scores[n] ?? [];
      const acts = this.outcome && n === course.last ? null : course.acts(n);
      const lines = this.scene.seat_lines;
      const few = this.#inCards();
      this.cards.forEach(({ card, button, score, points, about }, seat) => {
        const side = course.sides[n]?.[seat] ?? {};
        const { label, note = "", ...end } = this.seats[seat];
        const ended = n === course.last && end.place !== undefined;
        const place = ended ? end.place : this.#place(now, seat);
        score.textContent = ended && now[seat] === undefined ? end.score : String(now[seat] ?? "");
        points.replaceChildren(score, earned(course.earned(seat, course.since(n) - 1, n)));
        const hope = side.hope === undefined ? "" : `expects ${Math.round(100 * side.hope)} %`;
        const bank = side.bank === undefined ? "" : `bank ${side.bank.toFixed(2)} s`;
        const fault = side.fault ? `out: ${side.fault}` : note;
        const own = few && this.#beside?.get(seat)?.trays.length > 0 ? "" : this.say(lines[seat] ?? "");
        const parts = [seat === this.mine ? "you" : "", this.roles[seat] ?? "", place, own, hope, bank].filter(Boolean);
        about.replaceChildren(parts.join(" · "), ...(fault ? [" ", make("span", "fault", fault)] : []));
        button.title = [label, this.view ? `show what it knew${seat < 10 ? ` (key ${seat})` : ""}` : "", side.spent ? `${seconds(side.spent)} used so far` : ""].filter(Boolean).join("; ");
        button.setAttribute("aria-pressed", String(this.view ? this.viewer === seat + 1 : this.opened === seat));
        card.classList.toggle("out", Boolean(side.fault) || Boolean(this.seats[seat].out));
        card.classList.toggle("acts", acts === seat);
        card.classList.toggle("ahead", place.startsWith("1st"));
      });
      if (this.seats.length > MANY) this.#lead(now);
      find("everything").hidden = this.viewer === 0;
    }

    /** The leaders first, as long as nobody is about to press one of the cards. */
    #lead(now) {
      const list = find("standings");
      const order = [...this.cards.keys()].sort((one, other) => (now[other] ?? 0) - (now[one] ?? 0) || one - other);
      const look = order.join(" ");
      if (list.dataset.order === look || list.matches(":hover, :focus-within")) return;
      list.dataset.order = look;
      list.append(...order.map((seat) => this.cards[seat].card));
    }

    #place(now, seat) {
      if (now.length < 2 || now[seat] === undefined) return "";
      const same = now.filter((score) => score === now[seat]).length;
      if (same === now.length) return "level";
      const rank = 1 + now.filter((score) => score > now[seat]).length;
      const ending = rank > 10 && rank < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[rank % 10] ?? "th";
      return `${rank}${ending}${same > 1 ? ", shared" : ""}`;
    }

    // What happened last, in one sentence

    /** Nobody but the seat itself knew of its note, its action as it stood, and its fault. */
    mayRead(frame) {
      return this.viewer === 0 || frame.seat === this.viewer - 1;
    }

    /** What a step tells; nothing where there is nothing to tell. */
    #texts(n) {
      const frame = this.course.frames[n];
      const lines = told(frame, this.viewer).map(this.say);
      if (frame.fault && this.mayRead(frame)) {
        return [`${this.nameOf(frame.seat)} is ${frame.fault[1] ? "out" : "substituted"}: ${frame.fault[0]}`, ...lines];
      }
      if (lines.length > 0 || this.live) return lines;
      if (frame.kind === "start") return ["the start"];
      if (this.viewer > 0) return [`not seen by ${this.nameOf(this.viewer - 1)}`];
      return [frame.kind === "chance" ? "the dice are rolled" : `${this.nameOf(frame.seat)} acts`];
    }

    /** The same as clauses: the seat whose name one begins with (-1: none, or that of `whose`), and the rest. */
    #clauses(n, whose) {
      const { roles } = this;
      return this.#texts(n).map((text) => {
        const names = this.seats.map(({ label }, seat) => (text.startsWith(`${label} (${roles[seat]}) `) ? `${label} (${roles[seat]})` : label));
        const seat = names.findIndex((name) => text.startsWith(`${name} `));
        if (seat < 0) return [-1, text];
        return [seat === whose ? -1 : seat, text.slice(names[seat].length + 1)];
      });
    }

    #drawSaid() {
      const { course, n } = this;
      const frame = course.frames[n];
      const parts = [];
      const ended = this.outcome && n === course.last;
      if (ended) parts.push(make("b", "over", `${this.outcome}.`));
      else if (frame && (n > 0 || this.live)) {
        let whose = null;
        // At the end of what has come of a match only the last step; else at the end of a turn all of it.
        for (let at = n === course.last && this.live ? n : course.since(n); at <= n; at += 1) {
          for (const [seat, text] of this.#clauses(at, whose)) {
            if (parts.length > 0) parts.push("; ");
            if (seat >= 0) parts.push(make("b", `who seat-${seat % 10}`, this.seats[seat].label), " ");
            parts.push(text);
            if (seat >= 0) whose = seat;
          }
        }
      }
      if (frame && n === 0 && parts.length === 0) parts.push("The match begins.");
      find("sentence").replaceChildren(...parts);
      find("sentence").title = find("sentence").textContent;
      const turn = course.turn(n);
      const facts = turn.to > turn.from ? [`step ${n - turn.from + 1} of ${turn.to - turn.from + 1} of this turn`] : [];
      const ms = course.frames.slice(course.since(n), n + 1).reduce((sum, one) => sum + (one.ms?.[0] ?? 0), 0);
      if (ms > 0) facts.push(seconds(ms));
      const loss = n > 0 && this.mayRead(frame) ? lossText(frame) : "";
      find("moment").replaceChildren(facts.join(" · "), ...(loss ? [" ", make("span", "loss", loss)] : []));
      const seat = frame?.seat ?? turn.seat;
      find("said").className = `said ${n === 0 || seat === null || seat === undefined ? "" : `seat-${seat % 10}`}`;
    }

    // All steps, turn by turn, with what each earned

    /** Fills the list, all of it `anew` or from the last turn on, which may have gone on. */
    #fillLog(anew = false) {
      const { course } = this;
      if (anew) [this.groups, this.entries] = [[], []];
      this.groups.pop();
      this.logged = this.viewer;
      for (const turn of course.turns.slice(this.groups.length)) this.groups.push(this.#group(turn));
      const list = find("log");
      while (list.children.length > this.groups.length) list.lastChild.remove();
      this.groups.forEach((group, at) => {
        if (at >= list.children.length) list.append(group);
        else if (list.children[at] !== group) list.children[at].replaceWith(group);
      });
    }

    #group({ from, to, seat, number }) {
      const change = seat === null ? 0 : this.course.earned(seat, from - 1, to);
      const name = [this.course.counted[from - 1] ? number || "set-up" : "", this.nameOf(seat)].filter(Boolean).join(" · ");
      const head = make("p", "head", make("span", "who", name), earned(change));
      const group = make("div", `turn ${seat === null ? "" : `seat-${seat % 10}`}`, head);
      head.setAttribute("role", "presentation");
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", head.textContent);
      for (let n = from; n <= to; n += 1) {
        this.entries[n] = this.#entry(n, seat);
        if (this.entries[n]) group.append(this.entries[n]);
      }
      return group;
    }

    #entry(n, whose) {
      const frame = this.course.frames[n];
      const texts = this.#clauses(n, whose).map(([seat, text]) => (seat >= 0 ? `${this.seats[seat].label} ${text}` : text));
      if (texts.length === 0) return null;
      const made = make("div", `step ${this.mayRead(frame) || !frame.fault ? frame.kind : "unseen"}`);
      made.id = `line-${n}`;
      made.dataset.n = n;
      made.setAttribute("role", "option");
      if (frame.marks?.includes("auto")) made.classList.add("auto");
      const won = earned(this.course.earned(frame.seat ?? whose, n - 1, n));
      const loss = this.mayRead(frame) ? lossText(frame) : "";
      made.append(make("span", "n", String(n)), make("span", "what", texts.join("; ")));
      if (loss) made.append(make("span", "loss", loss));
      else if (won.textContent) made.append(won);
      else if (frame.ms) made.append(make("span", "ms", seconds(frame.ms[0])));
      if (frame.note && this.mayRead(frame)) made.append(make("span", "note", frame.note));
      return made;
    }

    #drawEntry() {
      const log = find("log");
      log.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
      const made = this.entries.slice(0, this.n + 1).findLast(Boolean);
      if (made) {
        made.setAttribute("aria-selected", "true");
        log.setAttribute("aria-activedescendant", made.id);
        this.#reveal(made, 6);
      } else log.removeAttribute("aria-activedescendant");
      const frame = this.course.frames[this.n];
      find("details").replaceChildren(...(frame && this.details ? this.details(frame) : []));
    }

    /** Scrolls the log, never the page, to an entry; again after layout, which first knows how tall all others are. */
    #reveal(made, tries) {
      const log = find("log");
      const [list, own] = [log.getBoundingClientRect(), made.getBoundingClientRect()];
      const margin = Math.min(80, log.clientHeight / 3);
      const out = own.top < list.top + margin || own.bottom > list.top + log.clientHeight - margin;
      if (out) log.scrollTop += own.top + own.height / 2 - list.top - log.clientHeight / 2;
      if (tries > 0) window.requestAnimationFrame(() => made.matches("[aria-selected]") && this.#reveal(made, tries - 1));
    }

    // Board, and what stands beside it

    #beside = null; // by owner, as `besideOf` tells it

    #inCards() {
      return this.seats.length <= FEW && this.mine === null && !narrow.matches;
    }

    /** What moved and what was lost in this turn up to now or, where nothing was, in the last steps before it. */
    #lately() {
      const at = (n) => this.course.scene(n, this.viewer);
      const whole = this.course.since(this.n);
      const [trail, gone, seen] = [[], { pieces: [], links: [] }, new Set()];
      for (let n = Math.max(1, whole); n <= this.n; n += 1) {
        for (const move of moves(at(n - 1), at(n))) {
          trail.push({ ...move, ghost: !seen.has(move.piece[6]) });
          seen.add(move.piece[6]);
        }
        const { pieces, links } = losses(at(n - 1), at(n));
        gone.pieces.push(...pieces);
        gone.links.push(...links);
      }
      for (let n = whole - 1; trail.length + gone.pieces.length === 0 && n > 0 && n > whole - REMEMBERED; n -= 1) {
        trail.push(...moves(at(n - 1), at(n)));
      }
      const there = new Set(at(this.n).pieces.map((piece) => piece[6]));
      return { trail: trail.filter(({ piece }) => there.has(piece[6])), gone };
    }

    #drawScene() {
      if (this.course.frames.length === 0) return;
      const { n, viewer, course } = this;
      const drafted = this.draft !== null && n === course.last;
      const before = drafted ? course.scene(n, viewer) : n > 0 ? course.scene(n - 1, viewer) : undefined;
      const scene = drafted ? this.draft : course.scene(n, viewer);
      const look = [scene, before, this.#inCards(), this.opened, narrow.matches];
      if (look.every((one, at) => one === this.pictured[at])) return;
      const near = Math.abs(n - (this.pictured.n ?? n)) <= Math.max(1, n - course.since(n) + 1);
      find("caption").textContent = this.say(scene.caption);
      find("board").toggleAttribute("hidden", scene.cells.length === 0);
      find("board").classList.toggle("glide", near && this.mine === null); // marks lie where pieces stand
      find("board").setAttribute("preserveAspectRatio", scene.apart ? "xMidYMin" : "xMidYMid");
      find("stage").classList.toggle("apart", scene.apart);
      if (this.pictured.n === undefined) find("legend-box").open = !narrow.matches && !scene.apart;
      this.pictured = Object.assign(look, { n });
      this.board.first = narrow.matches ? this.mine : null; // who plays on a phone needs the own sheet large, and the dice at hand
      this.#makeRoom();
      this.#drawBeside(scene, before);
      const led = drafted ? {} : this.#lately();
      this.board.show(scene, before, { ...led, marks: n === course.last ? this.marks : [] });
      const [, , wide, high] = this.board.box;
      find("stage").style.setProperty("--ratio", wide / high);
      find("stage").classList.toggle("wide", wide > WIDE * high);
      find("board").classList.toggle("foreseen", Boolean(this.foreseen));
      find("numbers").hidden = !find("board").querySelector(".number");
      showLegend(find("legend"), scene, this.say, find("board"));
    }

    /** What is of a seat goes on its card or, where there are more of them, beside the board; what is to be picked, in its tray. */
    #drawBeside(scene, before) {
      this.#beside = besideOf(scene, before, this);
      const few = this.#inCards();
      const handy = this.mine === null ? [] : [null, this.mine];
      const parts = (owner) => {
        const { trays, lines } = this.#beside.get(owner) ?? { trays: [], lines: [] };
        return handy.includes(owner) ? lines : [...trays, ...lines];
      };
      find("tray")?.replaceChildren(...handy.flatMap((owner) => this.#beside.get(owner)?.trays ?? []));
      this.cards.forEach(({ own }, seat) => own.replaceChildren(...(few ? parts(seat) : [])));
      const seat = this.opened ?? (this.viewer > 0 ? this.viewer - 1 : this.mine ?? this.course.acts(this.n));
      const owners = [null, ...[...this.#beside.keys()].filter((owner) => owner >= this.seats.length), ...(few ? [] : [seat])];
      find("panels").replaceChildren(...[...new Set(owners)].flatMap((owner) => {
        const own = parts(owner);
        const name = owner === null ? [] : [make("h2", `who seat-${owner % 10}`, this.nameOf(owner))];
        return own.length > 0 ? [make("div", "panel", ...name, ...own)] : [];
      }));
    }

    /** How high the board may be: on a narrow screen so that its controls, status and last steps are in view, too. */
    #boardHeight() {
      const svg = find("board");
      if (!narrow.matches) return svg.getBoundingClientRect().height;
      if (find("stage").classList.contains("apart")) return window.innerHeight * 0.9;
      const top = svg.getBoundingClientRect().top + window.scrollY;
      // What stays in view below it; a list that is unfolded lies over the board.
      if (!find("choices")?.open) this.below = (find("asks") ?? find("controls")).offsetHeight;
      return Math.max(240, window.innerHeight - top - Math.min(this.below ?? 0, window.innerHeight * 0.36) - find("said").offsetHeight - 8);
    }

    /** Lets what kept its room shrink. */
    #leaveRoom() {
      for (const id of ROOMS) find(id).style.removeProperty("min-height");
    }

    #makeRoom() {
      const own = narrow.matches && !find("stage").classList.contains("apart");
      find("board").style.maxHeight = own ? `${this.#boardHeight()}px` : "";
    }

    // Going anywhere

    /** Whether one goes by turns; a key that is pressed with Shift goes the other way. */
    #byTurns(shift = false) {
      return (find("by").value === "turn") !== shift;
    }

    /** The end of the turn of a step, where one goes by turns. */
    #stopAt(n) {
      return n === 0 || !this.#byTurns() ? n : this.course.turn(n).to;
    }

    /** The step to which one goes on or, where `way` is -1, back. */
    #beyond(way, shift = false) {
      const { course, n } = this;
      if (!this.#byTurns(shift)) return n + way;
      if (n === 0) return way > 0 ? course.turns[0]?.to ?? 0 : 0;
      const turn = course.turn(n);
      if (way < 0) return turn.from - 1;
      return n < turn.to ? turn.to : course.turns[course.turnAt[n] + 1]?.to ?? course.last;
    }

    #step() {
      if (this.n >= this.course.last) {
        this.pause();
        this.draw();
        return;
      }
      let to = this.live ? this.n + 1 : this.#beyond(1);
      // What only words tell takes no time, and all of it none where one wants it at once.
      while (this.live && to < this.course.last && (this.#pace() === 0 || Object.keys(this.course.frames[to].scene[0]).length === 0)) to += 1;
      this.timer = window.setTimeout(() => this.#step(), to === this.course.last && this.live ? 0 : this.#pace());
      this.show(to);
    }

    /** Milliseconds for a turn, or for a step; less where much has come. */
    #pace() {
      const speed = Number(find("speed").value);
      if (speed === 0) return 0;
      if (this.live) return LIVE_MS / speed / Math.max(1, (this.course.last - this.n) / 6);
      return (this.#byTurns() ? TURN_MS : STEP_MS) / speed;
    }

    /** Goes on by itself, up to the end. */
    play(from = this.n >= this.course.last ? 0 : this.n) {
      this.pause();
      find("play").classList.add("playing");
      find("play").setAttribute("aria-label", "pause");
      find("said").setAttribute("aria-live", "off"); // nobody can listen that fast
      this.timer = window.setTimeout(() => this.#step(), this.#pace());
      this.show(from);
    }

    pause() {
      window.clearTimeout(this.timer);
      this.timer = 0;
      find("play").classList.remove("playing");
      find("play").setAttribute("aria-label", "play");
      find("said").setAttribute("aria-live", "polite");
    }

    /** The next step in a direction at which somebody decided, skipping dice and what was forced. */
    #decision(way) {
      let n = this.n + way;
      const { frames, last } = this.course;
      while (n > 0 && n < last && !frames[n].ms && !frames[n].fault) n += way;
      return n;
    }

    #leap(count) {
      const at = this.course.turnAt[this.n] + count;
      return at < 0 ? 0 : this.course.turns[at]?.to ?? this.course.last;
    }

    #drawControls() {
      const { n, course } = this;
      find("slider").value = n;
      find("slider").setAttribute("aria-valuetext", `step ${n} of ${course.last}: ${find("sentence").textContent}`);
      find("position").textContent = `${n} / ${course.last}`;
      timeline.light(find("strip"), course, n, this.hushed);
      for (const id of ["first", "back"]) find(id).disabled = n === 0;
      for (const id of ["forth", "last"]) find(id).disabled = n === course.last;
      document.body.classList.toggle("hushed", this.hushed);
    }

    #control() {
      const buttons = {
        first: () => this.go(0),
        back: (event) => this.go(this.#beyond(-1, event.shiftKey)),
        play: () => (this.timer ? this.go(this.n) : this.play()),
        forth: (event) => this.go(this.#beyond(1, event.shiftKey)),
        last: () => this.go(this.course.last),
        help: () => find("keys").showModal(),
        close: () => find("keys").close(),
        names: () => {
          this.#leaveRoom();
          find("standings").classList.toggle("named");
        },
      };
      for (const [id, act] of Object.entries(buttons)) find(id).addEventListener("click", act);
      find("slider").addEventListener("input", () => this.go(this.#stopAt(Number(find("slider").value))));
      find("log").addEventListener("click", (event) => {
        const entry = event.target.closest(".step");
        if (entry) this.go(Number(entry.dataset.n));
      });
      this.keys = {
        ArrowLeft: buttons.back,
        ArrowRight: buttons.forth,
        ArrowUp: () => this.go(this.#decision(-1)),
        ArrowDown: () => this.go(this.#decision(1)),
        PageUp: () => this.go(this.#leap(-10)),
        PageDown: () => this.go(this.#leap(10)),
        Home: buttons.first,
        End: buttons.last,
        " ": buttons.play,
        "?": buttons.help,
        "+": this.zooming.near,
        "=": this.zooming.near,
        "-": this.zooming.far,
        ...this.keys,
      };
      document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
        if (event.target.closest("select, summary, input:not([type=checkbox], [type=range]), textarea")) return;
        if (event.key === " " && event.target.closest("button, input")) return; // which it presses
        const act = this.keys[event.key];
        if (!act || act(event) === false) return;
        event.preventDefault();
      });
      window.addEventListener("resize", () => {
        this.#leaveRoom();
        this.#makeRoom();
      });
      if (find("asks")) new ResizeObserver(() => this.#makeRoom()).observe(find("asks"));
    }
  }

  Object.assign(globalThis.warpleague, { MatchPage, keep, seconds });
})();
