"""From one decision of a match to the next, as bots are asked: dice are rolled and forced moves played on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.games.api import CHANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import Game, Outcome
    from warpleague.match.chance import Dice


def to_decision(game: Game[Any, Any], state: Any, dice: Dice) -> tuple[Any, Sequence[Any]]:
    """The next position in which a seat has a choice, with its legal actions; at the end of the match, none."""
    while actors := game.actors(state):
        if actors[0] == CHANCE:
            state, _ = game.apply(state, dice.roll(dice.at(game.address(state)), game.chance(state)))
            continue
        legal = game.legal(state, actors[0])
        if len(legal) > 1:
            return state, legal
        state, _ = game.apply(state, legal[0])
    return state, ()


def rewards_of(outcome: Outcome) -> tuple[float, ...]:
    """By seat: 1 for who beat all others to -1 for who lost against all; a solo game gives its score."""
    ranks = outcome.ranks
    if len(ranks) == 1:
        return outcome.scores
    return tuple([sum((o > rank) - (o < rank) for o in ranks) / (len(ranks) - 1) for rank in ranks])
