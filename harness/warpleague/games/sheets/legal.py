"""Which actions a position of sheets allows, in canonical order, and why another is not allowed.

The canonical order: keeps (by kept, then discarded
unit) or marks (by unit; for a black die yellow, red, blue; then by edge, cell or box) or takes (by unit); then
`reroll`; then free lines by edge; then `pass`. Lists are joined from tuples that are cached by the small part of
the position they depend on, since those parts come again and again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from warpleague.games.reading import ActionReader
from warpleague.games.sheets.actions import (
    ACTIONS,
    ALL_UNITS,
    BLACK_1,
    BLACK_2,
    BLUE_UNIT,
    BLUES,
    FREE_LINES,
    KEEPS,
    LINES,
    PASS,
    RED_UNIT,
    REDS,
    REROLL,
    TAKES,
    WHITE_UNIT,
    YELLOW_UNIT,
    YELLOWS,
    Action,
)
from warpleague.games.sheets.geometry import ALL_EDGES, CIRCLES, CROSS, EDGES, WHITE, YELLOW
from warpleague.games.values import Cache, encoded, members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.sheets.state import Sheet, State

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
