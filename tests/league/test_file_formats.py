"""Files of earlier formats: they are read as they are, and converted when they are opened to write."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest

from warpleague.errors import BadInput, StoreError
from warpleague.league.play.running import run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.store import schema
from warpleague.league.store.database import FileKind, Format, create, replace
from warpleague.league.store.schema import STORE, TABLES
from warpleague.league.store.store import Store
from warpleague.league.upkeep.verifying import altered

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
def played(write_league: Any, open_league: Any, fake: Any, inline: Any) -> Path:
    """The file of a league that was played before there was a next format."""
    path: Path = write_league("a", "b")
    with open_league(path) as league:
        assert run_league(league, executor=inline, play=fake.play).played == 6
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
