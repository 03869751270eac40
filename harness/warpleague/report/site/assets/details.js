// Tells more of a step of a replay: its note, its action as it stood, its times, what an analysis found, its fault.

"use strict";

globalThis.warpleague ??= {};

(() => {
  const { judgedFacts, make, seconds } = globalThis.warpleague;
  const MARKS = { auto: "it was the only legal action", then: "planned with the action before", substituted: "played by the referee" };

  function pairs(facts) {
    return make("dl", "", ...facts.flatMap(([name, ...value]) => [make("dt", "", name), make("dd", "", ...value)]));
  }

  function side(shown, of) {
    return Array.isArray(of) ? `${shown} of 0 to ${of.length - 1}, weighted` : `${shown} of 0 to ${of - 1}`;
  }

  function faultBox([kind, retired, evidence]) {
    const told = evidence.filter(([, text]) => text !== "");
    const facts = told.map(([name, text]) => [name, make(text.includes("\n") || name !== "message" ? "pre" : "span", "", text)]);
    return make("div", "fault", make("p", "verdict", `${kind}: ${retired ? "the seat is out" : "the referee plays for it"}`), pairs(facts));
  }

  /** The elements that tell of a frame: what its own seat alone knew if that `mayRead`, drawn numbers if that sees `all`. */
  function detailsOf(frame, mayRead, all) {
    const facts = (frame.marks ?? []).map((mark) => ["decided", MARKS[mark] ?? mark]);
    const own = (name, value) => mayRead && value && facts.push([name, value]);
    own("note", frame.note && make("q", "", frame.note));
    own("action", frame.action && make("code", "", frame.action));
    if (frame.outcome && all) {
      const [of, outcome] = JSON.parse(frame.outcome);
      facts.push(["drawn numbers", outcome.map((shown, index) => side(shown, of[index])).join("; ")]);
    }
    if (frame.ms) {
      const [wall, cpu, wait] = frame.ms;
      const shares = [seconds(wall), cpu === null ? "" : `${seconds(cpu)} on a processor`, wait ? `${seconds(wait)} waiting for one` : ""];
      facts.push(["time", shares.filter(Boolean).join(", ")]);
    }
    own("expects", frame.value !== undefined && `a share of ${frame.value.toFixed(2)}`);
    if (mayRead) facts.push(...judgedFacts(frame));
    if (frame.bank !== undefined) facts.push(["bank left", `${frame.bank.toFixed(3)} s`]);
    return [...(facts.length > 0 ? [pairs(facts)] : []), ...(frame.fault && mayRead ? [faultBox(frame.fault)] : [])];
  }

  Object.assign(globalThis.warpleague, { detailsOf });
})();
