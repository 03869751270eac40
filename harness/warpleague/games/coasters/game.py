"""The engine of coasters: the modules of this package as one `Game`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from warpleague.games.api import CHANCE, Game
from warpleague.games.coasters import actions, legal, position, rules, scene, score, tell, view
from warpleague.games.coasters import state as st
from warpleague.games.coasters.options import MAX_COLOURS, check
from warpleague.games.coasters.options import Options as GameOptions
from warpleague.games.coasters.state import State
from warpleague.games.coasters.view import determinize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from warpleague.games.api import Event, JsonObject, Outcome, Rolled, Weights
    from warpleague.games.scene import Scene

_DICE_ACT: Final = (CHANCE,)
_SEATS: Final = tuple((seat,) for seat in range(MAX_COLOURS))


class Coasters(Game[State, actions.Action]):
    """The engine; see docs/games/coasters.md for the rules."""

    id: ClassVar[str] = "coasters"
    title: ClassVar[str] = "Wormholes: the battle on Martian Coasters"
    players: ClassVar[tuple[int, ...]] = tuple(range(2, MAX_COLOURS + 1))
    Options: ClassVar[type] = GameOptions
    Actions: ClassVar[tuple[type, ...]] = actions.ACTIONS
    View: ClassVar[type] = view.View
    Setup: ClassVar[type] = view.Setup

    def check_options(self, players: int, options: object) -> None:
        """V1: at most ten colours."""
        check(players, cast("GameOptions", options))

    def initial(self, players: int, options: object) -> State:
        """G3: the table is empty."""
        return st.initial(players, cast("GameOptions", options))

    def match_of(self, state: State) -> tuple[int, Any]:
        """Both are kept with the position."""
        config = state.table.config
        return config.players, config.options

    def actors(self, state: State) -> tuple[int, ...]:
        """The dice before a turn, the asked seat while a question is open, else the seat whose turn it is."""
        phase = state.phase
        if phase == st.TURN:
            return _SEATS[state.seat]
        if phase == st.ROLL:
            return _DICE_ACT
        if phase == st.OVER:
            return ()
        return _SEATS[state.asked[0] if state.asked else state.seat]

    def chance(self, state: State) -> tuple[Weights, ...]:
        """C1: the d6, then the flux die."""
        return rules.chance(state)

    def legal(self, state: State, seat: int) -> Sequence[actions.Action]:
        """In the order that `legal` documents."""
        return legal.legal(state, seat)

    def parse(self, state: State, seat: int, data: object) -> actions.Action:
        """The listed actions, and `say` (A1)."""
        return legal.parse(state, seat, data)

    def apply(self, state: State, move: actions.Action | Rolled) -> tuple[State, Sequence[Event]]:
        """The rules."""
        return rules.apply(state, move)

    def ask(self, state: State, seat: int) -> str:
        """One of lay, deploy, colour, turn, ally, claim."""
        return st.PHASES[state.phase]

    def talk(self, state: State, seat: int) -> int:
        """A1: eight messages in each turn and set-up decision, where there is talk."""
        return st.messages_left(state.table, seat)

    def setup(self, state: State) -> JsonObject:
        """G1: the arrows."""
        return view.setup(state)

    def view(self, state: State, seat: int) -> JsonObject:
        """All but the talk of others."""
        return view.view(state, seat)

    def retire(self, state: State, seat: int) -> tuple[State, Sequence[Event]]:
        """E5: its ships leave, its coasters stay."""
        return rules.retire(state, seat)

    def outcome(self, state: State) -> Outcome:
        """E1 to E5."""
        return score.outcome(state)

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> State:
        """Nothing is drawn: only talk is hidden, and no talk overheard is the simplest that fits."""
        return determinize(view)

    def to_json(self, state: State) -> JsonObject:
        """All of it, everybody's talk included."""
        return position.to_json(state)

    def from_json(self, data: object) -> State:
        """A position written down by `to_json` or by hand."""
        return position.from_json(data)

    def scene(self, state: State, viewer: int | None) -> Scene:
        """The galaxy, the ships, the line of fire."""
        return scene.scene(state, viewer)

    def tell(self, event: Mapping[str, Any]) -> str:
        """One line in English."""
        return tell.tell(event)
