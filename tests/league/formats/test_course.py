"""Formats that go by results: the same matches however they are played, whole deals in schedule order only."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest

import warpleague.league.schedule.formats as formats
from warpleague.league.play.running import RunWatcher, run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.schedule.formats.api import Batches
from warpleague.league.schedule.schedule import Course, Schedule
from warpleague.league.season.config import load_config
from warpleague.league.season.fixture import Group
from warpleague.league.season.season import Season
from warpleague.report.wording.columns import standing_json


@attrs.frozen
class Hill:
    """King of the hill: who has more points on a deal meets the next bot; decided at the third throne in a row."""

    season: Season
    ahead: int | None = 0
    most: int = 12

    def batches(self) -> Batches:
        king, challenger, row = 0, 1, 0
        for turn in range(self.most):
            pair = (king, challenger)
            outcomes = yield [Group(pair, (pair, pair[::-1]), turn)]
            for outcome in outcomes:
                first, second = outcome.played or (None, None)
                points = (
                    0
                    if first is None
                    else second.ranks[0] - second.ranks[1] + first.ranks[1] - first.ranks[0]
                )
                out = outcome.absent or frozenset({pair[1] if points >= 0 else pair[0]})
                row = row + 1 if king not in out else 1
                if king in out:
                    king, challenger = challenger, king
                if row == 3:
                    return True
            challenger = next(
                bot % len(self.season.bots)
                for bot in range(challenger + 1, challenger + 9)
                if bot % len(self.season.bots) != king
            )
        for _ in range(self.ahead or 0):
            yield []
        return False

    def total(self, without: frozenset[int]) -> int | None:  # noqa: ARG002
        return None

    def describe(self) -> str:
        return "king of the hill"


@pytest.fixture(params=[0, 3])
def hill(request: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """Makes every league a king of the hill, with so many batches ahead."""
    module = ModuleType("warpleague.league.schedule.formats.hill")
    module.__dict__["make"] = lambda season: Hill(season, request.param)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(formats.MODULES, "round-robin", "hill:make")
    return request.param


class Stop(RunWatcher):
    """Sends this process a signal after some matches."""

    def __init__(self, matches: int) -> None:
        self.left = matches

    def finished(self, fixture: Any, result: Any) -> None:  # noqa: ARG002
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGINT)


def seen(league: Any) -> tuple[list, list]:
    """The matches that count, and the table."""
    matches = [(f.number, f.id, f.seats, played.ranks) for f, played in league.results()]
    return matches, [standing_json(line) for line in standings(league).lines]


def test_results_decide_the_same_matches_however_they_are_played(
    hill: int, write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path
) -> None:
    """In one go, on threads, or stopped and resumed after every few matches: the same matches count."""
    path = write_league("a", "b", "c", "d")
    found = []
    with open_league(path, tmp_path / "once") as league:
        assert league.schedule.total is None
        report = run_league(league, executor=inline, play=fake.play)
        assert report.complete
        assert report.total == report.stored <= report.played
        assert report.played - report.total <= 2 * hill
        found.append(seen(league))
        assert run_league(league, executor=inline, play=fake.play).played == 0
    with ThreadPoolExecutor(4) as threads, open_league(path, tmp_path / "threads") as league:
        assert run_league(league, executor=threads, jobs=4, play=fake.play).complete
        found.append(seen(league))
    for step in range(40):
        with open_league(path, tmp_path / "resumed") as league:
            report = run_league(league, executor=inline, play=fake.play, watcher=Stop(1 + step % 3))
            if report.complete:
                break
            assert not league.store.published()
    with open_to_read(load_config(path), tmp_path / "resumed") as league:
        found.append(seen(league))
    assert found[0] == found[1] == found[2]


def test_matches_are_known_up_to_the_first_missing_result(hill: int, make_season: Any) -> None:
    """Without results only what is ahead is known; nothing is said of how many matches there will be."""
    schedule = Schedule(make_season(3, 2))
    assert [f.number for f in schedule] == list(range(1, 2 * (hill + 1) + 1))
    assert schedule.total is None
    course = Course(schedule)
    assert sum(len(list(batch)) for batch in iter(course.take, None)) == 2 * (hill + 1)
    assert not course.over
    with pytest.raises(TypeError):
        len(schedule)


def test_a_disqualified_bot_holds_nobody_up(
    hill: int, write_league: Any, open_league: Any, fake: Any, inline: Any
) -> None:
    """A format goes on without the matches that a disqualified bot has not played."""
    from warpleague.league.store.disqualifications import disqualify

    path = write_league("a", "b", "c", "d")
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play, watcher=Stop(1))
        disqualify(league.store, "a", "for the test", "stay")
    with open_league(path) as league:
        assert run_league(league, executor=inline, play=fake.play).complete
