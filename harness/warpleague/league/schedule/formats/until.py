"""Ends a league when the order of its best bots is settled: before all is played, or a ladder, which has no end."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.posterior import Posterior
    from warpleague.league.schedule.formats.api import Batches, Static
    from warpleague.league.season.config import UntilTable
    from warpleague.league.season.season import Season

FEWEST: Final = 3
"""Deals that each bot plays before anything is settled."""
_LEAST, MAX = 4, 64  # deals in a batch
_PART = 32  # a batch is about so small a part of what was played: what is played beyond the end is wasted


def batch_size(bots: int, played: int) -> int:
    """The number of deals of a batch after `played` deals."""
    return max(_LEAST, bots // 2, min(played // _PART, MAX))


def enough(known: Posterior, present: Sequence[int], until: UntilTable | None) -> bool:
    """Whether the order of the first places is settled, as surely as `until` says."""
    if until is None or min(known.deals[bot] for bot in present) < FEWEST:
        return False
    # The posterior does not depend on when somebody looks at it, so it may be asked after each batch; a test of fixed
    # size that is repeated so would err far more often than it says.
    return known.doubt(present, until.top, until.within) <= 1 - until.confidence


def describe_until(until: UntilTable) -> str:
    """The end of a league, in words."""
    places = "place" if until.top == 1 else f"{until.top} places"
    equal = f", bots within {until.within:g} Elo of each other being equal" if until.within else ""
    return f"until the first {places} {'is' if until.top == 1 else 'are'} settled with {until.confidence:.1%}{equal}"


@attrs.frozen
class Until:
    """A format that needs no results, played in batches until the order is settled."""

    season: Season
    inner: Static
    ahead: int | None = 1

    def batches(self) -> Batches:
        """The groups of the format in their order; whole deals count, in this order."""
        from warpleague.league.ratings.posterior import Posterior

        until, n = self.season.format.until, len(self.season.bots)
        known, present = Posterior(n), list(range(n))
        groups, given, waiting = iter(self.inner.groups()), 0, 0
        while True:
            batch = list(islice(groups, batch_size(n, given)))
            outcomes = yield batch
            given += len(batch)
            waiting += bool(batch)
            if outcomes:
                waiting -= 1
                for outcome in outcomes:
                    known.add(outcome.matches())
                    present = [bot for bot in present if bot not in outcome.absent]
                known.update()
                if len(present) > 1 and enough(known, present, until):
                    return True
            if not batch and not waiting:
                return False

    def total(self, without: frozenset[int]) -> int | None:  # noqa: ARG002 - results decide
        """Results decide it."""
        return None

    def describe(self) -> str:
        """The most that the format plays, and its end."""
        assert self.season.format.until is not None
        return f"{self.inner.describe()}, {describe_until(self.season.format.until)}"  # type: ignore[attr-defined]
