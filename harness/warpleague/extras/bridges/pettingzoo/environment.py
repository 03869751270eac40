"""An environment of PettingZoo (AEC): a match of one of our games, in which a trainer makes every decision.

An agent is asked what a bot would be asked: dice are rolled and forced moves played on the way.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv

from warpleague.extras.bridges.pettingzoo.batch import Encoder, rewards_of, to_decision
from warpleague.extras.bridges.pettingzoo.encoding import MISSING
from warpleague.match.chance import Dice, match_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


_MAX = 32_767


class Environment(Encoder, AECEnv):  # type: ignore[misc]
    """One match after the other of a game.

    Agents are `seat_0`, `seat_1`, ...; an action is its number in `actions`. An observation has the array
    `observation` (int16), whose places `names` tells, and `action_mask` (int8), all zeros for an agent that is not to
    act. At the end every agent has the reward 1 (first) to -1 (last), by the share of the others that it beat; alone,
    it has the match's score. All other rewards are 0. `reset(seed=7)` deals what a match with `--seed 7` deals.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "is_parallelizable": False}
    render_mode: ClassVar[str] = "ansi"

    def __init__(self, game: str, players: int | None, options: Mapping[str, Any]) -> None:
        super().__init__(game, players, options)
        self.metadata = {**self.metadata, "name": f"warpleague_{game}"}  # type: ignore[misc]
        self.possible_agents = [f"seat_{seat}" for seat in range(self.players)]
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
        """The same for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same for all agents."""
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
        self.position = self.game.initial(self.players, self._options)
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
        chosen = self._chosen(action, self.legal, f"for {agent}")
        self._cumulative_rewards[agent] = 0.0
        self.position, _ = self.game.apply(self.position, chosen)
        self._advance()
        if not self.legal:
            self._accumulate_rewards()

    def render(self) -> str:
        """The position as JSON, what is hidden included."""
        return str(self.game.to_json(self.position))

    def close(self) -> None:
        """There is nothing to close."""
