"""Plays captains: compares plans of a whole turn by playing on for some rounds, with cards dealt again.

The lower levels look no further than their next stop: they deliver, pick up and explore where they are, and else go
the cheapest way to where they can.
"""

from __future__ import annotations

from functools import lru_cache
from heapq import heappop, heappush
from math import exp
from random import Random
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.games.captains import GAME
from warpleague.games.captains.geometry import DISCARDS, DONE, DRAW, END, TAKES, Galaxy
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
    State,
    pair,
    places,
)
from warpleague.opponents.captains_plan import SITE, Turn
from warpleague.opponents.player import Player, Skill, best_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpline.budget import Budget
    from warpline.client import Question, Reply


# -- playing on: every seat follows the best plan of each turn, found by a small search ------------------

SPREAD: Final = 4.0
SPREAD_LEFT: Final = 1.0
"""By how much it grows with each round left."""


def follow(state: Any, actions: tuple[Any, ...]) -> State:
    """The position after these actions."""
    after: Any = GAME.copied(state)
    for action in actions:
        after = GAME.push(after, action, None)
    return after  # type: ignore[no-any-return]


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


# -- the player ------------------------------------------------------------------------------------------

FAR: Final = 1e9
FREE: Final = 0.01
"""The cost of a step that takes no energy: it prevents circles."""
EXPLORE: Final = 1.5
"""How much further a planet to deliver to may be than one to explore."""
PICK_UP: Final = 1.0
"""The same for a planet to pick up at, with an empty hand; more with each card in it."""
TOLL: Final = 1.5
"""The price of another's wormhole."""
WITHIN: Final = 2.5
"""Points by which a plan may look worse than the best one."""
PLANNING: Final = 0.5
"""The part of the time for a decision that this may take; the rest is for playouts."""
MANY: Final = 3
"""With more seats, only the best three plans are compared."""
TRUST: Final = 0.7
"""How much the worth of a plan counts besides its playouts, which are few: per point, in points of a lead."""


@lru_cache(maxsize=8)
def ways_back(galaxy: Galaxy) -> tuple[tuple[tuple[int, float], ...], ...]:
    """For each space those that lead to it by a move or the cannon, and the energy that it takes."""
    back: list[list[tuple[int, float]]] = [[] for _ in galaxy.hexes]
    for space, free in enumerate(galaxy.free):
        for move in galaxy.careful_moves[space]:
            back[move.to].append((space, FREE if free >> move.to & 1 else 1.0))
        for shot in galaxy.careful_shots[space]:
            back[shot.to].append((space, FREE))
    return tuple(map(tuple, back))


@attrs.frozen
class Search:
    """How much the strongest player searches: it compares `plans` plans of a turn.

    The search for them examines `positions` positions of the turn, and in playouts `later` ones of each turn.
    A playout continues for `rounds` rounds after this one.
    """

    plans: int = 5
    positions: int = 3000
    later: int = 120
    rounds: int = 1


class Captains(Player):
    """A player of captains; its `effort` is the number of playouts that each plan gets at first, in a duel.

    Without playouts it looks no further than its next stop.
    """

    search = Search()
    skills = (Skill(0.5), Skill(0.15), Skill(0.0), Skill(0.0, 1))

    def choose(self, question: Question, state: State, legal: Sequence[Any]) -> int | Reply:
        """The plan that does best in playouts with the share that they promise, or the index of the next action."""
        if self.skill.effort:
            actions, share = self.best_plan(question, state)
            reply = self.plan(actions)
            reply.value = share
            return reply
        return self.next_stop(question, state, legal)

    def best_plan(self, question: Question, state: State) -> tuple[tuple[Any, ...], float | None]:
        """The actions that lead to the largest share in playouts, up to the first that reveals something, and it."""
        if question.ask != "turn":
            return choice(state, self.search.positions, self.rng, self.budget), None
        search = self.search
        plans = Turn(state, self.seat).plans(search.plans, search.positions, self.budget, PLANNING)
        plans = [plan for plan in plans if plan.worth > plans[0].worth - WITHIN]
        options = [whole(plan.actions) for plan in plans]
        point = TRUST / (4 * spread(state))  # near the middle of the curve that `share` follows
        seed = self.rng.getrandbits(32)
        worlds: dict[int, State] = {}

        def worth(number: int, trial: int) -> float:
            if trial not in worlds:
                worlds[trial] = self.game.determinize(question.state, self.seat, self.rng)
            after = follow(worlds[trial], options[number])
            end = playout(after, state.round + search.rounds, search.later, seed + trial, self.budget)
            return share(end, self.seat) + point * plans[number].worth

        effort = max(1, 2 * self.skill.effort // state.table.players)  # a round of many seats takes longer
        rounds = ((search.plans, effort), (3, 2 * effort), (2, 3 * effort))
        many = state.table.players > MANY
        best, promised = best_of(range(len(options)), rounds[many:], worth, self.budget)
        if promised is not None:
            promised = min(max(promised - point * plans[best].worth, 0.0), 1.0)
        return options[best], promised

    def next_stop(self, question: Question, state: State, legal: Sequence[Any]) -> int:
        """The index of the best next action."""
        if question.ask == "pickup":
            takes = [number for number, action in enumerate(legal) if action.do == "take"]
            return takes[0] if takes else len(legal) - 1
        if question.ask == "ai-place":
            return self.rng.randrange(len(legal))
        far = self.distances(state)
        if question.ask != "turn":  # a space to start from, or to come out at
            return min(range(len(legal)), key=lambda number: far[legal[number].at])
        at = state.ships[self.seat]
        best, choice = far[at], len(legal) - 1  # to end the turn
        for number, action in enumerate(legal):
            do = action.do
            if do == "deliver" or (do == "pickup" and self.wanted(state)):
                return number
            if do == "place" and self.explores(state, action.at):
                return number
            if do in ("move", "warp", "cannon") and far[action.to] < best:
                best, choice = far[action.to], number
        return choice

    def wanted(self, state: State) -> bool:
        """Whether to pick up here: there is room, and something to get."""
        at = state.ships[self.seat]
        something = any(state.cards.docks) if state.table.galaxy.beside_station[at] else True
        return something and sum(state.cards.hands[self.seat]) < HAND

    def explores(self, state: State, space: int) -> bool:
        """Whether a token there is the first of its own beside a planet."""
        beside = state.table.put[space] & ~state.table.station_bit
        return bool(beside & ~state.tokens.near[self.seat])

    def distances(self, state: State) -> list[float]:
        """For each space the energy to the best place to go to."""
        table, hand = state.table, state.cards.hands[self.seat]
        galaxy, tokens = table.galaxy, state.tokens
        held = sum(hand)
        picks = held < HAND and not state.picked and state.cards.left > 0
        far = [FAR] * len(galaxy.hexes)
        heap: list[tuple[float, int]] = []
        for space, planet in enumerate(galaxy.beside_planet):
            if planet < 0:
                continue
            if hand[planet]:
                heap.append((1.0 - hand[planet], space))
            if picks and not galaxy.beside_station[space]:
                heap.append((PICK_UP * (1 + held), space))
        unexplored = (1 << table.planets) - 1 & ~tokens.near[self.seat]
        if unexplored:
            heap += [
                (EXPLORE, space)
                for space in range(len(far))
                if any(table.put[place.at] & unexplored for place in places(table, tokens, self.seat, space))
            ]
        heap.sort()
        back = ways_back(galaxy)
        while heap:
            cost, space = heappop(heap)
            if cost >= far[space]:
                continue
            far[space] = cost
            for before, price in back[space]:
                if cost + price < far[before]:
                    heappush(heap, (cost + price, before))
            twin = pair(tokens, space)
            if twin >= 0:
                price = FREE if tokens.at[space][0] == self.seat else TOLL
                if cost + price < far[twin]:
                    heappush(heap, (cost + price, twin))
        return far


OPPONENT = Captains
