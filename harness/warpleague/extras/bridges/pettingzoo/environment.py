"""An environment of PettingZoo (AEC): a match of one of our games, in which a trainer makes every decision.

An agent is asked what a bot would be asked: dice are rolled and forced moves played on the way.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv

from warpleague.extras.bridges.pettingzoo.encoding import MISSING, layout, universe
from warpleague.games import load_game
from warpleague.games.api import CHANCE, Game, Outcome
from warpleague.match.chance import Dice, match_key
from warpleague.match.setup import load_options
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


# -- episode ---------------------------------------------------------------------------------------------
# From one decision of a match to the next, as bots are asked: dice are rolled and forced moves played on the
# way.


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


# -- environment -----------------------------------------------------------------------------------------


_MAX = 32_767


class Environment(AECEnv):  # type: ignore[misc]
    """One match after the other of a game.

    Agents are `seat_0`, `seat_1`, ...; an action is its number in `actions`. An observation has the array
    `observation` (int16), whose places `names` tells, and `action_mask` (int8), all zeros for an agent that is not to
    act. At the end every agent has the reward 1 (first) to -1 (last), by the share of the others that it beat; alone,
    it has the match's score. All other rewards are 0. `reset(seed=7)` deals what a match with `--seed 7` deals.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "is_parallelizable": False}
    render_mode: ClassVar[str] = "ansi"

    def __init__(self, game: str, players: int | None, options: Mapping[str, Any]) -> None:
        super().__init__()
        self.actions, self._numbers = universe(game)
        self.names, self._seen = layout(game)
        self.game = load_game(game)
        self.metadata = {**self.metadata, "name": f"warpleague_{game}"}  # type: ignore[misc]
        self._players = self.game.players[0] if players is None else players
        self._options = load_options(self.game, self._players, options)
        self.possible_agents = [f"seat_{seat}" for seat in range(self._players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        space = Dict(
            {
                "observation": Box(MISSING, _MAX, (len(self.names),), np.int16),
                "action_mask": Box(0, 1, (len(self.actions),), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = {agent: Discrete(len(self.actions)) for agent in self.possible_agents}
        self._seed = ""
        self._episode = 0

    def observation_space(self, agent: str) -> Any:
        """The same for all agents, and for any number of players."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same for all agents, and for any number of players."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a match: that of the seed, or without one the next of a series that the last seed began."""
        del options
        if seed is not None:
            self._seed, self._episode = str(seed), 0
        elif not self._seed:
            self._seed = secrets.token_hex(8)
        text = self._seed if not self._episode else f"{self._seed} {self._episode}"
        self._episode += 1
        self._dice = Dice(match_key(text))
        self.position = self.game.initial(self._players, self._options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._advance()

    def _advance(self) -> None:
        """Play on to the next question, or to the end."""
        self.position, self.legal = to_decision(self.game, self.position, self._dice)
        if self.legal:
            self.agent_selection = self.possible_agents[self.game.actors(self.position)[0]]
            return
        rewards = rewards_of(self.game.outcome(self.position))
        self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
        self.terminations = dict.fromkeys(self.possible_agents, True)
        if not hasattr(self, "agent_selection") or self.agent_selection not in self.agents:
            self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """The observation of the agent's seat, as arrays."""
        seat = self._seats[agent]
        mask = np.zeros(len(self.actions), np.int8)
        if agent == self.agent_selection and self.legal:
            numbers = self._numbers
            mask[[numbers[action] for action in self.legal]] = 1
        return {"observation": self._seen(self.game.view(self.position, seat)), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Take the action with this number for the agent that is to act; `ValueError` if it is not legal."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or not 0 <= action < len(self.actions) or self.actions[action] not in self.legal:
            raise ValueError(f"action {action} is not legal for {agent}: the action mask tells which are")
        self._cumulative_rewards[agent] = 0.0
        self.position, _ = self.game.apply(self.position, self.actions[action])
        self._advance()
        if not self.legal:
            self._accumulate_rewards()

    def render(self) -> str:
        """The position as JSON, what is hidden included."""
        return str(self.game.to_json(self.position))

    def close(self) -> None:
        """There is nothing to close."""


# -- batch -----------------------------------------------------------------------------------------------
# Many matches of a game at once, as arrays: each is at a decision, and one that ends starts again.


class Batch:
    """Matches of `game` side by side. Actions and observations have the numbers and places of `Environment`.

    `actions` are the actions by number, `names` the places of an observation, `players` the seats of each match.
    """

    def __init__(
        self, game: str, matches: int, players: int | None, seed: str, options: Mapping[str, Any]
    ) -> None:
        self.actions, self._numbers = universe(game)
        self.names, self._seen = layout(game)
        self.game = load_game(game)
        self.players = self.game.players[0] if players is None else players
        self._options = load_options(self.game, self.players, options)
        self._seed = seed
        self._begun = 0
        self._dice: list[Dice] = [Dice(b"")] * matches
        self.positions: list[Any] = [None] * matches
        """By match: its position, in which a seat has a choice."""
        self._legal: list[Sequence[Any]] = [()] * matches
        for place in range(matches):
            self._begin(place)

    def __len__(self) -> int:
        """How many matches there are."""
        return len(self.positions)

    def _begin(self, place: int) -> None:
        """Begin the next match of the series at this place; one that ends without a choice is passed over."""
        while not self._legal[place]:
            self._dice[place] = Dice(match_key(f"{self._seed} {self._begun}"))
            self._begun += 1
            self._play_on(place, self.game.initial(self.players, self._options))

    def _play_on(self, place: int, state: Any) -> None:
        self.positions[place], self._legal[place] = to_decision(self.game, state, self._dice[place])

    def seats(self) -> NDArray[np.int8]:
        """By match: the seat that must act. Shape (matches,)."""
        actors = self.game.actors
        return np.array([actors(state)[0] for state in self.positions], np.int8)

    def observations(self) -> NDArray[np.int16]:
        """By match: what the seat that must act knows. Shape (matches, names)."""
        view, seen = self.game.view, self._seen
        seats = self.seats().tolist()
        return np.stack([seen(view(state, seat)) for state, seat in zip(self.positions, seats, strict=True)])

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
        chosen = []
        for place, number in enumerate(map(int, numbers)):
            action = self.actions[number] if 0 <= number < len(self.actions) else None
            if action not in self._legal[place]:
                raise ValueError(f"action {number} is not legal in match {place}: masks tells which are")
            chosen.append(action)
        ended = np.zeros(len(self), np.bool_)
        rewards = np.zeros((len(self), self.players), np.float32)
        for place, action in enumerate(chosen):
            self._play_on(place, self.game.apply(self.positions[place], action)[0])
            if not self._legal[place]:
                ended[place] = True
                rewards[place] = rewards_of(self.game.outcome(self.positions[place]))
                self._begin(place)
        return ended, rewards
