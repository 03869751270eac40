"""Prints the results of an analysis: blunders, turning points, and the value of every decision, with error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from rich.text import Text

from warpleague.report.terminal.console import make_console, make_table
from warpleague.report.wording.analysis_words import action_text, by_text, turn_text, with_error
from warpleague.text import counted, safe

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from warpleague.games.api import JsonObject
    from warpleague.match.replay import Replay
    from warpleague.study.analyse import Analysis, Mean, Turn, Verdict


def analysis_json(
    analysis: Analysis, replay: Replay, elapsed_s: float, path: Path, *, stopped: bool
) -> JsonObject:
    """All results as JSON; values are shares of the points, or scores, errors half a 95 % interval."""
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


def _verdict_json(verdict: Verdict, analysis: Analysis) -> JsonObject:
    decision, actions = verdict.decision, analysis.actions
    fields: dict[str, Any] = attrs.asdict(decision, recurse=False)
    return fields | {
        "before": _mean_json(verdict.before),
        "after": _mean_json(verdict.after),
        "alternatives": [
            {"index": other.index, "action": actions[decision.n, other.index], **_mean_json(other.mean)}
            for other in verdict.others
        ],
        "looked_at": verdict.looked_at,
        "best": None
        if verdict.best is None
        else {"index": verdict.best, "action": actions[decision.n, verdict.best]},
        "loss": None if verdict.loss is None else _mean_json(verdict.loss),
        "blunder": verdict.blunder,
        "playouts": verdict.playouts,
    }


def print_analysis(
    analysis: Analysis, replay: Replay, elapsed_s: float, most: int, *, every: bool = False
) -> None:
    """Print at most `most` blunders and turning points, and with `every` a table of all decisions."""
    console = make_console()
    names = [seat["bot"] for seat in replay.header["seats"]]
    shares = analysis.plan.shares
    if blunders := analysis.blunders:
        more = f" of {len(blunders)}" if len(blunders) > most else ""
        console.print(Text(f"Blunders ({min(len(blunders), most)}{more})", style="bold"))
        for verdict in blunders[:most]:
            _print_blunder(console, verdict, analysis, names)
    if analysis.turns:
        more = f" of {len(analysis.turns)}" if len(analysis.turns) > most else ""
        console.print(Text(f"Turning points ({min(len(analysis.turns), most)}{more})", style="bold"))
        for turn in analysis.turns[:most]:
            console.print(Text(safe(f"  {turn_text(turn, names, shares)}")), soft_wrap=True)
    if every:
        console.print(_table(analysis))
    print(summary_text(analysis, elapsed_s))


def summary_text(analysis: Analysis, elapsed_s: float | None = None) -> str:
    """How it was analysed, in one line or two."""
    judged = [each for each in analysis.verdicts if each.loss is not None]
    took = "" if elapsed_s is None else f", in {elapsed_s:.1f} s"
    text = (
        f"{len(judged)} of {counted(len(analysis.verdicts) + analysis.left, 'decision')} judged; "
        f"blunders: {len(analysis.blunders) or 'none'}; turning points: {len(analysis.turns) or 'none'}\n"
        f"{by_text(analysis)}{took}"
    )
    if analysis.faults:
        faults = ", ".join(f"{count:,} {kind}" for kind, count in analysis.faults.items())
        text += f"\nfaults in these playouts: {faults}; the first legal action was played instead"
    return text


def _print_blunder(console: Console, verdict: Verdict, analysis: Analysis, names: list[str]) -> None:
    decision, shares = verdict.decision, analysis.plan.shares
    assert verdict.loss is not None
    assert verdict.best is not None
    head = f"  line {decision.n}, seat {decision.seat} {names[decision.seat]}, {decision.ask}: "
    head += f"lost {with_error(verdict.loss, shares)}"
    action = action_text(analysis.actions[decision.n, decision.played])
    played = f"      played {action}  ({with_error(verdict.after, shares)})"
    better = f"      better {action_text(analysis.actions[decision.n, verdict.best])}"
    for other in verdict.others:
        if other.index == verdict.best:
            better += f"  ({with_error(other.mean, shares)})"
    for line in (head, played, better):
        console.print(Text(safe(line)), soft_wrap=True)


def _table(analysis: Analysis) -> Table:
    shares = analysis.plan.shares
    table = make_table()
    for head in ("line", "seat", "decision", "before", "after", "lost", "", "playouts"):
        table.add_column(head, justify="left" if head in ("decision", "") else "right")
    for verdict in analysis.verdicts:
        decision = verdict.decision
        table.add_row(
            str(decision.n),
            str(decision.seat),
            decision.ask,
            with_error(verdict.before, shares),
            with_error(verdict.after, shares),
            "" if verdict.loss is None else with_error(verdict.loss, shares) if verdict.loss.value else "0",
            "blunder" if verdict.blunder else "",
            f"{verdict.playouts:,}",
        )
    return table
