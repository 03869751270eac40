"""The events of coasters, the frequent ones each made once, and a line of English for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event, cached_events
from warpleague.games.coasters.geometry import EDGE, LEFT_GALAXY, LOOP
from warpleague.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warpleague.games.coasters.state import State, Why

turn: Final = cached_events("turn", "seat", "round", "turn")
rolled: Final = cached_events("rolled", "seat", "colour", "d6", "flux")
ended: Final = cached_events("ended", "seat")


def of_ship(state: State, kind: str, **facts: Any) -> Event:
    """An event about the ship whose turn it is."""
    return Event({"event": kind, "seat": state.seat, "colour": state.colour, **facts})


FACES: Final = {"U": "up", "R": "right", "D": "down", "L": "left"}
"""The facings in words."""


def _ship(event: Mapping[str, Any]) -> str:
    return ship(event["colour"], event["seat"])


def ship(colour: int, seat: int) -> str:
    """A ship by its number and whose it is."""
    return f"seat {seat}'s ship {colour}"


def home_place(at: Sequence[int], rotation: int) -> str:
    """Where a home system lies, and how."""
    x, y = (3 * place for place in at)
    turned = f"turned by {90 * rotation} degrees" if rotation else "not turned"
    return f"on columns {x} to {x + 2}, rows {y} to {y + 2}, {turned}"


ENDINGS: Final[Mapping[str, str]] = {
    "last-ship": "no enemy is left",
    "claim": "all who were left claimed victory together",
    "max-rounds": "all rounds are played",
}
"""Why a match ended, in words."""


def result(winners: Sequence[int], why: Why) -> str:
    """Who won and why."""
    return f"{listed([f'seat {seat}' for seat in winners]) or 'nobody'} won: {ENDINGS[why]}"


def _at(place: Any) -> str:
    return f"({place[0]}, {place[1]})"


def _left(event: Mapping[str, Any]) -> str:
    return f"{event['halves'] / 2:g} movement left"


_ENDS: Final = {
    EDGE: "explodes at an edge without an arrow",
    LEFT_GALAXY: "leaves the galaxy",
    LOOP: "flies in circles",
}
_ANSWERS: Final = {"agree": "agrees", "refuse": "refuses", "split": "breaks the alliance: the match goes on"}


def _fired(event: Mapping[str, Any]) -> str:
    if event["how"] == "hit":
        left = counted(event["hits_left"], "hit point")
        fate = f"hits ship {event['hit']} on {_at(event['path'][-1])}, which has {left} left"
    else:
        at = f" on {_at(event['path'][-1])}" if event["path"] and event["how"] == EDGE else ""
        fate = f"{_ENDS[event['how']]}{at} and hits nobody"
    shot = "wild shot" if event["wild"] else "torpedo"
    return f"{_ship(event)} fires: the {shot} {fate}"


_TOLD: Final[dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "laid": lambda e: (
        f"seat {e['seat']} lays the home system of ship {e['colour']} {home_place(e['at'], e['rotation'])}"
    ),
    "deployed": lambda e: (
        f"seat {e['seat']} puts ship {e['colour']} on {_at(e['at'])}, facing {FACES[e['facing']]}"
    ),
    "turn": lambda e: f"round {e['round']}: seat {e['seat']}'s turn begins",
    "chose": lambda e: f"seat {e['seat']} plays with ship {e['colour']}",
    "rolled": lambda e: (
        f"seat {e['seat']} rolls {e['d6']} movement and the flux {e['flux']} for ship {e['colour']}"
    ),
    "stepped": lambda e: f"{_ship(e)} goes to {_at(e['to'])}, {_left(e)}",
    "turned": lambda e: f"{_ship(e)} turns to face {FACES[e['facing']]}, {_left(e)}",
    "warped": lambda e: f"{_ship(e)} warps to the home of ship {e['home']} on {_at(e['to'])}, {_left(e)}",
    "swapped": lambda e: f"{_ship(e)} changes places with ship {e['with']} and is now on {_at(e['to'])}",
    "systems-swapped": lambda e: (
        f"seat {e['seat']} lets the homes of ships {e['systems'][0]} and {e['systems'][1]} change places"
    ),
    "hopped": lambda e: f"{_ship(e)} hops to {_at(e['to'])}",
    "aimed": lambda e: f"{_ship(e)} aims {FACES[e['facing']]}",
    "dug": lambda e: f"{_ship(e)} digs through to {_at(e['to'])}",
    "fired": _fired,
    "destroyed": lambda e: f"{_ship(e)} is destroyed",
    "eliminated": lambda e: f"seat {e['seat']} is out: it has no ship left",
    "ended": lambda e: f"seat {e['seat']} ends its turn without firing",
    "invoked": lambda e: f"seat {e['seat']} asks seat {e['ally']} for an alliance in this turn",
    "claimed": lambda e: f"seat {e['seat']} claims victory for all who are left",
    "answered": lambda e: f"seat {e['seat']} {_ANSWERS[e['answer']]}",
    "said": lambda e: (
        f"seat {e['seat']} says to {listed([f'seat {seat}' for seat in e['to']])}: “{e['text']}”"
    ),
    "retired": lambda e: f"seat {e['seat']} left the match with its ships",
    "over": lambda e: result(e["winners"], e["why"]),
}


def tell(event: Mapping[str, Any]) -> str:
    """One line in English for an event."""
    return _TOLD[event["event"]](event)
