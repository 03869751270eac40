"""The journal of a store: what was deleted, replaced or slipped in is found; stores of the format before."""

import json
import re
import sqlite3
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from types import ModuleType

import attrs
import pytest
from tests.league.conftest import OpenLeague, PlayShort, Refereed, TakeOver, WriteLeague
from tests.league.inline import Trusting

from warpleague.cli import main
from warpleague.cli.tools import Tools
from warpleague.errors import BadInput, StoreError
from warpleague.league.play.running import run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.season.fixture import SEAT_TIMES
from warpleague.league.store.journal import Head
from warpleague.league.upkeep.verifying import altered
from warpleague.match.spec import Confinement


@pytest.fixture
def cup(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> tuple[Path, Path]:
    """A league of six matches, played; its file, and the file of its store."""
    path = write_league("a", "b")
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
    return path, tmp_path / "results" / "cup" / "league.sqlite"


@pytest.fixture
def noted(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> tuple[Path, Path]:
    """The same, and for each match it is noted how the bots were confined."""
    path = write_league("a", "b")
    with open_league(path) as league:
        run_league(
            league,
            executor=inline,
            play=lambda spec: attrs.evolve(fake.play(spec), confinement=Confinement(level="limits")),
        )
    return path, tmp_path / "results" / "cup" / "league.sqlite"


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
        (["DELETE FROM fact WHERE kind = 'entrants'"], ["is a fact that has been deleted from the store"]),
        (["UPDATE fact SET said = '{}' WHERE kind = 'entrants'"], ["a fact (entrants), is not the one"]),
        (
            ["UPDATE fact SET stored = '2001' WHERE kind = 'settled'"],
            ["a fact (settled), is not the one"] * 2,
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


def test_who_has_an_old_head_finds_what_was_rewritten(
    cup: tuple[Path, Path],
    open_league: OpenLeague,
    fake: ModuleType,
    inline: Executor,
) -> None:
    """Every head that the journal ever had is found in it. A journal that was cut, or made anew, has it no more."""
    path, store = cup
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
    with open_league(path) as league:
        other = run_league(
            league, executor=inline, play=lambda spec: attrs.evolve(fake.play(spec), elapsed_s=9.0)
        )
        assert other.played == 1
        assert altered(league, heads[: cut.count]) == []
        assert [problem for _, _, problem in altered(league, [last])] != []


@pytest.mark.parametrize(
    "text", ["", "7", "0-", "7-", "x-00", "7-" + "0" * 63, "-1-" + "0" * 64, "0-" + "0" * 64]
)
def test_what_is_no_head_is_refused(
    text: str, cup: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A head is a count and a link; the one of an empty journal is `0-`."""
    if text == "0-":
        assert str(Head.parse(text)) == text
        return
    with pytest.raises(BadInput, match="is not the head of a journal"):
        Head.parse(text)


def test_a_cut_journal_is_told_for_ever(
    cup: tuple[Path, Path], open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """A run goes on with a journal that ends where it should not, but what was found stays in it."""
    path, store = cup
    change(store, "DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)")
    for _ in range(2):
        with open_league(path) as league:
            run_league(league, executor=inline, play=fake.play)
            (problem,) = [text for text in (line for _, _, line in altered(league)) if "had been cut" in text]
    assert problem.startswith("before entry ")


def test_a_deleted_match_that_is_played_again_is_found(
    cup: tuple[Path, Path], open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """A match that was taken out and played anew has two entries, which no honest store has."""
    path, store = cup
    change(store, f"DELETE FROM record WHERE id = {SECOND}", f"DELETE FROM match WHERE id = {SECOND}")
    with open_league(path) as league:
        assert run_league(league, executor=inline, play=fake.play).played == 1
    assert problems(path, store) == ["was stored more than once, so it had been deleted in between"]


def test_a_failed_commit_leaves_no_entry(
    cup: tuple[Path, Path], open_league: OpenLeague, fake: ModuleType
) -> None:
    """Match and entry are committed together or not at all."""
    path, store = cup
    with open_league(path) as league:
        fixture = next(iter(league.schedule))
        result = fake.play(league.season.spec(fixture.id, fixture.deal, fixture.seats))
        with pytest.raises(sqlite3.IntegrityError):
            league.store.add([(fixture, league.season.bots, result)])
    assert problems(path, store) == []


def test_a_merge_is_in_the_journal(
    refereed: Refereed, play_short: PlayShort, open_league: OpenLeague, take_over: TakeOver, tmp_path: Path
) -> None:
    """Matches taken over from another store have their entries as those played here, and so has the merge."""
    path, store = play_short(refereed())
    with open_league(path, tmp_path / "two") as league:
        before = league.store.journal()
        assert take_over(league, store).added == 6
        assert league.store.journal() == before + 7
        assert league.store.alterations() == []


def test_verify_names_what_was_deleted(
    cup: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`league verify` says which match of the schedule is gone, and exits with 1; in JSON likewise."""
    path, store = cup
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


@pytest.mark.parametrize("found", ["6", "8", "x", "", "\x1b[31m"])
def test_a_store_of_a_strange_format_is_refused(
    cup: tuple[Path, Path], open_league: OpenLeague, found: str
) -> None:
    """What is older, or newer, is refused with its format and what can be done."""
    path, store = cup
    change(store, f"UPDATE meta SET value = '{found}' WHERE key = 'format'")
    for opened in (lambda: open_league(path), lambda: open_to_read(load_config(path), store.parents[1])):
        with pytest.raises(
            StoreError, match=re.escape(f"is of store format {found}; this warpleague reads 7")
        ):
            opened()
