// Divides the steps of a match into turns, and draws the strip of them that the slider lies on.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const { element, make, valuesOf } = globalThis.warpleague;
  const LABELS = 24; // at most, on the strip

  /**
   * The turns of a match: the first and the last step of each, whose it is (null: nobody's), and the number that the
   * game gives it (0: none). Where a game does not say whose turn it is, a turn is all that one seat does in a row.
   */
  function turnsOf(frames) {
    const known = valuesOf(frames, "turn", null);
    const silent = known.every((turn) => turn === null);
    const turns = [];
    let next = null; // who acts next
    const actors = frames.map((frame) => frame.seat ?? null);
    for (let n = frames.length - 1; n > 0; n -= 1) actors[n] = next = actors[n] ?? next;
    for (let n = 1; n < frames.length; n += 1) {
      const [number, seat] = silent ? [0, actors[n]] : known[n - 1] ?? [0, null];
      const now = turns.at(-1);
      if (now && now.number === number && now.seat === seat) now.to = n;
      else turns.push({ from: n, to: n, seat, number });
    }
    return turns;
  }

  /** For each step the place of its turn among the turns; the start belongs to the first. */
  function turnByStep(turns, steps) {
    const found = Array(steps).fill(0);
    turns.forEach((turn, at) => found.fill(at, turn.from, turn.to + 1));
    return found;
  }

  /** Draws the turns in the colours of their seats, faults, and the numbers of rounds; returns `at(n)`, which lights one. */
  function showStrip(svg, rounds, frames, turns, of) {
    const last = frames.length - 1;
    const gap = Math.min(0.15, last / 2500);
    const shape = ({ from, to }) => `M${from - 1 + gap} 0H${to - gap}V10H${from - 1 + gap}Z`;
    const paths = new Map();
    for (const turn of turns) {
      const name = turn.seat === null ? "nobody" : `seat-${turn.seat % 10}`;
      paths.set(name, (paths.get(name) ?? "") + shape(turn));
    }
    const faults = [...frames.keys()].filter((n) => frames[n].fault).map((n) => `M${n} 0V10`);
    const now = element("path", { class: "now" });
    svg.setAttribute("viewBox", `0 0 ${Math.max(1, last)} 10`);
    svg.replaceChildren(
      ...[...paths].map(([name, d]) => element("path", { class: name, d })),
      now,
      ...(faults.length > 0 ? [element("path", { class: "fault", d: faults.join("") })] : []),
    );
    const begun = turns.filter(({ number }, at) => number > 0 && number !== turns[at - 1]?.number);
    const every = Math.ceil(begun.length / LABELS) || 1;
    rounds.replaceChildren(...begun.filter(({ number }) => number === 1 || number % every === 0).map(({ from, number }) => {
      const label = make("span", "", String(number));
      label.style.left = `${(100 * (from - 1)) / last}%`;
      return label;
    }));
    return (n) => {
      const turn = n > 0 ? turns[of[n]] : undefined;
      now.setAttribute("d", turn ? shape(turn) : "");
      now.setAttribute("class", turn && turn.seat !== null ? `now seat-${turn.seat % 10}` : "now");
    };
  }

  Object.assign(globalThis.warpleague, { showStrip, turnByStep, turnsOf });
})();
