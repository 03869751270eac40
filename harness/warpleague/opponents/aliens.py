"""Plays aliens: compares its moves by playouts, and lays wormholes where they help it most (`aliens_layout`).

Each playout deals the unknown coins again, plays on for some turns with a quick policy for both sides, and
values the end by the turns that ships need to an enemy base (`aliens_layout.Field`).
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from warpleague.games.aliens import GAME
from warpleague.games.aliens.geometry import (
    DECLINING,
    HOME,
    INDEX,
    JUMP_WAYS,
    SEND_TARGETS,
    SHIPS,
    TARGET,
    USES,
)
from warpleague.games.aliens.state import ROLL, SEND, TURN, State
from warpleague.opponents.aliens_layout import Field, Holes, Layouts
from warpleague.opponents.player import Player, Skill, best_of
from warpline.client import Match, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Sequence


HORIZON: Final = 2
"""Turns played out after this one."""
WORLDS: Final = 40
"""Deals of the unknown coins for one decision."""
DEALING: Final = 0.3
"""The part of the time for a decision that they may take."""
SENT_AWAY: Final = 4.0
"""Turns that the policy believes an enemy sent away loses."""
SENDINGS: Final = 12
"""Squares to send an enemy to that are compared."""
AGAIN: Final = 3.0
"""Turns for a ship that was sent to an enemy base: it has to leave and come back."""
ENEMY_USE: Final = 0.6
"""An enemy's gain by our wormhole counts less: it does not know where it leads."""


class Aliens(Player):
    """A player of aliens; its `effort` is the number of playouts that each action gets at first.

    Only levels with an effort of at least ten play the set-up on before they lay a wormhole.
    """

    skills = (Skill(0.75, 2), Skill(0.5, 2), Skill(0.2, 2), Skill(0.0, 40))

    def __init__(self, match: Match, skill: Skill) -> None:
        super().__init__(match, skill)
        self.holes: Holes = ()
        diagonals = match.options["diagonals"]
        self.field = Field(diagonals)
        self.layouts = Layouts(diagonals, match.options["both_ships"]) if skill.effort >= 10 else None

    def choose(self, question: Question, state: State, legal: Sequence[Any]) -> int | Reply:
        """The index of the action to play, after playouts with the share that they promise."""
        if question.ask == "order":
            return 1  # to move first
        holes = possible(question.state)
        if holes != self.holes:
            self.holes = holes
            self.field = Field(self.field.diagonals, holes, self.field)
        if question.ask == "place":
            return self.place(legal)
        worlds = [state]
        while len(worlds) < WORLDS and not self.budget.over(DEALING):
            worlds.append(GAME.determinize(question.state, self.seat, self.rng))
        seed = self.rng.getrandbits(32)
        numbers: Sequence[int] = range(len(legal))
        if question.ask == "send":
            landing = self.field.landing[1 - self.seat]
            far = sorted(numbers, key=lambda number: -landing[SEND_TARGETS[legal[number]]])
            numbers = far[:SENDINGS]
        effort = self.skill.effort
        rounds = ((99, effort), (4, 2 * effort), (2, 2 * effort))

        def worth(number: int, trial: int) -> float:
            world = worlds[trial % len(worlds)]
            rng = Random(seed + trial)
            after = GAME.push(GAME.copied(world), legal[number], None)
            return self.playout(after, rng, divmod(trial % 36, 6), world.turn + 1 + HORIZON)

        best, share = best_of(numbers, rounds, worth, self.budget)
        if share is None and self.budget.met:
            best = legal.index(self.policy(state, Random(seed)))
        return Reply(best, value=share)

    def place(self, legal: Sequence[Any]) -> int:
        """The placement that helps us most, and the enemy least."""
        spots = [(SHIPS.index(action.suit) * 6 + action.value, INDEX[action.at]) for action in legal]
        if self.layouts is not None:
            return self.layouts.place(self.seat, self.holes, spots, self.rng, self.budget)
        me, saving = self.seat, self.field.saving
        rough = [saving(me, *spot) - ENEMY_USE * saving(1 - me, *spot) for spot in spots]
        return max(range(len(legal)), key=rough.__getitem__)

    def playout(self, state: State, rng: Random, first: tuple[int, int] | None, until: int) -> float:
        """The worth of where the policy leads, while fewer than `until` turns are over; `first` are the first dice.

        It plays on `state` itself.
        """
        while state.actors:
            if state.phase == ROLL:
                if state.turn >= until:
                    break
                dice = GAME.chance(state)
                move: Any = (
                    tuple([int(rng.random() * 6) for _ in dice]) if first is None else first[: len(dice)]
                )
                first = None
            else:
                move = self.policy(state, rng)
            state = GAME.push(state, move, None)
        return self.worth(state)

    def policy(self, state: State, rng: Random) -> Any:
        """A quick and mostly sensible action: it brings the ship nearest to its goal."""
        legal = state.legal
        if len(legal) == 1:
            return legal[0]
        side, ships = state.actors[0], state.ships
        turns, landing = self.field.turns[side], self.field.landing[side]
        if state.phase == SEND:
            away = self.field.landing[1 - side]
            picks = [legal[int(rng.random() * len(legal))] for _ in range(8)]
            return max(picks, key=lambda action: away[SEND_TARGETS[action]])
        if state.phase != TURN:
            assert state.cascade is not None
            start = ships[state.cascade[0]]
            row = (start * 6 + state.holes[start] % 6) * 8
            return min(legal, key=lambda action: turns[TARGET[row + JUMP_WAYS[action]]])
        best, choice = 1e9, legal[0]
        for action in legal:
            ship, way = USES[action]
            start = ships[ship]
            if way >= 0:
                end = TARGET[(start * 6 + state.dice[ship & 1]) * 8 + way]
                if HOME[end] == 1 - side:
                    return action
                cost = landing[end] - turns[start] - (SENT_AWAY if end in ships else 0.0)
            else:
                cost = 0.0 if way == DECLINING else landing[start] - turns[start]
            if cost < best:
                best, choice = cost, action
        return choice

    def worth(self, state: State) -> float:
        """The chance to be first: 1, 0 or a half at the end, else by the rates at which ships arrive."""
        if state.result is not None:
            winner = state.result[0]
            return 0.5 if winner < 0 else float(winner == self.seat)
        both = state.rules.both_ships
        rates = []
        for side in (0, 1):
            needs = [
                (self.field.turns[side][state.ships[ship]] or (1.0 if both else AGAIN))
                + (state.lost >> ship & 1)
                for ship in (2 * side, 2 * side + 1)
            ]
            rates.append(1 / sum(needs) if both else 1 / needs[0] + 1 / needs[1])
        rates[state.seat] *= 1.2  # the side to move is half a turn ahead
        return rates[self.seat] / (rates[0] + rates[1])


def possible(view: Any) -> Holes:
    """The possible coins of each square: (square, coins) for every wormhole of a view."""
    seen = {(hole["suit"], hole["value"]) for hole in view["wormholes"]}
    found = []
    for hole in view["wormholes"]:
        suit, value = hole["suit"], hole["value"]
        values = [value] if value is not None else [other for other in range(6) if (suit, other) not in seen]
        found.append((INDEX[tuple(hole["at"])], tuple([SHIPS.index(suit) * 6 + one for one in values])))
    return tuple(found)


OPPONENT = Aliens
