"""The contract of every format: the matches it plays, the results it receives, and when it has decided.

A format is a pure function of the season and of the results of earlier batches. So a league that was killed, resumed,
merged or played in parallel has the same matches as an undisturbed one, and anyone can compute them again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import islice, permutations
from math import factorial
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from warpleague.league.season.fixture import Group, Outcome, Table
from warpleague.league.season.seat_plan import cycles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.posterior import Posterior
    from warpleague.league.season.config import FormatTable, Seating, UntilTable
    from warpleague.league.season.season import Season

Batches = Generator[Iterable[Group], list[Outcome], bool]
"""Yields batches of groups. Each `yield` is answered with the outcomes of an earlier batch, in its order: of the one
`Format.ahead` batches before, or of this one if that is 0. While there is no batch so far before, the answer is an
empty list.

It returns whether it has decided: if so, only the batches whose outcomes it was sent count, and what was played beyond
them does not. If not, everything it yielded counts. To see the outcomes of its last batches it yields empty ones."""


class Format(Protocol):
    """A format for one season."""

    @property
    def ahead(self) -> int | None:
        """How many batches may be played while an earlier one waits for results.

        The pairing depends on it, so it must not depend on the machine. None: the format needs no results at all, and
        plays one batch, which may be too long for memory.
        """

    def batches(self) -> Batches:
        """The batches to play, from the beginning."""

    def total(self, without: frozenset[int]) -> int | None:
        """How many matches there are, except those in which one of `without` plays; None if results decide it."""

    def describe(self) -> str:
        """The plan in a few words: the beginning of the line that `Schedule.describe` makes."""


class Static:
    """A format that needs no results: it only lists its groups."""

    ahead: int | None = None

    def groups(self) -> Iterable[Group]:
        """All groups, in order."""
        raise NotImplementedError

    def batches(self) -> Batches:
        """All groups in one batch."""
        yield self.groups()
        return False


# -- seating ---------------------------------------------------------------------------------------------
# Seat orders: which orders a table plays on one deal, so that seats and neighbours come out even.
#
# In most games it matters who plays just before whom. All rotations of one order have the same neighbours, so
# each deal has another base order, from a design in which every bot follows every other one equally often.
#
# A design evens out the deals of one table. `SeatPlan` evens out the tables of a league: it chooses where the
# design of each table begins, or which bot takes which seat. It draws from the season's secret, so no author
# can choose a name for the seats that follow from it.


def seatings(kind: Seating, table: Sequence[int], round_: int, first: int = 0) -> tuple[Table, ...]:
    """The seat orders that `table` plays in a round; `first` is the number of the one it begins with.

    With one order a deal, bots take each seat once in as many rounds as there are seats, and follow each other
    equally often in `period` rounds.
    """
    k = len(table)
    if kind == "all":
        return tuple(permutations(table))
    design = cycles(k)
    turn = round_ if kind == "rotations" else round_ // k
    order = tuple(table[place] for place in design[(first + turn) % len(design)])
    rotations = tuple(order[i:] + order[:i] for i in range(k))
    return rotations if kind == "rotations" else (rotations[(first + round_) % k],)


def period(kind: Seating, players: int) -> int:
    """After how many deals of a table all its bots have had the same seats and neighbours equally often."""
    if kind == "all":
        return 1
    return len(cycles(players)) * (players if kind == "fixed" else 1)


def seatings_count(kind: Seating, players: int) -> int:
    """How many matches a table of `players` plays on one deal."""
    return {"all": factorial(players), "rotations": players, "fixed": 1}[kind]


SEATINGS: Final = {"all": "every seat order", "rotations": "every rotation", "fixed": "one seat order"}
"""The seat orders of a table in words."""


def describe_seatings(form: FormatTable) -> str:
    """The seat orders and dice of a format in words."""
    return SEATINGS[form.seats] + (", each match with dice of its own" if form.dice == "own" else "")


# -- until -----------------------------------------------------------------------------------------------
# Ends a league when the order of its best bots is settled: before all is played, or a ladder, which has no
# end.


FEWEST: Final = 3
"""Deals that each bot plays before anything is settled."""
_LEAST, _MAX = 4, 64  # deals in a batch
_PART = 32  # a batch is about so small a part of what was played: what is played beyond the end is wasted


def batch_size(bots: int, played: int) -> int:
    """The number of deals of a batch after `played` deals."""
    return max(_LEAST, bots // 2, min(played // _PART, _MAX))


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
        from warpleague.league.ratings.outcomes import Outcomes
        from warpleague.league.ratings.posterior import Posterior

        until, n = self.season.format.until, len(self.season.bots)
        told, present = Outcomes(), list(range(n))
        groups, given, waiting = iter(self.inner.groups()), 0, 0
        while True:
            batch = list(islice(groups, batch_size(n, given)))
            outcomes = yield batch
            given += len(batch)
            waiting += bool(batch)
            if outcomes:
                waiting -= 1
                for outcome in outcomes:
                    if matches := outcome.matches():
                        told.add_deal(matches)
                    present = [bot for bot in present if bot not in outcome.absent]
                if len(present) > 1 and enough(Posterior.of(told, n), present, until):
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
