// Keeps the page of a league up to date while its matches are played: the server tells what has changed.
//
// The sections come as the page itself has them, made by the same template.

"use strict";

(() => {
  const { hear, make, showTimes } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);

  function link(address, text) {
    const made = make("a", "", text);
    made.href = address;
    return made;
  }

  /** A link to a match with its bots and their scores, the first one first. */
  function result(id, places) {
    const made = link(`matches/${encodeURIComponent(id)}.html`, "");
    places.forEach(({ bot, rank, score }, place) => {
      made.append(place > 0 ? " · " : "", make("span", rank === 1 ? "first" : "", make("bdi", "", bot), " ", make("span", "num", score)));
    });
    return made;
  }

  function moment(at) {
    const made = make("time", "ago", at);
    made.dateTime = made.title = at;
    return made;
  }

  function showPlaying(matches, more) {
    find("playing-none").hidden = matches.length > 0;
    find("playing-list").replaceChildren(...matches.map(({ id, bots }) =>
      make("li", "", link(`live/${encodeURIComponent(id)}`, bots.join(" – ")))));
    find("playing-more").hidden = more === 0;
    find("playing-more").textContent = `and ${more} more`;
  }

  function showLatest(matches) {
    find("latest-list").replaceChildren(...matches.map(({ id, places, why, took_s: took, stored }) =>
      make("li", "", result(id, places), make("span", "soft", ` ${why}, ${took} s, `, moment(stored)))));
    showTimes();
  }

  function showSection(id, text) {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById(id);
    const old = find(id);
    if (!fresh || !old) return;
    const made = document.importNode(fresh, true);
    made.classList.toggle("apart", old.classList.contains("apart")); // the tab that is chosen stays
    old.replaceWith(made);
  }

  function show(told) {
    if (told.playing) showPlaying(told.playing, told.more);
    if (told.latest) showLatest(told.latest);
    if (told.played !== undefined) find("played").textContent = told.played;
    for (const [id, text] of Object.entries(told.sections ?? {})) showSection(id, text);
    find("lost").hidden = true;
    document.body.classList.add("heard");
  }

  hear(`news?v=${document.body.dataset.version}`, show, () => {
    find("lost").hidden = false;
    document.body.classList.add("heard");
  });
})();
