"""The file of an arena: the next change of its tables converts it, and a file of another format is refused."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs
import pytest
from tests.arena.harness import ArenaHarness

from warpleague.arena.submissions import accounts, ledger
from warpleague.arena.submissions.ledger import FILE, FORMATS, Ledger
from warpleague.cli import main
from warpleague.league.store.database import Format, create, replace

AUTHOR: Final = """CREATE TABLE author (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, organiser INTEGER NOT NULL, token BLOB,
    added TEXT NOT NULL, revoked TEXT, members INTEGER NOT NULL
)"""
"""A made-up change of the table of authors."""


def convert(db: sqlite3.Connection, schema: str) -> None:
    """Make the changed table of the one before."""
    create(db, AUTHOR, schema, "new_")
    db.execute(
        f"INSERT INTO {schema}.new_author "
        "SELECT author.*, (SELECT count(*) FROM member WHERE member.author = author.id) FROM author"
    )
    replace(db, "author", schema, "new_")


def test_the_next_change_converts_a_ledger(arena: ArenaHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, when it is opened: tokens, sessions and submissions stay valid, and a copy of the file is left."""
    number = arena.accepted("ada")
    accounts.add_member(arena.ledger, "ada", "grace", "test")
    session = accounts.begin_session(arena.ledger, arena.author("ada"))
    (first,) = FORMATS.formats
    tables = (*(table for table in first.tables if "CREATE TABLE author" not in table), AUTHOR)
    changed = attrs.evolve(FORMATS, formats=(first, Format(2, tables, convert)))
    monkeypatch.setattr(ledger, "FORMATS", changed)
    for _ in range(2):
        with Ledger.open(arena.results) as converted:
            assert converted.setting("format") == "2"
            assert converted.rows("SELECT name, members FROM author ORDER BY id") == [
                ("ada", 1),
                ("bob", 0),
                ("olga", 0),
            ]
            assert accounts.who_has(converted, arena.tokens["ada"]) is not None
            assert accounts.session_of(converted, session.key) is not None
            assert converted.rows("SELECT state FROM job WHERE id = ?", number) == [("accepted",)]
    with closing(sqlite3.connect(arena.results / "arena.format-1.db")) as db:
        assert db.execute("SELECT count(*) FROM author").fetchone() == (3,)


def test_a_ledger_of_another_format_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By name and number."""
    with Ledger.open(tmp_path) as opened:
        opened.set("format", "99", "test")
    assert main(["arena", "author", "list", "--results", str(tmp_path)]) == 2
    assert f"{FILE}: is of ledger format 99; this warpleague reads 1" in capsys.readouterr().err
