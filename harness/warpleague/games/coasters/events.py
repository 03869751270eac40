"""The events of coasters, the frequent ones each made once, and a line of English for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event, cached_events
from warpleague.games.coasters.geometry import EDGE, LEFT_GALAXY, LOOP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from warpleague.games.coasters.state import State

turn: Final = cached_events("turn", "seat", "round", "turn")
rolled: Final = cached_events("rolled", "seat", "colour", "d6", "flux")
ended: Final = cached_events("ended", "seat")


def of_ship(state: State, kind: str, **facts: Any) -> Event:
    """An event about the ship whose turn it is."""
    return Event({"event": kind, "seat": state.seat, "colour": state.colour, **facts})


def _seats(seats: Iterable[int]) -> str:
    return ", ".join(f"seat {seat}" for seat in seats)


def _ship(event: Mapping[str, Any]) -> str:
    return f"ship {event['colour']} of seat {event['seat']}"


def _at(place: Any) -> str:
    return f"({place[0]}, {place[1]})"


def _left(event: Mapping[str, Any]) -> str:
    return f"{event['halves'] / 2:g} left"


_ENDS: Final = {
    EDGE: "detonates harmlessly",
    LEFT_GALAXY: "leaves the galaxy",
    LOOP: "goes in circles and destroys itself",
}


def _fired(event: Mapping[str, Any]) -> str:
    if event["how"] == "hit":
        left = event["hits_left"]
        fate = (
            f"hits ship {event['hit']} at {_at(event['path'][-1])}, {left} hit point{'s' * (left != 1)} left"
        )
    else:
        fate = _ENDS[event["how"]] + (
            f" at {_at(event['path'][-1])}" if event["path"] and event["how"] == EDGE else ""
        )
    return f"{_ship(event)} fires{' a wild shot' if event['wild'] else ''}: it {fate}"


_TOLD: Final[dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "laid": lambda e: (
        f"seat {e['seat']} lays the home system of ship {e['colour']} at {_at(e['at'])}, rotation {e['rotation']}"
    ),
    "deployed": lambda e: f"{_ship(e)} is put down at {_at(e['at'])}, facing {e['facing']}",
    "turn": lambda e: f"round {e['round']}: the turn of seat {e['seat']} begins",
    "chose": lambda e: f"seat {e['seat']} plays ship {e['colour']}",
    "rolled": lambda e: f"seat {e['seat']} rolls {e['d6']} and {e['flux']} for ship {e['colour']}",
    "stepped": lambda e: f"{_ship(e)} steps to {_at(e['to'])}, {_left(e)}",
    "turned": lambda e: f"{_ship(e)} turns to face {e['facing']}, {_left(e)}",
    "warped": lambda e: f"{_ship(e)} warps to home {e['home']} at {_at(e['to'])}, {_left(e)}",
    "swapped": lambda e: f"{_ship(e)} changes places with ship {e['with']}: now at {_at(e['to'])}",
    "systems-swapped": lambda e: (
        f"seat {e['seat']} lets the homes of ships {e['systems'][0]} and {e['systems'][1]} change places"
    ),
    "hopped": lambda e: f"{_ship(e)} hops to {_at(e['to'])}",
    "aimed": lambda e: f"{_ship(e)} aims {e['facing']}",
    "dug": lambda e: f"{_ship(e)} digs through to {_at(e['to'])}",
    "fired": _fired,
    "destroyed": lambda e: f"{_ship(e)} is destroyed",
    "eliminated": lambda e: f"seat {e['seat']} is eliminated",
    "ended": lambda e: f"seat {e['seat']} ends its turn without firing",
    "invoked": lambda e: f"seat {e['seat']} invokes the alliance with seat {e['ally']}",
    "claimed": lambda e: f"seat {e['seat']} claims victory for all survivors",
    "answered": lambda e: f"seat {e['seat']} answers: {e['answer']}",
    "said": lambda e: f"seat {e['seat']} says to {_seats(e['to'])}: {e['text']}",
    "retired": lambda e: f"seat {e['seat']} is retired and its ships leave",
    "over": lambda e: f"the game is over ({e['why']}): {_seats(e['winners'])} won",
}


def tell(event: Mapping[str, Any]) -> str:
    """One line in English for an event."""
    return _TOLD[event["event"]](event)
