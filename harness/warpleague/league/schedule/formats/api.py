"""The contract of every format: the matches it plays, the results it receives, and when it has decided.

A format is a pure function of the season and of the results of earlier batches. So a league that was killed, resumed,
merged or played in parallel has the same matches as an undisturbed one, and anyone can compute them again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Protocol

from warpleague.league.season.fixture import Group, Outcome

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
