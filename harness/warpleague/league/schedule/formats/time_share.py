"""The time that the bots of a ladder take: bots that think much longer than others get a bounded share of it.

The times of matches are in the store, so anybody can compute the same again.
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

LEAST_S: Final = 0.2
"""The least charge for each bot of a match, so that small differences between quick bots do not count."""
_SLOW: Final = 2.0  # times the usual time of a match: who takes no longer is never slow


@attrs.define
class TimeShare:
    """The seconds that each of `bots` bots took in its matches; `share` is the part for slow bots.

    A bot is slow if its matches take more than twice as long as those of the middle bot. All that slow bots have taken
    beyond the time of the middle bot is at most the part `share` of all time, or else they wait.
    """

    bots: int
    share: float
    seconds: Floats = attrs.field(init=False)
    matches: Floats = attrs.field(init=False)
    rest: Floats = attrs.field(init=False)  # the least that a match took beside decisions
    _planned: deque[dict[int, int]] = attrs.Factory(
        deque
    )  # matches of each deal whose result has not come yet, by bot

    def __attrs_post_init__(self) -> None:
        self.seconds, self.matches = np.zeros(self.bots), np.zeros(self.bots)
        self.rest = np.full(self.bots, np.inf)

    def plan(self, group: Group) -> None:
        """Take it that a deal will be played."""
        self._planned.append({bot: len(group.seats) for bot in group.bots})

    def tell(self, outcomes: Iterable[Outcome]) -> None:
        """Charge the deals that were planned first with what they took."""
        for outcome in outcomes:
            self._planned.popleft()
            for seats, seconds, rest in outcome.seconds():
                here = list(seats)
                self.seconds[here] += seconds
                self.matches[here] += 1
                self.rest[here] = np.minimum(self.rest[here], rest)

    def paces(self) -> Floats:
        """How long a match of each bot takes, in seconds; of a bot that has played none, as long as is usual.

        The time beside decisions, in which bots start and end, is nobody's alone. A bot is charged with the least that
        any of its matches took: so much it may have caused.
        """
        known = self._known()
        paces = np.full(self.bots, _middle(known[np.isfinite(known)].tolist()))
        return np.where(np.isfinite(known), known, paces)

    def costs(self) -> Floats:
        """How long a match of each pair takes, as a multiple of what is usual."""
        paces = self.paces()
        known = self._known()
        costs: Floats = (paces[:, None] + paces[None, :]) / (2 * _middle(known[np.isfinite(known)].tolist()))
        return costs

    def _known(self) -> Floats:
        """The same; of a bot that has played none, infinite."""
        mean = self.seconds / np.maximum(self.matches, 1)
        seconds: Floats = np.maximum(mean + self.rest, LEAST_S)
        return seconds

    def new(self, present: Sequence[int]) -> frozenset[int]:
        """The bots among those `present` whose first deal is not over: nobody knows yet whether they are slow."""
        planned = {bot for deal in self._planned for bot in deal}
        return frozenset(bot for bot in present if bot in planned and not self.matches[bot])

    def over(self, present: Sequence[int]) -> frozenset[int]:
        """The slow bots among those `present`, if these have taken their share of the time; else none."""
        paces, matches = self.paces(), self.matches.copy()
        usual = _middle([float(paces[bot]) for bot in present if matches[bot]])
        for deal in self._planned:
            for bot, many in deal.items():
                matches[bot] += many
        slow = [bot for bot in present if self.matches[bot] and paces[bot] > _SLOW * usual]
        beyond = sum(float(matches[bot] * (paces[bot] - usual)) for bot in slow)
        # Added up in the order of the bots, so that all machines round alike.
        whole = sum(float(matches[bot] * paces[bot]) for bot in present)
        return frozenset(slow if beyond > self.share * whole else ())


def _middle(paces: Sequence[float]) -> float:
    """The usual time: at most half of the bots take less."""
    return median_low(paces) if paces else LEAST_S
