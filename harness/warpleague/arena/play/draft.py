"""The actions that a person has chosen and not sent yet; they can be taken back, since they revealed nothing.

They are tried on a position that fits the seat's knowledge, so nothing hidden can show. If an action tells the seat
something new, or another seat must act, or dice must be rolled, the choice is complete. Once sent, it cannot be
taken back.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from warpleague.errors import ActionError
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import Game, JsonObject


class Draft:
    """The actions chosen since a question; `view` is the position that the question showed to `seat`."""

    def __init__(self, game: Game[Any, Any], seat: int, view: JsonObject) -> None:
        self.game = game
        self.seat = seat
        self.chosen: list[JsonObject] = []
        self.said: list[str] = []
        """The chosen actions as sentences."""
        self.complete = False
        self._states = [game.determinize(view, seat, Random(0))]

    @property
    def state(self) -> Any:
        """The position after the chosen actions, as far as the seat knows."""
        return self._states[-1]

    def legal(self) -> Sequence[Any]:
        """The actions that can be chosen next; empty when the choice is complete."""
        return () if self.complete else self.game.legal(self.state, self.seat)

    def phrase(self, action: Any) -> str:
        """An action that can be chosen next as a sentence, harmless for a terminal."""
        return safe(self.game.phrase(self.state, action), keep="")

    @property
    def heading(self) -> str:
        """A heading for the next choice, harmless for a terminal; empty when the choice is complete."""
        return "" if self.complete else safe(self.game.heading(self.state, self.seat), keep="")

    def choose(self, index: int) -> None:
        """Choose the legal action with this index."""
        action = self.legal()[index]
        self.chosen.append(self.game.action_json(action))
        self.said.append(self.phrase(action))
        state, learned = self._after(self.state, action)
        # The referee plays a forced move without asking.
        while not learned and self.game.actors(state) == (self.seat,):
            forced = self.game.legal(state, self.seat)
            if len(forced) > 1 or self.game.talk(state, self.seat):
                break
            state, learned = self._after(state, forced[0])
        self._states.append(state)
        self.complete = learned or self.game.actors(state) != (self.seat,)

    def _after(self, state: Any, action: Any) -> tuple[Any, bool]:
        state, events = self.game.apply(state, action)
        return state, any(event.reveals for event in events)

    def undo(self) -> None:
        """Take the last choice back."""
        self.chosen.pop()
        self.said.pop()
        self._states.pop()
        self.complete = False

    def resume(self, chosen: Sequence[JsonObject]) -> None:
        """Choose the same again, as far as it is possible."""
        for data in chosen:
            try:
                action = self.game.parse(self.state, self.seat, data)
            except ActionError:
                return
            legal = self.legal()
            if action not in legal:
                return
            self.choose(list(legal).index(action))
