"""The position of captains once the galaxy is laid: tokens and where they lead, cards and what is known of hands."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from warpleague.games.api import CHANCE, Event
from warpleague.games.captains.dealing import Dealing, Options, Plan, Why, first_deal, plan
from warpleague.games.captains.geometry import END, PLACES, WARPS, Action, Galaxy, Layout, Place, Warp
from warpleague.games.values import Cache, copier, each, keyer, mask, members, replaced

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


HAND: Final = 4
"""Cards a hand is filled up to (captains T7)."""
ENERGY: Final = 3
TURN_ACTIONS: Final = 100
"""Actions after which a turn can only be finished (captains T10)."""
TOKENS: Final = 10
"""Tokens of an owner: numbers 1, 1, 2, 2, ... 5, 5 (captains S1)."""
DEALT: Final = (1, 2, 2, 3, 3)
"""Cards dealt to each seat (captains S2)."""

# The stages, ordered: a seat acts before DEAL, chance before OVER.
START, TURN, PICKUP_PLANET, PICKUP_STATION, EMERGE, AI_PLACE, DEAL, DRAW, BLACKHOLE, AI_CARDS, OVER = range(
    11
)
STAGES: Final = (
    "start", "turn", "pickup-planet", "pickup-station", "emerge", "ai-place",
    "deal", "draw", "blackhole", "ai-cards", "over",
)  # fmt: skip

STATION: Final = -1
"""In `State.focus`, where a planet's number could stand."""


class Table:
    """The fixed part of a match once the galaxy is laid, with tables that are filled as they are used."""

    __slots__ = (
        "events", "galaxy", "limited", "moves", "onward", "owners", "plan", "planets", "players", "put", "shut",
        "station_bit", "token_spaces",
    )  # fmt: skip

    def __init__(self, plan: Plan, layout: Layout) -> None:
        self.plan = plan
        self.galaxy: Galaxy = plan.galaxy(layout)
        self.players = plan.players
        self.owners = plan.owners
        self.planets = plan.planets
        self.station_bit = 1 << plan.planets
        self.limited = self.station_bit
        """Bit mask of the planets, and the station, that take one token of an owner (captains T3, G5)."""
        for number, planet in enumerate(self.galaxy.planets):
            if not planet.big:
                self.limited |= 1 << number
        self.put: tuple[int, ...] = tuple(
            (1 << planet if planet >= 0 else 0) | (self.station_bit if station else 0)
            for planet, station in zip(self.galaxy.beside_planet, self.galaxy.beside_station, strict=True)
        )
        """By space: bit mask of the planet and the station beside it."""
        self.token_spaces = mask([space for space, takes in enumerate(self.galaxy.takes_token) if takes])
        self.shut = [0] * (plan.planets + 1)
        """By planet, the station last: the spaces that an owner beside it can no longer use (captains T3)."""
        for space, put in enumerate(self.put):
            for own in members(put & self.limited) if put else ():
                self.shut[own] |= 1 << space
        self.onward = Cache[int, "tuple[Action, ...]"](self._onward)
        """Shots, moves and `end`, by (space << 1 | the deck has a card) << 1 | there is energy."""
        self.events: dict[Any, Event] = {}
        self.moves: dict[int, Event] = {}
        """The events of moves, the most frequent ones, by from, to and seat."""

    def _onward(self, key: int) -> tuple[Action, ...]:
        """What the rest of a turn may be whatever the tokens; the black hole needs a card (captains T9)."""
        galaxy, at = self.galaxy, key >> 2
        shots, moves = (
            (galaxy.shots[at], galaxy.moves[at])
            if key & 2
            else (galaxy.careful_shots[at], galaxy.careful_moves[at])
        )
        if not key & 1:
            moves = tuple([move for move in moves if galaxy.free[at] >> move.to & 1])
        return (*shots, *moves, END)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Table) and self.plan == other.plan and self.galaxy == other.galaxy
        )

    def __hash__(self) -> int:
        return hash(self.galaxy)

    def __reduce__(self) -> tuple[Any, ...]:
        return table, (self.plan, self.galaxy.layout)

    def __repr__(self) -> str:
        return f"Table(players={self.players}, layout={self.galaxy.layout})"


_TABLES: dict[tuple[Plan, Layout], Table] = {}


def table(plan: Plan, layout: Layout) -> Table:
    """The table of a match; the cache has one object for each layout, as long as few are in use."""
    key = (plan, layout)
    cached = _TABLES.get(key)
    if cached is None:
        if len(_TABLES) >= 64:
            _TABLES.clear()
        cached = _TABLES[key] = Table(plan, layout)
    return cached


@attrs.define
class Tokens:
    """The tokens placed: `stacks` holds for each owner the spaces in order, so token i has number i // 2 + 1.

    The other fields follow from it: who stands where, which planets (and the station) each owner is beside, as
    bit masks, which planets have any token beside them, and, also as bit masks, the spaces on which the next token of
    each owner may go, wherever its ship is (captains G3, T3).
    """

    stacks: tuple[tuple[int, ...], ...]
    at: dict[int, tuple[int, int]] = attrs.field(eq=False)
    """Space to owner and place in the stack."""
    near: tuple[int, ...] = attrs.field(eq=False)
    reached: int = attrs.field(eq=False)
    open: tuple[int, ...] = attrs.field(eq=False)


def tokens_of(table: Table, stacks: tuple[tuple[int, ...], ...]) -> Tokens:
    """The tokens that `stacks` describes."""
    at = {space: (owner, i) for owner, stack in enumerate(stacks) for i, space in enumerate(stack)}
    empty = table.token_spaces & ~mask(at)
    near, open_, reached = [], [], 0
    for stack in stacks:
        put, shut = 0, 0
        for space in stack:
            put |= table.put[space]
        for own in members(put):
            shut |= table.shut[own]
        near.append(put)
        reached |= put
        open_.append(empty & ~shut if len(stack) < TOKENS else 0)
    return Tokens(stacks, at, tuple(near), reached & ~table.station_bit, tuple(open_))


def add_token(table: Table, tokens: Tokens, owner: int, space: int) -> Tokens:
    """The tokens after `owner` has placed its next one on `space`."""
    stack = (*tokens.stacks[owner], space)
    put = table.put[space]
    open_ = [spaces & ~(1 << space) for spaces in tokens.open]
    for own in members(put):
        open_[owner] &= ~table.shut[own]
    if len(stack) == TOKENS:
        open_[owner] = 0
    return Tokens(
        replaced(tokens.stacks, owner, stack),
        {**tokens.at, space: (owner, len(stack) - 1)},
        replaced(tokens.near, owner, tokens.near[owner] | put),
        tokens.reached | put & ~table.station_bit,
        tuple(open_),
    )


PLACES_AT: Final[Cache[int, tuple[Place, ...]]] = Cache(
    lambda spaces: tuple([PLACES[at] for at in members(spaces)]), 1 << 14
)


def places(table: Table, tokens: Tokens, owner: int, ship: int) -> tuple[Place, ...]:
    """Where `owner` may place its next token with its ship on space `ship`, ascending (captains T3)."""
    return PLACES_AT[table.galaxy.places[ship] & tokens.open[owner]]


def pair(tokens: Tokens, space: int) -> int:
    """The other end of the active token on `space`, or -1 if there is none."""
    here = tokens.at.get(space)
    if here is None:
        return -1
    owner, i = here
    stack = tokens.stacks[owner]
    return stack[i ^ 1] if i ^ 1 < len(stack) else -1


def warps(table: Table, tokens: Tokens, owner: int, ship: int) -> tuple[Warp, ...]:
    """Where `owner` may warp to from space `ship`, ascending (captains T5); no wild wormhole takes a token."""
    here = tokens.at.get(ship)
    if here is None:
        number, stack = table.galaxy.wild[ship], tokens.stacks[owner]
        targets = stack[2 * number - 2 : 2 * number] if number and len(stack) >= 2 * number else ()
    else:
        whose, i = here
        stack = tokens.stacks[whose]
        if i ^ 1 == len(stack):
            return ()
        targets = stack[i ^ 1 : (i ^ 1) + 1]
        if whose == owner:
            targets += table.galaxy.wilds.get(i // 2 + 1, ())
    if len(targets) == 1:
        return (WARPS[targets[0]],)
    return tuple([WARPS[to] for to in sorted(targets)])


# -- public knowledge of a hand --------------------------------------------------------------------------
#
# Public knowledge of a seat's hand: cards taken in the open, and what drawn cards cannot be.
#
# A hand is the cards known for sure and hidden ones. Each card drawn from the deck fills a slot, which carries
# the planets it cannot be: the planet it was drawn at (captains T7) and every planet delivered to since, since a
# delivery takes all cards of its planet (captains T6). When a hidden card leaves in the open, it may not be
# clear which slot it filled; then the slot stays, with a note that one of certain slots is spent. Hidden cards
# are possible exactly when they and the spent ones can be matched to the slots. This is all that a perfect
# memory can deduce from the events.


@attrs.define
class Known:
    """Public knowledge of one hand.

    `sure` counts, by planet, cards taken from the Docks and not yet played. `slots` holds for each card drawn from
    the deck a bit mask of the planets it cannot be. `spent` holds for each such card that has left, but could
    not be pinned to a slot, its planet and a bit mask of the slots it may have filled.
    """

    sure: tuple[int, ...]
    slots: tuple[int, ...] = ()
    spent: tuple[tuple[int, int], ...] = ()

    @property
    def hidden(self) -> int:
        """How many cards of the hand are hidden."""
        return len(self.slots) - len(self.spent)

    def drawn(self, not_planet: int) -> Known:
        """After a hidden card came in; it is not of `not_planet` (-1: it may be of any)."""
        excluded = 1 << not_planet if not_planet >= 0 else 0
        return Known(self.sure, (*self.slots, excluded), self.spent)

    def taken(self, planet: int) -> Known:
        """After a card of `planet` was taken from the Docks."""
        sure = self.sure
        return Known((*sure[:planet], sure[planet] + 1, *sure[planet + 1 :]), self.slots, self.spent)

    def left(self, planet: int, cards: int, none_remain: bool) -> Known:
        """After `cards` cards of `planet` left in the open; `none_remain` when those were all of them."""
        sure, slots, spent = self.sure, self.slots, self.spent
        open_cards = min(cards, sure[planet])
        if open_cards:
            sure = (*sure[:planet], sure[planet] - open_cards, *sure[planet + 1 :])
        for _ in range(cards - open_cards):
            could = _fitting(slots, planet)
            slots, spent = _settle(slots, (*spent, (planet, could)))
        if none_remain:
            slots, spent = _settle(tuple([excluded | 1 << planet for excluded in slots]), spent)
        return Known(sure, slots, spent)

    def allows(self, hidden: Sequence[int]) -> bool:
        """Whether the hidden cards may be `hidden`, a list of planets; it may hold fewer than there are."""
        slots = self.slots
        fits = [could for _, could in self.spent]
        fits += [_fitting(slots, planet) for planet in hidden]
        filled: dict[int, int] = {}

        def seat(card: int, tried: list[int]) -> bool:  # an augmenting path of a bipartite matching
            for slot in range(len(slots)):
                bit = 1 << slot
                if fits[card] & bit and not tried[0] & bit:
                    tried[0] |= bit
                    if slot not in filled or seat(filled[slot], tried):
                        filled[slot] = card
                        return True
            return False

        return all(seat(card, [0]) for card in range(len(fits)))


def _fitting(slots: tuple[int, ...], planet: int) -> int:
    """Bit mask of the slots that a card of `planet` can fill."""
    fitting, bit = 0, 1
    for excluded in slots:
        if not excluded >> planet & 1:
            fitting |= bit
        bit <<= 1
    return fitting


_SLOTS: Final[Cache[int, list[int]]] = Cache(members)
"""The slots of a bit mask."""


@lru_cache(maxsize=4096)
def _settle(
    slots: tuple[int, ...], spent: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """The same knowledge with spent cards pinned to slots, and both dropped, where that loses nothing.

    Of the slots a spent card may have filled, one that is at most as useful as every other (it excludes all
    that the other does, and no further spent card may have filled it but not the other) can be taken: in any
    matching that uses another the two can be swapped.
    """
    if len(slots) == len(spent):
        return (), ()
    pinned = 0
    while pinned >= 0:
        pinned = -1
        for card, (_, could) in enumerate(spent):
            excluded = wanted = 0
            options = _SLOTS[could]
            for i in options:
                excluded |= slots[i]
            for _, other in spent:
                if could & ~other:
                    wanted |= other
            for i in options:
                if slots[i] == excluded and not wanted >> i & 1:
                    pinned = i
                    break
            if pinned >= 0:
                low = (1 << pinned) - 1
                slots = slots[:pinned] + slots[pinned + 1 :]
                rest = spent[:card] + spent[card + 1 :]
                spent = tuple([(planet, other & low | (other >> 1) & ~low) for planet, other in rest])
                break
    return slots, spent


# -- the position ----------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Cards:
    """Where the passengers are: counts by planet. `left` is the number of cards in the deck.

    `piles` are what each owner has delivered. `news` is what changes the public knowledge of hands (`known`), but is
    not worked out yet: for each event a seat, a method of `Known`, and its arguments.
    """

    deck: tuple[int, ...]
    left: int
    docks: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...]
    piles: tuple[tuple[int, ...], ...]
    _known: tuple[Known, ...] = attrs.field(eq=False)
    news: tuple[tuple[Any, ...], ...] = attrs.field(default=(), eq=False)

    @property
    def known(self) -> tuple[Known, ...]:
        """What everybody knows of each hand.

        Worked out when somebody asks, since a playout never does: it would take a sixth of its time.
        """
        if self.news:
            known = list(self._known)
            for seat, learn, *facts in self.news:
                known[seat] = learn(known[seat], *facts)
            self._known, self.news = tuple(known), ()
        return self._known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cards) and _cards_key(self) == _cards_key(other)


@attrs.define
class State:
    """A position once the galaxy is laid. `seat` has the turn, `stage` says what is to happen next.

    `energy` and `steps` (actions done), `warped` (the last of them was a warp) and `picked` (a pick-up was
    begun) are of this turn. `ships` are spaces, -1 before the start. `points` are point tokens. `explorers` are
    the owners of the exploration tokens taken, in order. `last_round` is the round after which the game ends, as
    it stands, and `why` the reason. `focus` is the planet a pick-up or black hole is about, the planet the AI
    is at (or `STATION`), or how many cards it discards yet; `taken` is a bit mask of planets taken from the
    Docks in this pick-up.
    """

    table: Table
    stage: int
    seat: int
    round: int
    energy: int
    steps: int
    warped: bool
    picked: bool
    ships: tuple[int, ...]
    tokens: Tokens
    cards: Cards
    points: tuple[int, ...]
    explorers: tuple[int, ...]
    retired: tuple[int, ...]
    last_round: int
    why: Why
    focus: int
    taken: int


_fresh: Final = copier(State)
fresh_cards: Final = copier(Cards)
"""A copy of the cards, to be changed before anybody else sees them."""


def copied(state: Position) -> Position:
    """A copy, whose fields a move may change; their values are never changed, nor is a galaxy that is being laid."""
    return _fresh(state) if isinstance(state, State) else state


_counts_key: Final = keyer(Cards)
_known_key: Final = each(keyer(Known))


def _cards_key(cards: Cards) -> Hashable:
    return _counts_key(cards), _known_key(cards.known)


_state_key: Final = keyer(State, tokens=keyer(Tokens), cards=_cards_key)
_dealing_key: Final = keyer(Dealing)


def key(state: Position) -> Hashable:
    """The key of a position."""
    return _state_key(state) if isinstance(state, State) else _dealing_key(state)


def changed(counts: tuple[int, ...], at: int, by: int) -> tuple[int, ...]:
    """`counts` with the number at `at` raised by `by`."""
    return (*counts[:at], counts[at] + by, *counts[at + 1 :])


# -- the game before and after the galaxy is laid --------------------------------------------------------

Position: TypeAlias = State | Dealing
"""With the galaxy laid, or being laid."""

_SEATS: Final = tuple((seat,) for seat in range(5))


def initial(players: int, options: Options) -> Position:
    """No board is laid."""
    return first_deal(plan(players, options))


def match_of(state: Position) -> tuple[int, Options]:
    """Both are in the plan; pattern and AI are filled in."""
    plan = state.table.plan if isinstance(state, State) else state.plan
    return plan.players, plan.options


def actors(state: Position) -> tuple[int, ...]:
    """The seat whose turn it is, also where it decides for the AI, or the deck and the boards."""
    if isinstance(state, State):
        stage = state.stage
        if stage < DEAL:
            return _SEATS[state.seat]
        return () if stage == OVER else (CHANCE,)
    return () if len(state.retired) == state.plan.players else (CHANCE,)
