// A board on which a match goes on: shows the frames that come, one after the other, and tells what happened.

"use strict";

(() => {
  const { Board, EMPTY, make, naming, panelsOf, patch, showLegend } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const AGAIN_MS = 800; // between pictures that are shown once more
  const MOST_PICTURES = 12;

  /** The stage of a page; `nameOf` names a seat, `count` says how many there are, `rested` is called when all is shown. */
  class Stage {
    constructor(nameOf, count, rested) {
      Object.assign(this, { scene: EMPTY, before: undefined, queue: [], timer: 0, nameOf, rested });
      Object.assign(this, { recent: [], film: [], old: false }); // what came lately, in words and as pictures
      Object.assign(this, naming(nameOf, count, () => this.scene.roles)); // say and titleOf
      this.board = new Board(find("board"), nameOf, this.say);
      this.board.around = find("stage");
      const box = find("legend-box"); // a small board has none
      if (box && window.matchMedia("(max-width: 800px)").matches) box.open = false;
    }

    /** Whether all that has come is shown. */
    get rests() {
      return this.queue.length === 0 && !this.timer;
    }

    reset() {
      window.clearTimeout(this.timer);
      Object.assign(this, { scene: EMPTY, before: undefined, queue: [], timer: 0 });
      Object.assign(this, { recent: [], film: [], old: false });
      find("log").replaceChildren();
    }

    /** Hides the board, until there is a picture of it again. */
    hide() {
      this.board.clear();
      find("panels").replaceChildren();
      Object.assign(this, { scene: EMPTY, before: undefined });
    }

    /** Shows the frames that have come, one after the other. */
    play(frames) {
      this.queue.push(...frames);
      if (!this.timer) this.#next();
    }

    /** What comes next is told as recent, without what came before. */
    forget() {
      this.old = true;
    }

    /** Shows once more what came lately. */
    again() {
      if (!this.rests) return;
      const left = [...this.film];
      const step = () => {
        const next = left.shift();
        if (next) {
          this.show(...next);
          this.timer = window.setTimeout(step, AGAIN_MS);
        } else {
          this.timer = 0;
          this.#next();
        }
      };
      step();
      this.rested();
    }

    #next() {
      while (this.queue.length > 0) {
        const frame = this.queue.shift();
        this.#tell(frame.told);
        if (!frame.scene) continue;
        this.before = this.scene === EMPTY ? undefined : this.scene;
        this.scene = patch(this.scene, frame.scene);
        if (Object.keys(frame.scene).length === 0) continue;
        this.show(this.scene, this.before);
        if (this.before) this.film = [...this.film, [this.scene, this.before]].slice(-MOST_PICTURES);
        const pace = this.before ? Number(find("pace").value) : 0;
        if (this.queue.length > 0 && pace > 0) {
          this.rested();
          this.timer = window.setTimeout(() => {
            this.timer = 0;
            this.#next();
          }, pace / Math.max(1, this.queue.length / 6));
          return;
        }
      }
      this.rested();
    }

    #tell(lines) {
      const log = find("log");
      if (this.old) Object.assign(this, { recent: [], film: [], old: false });
      this.recent.push(...lines);
      for (const line of lines) log.append(make("li", "new", this.say(line)));
      while (log.children.length > 200) log.firstChild.remove();
      [...log.children].slice(0, -lines.length - 6).forEach((item) => item.classList.remove("new"));
      log.scrollTop = log.scrollHeight;
    }

    show(scene, before) {
      const { say } = this;
      find("caption").textContent = say(scene.caption);
      find("board").toggleAttribute("hidden", scene.cells.length === 0);
      find("board").classList.toggle("tall", scene.apart);
      find("panels").replaceChildren(...panelsOf(scene, before, this));
      this.board.show(scene, before);
      showLegend(find("legend"), scene, say, find("board"));
    }
  }

  globalThis.warpleague.Stage = Stage;
})();
