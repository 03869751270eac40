"""The rows about the start of commands."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from warpleague.cli.bench.ground import WARPLEAGUE
from warpleague.cli.bench.rows import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.cli.bench.ground import Ground


def commands(ground: Ground) -> list[Figure]:
    """Commands that do little, over `python -c pass`: what a user waits for at each of them."""
    with ground.one_core(), ground.played_league() as (file, results):
        bare = bare_s()
        standings = (*WARPLEAGUE, "league", "standings", str(file), "--results", str(results))
        return [
            Figure("--help", fastest((*WARPLEAGUE, "--help")) / bare, goal=4.0),
            Figure("games", fastest((*WARPLEAGUE, "games")) / bare, goal=8.0),
            Figure("league standings (2 matches)", fastest(standings) / bare),
        ]


def bare_s() -> float:
    """Seconds that `python -c pass` takes; -I keeps it, as it does our commands, from the current folder."""
    return fastest((sys.executable, "-I", "-c", "pass"))


def fastest(argv: Sequence[str]) -> float:
    """Seconds of the fastest of some runs of a command."""
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
        best = min(best, time.perf_counter() - begun)
    return best
