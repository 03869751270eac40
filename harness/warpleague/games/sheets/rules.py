"""Applies an action, a roll or a retirement in sheets, and finds whose decision comes next.

Everything trusts its caller that the move is legal. The functions change the position they are given; what happens is
added to `events`, unless that is None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import CHANCE, Event, Events
from warpleague.games.sheets import tell
from warpleague.games.sheets.actions import (
    ALL_UNITS,
    UNIT_NUMBER,
    UNITS,
    WHITE_UNIT,
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
from warpleague.games.sheets.state import NO_DICE, NOBODY, State, copied, own_sheet
from warpleague.games.values import members

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Rolled
    from warpleague.games.sheets.geometry import YellowLine
    from warpleague.games.sheets.state import Phase, Sheet

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


def push(state: State, move: Action | Rolled, events: Events) -> State:
    """Play `move` on `state`, which is returned."""
    _APPLY[type(move)](state, move, events)
    return state


def retire(state: State, seat: int) -> tuple[State, list[Event]]:
    """The bot of `seat` is out: it passes from now on, and its dice in hand are lost."""
    after = copied(state)
    after.retired = (*state.retired, seat)
    events = [Event({"event": "retired", "seat": seat})]
    if len(after.retired) == len(after.sheets):
        _end(after, "over", NOBODY)
    elif after.actor == seat and after.phase == "lines":
        _last_lines(after, seat)
    elif after.actor == seat or (after.seat == seat and after.phase in ("roll", "keep", "mark")):
        # Undecided dice are lost; the dice discarded so far go on to the seats not yet asked.
        _offer(after, after.offered, seat, events)
    return after, events


# -- dice: sheets T1, C1 -----------------------------------------------------------------------------------


def _roll(state: State, rolled: Rolled, events: Events) -> None:
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
    state.dice = dice
    state.phase = "keep" if state.hand else "take"
    state.actor = state.seat
    if events is not None:
        shown: dict[str, Any] = {"white": [dice[0], dice[1]]} if units & 1 else {}
        for unit in UNIT_SETS[units & ~1]:
            shown[UNITS[unit]] = dice[unit + 1]
        events.append(Event({"event": "rolled", "seat": state.seat, "dice": shown}))


def _reroll(state: State, _action: Reroll, events: Events) -> None:
    own_sheet(state, state.seat).rerolls -= 1
    state.phase, state.actor = "roll", CHANCE
    if events is not None:
        events.append(tell.REROLL[(state.seat,)])


def _keep(state: State, action: Keep, events: Events) -> None:
    keep, discard = UNIT_NUMBER[action.unit], UNIT_NUMBER[action.discard]
    if events is not None:
        dice = state.dice
        value = dice[keep + 1] if keep else dice[:2]
        events.append(tell.KEPT[state.seat, action.unit, value, action.discard, dice[discard + 1]])
    state.hand &= ~(1 << keep | 1 << discard)
    state.kept |= 1 << keep
    state.offered |= 1 << discard
    if state.hand:
        state.phase, state.actor = "roll", CHANCE
    else:
        _to_mark(state, state.kept, events)


# -- marking: sheets S1-S4, T2 -----------------------------------------------------------------------------


def _marked(state: State, unit: int, events: Events) -> None:
    """Go on after the acting seat used `unit`."""
    if state.phase == "mark":
        _to_mark(state, state.kept & ~(1 << unit), events)
    else:
        _offer(state, state.offered, state.actor, events)


def draw_line(sheet: Sheet, edge: int) -> int:
    """Draw `edge` on `sheet`; the set of boxes that this fills (S1)."""
    edges = sheet.edges = sheet.edges | 1 << edge
    before = filled = sheet.filled
    for own, box in EDGE_BOXES[edge]:
        if edges & own == own:
            filled |= box
    sheet.filled = filled
    return filled ^ before


def _line(state: State, action: Line, events: Events) -> None:
    filled = draw_line(own_sheet(state, state.actor), action.edge)
    if events is not None:
        events.append(tell.LINE[state.actor, action.edge, False, filled])
    _marked(state, WHITE_UNIT, events)


def _free_line(state: State, action: FreeLine, events: Events) -> None:
    sheet = own_sheet(state, state.actor)
    sheet.free_lines -= 1
    filled = draw_line(sheet, action.edge)
    if events is not None:
        events.append(tell.LINE[state.actor, action.edge, True, filled])
    if state.phase == "mark":  # the line may have taken the white pair's last use
        _to_mark(state, state.kept, events)


def _yellow(state: State, action: Yellow, events: Events) -> None:
    unit, seat, cell = UNIT_NUMBER[action.unit], state.actor, action.cell
    complete = mark_yellow(own_sheet(state, seat), cell)
    if events is not None:
        events.append(tell.YELLOW[seat, action.unit, state.dice[unit + 1], cell])
        events += [tell.REWARD[seat, line.reward, line.name] for line in complete]
    _marked(state, unit, events)


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


def _red(state: State, action: Red, events: Events) -> None:
    filled = mark_red(own_sheet(state, state.actor), action)
    if events is not None:
        events.append(tell.RED[state.actor, action.unit, action.value, action.box, filled])
    _marked(state, UNIT_NUMBER[action.unit], events)


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


def _blue(state: State, action: Blue, events: Events) -> None:
    mark_blue(own_sheet(state, state.actor), action)
    if events is not None:
        events.append(tell.BLUE[state.actor, action.unit, action.value, action.box])
    _marked(state, UNIT_NUMBER[action.unit], events)


def mark_blue(sheet: Sheet, action: Blue) -> None:
    """Write the value, or cross it out and draw a wormhole in the box (S4)."""
    value, box = action.value, action.box
    if box is None:
        sheet.blue = (*sheet.blue, value)
    else:
        sheet.wormholes |= 1 << box
        sheet.blue = tuple([-v if v == value else v for v in sheet.blue])


# -- the discarded dice: sheets T3, T4 ---------------------------------------------------------------------


def _take(state: State, action: Take, events: Events) -> None:
    unit = UNIT_NUMBER[action.unit]
    if not state.shared:
        state.offered &= ~(1 << unit)
    state.phase, state.taken = "use", unit
    if events is not None:
        events.append(tell.TOOK[state.actor, action.unit, state.dice[unit + 1]])


def _pass(state: State, _action: Pass, events: Events) -> None:
    if events is not None:
        events.append(tell.PASSED[(state.actor,)])
    if state.phase == "lines":
        _last_lines(state, state.actor)
    else:
        _offer(state, state.offered, state.actor, events)


# -- who comes next ----------------------------------------------------------------------------------------


def _go(state: State, phase: Phase, actor: int, *, kept: int = 0, offered: int = 0) -> None:
    """On to another phase of the same turn."""
    state.phase, state.actor = phase, actor
    state.hand, state.kept, state.offered, state.taken = 0, kept, offered, -1


def _to_mark(state: State, kept: int, events: Events) -> None:
    """The active seat marks on with the units `kept`; those without a use are lost (T2)."""
    seat = state.seat
    sheet = state.sheets[seat]
    lost = 0
    for unit in UNIT_SETS[kept]:
        if not useful(state.dice, state.round, sheet, unit):
            lost |= 1 << unit
    if lost:
        # Uses only ever become fewer within a turn, so what is useless now stays so.
        if events is not None:
            events.append(tell.LOST[seat, lost])
        kept &= ~lost
    if kept:
        state.phase, state.actor = "mark", seat
        state.hand, state.kept, state.taken = 0, kept, -1
    elif len(state.sheets) == 1:  # sheets T4
        _go(state, "roll", CHANCE, offered=state.offered)
    else:
        _offer(state, state.offered, seat, events)


def _offer(state: State, offered: int, after: int, events: Events) -> None:
    """Ask the next seat after `after` to take a discarded die (T3); after the last one the next turn comes."""
    players = len(state.sheets)
    if offered and players > 1:
        seat = (after + 1) % players
        while seat != state.seat:
            if seat not in state.retired:
                _go(state, "take", seat, offered=offered)
                return
            seat = (seat + 1) % players
    _next_turn(state, events)


def _next_turn(state: State, events: Events) -> None:
    """The next seat rolls, with its reroll of the round (S5); after the last turn come the last free lines."""
    round_, seat = state.round, state.seat
    while True:
        seat += 1
        if seat == len(state.sheets):
            seat = 0
            round_ += 1
            if round_ > ROUNDS:
                _last_lines(state, -1)
                return
        if seat not in state.retired:
            break
    if events is not None:
        events.append(tell.TURN[seat, round_])
    if round_ in BONUS_ROUNDS:
        own_sheet(state, seat).rerolls += 1
        if events is not None:
            events.append(tell.REWARD[seat, "reroll", f"round {round_}"])
    _go(state, "roll", CHANCE)
    state.round, state.seat, state.dice, state.hand = round_, seat, NO_DICE, ALL_UNITS


def _last_lines(state: State, after: int) -> None:
    """Ask the next seat after `after` that has free lines and a missing edge (T5); if none, all is over."""
    for seat in range(after + 1, len(state.sheets)):
        sheet = state.sheets[seat]
        if sheet.free_lines and sheet.edges != ALL_EDGES and seat not in state.retired:
            _end(state, "lines", seat)
            return
    _end(state, "over", NOBODY)


def _end(state: State, phase: Phase, actor: int) -> None:
    """The turns are over: the dice are put away."""
    _go(state, phase, actor)
    state.dice = NO_DICE


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
