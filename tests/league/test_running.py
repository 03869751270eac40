"""Running a season: each match once, whatever dies or fails in between."""

import io
import os
import signal
import sys
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from rich.console import Console
from tests.league.conftest import MakeSeason, OpenLeague, WriteLeague

from warpleague.errors import BadInput
from warpleague.league.play.running import RunWatcher, StopWhen, run_league
from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.league import League, open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.results.tallies import tally
from warpleague.league.season.config import load_config
from warpleague.match.spec import MatchResult, MatchSpec, SeatFault
from warpleague.report.terminal.live import LiveWatcher
from warpleague.report.wording.columns import standing_json
from warpleague.runner.bot.process import ended_how


def tables(league: League) -> list[dict]:
    return [standing_json(line) for line in standings(league).lines]


def test_a_run_plays_everything_once_and_ends_the_season(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """All matches are played, none by a second run; at the end the secret is public."""
    path = write_league("a", "b", "c")
    with open_league(path) as league:
        assert league.store.published() is None
        report = run_league(league, executor=inline, play=fake.play)
        assert (report.total, report.before, report.played) == (18, 0, 18)
        assert report.complete
        assert league.store.published() is not None
    with open_league(path) as league:
        assert run_league(league, executor=inline, play=fake.play).played == 0


def test_any_executor_gives_the_same_table(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """Inline, on threads, or on referee processes: the order in which matches end changes nothing."""
    path = write_league("a", "b", "c", "d")
    found = []
    with ThreadPoolExecutor(4) as threads, RefereePool(2) as pool:
        for name, executor in (("i", inline), ("t", threads), ("p", pool)):
            with open_league(path, tmp_path / name) as league:
                run_league(league, executor=executor, jobs=4, play=fake.play)
                found.append(tables(league))
    assert found[0] == found[1] == found[2]


def test_deals_stored_in_part_are_put_together_in_the_live_table(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """The live view of a run that goes on counts a deal that was begun before as one deal, not as two."""

    class Stop(RunWatcher):
        left = 7

        def finished(self, fixture: Any, result: Any) -> None:  # noqa: ARG002
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt

    path = write_league("a", "b", "c")
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play, watcher=Stop())
    watcher = LiveWatcher(Console(file=io.StringIO()))
    with open_league(path) as league:
        sizes = {len(found) for found in tally(league.columns(), 3, 16.0, 1500.0).outcomes.closed()}
        assert min(sizes) == 8  # of a deal of 16 bytes there is half
        run_league(league, executor=inline, play=fake.play, watcher=watcher)
        whole = tally(league.columns(), 3, 16.0, 1500.0).outcomes
    assert watcher.tally.outcomes.closed() == whole.closed()


class StopAfter(RunWatcher):
    """Sends this process a signal after some matches, once or twice."""

    def __init__(self, matches: int, times: int = 1) -> None:
        self.matches, self.times, self.told = matches, times, 0

    def finished(self, fixture: Any, result: Any) -> None:  # noqa: ARG002
        self.matches -= 1
        if self.matches == 0:
            for _ in range(self.times):
                os.kill(os.getpid(), signal.SIGINT)

    def stopping(self) -> None:
        self.told += 1


def test_an_interrupt_ends_cleanly_and_a_resume_changes_nothing(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """Interrupted and resumed, a run ends with the table of an undisturbed one; handlers are put back."""
    path = write_league("a", "b", "c", "d", deals=100)
    handler = signal.getsignal(signal.SIGINT)
    watcher = StopAfter(5)
    with open_league(path) as league:
        report = run_league(league, play=fake.play, watcher=watcher)
        assert report.stopped
        assert not report.complete
        assert 5 <= report.played < 1200
        assert watcher.told == 1
        assert league.store.published() is None
    assert signal.getsignal(signal.SIGINT) is handler
    with open_league(path) as league:
        rest = run_league(league, play=fake.play)
        assert rest.before == report.played
        assert rest.complete
        resumed = tables(league)
    with open_league(path, tmp_path / "undisturbed") as league:
        run_league(league, executor=inline, play=fake.play)
        assert tables(league) == resumed


def test_a_second_interrupt_kills(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType
) -> None:
    """The second interrupt stops at once, with what is stored kept."""
    with open_league(write_league("a", "b", "c", "d", deals=100)) as league:
        report = run_league(league, play=fake.play, watcher=StopAfter(3, times=2))
        assert report.stopped
        assert 3 <= league.store.count() < 1200


def test_void_matches_are_told_and_the_others_go_on(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """A match the harness failed to play is void, with its traceback; it is not stored, and tried next time."""
    path = write_league("a", "b", "c", deals=6)
    with open_league(path) as league:
        report = run_league(league, executor=inline, play=fake.play_void)
        voids = {void.fixture.id for void in report.void}
        assert voids == {fixture.id for fixture in league.schedule if fixture.seats == (2, 0)}
        assert report.played == 36 - len(voids)
        assert not report.complete
        assert all("HarnessFault: the moon is full" in void.error for void in report.void)
        assert all("in play_void" in void.trace for void in report.void)
    with open_league(path) as league:
        assert run_league(league, executor=inline, play=fake.play).played == len(voids) == 6


def test_only_void_matches_end_the_run(
    write_league: WriteLeague, open_league: OpenLeague, inline: Executor
) -> None:
    """When match after match is void, the run gives up, naming the cause, instead of going through them all."""

    def broken(spec: MatchSpec) -> MatchResult:
        raise ExceptionGroup("a nursery's", [ZeroDivisionError("a bug")])

    with open_league(write_league("a", "b", "c", "d")) as league:
        report = run_league(league, executor=inline, play=broken)
    assert "10 matches in a row were void; the last: ZeroDivisionError: a bug" in report.failure
    assert len(report.void) < 36


@pytest.mark.parametrize("of_strangers", [False, True])
def test_a_run_stops_once_something_else_kills_several_bots(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, of_strangers: bool
) -> None:
    """Kills from outside cost points, so the run ends with a cause; bots of strangers may kill themselves."""

    def killed(spec: MatchSpec) -> MatchResult:
        fault = SeatFault("crash", 3, True, ended_how(-signal.SIGKILL))
        return attrs.evolve(fake.play(spec), faults=((fault,), *((),) * (len(spec.seats) - 1)))

    with open_league(write_league("a", "b", "c", "d", deals=4)) as league:
        report = run_league(
            league, executor=inline, play=killed, stop_when=StopWhen(bots_are_killed=not of_strangers)
        )
        assert report.stored == league.store.count()
    if of_strangers:
        assert report.failure is None
        assert report.complete
    else:
        assert "SIGKILL ended a, b, c, and it came neither from the referee nor at a limit" in report.failure
        assert not report.complete


def test_a_match_whose_referee_dies_is_played_again(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Referees that die take no match with them: each is played again, and the run completes."""
    (tmp_path / "deadly").mkdir()
    monkeypatch.setenv("DEADLY", str(tmp_path / "deadly"))
    with open_league(write_league("a", "b", "c", "d", deals=1)) as league:
        report = run_league(league, play=fake.play_deadly)
        assert report.complete
        assert report.failure is None
        assert not report.void
    assert len(list((tmp_path / "deadly").iterdir())) == 3


def test_a_match_that_always_kills_its_referee_stops_the_run(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType
) -> None:
    """A match that kills its referee three times ends the run with a clear error."""
    with open_league(write_league("a", "b")) as league:
        report = run_league(league, jobs=1, play=fake.play_always_deadly)
    assert "was killed by SIGKILL during a match, 3 times" in report.failure
    assert report.played == 0


def test_bad_input_in_a_match_stops_the_run(
    write_league: WriteLeague, open_league: OpenLeague, inline: Executor
) -> None:
    """What the user got wrong (a sandbox that is not there) is raised, not called void."""

    def refuse(spec: MatchSpec) -> MatchResult:
        raise BadInput("no sandbox here")

    with open_league(write_league("a", "b")) as league, pytest.raises(BadInput, match="no sandbox here"):
        run_league(league, executor=inline, play=refuse)


def test_a_wrong_result_is_not_stored(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """A result with another match's id is a bug, and void."""
    import attrs

    def confused(spec: MatchSpec) -> Any:
        return attrs.evolve(fake.play(spec), id="another")

    with open_league(write_league("a", "b")) as league:
        report = run_league(league, executor=inline, play=confused)
        assert league.store.count() == 0
    assert "the result of another match: another" in report.void[0].error


def test_a_league_can_be_read_while_it_runs(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """Standings read during a run show what is committed by then."""
    path = write_league("a", "b", "c")
    seen = []

    class Reader(RunWatcher):
        def finished(self, fixture: Any, result: Any) -> None:  # noqa: ARG002
            with open_to_read(load_config(path), tmp_path / "results") as league:
                seen.append(standings(league).matches)

    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play, watcher=Reader())
    assert seen[-1] == 18
    assert seen == sorted(seen)


def test_solo_leagues_rank_by_mean_score(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    inline: Executor,
    make_season: MakeSeason,
) -> None:
    """At tables of one there is no Elo: the mean score ranks, with its error."""
    import attrs

    from warpleague.league.schedule.schedule import Schedule

    with open_league(write_league("a", "b", "c", deals=20)) as league:
        season = attrs.evolve(league.season, players=1)
        solo = attrs.evolve(league, season=season, schedule=Schedule(season))
        run_league(solo, executor=inline, play=fake.play)
        table = standings(solo)
    means = [line.record.scores.mean for line in table.lines]
    assert table.solo
    assert means == sorted(means, reverse=True)
    assert all(line.record.played == 20 and line.record.won == 0 for line in table.lines)
    assert all(line.record.scores.error > 0 and line.elo is None for line in table.lines)
    assert [line.ahead.count for line in table.lines[:-1]] == [20, 20]
    assert table.lines[-1].ahead is None
    assert table.lines[0].ahead.mean == pytest.approx(means[0] - means[1])


def test_larger_tables_count_as_their_pairs(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """At tables of three each match shares out one and a half points, and every pair meets equally often."""
    import attrs

    from warpleague.league.schedule.schedule import Schedule

    with open_league(write_league("a", "b", "c", "d", deals=4)) as league:
        season = attrs.evolve(league.season, players=3)
        threes = attrs.evolve(league, season=season, schedule=Schedule(season))
        run_league(threes, executor=inline, play=fake.play)
        table = standings(threes)
    assert table.matches == 4 * 4 * 3
    assert sum(line.record.points for line in table.lines) == pytest.approx(1.5 * 48)
    assert sum(line.elo or 0 for line in table.lines) == pytest.approx(4 * 1500)
    assert {table.totals.games[a][b] for a in range(4) for b in range(4) if a != b} == {24}


def test_a_pool_has_no_referee_without_a_match(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType
) -> None:
    """With two matches left, ninety-nine jobs start two referees."""
    told: list[int] = []

    class Told(RunWatcher):
        def started(self, league: League, total: int, before: int, jobs: int) -> None:  # noqa: ARG002
            told.append(jobs)

    with open_league(write_league("a", "b", deals=1)) as league:
        report = run_league(league, jobs=99, play=fake.play, watcher=Told())
    assert (report.played, told) == (2, [2])


@pytest.mark.skipif(sys.platform != "linux", reason="sets the processors that may be used")
@pytest.mark.parametrize(("jobs", "notes"), [(1, 0), (2, 1)])
def test_more_jobs_than_processors_are_told(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, jobs: int, notes: int
) -> None:
    """Two jobs on one processor are noted, with the number that is of use; what the bots took in all is reported."""
    told: list[str] = []

    class Told(RunWatcher):
        def note(self, text: str) -> None:
            told.append(text)

    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        with open_league(write_league("a", "b", deals=1)) as league:
            report = run_league(league, jobs=jobs, play=fake.play, watcher=Told())
    finally:
        os.sched_setaffinity(0, before)
    assert len(told) == notes
    assert all("2 matches at once share 1 processor" in text and "--jobs 1" in text for text in told)
    assert (report.cpu_ms, report.wait_ms) == pytest.approx((8.0, 0.4))


def test_a_long_season_is_not_read_to_its_end_to_count_what_was_played(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """Counting stops where everything that is stored has been found."""
    with open_league(write_league("a", "b", deals=1)) as league:
        run_league(league, executor=inline, play=fake.play)
    with open_league(write_league("a", "b", deals=100_000)) as league:
        store = league.store
        for count in (
            store.count_of,
            lambda fixtures: len(list(store.played(fixtures))),
        ):
            read: list[int] = []
            assert count(read.append(fixture.number) or fixture for fixture in league.schedule) == 2
            assert len(read) < 10_000
