"""The events of captains, the frequent ones each made once a match, and a line of English for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event
from warpleague.games.captains.state import AI_CARDS, BLACKHOLE, DRAW
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpleague.games.captains.state import State, Table

    Facts = Mapping[str, Any]


def about(state: State, kind: str, **facts: int | str | None) -> Event:
    """A public event about the seat whose turn it is."""
    table, seat = state.table, state.seat
    key = (kind, seat, *facts.values())
    event: Event | None = table.events.get(key)
    if event is None:
        event = table.events[key] = Event({"event": kind, "seat": seat, **facts})
    return event


def move(table: Table, seat: int, at: int, to: int) -> Event:
    """A move, by far the most frequent event."""
    key = (at << 10 | to) << 3 | seat
    event = table.moves.get(key)
    if event is None:
        event = table.moves[key] = Event({"event": "move", "seat": seat, "from": at, "to": to})
    return event


def card(state: State, planet: int, *, to_docks: bool) -> Event:
    """The top card of the deck, of `planet`, is turned or dealt."""
    seat, stage = state.seat, state.stage
    if stage == AI_CARDS:
        return about(state, "ai-discarded", planet=planet)
    if stage == BLACKHOLE:
        return Event({"event": "revealed", "seat": seat, "planet": planet}, reveals=True)
    if to_docks:
        return Event({"event": "drawn", "seat": seat, "planet": planet, "to": "docks"}, reveals=True)
    hidden = {"event": "drawn" if stage == DRAW else "dealt", "seat": seat, "to": "hand"}
    return Event({**hidden, "planet": planet}, (seat,), hidden, reveals=True)


def _turned(e: Facts) -> str:
    return turned(e["rotation"])


def turned(sixths: int) -> str:
    """How a board lies, in words."""
    return f"turned by {60 * sixths} degrees" if sixths else "not turned"


def _paid(e: Facts, ai: bool = False) -> str:
    owner = e.get("point_to")
    if owner is None:
        return ""
    return "; a point for the AI" if ai else f"; a point for owner {owner}"


def _card(e: Facts) -> str:
    return "a card" if "planet" not in e else f"a passenger for planet {e['planet']}"


def _drawn(e: Facts) -> str:
    if e.get("to") == "docks":
        return f"seat {e['seat']} draws a passenger for planet {e['planet']}, where it is: to the Docks"
    return f"seat {e['seat']} draws {_card(e)}"


def _pickup(e: Facts) -> str:
    if e["at"] == "planet":
        return f"seat {e['seat']} picks up passengers at planet {e['planet']}"
    return f"seat {e['seat']} picks up passengers at the station{_paid(e, ai=True)}"


ENDINGS: Final[Mapping[str, str]] = {
    "explored": "every planet is explored",
    "deck-empty": "the deck is empty",
    "max-rounds": "the most rounds are played",
    "retired": "everybody left the match",
}
"""Why a match ends, in words."""

_LINES: dict[str, Callable[[Facts], str]] = {
    "station": lambda e: f"the board of the station is laid in the middle, {_turned(e)}",
    "board": lambda e: (
        f"board {e['board']} is laid on place {e['place']}, its side {e['side']} up, {_turned(e)}"
    ),
    "turned": lambda e: f"board {e['board']} does not fit, and is {_turned(e)}",
    "redeal": lambda _: "the boards do not fit: the galaxy is dealt anew",
    "dealt": lambda e: f"seat {e['seat']} gets {_card(e)}",
    "start": lambda e: f"seat {e['seat']} starts on space {e['at']}",
    "place": lambda e: (
        f"owner {e['owner']} places a token {e['number']} on space {e['at']}"
        + (", the second of its pair: a wormhole opens" if e["active"] else "")
    ),
    "explore": lambda e: (
        f"owner {e['owner']} explores planet {e['planet']}, for {counted(e['worth'], 'point')}"
    ),
    "ending": lambda e: f"{ENDINGS[e['why']]}: round {e['last_round']} is the last",
    "move": lambda e: f"seat {e['seat']} moves from space {e['from']} to {e['to']}",
    "warp": lambda e: f"seat {e['seat']} warps from space {e['from']} to {e['to']}{_paid(e)}",
    "cannon": lambda e: f"seat {e['seat']} is shot by the cannon from space {e['from']} to {e['to']}",
    "revealed": lambda e: f"the black hole leads seat {e['seat']} to planet {e['planet']}",
    "emerge": lambda e: f"seat {e['seat']} comes out of the black hole on space {e['at']}",
    "deliver": lambda e: (
        f"seat {e['seat']} delivers {counted(e['cards'], 'passenger')} to planet {e['planet']}"
    ),
    "pickup": _pickup,
    "discard": lambda e: f"seat {e['seat']} sends a passenger for planet {e['planet']} to the Docks",
    "draw": lambda e: f"seat {e['seat']} draws from the deck",
    "drawn": _drawn,
    "take": lambda e: f"seat {e['seat']} takes a passenger for planet {e['planet']} from the Docks",
    "done": lambda e: f"seat {e['seat']} ends the pick-up",
    "end": lambda e: f"seat {e['seat']} ends its turn",
    "round": lambda e: f"round {e['round']} begins",
    "ai-discarded": lambda e: f"the AI sends a passenger for planet {e['planet']} to the Docks",
    "ai-delivered": lambda e: f"the AI delivers {counted(e['cards'], 'passenger')} to planet {e['planet']}",
    "retired": lambda e: f"seat {e['seat']} is out of the match",
    "over": lambda e: f"the match is over: {ENDINGS[e['why']]}; points: {' to '.join(map(str, e['scores']))}",
}


def tell(event: Facts) -> str:
    """One readable line for an event's JSON form."""
    return _LINES[event["event"]](event)
