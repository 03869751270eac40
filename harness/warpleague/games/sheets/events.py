"""The events of sheets, each made once and cached, and a line of English for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import cached_events
from warpleague.games.sheets.geometry import EDGES, SIDE, UNITS, side_of
from warpleague.games.values import members

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


def _edge_name(edge: int) -> str:
    """Where an edge is, in words."""
    if not 0 <= edge < EDGES:
        return f"edge {edge}"
    side, box = side_of(edge)
    return f"the {side} edge of {_box_name(box)}"


def _box_name(box: int) -> str:
    row, column = divmod(box, SIDE)
    return f"box {box} (row {row + 1}, column {column + 1})"


def _shown(value: Any) -> str:
    return "-".join(str(one) for one in value) if isinstance(value, (list, tuple)) else str(value)


def _colour(unit: str) -> str:
    """A die as persons call it: the two black ones are not told apart."""
    return unit.partition("-")[0]


def _fills(event: Mapping[str, Any]) -> str:
    filled = event["filled"]
    return ", filling " + " and ".join(_box_name(box) for box in filled) if filled else ""


def tell(event: Mapping[str, Any]) -> str:
    """One line of English for an event's JSON form."""
    kind = event["event"]
    who = f"seat {event['seat']}"
    if kind == "turn":
        return f"round {event['round']}: turn of {who}"
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
        return f"{who} draws {_edge_name(event['edge'])} with {means}{_fills(event)}"
    if kind == "yellow":
        return f"{who} marks yellow cell {event['cell']} with {_colour(event['unit'])} {event['value']}"
    if kind == "reward":
        return f"{who} gets a {event['reward'].replace('-', ' ')} for {event['from']}"
    if kind == "red":
        gain = "completing no box" if event["box"] is None else f"completing {_box_name(event['box'])}"
        more = [box for box in event["filled"] if box != event["box"]]
        also = " and with it " + " and ".join(_box_name(box) for box in more) if more else ""
        return f"{who} marks red {event['value']} with {_colour(event['unit'])}, {gain}{also}"
    if kind == "blue":
        if event["box"] is None:
            return f"{who} writes {event['value']} into a circle with {_colour(event['unit'])}"
        return (
            f"{who} crosses out circle {event['value']} with {_colour(event['unit'])}:"
            f" a wormhole in {_box_name(event['box'])}"
        )
    if kind == "lost":
        return f"{who} has no use for {', '.join(map(_colour, event['units']))}"
    if kind == "took":
        return f"{who} takes {_colour(event['unit'])} {event['value']}, which was given away"
    if kind == "passed":
        return f"{who} passes"
    if kind == "retired":
        return f"{who} is out"
    return f"{who}: {kind}"
