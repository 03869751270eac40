"""Plays captains on from a position: every seat follows the best plan of each turn, found by a small search."""

from __future__ import annotations

from math import exp
from random import Random
from typing import TYPE_CHECKING, Any, Final

from warpleague.games.captains import GAME
from warpleague.games.captains.actions import DISCARDS, DONE, DRAW, END, TAKES
from warpleague.games.captains.rules import scores
from warpleague.games.captains.state import (
    AI_PLACE,
    DEAL,
    HAND,
    OVER,
    PICKUP_PLANET,
    PICKUP_STATION,
    START,
    TURN,
)
from warpleague.opponents.captains_plan import SITE, Turn

if TYPE_CHECKING:
    from warpleague.games.captains.state import State
    from warpline.budget import Budget

SPREAD: Final = 4.0
SPREAD_LEFT: Final = 1.0
"""By how much it grows with each round left."""


def follow(state: Any, actions: tuple[Any, ...]) -> State:
    """The position after these actions."""
    for action in actions:
        state = GAME.apply(state, action)[0]
    return state  # type: ignore[no-any-return]


def whole(actions: tuple[Any, ...]) -> tuple[Any, ...]:
    """The actions of a plan with the end of the turn, unless a pick-up comes last."""
    return actions if actions and actions[-1].do == "pickup" else (*actions, END)


def choice(state: State, searched: int, rng: Random, budget: Budget) -> tuple[Any, ...]:
    """The choice of the seat to act: one action, or those of a plan, found within the `budget`."""
    seat, stage = state.seat, state.stage
    turn = Turn(state, seat)
    if stage == TURN:
        return whole(turn.plans(1, searched, budget)[0].actions)
    at, hand = state.ships[seat], state.cards.hands[seat]
    legal = GAME.legal(state, seat)
    if len(legal) == 1:
        return (legal[0],)
    if stage == PICKUP_PLANET:
        drop = turn.worst((), at, hand, state.focus)
        if drop is None and sum(hand) == HAND:
            drop = max(range(len(hand)), key=lambda p: (hand[p] > 0, turn.road(()).to[p][at]))
        return (DRAW if drop is None else DISCARDS[drop],)
    if stage == PICKUP_STATION:
        takes = [TAKES[planet] for planet in turn.wanted((), at, hand)]
        return (next((take for take in takes if take in legal), DONE),)
    if stage == AI_PLACE:
        return (legal[int(rng.random() * len(legal))],)
    ways = turn.road(())

    def worth(action: Any) -> float:
        near = sorted([away[action.at] for away in ways.to])[:3]
        return turn.hand_value(ways, action.at, hand) - (0.1 * sum(near) if stage == START else 0.0)

    return (max(legal, key=worth),)


def playout(state: State, until: int, searched: int, seed: int, budget: Budget) -> State:
    """Where the plans of all seats lead, up to the end of round `until` or of the game.

    Each seat draws its cards by numbers of its own, so that plans with equal seeds are compared with like luck.
    `OverBudget` if the time for the decision is used up before.
    """
    draws = [Random(f"{seed} {seat}") for seat in range(state.table.players)]
    while state.stage != OVER:
        if state.stage >= DEAL:
            deck = state.cards.deck
            card = draws[state.seat].choices(range(len(deck)), deck)[0]
            state = follow(state, ((card,),))
            continue
        if state.round > until and state.stage in (TURN, START) and not state.steps:
            break
        state = follow(state, choice(state, searched, draws[state.seat], budget))
        budget.check()
    return state


def spread(state: State) -> float:
    """The points of a lead that make a win likely (by a logistic curve): more, the longer the game goes on."""
    if state.stage == OVER:
        return SPREAD
    return SPREAD + SPREAD_LEFT * min(state.last_round - state.round + 1, 10)


def share(state: State, seat: int) -> float:
    """The part of the others that `seat` is likely to beat, from 0 to 1."""
    totals: list[float] = [float(total) for total in scores(state)]
    if state.stage != OVER:
        for other in range(state.table.players):
            totals[other] += prospects(state, other)
    scale = spread(state)
    others = [total for other, total in enumerate(totals) if other != seat]
    return sum([1 / (1 + exp((total - totals[seat]) / scale)) for total in others]) / len(others)


def prospects(state: State, seat: int) -> float:
    """A seat's prospects besides its score: its passengers and its network."""
    if state.ships[seat] < 0:
        return 0.0
    turn = Turn(state, seat)
    hand = state.cards.hands[seat]
    return turn.value((), state.ships[seat], hand, 0, -1) + SITE * turn.build * len(turn.mine)
