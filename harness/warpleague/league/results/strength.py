"""The state of a test of strength: what its deals came to so far, and what it decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.league.schedule.formats.strength_test import Deal, StrengthTest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.season.played_match import StoredMatch
    from warpleague.league.season.season import Season
    from warpleague.match.spec import MatchResult

    Match = tuple[Sequence[int], Sequence[int], Sequence[float], float | None]
    """The bot, the rank and the score of each seat, and the score of the game's own opponent, if it has one."""

    Part = tuple[tuple[int, int], float, float]
    """The bot and seat that a part of a difference is of, its weight, and its value."""


class Follower:
    """Tells a test of matches that end in any order: each deal once it and all deals before it are whole."""

    def __init__(self, season: Season) -> None:
        from warpleague.league.schedule.formats.test import make

        self.state = StrengthTest.of(season)
        self._size = make(season).matches_a_deal
        self._next = 0
        self._open: dict[int, list[Match]] = {}

    def finished(self, fixture: Fixture, result: StoredMatch | MatchResult) -> None:
        """A match has ended."""
        match = (fixture.seats, result.ranks, result.scores, result.rival)
        self._open.setdefault(fixture.group, []).append(match)
        while len(self._open.get(self._next, ())) == self._size:
            self.state.add(Deal.of(self._open.pop(self._next)))
            self._next += 1


def strength_test(league: League) -> StrengthTest:
    """The test of `league` after all whole deals that are stored, in the order of the schedule."""
    follower = Follower(league.season)
    for fixture, result in league.results():
        follower.finished(fixture, result)
    return follower.state
