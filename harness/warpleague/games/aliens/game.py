"""The engine of aliens as the house knows it: the `Game` contract, put together from the modules beside this one.

Leaves every rule to `rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from warpleague.games.aliens import actions, codec, events, rules
from warpleague.games.aliens.actions import Action
from warpleague.games.aliens.options import Options
from warpleague.games.aliens.scene import scene
from warpleague.games.aliens.state import State, first_state
from warpleague.games.aliens.view import Setup, View, render, setup, view
from warpleague.games.api import Event, Game, JsonObject, Outcome, Rolled, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from warpleague.games.scene import Scene

# In the order of `state.PHASES`; nothing follows the end.
_STEPS: Final[tuple[Callable[[State, Any], tuple[State, Sequence[Event]]], ...]] = (
    rules.opening_roll, rules.order, rules.place, rules.roll, rules.use_die, rules.jump, rules.send,
)  # fmt: skip
_ASKS: Final = ("", "order", "place", "", "turn", "jump", "send", "")


class Aliens(Game[State, Action]):
    """Wormholes for the piecepack: OrthogonAliens (seat 0) against DiagonAliens (seat 1)."""

    id: ClassVar[str] = "aliens"
    title: ClassVar[str] = "OrthogonAliens against DiagonAliens"
    players: ClassVar[tuple[int, ...]] = (2,)
    Options: ClassVar[type] = Options
    Actions: ClassVar[tuple[type, ...]] = (
        actions.Order, actions.Place, actions.Move, actions.Stay, actions.Jump, actions.Send, actions.Decline,
    )  # fmt: skip
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
        """The canonical order: `place` and `send` by square (y, then x); dice by ship, then by way, `decline` last."""
        return state.legal

    def parse(self, state: State, seat: int, data: object) -> Action:  # noqa: D102
        return codec.parse(state, seat, data)

    def apply(self, state: State, move: Action | Rolled) -> tuple[State, Sequence[Event]]:  # noqa: D102
        return _STEPS[state.phase](state, move)

    def ask(self, state: State, seat: int) -> str:
        """`order`, `place`, `turn`, `jump` or `send`."""
        return _ASKS[state.phase]

    def setup(self, state: State) -> JsonObject:  # noqa: D102
        return setup(state.rules)

    def view(self, state: State, seat: int) -> JsonObject:  # noqa: D102
        return view(state, seat)

    def retire(self, state: State, seat: int) -> tuple[State, Sequence[Event]]:
        """The other side wins at once."""
        return rules.retire(state, seat)

    def outcome(self, state: State) -> Outcome:
        """1 for the winner, 0 for the loser, a half each for a draw (aliens E1, E2)."""
        assert state.result is not None
        winner, why = state.result
        scores = (0.5, 0.5) if winner < 0 else (1.0 - winner, 0.0 + winner)
        ranks = (1, 1) if winner < 0 else (1 + winner, 2 - winner)
        return Outcome(ranks, scores, {why: scores}, why)

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> State:  # noqa: D102
        return codec.determinize(view, seat, rng)

    def to_json(self, state: State) -> JsonObject:  # noqa: D102
        return render(state, None)

    def from_json(self, data: object) -> State:  # noqa: D102
        return codec.state_from_json(data)

    def scene(self, state: State, viewer: int | None) -> Scene:  # noqa: D102
        return scene(state, viewer)

    def tell(self, event: Mapping[str, Any]) -> str:  # noqa: D102
        return events.tell(event)
