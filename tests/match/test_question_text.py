"""Questions in words: what a bot reads that wants `text`, in every game."""

import re
from random import Random
from typing import Any

import pytest

from warpleague.games import game_ids, load_game
from warpleague.games.api import CHANCE
from warpleague.match.chance import Dice
from warpleague.match.referee import question_text
from warpleague.match.setup import load_options

ACTION = re.compile(r"^(\d+)\. (.+)$")


def positions(name: str, number: int = 400) -> Any:
    """States of a random match in which a seat must act, with that seat."""
    game = load_game(name)
    players = max(2, min(game.players))
    state = game.initial(players, load_options(game, players, {}))
    rng, dice = Random(number), Dice(bytes(32))
    for _ in range(number):
        actors = game.actors(state)
        if not actors:
            return
        move: Any
        if actors[0] == CHANCE:
            move = dice.roll(dice.at(game.address(state)), game.chance(state))
        else:
            yield game, state, actors[0]
            legal = game.legal(state, actors[0])
            move = legal[rng.randrange(len(legal))]
        state, _ = game.apply(state, move)


@pytest.mark.parametrize("name", game_ids())
def test_actions_have_their_indices_and_nothing_hidden_shows(name: str) -> None:
    """The last lines number the legal actions; a position guessed from the view reads like the real one."""
    for number, (game, state, seat) in enumerate(positions(name)):
        legal = game.legal(state, seat)
        text = question_text(game, state, seat, legal, ())
        told = [found for line in text.splitlines()[-len(legal) :] if (found := ACTION.match(line))]
        assert [int(found[1]) for found in told] == list(range(len(legal)))
        assert len({found[2] for found in told}) == len(legal), "two actions read alike"
        if number % 10 == 0:
            guess = game.determinize(game.view(state, seat), seat, Random(number))
            assert question_text(game, guess, seat, game.legal(guess, seat), ()) == text


def test_a_bot_that_wants_only_text_gets_only_text(spec: Any, table: Any) -> None:
    """It hears what happened in words, once, and plays the same match as with any other wants."""
    played = table(spec(), wants=("text",))
    assert played.play().digest == table(spec()).play().digest
    texts: list[list[str]] = [[], []]
    for seat, question in played.questions:
        assert question.keys() == {"type", "id", "ask", "clock", "text"}
        texts[seat].append(question["text"])
    for seat in (0, 1):
        assert texts[seat][0].startswith(
            f"You are seat {seat}.\nWhat happened since your last question:\n1. "
        )
        happened = [re.findall(r"^\d+\. .*", text.split("\n\n")[0], re.MULTILINE) for text in texts[seat]]
        assert all(happened[1:])
        assert happened[1] != happened[2]
