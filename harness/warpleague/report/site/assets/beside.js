// Fills what stands beside a board: the legend of what is on it, and the trays of dice, cards and coins.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const wl = globalThis.warpleague;
  const { element, glyph } = wl;
  const SIZE = 32; // pixels of an item

  function make(name, classes, ...children) {
    const made = document.createElement(name);
    if (classes) made.className = classes;
    made.append(...children);
    return made;
  }

  function swatch(reach, ...drawn) {
    const box = [-reach, -reach, 2 * reach, 2 * reach].join(" ");
    const made = element("svg", { class: "swatch", viewBox: box, "aria-hidden": "true" }, ...drawn);
    for (const one of made.querySelectorAll("[data-id]")) delete one.dataset.id; // it stands for all of its kind
    for (const one of made.querySelectorAll("text")) one.remove();
    return made;
  }

  /** What is on the board: by the name of its kind an example of it, in the order of drawing. */
  function marks(scene) {
    const found = new Map();
    const note = (key, draw) => found.has(key) || found.set(key, draw);
    const named = new Set(scene.legend.map(([name]) => name));
    const glyphs = new Set();
    for (const cell of scene.cells) {
      const disc = cell[6]?.startsWith("disc");
      note(cell[2], () => {
        const bare = cell.slice();
        bare[8] = "";
        const made = wl.cell(scene.shape, bare);
        if (disc) made.append(wl.dress(element("g", { class: "disc" }, glyph("disc", 22)), cell[2], cell[4]));
        return swatch(scene.shape === "hex" ? 31 : 25, made);
      });
      if (cell[8]) note("ways", () => swatch(8, element("path", { class: "way", d: "M0 -6 L6.5 4 L-6.5 4Z" })));
      for (const name of cell[6]?.split(" ") ?? []) glyphs.add(name);
    }
    for (const piece of scene.pieces) {
      note(piece[2], () => swatch(20, wl.dress(element("g", { class: "piece" }, ...wl.token(piece, 16)), piece[2], piece[4])));
    }
    for (const link of scene.links) {
      note(link[4], () => swatch(16, wl.link(link, [-12, 0], [12, 0], true)));
    }
    for (const { owner, rows } of wl.traysOf(scene)) {
      for (const item of rows.flat()) note(item[0], () => swatch(18, wl.item(item, SIZE, owner)));
    }
    for (const name of glyphs) {
      if (named.has(name)) note(name, () => swatch(11, element("g", { class: `picture-sample` }, glyph(name, 10) ?? "")));
    }
    return found;
  }

  /** Fills a list with the meaning of every mark that is in the scene, and of no other. */
  function showLegend(list, scene, say = (words) => words, board = null) {
    const found = marks(scene);
    const told = new Map([...scene.legend, ["moved", "the last move"], ["shot-line", "the shot that hit"], ["shot-down", "destroyed here"], ["fresh", "just changed"]]);
    if (board?.querySelector(".arrow")) {
      const [line, head] = [element("line", { x1: -9, x2: 3 }), element("path", { d: "M10 0 L0 -6 L0 6Z" })];
      found.set("moved", () => swatch(11, element("g", { class: "arrow" }, line, head)));
    }
    if (board?.querySelector(".shot")) {
      found.set("shot-line", () => swatch(11, element("g", { class: "link shot" }, element("line", { class: "stroke", x1: -9, x2: 9 }))));
    }
    if (board?.querySelector(".lost")) {
      found.set("shot-down", () => swatch(11, element("path", { class: "cross", d: "M-8 -8L8 8M8 -8L-8 8" })));
    }
    if (board?.querySelector(".cell.fresh, .piece.fresh, .link.fresh, .item.fresh")) {
      found.set("fresh", () => swatch(11, element("rect", { class: "new", x: -8, y: -8, width: 16, height: 16, rx: 3 })));
    }
    const order = [...told.keys(), ...found.keys()].filter((key, at, all) => found.has(key) && all.indexOf(key) === at);
    const entries = order.map((key) => [key, told.get(key) ?? wl.words(key)]).filter(([, meaning]) => meaning);
    const look = JSON.stringify([entries, scene.shape]);
    if (list.look === look) return;
    list.look = look;
    list.replaceChildren(...entries.map(([key, meaning]) => {
      const made = make("li", "", found.get(key)(), make("span", "", say(meaning)));
      made.dataset.key = key;
      return made;
    }));
  }

  /**
   * The trays of an owner (null: of nobody), but those that are drawn with sheets: of owners, and where these are not
   * `alone` also those of nobody. What was rolled or drawn since `before` is fresh.
   */
  function trays(scene, before, owner, alone = false) {
    if (scene.apart && !(alone && owner === null)) return [];
    const fresh = wl.newSince(before);
    return wl.traysOf(scene).filter((tray) => tray.owner === owner).map((tray) => {
      const rows = tray.rows.map((row) => make("div", "row", ...row.map((item) => {
        const wide = Math.ceil(wl.wide(item, SIZE));
        const box = [-wide / 2, -SIZE / 2, wide, SIZE].join(" ");
        return element("svg", { viewBox: box, width: wide, height: SIZE }, wl.item(item, SIZE, owner, fresh(item)));
      })));
      const made = make("div", "tray", make("span", "title", tray.title), ...rows);
      wl.fit(made, 1);
      return made;
    });
  }

  /**
   * What stands beside a board, by owner (null: nobody): its `trays`, and its `lines`, each panel of it a paragraph.
   * Lines that are others than in the scene `before` are marked. A line that says no more than the seat's card is left
   * out, and so is the title of a panel that is but the name of the owner.
   */
  function besideOf(scene, before, { nameOf, say, board }) {
    const found = new Map();
    const of = (owner) => found.get(owner) ?? found.set(owner, { trays: trays(scene, before, owner, board.first !== null), lines: [] }).get(owner);
    for (const { owner } of wl.traysOf(scene)) of(owner);
    scene.panels.forEach(([title, owner], index) => {
      const old = before?.lines[index] ?? [];
      const lines = scene.lines[index].map((line, row) => [line, before !== undefined && old.length > row && old[row] !== line]);
      const told = lines.filter(([line]) => line && !line.endsWith(`: ${scene.seat_lines[owner]}`));
      if (told.length === 0) return;
      const named = owner === null ? wl.traysOf(scene).some((tray) => tray.title === title) : say(title).includes(nameOf(owner));
      of(owner).lines.push(make("p", "", ...(named ? [] : [make("b", "", say(title))]), ...told.flatMap(([line, changed]) => [make("span", changed ? "changed" : "", say(line)), " "])));
    });
    return found;
  }

  /**
   * A function that puts names into what a game says, where a text has `seat 0`.
   *
   * `nameOf(owner)` says who an owner is, `count()` how many seats there are, `roles()` what else the game calls them.
   */
  function naming(nameOf, count, roles = () => []) {
    const plain = (role) => role.replace(/[^\p{L}\p{N} ]/gu, "\\$&");
    const say = (text) => {
      const known = roles();
      const any = new RegExp(["(?:seat|owner) (\\d+)", ...known.map(plain)].map((one) => `\\b${one}\\b`).join("|"), "giu");
      return text.replace(any, (all, seat) => {
        if (seat !== undefined) return Number(seat) < count() ? nameOf(Number(seat)) : all;
        const named = known.indexOf(all);
        return named < 0 ? all : `${nameOf(named)} (${all})`;
      });
    };
    return say;
  }

  Object.assign(wl, { besideOf, make, naming, showLegend, trays });
})();
