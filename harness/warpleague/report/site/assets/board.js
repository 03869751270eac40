// Draws a scene as SVG: its board, its pieces with where they came from, and sheets that stand apart.
//
// It knows shapes, glyphs and kinds, but no game. A kind is a class (`kind-nebula`) that a style sheet may define;
// otherwise it gets a colour from its name. Whatever has an id in the scene has it as `data-id`.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const { element, glyph } = globalThis.warpleague;
  const SIDE = 48; // of a square
  const RADIUS = 30; // of a hex, from its centre to a corner
  const ANGLES = { N: 0, NE: 45, E: 90, SE: 135, S: 180, SW: 225, W: 270, NW: 315 };
  const SHIP = "M0,-1.3 L.9,-.3 L.9,.95 L-.9,.95 L-.9,-.3Z"; // its bow to the north
  const HEAD = "M0 -6 L6.5 4 L-6.5 4Z"; // an arrowhead to the north
  const FILLER = /^[\u2500-\u25ff]+$/; // how a terminal fills a cell; here the cell itself is filled
  const LEAST = 9.3; // pixels: no text is smaller
  const BROAD = 0.62; // width of a character, by its height
  const BROADEST = 0.8; // of a capital letter or a sign
  const ROUND = (value) => Math.round(value * 100) / 100;

  /** A hue for a kind without a dress of its own: always the same, and seldom near that of another. */
  function hue(kind) {
    let hash = 2166136261;
    for (const char of kind) hash = Math.imul(hash ^ char.codePointAt(0), 16777619) >>> 0;
    return Math.floor((hash * 0.6180339887) % 360);
  }

  /** Marks an element as being of a kind, and of a seat where it has an owner. */
  function dress(made, kind, owner) {
    made.classList.add(`kind-${kind.replace(/[^\w-]/g, "_")}`);
    made.dataset.kind = kind;
    made.style.setProperty("--hue", hue(kind));
    if (owner !== null && owner !== undefined) made.classList.add("owned", `seat-${owner % 10}`);
    return made;
  }

  /** The id of a thing in its scene, for scripts that light it up or hear it clicked. */
  function named(made, id) {
    if (id) made.dataset.id = id;
    return made;
  }

  function words(kind) {
    return kind.replaceAll("-", " ");
  }

  /** The width of a text, by its height. */
  function breadth(content) {
    return [...content].reduce((sum, char) => sum + (/[A-Z\u00d7]/.test(char) ? BROADEST : BROAD), 0);
  }

  /** A text `size` high that may take `room` times `high`; `Board.fit` makes it readable, or leaves it out. */
  function text(name, content, { x = 0, y = 0, size = 12, room = 40, high = 16, anchor = "middle" } = {}) {
    const made = element("text", { class: name, x: ROUND(x), y: ROUND(y), "text-anchor": anchor }, content);
    made.setAttribute("font-size", ROUND(size));
    Object.assign(made.dataset, { size: ROUND(size), room: ROUND(room), high: ROUND(high) });
    return made;
  }

  /** The middle of a place on a board, in units of the drawing. */
  function point(shape, x, y) {
    return shape === "hex" ? [x * 1.5 * RADIUS, y * Math.sqrt(3) * RADIUS] : [x * SIDE, y * SIDE];
  }

  function outline(shape) {
    if (shape !== "hex") return element("rect", { class: "shape", x: -23, y: -23, width: 46, height: 46, rx: 5 });
    const corners = [0, 60, 120, 180, 240, 300].map((angle) => {
      const turn = (angle * Math.PI) / 180;
      return `${ROUND((RADIUS - 1) * Math.cos(turn))},${ROUND((RADIUS - 1) * Math.sin(turn))}`;
    });
    return element("polygon", { class: "shape", points: corners.join(" ") });
  }

  /** An arrowhead at the edge that `way` names. */
  function arrowhead(shape, way) {
    const angle = ANGLES[way];
    const turn = (angle * Math.PI) / 180;
    const far = shape === "hex" ? RADIUS * 0.7 : angle % 90 ? SIDE * 0.5 : SIDE * 0.385;
    const at = `translate(${ROUND(far * Math.sin(turn))} ${ROUND(-far * Math.cos(turn))}) rotate(${angle})`;
    return element("path", { class: "way", d: HEAD, transform: at });
  }

  /** The class of a text of a cell; its number, as texts name it, is shown under the pointer, or where all are wanted. */
  function numbers(id, told, name) {
    return id.endsWith(`-${told}`) ? `${name} number` : name;
  }

  /** A cell about the origin; `crowd` is how many pieces stand on it. */
  function cell(shape, [, , kind, label, owner, id = "", picture = "", corner = "", ways = ""], { crowd = 0, name = () => "", fresh = false } = {}) {
    const group = named(dress(element("g", { class: "cell" }), kind, owner), id);
    group.classList.toggle("fresh", fresh);
    const told = isLabel(label) && !ways ? label : corner;
    group.append(element("title", {}, [words(kind), told, name(owner)].filter(Boolean).join(", ")));
    group.append(outline(shape));
    const hex = shape === "hex";
    const disc = picture.startsWith("disc");
    const drawn = picture && !disc ? glyph(picture, (hex ? RADIUS : SIDE) * (hex ? 0.5 : 0.33)) : null;
    if (drawn) group.append(element("g", hex && corner ? { transform: "translate(0 6)" } : {}, drawn));
    for (const way of ways.split(" ").filter(Boolean)) group.append(arrowhead(shape, way));
    if (corner) {
      const at = hex ? { y: -RADIUS * 0.56, room: 36, high: 13 } : { x: SIDE * 0.33, y: SIDE * 0.32, room: 20, high: 19 };
      group.append(text(numbers(id, corner, "corner"), corner, { size: hex ? 10.5 : 12.5, ...at }));
    } else if (isLabel(label) && !ways && !disc) {
      // A piece takes the middle; what does not fit above it is left out.
      const raised = crowd > 0;
      const size = raised ? 10 : /^\d+$/.test(label) ? (hex ? 12 : 14) : 14;
      const y = raised ? -(hex ? RADIUS * 0.62 : SIDE * 0.36) : 0;
      group.append(text(numbers(id, label, "label"), label, { size, y, room: hex ? (raised ? 34 : 44) : 42, high: raised ? 12 : 22 }));
    }
    if (owner !== null && owner !== undefined && !id && !corner && !drawn && crowd === 0) {
      const at = hex ? { y: RADIUS * 0.65 } : { x: SIDE * 0.37, y: SIDE * 0.35 };
      group.append(text("owner", String(owner), { size: 10, room: 12, high: 12, ...at }));
    }
    return group;
  }

  /** What stands for a piece, about the origin, `radius` large. */
  function token([, , kind, content, owner, facing, , picture = "", corner = "", layers = 0], radius) {
    const parts = [];
    const drawn = picture ? glyph(picture, radius, layers) : null;
    if (drawn) {
      parts.push(element("g", facing ? { transform: `rotate(${ANGLES[facing]})` } : {}, drawn));
      const size = ROUND(radius * (layers > 0 ? 0.62 : 0.85));
      if (corner) parts.push(text("mark", corner, { size, y: size * 0.1, room: radius * 1.6, high: radius * 1.5 }));
      return parts;
    }
    if (facing) {
      parts.push(element("path", { class: "shape", d: SHIP, transform: `rotate(${ANGLES[facing]}) scale(${ROUND(radius)})` }));
    } else {
      const side = ROUND(2 * radius);
      parts.push(element("rect", { class: "shape", x: -side / 2, y: -side / 2, width: side, height: side, rx: radius }));
    }
    const size = ROUND(radius * (content.length > 2 ? 0.82 : content.length > 1 ? 1.0 : 1.25));
    parts.push(text("mark", content, { size, y: facing ? radius * 0.08 : 0, room: radius * 2, high: radius * 1.7 }));
    return parts;
  }

  /** Where each of `count` pieces on a cell stands, and how large it is. */
  function places(shape, count, raised) {
    const unit = shape === "hex" ? RADIUS * 1.72 : SIDE;
    const columns = count === 1 ? 1 : count <= 4 ? 2 : 3;
    const rows = Math.ceil(count / columns);
    const room = unit * (raised ? 0.8 : 0.9);
    if (count === 2) return [-1, 1].map((side) => [side * room * 0.21, raised ? unit * 0.1 : 0, room * 0.33]);
    const radius = count === 1 ? room * 0.42 : room / columns / 2.02;
    return [...Array(count).keys()].map((place) => {
      const [column, row] = [place % columns, Math.floor(place / columns)];
      const dx = (column - (Math.min(columns, count - row * columns) - 1) / 2) * (room / columns);
      const dy = (row - (rows - 1) / 2) * Math.min(room / rows, radius * 2.1) + (raised ? unit * 0.1 : 0);
      return [dx, dy, radius];
    });
  }

  function link([, , , , kind, owner, id], [x1, y1], [x2, y2], wall, name = () => "") {
    const group = named(dress(element("g", { class: wall ? "link wall" : "link" }), kind, owner), id);
    const ends = { x1: ROUND(x1), y1: ROUND(y1), x2: ROUND(x2), y2: ROUND(y2) };
    group.append(element("title", {}, [words(kind), name(owner)].filter(Boolean).join(", ")));
    if (id) group.append(element("line", { class: "reach", ...ends }));
    group.append(element("line", { class: "stroke", ...ends }));
    if (!wall) group.append(element("circle", { class: "to", cx: ends.x2, cy: ends.y2, r: 5 }));
    return group;
  }

  /** An item of a tray about the origin, `size` large; its width is `wide(item, size)`. */
  function item([kind, content, id, picture = "", crossed = false], size, owner, fresh = false) {
    const group = named(dress(element("g", { class: "item" }), kind, owner), id);
    group.classList.toggle("fresh", fresh);
    group.classList.toggle("crossed", crossed);
    group.append(element("title", {}, [words(kind), content, crossed ? "crossed out" : ""].filter(Boolean).join(", ")));
    const width = wide([kind, content, id, picture], size);
    const drawn = picture ? glyph(picture, size * 0.46) : null;
    // A picture of thin lines has gaps: all of an item takes clicks.
    if (id) group.append(element("rect", { class: "reach", x: ROUND(-width / 2), y: -size / 2, width: ROUND(width), height: size }));
    if (picture === "card") {
      const box = { x: ROUND(-width / 2 + 1), y: ROUND(-size / 2 + 1), width: ROUND(width - 2), height: ROUND(size - 2) };
      group.append(element("rect", { class: "body", ...box, rx: ROUND(size * 0.14) }));
    } else if (drawn) group.append(drawn);
    const die = picture.startsWith("die");
    const shift = picture.startsWith("coin ") ? { x: size * 0.34, y: size * 0.34 } : {};
    if (content && !die) {
      const small = picture.startsWith("coin ");
      const at = picture ? shift : { x: -width / 2, anchor: "start" };
      const name = small ? "corner" : "mark";
      group.append(text(name, content, { size: size * (small ? 0.4 : 0.46), room: picture ? width - 4 : width, high: size, ...at }));
    }
    if (crossed) {
      const far = ROUND(size * 0.36);
      group.append(element("path", { class: "cross", d: `M${-far} ${-far}L${far} ${far}M${far} ${-far}L${-far} ${far}` }));
    }
    return group;
  }

  function wide([, content, , picture = ""], size) {
    if (!picture) return breadth(content) * size * 0.46 + 4;
    return picture === "card" ? Math.max(size * 0.84, breadth(content) * size * 0.46 + 8) : size;
  }

  /** The trays of a scene: titles, owners, and items row by row. */
  function traysOf(scene) {
    return scene.trays.map(([title, owner], number) => ({ title, owner: owner ?? null, rows: scene.items[number] }));
  }

  /** Tells of an item whether it was rolled, drawn or marked since the scene `before`. */
  function newSince(before) {
    const was = new Map(before?.items.flat(2).map((item) => [item[2], JSON.stringify(item)]));
    return (item) => before !== undefined && Boolean(item[2]) && was.get(item[2]) !== JSON.stringify(item);
  }

  /** The pieces that stand elsewhere than before: [id, from, to]; those without an id cannot be told. */
  function moves(before, scene) {
    if (!before) return [];
    const was = new Map(before.pieces.filter((piece) => piece[6]).map((piece) => [piece[6], piece]));
    return scene.pieces.flatMap((piece) => {
      const old = was.get(piece[6]);
      return old && (old[0] !== piece[0] || old[1] !== piece[1]) ? [{ old, piece }] : [];
    });
  }

  /** The pieces that were lost since `before`, and the links that led to them or to a piece that was hit: the shots. */
  function losses(before, scene) {
    const none = { pieces: [], links: [] };
    if (!before || before.pieces === scene.pieces) return none;
    const now = new Map(scene.pieces.filter((piece) => piece[6]).map((piece) => [piece[6], piece]));
    const hurt = before.pieces.filter((piece) => piece[6] && (now.get(piece[6])?.[9] ?? 0) < (piece[9] ?? 0));
    const pieces = before.pieces.filter((piece) => piece[6] && !now.has(piece[6]));
    const shots = before.links.filter(([, , x, y]) => [...hurt, ...pieces].some((piece) => piece[0] === x && piece[1] === y));
    const links = before.links.filter((link) => shots.some((shot) => shot[4] === link[4] && shot[5] === link[5]));
    return { pieces, links };
  }

  function isLabel(label) {
    return label !== "" && !FILLER.test(label);
  }

  function same(one, other) {
    return one === other || (one.length === other.length && one.every((value, index) => value === other[index]));
  }

  /** Sets the size of each text below `root`, of which a unit has so many pixels: readable, or left out. */
  function fit(root, pixels) {
    for (const made of root.querySelectorAll("text[data-size]")) {
      const scale = pixels * Number(made.closest("[data-scale]")?.dataset.scale ?? 1);
      const { size, room, high } = made.dataset;
      const wanted = Math.max(Number(size), LEAST / scale);
      const { full } = made.dataset;
      if (full) {
        const most = Math.floor(Number(room) / (wanted * BROAD));
        made.textContent = full.length > most && most > 2 ? `${full.slice(0, most - 1)}…` : full;
      }
      const fits = wanted <= Number(high) * 1.02 && breadth(made.textContent) * wanted <= Number(room) * 1.04;
      made.toggleAttribute("hidden", !fits);
      made.style.display = fits ? "" : "none";
      if (fits) made.setAttribute("font-size", ROUND(wanted));
    }
    // The title of a tray of which nothing can be seen would stand for nothing.
    for (const title of root.querySelectorAll(".tray > .title")) {
      const seen = [...title.parentNode.children].some((one) => one !== title && (one.querySelector(".glyph, .body") || one.querySelector("text:not([hidden])")));
      if (!seen) title.style.display = "none";
    }
  }

  Object.assign(globalThis.warpleague, {
    SIDE, RADIUS, ROUND, dress, hue, words, text, point, cell, token, places, link, item, wide, traysOf, newSince, losses, moves, isLabel, same, fit,
  });
})();
