"""Whose decision comes next in sheets: from marking to the offer of discarded dice, to the next turn, to the end.

Leaves what an action marks on a sheet to `rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.api import CHANCE, Event
from warpleague.games.sheets.actions import ALL_UNITS, UNITS
from warpleague.games.sheets.geometry import ALL_EDGES, BONUS_ROUNDS, ROUNDS, members
from warpleague.games.sheets.legal import useful
from warpleague.games.sheets.state import NO_DICE, NOBODY, Sheet, State

if TYPE_CHECKING:
    from warpleague.games.sheets.state import Phase

Sheets = tuple[Sheet, ...]

UNIT_SETS: Final = tuple(tuple(members(units)) for units in range(ALL_UNITS + 1))
"""For each set of units their numbers, ascending."""


def go(
    state: State,
    sheets: Sheets,
    phase: Phase,
    actor: int,
    hand: int = 0,
    kept: int = 0,
    offered: int = 0,
    taken: int = -1,
) -> State:
    """A position of the same turn."""
    return State(
        sheets,
        state.shared,
        state.round,
        state.seat,
        phase,
        actor,
        state.dice,
        hand,
        kept,
        offered,
        taken,
        state.retired,
    )


def replace_sheet(sheets: Sheets, seat: int, sheet: Sheet) -> Sheets:
    """The sheets with that of `seat` changed to `sheet`."""
    return (*sheets[:seat], sheet, *sheets[seat + 1 :])


def to_mark(state: State, sheets: Sheets, kept: int, offered: int, happened: list[Event]) -> State:
    """The active seat marks on with the units `kept`; those without a use are lost (T2)."""
    seat = state.seat
    sheet = sheets[seat]
    lost = 0
    for unit in UNIT_SETS[kept]:
        if not useful(state.dice, state.round, sheet, unit):
            lost |= 1 << unit
    if lost:
        # Uses only ever become fewer within a turn, so what is useless now stays so.
        happened.append(
            Event({"event": "lost", "seat": seat, "units": [UNITS[unit] for unit in UNIT_SETS[lost]]})
        )
        kept &= ~lost
    if kept:
        return go(state, sheets, "mark", seat, 0, kept, offered)
    if len(sheets) == 1:  # sheets T4
        return go(state, sheets, "roll", CHANCE, 0, 0, offered)
    return offer(state, sheets, offered, seat, happened)


def offer(state: State, sheets: Sheets, offered: int, after: int, happened: list[Event]) -> State:
    """Ask the next seat after `after` to take a discarded die (T3); after the last one the next turn comes."""
    players = len(sheets)
    if offered and players > 1:
        seat = (after + 1) % players
        while seat != state.seat:
            if seat not in state.retired:
                return go(state, sheets, "take", seat, 0, 0, offered)
            seat = (seat + 1) % players
    return next_turn(state, sheets, happened)


def next_turn(state: State, sheets: Sheets, happened: list[Event]) -> State:
    """The next seat rolls, with its reroll of the round (S5); after the last turn come the last free lines."""
    round_ = state.round
    seat = state.seat
    while True:
        seat += 1
        if seat == len(sheets):
            seat = 0
            round_ += 1
            if round_ > ROUNDS:
                return last_lines(state, sheets, -1)
        if seat not in state.retired:
            break
    happened.append(Event({"event": "turn", "seat": seat, "round": round_}))
    if round_ in BONUS_ROUNDS:
        old = sheets[seat]
        sheet = Sheet(
            old.edges,
            old.filled,
            old.wormholes,
            old.yellow,
            old.red,
            old.blue,
            old.free_lines,
            old.rerolls + 1,
        )
        sheets = replace_sheet(sheets, seat, sheet)
        happened.append(
            Event({"event": "reward", "seat": seat, "reward": "reroll", "from": f"round {round_}"})
        )
    return State(
        sheets, state.shared, round_, seat, "roll", CHANCE, NO_DICE, ALL_UNITS, 0, 0, -1, state.retired
    )


def last_lines(state: State, sheets: Sheets, after: int) -> State:
    """Ask the next seat after `after` that has free lines and a missing edge (T5); if none, all is over."""
    for seat in range(after + 1, len(sheets)):
        sheet = sheets[seat]
        if sheet.free_lines and sheet.edges != ALL_EDGES and seat not in state.retired:
            return ended(state, sheets, "lines", seat)
    return ended(state, sheets, "over", NOBODY)


def ended(state: State, sheets: Sheets, phase: Phase, actor: int) -> State:
    """A position after the last turn: the dice are put away."""
    return State(
        sheets, state.shared, state.round, state.seat, phase, actor, NO_DICE, 0, 0, 0, -1, state.retired
    )
