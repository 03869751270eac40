"""What persons see of coasters: the picture, what to click in it, actions in words, and the rules in a minute."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from warpleague.games.coasters import state as st
from warpleague.games.coasters.events import FACES, home_place, result, ship
from warpleague.games.coasters.geometry import (
    ARROWS,
    CENTRE,
    FACINGS,
    Action,
    Agree,
    Aim,
    Choose,
    Claim,
    Deploy,
    Dig,
    End,
    Fire,
    Hop,
    Invoke,
    Lay,
    Refuse,
    Say,
    Split,
    Step,
    Swap,
    SwapSystems,
    Systems,
    Turn,
    Warp,
    free_places,
    galaxy,
    square_at,
)
from warpleague.games.coasters.rules import torpedo
from warpleague.games.coasters.state import State, key
from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.games.values import members
from warpleague.games.words import Guide
from warpleague.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence


_ARROW_MARKS: Final = "↑→↓←"
_COMPASS: Final[tuple[Literal["N", "E", "S", "W"], ...]] = ("N", "E", "S", "W")


def scene(state: State, viewer: int | None) -> Scene:
    """The galaxy with its arrows, the ships, the firing line of the ship whose turn it is, and the talk."""
    which = key(state)
    if which not in _last_silent:
        _last_silent.clear()
        _last_silent[which] = _silent(state)
    silent = _last_silent[which]
    heard = tuple(
        f"turn {message.turn}: seat {message.seat} to {_seats(message.to)}: “{message.text}”"
        for message in state.table.messages
        if viewer is None or viewer == message.seat or viewer in message.to
    )
    return attrs.evolve(silent, panels=(*silent.panels, Panel("Talk", heard, viewer))) if heard else silent


def _silent(state: State) -> Scene:
    """The picture without the talk: all else is public."""
    table = state.table
    facts = table.config
    board = galaxy(table.systems)
    pieces, links = [], []
    for colour, pose in enumerate(state.ships):
        if pose >= 0:
            x, y = board.xy[pose >> 2]
            text = f"{colour}:{table.hits[colour]}"
            pieces.append(
                Piece(
                    x,
                    y,
                    "ship",
                    text,
                    colour % facts.players,
                    _COMPASS[pose & 3],
                    f"ship-{colour}",
                    "pyramid",
                    str(colour),
                    table.hits[colour],
                )
            )
    if state.phase in (st.TURN, st.ALLY, st.CLAIMED):
        pose = state.ships[state.colour]
        x, y = board.xy[pose >> 2]
        for square in torpedo(state)[0]:
            nx, ny = board.xy[square]
            links.append(Link(x, y, nx, ny, "aim", state.seat))
            x, y = nx, ny
    panels = [Panel("Turn", tuple(_turn_lines(state)), None if state.seat < 0 else state.seat)]
    panels += [Panel(f"seat {seat}", tuple(_seat_lines(state, seat)), seat) for seat in range(facts.players)]
    free = state.phase == st.LAY or not any(table.systems)
    cells = _cells(table.systems, table.alive, facts.players, free)
    return Scene(
        "square",
        cells,
        tuple(pieces),
        tuple(links),
        tuple(panels),
        _caption(state),
        trays=_trays(state),
        legend=_LEGEND,
        columns=_names(min(cell.x for cell in cells), max(cell.x for cell in cells)),
        rows=_names(min(cell.y for cell in cells), max(cell.y for cell in cells)),
        scores=tuple(
            float(sum(table.hits[colour] for colour in range(seat, facts.ships, facts.players)))
            if table.alive >> seat & 1
            else 0.0
            for seat in range(facts.players)
        ),
        measure="hit points left",
        seat_lines=_seat_hits(table.hits, table.alive, facts.players, facts.ships),
        turn=(table.round if state.phase > st.DEPLOY else 0, state.seat) if state.seat >= 0 else None,
    )


_last_silent: dict[Hashable, Scene] = {}
"""The last one: it is asked for by one viewer after the other."""


@lru_cache(maxsize=32)  # they change with a hit only
def _seat_hits(hits: tuple[int, ...], alive: int, players: int, ships: int) -> tuple[str, ...]:
    """The hit points of each seat's ships, the lost ones hollow."""
    return tuple(
        " · ".join(
            "▲" * hits[colour] + "△" * (st.HITS - hits[colour]) for colour in range(seat, ships, players)
        )
        if alive >> seat & 1
        else "out"
        for seat in range(players)
    )


_LEGEND: Final = (
    ("free", "where a home system may be laid"),
    ("home", ""),
    ("home-centre", "centre of a home system"),
    ("open", "home of a seat that is out"),
    ("open-centre", "centre of a home whose seat is out"),
    ("ways", "one may pass this edge that way"),
    ("ship", "ship: its point is its bow, its outlines are its hit points"),
    ("aim", "line of fire"),
    ("die", "movement"),
    ("flux", "flux: what the ship may do besides"),
    ("used", "flux, used"),
)


@lru_cache(maxsize=64)
def _names(low: float, high: float) -> tuple[str, ...]:
    """The coordinates from `low` to `high`."""
    return tuple(map(str, range(round(low), round(high) + 1)))


def _trays(state: State) -> tuple[Tray, ...]:
    """The dice of this turn."""
    if not state.d6:
        return ()
    flux = Item("used" if state.fluxed else "flux", st.FLUX[state.flux], "flux", "card")
    owner = None if state.seat < 0 else state.seat
    return (Tray("Dice", ((Item("die", str(state.d6), "die", f"die-{state.d6}"), flux),), owner),)


@lru_cache(maxsize=16)  # they change only when a system is laid or swapped, or a seat goes
def _cells(systems: Systems, alive: int, players: int, free: bool) -> tuple[Cell, ...]:
    """The systems, those of seats `alive` (a bit mask) as homes; if `free`, also where the next one may lie."""
    board = galaxy(systems)
    cells = [
        Cell(3 * x + column, 3 * y + row, "free", id=f"free-{x},{y}-{3 * row + column}")
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
            kind, glyph = (f"{fate}-centre", "ring") if square == CENTRE else (fate, "")
            ways = " ".join(
                way for way, there in zip(_COMPASS, ARROWS[place[2]][square], strict=True) if there
            )
            cells.append(Cell(x, y, kind, marks, seat, f"square-{9 * colour + square}", glyph, "", ways))
    return tuple(sorted(cells, key=lambda cell: (cell.y, cell.x)))


def _seats(seats: Iterable[int]) -> str:
    return listed([f"seat {seat}" for seat in seats])


def _caption(state: State) -> str:
    seat, colour, table = state.seat, state.colour, state.table
    asked = state.asked[0] if state.asked else st.NONE
    return {
        st.LAY: f"Seat {seat} lays the home system of ship {colour}",
        st.DEPLOY: f"Seat {seat} puts down ship {colour}",
        st.CHOOSE: f"Round {table.round}: seat {seat} chooses its ship",
        st.ROLL: f"Round {table.round}: seat {seat} rolls for ship {colour}",
        st.TURN: f"Round {table.round}: seat {seat} plays with ship {colour}",
        st.ALLY: f"Round {table.round}: seat {seat} asks seat {asked} for an alliance",
        st.CLAIMED: f"Round {table.round}: seat {seat} claims victory, and seat {asked} must answer",
        st.OVER: f"Over: {result(members(table.alive), table.why)}" if table.why else "",
    }[state.phase]


def _turn_lines(state: State) -> list[str]:
    lines = [f"round {state.table.round} of {state.table.config.options.max_rounds}"]
    if state.d6:
        used = ", used" if state.fluxed else ""
        lines += [
            f"rolled: {state.d6} movement, flux {st.FLUX[state.flux]}{used}",
            f"movement left: {state.halves / 2:g}",
        ]
    if state.agreed:
        lines.append(f"allied: {_seats(members(state.agreed))}")
    if state.refused:
        lines.append(f"refused: {_seats(members(state.refused))}")
    if state.asked:
        lines.append(f"must answer: {_seats(state.asked)}")
    return lines


def _seat_lines(state: State, seat: int) -> list[str]:
    table = state.table
    if seat in table.retired:
        return ["left the match"]
    if seat in table.eliminated:
        return ["out: no ship left"]
    own = range(seat, table.config.ships, table.config.players)
    if state.phase <= st.DEPLOY:
        return [f"ship {colour}" for colour in own]
    return [
        f"ship {colour}: {'▲' * table.hits[colour] if state.ships[colour] >= 0 else 'destroyed'}"
        for colour in own
    ]


# -- what is clicked: the square or ship that an action is about; the own ship for its turns -------------


def targets(state: State, action: Action) -> Sequence[str]:
    """The ids of the scene; none for alliances, the claim and the end of a turn."""
    if isinstance(action, Lay):
        x, y = action.at
        return (f"free-{x},{y}-{CENTRE}",)
    if isinstance(action, Deploy):
        return (f"square-{square_at(state.table.systems, *action.at)}",)
    if isinstance(action, Choose):
        return (f"ship-{action.colour}",)
    if isinstance(action, Swap):
        return (f"ship-{getattr(action, 'with')}",)
    if isinstance(action, Warp):
        return (_centre(action.to),)
    if isinstance(action, SwapSystems):
        return tuple(map(_centre, action.systems))
    if isinstance(action, Turn | Aim):
        return (f"ship-{state.colour}",)
    if isinstance(action, Fire):
        hit = torpedo(state)[2]
        return (f"ship-{hit}",) if hit >= 0 else ()
    pose, board = state.ships[state.colour], state.table.galaxy
    if isinstance(action, Step | Dig):
        return (f"square-{board.ahead[pose] >> 2}",)
    if isinstance(action, Hop):
        return (f"square-{dict(board.hops[pose >> 2])[FACINGS.index(action.way)]}",)
    return ()


def _centre(colour: int) -> str:
    return f"square-{9 * colour + CENTRE}"


# -- words -----------------------------------------------------------------------------------------------

_FACES: Final = tuple(FACES[facing] for facing in FACINGS)


def phrase(state: State, action: Action) -> str:
    """`action` as a sentence."""
    return _PHRASES[type(action)](state, action)


def heading(state: State, seat: int) -> str:
    """The decision of the seat as a heading."""
    phase = state.phase
    if phase == st.LAY:
        return f"Choose where to lay the home system of ship {state.colour}"
    if phase == st.DEPLOY:
        return f"Put down ship {state.colour} on its home system"
    if phase == st.CHOOSE:
        return "Choose which ship to play with"
    if phase == st.ALLY:
        return f"Seat {state.seat} asks you for an alliance in this turn"
    if phase == st.CLAIMED:
        return f"Seat {state.seat} claims victory for all who are left"
    flux = "used" if state.fluxed else st.FLUX[state.flux]
    return f"Move, then fire: {state.halves / 2:g} movement left, flux {flux}"


def _ship(state: State, colour: int) -> str:
    return ship(colour, colour % state.table.config.players)


def _at(state: State, square: int) -> str:
    x, y = state.table.galaxy.xy[square]
    return f"({x}, {y})"


def _cost(state: State, square: int) -> str:
    """The movement that entering `square`, or turning on it, takes (coasters T2, T3)."""
    double = state.table.config.homes[1 << state.seat | state.agreed]
    return "for 0.5 movement" if double >> square // 9 & 1 else "for 1 movement"


def _pose(state: State) -> int:
    """Square and facing of the ship whose turn it is."""
    return state.ships[state.colour]


def _lay(state: State, action: Lay) -> str:
    return f"Lay the home system of ship {state.colour} {home_place(action.at, action.rotation)}"


def _deploy(state: State, action: Deploy) -> str:
    return f"Put ship {state.colour} on ({action.at[0]}, {action.at[1]}), facing {FACES[action.facing]}"


def _step(state: State, _: Step) -> str:
    onward = state.table.galaxy.step[_pose(state)] >> 2
    return f"Go {_FACES[_pose(state) & 3]} to {_at(state, onward)} {_cost(state, onward)}"


def _turn(state: State, action: Turn) -> str:
    facing = _FACES[_pose(state) + (1 if action.way == "right" else 3) & 3]
    return f"Turn to the {action.way}, to face {facing}, {_cost(state, _pose(state) >> 2)}"


def _warp(state: State, action: Warp) -> str:
    return f"Warp to the home of ship {action.to} at {_at(state, 9 * action.to + CENTRE)} for 0.5 movement"


def _swap(state: State, action: Action) -> str:
    other = getattr(action, "with")
    return f"Change places with {_ship(state, other)}, at {_at(state, state.ships[other] >> 2)}"


def _swap_systems(_: State, action: SwapSystems) -> str:
    one, other = action.systems
    return f"Let the home systems of ships {one} and {other} change places"


def _hop(state: State, action: Hop) -> str:
    onward = dict(state.table.galaxy.hops[_pose(state) >> 2])[FACINGS.index(action.way)]
    return f"Hop {FACES[action.way]} to {_at(state, onward)} by the flux"


def _aim(state: State, action: Aim) -> str:
    if action.facing == FACINGS[_pose(state) & 3]:
        return f"Aim {FACES[action.facing]} by the flux, as the ship faces now"
    return f"Aim {FACES[action.facing]} by the flux"


def _dig(state: State, _: Dig) -> str:
    onward = state.table.galaxy.ahead[_pose(state)] >> 2
    return f"Dig {_FACES[_pose(state) & 3]} to {_at(state, onward)} by the flux, with or without an arrow"


def _fire(state: State, _: Fire) -> str:
    """With the ship that the torpedo hits, as the picture shows it."""
    hit = torpedo(state)[2]
    if hit < 0:
        return "Fire, which hits nobody, and end your turn"
    own = hit % state.table.config.players == state.seat
    return f"Fire, which hits {f'your own ship {hit}' if own else _ship(state, hit)}, and end your turn"


def _agree(state: State, _: Agree) -> str:
    if state.phase == st.CLAIMED:
        return "Agree: all who are left win together"
    return f"Agree: be allied with seat {state.seat} in this turn"


def _say(_: State, action: Say) -> str:
    return f"Say to {_seats(action.to)}: “{action.text}”"


_PHRASES: Final[dict[type, Callable[[State, Any], str]]] = {
    Lay: _lay,
    Deploy: _deploy,
    Choose: lambda _, action: f"Play with ship {action.colour}",
    End: lambda *_: "End your turn without firing",
    Fire: _fire,
    Step: _step,
    Turn: _turn,
    Warp: _warp,
    Swap: _swap,
    SwapSystems: _swap_systems,
    Hop: _hop,
    Aim: _aim,
    Dig: _dig,
    Invoke: lambda _, action: f"Ask seat {action.ally} for an alliance in this turn",
    Claim: lambda *_: "Claim victory for all who are left",
    Agree: _agree,
    Refuse: lambda state, _: f"Refuse the alliance with seat {state.seat}",
    Split: lambda *_: "Break the alliance: the match goes on",
    Say: _say,
}


# -- the goal, the rules in a minute, and a first turn ---------------------------------------------------

_GUIDE: Final = Guide(
    goal=f"Be the last one with a ship: hit the others with your torpedo, {st.HITS} hits destroy a ship.",
    rules=(
        "First each player lays a coaster of nine squares, the home system, and puts a ship on it.",
        "In your turn two dice are rolled. The number is your movement: a step forward or a turn by 90 degrees costs "
        "1, and only a half in your own home system.",
        "To leave a square you need an arrow in your direction.",
        "The other die is the flux, which you may use once: TIP only lets you turn, SWAP changes places with another "
        "ship, HOP goes to a neighbouring square, AIM faces any direction, DIG goes forward without an arrow, and "
        "WILD is one of these four.",
        "From the centre of your home you may warp to the centre of a home that is open to you.",
        "Firing ends your turn. The torpedo flies straight ahead along the arrows until it hits a ship or an edge.",
        "With three or more players you may talk, ask for alliances, and claim victory for all who are left.",
    ),
    turn=(
        ((2, 3), "The dice are rolled: 3 movement, and the flux AIM."),
        ({"do": "step"}, "At home a step costs only half a movement."),
        ({"do": "step"}, "The arrows lead on into the other home system, where a step costs 1."),
        ({"do": "step"}, "One more, and 0.5 movement is left."),
        ({"do": "aim", "facing": "D"}, "The flux turns the ship for nothing."),
        ({"do": "fire"}, "The line of fire shows whom the torpedo hits."),
    ),
    position={
        "players": 2,
        "systems": [{"at": [0, 0], "rotation": 0}, {"at": [1, 0], "rotation": 0}],
        "ships": [{"at": [1, 0], "facing": "R"}, {"at": [4, 2], "facing": "L"}],
    },
)


def guide() -> Guide:
    """The words and the turn."""
    return _GUIDE
