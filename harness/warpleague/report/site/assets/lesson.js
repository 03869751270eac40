// Shows the first turn of a game in a dialog, one moment after the other.

"use strict";

(() => {
  const { Board, make, naming, trays } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const NAMES = ["Ada", "Ben"];
  const dialog = find("lesson");
  if (!dialog) return;

  const nameOf = (seat) => (seat === null || seat === undefined ? "" : NAMES[seat] ?? `seat ${seat}`);
  let moments = [];
  let at = 0;
  const say = naming(nameOf, () => NAMES.length, () => moments[at]?.scene.roles ?? []);
  const board = new Board(find("lesson-board"), nameOf, say);
  board.around = dialog;

  /** Of sheets only the one that is played on. */
  function own(scene) {
    if (!scene?.apart) return scene;
    const of = (all, place) => all.filter((one) => one[place] === scene.focus);
    return { ...scene, cells: of(scene.cells, 4), pieces: of(scene.pieces, 4), links: of(scene.links, 5) };
  }

  async function open() {
    if (moments.length === 0) {
      const answer = await fetch("first-turn");
      if (!answer.ok) return;
      moments = await answer.json();
    }
    dialog.showModal();
    show(0);
  }

  function show(to) {
    const before = to === at + 1 ? moments[at].scene : undefined;
    at = to;
    const { scene, happened, phrase, why, to: targets } = moments[at];
    find("lesson-count").textContent = `You are ${NAMES[0]}. Step ${at + 1} of ${moments.length}`;
    find("lesson-happened").replaceChildren(...happened.map((line) => make("li", "", say(line))));
    find("lesson-phrase").textContent = say(phrase);
    find("lesson-why").textContent = say(why);
    find("lesson-back").disabled = at === 0;
    find("lesson-next").disabled = at === moments.length - 1;
    if (at === moments.length - 1) find("lesson-close").focus();
    find("lesson-trays").replaceChildren(...[null, 0].flatMap((owner) => trays(scene, before, owner)));
    board.show(own(scene), own(before), { marks: targets.map((id) => [id, "aimed"]) });
  }

  find("first-turn").addEventListener("click", open);
  find("lesson-back").addEventListener("click", () => show(at - 1));
  find("lesson-next").addEventListener("click", () => show(at + 1));
  find("lesson-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight" && at < moments.length - 1) show(at + 1);
    else if (event.key === "ArrowLeft" && at > 0) show(at - 1);
    event.stopPropagation(); // the keys of the page mean the match
  });
})();
