"""The common part of all opponents: a player of one match, slips that make it weaker, comparing actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from warpleague.errors import BadInput
from warpleague.games import GAMES, load_game
from warpleague.match.setup import options_json
from warpline.budget import Budget, OverBudget
from warpline.client import Match, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.api import Game

    Policy = Callable[[Any, int, Sequence[Any], Random], Any]


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


def best_of(
    numbers: Sequence[int],
    rounds: Sequence[tuple[int, int]],
    worth: Callable[[int, int], float],
    budget: Budget,
) -> tuple[int, float | None]:
    """The number of the best action, and the mean of its playouts; the first and None if nothing was compared.

    Actions that do well get more playouts, and all of them the same worlds and dice.
    Each of the `rounds` has the number of remaining actions, and the number of playouts for each of them.
    `worth(number, trial)` plays one to its end; equal trials must mean equal worlds and dice, so that luck has little
    weight in the comparison. When the `budget` is used up, the results so far decide; `worth` may raise `OverBudget`.
    """
    total = dict.fromkeys(numbers, 0.0)
    left = list(numbers)
    trial = 0
    results: dict[int, float] = {}
    """The results so far of the trial in progress."""
    for most, playouts in rounds:
        left = sorted(left, key=total.__getitem__, reverse=True)[:most]
        if len(left) == 1:
            break
        for _ in range(playouts):
            results.clear()
            try:
                for number in left:
                    budget.check()
                    results[number] = worth(number, trial)
            except OverBudget:
                return _best(total, left, trial) if trial or not results else _best(results, list(results), 1)
            for number, one in results.items():
                total[number] += one
            trial += 1
    return _best(total, left, trial)


def _best(total: dict[int, float], left: Sequence[int], trials: int) -> tuple[int, float | None]:
    """The best of those that are left, who took part in all trials."""
    best = max(left, key=total.__getitem__)
    return best, total[best] / trials if trials else None


# -- policy ----------------------------------------------------------------------------------------------
# The reference opponents as policies for playouts: `policy("captains", 3)` plays as `captains-3` does.


LEVELS: Final = 5
"""Level 1 plays at random."""


def policy(game: str, level: int, rules: int | None = None) -> Policy:
    """A policy for `Simulator.playout` and `finish`: the opponent of this level decides for every seat.

    It uses only facts that the seat may know, nothing hidden in the position. Each decision stands alone: a plan is
    not remembered from one action to the next. `BadInput` if there is no such game or level.
    """
    if game not in GAMES:
        raise BadInput(f"{game}: only {', '.join(GAMES)} have reference opponents")
    if not 1 <= level <= LEVELS:
        raise BadInput(f"level {level}: the levels are 1 to {LEVELS}")
    if level == 1:
        return _at_random
    engine = load_game(game, rules)
    kind: type[Player] = import_module(f"warpleague.opponents.{game}").OPPONENT
    skill = kind.skills[level - 2]
    players: dict[Any, tuple[Match, Player]] = {}

    def choose(state: Any, seat: int, legal: Sequence[Any], rng: Random) -> Any:
        count, options = engine.match_of(state)
        key = seat, count, repr(options)
        if key not in players:
            match = _match(engine, seat, count, options)
            players[key] = match, kind(match, skill)
        match, player = players[key]
        player.rng = rng
        act = {"id": 0, "ask": engine.ask(state, seat), "state": engine.view(state, seat)}
        answer = player.answer(Question(act, match))
        move = answer.action if isinstance(answer, Reply) else answer
        return legal[move] if isinstance(move, int) else engine.parse(state, seat, move)

    return choose


def _at_random(_state: Any, _seat: int, legal: Sequence[Any], rng: Random) -> Any:
    return legal[int(rng.random() * len(legal))]


def _match(game: Game[Any, Any], seat: int, players: int, options: Any) -> Match:
    """A match as an opponent is told of it; none of them reads the board from there."""
    return Match(
        {
            "match": "playout",
            "game": game.id,
            "rules": game.rules_version,
            "options": options_json(options),
            "seat": seat,
            "players": [f"seat {number}" for number in range(players)],
            "seed": "",
            "clock": {},
            "setup": {},
        }
    )
