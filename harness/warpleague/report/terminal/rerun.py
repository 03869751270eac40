"""Prints the results of a rerun of recorded matches: different decisions, faults, times."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import attrs
from rich.text import Text

from warpleague.league.results.details import BotFaults
from warpleague.report.terminal.console import BAD, make_console, make_table
from warpleague.report.wording.league_words import fault_sentence
from warpleague.text import counted, safe

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject
    from warpleague.study.rerun import Choice, Seen

_STDERR_CHARS: Final = 800
_SLOWER: Final = 2.0
"""How many times as long as recorded a decision must take to be called slower."""
_SLOWER_MS: Final = 10.0
"""And by how much: what takes less differs from run to run."""


@attrs.define
class Summary:
    """The sums over all seats that were put to a bot; the first `most` differences and the slowest decisions."""

    most: int
    records: int = 0
    seats: int = 0
    decisions: int = 0
    compared: int = 0
    different: int = 0
    slower: int = 0
    ms: float = 0.0
    recorded_ms: float = 0.0
    elapsed_s: float = 0.0
    faults: Counter[str] = attrs.field(factory=Counter)
    bot_faults: BotFaults = attrs.field(factory=lambda: BotFaults(""))
    asks: dict[str, list[int]] = attrs.field(factory=dict)
    first: list[tuple[str, int, Choice]] = attrs.field(factory=list)
    slowest: list[tuple[str, int, Choice]] = attrs.field(factory=list)

    def add(self, seen: Seen) -> None:
        """Count one seat."""
        self.seats += 1
        self.decisions += len(seen.choices)
        self.bot_faults.played += 1
        if seen.fault is not None:
            self.faults[seen.fault.kind] += 1
            self.bot_faults.matches += 1
            self.bot_faults.kinds[seen.fault.kind] += 1
            self.bot_faults.messages.setdefault(seen.fault.kind, seen.fault.message)
        for choice in seen.choices:
            if choice.same is not None:
                self.compared += 1
                about = self.asks.setdefault(choice.ask, [0, 0])
                about[0] += 1
                about[1] += not choice.same
            if choice.same is False:
                self.different += 1
                if len(self.first) < self.most:
                    self.first.append((seen.where, seen.seat, choice))
            if choice.ms is not None and choice.recorded_ms is not None:
                self.ms += choice.ms
                self.recorded_ms += choice.recorded_ms
                if is_slower(choice):
                    self.slower += 1
                    self.slowest.append((seen.where, seen.seat, choice))
        if len(self.slowest) > 10 * self.most:
            self._cut()

    def _cut(self) -> None:
        self.slowest.sort(key=lambda slow: -_excess(slow[2]))
        del self.slowest[self.most :]

    def worst(self) -> list[tuple[str, int, Choice]]:
        """The decisions that were slower than recorded, by how much."""
        self._cut()
        return self.slowest


def _excess(choice: Choice) -> float:
    return (choice.ms or 0) - (choice.recorded_ms or 0)


def is_slower(choice: Choice) -> bool:
    """Whether a decision took clearly longer than recorded."""
    return (
        _excess(choice) > _SLOWER_MS
        and choice.ms is not None
        and choice.ms > _SLOWER * (choice.recorded_ms or 0)
    )


def summary_json(summary: Summary) -> JsonObject:
    """The sums as JSON."""
    return {
        "records": summary.records,
        "decisions": summary.decisions,
        "compared": summary.compared,
        "different": summary.different,
        "faults": dict(sorted(summary.faults.items())),
        "slower": summary.slower,
        "ms": round(summary.ms, 3),
        "recorded_ms": round(summary.recorded_ms, 3),
        "asks": {ask: {"compared": n, "different": d} for ask, (n, d) in sorted(summary.asks.items())},
        "elapsed_s": round(summary.elapsed_s, 3),
        "records_a_second": round(summary.records / summary.elapsed_s, 2) if summary.elapsed_s else None,
    }


def seen_json(seen: Seen) -> JsonObject:
    """One seat of one match as JSON: every decision that differs or is slower, and the fault."""
    return {
        "record": seen.where,
        "match": seen.match,
        "game": seen.game,
        "seat": seen.seat,
        "name": seen.bot,
        "decisions": len(seen.choices),
        "different": [_choice_json(choice) for choice in seen.different],
        "slower": [_choice_json(choice) for choice in seen.choices if is_slower(choice)],
        "fault": None if seen.fault is None else attrs.asdict(seen.fault),
        "seeded": seen.seeded,
    }


def _choice_json(choice: Choice) -> JsonObject:
    fields: dict[str, Any] = attrs.asdict(choice, recurse=False)
    return {name: value for name, value in fields.items() if name != "same"}


def print_fault(seen: Seen) -> None:
    """Print a fault of the bot at once."""
    console = make_console()
    assert seen.fault is not None
    text = f"{seen.where}: seat {seen.seat}, line {seen.fault.n}: {seen.fault.kind}: {seen.fault.message}"
    console.print(Text(safe(text), style=BAD), soft_wrap=True)
    if seen.fault.stderr.strip():
        for line in seen.fault.stderr.strip()[-_STDERR_CHARS:].splitlines():
            console.print(Text(safe(f"  | {line}")), soft_wrap=True)


def print_summary(name: str, summary: Summary) -> None:
    """Print the differences, the slower decisions, and the sums."""
    console = make_console()
    if summary.first:
        rest = summary.different - len(summary.first)
        more = f", and {rest:,} more" if rest else ""
        console.print(Text(f"Decided differently ({len(summary.first)}{more})", style="bold"))
        for where, seat, choice in summary.first:
            console.print(
                Text(safe(f"  {where}, line {choice.n}, seat {seat}: {choice.ask}")), soft_wrap=True
            )
            console.print(Text(safe(f"      recorded {_action(choice.recorded)}")), soft_wrap=True)
            console.print(
                Text(safe(f"      now      {_action(choice.action)}{_expects(choice)}")), soft_wrap=True
            )
    if slow := summary.worst():
        more = f" of {summary.slower:,}" if summary.slower > len(slow) else ""
        console.print(Text(f"Slower by more than twice ({len(slow)}{more})", style="bold"))
        for where, seat, choice in slow[:5]:
            took = f"{choice.ms:.1f} ms, recorded {choice.recorded_ms:.1f} ms"
            console.print(Text(safe(f"  {where}, line {choice.n}, seat {seat}: {took}")), soft_wrap=True)
    if len(summary.asks) > 1 or summary.different:
        table = make_table()
        for head, justify in (
            ("decision", "left"),
            ("compared", "right"),
            ("different", "right"),
            ("share", "right"),
        ):
            table.add_column(head, justify=justify)  # type: ignore[arg-type]
        for ask, (compared, different) in sorted(summary.asks.items()):
            table.add_row(ask, f"{compared:,}", f"{different:,}", f"{100 * different / compared:.2f} %")
        console.print(table)
    compared, records = summary.compared, summary.records
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(summary.faults.items()))
    if summary.bot_faults.matches:
        print(f"{fault_sentence(attrs.evolve(summary.bot_faults, bot=name), 'seat')}.")
    print(
        f"{name}: {summary.different:,} of {counted(compared, 'decision')} "
        f"{'differs' if summary.different == 1 else 'differ'}; "
        f"faults: {faults or 'none'}; slower: {summary.slower:,}"
    )
    pace = f"{records / summary.elapsed_s:.1f} records a second" if summary.elapsed_s else "at once"
    then = f"{summary.ms / 1000:.2f} s of its own time, recorded {summary.recorded_ms / 1000:.2f} s"
    print(
        f"{counted(records, 'record')}, {counted(summary.seats, 'seat')}, "
        f"in {summary.elapsed_s:.1f} s ({pace}); {then}"
    )


def _action(action: JsonObject | None) -> str:
    return json.dumps(action, ensure_ascii=False)


def _expects(choice: Choice) -> str:
    return "" if choice.value is None else f"  (expects {100 * choice.value:.4g} %)"
