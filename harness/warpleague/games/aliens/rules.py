"""Applies an action, a roll or a retirement in aliens.

Everything trusts its caller that the move is legal. The functions change the position they are given, and add what
happens to `events`, unless that is None. The fast path is a die
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
from warpleague.games.aliens.geometry import HOME, INDEX, SHIPS, TARGET
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
    NO_HOLES,
    NOBODY,
    OPENING_ROLL,
    ORDER,
    PLACE,
    ROLL,
    SEATS,
    SEND,
    TURN,
    State,
    copied,
)
from warpleague.games.values import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.aliens.state import Cascade, Why
    from warpleague.games.api import Event, Rolled, Weights

    Events = list[Event] | None

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
    events = [tell.retired(seat)]
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
            events.append(tell.opening_roll(rolled, None))
        return
    seat = state.seat = 0 if ours > theirs else 1
    state.phase, state.actors, state.legal = ORDER, SEATS[seat], tuple(ORDERS.values())
    if events is not None:
        events.append(tell.opening_roll(rolled, seat))


def _order(state: State, move: Order, events: Events) -> None:
    """Who places the first wormhole; the other will move first (aliens P1)."""
    if events is not None:
        events.append(tell.order(state.seat, move.first))
    seat = state.seat if move.first == "place" else 1 - state.seat
    state.phase, state.seat, state.actors, state.legal = PLACE, seat, SEATS[seat], placements(NO_HOLES, seat)


def _place(state: State, move: Place, events: Events) -> None:
    """A coin is laid; after the last, whoever laid it (the second to place) moves first (aliens P2)."""
    number = INDEX[move.at]
    coin = SHIPS.index(move.suit) * 6 + move.value
    state.holes = replaced(state.holes, number, coin)
    if events is not None:
        events.append(tell.place(coin, number))
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
        events.append(tell.roll(seat, dice))
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
                events.append(tell.decline(ship, start))
        else:
            if events is not None:
                events.append(tell.stay(ship, start))
            if state.holes[start] >= 0:  # T2
                _activate(state, (ship, 0, -1, -1), seat, events)
                return
        _next_die(state, events)
        return
    end = TARGET[(start * 6 + die) * 8 + way]
    if events is not None:
        events.append(tell.move(ship, start, die, way, end))
    state.ships = replaced(ships, ship, end)
    if HOME[end] == 1 - seat and _wins(state, ship):
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
        events.append(tell.jump(ship, start, way, end))
    state.ships = replaced(ships, ship, end)
    if HOME[end] == 1 - seat and _wins(state, ship):
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
        events.append(tell.send(ship, state.ships[ship], end))
    state.ships = replaced(state.ships, ship, end)
    follow = _activate if state.holes[end] >= 0 else _settle
    follow(state, (ship, min(sends + 1, SENDS_WITH_HOLES), after, at), 1 - (ship >> 1), events)


# -- what follows ------------------------------------------------------------------------------------------


def _wins(state: State, ship: int) -> bool:
    """Whether `ship`, which has come to an enemy base, wins by that (aliens E1)."""
    return not state.rules.both_ships or HOME[state.ships[ship ^ 1]] == 1 - (ship >> 1)


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
            events.append(tell.activate(ship, number, coin, tell.BLACK_HOLE, reveals=reveals))
        _settle(state, cascade, actor, events)
        return
    legal = jump_actions(state.rules.jumps[coin][number], number, coin, state.ships[ship ^ 1])
    if not legal:
        if events is not None:
            events.append(tell.activate(ship, number, coin, tell.NO_EFFECT, reveals=reveals))
        _settle(state, cascade, actor, events)
        return
    if events is not None:
        events.append(tell.activate(ship, number, coin, tell.MUST_JUMP, reveals=reveals))
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
                events.append(tell.end(None, "max-turns"))
            break
        seat = 1 - seat
        both = 0b1100 if seat else 0b0011
        if lost & both != both:
            state.phase, state.actors, state.legal = ROLL, DICE, ()
            break
        lost &= ~both
        if events is not None:
            events.append(tell.skip(seat))
    state.seat, state.turn, state.lost = seat, turn, lost


def _end(state: State, winner: int, why: Why, events: Events) -> None:
    """The game is over; dice that were left stay."""
    state.phase, state.cascade, state.actors, state.legal, state.result = END, None, NOBODY, (), (winner, why)
    if events is not None:
        events.append(tell.end(winner, why))


# In the order of `state.PHASES`; nothing follows the end.
_STEPS: Final[tuple[Callable[[State, Any, Events], None], ...]] = (
    _opening_roll, _order, _place, _roll, _use_die, _jump, _send,
)  # fmt: skip
