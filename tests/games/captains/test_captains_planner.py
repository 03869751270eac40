"""The captains-planner bot: legal in every game, alike each time, and much better than chance."""

import json
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from tests.programs import program

from warpleague.games.api import CHANCE
from warpleague.games.captains import GAME
from warpleague.games.captains.dealing import Options
from warpleague.games.playout import random_roll

MAIN = Path(__file__).parents[3] / "bots" / "captains-planner" / "main.py"


@pytest.fixture(scope="module")
def planner() -> Any:
    return program(MAIN)


def play(planner: Any, players: int, seat: int, seed: int, **options: Any) -> tuple[Any, list[Any]]:
    """A match of the planner on `seat` against random players: its outcome and the planner's answers.

    Every action is read by `parse`, those sent ahead in `then` too.
    """
    rng = Random(seed)
    state: Any = GAME.initial(players, Options(**options))
    bot = None
    ahead: list[Any] = []
    answers = []
    while actors := GAME.actors(state):
        if actors == (CHANCE,):
            move: Any = random_roll(GAME.chance(state), rng)
            ahead = []
        else:
            legal = GAME.legal(state, actors[0])
            move = legal[rng.randrange(len(legal))]
            if actors[0] == seat and ahead:
                move = GAME.parse(state, seat, ahead.pop(0))
            elif actors[0] == seat and len(legal) > 1:
                bot = bot or planner.Player(SimpleNamespace(setup=json.loads(json.dumps(GAME.setup(state)))))
                question = SimpleNamespace(
                    state=json.loads(json.dumps(GAME.view(state, seat))),
                    legal=[GAME.action_json(action) for action in legal],
                    ask=GAME.ask(state, seat),
                    clock={},
                )
                answer = bot.choose(question)
                if not isinstance(answer, int):
                    ahead = list(answer.then)
                    answer = answer.action
                answers.append(answer)
                move = legal[answer] if isinstance(answer, int) else GAME.parse(state, seat, answer)
        state, _ = GAME.apply(state, move)
    return GAME.outcome(state), answers


@pytest.mark.parametrize(("players", "seat"), [(2, 0), (2, 1), (3, 2), (4, 1), (5, 4)])
def test_the_planner_beats_random_players(planner: Any, players: int, seat: int) -> None:
    """On any seat, with any number of players, it wins a match against random players, all actions legal."""
    outcome, answers = play(planner, players, seat, 5)
    assert outcome.ranks[seat] == 1
    assert outcome.ranks.count(1) == 1
    assert len(answers) > 10


@pytest.mark.parametrize("ai", ["echabod-z", "azimuth"])
def test_the_planner_plays_solo(planner: Any, ai: str) -> None:
    """In solo it makes a decent score, all actions legal."""
    outcome, _ = play(planner, 1, 0, 2, ai=ai)
    assert outcome.scores[0] > 20


def test_the_planner_is_deterministic(planner: Any) -> None:
    """The same questions get the same answers."""
    assert play(planner, 2, 0, 9) == play(planner, 2, 0, 9)
