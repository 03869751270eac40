"""Plays games without bots: random matches, and perft, the count of all move sequences of a given length.

The caller brings the random generator; the dice of real matches are those of `warpleague.match.chance`.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import attrs

from warpleague.games.api import CHANCE, Game, Outcome, Rolled, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

S = TypeVar("S")


@attrs.frozen
class Playout:
    """A match played at random.

    `moves` are actions and rolls in order; `states` has one state more than moves if they were stored, else
    only the first and the last; `outcome` is the result.
    """

    states: tuple[Any, ...]
    moves: tuple[Any, ...]
    outcome: Outcome


def is_rolled(move: Any) -> TypeGuard[Rolled]:
    """Whether a recorded move is what the dice showed rather than an action."""
    return isinstance(move, tuple)


def random_roll(draws: Sequence[Weights], rng: Random) -> Rolled:
    """One index for each draw of `Game.chance`, by its weights."""
    return tuple(
        rng.randrange(draw) if isinstance(draw, int) else rng.choices(range(len(draw)), draw)[0]
        for draw in draws
    )


def random_move(game: Game[Any, Any], state: Any, rng: Random) -> Any:
    """A move of whoever must act: a roll, an action, or an action of each seat where several act at once."""
    actors = game.actors(state)
    if actors[0] == CHANCE:
        return random_roll(game.chance(state), rng)
    return joined(actors, [_any_of(game.legal(state, seat), rng) for seat in actors])


def _any_of(legal: Sequence[Any], rng: Random) -> Any:
    return legal[rng.randrange(len(legal))]


def joined(actors: tuple[int, ...], actions: Sequence[Any]) -> Any:
    """The move that `actions`, one of each actor, make together: alone the action itself, else a dict by seat."""
    return actions[0] if len(actors) == 1 else dict(zip(actors, actions, strict=True))


def by_seat(actors: tuple[int, ...], move: Any) -> dict[int, Any]:
    """The action of each actor in `move`, which is no roll."""
    return {actors[0]: move} if len(actors) == 1 else move


def random_playout(
    game: Game[Any, Any],
    players: int,
    options: Any,
    rng: Random,
    *,
    start: Any = None,
    keep: bool = False,
    max_steps: int = 1_000_000,
) -> Playout:
    """Play from `start` (None: the initial state of `options`) to the end, every legal action equally likely.

    `keep` keeps every state. `RuntimeError` when the game has not ended after `max_steps` moves.
    """
    state = game.initial(players, options) if start is None else start
    states = [state]
    moves: list[Any] = []
    while game.actors(state):
        if len(moves) >= max_steps:
            raise RuntimeError(f"{game.id}: no end after {max_steps} steps")
        move = random_move(game, state, rng)
        state = game.apply(state, move)[0]
        moves.append(move)
        if keep:
            states.append(state)
    if not keep:
        states.append(state)
    return Playout(tuple(states), tuple(moves), game.outcome(state))


def drawn(draw: Weights, number: float) -> int:
    """The index that `number`, from 0 up to 1, chooses in a draw of `Game.chance`, by its weights."""
    if isinstance(draw, int):
        return int(number * draw)
    rest = number * sum(draw)
    for index, weight in enumerate(draw):
        rest -= weight
        if rest < 0:
            return index
    return max(index for index, weight in enumerate(draw) if weight)


def rollout(
    game: Game[S, Any],
    state: S,
    random: Callable[[], float],
    most: int = -1,
    roll: Callable[[str, tuple[Weights, ...]], Rolled] | None = None,
) -> S:
    """Play `state` on at random, on one copy, and return the position at the end of the game.

    Or the one in which `most` decisions have been made that were no forced moves (negative: no limit). `random` gives
    numbers from 0 up to 1: each decision takes one, a forced move none. Of n legal actions it chooses the one with the
    index `int(number * n)`. `roll` rolls the dice for an address and draws; without it each draw takes one number.
    """
    find_actors, find_draws, find_legal, push = game.actors, game.chance, game.legal, game.push
    state = game.copied(state)
    while most and (actors := find_actors(state)):
        seat = actors[0]
        if seat != CHANCE:
            legal = find_legal(state, seat)
            count = len(legal)
            if count > 1:
                most -= 1
                state = push(state, legal[int(random() * count)], None)
            else:
                state = push(state, legal[0], None)
        elif roll is None:
            rolled: list[int] = []
            for draw in find_draws(state):  # before Python 3.12 a comprehension is slower
                rolled.append(int(random() * draw) if type(draw) is int else drawn(draw, random()))  # noqa: PERF401
            state = push(state, tuple(rolled), None)
        else:
            state = push(state, roll(game.address(state), find_draws(state)), None)
    return state


def every_roll(draws: Sequence[Weights]) -> Iterator[Rolled]:
    """Every outcome of `Game.chance` that can happen, in lexicographic order."""
    return product(
        *(
            range(draw) if isinstance(draw, int) else [i for i, weight in enumerate(draw) if weight]
            for draw in draws
        )
    )


def perft(game: Game[Any, Any], state: Any, depth: int) -> int:
    """How many sequences of exactly `depth` moves `state` has; every possible roll counts as one move.

    A game that ends earlier has none. The name and the use, to find errors in move generation by comparing
    counts, come from computer chess.
    """
    if depth == 0:
        return 1
    actors = game.actors(state)
    if not actors:
        return 0
    if actors[0] == CHANCE:
        moves: Any = every_roll(game.chance(state))
    else:
        choices = [game.legal(state, seat) for seat in actors]
        if depth == 1:
            return prod(map(len, choices))
        moves = (joined(actors, actions) for actions in product(*choices))
    return sum(perft(game, game.apply(state, move)[0], depth - 1) for move in moves)
