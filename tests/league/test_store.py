"""The result store: nothing lost, nothing twice, nobody else's."""

import errno
import fcntl
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.league.conftest import Command, Cup, Refereed

from warpleague.errors import BadInput, StoreError
from warpleague.league.play.verifying import altered
from warpleague.league.results.league import League, open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.season.season import canonical, differences
from warpleague.league.store import schema
from warpleague.league.store.columns import PARTS, of_matches
from warpleague.league.store.database import FileKind, Format, back_up, clear_errors, create, replace
from warpleague.league.store.schema import STORE, TABLES
from warpleague.league.store.store import Store
from warpleague.match.chance import season_commitment, season_secret
from warpleague.match.spec import MatchSpec


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


def test_what_is_stored_comes_back(cup: Cup) -> None:
    """Results and records read back as the matches gave them."""
    with cup.open(cup.file("a", "b", "c")) as league:
        cup.run(league)
        for fixture, played in league.results():
            result = cup.fake.play(league.season.spec(fixture.id, fixture.deal, fixture.seats))
            assert (played.ranks, played.scores, played.why) == (result.ranks, result.scores, result.why)
            assert (played.faults, played.times, played.digest) == (
                result.faults,
                result.times,
                result.digest,
            )
            assert league.store.record(fixture.id) == result.record


@pytest.mark.parametrize("why", [errno.ENOLCK, errno.EACCES, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: int
) -> None:
    """And is not taken for another program that has the store, nor for a disk that fails."""

    def refuse(*_: object) -> None:
        raise OSError(why, os.strerror(why))

    words = rf"cannot be locked: {os.strerror(why)}; the file system of this folder refuses locks .*--results"
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
    with pytest.raises(StoreError, match="another program has it"), clear_errors(tmp_path / "league.sqlite"):
        raise busy
    monkeypatch.setattr(fcntl, "lockf", refuse)  # as for SQLite, which uses these locks
    with pytest.raises(StoreError, match=words), clear_errors(tmp_path / "league.sqlite"):
        raise busy
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match=words):
        Store.open_to_write(tmp_path)


def test_the_secret_follows_from_the_seed_or_from_chance(cup: Cup, tmp_path: Path) -> None:
    """A seed in the file makes the secret; without one it is random, and stays the same from run to run."""
    with cup.open(cup.file("a", "b")) as league:
        told = canonical(["test", "cup", league.season.conditions]).decode()
        assert league.season.secret == season_secret(told)
        assert league.store.meta("commitment") == season_commitment(season_secret(told))
    with cup.open(cup.file("a", "b", name="other")) as other:
        assert other.season.secret != league.season.secret
    path = cup.file("a", "b", top="", name="dark")
    secrets = set()
    for _ in range(2):
        with cup.open(path) as league:
            secrets.add(league.season.secret)
    assert len(secrets) == 1
    with cup.open(path, tmp_path / "elsewhere") as league:
        assert league.season.secret not in secrets


def test_one_process_at_a_time(cup: Cup) -> None:
    """A second run of the same league is refused while the first goes on; reading is allowed."""
    path = cup.file("a", "b")
    with cup.open(path):
        with pytest.raises(StoreError, match=r"is being run already, by process \d+ on "):
            cup.open(path)
        cup.read(path).store.close()
    cup.open(path).store.close()


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
def test_a_store_of_another_league_is_refused(cup: Cup, old: Any, new: Any, text: str) -> None:
    """A store whose matches were played under other conditions is refused, and what differs is said."""
    path = cup.file("a", "b")
    cup.open(path).store.close()
    path.write_text(path.read_text().replace(old, new))
    for opened in (cup.open, cup.read):
        with pytest.raises(StoreError) as caught:
            opened(path)
        assert text in str(caught.value)
        assert "league.sqlite: holds the results of another league" in str(caught.value)


def test_bots_and_deals_may_be_added(cup: Cup) -> None:
    """With a bot and a deal more, what was played stays and only the rest is played."""
    with cup.open(cup.file("a", "b", "c", deals=2)) as league:
        first = cup.run(league)
        before = rows(league.store)
    with cup.open(cup.file("z", "a", "b", "c", deals=3)) as league:
        second = cup.run(league)
        assert (second.before, second.played) == (first.total, 6 * 3 * 2 - first.total)
        assert set(before) <= set(rows(league.store))


def test_a_changed_bot_plays_anew(cup: Cup, tmp_path: Path) -> None:
    """Another digest is another bot: its matches are played again, the old ones stay but do not count."""
    path = cup.file("a", "b", "c", deals=1)
    with cup.open(path) as league:
        assert cup.run(league).played == 6
    (tmp_path / "bots" / "a" / "digest").write_text("another")
    with cup.open(path) as league:
        report = cup.run(league)
        assert (report.before, report.played) == (2, 4)
        assert league.store.count() == 10
        assert len(list(league.results())) == 6


def test_nothing_to_read_is_said(cup: Cup) -> None:
    """Reading a league that has not been run is refused with the command to run it."""
    path = cup.file("a", "b")
    with pytest.raises(StoreError, match="nothing has been played yet; start with: warpleague league run"):
        cup.read(path)


def test_a_file_that_is_no_store_is_said(cup: Cup) -> None:
    """A damaged store is refused as such."""
    folder = cup.results / "cup"
    folder.mkdir(parents=True)
    (folder / "league.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        open_to_read(load_config(cup.file("a", "b")), cup.results)


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
def test_a_damaged_store_is_told_with_a_way_on(cup: Cup, statement: str, text: str) -> None:
    """Whatever of a store is damaged, the text names the file, what is wrong with it, and what to do."""
    path = cup.file("a", "b")
    cup.play(path)
    store = cup.store
    with sqlite3.connect(store) as db:
        db.execute(statement)
    db.close()
    with pytest.raises(StoreError) as caught, cup.read(path) as league:
        list(league.results())
    assert str(caught.value).startswith(f"{store}: {text}")
    assert "bring back a copy of it, or play the league again" in str(caught.value) or "start with: " in str(
        caught.value
    )


def test_a_place_that_cannot_be_written_is_said(cup: Cup, tmp_path: Path) -> None:
    """A results folder that cannot be made is refused with the reason."""
    (tmp_path / "occupied").write_text("a file")
    with pytest.raises(StoreError, match="results cannot be written here: "):
        cup.open(cup.file("a", "b"), tmp_path / "occupied")


def test_a_secret_that_was_changed_is_noticed(cup: Cup) -> None:
    """A secret that does not fit the published commitment is refused."""
    path = cup.file("a", "b")
    cup.open(path).store.close()
    with sqlite3.connect(cup.store) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'secret'", ("00" * 32,))
    db.close()
    with pytest.raises(StoreError, match="does not fit its commitment"):
        cup.read(path)


def test_a_killed_run_loses_and_doubles_nothing(cup: Cup, tmp_path: Path) -> None:
    """Killed again and again at any moment and resumed, a run ends with the matches of an undisturbed one.

    What was acknowledged before a kill is there after it. What bots may have begun has other dice the next time, and
    the journal says so; all else is the very same.
    """
    path = cup.file("a", "b", "c", "d", deals=30)
    acknowledged: set[str] = set()
    for lines in (1, 25):
        code = "import fakeplay; fakeplay.main()"
        command = [sys.executable, "-c", code, str(path), str(cup.results)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        acknowledged |= {writer.stdout.readline().strip() for _ in range(lines)}
        writer.send_signal(signal.SIGKILL)
        acknowledged |= {line.strip() for line in writer.stdout if line.endswith("\n")}
        writer.wait()
        writer.stdout.close()
        acknowledged.discard("")  # it may have been through before we killed it
        assert acknowledged
        with cup.read(path) as league:
            assert acknowledged <= {fixture.id for fixture, _ in league.results()}
    with cup.open(path) as league:
        report = cup.run(league)
        assert report.complete
        resumed, attempts = rows(league.store), league.store.attempts()
        voided = Counter(event.details["match"] for event in league.store.events("void"))
    assert attempts == voided
    assert 0 < len(attempts) < 6 * 30
    with cup.open(path, tmp_path / "undisturbed") as league:
        cup.run(league)
        undisturbed = rows(league.store)
        assert [match.id for match, _ in resumed] == [match.id for match, _ in undisturbed]
        same = {
            match.id for (match, _), (other, _) in zip(resumed, undisturbed, strict=True) if match == other
        }
        assert same == {match.id for match, _ in resumed} - set(attempts)
        assert len(resumed) == 6 * 30 * 2


def test_a_closed_store_is_one_file(cup: Cup, tmp_path: Path) -> None:
    """After a clean end all results are in the one file, without a log beside it, readable without writing."""
    path = cup.file("a", "b")
    cup.play(path)
    folder = cup.results / "cup"
    assert {file.name for file in folder.iterdir()} == {"league.sqlite", "league.lock", "league.toml"}
    shutil.copy(folder / "league.sqlite", tmp_path / "copy.sqlite")
    with sqlite3.connect(tmp_path / "copy.sqlite") as db:
        assert db.execute("SELECT count(*) FROM record").fetchone()[0] == 6
    db.close()


def test_stores_merge(cup: Cup, refereed: Refereed, tmp_path: Path) -> None:
    """Two machines that played parts of one season give, merged, the store of one that played it all."""
    cup.play(cup.file("a", "b", "c", game=cup.short), tmp_path / "one", play=refereed())
    path = cup.file("a", "b", "c", "d", game=cup.short)
    with cup.open(path, tmp_path / "two") as league:
        cup.run(league, play=refereed())
        everything = rows(league.store)
    with cup.open(path) as league:
        assert attrs.astuple(cup.take_over(league, tmp_path / "one" / "cup")) == (18, 0, ())
        assert attrs.astuple(cup.take_over(league, tmp_path / "two" / "cup" / "league.sqlite")) == (
            18,
            18,
            (),
        )
        assert rows(league.store) == everything
        assert league.store.alterations() == []
        assert league.columns(*PARTS).same(of_matches(league.stored(), 2))
        assert cup.run(league, play=refereed()).played == 0
    with cup.open(path) as league:  # which numbers them anew
        assert league.is_numbered
        assert len(league.columns()) == 36
        assert league.columns(*PARTS).same(of_matches(league.store.played(league.schedule), 2))


def test_strange_stores_do_not_merge(cup: Cup, tmp_path: Path) -> None:
    """A store of another secret or of other conditions is refused, and says why."""
    path = cup.file("a", "b", top="")
    cup.open(path, tmp_path / "one").store.close()
    with (
        cup.open(path) as league,
        pytest.raises(StoreError, match="need the same `name` and the same `seed`"),
    ):
        cup.take_over(league, tmp_path / "one" / "cup")
    with cup.open(path) as league, pytest.raises(StoreError, match="there is no such store"):
        cup.take_over(league, tmp_path / "three")


def test_a_damaged_store_does_not_merge(cup: Cup, tmp_path: Path) -> None:
    """A store that breaks off halfway is named, not ours, and nothing of it is taken over."""
    path = cup.file("a", "b", deals=200)
    cup.play(path, tmp_path / "one")
    broken = tmp_path / "one" / "cup" / "league.sqlite"
    data = broken.read_bytes()
    broken.write_bytes(data[: len(data) // 2] + b"\x5a" * (len(data) - len(data) // 2))
    with cup.open(path) as league:
        with pytest.raises(StoreError, match=re.escape(f"{broken}: ")):
            cup.take_over(league, broken)
        assert (league.store.count(), league.store.alterations()) == (0, [])


def test_differences_are_told_by_path() -> None:
    """Nested values that differ are named by their path; what is equal is not."""
    old = {"a": {"b": 1, "c": [1]}, "d": None, "e": 1}
    new = {"a": {"b": 2, "c": [1]}, "e": 1, "f": "x"}
    assert differences(old, new) == ["a.b: was 1, is now 2", 'f: was not set, is now "x"']


def test_a_snapshot_stands_still(cup: Cup) -> None:
    """What is read within a snapshot is of one moment, whatever a run stores meanwhile."""
    path = cup.file("a", "b", "c")
    with cup.open(path) as league:
        fixtures = [*league.schedule]
        league.store.add([stored(league, cup, fixture) for fixture in fixtures[:2]])
        with cup.read(path) as reader:
            with reader.store.snapshot():
                assert len([*reader.results()]) == 2
                league.store.add([stored(league, cup, fixture) for fixture in fixtures[2:5]])
                assert (reader.store.count(), len([*reader.results()])) == (2, 2)
            assert (reader.store.count(), len([*reader.results()])) == (5, 5)


def stored(league: League, cup: Cup, fixture: Any) -> Any:
    """A match as `Store.add` takes it."""
    spec = league.season.spec(fixture.id, fixture.deal, fixture.seats)
    return fixture, spec.seats, cup.fake.play(spec)


# A store or lock that is removed or replaced while a league is run: told, and nothing is said to be stored.


def store_removed(folder: Path) -> None:
    for path in folder.glob("league.sqlite*"):
        path.unlink()


def folder_removed(folder: Path) -> None:
    shutil.rmtree(folder)


def folder_renamed(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def store_replaced(folder: Path) -> None:
    shutil.copyfile(folder / "league.sqlite", folder / "copy")
    (folder / "copy").replace(folder / "league.sqlite")


def lock_removed(folder: Path) -> None:
    (folder / "league.lock").unlink()


def lock_replaced(folder: Path) -> None:
    lock_removed(folder)
    (folder / "league.lock").touch()


HARMS = [store_removed, folder_removed, folder_renamed, store_replaced, lock_removed, lock_replaced]


def harming(play: Callable, harm: Callable[[Path], None], folder: Path, at: int) -> Callable:
    """Plays like `play`, and does harm in match number `at`."""
    played = []

    def harmful(spec: MatchSpec) -> Any:
        played.append(spec)
        if len(played) == at:
            harm(folder)
        return play(spec)

    return harmful


@pytest.mark.parametrize(("harm", "at"), [*zip(HARMS, (1, 4, 6, 6, 4, 1), strict=True)])
def test_a_store_that_is_gone_ends_the_run(command: Command, cup: Cup, harm: Any, at: int) -> None:
    """Whenever it happens, the last match included: one clear error, exit code 2, no word of stored matches."""
    path = cup.file("a", "b")
    play = harming(cup.fake.play, harm, cup.results / "cup", at)
    code, out, err = command("run", path, "--quiet", play=play)
    assert (code, out) == (2, "")
    assert "was removed or replaced while the league was running" in err
    assert "Traceback" not in err


def test_two_runs_without_a_lock_store_nothing_twice(cup: Cup) -> None:
    """A second run that began since the lock was removed goes on; the first one stops before it writes again."""
    path = cup.file("a", "b")

    def second(folder: Path) -> None:
        lock_removed(folder)
        with cup.open(path) as league:
            assert cup.run(league).complete

    with cup.open(path) as league:
        folder = league.store.path.parent
        with pytest.raises(StoreError, match=r"league\.lock: was removed or replaced"):
            cup.run(league, play=harming(cup.fake.play, second, folder, 3))
    with cup.read(path) as league:
        assert len(list(league.results())) == 6
        assert altered(league) == []


def test_a_reader_does_not_mind(cup: Cup) -> None:
    """Only who writes looks whether its files are still there."""
    path = cup.file("a", "b")
    cup.play(path)
    with cup.read(path) as league:
        lock_removed(league.store.path.parent)
        assert len(list(league.results())) == 6


# A copy of a store that is in use: all that was committed, and nothing that was not.


def test_a_backup_takes_the_place_of_the_results(
    cup: Cup, refereed: Refereed, command: Command, tmp_path: Path
) -> None:
    """It is made while the league is open to run, has its receipt, and verifies where it is put back."""
    path, store = cup.play_short(refereed())
    out = tmp_path / "safe"
    with cup.open(path):  # as a run has it
        code, said, _ = command("backup", path, "--out", str(out), "--json")
    assert code == 0
    told = json.loads(said)
    assert (told["matches"], told["copies"]) == (6, [str(out / "cup" / "league.sqlite")])
    assert [file.name for file in (out / "cup").iterdir()] == ["league.sqlite"]
    assert (out / "cup" / "league.sqlite").stat().st_mode & 0o077 == 0
    shutil.rmtree(store.parent)
    (out / "cup").rename(store.parent)
    code, said, _ = command("verify", path, "--head", told["head"])
    assert (code, "6 of 6 records hold" in said) == (0, True)


def test_what_is_not_committed_is_not_copied(tmp_path: Path) -> None:
    """A transaction that is open has no part in the copy, and does not hold it up."""
    source, target = tmp_path / "a.db", tmp_path / "to" / "b.db"
    with closing(sqlite3.connect(source, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES (1)")
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO t VALUES (2)")
        back_up(source, target)
        db.execute("COMMIT")
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("SELECT x FROM t").fetchall() == [(1,)]
    assert [path.name for path in target.parent.iterdir()] == ["b.db"]


def test_a_backup_that_cannot_be_made(cup: Cup, refereed: Refereed, command: Command, tmp_path: Path) -> None:
    """What is wrong is said, and an earlier backup stays as it is."""
    path, store = cup.play_short(refereed())
    assert command("backup", path, "--out", str(cup.results))[0] == 2
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="cannot be written"):
        back_up(store, tmp_path / "file" / "in")
    target = tmp_path / "kept"
    back_up(store, target)
    before = target.read_bytes()
    store.write_bytes(b"no store" * 1000)
    with pytest.raises(StoreError):
        back_up(store, target)
    assert target.read_bytes() == before
    assert not list(tmp_path.glob(".*.draft"))
    with pytest.raises(StoreError):
        Store.open_to_read(tmp_path / "nowhere")


# Files of earlier formats: they are read as they are, and converted when they are opened to write.


ONE = (
    "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE fruit (name TEXT NOT NULL)",
)
TWO = (ONE[0], "CREATE TABLE fruit (name TEXT NOT NULL, length INTEGER NOT NULL)")
THREE = (*TWO, "CREATE INDEX by_length ON fruit (length)", "CREATE TABLE tree (age INTEGER)")
GROWN = (
    ONE[0],
    "CREATE TABLE fruit (name TEXT NOT NULL, length INTEGER NOT NULL, colour TEXT DEFAULT 'red')",
    *THREE[2:],
)


def to_two(db: sqlite3.Connection, schema: str) -> None:
    create(db, TWO[1], schema, "new_")
    db.execute(f"INSERT INTO {schema}.new_fruit SELECT name, length(name) FROM fruit")
    replace(db, "fruit", schema, "new_")


def to_three(db: sqlite3.Connection, schema: str) -> None:
    for statement in THREE[2:]:
        create(db, statement, schema)
    db.execute(f"INSERT INTO {schema}.tree SELECT sum(length) FROM fruit")


def kind(*tables: tuple[str, ...]) -> FileKind:
    steps = (None, to_two, to_three)
    formats = tuple(Format(n + 1, found, steps[n]) for n, found in enumerate(tables))
    return FileKind("basket", "setting", formats, "Buy another one")


def basket(path: Path, kind_: FileKind, *, write: bool) -> sqlite3.Connection:
    db = sqlite3.connect(path if write else f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        (kind_.open_to_write if write else kind_.open_to_read)(db, path)
    except BaseException:
        db.close()
        raise
    return db


@pytest.mark.parametrize("write", [False, True])
def test_formats_are_converted_step_by_step(tmp_path: Path, write: bool) -> None:
    """From the first format to the third, with a column that came later without a format of its own."""
    path = tmp_path / "basket.db"
    with closing(basket(path, kind(ONE), write=True)) as db:
        db.execute("INSERT INTO fruit VALUES ('apple'), ('fig')")
    before = path.read_bytes()
    newest = kind(ONE, TWO, GROWN)
    with closing(basket(path, newest, write=write)) as db:
        assert db.execute("SELECT name, length FROM fruit").fetchall() == [("apple", 5), ("fig", 3)]
        assert db.execute("SELECT age FROM tree").fetchall() == [(8,)]
    assert (path.read_bytes() == before) is not write
    assert (tmp_path / "basket.format-1.db").exists() is write


@pytest.mark.parametrize("write", [False, True])
def test_a_column_with_a_default_needs_no_format(tmp_path: Path, write: bool) -> None:
    """A program that knows the column finds its default in files of before; one that does not reads on."""
    path = tmp_path / "basket.db"
    older, newer = kind(ONE, TWO, THREE), kind(ONE, TWO, GROWN)
    with closing(basket(path, older, write=True)) as db:
        db.execute("INSERT INTO fruit VALUES ('apple', 5)")
    with closing(basket(path, newer, write=write)) as db:
        assert db.execute("SELECT colour FROM fruit").fetchall() == [("red",)]
    with closing(basket(path, older, write=True)) as db:
        db.execute("INSERT INTO fruit (name, length) VALUES ('fig', 3)")
    assert not list(tmp_path.glob("*.format-*"))


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("DROP TABLE tree", "it has no table tree"),
        ("DROP INDEX by_length", "it has no index by_length"),
        ("ALTER TABLE fruit RENAME COLUMN length TO size", "has no column 'length'"),
        (
            "ALTER TABLE fruit ADD COLUMN size AS (length * 2)",
            "has a column 'size' that this program cannot fill",
        ),
        ("CREATE TABLE x (y)", "its table 'x' is none that this program makes"),
        ("CREATE VIEW x AS SELECT 1", "its view 'x' is none that this program makes"),
        (
            "UPDATE setting SET value = '4'",
            "is of basket format 4; this warpleague reads 1 and 2 and 3. Buy another",
        ),
        ("DELETE FROM setting", "is of basket format none"),
    ],
)
@pytest.mark.parametrize("write", [False, True])
def test_a_file_of_other_tables_is_refused(tmp_path: Path, statement: str, text: str, write: bool) -> None:
    """Whatever a program of ours would not make is named."""
    path = tmp_path / "basket.db"
    with closing(basket(path, kind(ONE, TWO, THREE), write=True)) as db:
        db.execute(statement)
    with pytest.raises(StoreError, match=text):
        basket(path, kind(ONE, TWO, THREE), write=write)


def with_level(db: sqlite3.Connection, schema: str) -> None:
    """The step to a next format of the store, in which each record has a column more."""
    create(db, WITH_LEVEL, schema, "new_")
    db.execute(f"INSERT INTO {schema}.new_record SELECT id, size, zstd, 'limits' FROM record")
    replace(db, "record", schema, "new_")


RECORD = next(statement for statement in TABLES if statement.startswith("CREATE TABLE record"))
WITH_LEVEL = f"{RECORD[:-1]}, level TEXT NOT NULL)"
"""The table of records in a next format of the store."""


@pytest.fixture
def played(cup: Cup) -> Path:
    """The file of a league that was played before there was a next format."""
    path: Path = cup.file("a", "b")
    with cup.open(path) as league:
        assert cup.run(league).played == 6
    return path


@pytest.fixture
def next_format(monkeypatch: pytest.MonkeyPatch) -> Format:
    """A next format of the store, which the program then has."""
    number = STORE.latest.number + 1
    tables = tuple(WITH_LEVEL if statement == RECORD else statement for statement in TABLES)
    made = Format(number, tables, with_level)
    monkeypatch.setattr(schema, "STORE", attrs.evolve(STORE, formats=(*STORE.formats, made)))
    return made


def test_a_store_goes_on_in_the_next_format(played: Path, next_format: Format, tmp_path: Path) -> None:
    """A reader sees all of it and changes nothing; the first writer converts it once and leaves a copy."""
    results, config = tmp_path / "results", load_config(played)
    file = results / "cup" / "league.sqlite"
    before = file.read_bytes()
    with open_to_read(config, results) as league:
        assert (altered(league), len(list(league.results()))) == ([], 6)
    assert file.read_bytes() == before
    for _ in range(2):
        with Store.open_to_write(file.parent):
            pass
        with closing(sqlite3.connect(file)) as db:
            assert db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() == (
                str(next_format.number),
            )
            assert db.execute("SELECT DISTINCT level FROM record").fetchall() == [("limits",)]
        with closing(sqlite3.connect(file.with_name(f"league.format-{STORE.latest.number}.sqlite"))) as db:
            assert db.execute("SELECT count(*) FROM match").fetchone() == (6,)
        with open_to_read(config, results) as league:
            assert (altered(league), len(list(league.results()))) == ([], 6)


def test_a_conversion_that_fails_changes_nothing(played: Path, next_format: Format, tmp_path: Path) -> None:
    """Where the copy cannot be made, the file stays of its format."""
    file = tmp_path / "results" / "cup" / "league.sqlite"
    before = file.read_bytes()
    file.with_name(f"league.format-{STORE.latest.number}.sqlite").mkdir()
    with pytest.raises(BadInput, match="cannot be written"):
        Store.open_to_write(file.parent)
    assert file.read_bytes() == before
