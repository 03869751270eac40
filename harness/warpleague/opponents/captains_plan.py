"""Plans of a whole turn of captains: moves, warps, deliveries, tokens and a pick-up, by what they come to.

A plan is worth the points that it makes, the passengers on board by how many turns away their planets are, and the
network of wormholes that it leaves. Own tokens go beside planets only, one each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from warpleague.games.captains.geometry import (
    DELIVERIES,
    PICKUP_PLANET,
    PICKUP_STATION,
    WARPS,
)
from warpleague.games.captains.rules import worth
from warpleague.games.captains.state import HAND, TOKENS, State, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.captains.geometry import Galaxy
    from warpline.budget import Budget


# -- distances in energy, for the wormholes of one position after the other ------------------------------

Array = Any
Stacks = tuple[tuple[int, ...], ...]
FAR: Final = 99
TOLL: Final = 1
"""The cost of a step through another's wormhole, in energy."""


class Roads:
    """The energy from each space to each planet, by planet and space; and from planet to planet."""

    __slots__ = ("away", "between", "to")

    def __init__(self, galaxy: Galaxy, apart: Array) -> None:
        self.away = away = np.array([apart[:, beside].min(axis=1) for beside in besides(galaxy)])
        self.to: list[list[int]] = away.tolist()
        self.between: list[list[int]] = [away[:, beside].min(axis=1).tolist() for beside in besides(galaxy)]


@lru_cache(maxsize=8)
def besides(galaxy: Galaxy) -> tuple[list[int], ...]:
    """By planet the spaces beside it."""
    found: tuple[list[int], ...] = tuple([] for _ in galaxy.planets)
    for space, planet in enumerate(galaxy.beside_planet):
        if planet >= 0:
            found[planet].append(space)
    return found


@lru_cache(maxsize=8)
def on_foot(galaxy: Galaxy) -> Array:
    """The energy from each space to each other by moves and the cannon, without black holes."""
    count = len(galaxy.hexes)
    apart = np.full((count, count), FAR, np.int16)
    np.fill_diagonal(apart, 0)
    for space, free in enumerate(galaxy.free):
        for move in galaxy.careful_moves[space]:
            apart[space, move.to] = 0 if free >> move.to & 1 else 1
        for shot in galaxy.careful_shots[space]:
            apart[space, shot.to] = 0
    for by in range(count):
        apart = np.minimum(apart, apart[:, by, None] + apart[by])
    return apart


def with_wormhole(apart: Array, one: int, two: int, price: int) -> Array:
    """The distances with one more wormhole, which leads both ways."""
    there = np.int16(price)
    shorter = np.minimum(apart, apart[:, one, None] + (there + apart[two]))
    return np.minimum(shorter, shorter[:, two, None] + (there + shorter[one]))


@lru_cache(maxsize=512)
def apart_with(galaxy: Galaxy, stacks: Stacks, seat: int) -> Array:
    """The energy from each space to each other with the tokens of all owners; each stack is a whole number of pairs.

    Those of `seat` come last: a search tries out more of them, and each then takes one step from what is known.
    """
    for owner in (seat, *[owner for owner in range(len(stacks)) if owner != seat]):
        stack = stacks[owner]
        if stack:
            apart = apart_with(galaxy, (*stacks[:owner], stack[:-2], *stacks[owner + 1 :]), seat)
            one, two = stack[-2:]
            apart = with_wormhole(apart, one, two, 0 if owner == seat else TOLL)
            if owner == seat:
                for wild in galaxy.wilds.get(len(stack) // 2, ()):
                    apart = with_wormhole(apart, one, wild, 0)
            return apart
    return on_foot(galaxy)


@lru_cache(maxsize=512)
def roads(galaxy: Galaxy, stacks: Stacks, seat: int) -> Roads:
    """The roads of `seat` with the tokens of all owners; each stack is a whole number of pairs."""
    return Roads(galaxy, apart_with(galaxy, stacks, seat))


# -- plans -----------------------------------------------------------------------------------------------

LATER: Final = 0.66
"""The worth of a point one turn later."""
SITE: Final = 0.9
"""The worth of a token beside a planet, for trips to come."""
PAIR: Final = 0.7
"""The same when it completes a pair."""
NEW_PLANET: Final = 0.5
"""The worth of a first delivery to a planet while the Galactic Tour is far."""
TOUR: Final = 3.0
HOPE: Final = 0.9
"""The worth of a card not drawn yet, in cards in hand."""
NEXT: Final = 0.5
"""The worth of a pick-up after this turn, in pick-ups made now."""
REPLACE: Final = -0.3
"""How much better than a card in hand a new one must promise to be, to discard it."""
EXPLORE: Final = 1.2
"""The pull of the nearest planet without an own token."""
BUILD_TURNS: Final = 6
"""With fewer turns left, the network is worth less."""

NEAR: Final = 30
"""Energy from which on a place is too far away to count."""
ALIKE: Final = 2
"""Plans that differ only in the space where the ship ends."""

Hand = tuple[int, ...]


class Plan(NamedTuple):
    """A plan for a turn, up to a pick-up at a planet or to the turn's end, and its worth in points."""

    worth: float
    actions: tuple[Any, ...]


class Outlook(NamedTuple):
    """By space: the worth of each free seat for the next pick-up, and of the planets to explore.

    `drawn` has by planet and space the worth of a card drawn at that planet.
    """

    ways: Roads
    drawn: list[list[float]]
    next_one: list[float]
    explore: list[float]


@lru_cache(maxsize=8)
def besides_as_array(galaxy: Galaxy) -> Array:
    """By space the planet beside it, -1 if there is none."""
    return np.array(galaxy.beside_planet)


@lru_cache(maxsize=8)
def pick_up_factors(galaxy: Galaxy) -> Array:
    """By space what a card of the pick-up after this turn counts: less where one must go to a planet first."""
    there = (besides_as_array(galaxy) >= 0) | np.array(galaxy.beside_station, bool)
    return NEXT * HOPE * np.where(there, LATER, LATER**2)


class Turn:
    """The state of one search: the position at its start, and memories of roads and values."""

    def __init__(self, state: State, seat: int) -> None:
        self.state = state
        self.seat = seat
        self.galaxy = galaxy = state.table.galaxy
        self.planets = state.table.planets
        self.stacks = state.tokens.stacks
        self.mine = self.stacks[seat]
        self.explored = len(state.explorers)
        self.reached = state.tokens.reached
        self.delivered = state.cards.piles[seat]
        self.seen = sum([1 for cards in self.delivered if cards])
        self.toll = 1.0 if state.table.owners == 2 else 0.6
        self.left = state.last_round - state.round
        if state.why == "max-rounds":  # the end comes some rounds after the planets are explored
            self.left = min(self.left, 4 + self.planets - self.explored)
        self.build = min(1.0, self.left / BUILD_TURNS)
        first = 2.0 + (TOUR if self.seen >= 5 else NEW_PLANET * min(1.0, self.left / 6))
        self.card = [2.0 if cards else first for cards in self.delivered]
        self.by_energy = [self._later(energy) for energy in range(NEAR)]
        self.far = np.array([*self.by_energy, 0.0])
        self.near_station = galaxy.beside_station
        self.roads: dict[tuple[int, ...], Roads] = {}
        self.values: dict[Any, float] = {}
        self.outlooks: dict[tuple[int, ...], Outlook] = {}
        self.places: dict[Any, list[Any]] = {}

    def _later(self, energy: int) -> float:
        """The worth of a point that takes so much energy from the end of this turn."""
        turns = max(1, -(-energy // 3))
        return LATER**turns if turns <= self.left else 0.0

    def later(self, energy: float) -> float:
        """The same, remembered."""
        return self.by_energy[int(energy)] if energy < NEAR else 0.0

    def road(self, placed: tuple[int, ...]) -> Roads:
        """The roads once `placed` further tokens of one's own are on the board; only whole pairs count."""
        found = self.roads.get(placed)
        if found is None:
            stacks = list(self.stacks)
            stacks[self.seat] = (*self.mine, *placed)
            paired = tuple([stack[: len(stack) & ~1] for stack in stacks])
            found = self.roads[placed] = roads(self.galaxy, paired, self.seat)
        return found

    def hand_value(self, ways: Roads, at: int, hand: Hand) -> float:
        """The worth of the passengers on board from a space, visiting the nearest planet first."""
        total, way, here = 0.0, 0.0, -1
        rest = [planet for planet, cards in enumerate(hand) if cards]
        while rest:
            away = (
                [ways.to[planet][at] for planet in rest]
                if here < 0
                else [ways.between[here][planet] for planet in rest]
            )
            step = min(away)
            here = rest.pop(away.index(step))
            way += max(1.0, step)
            total += (self.card[here] + 2.0 * (hand[here] - 1)) * self.later(way)
        return total

    def outlook(self, placed: tuple[int, ...]) -> Outlook:
        """The worth of spaces once `placed` further tokens are on the board, apart from the passengers on board."""
        found = self.outlooks.get(placed)
        if found is None:
            ways = self.road(placed)
            deck = np.array(self.state.cards.deck)
            far = self.far[np.minimum(np.maximum(ways.away, 1) + 2, NEAR)]
            rows = (deck * np.array(self.card))[:, None] * far
            # Nothing is drawn for the planet that one draws at; the last row is for none.
            others = np.append(rows.sum(axis=0) - rows, [rows.sum(axis=0)], axis=0)
            drawn = others / np.maximum(deck.sum() - np.append(deck, 0), 1)[:, None]
            beside = besides_as_array(self.galaxy)
            next_one = drawn[beside, np.arange(len(beside))] * pick_up_factors(self.galaxy)
            if not self.state.cards.left:
                next_one *= 0.0
            goals = [p for p in range(self.planets) if not self.own(placed) >> p & 1]
            explore = np.zeros(len(beside))
            if goals and len(self.mine) + len(placed) < TOKENS:
                nearest = ways.away[goals].min(axis=0)
                explore = EXPLORE * self.far[np.minimum(np.maximum(nearest, 1), NEAR)]
            found = Outlook(ways, drawn.tolist(), next_one.tolist(), explore.tolist())
            self.outlooks[placed] = found
        return found

    def value(self, placed: tuple[int, ...], at: int, hand: Hand, drawn: int, planet: int) -> float:
        """The worth of ending the turn: with a hand, and `drawn` unknown cards picked up at `planet`."""
        key = (placed, at, hand, drawn, planet)
        found = self.values.get(key)
        if found is not None:
            return found
        outlook = self.outlook(placed)
        total = self.hand_value(outlook.ways, at, hand) + outlook.explore[at]
        if drawn:
            total += HOPE * drawn * outlook.drawn[planet][at]
        total += (HAND - sum(hand) - drawn) * outlook.next_one[at]
        self.values[key] = total
        return total

    def own(self, placed: tuple[int, ...]) -> int:
        """The planets that have one of one's own tokens beside them, as a bit mask."""
        mask = self.state.tokens.near[self.seat]
        for space in placed:
            mask |= self.state.table.put[space]
        return mask

    def sites(self, placed: tuple[int, ...], at: int) -> list[Any]:
        """Where to place now: for each planet in range without an own token the best space, the ship's first."""
        key = (placed, at)
        if key not in self.places:
            self.places[key] = self._sites(placed, at)
        return self.places[key]

    def _sites(self, placed: tuple[int, ...], at: int) -> list[Any]:
        if len(self.mine) + len(placed) >= TOKENS:
            return []
        own, found = self.own(placed), {}
        for place in places(self.state.table, self.state.tokens, self.seat, at):
            space = place.at
            planet = self.galaxy.beside_planet[space]
            if planet < 0 or space in placed:
                continue
            if not own >> planet & 1 and (planet not in found or space == at):
                found[planet] = place
        return list(found.values())

    def site_value(self, placed: tuple[int, ...], space: int) -> float:
        """The worth of a token on `space`: the exploration token, the network."""
        total = SITE * self.build
        if (len(self.mine) + len(placed)) % 2:
            total += PAIR * self.build
        planet = self.galaxy.beside_planet[space]
        if not (self.reached | self.own(placed)) >> planet & 1:
            before = sum([1 for at in placed if not self.reached >> self.galaxy.beside_planet[at] & 1])
            total += worth(self.explored + before + 1)
        return total

    def warps(self, placed: tuple[int, ...], at: int) -> list[tuple[int, float]]:
        """Where a wormhole leads from a space, and what it costs in points."""
        found: list[tuple[int, float]] = []
        for owner, stack in enumerate(self.stacks):
            mine = owner == self.seat
            spaces = (*stack, *placed) if mine else stack
            if at in spaces:
                number = spaces.index(at)
                if number ^ 1 < len(spaces):
                    found.append((spaces[number ^ 1], 0.0 if mine else self.toll))
                    if mine:
                        found += [(wild, 0.0) for wild in self.galaxy.wilds.get(number // 2 + 1, ())]
            if mine and self.galaxy.wild[at]:
                pair = 2 * self.galaxy.wild[at]
                if len(spaces) >= pair:
                    found += [(spaces[pair - 2], 0.0), (spaces[pair - 1], 0.0)]
        return found

    def plans(self, most: int, searched: int, budget: Budget, part: float = 1.0) -> list[Plan]:
        """The best plans with different ends, best first: at most `most`, after `searched` positions.

        After fewer positions, but at least one, if this part of the `budget` is used up.
        """
        state = self.state
        hand = state.cards.hands[self.seat]
        start = (state.ships[self.seat], state.energy, state.warped, state.picked, (), hand, 0, -1)
        pending: list[Any] = [(start, 0.0, None)]
        gained = {start: 0.0}
        ends: dict[Any, tuple[float, Any]] = {}
        count = 0
        while pending and count < searched and not (count and budget.over(part)):
            node, gain, trail = pending.pop()
            if gain < gained[node]:
                continue
            count += 1
            at, _, _, _, placed, hand, drawn, where = node
            end = (at, placed, hand, drawn, where)
            total = gain + self.value(placed, at, hand, drawn, where)
            if end not in ends or total > ends[end][0]:
                ends[end] = total, trail
            for after, points, action in self._onward(node):
                total = gain + points - 1e-4
                if total > gained.get(after, -FAR):
                    gained[after] = total
                    pending.append((after, total, (trail, action)))
        found: list[Plan] = []
        alike: dict[Any, int] = {}
        for end, (total, trail) in sorted(ends.items(), key=lambda item: -item[1][0]):
            alike[end[1:]] = alike.get(end[1:], 0) + 1
            if alike[end[1:]] <= ALIKE:
                found.append(Plan(total, self._actions(trail)))
                if len(found) == most:
                    break
        return found

    def _onward(self, node: Any) -> list[Any]:
        """What can follow in a plan: the next position, the points for it, and the action."""
        galaxy = self.galaxy
        at, energy, warped, picked, placed, hand, drawn, where = node
        planet = galaxy.beside_planet[at]
        further: list[Any] = []
        if planet >= 0 and hand[planet]:  # never worth putting off
            points = self.card[planet] + 2.0 * (hand[planet] - 1)
            rest = (*hand[:planet], 0, *hand[planet + 1 :])
            after = (at, energy, False, picked, placed, rest, drawn, where)
            further.append((after, points, DELIVERIES[planet]))
        else:
            for place in self.sites(placed, at):
                points = self.site_value(placed, place.at)
                after = (at, energy, False, picked, (*placed, place.at), hand, drawn, where)
                further.append((after, points, place))
            if not picked:
                self._pick_ups(further, node, planet, self.state.cards.left)
            if not warped:
                for to, toll in self.warps(placed, at):
                    after = (to, energy, True, picked, placed, hand, drawn, where)
                    further.append((after, -toll, WARPS[to]))
            for shot in galaxy.careful_shots[at]:
                after = (shot.to, energy, False, picked, placed, hand, drawn, where)
                further.append((after, 0.0, shot))
            free = galaxy.free[at]
            for move in galaxy.careful_moves[at] if energy or free else ():
                less = energy if free >> move.to & 1 else energy - 1
                if less >= 0:
                    after = (move.to, less, False, picked, placed, hand, drawn, where)
                    further.append((after, 0.0, move))
        return further

    @staticmethod
    def _actions(trail: Any) -> tuple[Any, ...]:
        """The actions of a trail, the first one first, up to a pick-up: what follows hangs on its cards."""
        actions: list[Any] = []
        while trail:
            trail, action = trail
            if action is PICKUP_PLANET or action is PICKUP_STATION:
                actions.clear()
            actions.append(action)
        return tuple(actions[::-1])

    def _pick_ups(self, further: list[Any], node: tuple[Any, ...], planet: int, left: int) -> None:
        """Add the pick-ups that make sense."""
        at, energy, _, _, placed, hand, _, _ = node
        room = HAND - sum(hand)
        if self.near_station[at]:  # beside both only the Docks give
            wanted = self.wanted(placed, at, hand) if room else []
            if wanted:
                more = tuple([cards + wanted.count(other) for other, cards in enumerate(hand)])
                price = 1.0 if self.state.table.players == 1 else 0.0
                further.append(((at, energy, False, True, placed, more, 0, -1), -price, PICKUP_STATION))
        elif planet >= 0 and left:
            if not room:
                worst = self.worst(placed, at, hand, planet)
                if worst is None:
                    return
                hand = (*hand[:worst], hand[worst] - 1, *hand[worst + 1 :])
                room = 1
            further.append(((at, energy, False, True, placed, hand, room, planet), 0.0, PICKUP_PLANET))

    def worst(self, placed: tuple[int, ...], at: int, hand: Hand, planet: int) -> int | None:
        """The planet of the card to discard when the hand is full, or None if a new one promises no more."""
        ways = self.road(placed)
        held = [
            (self.card[p] * self.later(max(1.0, ways.to[p][at])), p) for p, cards in enumerate(hand) if cards
        ]
        if not held:
            return None
        value, worst = min(held)
        return worst if value + REPLACE < self.outlook(placed).drawn[planet][at] else None

    def wanted(self, placed: tuple[int, ...], at: int, hand: Hand) -> list[int]:
        """The cards to take from the Docks: of the two planets that are worth most with what is in hand."""
        room = HAND - sum(hand)
        ways, docks = self.road(placed), self.state.cards.docks
        value = {
            p: min(cards, room) * 2.0 * self.later(max(1.0, ways.to[p][at])) + (self.card[p] - 2.0)
            for p, cards in enumerate(docks)
            if cards
        }
        best: Sequence[int] = sorted(value, key=lambda p: -value[p])[:2]
        return [p for p in best for _ in range(docks[p]) if value[p] > 0.2][:room]
