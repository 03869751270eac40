"""Stores that may hold anything: another machine's, which is merged, and our own after somebody altered it."""

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.league.conftest import Cup, Refereed
from tests.league.inline import InlinePool

from warpleague.errors import StoreError
from warpleague.league.play.entering import commit
from warpleague.league.play.organising import mend, merge
from warpleague.league.play.verifying import altered, verify_league
from warpleague.league.results.league import League, open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.season.fixture import SEAT_TIMES
from warpleague.league.store.schema import UntrustedStore
from warpleague.match import zstd
from warpleague.match.scribe import digest_form, digest_of
from warpleague.match.spec import Confinement, MatchResult, MatchSpec
from warpleague.report.terminal.tables import VIEWS, LeagueView
from warpline.codec import canonical

EXAMPLES = int(os.environ.get("FUZZ_STORES", "12"))
"""Stores that each property is tried on; `make fuzz` asks for more."""

TABLES = {
    "meta": ("key", "value"),
    "bot": ("id", "name", "identity"),
    "confinement": ("id", "text"),
    "match": (
        *("key", "id", "number", "cluster", "deal", "rival", "why", "digest", "lines", "elapsed_s", "stored"),
        "confinement",
    ),
    "seat": ("match", "seat", "bot", "rank", "score", "faults", *SEAT_TIMES),
    "fault": ("match", "seat", "place", "kind", "n", "retired", "message"),
    "record": ("id", "size", "zstd"),
    "fact": ("id", "kind", "said", "stored"),
    "journal": ("seq", "id", "row", "link"),
}
CONFINED = Confinement(level="limits", made_by="resource limits", kept=("memory",), pondering="off")
_packed = zstd.compress

values = st.one_of(
    st.sampled_from(
        [
            *(0, -1, 7, 2**62, 1.5, 1e308, float("inf"), b"", b"\xff"),
            *("", "7", "abc", "null", "[]", "{}", "[1,2,3]"),
            *("[1e400]", "[NaN]", "[" * 5_000, "[[1]]", '["a",1]', "\x1b]0;x\x07", "\u202e", "a" * 70_000),
            *("2001-01-01T00:00:00+00:00", '{"kept":7}', '{"kept":[1]}', '[{"decisions":-5}]'),
            *(_packed(b""), _packed(b"x\ny\n"), _packed(b"[]\n" * 9), b"\x28\xb5\x2f\xfd\xe0" + b"\x00" * 9),
            b"\x28\xb5\x2f\xfd" + bytes([0xE0]) + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00",
        ]
    ),
    st.binary(max_size=30),
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.integers(-(2**63), 2**63 - 1),
)
"""What may stand in a column: of all types, and of the right one but senseless."""

columns = st.sampled_from([(table, column) for table, names in TABLES.items() for column in names])
changes = st.one_of(
    st.tuples(st.just("set"), columns, st.integers(0, 9), values),
    st.tuples(st.just("bad text"), columns, st.integers(0, 9), st.just(b"\xed\xa0\x80\xff")),
    st.tuples(st.just("delete"), columns, st.integers(0, 9), st.none()),
    st.tuples(st.just("swap"), columns, st.integers(0, 9), st.integers(0, 9)),
    st.tuples(
        st.just("run"),
        columns,
        st.just(0),
        st.sampled_from(
            [
                "CREATE VIEW x AS SELECT 1",
                "CREATE TRIGGER x AFTER INSERT ON match BEGIN DELETE FROM match; END",
                "CREATE INDEX x ON match (deal)",
                "ALTER TABLE match RENAME TO x",
                "ALTER TABLE match ADD COLUMN x",
                "ALTER TABLE record RENAME COLUMN zstd TO x",
                "DROP TABLE journal",
                "DELETE FROM record",
                "DELETE FROM match",
                "DELETE FROM meta WHERE key <> 'format'",
                "PRAGMA user_version = 7",
            ]
        ),
    ),
)
"""What may be done to a store, by its structure: what, where, to which row, with what."""


def apply(path: Path, change: tuple[str, tuple[str, str], int, Any]) -> None:
    what, (table, column), place, value = change
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        try:
            if what == "run":
                db.execute(value)
                return
            key = TABLES[table][0]
            count = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            if not count:
                return

            def of(place: int) -> str:
                return f"(SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {place % count})"

            if what == "set":
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = {of(place)}", (value,))
            elif what == "bad text":
                db.execute(
                    f"UPDATE {table} SET {column} = cast(? AS text) WHERE {key} = {of(place)}", (value,)
                )
            elif what == "delete":
                db.execute(f"DELETE FROM {table} WHERE {key} = {of(place)}")
            else:
                other = db.execute(f"SELECT {column} FROM {table} WHERE {key} = {of(value)}").fetchone()[0]
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = {of(place)}", (other,))
        except sqlite3.Error:
            pass  # SQLite itself does not allow it


PLAYED: dict[str, MatchResult] = {}
"""The matches of `base`, by id: every test has the same ones."""


@pytest.fixture
def base(cup: Cup, refereed: Refereed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A league of short matches: `whole` has been played, `part` in part, `theirs` elsewhere and in part."""
    path = cup.file("a", "b", deals=2, game=cup.short)
    referee = refereed(CONFINED)

    def play(spec: MatchSpec) -> MatchResult:
        if spec.id not in PLAYED:
            PLAYED[spec.id] = referee(spec)
        return PLAYED[spec.id]

    for name, some in (("whole", range(4)), ("part", range(1)), ("theirs", range(1, 3))):
        with cup.open(path, tmp_path / name) as league:
            if name == "whole":
                cup.run(league, play=play)
                continue
            for fixture in league.schedule:
                if fixture.number - 1 in some:
                    spec = league.season.spec(fixture.id, fixture.deal, fixture.seats)
                    league.store.add([(fixture, spec.seats, play(spec))])
    return path


def copy(base: Path, name: str) -> Path:
    """A fresh copy of one of the stores; its results folder."""
    target = base.parent / "copies" / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(base.parent / name, target)
    return target


def content(results: Path) -> list[str]:
    with closing(sqlite3.connect(results / "cup" / "league.sqlite")) as db:
        db.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        return list(db.iterdump())


@given(st.lists(changes, min_size=1, max_size=3), st.booleans())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_another_store_holds_ours_stays_good(base: Path, done: list[Any], trust: bool) -> None:
    """Merged or refused in one text: then nothing has changed; else all that was taken over holds.

    Our season's secret stays one.
    """
    ours, theirs = copy(base, "part"), copy(base, "theirs")
    for change in done:
        apply(theirs / "cup" / "league.sqlite", change)
    before = content(ours)
    refused: str | None = None
    try:
        (merged,) = merge(load_config(base), ours, [theirs / "cup"], trust=trust, new_pool=InlinePool)
    except StoreError as error:
        refused = str(error)
    if refused is not None:
        assert refused.startswith(str(theirs))
        assert content(ours) == before
        return
    assert merged.added <= 2
    with open_to_read(load_config(base), ours) as league:
        assert league.store.published() is None
        assert league.store.count() == 1 + merged.added
        if not trust:
            assert [problem for _, problem in verify_league(league, new_pool=InlinePool)] == [None] * (
                1 + merged.added
            )
        assert altered(league) == []
        look_at_all(league)


def views() -> list[LeagueView]:
    """What there is to see of a league without a bracket."""
    return [view for name, view in VIEWS.items() if name != "bracket"]


def look_at_all(league: League) -> None:
    for view in views():
        view.data(league)
        view.table(league, 80)


@given(st.lists(changes, min_size=1, max_size=3))
@example([("set", ("match", "number"), 1, "[")])
@example([("set", ("match", "number"), 1, 1 << 60)])
@example([("bad text", ("match", "id"), 0, b"\xed\xa0\x80\xff")])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_our_own_store_holds_it_is_told(base: Path, done: list[Any]) -> None:
    """Every look at a store that was altered works, or tells what is wrong in one text; `mend` helps where it can."""
    results, config = copy(base, "whole"), load_config(base)
    before = content(results)
    for change in done:
        apply(results / "cup" / "league.sqlite", change)
    changed = content(results) != before
    try:
        league = open_to_read(config, results)
    except StoreError:
        return  # the season cannot be told any more: nothing here could mend it
    with league:
        try:
            problems = [problem for _, problem in verify_league(league, new_pool=InlinePool) if problem]
            problems += [problem for _, _, problem in altered(league)]
        except StoreError:
            problems = ["events"]
        assert problems or not changed or whole(before, content(results))
        for view in views():
            try:
                view.data(league)
            except StoreError:
                assert problems
    try:
        mend(config, results, new_pool=InlinePool)
    except StoreError:
        return  # its events cannot be read
    with open_to_read(config, results) as league:
        assert [problem for _, problem in verify_league(league, new_pool=InlinePool) if problem] == []
        try:
            look_at_all(league)
        except StoreError as error:
            # What is kept about the league as a whole cannot be mended.
            told = str(error)
        else:
            told = f"{league.store.path}: is damaged: its "
        assert told.startswith(f"{league.store.path}: is damaged: its ")


def whole(before: list[str], after: list[str]) -> bool:
    """Whether only what means nothing has changed: which number a text about levels has, or one that nobody uses."""
    return [line for line in before if "journal" in line] == [line for line in after if "journal" in line]


@pytest.mark.parametrize("trust", [False, True])
def test_results_come_from_records(base: Path, trust: bool) -> None:
    """What the rows of another store say about a result does not matter, only the record does."""
    ours, theirs = copy(base, "part"), copy(base, "theirs")
    with closing(sqlite3.connect(theirs / "cup" / "league.sqlite")) as db, db:
        db.execute("UPDATE match SET why = 'x', elapsed_s = 1e300, confinement = NULL")
        db.execute("UPDATE seat SET rank = 1 + seat, score = 99 - 99 * seat")
        db.execute("UPDATE meta SET value = '2000-01-01T00:00:00+00:00' WHERE key = 'created'")
        db.execute("INSERT INTO meta VALUES ('published', '2000-01-01T00:00:00+00:00')")
    assert merge(load_config(base), ours, [theirs / "cup"], trust=trust, new_pool=InlinePool)[0].added == 2
    with open_to_read(load_config(base), ours) as league:
        assert [problem for _, problem in verify_league(league, new_pool=InlinePool)] == [None] * 3
        assert league.store.published() is None
        assert {found.made_by for found in league.store.confinements().values()} == {"resource limits"}


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (b'"seat":0', b'"seat":1', "line "),
        (b'"strikes":0', b'"strikes":1', "its header is that of another match: strikes: was"),
        (b'"start_s":10', b'"start_s":11', "its header is that of another match: clock.start_s: was"),
        (b'"bot":"a"', b'"bot":"c"', "its record is of another match, or its deal is another"),
        (b'"bot":"a"', b'"bot":"a\\u202e"', "the header: it was changed: not in canonical form"),
        (b'"n":1,', b'"n":2,', "line "),
    ],
)
def test_a_forged_record_stops_a_merge(
    base: Path, refereed: Refereed, old: bytes, new: bytes, text: str
) -> None:
    """A record of other bots, of other conditions, or with another move is refused with its match, sealed or not."""
    ours, theirs = copy(base, "part"), copy(base, "theirs")
    before = content(ours)
    with closing(sqlite3.connect(theirs / "cup" / "league.sqlite")) as db, db:
        match, packed = db.execute("SELECT id, zstd FROM record LIMIT 1").fetchone()
        record = zstd.decompress(packed, 1 << 28)
        body = b"".join(record.splitlines(keepends=True)[:-1]).replace(old, new, 1)
        body = fitting_digest(body)
        db.execute("UPDATE record SET size = ?, zstd = ? WHERE id = ?", (len(body), _packed(body), match))
    with pytest.raises(StoreError) as caught:
        merge(load_config(base), ours, [theirs / "cup"], new_pool=InlinePool)
    assert f"match {match}: " in str(caught.value)
    assert text in str(caught.value)
    assert content(ours) == before


def fitting_digest(body: bytes) -> bytes:
    """A record whose digest is made to fit, as whoever forges it would do; without a seal, which is optional."""
    *lines, end = [json.loads(line) for line in body.splitlines()]
    bare = {key: value for key, value in end.items() if key != "digest"}
    end["digest"] = digest_of([*map(digest_form, lines), digest_form(bare)])
    last = canonical(end) + b"\n"
    return b"".join([*body.splitlines(keepends=True)[:-1], last])


def test_several_stores_are_taken_over_together_or_not_at_all(base: Path) -> None:
    """If the second of two stores is bad, nothing of the first one is taken over either."""
    ours, good, bad = copy(base, "part"), copy(base, "theirs"), copy(base, "whole")
    apply(bad / "cup" / "league.sqlite", ("run", ("match", "id"), 0, "UPDATE record SET zstd = x'00'"))
    before = content(ours)
    with pytest.raises(StoreError, match="nothing was taken over"):
        merge(load_config(base), ours, [good / "cup", bad / "cup"], new_pool=InlinePool)
    assert content(ours) == before


def test_pages_that_lead_in_circles_end(base: Path) -> None:
    """A file whose tree of pages has the same leaves again and again is refused at once, not read for ever."""
    ours, theirs = copy(base, "part"), copy(base, "theirs")
    file = theirs / "cup" / "league.sqlite"
    with closing(sqlite3.connect(file)) as db:
        with db:
            row = db.execute("SELECT * FROM match LIMIT 1").fetchone()
            for n in range(4_000):
                new = (None, f"{n:020x}", None, None, *row[4:])
                db.execute(f"INSERT INTO match VALUES ({','.join('?' * len(new))})", new)
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'match_id'").fetchone()[0]
        size = db.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(file.read_bytes())
    page = (root - 1) * size
    assert data[page] == 2  # an inner page of a tree without row numbers
    cells = int.from_bytes(data[page + 3 : page + 5], "big")
    at = [page + int.from_bytes(data[page + 12 + 2 * n :][:2], "big") for n in range(cells)]
    for cell in at:
        data[cell : cell + 4] = data[at[0] : at[0] + 4]
    file.write_bytes(data)
    begun = time.process_time()
    with pytest.raises(
        StoreError, match=r"its pages lead in circles|cannot be used|no record|nothing was taken"
    ):
        merge(load_config(base), ours, [theirs / "cup"], new_pool=InlinePool)
    assert time.process_time() - begun < 60


@pytest.mark.parametrize("table", ["match", "record", "meta", "journal"])
@pytest.mark.parametrize("other", ["match", "record", "meta", "confinement"])
def test_what_is_wrong_with_another_store_is_told_of_that_store(base: Path, table: str, other: str) -> None:
    """A table whose pages are those of another one is damage of a stranger's file, not of our own."""
    ours, theirs = copy(base, "part"), copy(base, "theirs")
    with closing(sqlite3.connect(theirs / "cup" / "league.sqlite", isolation_level=None)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (other,)).fetchone()
        db.execute("PRAGMA writable_schema = 1")
        db.execute("UPDATE sqlite_master SET rootpage = ? WHERE name = ?", (root, table))
    before = content(ours)
    told = ""
    try:
        merge(load_config(base), ours, [theirs / "cup"], new_pool=InlinePool)
    except StoreError as error:
        told = str(error)
    assert not told or content(ours) == before
    assert told.startswith(str(theirs)) or (not told and table in (other, "journal"))


def test_of_another_leagues_conditions_some_are_told(base: Path) -> None:
    """However many differ, the refusal can be read, and no text in it begins a line of its own."""
    ours, theirs = copy(base, "part"), copy(base, "theirs")
    conditions = {f"{n}\nwarpleague: forged": "x" * 300 for n in range(2500)}
    with closing(sqlite3.connect(theirs / "cup" / "league.sqlite")) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'conditions'", (json.dumps(conditions),))
    with pytest.raises(StoreError, match=r"another league:\n(.*\n)+  and [\d,]+ more$") as caught:
        merge(load_config(base), ours, [theirs / "cup"], new_pool=InlinePool)
    assert len(str(caught.value)) < 10_000
    assert "\nwarpleague" not in str(caught.value)


def test_reading_has_a_limit_in_time(base: Path) -> None:
    """Where SQLite works on and on for one row, that is told."""
    store = copy(base, "theirs") / "cup" / "league.sqlite"
    with (
        pytest.raises(StoreError, match=r"interrupted|takes too long"),
        UntrustedStore(store, patience_s=-1.0, steps=1) as theirs,
    ):
        list(theirs.matches())


def test_mend_removes_what_does_not_hold_and_says_so(base: Path, cup: Cup, refereed: Refereed) -> None:
    """A damaged match is told with its id when it is read; `mend` removes it; its removal stays told."""
    results, config = copy(base, "whole"), load_config(base)
    with closing(sqlite3.connect(results / "cup" / "league.sqlite")) as db, db:
        match = db.execute("SELECT id FROM match LIMIT 1").fetchone()[0]
        db.execute(
            "UPDATE seat SET rank = 'garbage' WHERE match = (SELECT key FROM match WHERE id = ?)", (match,)
        )
    with open_to_read(config, results) as league, pytest.raises(StoreError, match=match):
        list(league.results())
    (removed,) = mend(config, results, new_pool=InlinePool)
    assert removed[0] == match
    assert mend(config, results, new_pool=InlinePool) == []
    with cup.open(base, results) as league:
        assert cup.run(league, play=refereed(CONFINED)).played == 1
        assert altered(league) == []
        (event,) = league.store.events("removed")
        assert event.details["match"] == match
        assert "ranks: " in event.details["problem"]


def test_nothing_is_mended_without_a_store(base: Path, tmp_path: Path) -> None:
    """Where nothing was played there is nothing to mend, and nothing is made."""
    with pytest.raises(StoreError, match="nothing has been played yet"):
        mend(load_config(base), tmp_path / "none")
    assert not (tmp_path / "none").exists()
    assert commit(load_config(base), tmp_path / "some").played == 0
