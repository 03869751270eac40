"""Our games as Python games of OpenSpiel: after `register()`, `pyspiel.load_game("warpleague_aliens")` is one.

A decision is what a bot would be asked: forced moves are played on the way. Dice are chance nodes, one for each draw.
Actions have the numbers that they have for PettingZoo, and observation tensors have its places.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pyspiel

from warpleague.extras.bridges.pettingzoo.batch import rewards_of
from warpleague.extras.bridges.pettingzoo.encoding import colours_of, layout, universe
from warpleague.games import GAMES, load_game
from warpleague.games.api import CHANCE, Game, JsonObject
from warpleague.match.setup import load_options

if TYPE_CHECKING:
    from collections.abc import Sequence


PREFIX: Final = "warpleague_"
"""The prefix of our games' names in OpenSpiel."""

_MAX_OUTCOMES: Final = 256
"""No draw of a built-in game has more outcomes."""
_MAX_SCORE: Final = 10_000.0
"""No score of a game for one is larger."""
_LONGEST: Final = 200_000
"""No match has more moves, dice included."""


@cache
def register() -> tuple[str, ...]:
    """Make the four games known to `pyspiel`; their names there."""
    return tuple([_registered(game_id) for game_id in GAMES])


def _registered(game_id: str) -> str:
    game = load_game(game_id)
    defaults = attrs.asdict(game.Options())
    utility = pyspiel.GameType.Utility.GENERAL_SUM if 1 in game.players else pyspiel.GameType.Utility.ZERO_SUM
    kind = pyspiel.GameType(
        short_name=PREFIX + game_id,
        long_name=f"Warp League {game.title}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.players[-1],
        min_num_players=game.players[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={
            "players": game.players[0],
            **{name: value for name, value in defaults.items() if isinstance(value, (bool, int, float, str))},
        },
    )

    class Registered(_Game):
        def __init__(self, params: JsonObject | None = None) -> None:
            super().__init__(game_id, kind, params or {})

    pyspiel.register_game(kind, Registered)
    return PREFIX + game_id


class _Game(pyspiel.Game):  # type: ignore[misc]
    """One of our games with its options; `BadInput` for options that do not fit."""

    def __init__(self, game_id: str, kind: Any, params: JsonObject) -> None:
        self.ours: Game[Any, Any] = load_game(game_id)
        self.players = params.get("players", self.ours.players[0])
        given = {name: value for name, value in params.items() if name != "players"}
        self.options = load_options(self.ours, self.players, given)
        self.actions, self.numbers = universe(game_id, self.players, colours_of(self.options))
        least, most = (-1.0, 1.0) if self.players > 1 else (-_MAX_SCORE, _MAX_SCORE)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.actions),
            max_chance_outcomes=_MAX_OUTCOMES,
            num_players=self.players,
            min_utility=least,
            max_utility=most,
            utility_sum=None if 1 in self.ours.players else 0.0,
            max_game_length=_LONGEST,
        )
        super().__init__(kind, info, params)

    def new_initial_state(self) -> _State:
        """The position before the first dice."""
        return _State(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer | None:
        """The knowledge of a seat, as text and numbers; None for a part of it, such as only what is public."""
        del params
        if iig_obs_type is None:
            return _Observer(self, recalls=False)
        if not iig_obs_type.public_info or iig_obs_type.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        return _Observer(self, recalls=iig_obs_type.perfect_recall)


@attrs.frozen(eq=False)
class _At:
    """The situation of a match; never changed, so that copies need not copy it."""

    position: Any
    actor: int
    """A seat, or one of `pyspiel.PlayerId`."""
    legal: Sequence[Any] = ()
    draws: Sequence[Any] = ()
    """The dice that are rolled here, of which `rolled` are known."""
    rolled: tuple[int, ...] = ()
    own: tuple[tuple[int, ...], ...] = ()
    """The numbers of the actions of each seat so far."""

    def __deepcopy__(self, memo: object) -> _At:
        return self


def _standing(ours: Game[Any, Any], position: Any, own: tuple[tuple[int, ...], ...]) -> _At:
    """The situation once all forced moves from `position` have been played."""
    while actors := ours.actors(position):
        if actors[0] == CHANCE:
            return _At(position, pyspiel.PlayerId.CHANCE, draws=ours.chance(position), own=own)
        legal = ours.legal(position, actors[0])
        if len(legal) > 1:
            return _At(position, actors[0], legal=legal, own=own)
        position, _ = ours.apply(position, legal[0])
    return _At(position, pyspiel.PlayerId.TERMINAL, own=own)


class _State(pyspiel.State):  # type: ignore[misc]
    """A position of one of our games, as OpenSpiel wants it."""

    def __init__(self, game: _Game) -> None:
        super().__init__(game)
        self.at = _standing(game.ours, game.ours.initial(game.players, game.options), ((),) * game.players)

    def current_player(self) -> int:
        """A seat, chance or the end."""
        return self.at.actor

    def _legal_actions(self, player: int) -> list[int]:
        if player != self.at.actor:
            return []
        numbers = self.get_game().numbers
        return sorted([numbers[action] for action in self.at.legal])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of the next draw with their probabilities."""
        draw = self.at.draws[len(self.at.rolled)]
        if isinstance(draw, int):
            return [(outcome, 1 / draw) for outcome in range(draw)]
        whole = sum(draw)
        return [(outcome, weight / whole) for outcome, weight in enumerate(draw) if weight]

    def _apply_action(self, action: int) -> None:
        at, game = self.at, self.get_game()
        own = at.own
        if at.actor == pyspiel.PlayerId.CHANCE:
            rolled = (*at.rolled, action)
            if len(rolled) < len(at.draws):
                self.at = attrs.evolve(at, rolled=rolled)
                return
            move: Any = rolled
        else:
            move = game.actions[action]
            own = (*own[: at.actor], (*own[at.actor], action), *own[at.actor + 1 :])
        self.at = _standing(game.ours, game.ours.apply(at.position, move)[0], own)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"outcome {action}"
        game = self.get_game()
        return str(game.ours.action_json(game.actions[action]))

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return bool(self.at.actor == pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        """From 1 for who beat all others to -1 for who lost against all; alone, the score. Zeros before the end."""
        if not self.is_terminal():
            return [0.0] * self.num_players()
        return [float(reward) for reward in rewards_of(self.get_game().ours.outcome(self.at.position))]

    def __str__(self) -> str:
        """The position as JSON, what is hidden included, and what has been rolled of the dice."""
        return f"{self.get_game().ours.to_json(self.at.position)} {list(self.at.rolled)}"


class _Observer:
    """The knowledge of a seat: its view. With perfect recall, also which actions it has taken."""

    def __init__(self, game: _Game, *, recalls: bool) -> None:
        names, self._seen = layout(game.ours.id, game.players, colours_of(game.options))
        self._ours, self._recalls = game.ours, recalls
        self.tensor = np.zeros(len(names), np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: _State, player: int) -> None:
        """Fill `tensor` with what `player` sees."""
        self.tensor[:] = self._seen(self._ours.view(state.at.position, player))

    def string_from(self, state: _State, player: int) -> str:
        """The view of `player` as JSON."""
        text = self._ours.view_json(state.at.position, player).decode()
        return f"{list(state.at.own[player])} {text}" if self._recalls else text
