"""The journal of a store: what was deleted, replaced or slipped in is found; stores of the format before."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from tests.league.conftest import Command, Cup, Refereed
from tests.league.inline import InlinePool, Trusting

from warpleague.cli import Tools, main
from warpleague.errors import BadInput, StoreError
from warpleague.league.play.verifying import altered, published_record, verify_league
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.season.fixture import SEAT_TIMES
from warpleague.league.store.journal import Head
from warpleague.match import zstd
from warpleague.match.chance import deal_key
from warpleague.match.replay import verify_record
from warpleague.match.spec import Confinement, MatchResult, MatchSpec
from warpline.codec import canonical


@pytest.fixture
def done(cup: Cup) -> tuple[Path, Path]:
    """A league of six matches, played; its file, and the file of its store."""
    return cup.play_once(cup.file("a", "b"), "done")


@pytest.fixture
def noted(cup: Cup) -> tuple[Path, Path]:
    """The same, and for each match it is noted how the bots were confined."""

    def play(spec: MatchSpec) -> MatchResult:
        return attrs.evolve(cup.fake.play(spec), confinement=Confinement(level="limits"))

    return cup.play_once(cup.file("a", "b"), "noted", play=play)


def change(store: Path, *statements: str) -> None:
    """Do something to a store behind the back of the program."""
    with closing(sqlite3.connect(store)) as db, db:
        for statement in statements:
            db.execute(statement)


def problems(path: Path, store: Path) -> list[str]:
    with open_to_read(load_config(path), store.parents[1]) as league:
        return [problem for _, _, problem in altered(league)]


MATCHES = "(SELECT row_number() OVER (ORDER BY seq) AS n, seq, id FROM journal WHERE id NOT LIKE 'fact-%')"
SECOND = f"(SELECT id FROM {MATCHES} WHERE n = 2)"
LAST = f"(SELECT id FROM {MATCHES} WHERE n = 6)"
GONE = "was stored, but has been deleted from the store"
OTHER = "its row or its record in the store is not the one that was stored"
ALIEN = "is in the store, but no run or merge put it there"


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ([], []),
        ([f"DELETE FROM match WHERE id = {SECOND}", f"DELETE FROM record WHERE id = {SECOND}"], [GONE]),
        (["DELETE FROM match", "DELETE FROM record"], [GONE] * 6),
        ([f"DELETE FROM match WHERE id = {SECOND}"], [GONE]),
        ([f"DELETE FROM record WHERE id = {SECOND}"], [OTHER]),
        *(
            ([f"UPDATE match SET {column} = '[7,7]' WHERE id = {SECOND}"], [OTHER])
            for column in ("why", "digest", "stored", "rival")
        ),
        *(
            (
                [
                    f"UPDATE seat SET {column} = {column} + 2 "
                    f"WHERE match = (SELECT key FROM match WHERE id = {SECOND})"
                ],
                found,
            )
            for column, found in (
                *((name, [OTHER]) for name in ("seat", "rank", "score", "faults", *SEAT_TIMES)),
                ("bot", [OTHER, "was stored before its bots had been entered"]),
            )
        ),
        ([f"DELETE FROM seat WHERE match = (SELECT key FROM match WHERE id = {SECOND})"], [OTHER]),
        ([f"UPDATE match SET number = 99 WHERE id = {SECOND}"], ["is not its number in the schedule"]),
        ([f"UPDATE match SET cluster = 99 WHERE id = {SECOND}"], ["is not its number in the schedule"]),
        ([f"UPDATE match SET number = NULL WHERE id = {SECOND}"], ["is not its number in the schedule"]),
        *(
            ([f"UPDATE match SET {column} = 77 WHERE id = {SECOND}"], [OTHER])
            for column in ("deal", "lines", "elapsed_s")
        ),
        ([f"UPDATE record SET size = 10 WHERE id = {SECOND}"], [OTHER]),
        ([f"UPDATE record SET size = -1 WHERE id = {SECOND}"], [OTHER]),
        ([f"UPDATE record SET zstd = zstd || x'00' WHERE id = {SECOND}"], [OTHER]),
        ([f"UPDATE record SET zstd = 'text' WHERE id = {SECOND}"], [OTHER]),
        (
            [f"UPDATE match SET id = 'other' WHERE id = {SECOND}", f"DELETE FROM record WHERE id = {SECOND}"],
            [GONE, ALIEN],
        ),
        (
            [f"DELETE FROM match WHERE id = {SECOND}", f"DELETE FROM journal WHERE id = {SECOND}"],
            ["1 entry missing in the journal, before 5"],
        ),
        (
            [f"DELETE FROM match WHERE id = {LAST}", f"DELETE FROM journal WHERE id = {LAST}"],
            ["entry missing in the journal, before"],
        ),
        (
            ["DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)"],
            ["but when it was written last it ended with"],
        ),
        (["UPDATE meta SET value = 'x' WHERE key = 'journal'"], ["when it was written last it ended with x"]),
        (["DELETE FROM journal", "DELETE FROM meta WHERE key = 'journal'"], [ALIEN] * 6),
        (["DELETE FROM journal"], ["the journal ends with nothing, but", *[ALIEN] * 6]),
        (
            [f"UPDATE journal SET row = '00' WHERE id = {SECOND}"],
            ["entry 4 of the journal is not the one that was written", OTHER],
        ),
        (
            ["UPDATE journal SET link = 'x' WHERE seq = 4"],
            ["entry 4 of the journal is not", "entry 5 of the"],
        ),
        (
            ["UPDATE journal SET seq = 77 WHERE seq = 4", "UPDATE journal SET seq = 4 WHERE seq = 5"],
            ["entry 4 of the journal is not", "1 entry missing in the journal, before 6"],
        ),
        (["DELETE FROM fact WHERE kind = 'entrants'"], ["is an event that has been deleted from the store"]),
        (["UPDATE fact SET said = '{}' WHERE kind = 'entrants'"], ["an event (entrants), is not the one"]),
        (
            ["UPDATE fact SET stored = '2001' WHERE kind = 'settled'"],
            ["an event (settled), is not the one"] * 2,
        ),
        (
            ["INSERT INTO fact VALUES ('fact-x', 'entrants', '{}', '2001')"],
            ["no command of ours put it there"],
        ),
        *(
            (
                [f"UPDATE meta SET value = '[1]' WHERE key = '{key}'"],
                [f"its {key} is not the one that was stored"],
            )
            for key in ("created", "committed", "published", "harness", "name", "skipped")
        ),
        (
            ["UPDATE meta SET value = '{}' WHERE key = 'config'"],
            ["its config is not the one that was stored"],
        ),
        (["DELETE FROM meta WHERE key = 'published'"], ["its published is not the one that was stored"]),
        (["INSERT INTO meta VALUES ('beacon', 'x')"], ["its beacon is not the one that was stored"]),
        (
            ["UPDATE meta SET value = replace(value, 'digest of a', 'digest of x') WHERE key = 'bots'"],
            ["its bots is not the one that was stored"],
        ),
        (['UPDATE confinement SET text = \'{"level":"none"}\''], [OTHER] * 6),
    ],
)
def test_what_was_done_to_a_store_is_found(
    noted: tuple[Path, Path], statements: list[str], found: list[str]
) -> None:
    """Matches deleted, replaced, renamed or slipped in are found, and so is a journal that was cut to hide it.

    So are records, and everything that is kept about the league as a whole.
    """
    path, store = noted
    change(store, *statements)
    told = problems(path, store)
    for problem in found:
        at = next((place for place, line in enumerate(told) if problem in line), None)
        assert at is not None, (problem, told)
        del told[at]
    if not found:
        assert told == []


def test_who_has_an_old_head_finds_what_was_rewritten(done: tuple[Path, Path], cup: Cup) -> None:
    """Every head that the journal ever had is found in it. A journal that was cut, or made anew, has it no more."""
    path, store = done
    with closing(sqlite3.connect(store)) as db:
        heads = [Head(seq, link) for seq, link in db.execute("SELECT seq, link FROM journal")]
    with open_to_read(load_config(path), store.parents[1]) as league:
        assert league.store.head() == heads[-1]
        assert altered(league, [*heads, Head(0, b"")]) == []
        strange = Head(3, heads[1].link)
        assert [problem for _, _, problem in altered(league, [strange, heads[4]])] == [
            f"its journal does not go back to the head {strange}: what was stored then has been deleted or replaced"
        ]
    last = heads[-2]
    change(
        store,
        f"DELETE FROM record WHERE id = {LAST}",
        f"DELETE FROM match WHERE id = {LAST}",
        f"DELETE FROM journal WHERE seq >= (SELECT seq FROM journal WHERE id = {LAST})",
        "DELETE FROM fact WHERE id NOT IN (SELECT id FROM journal)",
        "DELETE FROM meta WHERE key = 'published'",
    )
    with closing(sqlite3.connect(store)) as db, db:
        cut = Head(*db.execute("SELECT seq, link FROM journal ORDER BY seq DESC LIMIT 1").fetchone())
        db.execute("UPDATE meta SET value = ? WHERE key = 'journal'", (str(cut),))
    # Nothing in the store tells of it, nor would anything after the match was played again; an old head does.
    assert problems(path, store) == []
    with cup.open(path) as league:
        other = cup.run(league, play=lambda spec: attrs.evolve(cup.fake.play(spec), elapsed_s=9.0))
        assert other.played == 1
        assert altered(league, heads[: cut.count]) == []
        assert [problem for _, _, problem in altered(league, [last])] != []


@pytest.mark.parametrize("text", ["", "7", "7-", "x-00", "7-" + "0" * 63, "-1-" + "0" * 64, "0-" + "0" * 64])
def test_what_is_no_head_is_refused(text: str) -> None:
    """A head is a count and a link; the one of an empty journal is `0-`."""
    assert str(Head.parse("0-")) == "0-"
    with pytest.raises(BadInput, match="is not the head of a journal"):
        Head.parse(text)


def test_a_cut_journal_is_told_for_ever(done: tuple[Path, Path], cup: Cup) -> None:
    """A run goes on with a journal that ends where it should not, but what was found stays in it."""
    path, store = done
    change(store, "DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)")
    for _ in range(2):
        with cup.open(path) as league:
            cup.run(league)
            (problem,) = [text for text in (line for _, _, line in altered(league)) if "had been cut" in text]
    assert problem.startswith("before entry ")


def test_a_deleted_match_that_is_played_again_is_found(done: tuple[Path, Path], cup: Cup) -> None:
    """A match that was taken out and played anew has two entries, which no honest store has."""
    path, store = done
    change(store, f"DELETE FROM record WHERE id = {SECOND}", f"DELETE FROM match WHERE id = {SECOND}")
    with cup.open(path) as league:
        assert cup.run(league).played == 1
    assert problems(path, store) == ["was stored more than once, so it had been deleted in between"]


def test_a_failed_commit_leaves_no_entry(done: tuple[Path, Path], cup: Cup) -> None:
    """Match and entry are committed together or not at all."""
    path, store = done
    with cup.open(path) as league:
        fixture = next(iter(league.schedule))
        result = cup.fake.play(league.season.spec(fixture.id, fixture.deal, fixture.seats))
        with pytest.raises(sqlite3.IntegrityError):
            league.store.add([(fixture, league.season.bots, result)])
    assert problems(path, store) == []


def test_a_merge_is_in_the_journal(refereed: Refereed, cup: Cup, tmp_path: Path) -> None:
    """Matches taken over from another store have their entries as those played here, and so has the merge."""
    path, store = cup.play_short(refereed())
    with cup.open(path, tmp_path / "two") as league:
        before = league.store.journal()
        assert cup.take_over(league, store).added == 6
        assert league.store.journal() == before + 7
        assert league.store.alterations() == []


def test_verify_names_what_was_deleted(done: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """`league verify` says which match of the schedule is gone, and exits with 1; in JSON likewise."""
    path, store = done
    command = ["league", "verify", str(path), "--results", str(store.parents[1])]
    assert main(command, Tools(new_pool=Trusting)) == 0
    assert (
        "Nothing was deleted from the store: it has all 6 matches of its journal." in capsys.readouterr().out
    )
    with closing(sqlite3.connect(store)) as db:
        match = db.execute(f"SELECT {SECOND}").fetchone()[0]
    change(store, f"DELETE FROM match WHERE id = {SECOND}")
    assert main(command, Tools(new_pool=Trusting)) == 1
    out = capsys.readouterr().out
    assert f"WRONG  match 3 ({match}): {GONE}" in out
    assert "5 of 5 records hold" in out
    assert main([*command, "--json"], Tools(new_pool=Trusting)) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["records"], told["journal"]) == (5, 9)
    assert told["wrong"] == [{"number": 3, "match": match, "problem": GONE}]


@pytest.mark.parametrize("found", ["7", "11", "x", "", "\x1b[31m"])
def test_a_store_of_a_strange_format_is_refused(done: tuple[Path, Path], cup: Cup, found: str) -> None:
    """What is older, or newer, is refused with its format and what can be done."""
    path, store = done
    change(store, f"UPDATE meta SET value = '{found}' WHERE key = 'format'")
    told = (
        re.escape(f"is of store format {found}; this warpleague reads 10") + ".* Give the league another name"
    )
    for opened in (cup.open, cup.read):
        with pytest.raises(StoreError, match=told):
            opened(path)


# Records of real matches in a league: exported, completed with their keys, executed again.


OF_MATCH = "WHERE match = (SELECT key FROM match WHERE id = ?)"


@pytest.fixture
def real(refereed: Refereed, cup: Cup) -> tuple[Path, Path]:
    """A league of six real matches, played; its file, and the file of its store."""
    return cup.play_short(refereed(), extra="[rules]\nlevel = 'none'")


def replayed(path: Path, tmp_path: Path) -> list[str | None]:
    with open_to_read(load_config(path), tmp_path / "results") as league:
        return [problem for _, problem in verify_league(league, new_pool=InlinePool)]


def test_good_records_hold(real: tuple[Path, Path], tmp_path: Path) -> None:
    """Every record of a league that nobody touched holds, in schedule order."""
    assert replayed(real[0], tmp_path) == [None] * 6


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
    first, *others = replayed(path, tmp_path)
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
    found = [problem for problem in replayed(path, tmp_path) if problem is not None]
    assert len(found) == 1
    assert "line " in found[0]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("rank", value) for value in ("", "x", b"x", b"\xff\xfe", -1e13, float("inf"))),
        *(("score", "x"), ("score", float("inf")), ("faults", "x"), ("faults", -1e13), ("wall_ms", "x")),
        ("wall_ms", -1e13),
    ],
)
def test_a_row_that_is_none_is_told(
    real: tuple[Path, Path], tmp_path: Path, column: str, value: object
) -> None:
    """Values that cannot be those of a match are refused with the match's id, by every look."""
    path, store = real
    with sqlite3.connect(store) as db:
        match = db.execute("SELECT id FROM match LIMIT 1").fetchone()[0]
        db.execute(f"UPDATE seat SET {column} = ? {OF_MATCH}", (value, match))
    db.close()
    told = f"the store is damaged: match {match}"
    assert [told in (problem or "") for problem in replayed(path, tmp_path)].count(True) == 1
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


def test_verifying_takes_no_look_at_the_matches_to_come(real: tuple[Path, Path], command: Command) -> None:
    """With two million matches more in the schedule it is as quick: it looks at those that are stored."""
    path, _ = real
    longer, changed = re.subn(r"deals = \d+", "deals = 1_000_000", path.read_text("utf-8"))
    assert changed
    path.write_text(longer, "utf-8")
    for words in ((), ("--sample", "2")):
        code, out, err = command("verify", path, *words)
        assert code == 0, out + err
        assert "holds" in out or "hold:" in out


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


def test_keys_are_published_when_the_season_is_over(
    real: tuple[Path, Path], refereed: Refereed, cup: Cup
) -> None:
    """While a season goes on its records keep their keys to themselves; afterwards they tell and still verify."""
    with open_to_read(load_config(real[0]), cup.results) as league:
        for fixture, _ in league.results():
            assert json.loads(league.store.record(fixture.id).split(b"\n")[0])["key"] is None
            record = published_record(league, fixture.id, fixture.deal)
            assert (
                json.loads(record.split(b"\n")[0])["key"]
                == deal_key(league.season.secret, fixture.deal).hex()
            )
            assert verify_record(record).chance == "key"
    with cup.open(cup.file("a", "b", name="young")) as league:
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
