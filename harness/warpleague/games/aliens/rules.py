"""Applies an action, a roll or a retirement in aliens.

Everything trusts its caller that the move is legal. A move is carried out on one copy of the position, `new`, which
the functions here change until it is handed out; what happens is added to the list `events`. The fast path is a die
that ends on an empty square; all else goes through `_activate` and `_settle`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.aliens import tell
from warpleague.games.aliens.actions import (
    DECLINING,
    JUMP_WAYS,
    ORDERS,
    SEND_TARGETS,
    USES,
    Action,
    Order,
    Place,
)
from warpleague.games.aliens.geometry import COINS, COUNT, HOME, INDEX, SHIPS, TARGET
from warpleague.games.aliens.legal import (
    SENDS_WITH_HOLES,
    jump_actions,
    placements,
    send_actions,
    turn_actions,
)
from warpleague.games.aliens.state import (
    DICE,
    END,
    JUMP,
    NO_DICE,
    NOBODY,
    OPENING_ROLL,
    ORDER,
    PLACE,
    ROLL,
    SEATS,
    SEND,
    TURN,
    State,
    fresh,
)
from warpleague.games.values import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.aliens.state import Cascade, Why
    from warpleague.games.api import Event, Rolled, Weights

    Events = list[Event]

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


def apply(state: State, move: Action | Rolled) -> tuple[State, Sequence[Event]]:
    """The position after `move`, and what happened."""
    new = fresh(state)
    events: Events = []
    _STEPS[state.phase](new, move, events)
    return new, events


def retire(state: State, seat: int) -> tuple[State, Sequence[Event]]:
    """The bot of `seat` is out: the other side wins at once, unless the game is over."""
    events = [tell.retired(seat)]
    if state.phase == END:
        return state, events
    new = fresh(state)
    _end(new, 1 - seat, "retired", events)
    return new, events


# -- the set-up --------------------------------------------------------------------------------------------


def _opening_roll(new: State, rolled: Rolled, events: Events) -> None:
    """The higher sum chooses, ties roll again (aliens P1)."""
    ours, theirs = rolled[0] + rolled[1], rolled[2] + rolled[3]
    if ours == theirs:
        events.append(tell.opening_roll(rolled, None))
        return
    seat = new.seat = 0 if ours > theirs else 1
    new.phase, new.actors, new.legal = ORDER, SEATS[seat], tuple(ORDERS.values())
    events.append(tell.opening_roll(rolled, seat))


def _order(new: State, move: Order, events: Events) -> None:
    """Who places the first wormhole; the other will move first (aliens P1)."""
    events.append(tell.order(new.seat, move.first))
    _to_place(new, new.seat if move.first == "place" else 1 - new.seat)


def _place(new: State, move: Place, events: Events) -> None:
    """A coin is laid; after the last, whoever laid it (the second to place) moves first (aliens P2)."""
    number = INDEX[move.at]
    coin = SHIPS.index(move.suit) * 6 + move.value
    new.holes = replaced(new.holes, number, coin)
    events.append(tell.place(coin, number))
    seat = 1 - new.seat
    if new.holes.count(-1) == COUNT - COINS:
        # `_next_turn` counts a turn and changes the side.
        new.seat, new.turn = seat, -1
        _next_turn(new, events)
    else:
        _to_place(new, seat)


def _to_place(new: State, seat: int) -> None:
    """The next coin is laid by `seat`."""
    new.phase, new.seat, new.actors, new.legal = PLACE, seat, SEATS[seat], placements(new.holes, seat)


# -- a turn ------------------------------------------------------------------------------------------------


def _roll(new: State, rolled: Rolled, events: Events) -> None:
    """A die for each ship that does not lose this turn (aliens T1)."""
    seat = new.seat
    loses = new.lost >> 2 * seat & 3
    dice: tuple[int, int]
    if loses:
        new.lost &= 0b0011 if seat else 0b1100
        dice = (-1, rolled[0]) if loses == 1 else (rolled[0], -1)
    else:
        dice = rolled  # type: ignore[assignment]
    new.dice = dice
    events.append(tell.roll(seat, dice))
    _next_die(new, events)


def _use_die(new: State, move: Action, events: Events) -> None:
    """A ship moves by its die, stays by a null, or declines (aliens T1 to T7)."""
    ship, way = USES[move]
    ships, seat = new.ships, new.seat
    start = ships[ship]
    one, two = new.dice
    if ship & 1:
        die, new.dice = two, (one, -1)
    else:
        die, new.dice = one, (-1, two)
    if way < 0:
        if way == DECLINING:
            events.append(tell.decline(ship, start))
        else:
            events.append(tell.stay(ship, start))
            if new.holes[start] >= 0:  # T2
                _activate(new, (ship, 0, -1, -1), seat, events)
                return
        _next_die(new, events)
        return
    end = TARGET[(start * 6 + die) * 8 + way]
    events.append(tell.move(ship, start, die, way, end))
    new.ships = (*ships[:ship], end, *ships[ship + 1 :])
    if HOME[end] == 1 - seat and _wins(new, ship):
        _end(new, seat, "base", events)
    elif end in ships:  # T6; T7: the wormhole waits until all that follows is done
        _must_send(new, (ship, 0, ship, end) if new.holes[end] >= 0 else (ship, 0, -1, -1))
    elif new.holes[end] >= 0:  # T3
        _activate(new, (ship, 0, -1, -1), seat, events)
    else:
        _next_die(new, events)


def _jump(new: State, move: Action, events: Events) -> None:
    """A ship jumps the way its owner chose (aliens T3, T4, T6)."""
    assert new.cascade is not None
    ship, ships = new.cascade[0], new.ships
    start, way, seat = ships[ship], JUMP_WAYS[move], ship >> 1
    end = TARGET[(start * 6 + new.holes[start] % 6) * 8 + way]
    events.append(tell.jump(ship, start, way, end))
    new.ships = replaced(ships, ship, end)
    if HOME[end] == 1 - seat and _wins(new, ship):
        _end(new, seat, "base", events)
    elif end in ships:  # T6, T8
        _must_send(new, new.cascade)
    else:  # T4
        _settle(new, new.cascade, seat, events)


def _send(new: State, move: Action, events: Events) -> None:
    """The enemy that was landed on goes where its enemy wants, and activates a wormhole there (aliens T6)."""
    assert new.cascade is not None
    ship, sends, after, at = new.cascade
    end = SEND_TARGETS[move]
    events.append(tell.send(ship, new.ships[ship], end))
    new.ships = replaced(new.ships, ship, end)
    follow = _activate if new.holes[end] >= 0 else _settle
    follow(new, (ship, min(sends + 1, SENDS_WITH_HOLES), after, at), 1 - (ship >> 1), events)


# -- what follows ------------------------------------------------------------------------------------------


def _wins(new: State, ship: int) -> bool:
    """Whether `ship`, which has come to an enemy base, wins by that (aliens E1)."""
    return not new.rules.both_ships or HOME[new.ships[ship ^ 1]] == 1 - (ship >> 1)


def _activate(new: State, cascade: Cascade, actor: int, events: Events) -> None:
    """The wormhole under the ship of `cascade` is activated by a move of `actor` (aliens T3)."""
    ship = cascade[0]
    number = new.ships[ship]
    coin = new.holes[number]
    bit = 1 << coin
    # A coin of the acting seat's own suits tells it nothing new.
    reveals = not new.known & bit and coin // 12 != actor
    new.known |= bit
    new.faces ^= bit
    if coin % 6 == 0:
        new.lost |= 1 << ship
        events.append(tell.activate(ship, number, coin, tell.BLACK_HOLE, reveals=reveals))
        _settle(new, cascade, actor, events)
        return
    legal = jump_actions(new.rules.jumps[coin][number], number, coin, new.ships[ship ^ 1])
    if not legal:
        events.append(tell.activate(ship, number, coin, tell.NO_EFFECT, reveals=reveals))
        _settle(new, cascade, actor, events)
        return
    events.append(tell.activate(ship, number, coin, tell.MUST_JUMP, reveals=reveals))
    new.phase, new.cascade, new.actors, new.legal = JUMP, cascade, SEATS[ship >> 1], legal


def _must_send(new: State, cascade: Cascade) -> None:
    """The ship of `cascade` has landed on an enemy, which its owner must send (aliens T6)."""
    ship, sends, after, at = cascade
    enemy = 2 - (ship & 2)
    if new.ships[enemy] != new.ships[ship]:
        enemy += 1
    new.phase, new.cascade, new.actors = SEND, (enemy, sends, after, at), SEATS[ship >> 1]
    new.legal = send_actions(new.ships, new.holes, sends)


def _settle(new: State, cascade: Cascade, actor: int, events: Events) -> None:
    """No ship is in flight any more; a ship that has not moved since it landed activates at last (aliens T7)."""
    _, sends, after, at = cascade
    if after >= 0 and new.ships[after] == at:
        _activate(new, (after, sends, -1, -1), actor, events)
    else:
        _next_die(new, events)


def _next_die(new: State, events: Events) -> None:
    """The other die is next if it can be used, else the turn is over (aliens T1, T9)."""
    seat = new.seat
    legal = turn_actions(new.rules, seat, new.ships, new.dice)
    if legal:
        new.phase, new.cascade, new.actors, new.legal = TURN, None, SEATS[seat], legal
    else:
        _next_turn(new, events)


def _next_turn(new: State, events: Events) -> None:
    """The turn of the side is over; turns that both ships lose pass at once (aliens T9, E2)."""
    new.dice, new.cascade = NO_DICE, None
    seat, turn, lost = new.seat, new.turn, new.lost
    while True:
        turn += 1
        if turn >= new.rules.max_turns:
            new.phase, new.actors, new.legal, new.result = END, NOBODY, (), (-1, "max-turns")
            events.append(tell.end(None, "max-turns"))
            break
        seat = 1 - seat
        both = 0b1100 if seat else 0b0011
        if lost & both != both:
            new.phase, new.actors, new.legal = ROLL, DICE, ()
            break
        lost &= ~both
        events.append(tell.skip(seat))
    new.seat, new.turn, new.lost = seat, turn, lost


def _end(new: State, winner: int, why: Why, events: Events) -> None:
    """The game is over; dice that were left stay."""
    new.phase, new.cascade, new.actors, new.legal, new.result = END, None, NOBODY, (), (winner, why)
    events.append(tell.end(winner, why))


# In the order of `state.PHASES`; nothing follows the end.
_STEPS: Final[tuple[Callable[[State, Any, Events], None], ...]] = (
    _opening_roll, _order, _place, _roll, _use_die, _jump, _send,
)  # fmt: skip
