// Zooms and moves a board: by buttons, wheel with the control key, two fingers, and dragging.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const MAX = 8;

  /** Makes `board` respond; `buttons` are those to come nearer, to go farther, and to see all. */
  function zoomable(board, { near, far, all }) {
    const { svg } = board;
    const fingers = new Map();
    let dragged = false;

    function set(view) {
      const [left, top, width, height] = board.box;
      if (view === undefined || view[2] >= width * 0.999) board.view = undefined;
      else {
        const [w, h] = [view[2], view[3]];
        const x = Math.max(left, Math.min(left + width - w, view[0]));
        const y = Math.max(top, Math.min(top + height - h, view[1]));
        board.view = [x, y, w, h];
      }
      svg.classList.toggle("zoomed", board.view !== undefined);
      far.disabled = board.view === undefined;
      all.disabled = board.view === undefined;
      board.look();
    }

    /** Where a place on the screen is on the board. */
    function place(x, y) {
      const matrix = svg.getScreenCTM();
      return matrix ? new DOMPoint(x, y).matrixTransform(matrix.inverse()) : { x: 0, y: 0 };
    }

    /** Comes nearer by a factor; the place at `x`, `y` of the screen stays where it is. */
    function zoom(by, x, y) {
      const [left, top, width, height] = board.view ?? board.box;
      const at = x === undefined ? { x: left + width / 2, y: top + height / 2 } : place(x, y);
      const factor = Math.max(by, board.box[2] / width > 1 ? 0 : 1);
      const wide = Math.max(board.box[2] / MAX, Math.min(board.box[2], width / factor));
      const shrunk = wide / width;
      set([at.x - (at.x - left) * shrunk, at.y - (at.y - top) * shrunk, wide, height * shrunk]);
    }

    function shift(dx, dy) {
      if (!board.view) return;
      const scale = svg.getScreenCTM()?.a || 1;
      const [left, top, width, height] = board.view;
      set([left - dx / scale, top - dy / scale, width, height]);
    }

    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
    }, { passive: false });

    svg.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      dragged = false;
    });
    window.addEventListener("pointermove", (event) => {
      const was = fingers.get(event.pointerId);
      if (!was) return;
      const now = [event.clientX, event.clientY];
      if (Math.hypot(now[0] - was[0], now[1] - was[1]) < 3 && !dragged) return;
      dragged = true;
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      fingers.set(event.pointerId, now);
      if (other) {
        const [before, after] = [was, now].map(([x, y]) => Math.hypot(x - other[0], y - other[1]));
        if (before > 0) zoom(after / before, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else shift(now[0] - was[0], now[1] - was[1]);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      window.addEventListener(name, (event) => fingers.delete(event.pointerId));
    }
    // The end of a drag is no click on what lies below.
    svg.addEventListener("click", (event) => {
      if (dragged) event.stopPropagation();
      dragged = false;
    }, { capture: true });
    // Where something can be chosen, two quick clicks are two choices.
    svg.addEventListener("dblclick", (event) => svg.querySelector(".halo") || zoom(2, event.clientX, event.clientY));
    near.addEventListener("click", () => zoom(1.6));
    far.addEventListener("click", () => zoom(1 / 1.6));
    all.addEventListener("click", () => set(undefined));
    set(undefined);
    return { near: () => zoom(1.6), far: () => zoom(1 / 1.6) };
  }

  Object.assign(globalThis.warpleague, { zoomable });
})();
