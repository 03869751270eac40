// Unpacks the blocks of a page, and makes each scene from the one before.
//
// It is the reader for what delta.py and frames.py write. It runs in a browser and, for the tests, in Node.js.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const LISTS = ["cells", "pieces", "links", "panels", "lines", "trays", "items"];
  const EMPTY = {
    shape: "", caption: "", legend: [], columns: [], rows: [], scores: [], measure: "points", roles: [], seat_lines: [], turn: null, apart: false, focus: null,
    ...Object.fromEntries(LISTS.map((name) => [name, []])),
  };
  const SPACING = 32; // frames between two scenes that are kept

  /** The JSON value of a deflated block in base64. */
  async function unpack(text) {
    return JSON.parse(await inflate(text));
  }

  /** The replay of such a block: its frames with what was told and shown in each, of everything and perhaps of seats. */
  async function unpackReplay(text) {
    const { told, scene, ...replay } = await unpack(text);
    replay.frames.forEach((frame, n) => Object.assign(frame, { told: told[n], scene: scene[n] }));
    return replay;
  }

  /** Adds what the seats saw, from a block of its own. */
  async function addViews(frames, text) {
    const { told, scene } = await unpack(text);
    frames.forEach((frame, n) => {
      frame.told.push(...told[n]);
      frame.scene.push(...scene[n]);
    });
  }

  /**
   * A function that loads what the seats saw, and the record, from the script `source`: once, when it is first called.
   *
   * It may be called again after it has failed.
   */
  function later(frames, source, nonce) {
    let loading;
    const load = async () => {
      const script = document.createElement("script");
      await new Promise((done, missing) => {
        Object.assign(script, { nonce, src: source });
        script.addEventListener("load", done);
        script.addEventListener("error", () => missing(new Error(`the file ${source} is missing`)));
        document.head.append(script);
      });
      const kept = globalThis.warpleagueMore;
      await addViews(frames, kept.views);
      return kept;
    };
    return () => {
      loading ??= load().catch((error) => {
        loading = undefined;
        throw error;
      });
      return loading;
    };
  }

  /** The text of such a block. */
  async function inflate(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  /** The scene that a delta makes of another, which stays as it is; what did not change is shared by both. */
  function patch(old, delta) {
    const scene = { ...old, ...delta };
    for (const name of LISTS) {
      if (!(name in delta)) continue;
      const items = old[name].slice();
      for (const [at, drop, ...put] of delta[name]) items.splice(at, drop, ...put);
      scene[name] = items;
    }
    return scene;
  }

  /** The scenes of one viewer (0: of everything, 1 + seat: what that seat saw), by number of the frame. */
  class Film {
    constructor(frames, viewer) {
      this.frames = frames;
      this.viewer = viewer;
      this.kept = new Map();
      this.number = -1;
      this.scene = EMPTY;
    }

    at(number) {
      if (number === this.number) return this.scene;
      let from = this.number <= number ? this.number : -1;
      let scene = from < 0 ? EMPTY : this.scene;
      for (let kept = number - (number % SPACING); kept > from; kept -= SPACING) {
        if (!this.kept.has(kept)) continue;
        from = kept;
        scene = this.kept.get(kept);
        break;
      }
      while (from < number) {
        from += 1;
        const deltas = this.frames[from].scene;
        scene = patch(scene, deltas[this.viewer] ?? deltas[0]);
        if (from % SPACING === 0) this.kept.set(from, scene);
      }
      this.number = number;
      this.scene = scene;
      return scene;
    }
  }

  /** What happened in a frame, in words, as a viewer saw it. */
  function told(frame, viewer) {
    return frame.told[viewer] ?? frame.told[0];
  }

  /** Says on the page why nothing is shown: an old browser, or a page that was cut off. */
  function failed(error) {
    const notice = document.createElement("p");
    notice.className = "notice";
    notice.setAttribute("role", "alert");
    notice.textContent = `This browser could not unpack the page: ${error}`;
    document.querySelector("main").prepend(notice);
    document.body.classList.add("ready"); // what there is can be seen
    console.error(error);
  }

  Object.assign(globalThis.warpleague, { EMPTY, Film, addViews, failed, inflate, later, patch, told, unpack, unpackReplay });
})();
