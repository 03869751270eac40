"""Plays a position of captains on at random, in place: the rules of `legal`, `rules` and `turns` again, for speed.

The position is in lists and bit masks here, and changes. No action, event or list of legal actions is made: a seat's
actions are counted, and a number below the count chooses one by the canonical order. The contract suite plays every
rollout by the engine, too, and compares the positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Rollout
from warpleague.games.captains.dealing import DECK_EMPTY, EXPLORED, MAX_ROUNDS
from warpleague.games.captains.score import result
from warpleague.games.captains.state import (
    BLACKHOLE,
    DEAL,
    DEALT,
    DRAW,
    EMERGE,
    ENERGY,
    HAND,
    OVER,
    PICKUP_PLANET,
    PICKUP_STATION,
    START,
    STATION,
    TOKENS,
    TURN,
    TURN_ACTIONS,
    Cards,
    Position,
    State,
    Tokens,
)
from warpleague.games.values import CacheByIdentity, mask, members

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.api import Outcome, Rolled, Weights
    from warpleague.games.captains.dealing import Why
    from warpleague.games.captains.memory import Known
    from warpleague.games.captains.state import Table

    Random = Callable[[], float]
    Roll = Callable[[str, tuple[Weights, ...]], Rolled]

_LEFT, _TAKEN, _DRAWN = range(3)
"""How a card changes what is known of a hand."""


class Board:
    """The tables of a galaxy as numbers and bit masks of spaces."""

    def __init__(self, table: Table) -> None:
        galaxy = table.galaxy
        moves, careful = _targets(galaxy.moves), _targets(galaxy.careful_moves)
        self.moves = (
            (_free(careful, galaxy.free), careful),
            (_free(moves, galaxy.free), moves),
        )
        """By: whether the deck has a card, whether there is energy, and space."""
        self.shots = (_targets(galaxy.careful_shots), _targets(galaxy.shots))
        """By: whether the deck has a card, and space."""
        self.places = tuple([mask([place.at for place in places]) for places in galaxy.places])
        self.tokens = mask([space for space, takes in enumerate(galaxy.takes_token) if takes])
        self.shut = tuple(
            [
                mask(
                    [
                        space
                        for space, put in enumerate(table.put)
                        if put >> own & 1 and table.limited >> own & 1
                    ]
                )
                for own in range(table.planets + 1)
            ]
        )
        """By planet, the station last: the spaces that an owner beside it can no longer use (captains T3)."""


def _targets(rows: Sequence[Sequence[Any]]) -> tuple[tuple[int, ...], ...]:
    return tuple([tuple([action.to for action in row]) for row in rows])


def _free(rows: tuple[tuple[int, ...], ...], free: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple([tuple([to for to in row if free[at] >> to & 1]) for at, row in enumerate(rows)])


_BOARDS: Final[CacheByIdentity[Table, Board]] = CacheByIdentity(Board, 64)


def rollout(state: Position) -> CaptainsRollout | None:
    """A rollout of `state`; None (by the engine) for a solo game, or before the galaxy is laid."""
    return CaptainsRollout(state) if isinstance(state, State) and state.table.players > 1 else None


class CaptainsRollout(Rollout[Position]):
    """The fields are those of `State`, `Cards` and `Tokens`, as lists where they change in parts."""

    __slots__ = (
        "at", "board", "card_log", "deck", "docks", "energy", "explorers", "first", "focus", "hands", "in_hand",
        "last_round", "left", "most", "near", "open", "picked", "piles", "points", "reached", "retired", "round",
        "seat", "ships", "stacks", "stage", "steps", "table", "taken", "warped", "why",
    )  # fmt: skip

    def __init__(self, state: State) -> None:
        self.first = state
        self.table = state.table
        self.board = board = _BOARDS[state.table]
        self.stage, self.seat, self.round = state.stage, state.seat, state.round
        self.energy, self.steps, self.warped, self.picked = (
            state.energy,
            state.steps,
            state.warped,
            state.picked,
        )
        self.ships, self.points, self.explorers = list(state.ships), list(state.points), list(state.explorers)
        self.retired, self.last_round, self.why = state.retired, state.last_round, state.why
        self.focus, self.taken = state.focus, state.taken
        cards, tokens = state.cards, state.tokens
        self.deck, self.left, self.docks = list(cards.deck), cards.left, list(cards.docks)
        self.hands, self.piles = [list(hand) for hand in cards.hands], [list(pile) for pile in cards.piles]
        self.in_hand = [sum(hand) for hand in cards.hands]
        self.card_log: list[tuple[int, int, int, int]] = []
        """What changes the public knowledge of hands, which is worked out only for `position`: kind, seat, and two
        numbers that depend on the kind."""
        self.stacks = [list(stack) for stack in tokens.stacks]
        self.at = dict(tokens.at)
        self.near, self.reached = list(tokens.near), tokens.reached
        self.open = []
        """By owner: the spaces where it may place a token, wherever its ship is (captains G3, T3)."""
        empty = board.tokens & ~mask(tokens.at)
        for stack, near in zip(tokens.stacks, tokens.near, strict=True):
            shut = 0
            for own in members(near):
                shut |= board.shut[own]
            self.open.append(empty & ~shut if len(stack) < TOKENS else 0)
        self.most = -1

    def play(self, random: Random, most: int = -1, roll: Roll | None = None) -> None:
        """See `Rollout.play`."""
        self.most = most
        while self.most and self.stage != OVER:
            stage = self.stage
            if stage == TURN:
                self._turn(random)
            elif stage == PICKUP_PLANET:
                self._at_planet(random)
            elif stage == PICKUP_STATION:
                self._at_station(random)
            elif stage == START:
                self._start(random)
            elif stage == EMERGE:
                self._emerge(random)
            else:
                self._turn_card(random, roll)

    def _below(self, count: int, random: Random) -> int:
        """A number below `count`, each equally likely: a decision, if there is a choice."""
        if count == 1:
            return 0
        self.most -= 1
        return int(random() * count)

    # -- a turn --------------------------------------------------------------------------------------------

    def _turn(self, random: Random) -> None:
        """Decisions of a turn, up to its end, another stage, or the last decision asked for (captains T1 to T10)."""
        galaxy, board, seat, ships = self.table.galaxy, self.board, self.seat, self.ships
        beside_planet, beside_station, wild = galaxy.beside_planet, galaxy.beside_station, galaxy.wild
        hand, open_, token_at, most = self.hands[seat], self.open[seat], self.at, self.most
        any_left = self.left > 0
        moves, shots = board.moves[any_left], board.shots[any_left]
        steps, energy, warped, picked = self.steps, self.energy, self.warped, self.picked
        at = ships[seat]
        ends = False
        while most:
            if steps >= TURN_ACTIONS:
                ends = True
                break
            planet = beside_planet[at]
            station = beside_station[at]
            # By the canonical order: delivery, pick-up, places, warps, shots, moves, end.
            delivers = 1 if planet >= 0 and hand[planet] else 0
            picks = 1 if not picked and (station or (planet >= 0 and any_left)) else 0
            places = board.places[at] & open_
            place_count = places.bit_count()
            warps: Sequence[int] = self._warps(at) if not warped and (at in token_at or wild[at]) else ()
            here = moves[energy > 0][at]
            before = delivers + picks + place_count + len(warps) + len(shots[at])
            count = before + len(here) + 1
            if count == 1:
                number = 0
            else:
                most -= 1
                number = int(random() * count)
            if number == count - 1:
                ends = True
                break
            steps += 1
            if number >= before:
                to = here[number - before]
                if not galaxy.free[at] >> to & 1:
                    energy -= 1
                ships[seat] = at = to
                warped = False
                if galaxy.blackhole[to]:
                    self.stage = BLACKHOLE
                    break
                continue
            if number < delivers:
                self._deliver(planet)
                warped = False
                continue
            number -= delivers
            if number < picks:
                warped, picked = False, True
                self.stage = PICKUP_STATION if station else PICKUP_PLANET
                if not station:
                    self.focus = planet
                break
            number -= picks
            if number < place_count:
                for _ in range(number):
                    places &= places - 1
                self._place((places & -places).bit_length() - 1)
                open_ = self.open[seat]
                warped = False
                continue
            number -= place_count
            if number < len(warps):
                owner = token_at[at][0] if at in token_at else seat
                if owner != seat:
                    self.points[owner] += 1
                ships[seat] = at = warps[number]
                warped = True
                continue
            ships[seat] = at = shots[at][number - len(warps)]
            warped = False
            if galaxy.blackhole[at]:
                self.stage = BLACKHOLE
                break
        self.steps, self.energy, self.warped, self.picked, self.most = steps, energy, warped, picked, most
        if ends:
            self._next_seat()

    def _warps(self, at: int) -> list[int]:
        """Where the seat may warp to from `at` (captains T5)."""
        targets: list[int] = []
        own = self.stacks[self.seat]
        if at in self.at:
            owner, i = self.at[at]
            stack = self.stacks[owner]
            if i ^ 1 < len(stack):
                targets.append(stack[i ^ 1])
                if owner == self.seat:
                    targets += self.table.galaxy.wilds.get(i // 2 + 1, ())
        number = self.table.galaxy.wild[at]
        if number and len(own) >= 2 * number:
            targets += own[2 * number - 2 : 2 * number]
        targets.sort()
        return targets

    def _deliver(self, planet: int) -> None:
        """All cards of the planet (captains T6)."""
        seat = self.seat
        count = self.hands[seat][planet]
        self.hands[seat][planet] = 0
        self.in_hand[seat] -= count
        self.piles[seat][planet] += count
        self.card_log.append((_LEFT, seat, planet, count))

    def _place(self, space: int) -> None:
        """The next token of the seat (captains T3, T4, E1)."""
        seat, table = self.seat, self.table
        stack = self.stacks[seat]
        self.at[space] = (seat, len(stack))
        stack.append(space)
        empty = ~(1 << space)
        self.open = [spaces & empty for spaces in self.open]
        put = table.put[space]
        if put:
            self.near[seat] |= put
            for own in members(put):
                self.open[seat] &= ~self.board.shut[own]
        if len(stack) >= TOKENS:
            self.open[seat] = 0
        reached = self.reached
        self.reached = reached | put & ~table.station_bit
        if self.reached != reached:
            self.explorers.append(seat)
            self._count_down()

    # -- the other decisions -------------------------------------------------------------------------------

    def _start(self, random: Random) -> None:
        """The first token, beside the station (captains S3)."""
        open_ = self.open[self.seat]
        spaces = [action.at for action in self.table.galaxy.starts if open_ >> action.at & 1]
        if self.table.plan.rules > 1:
            spaces = [space for space in spaces if space not in self.ships] or spaces
        space = spaces[self._below(len(spaces), random)]
        self.ships[self.seat] = space
        self.steps += 1
        self.stage = TURN
        self._place(space)

    def _at_planet(self, random: Random) -> None:
        """Discards, then the cards (captains T7)."""
        hand, room = self.hands[self.seat], self.in_hand[self.seat] < HAND
        held = [] if room and self.steps >= TURN_ACTIONS else [p for p, cards in enumerate(hand) if cards]
        number = self._below(len(held) + room, random)
        self.steps += 1
        if number < len(held):
            self._discard(held[number])
        else:
            self.stage = DRAW

    def _at_station(self, random: Random) -> None:
        """Discards, then cards of the Docks, of at most two planets (captains T7)."""
        seat, taken = self.seat, self.taken
        discards: list[int] = []
        takes: list[int] = []
        if self.steps < TURN_ACTIONS:
            if not taken:
                discards = [planet for planet, cards in enumerate(self.hands[seat]) if cards]
            if self.in_hand[seat] < HAND:
                full = taken.bit_count() >= 2
                takes = [p for p, cards in enumerate(self.docks) if cards and (not full or taken >> p & 1)]
        number = self._below(len(discards) + len(takes) + 1, random)
        self.steps += 1
        if number < len(discards):
            self._discard(discards[number])
        elif number < len(discards) + len(takes):
            planet = takes[number - len(discards)]
            self.taken |= 1 << planet
            self.docks[planet] -= 1
            self.hands[seat][planet] += 1
            self.in_hand[seat] += 1
            self.card_log.append((_TAKEN, seat, planet, 1))
        else:
            self.stage, self.taken = TURN, 0

    def _discard(self, planet: int) -> None:
        seat = self.seat
        self.docks[planet] += 1
        self.hands[seat][planet] -= 1
        self.in_hand[seat] -= 1
        self.card_log.append((_LEFT, seat, planet, 0))

    def _emerge(self, random: Random) -> None:
        """Beside the planet that the black hole revealed (captains T9)."""
        spaces = self.table.galaxy.emerges[self.focus]
        self.ships[self.seat] = spaces[self._below(len(spaces), random)].at
        self.steps += 1
        self.stage, self.focus = TURN, STATION

    # -- cards, and who comes next -------------------------------------------------------------------------

    def _turn_card(self, random: Random, roll: Roll | None) -> None:
        """The top card of the deck is turned or dealt (captains C2)."""
        seat, stage, deck = self.seat, self.stage, self.deck
        planet = 0
        if roll is None:
            rest = random() * self.left - deck[0]
            while rest >= 0:
                planet += 1
                rest -= deck[planet]
        else:
            address = f"seat {seat} black hole" if stage == BLACKHOLE else f"seat {seat}"
            planet = roll(address, (tuple(deck),))[0]
        deck[planet] -= 1
        self.left -= 1
        if stage == BLACKHOLE:  # captains T9
            self.docks[planet] += 1
            self.stage, self.focus = EMERGE, planet
        elif stage == DRAW and planet == self.focus:  # captains T7
            self.docks[planet] += 1
        else:
            self.hands[seat][planet] += 1
            self.in_hand[seat] += 1
            self.card_log.append((_DRAWN, seat, self.focus, 0))
        if not self.left or len(self.explorers) == self.table.planets:
            self._count_down()
        if stage == DRAW and (not self.left or self.in_hand[seat] >= HAND):
            self.stage, self.focus = TURN, STATION
        elif stage == DEAL and self.in_hand[seat] == DEALT[seat]:
            if seat + 1 < self.table.players:
                self.seat = seat + 1
            else:
                self.seat = -1
                self._next_seat()

    def _count_down(self) -> None:
        """Bring the last round nearer (captains E1)."""
        ends: list[tuple[int, Why]] = []
        if len(self.explorers) == self.table.planets:
            ends.append((self.round + 3, EXPLORED))
        if not self.left:
            ends.append((self.round + 1, DECK_EMPTY))
        for last, reason in ends:
            if last < self.last_round or (last == self.last_round and self.why == MAX_ROUNDS):
                self.last_round, self.why = last, reason

    def _next_seat(self) -> None:
        """The turn goes to the next seat that has not retired, or the game ends."""
        seat = self.seat + 1
        while True:
            if seat == self.table.players:
                seat = 0
                if self.round == self.last_round:
                    self.stage, self.focus, self.taken = OVER, STATION, 0
                    return
                self.round += 1
            if seat not in self.retired:
                break
            seat += 1
        self.seat = seat
        self.stage = START if self.ships[seat] < 0 else TURN
        self.energy, self.steps, self.warped, self.picked = ENERGY, 0, False, False
        self.focus, self.taken = STATION, 0

    # -- what came of it -----------------------------------------------------------------------------------

    def position(self) -> State:
        """See `Rollout.position`."""
        cards = Cards(
            tuple(self.deck),
            self.left,
            tuple(self.docks),
            tuple(map(tuple, self.hands)),
            tuple(map(tuple, self.piles)),
            self._known(),
        )
        return State(
            self.table,
            self.stage,
            self.seat,
            self.round,
            self.energy,
            self.steps,
            self.warped,
            self.picked,
            tuple(self.ships),
            self._tokens(),
            cards,
            tuple(self.points),
            tuple(self.explorers),
            self.retired,
            self.last_round,
            self.why,
            self.focus,
            self.taken,
        )

    def _tokens(self) -> Tokens:
        first = self.first.tokens
        if len(self.at) == len(first.at):
            return first
        return Tokens(tuple(map(tuple, self.stacks)), dict(self.at), tuple(self.near), self.reached, {})

    def _known(self) -> tuple[Known, ...]:
        """What everybody knows of the hands, from what happened to the cards."""
        known = list(self.first.cards.known)
        for kind, seat, planet, count in self.card_log:
            if kind == _DRAWN:
                known[seat] = known[seat].drawn(planet)
            elif kind == _TAKEN:
                known[seat] = known[seat].taken(planet)
            else:
                known[seat] = known[seat].left(planet, count or 1, none_remain=count > 0)
        return tuple(known)

    def outcome(self) -> Outcome:
        """See `Rollout.outcome`."""
        return result(self.table.players, self.explorers, self.points, self.piles, self.retired, self.why)
