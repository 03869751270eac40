// Draws the chart of a match: how each seat stood after each step, and what the bots themselves expected.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const HIGH = 100;
  const { element, make, worthParts } = globalThis.warpleague;

  /** The value of a field of the scene in every frame, as the viewer of everything sees it. */
  function valuesOf(frames, field, first) {
    let now = first;
    return frames.map((frame) => (now = frame.scene[0][field] === undefined ? now : frame.scene[0][field]));
  }

  /** Round values from `low` to `high`, four at most. */
  function ticksOf(low, high) {
    const power = 10 ** Math.floor(Math.log10((high - low) / 4));
    const step = [1, 2, 5, 10, 20].map((by) => by * power).find((size) => (high - low) / size <= 4);
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first + 1;
    return [...Array(count).keys()].map((at) => Math.round((first + at) * step * 1e6) / 1e6);
  }

  /**
   * Draws into `svg`, and the values of its lines beside it into `ticks`.
   *
   * Returns `told`, what it shows in words, "" if there is nothing to show; `at(n)`, which moves the cursor; and
   * `values(n)`, the value of each seat after step n.
   */
  function showChart(svg, ticks, frames, measure) {
    const scores = valuesOf(frames, "scores", []);
    const last = frames.length - 1;
    const seats = Math.max(0, ...scores.map((now) => now.length));
    const all = scores.flat();
    let [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
    const lines = worthParts(frames, HIGH);
    const judged = lines.length > 0; // then the scores would only be in the way
    const told = [];
    if (judged) {
      [low, high] = [0, 1];
      told.push("expected share, by playouts; red: blunders");
    } else if (high > low) told.push(measure);
    const y = (value) => Math.round((HIGH - 3 - ((value - low) / (high - low)) * (HIGH - 6)) * 100) / 100;
    const grid = high > low ? ticksOf(low, high) : [];
    if (high > low && !judged) {
      for (let seat = 0; seat < seats; seat += 1) {
        let d = "";
        scores.forEach((now, n) => {
          if (now[seat] === undefined) return;
          const same = n > 0 && scores[n - 1][seat] === now[seat];
          if (d === "") d = `M${n} ${y(now[seat])}`;
          else if (!same || n === last) d += `H${n}V${y(now[seat])}`;
        });
        lines.push(element("path", { class: `score seat-${seat % 10}`, d }));
      }
    }
    const hopes = new Map();
    frames.forEach((frame, n) => {
      if (typeof frame.value !== "number") return;
      const at = `${n} ${Math.round((HIGH - 3 - frame.value * (HIGH - 6)) * 100) / 100}`;
      hopes.set(frame.seat, [...(hopes.get(frame.seat) ?? []), at]);
    });
    for (const [seat, points] of hopes) {
      lines.push(element("path", { class: `hope seat-${seat % 10}`, d: `M${points.join(" L")}` }));
    }
    if (hopes.size > 0) told.push("dotted: the share that a bot expects");
    const cursor = element("line", { class: "cursor", y1: 0, y2: HIGH });
    const rules = grid.map((value) => element("path", { class: "grid", d: `M-0.5 ${y(value)}H${last + 0.5}` }));
    const drawn = element("g", { class: "past" }, ...lines);
    svg.setAttribute("viewBox", `-0.5 0 ${last + 1} ${HIGH}`);
    svg.replaceChildren(...rules, drawn, cursor);
    ticks.replaceChildren(...grid.map((value) => {
      const label = make("span", "", judged ? `${Math.round(100 * value)} %` : String(value));
      label.style.top = `${y(value)}%`;
      return label;
    }));
    const at = (n) => {
      cursor.setAttribute("x1", n);
      cursor.setAttribute("x2", n);
    };
    const worth = judged ? worthOf(frames) : [];
    const shown = (value) => (judged ? `${Math.round(100 * value)} %` : String(value));
    const values = (n) => [...Array(seats).keys()].map((seat) => {
      const value = judged ? worth[n][seat] : scores[n][seat];
      return value === undefined ? "" : shown(value);
    });
    return { told: told.join("; "), at, values, scores };
  }

  /** What each seat could expect at each step, by its last decision that was judged. */
  function worthOf(frames) {
    let now = [];
    return frames.map((frame) => {
      if (frame.judged?.worth !== undefined) {
        now = now.slice();
        now[frame.seat] = frame.judged.worth[1];
      }
      return now;
    });
  }

  Object.assign(globalThis.warpleague, { showChart, valuesOf });
})();
