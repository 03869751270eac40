"""The options of aliens, and its position."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import attrs

from warpleague.games.aliens.geometry import COUNT, JUMP_REACH, STARTS, Action, Reach
from warpleague.games.api import CHANCE
from warpleague.games.values import choice, copier, keyer, switch, whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


@attrs.frozen
class Options:
    """The options of aliens."""

    max_turns: int = whole(
        400,
        1,
        1_000_000,
        "turns of both sides together, skipped ones included, after which the game is drawn",
    )
    both_ships: bool = switch(
        default=False, text="both ships must stand on enemy bases to win; a ship there may decline its die"
    )
    diagonals: Literal["normal", "swapped"] = choice(
        "normal",
        ("normal", "swapped"),
        "Crowns jump NE/SW and Arms NW/SE (normal), or the other way round (swapped)",
    )


PHASES: Final = ("opening-roll", "order", "place", "roll", "turn", "jump", "send", "end")
OPENING_ROLL, ORDER, PLACE, ROLL, TURN, JUMP, SEND, END = range(8)

DICE: Final = (CHANCE,)
SEATS: Final = ((0,), (1,))
NOBODY: Final = ()

NO_HOLES: Final = (-1,) * COUNT
NO_DICE: Final = (-1, -1)

Cascade: TypeAlias = tuple[int, int, int, int]
"""The ship that must jump or be sent; how many sends this die use has seen; the ship that, when all is done,
activates the wormhole it landed on (aliens T7), or -1; and the square of that wormhole, or -1."""

Why: TypeAlias = Literal["base", "max-turns", "retired"]
"""Why a game ended."""
WHYS: Final[tuple[Why, ...]] = get_args(Why)

Result: TypeAlias = tuple[int, Why]
"""The winning seat, -1 for a draw, and why the game ended."""


@attrs.frozen(eq=False)
class Rules:
    """The rules under some options: one object for each set of options, shared by all their states."""

    options: Options
    max_turns: int
    both_ships: bool
    jumps: tuple[tuple[Reach, ...], ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_for, (self.options,)


@cache
def rules_for(options: Options) -> Rules:
    """The one `Rules` of these options."""
    return Rules(options, options.max_turns, options.both_ships, JUMP_REACH[options.diagonals])


@attrs.define
class State:
    """A position, hidden parts included.

    Squares, ships and coins are numbers of `geometry`. `seat` is the side whose turn it is, or that chooses or
    places. `actors` and `legal` follow from the rest, but whoever made the state had to work them out anyway.
    """

    rules: Rules
    phase: int
    seat: int
    turn: int
    """How many turns are over, skipped ones included."""
    ships: tuple[int, ...]
    """The square of each ship. While a ship is about to be sent it shares its square with the one that landed
    there, and at the end it may."""
    dice: tuple[int, int]
    """The unused dice of the seat's two ships; -1: used, lost or not rolled."""
    lost: int
    """Bit s: ship s loses its next turn."""
    holes: tuple[int, ...]
    """The coin on each square, or -1."""
    known: int
    """Bit c: coin c has been activated, so its value is public."""
    faces: int
    """Bit c: coin c lies value side up."""
    cascade: Cascade | None
    result: Result | None
    actors: tuple[int, ...]
    legal: Sequence[Action] = attrs.field(eq=False, repr=False)


copied: Final = copier(State)
"""A copy of a position, whose fields a move may change; their values are never changed."""

_key: Final = keyer(State)


def key(state: State) -> Hashable:
    """The key of a position."""
    return _key(state)


def initial(players: int, options: Options) -> State:
    """Before the opening roll."""
    rules = rules_for(options)
    return State(rules, OPENING_ROLL, 0, 0, STARTS, NO_DICE, 0, NO_HOLES, 0, 0, None, None, DICE, ())


def match_of(state: State) -> tuple[int, Options]:
    """Two players, always."""
    return 2, state.rules.options


def actors(state: State) -> tuple[int, ...]:
    """The dice, the side that must act, which may be the one whose turn it is not, or nobody."""
    return state.actors
