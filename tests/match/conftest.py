"""Shares a match played by the referee alone: bots are functions from a decoded question to an answer.

What the tests of the match layer look at is in their own files.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.referee import Referee, Situation
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec, TimeControl, Violation
from warpline.messages import BotHello

Choose: TypeAlias = Callable[[dict[str, Any]], Any]


def first(question: dict[str, Any]) -> Any:
    """The bot that answers index 0 forever."""
    return 0


def make_spec(**changes: Any) -> MatchSpec:
    """A match of aliens, forty turns at most, with `changes`."""
    options = options_json(load_game("aliens").Options(max_turns=40))
    facts: dict[str, Any] = {
        "id": "test",
        "game": "aliens",
        "options": options,
        "seats": (SeatSpec("left", "1", "aa"), SeatSpec("right", "1", "bb")),
        "key": match_key("test"),
        "seed": "test",
        "clock": TimeControl(move_s=1.0),
        **changes,
    }
    return MatchSpec(**facts)


class Table:
    """A referee with function bots; every question and every violation is kept."""

    def __init__(
        self, spec: MatchSpec, *bots: Choose, wants: tuple[Any, ...] = ("state", "legal", "events")
    ) -> None:
        self.referee = Referee(load_game(spec.game), spec)
        self.bots = bots or (first, first)
        self.questions: list[tuple[int, dict[str, Any]]] = []
        self.violations: list[Violation] = []
        self.wall_ns = 1_000_000
        self.referee.begin()
        for seat in range(len(spec.seats)):
            self.referee.start_line(seat)
            self.referee.connect(seat, BotHello(protocol=1, wants=wants))

    def step(self) -> bool:
        """Ask one question, or judge one fault; false at the end."""
        referee = self.referee
        match referee.advance():
            case Situation.OVER:
                return False
            case Situation.FAULT:
                trouble = referee.violation
            case _:
                seat = referee.seat
                question = json.loads(referee.line)
                self.questions.append((seat, question))
                answer = self.bots[seat](question)
                if isinstance(answer, int) or (isinstance(answer, dict) and "do" in answer):
                    answer = {"type": "act", "id": question["id"], "action": answer}
                line = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                trouble = referee.answer(line, self.wall_ns, 500_000, None)
        if trouble is not None:
            self.violations.append(trouble)
            referee.fault(referee.seat, trouble)
        return True

    def play(self) -> MatchResult:
        """Play to the end."""
        while self.step():
            pass
        return self.referee.finish()


@pytest.fixture
def spec() -> Callable[..., MatchSpec]:
    """Makes a match; keyword arguments change its parts."""
    return make_spec


@pytest.fixture
def table() -> type[Table]:
    """A referee whose bots are functions."""
    return Table
