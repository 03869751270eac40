// A match while it is played, as far as all seats know it: a replay whose end grows.

"use strict";

(() => {
  const { MatchPage, hear } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const LOOK_AT_END_MS = 4000;
  let over = false;
  let leaving = 0;
  const names = JSON.parse(document.body.dataset.names);
  const page = new MatchPage(names.map((label) => ({ label })), { live: true, shown: goOn });

  /** Who watches a bot sees its next match after this one, as long as that is wanted. */
  function goOn() {
    if (!over || !page.rests || leaving || !find("next")) return;
    leaving = window.setTimeout(() => {
      leaving = 0;
      if (find("goes-on").checked) location.assign(find("next").value);
    }, LOOK_AT_END_MS);
  }

  find("goes-on")?.addEventListener("change", goOn);

  const end = hear(find("news").value, (message) => {
    if (message.over) end();
    if (message.gone) {
      // The match was over before this page had asked, or asked again: its replay has all of it.
      location.replace(find("replay").href);
      return;
    }
    if (message.reset) page.clear();
    if (message.over) {
      over = true;
      page.outcome = message.outcome || "The match is over";
      find("replay").hidden = false;
      document.title = document.title.replace("Now: ", "");
    }
    find("outcome").textContent = message.trouble ? `This match cannot be shown: ${message.trouble}` : over ? page.outcome : "being played";
    page.hear(message.frames);
    document.body.classList.add("ready");
  }, () => {
    if (!over) find("outcome").textContent = "The connection was lost. The page tries again.";
    find("replay").hidden = false; // the match may be over
  });
})();
