"""Matches that are void because the service of a bot failed, and the table of services."""

import json
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
from tests.league.conftest import OpenLeague, WriteLeague

from warpleague.league.play.running import run_league
from warpleague.league.results.faulted import services
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.match.spec import MatchResult, MatchSpec, SeatFault, SeatTimes
from warpleague.report.wording.columns import SERVICES, line_json

VOID = "[service]\nask_again = 2\nvoid = 2"


def failing(fake: ModuleType, times: int) -> Any:
    """Plays matches in which the service of `a` fails for good, in the first so many of its matches."""
    left = times

    def play(spec: MatchSpec) -> MatchResult:
        nonlocal left
        assert spec.failures == 2
        result: MatchResult = attrs.evolve(fake.play(spec), faults=((),) * len(spec.seats))
        names = [seat.bot for seat in spec.seats]
        if "a" not in names:
            return result
        seat = names.index("a")
        times = list(result.times)
        times[seat] = SeatTimes(5, 2.5, 2.0, 0.1, 1.0, 1, 100, 10, 0.5)
        faults = list(result.faults)
        if left:
            left -= 1
            faults[seat] = (SeatFault("service", 3, True, "its service failed: busy"),)
        return attrs.evolve(result, times=tuple(times), faults=tuple(faults))

    return play


def test_matches_are_void_within_the_limit_of_the_season(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """Two are void and tried again by the next run; the third is charged, also if it comes in another run."""
    path = write_league("a", "b", extra=VOID)
    with open_league(path) as league:
        report = run_league(league, executor=inline, play=failing(fake, 1))
        assert (report.played, len(report.void), report.complete) == (5, 1, False)
        assert "a: its service failed: busy (void match 1 of 2 allowed)" in report.void[0].error
    with open_league(path) as league:
        report = run_league(league, executor=inline, play=failing(fake, 1))
        assert (report.played, len(report.void)) == (0, 1)
    with open_league(path) as league:
        report = run_league(league, executor=inline, play=failing(fake, 1))
        assert (report.played, len(report.void), report.complete) == (1, 0, True)
    with open_to_read(load_config(path), tmp_path / "results") as league:
        (line,) = services(league)
        assert line_json(SERVICES, line) == {
            "bot": "a",
            "matches": 6,
            "failures": 6,
            "most_failures": 1,
            "void": 2,
            "input_tokens": 600,
            "output_tokens": 60,
            "cost": 3.0,
        }
        assert league.store.alterations() == []


def test_nothing_is_void_unless_the_league_says_so(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """The fault is charged, and the match counts."""
    path = write_league("a", "b", extra="[service]\nask_again = 2")
    with open_league(path) as league:
        report = run_league(league, executor=inline, play=failing(fake, 9))
        assert (report.played, len(report.void), report.complete) == (6, 0, True)


def test_the_table_of_services(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, league_cli: Any
) -> None:
    """`league services` prints it, as JSON too; there is none where no bot told of a service."""
    path = write_league("a", "b", extra=VOID)
    with open_league(path) as league:
        run_league(league, executor=inline, play=failing(fake, 0))
    code, out, _ = league_cli("services", path)
    assert (code, "Services that bots use" in out, "3.0000" in out) == (0, True, True)
    code, out, _ = league_cli("services", path, "--json")
    assert [line["bot"] for line in json.loads(out)] == ["a"]
