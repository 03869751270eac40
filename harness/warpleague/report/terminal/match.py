"""Prints a finished match: one table, and the faults in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rich.text import Text

from warpleague.match.evidence import evidence_lines
from warpleague.report.terminal.colours import BAD
from warpleague.report.terminal.console import make_console, make_table
from warpleague.report.terminal.scene import RIVAL
from warpleague.report.terminal.styles import seat_style
from warpleague.report.wording.match_words import BUSY_SHARE
from warpleague.runner.hints import hint
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from rich.console import Console

    from warpleague.match.spec import MatchResult, MatchSpec

_STDERR_LINES: Final = 8  # of a bot that is out; its record has more


def print_result(spec: MatchSpec, result: MatchResult, console: Console | None = None) -> None:
    """Print the ranks, the time that each bot took, every fault, and the command that reproduces the match."""
    console = console or make_console()
    console.print(Text(f"{spec.game}, match {result.id}", style="bold"))
    table = make_table()
    table.add_column("seat", justify="right")
    table.add_column("bot", overflow="fold")
    table.add_column("rank", justify="right")
    table.add_column("score", justify="right")
    table.add_column("decisions", justify="right")
    table.add_column("mean ms", justify="right")
    table.add_column("longest ms", justify="right")
    table.add_column("fault")
    for seat, bot in enumerate(spec.seats):
        times = result.times[seat]
        faults = result.faults[seat]
        mean = times.wall_ms / times.decisions if times.decisions else 0.0
        table.add_row(
            str(seat),
            Text(bot.bot, style=seat_style(seat)),
            str(result.ranks[seat]),
            f"{result.scores[seat]:g}",
            str(times.decisions),
            f"{mean:.2f}",
            f"{times.longest_ms:.2f}",
            Text(", ".join(fault.kind for fault in faults), style=BAD),
        )
    if result.rival is not None:
        rank = "2" if result.ranks[0] == 1 else "1"
        table.add_row("", Text(RIVAL, style="italic"), rank, f"{result.rival:g}")
    console.print(table)
    for seat, faults in enumerate(result.faults):
        for fault in faults:
            after = "is out" if fault.retired else "was substituted"
            text = f"seat {seat}, {spec.seats[seat].bot}, {after}: {fault.kind}: {fault.message}"
            console.print(Text(safe(text), style=BAD), soft_wrap=True)
            if fault.retired:
                detail = json.loads(result.record.splitlines()[fault.n])["detail"]
                for line in evidence_lines(detail, _STDERR_LINES, fault.message):
                    console.print(Text(safe(line)), soft_wrap=True)
                if advice := hint(spec.seats[seat], fault.message, detail):
                    console.print(Text(safe(f"  {advice}")), soft_wrap=True)
    if len(spec.seats) > 1 and all(seat and seat[0].kind == "startup" for seat in result.faults):
        console.print("no bot was ready to play: all rank equal", style=BAD)
    for seat in result.stopped:
        console.print(
            f"seat {seat} was stopped between its decisions: pondering is {spec.pondering!r}", markup=False
        )
    for seat, times in enumerate(result.times):
        if times.wait_ms > BUSY_SHARE * times.wall_ms:
            waited = (
                f"waited {times.wait_ms:.0f} ms for a processor, beside {times.wall_ms:.0f} ms of its own"
            )
            console.print(f"the host was busy: seat {seat} {waited}", markup=False)
    console.print(
        f"ended: {result.why}; {result.lines} lines in {result.elapsed_s:.2f} s; seed {spec.seed!r}",
        markup=False,
    )
    console.print(f"digest {result.digest}", soft_wrap=True)
