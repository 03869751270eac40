"""Makes a league of many matches that nobody played, to measure how tables, status and report keep up.

python -m warpleague.cli.bench.bigleague FOLDER --bots 50 --matches 1000000
warpleague league standings FOLDER/big.toml --results FOLDER
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from math import ceil, comb, exp
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from warpleague.league.play.entering import open_to_run
from warpleague.league.season.config_file import load_config
from warpleague.match.spec import MatchResult, SeatFault, SeatSpec, SeatTimes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpleague.league.schedule.schedule import Schedule
    from warpleague.league.season.fixture import Fixture

_BATCH: Final = 5_000
_FAULT: Final = SeatFault(kind="timeout", n=9, retired=True, message="no answer within 1 s")


def make(folder: Path, *, bots: int, matches: int, players: int = 2, faults: float = 0.001) -> Path:
    """Write a league file in `folder`, and a store of about `matches` matches with invented results. Returns the path.

    The records are not real, so `verify` finds every match wrong. `faults` is the share of matches with a fault.
    """
    config = write(folder, bots, matches, players)
    with open_to_run(load_config(config), folder) as league:
        results = played(league.schedule, bots, faults)
        while batch := list(islice(results, _BATCH)):
            league.store.add(batch)
    return config


def write(folder: Path, bots: int, matches: int, players: int) -> Path:
    """The league file, and the folders of its bots."""
    names = [f"bot-{number:03}" for number in range(bots)]
    for name in names:
        bot = folder / "bots" / name
        bot.mkdir(parents=True, exist_ok=True)
        (bot / "bot.toml").write_text(f'name = "{name}"\ngames = ["captains"]\nrun = ["./bot"]\n', "utf-8")
        (bot / "bot").write_text("#!/bin/sh\n", "utf-8")
        (bot / "bot").chmod(0o755)
    tables = comb(bots, players)
    deals = max(1, ceil(matches / (tables * players)))
    form = f"deals = {deals}"
    if tables > 100_000 or matches < tables * players // 2:
        form = f"deals = 1\ntables = {max(bots, matches // players)}"
    path = folder / "big.toml"
    listed = ", ".join(f'"bots/{name}"' for name in names)
    lines = [
        'seed = "big"',
        f"bots = [{listed}]",
        f'[game]\nid = "captains"\nplayers = {players}',
        f"[format]\n{form}",
        '[rules]\nlevel = "none"',
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def played(
    schedule: Schedule, bots: int, faults: float
) -> Iterator[tuple[Fixture, Sequence[SeatSpec], MatchResult]]:
    """Every match of the schedule with a result by chance: bots are the stronger the later they come."""
    rng = Random(1)
    for fixture in schedule:
        luck = [bot * 4.0 / bots + rng.gauss(0.0, 2.0) for bot in fixture.seats]
        scores = tuple(float(round(10 * exp(value / 8))) for value in luck)
        ranks = tuple(1 + sum(other > score for other in scores) for score in scores)
        times = tuple(
            SeatTimes(30, round(rng.uniform(1, 9), 3), round(rng.random(), 3), 0.1, round(rng.random(), 3))
            for _ in fixture.seats
        )
        faulty = rng.random() < faults
        result = MatchResult(
            id=fixture.id,
            ranks=ranks,
            scores=scores,
            why="completed" if not faulty else "forfeit",
            digest="0" * 64,
            faults=((_FAULT,), *((),) * (len(ranks) - 1)) if faulty else ((),) * len(ranks),
            times=times,
            record=b'{"made":"up"}\n',
            lines=60,
            elapsed_s=round(rng.uniform(0.01, 0.1), 4),
        )
        yield fixture, [schedule.season.bots[bot] for bot in fixture.seats], result


def main() -> int:
    """Make the league that the arguments describe."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bots", type=int, default=50)
    parser.add_argument("--matches", type=int, default=1_000_000)
    parser.add_argument("--players", type=int, default=2)
    args = parser.parse_args()
    print(make(args.folder, bots=args.bots, matches=args.matches, players=args.players))
    return 0


if __name__ == "__main__":
    sys.exit(main())
