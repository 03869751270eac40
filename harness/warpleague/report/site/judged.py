"""The parts of an analysis that the page of a match shows: the values of judged decisions, blunders, and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.report.wording.analysis_words import action_text, turn_text, with_error
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.study.analysis_file import Analysis
    from warpleague.study.verdicts import Verdict


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
