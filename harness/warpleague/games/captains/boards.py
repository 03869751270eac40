"""The boards that a galaxy is laid from: the built-in ones, and galaxy files with what is wrong in them."""

from __future__ import annotations

import json
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import OptionsError, PositionError
from warpleague.games.reading import Given

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
_SPACE_KEYS: Final = (
    "obstacle",
    "orbit",
    "nebula",
    "cannon",
    "blackhole",
    *(f"wild{n}" for n in WILD_NUMBERS),
)


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


def _hexes(given: Given, *, far: bool = False) -> list[Hex]:
    hexes: list[Hex] = []
    for item in given.items():
        q, r = item.wholes(-1000, 1000, 2)
        if distance((q, r), (0, 0)) > (1000 if far else RADIUS):
            given.fail(f"space [{q}, {r}] is not on the board: |q|, |r| and |q + r| are at most {RADIUS}")
        if (q, r) in hexes:
            given.fail(f"[{q}, {r}] is listed twice")
        hexes.append((q, r))
    return hexes


def _side(given: Given, *, station: bool = False) -> Side:
    own = ("station",) if station else ("planet", "big_ring_planet")
    fields = given.fields(*own, *_SPACE_KEYS)
    kinds: dict[Hex, tuple[str, int]] = {}
    planets: list[tuple[Hex, ...]] = []
    big: list[bool] = []
    for key in (*own, *_SPACE_KEYS):
        hexes = _hexes(fields.get(key, []))
        number = int(key[4:]) if key.startswith("wild") else 0
        kind = "wild" if number else "planet" if key == "big_ring_planet" else key
        for at in hexes:
            if at in kinds:
                fields.fail(key, f"space {list(at)} is {kinds[at][0]} already")
            kinds[at] = (kind, number)
        if key == "planet":
            planets += [(at,) for at in hexes]
            big += [False] * len(hexes)
        elif key == "big_ring_planet" and hexes:
            planets.append(tuple(hexes))
            big.append(True)
    for i, one in enumerate(planets):
        for two in planets[:i]:
            apart = min(distance(a, b) for a in one for b in two)
            if apart < NEAREST_PLANETS:
                given.fail(
                    f"planets at {list(two[0])} and {list(one[0])} are {apart} apart; "
                    f"at least {NEAREST_PLANETS} are needed"
                )
    if station and not _hexes(fields["station"]):
        fields.fail("station", "a station board needs a space of kind station")
    return Side(kinds, tuple(planets), tuple(big))


def _station(given: Given, seats: int) -> Side:
    side = _side(given, station=True)
    spaces = [at for at, (kind, _) in side.kinds.items() if kind == "station"]
    starts = [
        at
        for at in BOARD_HEXES
        if side.kinds.get(at, ("blank", 0))[0] in ("blank", "orbit")
        and any(distance(at, space) == 1 for space in spaces)
    ]
    if len(starts) < seats:
        given.fail(
            f"{len(starts)} spaces beside the station can take a token; {seats} are needed, "
            "one for each player's start"
        )
    return side


def _board(given: Given, where: str) -> Board:
    number = given.fields("number", "min_players", *SIDE_NAMES)["number"].whole(1, 999)
    named = Given(given.value, f"{where}, board {number}")  # by its number, not by its place in the file
    fields = named.fields("number", "min_players", *SIDE_NAMES)
    least = fields.get("min_players", 1).whole(1, 5)
    one, two = (_side(fields[name]) for name in SIDE_NAMES)
    if len(one.planets) != len(two.planets):
        named.fail(
            f"side A has {len(one.planets)} planets, side B {len(two.planets)}: "
            "both sides must show the same ones"
        )
    return Board(number, least, (one, two))


def _pattern(given: Given, name: str) -> Pattern:
    fields = given.fields("players", "centres")
    low, high = fields["players"].wholes(1, 5, 2)
    if low > high:
        fields.fail("players", "must be [least, most]")
    centres = tuple(_hexes(fields["centres"], far=True))
    used = set(BOARD_HEXES)
    for q, r in centres:
        spaces = {(q + dq, r + dr) for dq, dr in BOARD_HEXES}
        if spaces & used:
            fields.fail("centres", f"the board at [{q}, {r}] overlaps another or the station board")
        used |= spaces
    return Pattern(name, low, high, centres)


def _read(table: dict[str, Any], where: str, base: BoardSet | None) -> BoardSet:
    """The board set that `table` describes; stations and patterns it does not give are those of `base`.

    Raises `PositionError` with the path of what does not fit.
    """
    top = Given(table, where)
    fields = top.fields("station", "board", "pattern")
    stations = fields.get("station", {}).fields("small", "large")
    sides: dict[str, Side] = {}
    for name, seats in (("small", 3), ("large", 5)):
        if name in stations or base is None:
            sides[name] = _station(stations[name], seats)
        else:
            sides[name] = base.small if name == "small" else base.large
    boards = [_board(given, where) for given in fields["board"].items()]
    if not boards:
        fields.fail("board", "must be [[board]] tables, one for each board")
    boards.sort(key=lambda board: board.number)
    for one, two in pairwise(boards):
        if one.number == two.number:
            top.fail(f"two boards have number {one.number}")
    patterns: Mapping[str, Pattern]
    if "pattern" in fields or base is None:
        given = fields["pattern"]
        if not isinstance(given.value, dict) or not given.value:
            given.fail("must be tables [pattern.NAME]")
        names = sorted(given.value, key=lambda name: (name not in DEFAULT_PATTERNS, name))
        patterns = {name: _pattern(Given(given.value[name], name, given), name) for name in names}
    else:
        patterns = base.patterns
    return BoardSet(sides["small"], sides["large"], tuple(boards), patterns, None if base is None else table)


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
