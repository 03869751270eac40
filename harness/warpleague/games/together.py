"""Makes a game in which several seats decide at once one in which they decide in turn, and see nothing meanwhile.

So records, positions and all that reads them need to know only one acting seat. The referee asks `together`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import attrs

from warpleague.errors import ActionError
from warpleague.games.api import Event, Game, JsonObject, Outcome, Weights
from warpleague.games.reading import distinct, fail, read, refuse, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from warpleague.games.scene import Scene
    from warpleague.games.words import Guide


@attrs.frozen
class Choosing:
    """A position in the middle of a common decision: some seats have chosen, others have yet to choose."""

    before: Any
    """The position of the game, which stays the same until all have chosen."""
    chosen: tuple[tuple[int, Any], ...] = ()
    """The seats that have chosen, with their actions, in this order."""
    leaving: tuple[int, ...] = ()
    """The seats that are out when all have chosen, in the order in which they went."""


@attrs.frozen
class _Choices:
    """The JSON form of `Choosing`; the game reads the position and the actions."""

    before: Any
    chosen: tuple[tuple[int, Any], ...]
    leaving: Annotated[tuple[int, ...], distinct]


State: TypeAlias = Any
"""A position of the game itself, or `Choosing`."""


def in_turn(game: Game[Any, Any]) -> Game[Any, Any]:
    """The game as the harness plays it: itself, unless several seats may decide at once."""
    return InTurn(game) if game.simultaneous and not isinstance(game, InTurn) else game


class InTurn(Game[State, Any]):
    """A simultaneous `game` whose seats choose one after the other; their choices are applied when all are made.

    A seat that goes out meanwhile takes its first legal action, and is out afterwards. So what happens while seats
    choose cannot be seen by any of them, whatever the order in which they are asked.
    """

    simultaneous = True

    def __init__(self, game: Game[Any, Any]) -> None:
        self.game = game
        self.id = game.id  # type: ignore[misc]
        self.title = game.title  # type: ignore[misc]
        self.players = game.players  # type: ignore[misc]
        self.rules_version = game.rules_version  # type: ignore[misc]
        self.Options = game.Options  # type: ignore[misc]
        self.Actions = game.Actions  # type: ignore[misc]
        self.View = game.View  # type: ignore[misc]
        self.Setup = game.Setup  # type: ignore[misc]
        self.file_options = game.file_options  # type: ignore[misc]
        self.by_score = game.by_score  # type: ignore[misc]
        self.worth = game.worth  # type: ignore[misc]
        self.endings = game.endings  # type: ignore[misc]

    def _choosers(self, state: State) -> tuple[int, ...]:
        """The seats that decide at once in this common decision, whether they have chosen or not; else nobody."""
        actors = self.game.actors(_before(state))
        return actors if len(actors) > 1 or isinstance(state, Choosing) else ()

    def together(self, state: State) -> tuple[int, ...]:
        """The seats that have yet to choose in a common decision, ascending; the first of them acts next."""
        gone = _gone(state)
        return tuple([seat for seat in self._choosers(state) if seat not in gone])

    def actors(self, state: State) -> tuple[int, ...]:
        """One seat: of those that decide at once, the first that has yet to choose."""
        if isinstance(state, Choosing):
            return self.together(state)[:1]
        return self.game.actors(state)[:1]

    def legal(self, state: State, seat: int) -> Sequence[Any]:
        """Also those of the seats that choose after the one that acts."""
        return () if seat in _gone(state) else self.game.legal(_before(state), seat)

    def legal_json(self, state: State, seat: int, legal: Sequence[Any]) -> bytes | None:
        """As the game makes it."""
        return self.game.legal_json(_before(state), seat, legal)

    def parse(self, state: State, seat: int, data: object) -> Any:
        """As the game reads it, for a seat that has yet to choose."""
        if seat in _gone(state):
            raise ActionError(f"seat {seat} has chosen already")
        return self.game.parse(_before(state), seat, data)

    def talk(self, state: State, seat: int) -> int:
        """Nobody talks while several seats choose."""
        return 0 if self._choosers(state) else self.game.talk(state, seat)

    def apply(self, state: State, move: Any) -> tuple[State, Sequence[Event]]:
        """Keep the choice; with the last one, all of them happen."""
        together = self.together(state)
        if not together:
            return self.game.apply(state, move)
        begun = state if isinstance(state, Choosing) else Choosing(state)
        return self._settled(attrs.evolve(begun, chosen=(*begun.chosen, (together[0], move))))

    def retire(self, state: State, seat: int) -> tuple[State, Sequence[Event]]:
        """While several seats choose, the seat is out only afterwards."""
        if not self._choosers(state):
            return self.game.retire(state, seat)
        begun = state if isinstance(state, Choosing) else Choosing(state)
        chosen = tuple([choice for choice in begun.chosen if choice[0] != seat])
        return self._settled(Choosing(begun.before, chosen, (*begun.leaving, seat)))

    def _settled(self, state: Choosing) -> tuple[State, Sequence[Event]]:
        """The same position, or the next one if nobody is left to choose."""
        if self.together(state):
            return state, ()
        chosen = dict(state.chosen)
        before = state.before
        choosers = self._choosers(state)
        moves = {s: chosen[s] if s in chosen else self.game.legal(before, s)[0] for s in choosers}
        after, happened = self.game.apply(before, moves)
        # Who chose last could not know what the others chose.
        events = [attrs.evolve(event, reveals=True) for event in happened]
        for seat in state.leaving:
            after, happened = self.game.retire(after, seat)
            events += happened
        return after, events

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> State:
        """As the game guesses; who chooses before `seat` has chosen something, at random."""
        state = self.game.determinize(view, seat, rng)
        choosers = self._choosers(state)
        if seat not in choosers[1:]:
            return state
        return Choosing(
            state,
            tuple([(s, rng.choice(self.game.legal(state, s))) for s in choosers[: choosers.index(seat)]]),
        )

    @property
    def guesses(self) -> bool:
        """Whether the game itself has `determinize`."""
        return self.game.guesses

    def to_json(self, state: State) -> JsonObject:
        """The position of the game; in the middle of a common decision, with the choices so far."""
        if not isinstance(state, Choosing):
            return self.game.to_json(state)
        chosen = [[seat, self.game.action_json(action)] for seat, action in state.chosen]
        return {"before": self.game.to_json(state.before), "chosen": chosen, "leaving": list(state.leaving)}

    def from_json(self, data: object) -> State:
        """The output of `to_json`, or a position of the game."""
        if not isinstance(data, dict) or data.keys() != {"before", "chosen", "leaving"}:
            return self.game.from_json(data)
        choices = read(_Choices, data)
        before = self.game.from_json(choices.before)
        refuse(len(self.game.actors(before)) < 2, "before", "several seats must decide at once in it")
        within("leaving", choices.leaving, 0, self.match_of(before)[0] - 1)
        state = Choosing(before, leaving=choices.leaving)
        for seat, data_of_action in choices.chosen:
            left = self.together(state)
            misplaced = left[:1] != (seat,) or len(left) < 2
            refuse(misplaced, "chosen", "must be pairs of a seat and its action, in the order of the seats")
            try:
                action = self.game.parse(before, seat, data_of_action)
            except ActionError as error:
                fail("chosen", f"seat {seat}: {error}")
            state = attrs.evolve(state, chosen=(*state.chosen, (seat, action)))
        refuse(not self.together(state), "leaving", "some seat must still be to choose")
        return state

    # ------------------------------------------------------------------ what the game tells of its own position

    def check_options(self, players: int, options: Any) -> None:
        """As the game checks them."""
        self.game.check_options(players, options)

    def initial(self, players: int, options: Any) -> State:
        """The game's own."""
        return self.game.initial(players, options)

    def match_of(self, state: State) -> tuple[int, Any]:
        """The game's own."""
        return self.game.match_of(_before(state))

    def chance(self, state: State) -> tuple[Weights, ...]:
        """The game's own: no dice are rolled while seats choose."""
        return self.game.chance(state)

    def address(self, state: State) -> str:
        """The game's own."""
        return self.game.address(state)

    def ask(self, state: State, seat: int) -> str:
        """The game's own."""
        return self.game.ask(_before(state), seat)

    def setup(self, state: State) -> JsonObject:
        """The game's own."""
        return self.game.setup(_before(state))

    def view(self, state: State, seat: int) -> JsonObject:
        """The game's own, without any of the choices that are being made."""
        return self.game.view(_before(state), seat)

    def view_json(self, state: State, seat: int) -> bytes:
        """The game's own."""
        return self.game.view_json(_before(state), seat)

    def outcome(self, state: State) -> Outcome:
        """The game's own."""
        return self.game.outcome(state)

    def scene(self, state: State, viewer: int | None) -> Scene:
        """The game's own."""
        return self.game.scene(_before(state), viewer)

    def tell(self, event: Mapping[str, Any]) -> str:
        """The game's own."""
        return self.game.tell(event)

    def phrase(self, state: State, action: Any) -> str:
        """The game's own."""
        return self.game.phrase(_before(state), action)

    def heading(self, state: State, seat: int) -> str:
        """The game's own."""
        return self.game.heading(_before(state), seat)

    def guide(self) -> Guide | None:
        """The game's own."""
        return self.game.guide()

    def galaxy(self, state: State) -> Scene | None:
        """The game's own."""
        return self.game.galaxy(_before(state))

    def targets(self, state: State, action: Any) -> Sequence[str]:
        """The game's own."""
        return self.game.targets(_before(state), action)

    def action_json(self, action: Any) -> JsonObject:
        """The game's own."""
        return self.game.action_json(action)


def _before(state: State) -> Any:
    return state.before if isinstance(state, Choosing) else state


def leaving(state: State) -> tuple[int, ...]:
    """The seats that went out in the middle of the common decision that `state` is; none in any other position."""
    return state.leaving if isinstance(state, Choosing) else ()


def _gone(state: State) -> set[int]:
    """The seats that have chosen, or are about to be out."""
    return {*dict(state.chosen), *state.leaving} if isinstance(state, Choosing) else set()
