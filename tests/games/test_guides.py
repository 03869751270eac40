"""What a person is told before the first move: each built-in game has it, and the turn that it shows can be played."""

import pytest
from tests.games.hands import Hands

from warpleague.games import GAMES, load_game
from warpleague.games.first_turn import first_turn
from warpleague.games.together import InTurn

MOST_WORDS = 200
"""What is read aloud in a minute, and a little more."""


@pytest.mark.parametrize("name", GAMES)
def test_the_rules_are_read_in_a_minute_and_the_turn_is_shown(name: str) -> None:
    """Each moment has a reason or says what happened, and names things that its picture has."""
    game = load_game(name)
    guide = game.guide()
    assert guide is not None
    assert guide.goal.endswith(".")
    assert 40 < sum(len(rule.split()) for rule in guide.rules) < MOST_WORDS
    moments = first_turn(game, guide)
    assert moments == first_turn(game, guide)
    assert len(moments) == len(guide.turn) + 1
    assert moments[0].scene != moments[-1].scene
    for moment in moments:
        assert moment.happened or moment.phrase
        assert bool(moment.why) == (moment is not moments[-1])
        items = [item for tray in moment.scene.trays for row in tray.rows for item in row]
        things = (*moment.scene.cells, *moment.scene.pieces, *moment.scene.links, *items)
        assert set(moment.targets) <= {thing.id for thing in things}  # type: ignore[attr-defined]


def test_a_game_may_have_none() -> None:
    """Also one in which several decide at once."""
    assert InTurn(Hands()).guide() is None
