"""Runs other tournament programs in the same run as ours, to compare with: fastchess."""

from __future__ import annotations

import re
import subprocess
import time
from typing import TYPE_CHECKING

from warpleague.cli.bench.rows import Figure
from warpleague.errors import BadInput

if TYPE_CHECKING:
    from warpleague.cli.bench.ground import Ground


def fastchess_games(ground: Ground) -> list[Figure]:
    """Games of eight plies a second that fastchess plays on all cores: engines kept, and restarted for each game."""
    found: list[Figure] = []
    for label, restart, games in (("kept", "off", 1000), ("restarted", "on", 20)):
        seconds = _fastchess(ground, "uci", max(4, ground.times(games)), restart)
        few = _fastchess(ground, "uci", 2, restart)
        rate = (max(4, ground.times(games)) - 2) / max(seconds - few, 1e-9)
        found.append(Figure(f"fastchess, engines {label} (8 plies)", rate, "/s"))
    return found


def _fastchess(ground: Ground, engine: str, games: int, restart: str) -> float:
    """Seconds of a command that plays so many games of our trivial engine against itself."""
    program = str(ground.program(engine))
    argv = [ground.peers["fastchess"]]
    for name in ("one", "two"):
        argv += ["-engine", f"cmd={program}", f"name={name}"]
    argv += ["-each", "tc=60+1", f"restart={restart}", "-rounds", str(games // 2), "-games", "2"]
    argv += ["-concurrency", str(max(1, len(ground.cores))), "-ratinginterval", "0"]
    begun = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, cwd=ground.folder, check=False)
    seconds = time.perf_counter() - begun
    told = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    played = len(re.findall(r"^Finished game", told, re.MULTILINE))
    if done.returncode or played < games // 2 * 2:
        raise BadInput(f"--against: fastchess played {played} of {games} games:\n{told[-1000:]}")
    return seconds
