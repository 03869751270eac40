"""Every bot that comes with Warp League and searches keeps to any clock; `make clocks` tries them beside programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import MatchResult, MatchSpec, TimeControl
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.play import play_match

BOTS = Path(__file__).parents[2] / "bots"
TENTH = TimeControl(move_s=0.1, start_s=60.0)
TABLES: dict[str, tuple[list[str], dict[str, int]]] = {
    "aliens": (["opponents/aliens-5", "aliens-search"], {"max_turns": 2}),
    "captains": (["opponents/captains-5", "captains-planner"], {"max_rounds": 2}),
    "coasters": (["opponents/coasters-5", "coasters-hunter", "coasters-diplomat"], {"max_rounds": 2}),
    "sheets": (["opponents/sheets-5", "sheets-greedy"], {}),
}
"""Bots of each game, and options that make it short; `make clocks` plays every size of table."""
ANY = ["search-python", "search-python"]


def play(game_id: str, bots: list[str], chosen: dict[str, int], clock: TimeControl) -> MatchResult:
    """A short match of these bots."""
    game = load_game(game_id)
    seats = tuple(prepare(BOTS / bot, "limits").seat() for bot in bots)
    options = options_json(load_options(game, len(bots), chosen))
    return play_match(
        MatchSpec("clock", game.id, options, seats, match_key("clock"), clock=clock, level="limits")
    )


def decisions(result: MatchResult) -> list[dict[str, Any]]:
    """The decisions of a record that a bot was asked for."""
    lines = [json.loads(line) for line in result.record.splitlines()]
    return [line for line in lines if line["type"] == "act" and "ms" in line]


@pytest.mark.parametrize("name", TABLES)
def test_a_tenth_of_the_usual_clock_is_enough(name: str) -> None:
    """Nobody is too late."""
    result = play(name, *TABLES[name], TENTH)
    assert not any(result.faults)
    assert len(decisions(result)) > 3


def test_a_search_that_met_its_bound_says_so_in_its_note() -> None:
    """At a short clock notes name the bound, a fifth of the clock; at a long clock there is none."""
    short = {line.get("note") for line in decisions(play("aliens", ANY, {"max_turns": 1}, TENTH))}
    assert "stopped the search after 20 ms of processor time" in short
    bots = ["opponents/aliens-4", "aliens-greedy"]
    long = play("aliens", bots, {"max_turns": 2}, TimeControl(move_s=600.0, start_s=60.0))
    assert {line.get("note") for line in decisions(long)} == {None}
