"""The schedule: which matches a season has, and in which order.

It is a pure function of the season and of results that are stored. `formats` decides who meets; this module gives
matches their numbers, and tells formats the results in schedule order, so that it does not matter in which order
matches happened to end.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, cast

import attrs

from warpleague.league.schedule.formats import format_of
from warpleague.league.season.fixture import Fixture, Group, Outcome, StoredMatch
from warpleague.league.season.season import Season, deal_of
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Protocol

    from warpleague.league.schedule.formats.api import Batches, Format

    class Results(Protocol):
        """The source of results: a store."""

        def look_up(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, StoredMatch | None]]:
            """Each fixture, in the given order, with its result or None."""

    class Choices(Results, Protocol):
        """A store that has what a ladder has chosen."""

        def chosen(self, season: Season) -> Chosen:
            """The deals that were chosen."""

        def choose(self, season: Season, groups: Sequence[Group]) -> None:
            """Store what was chosen."""

        def chose_all(self, season: Season) -> bool:
            """Whether the last deal was chosen."""

        def note_chose_all(self, season: Season) -> None:
            """Note that the last deal was chosen."""

    class Chosen(Protocol):
        """Deals that a ladder has chosen."""

        def groups(self, season: Season) -> Iterator[Group]:
            """These deals, in order."""


class Schedule:
    """The matches of a season, iterable as often as wanted.

    Of a format that goes by results, these are the matches that are known by now: up to the first result that is
    missing in `results`; of a ladder, those that were chosen by now, which `results` has. Other formats need no
    results, and their memory does not grow with the number of matches.
    """

    def __init__(self, season: Season, results: Results | None = None) -> None:
        self.season = season
        self.format: Format = format_of(season)
        self.results = results
        self.choices = cast("Choices", results) if season.format.kind == "ladder" and results else None
        self.barred: frozenset[int] = frozenset()
        self.left_out: frozenset[int] = frozenset()
        self.skipped: Sequence[int] = ()

    def without(self, bots: frozenset[int]) -> Schedule:
        """The same matches with the same numbers, but for those in which one of `bots` plays."""
        return self._with(left_out=self.left_out | bots)

    def barring(self, bots: frozenset[int]) -> Schedule:
        """The same, where `bots` play no more: a format that goes by results does not wait for theirs."""
        return self._with(barred=bots)

    def skipping(self, numbers: Sequence[int]) -> Schedule:
        """The same matches but for those with these numbers, in order; of a format that needs no results.

        They take almost no time, since neither their dice nor their ids are worked out.
        """
        return self._with(skipped=numbers)

    def _with(self, **changed: frozenset[int] | Sequence[int]) -> Schedule:
        # A copy with the same format: a sampled league searches its tables for seconds.
        other = Schedule.__new__(Schedule)
        other.__dict__.update(self.__dict__, **changed)
        return other

    @property
    def needs_results(self) -> bool:
        """Whether only results tell which matches there are; of a ladder, `choices` has them."""
        return self.format.ahead is not None and self.choices is None

    @property
    def total(self) -> int | None:
        """How many matches there are, or None if that depends on results that are missing."""
        if self.choices is None:
            fixed = self.fixed_total
            return Course(self).tally()[1] if fixed is None else fixed
        if self.season.ended:  # what was stored then is all there is
            return sum(result is not None for _, result in self.choices.look_up(self))
        if not self.choices.chose_all(self.season):
            return None
        chosen = self.choices.chosen(self.season).groups(self.season)
        return sum(self.left_out.isdisjoint(seats) for group in chosen for seats in group.seats)

    @property
    def fixed_total(self) -> int | None:
        """The same without reading results; None where these decide it."""
        if self.barred and self.format.ahead is not None:
            return None
        return self.format.total(self.left_out)

    def __len__(self) -> int:
        total = self.total
        if total is None:
            raise TypeError("results that are missing decide how many matches there are")
        return total

    def __iter__(self) -> Iterator[Fixture]:
        return Course(self).counted()

    def describe(self) -> str:
        """One line: what is played, and how even it is where that is not plain."""
        return self.describe_with(self.total)

    def describe_with(self, total: int | None) -> str:
        """The same for a caller who knows the total, which may take a pass through the schedule."""
        return self.format.describe() + ("" if total is None else f" = {counted(total, 'match', 'matches')}")


@attrs.define
class _Batch:
    """Matches that were handed out: of each group, whether they are left out or not, and the results stored so far."""

    groups: list[tuple[Group, list[Fixture]]]
    stored: dict[str, StoredMatch] = attrs.Factory(dict)


class Course:
    """One pass through a schedule: hands out its batches as soon as the results before them are stored.

    A format is a generator that knows no store: it yields a batch, and is sent the outcomes of an earlier one, whole
    groups in its own order. So the order in which matches end can change nothing, and whoever has the results gets the
    same pairings, in a run, in a table and in `verify`.

    `batches` are those of the schedule's format, if the caller has made them; of a ladder that is what comes next, and
    without them the course has all that is stored as chosen. With `keeps`, what is chosen is stored.
    `over`: no further batch will come.
    `decided`: because results have decided, so that batches beyond them do not count. What is found in the store on
    the way is not looked up again.
    """

    def __init__(self, schedule: Schedule, batches: Batches | None = None, *, keeps: bool = False) -> None:
        self.over = self.decided = False
        self._kept_in = schedule.choices if keeps else None
        self._schedule = schedule
        self._season = schedule.season
        self._ahead = schedule.format.ahead
        if batches is None and schedule.choices is not None:
            self._ahead = None
            batches = _at_once(schedule.choices.chosen(self._season).groups(self._season))
        self._batches = schedule.format.batches() if batches is None else batches
        self._begun = False
        self._open: deque[_Batch] = deque()  # handed out, but the format has not received the outcomes
        # Those received since this was last emptied, if anybody asks for them.
        self._counted_batches: list[_Batch] | None = None
        self._matches_counted = self._stored_counted = 0
        self._lacking: Fixture | None = None  # one whose result was missing when last looked up
        self._number = self._group = 0
        self._skipped = iter(schedule.skipped)
        self._next_skipped = next(self._skipped, 0)

    def counted(self) -> Iterator[Fixture]:
        """The matches that count, as far as they are known, in order; of a course that has not begun."""
        if self._ahead is None:
            yield from self.take() or ()
            return
        for batch in self._counting():
            yield from self._wanted(batch)
        for batch in self._awaited:
            yield from self._wanted(batch)

    def played(self) -> Iterator[tuple[Fixture, StoredMatch]]:
        """Those of them whose results are stored, with these; of a format that goes by results."""
        yield from self.newly_counted()
        yield from self.not_yet_counted()

    def newly_counted(self) -> Iterator[tuple[Fixture, StoredMatch]]:
        """Those of them whose outcomes the format has received since the last call, as far as results are stored."""
        for batch in self._counting():
            yield from self._stored_of(batch)

    def not_yet_counted(self) -> Iterator[tuple[Fixture, StoredMatch]]:
        """Those of them whose outcomes the format has not received yet; call it after `newly_counted`."""
        for batch in self._awaited:
            self._look_up(batch)
            yield from self._stored_of(batch)

    def continue_with(self, schedule: Schedule) -> None:
        """Go on with results that were stored since; `schedule` is the same, with a store that has them."""
        self._schedule = schedule

    @property
    def _awaited(self) -> Iterable[_Batch]:
        """The batches whose outcomes the format waits for; when it has decided, it waits for none."""
        return () if self.decided else self._open

    def _stored_of(self, batch: _Batch) -> Iterator[tuple[Fixture, StoredMatch]]:
        for fixture in self._wanted(batch):
            if fixture.id in batch.stored:
                yield fixture, batch.stored[fixture.id]

    def _counting(self) -> Iterator[_Batch]:
        """The batches whose outcomes the format receives, as far as results are stored."""
        batches = self._counted_batches = []
        while self.take() is not None:
            yield from batches
            batches.clear()
        self._counted_batches = None
        yield from batches

    def missing(self) -> Iterator[Iterable[Fixture]]:
        """The matches to play now, by batches: those of each batch that can be taken whose results are not stored."""
        while (batch := self.take()) is not None:
            if self._season.ended:
                continue
            if self._ahead is not None:
                stored = self._open[-1].stored
                yield [fixture for fixture in batch if fixture.id not in stored]
            elif (results := self._schedule.results) is not None:
                yield (fixture for fixture, result in results.look_up(batch) if result is None)
            else:
                yield batch

    def tally(self) -> tuple[int, int | None]:
        """How many of the matches that count are stored, and how many there are; None: that results decide.

        It goes as far as results are stored; of a format that goes by results.
        """
        while self.take() is not None:
            pass
        matches, stored = self._matches_counted, self._stored_counted
        for batch in self._awaited:
            self._look_up(batch)
            wanted = self._wanted(batch)
            matches += len(wanted)
            stored += sum(fixture.id in batch.stored for fixture in wanted)
        return stored, matches if self.over else None

    def take(self) -> Iterable[Fixture] | None:
        """The next batch of matches to play. None while it depends on results that are missing, or if it is over."""
        if self.over:
            return None
        if self._ahead is None:
            self.over = True
            return (fixture for group in next(iter(self._batches)) for fixture in self._fixtures(group))
        outcomes: list[Outcome] = []
        # `ahead` batches are played while the format waits for the one before them.
        if len(self._open) > self._ahead:
            batch_outcomes = self._outcomes(self._open[0])
            if batch_outcomes is None:
                # What was stored when it ended is all there is.
                self.over = self.decided = self._season.ended
                return None
            outcomes = batch_outcomes
            self._count(self._open.popleft())
        try:
            groups = self._batches.send(outcomes) if self._begun else next(self._batches)
        except StopIteration as end:
            self.over, self.decided = True, bool(end.value)
            if self._kept_in is not None:
                self._kept_in.note_chose_all(self._season)
            return None
        self._begun = True
        if self._kept_in is not None:
            groups = list(groups)
            self._kept_in.choose(self._season, groups)
        # Also matches that are left out: the pairing follows from their results as well.
        batch = _Batch([(group, list(self._fixtures(group, every=True))) for group in groups])
        self._look_up(batch)
        self._open.append(batch)
        return self._wanted(batch)

    def _count(self, batch: _Batch) -> None:
        wanted = self._wanted(batch)
        self._matches_counted += len(wanted)
        self._stored_counted += sum(fixture.id in batch.stored for fixture in wanted)
        if self._counted_batches is not None:
            self._counted_batches.append(batch)

    def _wanted(self, batch: _Batch) -> list[Fixture]:
        left_out = self._schedule.left_out
        return [
            fixture
            for _, matches in batch.groups
            for fixture in matches
            if left_out.isdisjoint(fixture.seats)
        ]

    def _look_up(self, batch: _Batch) -> None:
        """Read the results that were missing at the last reading."""
        if (results := self._schedule.results) is None:
            return
        lacking = [
            fixture for _, matches in batch.groups for fixture in matches if fixture.id not in batch.stored
        ]
        batch.stored.update(
            (fixture.id, result) for fixture, result in results.look_up(lacking) if result is not None
        )

    def _outcomes(self, batch: _Batch) -> list[Outcome] | None:
        """The outcomes of a batch, or None while results are missing."""
        results, barred = self._schedule.results, self._schedule.barred
        if results is None:
            return None
        # A run asks again whenever a few matches have ended. While the one that was missing is still missing, the
        # others need not be looked up.
        if self._lacking is not None and all(
            result is None for _, result in results.look_up([self._lacking])
        ):
            return None
        self._lacking = None
        self._look_up(batch)
        outcomes = []
        for group, matches in batch.groups:
            played = tuple(batch.stored[fixture.id] for fixture in matches if fixture.id in batch.stored)
            absent = frozenset(bot for seats in group.seats for bot in seats if bot in barred)
            if len(played) == len(matches):
                outcomes.append(Outcome(group, played))
            elif absent:
                outcomes.append(Outcome(group, None, absent))
            else:
                self._lacking = next(fixture for fixture in matches if fixture.id not in batch.stored)
                return None
        return outcomes

    def _fixtures(self, group: Group, *, every: bool = False) -> Iterator[Fixture]:
        season, left_out = self._season, frozenset[int]() if every else self._schedule.left_out
        own = season.format.dice == "own"
        if group.place is not None:
            self._group, self._number = group.place, group.place * len(group.seats)
        deal, number = None, self._group
        for seats in group.seats:
            self._number += 1
            if not left_out.isdisjoint(seats):
                continue
            while 0 < self._next_skipped < self._number:
                self._next_skipped = next(self._skipped, 0)
            if self._number == self._next_skipped:
                continue
            if own:
                number = self._number
            if own or deal is None:
                deal = deal_of(season, group, seats)
            match_id = season.match_id(deal, seats)
            yield Fixture(self._number, match_id, deal, number, seats)
        self._group += 1


def _at_once(groups: Iterable[Group]) -> Batches:
    yield groups
    return False
