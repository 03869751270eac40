"""The result store: nothing lost, nothing twice, nobody else's."""

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from tests.league.conftest import OpenLeague, Refereed, TakeOver, WriteLeague

from warpleague.errors import StoreError
from warpleague.league.play.running import run_league
from warpleague.league.results.league import League, open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.season.season import canonical, differences
from warpleague.league.store.columns import PARTS, of_matches
from warpleague.league.store.store import Store
from warpleague.match.chance import season_commitment, season_secret


def rows(store: Store) -> list[tuple]:
    """All that was stored, without times, and without the number that a confinement has."""
    found = []
    for match_id in store.ids():
        match = store.match(match_id)
        assert match is not None
        found.append(
            (attrs.evolve(match, stored="", elapsed_s=0.0, confinement=None), store.record(match_id))
        )
    return found


def test_what_is_stored_comes_back(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """Results and records read back as the matches gave them."""
    with open_league(write_league("a", "b", "c")) as league:
        run_league(league, executor=inline, play=fake.play)
        for fixture, played in league.results():
            result = fake.play(league.season.spec(fixture.id, fixture.deal, fixture.seats))
            assert (played.ranks, played.scores, played.why) == (result.ranks, result.scores, result.why)
            assert (played.faults, played.times, played.digest) == (
                result.faults,
                result.times,
                result.digest,
            )
            assert league.store.record(fixture.id) == result.record


def test_the_secret_follows_from_the_seed_or_from_chance(
    write_league: WriteLeague, open_league: OpenLeague, tmp_path: Path
) -> None:
    """A seed in the file makes the secret; without one it is random, and stays the same from run to run."""
    with open_league(write_league("a", "b")) as league:
        told = canonical(["test", "cup", league.season.conditions]).decode()
        assert league.season.secret == season_secret(told)
        assert league.store.meta("commitment") == season_commitment(season_secret(told))
    with open_league(write_league("a", "b", name="other")) as other:
        assert other.season.secret != league.season.secret
    path = write_league("a", "b", top="", name="dark")
    secrets = set()
    for _ in range(2):
        with open_league(path) as league:
            secrets.add(league.season.secret)
    assert len(secrets) == 1
    with open_league(path, tmp_path / "elsewhere") as league:
        assert league.season.secret not in secrets


def test_one_process_at_a_time(write_league: WriteLeague, open_league: OpenLeague, tmp_path: Path) -> None:
    """A second run of the same league is refused while the first goes on; reading is allowed."""
    path = write_league("a", "b")
    with open_league(path):
        with pytest.raises(StoreError, match=r"is being run already, by process \d+ on "):
            open_league(path)
        open_to_read(load_config(path), tmp_path / "results").store.close()
    open_league(path).store.close()


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("deals = 3", "deals = 3\n[clock]\nmove_s = 2", "clock.move_s: was 1.0, is now 2.0"),
        (
            "deals = 3",
            "deals = 3\n[rules]\nfaults = 'substitute'\nstrikes = 1",
            'faults: was "forfeit", is now "substitute"',
        ),
        ('id = "aliens"', 'id = "aliens"\noptions = { max_turns = 9 }', "options.max_turns: was"),
        ('seed = "test"', 'seed = "toast"', 'seed: was "test", is now "toast"'),
        ('seed = "test"', "", 'seed: was "test", is now not set'),
    ],
)
def test_a_store_of_another_league_is_refused(
    write_league: WriteLeague, open_league: OpenLeague, tmp_path: Path, old: Any, new: Any, text: str
) -> None:
    """A store whose matches were played under other conditions is refused, and what differs is said."""
    path = write_league("a", "b")
    open_league(path).store.close()
    path.write_text(path.read_text().replace(old, new))
    for opened in (open_league, lambda path: open_to_read(load_config(path), tmp_path / "results")):
        with pytest.raises(StoreError) as caught:
            opened(path)
        assert text in str(caught.value)
        assert "league.sqlite: holds the results of another league" in str(caught.value)


def test_bots_and_deals_may_be_added(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """With a bot and a deal more, what was played stays and only the rest is played."""
    with open_league(write_league("a", "b", "c", deals=2)) as league:
        first = run_league(league, executor=inline, play=fake.play)
        before = rows(league.store)
    with open_league(write_league("z", "a", "b", "c", deals=3)) as league:
        second = run_league(league, executor=inline, play=fake.play)
        assert (second.before, second.played) == (first.total, 6 * 3 * 2 - first.total)
        assert set(before) <= set(rows(league.store))


def test_a_changed_bot_plays_anew(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """Another digest is another bot: its matches are played again, the old ones stay but do not count."""
    path = write_league("a", "b", "c", deals=1)
    with open_league(path) as league:
        assert run_league(league, executor=inline, play=fake.play).played == 6
    (tmp_path / "bots" / "a" / "digest").write_text("another")
    with open_league(path) as league:
        report = run_league(league, executor=inline, play=fake.play)
        assert (report.before, report.played) == (2, 4)
        assert league.store.count() == 10
        assert len(list(league.results())) == 6


def test_nothing_to_read_is_said(write_league: WriteLeague, tmp_path: Path) -> None:
    """Reading a league that has not been run is refused with the command to run it."""
    path = write_league("a", "b")
    with pytest.raises(StoreError, match="nothing has been played yet; start with: warpleague league run"):
        open_to_read(load_config(path), tmp_path / "results")


def test_a_file_that_is_no_store_is_said(write_league: WriteLeague, tmp_path: Path) -> None:
    """A damaged store is refused as such."""
    folder = tmp_path / "results" / "cup"
    folder.mkdir(parents=True)
    (folder / "league.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        open_to_read(load_config(write_league("a", "b")), tmp_path / "results")


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("UPDATE meta SET value = '{' WHERE key = 'conditions'", "is damaged: its conditions: "),
        (
            "UPDATE meta SET value = '[]' WHERE key = 'conditions'",
            "is damaged: its conditions: is not a JSON object",
        ),
        ("UPDATE meta SET value = '7' WHERE key = 'bots'", "is damaged: its bots: "),
        ("UPDATE meta SET value = 'zz' WHERE key = 'secret'", "is damaged: its secret: "),
        ("DROP TABLE match", "was altered, or is no store: it has no table match"),
        ("DROP TABLE meta", "was altered, or is no store: it has no table meta"),
        (
            "UPDATE meta SET value = cast(x'ff' as text) WHERE key = 'secret'",
            "is damaged: its secret is no text",
        ),
        ("UPDATE meta SET value = x'ff' WHERE key = 'bots'", "is damaged: its bots is no text"),
        (f"UPDATE meta SET value = '{'[' * 9999}' WHERE key = 'conditions'", "is damaged: its conditions: "),
        (f"UPDATE meta SET value = '{'[' * 9999}' WHERE key = 'bots'", "is damaged: its bots: "),
        ("CREATE VIEW x AS SELECT 1", "was altered, or is no store: its view 'x' is none that"),
        (
            "CREATE TRIGGER x AFTER INSERT ON match BEGIN DELETE FROM match; END",
            "was altered, or is no store: its trigger 'x' is none that",
        ),
        ("CREATE INDEX x ON match (deal)", "was altered, or is no store: its index 'x' is none"),
        ("CREATE VIRTUAL TABLE x USING fts5(y)", "was altered, or is no store: its table 'x"),
    ],
)
def test_a_damaged_store_is_told_with_a_way_on(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    inline: Executor,
    tmp_path: Path,
    statement: str,
    text: str,
) -> None:
    """Whatever of a store is damaged, the text names the file, what is wrong with it, and what to do."""
    path = write_league("a", "b")
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
    store = tmp_path / "results" / "cup" / "league.sqlite"
    with sqlite3.connect(store) as db:
        db.execute(statement)
    db.close()
    with pytest.raises(StoreError) as caught, open_to_read(load_config(path), tmp_path / "results") as league:
        list(league.results())
    assert str(caught.value).startswith(f"{store}: {text}")
    assert "bring back a copy of it, or play the league again" in str(caught.value) or "start with: " in str(
        caught.value
    )


def test_a_place_that_cannot_be_written_is_said(
    write_league: WriteLeague, open_league: OpenLeague, tmp_path: Path
) -> None:
    """A results folder that cannot be made is refused with the reason."""
    (tmp_path / "occupied").write_text("a file")
    with pytest.raises(StoreError, match="results cannot be written here: "):
        open_league(write_league("a", "b"), tmp_path / "occupied")


def test_a_secret_that_was_changed_is_noticed(
    write_league: WriteLeague, open_league: OpenLeague, tmp_path: Path
) -> None:
    """A secret that does not fit the published commitment is refused."""
    path = write_league("a", "b")
    open_league(path).store.close()
    with sqlite3.connect(tmp_path / "results" / "cup" / "league.sqlite") as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'secret'", ("00" * 32,))
    db.close()
    with pytest.raises(StoreError, match="does not fit its commitment"):
        open_to_read(load_config(path), tmp_path / "results")


def test_a_killed_run_loses_and_doubles_nothing(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """Killed again and again at any moment and resumed, a run ends with the very store of an undisturbed one.

    What was acknowledged before a kill is there after it.
    """
    path = write_league("a", "b", "c", "d", deals=30)
    acknowledged: set[str] = set()
    for lines in (1, 25):
        code = "import fakeplay; fakeplay.main()"
        command = [sys.executable, "-c", code, str(path), str(tmp_path / "results")]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        acknowledged |= {writer.stdout.readline().strip() for _ in range(lines)}
        writer.send_signal(signal.SIGKILL)
        acknowledged |= {line.strip() for line in writer.stdout if line.endswith("\n")}
        writer.wait()
        writer.stdout.close()
        acknowledged.discard("")  # it may have been through before we killed it
        assert acknowledged
        with open_to_read(load_config(path), tmp_path / "results") as league:
            assert acknowledged <= {fixture.id for fixture, _ in league.results()}
    with open_league(path) as league:
        report = run_league(league, executor=inline, play=fake.play)
        assert report.complete
        resumed = rows(league.store)
    with open_league(path, tmp_path / "undisturbed") as league:
        run_league(league, executor=inline, play=fake.play)
        assert resumed == rows(league.store)
        assert len(resumed) == 6 * 30 * 2


def test_a_closed_store_is_one_file(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """After a clean end all results are in the one file, without a log beside it, readable without writing."""
    path = write_league("a", "b")
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
    folder = tmp_path / "results" / "cup"
    assert {file.name for file in folder.iterdir()} == {"league.sqlite", "league.lock", "league.toml"}
    shutil.copy(folder / "league.sqlite", tmp_path / "copy.sqlite")
    with sqlite3.connect(tmp_path / "copy.sqlite") as db:
        assert db.execute("SELECT count(*) FROM record").fetchone()[0] == 6
    db.close()


def test_stores_merge(
    write_league: WriteLeague,
    open_league: OpenLeague,
    refereed: Refereed,
    inline: Executor,
    take_over: TakeOver,
    short: str,
    tmp_path: Path,
) -> None:
    """Two machines that played parts of one season give, merged, the store of one that played it all."""
    with open_league(write_league("a", "b", "c", game=short), tmp_path / "one") as league:
        run_league(league, executor=inline, play=refereed())
    path = write_league("a", "b", "c", "d", game=short)
    with open_league(path, tmp_path / "two") as league:
        run_league(league, executor=inline, play=refereed())
        everything = rows(league.store)
    with open_league(path) as league:
        assert attrs.astuple(take_over(league, tmp_path / "one" / "cup")) == (18, 0, ())
        assert attrs.astuple(take_over(league, tmp_path / "two" / "cup" / "league.sqlite")) == (18, 18, ())
        assert rows(league.store) == everything
        assert league.store.alterations() == []
        assert league.columns(*PARTS).same(of_matches(league.stored(), 2))
        assert run_league(league, executor=inline, play=refereed()).played == 0
    with open_league(path) as league:  # which numbers them anew
        assert league.is_numbered
        assert len(league.columns()) == 36
        assert league.columns(*PARTS).same(of_matches(league.store.played(league.schedule), 2))


def test_strange_stores_do_not_merge(
    write_league: WriteLeague, open_league: OpenLeague, take_over: TakeOver, tmp_path: Path
) -> None:
    """A store of another secret or of other conditions is refused, and says why."""
    path = write_league("a", "b", top="")
    open_league(path, tmp_path / "one").store.close()
    with (
        open_league(path) as league,
        pytest.raises(StoreError, match="need the same `name` and the same `seed`"),
    ):
        take_over(league, tmp_path / "one" / "cup")
    with open_league(path) as league, pytest.raises(StoreError, match="there is no such store"):
        take_over(league, tmp_path / "three")


def test_a_damaged_store_does_not_merge(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    inline: Executor,
    take_over: TakeOver,
    tmp_path: Path,
) -> None:
    """A store that breaks off halfway is named, not ours, and nothing of it is taken over."""
    path = write_league("a", "b", deals=200)
    with open_league(path, tmp_path / "one") as league:
        run_league(league, executor=inline, play=fake.play)
    broken = tmp_path / "one" / "cup" / "league.sqlite"
    data = broken.read_bytes()
    broken.write_bytes(data[: len(data) // 2] + b"\x5a" * (len(data) - len(data) // 2))
    with open_league(path) as league:
        with pytest.raises(StoreError, match=re.escape(f"{broken}: ")):
            take_over(league, broken)
        assert (league.store.count(), league.store.alterations()) == (0, [])


def test_differences_are_told_by_path() -> None:
    """Nested values that differ are named by their path; what is equal is not."""
    old = {"a": {"b": 1, "c": [1]}, "d": None, "e": 1}
    new = {"a": {"b": 2, "c": [1]}, "e": 1, "f": "x"}
    assert differences(old, new) == ["a.b: was 1, is now 2", 'f: was not set, is now "x"']


def test_a_snapshot_stands_still(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """What is read within a snapshot is of one moment, whatever a run stores meanwhile."""
    path = write_league("a", "b", "c")
    with open_league(path) as league:
        fixtures = [*league.schedule]
        league.store.add([stored(league, fake, fixture) for fixture in fixtures[:2]])
        with open_to_read(load_config(path), tmp_path / "results") as reader:
            with reader.store.snapshot():
                assert len([*reader.results()]) == 2
                league.store.add([stored(league, fake, fixture) for fixture in fixtures[2:5]])
                assert (reader.store.count(), len([*reader.results()])) == (2, 2)
            assert (reader.store.count(), len([*reader.results()])) == (5, 5)


def stored(league: League, fake: ModuleType, fixture: Any) -> Any:
    """A match as `Store.add` takes it."""
    spec = league.season.spec(fixture.id, fixture.deal, fixture.seats)
    return fixture, spec.seats, fake.play(spec)
