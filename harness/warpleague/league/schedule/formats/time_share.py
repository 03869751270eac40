"""The time that the bots of a ladder take: bots that think much longer than others get a bounded share of it.

A match is charged with the time of the decisions that are in its record, so that anybody can work the same out again.
"""

from __future__ import annotations

from collections import deque
from statistics import median_low
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.league.ratings.rows import Floats
    from warpleague.league.season.fixture import Group, Outcome

START_S: Final = 0.2
"""The charge for each bot of a match beside its decisions: about the time in which it is started."""
_SLOW: Final = 2.0  # times the usual time of a match: who takes no longer is never slow


@attrs.define
class TimeShare:
    """The seconds that each of `bots` bots has taken in so many matches; `share` is the part for slow bots.

    A bot is slow if its matches take more than twice as long as those of the middle bot. All that slow bots have taken
    beyond the time of the middle bot is at most the part `share` of all time, or else they wait.
    """

    bots: int
    share: float
    seconds: Floats = attrs.field(init=False)
    matches: Floats = attrs.field(init=False)
    _planned: deque[dict[int, int]] = attrs.Factory(
        deque
    )  # matches of each deal that is not told yet, by bot

    def __attrs_post_init__(self) -> None:
        self.seconds, self.matches = np.zeros(self.bots), np.zeros(self.bots)

    def plan(self, group: Group) -> None:
        """Take it that a deal will be played."""
        self._planned.append({bot: len(group.seats) for bot in group.bots})

    def tell(self, outcomes: Iterable[Outcome]) -> None:
        """Charge the deals that were planned first with what they took."""
        for outcome in outcomes:
            self._planned.popleft()
            for seats, seconds in outcome.seconds():
                self.seconds[list(seats)] += np.array(seconds) + START_S
                self.matches[list(seats)] += 1

    def paces(self) -> Floats:
        """How long a match of each bot takes, in seconds; of a bot that has played none, as long as is usual."""
        known = self.matches > 0
        paces = np.full(self.bots, self._usual(range(self.bots)))
        paces[known] = self.seconds[known] / self.matches[known]
        return paces

    def new(self, present: Sequence[int]) -> frozenset[int]:
        """The bots among those `present` whose first deal is not over: nobody knows yet whether they are slow."""
        planned = {bot for deal in self._planned for bot in deal}
        return frozenset(bot for bot in present if bot in planned and not self.matches[bot])

    def over(self, present: Sequence[int]) -> frozenset[int]:
        """The slow bots among those `present`, if these have taken their share of the time; else none."""
        usual, paces, matches = self._usual(present), self.paces(), self.matches.copy()
        for deal in self._planned:
            for bot, many in deal.items():
                matches[bot] += many
        slow = [bot for bot in present if self.matches[bot] and paces[bot] > _SLOW * usual]
        beyond = sum(float(matches[bot] * (paces[bot] - usual)) for bot in slow)
        here = list(present)
        return frozenset(slow if beyond > self.share * float(matches[here] @ paces[here]) else ())

    def _usual(self, bots: Sequence[int]) -> float:
        """The seconds of a match of the middle bot of those that have played: no more than half of them take less."""
        known = [float(self.seconds[bot] / self.matches[bot]) for bot in bots if self.matches[bot]]
        return median_low(known) if known else START_S
