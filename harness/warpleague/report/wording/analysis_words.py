"""Puts the results of an analysis into words, the same for the terminal and for pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from warpleague.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import JsonObject
    from warpleague.study.analyse import Analysis, Mean, Turn, Verdict


# -- analysis words --------------------------------------------------------------------------------------


_MAX_CHARS: Final = 160


def percent(value: float, shares: bool, *, sign: bool = False) -> str:
    """A share in percent, or a score."""
    form = "+" if sign else ""
    return f"{100 * value:{form}.1f} %" if shares else f"{value:{form}.1f}"


def with_error(mean: Mean, shares: bool, *, sign: bool = False) -> str:
    """A mean with half its 95 % interval."""
    error = (
        "?" if mean.interval is None else f"{100 * mean.interval:.1f}" if shares else f"{mean.interval:.1f}"
    )
    return f"{percent(mean.value, shares, sign=sign)} ± {error}"


def turn_text(turn: Turn, names: Sequence[str], shares: bool) -> str:
    """A turning point in words."""
    who = f"seat {turn.seat} {names[turn.seat]}"
    where = f"line {turn.n}" if turn.own else f"lines {turn.since} to {turn.n}"
    why = "its decision" if turn.own else "dice and the others"
    before, after = percent(turn.before, shares), percent(turn.after, shares)
    return f"{where}, {who}: {before} to {after}  ({with_error(turn.change, shares, sign=True)}), {why}"


def action_text(action: JsonObject) -> str:
    """An action as JSON, cut where it is very long."""
    text = json.dumps(action, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


def by_text(analysis: Analysis) -> str:
    """The method of the analysis: the number of playouts, the bots, the known facts."""
    bots = ", ".join(dict.fromkeys(bot[0] for bot in analysis.about["bots"]))
    by = f"with {bots} in all seats" if bots else "at random, without bots"
    if len({tuple(bot) for bot in analysis.about["bots"]}) > 1:
        by = f"with {bots}"
    known = "all facts as they were" if analysis.about["all_known"] else "from what each seat knew"
    until = "to the bot's own estimate" if analysis.about["estimates"] else "to the end"
    return f"{counted(analysis.playouts, 'playout')} {until}, played {by}, {known}"


# -- judged ----------------------------------------------------------------------------------------------
# The parts of an analysis that the page of a match shows: the values of judged decisions, blunders, and
# texts.


def judged(analysis: Analysis, names: Sequence[str]) -> dict[int, dict[str, Any]]:
    """For each judged line what its frame gets besides: `judged`, and `turn` at turning points.

    `worth` has the value before and after, and half the 95 % interval of the latter, where they are shares; `loss` is
    the share by which the best action found was better, where that is known.
    """
    by_line: dict[int, dict[str, Any]] = {}
    for verdict in analysis.verdicts:
        about: dict[str, Any] = {"told": _table(verdict, analysis)}
        if analysis.plan.shares:
            about["worth"] = [
                round(value, 4)
                for value in (verdict.before.value, verdict.after.value, verdict.after.interval or 0)
            ]
            if verdict.loss is not None:
                about["loss"] = round(max(0.0, verdict.loss.value), 4)
        if verdict.blunder:
            about["blunder"] = True
        by_line[verdict.decision.n] = {"judged": about}
    for turn in analysis.turns:
        by_line[turn.n].setdefault("turn", safe(turn_text(turn, names, analysis.plan.shares), keep=""))
    return by_line


def _table(verdict: Verdict, analysis: Analysis) -> list[list[str]]:
    shares, n = analysis.plan.shares, verdict.decision.n
    rows = [
        ["value before", with_error(verdict.before, shares)],
        ["value after", with_error(verdict.after, shares)],
    ]
    if verdict.loss is not None and verdict.best is not None and verdict.best != verdict.decision.played:
        rows.append(["lost", with_error(verdict.loss, shares)])
        rows.append(["best found", safe(action_text(analysis.actions[n, verdict.best]), keep="")])
    return [*rows, ["playouts", f"{verdict.playouts:,}"]]
