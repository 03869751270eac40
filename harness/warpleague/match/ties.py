"""Seats whose bots go out at the same stage of a match rank equal: the order in which they are judged says nothing.

A stage is all that comes before the first question, or one decision that several seats make at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import Outcome


class Ties:
    """The seats that went out, those of one stage together."""

    def __init__(self) -> None:
        self._stages: list[list[int]] = []

    @property
    def empty(self) -> bool:
        """Whether no seat went out so far."""
        return not self._stages

    def add(self, seat: int, *, tied: bool) -> None:
        """The bot of `seat` is out; `tied`: at the same stage as the one that went out before it."""
        if tied:
            self._stages[-1].append(seat)
        else:
            self._stages.append([seat])

    def settle(self, outcome: Outcome) -> Outcome:
        """The `outcome` of the game, in which the seats of one stage share the last of their ranks, and their scores.

        Each of them gets the mean of their scores, so that the sum stays the same.
        """
        stages = [seats for seats in self._stages if len(seats) > 1]
        if not stages:
            return outcome
        places = list(outcome.ranks)
        for seats in stages:
            last = max(places[seat] for seat in seats)
            for seat in seats:
                places[seat] = last
        return attrs.evolve(
            outcome,
            ranks=tuple([1 + sum(other < place for other in places) for place in places]),
            scores=_shared(outcome.scores, stages),
            breakdown={part: _shared(values, stages) for part, values in outcome.breakdown.items()},
        )


def _shared(values: Sequence[float], stages: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """The values by seat, where the seats of one stage get the mean of theirs."""
    shares = list(values)
    for seats in stages:
        if len({shares[seat] for seat in seats}) > 1:  # equal ones stay as they are, to the last bit
            mean = sum(shares[seat] for seat in seats) / len(seats)
            for seat in seats:
                shares[seat] = mean
    return tuple(shares)
