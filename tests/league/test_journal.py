"""The journal of a store: what was deleted, replaced or slipped in is found; stores of the format before."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import warpleague.league.records
from warpleague.cli import main
from warpleague.errors import StoreError
from warpleague.league.config import load_config
from warpleague.league.league import open_to_read
from warpleague.league.records import altered, verify_league
from warpleague.league.running import run_league
from warpleague.league.store import Store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cup(write_league, open_league, fake, inline, tmp_path: Path):
    """A league of six matches, played; its file, and the file of its store."""
    path = write_league("a", "b")
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
    return path, tmp_path / "results" / "cup" / "league.sqlite"


def change(store: Path, *statements: str) -> None:
    """Do something to a store behind the back of the program."""
    with closing(sqlite3.connect(store)) as db, db:
        for statement in statements:
            db.execute(statement)


def to_format_2(store: Path) -> None:
    """Make a store as the format before had them."""
    change(
        store,
        "ALTER TABLE match DROP COLUMN held",
        "DROP TABLE held",
        "DROP TABLE journal",
        "DROP TABLE fact",
        "DELETE FROM meta WHERE key IN ('journal', 'committed')",
        "UPDATE meta SET value = '2' WHERE key = 'format'",
    )


def problems(path: Path, store: Path) -> list[str]:
    with open_to_read(load_config(path), store.parents[1]) as league:
        return [problem for _, _, problem in altered(league)]


SECOND = "(SELECT id FROM journal WHERE seq = 2)"
GONE = "was stored, but has been deleted from the store"
OTHER = "its row in the store is not the one that was stored"
ALIEN = "is in the store, but no run or merge put it there"


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ([], []),
        ([f"DELETE FROM match WHERE id = {SECOND}"], [GONE]),
        ([f"DELETE FROM match WHERE id = {SECOND}", f"DELETE FROM record WHERE id = {SECOND}"], [GONE]),
        (["DELETE FROM match"], [GONE] * 6),
        ([f"UPDATE match SET ranks = '[7,7]' WHERE id = {SECOND}"], [OTHER]),
        ([f"UPDATE match SET times = '[]' WHERE id = {SECOND}"], [OTHER]),
        ([f"UPDATE match SET stored = '2020-01-01' WHERE id = {SECOND}"], [OTHER]),
        ([f"UPDATE match SET id = 'other' WHERE id = {SECOND}"], [GONE, ALIEN]),
        (
            [f"DELETE FROM match WHERE id = {SECOND}", "DELETE FROM journal WHERE seq = 2"],
            ["1 entry missing in the journal, before 3"],
        ),
        (
            [
                "DELETE FROM match WHERE id = (SELECT id FROM journal WHERE seq = 6)",
                "DELETE FROM journal WHERE seq = 6",
            ],
            ["the journal ends with entry 5, but 6 had been written, or its end is altered"],
        ),
        (
            ["DELETE FROM journal", "DELETE FROM meta WHERE key = 'journal'"],
            [ALIEN] * 6,
        ),
        (
            ["UPDATE meta SET value = 'x' WHERE key = 'journal'"],
            ["the journal ends with entry 6, but 0 had been written, or its end is altered"],
        ),
        (
            ["UPDATE journal SET seq = 7 WHERE seq = 2", "UPDATE journal SET seq = 2 WHERE seq = 3"],
            [OTHER, "1 entry missing in the journal, before 4", OTHER],
        ),
    ],
)
def test_what_was_done_to_a_store_is_found(cup, statements: list[str], found: list[str]) -> None:
    """Matches deleted, replaced, renamed or slipped in are found, and so is a journal that was cut to hide it."""
    path, store = cup
    change(store, *statements)
    assert problems(path, store)[: len(found)] == found
    if not found:
        assert problems(path, store) == []


def test_a_deleted_match_that_is_played_again_is_found(cup, open_league, fake, inline) -> None:
    """A match that was taken out and played anew has two entries, which no honest store has."""
    path, store = cup
    change(store, f"DELETE FROM record WHERE id = {SECOND}", f"DELETE FROM match WHERE id = {SECOND}")
    with open_league(path) as league:
        assert run_league(league, executor=inline, play=fake.play).played == 1
    assert problems(path, store) == ["was stored more than once, so it had been deleted in between"]


def test_a_failed_commit_leaves_no_entry(cup, open_league, fake) -> None:
    """Match and entry are committed together or not at all."""
    path, store = cup
    with open_league(path) as league:
        fixture = next(iter(league.schedule))
        result = fake.play(league.season.spec(fixture.id, fixture.deal, fixture.seats))
        with pytest.raises(sqlite3.IntegrityError):
            league.store.add([(fixture, league.season.bots, result)])
    assert problems(path, store) == []


def test_a_merge_is_in_the_journal(cup, open_league, tmp_path: Path) -> None:
    """Matches taken over from another store have their entries as those played here."""
    path, store = cup
    with open_league(path, tmp_path / "two") as league:
        assert league.store.merge_from(store).added == 6
        assert league.store.journal() == 6
        assert league.store.alterations() == []


def test_verify_names_what_was_deleted(
    cup, capsys: pytest.CaptureFixture[str], inline_pool, monkeypatch
) -> None:
    """`league verify` says which match of the schedule is gone, and exits with 1; in JSON likewise."""
    path, store = cup
    monkeypatch.setattr(warpleague.league.records, "RefereePool", inline_pool)
    monkeypatch.setattr(warpleague.league.records, "problem_of", lambda *_: None)
    command = ["league", "verify", str(path), "--results", str(store.parents[1])]
    assert main(command) == 0
    assert (
        "Nothing was deleted from the store: it has all 6 matches of its journal." in capsys.readouterr().out
    )
    with closing(sqlite3.connect(store)) as db:
        match = db.execute("SELECT id FROM journal WHERE seq = 2").fetchone()[0]
    change(store, f"DELETE FROM match WHERE id = {SECOND}")
    assert main(command) == 1
    out = capsys.readouterr().out
    assert f"WRONG  match 3 ({match}): {GONE}" in out
    assert "5 of 5 records hold" in out
    assert main([*command, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["records"], told["journal"]) == (5, 6)
    assert told["wrong"] == [{"number": 3, "match": match, "problem": GONE}]


# Stores of the format before


HELD = {"level": "limits", "made_by": "resource limits", "kept": ["memory"], "pondering": "off"}


@pytest.fixture
def old(refereed, play_short):
    """A league of real matches in a store of the format before; its file, and the file of its store."""
    path, store = play_short(refereed(HELD))
    to_format_2(store)
    return path, store


def test_an_old_store_is_read_as_it_is(old) -> None:
    """A store of the format before can be looked at and verified, and not a byte of it changes."""
    path, store = old
    before = store.read_bytes()
    with open_to_read(load_config(path), store.parents[1]) as league:
        assert [problem for _, problem in verify_league(league)] == [None] * 6
        assert (league.store.held(), league.store.journal(), altered(league)) == ({}, None, [])
        assert league.store.count_held(league.schedule) == {None: 6}
    assert store.read_bytes() == before
    assert {file.name for file in store.parent.iterdir()} == {"league.sqlite", "league.lock", "league.toml"}


def test_an_old_store_is_brought_up_to_date_by_writing(old, open_league) -> None:
    """Opened to write, it learns from its records what held, and gets a journal; it verifies as a new one."""
    path, store = old
    open_league(path).store.close()
    with open_to_read(load_config(path), store.parents[1]) as league:
        assert [problem for _, problem in verify_league(league)] == [None] * 6
        ((number, count),) = league.store.count_held(league.schedule).items()
        assert (league.store.held()[number], count) == (HELD, 6)
        assert (league.store.journal(), altered(league)) == (6, [])


def test_an_old_store_can_be_merged(old, open_league, tmp_path: Path) -> None:
    """Matches taken over from a store of the format before tell what held all the same."""
    path, store = old
    with open_league(path, tmp_path / "two") as league:
        assert league.store.merge_from(store).added == 6
        ((number, count),) = league.store.count_held(league.schedule).items()
        assert (league.store.held()[number], count) == (HELD, 6)


def test_bringing_up_to_date_is_all_or_nothing(old, open_league, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies on the way leaves the old store, which the next one brings up to date."""
    path, store = old
    monkeypatch.setattr("warpleague.league.journal.begin", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        open_league(path)
    with open_to_read(load_config(path), store.parents[1]) as league:
        assert league.store.format == 2
    monkeypatch.undo()
    with Store.open_to_write(store.parent) as found:
        assert found.journal() == 6


@pytest.mark.parametrize("found", ["1", "5", "x"])
def test_a_store_of_a_strange_format_is_refused(cup, open_league, found: str) -> None:
    """What is older still, or newer, is refused with its format and what can be done."""
    path, store = cup
    change(store, f"UPDATE meta SET value = '{found}' WHERE key = 'format'")
    for opened in (lambda: open_league(path), lambda: open_to_read(load_config(path), store.parents[1])):
        with pytest.raises(
            StoreError, match=f"is of store format {found}; this warpleague reads formats 2 to 4"
        ):
            opened()
