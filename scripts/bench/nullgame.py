"""A game almost without rules, to measure the cost of the wire: two seats alternate, each with the same two actions.

It is not registered and cannot be played in a league.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from warpleague.games.api import Game, Outcome
from warpleague.games.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from warpleague.games.api import Event, JsonObject, Rolled, Weights


@attrs.frozen
class Options:
    """How long a match is."""

    moves: int = attrs.field(default=20_000, metadata={"help": "decisions of both seats together"})


@attrs.frozen(eq=False)
class Tick:
    """One of the two actions."""

    do: ClassVar[str] = "tick"
    hand: int


@attrs.frozen
class Nothing:
    """The empty view."""


_SEATS = ((0,), (1,))
_ACTIONS = (Tick(0), Tick(1))


class NullGame(Game[int, Tick]):
    """The state is the number of decisions that are left."""

    id = "null"
    title = "no game"
    players = (2,)
    Options: ClassVar[type] = Options
    Actions = (Tick,)
    View = Nothing
    Setup = Nothing

    def initial(self, players: int, options: Any) -> int:
        """As many decisions as the options say."""
        moves: int = options.moves
        return moves

    def match_of(self, state: int) -> tuple[int, Any]:
        """Never asked."""
        return 2, Options()

    def actors(self, state: int) -> tuple[int, ...]:
        """The seats in turn."""
        return _SEATS[state & 1] if state else ()

    def chance(self, state: int) -> tuple[Weights, ...]:
        """Never asked."""
        return (1,)

    def legal(self, state: int, seat: int) -> Sequence[Tick]:
        """Always the same two."""
        return _ACTIONS

    def parse(self, state: int, seat: int, data: object) -> Tick:
        """The first action, whatever is given."""
        return _ACTIONS[0]

    def apply(self, state: int, move: Tick | Rolled) -> tuple[int, Sequence[Event]]:
        """One decision less."""
        return state - 1, ()

    def ask(self, state: int, seat: int) -> str:
        """Always the same."""
        return "turn"

    def setup(self, state: int) -> JsonObject:
        """Nothing."""
        return {}

    def view(self, state: int, seat: int) -> JsonObject:
        """Nothing."""
        return {}

    def retire(self, state: int, seat: int) -> tuple[int, Sequence[Event]]:
        """The end."""
        return 0, ()

    def outcome(self, state: int) -> Outcome:
        """Nobody wins."""
        return Outcome((1, 1), (0.5, 0.5), {}, "completed")

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> int:
        """Never asked."""
        return 0

    def to_json(self, state: int) -> JsonObject:
        """The number."""
        return {"left": state}

    def from_json(self, data: object) -> int:
        """Never asked."""
        return 0

    def scene(self, state: int, viewer: int | None) -> Scene:
        """Nothing."""
        return Scene("square", ())

    def tell(self, event: Mapping[str, Any]) -> str:
        """Never asked."""
        return ""
