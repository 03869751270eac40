"""The worth of a position of aliens: the chance of each side, from the turns that its ships need to a base.

It knows all coins, as the referee does, so only the dice are luck: what a side finds under a coin is not.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, tanh
from typing import TYPE_CHECKING, Final

from warpleague.games.aliens.geometry import HOME, TARGET
from warpleague.games.aliens.state import ROLL, TURN
from warpleague.opponents.aliens_layout import Field

if TYPE_CHECKING:
    from warpleague.games.aliens.state import State

VERSION: Final = 1
"""Counted up with every change of what `shares` returns."""

FILES: Final = ("aliens_layout.py",)
"""The files of this package that `shares` also depends on."""

# Chosen by 200 matches of aliens-5 with itself, for the smallest variance without luck.
_SHARPNESS: Final = (
    1.8  # how fast log-odds grow with the logarithm of the ratio of the rates at which ships arrive
)
_AHEAD: Final = 0.5  # the turns that the side to move is ahead before it has rolled
_LEAST: Final = 0.3  # the least number of turns that a ship can need while the match goes on


def shares(state: State) -> tuple[float, ...]:
    """The chance of each side to win, in [0, 1]; a tie counts as half. Together they are 1."""
    if state.result is not None:
        winner = state.result[0]
        first = 0.5 if winner < 0 else float(winner == 0)
    elif state.phase < ROLL:
        first = 0.5
    else:
        field = _field(state.rules.options.diagonals, state.holes)
        rates = [_rate(state, field, side) for side in (0, 1)]
        first = (1 + tanh(_SHARPNESS * log(rates[0] / rates[1]) / 2)) / 2
    return first, 1 - first


@lru_cache(maxsize=16)
def _field(diagonals: str, holes: tuple[int, ...]) -> Field:
    """The turns of a lone ship with these coins, all of them known."""
    return Field(diagonals, [(square, (coin,)) for square, coin in enumerate(holes) if coin >= 0])


def _rate(state: State, field: Field, side: int) -> float:
    """The rate at which a side arrives at a base."""
    needs = []
    for ship in (2 * side, 2 * side + 1):
        turns = field.turns[side][state.ships[ship]] + (state.lost >> ship & 1)
        if side == state.seat:
            die = state.dice[ship & 1] if state.phase == TURN else -1
            turns = _after_die(state, field, ship, die) if die >= 0 else turns
            turns -= _AHEAD if state.phase == ROLL else 0.0
        needs.append(max(turns, _LEAST))
    return 1 / sum(needs) if state.rules.both_ships else 1 / needs[0] + 1 / needs[1]


def _after_die(state: State, field: Field, ship: int, die: int) -> float:
    """The turns that a ship needs once it has used its die in the best way."""
    side, start = ship >> 1, state.ships[ship]
    if HOME[start] == 1 - side and state.rules.both_ships:
        return 0.0
    landing = field.landing[side]
    row = (start * 6 + die) * 8
    ends = [TARGET[row + way] for way in range(8)] if die else []
    return min([landing[end] for end in ends if end >= 0], default=landing[start])
