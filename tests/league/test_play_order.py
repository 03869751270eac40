"""Dice that were seen reach no other match: the order in time, and what is ended between two matches on one deal."""

import os
from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.league.conftest import OpenLeague, WriteLeague

from warpleague.league.play.running import RunWatcher, StopWhen, run_league
from warpleague.league.referees.pool import MatchExecutor, RefereeDied, RefereePool
from warpleague.league.schedule.schedule import DEALS_A_JOB, Schedule, in_phases
from warpleague.league.season.fixture import Fixture
from warpleague.match.spec import MatchSpec
from warpleague.runner.play import end_idle


@given(st.lists(st.integers(1, 5), max_size=300), st.integers(1, 3))
def test_each_match_is_played_once_and_deals_come_in_turn(sizes: list[int], jobs: int) -> None:
    """Nothing is lost or doubled, and within a window a deal comes again only when all others have come as often."""
    fixtures = [
        Fixture(number=0, id=f"{deal} {order}", deal=deal, group=deal, seats=(0, 1))
        for deal, size in enumerate(sizes)
        for order in range(size)
    ]
    played = list(in_phases(iter(fixtures), lambda: jobs))
    assert Counter(played) == Counter(fixtures)
    window = DEALS_A_JOB * jobs
    for begin in range(0, len(sizes), window):
        deals = range(begin, min(begin + window, len(sizes)))
        orders = [int(fixture.id.split()[1]) for fixture in played if fixture.deal in deals]
        assert orders == sorted(orders)


def test_few_windows_are_in_memory() -> None:
    """A season is read as it is played, whatever its length."""
    read = []
    fixtures = (Fixture(n, str(n), n // 2, n // 2, (0, 1)) for n in range(10**9) if read.append(n) is None)
    next(in_phases(fixtures, lambda: 2))
    assert len(read) <= 2 * 2 * DEALS_A_JOB + 1


class Bots(MatchExecutor):
    """Plays matches in any order, several at once, and keeps in mind which bots are alive and what they have seen.

    Every process sees the dice of all that are played while it lives: bots may signal to each other.
    """

    def __init__(self, play: Any, jobs: int, deaths: int = 0) -> None:
        self.play, self.jobs, self.deaths = play, jobs, deaths
        self.random = Random(1)
        self.going: dict[Future, MatchSpec] = {}
        self.died: Counter[str] = Counter()
        self.seen: set[bytes] = set()
        self.foretold = self.ended = 0
        self.most = 0

    def submit(self, fn: Any, spec: MatchSpec) -> Future:
        assert fn is self.play
        future: Future = Future()
        self.foretold += spec.key in self.seen
        self.seen.add(spec.key)
        self.going[future] = spec
        self.most = max(self.most, len(self.going))
        if len(self.going) > self.jobs:
            self.finish()
        return future

    def finish(self) -> None:
        future = self.random.choice(list(self.going))
        spec = self.going.pop(future)
        if self.deaths and self.died[spec.id] < 2 and self.random.random() < 0.3:
            self.deaths -= 1
            self.died[spec.id] += 1
            future.set_exception(RefereeDied("gone"))
        else:
            future.set_result(self.play(spec))

    def everywhere(self, fn: Any) -> None:
        assert fn is end_idle
        assert not self.going
        self.seen.clear()
        self.ended += 1


class Patient(Bots):
    """Ends a match when the run waits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = None

    def tick(self) -> None:
        if self.going:
            self.finish()


@pytest.mark.parametrize("players", [1, 2, 3])
@pytest.mark.parametrize("deaths", [0, 15])
def test_no_process_that_saw_dice_is_alive_when_they_come_again(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    players: int,
    deaths: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever dies on the way: a match never begins while a process lives that saw the same dice, or may have."""
    with open_league(write_league("a", "b", "c", "d", deals=20)) as league:
        season = attrs.evolve(league.season, players=players)
        tables = attrs.evolve(league, season=season, schedule=Schedule(season))
        bots = Patient(fake.play, 3, deaths)
        watcher = RunWatcher()
        watcher.tick, watcher.tick_s = bots.tick, 0.0
        report = run_league(tables, executor=bots, jobs=2, play=fake.play, watcher=watcher)
    assert report.complete
    assert bots.foretold == 0
    assert bots.most > 2
    assert bots.deaths == 0
    # Processes pay: they are ended once in a while, not after every match.
    assert bots.ended <= 4 * max(players, 4 if players == 1 else 1) + 2 * deaths


@pytest.mark.parametrize("reusable", [True, False])
def test_later_matches_are_played_while_one_waits(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    reusable: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Small batches of a ladder have their second matches together, so that bots which are kept end half as often."""
    path = write_league("a", "b", "c", "d", deals=1, extra='kind = "ladder"\nmax_matches = 96')
    with open_league(path) as league:
        kept = tuple(attrs.evolve(bot, reusable=reusable) for bot in league.season.bots)
        league = attrs.evolve(league, season=attrs.evolve(league.season, bots=kept))
        bots = Patient(fake.play, 3)
        watcher = RunWatcher()
        watcher.tick, watcher.tick_s = bots.tick, 0.0
        report = run_league(league, executor=bots, jobs=2, play=fake.play, watcher=watcher)
    assert report.complete
    assert bots.foretold == 0
    assert (0 < bots.ended <= report.played / 12) is reusable


@pytest.mark.parametrize("shared", [True, False])
def test_a_run_knows_what_was_dealt_in_the_one_before(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    shared: bool,
) -> None:
    """Where bots wait from one run to the next, they are ended before dice come again that were seen in the first."""
    dealt: set[int] = set()
    with open_league(write_league("a", "b", "c", deals=10)) as league:
        bots = Patient(fake.play, 3)
        watcher = RunWatcher()
        watcher.tick, watcher.tick_s = bots.tick, 0.0
        for most in (13, None):
            report = run_league(
                league,
                executor=bots,
                jobs=2,
                play=fake.play,
                watcher=watcher,
                stop_when=StopWhen(matches=most),
                dealt=dealt if shared else None,
            )
    assert report.complete
    assert (bots.foretold == 0) == shared


def test_referees_of_a_real_pool_end_their_bots(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the two seat orders of its deals a run has every referee process end the bots that wait."""
    (tmp_path / "ended").mkdir()
    monkeypatch.setenv("ENDED", str(tmp_path / "ended"))

    class Noting(RefereePool):
        """Has each referee note that its bots were to end."""

        def everywhere(self, fn: Any) -> None:
            assert fn is end_idle
            super().everywhere(fake.note_end)

    with open_league(write_league("a", "b", deals=20)) as league:
        assert run_league(league, jobs=2, play=fake.play, new_pool=Noting).complete
    assert len(os.listdir(tmp_path / "ended")) == 2
