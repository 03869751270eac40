// Keeps the page of a league up to date while its matches are played: the server tells what has changed.
//
// The sections come as the page itself has them, made by the same template.

"use strict";

(() => {
  const { hear, make } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const MARKS = ["1st", "2nd", "3rd"];

  function link(address, text) {
    const made = make("a", "", text);
    made.href = address;
    return made;
  }

  /** The names of the bots in the order of their ranks; those that share a rank are joined by a sign. */
  function placed(bots, ranks) {
    const order = [...bots.keys()].sort((one, other) => ranks[one] - ranks[other]);
    return order.map((seat, place) => {
      const mark = ranks[seat] <= MARKS.length ? MARKS[ranks[seat] - 1] : `${ranks[seat]}th`;
      return `${place > 0 ? ", " : ""}${mark} ${bots[seat]}`;
    }).join("");
  }

  function showPlaying(matches, more) {
    find("playing-none").hidden = matches.length > 0;
    find("playing-list").replaceChildren(...matches.map(({ id, bots }) =>
      make("li", "", link(`live/${encodeURIComponent(id)}`, bots.join(" – ")))));
    find("playing-more").hidden = more === 0;
    find("playing-more").textContent = `and ${more} more`;
  }

  function showLatest(matches) {
    find("latest-list").replaceChildren(...matches.map(({ id, bots, ranks, why }) =>
      make("li", "", link(`matches/${encodeURIComponent(id)}.html`, placed(bots, ranks)), make("span", "soft", ` (${why})`))));
  }

  function showSection(id, text) {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById(id);
    const old = find(id);
    if (fresh && old) old.replaceWith(document.importNode(fresh, true));
  }

  function show(told) {
    if (told.playing) showPlaying(told.playing, told.more);
    if (told.latest) showLatest(told.latest);
    if (told.played !== undefined) find("played").textContent = told.played;
    for (const [id, text] of Object.entries(told.sections ?? {})) showSection(id, text);
    find("lost").hidden = true;
  }

  hear(`news?v=${document.body.dataset.version}`, show, () => {
    find("lost").hidden = false;
  });
})();
