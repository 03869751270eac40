"""Prints the figures of the benchmark."""

from __future__ import annotations

from typing import Any

from warpleague.report.terminal import make_console, make_table


def print_figures(found: dict[str, Any]) -> None:
    """Print the figures as two tables: the wire and start-up, then the games."""
    console = make_console()
    figures = found["figures"]
    console.print(f"medians of {found['rounds']} rounds, Python {found['python']}")
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
        "peak resident set of the bench, playouts included", f"{found['peak_memory_mb']:.0f} MB", ""
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
