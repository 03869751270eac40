"""Who comes next: the order of the set-up, of the turns and of the colours, and when the game is over.

Leaves what happens within a turn to `rules`.
"""

from __future__ import annotations

from typing import TypeAlias

from warpleague.games.api import Event, Outcome
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import galaxy
from warpleague.games.coasters.state import Config, State, Table, changed

Result: TypeAlias = tuple[State, tuple[Event, ...]]


def _next_colour(table: Table, colour: int) -> int:
    """The first colour after `colour` in id order whose seat is in the game, -1 if there is none."""
    config = table.config
    return next(
        (later for later in range(colour + 1, config.ships) if table.alive >> later % config.players & 1),
        st.NONE,
    )


def next_lay(state: State, table: Table, colour: int) -> Result:
    """The set-up goes on after `colour` was laid, or its seat is out (G3, V1: all first colours first)."""
    table = _next_turn_number(table)
    later = _next_colour(table, colour)
    if later >= 0:
        return State(table, state.ships, 0, st.LAY, later % table.config.players, later), ()
    return next_deploy(changed(table, board=galaxy(table.systems)), state.ships, 0, st.NONE)


def next_deploy(table: Table, ships: tuple[int, ...], occupied: int, colour: int) -> Result:
    """The set-up goes on after the ship `colour` was put down (-1: all coasters lie), or its seat is out."""
    later = _next_colour(table, colour)
    if colour >= 0 and later >= 0:
        table = _next_turn_number(table)
    if later >= 0:
        return State(table, ships, occupied, st.DEPLOY, later % table.config.players, later), ()
    first = (table.alive & -table.alive).bit_length() - 1
    return _begin(table, ships, occupied, first, table.round)


def next_turn(state: State, table: Table, ships: tuple[int, ...], occupied: int) -> Result:
    """The turn of `state.seat` is over: the next survivor's begins, or the game ends (E1, E3)."""
    alive = table.alive
    if not alive & alive - 1:
        return over(table, ships, occupied, st.LAST_SHIP)
    later = alive >> state.seat + 1 << state.seat + 1
    rounds = table.round
    if not later:
        rounds += 1
        if rounds > table.config.options.max_rounds:
            return over(table, ships, occupied, st.MAX_ROUNDS)
        later = alive
    return _begin(table, ships, occupied, (later & -later).bit_length() - 1, rounds)


def _next_turn_number(table: Table) -> Table:
    """The table at the next turn or set-up decision: messages older than one round are forgotten."""
    turn = table.turn + 1
    messages = table.messages
    if messages:
        oldest = turn - table.config.players
        messages = tuple(message for message in messages if message.turn >= oldest)
    return changed(table, turn=turn, messages=messages)


def next_of(config: Config, last: int, ships: tuple[int, ...], seat: int) -> int:
    """The colour that `seat` uses after `last`: the first living one after it, in id order (V1)."""
    own = range(seat, config.ships, config.players)
    return min((colour for colour in own if ships[colour] >= 0), key=lambda colour: (colour <= last, colour))


def _begin(table: Table, ships: tuple[int, ...], occupied: int, seat: int, rounds: int) -> Result:
    """The turn of `seat` begins: the dice are rolled, or the colour chosen first (V1)."""
    config = table.config
    told = Event({"event": "turn", "seat": seat, "round": rounds, "turn": table.turn + 1})
    last = table.last
    colour = st.NONE
    if not config.options.free_colour:
        colour = seat if config.ships == config.players else next_of(config, last[seat], ships, seat)
        if last[seat] != colour:
            last = (*last[:seat], colour, *last[seat + 1 :])
    table = changed(_next_turn_number(table), rounds=rounds, last=last)
    phase = st.CHOOSE if colour < 0 else st.ROLL
    return State(table, ships, occupied, phase, seat, colour), (told,)


def over(table: Table, ships: tuple[int, ...], occupied: int, why: str) -> Result:
    """The game has ended: the survivors share the first place (E1 to E3)."""
    hits = tuple(hit if pose >= 0 else 0 for hit, pose in zip(table.hits, ships, strict=True))
    table = changed(table, hits=hits, why=why)
    winners = list(st.members(table.alive))
    after = State(table, ships, occupied, st.OVER, st.NONE, st.NONE)
    return after, (Event({"event": "over", "why": why, "winners": winners}),)


_RULES = {
    st.LAST_SHIP: "E1 last ship",
    st.CLAIM_CONFIRMED: "E2 claim confirmed",
    st.MAX_ROUNDS: "E3 last round played",
}


def outcome(state: State) -> Outcome:
    """Survivors first, then the eliminated from the last to the first, then the retired likewise (E4, E5)."""
    table = state.table
    winners = st.members(table.alive)
    ranks = [1] * table.config.players
    for behind, seat in enumerate((*reversed(table.eliminated), *reversed(table.retired))):
        ranks[seat] = len(winners) + behind + 1
    share = 1 / max(1, len(winners))
    scores = tuple(share if rank == 1 and table.alive >> seat & 1 else 0.0 for seat, rank in enumerate(ranks))
    return Outcome(tuple(ranks), scores, {_RULES[table.why]: scores}, table.why)
