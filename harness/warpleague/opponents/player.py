"""The common part of all opponents: a player of one match, and the slips that make it weaker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from warpleague.games import load_game
from warpline.budget import Budget
from warpline.client import Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import Game
    from warpline.client import Match, Question


@attrs.frozen
class Skill:
    """How well an opponent plays.

    `slips` is the part of its decisions that it makes at random, and `slips_beside_many` the same at tables of more
    than two, where chance decides more; None if there is no other. `effort` says how much it searches; what the number
    means, the game's module says.
    """

    slips: float = 0.0
    effort: int = 0
    slips_beside_many: float | None = None

    def slips_at(self, seats: int) -> float:
        """The part of its decisions that it makes at random at a table of `seats` seats."""
        return self.slips if seats <= 2 or self.slips_beside_many is None else self.slips_beside_many


class Player(ABC):
    """One match of a game. All it draws comes from the seed of the seat, so equal questions have equal answers.

    Only a search that meets its bound on processor time, the `budget`, may come out otherwise; its answer says so.
    """

    skills: ClassVar[tuple[Skill, ...]]
    """The levels from the second to the strongest; the first is random play."""

    def __init__(self, match: Match, skill: Skill) -> None:
        self.game: Game[Any, Any] = load_game(match.game, match.rules)
        self.seat = match.seat
        self.skill = skill
        self.slips = skill.slips_at(len(match.players))
        self.rng = Random(match.seed)
        self.budget = Budget()

    def answer(self, question: Question) -> int | dict[str, Any] | Reply:
        """The answer: an index, an action as JSON, or several actions; with a note if a bound was met."""
        self.budget = Budget.of(question)
        state = self.game.determinize(question.state, self.seat, self.rng)
        legal = self.game.legal(state, self.seat)
        if self.rng.random() < self.slips:
            return self.rng.randrange(len(legal))
        answer = self.choose(question, state, legal)
        if self.budget.met:
            answer = answer if isinstance(answer, Reply) else Reply(answer)
            answer.note = self.budget.note
        return answer

    @abstractmethod
    def choose(self, question: Question, state: Any, legal: Sequence[Any]) -> int | dict[str, Any] | Reply:
        """The choice in `state`, which fits all that the question tells; `legal` are its actions."""

    def plan(self, actions: Sequence[Any]) -> Reply:
        """The answer that plays `actions` one after the other."""
        first, *rest = map(self.game.action_json, actions)
        return Reply(first, then=rest)
