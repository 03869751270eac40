"""The result store: nothing lost, nothing twice, nobody else's."""

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.league.conftest import Cup, Refereed

from warpleague.errors import StoreError
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
    """Killed again and again at any moment and resumed, a run ends with the very store of an undisturbed one.

    What was acknowledged before a kill is there after it.
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
        resumed = rows(league.store)
    with cup.open(path, tmp_path / "undisturbed") as league:
        cup.run(league)
        assert resumed == rows(league.store)
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
