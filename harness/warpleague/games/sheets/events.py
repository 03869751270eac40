"""The events of sheets, each made once and cached, and a line of English for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import cached_events
from warpleague.games.sheets.geometry import EDGES, ROW_START, SIDE, UNITS, YELLOW_VALUES, side_of
from warpleague.games.values import members
from warpleague.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _names(units: int) -> list[str]:
    return [UNITS[unit] for unit in members(units)]


_FILLED: Final = {"filled": members}
"""Sets of boxes are looked up as integers."""
TURN: Final = cached_events("turn", "seat", "round")
REROLL: Final = cached_events("reroll", "seat")
KEPT: Final = cached_events("kept", "seat", "unit", "value", "discard", "discarded")
LINE: Final = cached_events("line", "seat", "edge", "free", "filled", read=_FILLED)
"""An edge drawn, with the white pair or as a free line, and the boxes this filled."""
YELLOW: Final = cached_events("yellow", "seat", "unit", "value", "cell")
RED: Final = cached_events("red", "seat", "unit", "value", "box", "filled", read=_FILLED)
BLUE: Final = cached_events("blue", "seat", "unit", "value", "box")
REWARD: Final = cached_events("reward", "seat", "reward", "from")
"""A free line or a reroll gained, and for what."""
LOST: Final = cached_events("lost", "seat", "units", read={"units": _names})
TOOK: Final = cached_events("took", "seat", "unit", "value")
PASSED: Final = cached_events("passed", "seat")


ENDINGS: Final[Mapping[str, str]] = {
    "completed": "all rounds are played",
    "retired": "everybody left the match",
}
"""Why a match ended, in words."""


def edge_name(edge: int) -> str:
    """An edge by one of its boxes."""
    if not 0 <= edge < EDGES:
        return f"edge {edge}"
    side, box = side_of(edge)
    return f"the {side} edge of {box_name(box)}"


def box_name(box: int) -> str:
    """A box by its place."""
    return f"the box in {place_name(box)}"


def place_name(box: int) -> str:
    """Where a box is."""
    row, column = divmod(box, SIDE)
    return f"row {row + 1}, column {column + 1}"


def cell_name(cell: int) -> str:
    """A yellow number by its value and place."""
    row = max(number for number, start in enumerate(ROW_START) if start <= cell)
    return f"{YELLOW_VALUES[cell]} in row {row + 1}, column {cell - ROW_START[row] + 1}"


def _shown(value: Any) -> str:
    return "-".join(str(one) for one in value) if isinstance(value, (list, tuple)) else str(value)


def _colour(unit: str) -> str:
    """A die as persons call it: the two black ones are not told apart."""
    return unit.partition("-")[0]


def _fills(event: Mapping[str, Any]) -> str:
    filled = event["filled"]
    return ", filling " + listed(list(map(box_name, filled))) if filled else ""


def tell(event: Mapping[str, Any]) -> str:
    """One line of English for an event's JSON form."""
    kind = event["event"]
    who = f"seat {event['seat']}"
    if kind == "turn":
        return f"round {event['round']}: {who}'s turn begins"
    if kind == "rolled":
        return f"{who} rolls " + ", ".join(
            f"{_colour(unit)} {_shown(value)}" for unit, value in event["dice"].items()
        )
    if kind == "reroll":
        return f"{who} spends a reroll"
    if kind == "kept":
        return (
            f"{who} keeps {_colour(event['unit'])} {_shown(event['value'])}"
            f" and gives away {_colour(event['discard'])} {event['discarded']}"
        )
    if kind == "line":
        means = "a free line" if event["free"] else "white"
        return f"{who} draws {edge_name(event['edge'])} with {means}{_fills(event)}"
    if kind == "yellow":
        return f"{who} marks the yellow {cell_name(event['cell'])} with {_colour(event['unit'])} {event['value']}"
    if kind == "reward":
        return f"{who} gets a {event['reward'].replace('-', ' ')} for {event['from']}"
    if kind == "red":
        gain = "completing no box" if event["box"] is None else f"completing {box_name(event['box'])}"
        more = [box for box in event["filled"] if box != event["box"]]
        also = " and with it " + listed(list(map(box_name, more))) if more else ""
        return f"{who} marks the red {event['value']} with {_colour(event['unit'])}, {gain}{also}"
    if kind == "blue":
        if event["box"] is None:
            return f"{who} writes {event['value']} into a blue circle with {_colour(event['unit'])}"
        return (
            f"{who} crosses out the blue {event['value']} with {_colour(event['unit'])}"
            f" and draws a wormhole in {place_name(event['box'])}"
        )
    if kind == "lost":
        return f"{who} has no use for {listed(list(map(_colour, event['units'])))}"
    if kind == "took":
        return f"{who} takes {_colour(event['unit'])} {event['value']}, which was given away"
    if kind == "passed":
        return f"{who} passes"
    if kind == "retired":
        return f"{who} left the match"
    return f"{who}: {kind}"
