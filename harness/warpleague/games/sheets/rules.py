"""Applies an action, a roll or a retirement in sheets, and finds whose decision comes next.

Everything trusts its caller that the move is legal. A move is carried out on one copy of the position, `new`, which
the functions here change until it is handed out; what happens is added to the list `events`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import CHANCE, Event
from warpleague.games.sheets import tell
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
from warpleague.games.sheets.geometry import (
    ALL_EDGES,
    BONUS_ROUNDS,
    BOX_EDGES,
    CELL_LINES,
    EDGE_BOXES,
    NEAR,
    ROUNDS,
)
from warpleague.games.sheets.legal import useful
from warpleague.games.sheets.state import NO_DICE, NOBODY, State, fresh, fresh_sheet
from warpleague.games.values import members, replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Rolled
    from warpleague.games.sheets.geometry import YellowLine
    from warpleague.games.sheets.state import Phase, Sheet

Events = list[Event]

UNIT_SETS: Final = tuple(tuple(members(units)) for units in range(ALL_UNITS + 1))
"""For each set of units their numbers, ascending."""

_SIX: Final = tuple((6,) * (len(units) + (1 if 0 in units else 0)) for units in UNIT_SETS)
"""For each set of units the draws of a roll: one die each, the white pair two (C1)."""


def chance(state: State) -> tuple[int, ...]:
    """The dice to roll now (C1): those in hand, or the discarded ones of a solo player (T4)."""
    return _SIX[state.hand or state.offered]


def address(state: State) -> str:
    """C2: which of the three rolls of a seat's turn, or that of the discarded dice; rerolls repeat its address."""
    roll = f"roll {1 + len(UNIT_SETS[state.kept])}" if state.hand else "discarded"
    return f"seat {state.seat} round {state.round} {roll}"


def apply(state: State, move: Action | Rolled) -> tuple[State, Events]:
    """The position after `move`, and what happened."""
    new = fresh(state)
    events: Events = []
    _APPLY[type(move)](new, move, events)
    return new, events


def retire(state: State, seat: int) -> tuple[State, Events]:
    """The bot of `seat` is out: it passes from now on, and its dice in hand are lost."""
    new = fresh(state)
    new.retired = (*state.retired, seat)
    events = [Event({"event": "retired", "seat": seat})]
    if len(new.retired) == len(new.sheets):
        _end(new, "over", NOBODY)
    elif state.actor == seat and state.phase == "lines":
        _last_lines(new, seat)
    elif state.actor == seat or (state.seat == seat and state.phase in ("roll", "keep", "mark")):
        # Undecided dice are lost; the dice discarded so far go on to the seats not yet asked.
        _offer(new, state.offered, seat, events)
    return new, events


# -- dice: sheets T1, C1 -----------------------------------------------------------------------------------


def _roll(new: State, rolled: Rolled, events: Events) -> None:
    units = new.hand or new.offered
    if units == ALL_UNITS:
        dice = tuple([k + 1 for k in rolled])
    else:
        values = list(new.dice)
        rest = iter(rolled)
        for unit in UNIT_SETS[units]:
            if not unit:
                values[0] = next(rest) + 1
            values[unit + 1] = next(rest) + 1
        dice = tuple(values)
    new.dice = dice
    new.phase = "keep" if new.hand else "take"
    new.actor = new.seat
    shown: dict[str, Any] = {"white": [dice[0], dice[1]]} if units & 1 else {}
    for unit in UNIT_SETS[units & ~1]:
        shown[UNITS[unit]] = dice[unit + 1]
    events.append(Event({"event": "rolled", "seat": new.seat, "dice": shown}))


def _reroll(new: State, _action: Reroll, events: Events) -> None:
    seat = new.seat
    sheet = fresh_sheet(new.sheets[seat])
    sheet.rerolls -= 1
    new.sheets = replaced(new.sheets, seat, sheet)
    new.phase, new.actor = "roll", CHANCE
    events.append(tell.REROLL[(seat,)])


def _keep(new: State, action: Keep, events: Events) -> None:
    keep, discard = UNIT_NUMBER[action.unit], UNIT_NUMBER[action.discard]
    dice = new.dice
    value = dice[keep + 1] if keep else dice[:2]
    events.append(tell.KEPT[new.seat, action.unit, value, action.discard, dice[discard + 1]])
    new.hand &= ~(1 << keep | 1 << discard)
    new.kept |= 1 << keep
    new.offered |= 1 << discard
    if new.hand:
        new.phase, new.actor = "roll", CHANCE
    else:
        _to_mark(new, new.kept, events)


# -- marking: sheets S1-S4, T2 -----------------------------------------------------------------------------


def _marked(new: State, sheet: Sheet, unit: int, events: Events) -> None:
    """Go on after the acting seat used `unit`, which left it with `sheet`."""
    seat = new.actor
    new.sheets = replaced(new.sheets, seat, sheet)
    if new.phase == "mark":
        _to_mark(new, new.kept & ~(1 << unit), events)
    else:
        _offer(new, new.offered, seat, events)


def draw_line(sheet: Sheet, edge: int) -> int:
    """Draw `edge` on `sheet`; the set of boxes that this fills (S1)."""
    edges = sheet.edges = sheet.edges | 1 << edge
    before = filled = sheet.filled
    for own, box in EDGE_BOXES[edge]:
        if edges & own == own:
            filled |= box
    sheet.filled = filled
    return filled ^ before


def _line(new: State, action: Line, events: Events) -> None:
    sheet = fresh_sheet(new.sheets[new.actor])
    filled = draw_line(sheet, action.edge)
    events.append(tell.LINE[new.actor, action.edge, False, filled])
    _marked(new, sheet, 0, events)


def _free_line(new: State, action: FreeLine, events: Events) -> None:
    seat = new.actor
    sheet = fresh_sheet(new.sheets[seat])
    sheet.free_lines -= 1
    filled = draw_line(sheet, action.edge)
    events.append(tell.LINE[seat, action.edge, True, filled])
    new.sheets = replaced(new.sheets, seat, sheet)
    if new.phase == "mark":  # the line may have taken the white pair's last use
        _to_mark(new, new.kept, events)


def _yellow(new: State, action: Yellow, events: Events) -> None:
    unit, seat, cell = UNIT_NUMBER[action.unit], new.actor, action.cell
    sheet = fresh_sheet(new.sheets[seat])
    events.append(tell.YELLOW[seat, action.unit, new.dice[unit + 1], cell])
    for line in mark_yellow(sheet, cell):
        events.append(tell.REWARD[seat, line.reward, line.name])
    _marked(new, sheet, unit, events)


def mark_yellow(sheet: Sheet, cell: int) -> list[YellowLine]:
    """Mark `cell`, and take the rewards of the lines that this completes, which are returned (S2)."""
    marks = sheet.yellow = sheet.yellow | 1 << cell
    complete = [line for cells, line in CELL_LINES[cell] if marks & cells == cells]
    for line in complete:
        if line.reward == "reroll":
            sheet.rerolls += 1
        else:
            sheet.free_lines += 1
    return complete


def _red(new: State, action: Red, events: Events) -> None:
    sheet = fresh_sheet(new.sheets[new.actor])
    filled = mark_red(sheet, action)
    events.append(tell.RED[new.actor, action.unit, action.value, action.box, filled])
    _marked(new, sheet, UNIT_NUMBER[action.unit], events)


def mark_red(sheet: Sheet, action: Red) -> int:
    """Mark the value, and complete the box; the set of boxes that this fills (S3)."""
    sheet.red |= 1 << action.value
    before = filled = sheet.filled
    if action.box is not None:
        edges = sheet.edges = sheet.edges | BOX_EDGES[action.box]
        for own, box in NEAR[action.box]:
            if edges & own == own:
                filled |= box
        sheet.filled = filled
    return filled ^ before


def _blue(new: State, action: Blue, events: Events) -> None:
    sheet = fresh_sheet(new.sheets[new.actor])
    mark_blue(sheet, action)
    events.append(tell.BLUE[new.actor, action.unit, action.value, action.box])
    _marked(new, sheet, UNIT_NUMBER[action.unit], events)


def mark_blue(sheet: Sheet, action: Blue) -> None:
    """Write the value, or cross it out and draw a wormhole in the box (S4)."""
    value, box = action.value, action.box
    if box is None:
        sheet.blue = (*sheet.blue, value)
    else:
        sheet.wormholes |= 1 << box
        sheet.blue = tuple([-v if v == value else v for v in sheet.blue])


# -- the discarded dice: sheets T3, T4 ---------------------------------------------------------------------


def _take(new: State, action: Take, events: Events) -> None:
    unit = UNIT_NUMBER[action.unit]
    if not new.shared:
        new.offered &= ~(1 << unit)
    new.phase, new.taken = "use", unit
    events.append(tell.TOOK[new.actor, action.unit, new.dice[unit + 1]])


def _pass(new: State, _action: Pass, events: Events) -> None:
    events.append(tell.PASSED[(new.actor,)])
    if new.phase == "lines":
        _last_lines(new, new.actor)
    else:
        _offer(new, new.offered, new.actor, events)


# -- who comes next ----------------------------------------------------------------------------------------


def _go(new: State, phase: Phase, actor: int, *, kept: int = 0, offered: int = 0) -> None:
    """On to another phase of the same turn."""
    new.phase, new.actor = phase, actor
    new.hand, new.kept, new.offered, new.taken = 0, kept, offered, -1


def _to_mark(new: State, kept: int, events: Events) -> None:
    """The active seat marks on with the units `kept`; those without a use are lost (T2)."""
    seat = new.seat
    sheet = new.sheets[seat]
    lost = 0
    for unit in UNIT_SETS[kept]:
        if not useful(new.dice, new.round, sheet, unit):
            lost |= 1 << unit
    if lost:
        # Uses only ever become fewer within a turn, so what is useless now stays so.
        events.append(tell.LOST[seat, lost])
        kept &= ~lost
    if kept:
        new.phase, new.actor = "mark", seat
        new.hand, new.kept, new.taken = 0, kept, -1
    elif len(new.sheets) == 1:  # sheets T4
        _go(new, "roll", CHANCE, offered=new.offered)
    else:
        _offer(new, new.offered, seat, events)


def _offer(new: State, offered: int, after: int, events: Events) -> None:
    """Ask the next seat after `after` to take a discarded die (T3); after the last one the next turn comes."""
    players = len(new.sheets)
    if offered and players > 1:
        seat = (after + 1) % players
        while seat != new.seat:
            if seat not in new.retired:
                _go(new, "take", seat, offered=offered)
                return
            seat = (seat + 1) % players
    _next_turn(new, events)


def _next_turn(new: State, events: Events) -> None:
    """The next seat rolls, with its reroll of the round (S5); after the last turn come the last free lines."""
    round_, seat = new.round, new.seat
    while True:
        seat += 1
        if seat == len(new.sheets):
            seat = 0
            round_ += 1
            if round_ > ROUNDS:
                _last_lines(new, -1)
                return
        if seat not in new.retired:
            break
    events.append(tell.TURN[seat, round_])
    if round_ in BONUS_ROUNDS:
        sheet = fresh_sheet(new.sheets[seat])
        sheet.rerolls += 1
        new.sheets = replaced(new.sheets, seat, sheet)
        events.append(tell.REWARD[seat, "reroll", f"round {round_}"])
    _go(new, "roll", CHANCE)
    new.round, new.seat, new.dice, new.hand = round_, seat, NO_DICE, ALL_UNITS


def _last_lines(new: State, after: int) -> None:
    """Ask the next seat after `after` that has free lines and a missing edge (T5); if none, all is over."""
    for seat in range(after + 1, len(new.sheets)):
        sheet = new.sheets[seat]
        if sheet.free_lines and sheet.edges != ALL_EDGES and seat not in new.retired:
            _end(new, "lines", seat)
            return
    _end(new, "over", NOBODY)


def _end(new: State, phase: Phase, actor: int) -> None:
    """The turns are over: the dice are put away."""
    _go(new, phase, actor)
    new.dice = NO_DICE


_APPLY: Final[dict[type, Callable[[State, Any, Events], None]]] = {
    tuple: _roll,
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
