"""Matches in which several seats decide at once, of real bots: asked together, recorded in the order of the seats."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.games.hands import Options
from tests.runner.conftest import MakeSeat, MakeSpec

from warpleague.games import GAMES, load_game
from warpleague.match.referee import Question, Referee
from warpleague.match.replay import verify_record
from warpleague.match.spec import MatchResult
from warpleague.runner.play import play_match, play_out

DRAWS = """
from hashlib import sha256
from warpline.client import run

def choose(question):
    return sha256(f"{question.seed} {question.id} {question.events}".encode()).digest()[0] % 3

run(choose, wants=("events",))
"""

# Answers only when as many bots as there are seats have been asked: each adds a file.
MEETS = """
import time
from pathlib import Path
from warpline.client import run

def choose(question):
    Path(f"asked-{question.id}-{question.seat}").touch()
    while len(list(Path().glob(f"asked-{question.id}-*"))) < 3:
        time.sleep(0.005)
    return 0

run(choose, wants=())
"""

FALLS = """
import sys
from warpline.client import run

def choose(question):
    sys.exit(3)

run(choose, wants=())
"""

ERRS = """
from warpline.client import run

run(lambda question: 7 if question.id == 2 else 0, wants=())
"""

GOLDEN = "d58b26e622461cb6f2e38319078e5d0bdeb340a199750597ac84b0b992786296"


class InTurn(Referee):
    """A referee that asks one seat after the other."""

    def questions(self) -> list[Question]:
        return super().questions()[:1]


@pytest.fixture(autouse=True)
def hands() -> Iterator[None]:
    """The game of hands is registered."""
    GAMES["hands"] = "tests.games.hands:GAME"
    load_game.cache_clear()
    yield
    del GAMES["hands"]
    load_game.cache_clear()


def told(result: MatchResult) -> list[tuple[Any, ...]]:
    """Each line of the record, in short: its kind, its seat, and what was done."""
    lines = map(json.loads, result.record.splitlines())
    return [
        (line["type"], line["seat"], line.get("kind") or line["action"]["hand"])
        for line in lines
        if line["type"] in ("act", "fault")
    ]


def test_the_record_is_that_of_a_match_in_turn(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Nobody can have seen more than when asked one after the other; and it is the same on every machine."""
    seats = [make_seat(f"draws-{number}", DRAWS) for number in range(3)]
    spec = make_spec(*seats, game="hands", options=Options(rounds=8))
    result = play_match(spec)
    assert result.faults == ((), (), ())
    assert [seat for _, seat, _ in told(result)] == [0, 1, 2] * 8
    in_turn = play_out(InTurn(load_game(spec.game), spec))
    assert result.digest == in_turn.digest == verify_record(result.record).digest == GOLDEN


def test_all_are_asked_before_one_has_answered(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Each waits until all have been asked, and none is charged with a fault."""
    result = play_match(make_spec(*[make_seat("meets", MEETS)] * 3, game="hands", options=Options(rounds=2)))
    assert result.faults == ((), (), ())
    assert len(told(result)) == 6


def test_faults_are_judged_in_the_order_of_the_seats(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Whoever fell first; the round is played to its end, and who is out is not asked again."""
    errs, falls, first = make_seat("errs", ERRS), make_seat("falls", FALLS), make_seat("draws", DRAWS)
    result = play_match(make_spec(errs, first, falls, game="hands", options=Options(rounds=3)))
    lines = told(result)
    assert [(kind, seat) for kind, seat, _ in lines] == [
        ("act", 0),
        ("act", 1),
        ("fault", 2),
        ("fault", 0),
        ("act", 1),
    ]
    assert (lines[2][2], lines[3][2]) == ("crash", "illegal")
    assert result.ranks == (2, 1, 3)  # not in the same decision
    assert verify_record(result.record).digest == result.digest


def test_who_goes_out_in_the_same_decision_ranks_equal(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """The order in which they are judged is none in which they fell; the record says so, and holds."""
    falls, first = make_seat("falls", FALLS), make_seat("draws", DRAWS)
    result = play_match(make_spec(falls, first, falls, game="hands", options=Options(rounds=3)))
    assert result.ranks == (2, 1, 2)
    assert [line.get("tied") for line in map(json.loads, result.record.splitlines()) if "kind" in line] == [
        None,
        True,
    ]
    assert verify_record(result.record).ranks == result.ranks
