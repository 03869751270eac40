// Paints a scene into one SVG element, and changes it from scene to scene: pieces glide, a ghost shows where one was.
//
// `new Board(svg, name).show(scene, before)` is all that a page needs; `name(owner)` says who an owner is.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const wl = globalThis.warpleague;
  const { SIDE, RADIUS, ROUND, element, glyph, text, point } = wl;
  const SHEET = 490; // the width of a sheet with its trays below the board, in units of the drawing
  const GAP = 14; // between sheets
  const TABLE = 60; // pixels that the dice above the sheets take
  const PAD = 16;
  const HEAD = 46; // the height of its heading
  const ITEM = 29; // the size of an item on it
  const move = (x, y, scale = 1) => `translate(${ROUND(x)} ${ROUND(y)})${scale === 1 ? "" : ` scale(${scale})`}`;

  /** One board: cells below, then discs, links, the last move, pieces, and the names of columns and rows. */
  class Part {
    constructor(shape, name) {
      this.shape = shape;
      this.name = name;
      const layer = (kind) => element("g", { class: kind });
      this.layers = Object.fromEntries(["names", "cells", "discs", "links", "trail", "pieces"].map((kind) => [kind, layer(kind)]));
      this.group = element("g", { class: "part" }, ...Object.values(this.layers));
      this.looks = { cells: [], discs: "", names: "" };
      this.nodes = new Map();
      this.radii = new Map();
      this.box = [0, 0, 1, 1];
    }

    draw(scene, before, trail, gone) {
      const crowd = new Map();
      for (const piece of scene.pieces) {
        const key = `${piece[0]},${piece[1]}`;
        crowd.set(key, [...(crowd.get(key) ?? []), piece]);
      }
      this.frame(scene);
      this.cells(scene.cells, before?.cells, crowd);
      this.discs(scene.cells);
      this.links(scene.links, before?.links);
      this.pieces(scene, before?.pieces, crowd);
      this.trail(trail, gone);
    }

    frame({ cells, columns, rows }) {
      const points = cells.map((cell) => point(this.shape, cell[0], cell[1]));
      const reach = (this.shape === "hex" ? RADIUS : SIDE / 2) + 4;
      const [xs, ys] = [0, 1].map((side) => points.map((place) => place[side]));
      const [left, top] = [Math.min(...xs) - reach, Math.min(...ys) - reach];
      const [right, bottom] = [Math.max(...xs) + reach, Math.max(...ys) + reach];
      // Room for the longest of them also where a unit is few pixels, so that all are shown or none.
      const west = rows.length > 0 ? (rows.some((name) => name.length === 2) ? 32 : 24) : 0;
      const south = columns.length > 0 ? 22 : 0;
      this.box = [left - west, top, right - left + west, bottom - top + south];
      const look = JSON.stringify([this.box, columns, rows]);
      if (look === this.looks.names) return;
      this.looks.names = look;
      const label = (name, x, y) => {
        const drawn = glyph(name, 8);
        if (drawn) return element("g", { class: "name", transform: move(x, y) }, drawn);
        return text("name", name, { x, y, size: 11.5, room: 32, high: 24 });
      };
      const [step, down] = this.shape === "hex" ? [1.5 * RADIUS, Math.sqrt(3) * RADIUS] : [SIDE, SIDE];
      this.layers.names.replaceChildren(
        ...columns.map((name, at) => label(name, left + reach + at * step, bottom + 10)),
        ...rows.map((name, at) => label(name, left - west / 2 + 1, top + reach + at * down)),
      );
    }

    cells(cells, before, crowd) {
      const layer = this.layers.cells;
      const steady = before !== undefined && before.length === cells.length;
      cells.forEach((cell, index) => {
        const count = crowd.get(`${cell[0]},${cell[1]}`)?.length ?? 0;
        const fresh = steady && !wl.same(cell, before[index]);
        const look = `${count > 0} ${fresh} ${JSON.stringify(cell)}`;
        if (this.looks.cells[index] === look) return;
        this.looks.cells[index] = look;
        const made = wl.cell(this.shape, cell, { crowd: count, name: this.name, fresh });
        made.setAttribute("transform", move(...point(this.shape, cell[0], cell[1])));
        if (index < layer.children.length) layer.children[index].replaceWith(made);
        else layer.append(made);
      });
      while (layer.children.length > cells.length) layer.lastChild.remove();
      this.looks.cells.length = cells.length;
    }

    /** Cells that touch and have the same label are one disc. */
    discs(all) {
      const open = all.filter((cell) => cell[6]?.startsWith("disc"));
      const look = JSON.stringify(open);
      if (look === this.looks.discs) return;
      this.looks.discs = look;
      const made = [];
      const near = (this.shape === "hex" ? RADIUS * 1.75 : SIDE) * 1.05;
      while (open.length > 0) {
        const [first] = open.splice(0, 1);
        const group = [first];
        for (const one of group) {
          const [x, y] = point(this.shape, one[0], one[1]);
          for (let at = open.length - 1; at >= 0; at -= 1) {
            const [ox, oy] = point(this.shape, open[at][0], open[at][1]);
            if (open[at][3] === first[3] && Math.hypot(ox - x, oy - y) < near) group.push(...open.splice(at, 1));
          }
        }
        const places = group.map((cell) => point(this.shape, cell[0], cell[1]));
        const [x, y] = [0, 1].map((side) => places.reduce((sum, place) => sum + place[side], 0) / places.length);
        const far = Math.max(...places.map((place) => Math.hypot(place[0] - x, place[1] - y)));
        const radius = far + (this.shape === "hex" ? RADIUS * 0.78 : SIDE * 0.42);
        const disc = wl.dress(element("g", { class: "disc", transform: move(x, y) }), first[2], first[4]);
        disc.append(glyph(first[6], radius) ?? "");
        const low = first[6].includes(" ") ? radius * 0.22 : 0;
        disc.append(text("label", first[3], { y: low, size: Math.min(20, radius * 0.66), room: radius * 1.8, high: radius }));
        made.push(disc);
      }
      this.layers.discs.replaceChildren(...made);
    }

    links(links, before) {
      this.layers.links.replaceChildren(...links.map((link) => {
        const [x1, y1, x2, y2] = link;
        // Between the corners of squares it is a wall, else it leads from cell to cell.
        const wall = Math.abs(x1 % 1) === 0.5 && (x1 === x2 || y1 === y2);
        const made = wl.link(link, point(this.shape, x1, y1), point(this.shape, x2, y2), wall, this.name);
        made.dataset.ends = `${x1},${y1} ${x2},${y2}`;
        made.classList.toggle("fresh", before !== undefined && !before.some((other) => wl.same(link, other)));
        return made;
      }));
    }

    pieces(scene, before, crowd) {
      const layer = this.layers.pieces;
      const shown = new Set();
      const marked = new Set(
        scene.cells.filter((cell) => cell[7] || (wl.isLabel(cell[3]) && !cell[8])).map((cell) => `${cell[0]},${cell[1]}`),
      );
      const order = [];
      scene.pieces.forEach((piece, number) => {
        const place = `${piece[0]},${piece[1]}`;
        const here = crowd.get(place);
        const key = piece[6] || `piece ${number}`;
        const [dx, dy, radius] = wl.places(this.shape, here.length, marked.has(place))[here.indexOf(piece)];
        const look = JSON.stringify([piece.slice(2), ROUND(radius)]);
        let node = this.nodes.get(key);
        if (node === undefined) {
          node = element("g");
          this.nodes.set(key, node);
        }
        if (node.look !== look) {
          node.look = look;
          node.setAttribute("class", "piece");
          wl.dress(node, piece[2], piece[4]);
          if (piece[6]) node.dataset.id = piece[6];
          const facing = piece[5] ? `facing ${piece[5]}` : "";
          const title = [wl.words(piece[2]), piece[8] || piece[3], this.name(piece[4]), facing].filter(Boolean).join(", ");
          node.replaceChildren(element("title", {}, title), ...wl.token(piece, radius));
        }
        node.dataset.place = place;
        const [x, y] = point(this.shape, piece[0], piece[1]);
        node.style.transform = `translate(${ROUND(x + dx)}px, ${ROUND(y + dy)}px)`;
        node.classList.toggle("fresh", before !== undefined && !before.some((other) => wl.same(piece, other)));
        this.radii.set(key, radius);
        shown.add(key);
        order.push(node);
      });
      for (const [key, node] of this.nodes) {
        if (shown.has(key)) continue;
        node.remove();
        this.nodes.delete(key);
      }
      // Those in their order stay where they are: what is put in anew does not glide.
      let next = layer.firstChild;
      for (const node of order) {
        if (node === next) next = next.nextSibling;
        else layer.insertBefore(node, next);
      }
    }

    /** A ghost where a piece was, and an arrow from there; where one was lost, it is crossed, with the shot that hit it. */
    trail(trail, gone) {
      const shots = gone.links.map((link) => {
        const made = wl.link(link, point(this.shape, link[0], link[1]), point(this.shape, link[2], link[3]), true);
        made.classList.add("shot");
        delete made.dataset.kind; // the legend has shots of its own
        return made;
      });
      const lost = gone.pieces.map((piece) => {
        const radius = SIDE * 0.35;
        const made = wl.dress(element("g", { class: "lost", transform: move(...point(this.shape, piece[0], piece[1])) }), piece[2], piece[4]);
        const far = ROUND(radius * 1.1);
        const cross = element("path", { class: "cross", d: `M${-far} ${-far}L${far} ${far}M${far} ${-far}L${-far} ${far}` });
        made.append(...wl.token(piece, radius), cross);
        return made;
      });
      this.layers.trail.replaceChildren(...shots, ...lost, ...trail.flatMap(({ old, piece, ghost: shown = true }) => {
        const [from, to] = [point(this.shape, old[0], old[1]), point(this.shape, piece[0], piece[1])];
        const far = Math.hypot(to[0] - from[0], to[1] - from[1]);
        const radius = this.radii.get(piece[6]) ?? SIDE * 0.35;
        const ghost = wl.dress(element("g", { class: "ghost", transform: move(...from) }), old[2], old[4]);
        const bare = old.slice();
        [bare[3], bare[8]] = ["", ""];
        ghost.append(...wl.token(bare, radius));
        const arrow = wl.dress(element("g", { class: "arrow" }), old[2], old[4]);
        const [ux, uy] = [(to[0] - from[0]) / far, (to[1] - from[1]) / far];
        const end = [to[0] - ux * radius * 0.95, to[1] - uy * radius * 0.95];
        const turn = ROUND((Math.atan2(uy, ux) * 180) / Math.PI + 90);
        arrow.append(
          element("line", { x1: ROUND(from[0]), y1: ROUND(from[1]), x2: ROUND(end[0] - ux * 6), y2: ROUND(end[1] - uy * 6) }),
          element("path", { d: "M0 0 L7 13 L-7 13Z", transform: `${move(...end)} rotate(${turn})` }),
        );
        return shown ? [ghost, arrow] : [arrow];
      }));
    }
  }

  class Board {
    /**
     * Draws into `svg`; `name(owner)` says who an owner is, `say(text)` puts such names into a text, and `height()` how
     * many pixels high sheets may be together.
     */
    constructor(svg, name, say = (words) => words, height = () => window.innerHeight * 0.62) {
      [this.svg, this.name, this.say, this.height] = [svg, name, say, height];
      this.root = element("g");
      svg.replaceChildren(this.root);
      this.sheets = new Map();
      this.part = undefined;
      this.box = [0, 0, 1, 1];
      this.view = undefined; // the part of the box that is shown, if not all
      this.parted = () => false; // whether the boards of sheets may stand apart from their trays
      this.first = null; // whose sheet stands alone above the others, where there is room for one beside none
      this.around = svg; // what its marks may lie in: also trays beside it
      this.shown = undefined; // a scene with what led to it and its marks
      svg.addEventListener("pointerover", (event) => this.light(event.target));
      svg.addEventListener("pointerleave", () => this.light(svg));
      new ResizeObserver(([{ contentRect }]) => contentRect.width > 0 && this.draw()).observe(svg);
    }

    /**
     * Shows a scene; what is not in `before` is fresh, `trail` has the moves and `gone` the losses that led here, and
     * `marks` what is marked, as `showMarks` takes it.
     */
    show(scene, before, { trail = wl.moves(before, scene), gone = wl.losses(before, scene), marks = [] } = {}) {
      this.shown = { scene, before, trail, gone, marks };
      this.draw();
    }

    /** Marks things of the scene that is shown, and no others. */
    mark(marks) {
      if (!this.shown) return;
      this.shown.marks = marks;
      wl.showMarks(this.around, marks);
    }

    /** Draws what is shown, and its marks; in another size sheets lie otherwise, of things that are others then. */
    draw() {
      if (!this.shown) return;
      const { scene, before, trail, gone, marks } = this.shown;
      if (scene.cells.length === 0) this.root.replaceChildren();
      else if (scene.apart) this.showSheets(scene, before, trail);
      else {
        if (this.part?.shape !== scene.shape) this.part = new Part(scene.shape, this.name);
        if (this.root.firstChild !== this.part.group) this.root.replaceChildren(this.part.group);
        this.part.draw(scene, before, trail, gone);
        this.box = this.part.box;
      }
      this.look();
      wl.showMarks?.(this.around, marks); // no other page has marks than those with scripts for them
    }

    /** Shows nothing. */
    clear() {
      this.mark([]);
      this.root.replaceChildren();
      this.sheets.clear();
      [this.part, this.shown] = [undefined, undefined];
    }

    /** Sets the part that is shown, and makes texts readable. */
    look() {
      const [left, top, width, height] = this.view ?? this.box;
      this.svg.setAttribute("viewBox", [left, top, width, height].map(ROUND).join(" "));
      const shown = this.svg.getBoundingClientRect();
      wl.fit(this.root, Math.min(shown.width / width, shown.height / height) || 1);
    }

    /** Lights up the links of the piece below the pointer. */
    light(target) {
      const place = target.closest?.("[data-place]")?.dataset.place;
      for (const link of this.svg.querySelectorAll(".link")) {
        link.classList.toggle("lit", place !== undefined && link.dataset.ends.split(" ").includes(place));
      }
    }

    /** All sheets in the order of their seats, as large as there is room; the one that is acted on is outlined. */
    showSheets(scene, before, trail) {
      const alone = this.first !== null;
      const owners = [...new Set(scene.cells.map((cell) => cell[4]))].sort((one, other) => (other === this.first) - (one === this.first) || one - other);
      const own = (whole, owner) => whole && {
        ...whole,
        cells: whole.cells.filter((cell) => cell[4] === owner),
        pieces: whole.pieces.filter((piece) => piece[4] === owner),
        links: whole.links.filter((link) => link[5] === owner),
      };
      for (const owner of owners) {
        if (!this.sheets.has(owner)) this.sheets.set(owner, new Sheet(scene.shape, owner, this.name));
        const moved = trail.filter(({ piece }) => piece[4] === owner);
        this.sheets.get(owner).draw(own(scene, owner), own(before, owner), moved, this.say);
      }
      const sheets = owners.map((owner) => this.sheets.get(owner));
      const [across, down] = [this.svg.getBoundingClientRect().width || 800, this.height() || 500];
      const least = alone ? 1 : Math.min(2, owners.length); // side by side, so that they can be compared
      const fits = [...Array(alone ? 1 : owners.length + 1 - least).keys()].flatMap((more) => [true, false].map((tall) => {
        const columns = least + more;
        const rows = Math.ceil(owners.length / columns);
        const [width, height] = [0, 1].map((side) => Math.max(...sheets.map((sheet) => sheet.size(tall)[side])));
        const whole = [columns * (width + GAP) - GAP, rows * (height + GAP) - GAP];
        return { columns, tall, width, height, whole, scale: Math.min(across / whole[0], alone ? Infinity : (down - TABLE) / whole[1]) };
      }));
      let best = alone ? fits[0] : fits.reduce((one, other) => (other.scale > one.scale * 1.02 ? other : one));
      const rows = Math.ceil(owners.length / best.columns);
      // Where not all sheets are in view, their boards come first, so that these can be compared, and then their trays.
      const parted = rows > 1 && !alone && this.parted();
      if (parted) {
        const [high, low] = ["upper", "lower"].map((part) => Math.max(...sheets.map((sheet) => sheet[part])));
        const wide = best.columns * (SHEET + GAP) - GAP;
        best = { ...best, tall: true, width: SHEET, height: high, low, whole: [wide, rows * (high + low + 2 * GAP) - GAP], scale: across / wide };
      }
      // Dice are as large as on a sheet of usual size, however small the sheets are.
      const table = alone ? { group: element("g"), height: 0 } : trays(scene, before, null, best.whole[0], true);
      const larger = Math.max(1, ROUND(0.95 / best.scale));
      const top = table.height > 0 ? table.height * larger + GAP : 0;
      table.group.setAttribute("transform", move(0, 0, larger));
      table.group.dataset.scale = larger;
      sheets.forEach((sheet, at) => {
        const row = Math.floor(at / best.columns);
        const down = parted ? (rows - row) * (best.height + GAP) + row * (best.low + GAP) : null;
        sheet.place((at % best.columns) * (best.width + GAP), top + row * (best.height + GAP), best, owners[at] === scene.focus, down);
      });
      this.root.replaceChildren(table.group, ...sheets.map((sheet) => sheet.group));
      this.box = [-3, -3, best.whole[0] + 6, top + best.whole[1] + 6];
    }
  }

  /** The board and the trays of one owner: one below the other, or side by side. */
  class Sheet {
    constructor(shape, owner, name) {
      this.owner = owner;
      this.part = new Part(shape, name);
      this.paper = element("rect", { class: "paper", x: 0, y: 0, rx: 14 });
      this.under = element("rect", { class: "paper", x: 0, rx: 14 }); // of the trays, where these stand apart
      this.head = element("g");
      this.rest = element("g");
      this.group = wl.dress(element("g", { class: "sheet" }, this.paper, this.under, this.head, this.part.group, this.rest), "sheet", owner);
    }

    draw(scene, before, trail, say) {
      this.part.draw(scene, before, trail, { pieces: [], links: [] });
      const [, , wide, high] = this.part.box;
      const scale = ROUND(Math.min(1.25, (SHEET - 2 * PAD) / wide));
      const rest = trays(scene, before, this.owner, SHEET - PAD);
      this.rest.replaceChildren(rest.group);
      [this.inner, this.wide, this.high, this.below] = [scale, wide * scale, high * scale, rest.height];
      this.title = say(scene.panels.find((panel) => panel[1] === this.owner && panel[2])?.[0] ?? "");
    }

    /** The height of the board with its heading. */
    get upper() {
      return HEAD + PAD + this.high;
    }

    /** The height of the trays with their heading, where they stand apart. */
    get lower() {
      return HEAD + PAD + this.below;
    }

    /** Width and height, with the trays below the board or beside it. */
    size(tall) {
      return tall
        ? [SHEET, HEAD + PAD + this.high + 10 + this.below]
        : [2 * PAD + this.wide + SHEET - PAD, HEAD + PAD + Math.max(this.high, this.below)];
    }

    /** Puts the sheet at a place; `down` is how far below it its trays stand, if they stand apart. */
    place(x, y, { width, height, tall, low }, active, down = null) {
      const [left, top] = this.part.box;
      const scale = this.inner;
      this.part.group.setAttribute("transform", move((tall ? (width - this.wide) / 2 : PAD) - left * scale, HEAD - top * scale, scale));
      this.part.group.dataset.scale = scale;
      const under = down === null ? HEAD + this.high + 10 : down + HEAD;
      this.rest.setAttribute("transform", tall ? move(PAD, under) : move(2 * PAD + this.wide, HEAD));
      this.under.style.display = down === null ? "none" : "";
      if (down !== null) for (const [name, value] of Object.entries({ y: down, width, height: low })) this.under.setAttribute(name, ROUND(value));
      this.group.setAttribute("transform", move(x, y));
      this.paper.setAttribute("width", ROUND(width));
      this.paper.setAttribute("height", ROUND(height));
      this.group.classList.toggle("active", active);
      this.head.replaceChildren(...[24, ...(down === null ? [] : [down + 24])].map((at) => {
        const headline = text("heading", this.title, { x: PAD, y: at, size: 20, anchor: "start", room: width - 2 * PAD, high: 44 });
        headline.dataset.full = this.title;
        return headline;
      }));
    }
  }

  /** The trays of an owner one beside the other, in `width` at most; in two columns, unless they are `flat`. */
  function trays(scene, before, owner, width, flat = false) {
    const group = element("g", { class: "trays" });
    const fresh = wl.newSince(before);
    const columns = [{ x: 0, y: 0, width: 0 }, { x: 0, y: 0, width: 0 }];
    let [x, height] = [0, 0];
    for (const tray of wl.traysOf(scene).filter((one) => one.owner === owner)) {
      const head = text("title", tray.title, { size: 13, anchor: "start", y: 8, room: 120, high: 20 });
      const made = element("g", { class: "tray" }, head);
      let across = tray.title.length * 8;
      tray.rows.forEach((row, down) => {
        let at = 0;
        for (const item of row) {
          const wide = wl.wide(item, ITEM);
          const drawn = wl.item(item, ITEM, owner, fresh(item));
          drawn.setAttribute("transform", move(at + wide / 2, 20 + down * (ITEM + 3) + ITEM / 2));
          made.append(drawn);
          at += wide + 3;
        }
        across = Math.max(across, at);
      });
      const tall = 20 + tray.rows.length * (ITEM + 3) + 8;
      if (flat) {
        made.setAttribute("transform", move(x, 0));
        x += across + 18;
        height = Math.max(height, tall);
      } else {
        const [one, other] = columns;
        const column = one.y === 0 || (other.y >= one.y && one.width >= across) ? one : other;
        if (column === other) other.x = Math.min(one.width, width - 7 * (ITEM + 3)) + 12;
        made.setAttribute("transform", move(column.x, column.y));
        column.width = Math.max(column.width, across);
        column.y += tall;
        height = Math.max(one.y, other.y);
      }
      group.append(made);
    }
    return { group, height };
  }

  Object.assign(wl, { Board });
})();
