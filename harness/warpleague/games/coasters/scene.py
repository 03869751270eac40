"""The picture of a position of coasters."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import attrs

from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import ARROWS, CENTRE, free_places, galaxy
from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.games.values import CacheByIdentity, members

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.games.coasters.geometry import Systems
    from warpleague.games.coasters.state import State

_ARROW_MARKS: Final = "↑→↓←"
_COMPASS: Final[tuple[Literal["N", "E", "S", "W"], ...]] = ("N", "E", "S", "W")


def scene(state: State, viewer: int | None) -> Scene:
    """The galaxy with its arrows, the ships, the firing line of the ship whose turn it is, and the talk."""
    silent = _SILENT[state]
    heard = tuple(
        f"turn {message.turn}: seat {message.seat} to {_seats(message.to)}: {message.text}"
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
        wild = state.flux == st.WILD and facts.options.wild_shot
        x, y = board.xy[pose >> 2]
        for square in (board.wild_line(pose) if wild else board.line(pose))[1]:
            nx, ny = board.xy[square]
            links.append(Link(x, y, nx, ny, "aim", state.seat))
            if state.occupied >> square & 1:
                break
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


_SILENT: Final = CacheByIdentity(_silent, 1)


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
    return ", ".join(f"seat {seat}" for seat in seats)


def _caption(state: State) -> str:
    seat, colour, table = state.seat, state.colour, state.table
    asked = state.asked[0] if state.asked else st.NONE
    return {
        st.LAY: f"seat {seat} lays the home system of ship {colour}",
        st.DEPLOY: f"seat {seat} puts down ship {colour}",
        st.CHOOSE: f"round {table.round}: seat {seat} chooses its ship",
        st.ROLL: f"round {table.round}: seat {seat} rolls for ship {colour}",
        st.TURN: f"round {table.round}: the turn of seat {seat} with ship {colour}",
        st.ALLY: f"round {table.round}: seat {seat} invokes the alliance with seat {asked}",
        st.CLAIMED: f"round {table.round}: seat {seat} claims victory, seat {asked} answers",
        st.OVER: f"over ({table.why}): {_seats(members(table.alive)) or 'nobody'} won",
    }[state.phase]


def _turn_lines(state: State) -> list[str]:
    lines = [f"round {state.table.round} of {state.table.config.options.max_rounds}"]
    if state.d6:
        used = " (used)" if state.fluxed else ""
        lines += [f"d6 {state.d6}, flux {st.FLUX[state.flux]}{used}", f"movement left {state.halves / 2:g}"]
    if state.agreed:
        lines.append(f"confirmed: {_seats(members(state.agreed))}")
    if state.refused:
        lines.append(f"refused: {_seats(members(state.refused))}")
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
        return [f"ship {colour}" for colour in own]
    return [
        f"ship {colour}: {'▲' * table.hits[colour] if state.ships[colour] >= 0 else 'destroyed'}"
        for colour in own
    ]
