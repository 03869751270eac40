"""Files of earlier formats: they are read as they are, and converted when they are opened to write."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from warpleague.cli import main
from warpleague.errors import BadInput, StoreError
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.store.database import FileKind, Format, create, replace
from warpleague.league.store.journal import Head
from warpleague.league.store.store import Store
from warpleague.league.upkeep.organising import mend, merge
from warpleague.league.upkeep.verifying import altered, mispaired

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT_6 = Path(__file__).parent / "old" / "format_6"
"""Two leagues of three bots, and an arena with a submission, as the last version before format 7 left them."""
EXPECTED: dict[str, Any] = json.loads((FORMAT_6 / "expected.json").read_text("utf-8"))
"""What that version printed with `--json`, and the heads of the journals."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the folder with the league files, the bots and the results."""
    shutil.copytree(FORMAT_6, tmp_path / "old")
    return tmp_path / "old"


@pytest.fixture
def printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str, str], Any]:
    """What a command prints of a league, as JSON."""

    def run(command: str, league: str) -> Any:
        words = [
            "league",
            command,
            str(folder / f"{league}.toml"),
            "--results",
            str(folder / "results"),
            "--json",
        ]
        assert main(words) == 0
        return json.loads(capsys.readouterr().out)

    return run


def as_expected(printed: Callable[[str, str], Any], league: str) -> None:
    """The tables say what they said: later versions may add keys, rate otherwise, and pair a ladder otherwise."""
    for command in ("standings", "matches", "times", "services", "seats"):
        now, before = printed(command, league), EXPECTED[league][command]
        if command == "standings":
            now, before = (
                {
                    row["bot"]: [row[key] for key in ("played", "won", "drawn", "lost", "score")]
                    for row in rows
                }
                for rows in (now, before)
            )
            assert now == before
            continue
        if command == "matches":
            now, before = (sorted(rows, key=lambda row: row["match"]) for rows in (now, before))
            before = [{**old, "number": one["number"]} for one, old in zip(now, before, strict=True)]
        for row in (*now, *before):
            row.pop("longest_match", None)  # the first of several
        assert [one | old for one, old in zip(now, before, strict=True)] == now


def unaltered(folder: Path, league: str) -> None:
    """The store has all that its journal says, and goes back to the head that it had in format 6."""
    with open_to_read(load_config(folder / f"{league}.toml"), folder / "results") as opened:
        assert altered(opened, [Head.parse(EXPECTED[league]["head"])]) == []
        assert mispaired(opened) == []


@pytest.mark.parametrize("league", ["cup", "climb"])
def test_an_old_store_is_read_and_converted(
    folder: Path, printed: Callable[[str, str], Any], league: str
) -> None:
    """A reader sees what it always saw and changes nothing; a writer converts the file once and leaves a copy."""
    file = folder / "results" / league / "league.sqlite"
    before = file.read_bytes()
    with closing(sqlite3.connect(file)) as db:
        matches = db.execute("SELECT * FROM match").fetchall()
    as_expected(printed, league)
    unaltered(folder, league)
    assert file.read_bytes() == before
    for _ in range(2):
        assert mend(load_config(folder / f"{league}.toml"), folder / "results") == []
        with closing(sqlite3.connect(file.with_name("league.format-6.sqlite"))) as db:
            assert db.execute("SELECT * FROM match").fetchall() == matches
        as_expected(printed, league)
        unaltered(folder, league)


def test_an_old_store_is_verified_and_extended(folder: Path) -> None:
    """Its records hold, and with a deal more only the matches that are new are played."""
    path, results = folder / "cup.toml", str(folder / "results")
    assert main(["league", "verify", str(path), "--results", results]) == 0
    path.write_text(path.read_text("utf-8").replace("deals = 2", "deals = 3"), "utf-8")
    assert main(["league", "run", str(path), "--results", results, "--jobs", "1"]) == 0
    with open_to_read(load_config(path), folder / "results") as league:
        assert (league.store.count(), len(league.columns())) == (18, 18)
    unaltered(folder, "cup")


def test_an_old_store_is_merged(folder: Path, tmp_path: Path) -> None:
    """Matches of a store in format 6 are taken over into one of today's."""
    results = tmp_path / "new"
    config = load_config(folder / "cup.toml")
    assert main(["league", "commit", str(folder / "cup.toml"), "--results", str(results)]) == 0
    (merged,) = merge(config, results, [folder / "results" / "cup"], trust=True)
    assert (merged.added, merged.differing) == (12, ())


@pytest.mark.parametrize(
    "change",
    [
        f"{column} = {value}"
        for column in ("bots", "ranks", "scores", "faults", "times")
        for value in ("'[[1'", "'{}'", "'[{}]'", "'[null,null]'", "'[1e400,2]'", "x'ff'", "7")
    ],
)
def test_a_match_that_cannot_be_read_stays_damaged(folder: Path, change: str) -> None:
    """A row of texts that mean nothing stops no reader and no conversion; `mend` removes the match."""
    file, config = folder / "results" / "cup" / "league.sqlite", load_config(folder / "cup.toml")
    with closing(sqlite3.connect(file)) as db, db:
        (match,) = db.execute("SELECT min(id) FROM match").fetchone()
        db.execute(f"UPDATE match SET {change} WHERE id = ?", (match,))
    with open_to_read(config, folder / "results") as league:
        assert [found for _, found, _ in altered(league)] == [match]
        with pytest.raises(StoreError, match=match):
            list(league.results())
    assert [found for found, _ in mend(config, folder / "results", 1)] == [match]
    with open_to_read(config, folder / "results") as league:
        assert len(list(league.results())) == 11


def test_a_conversion_that_fails_changes_nothing(folder: Path) -> None:
    """Where the copy cannot be made, the file stays of its format."""
    file = folder / "results" / "cup" / "league.sqlite"
    before = file.read_bytes()
    file.with_name("league.format-6.sqlite").mkdir()
    with pytest.raises(BadInput, match="cannot be written"):
        Store.open_to_write(file.parent)
    assert file.read_bytes() == before


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
