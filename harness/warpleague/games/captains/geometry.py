"""The actions of captains, and the geometry of a galaxy: its spaces and their numbers, where ships can go.

A galaxy is computed once for each layout, and shared.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import attrs

from warpleague.games.captains.boards import (
    BOARD_HEXES,
    CLOSED,
    DIRECTIONS,
    MAX_BOARDS,
    MAX_PLANETS,
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
from warpleague.games.values import Cache, Interned, mask, members

if TYPE_CHECKING:
    from collections.abc import Iterable

# -- actions: one class for each kind, one object for each action ----------------------------------------

MAX_SPACES: Final = 19 * MAX_BOARDS


@attrs.frozen(eq=False)
class Start(Interned):
    """Place the first token, and the ship, on space `at` beside the station (captains S3)."""

    do: ClassVar[str] = "start"
    at: int


@attrs.frozen(eq=False)
class Deliver(Interned):
    """Deliver all hand cards of `planet`, which is beside the ship (captains T6)."""

    do: ClassVar[str] = "deliver"
    planet: int


@attrs.frozen(eq=False)
class Pickup(Interned):
    """Begin the pick-up of the turn, at the planet or at the station beside the ship (captains T7)."""

    do: ClassVar[str] = "pickup"
    at: Literal["planet", "station"]


@attrs.frozen(eq=False)
class Discard(Interned):
    """In a pick-up, before any card is taken: put a hand card of `planet` into the Docks (captains T7)."""

    do: ClassVar[str] = "discard"
    planet: int


@attrs.frozen(eq=False)
class Draw(Interned):
    """In a pick-up at a planet: draw until four cards are in hand, which ends the pick-up (captains T7)."""

    do: ClassVar[str] = "draw"


@attrs.frozen(eq=False)
class Take(Interned):
    """In a pick-up at the station: take a card of `planet` from the Docks (captains T7)."""

    do: ClassVar[str] = "take"
    planet: int


@attrs.frozen(eq=False)
class Done(Interned):
    """End a pick-up at the station (captains T7)."""

    do: ClassVar[str] = "done"


@attrs.frozen(eq=False)
class Place(Interned):
    """Place the next token on space `at`, the ship's or one beside it (captains T3)."""

    do: ClassVar[str] = "place"
    at: int


@attrs.frozen(eq=False)
class Warp(Interned):
    """Warp from the ship's space to space `to`, the other end of the wormhole (captains T5)."""

    do: ClassVar[str] = "warp"
    to: int


@attrs.frozen(eq=False)
class Cannon(Interned):
    """Be shot from the Photon Cannon onto space `to` (captains T8)."""

    do: ClassVar[str] = "cannon"
    to: int


@attrs.frozen(eq=False)
class Move(Interned):
    """Move the ship to space `to`, adjacent or on the same orbit (captains T1)."""

    do: ClassVar[str] = "move"
    to: int


@attrs.frozen(eq=False)
class Emerge(Interned):
    """After the black hole: put the ship on space `at` beside the planet revealed (captains T9)."""

    do: ClassVar[str] = "emerge"
    at: int


@attrs.frozen(eq=False)
class AiPlace(Interned):
    """Solo: place the AI's next token on space `at` (captains A2, A3)."""

    do: ClassVar[str] = "ai-place"
    at: int


@attrs.frozen(eq=False)
class End(Interned):
    """End the turn."""

    do: ClassVar[str] = "end"


Action: TypeAlias = (
    Start
    | Deliver
    | Pickup
    | Discard
    | Draw
    | Take
    | Done
    | Place
    | Warp
    | Cannon
    | Move
    | Emerge
    | AiPlace
    | End
)
ACTIONS: Final[tuple[type, ...]] = (
    Start, Deliver, Pickup, Discard, Draw, Take, Done, Place, Warp, Cannon, Move, Emerge, AiPlace, End
)  # fmt: skip

STARTS: Final = tuple(map(Start, range(MAX_SPACES)))
DELIVERIES: Final = tuple(map(Deliver, range(MAX_PLANETS)))
PICKUP_PLANET: Final = Pickup("planet")
PICKUP_STATION: Final = Pickup("station")
DISCARDS: Final = tuple(map(Discard, range(MAX_PLANETS)))
DRAW: Final = Draw()
TAKES: Final = tuple(map(Take, range(MAX_PLANETS)))
DONE: Final = Done()
PLACES: Final = tuple(map(Place, range(MAX_SPACES)))
WARPS: Final = tuple(map(Warp, range(MAX_SPACES)))
CANNONS: Final = tuple(map(Cannon, range(MAX_SPACES)))
MOVES: Final = tuple(map(Move, range(MAX_SPACES)))
EMERGES: Final = tuple(map(Emerge, range(MAX_SPACES)))
AI_PLACES: Final = tuple(map(AiPlace, range(MAX_SPACES)))
END: Final = End()


# -- the galaxy ------------------------------------------------------------------------------------------

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
    kinds = {}
    for at in BOARD_HEXES:
        q, r = rotate(at, rotation)
        kinds[cq + q, cr + r] = side.kinds.get(at, ("blank", 0))
    return kinds


def planets_of(side: Side, centre: Hex, rotation: int) -> list[tuple[Hex, ...]]:
    """The hexes of each planet of a board lying at `centre`, in the order listed."""
    cq, cr = centre
    return [
        tuple((cq + q, cr + r) for q, r in (rotate(at, rotation) for at in planet)) for planet in side.planets
    ]


@attrs.frozen(eq=False)
class Grid:
    """The spaces of a pattern, whatever boards lie on it. Sets of spaces are bit masks."""

    hexes: tuple[Hex, ...]
    """Coordinates, relative to the station board's centre, by ascending (r, q) (captains C3)."""
    index: dict[Hex, int]
    touching: tuple[int, ...]
    """By space: those next to it."""
    near: tuple[int, ...]
    """By space: those too near to it for another planet, itself included (captains G7 a)."""


@lru_cache(maxsize=64)
def grid(centres: tuple[Hex, ...]) -> Grid:
    """The grid of boards at `centres`, the station board's apart, which is at (0, 0)."""
    centres = ((0, 0), *centres)
    hexes = sorted(
        ((cq + q, cr + r) for cq, cr in centres for q, r in BOARD_HEXES), key=lambda at: (at[1], at[0])
    )
    index = {at: space for space, at in enumerate(hexes)}

    def within(at: Hex, far: int) -> int:
        q, r = at
        steps = range(-far, far + 1)
        around = ((q + dq, r + dr) for dr in steps for dq in steps if abs(dq + dr) <= far)
        return mask([index[other] for other in around if other in index])

    touching = tuple(within(at, 1) ^ 1 << space for space, at in enumerate(hexes))
    return Grid(tuple(hexes), index, touching, tuple(within(at, NEAREST_PLANETS - 1) for at in hexes))


@attrs.frozen(eq=False)
class Face:
    """A side of a board as it lies on a grid. Sets of spaces are bit masks."""

    kinds: tuple[tuple[int, str], ...]
    """Each space with its kind."""
    wild: tuple[tuple[int, int], ...]
    """Each wild wormhole with its number."""
    closed: int
    """Spaces that no ship enters."""
    holes: int
    stations: int
    orbit: int
    planets: tuple[tuple[int, int, int], ...]
    """Of each planet, in the order listed: its spaces, those next to them, those too near for another planet."""


def _face(grid: Grid, side: Side, centre: Hex, rotation: int) -> Face:
    kinds = {grid.index[at]: kind for at, kind in spread(side, centre, rotation).items()}

    def of(*wanted: str) -> int:
        return mask([space for space, (kind, _) in kinds.items() if kind in wanted])

    planets = []
    for planet in planets_of(side, centre, rotation):
        spaces = [grid.index[at] for at in planet]
        beside = near = 0
        for space in spaces:
            beside |= grid.touching[space]
            near |= grid.near[space]
        planets.append((mask(spaces), beside, near))
    return Face(
        kinds=tuple((space, kind) for space, (kind, _) in kinds.items()),
        wild=tuple((space, number) for space, (_, number) in kinds.items() if number),
        closed=of(*CLOSED),
        holes=of("blackhole"),
        stations=of("station"),
        orbit=of("orbit"),
        planets=tuple(planets),
    )


_FACES: Final[Cache[tuple[Grid, Side, Hex, int], Face]] = Cache(lambda key: _face(*key))


def _laid(
    station: Side, boards: tuple[Board, ...], pattern: Pattern, layout: Layout
) -> tuple[Grid, list[Face]]:
    """The grid of a layout and the face of each board on it, the station board's first."""
    on = grid(pattern.centres)
    faces = [_FACES[on, station, (0, 0), layout.station]]
    for centre, (board, side, rotation) in zip(pattern.centres, layout.laid, strict=False):
        faces.append(_FACES[on, boards[board].sides[side], centre, rotation])
    return on, faces


def misfit(station: Side, boards: tuple[Board, ...], pattern: Pattern, layout: Layout) -> int | None:
    """The place whose board must be turned next for captains G7 to hold, or None if it holds.

    Of two planets too near to each other the later placed is at fault; pairs are looked at with the earlier
    planet ascending, then the later one. Reachability goes from space to adjacent space: orbits, wormholes and
    the cannon do not count.
    """
    on, faces = _laid(station, boards, pattern, layout)
    planets = [(place, planet) for place, face in enumerate(faces[1:]) for planet in face.planets]
    for i, (_, (_, _, near)) in enumerate(planets):
        for place, (spaces, _, _) in planets[i + 1 :]:
            if near & spaces:
                return place
    reached = _reached(on, faces)
    for place, (_, beside, _) in planets:
        if not beside & reached:
            return place
    return None


def _reached(on: Grid, faces: Iterable[Face]) -> int:
    """The spaces but black holes that a ship can walk to from beside the station; a black hole does not lead on."""
    shut = pending = 0
    for face in faces:
        shut |= face.closed | face.holes
        pending |= face.stations
    reached = 0
    touching = on.touching
    while pending:
        space = pending.bit_length() - 1
        pending ^= 1 << space
        new = touching[space] & ~(shut | reached)
        reached |= new
        pending |= new
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
    free: tuple[int, ...]
    """Bit mask of the spaces to which a move from here costs no energy (captains T1)."""
    blackhole: tuple[bool, ...]
    moves: tuple[tuple[Move, ...], ...]
    """Moves from a space, ascending; `careful_moves` and `careful_shots` leave black holes out."""
    careful_moves: tuple[tuple[Move, ...], ...]
    shots: tuple[tuple[Cannon, ...], ...]
    careful_shots: tuple[tuple[Cannon, ...], ...]
    places: tuple[int, ...]
    """Bit mask of the spaces on which a ship here may place a token if none is in the way (captains T3)."""
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


_SPACES: Final[Cache[int, tuple[int, ...]]] = Cache(lambda bits: tuple(members(bits)), 1 << 14)
_MOVES_TO: Final[Cache[int, tuple[Move, ...]]] = Cache(
    lambda bits: tuple([MOVES[to] for to in members(bits)]), 1 << 14
)
_SHOTS_TO: Final[Cache[int, tuple[Cannon, ...]]] = Cache(
    lambda bits: tuple([CANNONS[to] for to in members(bits)]), 1 << 14
)
"""By set of spaces: around a space there are few sets, and the same ones in all galaxies."""
_LINES: Final[Cache[tuple[Grid, int], int]] = Cache(lambda key: _line(*key))
"""Where a cannon on a space can shoot, if no space is closed."""


@lru_cache(maxsize=64)
def galaxy(board_set: BoardSet, players: int, pattern: Pattern, layout: Layout) -> Galaxy:
    """The galaxy of a layout that keeps captains G7."""
    boards = board_set.in_play(players)
    on, faces = _laid(board_set.station(players), boards, pattern, layout)
    count = len(on.hexes)
    spaces = range(count)
    kinds, wild, orbit, rings = ["blank"] * count, [0] * count, [-1] * count, [0] * count
    holes = shut = beside_stations = 0
    for number, face in enumerate(faces):
        holes |= face.holes
        shut |= face.closed
        for space, kind in face.kinds:
            kinds[space] = kind
        for space, value in face.wild:
            wild[space] = value
        for space in members(face.orbit):
            orbit[space], rings[space] = number, face.orbit
        for space in members(face.stations):
            beside_stations |= on.touching[space]
    opened = (1 << count) - 1 & ~shut
    beside_stations &= opened
    takes = [kind in TOKEN_KINDS for kind in kinds]
    token = mask([space for space in spaces if takes[space]])

    by_board = sorted(range(len(layout.laid)), key=lambda place: layout.laid[place][0])
    planets: list[Planet] = []
    beside_planet = [-1] * count
    beside: list[int] = []
    for place in by_board:
        board = boards[layout.laid[place][0]]
        big = board.sides[layout.laid[place][1]].big
        for own, (at, around, _) in zip(big, faces[place + 1].planets, strict=True):
            for space in members(around & opened):
                beside_planet[space] = len(planets)
            planets.append(Planet(board.number, tuple(members(at)), own))
            beside.append(around & opened)

    near = [on.touching[space] & opened if opened >> space & 1 else 0 for space in spaces]
    reach = [(near[space] | rings[space]) & ~(1 << space) for space in spaces]
    shots = [_LINES[on, space] & opened if kinds[space] == "cannon" else 0 for space in spaces]
    cannons = mask([space for space in spaces if kinds[space] == "cannon"])
    starts = members(token & beside_stations)
    return Galaxy(
        layout=layout,
        board_set=board_set,
        players=players,
        pattern=pattern,
        hexes=on.hexes,
        kinds=tuple(kinds),
        wild=tuple(wild),
        orbit=tuple(orbit),
        planets=tuple(planets),
        beside_planet=tuple(beside_planet),
        beside_station=tuple([beside_stations >> space & 1 == 1 for space in spaces]),
        adjacent=tuple([_SPACES[bits] for bits in near]),
        takes_token=tuple(takes),
        free=tuple([reach[space] & ~cannons if kinds[space] == "nebula" else 0 for space in spaces]),
        blackhole=tuple([kind == "blackhole" for kind in kinds]),
        moves=tuple([_MOVES_TO[bits] for bits in reach]),
        careful_moves=tuple([_MOVES_TO[bits & ~holes] for bits in reach]),
        shots=tuple([_SHOTS_TO[bits] for bits in shots]),
        careful_shots=tuple([_SHOTS_TO[bits & ~holes] for bits in shots]),
        places=tuple(
            [(bits | 1 << space) & token if opened >> space & 1 else 0 for space, bits in enumerate(near)]
        ),
        starts=tuple([STARTS[space] for space in starts]),
        ai_starts=tuple([AI_PLACES[space] for space in starts]),
        emerges=tuple([tuple([EMERGES[space] for space in members(bits & ~holes)]) for bits in beside]),
        ai_places=tuple([tuple([AI_PLACES[space] for space in members(bits & token)]) for bits in beside]),
        wilds={
            number: tuple([space for space in spaces if wild[space] == number]) for number in WILD_NUMBERS
        },
    )


def _line(on: Grid, space: int) -> int:
    """Two or more spaces from `space` along a straight line, gaps included (captains T8), as a bit mask."""
    q, r = on.hexes[space]
    far = max(distance((q, r), other) for other in on.hexes)
    line = [(q + steps * dq, r + steps * dr) for dq, dr in DIRECTIONS for steps in range(2, far + 1)]
    return mask([on.index[at] for at in line if at in on.index])
