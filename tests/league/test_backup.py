"""A copy of a store that is in use: all that was committed, and nothing that was not."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.league.conftest import Command, OpenLeague, PlayShort, Refereed

from warpleague.errors import BadInput, StoreError
from warpleague.league.store.database import back_up
from warpleague.league.store.store import Store


def test_a_backup_takes_the_place_of_the_results(
    play_short: PlayShort, refereed: Refereed, command: Command, open_league: OpenLeague, tmp_path: Path
) -> None:
    """It is made while the league is open to run, has its receipt, and verifies where it is put back."""
    path, store = play_short(refereed())
    out = tmp_path / "safe"
    with open_league(path):  # as a run has it
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


def test_a_backup_that_cannot_be_made(
    play_short: PlayShort, refereed: Refereed, command: Command, tmp_path: Path
) -> None:
    """What is wrong is said, and an earlier backup stays as it is."""
    path, store = play_short(refereed())
    assert command("backup", path, "--out", str(tmp_path / "results"))[0] == 2
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
