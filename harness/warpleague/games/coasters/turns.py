"""Who comes next in coasters: the order of the set-up, of the turns and of the colours, and when the game is over.

The functions change `new`, a copy of the position that nobody else has seen, and add what happens to `events`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.api import Event, cached_events
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import galaxy
from warpleague.games.values import members, replaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.coasters.state import Config, State, Table

Events = list[Event]
_TURN: Final = cached_events("turn", "seat", "round", "turn")


def _next_colour(table: Table, colour: int) -> int:
    """The first colour after `colour` in id order whose seat is in the game, -1 if there is none."""
    config = table.config
    return next(
        (later for later in range(colour + 1, config.ships) if table.alive >> later % config.players & 1),
        st.NONE,
    )


def next_lay(new: State, events: Events) -> None:
    """The set-up goes on after a coaster was laid, or its seat is out (G3, V1: all first colours first)."""
    new.table = _next_turn_number(new.table)
    later = _next_colour(new.table, new.colour)
    if later >= 0:
        _go(new, st.LAY, later % new.table.config.players, later)
        return
    new.table.galaxy = galaxy(new.table.systems)
    new.colour = st.NONE
    next_deploy(new, events)


def next_deploy(new: State, events: Events) -> None:
    """The set-up goes on after a ship was put down, or its seat is out; colour -1: all coasters lie."""
    later = _next_colour(new.table, new.colour)
    if later < 0:
        alive = new.table.alive
        _begin(new, (alive & -alive).bit_length() - 1, new.table.round, events)
        return
    if new.colour >= 0:
        new.table = _next_turn_number(new.table)
    _go(new, st.DEPLOY, later % new.table.config.players, later)


def next_turn(new: State, events: Events) -> None:
    """The turn of `new.seat` is over: the next survivor's begins, or the game ends (E1, E3)."""
    table = new.table
    alive = table.alive
    if not alive & alive - 1:
        over(new, st.LAST_SHIP, events)
        return
    later = alive >> new.seat + 1 << new.seat + 1
    rounds = table.round
    if not later:
        rounds += 1
        if rounds > table.config.options.max_rounds:
            over(new, st.MAX_ROUNDS, events)
            return
        later = alive
    _begin(new, (later & -later).bit_length() - 1, rounds, events)


def _next_turn_number(table: Table) -> Table:
    """The table at the next turn or set-up decision: messages older than one round are forgotten."""
    table = st.fresh_table(table)
    table.turn += 1
    if table.messages:
        oldest = table.turn - table.config.players
        table.messages = tuple(message for message in table.messages if message.turn >= oldest)
    return table


def next_of(config: Config, last: int, ships: Sequence[int], seat: int) -> int:
    """The colour that `seat` uses after `last`: the first living one after it, in id order (V1)."""
    own = range(seat, config.ships, config.players)
    return min((colour for colour in own if ships[colour] >= 0), key=lambda colour: (colour <= last, colour))


def _go(new: State, phase: int, seat: int, colour: int) -> None:
    """Another decision comes; what belongs to a turn is put back."""
    new.phase, new.seat, new.colour = phase, seat, colour
    new.d6, new.flux, new.halves, new.fluxed = 0, st.NONE, 0, False
    new.agreed, new.refused, new.claimed, new.asked = 0, 0, False, ()


def _begin(new: State, seat: int, rounds: int, events: Events) -> None:
    """The turn of `seat` begins: the dice are rolled, or the colour chosen first (V1)."""
    new.table = table = _next_turn_number(new.table)
    config, last = table.config, table.last
    colour = st.NONE
    if not config.options.free_colour:
        colour = seat if config.ships == config.players else next_of(config, last[seat], new.ships, seat)
        if last[seat] != colour:
            table.last = replaced(last, seat, colour)
    table.round = rounds
    _go(new, st.CHOOSE if colour < 0 else st.ROLL, seat, colour)
    events.append(_TURN[seat, rounds, table.turn])


def over(new: State, why: st.Why, events: Events) -> None:
    """The game has ended: the survivors share the first place (E1 to E3)."""
    new.table = table = st.fresh_table(new.table)
    table.hits = tuple(hit if pose >= 0 else 0 for hit, pose in zip(table.hits, new.ships, strict=True))
    table.why = why
    _go(new, st.OVER, st.NONE, st.NONE)
    events.append(Event({"event": "over", "why": why, "winners": members(table.alive)}))
