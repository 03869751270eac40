"""Makes a league of many matches that nobody played, to measure how tables, status and report keep up."""

from __future__ import annotations

from itertools import islice
from math import comb, exp
from random import Random
from typing import TYPE_CHECKING, Final

from warpleague.league.play.entering import open_to_run
from warpleague.league.season.config import load_config
from warpleague.match.spec import MatchResult, SeatFault, SeatSpec, SeatTimes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warpleague.league.schedule.schedule import Schedule
    from warpleague.league.season.fixture import Fixture

_BATCH: Final = 5_000
_FAULTS: Final = 0.001
_FAULT: Final = SeatFault(kind="timeout", n=9, retired=True, message="no answer within 1 s")


def make(folder: Path, *, bots: int, matches: int) -> Path:
    """Write a league file of captains in `folder`, and a store of about `matches` matches with invented results.

    The records are not real, so `verify` finds every match wrong.
    """
    names = [f"bot-{number:03}" for number in range(bots)]
    for name in names:
        bot = folder / "bots" / name
        bot.mkdir(parents=True)
        (bot / "bot.toml").write_text(f'name = "{name}"\ngames = ["captains"]\nrun = ["./bot"]\n', "utf-8")
        (bot / "bot").touch(0o755)
    config = folder / "big.toml"
    listed = ", ".join(f'"bots/{name}"' for name in names)
    config.write_text(
        f'seed = "big"\nbots = [{listed}]\n[game]\nid = "captains"\nplayers = 2\n'
        f'[format]\ndeals = {max(1, -(-matches // (2 * comb(bots, 2))))}\n[rules]\nlevel = "none"\n',
        "utf-8",
    )
    with open_to_run(load_config(config), folder) as league:
        results = _played(league.schedule, bots)
        while batch := list(islice(results, _BATCH)):
            league.store.add(batch)
    return config


def _played(schedule: Schedule, bots: int) -> Iterator[tuple[Fixture, Sequence[SeatSpec], MatchResult]]:
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
        faulty = rng.random() < _FAULTS
        result = MatchResult(
            id=fixture.id,
            ranks=ranks,
            scores=scores,
            why="forfeit" if faulty else "completed",
            digest="0" * 64,
            faults=((_FAULT,) if faulty else (), ()),
            times=times,
            record=b'{"made":"up"}\n',
            lines=60,
            elapsed_s=round(rng.uniform(0.01, 0.1), 4),
        )
        yield fixture, [schedule.season.bots[bot] for bot in fixture.seats], result
