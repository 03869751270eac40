"""The bot sheets-greedy, called in process: it plays every kind of decision, repeatably, and well."""

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from tests.programs import program

from warpleague.games.api import CHANCE
from warpleague.games.sheets import GAME

MAIN = Path(__file__).parents[3] / "bots" / "sheets-greedy" / "main.py"


@pytest.fixture(scope="module")
def bot() -> Any:
    return program(MAIN)


def play(bot: Any, players: int, seat: int, seed: str, move_s: float | None = None) -> Any:
    """A match of the bot at `seat` against random players; its moves with its notes, and the outcome."""
    rng = Random(seed)
    state = GAME.initial(players, GAME.Options())
    match = SimpleNamespace(seat=seat, players=["bot"] * players, setup=GAME.setup(state))
    player = bot.Player(match)
    moves: list[Any] = []
    while actors := GAME.actors(state):
        if actors == (CHANCE,):
            move: Any = tuple(rng.randrange(die) for die in GAME.chance(state))
        else:
            legal = GAME.legal(state, actors[0])
            move = rng.choice(legal)
            if actors == (seat,) and len(legal) > 1:
                question = SimpleNamespace(
                    id=len(moves),
                    seed="ab",
                    ask=GAME.ask(state, seat),
                    clock={"move_s": move_s},
                    state=GAME.view(state, seat),
                    legal=[GAME.action_json(action) for action in legal],
                )
                answer = player.choose(question)
                move = legal[answer if isinstance(answer, int) else answer.action]
                moves.append((question.ask, move, getattr(answer, "note", None)))
        state, _ = GAME.apply(state, move)
    return moves, GAME.outcome(state)


def test_the_bot_wins_from_every_seat_against_random(bot: Any) -> None:
    """With 2, 3 and 4 players it is first from the first and from the last seat."""
    for players in (2, 3, 4):
        for seat in (0, players - 1):
            _, outcome = play(bot, players, seat, f"{players} {seat}")
            assert outcome.ranks[seat] == 1


def test_the_bot_repeats_itself_and_scores_well_alone(bot: Any) -> None:
    """The same questions get the same answers; a random player has about 5 points, the bot over 15."""
    moves, outcome = play(bot, 1, 0, "solo")
    assert play(bot, 1, 0, "solo") == (moves, outcome)
    assert {ask for ask, *_ in moves} >= {"keep", "mark", "take"}
    assert outcome.scores[0] > 15


def test_in_a_hurry_the_bot_stops_its_search(bot: Any) -> None:
    """Without processor time for a decision it stops the search, says so in its note, and still plays well."""
    at_leisure, _ = play(bot, 1, 0, "solo", move_s=1000.0)
    assert {note for _, _, note in at_leisure} == {None}
    hurried, outcome = play(bot, 1, 0, "solo", move_s=0.0)
    assert "stopped the search after 0 ms of processor time" in {note for _, _, note in hurried}
    assert outcome.scores[0] > 15
