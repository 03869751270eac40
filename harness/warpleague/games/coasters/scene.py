"""What to draw of a position of coasters, and one readable line for each event.

Leaves how it is drawn to the painters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import ARROWS, CENTRE, EDGE, LEFT_GALAXY, LOOP, free_places, galaxy
from warpleague.games.scene import Cell, Link, Panel, Piece, Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from warpleague.games.coasters.geometry import Systems
    from warpleague.games.coasters.state import State

_ARROW_MARKS: Final = "↑→↓←"
_COMPASS: Final[tuple[Literal["N", "E", "S", "W"], ...]] = ("N", "E", "S", "W")


def scene(state: State, viewer: int | None) -> Scene:
    """The galaxy with its arrows, the ships, the firing line of the ship whose turn it is, and the talk."""
    table = state.table
    facts = table.config
    board = galaxy(table.systems)
    pieces, links = [], []
    for colour, pose in enumerate(state.ships):
        if pose >= 0:
            x, y = board.xy[pose >> 2]
            text = f"{colour}:{table.hits[colour]}"
            pieces.append(Piece(x, y, "ship", text, colour % facts.players, _COMPASS[pose & 3]))
    if state.phase in (st.TURN, st.ALLY, st.CLAIMED):
        pose = state.ships[state.colour]
        wild = state.flux == st.WILD and facts.options.wild_shot
        x, y = board.xy[pose >> 2]
        for square in (board.wild_line(pose) if wild else board.line(pose))[1]:
            nx, ny = board.xy[square]
            links.append(Link(x, y, nx, ny, "aim", state.seat))
            if state.occupied >> square & 1:
                break
            x, y = nx, ny
    panels = [Panel("Turn", tuple(_turn_lines(state)), None if state.seat < 0 else state.seat)]
    panels += [Panel(f"Seat {seat}", tuple(_seat_lines(state, seat)), seat) for seat in range(facts.players)]
    heard = tuple(
        f"turn {message.turn}: seat {message.seat} to {_seats(message.to)}: {message.text}"
        for message in table.messages
        if viewer is None or viewer == message.seat or viewer in message.to
    )
    if heard:
        panels.append(Panel("Talk", heard, viewer))
    free = state.phase == st.LAY or not any(table.systems)
    cells = _cells(table.systems, table.alive, facts.players, free)
    return Scene("square", cells, tuple(pieces), tuple(links), tuple(panels), _caption(state))


@lru_cache(maxsize=16)  # they change only when a system is laid or swapped, or a seat goes
def _cells(systems: Systems, alive: int, players: int, free: bool) -> tuple[Cell, ...]:
    """The systems, those of seats `alive` (a bit mask) as homes; if `free`, also where the next one may lie."""
    board = galaxy(systems)
    cells = [
        Cell(3 * x + column, 3 * y + row, "free")
        for x, y in (free_places(systems) if free else ())
        for row in range(3)
        for column in range(3)
    ]
    for colour, place in enumerate(systems):
        if place is None:
            continue
        seat = colour % players
        fate = "home" if alive >> seat & 1 else "open"
        for square in range(9):
            x, y = board.xy[9 * colour + square]
            marks = "".join(
                mark for mark, there in zip(_ARROW_MARKS, ARROWS[place[2]][square], strict=True) if there
            )
            cells.append(Cell(x, y, f"{fate}-centre" if square == CENTRE else fate, marks, seat))
    return tuple(sorted(cells, key=lambda cell: (cell.y, cell.x)))


def _seats(seats: Iterable[int]) -> str:
    return ", ".join(f"seat {seat}" for seat in seats)


def _caption(state: State) -> str:
    seat, colour, table = state.seat, state.colour, state.table
    asked = state.asked[0] if state.asked else st.NONE
    return {
        st.LAY: f"seat {seat} lays the home system of colour {colour}",
        st.DEPLOY: f"seat {seat} puts down the ship of colour {colour}",
        st.CHOOSE: f"round {table.round}: seat {seat} chooses its colour",
        st.ROLL: f"round {table.round}: seat {seat} rolls for colour {colour}",
        st.TURN: f"round {table.round}: the turn of seat {seat} with colour {colour}",
        st.ALLY: f"round {table.round}: seat {seat} invokes the alliance with seat {asked}",
        st.CLAIMED: f"round {table.round}: seat {seat} claims victory, seat {asked} answers",
        st.OVER: f"over ({table.why}): {_seats(st.members(table.alive)) or 'nobody'} won",
    }[state.phase]


def _turn_lines(state: State) -> list[str]:
    lines = [f"round {state.table.round} of {state.table.config.options.max_rounds}"]
    if state.d6:
        used = " (used)" if state.fluxed else ""
        lines += [f"d6 {state.d6}, flux {st.FLUX[state.flux]}{used}", f"movement left {state.halves / 2:g}"]
    if state.agreed:
        lines.append(f"confirmed: {_seats(st.members(state.agreed))}")
    if state.refused:
        lines.append(f"refused: {_seats(st.members(state.refused))}")
    if state.asked:
        lines.append(f"to answer: {_seats(state.asked)}")
    return lines


def _seat_lines(state: State, seat: int) -> list[str]:
    table = state.table
    if seat in table.retired:
        return ["retired"]
    if seat in table.eliminated:
        return ["eliminated"]
    own = range(seat, table.config.ships, table.config.players)
    if state.phase <= st.DEPLOY:
        return [f"colour {colour}" for colour in own]
    return [
        f"colour {colour}: {'▲' * table.hits[colour] if state.ships[colour] >= 0 else 'destroyed'}"
        for colour in own
    ]


# -- events --------------------------------------------------------------------------------------------------


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
        f"seat {e['seat']} lays the home system of colour {e['colour']} at {_at(e['at'])}, rotation {e['rotation']}"
    ),
    "deployed": lambda e: f"{_ship(e)} is put down at {_at(e['at'])}, facing {e['facing']}",
    "turn": lambda e: f"round {e['round']}: the turn of seat {e['seat']} begins",
    "chose": lambda e: f"seat {e['seat']} plays colour {e['colour']}",
    "rolled": lambda e: f"seat {e['seat']} rolls {e['d6']} and {e['flux']} for ship {e['colour']}",
    "stepped": lambda e: f"{_ship(e)} steps to {_at(e['to'])}, {_left(e)}",
    "turned": lambda e: f"{_ship(e)} turns to face {e['facing']}, {_left(e)}",
    "warped": lambda e: f"{_ship(e)} warps to home {e['home']} at {_at(e['to'])}, {_left(e)}",
    "swapped": lambda e: f"{_ship(e)} changes places with ship {e['with']}: now at {_at(e['to'])}",
    "systems-swapped": lambda e: (
        f"seat {e['seat']} lets the homes of colours {e['systems'][0]} and {e['systems'][1]} change places"
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
