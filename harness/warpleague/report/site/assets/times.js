// Shows each time of a page as the clock of whoever reads it says, and how long ago it was.

"use strict";

(() => {
  const EVERY_MS = 30_000;
  const UNITS = [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
    ["second", 1],
  ];
  const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const local = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

  /** How long ago a time was, in its largest unit; a time to come is told as well. */
  function relative(seconds) {
    const [unit, size] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? UNITS.at(-1);
    return ago.format(Math.trunc(seconds / size), unit);
  }

  function show() {
    // Those of the class `ago` are short: how long ago alone.
    for (const node of document.querySelectorAll("time[datetime]")) {
      const at = Date.parse(node.dateTime);
      if (!Number.isNaN(at)) {
        const since = relative((at - Date.now()) / 1000);
        node.textContent = node.className === "ago" ? since : `${local.format(at)} (${since})`;
      }
    }
  }

  (globalThis.warpleague ??= {}).showTimes = show;
  show();
  setInterval(show, EVERY_MS);
})();
