"""The board of coasters and the actions: where a ship or a torpedo gets from each square in each direction.

A square is numbered 9 x colour + 3 x row + column by the place it has on its coaster as it lies, so a square keeps
its number when its coaster is moved (V2). A pose is 4 x square + facing, facings counted clockwise from up.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, ClassVar, Final, Literal, TypeAlias

import attrs

from warpleague.games.values import Interned

MAX_COLOURS: Final = 10
"""No more than ten colours in one game (V1): as many as there are coasters."""

FACINGS: Final = ("U", "R", "D", "L")
UP, RIGHT, DOWN, LEFT = range(4)
DELTAS: Final = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""The (x, y) offset of each facing; y grows downward (C2)."""

Place: TypeAlias = tuple[int, int, int]
"""A laid coaster: X and Y on the coaster grid, and how often it is turned clockwise by 90 degrees."""

Systems: TypeAlias = "tuple[Place | None, ...]"
"""For each colour where its coaster lies, None if it has not been laid."""

COASTER: Final = (("URD", "RDL", "URL"), ("URL", "URD", "URD"), ("RDL", "URDL", "URL"))
"""The arrows that leave each square of a coaster in rotation 0 (G1)."""

CENTRE: Final = 4
NOWHERE: Final = -1

EDGE, LEFT_GALAXY, LOOP = "edge", "left", "loop"
"""How a torpedo that meets no ship ends: at an edge without an arrow, out of the galaxy, or by itself (V3)."""

Line: TypeAlias = tuple[int, tuple[int, ...], str]
"""A torpedo's way if nothing is hit: its squares as a bit mask and in order, and how it ends."""


def _turned(rotation: int) -> list[tuple[bool, ...]]:
    """For each of the nine squares of a coaster turned `rotation` times: whether an arrow leaves up, right, ..."""
    squares: list[tuple[bool, ...]] = [()] * 9
    for row, line in enumerate(COASTER):
        for column, letters in enumerate(line):
            r, c = row, column
            for _ in range(rotation):
                r, c = c, 2 - r
            squares[3 * r + c] = tuple(FACINGS[(way - rotation) % 4] in letters for way in range(4))
    return squares


ARROWS: Final = tuple(_turned(rotation) for rotation in range(4))
"""By rotation, square of the coaster and facing: is there an arrow?"""


@cache
def arrow_letters(rotation: int) -> tuple[tuple[str, ...], ...]:
    """The arrows of a coaster turned `rotation` times, row by row, as letters in the order U, R, D, L."""
    return tuple(
        tuple(
            "".join(
                way for way, there in zip(FACINGS, ARROWS[rotation][3 * row + column], strict=True) if there
            )
            for column in range(3)
        )
        for row in range(3)
    )


def _inner() -> tuple[tuple[int, int], ...]:
    """For each pose on one coaster: the square ahead of it, and 1 if that lies on the neighbouring coaster."""
    ahead = []
    for square in range(9):
        row, column = divmod(square, 3)
        for dx, dy in DELTAS:
            x, y = column + dx, row + dy
            ahead.append((3 * (y % 3) + x % 3, int(not (0 <= x < 3 and 0 <= y < 3))))
    return tuple(ahead)


_AHEAD: Final = _inner()


class Galaxy:
    """One arrangement of laid coasters, as tables by pose or square; shared by all states that have it.

    `ahead[pose]` is the pose one square forward or -1 where no square lies there; `step[pose]` the same, but -1
    also where no arrow leads there; `hops[square]` the neighbouring squares as (facing, square).
    """

    __slots__ = ("_lines", "_wild", "ahead", "hops", "laid", "step", "systems", "xy")

    def __init__(self, systems: Systems) -> None:
        self.systems = systems
        self.laid = 0
        by_place = {}
        for colour, place in enumerate(systems):
            if place is not None:
                self.laid |= 1 << colour
                by_place[place[0], place[1]] = colour
        size = 36 * len(systems)
        self.ahead = ahead = [NOWHERE] * size
        self.step = step = [NOWHERE] * size
        self.hops: list[tuple[tuple[int, int], ...]] = [()] * (size // 4)
        self.xy: list[tuple[int, int]] = [(0, 0)] * (size // 4)
        for (place_x, place_y), colour in by_place.items():
            arrows = ARROWS[systems[colour][2]]  # type: ignore[index]
            beside = [by_place.get((place_x + dx, place_y + dy), NOWHERE) for dx, dy in DELTAS]
            base = 9 * colour
            for square in range(9):
                self.xy[base + square] = (3 * place_x + square % 3, 3 * place_y + square // 3)
                hops = []
                for way in range(4):
                    target, outside = _AHEAD[4 * square + way]
                    home = beside[way] if outside else colour
                    if home < 0:
                        continue
                    pose = 4 * (base + square) + way
                    hops.append((way, 9 * home + target))
                    ahead[pose] = onward = 4 * (9 * home + target) + way
                    if arrows[square][way]:
                        step[pose] = onward
                self.hops[base + square] = tuple(hops)
        self._lines: list[Line | None] = [None] * size
        self._wild: list[Line | None] = [None] * size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Galaxy) and self.systems == other.systems

    def __hash__(self) -> int:
        return hash(self.systems)

    def __reduce__(self) -> tuple[Any, ...]:
        return galaxy, (self.systems,)

    def arrow(self, pose: int) -> bool:
        """Whether an arrow leaves the square of `pose` in its direction (G2)."""
        square, way = pose >> 2, pose & 3
        place = self.systems[square // 9]
        return place is not None and ARROWS[place[2]][square % 9][way]

    def line(self, pose: int) -> Line:
        """The way of a torpedo fired from `pose` (T7)."""
        line = self._lines[pose]
        if line is None:
            line = self._lines[pose] = self._fly(pose, wild=False)
        return line

    def wild_line(self, pose: int) -> Line:
        """The way of a wild shot fired from `pose` (V3); may lead back to its first square."""
        line = self._wild[pose]
        if line is None:
            line = self._wild[pose] = self._fly(pose, wild=True)
        return line

    def _fly(self, pose: int, *, wild: bool) -> Line:
        entered: list[int] = []
        mask = 0
        been = {pose}
        while True:
            if self.arrow(pose):
                pose = self.ahead[pose]
                if pose < 0:
                    return mask, tuple(entered), LEFT_GALAXY
                entered.append(pose >> 2)
                mask |= 1 << (pose >> 2)
            elif wild:
                pose = pose & ~3 | pose + 1 & 3
            else:
                return mask, tuple(entered), EDGE
            if pose in been:
                return mask, tuple(entered), LOOP
            been.add(pose)


@lru_cache(maxsize=1024)
def galaxy(systems: Systems) -> Galaxy:
    """The galaxy of `systems`, one object for each arrangement in recent use."""
    return Galaxy(systems)


def free_places(systems: Systems) -> tuple[tuple[int, int], ...]:
    """Where the next coaster may be laid, row by row (G3): the origin, or any free place beside a laid one."""
    taken = {(place[0], place[1]) for place in systems if place is not None}
    if not taken:
        return ((0, 0),)
    beside = {(x + dx, y + dy) for x, y in taken for dx, dy in DELTAS} - taken
    return tuple(sorted(beside, key=lambda place: (place[1], place[0])))


def square_at(systems: Systems, x: int, y: int) -> int:
    """The number of the square at (x, y) of the square grid (C2), -1 if no coaster lies there."""
    for colour, place in enumerate(systems):
        if place is not None and place[0] == x // 3 and place[1] == y // 3:
            return 9 * colour + 3 * (y % 3) + x % 3
    return NOWHERE


# -- actions: one class for each kind, one object for each action but messages ---------------------------

Facing: TypeAlias = Literal["U", "R", "D", "L"]


@attrs.frozen(eq=False)
class Lay(Interned):
    """Lay the next home system (G3)."""

    do: ClassVar[str] = "lay"
    at: tuple[int, int]
    """column and row on the coaster grid, rows downward"""
    rotation: int
    """quarter turns clockwise, 0 to 3"""


@attrs.frozen(eq=False)
class Deploy(Interned):
    """Put the ship on a square of its home system (G3)."""

    do: ClassVar[str] = "deploy"
    at: tuple[int, int]
    """column and row on the square grid, rows downward"""
    facing: Facing
    """the direction the ship faces"""


@attrs.frozen(eq=False)
class Choose(Interned):
    """Choose which of the own ships plays this turn (V1 with `free_colour`)."""

    do: ClassVar[str] = "choose-colour"
    colour: int
    """the ship's colour"""


@attrs.frozen(eq=False)
class Step(Interned):
    """Go one square forward along an arrow (T2)."""

    do: ClassVar[str] = "step"


@attrs.frozen(eq=False)
class Turn(Interned):
    """Turn by 90 degrees (T2)."""

    do: ClassVar[str] = "turn"
    way: Literal["left", "right"]
    """left is counterclockwise"""


@attrs.frozen(eq=False)
class Warp(Interned):
    """Warp from this centre to the centre of another system (T4)."""

    do: ClassVar[str] = "warp"
    to: int
    """the colour whose home system is entered"""


# The JSON key `with` is a word of Python's, so no class statement can name this field.
Swap: type[Any] = attrs.make_class(
    "Swap",
    {"with": attrs.field(type=int, alias="colour", metadata={"help": "the colour of the other ship"})},
    bases=(Interned,),
    class_body={
        "__doc__": "Change places with another seat's ship (T6).",
        "__module__": __name__,
        "do": "swap",
        "__repr__": lambda self: f"Swap(colour={getattr(self, 'with')})",
    },
    frozen=True,
    eq=False,
    repr=False,
    slots=True,
)
Swap.__annotations__ = {"do": ClassVar[str], "with": int}


@attrs.frozen(eq=False)
class SwapSystems(Interned):
    """Let two home systems change places, with the ships on them (V2)."""

    do: ClassVar[str] = "swap-systems"
    systems: tuple[int, int]
    """two colours, the smaller first"""


@attrs.frozen(eq=False)
class Hop(Interned):
    """Go to a neighbouring square, whatever the arrows (T6)."""

    do: ClassVar[str] = "hop"
    way: Facing
    """the direction of the hop; the facing stays"""


@attrs.frozen(eq=False)
class Aim(Interned):
    """Face any direction (T6)."""

    do: ClassVar[str] = "aim"
    facing: Facing
    """the new facing, the present one included"""


@attrs.frozen(eq=False)
class Dig(Interned):
    """Go one square forward, arrow or not (T6)."""

    do: ClassVar[str] = "dig"


@attrs.frozen(eq=False)
class Invoke(Interned):
    """Ask another seat to confirm the alliance for this turn (A2)."""

    do: ClassVar[str] = "invoke"
    ally: int
    """the seat that is asked"""


@attrs.frozen(eq=False)
class Claim(Interned):
    """Claim victory for all survivors together (A3)."""

    do: ClassVar[str] = "claim"


@attrs.frozen(eq=False)
class Agree(Interned):
    """Confirm the alliance or the claim (A2, A3)."""

    do: ClassVar[str] = "agree"


@attrs.frozen(eq=False)
class Refuse(Interned):
    """Do not confirm the alliance (A2)."""

    do: ClassVar[str] = "refuse"


@attrs.frozen(eq=False)
class Split(Interned):
    """Break the alliance at the claim (A3)."""

    do: ClassVar[str] = "split"


@attrs.frozen
class Say:
    """Send a message to other seats (A1); free text, so never listed among the legal actions."""

    do: ClassVar[str] = "say"
    to: tuple[int, ...]
    """the other seats addressed, at least one, all distinct"""
    text: str
    """1 to 280 code points without control characters"""


@attrs.frozen(eq=False)
class Fire(Interned):
    """Fire the torpedo and end the turn (T7)."""

    do: ClassVar[str] = "fire"


@attrs.frozen(eq=False)
class End(Interned):
    """End the turn without firing (T7)."""

    do: ClassVar[str] = "end"


Action: TypeAlias = Any
"""Any of `ACTIONS`; `Swap`, which no class statement can define, keeps this from being a union."""

ACTIONS: Final = (
    Lay, Deploy, Choose, End, Fire, Step, Turn, Warp, Swap, SwapSystems, Hop, Aim, Dig, Invoke, Claim, Agree, Refuse,
    Split, Say,
)  # fmt: skip

STEP: Final = Step()
TURN_LEFT: Final = Turn("left")
TURN_RIGHT: Final = Turn("right")
DIG: Final = Dig()
CLAIM: Final = Claim()
AGREE: Final = Agree()
REFUSE: Final = Refuse()
SPLIT: Final = Split()
FIRE: Final = Fire()
END: Final = End()
HOPS: Final = tuple(Hop(way) for way in FACINGS)
AIMS: Final = tuple(Aim(way) for way in FACINGS)
WARPS: Final = tuple(Warp(colour) for colour in range(MAX_COLOURS))
SWAPS: Final = tuple(Swap(colour) for colour in range(MAX_COLOURS))
INVOKES: Final = tuple(Invoke(seat) for seat in range(MAX_COLOURS))
CHOICES: Final = tuple(Choose(colour) for colour in range(MAX_COLOURS))
SYSTEM_SWAPS: Final = {
    (a, b): SwapSystems((a, b)) for a in range(MAX_COLOURS) for b in range(a + 1, MAX_COLOURS)
}


@cache
def lay(x: int, y: int, rotation: int) -> Lay:
    """The one `Lay` with these fields."""
    return Lay((x, y), rotation)


@cache
def deploy(x: int, y: int, facing: int) -> Deploy:
    """The one `Deploy` with these fields, `facing` counted clockwise from up."""
    return Deploy((x, y), FACINGS[facing])
