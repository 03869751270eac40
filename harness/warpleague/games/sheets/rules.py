"""The rules of sheets: which actions are legal, in canonical order, what a move does, and who has won.

The canonical order: keeps (by kept, then discarded unit) or marks (by unit; for a black die yellow, red, blue; then by
edge, cell or box) or takes (by unit); then `reroll`; then free lines by edge; then `pass`. Lists are joined from
tuples that are cached by the small part of the position they depend on, since those parts come again and again. What a
move does is done to the position itself, and what happens is added to `events` unless that is None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.games.api import CHANCE, Event, Events, Outcome, Rolled, ranked
from warpleague.games.reading import ActionReader
from warpleague.games.sheets import events as make
from warpleague.games.sheets.geometry import (
    ACTIONS,
    ALL_EDGES,
    ALL_UNITS,
    BLACK_1,
    BLACK_2,
    BLUE_UNIT,
    BLUES,
    BONUS_ROUNDS,
    BOX_EDGES,
    CELL_LINES,
    CIRCLES,
    CROSS,
    EDGE_BOXES,
    EDGES,
    FREE_LINES,
    KEEPS,
    LINES,
    NEAR,
    NOT_FIRST_COLUMN,
    PASS,
    RED_UNIT,
    REDS,
    REROLL,
    ROUNDS,
    SIDE,
    TAKES,
    UNIT_NUMBER,
    UNITS,
    WHITE,
    WHITE_UNIT,
    YELLOW,
    YELLOW_UNIT,
    YELLOWS,
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
    YellowLine,
)
from warpleague.games.sheets.state import NO_DICE, NOBODY, Phase, Sheet, State, copied, own_sheet
from warpleague.games.values import Cache, encoded, members

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_Actions = tuple[Action, ...]

BLACK_RED_ROUND: Final = 3
"""From this round on a black die may be used as red, too (T2)."""
BLACK_BLUE_ROUND: Final = 5
"""From this round on a black die may be used as blue, too (T2)."""


def _keeps(hand: int) -> _Actions:
    """The choices with the units `hand` (T1): the white pair is kept, now or at the last roll."""
    units = members(hand)
    pairs = [
        (keep, discard) for keep in units for discard in units if keep != discard and discard != WHITE_UNIT
    ]
    return tuple(KEEPS[pair] for pair in pairs)


KEEP_LISTS: Final = {hand: _keeps(hand) for hand in range(ALL_UNITS + 1) if hand.bit_count() in (2, 4, 6)}
"""By the units in hand."""
_KEEPS_OR_REROLL: Final = {hand: (*keeps, REROLL) for hand, keeps in KEEP_LISTS.items()}


_CHUNK: Final = 6
_CHUNKS: Final = tuple(
    tuple(
        tuple(FREE_LINES[first + i] for i in range(_CHUNK) if not drawn >> i & 1)
        for drawn in range(1 << _CHUNK)
    )
    for first in range(0, len(FREE_LINES), _CHUNK)
)
"""For each six edges in a row and each set of them drawn: the free lines that are left there."""


def _free_lines(edges: int) -> _Actions:
    """A free line on every edge that is not in the set `edges` (T5)."""
    lines: _Actions = ()
    for chunk in _CHUNKS:
        lines += chunk[edges & 63]
        edges >>= _CHUNK
    return lines


_CHUNKS_JSON: Final = tuple(
    tuple(b"".join([b',{"do":"free-line","edge":%d}' % line.edge for line in lines]) for lines in chunk)
    for chunk in _CHUNKS
)


def _free_lines_json(edges: int) -> bytes:
    """The JSON of `_free_lines`, without its brackets."""
    lines = []
    for chunk in _CHUNKS_JSON:
        lines.append(chunk[edges & 63])
        edges >>= _CHUNK
    return b"".join(lines)[1:]


free_lines: Final = Cache[int, _Actions](_free_lines)
"""The same, made once for some thousands of sets: between two lines that are drawn there are many decisions."""
free_lines_json: Final = Cache[int, bytes](_free_lines_json, 1000)

_line_cache: dict[int, _Actions] = {}
_yellow_cache: dict[tuple[int, int], _Actions] = {}
_red_cache: dict[tuple[int, int, int], _Actions] = {}
_blue_cache: dict[tuple[int, int, int], _Actions] = {}


def _lines(missing: int) -> _Actions:
    cached = _line_cache.get(missing)
    if cached is None:
        cached = _line_cache[missing] = tuple(LINES[edge] for edge in members(missing))
    return cached


def _yellows(unit: int, value: int, sheet: Sheet) -> _Actions:
    open_cells = YELLOW[value] & ~sheet.yellow
    cached = _yellow_cache.get((unit, open_cells))
    if cached is None:
        table = YELLOWS[unit]
        cached = _yellow_cache[unit, open_cells] = tuple(table[cell] for cell in members(open_cells))
    return cached


def _reds(unit: int, value: int, sheet: Sheet) -> _Actions:
    if sheet.red >> value & 1:
        return ()
    boxes = CROSS[value] & ~sheet.filled
    key = (unit, value, boxes)
    cached = _red_cache.get(key)
    if cached is None:
        table = REDS[unit, value]
        # sheets S3: a mark that completes nothing is still a use.
        cached = _red_cache[key] = tuple(table[box] for box in members(boxes)) or (table[None],)
    return cached


def _blues(unit: int, value: int, sheet: Sheet) -> _Actions:
    if value not in sheet.blue:
        # sheets S4: a value without an open circle is written, as long as a circle is empty.
        return (BLUES[unit, value][None],) if len(sheet.blue) < CIRCLES else ()
    boxes = CROSS[value] & ~sheet.wormholes
    key = (unit, value, boxes)
    cached = _blue_cache.get(key)
    if cached is None:
        table = BLUES[unit, value]
        # Never empty: there are at most 7 wormholes, and 11 boxes in a row and column.
        cached = _blue_cache[key] = tuple(table[box] for box in members(boxes))
    return cached


def uses(dice: Sequence[int], round_: int, sheet: Sheet, unit: int) -> _Actions:
    """All uses of the rolled `unit` on `sheet` in the active player's round (T2); empty if it has none."""
    if unit == WHITE_UNIT:
        return _lines(WHITE[dice[0]][dice[1]] & ~sheet.edges)
    value = dice[unit + 1]
    if unit == YELLOW_UNIT:
        return _yellows(unit, value, sheet)
    if unit == RED_UNIT:
        return _reds(unit, value, sheet)
    if unit == BLUE_UNIT:
        return _blues(unit, value, sheet)
    actions = _yellows(unit, value, sheet)
    if round_ >= BLACK_RED_ROUND:
        actions += _reds(unit, value, sheet)
        if round_ >= BLACK_BLUE_ROUND:
            actions += _blues(unit, value, sheet)
    return actions


def useful(dice: Sequence[int], round_: int, sheet: Sheet, unit: int) -> bool:
    """Whether `uses` would find any use, without listing them."""
    if unit == WHITE_UNIT:
        return bool(WHITE[dice[0]][dice[1]] & ~sheet.edges)
    value = dice[unit + 1]
    wild = unit in (BLACK_1, BLACK_2)
    if (unit == YELLOW_UNIT or wild) and YELLOW[value] & ~sheet.yellow:
        return True
    if (unit == RED_UNIT or (wild and round_ >= BLACK_RED_ROUND)) and not sheet.red >> value & 1:
        return True
    if unit == BLUE_UNIT or (wild and round_ >= BLACK_BLUE_ROUND):
        return len(sheet.blue) < CIRCLES or value in sheet.blue
    return False


def legal(state: State, seat: int) -> _Actions:
    """Everything `seat` may do now, in canonical order; nothing unless it must act."""
    if seat != state.actor:
        return ()
    sheet = state.sheets[seat]
    phase = state.phase
    actions: _Actions
    if phase == "mark":
        actions = ()
        kept = state.kept
        while kept:
            low = kept & -kept
            actions += uses(state.dice, state.round, sheet, low.bit_length() - 1)
            kept ^= low
    elif phase == "take":
        offered = state.offered
        actions = ()
        while offered:
            low = offered & -offered
            unit = low.bit_length() - 1
            if useful(state.dice, state.round, sheet, unit):
                actions += (TAKES[unit],)
            offered ^= low
        # sheets T4: the solo player's dice are in hand again, so that rerolls may be spent on them.
        if sheet.rerolls and len(state.sheets) == 1:
            actions += (REROLL,)
    elif phase == "keep":
        actions = _KEEPS_OR_REROLL[state.hand] if sheet.rerolls else KEEP_LISTS[state.hand]
    elif phase == "use":
        actions = uses(state.dice, state.round, sheet, state.taken)
    else:
        actions = ()
    if sheet.free_lines and sheet.edges != ALL_EDGES:
        actions += free_lines[sheet.edges]
    if phase in ("take", "lines"):
        actions += (PASS,)
    return actions


def legal_json(state: State, seat: int, legal: Sequence[Action]) -> bytes | None:
    """The JSON of a list with free lines: these are many, and they stay the same from question to question."""
    sheet = state.sheets[seat]
    if not sheet.free_lines or sheet.edges == ALL_EDGES or seat != state.actor:
        return None
    last = _PASS if state.phase in ("take", "lines") else b""
    others = len(legal) - (EDGES - sheet.edges.bit_count()) - bool(last)
    return b"[%b%b%b]" % (
        b"".join(map(_JSON.__getitem__, legal[:others])),
        free_lines_json[sheet.edges],
        last,
    )


_JSON: Final = Cache[Action, bytes](lambda action: encoded({"do": action.do, **attrs.asdict(action)}) + b",")
"""Each with a comma after it."""
_PASS: Final = b"," + _JSON[PASS][:-1]


def ask(state: State, seat: int) -> str:
    """The phase: `keep`, `mark`, `take`, `use` or `lines`."""
    return state.phase


_READER: Final = ActionReader(ACTIONS)


def parse(state: State, seat: int, data: object) -> Action:
    """The action of `seat` that `data` describes; `ActionError` if it is none, or not legal now."""
    action: Action = _READER.parse(data, legal(state, seat))
    return action


# -- a move ------------------------------------------------------------------------------------------------


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
        events.append(make.REROLL[(state.seat,)])


def _keep(state: State, action: Keep, events: Events) -> None:
    keep, discard = UNIT_NUMBER[action.unit], UNIT_NUMBER[action.discard]
    if events is not None:
        dice = state.dice
        value = dice[keep + 1] if keep else dice[:2]
        events.append(make.KEPT[state.seat, action.unit, value, action.discard, dice[discard + 1]])
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
        events.append(make.LINE[state.actor, action.edge, False, filled])
    _marked(state, WHITE_UNIT, events)


def _free_line(state: State, action: FreeLine, events: Events) -> None:
    sheet = own_sheet(state, state.actor)
    sheet.free_lines -= 1
    filled = draw_line(sheet, action.edge)
    if events is not None:
        events.append(make.LINE[state.actor, action.edge, True, filled])
    if state.phase == "mark":  # the line may have taken the white pair's last use
        _to_mark(state, state.kept, events)


def _yellow(state: State, action: Yellow, events: Events) -> None:
    unit, seat, cell = UNIT_NUMBER[action.unit], state.actor, action.cell
    complete = mark_yellow(own_sheet(state, seat), cell)
    if events is not None:
        events.append(make.YELLOW[seat, action.unit, state.dice[unit + 1], cell])
        events += [make.REWARD[seat, line.reward, line.name] for line in complete]
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
        events.append(make.RED[state.actor, action.unit, action.value, action.box, filled])
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
        events.append(make.BLUE[state.actor, action.unit, action.value, action.box])
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
        events.append(make.TOOK[state.actor, action.unit, state.dice[unit + 1]])


def _pass(state: State, _action: Pass, events: Events) -> None:
    if events is not None:
        events.append(make.PASSED[(state.actor,)])
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
            events.append(make.LOST[seat, lost])
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
        events.append(make.TURN[seat, round_])
    if round_ in BONUS_ROUNDS:
        own_sheet(state, seat).rerolls += 1
        if events is not None:
            events.append(make.REWARD[seat, "reroll", f"round {round_}"])
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


# -- the score: sheets E1, E2 ------------------------------------------------------------------------------


PARTS = ("boxes", "boxes with wormhole", "connections")
"""The parts of a score."""


def connections(wormholes: int) -> int:
    """How many pairs of wormholes are orthogonally adjacent (E1); `wormholes` is a set of boxes."""
    below = wormholes & wormholes >> SIDE
    beside = wormholes & (wormholes & NOT_FIRST_COLUMN) >> 1
    return below.bit_count() + beside.bit_count()


def score_parts(sheet: Sheet) -> tuple[int, int, int]:
    """The points for filled boxes without a wormhole, with one, and for connections (E1)."""
    both = (sheet.filled & sheet.wormholes).bit_count()
    return sheet.filled.bit_count() - both, 2 * both, 3 * connections(sheet.wormholes)


def outcome(state: State) -> Outcome:
    """Points decide, then connections (E2)."""
    parts = [score_parts(sheet) for sheet in state.sheets]
    standings = [(sum(own), own[2]) for own in parts]
    return Outcome(
        ranked(standings, state.retired),
        tuple(float(sum(own)) for own in parts),
        {name: tuple(float(own[i]) for own in parts) for i, name in enumerate(PARTS)},
        "retired" if len(state.retired) == len(parts) else "completed",
    )
