"""Decides in which order matches are played, so that matches with the same dice are far apart.

All seat orders of a deal have the same dice, and so do all bots of a solo league. A bot that has seen dice must not
use them in another match, so a run ends all bots that wait for their next match before it plays the same dice
again. To do this seldom, it first plays one match of each of many deals, then the second one of each, and so on.
The order in tables is that of `schedule`, not this one.
"""

from __future__ import annotations

from itertools import chain, groupby, islice, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from warpleague.league.season.fixture import Fixture

DEALS_A_JOB: Final = 32
"""Deals in a window for each match that is played at once: so much longer are phases than the wait at their ends."""

_MAX_FIXTURES: Final = (
    20_000  # in a window, since it is in memory; but always one deal for each match at once
)


def in_phases(fixtures: Iterable[Fixture], jobs: Callable[[], int]) -> Iterator[Fixture]:
    """The fixtures, given in schedule order, in the order in which to play them.

    `jobs` returns the number of matches at the same time, and is called at the beginning of each window. Matches on
    one deal follow each other in the schedule.
    """
    deals = (list(group) for _, group in groupby(fixtures, attrgetter("deal")))
    while window := list(_window(deals, jobs())):
        yield from (fixture for fixture in chain(*zip_longest(*window)) if fixture is not None)


def _window(deals: Iterator[list[Fixture]], jobs: int) -> Iterator[list[Fixture]]:
    count = 0
    for number, deal in enumerate(islice(deals, DEALS_A_JOB * jobs), 1):
        yield deal
        count += len(deal)
        if number >= jobs and count >= _MAX_FIXTURES:
            break
