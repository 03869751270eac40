"""The engine of aliens: the modules of this package as one `Game`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from warpleague.games.aliens import legal, position, rules, scene, score, tell, view
from warpleague.games.aliens.actions import ACTIONS, Action
from warpleague.games.aliens.options import Options
from warpleague.games.aliens.state import State, first_state
from warpleague.games.aliens.view import Setup, View, determinize
from warpleague.games.api import Event, Game, JsonObject, Outcome, Rolled, Weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from warpleague.games.scene import Scene

_ASKS: Final = ("", "order", "place", "", "turn", "jump", "send", "")


class Aliens(Game[State, Action]):
    """Wormholes for the piecepack: OrthogonAliens (seat 0) against DiagonAliens (seat 1)."""

    id: ClassVar[str] = "aliens"
    title: ClassVar[str] = "OrthogonAliens against DiagonAliens"
    players: ClassVar[tuple[int, ...]] = (2,)
    Options: ClassVar[type] = Options
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View: ClassVar[type] = View
    Setup: ClassVar[type] = Setup

    def initial(self, players: int, options: Any) -> State:  # noqa: D102
        del players
        return first_state(options)

    def match_of(self, state: State) -> tuple[int, Any]:  # noqa: D102
        return 2, state.rules.options

    def actors(self, state: State) -> tuple[int, ...]:  # noqa: D102
        return state.actors

    def chance(self, state: State) -> tuple[Weights, ...]:  # noqa: D102
        return rules.chance(state)

    def legal(self, state: State, seat: int) -> Sequence[Action]:
        """In the order that the module `legal` documents."""
        return legal.legal(state, seat)

    def parse(self, state: State, seat: int, data: object) -> Action:  # noqa: D102
        return legal.parse(state, seat, data)

    def apply(self, state: State, move: Action | Rolled) -> tuple[State, Sequence[Event]]:  # noqa: D102
        return rules.apply(state, move)

    def ask(self, state: State, seat: int) -> str:
        """`order`, `place`, `turn`, `jump` or `send`."""
        return _ASKS[state.phase]

    def setup(self, state: State) -> JsonObject:  # noqa: D102
        return view.setup(state.rules)

    def view(self, state: State, seat: int) -> JsonObject:  # noqa: D102
        return view.view(state, seat)

    def retire(self, state: State, seat: int) -> tuple[State, Sequence[Event]]:
        """The other side wins at once."""
        return rules.retire(state, seat)

    def outcome(self, state: State) -> Outcome:
        """1 for the winner, 0 for the loser, a half each for a draw (aliens E1, E2)."""
        return score.outcome(state)

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> State:  # noqa: D102
        return determinize(view, seat, rng)

    def to_json(self, state: State) -> JsonObject:  # noqa: D102
        return position.to_json(state)

    def from_json(self, data: object) -> State:  # noqa: D102
        return position.from_json(data)

    def scene(self, state: State, viewer: int | None) -> Scene:  # noqa: D102
        return scene.scene(state, viewer)

    def tell(self, event: Mapping[str, Any]) -> str:  # noqa: D102
        return tell.tell(event)
