"""Records of real matches in a league: exported, completed with their keys, executed again."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.league.conftest import Command, OpenLeague, PlayShort, Refereed, WriteLeague
from tests.league.inline import InlinePool

from warpleague.cli import main
from warpleague.errors import BadInput, StoreError
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.upkeep.verifying import published_record, verify_league
from warpleague.match import zstd
from warpleague.match.chance import deal_key
from warpleague.match.replay import verify_record
from warpline.codec import canonical

OF_MATCH = "WHERE match = (SELECT key FROM match WHERE id = ?)"


@pytest.fixture
def real(refereed: Refereed, play_short: PlayShort) -> tuple[Path, Path]:
    """A league of six real matches, played; its file, and the file of its store."""
    return play_short(refereed(), extra="[rules]\nlevel = 'none'")


def problems(path: Path, tmp_path: Path) -> list[str | None]:
    with open_to_read(load_config(path), tmp_path / "results") as league:
        return [problem for _, problem in verify_league(league, new_pool=InlinePool)]


def test_good_records_hold(real: tuple[Path, Path], tmp_path: Path) -> None:
    """Every record of a league that nobody touched holds, in schedule order."""
    assert problems(real[0], tmp_path) == [None] * 6


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            "UPDATE seat SET rank = 2 WHERE match = (SELECT key FROM match WHERE id = ?)",
            "the result in the store is not the one of its record",
        ),
        (
            "UPDATE match SET digest = 'x' WHERE id = ?",
            "the result in the store is not the one of its record",
        ),
        (
            "UPDATE record SET (size, zstd) = (SELECT size, zstd FROM record WHERE id <> ?1 LIMIT 1) WHERE id = ?1",
            "its header is that of another match",
        ),
        (
            "INSERT INTO fault SELECT key, 0, 0, 'crash', 1, 1, '' FROM match WHERE id = ?; "
            "UPDATE seat SET faults = 1 WHERE seat = 0 AND match = (SELECT key FROM match WHERE id = ?)",
            "the faults in the store are not those of its record",
        ),
        (f"UPDATE seat SET faults = 7 {OF_MATCH}", "the store is damaged: match"),
        (f"UPDATE seat SET bot = 3 - bot {OF_MATCH}", "its bots are not those of its place in the schedule"),
        ("UPDATE record SET zstd = x'0102' WHERE id = ?", "is damaged"),
        ("DELETE FROM record WHERE id = ?", "holds no record of match"),
    ],
)
def test_a_store_that_was_changed_is_found(
    real: tuple[Path, Path], tmp_path: Path, statement: str, text: str
) -> None:
    """A result that is not its record's, or a record that is another match's, is named."""
    path, store = real
    with open_to_read(load_config(path), tmp_path / "results") as league:
        match = next(fixture.id for fixture, _ in league.results())
    with sqlite3.connect(store) as db:
        for one in statement.split("; "):
            db.execute(one, (match,))
    db.close()
    first, *others = problems(path, tmp_path)
    assert first is not None
    assert others == [None] * 5
    # A record of another deal fails on its dice already.
    assert text in first or "line" in first


def test_a_damaged_record_is_found(real: tuple[Path, Path], tmp_path: Path) -> None:
    """A changed byte inside a record is found and placed."""
    path, store = real
    with sqlite3.connect(store) as db:
        match, size, packed = db.execute("SELECT id, size, zstd FROM record LIMIT 1").fetchone()
        data = zstd.decompress(packed, size)
        changed = zstd.compress(data.replace(b'"seat":0', b'"seat":1', 1))
        db.execute("UPDATE record SET zstd = ? WHERE id = ?", (changed, match))
    db.close()
    found = [problem for problem in problems(path, tmp_path) if problem is not None]
    assert len(found) == 1
    assert "line " in found[0]


@pytest.mark.parametrize("column", ["rank", "score", "faults", "wall_ms"])
@pytest.mark.parametrize("value", ["", "x", b"x", None, -1e13, float("inf")])
def test_a_row_that_is_none_is_told(
    real: tuple[Path, Path], tmp_path: Path, column: str, value: object
) -> None:
    """Values that cannot be those of a match are refused with the match's id, by every look."""
    path, store = real
    with sqlite3.connect(store) as db:
        match = db.execute("SELECT id FROM match LIMIT 1").fetchone()[0]
        if value is None:
            value = b"\xff\xfe"
        db.execute(f"UPDATE seat SET {column} = ? {OF_MATCH}", (value, match))
    db.close()
    told = f"the store is damaged: match {match}"
    assert [told in (problem or "") for problem in problems(path, tmp_path)].count(True) == 1
    with (
        open_to_read(load_config(path), tmp_path / "results") as league,
        pytest.raises(StoreError, match=f"{told}: .*; warpleague league mend LEAGUE removes"),
    ):
        list(league.results())
    with (
        open_to_read(load_config(path), tmp_path / "results") as league,
        pytest.raises(StoreError, match=told),
    ):
        league.columns("times")


def test_a_sample_is_said_to_be_one(real: tuple[Path, Path], command: Command) -> None:
    """`--sample` executes so many matches again and says so; the same seed draws the same matches."""
    path, store = real
    whole = json.loads(command("verify", path, "--json")[1])
    assert (whole["records"], whole["sample"]) == (6, None)
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE seat SET rank = 3 - rank")
    drawn = [
        json.loads(command("verify", path, "--sample", "2", "--seed", seed, "--json")[1])
        for seed in ("a", "a", *"bcdefghi")
    ]
    assert {found["records"] for found in drawn} == {2}
    assert drawn[0]["sample"] == {"matches": 2, "of": 6, "seed": "a"}
    assert drawn[0] == drawn[1]
    numbers = [
        frozenset(row["number"] for row in found["wrong"] if "of its record" in row["problem"])
        for found in drawn
    ]
    assert {len(some) for some in numbers} == {2}
    assert len(set(numbers)) > 1
    assert frozenset().union(*numbers) == {*range(1, 7)}
    code, out, _ = command("verify", path, "--sample", "100")
    assert code == 1
    assert "Only a sample was verified: 6 of 6 matches, drawn at random with --seed " in out
    code, _, err = command("verify", path, "--seed", "a")
    assert code == 2
    assert "--sample N" in err


def test_a_file_with_broken_pages_is_told(real: tuple[Path, Path], tmp_path: Path) -> None:
    """A store whose pages were overwritten is refused in one text."""
    path, store = real
    data = store.read_bytes()
    store.write_bytes(data[:4096] + b"\x5a" * (len(data) - 4096))
    with pytest.raises(StoreError, match=r"league\.sqlite: cannot be used"):
        problems(path, tmp_path)


def test_keys_are_published_when_the_season_is_over(
    real: tuple[Path, Path],
    refereed: Refereed,
    open_league: OpenLeague,
    write_league: WriteLeague,
    tmp_path: Path,
) -> None:
    """While a season goes on its records keep their keys to themselves; afterwards they tell and still verify."""
    with open_to_read(load_config(real[0]), tmp_path / "results") as league:
        for fixture, _ in league.results():
            assert json.loads(league.store.record(fixture.id).split(b"\n")[0])["key"] is None
            record = published_record(league, fixture.id, fixture.deal)
            assert (
                json.loads(record.split(b"\n")[0])["key"]
                == deal_key(league.season.secret, fixture.deal).hex()
            )
            assert verify_record(record).chance == "key"
    with open_league(write_league("a", "b", name="young")) as league:
        fixture = next(iter(league.schedule))
        result = refereed()(league.season.spec(fixture.id, fixture.deal, fixture.seats))
        league.store.add([(fixture, league.season.bots, result)])
        record = published_record(league, fixture.id, fixture.deal)
        assert json.loads(record.split(b"\n")[0])["key"] is None


def test_export_overwrites_no_strangers_file(
    real: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exported again, the same record may replace itself, now with its key; any other file stays, but by force."""

    def export(*more: str) -> tuple[int, str, str]:
        results = str(tmp_path / "results")
        code = main(["league", "export", str(real[0]), "--results", results, "--match", "2", *more])
        return code, *capsys.readouterr()

    code, out, _ = export()
    assert code == 0
    file = Path(out.strip())
    whole = file.read_bytes()
    header, rest = whole.split(b"\n", 1)
    file.write_bytes(canonical({**json.loads(header), "key": None, "seed": None}) + b"\n" + rest)
    assert export()[0] == 0
    assert file.read_bytes() == whole
    for other in (
        whole.replace(b'"digest":"', b'"digest":"0'),
        b"mine",
        b"\xff\x00",
        b"{}\n[]\n",
        b"[" * 5000,
    ):
        file.write_bytes(other)
        code, out, err = export()
        assert (code, out) == (2, "")
        assert f"{file}: exists already" in err
        assert file.read_bytes() == other
    assert export("--force")[0] == 0
    assert file.read_bytes() == whole


def test_a_match_is_found_by_number_or_id(real: tuple[Path, Path], tmp_path: Path) -> None:
    """A match is named by its number in the schedule or by how its id begins; what names none is refused."""
    with open_to_read(load_config(real[0]), tmp_path / "results") as league:
        third = [fixture for fixture, _ in league.results()][2]
        beyond = next(digit for digit in "789" if not league.store.matching(digit))
        assert (
            league.find("3") == league.find(third.id) == league.find(third.id[:9]) == (third.id, third.deal)
        )
        for text in (beyond, "xyz", "", "0" * 30):
            with pytest.raises(BadInput, match="match of cup has an id that begins with"):
                league.find(text)
        with pytest.raises(BadInput, match=f"its matches are numbered 1 to {len(league.schedule)}"):
            league.find("0" * 30)


def test_a_league_of_other_rules_is_refused(real: tuple[Path, Path], tmp_path: Path) -> None:
    """A league that was played by other rules of its game, or with other records, is not mixed with those of today."""
    path, store = real
    with closing(sqlite3.connect(store)) as db, db:
        (text,) = db.execute("SELECT value FROM meta WHERE key = 'conditions'").fetchone()
        noted = json.dumps({**json.loads(text), "rules": 99, "record": 1})
        db.execute("UPDATE meta SET value = ? WHERE key = 'conditions'", (noted,))
    with pytest.raises(StoreError, match="record: was 1, is now 2\n  rules: was 99, is now"):
        open_to_read(load_config(path), tmp_path / "results")
