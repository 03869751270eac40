// The home page of a server: shows a match that is being played, and keeps the lists beside it up to date.
//
// Where no match is being played, the board shows the last position of one that was.

"use strict";

(async () => {
  const { Board, EMPTY, hear, make, naming, patch, showTimes, unpack } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const LOOK_AT_END_MS = 4000;
  const STEP_MS = 350;
  let names = [];
  let watched = null; // the league and the match on the board, and what ends hearing of it
  let leaving = 0;
  const nameOf = (seat) => names[seat] ?? "the game itself";
  let [scene, queue, timer] = [EMPTY, [], 0]; // what is shown, and what will be
  const say = naming(nameOf, () => names.length, () => scene.roles);
  const board = new Board(find("board"), nameOf, say);
  const figure = find("stage").querySelector("figure");

  const { picture } = await unpack(find("data").textContent);
  if (picture) {
    names = picture.names;
    play(picture.frames.map(({ scene: [delta] }) => ({ scene: delta })));
  }

  /** Shows the frames that have come, one after the other, and faster where there are many. */
  function play(frames) {
    figure.hidden = false;
    queue.push(...frames.filter((frame) => frame.scene));
    if (!timer) next();
  }

  function next() {
    timer = 0;
    const frame = queue.shift();
    if (!frame) {
      rested();
      return;
    }
    const before = scene === EMPTY ? undefined : scene;
    scene = patch(scene, frame.scene);
    find("caption").textContent = say(scene.caption);
    board.show(scene, before);
    timer = window.setTimeout(next, before ? STEP_MS / Math.max(1, queue.length / 6) : 0);
  }

  /** Looks at the end of a match for a while, once all that has come is shown, and goes on to the next match. */
  function rested() {
    if (!watched?.over || queue.length > 0 || leaving) return;
    find("stage-title").textContent = `Just over in ${watched.league}`;
    find("stage-link").href = `l/${encodeURIComponent(watched.league)}/matches/${watched.match}.html`;
    leaving = window.setTimeout(() => {
      leaving = 0;
      const before = watched;
      watched = null;
      watchOne(before.match);
    }, LOOK_AT_END_MS);
  }

  /** Watches the first match of the list, but for the one that has just been watched. */
  function watchOne(before = "") {
    if (watched || document.hidden) return;
    const link = [...document.querySelectorAll("#playing a[data-match]")].find((one) => one.dataset.match !== before);
    if (!link) return;
    const { league, match } = link.dataset;
    const address = `l/${encodeURIComponent(league)}`;
    watched = { league, match, over: false };
    names = link.textContent.split(" – ");
    find("stage-title").textContent = `Now in ${league}`;
    find("stage-status").replaceChildren(...names.flatMap((name, seat) => [seat > 0 ? " – " : "", make("span", `who seat-${seat % 10}`, name)]));
    find("stage-link").href = `${address}/live/${match}`;
    const mine = watched;
    mine.end = hear(`${address}/live/${match}/news`, (message) => {
      if (watched !== mine) return;
      if (message.over) mine.end();
      mine.over = message.over;
      if (message.gone || message.trouble) {
        mine.end();
        watched = null;
        return;
      }
      if (message.reset) [scene, queue] = [EMPTY, []];
      play(message.frames);
    }, () => {
      mine.end?.(); // the list says which matches there are once the server is back
      if (watched === mine && !mine.over) watched = null;
    });
  }

  hear("news", ({ sections }) => {
    for (const [id, text] of Object.entries(sections)) {
      const fresh = new DOMParser().parseFromString(text, "text/html").getElementById(id);
      if (fresh) find(id).replaceWith(document.importNode(fresh, true));
    }
    showTimes();
    find("lost").hidden = true;
    watchOne();
  }, () => {
    find("lost").hidden = false;
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      watched?.end?.();
      watched = null;
    } else watchOne();
  });
  document.body.classList.add("ready");
})().catch(globalThis.warpleague.failed);
