"""Prints the figures of the benchmark, and the list of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.counts import counted
from warpleague.report.terminal.console import make_console, make_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_VERDICTS: Final = {None: "", True: "reached", False: "missed"}


def print_rows(rows: Sequence[tuple[str, str, bool]]) -> None:
    """Print all rows: name, subject, and whether the row is measured only on request."""
    table = make_table()
    for title in ("row", "what", ""):
        table.add_column(title)
    for name, what, slow in rows:
        table.add_row(name, what, "only with --row or --all" if slow else "")
    make_console().print(table)


def print_figures(report: dict[str, Any]) -> None:
    """Print the figures as tables: the wire and start-up, the games, and the rows with their goals."""
    console = make_console()
    how = "with" if report["compiled"] else "without"
    console.print(
        f"medians of {counted(report['rounds'], 'round')}, Python {report['python']}, {how} the part in C"
    )
    if "wire_us" in report["figures"]:
        _print_general(console, report)
    table = make_table()
    table.add_column("row")
    table.add_column("of")
    table.add_column("figure", justify="right")
    table.add_column("goal", justify="right")
    table.add_column("")
    table.add_column(" or ".join(sorted({f"over {row['over']}" for row in report["rows"] if row["over"]})))
    before = None
    for row in report["rows"]:
        unit = "" if row["unit"] == "times" else f" {row['unit']}"
        sign = {"at most": "≤", "at least": "≥", None: ""}[row["goal_is"]]
        table.add_row(
            "" if row["row"] == before else row["row"],
            row["label"],
            "not measurable" if row["value"] is None else f"{_number(row['value'])}{unit}",
            "" if row["goal"] is None else f"{sign} {row['goal']:g}{unit}",
            _VERDICTS[row["met"]],
            _ratio(row),
        )
        before = row["row"]
    console.print(table)


def _ratio(row: dict[str, Any]) -> str:
    if row["ratio"] is None:
        return ""
    text = _number(row["ratio"])
    goal = row["ratio_goal"]
    return text if goal is None else f"{text} (≤ {_number(goal)}: {_VERDICTS[row['met_as_ratio']]})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _print_general(console: Console, report: dict[str, Any]) -> None:
    figures = report["figures"]
    general = make_table()
    general.add_column("measure")
    general.add_column("figure", justify="right")
    general.add_column("ratio", justify="right")
    general.add_row(
        "C to C, one question and answer (the common measure)", f"{figures['pingpong_us']:.2f} µs", "1.0"
    )
    general.add_row(
        "a decision without a game", f"{figures['wire_us']:.2f} µs", f"{figures['wire_ratio']:.1f}"
    )
    general.add_row("--help, to python -c pass", "", f"{figures['help_ratio']:.1f}")
    general.add_row("--version, to python -c pass", "", f"{figures['version_ratio']:.1f}")
    general.add_row(
        "peak resident set of the bench, playouts included", f"{report['peak_memory_mb']:.0f} MB", ""
    )
    console.print(general)
    games = make_table()
    games.add_column("game")
    games.add_column("engine\nsteps/s", justify="right")
    games.add_column("µs an\naction", justify="right")
    games.add_column("match\ndecisions/s", justify="right")
    games.add_column("µs a\ndecision", justify="right")
    games.add_column("ratio", justify="right")
    games.add_column("engine's\nshare", justify="right")
    for name, row in figures.items():
        if isinstance(row, dict):
            games.add_row(
                name,
                f"{row['playout_steps_per_s']:,.0f}",
                f"{row['playout_us_per_action']:.1f}",
                f"{row['match_decisions_per_s']:,.0f}",
                f"{row['match_us_per_decision']:.1f}",
                f"{row['match_ratio']:.1f}",
                f"{row['engine_share']:.0%}",
            )
    console.print(games)
