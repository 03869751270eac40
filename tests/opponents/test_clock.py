"""Every bot that comes with Warp League and searches keeps to any clock, beside other programs as well."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
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
USUAL = TimeControl(move_s=1.0, start_s=60.0)
TABLES = {
    "aliens": (["ladder/aliens-5", "aliens-search"], {"max_turns": 2}),
    "aliens 4": (["ladder/aliens-4", "aliens-greedy"], {"max_turns": 2}),
    "captains": (["ladder/captains-5", "captains-planner"], {"max_rounds": 2}),
    "captains 5": (["ladder/captains-5", "ladder/captains-4", *["ladder/captains-5"] * 3], {"max_rounds": 1}),
    "coasters": (["ladder/coasters-5", "coasters-hunter"], {"max_rounds": 3}),
    "coasters 10": (["ladder/coasters-5", "coasters-hunter", "coasters-diplomat", *["ladder/coasters-5"] * 7],
                    {"max_rounds": 1}),
    "sheets": (["ladder/sheets-5", "sheets-greedy"], {}),
    "any": (["search-python", "search-python"], {"max_turns": 1}),
}  # fmt: skip


def play(name: str, clock: TimeControl) -> MatchResult:
    """A short match at this table."""
    bots, chosen = TABLES[name]
    game = load_game({"any": "aliens"}.get(name, name.partition(" ")[0]))
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
    result = play(name, TENTH)
    assert not any(result.faults)
    assert len(decisions(result)) > 3


@pytest.fixture
def computing() -> Iterator[None]:
    """Four programs that compute."""
    with ExitStack() as stack:
        for _ in range(4):
            program = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(program.kill)
        yield


@pytest.mark.usefixtures("computing")
def test_programs_that_compute_make_nobody_late() -> None:
    """Other programs take processor time, which counts for no bot; `make clocks` tries all searching bots."""
    result = play("aliens", USUAL)
    assert not any(result.faults)


def test_a_search_that_met_its_bound_says_so_in_its_note() -> None:
    """At a short clock notes name the bound, a fifth of the clock; at a long clock there is none."""
    short = {line.get("note") for line in decisions(play("any", TENTH))}
    assert "stopped the search after 20 ms of processor time" in short
    long = play("aliens 4", TimeControl(move_s=600.0, start_s=60.0))
    assert {line.get("note") for line in decisions(long)} == {None}
