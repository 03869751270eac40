"""The engine of captains: the modules of this package as one `Game`.

Before the galaxy is laid a position is a `Dealing`, and the module of this name does the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from warpleague.games.api import CHANCE, Game
from warpleague.games.captains import dealing, legal, position, rules, scene, score, tell, turns, view
from warpleague.games.captains.actions import ACTIONS, Action
from warpleague.games.captains.dealing import Dealing
from warpleague.games.captains.options import Options
from warpleague.games.captains.state import (
    AI_PLACE,
    DEAL,
    EMERGE,
    OVER,
    PICKUP_PLANET,
    PICKUP_STATION,
    START,
    TURN,
    State,
    table,
)
from warpleague.games.captains.view import determinize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from warpleague.games.api import Event, JsonObject, Outcome, Rolled, Weights
    from warpleague.games.scene import Scene

Position = State | Dealing
"""A state of the game: with the galaxy laid, or still being laid."""

_SEATS = tuple((seat,) for seat in range(5))
_ASKS = {START: "start", TURN: "turn", PICKUP_PLANET: "pickup", PICKUP_STATION: "pickup", EMERGE: "emerge",
         AI_PLACE: "ai-place"}  # fmt: skip


class Captains(Game[Position, Action]):
    """Passenger ships in a galaxy of wormholes, for one to five players."""

    id: ClassVar[str] = "captains"
    title: ClassVar[str] = "Captains: passenger ships and wormholes"
    players: ClassVar[tuple[int, ...]] = (1, 2, 3, 4, 5)
    Options: ClassVar[type] = Options
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View: ClassVar[type] = view.View
    Setup: ClassVar[type] = view.Setup
    file_options: ClassVar[frozenset[str]] = frozenset({"galaxy_file"})

    def check_options(self, players: int, options: Any) -> None:  # noqa: D102
        dealing.plan(players, options)

    def initial(self, players: int, options: Any) -> Position:  # noqa: D102
        return dealing.first_deal(dealing.plan(players, options))

    def match_of(self, state: Position) -> tuple[int, Any]:  # noqa: D102
        plan = state.table.plan if isinstance(state, State) else state.plan
        return plan.players, plan.options

    def actors(self, state: Position) -> tuple[int, ...]:  # noqa: D102
        if isinstance(state, State):
            stage = state.stage
            if stage < DEAL:
                return _SEATS[state.seat]
            return () if stage == OVER else (CHANCE,)
        return () if len(state.retired) == state.plan.players else (CHANCE,)

    def chance(self, state: Position) -> tuple[Weights, ...]:  # noqa: D102
        return rules.chance(state) if isinstance(state, State) else dealing.draws(state)

    def legal(self, state: Position, seat: int) -> Sequence[Action]:  # noqa: D102
        assert isinstance(state, State)
        return legal.legal(state, seat)

    def parse(self, state: Position, seat: int, data: object) -> Action:  # noqa: D102
        assert isinstance(state, State)
        return legal.parse(state, seat, data)

    def apply(self, state: Position, move: Action | Rolled) -> tuple[Position, Sequence[Event]]:  # noqa: D102
        if isinstance(state, State):
            return rules.apply(state, move)
        assert isinstance(move, tuple)
        after, events = dealing.lay(state, move)
        if isinstance(after, Dealing):
            return after, events
        return turns.open_state(table(state.plan, after), state.retired), events

    def ask(self, state: Position, seat: int) -> str:  # noqa: D102
        assert isinstance(state, State)
        return _ASKS[state.stage]

    def setup(self, state: Position) -> JsonObject:  # noqa: D102
        assert isinstance(state, State)
        return view.setup(state.table)

    def view(self, state: Position, seat: int) -> JsonObject:  # noqa: D102
        return view.view(state, seat)

    def retire(self, state: Position, seat: int) -> tuple[Position, Sequence[Event]]:  # noqa: D102
        return rules.retire(state, seat) if isinstance(state, State) else dealing.retire(state, seat)

    def outcome(self, state: Position) -> Outcome:  # noqa: D102
        return score.outcome(state) if isinstance(state, State) else score.undealt_outcome(state)

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> Position:  # noqa: D102
        return determinize(view, seat, rng)

    def to_json(self, state: Position) -> JsonObject:  # noqa: D102
        return position.to_json(state)

    def from_json(self, data: object) -> Position:  # noqa: D102
        return position.from_json(data)

    def scene(self, state: Position, viewer: int | None) -> Scene:  # noqa: D102
        return scene.scene(state, viewer)

    def galaxy(self, state: Position) -> Scene:  # noqa: D102
        assert isinstance(state, State)
        return scene.galaxy_scene(state.table.galaxy)

    def tell(self, event: Mapping[str, Any]) -> str:  # noqa: D102
        return tell.tell(event)
