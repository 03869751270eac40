// Hears from the server what is new, for as long as the page is open: also when the server was away.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const FIRST_PAUSE_MS = 1000;
  const LONGEST_PAUSE_MS = 15_000;

  /** Call `onTold` with each message from `address`, and `onLost` whenever the connection is lost.
   *
   * A browser asks again by itself only where a connection broke. Where the server is not there, or answers with an
   * error, the asking is up to us. What is returned ends it.
   */
  function hear(address, onTold, onLost) {
    let source = null;
    let pauseMs = FIRST_PAUSE_MS;
    let over = false;

    function ask() {
      if (over) return;
      source = new EventSource(address);
      source.onmessage = (event) => {
        pauseMs = FIRST_PAUSE_MS;
        onTold(JSON.parse(event.data));
      };
      source.onerror = () => {
        onLost();
        if (source.readyState !== EventSource.CLOSED) return;
        setTimeout(ask, pauseMs * (0.5 + Math.random() / 2)); // not all pages at once
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      };
    }

    ask();
    return () => {
      over = true;
      source.close();
    };
  }

  Object.assign(globalThis.warpleague, { hear });
})();
