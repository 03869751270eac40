"""Plays the first turn that a game's guide shows, moment by moment."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.games.api import CHANCE, Game, JsonObject
from warpleague.games.playout import random_roll

if TYPE_CHECKING:
    from warpleague.games.scene import Scene
    from warpleague.games.words import Guide


@attrs.frozen
class Moment:
    """A moment of the turn that is shown.

    `happened` are lines for what happened since the moment before. `phrase` says what is done now, `why` gives the
    reason, and `targets` are the ids of what it touches in `scene`; nothing is done after a roll and at the end.
    """

    scene: Scene
    happened: tuple[str, ...] = ()
    phrase: str = ""
    why: str = ""
    targets: tuple[str, ...] = ()


def first_turn(game: Game[Any, Any], guide: Guide) -> list[Moment]:
    """The turn of `guide`, moment by moment, as the seat that plays it sees it; it is the same each time."""
    return _Turn(game, guide).moments


class _Turn:
    """Plays the turn of a guide."""

    def __init__(self, game: Game[Any, Any], guide: Guide) -> None:
        self._game = game
        self._rng = Random("a first turn")
        self._seat = 0
        self._happened: list[str] = []
        self.moments: list[Moment] = []
        if guide.position is None:
            self._state = game.initial(2, game.Options(**guide.options))
        else:
            self._state = game.from_json(guide.position)
        for move, why in guide.turn:
            self._play_on(None if isinstance(move, tuple) else move)
            if not self.moments:
                self._happened = []  # how the position came about
            if isinstance(move, tuple):
                self._apply(move)
                self._note("", why, ())
            else:
                (self._seat,) = game.actors(self._state)
                action = game.parse(self._state, self._seat, move)
                self._note(game.phrase(self._state, action), why, tuple(game.targets(self._state, action)))
                self._apply(action)
        self._note("", "", ())

    def _note(self, phrase: str, why: str, targets: tuple[str, ...]) -> None:
        scene = self._game.scene(self._state, self._seat)
        self.moments.append(Moment(scene, tuple(self._happened), phrase, why, targets))
        self._happened = []

    def _apply(self, move: Any) -> None:
        self._state, events = self._game.apply(self._state, move)
        seen = [event.seen_by(self._seat) for event in events]
        self._happened += [self._game.tell(data) for data in seen if data is not None]

    def _play_on(self, action: JsonObject | None) -> None:
        """Roll the dice and take forced actions until `action` can be taken; None: until the dice are rolled."""
        game = self._game
        while (actors := game.actors(self._state)) != (CHANCE,) or action is not None:
            if actors == (CHANCE,):
                self._apply(random_roll(game.chance(self._state), self._rng))
                continue
            legal = game.legal(self._state, actors[0])
            if action in [game.action_json(one) for one in legal]:
                return
            if len(legal) != 1:
                raise AssertionError(f"the guide of {game.id} does not say what is done before {action}")
            self._apply(legal[0])
