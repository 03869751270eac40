"""The engine of sheets: the modules of this package as one `Game`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from warpleague.games.api import CHANCE, Event, Game, JsonObject, Outcome, Rolled, Weights
from warpleague.games.sheets import legal, position, rules, scene, score, tell, view
from warpleague.games.sheets.actions import ACTIONS, Action
from warpleague.games.sheets.options import Options as SheetsOptions
from warpleague.games.sheets.state import NOBODY, State, first_state
from warpleague.games.sheets.view import determinize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from warpleague.games.scene import Scene

_ACTORS = {CHANCE: (CHANCE,), NOBODY: (), **{seat: (seat,) for seat in range(4)}}


class Sheets(Game[State, Action]):
    """Wormhole, the roll & write: 1 to 4 players fill sheets from shared dice; all is public."""

    id = "sheets"
    title = "Wormhole, the roll & write"
    players = (1, 2, 3, 4)
    rules_version = 1
    Options = SheetsOptions
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View = view.View
    Setup = view.Setup

    def initial(self, players: int, options: SheetsOptions) -> State:
        """Seat 0 is about to roll in round 1, all sheets are empty."""
        return first_state(players, options.shared_discards)

    def match_of(self, state: State) -> tuple[int, Any]:
        """As many players as sheets."""
        return len(state.sheets), SheetsOptions(shared_discards=state.shared)

    def actors(self, state: State) -> tuple[int, ...]:
        """`()` at the end, `(CHANCE,)` when dice are to be rolled, else the one seat that must act."""
        return _ACTORS[state.actor]

    def chance(self, state: State) -> tuple[Weights, ...]:
        """A 6 for each die in hand (C1)."""
        return rules.chance(state)

    def legal(self, state: State, seat: int) -> Sequence[Action]:
        """At most 144 actions, in the order that the module `legal` documents."""
        return legal.legal(state, seat)

    def parse(self, state: State, seat: int, data: object) -> Action:
        """The shared action object that `data` names."""
        return legal.parse(state, seat, data)

    def apply(self, state: State, move: Action | Rolled) -> tuple[State, Sequence[Event]]:
        """The state after an action or a roll, and what happened."""
        return rules.apply(state, move)

    def ask(self, state: State, seat: int) -> str:
        """The phase: `keep`, `mark`, `take`, `use` or `lines`."""
        return state.phase

    def setup(self, state: State) -> JsonObject:
        """The printed sheet, as `Setup` describes it."""
        return view.setup()

    def view(self, state: State, seat: int) -> JsonObject:
        """The whole state with what follows from the marks, as `View` describes it."""
        return view.view(state)

    def retire(self, state: State, seat: int) -> tuple[State, Sequence[Event]]:
        """The seat passes from now on; alone, or the last one, it ends the game."""
        return rules.retire(state, seat)

    def outcome(self, state: State) -> Outcome:
        """Points, then connections (E2); retired seats last."""
        return score.outcome(state)

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> State:
        """The state itself: nothing is hidden."""
        return determinize(view)

    def to_json(self, state: State) -> JsonObject:
        """The whole state."""
        return position.to_json(state)

    def from_json(self, data: object) -> State:
        """The state written by `to_json` or by hand; `PositionError` names the field that is wrong."""
        return position.from_json(data)

    def scene(self, state: State, viewer: int | None) -> Scene:
        """All sheets, the same for every viewer."""
        return scene.scene(state)

    def tell(self, event: Mapping[str, Any]) -> str:
        """One line of English for an event."""
        return tell.tell(event)


GAME = Sheets()
