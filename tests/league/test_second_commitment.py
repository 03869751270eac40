"""The second commitment of a season, to its entrants, and the beacon, which comes after both."""

import json
import sqlite3
from concurrent.futures import Executor
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from tests.league.conftest import Command, MakeSeason, OpenLeague, Refereed, WriteLeague
from tests.league.inline import InlinePool, Trusting

from warpleague.errors import BadInput, StoreError
from warpleague.league.play.entering import commit, open_to_run
from warpleague.league.play.running import run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.store.events import commitment_to
from warpleague.league.upkeep.verifying import altered, verify_league
from warpleague.match.chance import beacon_secret, deal_key
from warpline.codec import canonical

BEACON = '[season]\nbeacon = "the lottery of 5 December"'


def test_the_commitment_covers_all_that_is_open_to_choice(make_season: MakeSeason) -> None:
    """Names, contents, order, conditions and format change it; secret, versions and how bots are run do not."""
    season = make_season(3, 2)
    base = commitment_to(season)
    what: dict[str, Any] = {
        "bots": [[bot.bot, bot.digest] for bot in season.bots],
        "conditions": season.conditions,
        "format": {**attrs.asdict(season.format), "seeding": "order", "seating": 2},
    }
    for key in ("ratings", "until", "time_share"):
        del what["format"][key]
    assert base == sha256(canonical(json.loads(json.dumps(what)))).hexdigest()
    first, *rest = season.bots
    for changed in (
        attrs.evolve(season, bots=(attrs.evolve(first, bot="bot0 "), *rest)),
        attrs.evolve(season, bots=(attrs.evolve(first, digest="x"), *rest)),
        attrs.evolve(season, bots=(*rest, first)),
        attrs.evolve(season, bots=tuple(rest)),
        attrs.evolve(season, level="none"),
        attrs.evolve(season, options={"max_turns": 9}),
        attrs.evolve(season, awaits="something"),
        make_season(3, 2, deals=2),
        make_season(3, 2, seats="fixed"),
        make_season(3, 2, dice="own"),
        make_season(3, 2, kind="swiss", rounds=2, seeding="rating", ratings="season.toml"),
        attrs.evolve(season, seeds=("bot1", "bot0", "bot2")),
    ):
        assert commitment_to(changed) != base
    for same in (
        attrs.evolve(season, secret=b"t" * 32),
        attrs.evolve(season, bots=(attrs.evolve(first, version="9", run=("x",)), *rest)),
        attrs.evolve(season, beacon="7"),
    ):
        assert commitment_to(same) == base


def test_each_change_of_entrants_is_a_further_entry(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    inline: Executor,
    command: Command,
    tmp_path: Path,
) -> None:
    """The commitment is told before a match is played; the same entrants have one entry, others a further one."""
    path = write_league("a", "b", top="")
    code, out, err = command("run", path, "--json")
    assert code == 0
    first = json.loads(out)["entrants"]
    assert f"commitment to the entrants (SHA-256): {first}" in err
    command("run", path)
    status = json.loads(command("status", path, "--json")[1])
    assert ([line["commitment"] for line in status["entered"]], status["entrants"]) == ([first], first)
    path = write_league("a", "b", "late", top="")
    code, _, err = command("run", path)
    assert (code, "the entrants or the format have changed since" in err) == (0, True)
    status = json.loads(command("status", path, "--json")[1])
    assert [line["commitment"] for line in status["entered"]] == [first, status["entrants"]]
    assert first in command("status", path)[1]
    with open_to_read(load_config(path), tmp_path / "results") as league:
        assert status["entrants"] == commitment_to(league.season)
        assert altered(league) == []


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            "UPDATE fact SET said = replace(said, '\"a\"', '\"x\"') WHERE kind = 'entrants'",
            "was stored before its",
        ),
        (
            "UPDATE fact SET said = replace(said, '\"a\"', '\"x\"') WHERE kind = 'entrants'",
            "does not fit what it",
        ),
        ("UPDATE fact SET said = '{}' WHERE kind = 'entrants'", "does not fit what it says"),
    ],
)
def test_matches_of_bots_that_nobody_entered_are_told(
    write_league: WriteLeague,
    open_league: OpenLeague,
    fake: ModuleType,
    inline: Executor,
    tmp_path: Path,
    statement: str,
    problem: str,
) -> None:
    """A name that was altered in the entry of entrants fits neither its commitment nor the matches that follow."""
    path = write_league("a", "b")
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
    with closing(sqlite3.connect(tmp_path / "results" / "cup" / "league.sqlite")) as db, db:
        db.execute(statement)
    with open_to_read(load_config(path), tmp_path / "results") as league:
        assert any(problem in told for _, _, told in altered(league))


def test_a_beacon_comes_after_both_commitments(
    write_league: WriteLeague,
    refereed: Refereed,
    inline: Executor,
    fake: ModuleType,
    short: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is played before entrants are committed to and the value is known; then neither can change any more."""
    results = tmp_path / "results"

    def run(*bots: str, beacon: str | None = None, deals: int = 1) -> Any:
        path = write_league(*bots, deals=deals, game=short, extra=BEACON)
        return open_to_run(load_config(path), results, fake.prepare, beacon)

    for value in (None, "4 8 15"):
        with pytest.raises(StoreError, match="so commit to its entrants first"):
            run("a", "b", beacon=value)
    config = load_config(write_league("a", "b", deals=1, game=short, extra=BEACON))
    told = commit(config, results, with_entrants=True, prepare=fake.prepare)
    assert (len(told.entrants or ""), told.played) == (64, 0)
    with pytest.raises(StoreError, match=r"waits for its beacon .the lottery of 5 December."):
        run("a", "b")
    with pytest.raises(StoreError, match="so commit to its entrants first"):
        run("a", "renamed", beacon="4 8 15")
    with pytest.raises(BadInput, match="--beacon: must be 1 to"):
        run("a", "b", beacon="4\n8")
    with run("a", "b", beacon="4 8 15") as league:
        season = league.season
        for fixture in league.schedule:
            key = season.spec(fixture.id, fixture.deal, fixture.seats).key
            assert key == deal_key(beacon_secret(season.secret, "4 8 15"), fixture.deal)
        run_league(league, executor=inline, play=refereed())
    with run("a", "b") as league:
        assert league.season.beacon == "4 8 15"
        assert run_league(league, executor=inline, play=refereed()).played == 0
        assert [problem for _, problem in verify_league(league, new_pool=InlinePool)] == [None, None]
        assert altered(league) == []
    with pytest.raises(BadInput, match="is '4 8 15', not '4 8 16'; it cannot change"):
        run("a", "b", beacon="4 8 16")
    for bots, deals in ((("a", "b", "c"), 1), (("a", "renamed"), 1), (("a", "b"), 2)):
        with pytest.raises(StoreError, match="its bots and its format cannot change any more"):
            run(*bots, deals=deals)
        with pytest.raises(StoreError, match="its bots and its format cannot change any more"):
            commit(
                load_config(write_league(*bots, deals=deals, game=short, extra=BEACON)),
                results,
                with_entrants=True,
                prepare=fake.prepare,
            )


def test_a_beacon_is_settled_with_the_conditions(
    write_league: WriteLeague, fake: ModuleType, tmp_path: Path
) -> None:
    """Whether there is one, and which, cannot be chosen later; where the file names none, no value is taken."""
    path = write_league("a", "b")
    with pytest.raises(BadInput, match="the league file names no beacon"):
        open_to_run(load_config(path), tmp_path / "results", fake.prepare, "7")
    commit(load_config(path), tmp_path / "results")
    write_league("a", "b", extra=BEACON)
    with pytest.raises(StoreError, match='beacon: was not set, is now "the lottery of 5 December"'):
        commit(load_config(path), tmp_path / "results")


def test_the_dice_differ_with_the_beacon_and_ids_too(make_season: MakeSeason) -> None:
    """Another value gives other dice and other matches; without a beacon all is as it always was."""
    season = make_season(3, 2)
    one, two = (attrs.evolve(season, awaits="x", beacon=value) for value in ("1", "2"))
    deal = season.deal((0, 1), 0, 0)
    assert deal == one.deal((0, 1), 0, 0)
    assert len({found.key_of(deal) for found in (season, one, two)}) == 3
    assert len({found.match_id(deal, (0, 1)) for found in (season, one, two)}) == 3
    assert season.key_of(deal) == deal_key(season.secret, deal)
    pairs = [(bot.bot, bot.digest) for bot in season.bots[:2]]
    assert one.id_of(deal, pairs) == one.match_id(deal, (0, 1))


def test_an_old_receipt_is_checked_by_verify(
    command: Command,
    write_league: WriteLeague,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each run ends with a receipt; `verify --head` finds it, and exits with 1 once the store was cut before it."""
    path = write_league("a", "b")
    code, out, _ = command("run", path, "--quiet")
    assert code == 0
    (receipt,) = [line.split()[1] for line in out.splitlines() if line.startswith("Receipt:")]
    assert json.loads(command("status", path, "--json")[1])["head"] == receipt
    assert receipt in command("status", path)[1]
    code, out, _ = command("verify", path, "--head", receipt, new_pool=Trusting)
    assert (code, "It goes back to the head that was given." in out) == (0, True)
    strange = f"{receipt.split('-')[0]}-{'0' * 64}"
    code, out, _ = command("verify", path, "--head", receipt, "--head", strange, new_pool=Trusting)
    assert code == 1
    assert f"WRONG  the store: its journal does not go back to the head {strange}" in out
    code, _, err = command("verify", path, "--head", "nonsense")
    assert (code, "is not the head of a journal" in err) == (2, True)
