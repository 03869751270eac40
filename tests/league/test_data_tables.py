"""A league as tables for data tools: what is in them, how they are written, and that the docs name every column."""

import csv
import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.league.conftest import Command, PlayShort, Refereed

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.league.results.export import TABLES, decisions_of, table_file
from warpleague.match.replay import Replay

DOCS = Path(__file__).parents[2] / "docs" / "data.md"
GOLDEN = Path(__file__).parents[1] / "match" / "golden" / "2"


@pytest.fixture
def played(refereed: Refereed, play_short: PlayShort) -> Path:
    """The file of a league of six real matches, which have been played."""
    return play_short(refereed())[0]


@pytest.fixture
def tables(
    command: Command,
    played: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """The folder with the tables of a league, as CSV and as Parquet."""
    for kind in ("csv", "parquet"):
        assert command("export", played, "--format", kind, "--decisions", "--out", str(tmp_path))[0] == 0
    return tmp_path


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_docs_name_every_column() -> None:
    """Each table of the page is a table of the program: the same columns and types in the same order."""
    sections = re.split(r"^## ", DOCS.read_text("utf-8"), flags=re.MULTILINE)
    told = {
        section.split("\n")[0]: re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE)
        for section in sections
    }
    for table in TABLES:
        assert told[table.name] == [(column.name, column.kind) for column in table.columns], table.name


def test_the_tables_agree_with_the_league(command: Command, played: Path, tables: Path) -> None:
    """Every match has its row, every seat too, with the results that `matches` tells."""
    told = json.loads(command("matches", played, "--json")[1])
    matches, seats = read(tables / "matches.csv"), read(tables / "seats.csv")
    assert [row["match"] for row in matches] == [row["match"] for row in told]
    assert {row["counts"] for row in matches} == {"true"}
    found = [(row["match"], row["bot"], int(row["rank"]), float(row["score"])) for row in seats]
    assert found == [
        (row["match"], bot, rank, score)
        for row in told
        for bot, rank, score in zip(row["seats"], row["ranks"], row["scores"], strict=True)
    ]
    decisions = read(tables / "decisions.csv")
    assert {row["match"] for row in decisions} == {row["match"] for row in told}
    for row in decisions:
        assert row["choice"] == "" or json.loads(row["legal"])[int(row["choice"])] == json.loads(
            row["action"]
        )


def test_parquet_has_the_same_rows(tables: Path) -> None:
    """Both kinds of files hold the same, and Parquet keeps the types."""
    pq = pytest.importorskip("pyarrow.parquet")
    kinds: dict[str, type] = {"text": str, "json": str, "whole": int, "number": float, "truth": bool}
    for table in TABLES:
        rows: list[dict[str, Any]] = pq.read_table(tables / f"{table.name}.parquet").to_pylist()
        plain = read(tables / f"{table.name}.csv")
        assert len(rows) == len(plain) > 0
        for row, text in zip(rows, plain, strict=True):
            assert list(row) == list(text)
            for column in table.columns:
                value = row[column.name]
                assert (value is None) == (text[column.name] == ""), column.name
                if value is not None:
                    assert isinstance(value, kinds[column.kind])
                    written = str(value).lower() if isinstance(value, bool) else str(value)
                    assert written == text[column.name]


@pytest.mark.parametrize("game", ["aliens", "captains", "coasters", "sheets"])
def test_a_decision_is_what_the_seat_knew(game: str) -> None:
    """State, legal actions and choice of each row are those of the position before its line of the record."""
    path = GOLDEN / f"{game}.jsonl.gz"
    record = gzip.decompress(path.read_bytes())
    replay = Replay(record)
    key = replay.key or b""
    names = [str(seat) for seat in range(replay.header["players"])]
    rows = list(zip(*decisions_of([(record, key, "m", names)]), strict=True))
    before, at = replay.first, 0
    engine = load_game(game)
    for step in replay:
        if step.data["type"] == "act":
            row = dict(zip((column.name for column in TABLES[2].columns), rows[at], strict=True))
            seat = row["seat"]
            assert (row["n"], seat, row["ask"]) == (step.data["n"], step.data["seat"], step.data["ask"])
            assert json.loads(row["state"]) == json.loads(engine.view_json(before, seat))
            legal = [engine.action_json(action) for action in engine.legal(before, seat)]
            assert json.loads(row["legal"]) == legal
            assert row["choice"] is None or legal[row["choice"]] == json.loads(row["action"])
            assert (row["ms"], row["value"]) == (step.data.get("ms", [None])[0], step.data.get("value"))
            assert (row["how"] == "only") == ("auto" in step.data)
            at += 1
        before = step.state
    assert at == len(rows) > 0
    assert replay.summary is not None
    assert {(row[2], row[-2]) for row in rows} <= set(enumerate(replay.summary.ranks))


def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path) -> None:
    """What fails in the middle leaves the older file as it was, and nothing beside it."""
    path = tmp_path / "matches.csv"
    path.write_text("older")
    with pytest.raises(TypeError), table_file(path, TABLES[0], "csv") as writer:
        writer.write([(1,) * len(TABLES[0].columns), 2])  # type: ignore[list-item]
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_bad_requests_say_what_to_do(command: Command, played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options that do not go together, files that are there, and a missing package end with exit code 2."""
    code, _, err = command("export", played, "--decisions")
    assert (code, "add --format csv" in err) == (2, True)
    code, _, err = command("export", played, "--format", "csv", "--match", "1")
    assert (code, "tables are of all matches" in err) == (2, True)
    assert command("export", played, "--format", "csv")[0] == 0
    code, _, err = command("export", played, "--format", "csv")
    assert (code, "--force" in err) == (2, True)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = command("export", played, "--format", "parquet")
    assert (code, "warpleague[parquet]" in err) == (2, True)
    with (
        pytest.raises(BadInput, match="cannot be written"),
        table_file(Path("/dev/null/x"), TABLES[0], "csv"),
    ):
        pass
