"""The boards that a galaxy is laid from: the built-in ones, and galaxy files with what is wrong in them."""

from __future__ import annotations

import json
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

import attrs

from warpleague.errors import OptionsError, PositionError
from warpleague.games.reading import Misfit, Whole, distinct, read, refuse, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BOARDS: Final = 20
"""Boards of a galaxy, the station's included: sets how many spaces can be named."""
MAX_PLANETS: Final = 10
"""As many planets as there are exploration tokens (captains S1)."""

Hex = tuple[int, int]
"""Axial coordinates (q, r) of a flat-top hex (captains G1)."""

DIRECTIONS: Final[tuple[Hex, ...]] = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))
RADIUS: Final = 2
BOARD_HEXES: Final[tuple[Hex, ...]] = tuple(
    (q, r) for r in range(-RADIUS, RADIUS + 1) for q in range(-RADIUS, RADIUS + 1) if abs(q + r) <= RADIUS
)
NEAREST_PLANETS: Final = 3
"""The least hex distance between two planets (captains G7 a)."""

CLOSED: Final = frozenset({"planet", "station", "obstacle"})
"""Kinds of space that no ship enters (captains G2)."""
WILD_NUMBERS: Final = (3, 4, 5)
SIDE_NAMES: Final = ("A", "B")
DEFAULT_PATTERNS: Final = ("standard", "standard-large")
"""Taken first where they fit and no pattern is named; others follow by name."""


def distance(a: Hex, b: Hex) -> int:
    """How many steps lie between two hexes."""
    q, r = a[0] - b[0], a[1] - b[1]
    return max(abs(q), abs(r), abs(q + r))


def rotate(at: Hex, steps: int) -> Hex:
    """`at` turned about the origin by `steps` times 60 degrees (captains G1)."""
    q, r = at
    for _ in range(steps % 6):
        q, r = -r, q + r
    return q, r


@attrs.frozen(eq=False)
class Side:
    """One side of a board: the kind of each space that is not blank, and the planets in the order listed.

    `kinds` maps a hex, relative to the board's centre, to its kind and, for a wild wormhole, its number (else
    0). `planets` holds the hexes of each planet; `big[i]` is true for a big ring planet (captains G5).
    """

    kinds: Mapping[Hex, tuple[str, int]]
    planets: tuple[tuple[Hex, ...], ...] = ()
    big: tuple[bool, ...] = ()


@attrs.frozen(eq=False)
class Board:
    """A board with its two sides; it is in play with at least `min_players` players (captains G4)."""

    number: int
    min_players: int
    sides: tuple[Side, Side]


@attrs.frozen(eq=False)
class Pattern:
    """Where boards are laid: centres relative to the station board's, for `low` to `high` players."""

    name: str
    low: int
    high: int
    centres: tuple[Hex, ...]


@attrs.frozen(eq=False)
class BoardSet:
    """Everything a galaxy can be laid from. `table` is the galaxy file it came from, None for the built-in."""

    small: Side
    large: Side
    boards: tuple[Board, ...]
    patterns: Mapping[str, Pattern]
    table: dict[str, Any] | None = None

    def in_play(self, players: int) -> tuple[Board, ...]:
        """The boards for `players`, by ascending number; solo is set up as for two (captains A1)."""
        return tuple(board for board in self.boards if board.min_players <= max(2, players))

    def station(self, players: int) -> Side:
        """The station board's side for `players` (captains G4)."""
        return self.small if players <= 3 else self.large

    def pattern(self, players: int, name: str | None) -> Pattern:
        """The pattern called `name`, or the first that fits; `OptionsError` if there is none for `players`."""
        fitting = [p for p in self.patterns.values() if p.low <= players <= p.high]
        if name is None and fitting:
            return fitting[0]
        known = ", ".join(p.name for p in fitting) or "none"
        if name is None:
            raise OptionsError(f"galaxy_file: no pattern is for {players} players")
        if name not in self.patterns:
            raise OptionsError(f"pattern: {name!r} is unknown; for {players} players: {known}")
        pattern = self.patterns[name]
        if pattern not in fitting:
            raise OptionsError(
                f"pattern: {name!r} is for {pattern.low} to {pattern.high} players, not {players}; "
                f"choose one of: {known}"
            )
        return pattern


# -- galaxy files ----------------------------------------------------------------------------------------


def _on_board(at: Hex) -> None:
    if distance(at, (0, 0)) > RADIUS:
        raise Misfit(f"space {list(at)} is not on the board: |q|, |r| and |q + r| are at most {RADIUS}")


_Hexes: TypeAlias = Annotated[tuple[Annotated[Hex, _on_board], ...], distinct]
_Players: TypeAlias = Annotated[int, Whole(1, 5)]
_Far: TypeAlias = Annotated[int, Whole(-1000, 1000)]
_Kind: TypeAlias = Literal["obstacle", "orbit", "nebula", "cannon", "blackhole", "wild3", "wild4", "wild5"]
_Side: TypeAlias = dict[Literal["planet", "big_ring_planet", _Kind], _Hexes]
_StationSide: TypeAlias = dict[Literal["station", _Kind], _Hexes]


@attrs.frozen
class _Stations:
    small: _StationSide | None = None
    large: _StationSide | None = None


@attrs.frozen
class _Board:
    number: Annotated[int, Whole(1, 999)]
    A: _Side
    B: _Side
    min_players: _Players = 1


@attrs.frozen
class _Pattern:
    players: tuple[_Players, _Players]
    centres: Annotated[tuple[tuple[_Far, _Far], ...], distinct]


@attrs.frozen
class _Galaxy:
    board: tuple[dict[str, Any], ...]
    station: _Stations = _Stations()
    pattern: dict[str, _Pattern] | None = None


def _side(path: str, spaces: Mapping[Any, tuple[Hex, ...]]) -> Side:
    kinds: dict[Hex, tuple[str, int]] = {}
    for key in ("station", "planet", "big_ring_planet", *get_args(_Kind)):
        number = int(key[4:]) if key.startswith("wild") else 0
        kind = "wild" if number else key.removeprefix("big_ring_")
        for at in spaces.get(key, ()):
            refuse(at in kinds, f"{path}.{key}", f"space {list(at)} is {kinds.get(at, ' ')[0]} already")
            kinds[at] = (kind, number)
    planets: list[tuple[Hex, ...]] = [(at,) for at in spaces.get("planet", ())]
    big = [False] * len(planets)
    if ring := spaces.get("big_ring_planet"):
        planets.append(ring)
        big.append(True)
    for i, one in enumerate(planets):
        for two in planets[:i]:
            apart = min(distance(a, b) for a in one for b in two)
            near = f"planets at {list(two[0])} and {list(one[0])} are {apart} apart"
            refuse(apart < NEAREST_PLANETS, path, f"{near}; at least {NEAREST_PLANETS} are needed")
    return Side(kinds, tuple(planets), tuple(big))


def _station(path: str, spaces: Mapping[Any, tuple[Hex, ...]], seats: int) -> Side:
    side, station = _side(path, spaces), spaces.get("station", ())
    refuse(not station, f"{path}.station", "is missing: a station board needs a space of this kind")
    starts = [
        at
        for at in BOARD_HEXES
        if side.kinds.get(at, ("blank", 0))[0] in ("blank", "orbit")
        and any(distance(at, space) == 1 for space in station)
    ]
    few = f"{len(starts)} spaces beside the station can take a token"
    refuse(len(starts) < seats, path, f"{few}; {seats} are needed, one for each player's start")
    return side


def _board(data: dict[str, Any], where: str) -> Board:
    path = f"{where}, board {shown(data.get('number'))}"  # by its number, not by its place in the file
    board = read(_Board, data, path)
    one, two = _side(f"{path}.A", board.A), _side(f"{path}.B", board.B)
    planets = f"side A has {len(one.planets)} planets, side B {len(two.planets)}"
    other = len(one.planets) != len(two.planets)
    refuse(other, path, f"{planets}: both sides must show the same ones")
    return Board(board.number, board.min_players, (one, two))


def _pattern(path: str, name: str, pattern: _Pattern) -> Pattern:
    low, high = pattern.players
    refuse(low > high, f"{path}.players", "must be [least, most]")
    used = set(BOARD_HEXES)
    for q, r in pattern.centres:
        spaces = {(q + dq, r + dr) for dq, dr in BOARD_HEXES}
        overlaps = f"the board at [{q}, {r}] overlaps another or the station board"
        refuse(spaces & used, f"{path}.centres", overlaps)
        used |= spaces
    return Pattern(name, low, high, pattern.centres)


def _read(table: dict[str, Any], where: str, base: BoardSet | None) -> BoardSet:
    """The board set that `table` describes; stations and patterns it does not give are those of `base`.

    Raises `PositionError` with the path of what does not fit.
    """
    galaxy = read(_Galaxy, table, where)
    boards = sorted([_board(board, where) for board in galaxy.board], key=lambda board: board.number)
    refuse(not boards, f"{where}.board", "must be [[board]] tables, one for each board")
    for one, two in pairwise(boards):
        refuse(one.number == two.number, where, f"two boards have number {one.number}")
    small, large = [
        getattr(base, size) if spaces is None else _station(f"{where}.station.{size}", spaces, seats)
        for size, spaces, seats in (("small", galaxy.station.small, 3), ("large", galaxy.station.large, 5))
    ]
    patterns = {} if base is None else base.patterns
    if galaxy.pattern is not None:
        refuse(not galaxy.pattern, f"{where}.pattern", "must be tables [pattern.NAME]")
        names = sorted(galaxy.pattern, key=lambda name: (name not in DEFAULT_PATTERNS, name))
        patterns = {name: _pattern(f"{where}.pattern.{name}", name, galaxy.pattern[name]) for name in names}
    return BoardSet(small, large, tuple(boards), patterns, None if base is None else table)


@cache
def builtin() -> BoardSet:
    """The boards of the published game (captains G4-G6)."""
    text = files(__package__).joinpath("boards.toml").read_text(encoding="utf-8")
    return _read(tomllib.loads(text), "boards.toml", None)


@lru_cache(maxsize=16)
def _custom(text: str) -> BoardSet:
    try:
        return _read(json.loads(text), "galaxy_file", builtin())
    except PositionError as error:  # the galaxy is an option
        raise OptionsError(str(error)) from None


def board_set(table: dict[str, Any] | None) -> BoardSet:
    """The boards of the galaxy file `table`, or the built-in ones; `OptionsError` names board and space.

    Equal tables give the same object, as long as few are in use.
    """
    if table is None:
        return builtin()
    try:
        text = json.dumps(table, sort_keys=True)  # records sort keys: nothing may hang on their order
    except (TypeError, ValueError) as error:
        raise OptionsError(
            f"galaxy_file: holds a value that is no number, text, list or table: {error}"
        ) from None
    return _custom(text)


def check_boards(boards: BoardSet, pattern: Pattern, players: int) -> None:
    """Raise `OptionsError` if the boards for `players` do not fill the pattern, or hold too few or many planets."""
    in_play = boards.in_play(players)
    if len(in_play) != len(pattern.centres):
        raise OptionsError(
            f"galaxy_file: {len(in_play)} boards are in play with {players} players, but pattern "
            f"{pattern.name!r} has {len(pattern.centres)} places"
        )
    if len(in_play) >= MAX_BOARDS:
        raise OptionsError(f"galaxy_file: {len(in_play)} boards; at most {MAX_BOARDS - 1} can be in play")
    planets = sum(len(board.sides[0].planets) for board in in_play)
    if not 2 <= planets <= MAX_PLANETS:
        raise OptionsError(
            f"galaxy_file: {planets} planets are in play with {players} players; "
            f"2 to {MAX_PLANETS} are possible (there are {MAX_PLANETS} exploration tokens)"
        )
