// The state of the page of a match: its frames, which may grow, and what follows from them. It knows no page.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const { EMPTY, Film } = globalThis.warpleague;

  class Course {
    /** Of a match of so many seats; frames are added by `grow`. */
    constructor(seats) {
      Object.assign(this, { seats, frames: [], films: [] });
      this.grow([]);
    }

    /** The number of the last frame. */
    get last() {
      return Math.max(0, this.frames.length - 1);
    }

    /** Adds frames, and finds anew what follows from all of them. */
    grow(frames) {
      for (const frame of frames) this.frames.push(frame);
      this.scores = this.#values("scores", []);
      this.counted = this.#values("turn", null); // the number of the turn and whose it is, after each step
      this.sides = this.#sides();
      this.actors = Array(this.frames.length).fill(null); // who acts after each step
      for (let n = this.last - 1; n >= 0; n -= 1) this.actors[n] = this.frames[n + 1].seat ?? this.actors[n + 1];
      this.#divide();
    }

    /** What a viewer (0: of everything, 1 + seat: what that seat saw) sees after step n. */
    scene(n, viewer = 0) {
      if (this.frames.length === 0) return EMPTY;
      this.films[viewer] ??= new Film(this.frames, viewer);
      return this.films[viewer].at(n);
    }

    /** Who acts after step n, as far as that is known; null for nobody. */
    acts(n) {
      const scene = this.scene(n);
      return this.actors[n] ?? scene.focus ?? scene.turn?.[1] ?? null;
    }

    /** The turn that step n belongs to. */
    turn(n) {
      return this.turns[this.turnAt[n]] ?? { from: 0, to: 0, seat: null, number: 0 };
    }

    /** The first step of what is told at step n: of the turn, at its end, else that step itself. */
    since(n) {
      const turn = this.turn(n);
      return n > 0 && turn.to === n ? turn.from : n;
    }

    /** How much the score of a seat grew from after one step to after another; 0 where there is none. */
    earned(seat, from, to) {
      const [before, after] = [this.scores[Math.max(0, from)]?.[seat], this.scores[to]?.[seat]];
      return before === undefined || after === undefined ? 0 : Math.round((after - before) * 1e3) / 1e3;
    }

    /** The step before the first decision; where turns are counted, before the first one that is no set-up. */
    get opening() {
      const decided = ({ kind, marks }) => kind === "act" && !marks?.includes("auto");
      const first = this.frames.findIndex((frame, n) => n > 0 && decided(frame) && this.counted[n - 1]?.[0] > 0);
      return Math.max(0, (first < 0 ? this.frames.findIndex(decided) : first) - 1);
    }

    /** The value of a field of the scene after every step. */
    #values(field, first) {
      let now = first;
      return this.frames.map(({ scene: [delta] }) => (now = delta[field] === undefined ? now : delta[field]));
    }

    /** Of each seat after each step: its time and bank, the share that it last said to expect, and why it is out. */
    #sides() {
      let now = Array(this.seats).fill({ spent: 0 });
      return this.frames.map(({ seat, ms, bank, marks, value, fault }) => {
        // Where the record does not tell the bank that a decision left, it is not known from then on.
        const timed = ms || marks?.includes("substituted");
        if (!timed && typeof value !== "number" && !fault?.[1]) return now;
        now = now.slice();
        const own = { ...now[seat] };
        if (timed) Object.assign(own, { spent: own.spent + (ms?.[0] ?? 0), bank });
        if (typeof value === "number") own.hope = value;
        if (fault?.[1]) [own.fault] = fault;
        now[seat] = own;
        return now;
      });
    }

    /**
     * Finds the turns: the first and the last step of each, whose it is (null: nobody's), and the number that the game
     * gives it (0: none). Where a game does not say whose turn it is, a turn is all that one seat does in a row.
     */
    #divide() {
      const { frames, counted } = this;
      const silent = counted.every((turn) => turn === null);
      Object.assign(this, { turns: [], turnAt: [0] });
      for (let n = 1; n < frames.length; n += 1) {
        const [number, seat] = silent ? [0, frames[n].seat ?? this.actors[n]] : counted[n - 1] ?? [0, null];
        const now = this.turns.at(-1);
        if (now && now.number === number && now.seat === seat) now.to = n;
        else this.turns.push({ from: n, to: n, seat, number });
        this.turnAt.push(this.turns.length - 1);
      }
    }
  }

  globalThis.warpleague.Course = Course;
})();
