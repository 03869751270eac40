"""Joins the modules of sheets into the engine that the harness plays: the contract of `warpleague.games.api`.

Leaves rules, views and drawings to those modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from warpleague.games.api import CHANCE, Event, Game, JsonObject, Outcome, Rolled, Weights
from warpleague.games.sheets import codec, legal, parse, rules, scene, view
from warpleague.games.sheets.actions import ACTIONS, Action
from warpleague.games.sheets.options import Options as SheetsOptions
from warpleague.games.sheets.state import NOBODY, State, connections, score_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from warpleague.games.scene import Scene

_ACTORS = {CHANCE: (CHANCE,), NOBODY: (), **{seat: (seat,) for seat in range(4)}}


class Sheets(Game[State, Action]):
    """Wormhole, the roll & write: 1 to 4 players fill sheets from shared dice; all is public.

    One seat acts at a time and the position names it, so the `seat` that methods are given is not looked at.
    """

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
        return rules.start(players, options.shared_discards)

    def match_of(self, state: State) -> tuple[int, Any]:
        """As many players as sheets."""
        return len(state.sheets), SheetsOptions(shared_discards=state.shared)

    def actors(self, state: State) -> tuple[int, ...]:
        """`()` at the end, `(CHANCE,)` when dice are to be rolled, else the one seat that must act."""
        return _ACTORS[state.actor]

    def chance(self, state: State) -> tuple[Weights, ...]:
        """A 6 for each die in hand (C1)."""
        return rules.draws(state)

    def legal(self, state: State, seat: int) -> Sequence[Action]:  # noqa: ARG002
        """At most 144 actions, in the order that the module `legal` documents."""
        return legal.legal(state)

    def parse(self, state: State, seat: int, data: object) -> Action:  # noqa: ARG002
        """The shared action object that `data` names."""
        return parse.parse(state, data)

    def apply(self, state: State, move: Action | Rolled) -> tuple[State, Sequence[Event]]:
        """The state after an action or a roll, and what happened."""
        return rules.apply(state, move)

    def ask(self, state: State, seat: int) -> str:  # noqa: ARG002
        """The phase: `keep`, `mark`, `take`, `use` or `lines`."""
        return state.phase

    def setup(self, state: State) -> JsonObject:  # noqa: ARG002
        """The printed sheet, as `Setup` describes it."""
        return view.setup_json()

    def view(self, state: State, seat: int) -> JsonObject:  # noqa: ARG002
        """The whole state with what follows from the marks, as `View` describes it."""
        return view.view_json(state)

    def retire(self, state: State, seat: int) -> tuple[State, Sequence[Event]]:
        """The seat passes from now on; alone, or the last one, it ends the game."""
        return rules.retire(state, seat)

    def outcome(self, state: State) -> Outcome:
        """Points, then connections (E2); retired seats last."""
        parts = [score_parts(sheet) for sheet in state.sheets]
        seats = range(len(parts))
        keys = [
            # A retired seat is below all others, the later retired above the earlier.
            (0, state.retired.index(seat), 0)
            if seat in state.retired
            else (1, sum(parts[seat]), connections(state.sheets[seat].wormholes))
            for seat in seats
        ]
        return Outcome(
            tuple(1 + sum(other > key for other in keys) for key in keys),
            tuple(float(sum(own)) for own in parts),
            {
                "boxes": tuple(float(own[0]) for own in parts),
                "boxes with wormhole": tuple(float(own[1]) for own in parts),
                "connections": tuple(float(own[2]) for own in parts),
            },
            "retired" if len(state.retired) == len(parts) else "completed",
        )

    def determinize(self, view_: JsonObject, seat: int, rng: Random) -> State:  # noqa: ARG002
        """The state itself: nothing is hidden."""
        return view.state_from(view_)

    def to_json(self, state: State) -> JsonObject:
        """The whole state."""
        return view.state_json(state)

    def from_json(self, data: object) -> State:
        """The state written by `to_json` or by hand; `PositionError` names the field that is wrong."""
        return codec.state_from_json(data)

    def scene(self, state: State, viewer: int | None) -> Scene:  # noqa: ARG002
        """All sheets, the same for every viewer."""
        return scene.scene(state)

    def tell(self, event: Mapping[str, Any]) -> str:
        """One line of English for an event."""
        return scene.tell(event)


GAME = Sheets()
