"""The actions of captains: one class for each kind, one object for each action."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from warpleague.games.values import Interned

MAX_BOARDS: Final = 20
"""Boards of a galaxy, the station's included: sets how many spaces can be named."""
MAX_SPACES: Final = 19 * MAX_BOARDS
MAX_PLANETS: Final = 10
"""As many planets as there are exploration tokens (captains S1)."""


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
