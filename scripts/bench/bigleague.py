"""Makes a league of many matches that nobody played, to measure how tables, status and report keep up."""

from __future__ import annotations

import time
from collections import Counter
from itertools import islice
from math import comb, exp
from random import Random
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.league.play.entering import open_to_run
from warpleague.league.results.ladders import going_on
from warpleague.league.schedule.formats.round_robin import group_of
from warpleague.league.schedule.schedule import Course
from warpleague.league.season.config import load_config
from warpleague.match.spec import MatchResult, SeatFault, SeatSpec, SeatTimes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from warpleague.league.schedule.formats.api import Batches
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.season.season import Season

_BATCH: Final = 5_000
_CHOSEN: Final = 4
"""Batches that a ladder chooses itself."""
_FAULTS: Final = 0.001
_FAULT: Final = SeatFault(kind="timeout", n=9, retired=True, message="no answer within 1 s")


def make(folder: Path, *, bots: int, matches: int) -> Path:
    """Write a league file of captains in `folder`, and a store of about `matches` matches with invented results.

    The records are not real, so `verify` finds every match wrong.
    """
    config = _written(folder, bots, f"deals = {max(1, -(-matches // (2 * comb(bots, 2))))}")
    with open_to_run(load_config(config), folder) as league:
        results = _played(league.schedule, league.season)
        while batch := list(islice(results, _BATCH)):
            league.store.add(batch)
    return config


@attrs.define
class Ladder:
    """A ladder of which nobody played a match: its file, and processor times in seconds.

    `pairing_s` is that of choosing a deal, `resume_s` that of opening the league and choosing the deals that come
    next, and `newcomer_s` the same with one more bot.
    """

    config: Path
    pairing_s: float = 0.0
    resume_s: float = 0.0
    newcomer_s: float = 0.0


def make_ladder(folder: Path, *, bots: int, matches: int) -> Ladder:
    """The same of a ladder, whose last batches are chosen by the ladder itself, and all before them by lot."""
    made = Ladder(_written(folder, bots, 'kind = "ladder"'))
    with open_to_run(load_config(made.config), folder) as league:
        for part in Course(league.due, _by_lot(league.season, matches // 2), keeps=True).missing():
            league.store.add(_played(part, league.season))
        course, spent_s, deals = going_on(league), 0.0, 0
        for _ in range(_CHOSEN):
            begun_s = time.process_time()
            batch = [fixture for part in course.missing() for fixture in part]
            spent_s += time.process_time() - begun_s
            deals += len({fixture.group for fixture in batch})
            league.store.add(_played(batch, league.season))
    made.pairing_s = spent_s / deals
    made.resume_s = _opening_s(made.config)
    _written(folder, bots + 1, 'kind = "ladder"')
    made.newcomer_s = _opening_s(made.config)
    return made


def _by_lot(season: Season, deals: int) -> Batches:
    """Deals of pairs, every fourth of any two bots, the others of two that are near each other."""
    rng, rounds, bots = Random(2), Counter[tuple[int, ...]](), len(season.bots)
    for begin in range(0, deals, _BATCH):
        groups = []
        for place in range(begin, min(begin + _BATCH, deals)):
            one = rng.randrange(bots)
            away = rng.randrange(1, bots if place % 4 == 0 else bots // 10)
            table = tuple(sorted((one, (one + away) % bots)))
            groups.append(attrs.evolve(group_of(season, table, rounds[table]), place=place))
            rounds[table] += 1
        yield groups
    return False


def _opening_s(config: Path) -> float:
    """Processor time of opening a ladder and choosing the deals that come next."""
    begun_s = time.process_time()
    with open_to_run(load_config(config), config.parent) as league:
        list(going_on(league).missing())
    return time.process_time() - begun_s


def _written(folder: Path, bots: int, form: str) -> Path:
    """A league file of captains, and folders of its bots."""
    names = [f"bot-{number:03}" for number in range(bots)]
    for name in names:
        bot = folder / "bots" / name
        bot.mkdir(parents=True, exist_ok=True)
        (bot / "bot.toml").write_text(f'name = "{name}"\ngames = ["captains"]\nrun = ["./bot"]\n', "utf-8")
        (bot / "bot").touch(0o755)
    config = folder / "big.toml"
    listed = ", ".join(f'"bots/{name}"' for name in names)
    config.write_text(
        f'seed = "big"\nbots = [{listed}]\n[game]\nid = "captains"\nplayers = 2\n'
        f'[format]\n{form}\n[rules]\nlevel = "none"\n',
        "utf-8",
    )
    return config


def _played(
    fixtures: Iterable[Fixture], season: Season
) -> Iterator[tuple[Fixture, Sequence[SeatSpec], MatchResult]]:
    """Each match with a result by chance: bots are the stronger the later they come."""
    rng, bots = Random(1), len(season.bots)
    for fixture in fixtures:
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
        yield fixture, [season.bots[bot] for bot in fixture.seats], result
