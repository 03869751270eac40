"""Many matches of a game at once, as arrays: each is at a decision, and one that ends starts again."""

from __future__ import annotations

from copy import deepcopy
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from warpleague.errors import BadInput
from warpleague.extras.bridges.pettingzoo.encoding import colours_of, layout, universe
from warpleague.games import GAMES, load_game
from warpleague.games.api import CHANCE, Game, Outcome
from warpleague.match.chance import Dice, match_key
from warpleague.match.setup import load_options
from warpleague.sim.simulator import no_view
from warpleague.text import counted
from warpline.codec import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from warpleague.games.api import JsonObject


def to_decision(game: Game[Any, Any], state: Any, dice: Dice) -> tuple[Any, Sequence[Any]]:
    """The next position in which a seat has a choice, with its legal actions; at the end of the match, none."""
    while actors := game.actors(state):
        if actors[0] == CHANCE:
            state, _ = game.apply(state, dice.roll(dice.at(game.address(state)), game.chance(state)))
            continue
        legal = game.legal(state, actors[0])
        if len(legal) > 1:
            return state, legal
        state, _ = game.apply(state, legal[0])
    return state, ()


def rewards_of(outcome: Outcome) -> tuple[float, ...]:
    """By seat: 1 for who beat all others to -1 for who lost against all; a solo game gives its score."""
    ranks = outcome.ranks
    if len(ranks) == 1:
        return outcome.scores
    return tuple([sum((o > rank) - (o < rank) for o in ranks) / (len(ranks) - 1) for rank in ranks])


class Encoder:
    """The numbers of a table's actions, and its views as arrays; `options` are those of the game, as JSON.

    `actions` are the actions by number, `names` the places of an observation, `players` the seats. Raises `BadInput`
    if there is no such game, or if the options do not fit. A pickle is small: it has only the table.
    """

    def __init__(self, game: str, players: int | None, options: Mapping[str, Any]) -> None:
        super().__init__()
        if game not in GAMES:
            raise BadInput(f"{game}: only {', '.join(GAMES)} have numbered actions")
        self.players = load_game(game).players[0] if players is None else players
        self._table = game, self.players, dict(options)
        self._number()

    def _number(self) -> None:
        game, players, options = self._table
        self.game = load_game(game)
        self._options = load_options(self.game, players, options)
        colours = colours_of(self._options)
        self.actions, self._numbers = universe(game, players, colours)
        self.names, self._seen = layout(game, players, colours)

    def observation(self, view: JsonObject) -> NDArray[np.int16]:
        """What a seat knows: a bot's `question.state`, or `view` of the simulator. Shape (names,).

        Raises `PositionError` if it is no view of such a table.
        """
        try:
            return self._seen(view)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise no_view(self.game, error) from error

    def mask(self, legal: Iterable[Any]) -> NDArray[np.bool_]:
        """True for each of these actions, as the simulator or a bot's `question.legal` has them. Shape (actions,)."""
        mask = np.zeros(len(self.actions), np.bool_)
        mask[[self.number(action) for action in legal]] = True
        return mask

    def number(self, action: Any) -> int:
        """The number of an action, or of its JSON form; `ValueError` if it has none."""
        found = (
            self._by_json.get(canonical(action)) if isinstance(action, dict) else self._numbers.get(action)
        )
        if found is None:
            raise ValueError(f"{action} is no action of this table with a number")
        return found

    def _chosen(self, number: Any, legal: Sequence[Any], where: str) -> Any:
        """The action of this number; `ValueError` if it is not one of `legal`, those of the decision `where`."""
        try:
            place = index(number)  # numpy's integers too, but no half action
        except TypeError:
            raise ValueError(
                f"{number!r:.60} {where} is not the number of an action, which is a whole number"
            ) from None
        action = self.actions[place] if 0 <= place < len(self.actions) else None
        if action not in legal:
            raise ValueError(f"action {place} is not legal {where}: the action mask tells which are")
        return action

    def __copy__(self) -> Self:
        """All of it, as `deepcopy`: whoever plays on with one of the two must not change the other."""
        return deepcopy(self)

    @cached_property
    def _by_json(self) -> dict[bytes, int]:
        return {canonical(self.game.action_json(action)): number for action, number in self._numbers.items()}

    def __getstate__(self) -> dict[str, Any]:
        shared = {"actions", "_numbers", "_by_json", "names", "_seen", "game", "_options"}
        return {name: value for name, value in self.__dict__.items() if name not in shared}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._number()


class Batch(Encoder):
    """Matches of `game` side by side. Actions and observations have the numbers and places of `Environment`."""

    def __init__(
        self, game: str, matches: int, players: int | None, seed: str, options: Mapping[str, Any]
    ) -> None:
        super().__init__(game, players, options)
        if not hasattr(matches, "__index__") or matches < 1:
            raise BadInput(f"matches: must be a whole number of at least 1, not {matches!r}")
        self._seed = seed
        self._begun = 0
        self._dice: list[Dice] = [Dice(b"")] * matches
        self._positions: list[Any] = [None] * matches
        self._legal: list[Sequence[Any]] = [()] * matches
        for place in range(matches):
            self._begin(place)

    def __len__(self) -> int:
        """How many matches there are."""
        return len(self._positions)

    @property
    def positions(self) -> tuple[Any, ...]:
        """By match: its position, in which a seat has a choice. Only `step` changes them."""
        return tuple(self._positions)

    def _begin(self, place: int) -> None:
        """Begin the next match of the series at this place; one that ends without a choice is passed over."""
        while not self._legal[place]:
            self._dice[place] = Dice(match_key(f"{self._seed} {self._begun}"))
            self._begun += 1
            self._play_on(place, self.game.initial(self.players, self._options))

    def _play_on(self, place: int, state: Any) -> None:
        self._positions[place], self._legal[place] = to_decision(self.game, state, self._dice[place])

    def seats(self) -> NDArray[np.int8]:
        """By match: the seat that must act. Shape (matches,)."""
        actors = self.game.actors
        return np.array([actors(state)[0] for state in self._positions], np.int8)

    def observations(self) -> NDArray[np.int16]:
        """By match: what the seat that must act knows. Shape (matches, names)."""
        view, seen = self.game.view, self._seen
        seats = self.seats().tolist()
        return np.stack([seen(view(state, seat)) for state, seat in zip(self._positions, seats, strict=True)])

    def masks(self) -> NDArray[np.bool_]:
        """By match: True for each legal action. Shape (matches, actions)."""
        masks = np.zeros((len(self), len(self.actions)), np.bool_)
        numbers = self._numbers
        for row, legal in zip(masks, self._legal, strict=True):
            row[[numbers[action] for action in legal]] = True
        return masks

    def step(self, numbers: Sequence[int] | NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Take an action in each match, by its number; which matches ended with it, and their rewards by seat.

        The shapes are (matches,) and (matches, players); rewards of matches that go on are 0. A match that ended is
        replaced by the next one. `ValueError` if there is not one legal action for each match; then nothing happened.
        """
        if len(numbers) != len(self):
            raise ValueError(
                f"there must be {counted(len(self), 'action')}, one for each match, not {len(numbers)}"
            )
        chosen = [
            self._chosen(number, legal, f"in match {place}")
            for place, (number, legal) in enumerate(zip(numbers, self._legal, strict=True))
        ]
        ended = np.zeros(len(self), np.bool_)
        rewards = np.zeros((len(self), self.players), np.float32)
        for place, action in enumerate(chosen):
            self._play_on(place, self.game.apply(self._positions[place], action)[0])
            if not self._legal[place]:
                ended[place] = True
                rewards[place] = rewards_of(self.game.outcome(self._positions[place]))
                self._begin(place)
        return ended, rewards
