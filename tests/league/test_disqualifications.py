"""Bots disqualified and reinstated: what is still played, what counts, and that nothing of the past is edited."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.league.conftest import Command, Cup, MakeSeason, Refereed
from tests.league.inline import Trusting

from warpleague.errors import BadInput, StoreError
from warpleague.league.play.organising import disqualify, reinstate
from warpleague.league.play.verifying import altered
from warpleague.league.results.standings import standings
from warpleague.league.schedule.schedule import Schedule
from warpleague.league.season.config import load_config
from warpleague.league.store.disqualifications import KINDS

REASON = "it is a copy of anna"


class Half(Cup):
    """A league of three bots, 18 matches in all, of which a part is played."""

    def half(self, matches: int) -> Path:
        """Play the first `matches`; the league's file."""
        path = self.file("anna", "bert", "cleo", game=self.short)
        with self.open(path) as league:
            for fixture, _ in zip(league.schedule, range(matches), strict=False):
                spec = league.season.spec(fixture.id, fixture.deal, fixture.seats)
                league.store.add([(fixture, spec.seats, self.fake.play(spec))])
        return path

    def go_on(self, path: Path) -> Any:
        """Run the league."""
        with self.open(path) as league:
            return self.run(league), league.store.published()


@pytest.fixture
def cup(fake: ModuleType, tmp_path: Path, kept_leagues: Path) -> Half:
    return Half(tmp_path, fake, kept_leagues)


@pytest.mark.parametrize("rule", ["stay", "out"])
def test_no_further_match_of_it_is_played(cup: Half, rule: Any) -> None:
    """Only matches without the bot are left; with them the season ends, and its secret is public."""
    path = cup.half(7)
    with cup.read(path) as league:
        before = {fixture.id for fixture, _ in league.stored()}
        rest = {fixture.id for fixture in league.schedule if 1 not in fixture.seats}
        kept = {fixture.id for fixture, _ in league.stored() if 1 in fixture.seats}
    assert kept
    disqualify(load_config(path), cup.results, "bert", REASON, rule)
    report, published = cup.go_on(path)
    assert report.complete
    assert published is not None
    assert report.played == len(rest - before)
    assert report.total == len(rest) + len(kept) * (rule == "stay")
    with cup.read(path) as league:
        assert {fixture.id for fixture, _ in league.stored()} == before | rest
        counted = {fixture.id for fixture, _ in league.results()}
        assert counted == (rest | kept if rule == "stay" else rest)
        assert altered(league) == []
    assert cup.go_on(path)[0].played == 0


def test_it_comes_last_without_a_rank(cup: Half) -> None:
    """However well it did, the table ends with it; the others are ranked among themselves, and likelihoods too."""
    path = cup.half(0)
    cup.go_on(path)
    with cup.read(path) as league:
        best = standings(league).lines[0]
    disqualify(load_config(path), cup.results, best.bot, REASON, "stay")
    with cup.read(path) as league:
        table = standings(league)
        assert [line.rank for line in table.lines] == [1, 2, None]
        last = table.lines[-1]
        assert (last.bot, last.record, last.elo) == (best.bot, best.record, best.elo)
        assert last.disqualified is not None
        assert (last.disqualified.reason, table.lines[1].likelihood) == (REASON, None)
    disqualify(load_config(path), cup.results, best.bot, REASON, "out")
    with cup.read(path) as league:
        table = standings(league)
        assert [line.rank for line in table.lines] in ([1, 2, None], [1, 1, None])
        assert [line.record.played for line in table.lines] == [6, 6, 0]


def test_reinstated_it_plays_on(cup: Half) -> None:
    """The last entry about a bot holds, the earlier ones stay: reinstated, it plays what was left, and all counts."""
    path = cup.half(7)
    disqualify(load_config(path), cup.results, "bert", REASON, "stay")
    disqualify(load_config(path), cup.results, "bert", "worse than a copy", "out")
    with cup.read(path) as league:
        (found,) = league.disqualified
        assert (found.reason, found.results) == ("worse than a copy", "out")
    cup.go_on(path)
    reinstate(load_config(path), cup.results, "bert", "it was no copy")
    report, _ = cup.go_on(path)
    assert (report.total, report.complete) == (18, True)
    assert report.played > 0
    with cup.read(path) as league:
        assert len(list(league.results())) == 18
        assert league.disqualified == ()
        kinds = [event.kind for event in league.store.events(*KINDS)]
        assert kinds == ["disqualified", "disqualified", "reinstated"]
        assert league.store.journal() == 18 + len(league.store.events())
        assert altered(league) == []


def test_a_new_version_stays_disqualified(cup: Half) -> None:
    """The bot is meant by its name, whatever is in its folder."""
    path = cup.half(0)
    disqualify(load_config(path), cup.results, "bert", REASON, "stay")
    (path.parent / "bots" / "bert" / "digest").write_text("another version")
    report, _ = cup.go_on(path)
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
def test_what_cannot_be_entered_is_refused(cup: Half, bot: Any, reason: str, text: str) -> None:
    """A name that is none gets the nearest; a reason fits a line; nothing is entered."""
    path = cup.half(1)
    with pytest.raises(BadInput) as caught:
        disqualify(load_config(path), cup.results, bot, reason, "stay")
    assert text in str(caught.value)
    with pytest.raises(BadInput, match="no bot of this league is disqualified"):
        reinstate(load_config(path), cup.results, "bert", REASON)
    with cup.read(path) as league:
        assert league.store.events(*KINDS) == []


def test_a_league_that_runs_or_never_ran_is_told(cup: Half) -> None:
    """Where there is no store none is made; while a run goes on, it says so."""
    config = load_config(cup.file("anna", "bert"))
    with pytest.raises(StoreError, match="nothing has been played yet"):
        disqualify(config, cup.results, "bert", REASON, "stay")
    assert not cup.results.exists()
    with cup.open(config.path), pytest.raises(StoreError, match="is being run already"):
        disqualify(config, cup.results, "bert", REASON, "stay")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "DELETE FROM fact WHERE kind = 'disqualified'",
            "entry 6 of the journal is an event that has been deleted from the store",
        ),
        (
            "UPDATE fact SET said = replace(said, 'copy', 'friend')",
            "entry 6 of the journal, an event (disqualified), is not the one that was stored",
        ),
        (
            "DELETE FROM journal WHERE seq = 6",
            "an event (disqualified) is in the store, but no command of ours put it there",
        ),
        (
            "INSERT INTO fact VALUES ('fact-x', 'disqualified', '{}', '2026')",
            "an event (disqualified) is in the store, but no command of ours put it there",
        ),
    ],
)
def test_altered_decisions_are_found(cup: Half, statement: str, found: str) -> None:
    """A decision that was taken out, changed or slipped in is found like a match."""
    path = cup.half(3)
    disqualify(load_config(path), cup.results, "bert", REASON, "stay")
    with cup.altered() as db:
        db.execute(statement)
    with cup.read(path) as league:
        problems = [problem for _, _, problem in altered(league)]
    assert found in problems


def test_matches_taken_over_count_by_the_rule_here(cup: Half, refereed: Refereed) -> None:
    """A merge brings in matches of a disqualified bot, which are stored and verify, but the rule here decides."""
    path = cup.half(3)
    disqualify(load_config(path), cup.results, "bert", REASON, "out")
    cup.play(path, cup.results.parent / "other", play=refereed())
    with cup.open(path) as league:
        assert cup.take_over(league, cup.results.parent / "other" / "cup").added == 15
    with cup.read(path) as league:
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


def test_the_reason_is_shown(command: Command, cup: Half) -> None:
    """Standings, status, the remarks of a run and the site tell who is disqualified, why, and the rule."""
    path = cup.half(7)
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
    lines = json.loads(command("standings", path, "--json")[1])["standings"]
    assert [line["rank"] for line in lines] == [1, 2, None]
    assert [line["disqualified"] and line["disqualified"]["bot"] for line in lines] == [None, None, "bert"]
    assert command("report", path, "--replays", "none")[0] == 0
    assert told in (cup.results / "cup" / "report" / "index.html").read_text("utf-8")
    code, out, _ = command("verify", path)
    assert code == 0
    assert "matches and 1 decision of its journal" in out


def test_matches_tell_what_does_not_count(command: Command, cup: Half) -> None:
    """A match with a disqualified bot is listed as not played, or taken out, with the name; and so in JSON."""
    path = cup.half(7)
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


def test_a_league_with_nothing_left_is_over(command: Command, cup: Half) -> None:
    """Where all matches are those of disqualified bots, a run ends the season without a match, and says so."""
    path = cup.half(0)
    for bot in ("anna", "bert"):
        assert command("disqualify", path, bot, "--reason", REASON, "--its-results", "out")[0] == 0
    code, out, _ = command("run", path)
    assert code == 0
    assert "0 matches played" in out
    assert json.loads(command("status", path, "--json")[1])["published"] is not None
