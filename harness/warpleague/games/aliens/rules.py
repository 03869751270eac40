"""What may be done in a position and what follows from it: the rules of play, one function for each phase.

Leaves validation of what comes from outside to `codec`. Every function trusts its caller that the move is legal.
The fast path is a die that ends on an empty square; all else goes through `_activate` and `_settle`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.aliens import events
from warpleague.games.aliens.actions import (
    DECLINES,
    DECLINING,
    DIE_REACH,
    JUMP_WAYS,
    ORDERS,
    SEND_TARGETS,
    SENDS,
    USES,
    Order,
    Place,
    Placements,
    Sendings,
)
from warpleague.games.aliens.board import COINS, COUNT, HOME, INDEX, SHIPS, TARGET
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
    Rules,
    State,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.aliens.actions import Action, Reach
    from warpleague.games.api import Event, Rolled, Weights

    Step = tuple[State, Sequence[Event]]

SENDS_WITH_HOLES: Final = 16
"""How many sends of one die use may choose squares with wormholes (aliens T8)."""

_OPENING_DRAWS: Final = (6, 6, 6, 6)
_TWO_DICE: Final = (6, 6)
_ONE_DIE: Final = (6,)


# -- what may be done ------------------------------------------------------------------------------------


def chance(state: State) -> tuple[Weights, ...]:
    """The dice to roll: aliens C1."""
    if state.phase == OPENING_ROLL:
        return _OPENING_DRAWS
    return _ONE_DIE if state.lost >> 2 * state.seat & 3 else _TWO_DICE


_avoiding: dict[int, tuple[Action, ...]] = {}


def _die_actions(ship: int, number: int, die: int, other: int) -> tuple[Action, ...]:
    """What a ship on square `number` can do with `die`, its sister standing on square `other` (aliens T1)."""
    actions, ends = DIE_REACH[ship][number * 6 + die]
    if other not in ends:
        return actions
    key = ((ship * COUNT + number) * 6 + die) * COUNT + other
    kept = _avoiding.get(key)
    if kept is None:
        row = (number * 6 + die) * 8
        kept = _avoiding[key] = tuple(action for action in actions if TARGET[row + USES[action][1]] != other)
    return kept


def turn_actions(
    rules: Rules, seat: int, ships: tuple[int, ...], dice: tuple[int, int]
) -> tuple[Action, ...]:
    """What `seat` can do with its unused dice: by ship, its moves by way or `stay`, then `decline`."""
    one, two = dice
    ship = 2 * seat
    if rules.both_ships:
        return _turn_actions_declining(ship, ships, dice)
    if two < 0:
        return () if one < 0 else _die_actions(ship, ships[ship], one, ships[ship + 1])
    actions = _die_actions(ship + 1, ships[ship + 1], two, ships[ship])
    return actions if one < 0 else _die_actions(ship, ships[ship], one, ships[ship + 1]) + actions


def _turn_actions_declining(first: int, ships: tuple[int, ...], dice: tuple[int, int]) -> tuple[Action, ...]:
    actions: tuple[Action, ...] = ()
    for ship, die in ((first, dice[0]), (first + 1, dice[1])):
        if die >= 0:
            uses = _die_actions(ship, ships[ship], die, ships[ship ^ 1])
            # aliens E1: a die that cannot be used cannot be declined either.
            if uses and HOME[ships[ship]] == 1 - (ship >> 1):
                uses += (DECLINES[ship],)
            actions += uses
    return actions


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


def placements(holes: tuple[int, ...], seat: int) -> Placements:
    """Every coin `seat` has not placed on every square without base or wormhole (aliens P2)."""
    placed = set(holes)
    coins = range(12 * seat, 12 * seat + 12)
    return Placements(
        tuple(coin for coin in coins if coin not in placed),
        tuple(number for number in range(COUNT) if holes[number] < 0 and HOME[number] < 0),
    )


# -- the set-up ------------------------------------------------------------------------------------------


def opening_roll(state: State, rolled: Rolled) -> Step:
    """The higher sum chooses, ties roll again (aliens P1)."""
    ours, theirs = rolled[0] + rolled[1], rolled[2] + rolled[3]
    if ours == theirs:
        return state, (events.opening_roll(rolled, None),)
    seat = 0 if ours > theirs else 1
    s = state
    legal = tuple(ORDERS.values())
    return (
        State(
            s.rules, ORDER, seat, 0, s.ships, NO_DICE, s.lost, s.holes, s.known, s.faces, None, None,
            SEATS[seat], legal,
        ),
        (events.opening_roll(rolled, seat),),
    )  # fmt: skip


def order(state: State, move: Order) -> Step:
    """Who places the first wormhole; the other will move first (aliens P1)."""
    s = state
    seat = s.seat if move.first == "place" else 1 - s.seat
    legal = placements(s.holes, seat)
    return (
        State(
            s.rules, PLACE, seat, 0, s.ships, NO_DICE, s.lost, s.holes, s.known, s.faces, None, None,
            SEATS[seat], legal,
        ),
        (events.order(s.seat, move.first),),
    )  # fmt: skip


def place(state: State, move: Place) -> Step:
    """A coin is laid; after the last, whoever laid it (the second to place) moves first (aliens P2)."""
    s = state
    number = INDEX[move.at]
    coin = SHIPS.index(move.suit) * 6 + move.value
    holes = (*s.holes[:number], coin, *s.holes[number + 1 :])
    told = events.place(coin, number)
    if holes.count(-1) == COUNT - COINS:
        # The turn count is raised by _next_turn, and the side changed.
        return _next_turn(s.rules, 1 - s.seat, -1, s.ships, s.lost, holes, s.known, s.faces, [told])
    seat = 1 - s.seat
    legal = placements(holes, seat)
    return (
        State(
            s.rules, PLACE, seat, 0, s.ships, NO_DICE, s.lost, holes, s.known, s.faces, None, None,
            SEATS[seat], legal,
        ),
        (told,),
    )  # fmt: skip


# -- a turn ----------------------------------------------------------------------------------------------


def roll(state: State, rolled: Rolled) -> Step:
    """A die for each ship that does not lose this turn (aliens T1)."""
    s = state
    seat = s.seat
    lost = s.lost
    loses = lost >> 2 * seat & 3
    if loses:
        lost &= 0b0011 if seat else 0b1100
        dice = (-1, rolled[0]) if loses == 1 else (rolled[0], -1)
    else:
        dice = rolled  # type: ignore[assignment]
    told = events.roll(seat, dice)
    legal = turn_actions(s.rules, seat, s.ships, dice)
    if legal:
        return (
            State(
                s.rules, TURN, seat, s.turn, s.ships, dice, lost, s.holes, s.known, s.faces, None, None,
                SEATS[seat], legal,
            ),
            (told,),
        )  # fmt: skip
    return _next_turn(s.rules, seat, s.turn, s.ships, lost, s.holes, s.known, s.faces, [told])


def use_die(state: State, move: Action) -> Step:
    """A ship moves by its die, stays by a null, or declines (aliens T1 to T7)."""
    s = state
    ship, way = USES[move]
    ships = s.ships
    start = ships[ship]
    if ship & 1:
        die = s.dice[1]
        dice = (s.dice[0], -1)
    else:
        die = s.dice[0]
        dice = (-1, s.dice[1])
    if way < 0:
        if way == DECLINING:
            return _next_die(s, ships, dice, s.lost, s.known, s.faces, [events.decline(ship, start)])
        told = [events.stay(ship, start)]
        if s.holes[start] < 0:
            return _next_die(s, ships, dice, s.lost, s.known, s.faces, told)
        return _activate(s, ship, ships, dice, s.lost, s.known, s.faces, 0, -1, -1, s.seat, told)  # T2
    end = TARGET[(start * 6 + die) * 8 + way]
    told = [events.move(ship, start, die, way, end)]
    occupied = end in ships
    ships = (*ships[:ship], end, *ships[ship + 1 :])
    if HOME[end] == 1 - s.seat and (not s.rules.both_ships or HOME[ships[ship ^ 1]] == 1 - s.seat):
        return _end(s, ships, dice, s.lost, s.known, s.faces, s.seat, "base", told)  # E1
    if occupied:  # T6; T7: the wormhole waits until all that follows is done
        after, at = (ship, end) if s.holes[end] >= 0 else (-1, -1)
        return _must_send(s, ship, ships, dice, s.lost, s.known, s.faces, 0, after, at, told)
    if s.holes[end] >= 0:
        return _activate(s, ship, ships, dice, s.lost, s.known, s.faces, 0, -1, -1, s.seat, told)  # T3
    return _next_die(s, ships, dice, s.lost, s.known, s.faces, told)


def jump(state: State, move: Action) -> Step:
    """A ship jumps the way its owner chose (aliens T3, T4, T6)."""
    s = state
    assert s.cascade is not None
    ship, sends, after, at = s.cascade
    ships = s.ships
    start = ships[ship]
    way = JUMP_WAYS[move]
    end = TARGET[(start * 6 + s.holes[start] % 6) * 8 + way]
    told = [events.jump(ship, start, way, end)]
    occupied = end in ships
    ships = (*ships[:ship], end, *ships[ship + 1 :])
    seat = ship >> 1
    if HOME[end] == 1 - seat and (not s.rules.both_ships or HOME[ships[ship ^ 1]] == 1 - seat):
        return _end(s, ships, s.dice, s.lost, s.known, s.faces, seat, "base", told)  # E1
    if occupied:  # T6, T8
        return _must_send(s, ship, ships, s.dice, s.lost, s.known, s.faces, sends, after, at, told)
    return _settle(s, ships, s.dice, s.lost, s.known, s.faces, sends, after, at, seat, told)  # T4


def send(state: State, move: Action) -> Step:
    """The enemy that was landed on goes where its enemy wants, and activates a wormhole there (aliens T6)."""
    s = state
    assert s.cascade is not None
    ship, sends, after, at = s.cascade
    end = SEND_TARGETS[move]
    told = [events.send(ship, s.ships[ship], end)]
    ships = (*s.ships[:ship], end, *s.ships[ship + 1 :])
    actor = 1 - (ship >> 1)
    if s.holes[end] >= 0:
        return _activate(s, ship, ships, s.dice, s.lost, s.known, s.faces, sends + 1, after, at, actor, told)
    return _settle(s, ships, s.dice, s.lost, s.known, s.faces, sends + 1, after, at, actor, told)


# -- what follows ----------------------------------------------------------------------------------------
# These take what may have changed since `s`; what cannot have is read from `s`.


def _activate(
    s: State, ship: int, ships: tuple[int, ...], dice: tuple[int, int], lost: int, known: int, faces: int,
    sends: int, after: int, at: int, actor: int, told: list[Event],
) -> Step:  # fmt: skip
    """The wormhole under `ship` is activated by a move of `actor`; the other arguments are a `Cascade` (aliens T3)."""
    number = ships[ship]
    coin = s.holes[number]
    bit = 1 << coin
    # A coin of the acting seat's own suits tells it nothing new.
    reveals = not known & bit and coin // 12 != actor
    known |= bit
    faces ^= bit
    if coin % 6 == 0:
        told.append(events.activate(ship, number, coin, events.BLACK_HOLE, reveals=reveals))
        return _settle(s, ships, dice, lost | 1 << ship, known, faces, sends, after, at, actor, told)
    legal = jump_actions(s.rules.jumps[coin][number], number, coin, ships[ship ^ 1])
    if not legal:
        told.append(events.activate(ship, number, coin, events.NO_EFFECT, reveals=reveals))
        return _settle(s, ships, dice, lost, known, faces, sends, after, at, actor, told)
    told.append(events.activate(ship, number, coin, events.MUST_JUMP, reveals=reveals))
    return (
        State(
            s.rules, JUMP, s.seat, s.turn, ships, dice, lost, s.holes, known, faces, (ship, sends, after, at), None,
            SEATS[ship >> 1], legal,
        ),
        told,
    )  # fmt: skip


def _must_send(
    s: State, ship: int, ships: tuple[int, ...], dice: tuple[int, int], lost: int, known: int, faces: int,
    sends: int, after: int, at: int, told: list[Event],
) -> Step:  # fmt: skip
    """`ship` has landed on an enemy, which its owner must send (aliens T6)."""
    enemy = 2 - (ship & 2)
    if ships[enemy] != ships[ship]:
        enemy += 1
    return (
        State(
            s.rules, SEND, s.seat, s.turn, ships, dice, lost, s.holes, known, faces, (enemy, sends, after, at), None,
            SEATS[ship >> 1], send_actions(ships, s.holes, sends),
        ),
        told,
    )  # fmt: skip


def _settle(
    s: State, ships: tuple[int, ...], dice: tuple[int, int], lost: int, known: int, faces: int,
    sends: int, after: int, at: int, actor: int, told: list[Event],
) -> Step:  # fmt: skip
    """No ship is in flight any more; a ship that still stands where it landed activates at last (aliens T7)."""
    if after >= 0 and ships[after] == at:
        return _activate(s, after, ships, dice, lost, known, faces, sends, -1, -1, actor, told)
    return _next_die(s, ships, dice, lost, known, faces, told)


def _next_die(
    s: State,
    ships: tuple[int, ...],
    dice: tuple[int, int],
    lost: int,
    known: int,
    faces: int,
    told: list[Event],
) -> Step:
    """The other die is next if it can be used, else the turn is over (aliens T1, T9)."""
    seat = s.seat
    legal = turn_actions(s.rules, seat, ships, dice)
    if legal:
        return (
            State(
                s.rules,
                TURN,
                seat,
                s.turn,
                ships,
                dice,
                lost,
                s.holes,
                known,
                faces,
                None,
                None,
                SEATS[seat],
                legal,
            ),
            told,
        )
    return _next_turn(s.rules, seat, s.turn, ships, lost, s.holes, known, faces, told)


def _next_turn(
    rules: Rules, seat: int, turn: int, ships: tuple[int, ...], lost: int, holes: tuple[int, ...], known: int,
    faces: int, told: list[Event],
) -> Step:  # fmt: skip
    """The turn of `seat` is over; turns that both ships lose pass at once (aliens T9, E2)."""
    while True:
        turn += 1
        if turn >= rules.max_turns:
            told.append(events.end(None, "max-turns"))
            return (
                State(
                    rules, END, seat, turn, ships, NO_DICE, lost, holes, known, faces, None, (-1, "max-turns"),
                    NOBODY, (),
                ),
                told,
            )  # fmt: skip
        seat = 1 - seat
        mask = 0b1100 if seat else 0b0011
        if lost & mask != mask:
            break
        lost &= ~mask
        told.append(events.skip(seat))
    return State(
        rules, ROLL, seat, turn, ships, NO_DICE, lost, holes, known, faces, None, None, DICE, ()
    ), told


def _end(
    s: State, ships: tuple[int, ...], dice: tuple[int, int], lost: int, known: int, faces: int, winner: int,
    why: str, told: list[Event],
) -> Step:  # fmt: skip
    told.append(events.end(winner, why))
    return (
        State(
            s.rules,
            END,
            s.seat,
            s.turn,
            ships,
            dice,
            lost,
            s.holes,
            known,
            faces,
            None,
            (winner, why),
            NOBODY,
            (),
        ),
        told,
    )


def retire(state: State, seat: int) -> Step:
    """The bot of `seat` is out: the other side wins at once."""
    s = state
    return _end(s, s.ships, s.dice, s.lost, s.known, s.faces, 1 - seat, "retired", [events.retired(seat)])
