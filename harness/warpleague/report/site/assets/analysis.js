// Shows what an analysis found: the value of each decision in the chart, blunders and turning points, in words.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const { element } = globalThis.warpleague;
  const NOTED = 0.02; // the least share of the points lost that is noted
  const MISTAKE = 0.1;

  /** The parts of the chart, of height `high`; none where no decision has a value that is a share. */
  function worthParts(frames, high) {
    const y = (share) => Math.round((high - 2 - Math.min(Math.max(share, 0), 1) * (high - 4)) * 100) / 100;
    const lines = new Map();
    const errors = new Map();
    const parts = [];
    frames.forEach((frame, n) => {
      if (frame.judged?.worth === undefined) return;
      const [before, after, error] = frame.judged.worth;
      lines.set(frame.seat, [...(lines.get(frame.seat) ?? []), `${n - 1} ${y(before)}`, `${n} ${y(after)}`]);
      errors.set(frame.seat, `${errors.get(frame.seat) ?? ""}M${n} ${y(after - error)}V${y(after + error)}`);
    });
    for (const [seat, d] of errors) parts.push(element("path", { class: `error seat-${seat % 10}`, d }));
    for (const [seat, points] of lines) {
      parts.push(element("path", { class: `worth seat-${seat % 10}`, d: `M${points.join(" L")}` }));
    }
    const blunders = frames.flatMap((frame, n) => (frame.judged?.blunder ? [`M${n} 0V${high}`] : []));
    if (blunders.length > 0) parts.push(element("path", { class: "blunder", d: blunders.join("") }));
    return parts;
  }

  /** Names and texts of what was found about a frame. */
  function judgedFacts(frame) {
    const facts = frame.judged?.told ?? [];
    return frame.turn === undefined ? facts : [...facts, ["turning point", frame.turn]];
  }

  /** The line of the next blunder after line `n`, or of the first one; -1 if there is none. */
  function nextBlunder(frames, n) {
    const next = frames.findIndex((frame, at) => at > n && frame.judged?.blunder);
    return next < 0 ? frames.findIndex((frame) => frame.judged?.blunder) : next;
  }

  /** How much a decision lost against the best that was found, as on a chess site: a sign, and percent; "" for nothing. */
  function lossText({ judged }) {
    if (judged?.blunder) return judged.loss === undefined ? "??" : `?? −${Math.round(100 * judged.loss)} %`;
    if (judged?.loss === undefined || judged.loss < NOTED) return "";
    return `${judged.loss >= MISTAKE ? "?" : "?!"} −${Math.round(100 * judged.loss)} %`;
  }

  /** For each seat that was judged: how many decisions, what they lost on average, and how many were blunders. */
  function lossesOf(frames, names) {
    return names.flatMap((name, seat) => {
      const own = frames.filter((frame) => frame.seat === seat && frame.judged);
      const lost = own.filter(({ judged }) => judged.loss !== undefined);
      if (own.length === 0) return [];
      const mean = lost.reduce((sum, { judged }) => sum + judged.loss, 0) / (lost.length || 1);
      const blunders = own.filter(({ judged }) => judged.blunder).length;
      const of = lost.length > 0 ? `loses ${(100 * mean).toFixed(1)} % a decision, ` : "";
      return [`${name} ${of}${blunders} ${blunders === 1 ? "blunder" : "blunders"} in ${own.length}`];
    });
  }

  Object.assign(globalThis.warpleague, { worthParts, judgedFacts, nextBlunder, lossText, lossesOf });
})();
