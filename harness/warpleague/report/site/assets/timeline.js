// Draws the line of a match that the slider lies on: the turns in the colours of their seats, above them how each seat
// stood, or what an analysis says that it could expect, and what the bots themselves expected.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const { element, make, worthParts = () => [] } = globalThis.warpleague; // only a replay may be analysed
  const LABELS = 24; // at most, of numbers of turns
  const HIGH = 64; // of the lines, of 100
  const STRIP = 70; // where the turns begin
  const high = (share) => Math.round((HIGH - 2 - share * (HIGH - 4)) * 100) / 100;

  /** The scores as stairs, one for each seat; none where all are zero. */
  function stairs({ scores, last }) {
    const all = scores.flat();
    const [low, top] = [Math.min(0, ...all), Math.max(0, ...all)];
    if (top <= low) return [];
    return [...Array(Math.max(...scores.map((now) => now.length))).keys()].map((seat) => {
      let d = "";
      scores.forEach((now, n) => {
        if (now[seat] === undefined) return;
        const y = high((now[seat] - low) / (top - low));
        if (d === "") d = `M${n} ${y}`;
        else if (scores[n - 1][seat] !== now[seat] || n === last) d += `H${n}V${y}`;
      });
      return element("path", { class: `score seat-${seat % 10}`, d });
    });
  }

  /** What bots expected, dotted. */
  function hopes({ frames }) {
    const found = new Map();
    frames.forEach(({ seat, value }, n) => {
      if (typeof value === "number") found.set(seat, [...(found.get(seat) ?? []), `${n} ${high(value)}`]);
    });
    return [...found].map(([seat, points]) => element("path", { class: `hope seat-${seat % 10}`, d: `M${points.join(" L")}` }));
  }

  /** Draws all of a course into `svg`, and numbers of turns into `rounds`; returns what it shows in words. */
  function draw(svg, rounds, course, measure) {
    const { frames, turns } = course;
    const last = Math.max(1, course.last);
    const gap = Math.min(0.15, last / 2500);
    const shape = ({ from, to }) => `M${from - 1 + gap} ${STRIP}H${to - gap}V100H${from - 1 + gap}Z`;
    const paths = new Map();
    for (const turn of turns) {
      const name = turn.seat === null ? "nobody" : `seat-${turn.seat % 10}`;
      paths.set(name, (paths.get(name) ?? "") + shape(turn));
    }
    const judged = worthParts(frames, HIGH); // then the scores would only be in the way
    const lines = judged.length > 0 ? judged : stairs(course);
    const faults = frames.flatMap((frame, n) => (frame.fault ? [`M${n} ${STRIP}V100`] : [])).join("");
    const dotted = hopes(course);
    svg.setAttribute("viewBox", `0 0 ${last} 100`);
    svg.replaceChildren(
      ...[...paths].map(([name, d]) => element("path", { class: `turn ${name}`, d })),
      element("path", { class: "now" }),
      element("path", { class: "fault", d: faults }),
      element("g", { class: "past" }, ...lines, ...dotted),
    );
    const begun = turns.filter(({ number }, at) => number > 0 && number !== turns[at - 1]?.number);
    const every = Math.ceil(begun.length / LABELS) || 1;
    rounds.replaceChildren(...begun.filter(({ number }) => number === 1 || number % every === 0).map(({ from, number }) => {
      const label = make("span", "", String(number));
      label.style.left = `${(100 * (from - 1)) / last}%`;
      return label;
    }));
    const told = judged.length > 0 ? "; expected share, by playouts; red: blunders" : lines.length > 0 ? `; ${measure}` : "";
    return `turns${told}${dotted.length > 0 ? "; dotted: the share that a bot expects" : ""}`;
  }

  /** Lights the turn of step n; with `hushed` no line goes on after it. */
  function light(svg, course, n, hushed) {
    const last = Math.max(1, course.last);
    const { from, to, seat } = course.turn(n);
    const now = svg.querySelector(".now");
    now.setAttribute("d", n > 0 ? `M${from - 1} ${STRIP}H${to}V100H${from - 1}Z` : "");
    now.setAttribute("class", seat === null ? "now" : `now seat-${seat % 10}`);
    svg.querySelector(".past").style.clipPath = hushed ? `inset(0 ${100 * (1 - n / last)}% 0 0) view-box` : "";
  }

  globalThis.warpleague.timeline = { draw, light };
})();
