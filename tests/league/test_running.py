"""Running a season: each match once, whatever dies or fails in between."""

import io
import json
import os
import shlex
import signal
import sys
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from tests.league.conftest import Command, Cup, MakeSeason, Refereed
from tests.league.inline import Inline, InlinePool

from warpleague.arena.web.renderer import LeagueFiles, league_page, league_table, match_record
from warpleague.errors import BadInput, ConfigError, HarnessFault
from warpleague.league.play.hooks import run_hook
from warpleague.league.play.running import (
    DEALS_A_JOB,
    RunWatcher,
    StopWhen,
    fitting_jobs,
    in_phases,
    run_league,
)
from warpleague.league.play.verifying import published_record, verify_league
from warpleague.league.referees.pool import (
    MatchExecutor,
    PoolFailed,
    RefereeDied,
    RefereePool,
    TakenAway,
    WorkerLost,
)
from warpleague.league.results.league import League
from warpleague.league.results.standings import standings
from warpleague.league.results.tallies import tally
from warpleague.league.schedule.schedule import Schedule
from warpleague.league.season.config import load_config, with_dice
from warpleague.league.season.fixture import Fixture
from warpleague.league.store.store import Store
from warpleague.match.replay import verify_record
from warpleague.match.spec import MatchResult, MatchSpec, SeatFault
from warpleague.report.terminal.live import LiveWatcher
from warpleague.report.terminal.status import status_json
from warpleague.report.terminal.tables import VIEWS
from warpleague.report.wording.columns import standing_json
from warpleague.report.wording.league_words import dice_line
from warpleague.runner.bot.process import ended_how
from warpleague.runner.confine.cgroups import most_memory
from warpleague.runner.play import end_idle


def tables(league: League) -> list[dict]:
    return [standing_json(line) for line in standings(league).lines]


def test_a_run_plays_everything_once_and_ends_the_season(cup: Cup) -> None:
    """All matches are played, none by a second run; at the end the secret is public."""
    path = cup.file("a", "b", "c")
    with cup.open(path) as league:
        assert league.store.published() is None
        report = cup.run(league)
        assert (report.total, report.before, report.played) == (18, 0, 18)
        assert report.complete
        assert league.store.published() is not None
    with cup.open(path) as league:
        assert cup.run(league).played == 0


def test_any_executor_gives_the_same_table(cup: Cup, tmp_path: Path) -> None:
    """Inline, on threads, or on referee processes: the order in which matches end changes nothing."""
    path = cup.file("a", "b", "c", "d")
    found = []
    with ThreadPoolExecutor(4) as threads, RefereePool(2) as pool:
        for name, executor in (("i", cup.inline), ("t", threads), ("p", pool)):
            with cup.open(path, tmp_path / name) as league:
                cup.run(league, executor=executor, jobs=4)
                found.append(tables(league))
    assert found[0] == found[1] == found[2]


def test_deals_stored_in_part_are_put_together_in_the_live_table(cup: Cup) -> None:
    """The live view of a run that goes on counts a deal that was begun before as one deal, not as two."""
    path = cup.file("a", "b", "c")
    cup.play(path, watcher=cup.fake.Stop(7))
    watcher = LiveWatcher(Console(file=io.StringIO()))
    with cup.open(path) as league:
        sizes = {len(found) for found in tally(league.columns(), 3, 16.0, 1500.0).outcomes.closed()}
        assert min(sizes) == 8  # of a deal of 16 bytes there is half
        cup.run(league, watcher=watcher)
        whole = tally(league.columns(), 3, 16.0, 1500.0).outcomes
    assert watcher.tally.outcomes.closed() == whole.closed()


class StopAfter(RunWatcher):
    """Sends this process a signal after some matches, once or twice."""

    def __init__(self, matches: int, times: int = 1) -> None:
        self.matches, self.times, self.told = matches, times, 0

    def finished(self, fixture: Any, result: Any) -> None:  # noqa: ARG002
        self.matches -= 1
        for _ in range(self.times if self.matches == 0 else 0):
            os.kill(os.getpid(), signal.SIGINT)

    def stopping(self) -> None:
        self.told += 1


def test_an_interrupt_ends_cleanly_and_a_resume_changes_nothing(cup: Cup, tmp_path: Path) -> None:
    """Interrupted and resumed, a run ends with the table of an undisturbed one; handlers are put back."""
    path = cup.file("a", "b", "c", "d", deals=30)
    handler = signal.getsignal(signal.SIGINT)
    watcher = StopAfter(5)
    with cup.open(path) as league:
        report = run_league(league, play=cup.fake.play, watcher=watcher)
        assert report.stopped
        assert not report.complete
        assert 5 <= report.played < 360
        assert watcher.told == 1
        assert league.store.published() is None
    assert signal.getsignal(signal.SIGINT) is handler
    with cup.open(path) as league:
        rest = run_league(league, play=cup.fake.play)
        assert rest.before == report.played
        assert rest.complete
        resumed = tables(league)
    with cup.open(path, tmp_path / "undisturbed") as league:
        cup.run(league)
        assert tables(league) == resumed


def test_a_second_interrupt_kills(cup: Cup) -> None:
    """The second interrupt stops at once, with what is stored kept."""
    with cup.open(cup.file("a", "b", "c", "d", deals=100)) as league:
        report = run_league(league, play=cup.fake.play, watcher=StopAfter(3, times=2))
        assert report.stopped
        assert 3 <= league.store.count() < 1200


def test_void_matches_are_told_and_the_others_go_on(cup: Cup) -> None:
    """A match the harness failed to play is void, with its traceback; it is not stored, and tried next time."""
    path = cup.file("a", "b", "c", deals=6)
    with cup.open(path) as league:
        report = cup.run(league, play=cup.fake.play_void)
        voids = {void.fixture.id for void in report.void}
        assert voids == {fixture.id for fixture in league.schedule if fixture.seats == (2, 0)}
        assert report.played == 36 - len(voids)
        assert not report.complete
        assert all("HarnessFault: the moon is full" in void.error for void in report.void)
        assert all("in play_void" in void.trace for void in report.void)
    with cup.open(path) as league:
        assert cup.run(league).played == len(voids) == 6


def test_only_void_matches_end_the_run(cup: Cup) -> None:
    """When match after match is void, the run gives up, naming the cause, instead of going through them all."""

    def broken(spec: MatchSpec) -> MatchResult:
        raise ExceptionGroup("a nursery's", [ZeroDivisionError("a bug")])

    with cup.open(cup.file("a", "b", "c", "d")) as league:
        report = cup.run(league, play=broken)
    assert "10 matches in a row were void; the last: ZeroDivisionError: a bug" in report.failure
    assert len(report.void) < 36


def test_matches_that_never_began_are_not_void(cup: Cup) -> None:
    """When there are no referees any more, the run gives up, and names the cause."""

    def unbegun(spec: MatchSpec) -> MatchResult:
        raise PoolFailed("no more referees")

    with cup.open(cup.file("a", "b")) as league:
        report = cup.run(league, play=unbegun)
    assert "no more referees" in report.failure
    assert not report.void


def test_dice_of_a_match_that_was_begun_in_vain_never_come_again(cup: Cup, refereed: Refereed) -> None:
    """Void, by a referee's death or a removal, it gets the dice of its next attempt; records hold, also elsewhere."""
    path = cup.file("a", "b", deals=2, game=cup.short)
    play, keys, broken = (
        refereed(),
        list[bytes](),
        [HarnessFault("power"), RefereeDied("gone"), RefereeDied("gone")],
    )

    def unlucky(spec: MatchSpec) -> MatchResult:
        if spec.seats[0].bot == "a" and (not keys or spec.id == first):
            keys.append(spec.key)
            if broken:
                raise broken.pop(0)
        return play(spec)

    with cup.open(path) as league:
        first = next(fixture.id for fixture in league.schedule if fixture.seats == (0, 1))
        assert len(cup.run(league, play=unlucky).void) == 1
        assert cup.run(league, play=unlucky).complete
        with league.store.writing():
            league.store.remove(first, "declared void")
        assert cup.run(league, play=unlucky).complete
        assert len(set(keys)) == 5
        record = league.store.record(first)
        assert json.loads(record.splitlines()[0])["attempt"] == 4
        assert [problem for _, problem in verify_league(league, 1, InlinePool)] == [None] * 4
        assert status_json(league)["void"] == {"a": 3, "b": 3}
        assert [verify_record(published_record(league, first, league.store.deal_of(first))).chance] == ["key"]

    with cup.open(path, cup.folder / "other") as other:
        assert cup.take_over(other, cup.store).added == 4
        other.number_matches()
        assert [problem for _, problem in verify_league(other, 1, InlinePool)] == [None] * 4
    with cup.altered() as db:
        db.execute("DELETE FROM fact WHERE kind = 'void'")
    with cup.read(path) as league:
        assert [problem is None for _, problem in verify_league(league, 1, InlinePool)].count(False) == 1


@pytest.mark.parametrize("of_strangers", [False, True])
def test_a_run_stops_once_something_else_kills_several_bots(cup: Cup, of_strangers: bool) -> None:
    """Kills from outside cost points, so the run ends with a cause; bots of strangers may kill themselves."""

    def killed(spec: MatchSpec) -> MatchResult:
        fault = SeatFault("crash", 3, True, ended_how(-signal.SIGKILL))
        return attrs.evolve(cup.fake.play(spec), faults=((fault,), *((),) * (len(spec.seats) - 1)))

    with cup.open(cup.file("a", "b", "c", "d", deals=4)) as league:
        report = cup.run(league, play=killed, stop_when=StopWhen(bots_are_killed=not of_strangers))
        assert report.stored == league.store.count()
    if of_strangers:
        assert report.failure is None
        assert report.complete
    else:
        assert "SIGKILL ended a, b, c, and it came neither from the referee nor at a limit" in report.failure
        assert not report.complete


def test_a_match_whose_referee_dies_is_played_again(
    cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Referees that die take no match with them: each is played again, and the run completes."""
    (tmp_path / "deadly").mkdir()
    monkeypatch.setenv("DEADLY", str(tmp_path / "deadly"))
    with cup.open(cup.file("a", "b", "c", "d", deals=1)) as league:
        report = run_league(league, play=cup.fake.play_deadly)
        assert report.complete
        assert report.failure is None
        assert not report.void
    assert len(list((tmp_path / "deadly").iterdir())) == 3


def test_a_match_that_always_kills_its_referee_stops_the_run(cup: Cup) -> None:
    """A match that kills its referee three times ends the run with a clear error."""
    with cup.open(cup.file("a", "b")) as league:
        report = run_league(league, jobs=1, play=cup.fake.play_always_deadly)
    assert "was killed by SIGKILL during a match, 3 times" in report.failure
    assert report.played == 0


def test_bad_input_in_a_match_stops_the_run(cup: Cup) -> None:
    """What the user got wrong (a sandbox that is not there) is raised, not called void."""

    def refuse(spec: MatchSpec) -> MatchResult:
        raise BadInput("no sandbox here")

    with cup.open(cup.file("a", "b")) as league, pytest.raises(BadInput, match="no sandbox here"):
        cup.run(league, play=refuse)


def test_a_wrong_result_is_not_stored(cup: Cup) -> None:
    """A result with another match's id is a bug, and void."""

    def confused(spec: MatchSpec) -> Any:
        return attrs.evolve(cup.fake.play(spec), id="another")

    with cup.open(cup.file("a", "b")) as league:
        report = cup.run(league, play=confused)
        assert league.store.count() == 0
    assert "the result of another match: another" in report.void[0].error


def test_a_league_can_be_read_while_it_runs(cup: Cup) -> None:
    """Standings read during a run show what is committed by then."""
    path = cup.file("a", "b", "c")
    seen = []

    class Reader(RunWatcher):
        def finished(self, fixture: Any, result: Any) -> None:  # noqa: ARG002
            with cup.read(path) as league:
                seen.append(standings(league).matches)

    cup.play(path, watcher=Reader())
    assert seen[-1] == 18
    assert seen == sorted(seen)


def test_solo_leagues_rank_by_mean_score(cup: Cup, make_season: MakeSeason) -> None:
    """At tables of one there is no Elo: the mean score ranks, with its error."""
    with cup.open(cup.file("a", "b", "c", deals=20)) as league:
        season = attrs.evolve(league.season, players=1)
        solo = attrs.evolve(league, season=season, schedule=Schedule(season))
        cup.run(solo)
        table = standings(solo)
    means = [line.record.scores.mean for line in table.lines]
    assert table.solo
    assert means == sorted(means, reverse=True)
    assert all(line.record.played == 20 and line.record.won == 0 for line in table.lines)
    assert all(line.record.scores.error > 0 and line.elo is None for line in table.lines)
    assert [line.ahead.count for line in table.lines[:-1]] == [20, 20]
    assert table.lines[-1].ahead is None
    assert table.lines[0].ahead.mean == pytest.approx(means[0] - means[1])


def test_larger_tables_count_as_their_pairs(cup: Cup) -> None:
    """At tables of three each match shares out one and a half points, and every pair meets equally often."""
    with cup.open(cup.file("a", "b", "c", "d", deals=4)) as league:
        season = attrs.evolve(league.season, players=3)
        threes = attrs.evolve(league, season=season, schedule=Schedule(season))
        cup.run(threes)
        table = standings(threes)
    assert table.matches == 4 * 4 * 3
    assert sum(line.record.points for line in table.lines) == pytest.approx(1.5 * 48)
    assert sum(line.elo or 0 for line in table.lines) == pytest.approx(4 * 1500)
    assert {table.totals.games[a][b] for a in range(4) for b in range(4) if a != b} == {24}


def test_a_pool_has_no_referee_without_a_match(cup: Cup) -> None:
    """With two matches left, ninety-nine jobs start two referees."""
    told: list[int] = []

    class Told(RunWatcher):
        def started(self, league: League, total: int, before: int, jobs: int) -> None:  # noqa: ARG002
            told.append(jobs)

    with cup.open(cup.file("a", "b", deals=1, extra="[rules]\nlevel = 'none'")) as league:
        report = run_league(league, jobs=99, play=cup.fake.play, watcher=Told())
    assert (report.played, told) == (2, [2])


@pytest.mark.skipif(sys.platform != "linux", reason="sets the processors that may be used")
@pytest.mark.parametrize(("jobs", "notes"), [(1, 0), (2, 1)])
def test_more_jobs_than_processors_are_told(cup: Cup, jobs: int, notes: int) -> None:
    """Two jobs on one processor are noted, with the number that is of use; what the bots took in all is reported."""
    told: list[str] = []

    class Told(RunWatcher):
        def note(self, text: str) -> None:
            told.append(text)

    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        with cup.open(cup.file("a", "b", deals=1)) as league:
            report = run_league(league, jobs=jobs, play=cup.fake.play, watcher=Told())
    finally:
        os.sched_setaffinity(0, before)
    assert len(told) == notes
    assert all("2 matches at once share 1 processor" in text and "--jobs 1" in text for text in told)
    assert (report.cpu_ms, report.wait_ms) == pytest.approx((8.0, 0.4))


def test_a_long_season_is_not_read_to_its_end_to_count_what_was_played(cup: Cup) -> None:
    """Counting stops where everything that is stored has been found."""
    cup.play(cup.file("a", "b", deals=1))
    with cup.open(cup.file("a", "b", deals=100_000)) as league:
        store = league.store
        for count in (store.count_of, lambda fixtures: len(list(store.played(fixtures)))):
            read: list[int] = []
            assert count(read.append(fixture.number) or fixture for fixture in league.schedule) == 2
            assert len(read) < 10_000


# Commands that are run when something has ended: what they are told, and that they cannot hurt a league.


KEEP = ["sh", "-c", "cat >> told.jsonl"]


def told(folder: Path) -> list[dict[str, Any]]:
    """What `KEEP` was told."""
    path = folder / "told.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_command_gets_one_line(tmp_path: Path) -> None:
    """It reads one line of JSON, runs in the folder of the file, and what it prints is not told if it succeeds."""
    script = tmp_path / "notify"
    script.write_text('#!/bin/sh\ncat > "$1"; echo done\n')
    script.chmod(0o755)
    assert run_hook(["./notify", "here.json"], tmp_path, {"event": "run", "text": "a\nb ü"}) is None
    (line,) = (tmp_path / "here.json").read_text().splitlines()
    assert json.loads(line) == {"event": "run", "text": "a\nb ü"}


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["no-such-program"], "no-such-program: could not be run: No such file or directory"),
        (["./missing", "x y"], "./missing 'x y': could not be run: No such file or directory"),
        (["sh", "-c", "echo one; echo two >&2; exit 3"], "ended with exit code 3: two"),
        (["sh", "-c", "exit 3"], "ended with exit code 3: it printed nothing"),
        (["sh", "-c", "printf 'a\\033[31mb'; exit 1"], r"a\x1b[31mb"),
        (["sh", "-c", "kill -9 $$"], "was killed by signal 9"),
    ],
)
def test_what_goes_wrong_is_one_line(tmp_path: Path, command: list[str], problem: str) -> None:
    """The line names the command, how it ended, and the last line that it printed."""
    found = run_hook(command, tmp_path, {})
    assert found is not None
    assert found.startswith(shlex.join(command))
    assert problem in found
    assert "\n" not in found


def test_a_command_that_prints_without_end_is_read_and_killed(tmp_path: Path) -> None:
    """It is killed when its time is over, however much it prints and whatever it ignores."""
    loop = "trap '' TERM; while :; do echo again; done"
    found = run_hook(["sh", "-c", loop], tmp_path, {}, limit_s=0.1)
    assert found is not None
    assert "was not done after 0.1 s, and was killed" in found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux finds what has left its session")
def test_what_a_command_leaves_behind_is_killed(tmp_path: Path) -> None:
    """A process in the background ends with the command, even one in a session of its own."""
    leave = "import subprocess, sys; print(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid)"
    assert run_hook(["sh", "-c", f'{sys.executable} -c "{leave}" > pid'], tmp_path, {}) is None
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.fixture
def played(command: Command, cup: Cup) -> tuple[Path, str]:
    """A league that was played with `on_end`, and what its run said besides."""
    path = cup.file("anna", "bert", "cleo", top=f'seed = "test"\non_end = {json.dumps(KEEP)}')
    code, _, err = command("run", path, "--quiet")
    assert code == 0
    return path, err


def test_a_run_tells_how_it_ended(played: tuple[Path, str], command: Command, tmp_path: Path) -> None:
    """The run that ends the season says so, with counts, faults and the head of the standings; the next is a run.

    The command is named before it is run. Nothing but a run runs it, and nothing that is stored has it.
    """
    path, err = played
    assert f"note: when the run has ended, {path} has this run: sh -c 'cat >> told.jsonl'" in err
    (season,) = told(tmp_path)
    assert season["event"] == "season"
    assert (season["league"], season["game"], season["complete"], season["stopped"]) == (
        "cup",
        "aliens",
        True,
        False,
    )
    assert (season["matches"], season["stored"], season["played"], season["void"]) == (18, 18, 18, 0)
    assert {line["bot"] for line in season["standings"]} == {"anna", "bert", "cleo"}
    assert (season["verdict"], season["failure"]) == (None, None)
    for action in ("status", "standings", "verify", "report", "export"):
        command(action, path)
    assert len(told(tmp_path)) == 1
    assert "on_end" not in (tmp_path / "results" / "cup" / "league.toml").read_text()
    command("run", path, "--quiet")
    assert [line["event"] for line in told(tmp_path)] == ["season", "run"]
    assert told(tmp_path)[1]["played"] == 0


def test_a_command_changes_no_match(played: tuple[Path, str], command: Command, tmp_path: Path) -> None:
    """The matches and their ids are those of the same file without a command."""
    path, _ = played
    before = command("matches", path, "--json")[1]
    path.write_text(path.read_text().replace(f"on_end = {json.dumps(KEEP)}\n", ""))
    assert json.loads(command("run", path, "--json")[1])["played"] == 0
    assert command("matches", path, "--json")[1] == before


def test_a_command_that_fails_fails_no_run(command: Command, cup: Cup) -> None:
    """A note says what went wrong; the exit code is that of the run."""
    path = cup.file("anna", "bert", top='on_end = ["sh", "-c", "echo no network; exit 7"]')
    code, _, err = command("run", path, "--quiet")
    assert code == 0
    assert err.splitlines()[-1].endswith("ended with exit code 7: no network")
    assert err.splitlines()[-1].startswith("note: on_end: sh -c ")


def test_a_test_tells_its_verdict(command: Command, cup: Cup, tmp_path: Path) -> None:
    """What is told of a test has its decision."""
    path = cup.file(
        "anna", "bert", top=f"on_end = {json.dumps(KEEP)}", extra='kind = "test"\nfixed = 4', deals=1
    )
    command("run", path, "--quiet")
    (line,) = told(tmp_path)
    assert line["event"] == "test"
    assert line["verdict"]["decision"] == "undecided"
    assert line["verdict"]["matches"] == line["played"] == 4


@pytest.mark.parametrize(
    ("top", "problem"),
    [
        ('on_end = "notify"', "on_end: "),
        ('on_end = ["", "x"]', 'on_end: must begin with a program, such as ["./notify.sh"]'),
        ('on_end = ["a\\u0000"]', "on_end: no word of a command can have a NUL"),
        ("arena = { on_event = [1] }", "arena.on_event"),
        ('on_event = ["x"]', "on_event: unknown key"),
    ],
)
def test_what_is_no_command(cup: Cup, top: str, problem: str) -> None:
    """A command is a list of words, and the first is a program."""
    with pytest.raises(ConfigError) as raised:
        load_config(cup.file("anna", "bert", top=top))
    assert problem in str(raised.value)


# Whether dice come again: by default not where strangers play, and never to bots that could know them from pages.


SANDBOX = '[rules]\nlevel = "sandbox"'


@pytest.mark.parametrize(
    ("extra", "begun", "dice"),
    [
        ("", None, "shared"),
        ('[rules]\nlevel = "none"', None, "shared"),
        (SANDBOX, None, "own"),
        (f'dice = "shared"\n{SANDBOX}', None, "shared"),
        (f'dice = "shared"\n{SANDBOX}', "own", "shared"),
        (SANDBOX, "shared", "shared"),
        ('dice = "own"', "shared", "own"),
        (f'kind = "test"\n{SANDBOX}', None, "shared"),
    ],
)
def test_dice_of_a_league(cup: Cup, extra: str, begun: Any, dice: str) -> None:
    """What the file says comes first, then what the store began with, then what fits the level."""
    config = load_config(cup.file("a", "b", extra=extra, deals=1))
    assert with_dice(config, begun).format.dice == dice


def test_a_store_keeps_the_dice_that_it_began_with(cup: Cup) -> None:
    """A league at level sandbox that began when dice were shared by default has all its matches still."""
    path = cup.file("a", "b", extra=f'dice = "shared"\n{SANDBOX}', deals=2)
    cup.play(path)
    path = cup.file("a", "b", extra=SANDBOX, deals=2)
    with cup.open(path) as league:
        assert league.season.format.dice == "shared"
        assert len(list(league.results())) == 4
    with cup.read(path) as league:
        assert len(list(league.results())) == 4
        assert not [change for change in league.changed if change.what == "format"]
        assert "dice" in dice_line(league.season)
    with Store.open_to_read(cup.results / "cup") as store:
        assert store.dice() == "shared"


def test_no_deal_comes_twice_where_strangers_play(cup: Cup) -> None:
    """Neither in another seat nor to another bot of a solo league."""
    for game in ("aliens", "captains"):
        path = cup.file(*"abc", extra=SANDBOX, game=f'id = "{game}"', name=game)
        with cup.open(path) as league:
            cup.run(league)
            deals = [fixture.deal for fixture, _ in league.results()]
            assert len(deals) == len(set(deals)) > 0


@pytest.mark.parametrize(
    ("game", "extra"),
    [
        ('id = "aliens"', SANDBOX),
        ('id = "captains"', SANDBOX),
        ('id = "captains"', f'dice = "shared"\n{SANDBOX}'),
        ('id = "aliens"', f'kind = "gauntlet"\nchallengers = ["a"]\ndice = "shared"\n{SANDBOX}'),
    ],
)
def test_a_version_that_comes_back_brings_no_result_back(
    cup: Cup, tmp_path: Path, game: str, extra: str
) -> None:
    """Where strangers may choose which of their versions plays, each choice draws new deals."""
    path, digest = cup.file("a", "b", "c", extra=extra, game=game), tmp_path / "bots" / "a" / "digest"
    deals = []
    for version in ("first", "second", "first", "second"):
        digest.write_text(version)
        with cup.open(path) as league:
            assert not [fixture for fixture, _ in league.results() if 0 in fixture.seats]
            cup.run(league)
            deals.append({fixture.deal for fixture, _ in league.results() if 0 in fixture.seats})
    assert all(not one & other for one, other in combinations(deals, 2))


def test_elsewhere_a_version_that_comes_back_has_its_results(cup: Cup, tmp_path: Path) -> None:
    """Who changes a bot of their own and takes the change back has nothing to play again."""
    path, digest = cup.file("a", "b"), tmp_path / "bots" / "a" / "digest"
    for version in ("first", "second", "first"):
        digest.write_text(version)
        with cup.open(path) as league:
            before = len(list(league.results()))
            cup.run(league)
    assert before == 6


def tell_tale(spec: Any, cup: Cup) -> Any:
    """A result with all by which a bot can tell what it saw."""
    result = cup.fake.play(spec)
    fault = SeatFault(kind="illegal", n=7, retired=False, message="TELLTALE 6 1 4")
    return attrs.evolve(result, faults=((fault,),), why="telltale-end")


@pytest.mark.parametrize(("dice", "shown"), [("shared", False), ("own", True)])
def test_where_others_play_the_same_deals_only_totals_are_shown(cup: Cup, dice: str, shown: bool) -> None:
    """Neither a fault's words nor the end, the score, the id or the time of a match are on the page of the league."""
    path = cup.file("a", "b", extra=f'dice = "{dice}"', game='id = "captains"', deals=2)
    with cup.open(path) as league:
        cup.run(league, play=lambda spec: tell_tale(spec, cup), stop_when=StopWhen(matches=3))
        ids = [fixture.id for fixture, _ in league.results()]
    files = LeagueFiles(path, cup.results)
    page = league_page(files, {"title": "t", "leagues": [], "submits": False, "root": "../../"}, 1)
    assert page is not None
    text = page.page.decode() + json.dumps(page.sections) + json.dumps(page.bots) + page.order.decode()
    assert page.open_matches == shown
    assert ("TELLTALE" in text) == shown
    assert ('<section id="times">' in text) == shown
    assert any(match in text for match in ids) == shown
    assert ('href="matches/' in text or "#match=" in text) == shown
    assert "illegal" in text  # the number of faults is a total
    assert ("only totals are shown" in text) != shown
    tables = {name: league_table(files, name) for name in VIEWS if name != "bracket"}
    assert (b"TELLTALE" in b"".join(filter(None, tables.values()))) == shown
    assert [name for name, table in tables.items() if table is None] == (
        [] if shown else ["faults", "times", "services"]
    )
    assert (match_record(files, ids[0]) is not None) == shown


# Dice that were seen reach no other match: the order in time, and what is ended between two matches on one deal.


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


class Elusive(Inline):
    """Loses each match so often: its machine is taken by its owner, or was silent."""

    def __init__(self, losses: dict[type[RefereeDied], int]) -> None:
        self.losses, self.lost, self.begun = losses, Counter[tuple[str, type]](), set[tuple[str, bytes]]()

    def submit(self, fn: Any, /, spec: MatchSpec, **more: Any) -> Future:
        assert (spec.id, spec.key) not in self.begun, "dice come again"
        self.begun.add((spec.id, spec.key))
        for kind, most in self.losses.items():
            self.lost[spec.id, kind] += 1
            if self.lost[spec.id, kind] <= most:
                future: Future = Future()
                future.set_exception(kind("gone"))
                return future
        return super().submit(fn, spec, **more)


def test_machines_that_never_stop_coming_and_going_void_nothing(cup: Cup) -> None:
    """What was taken away is played again with other dice as often as it takes: it is not void and ends no run."""
    path = cup.file("a", "b", deals=1)
    with cup.open(path) as league:
        machines = Elusive({TakenAway: 40, WorkerLost: 15, RefereeDied: 2})
        report = run_league(league, executor=machines, play=cup.fake.play)
    assert report.complete
    assert (report.failure, report.void) == (None, ())
    assert len(machines.begun) == 2 * (40 + 15 + 2 + 1)


def test_a_match_that_ends_each_machine_ends_the_run(cup: Cup) -> None:
    """Else it would be sent to one machine after the other without end."""
    with cup.open(cup.file("a", "b", deals=1)) as league:
        report = run_league(league, executor=Elusive({WorkerLost: 16}), play=cup.fake.play)
    assert "gone, 16 times" in report.failure


class Bots(MatchExecutor):
    """Plays matches in any order, several at once, and keeps in mind which bots are alive and what they have seen.

    Every process sees the dice of all that are played while it lives: bots may signal to each other. A match ends
    when others begin, or when the run waits.
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

    def broadcast(self, fn: Any) -> None:
        assert fn is end_idle
        assert not self.going
        self.seen.clear()
        self.ended += 1

    def run(self, league: League, **how: Any) -> Any:
        """Play the league by two at a time."""
        watcher = RunWatcher()
        watcher.tick, watcher.tick_s = (lambda: self.finish() if self.going else None), 0.0
        return run_league(league, executor=self, jobs=2, play=self.play, watcher=watcher, **how)


@pytest.mark.parametrize("players", [1, 2, 3])
@pytest.mark.parametrize("deaths", [0, 15])
def test_no_process_that_saw_dice_is_alive_when_they_come_again(cup: Cup, players: int, deaths: int) -> None:
    """Whatever dies on the way: a match never begins while a process lives that saw the same dice, or may have."""
    with cup.open(cup.file("a", "b", "c", "d", deals=20)) as league:
        season = attrs.evolve(league.season, players=players)
        tables = attrs.evolve(league, season=season, schedule=Schedule(season))
        bots = Bots(cup.fake.play, 3, deaths)
        report = bots.run(tables)
    assert report.complete
    assert bots.foretold == 0
    assert bots.most > 2
    assert bots.deaths == 0
    # Processes pay: they are ended once in a while, not after every match.
    assert bots.ended <= 4 * max(players, 4 if players == 1 else 1) + 2 * deaths


@pytest.mark.parametrize("reusable", [True, False])
def test_later_matches_are_played_while_one_waits(cup: Cup, reusable: bool) -> None:
    """Small batches of a ladder have their second matches together, so that bots which are kept end half as often."""
    path = cup.file("a", "b", "c", "d", deals=1, extra='kind = "ladder"\nmax_matches = 96')
    with cup.open(path) as league:
        kept = tuple(attrs.evolve(bot, reusable=reusable) for bot in league.season.bots)
        league = attrs.evolve(league, season=attrs.evolve(league.season, bots=kept))
        bots = Bots(cup.fake.play, 3)
        report = bots.run(league)
    assert report.complete
    assert bots.foretold == 0
    assert (0 < bots.ended <= report.played / 12) is reusable


@pytest.mark.parametrize("shared", [True, False])
def test_a_run_knows_what_was_dealt_in_the_one_before(cup: Cup, shared: bool) -> None:
    """Where bots wait from one run to the next, they are ended before dice come again that were seen in the first."""
    with cup.open(cup.file("a", "b", "c", deals=10)) as league:
        bots = Bots(cup.fake.play, 3)
        for most in (13, None):
            report = bots.run(league, stop_when=StopWhen(matches=most))
            if not shared:
                bots.known_keys.clear()
    assert report.complete
    assert (bots.foretold == 0) == shared


def test_referees_of_a_real_pool_end_their_bots(
    cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two seat orders of its deals a run has every referee process end the bots that wait."""
    (tmp_path / "ended").mkdir()
    monkeypatch.setenv("ENDED", str(tmp_path / "ended"))

    class Noting(RefereePool):
        """Has each referee note that its bots were to end."""

        def broadcast(self, fn: Any) -> None:
            assert fn is end_idle
            super().broadcast(cup.fake.note_end)

    with cup.open(cup.file("a", "b", deals=20)) as league:
        assert run_league(league, jobs=2, play=cup.fake.play, executor=Noting).complete
    assert len(os.listdir(tmp_path / "ended")) == 2


def test_a_league_that_needs_more_memory_than_there_is_does_not_begin(cup: Cup) -> None:
    """The sum, what there is, and how many jobs fit are named; without a number of jobs so many are played."""
    with cup.open(cup.file("a", "b")) as league:
        bots = tuple(attrs.evolve(bot, memory_mb=most_memory() // 5 >> 20) for bot in league.season.bots)
        league = attrs.evolve(league, season=attrs.evolve(league.season, bots=bots))
        with pytest.raises(
            BadInput, match=r"the bots of 9 matches at once may take [\d,]+ MiB .*\(--jobs 2\)"
        ):
            run_league(league, jobs=9, play=cup.fake.play)
        assert fitting_jobs(league, None) <= 2
        assert league.store.count() == 0
