"""The geometry of a galaxy: its spaces and their numbers, what borders on what, where ships can go.

It is computed once for each layout, and shared.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.games.captains.actions import (
    AI_PLACES,
    CANNONS,
    EMERGES,
    MOVES,
    PLACES,
    STARTS,
    AiPlace,
    Cannon,
    Emerge,
    Move,
    Place,
    Start,
)
from warpleague.games.captains.boards import (
    BOARD_HEXES,
    CLOSED,
    DIRECTIONS,
    NEAREST_PLANETS,
    WILD_NUMBERS,
    Board,
    BoardSet,
    Hex,
    Pattern,
    Side,
    distance,
    rotate,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

Laid = tuple[int, int, int]
"""A board as it lies: its index among the boards in play, side (0 is A), rotation in steps of 60 degrees."""

TOKEN_KINDS: Final = frozenset({"blank", "orbit"})
"""Kinds of space that take a token (captains G3)."""


@attrs.frozen
class Layout:
    """How the boards of a galaxy lie: the station board's rotation, and a board for each place, in order."""

    station: int
    laid: tuple[Laid, ...]


@attrs.frozen
class Planet:
    """A planet: its board's number, the numbers of its spaces, and whether it is the big ring planet."""

    board: int
    spaces: tuple[int, ...]
    big: bool


def spread(side: Side, centre: Hex, rotation: int) -> dict[Hex, tuple[str, int]]:
    """The kind and wild number of every space of a board lying at `centre`."""
    cq, cr = centre
    found = {}
    for at in BOARD_HEXES:
        q, r = rotate(at, rotation)
        found[cq + q, cr + r] = side.kinds.get(at, ("blank", 0))
    return found


def planets_of(side: Side, centre: Hex, rotation: int) -> list[tuple[Hex, ...]]:
    """The hexes of each planet of a board lying at `centre`, in the order listed."""
    cq, cr = centre
    return [
        tuple((cq + q, cr + r) for q, r in (rotate(at, rotation) for at in planet)) for planet in side.planets
    ]


def around(at: Hex) -> list[Hex]:
    """The six hexes next to `at`."""
    q, r = at
    return [(q + dq, r + dr) for dq, dr in DIRECTIONS]


def misfit(station: Side, boards: tuple[Board, ...], pattern: Pattern, layout: Layout) -> int | None:
    """The place whose board must be turned next for captains G7 to hold, or None if it holds.

    Of two planets too near to each other the later placed is at fault; pairs are looked at with the earlier
    planet ascending, then the later one. Reachability goes from space to adjacent space: orbits, wormholes and
    the cannon do not count.
    """
    kinds: dict[Hex, str] = {at: kind for at, (kind, _) in spread(station, (0, 0), layout.station).items()}
    planets: list[tuple[int, tuple[Hex, ...]]] = []
    for place, (board, side, rotation) in enumerate(layout.laid):
        face, centre = boards[board].sides[side], pattern.centres[place]
        kinds.update((at, kind) for at, (kind, _) in spread(face, centre, rotation).items())
        planets += [(place, planet) for planet in planets_of(face, centre, rotation)]
    for i, (_, one) in enumerate(planets):
        for place, two in planets[i + 1 :]:
            if any(distance(a, b) < NEAREST_PLANETS for a in one for b in two):
                return place
    reached = _reached(kinds)
    for place, planet in planets:
        if not any(at in reached and kinds[at] != "blackhole" for space in planet for at in around(space)):
            return place
    return None


def _reached(kinds: dict[Hex, str]) -> set[Hex]:
    """Every enterable space a ship can walk to from beside the station; a black hole does not lead on."""
    reached: set[Hex] = set()
    pending = [at for at, kind in kinds.items() if kind == "station"]
    while pending:
        for at in around(pending.pop()):
            if at in kinds and at not in reached and kinds[at] not in CLOSED:
                reached.add(at)
                if kinds[at] != "blackhole":
                    pending.append(at)
    return reached


@attrs.define(eq=False)
class Galaxy:
    """A galaxy laid out; spaces, planets and orbits are numbered, tuples are indexed by space unless said.

    Two galaxies are equal when they are laid alike from the same boards.
    """

    layout: Layout
    board_set: BoardSet
    players: int
    pattern: Pattern
    hexes: tuple[Hex, ...]
    """Coordinates, relative to the station board's centre, by ascending (r, q) (captains C3)."""
    kinds: tuple[str, ...]
    wild: tuple[int, ...]
    """3, 4 or 5 on a wild wormhole, else 0."""
    orbit: tuple[int, ...]
    """The number of the orbit a space belongs to, or -1: place of the board + 1, 0 the station's."""
    planets: tuple[Planet, ...]
    """By planet, ascending board number, then as listed (captains C2)."""
    beside_planet: tuple[int, ...]
    """The planet an enterable space is adjacent to, or -1; never two, by captains G7 (a)."""
    beside_station: tuple[bool, ...]
    adjacent: tuple[tuple[int, ...], ...]
    """The enterable spaces adjacent to an enterable one."""
    takes_token: tuple[bool, ...]
    """Whether the kind of space takes a token (captains G3)."""
    nebula: tuple[bool, ...]
    blackhole: tuple[bool, ...]
    moves: tuple[tuple[Move, ...], ...]
    """Moves from a space, ascending; `careful_moves` and `careful_shots` leave black holes out."""
    careful_moves: tuple[tuple[Move, ...], ...]
    shots: tuple[tuple[Cannon, ...], ...]
    careful_shots: tuple[tuple[Cannon, ...], ...]
    places: tuple[tuple[Place, ...], ...]
    """Where a ship on a space may place a token if none is in the way, ascending (captains T3)."""
    starts: tuple[Start, ...]
    """Spaces beside the station that take a token (captains S3)."""
    ai_starts: tuple[AiPlace, ...]
    emerges: tuple[tuple[Emerge, ...], ...]
    """By planet: where a ship may come out of the black hole (captains T9)."""
    ai_places: tuple[tuple[AiPlace, ...], ...]
    """By planet: spaces beside it that take a token (captains A3)."""
    wilds: dict[int, tuple[int, ...]]
    """The wild wormholes of each number."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Galaxy):
            return NotImplemented
        return (self.layout, self.players, self.pattern.name, self.board_set.table) == (
            other.layout,
            other.players,
            other.pattern.name,
            other.board_set.table,
        )

    def __hash__(self) -> int:
        return hash((self.layout, self.players, self.pattern.name))


@lru_cache(maxsize=64)
def galaxy(board_set: BoardSet, players: int, pattern: Pattern, layout: Layout) -> Galaxy:
    """The galaxy of a layout that keeps captains G7."""
    boards = board_set.in_play(players)
    faces = [(0, board_set.station(players), (0, 0), layout.station)]
    for place, (board, side, rotation) in enumerate(layout.laid):
        faces.append((place + 1, boards[board].sides[side], pattern.centres[place], rotation))
    found: dict[Hex, tuple[str, int, int]] = {}
    for number, side_, centre, rotation in faces:
        for at, (kind, wild) in spread(side_, centre, rotation).items():
            found[at] = (kind, wild, number)
    hexes = tuple(sorted(found, key=lambda at: (at[1], at[0])))
    index = {at: space for space, at in enumerate(hexes)}
    kinds = tuple(found[at][0] for at in hexes)
    orbit = tuple(found[at][2] if found[at][0] == "orbit" else -1 for at in hexes)
    spaces = range(len(hexes))
    enterable = [kind not in CLOSED for kind in kinds]
    takes = tuple(kind in TOKEN_KINDS for kind in kinds)
    hole = tuple(kind == "blackhole" for kind in kinds)
    by_board = sorted(range(len(layout.laid)), key=lambda place: layout.laid[place][0])
    planets = tuple(
        Planet(boards[layout.laid[place][0]].number, tuple(sorted(index[at] for at in planet)), big)
        for place in by_board
        for _, face, centre, rotation in (faces[place + 1],)
        for planet, big in zip(planets_of(face, centre, rotation), face.big, strict=True)
    )
    touching = tuple(tuple(index[at] for at in around(hexes[space]) if at in index) for space in spaces)
    beside_planet = [-1] * len(hexes)
    for number, planet in enumerate(planets):
        for middle in planet.spaces:
            for space in touching[middle]:
                if enterable[space]:
                    beside_planet[space] = number
    beside_station = tuple(
        enterable[space] and any(kinds[other] == "station" for other in touching[space]) for space in spaces
    )
    adjacent = tuple(
        tuple(sorted(other for other in touching[space] if enterable[other])) if enterable[space] else ()
        for space in spaces
    )
    rings: dict[int, list[int]] = {}
    for space in spaces:
        if orbit[space] >= 0:
            rings.setdefault(orbit[space], []).append(space)
    reach = [
        sorted({*adjacent[space], *rings.get(orbit[space], ())} - {space}) if enterable[space] else []
        for space in spaces
    ]
    lines = [
        _line(hexes[space], hexes, index, enterable) if kinds[space] == "cannon" else [] for space in spaces
    ]

    def by_planet(fits: Iterable[bool]) -> list[list[int]]:
        near: list[list[int]] = [[] for _ in planets]
        for space, fit in zip(spaces, fits, strict=True):
            if fit and beside_planet[space] >= 0:
                near[beside_planet[space]].append(space)
        return near

    starts = [space for space in spaces if takes[space] and beside_station[space]]
    return Galaxy(
        layout=layout,
        board_set=board_set,
        players=players,
        pattern=pattern,
        hexes=hexes,
        kinds=kinds,
        wild=tuple(found[at][1] for at in hexes),
        orbit=orbit,
        planets=planets,
        beside_planet=tuple(beside_planet),
        beside_station=beside_station,
        adjacent=adjacent,
        takes_token=takes,
        nebula=tuple(kind == "nebula" for kind in kinds),
        blackhole=hole,
        moves=tuple(tuple(MOVES[to] for to in reach[space]) for space in spaces),
        careful_moves=tuple(tuple(MOVES[to] for to in reach[space] if not hole[to]) for space in spaces),
        shots=tuple(tuple(CANNONS[to] for to in lines[space]) for space in spaces),
        careful_shots=tuple(tuple(CANNONS[to] for to in lines[space] if not hole[to]) for space in spaces),
        places=tuple(
            tuple(PLACES[to] for to in sorted((space, *adjacent[space])) if takes[to])
            if enterable[space]
            else ()
            for space in spaces
        ),
        starts=tuple(STARTS[space] for space in starts),
        ai_starts=tuple(AI_PLACES[space] for space in starts),
        emerges=tuple(
            tuple(EMERGES[space] for space in near)
            for near in by_planet(open_ and not hole_ for open_, hole_ in zip(enterable, hole, strict=True))
        ),
        ai_places=tuple(tuple(AI_PLACES[space] for space in near) for near in by_planet(takes)),
        wilds={
            number: tuple(space for space in spaces if found[hexes[space]][1] == number)
            for number in WILD_NUMBERS
        },
    )


def _line(at: Hex, hexes: tuple[Hex, ...], index: dict[Hex, int], enterable: list[bool]) -> list[int]:
    """Where a cannon at `at` can shoot: two or more spaces along a straight line, gaps included (captains T8)."""
    far = max(distance(at, other) for other in hexes)
    targets = []
    for dq, dr in DIRECTIONS:
        for steps in range(2, far + 1):
            space = index.get((at[0] + steps * dq, at[1] + steps * dr))
            if space is not None and enterable[space]:
                targets.append(space)
    return sorted(targets)
