"""Prints what an analysis found: blunders, turning points, and the value of every decision, all with error bars."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs
from rich.text import Text

from warpleague.report.terminal import make_console, make_table
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from warpleague.games.api import JsonObject
    from warpleague.match.replay import Replay
    from warpleague.study.analysis_file import Analysis
    from warpleague.study.verdicts import Mean, Turn, Verdict

_ACTION_CHARS: Final = 160


def analysis_json(
    analysis: Analysis, replay: Replay, elapsed_s: float, path: Path, *, stopped: bool
) -> JsonObject:
    """All that was found as JSON; values are shares of the points, or scores, errors half a 95 % interval."""
    blunders = analysis.blunders
    return {
        "match": replay.header["id"],
        "game": replay.header["game"],
        "with": [bot[0] for bot in analysis.about["bots"]] or ["random"],
        "seed": analysis.about["seed"],
        "estimates": analysis.about["estimates"],
        "all_known": analysis.about["all_known"],
        "unit": "share" if analysis.plan.shares else "score",
        "playouts": analysis.playouts,
        "faults": analysis.faults,
        "blunders": [each.decision.n for each in blunders],
        "turning_points": [turn_json(turn) for turn in analysis.turns],
        "decisions": [_verdict_json(each, analysis) for each in analysis.verdicts],
        "unknown": analysis.left,
        "stopped": stopped,
        "file": str(path),
        "elapsed_s": round(elapsed_s, 3),
    }


def _mean_json(mean: Mean) -> JsonObject:
    interval = mean.interval
    return {
        "value": round(mean.value, 5),
        "error": None if interval is None else round(interval, 5),
        "playouts": mean.playouts,
    }


def turn_json(turn: Turn) -> JsonObject:
    """A turning point as JSON."""
    return {
        "n": turn.n,
        "since": turn.since,
        "seat": turn.seat,
        "own": turn.own,
        "before": round(turn.before, 5),
        "after": round(turn.after, 5),
        "change": _mean_json(turn.change),
    }


def _verdict_json(found: Verdict, analysis: Analysis) -> JsonObject:
    decision, actions = found.decision, analysis.actions
    told: dict[str, Any] = attrs.asdict(decision, recurse=False)
    return told | {
        "before": _mean_json(found.before),
        "after": _mean_json(found.after),
        "alternatives": [
            {"index": other.index, "action": actions[decision.n, other.index], **_mean_json(other.mean)}
            for other in found.others
        ],
        "looked_at": found.looked_at,
        "best": None
        if found.best is None
        else {"index": found.best, "action": actions[decision.n, found.best]},
        "loss": None if found.loss is None else _mean_json(found.loss),
        "blunder": found.blunder,
        "playouts": found.playouts,
    }


def _percent(value: float, shares: bool, *, sign: bool = False) -> str:
    form = "+" if sign else ""
    return f"{100 * value:{form}.1f} %" if shares else f"{value:{form}.1f}"


def _with_error(mean: Mean, shares: bool, *, sign: bool = False) -> str:
    error = (
        "?" if mean.interval is None else f"{100 * mean.interval:.1f}" if shares else f"{mean.interval:.1f}"
    )
    return f"{_percent(mean.value, shares, sign=sign)} ± {error}"


def print_analysis(
    analysis: Analysis, replay: Replay, elapsed_s: float, most: int, *, every: bool = False
) -> None:
    """Print the blunders and turning points, at most so many, and with `every` a table of all decisions."""
    console = make_console()
    names = [seat["bot"] for seat in replay.header["seats"]]
    shares = analysis.plan.shares
    if blunders := analysis.blunders:
        more = f" of {len(blunders)}" if len(blunders) > most else ""
        console.print(Text(f"Blunders ({min(len(blunders), most)}{more})", style="bold"))
        for found in blunders[:most]:
            _print_blunder(console, found, analysis, names)
    if analysis.turns:
        more = f" of {len(analysis.turns)}" if len(analysis.turns) > most else ""
        console.print(Text(f"Turning points ({min(len(analysis.turns), most)}{more})", style="bold"))
        for turn in analysis.turns[:most]:
            console.print(Text(safe(f"  {_turn_text(turn, names, shares)}")), soft_wrap=True)
    if every:
        console.print(_table(analysis))
    print(summary_text(analysis, elapsed_s))


def summary_text(analysis: Analysis, elapsed_s: float | None = None) -> str:
    """How it was analysed, in one line or two."""
    bots = ", ".join(dict.fromkeys(bot[0] for bot in analysis.about["bots"]))
    by = f"with {safe(bots)} in all seats" if bots else "at random, without bots"
    if len({tuple(bot) for bot in analysis.about["bots"]}) > 1:
        by = f"with {safe(bots)}"
    known = "all facts as they were" if analysis.about["all_known"] else "from what each seat knew"
    until = "to the bot's own estimate" if analysis.about["estimates"] else "to the end"
    judged = [each for each in analysis.verdicts if each.loss is not None]
    took = "" if elapsed_s is None else f", in {elapsed_s:.1f} s"
    text = (
        f"{len(judged)} of {len(analysis.verdicts) + analysis.left} decisions judged; "
        f"blunders: {len(analysis.blunders) or 'none'}; turning points: {len(analysis.turns) or 'none'}\n"
        f"{analysis.playouts:,} playouts {until}, played {by}, {known}{took}"
    )
    if analysis.faults:
        told = ", ".join(f"{count:,} {kind}" for kind, count in analysis.faults.items())
        text += f"\nfaults in these playouts: {told}; the first legal action was played instead"
    return text


def _print_blunder(console: Console, found: Verdict, analysis: Analysis, names: list[str]) -> None:
    decision, shares = found.decision, analysis.plan.shares
    assert found.loss is not None
    assert found.best is not None
    head = f"  line {decision.n}, seat {decision.seat} {names[decision.seat]}, {decision.ask}: "
    head += f"lost {_with_error(found.loss, shares)}"
    action = _action(analysis.actions[decision.n, decision.played])
    played = f"      played {action}  ({_with_error(found.after, shares)})"
    better = f"      better {_action(analysis.actions[decision.n, found.best])}"
    for other in found.others:
        if other.index == found.best:
            better += f"  ({_with_error(other.mean, shares)})"
    for line in (head, played, better):
        console.print(Text(safe(line)), soft_wrap=True)


def _turn_text(turn: Turn, names: list[str], shares: bool) -> str:
    who = f"seat {turn.seat} {names[turn.seat]}"
    where = f"line {turn.n}" if turn.own else f"lines {turn.since} to {turn.n}"
    why = "its decision" if turn.own else "dice and the others"
    before, after = _percent(turn.before, shares), _percent(turn.after, shares)
    return f"{where}, {who}: {before} to {after}  ({_with_error(turn.change, shares, sign=True)}), {why}"


def _table(analysis: Analysis) -> Table:
    shares = analysis.plan.shares
    table = make_table()
    for head in ("line", "seat", "decision", "before", "after", "lost", "", "playouts"):
        table.add_column(head, justify="left" if head in ("decision", "") else "right")
    for found in analysis.verdicts:
        decision = found.decision
        table.add_row(
            str(decision.n),
            str(decision.seat),
            decision.ask,
            _with_error(found.before, shares),
            _with_error(found.after, shares),
            "" if found.loss is None else _with_error(found.loss, shares) if found.loss.value else "0",
            "blunder" if found.blunder else "",
            f"{found.playouts:,}",
        )
    return table


def _action(action: JsonObject) -> str:
    text = json.dumps(action, ensure_ascii=False)
    return text if len(text) <= _ACTION_CHARS else text[: _ACTION_CHARS - 1] + "…"
