// Shows one part of a long page at a time: the links of its navigation are tabs. Without scripts, and on paper, all is shown.
//
// A part is the section that a link names, with those that say it `data-with`.

"use strict";

(() => {
  const tabs = [...document.querySelectorAll('nav[data-tabs] a')];
  const names = tabs.map((tab) => tab.hash.slice(1));

  /** The part that the address asks for; the matches where it chooses some of them. */
  function wanted() {
    const name = window.location.hash.slice(1);
    if (names.includes(name)) return name;
    return name.includes("=") ? "matches" : names[0];
  }

  function show() {
    const name = wanted();
    for (const tab of tabs) {
      if (tab.hash === `#${name}`) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    }
    for (const part of document.querySelectorAll("main > section, main > #now")) {
      part.classList.toggle("apart", (part.dataset.with ?? part.id) !== name);
    }
  }

  function go() {
    show();
    if (names.includes(window.location.hash.slice(1))) window.scrollTo(0, 0);
  }

  window.addEventListener("hashchange", go);
  window.addEventListener("load", go); // after the browser went to the part itself
  show();
})();
