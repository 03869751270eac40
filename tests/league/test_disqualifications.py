"""Bots disqualified and reinstated: what is still played, what counts, and that nothing of the past is edited."""

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.league.conftest import Command, MakeSeason, OpenLeague, Refereed, TakeOver, WriteLeague
from tests.league.inline import Trusting

from warpleague.errors import BadInput, StoreError
from warpleague.league.play.running import run_league
from warpleague.league.results.league import League, open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.schedule.schedule import Schedule
from warpleague.league.season.config import load_config
from warpleague.league.store.disqualifications import KINDS
from warpleague.league.upkeep.organising import disqualify, reinstate
from warpleague.league.upkeep.verifying import altered

REASON = "it is a copy of anna"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def opened(results: Path) -> Callable[[Path], League]:
    """Opens a league to read."""
    return lambda path: open_to_read(load_config(path), results)


@pytest.fixture
def half(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, results: Path
) -> Callable[[int], Path]:
    """Plays the first `matches` of a league of three bots, 18 matches in all; gives its file."""

    def play(matches: int) -> Path:
        path = write_league("anna", "bert", "cleo")
        with open_league(path) as league:
            for fixture, _ in zip(league.schedule, range(matches), strict=False):
                spec = league.season.spec(fixture.id, fixture.deal, fixture.seats)
                league.store.add([(fixture, spec.seats, fake.play(spec))])
        return path

    return play


@pytest.fixture
def go_on(open_league: OpenLeague, fake: ModuleType, inline: Executor) -> Callable[[Path], Any]:
    """Runs a league."""

    def run(path: Path) -> Any:
        with open_league(path) as league:
            return run_league(league, executor=inline, play=fake.play), league.store.published()

    return run


@pytest.mark.parametrize("rule", ["stay", "out"])
def test_no_further_match_of_it_is_played(
    half: Callable[[int], Path],
    go_on: Callable[[Path], Any],
    opened: Callable[[Path], League],
    results: Path,
    rule: Any,
) -> None:
    """Only matches without the bot are left; with them the season ends, and its secret is public."""
    path = half(7)
    with opened(path) as league:
        before = {fixture.id for fixture, _ in league.stored()}
        rest = {fixture.id for fixture in league.schedule if 1 not in fixture.seats}
        kept = {fixture.id for fixture, _ in league.stored() if 1 in fixture.seats}
    assert kept
    disqualify(load_config(path), results, "bert", REASON, rule)
    report, published = go_on(path)
    assert report.complete
    assert published is not None
    assert report.played == len(rest - before)
    assert report.total == len(rest) + len(kept) * (rule == "stay")
    with opened(path) as league:
        assert {fixture.id for fixture, _ in league.stored()} == before | rest
        counted = {fixture.id for fixture, _ in league.results()}
        assert counted == (rest | kept if rule == "stay" else rest)
        assert altered(league) == []
    assert go_on(path)[0].played == 0


def test_it_comes_last_without_a_rank(
    half: Callable[[int], Path], go_on: Callable[[Path], Any], opened: Callable[[Path], League], results: Path
) -> None:
    """However well it did, the table ends with it; the others are ranked among themselves, and likelihoods too."""
    path = half(0)
    go_on(path)
    with opened(path) as league:
        best = standings(league).lines[0]
    disqualify(load_config(path), results, best.bot, REASON, "stay")
    with opened(path) as league:
        table = standings(league)
        assert [line.rank for line in table.lines] == [1, 2, None]
        last = table.lines[-1]
        assert (last.bot, last.record, last.elo) == (best.bot, best.record, best.elo)
        assert last.disqualified is not None
        assert (last.disqualified.reason, table.lines[1].likelihood) == (REASON, None)
    disqualify(load_config(path), results, best.bot, REASON, "out")
    with opened(path) as league:
        table = standings(league)
        assert [line.rank for line in table.lines] in ([1, 2, None], [1, 1, None])
        assert [line.record.played for line in table.lines] == [6, 6, 0]


def test_reinstated_it_plays_on(
    half: Callable[[int], Path], go_on: Callable[[Path], Any], opened: Callable[[Path], League], results: Path
) -> None:
    """A further entry ends a disqualification: what was not played is, and all counts again."""
    path = half(7)
    disqualify(load_config(path), results, "bert", REASON, "out")
    go_on(path)
    reinstate(load_config(path), results, "bert", "it was no copy")
    report, _ = go_on(path)
    assert (report.total, report.complete) == (18, True)
    assert report.played > 0
    with opened(path) as league:
        assert len(list(league.results())) == 18
        assert league.disqualified == ()
        assert [fact.kind for fact in league.store.facts(*KINDS)] == ["disqualified", "reinstated"]
        assert league.store.journal() == 18 + len(league.store.facts())
        assert altered(league) == []


def test_a_decision_can_be_replaced(
    half: Callable[[int], Path], opened: Callable[[Path], League], results: Path
) -> None:
    """The last entry about a bot is what holds; the earlier one stays in the store."""
    path = half(3)
    disqualify(load_config(path), results, "bert", REASON, "stay")
    disqualify(load_config(path), results, "bert", "worse than a copy", "out")
    with opened(path) as league:
        (found,) = league.disqualified
        assert (found.reason, found.results) == ("worse than a copy", "out")
        assert len(league.store.facts(*KINDS)) == 2


def test_a_new_version_stays_disqualified(
    half: Callable[[int], Path], go_on: Callable[[Path], Any], opened: Callable[[Path], League], results: Path
) -> None:
    """The bot is meant by its name, whatever is in its folder."""
    path = half(0)
    disqualify(load_config(path), results, "bert", REASON, "stay")
    (path.parent / "bots" / "bert" / "digest").write_text("another version")
    report, _ = go_on(path)
    assert (report.total, report.played) == (6, 6)


@pytest.mark.parametrize(
    ("bot", "reason", "text"),
    [
        ("bart", REASON, "no bot is called 'bart'; did you mean 'bert'?"),
        ("bert", " ", "--reason: must be 1 to 500 printable characters"),
        ("bert", "two\nlines", "--reason: must be"),
        ("bert", "\x1b[2J", "--reason: must be"),
        ("bert", "x" * 501, "--reason: must be"),
    ],
)
def test_what_cannot_be_entered_is_refused(
    half: Callable[[int], Path],
    opened: Callable[[Path], League],
    results: Path,
    bot: Any,
    reason: str,
    text: str,
) -> None:
    """A name that is none gets the nearest; a reason fits a line; nothing is entered."""
    path = half(1)
    with pytest.raises(BadInput) as caught:
        disqualify(load_config(path), results, bot, reason, "stay")
    assert text in str(caught.value)
    with pytest.raises(BadInput, match="no bot of this league is disqualified"):
        reinstate(load_config(path), results, "bert", REASON)
    with opened(path) as league:
        assert league.store.facts(*KINDS) == []


def test_a_league_that_runs_or_never_ran_is_told(
    write_league: WriteLeague, open_league: OpenLeague, results: Path
) -> None:
    """Where there is no store none is made; while a run goes on, it says so."""
    config = load_config(write_league("anna", "bert"))
    with pytest.raises(StoreError, match="nothing has been played yet"):
        disqualify(config, results, "bert", REASON, "stay")
    assert not results.exists()
    with open_league(config.path), pytest.raises(StoreError, match="is being run already"):
        disqualify(config, results, "bert", REASON, "stay")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "DELETE FROM fact WHERE kind = 'disqualified'",
            "entry 6 of the journal is a fact that has been deleted from the store",
        ),
        (
            "UPDATE fact SET said = replace(said, 'copy', 'friend')",
            "entry 6 of the journal, a fact (disqualified), is not the one that was stored",
        ),
        (
            "DELETE FROM journal WHERE seq = 6",
            "a fact (disqualified) is in the store, but no command of ours put it there",
        ),
        (
            "INSERT INTO fact VALUES ('fact-x', 'disqualified', '{}', '2026')",
            "a fact (disqualified) is in the store, but no command of ours put it there",
        ),
    ],
)
def test_altered_decisions_are_found(
    half: Callable[[int], Path], opened: Callable[[Path], League], results: Path, statement: str, found: str
) -> None:
    """A decision that was taken out, changed or slipped in is found like a match."""
    path = half(3)
    disqualify(load_config(path), results, "bert", REASON, "stay")
    with closing(sqlite3.connect(results / "cup" / "league.sqlite")) as db, db:
        db.execute(statement)
    with opened(path) as league:
        problems = [problem for _, _, problem in altered(league)]
    assert found in problems


def test_matches_taken_over_count_by_the_rule_here(
    half: Callable[[int], Path],
    open_league: OpenLeague,
    refereed: Refereed,
    inline: Executor,
    results: Path,
    opened: Callable[[Path], League],
    take_over: TakeOver,
) -> None:
    """A merge brings in matches of a disqualified bot, which are stored and verify, but the rule here decides."""
    path = half(3)
    disqualify(load_config(path), results, "bert", REASON, "out")
    with open_league(path, results.parent / "other") as league:
        run_league(league, executor=inline, play=refereed())
    with open_league(path) as league:
        assert take_over(league, results.parent / "other" / "cup").added == 15
    with opened(path) as league:
        assert len(list(league.stored())) == 18
        assert len(list(league.results())) == 6
        assert altered(league) == []


@pytest.mark.parametrize(
    ("players", "form"),
    [
        (2, {}),
        (3, {"seats": "all"}),
        (3, {"tables": 4}),
        (2, {"dice": "own"}),
        (2, {"kind": "gauntlet"}),
        (3, {"kind": "gauntlet", "challengers": ("bot1", "bot3")}),
        (1, {}),
    ],
)
@pytest.mark.parametrize("without", [{0}, {1, 4}, set(range(6))])
def test_the_rest_of_a_schedule_keeps_its_numbers(
    make_season: MakeSeason, players: int, form: Any, without: Any
) -> None:
    """Without some bots a schedule is what it was, less their matches, and it knows how many these are."""
    schedule = Schedule(make_season(6, players, deals=2, **form))
    rest = schedule.without(frozenset(without))
    assert list(rest) == [fixture for fixture in schedule if without.isdisjoint(fixture.seats)]
    assert len(rest) == len(list(rest))


# Commands


@pytest.fixture
def tools(tools: dict[str, Any]) -> dict[str, Any]:
    """The stand-ins, whose records are not looked at."""
    return {**tools, "new_pool": Trusting}


def test_the_reason_is_shown(command: Command, half: Callable[[int], Path], results: Path) -> None:
    """Standings, status, the remarks of a run and the site tell who is disqualified, why, and the rule."""
    path = half(7)
    code, out, _ = command("disqualify", path, "bert", "--reason", REASON, "--its-results", "out")
    told = f"{REASON}. Its results are taken out."
    assert code == 0
    assert told in out
    code, out, err = command("run", path)
    assert code == 0
    assert told in out
    assert "note: bert is disqualified since" in err
    assert "6 of 6 stored" in out
    status = " ".join(command("status", path)[1].split())
    assert "6 of 6 played (100 %)" in status
    assert "taken out" in status
    data = json.loads(command("status", path, "--json")[1])
    assert (data["matches"], data["stored"], data["other"], data["complete"]) == (6, 6, 0, True)
    assert data["taken_out"] > 0
    assert data["disqualified"][0]["reason"] == REASON
    lines = json.loads(command("standings", path, "--json")[1])
    assert [line["rank"] for line in lines] == [1, 2, None]
    assert [line["disqualified"] and line["disqualified"]["bot"] for line in lines] == [None, None, "bert"]
    assert command("report", path, "--replays", "none")[0] == 0
    assert told in (results / "cup" / "report" / "index.html").read_text("utf-8")
    code, out, _ = command("verify", path)
    assert code == 0
    assert "matches and 1 decision of its journal" in out


def test_matches_tell_what_does_not_count(command: Command, half: Callable[[int], Path]) -> None:
    """A match with a disqualified bot is listed as not played, or taken out, with the name; and so in JSON."""
    path = half(7)
    command("disqualify", path, "bert", "--reason", REASON, "--its-results", "out")
    lines = [line for line in command("matches", path)[1].splitlines() if "bert" in line]
    assert len(lines) == 12
    for line in lines:
        assert line.endswith(("not played, bert disqualified", "taken out: bert disqualified"))
    rows = json.loads(command("matches", path, "--json")[1])
    assert [row["number"] for row in rows] == list(range(1, 19))
    for row in rows:
        assert ("disqualified" in row) == ("bert" in row["seats"])
        assert row.get("counts", False) is False
    exported = json.loads(command("export", path, "--json")[1])
    assert len(exported) == 7


def test_a_league_with_nothing_left_is_over(command: Command, half: Callable[[int], Path]) -> None:
    """Where all matches are those of disqualified bots, a run ends the season without a match, and says so."""
    path = half(0)
    for bot in ("anna", "bert"):
        assert command("disqualify", path, bot, "--reason", REASON, "--its-results", "out")[0] == 0
    code, out, _ = command("run", path)
    assert code == 0
    assert "0 matches played" in out
    assert json.loads(command("status", path, "--json")[1])["published"] is not None
