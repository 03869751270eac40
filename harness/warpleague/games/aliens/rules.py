"""The rules of aliens: which actions are legal, in canonical order, what a move does, and who has won.

The canonical order: `place` by suit, value, then square; `send` by square (by y, then x); the uses of dice by ship,
then by way, `decline` last. What a move does is done to the position itself, and what happens is added to `events`
unless that is None. The fast path is a die that ends on an empty square; all else goes through `_activate` and
`_settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

import attrs

from warpleague.games.aliens import events as make
from warpleague.games.aliens.geometry import (
    ACTIONS,
    COUNT,
    DECLINES,
    DECLINING,
    DIE_REACH,
    HOME,
    INDEX,
    JUMP_WAYS,
    ORDERS,
    PLACES,
    SEND_TARGETS,
    SENDS,
    SHIPS,
    TARGET,
    USES,
    Action,
    Order,
    Place,
    Reach,
    Send,
)
from warpleague.games.aliens.state import (
    DICE,
    END,
    JUMP,
    NO_DICE,
    NO_HOLES,
    NOBODY,
    OPENING_ROLL,
    ORDER,
    PLACE,
    ROLL,
    SEATS,
    SEND,
    TURN,
    Cascade,
    Rules,
    State,
    Why,
    copied,
)
from warpleague.games.api import Event, Events, Outcome, Rolled, Weights
from warpleague.games.reading import ActionReader
from warpleague.games.values import Cache, encoded, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


T = TypeVar("T")

SENDS_WITH_HOLES: Final = 16
"""How many sends of one die use may choose squares with wormholes (aliens T8)."""

_READER: Final = ActionReader(ACTIONS)


def legal(state: State, seat: int) -> Sequence[Action]:
    """Everything `seat` may do now; nothing unless it must act."""
    return state.legal if seat in state.actors else ()


def legal_json(state: State, seat: int, legal: Sequence[Action]) -> bytes | None:
    """The JSON of the long lists, which are hundreds of actions."""
    return legal.json() if isinstance(legal, LazyActions) else None


_ASKS: Final = ("", "order", "place", "", "turn", "jump", "send", "")


def ask(state: State, seat: int) -> str:
    """`order`, `place`, `turn`, `jump` or `send`."""
    return _ASKS[state.phase]


def parse(state: State, seat: int, data: object) -> Action:
    """The action of `seat` that `data` describes; `ActionError` if it is none, or not legal now."""
    action: Action = _READER.parse(data, legal(state, seat), lambda action: _why_not(state, seat, action))
    return action


def _why_not(state: State, seat: int, action: Action) -> str:
    """Why an action of the kind that is due is not legal."""
    own = SHIPS[2 * seat : 2 * seat + 2]
    if isinstance(action, Place) and state.phase == PLACE:
        suit = SHIPS.index(action.suit)
        values = [value for value in range(6) if suit * 6 + value not in state.holes]
        if action.suit not in own:
            return f"your suits are {' and '.join(own)}"
        if action.value not in values:
            return f"of {action.suit} you have {', '.join(map(str, values)) or 'nothing left'}"
        if action.at not in INDEX:
            return "there is no such square"
        return "the square has a base or a wormhole"
    if isinstance(action, Send) and state.phase == SEND:
        if action.to not in INDEX:
            return "there is no such square"
        if INDEX[action.to] in state.ships:
            return "there is a ship on this square"
        return f"after {SENDS_WITH_HOLES} sends of one die no wormhole may be chosen"
    if action in USES and state.phase == TURN:
        ship = SHIPS[USES[action][0]]
        die = state.dice[USES[action][0] & 1]
        if ship not in own:
            return f"your ships are {' and '.join(own)}"
        return f"the die of {ship} is {die or 'null'}" if die >= 0 else f"{ship} has no die to use"
    return ""


# -- the uses of dice --------------------------------------------------------------------------------------


def _avoiding(key: tuple[int, int, int, int]) -> tuple[Action, ...]:
    """The moves of a ship from a square by a die that do not end on square `other`, where its sister stands."""
    ship, number, die, other = key
    row = (number * 6 + die) * 8
    actions, _ = DIE_REACH[ship][number * 6 + die]
    return tuple([action for action in actions if TARGET[row + USES[action][1]] != other])


_AVOIDING: Final = Cache(_avoiding, 1 << 16)


def turn_actions(
    rules: Rules, seat: int, ships: tuple[int, ...], dice: tuple[int, int]
) -> tuple[Action, ...]:
    """The legal actions of `seat` with its unused dice: by ship, its moves by way or `stay`, then `decline`."""
    actions: tuple[Action, ...] = ()
    ship = 2 * seat
    for die in dice:
        if die >= 0:
            number, other = ships[ship], ships[ship ^ 1]
            uses, ends = DIE_REACH[ship][number * 6 + die]
            if other in ends:  # aliens T1
                uses = _AVOIDING[ship, number, die, other]
            # aliens E1: a die that cannot be used cannot be declined either.
            if rules.both_ships and uses and HOME[number] == 1 - seat:
                uses += (DECLINES[ship],)
            actions += uses
        ship += 1
    return actions


# -- jumps, sends, placements ------------------------------------------------------------------------------


def jump_actions(reach: Reach, number: int, coin: int, other: int) -> tuple[Action, ...]:
    """The jumps of `reach`, from square `number` by `coin`, that do not end on the sister's square `other`."""
    actions, ends = reach
    if other not in ends:
        return actions
    row = (number * 6 + coin % 6) * 8
    return tuple(action for action in actions if TARGET[row + JUMP_WAYS[action]] != other)


def send_actions(ships: tuple[int, ...], holes: tuple[int, ...], sends: int) -> Sequence[Action]:
    """Where a ship may be sent when `sends` have been made by this die use (aliens T6, T8)."""
    occupied = sorted(set(ships))
    if sends < SENDS_WITH_HOLES:
        return Sendings(occupied)
    return tuple(SENDS[number] for number in range(COUNT) if holes[number] < 0 and number not in occupied)


_NO_BASES: Final = tuple(number for number in range(COUNT) if HOME[number] < 0)


def placements(holes: tuple[int, ...], seat: int) -> Placements:
    """Every coin `seat` has not placed on every square without base or wormhole (aliens P2)."""
    placed = set(holes)
    hands = [tuple([coin for coin in range(12 * s, 12 * s + 12) if coin not in placed]) for s in (0, 1)]
    squares = tuple([number for number in _NO_BASES if holes[number] < 0])
    return Placements(hands[seat], squares, hands[1 - seat])


def _json(actions: Iterable[Action]) -> tuple[bytes, ...]:
    return tuple([encoded({"do": action.do, **attrs.asdict(action)}) for action in actions])


_PLACES_JSON: Final[Cache[int, tuple[bytes, ...]]] = Cache(lambda coin: _json(PLACES[coin]))
"""By coin and square."""


@cache
def _sends_json() -> tuple[bytes, ...]:
    return _json(SENDS)


class LazyActions(Sequence[Action]):
    """A long list of legal actions that is not stored.

    `_at` gives the item of an index from 0, or raises IndexError; `_place` gives the index of an item.
    """

    __slots__ = ()

    def _at(self, index: int) -> Action:
        raise NotImplementedError

    def _place(self, action: Any) -> int:
        raise NotImplementedError

    def index(self, action: Any, start: int = 0, stop: int = 1 << 31) -> int:
        """Where `action` is; the list is not looked through."""
        place = self._place(action) if action in self else -1
        if not start <= place < stop:
            raise ValueError("no such action")
        return place

    def json(self) -> bytes:
        """The list as JSON."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> Action: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Action, ...]: ...
    def __getitem__(self, index: int | slice) -> Action | tuple[Action, ...]:
        if isinstance(index, slice):
            return tuple(self._at(i) for i in range(*index.indices(len(self))))
        if index < 0:
            index += len(self)
            if index < 0:
                raise IndexError("no such action")
        return self._at(index)


class Placements(LazyActions):
    """Every coin in the hand on every free square: by suit, value, then square."""

    __slots__ = ("coins", "others", "squares")

    def __init__(self, coins: tuple[int, ...], squares: tuple[int, ...], others: tuple[int, ...]) -> None:
        self.coins = coins
        self.squares = squares
        self.others = others
        """The coins in the other hand."""

    def after(self, coin: int, number: int) -> Placements:
        """Those of the other seat when `coin` has been placed on square `number`."""
        coins, squares = list(self.coins), list(self.squares)
        coins.remove(coin)
        squares.remove(number)
        return Placements(self.others, tuple(squares), tuple(coins))

    def __len__(self) -> int:
        return len(self.coins) * len(self.squares)

    def _at(self, index: int) -> Action:
        coin, square = divmod(index, len(self.squares))
        return PLACES[self.coins[coin]][self.squares[square]]

    def __iter__(self) -> Iterator[Action]:
        return chain.from_iterable([map(PLACES[coin].__getitem__, self.squares) for coin in self.coins])

    def json(self) -> bytes:
        """The list as JSON."""
        free = itemgetter(*self.squares)  # there are always many more squares than coins
        return b"[%b]" % b",".join([b",".join(free(_PLACES_JSON[coin])) for coin in self.coins])

    def _place(self, action: Any) -> int:
        coin = self.coins.index(SHIPS.index(action.suit) * 6 + action.value)
        return coin * len(self.squares) + self.squares.index(INDEX[action.at])

    def __contains__(self, action: object) -> bool:
        return (
            isinstance(action, Place)
            and SHIPS.index(action.suit) * 6 + action.value in self.coins
            and 0 <= action.value < 6
            and INDEX.get(action.at, -1) in self.squares
        )


class Sendings(LazyActions):
    """Every square but the occupied ones, in the order of their numbers."""

    __slots__ = ("occupied",)

    def __init__(self, occupied: list[int]) -> None:
        """`occupied` ascends."""
        self.occupied = occupied

    def __len__(self) -> int:
        return COUNT - len(self.occupied)

    def _at(self, index: int) -> Action:
        for number in self.occupied:
            if number <= index:
                index += 1
        return SENDS[index]

    def _place(self, action: Any) -> int:
        number = INDEX[action.to]
        return number - sum(occupied < number for occupied in self.occupied)

    def __iter__(self) -> Iterator[Action]:
        return iter(self._without(SENDS))

    def json(self) -> bytes:
        """The list as JSON."""
        return b"[%b]" % b",".join(self._without(_sends_json()))

    def _without(self, squares: Sequence[T]) -> list[T]:
        rest = list(squares)
        for number in reversed(self.occupied):
            del rest[number]
        return rest

    def __contains__(self, action: object) -> bool:
        return isinstance(action, Send) and INDEX.get(action.to, -1) not in (-1, *self.occupied)


# -- dice --------------------------------------------------------------------------------------------------


_OPENING_DRAWS: Final = (6, 6, 6, 6)
_TWO_DICE: Final = (6, 6)
_ONE_DIE: Final = (6,)


def chance(state: State) -> tuple[Weights, ...]:
    """The dice to roll: aliens C1."""
    if state.phase == OPENING_ROLL:
        return _OPENING_DRAWS
    return _ONE_DIE if state.lost >> 2 * state.seat & 3 else _TWO_DICE


def address(state: State) -> str:
    """The opening, or a turn of a seat: aliens C2. A seat has every second turn, whoever moved first."""
    return "opening" if state.phase == OPENING_ROLL else f"seat {state.seat} turn {state.turn // 2 + 1}"


def push(state: State, move: Action | Rolled, events: Events) -> State:
    """Play `move` on `state`, which is returned."""
    _STEPS[state.phase](state, move, events)
    return state


def retire(state: State, seat: int) -> tuple[State, Sequence[Event]]:
    """The bot of `seat` is out: the other side wins at once, unless the game is over."""
    events: list[Event] = [make.retired(seat)]
    if state.phase == END:
        return state, events
    after = copied(state)
    _end(after, 1 - seat, "retired", events)
    return after, events


# -- the set-up --------------------------------------------------------------------------------------------


def _opening_roll(state: State, rolled: Rolled, events: Events) -> None:
    """The higher sum chooses, ties roll again (aliens P1)."""
    ours, theirs = rolled[0] + rolled[1], rolled[2] + rolled[3]
    if ours == theirs:
        if events is not None:
            events.append(make.opening_roll(rolled, None))
        return
    seat = state.seat = 0 if ours > theirs else 1
    state.phase, state.actors, state.legal = ORDER, SEATS[seat], tuple(ORDERS.values())
    if events is not None:
        events.append(make.opening_roll(rolled, seat))


def _order(state: State, move: Order, events: Events) -> None:
    """Who places the first wormhole; the other will move first (aliens P1)."""
    if events is not None:
        events.append(make.order(state.seat, move.first))
    seat = state.seat if move.first == "place" else 1 - state.seat
    state.phase, state.seat, state.actors, state.legal = PLACE, seat, SEATS[seat], placements(NO_HOLES, seat)


def _place(state: State, move: Place, events: Events) -> None:
    """A coin is laid; after the last, whoever laid it (the second to place) moves first (aliens P2)."""
    number = INDEX[move.at]
    coin = SHIPS.index(move.suit) * 6 + move.value
    state.holes = replaced(state.holes, number, coin)
    if events is not None:
        events.append(make.place(coin, number))
    seat = state.seat = 1 - state.seat
    legal = state.legal.after(coin, number)  # type: ignore[attr-defined]  # the phase says which sequence it is
    if legal.coins:
        state.actors, state.legal = SEATS[seat], legal
    else:
        state.turn = -1  # `_next_turn` counts a turn and changes the side
        _next_turn(state, events)


# -- a turn ------------------------------------------------------------------------------------------------


def _roll(state: State, rolled: Rolled, events: Events) -> None:
    """A die for each ship that does not lose this turn (aliens T1)."""
    seat = state.seat
    loses = state.lost >> 2 * seat & 3
    dice: tuple[int, int]
    if loses:
        state.lost &= 0b0011 if seat else 0b1100
        dice = (-1, rolled[0]) if loses == 1 else (rolled[0], -1)
    else:
        dice = rolled  # type: ignore[assignment]
    state.dice = dice
    if events is not None:
        events.append(make.roll(seat, dice))
    _next_die(state, events)


def _use_die(state: State, move: Action, events: Events) -> None:
    """A ship moves by its die, stays by a null, or declines (aliens T1 to T7)."""
    ship, way = USES[move]
    ships, seat = state.ships, state.seat
    start = ships[ship]
    one, two = state.dice
    if ship & 1:
        die, state.dice = two, (one, -1)
    else:
        die, state.dice = one, (-1, two)
    if way < 0:
        if way == DECLINING:
            if events is not None:
                events.append(make.decline(ship, start))
        else:
            if events is not None:
                events.append(make.stay(ship, start))
            if state.holes[start] >= 0:  # T2
                _activate(state, (ship, 0, -1, -1), seat, events)
                return
        _next_die(state, events)
        return
    end = TARGET[(start * 6 + die) * 8 + way]
    if events is not None:
        events.append(make.move(ship, start, die, way, end))
    state.ships = (*ships[:ship], end, *ships[ship + 1 :])  # for so few a bit faster than `replaced`
    if HOME[end] >= 0 and wins(state, ship, end):
        _end(state, seat, "base", events)
    elif end in ships:  # T6; T7: the wormhole waits until all that follows is done
        _must_send(state, (ship, 0, ship, end) if state.holes[end] >= 0 else (ship, 0, -1, -1))
    elif state.holes[end] >= 0:  # T3
        _activate(state, (ship, 0, -1, -1), seat, events)
    else:
        _next_die(state, events)


def _jump(state: State, move: Action, events: Events) -> None:
    """A ship jumps the way its owner chose (aliens T3, T4, T6)."""
    assert state.cascade is not None
    ship, ships = state.cascade[0], state.ships
    start, way, seat = ships[ship], JUMP_WAYS[move], ship >> 1
    end = TARGET[(start * 6 + state.holes[start] % 6) * 8 + way]
    if events is not None:
        events.append(make.jump(ship, start, way, end))
    state.ships = replaced(ships, ship, end)
    if wins(state, ship, end):
        _end(state, seat, "base", events)
    elif end in ships:  # T6, T8
        _must_send(state, state.cascade)
    else:  # T4
        _settle(state, state.cascade, seat, events)


def _send(state: State, move: Action, events: Events) -> None:
    """The enemy that was landed on goes where its enemy wants, and activates a wormhole there (aliens T6)."""
    assert state.cascade is not None
    ship, sends, after, at = state.cascade
    end = SEND_TARGETS[move]
    if events is not None:
        events.append(make.send(ship, state.ships[ship], end))
    state.ships = replaced(state.ships, ship, end)
    follow = _activate if state.holes[end] >= 0 else _settle
    follow(state, (ship, min(sends + 1, SENDS_WITH_HOLES), after, at), 1 - (ship >> 1), events)


# -- what follows ------------------------------------------------------------------------------------------


def wins(state: State, ship: int, end: int) -> bool:
    """Whether `ship` wins by landing on square `end` (aliens E1)."""
    enemy = 1 - (ship >> 1)
    return HOME[end] == enemy and (not state.rules.both_ships or HOME[state.ships[ship ^ 1]] == enemy)


def _activate(state: State, cascade: Cascade, actor: int, events: Events) -> None:
    """The wormhole under the ship of `cascade` is activated by a move of `actor` (aliens T3)."""
    ship = cascade[0]
    number = state.ships[ship]
    coin = state.holes[number]
    bit = 1 << coin
    # A coin of the acting seat's own suits tells it nothing new.
    reveals = not state.known & bit and coin // 12 != actor
    state.known |= bit
    state.faces ^= bit
    if coin % 6 == 0:
        state.lost |= 1 << ship
        if events is not None:
            events.append(make.activate(ship, number, coin, make.BLACK_HOLE, reveals=reveals))
        _settle(state, cascade, actor, events)
        return
    legal = jump_actions(state.rules.jumps[coin][number], number, coin, state.ships[ship ^ 1])
    if not legal:
        if events is not None:
            events.append(make.activate(ship, number, coin, make.NO_EFFECT, reveals=reveals))
        _settle(state, cascade, actor, events)
        return
    if events is not None:
        events.append(make.activate(ship, number, coin, make.MUST_JUMP, reveals=reveals))
    state.phase, state.cascade, state.actors, state.legal = JUMP, cascade, SEATS[ship >> 1], legal


def _must_send(state: State, cascade: Cascade) -> None:
    """The ship of `cascade` has landed on an enemy, which its owner must send (aliens T6)."""
    ship, sends, after, at = cascade
    enemy = 2 - (ship & 2)
    if state.ships[enemy] != state.ships[ship]:
        enemy += 1
    state.phase, state.cascade, state.actors = SEND, (enemy, sends, after, at), SEATS[ship >> 1]
    state.legal = send_actions(state.ships, state.holes, sends)


def _settle(state: State, cascade: Cascade, actor: int, events: Events) -> None:
    """No ship is in flight any more; a ship that has not moved since it landed activates at last (aliens T7)."""
    _, sends, after, at = cascade
    if after >= 0 and state.ships[after] == at:
        _activate(state, (after, sends, -1, -1), actor, events)
    else:
        _next_die(state, events)


def _next_die(state: State, events: Events) -> None:
    """The other die is next if it can be used, else the turn is over (aliens T1, T9)."""
    seat = state.seat
    legal = turn_actions(state.rules, seat, state.ships, state.dice)
    if legal:
        state.phase, state.cascade, state.actors, state.legal = TURN, None, SEATS[seat], legal
    else:
        _next_turn(state, events)


def _next_turn(state: State, events: Events) -> None:
    """The turn of the side is over; turns that both ships lose pass at once (aliens T9, E2)."""
    state.dice, state.cascade = NO_DICE, None
    seat, turn, lost = state.seat, state.turn, state.lost
    while True:
        turn += 1
        if turn >= state.rules.max_turns:
            state.phase, state.actors, state.legal, state.result = END, NOBODY, (), (-1, "max-turns")
            if events is not None:
                events.append(make.end(None, "max-turns"))
            break
        seat = 1 - seat
        both = 0b1100 if seat else 0b0011
        if lost & both != both:
            state.phase, state.actors, state.legal = ROLL, DICE, ()
            break
        lost &= ~both
        if events is not None:
            events.append(make.skip(seat))
    state.seat, state.turn, state.lost = seat, turn, lost


def _end(state: State, winner: int, why: Why, events: Events) -> None:
    """The game is over; dice that were left stay."""
    state.phase, state.cascade, state.actors, state.legal, state.result = END, None, NOBODY, (), (winner, why)
    if events is not None:
        events.append(make.end(winner, why))


# In the order of `state.PHASES`; nothing follows the end.
_STEPS: Final[tuple[Callable[[State, Any, Events], None], ...]] = (
    _opening_roll, _order, _place, _roll, _use_die, _jump, _send,
)  # fmt: skip


# -- the result --------------------------------------------------------------------------------------------


def outcome(state: State) -> Outcome:
    """1 for the winner, 0 for the loser, a half each for a draw (aliens E1, E2)."""
    assert state.result is not None
    winner, why = state.result
    scores = (0.5, 0.5) if winner < 0 else (1.0 - winner, 0.0 + winner)
    ranks = (1, 1) if winner < 0 else (1 + winner, 2 - winner)
    return Outcome(ranks, scores, {why: scores}, why)
