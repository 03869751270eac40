"""The options of sheets, and its position: each seat's sheet, the dice, and whose decision comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import attrs

from warpleague.games.api import CHANCE
from warpleague.games.sheets.geometry import ALL_UNITS, BOX_EDGES
from warpleague.games.values import copier, each, keyer, replaced, switch

if TYPE_CHECKING:
    from collections.abc import Hashable


@attrs.frozen
class Options:
    """The options of sheets."""

    shared_discards: bool = switch(
        default=False,
        text="a discarded die that a seat takes stays on offer for the seats after it (sheets T3)",
    )


Phase = Literal["roll", "keep", "mark", "take", "use", "lines", "over"]
PHASES: Final[tuple[Phase, ...]] = ("roll", "keep", "mark", "take", "use", "lines", "over")

NOBODY: Final = -2
"""The actor when the game is over."""

NO_DICE: Final = (0,) * 7


@attrs.define
class Sheet:
    """The marks of one seat.

    Sets are integers (see `geometry`). `filled` follows from `edges` and changes with them.
    `blue` holds the written circles in the order of writing: v for an open one, -v for a crossed-out one.
    """

    edges: int = 0
    filled: int = 0
    wormholes: int = 0
    yellow: int = 0
    red: int = 0
    """Bit v for each marked value v, 1-6."""
    blue: tuple[int, ...] = ()
    free_lines: int = 0
    rerolls: int = 0


@attrs.define
class State:
    """A position.

    `seat` is whose turn it is, `actor` who must act (`CHANCE`, or `NOBODY` at the end). `dice` are the values
    in the order white, white, black-1, black-2, red, yellow, blue, 0 where not rolled yet. `hand`, `kept` and
    `offered` are sets of units: to be rolled or chosen from, kept and still to be marked, discarded and still
    there; `taken` is the number of the unit a seat took and must use, or -1. `retired` is in the order of
    retirement.
    """

    sheets: tuple[Sheet, ...]
    shared: bool
    round: int
    seat: int
    phase: Phase
    actor: int
    dice: tuple[int, ...]
    hand: int
    kept: int
    offered: int
    taken: int
    retired: tuple[int, ...]


copied: Final = copier(State)
"""A copy of a position, whose fields a move may change; its sheets are still those of the original."""
_copied_sheet: Final = copier(Sheet)


def own_sheet(state: State, seat: int) -> Sheet:
    """A sheet of `seat` that a move may change: other positions share the one it had."""
    sheet = _copied_sheet(state.sheets[seat])
    state.sheets = replaced(state.sheets, seat, sheet)
    return sheet


_key: Final = keyer(State, sheets=each(keyer(Sheet)))


_ACTORS: Final = {CHANCE: (CHANCE,), NOBODY: (), **{seat: (seat,) for seat in range(4)}}


def key(state: State) -> Hashable:
    """The key of a position."""
    return _key(state)


def initial(players: int, options: Options) -> State:
    """Seat 0 is about to roll in round 1, all sheets are empty."""
    shared = options.shared_discards
    return State((Sheet(),) * players, shared, 1, 0, "roll", CHANCE, NO_DICE, ALL_UNITS, 0, 0, -1, ())


def match_of(state: State) -> tuple[int, Options]:
    """As many players as sheets."""
    return len(state.sheets), Options(shared_discards=state.shared)


def actors(state: State) -> tuple[int, ...]:
    """The dice when they are to be rolled, else the one seat that must act."""
    return _ACTORS[state.actor]


def filled_boxes(edges: int) -> int:
    """The set of boxes whose four edges are all in the set `edges` (S1)."""
    filled = 0
    for box, own in enumerate(BOX_EDGES):
        if edges & own == own:
            filled |= 1 << box
    return filled
