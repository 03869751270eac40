"""The row about a league as newcomers see it: where the processor time of the demo's last league goes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.cli.bench.ground import WARPLEAGUE, children_cpu_s, decisions_cpu_s
from warpleague.cli.bench.rows import Figure
from warpleague.league.season.config_file import load_config
from warpleague.league.season.entry import folder_of
from warpleague.match.greeting import hello_line, quit_line
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.shipped import located

if TYPE_CHECKING:
    from warpleague.cli.bench.ground import Ground
    from warpleague.match.spec import SeatSpec

_LEAGUE: Final = Path("leagues/demo.toml")


def shares(ground: Ground) -> list[Figure]:
    """The processor time of a run of the demo's last league and its report, and what each part takes of it.

    A reusable bot starts once for each job; others start for each match. What a start takes is measured apart: the
    bot is started, greeted and asked to quit.
    """
    file, results = located(_LEAGUE), ground.folder / "demo"
    run_s = _command_s("run", file, results, "--quiet")
    rows, thinking_s = decisions_cpu_s(file, results)
    matches = {row["bot"]: int(row["matches"]) for row in rows}
    config = load_config(file)
    starts_s = 0.0
    for entry in config.entries:
        seat = prepare(folder_of(config, entry)).seat()
        starts = len(ground.cores) or 1 if seat.reusable else matches.get(entry.name or seat.bot, 0)
        starts_s += starts * _start_s(seat)
    tables_s = _command_s("standings", file, results)
    pages_s = _command_s("report", file, results)
    total_s = run_s + tables_s + pages_s
    parts = {
        "bots that think": thinking_s,
        "start and end of bots": starts_s,
        "referees, scheduler and store": max(run_s - thinking_s - starts_s, 0.0),
        "standings": tables_s,
        "report with all replays": pages_s,
    }
    return [
        Figure("processor time", total_s, "s"),
        *(Figure(label, 100 * seconds / total_s, "%") for label, seconds in parts.items()),
    ]


def _command_s(action: str, file: Path, results: Path, *words: str) -> float:
    """Processor time in seconds of a command about the league, its children included."""
    before = children_cpu_s()
    argv = [*WARPLEAGUE, "league", action, str(file), "--results", str(results), *words]
    subprocess.run(argv, check=True, capture_output=True)
    return children_cpu_s() - before


def _start_s(seat: SeatSpec) -> float:
    """Processor time in seconds of a bot that is greeted and asked to quit."""
    before = children_cpu_s()
    lines = hello_line() + quit_line()
    subprocess.run(seat.run, cwd=seat.cwd, input=lines, capture_output=True, check=False)
    return children_cpu_s() - before
