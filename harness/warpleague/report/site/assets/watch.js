// Shows a match while it is played, as far as all seats know it.
//
// What bots wrote is only ever shown as text, never as markup.

"use strict";

(() => {
  const { Stage, hear, make } = globalThis.warpleague;
  const find = (id) => document.getElementById(id);
  const seats = [...find("seats").children].map((item) => item.dataset.name);
  const LOOK_AT_END_MS = 4000;
  const stage = new Stage(nameOf, () => seats.length, showState);
  let state = { over: false, turn: [] };
  let leaving = 0;

  function nameOf(seat) {
    if (seat === null || seat === undefined) return "";
    return seat < seats.length ? seats[seat] : "the game itself";
  }

  function showState() {
    const status = find("status");
    if (state.over) showEnd();
    [...find("seats").children].forEach((item, seat) => item.classList.toggle("acts", state.turn.includes(seat)));
    if (state.trouble) status.textContent = `This match cannot be shown: ${state.trouble}`;
    else if (!state.over) status.textContent = state.turn.length > 0 ? `${state.turn.map(nameOf).join(" and ")} to move` : "The match goes on";
    else if (stage.rests) {
      status.replaceChildren("The match is over: ", link(find("replay").value, "its result and replay"));
      goOn();
    } else status.textContent = "The match is over; these are its moves";
  }

  /** What the page said when it was loaded holds no more. */
  function showEnd() {
    find("phase").textContent = "just over";
    document.title = document.title.replace("Now: ", "");
  }

  /** Who watches a bot sees its next match after this one, as long as that is wanted. */
  function goOn() {
    if (!find("next") || leaving) return;
    leaving = window.setTimeout(() => {
      leaving = 0;
      if (find("goes-on").checked) location.assign(find("next").value);
    }, LOOK_AT_END_MS);
  }

  find("goes-on")?.addEventListener("change", () => {
    if (state.over && stage.rests) goOn();
  });

  function link(address, text) {
    const made = make("a", "", text);
    made.href = address;
    return made;
  }

  const end = hear(find("news").value, (message) => {
    if (message.over) end();
    if (message.gone) {
      // The match was over before this page had asked, or asked again: its replay has all of it.
      location.replace(find("replay").value);
      return;
    }
    if (message.reset) stage.reset();
    state = message;
    stage.play(message.frames);
  }, () => {
    if (state.over) return;
    find("status").replaceChildren(
      "The connection was lost. The page tries again. If the match is over: ", link(find("replay").value, "its replay"));
  });
})();
