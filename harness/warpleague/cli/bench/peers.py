"""Runs other tournament programs in the same run as ours, to compare with: fastchess."""

from __future__ import annotations

import re
import subprocess
import time
from typing import TYPE_CHECKING

import attrs

from warpleague.cli.bench.beyond import beyond, rate
from warpleague.cli.bench.ground import children_cpu_s
from warpleague.errors import BadInput

if TYPE_CHECKING:
    from warpleague.cli.bench.ground import Ground
    from warpleague.cli.bench.rows import Figure


@attrs.frozen
class _Run:
    """A command: its wall time, and the processor time of all its processes, in seconds."""

    seconds: float
    cpu_s: float


def fastchess_games(ground: Ground) -> list[Figure]:
    """Games of eight plies a second that fastchess plays on all cores: engines reused, and restarted for each game.

    Where fastchess waits, its wall time says little; so the processor time of a game stands beside it.
    """
    figures: list[Figure] = []
    for label, restart, games in (("kept", "off", 1000), ("restarted", "on", 20)):
        played: dict[int, int] = {}

        def run(pairs: int, restart: str = restart, played: dict[int, int] = played) -> _Run:
            played[pairs] = 2 * pairs
            return _fastchess(ground, "uci", 2 * pairs, restart)

        more = beyond(run, 1, max(2, ground.times(games) // 2))
        figures += rate(
            f"fastchess, engines {label} (8 plies)", more, max(played.values()) - min(played.values())
        )
    return figures


def _fastchess(ground: Ground, engine: str, games: int, restart: str) -> _Run:
    """Run a command that plays `games` games of our trivial engine against itself."""
    program = str(ground.program(engine))
    argv = [ground.peers["fastchess"]]
    for name in ("one", "two"):
        argv += ["-engine", f"cmd={program}", f"name={name}"]
    argv += ["-each", "tc=60+1", f"restart={restart}", "-rounds", str(games // 2), "-games", "2"]
    argv += ["-concurrency", str(max(1, len(ground.cores))), "-ratinginterval", "0"]
    begun, cpu_s = time.perf_counter(), children_cpu_s()
    done = subprocess.run(argv, capture_output=True, cwd=ground.folder, check=False)
    seconds, cpu_s = time.perf_counter() - begun, children_cpu_s() - cpu_s
    output = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    played = len(re.findall(r"^Finished game", output, re.MULTILINE))
    if done.returncode or played < games:
        raise BadInput(f"--against: fastchess played {played} of {games} games:\n{output[-1000:]}")
    return _Run(seconds, cpu_s)
