"""The actions of coasters: one class for each kind, one object for each action but messages."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Final, Literal, TypeAlias

import attrs

from warpleague.games.coasters.geometry import FACINGS
from warpleague.games.coasters.options import MAX_COLOURS
from warpleague.games.values import Interned

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
