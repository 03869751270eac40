// Marks things on a board: a halo over each, so that the board's own shapes stay as they are.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const wl = globalThis.warpleague;
  const { element } = wl;

  /** Puts a halo over something in an SVG, in the board's own units; `what` is its class. */
  function halo(made, what) {
    const svg = made.ownerSVGElement;
    let layer = svg.querySelector(":scope > .halos");
    if (!layer) svg.append((layer = element("g", { class: "halos" })));
    const line = made.querySelector(":scope > line");
    const isLink = line && made.classList.contains("link");
    const copy = isLink
      ? element("line", Object.fromEntries(["x1", "y1", "x2", "y2"].map((name) => [name, line.getAttribute(name)])))
      : made.querySelector(":scope > .shape")?.cloneNode(false) ?? box(made);
    copy.setAttribute("class", `halo ${isLink ? "edge " : ""}${what}`);
    copy.removeAttribute("data-id");
    // Where the thing itself is, within whatever it lies.
    const at = svg.getScreenCTM().inverse().multiply(made.getScreenCTM());
    const group = element("g", { transform: `matrix(${[at.a, at.b, at.c, at.d, at.e, at.f].join(" ")})` });
    group.append(copy);
    layer.append(group);
  }

  /** A frame around something that has no outline of its own. */
  function box(made) {
    const { x, y, width, height } = made.getBBox();
    return element("rect", { x, y, width, height, rx: 4 });
  }

  /** Takes all halos away that are within `root`. */
  function clearHalos(root) {
    for (const halos of root.querySelectorAll(".halos")) halos.remove();
  }

  /** The thing within `root` that has this id, if it is drawn. */
  function thing(root, id) {
    return root.querySelector(`[data-id="${CSS.escape(id)}"]`);
  }

  Object.assign(wl, { clearHalos, halo, thing });
})();
