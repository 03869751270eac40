// Draws the board of a scene as SVG: cells, links, and the pieces on the cells.
//
// It knows shapes and kinds, but no game. A kind is a class (`kind-nebula`) that a style sheet may define; otherwise it
// gets a colour from its name.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const SVG = "http" + "://www.w3.org/2000/svg"; // a name, not an address: nothing is ever loaded from it
  const SIDE = 48; // of a square
  const RADIUS = 30; // of a hex, from its centre to a corner
  const ANGLES = { N: 0, NE: 45, E: 90, SE: 135, S: 180, SW: 225, W: 270, NW: 315 };
  const SHIP = "M0,-1.3 L.9,-.3 L.9,.95 L-.9,.95 L-.9,-.3Z"; // its bow to the north
  const FILLER = /^[\u2500-\u25ff]+$/; // how a terminal fills a cell; here the cell itself is filled
  const ROUND = (value) => Math.round(value * 100) / 100;

  function element(name, attributes = {}, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  /** A hue for a kind without a dress of its own: always the same, and seldom near that of another. */
  function hue(kind) {
    let hash = 2166136261;
    for (const char of kind) hash = Math.imul(hash ^ char.codePointAt(0), 16777619) >>> 0;
    return Math.floor((hash * 0.6180339887) % 360);
  }

  /** Marks an element as being of a kind, and of a seat where it has an owner. */
  function dress(made, kind, owner) {
    made.classList.add(`kind-${kind.replace(/[^\w-]/g, "_")}`);
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

  class Board {
    /** Draws into `svg`; `name(owner)` says who an owner is. */
    constructor(svg, name) {
      this.svg = svg;
      this.name = name;
      this.layers = ["cells", "links", "pieces"].map((layer) => element("g", { class: layer }));
      svg.replaceChildren(...this.layers);
      this.cells = [];
      this.crowded = new Map();
      this.shape = "";
    }

    /** Shows a scene; what is not in `before` is marked as fresh, if that is given. */
    show(scene, before) {
      this.shape = scene.shape;
      this.frame(scene);
      const crowd = new Map();
      for (const piece of scene.pieces) {
        const key = `${piece[0]},${piece[1]}`;
        crowd.set(key, [...(crowd.get(key) ?? []), piece]);
      }
      this.drawCells(scene.cells, before?.cells, crowd);
      const links = scene.links.map((link) => this.link(link, isFresh(link, before?.links)));
      this.layers[1].replaceChildren(...links);
      const pieces = [];
      const labelled = new Set(scene.cells.filter((cell) => isLabel(cell[3])).map((cell) => `${cell[0]},${cell[1]}`));
      for (const [key, here] of crowd) {
        here.forEach((piece, place) => {
          pieces.push(this.piece(piece, place, here.length, labelled.has(key), isFresh(piece, before?.pieces)));
        });
      }
      this.layers[2].replaceChildren(...pieces);
    }

    /** The middle of a place on the board, in units of the drawing. */
    point(x, y) {
      return this.shape === "hex" ? [x * 1.5 * RADIUS, y * Math.sqrt(3) * RADIUS] : [x * SIDE, y * SIDE];
    }

    frame(scene) {
      if (scene.cells.length === 0) return;
      const points = scene.cells.map((cell) => this.point(cell[0], cell[1]));
      const reach = (this.shape === "hex" ? RADIUS : SIDE / 2) + 4;
      const xs = points.map((point) => point[0]);
      const ys = points.map((point) => point[1]);
      const [left, top] = [Math.min(...xs) - reach, Math.min(...ys) - reach];
      const size = [Math.max(...xs) + reach - left, Math.max(...ys) + reach - top];
      this.svg.setAttribute("viewBox", [left, top, ...size].map(ROUND).join(" "));
    }

    drawCells(cells, before, crowd) {
      const layer = this.layers[0];
      const steady = before !== undefined && before.length === cells.length;
      cells.forEach((cell, index) => {
        const count = crowd.get(`${cell[0]},${cell[1]}`)?.length ?? 0;
        const fresh = steady && !same(cell, before[index]);
        const look = `${count > 0} ${fresh} ${this.shape} ${JSON.stringify(cell)}`;
        if (this.cells[index] === look) return;
        this.cells[index] = look;
        const made = this.cell(cell, count > 0, fresh);
        if (index < layer.children.length) layer.children[index].replaceWith(made);
        else layer.append(made);
      });
      while (layer.children.length > cells.length) layer.lastChild.remove();
      this.cells.length = cells.length;
    }

    cell([x, y, kind, label, owner, id], occupied, fresh) {
      const [cx, cy] = this.point(x, y).map(ROUND);
      const group = dress(element("g", { class: "cell", transform: `translate(${cx} ${cy})` }), kind, owner);
      named(group, id);
      group.classList.toggle("fresh", fresh);
      group.append(element("title", {}, [words(kind), isLabel(label) ? label : "", this.name(owner)].filter(Boolean).join(", ")));
      group.append(this.outline());
      const lines = isLabel(label) ? label.split(" ").filter(Boolean) : [];
      const number = /^\d+$/.test(lines[0] ?? "");
      if (number) {
        const at = this.shape === "hex" ? -RADIUS * 0.6 : -SIDE * 0.33;
        group.append(element("text", { class: "number", y: at }, lines.shift()));
      }
      if (owner !== null && owner !== undefined) {
        const at = this.shape === "hex" ? { y: RADIUS * 0.65 } : { x: SIDE * 0.37, y: SIDE * 0.35 };
        group.append(element("text", { class: "owner", ...at }, String(owner)));
      }
      const raised = occupied ? (this.shape === "hex" ? -RADIUS * 0.6 : -SIDE * 0.33) : 0;
      if (number && occupied) return group;
      lines.forEach((line, index) => {
        const shift = (index - (lines.length - 1) / 2) * 12;
        const size = occupied ? "label small" : line.length > 3 ? "label long" : "label";
        group.append(element("text", { class: size, y: ROUND(raised + shift) }, line));
      });
      return group;
    }

    outline() {
      if (this.shape !== "hex") {
        const inset = 1;
        const side = SIDE - 2 * inset;
        return element("rect", { class: "shape", x: -side / 2, y: -side / 2, width: side, height: side, rx: 5 });
      }
      const corners = [0, 60, 120, 180, 240, 300].map((angle) => {
        const turn = (angle * Math.PI) / 180;
        return `${ROUND((RADIUS - 1) * Math.cos(turn))},${ROUND((RADIUS - 1) * Math.sin(turn))}`;
      });
      return element("polygon", { class: "shape", points: corners.join(" ") });
    }

    link([x1, y1, x2, y2, kind, owner, id], fresh) {
      const [from, to] = [this.point(x1, y1).map(ROUND), this.point(x2, y2).map(ROUND)];
      // Between the corners of squares it is a wall, else it leads from cell to cell.
      const wall = Math.abs(x1 % 1) === 0.5 && (x1 === x2 || y1 === y2);
      const group = named(dress(element("g", { class: wall ? "link wall" : "link" }), kind, owner), id);
      group.classList.toggle("fresh", fresh);
      group.append(element("title", {}, [words(kind), this.name(owner)].filter(Boolean).join(", ")));
      group.append(element("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }));
      if (!wall) {
        group.append(element("circle", { class: "from", cx: from[0], cy: from[1], r: 3 }));
        group.append(element("circle", { class: "to", cx: to[0], cy: to[1], r: 5 }));
      }
      return group;
    }

    piece([x, y, kind, text, owner, facing, id], place, count, labelled, fresh) {
      const [cx, cy] = this.point(x, y);
      const unit = this.shape === "hex" ? RADIUS * 1.72 : SIDE;
      const columns = count === 1 ? 1 : count <= 4 ? 2 : 3;
      const rows = Math.ceil(count / columns);
      const [column, row] = [place % columns, Math.floor(place / columns)];
      const room = unit * (labelled ? 0.84 : 0.92);
      const radius = count === 1 ? room * 0.37 : room / columns / (columns === 2 ? 1.8 : 2.05);
      const dx = (column - (Math.min(columns, count - row * columns) - 1) / 2) * (room / columns);
      const dy = (row - (rows - 1) / 2) * Math.min(room / rows, radius * 2.1) + (labelled ? unit * 0.11 : 0);
      const at = `translate(${ROUND(cx + dx)} ${ROUND(cy + dy)})`;
      const group = named(dress(element("g", { class: "piece", transform: at }), kind, owner), id);
      group.classList.toggle("fresh", fresh);
      const heading = facing ? `facing ${facing}` : "";
      group.append(element("title", {}, [words(kind), text, this.name(owner), heading].filter(Boolean).join(", ")));
      group.append(this.token(kind, facing, radius));
      const size = ROUND(radius * (text.length > 2 ? 0.82 : text.length > 1 ? 1.0 : 1.25));
      group.append(element("text", { "font-size": size, y: facing === "" ? 0 : ROUND(radius * 0.08) }, text));
      return group;
    }

    token(kind, facing, radius) {
      if (facing) {
        const turn = `rotate(${ANGLES[facing]}) scale(${ROUND(radius)})`;
        return element("path", { class: "shape", d: SHIP, transform: turn });
      }
      const side = ROUND(2 * radius);
      return element("rect", { class: "shape", x: -side / 2, y: -side / 2, width: side, height: side, rx: radius });
    }
  }

  function isLabel(label) {
    return label !== "" && !FILLER.test(label);
  }

  function same(one, other) {
    return one === other || (one.length === other.length && one.every((value, index) => value === other[index]));
  }

  function isFresh(item, before) {
    return before !== undefined && !before.some((other) => same(item, other));
  }

  Object.assign(globalThis.warpleague, { Board, dress, element, hue, words });
})();
