// Draws the chart below the slider: how each seat stood at each line, and what the bots themselves expected.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const HIGH = 40;
  const { element, worthParts } = globalThis.warpleague;

  /** The scores of every frame, as the viewer of everything sees them. */
  function scoresOf(frames) {
    let now = [];
    return frames.map((frame) => (now = frame.scene[0].scores ?? now));
  }

  /** Draws into `svg`; returns what it shows in words, "" if there is nothing to show. */
  function showChart(svg, frames, names, measure) {
    const scores = scoresOf(frames);
    const last = frames.length - 1;
    const seats = Math.max(0, ...scores.map((now) => now.length));
    const all = scores.flat();
    const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
    const parts = worthParts(frames, HIGH);
    const judged = parts.length > 0; // then the scores would only be in the way
    if (high > low && !judged) {
      const y = (score) => Math.round((HIGH - 2 - ((score - low) / (high - low)) * (HIGH - 4)) * 100) / 100;
      for (let seat = 0; seat < seats; seat += 1) {
        let d = "";
        scores.forEach((now, n) => {
          if (now[seat] === undefined) return;
          const same = n > 0 && scores[n - 1][seat] === now[seat];
          if (d === "") d = `M${n} ${y(now[seat])}`;
          else if (!same || n === last) d += `H${n}V${y(now[seat])}`;
        });
        parts.push(element("path", { class: `score seat-${seat % 10}`, d }));
      }
    }
    const hopes = new Map();
    frames.forEach((frame, n) => {
      if (typeof frame.value !== "number") return;
      const at = `${n} ${Math.round((HIGH - 2 - frame.value * (HIGH - 4)) * 100) / 100}`;
      hopes.set(frame.seat, [...(hopes.get(frame.seat) ?? []), at]);
    });
    for (const [seat, points] of hopes) {
      parts.push(element("path", { class: `hope seat-${seat % 10}`, d: `M${points.join(" L")}` }));
    }
    const cursor = element("line", { class: "cursor", y1: 0, y2: HIGH });
    svg.setAttribute("viewBox", `-0.5 0 ${last + 1} ${HIGH}`);
    svg.replaceChildren(...parts, cursor);
    svg.at = (n) => {
      cursor.setAttribute("x1", n);
      cursor.setAttribute("x2", n);
    };
    const told = [];
    if (judged) told.push("what each seat could expect, by playouts, from nothing to all points; red: blunders");
    else if (high > low) told.push(`${measure}, 0 to ${high}`);
    if (hopes.size > 0) told.push("dotted: the share that a bot expects, 0 to 1");
    return told.join("; ");
  }

  Object.assign(globalThis.warpleague, { scoresOf, showChart });
})();
