"""How a position of sheets changes by actions, dice and retirement.

Leaves what is allowed to `legal` (and trusts its caller that the move is), and who acts next to `flow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.games.api import CHANCE, Event
from warpleague.games.sheets.actions import (
    ALL_UNITS,
    UNIT_NUMBER,
    UNITS,
    Action,
    Blue,
    FreeLine,
    Keep,
    Line,
    Pass,
    Red,
    Reroll,
    Take,
    Yellow,
)
from warpleague.games.sheets.flow import UNIT_SETS, ended, go, last_lines, offer, replace_sheet, to_mark
from warpleague.games.sheets.geometry import (
    BOX_EDGES,
    CELL_LINES,
    EDGE_BOXES,
    NEAR,
    members,
)
from warpleague.games.sheets.state import NO_DICE, NOBODY, Sheet, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Rolled
    from warpleague.games.sheets.state import Phase

_Step = tuple[State, list[Event]]

_SIX: Final = tuple((6,) * (len(units) + (1 if 0 in units else 0)) for units in UNIT_SETS)
"""For each set of units the draws of a roll: one die each, the white pair two (C1)."""


def start(players: int, shared: bool) -> State:
    """The first position: seat 0 is about to roll in round 1."""
    return State((Sheet(),) * players, shared, 1, 0, "roll", CHANCE, NO_DICE, ALL_UNITS, 0, 0, -1, ())


def draws(state: State) -> tuple[int, ...]:
    """The dice to roll now (C1): those in hand, or the discarded ones of a solo player (T4)."""
    return _SIX[state.hand or state.offered]


def apply(state: State, move: Action | Rolled) -> _Step:
    """The position after `move`, and what happened."""
    if type(move) is tuple:
        return _roll(state, move)
    return _APPLY[type(move)](state, move)


# Dice: sheets T1, C1.


def _roll(state: State, rolled: Rolled) -> _Step:
    units = state.hand or state.offered
    if units == ALL_UNITS:
        dice = tuple([k + 1 for k in rolled])
    else:
        values = list(state.dice)
        rest = iter(rolled)
        for unit in UNIT_SETS[units]:
            if not unit:
                values[0] = next(rest) + 1
            values[unit + 1] = next(rest) + 1
        dice = tuple(values)
    shown: dict[str, Any] = {}
    for unit in UNIT_SETS[units]:
        shown[UNITS[unit]] = dice[unit + 1] if unit else [dice[0], dice[1]]
    seat = state.seat
    phase: Phase = "keep" if state.hand else "take"
    after = State(
        state.sheets,
        state.shared,
        state.round,
        seat,
        phase,
        seat,
        dice,
        state.hand,
        state.kept,
        state.offered,
        -1,
        state.retired,
    )
    return after, [Event({"event": "rolled", "seat": seat, "dice": shown})]


def _reroll(state: State, _action: Reroll) -> _Step:
    seat = state.seat
    old = state.sheets[seat]
    sheet = Sheet(
        old.edges, old.filled, old.wormholes, old.yellow, old.red, old.blue, old.free_lines, old.rerolls - 1
    )
    sheets = replace_sheet(state.sheets, seat, sheet)
    after = go(state, sheets, "roll", CHANCE, state.hand, state.kept, state.offered)
    return after, [Event({"event": "reroll", "seat": seat})]


def _value(dice: tuple[int, ...], unit: int) -> int | list[int]:
    return dice[unit + 1] if unit else [dice[0], dice[1]]


def _keep(state: State, action: Keep) -> _Step:
    keep = UNIT_NUMBER[action.unit]
    discard = UNIT_NUMBER[action.discard]
    seat = state.seat
    dice = state.dice
    happened = [
        Event(
            {
                "event": "kept",
                "seat": seat,
                "unit": action.unit,
                "value": _value(dice, keep),
                "discard": action.discard,
                "discarded": dice[discard + 1],
            }
        )
    ]
    hand = state.hand & ~(1 << keep | 1 << discard)
    kept = state.kept | 1 << keep
    offered = state.offered | 1 << discard
    if hand:
        return go(state, state.sheets, "roll", CHANCE, hand, kept, offered), happened
    return to_mark(state, state.sheets, kept, offered, happened), happened


# Marking: sheets S1-S4, T2.


def _marked(state: State, sheet: Sheet, unit: int, happened: list[Event]) -> _Step:
    """Go on after the acting seat used `unit`, which left it with `sheet`."""
    seat = state.actor
    sheets = replace_sheet(state.sheets, seat, sheet)
    if state.phase == "mark":
        return to_mark(state, sheets, state.kept & ~(1 << unit), state.offered, happened), happened
    return offer(state, sheets, state.offered, seat, happened), happened


def _draw(edges: int, filled: int, edge: int) -> tuple[int, int]:
    """The sets of edges and filled boxes after `edge` was drawn (S1)."""
    edges |= 1 << edge
    for own, box in EDGE_BOXES[edge]:
        if edges & own == own:
            filled |= box
    return edges, filled


def _line(state: State, action: Line) -> _Step:
    old = state.sheets[state.actor]
    edges, filled = _draw(old.edges, old.filled, action.edge)
    sheet = Sheet(edges, filled, old.wormholes, old.yellow, old.red, old.blue, old.free_lines, old.rerolls)
    happened = [
        Event(
            {
                "event": "line",
                "seat": state.actor,
                "edge": action.edge,
                "free": False,
                "filled": members(filled ^ old.filled),
            }
        )
    ]
    return _marked(state, sheet, 0, happened)


def _yellow(state: State, action: Yellow) -> _Step:
    unit = UNIT_NUMBER[action.unit]
    seat = state.actor
    old = state.sheets[seat]
    cell = action.cell
    marks = old.yellow | 1 << cell
    free = old.free_lines
    rerolls = old.rerolls
    happened = [
        Event(
            {
                "event": "yellow",
                "seat": seat,
                "unit": action.unit,
                "value": state.dice[unit + 1],
                "cell": cell,
            }
        )
    ]
    for cells, line in CELL_LINES[cell]:  # sheets S2
        if marks & cells == cells:
            if line.reward == "reroll":
                rerolls += 1
            else:
                free += 1
            happened.append(
                Event({"event": "reward", "seat": seat, "reward": line.reward, "from": line.name})
            )
    sheet = Sheet(old.edges, old.filled, old.wormholes, marks, old.red, old.blue, free, rerolls)
    return _marked(state, sheet, unit, happened)


def _red(state: State, action: Red) -> _Step:
    old = state.sheets[state.actor]
    edges = old.edges
    filled = old.filled
    if action.box is not None:
        edges |= BOX_EDGES[action.box]
        for own, box in NEAR[action.box]:
            if edges & own == own:
                filled |= box
    red = old.red | 1 << action.value
    sheet = Sheet(edges, filled, old.wormholes, old.yellow, red, old.blue, old.free_lines, old.rerolls)
    happened = [
        Event(
            {
                "event": "red",
                "seat": state.actor,
                "unit": action.unit,
                "value": action.value,
                "box": action.box,
                "filled": members(filled ^ old.filled),
            }
        )
    ]
    return _marked(state, sheet, UNIT_NUMBER[action.unit], happened)


def _blue(state: State, action: Blue) -> _Step:
    old = state.sheets[state.actor]
    value = action.value
    wormholes = old.wormholes
    blue = old.blue
    if action.box is None:
        blue = (*blue, value)
    else:
        wormholes |= 1 << action.box
        blue = tuple([-v if v == value else v for v in blue])
    sheet = Sheet(old.edges, old.filled, wormholes, old.yellow, old.red, blue, old.free_lines, old.rerolls)
    happened = [
        Event(
            {
                "event": "blue",
                "seat": state.actor,
                "unit": action.unit,
                "value": value,
                "box": action.box,
            }
        )
    ]
    return _marked(state, sheet, UNIT_NUMBER[action.unit], happened)


def _free_line(state: State, action: FreeLine) -> _Step:
    seat = state.actor
    old = state.sheets[seat]
    edges, filled = _draw(old.edges, old.filled, action.edge)
    sheet = Sheet(
        edges, filled, old.wormholes, old.yellow, old.red, old.blue, old.free_lines - 1, old.rerolls
    )
    happened = [
        Event(
            {
                "event": "line",
                "seat": seat,
                "edge": action.edge,
                "free": True,
                "filled": members(filled ^ old.filled),
            }
        )
    ]
    sheets = replace_sheet(state.sheets, seat, sheet)
    if state.phase == "mark":  # the line may have taken the white pair's last use
        return to_mark(state, sheets, state.kept, state.offered, happened), happened
    after = go(state, sheets, state.phase, seat, state.hand, state.kept, state.offered, state.taken)
    return after, happened


# The discarded dice: sheets T3, T4.


def _take(state: State, action: Take) -> _Step:
    unit = UNIT_NUMBER[action.unit]
    offered = state.offered if state.shared else state.offered & ~(1 << unit)
    after = go(state, state.sheets, "use", state.actor, 0, 0, offered, unit)
    event = {"event": "took", "seat": state.actor, "unit": action.unit, "value": state.dice[unit + 1]}
    return after, [Event(event)]


def _pass(state: State, _action: Pass) -> _Step:
    happened = [Event({"event": "passed", "seat": state.actor})]
    if state.phase == "lines":
        return last_lines(state, state.sheets, state.actor), happened
    return offer(state, state.sheets, state.offered, state.actor, happened), happened


def retire(state: State, seat: int) -> _Step:
    """Retirement: the bot of `seat` is out; it passes from now on, and what it held is lost."""
    sheets = state.sheets
    phase = state.phase
    out = attrs.evolve(state, retired=(*state.retired, seat))
    happened = [Event({"event": "retired", "seat": seat})]
    if len(out.retired) == len(sheets):
        return ended(out, sheets, "over", NOBODY), happened
    if state.actor == seat and phase == "lines":
        return last_lines(out, sheets, seat), happened
    own_turn = state.seat == seat and phase in ("roll", "keep", "mark")
    if own_turn or state.actor == seat:
        # Undecided dice are lost; what was discarded so far is still offered to the seats not yet asked.
        return offer(out, sheets, state.offered, seat, happened), happened
    return out, happened


_APPLY: Final[dict[type, Callable[[State, Any], _Step]]] = {
    Keep: _keep,
    Reroll: _reroll,
    Line: _line,
    Yellow: _yellow,
    Red: _red,
    Blue: _blue,
    Take: _take,
    FreeLine: _free_line,
    Pass: _pass,
}
