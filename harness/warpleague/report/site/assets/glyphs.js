// Draws glyphs: the pictures that scenes name, and the dice. It knows no game.
//
// A glyph is drawn about the origin with a radius of 1. Its parts are of three classes: `body` is filled with the
// colour of its owner, `ink` stands out from a body, `thin` is a line without a filling.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const SVG = "http" + "://www.w3.org/2000/svg"; // a name, not an address: nothing is ever loaded from it

  function element(name, attributes = {}, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const path = (kind, d) => element("path", { class: kind, d });
  const circle = (kind, r, cx = 0, cy = 0) => element("circle", { class: kind, r, cx, cy });
  const round = (value) => Math.round(value * 1000) / 1000;

  const PIPS = {
    1: ["0,0"], 2: ["-1,-1", "1,1"], 3: ["-1,-1", "0,0", "1,1"], 4: ["-1,-1", "1,-1", "-1,1", "1,1"],
    5: ["-1,-1", "1,-1", "0,0", "-1,1", "1,1"], 6: ["-1,-1", "1,-1", "-1,0", "1,0", "-1,1", "1,1"],
  };

  function die(value) {
    const parts = [element("rect", { class: "body", x: -0.88, y: -0.88, width: 1.76, height: 1.76, rx: 0.34 })];
    for (const pip of PIPS[value] ?? []) {
      const [x, y] = pip.split(",").map((side) => Number(side) * 0.48);
      parts.push(circle("ink", 0.17, x, y));
    }
    if (value === "0") parts.push(circle("ink thin", 0.36));
    return parts;
  }

  // The parts of each picture: the class, then a path, the radius of a circle (and its middle), or the attributes of a
  // rectangle.
  const PARTS = {
    "sun": [["ink", "M0,-1 L0.237,-0.573 L0.707,-0.707 L0.573,-0.237 L1,0 L0.573,0.237 L0.707,0.707 L0.237,0.573 L0,1 L-0.237,0.573 L-0.707,0.707 L-0.573,0.237 L-1,0 L-0.573,-0.237 L-0.707,-0.707 L-0.237,-0.573Z"], ["body", 0.3]],
    "moon": [["ink", "M.35 -.85 A.9 .9 0 1 0 .35 .85 A.68 .8 0 1 1 .35 -.85Z"]],
    "crown": [["ink", "M-.9 .7 L-.9 -.5 L-.42 .05 L0 -.8 L.42 .05 L.9 -.5 L.9 .7Z"]],
    "shield": [["ink", "M0 -.9 L.8 -.55 L.8 .1 Q.65 .72 0 1 Q-.65 .72 -.8 .1 L-.8 -.55Z"]],
    "rocket": [["body", "M0 -1.15 C.56 -.78 .7 0 .7 .5 L1.02 .98 L.34 .78 L-.34 .78 L-1.02 .98 L-.7 .5 C-.7 0 -.56 -.78 0 -1.15Z"]],
    "disc": [["body", 1]],
    "coin": [["body", 1]],
    "circle": [["body", 0.92]],
    "ring": [["thin", 0.86]],
    "star": [["ink", "M0,-1 L0.247,-0.34 L0.951,-0.309 L0.399,0.13 L0.588,0.809 L0,0.42 L-0.588,0.809 L-0.399,0.13 L-0.951,-0.309 L-0.247,-0.34Z"]],
    "hole": [["body", 1], ["thin", 0.68], ["ink", 0.32]],
    "cloud": [["body", "M-.62 .5 A.42 .42 0 0 1 -.6 -.3 A.52 .52 0 0 1 .36 -.46 A.44 .44 0 0 1 .66 .5Z"]],
    "cannon": [["body", 0.62], ["thin", "M0 -1 V1 M-1 0 H1"]],
    "station": [["body", { "x": -0.42, "y": -0.42, "width": 0.84, "height": 0.84, "rx": 0.12 }], ["thin", "M-1 -.5 V.5 M1 -.5 V.5 M-1 0 H-.42 M.42 0 H1"]],
    "rock": [["body", "M-.75 .5 L-.9 -.1 L-.35 -.72 L.4 -.62 L.9 0 L.62 .62 L-.2 .72Z"]],
    "wormhole": [["body", 0.96], ["thin", 0.66], ["thin", 0.36]],
    "card": [["body", { "x": -0.8, "y": -1, "width": 1.6, "height": 2, "rx": 0.24 }]],
    "reroll": [["thin", "M.62 -.38 A.74 .74 0 1 0 .72 .26 M.72 -.86 V-.3 H.16"]],
    "line": [["thin", "M-.6 .7 L.6 -.7"]]
  };

  function drawn([kind, shape, x, y]) {
    if (typeof shape === "string") return path(kind, shape);
    return typeof shape === "number" ? circle(kind, shape, x, y) : element("rect", { class: kind, ...shape });
  }

  const GLYPHS = {
    ...Object.fromEntries(Object.entries(PARTS).map(([name, parts]) => [name, () => parts.map(drawn)])),
    pyramid: (layers) => [...Array(Math.max(1, layers)).keys()].map((at) => {
      const size = round(1.06 - 0.32 * Math.min(at, 2)); // the outermost always: what is lost is the inner ones
      return path("body", `M0 ${round(-size)} L${round(size * 0.8)} ${round(size * 0.72)} L${round(-size * 0.8)} ${round(size * 0.72)}Z`);
    }),
    die: () => die(""),
    ...Object.fromEntries([...Array(7).keys()].map((value) => [`die-${value}`, () => die(String(value))])),
  };

  /** How large a second picture is on a first, and how far below its middle it is. */
  const ON = { rocket: [0.42, 0.08], coin: [0.62, 0], disc: [0.34, -0.58] };

  /** The pictures that `names` names, one on the other, `radius` large; null if none of them is known. */
  function glyph(names, radius, layers = 0) {
    const made = element("g", { class: "glyph", transform: `scale(${round(radius)})` });
    let [size, shift, under] = [1, 0, ""];
    for (const name of names.split(" ")) {
      if (!Object.hasOwn(GLYPHS, name)) continue;
      const at = size === 1 ? {} : { transform: `translate(0 ${shift}) scale(${size})` };
      made.append(element("g", { class: `picture ${under ? "upper " : ""}picture-${name}`, ...at }, ...GLYPHS[name](layers)));
      [size, shift] = ON[name] ?? [0.5, 0];
      under = name;
    }
    return under ? made : null;
  }

  Object.assign(globalThis.warpleague, { SVG, element, glyph });
})();
