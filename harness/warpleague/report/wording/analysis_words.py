"""Puts the results of an analysis into words, the same for the terminal and for pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from warpleague.counts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import JsonObject
    from warpleague.study.analysis_file import Analysis
    from warpleague.study.verdicts import Mean, Turn

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
