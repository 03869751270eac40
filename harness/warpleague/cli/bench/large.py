"""The rows about large leagues: the time and memory of the commands that show and report one."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Final

from warpleague.cli.bench.bigleague import make
from warpleague.cli.bench.ground import WARPLEAGUE
from warpleague.cli.bench.rows import Figure
from warpleague.cli.bench.starts import bare_s
from warpleague.errors import HarnessFault

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.cli.bench.ground import Ground

_BARE_S: Final = 0.013
"""The seconds of `python -c pass` on the quiet machine that goals in seconds were set for."""
_TIMES: Final = 3


def million(ground: Ground) -> list[Figure]:
    """Standings, status and report of 1,000,000 matches of 50 bots, as commands."""
    folder = ground.folder / "million"
    config = make(folder, bots=50, matches=ground.times(1_000_000))
    try:
        with ground.one_core():
            bare = bare_s()
            first = _fastest(config, "standings")
            status = _fastest(config, "status")
            seconds, memory_mb = _run(config, "report", "--replays", "none")
    finally:
        shutil.rmtree(folder)
    return [
        _figure("standings", first, 6.0, bare),
        _figure("status", status, 1.0, bare),
        _figure("report", seconds, 30.0, bare),
        Figure("memory of report", memory_mb, "MB", goal=300.0),
    ]


def many_bots(ground: Ground) -> list[Figure]:
    """Standings of 159,600 matches of 400 bots (one deal for each pair), and the size of the page of the league."""
    folder = ground.folder / "bots"
    config = make(folder, bots=400, matches=ground.times(159_600))
    try:
        with ground.one_core():
            bare = bare_s()
            standings = _fastest(config, "standings")
            _run(config, "report", "--replays", "none")
        page = folder / "big" / "report" / "index.html"
        size_mb = page.stat().st_size / 1e6
    finally:
        shutil.rmtree(folder)
    return [_figure("standings", standings, 3.0, bare), Figure("page", size_mb, "MB", goal=1.0)]


def _figure(label: str, seconds: float, goal: float, bare: float) -> Figure:
    return Figure(
        label,
        seconds,
        "s",
        goal=goal,
        ratio=seconds / bare,
        over="python -c pass",
        ratio_goal=goal / _BARE_S,
    )


def _fastest(config: Path, action: str) -> float:
    """Seconds of the fastest of some runs."""
    return min(_run(config, action)[0] for _ in range(_TIMES))


def _run(config: Path, *words: str) -> tuple[float, float]:
    """Seconds of a command about the league, and the most memory it had, in MB."""
    argv = [*WARPLEAGUE, "league", words[0], str(config), "--results", str(config.parent), *words[1:]]
    begun = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise HarnessFault(f"warpleague {' '.join(argv[4:])} failed")
    return seconds, used.ru_maxrss * 1024 / 1e6
