// Marks things on a board and in the trays beside it: a halo over each, so that their own shapes stay as they are.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const wl = globalThis.warpleague;
  const { element } = wl;
  const CLASSES = ["hot", "maybe", "picked"]; // what the thing itself is called, too

  /**
   * Marks things within `root`, and no others: each by its id, the class of its halo, and what it means in words.
   *
   * What is "hot" or "maybe" takes clicks; what is an "end" has words only, and no halo.
   */
  function showMarks(root, marks) {
    root.querySelectorAll(".halos").forEach((halos) => halos.remove());
    root.querySelectorAll("[data-means]").forEach(unmark);
    const found = marks.flatMap(([id, what, text = ""]) => things(root, id).map((made) => ({ made, id, what, text })));
    // All are measured before anything is changed, after which each measure would lay out the board anew.
    const halos = found.filter(({ what }) => what !== "end").map(({ made, what }) => halo(made, what));
    found.forEach(mark);
    for (const { svg, made, copy, drawn } of halos) {
      // A frame takes clicks wherever it glows, though what it is around has gaps.
      if (!made.querySelector(":scope > .shape, :scope > .reach")) {
        const reach = copy.cloneNode();
        reach.setAttribute("class", "reach frame");
        made.prepend(reach);
      }
      if (!svg.lastChild.matches(".halos")) svg.append(element("g", { class: "halos" }));
      svg.lastChild.append(drawn);
    }
  }

  /** The thing of an id, and its twins: the second die of a pair, more cards of a kind, whose ids go on after its own. */
  function things(root, id) {
    const one = root.querySelector(`[data-id="${CSS.escape(id)}"]`);
    return one ? [one, ...root.querySelectorAll(`[data-id^="${CSS.escape(id)}-"]`)] : []; // a painter may leave one out
  }

  function mark({ made, id, what, text }) {
    made.dataset.means = id;
    const title = made.querySelector(":scope > title");
    if (text && title) {
      made.dataset.told ??= title.textContent;
      title.textContent = text;
    }
    if (CLASSES.includes(what)) made.classList.add(what);
    if (what !== "hot") return;
    made.setAttribute("tabindex", "0");
    made.setAttribute("role", "button");
    made.setAttribute("aria-label", text);
  }

  function unmark(made) {
    made.querySelector(":scope > .reach.frame")?.remove();
    if ("told" in made.dataset) made.querySelector(":scope > title").textContent = made.dataset.told;
    made.classList.remove(...CLASSES);
    for (const name of ["data-means", "data-told", "tabindex", "role", "aria-label"]) made.removeAttribute(name);
  }

  /** A halo over a thing: its shape, drawn in units of the whole drawing. */
  function halo(made, what) {
    const svg = made.ownerSVGElement;
    const line = made.querySelector(":scope > line");
    const isLink = line && made.classList.contains("link");
    const copy = isLink
      ? element("line", Object.fromEntries(["x1", "y1", "x2", "y2"].map((name) => [name, line.getAttribute(name)])))
      : made.querySelector(":scope > .shape")?.cloneNode(false) ?? box(made);
    copy.setAttribute("class", `halo ${isLink ? "edge " : ""}${what}`);
    // Where the thing itself is, within whatever it lies.
    const at = svg.getScreenCTM().inverse().multiply(made.getScreenCTM());
    const drawn = element("g", { transform: `matrix(${[at.a, at.b, at.c, at.d, at.e, at.f].join(" ")})` }, copy);
    return { svg, made, copy, drawn };
  }

  /** A frame around something that has no outline of its own. */
  function box(made) {
    const { x, y, width, height } = made.getBBox();
    return element("rect", { x, y, width, height, rx: 4 });
  }

  Object.assign(wl, { showMarks });
})();
