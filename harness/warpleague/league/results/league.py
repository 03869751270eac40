"""An open league: its config, store, season and schedule, to run it or to read its results."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Self

import attrs

from warpleague.errors import BadInput
from warpleague.league.results.course_cache import CourseCache
from warpleague.league.schedule.schedule import Course, Schedule
from warpleague.league.store.entrants_commitment import commitment_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warpleague.league.season.config import LeagueConfig
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.season.played_match import StoredMatch
    from warpleague.league.season.season import Season
    from warpleague.league.store.changes import Change
    from warpleague.league.store.columns import Columns
    from warpleague.league.store.disqualifications import Disqualification
    from warpleague.league.store.store import Store


@attrs.frozen
class League:
    """A league with its store open; a context manager that closes the store."""

    config: LeagueConfig
    season: Season
    schedule: Schedule
    store: Store
    skipped: tuple[str, ...] = ()
    disqualified: tuple[Disqualification, ...] = ()
    changed: tuple[Change, ...] = ()
    course: CourseCache = attrs.field(factory=CourseCache, eq=False)

    @property
    def counting(self) -> Schedule:
        """The matches that count when they are played: all except those of bots whose results are taken out."""
        return self.schedule.without(self._out)

    @property
    def due(self) -> Schedule:
        """The matches that must be played for the season to be over: all except those of disqualified bots."""
        return self.schedule.without(self.barred)

    @property
    def hides_matches(self) -> bool:
        """Whether others still play the deals of a match, so that only totals may be shown in public."""
        return self.season.deals_come_to_others and self.store.published() is None

    @property
    def barred(self) -> frozenset[int]:
        """The numbers of the disqualified bots."""
        return self._numbers(decision.bot for decision in self.disqualified)

    @property
    def _out(self) -> frozenset[int]:
        """The numbers of the disqualified bots whose results are taken out."""
        return self._numbers(decision.bot for decision in self.disqualified if decision.results == "out")

    def _numbers(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(self.season.names.index(name) for name in names)

    def disqualified_in(self, fixture: Fixture) -> list[str]:
        """The names of the disqualified bots in a match, by seat."""
        return [self.season.names[bot] for bot in fixture.seats if bot in self.barred]

    def counts(self, fixture: Fixture) -> bool:
        """Whether a match counts once it is played."""
        return self._out.isdisjoint(fixture.seats)

    def total(self, counted: int) -> int | None:
        """How many matches will count when nothing is left to play, if `counted` are stored that do.

        None if that depends on results that are missing.
        """
        due = self.due.total
        if due is None or not self.disqualified:
            return due
        return counted + due - len(self.columns(everything=True).without(self.barred))

    def results(self) -> Iterator[tuple[Fixture, StoredMatch]]:
        """The matches played so far that count, in schedule order."""
        return self._played(self.counting)

    def stored(self) -> Iterator[tuple[Fixture, StoredMatch]]:
        """All matches of the schedule played so far, in its order, whether they count or not."""
        return self._played(self.schedule)

    def _played(self, schedule: Schedule) -> Iterator[tuple[Fixture, StoredMatch]]:
        if schedule.format.ahead is not None:
            return Course(schedule).played()
        if self.is_numbered:
            return (
                (fixture, match)
                for fixture, match in self.store.numbered(self.season)
                if schedule.left_out.isdisjoint(fixture.seats)
            )
        return self.store.played(schedule)

    @property
    def is_numbered(self) -> bool:
        """Whether the matches in the store have the numbers of this schedule."""
        numbering = None if self.schedule.format.ahead is not None else self.store.numbering()
        return numbering is not None and numbering == commitment_to(self.season)

    def columns(self, *parts: str, everything: bool = False) -> Columns:
        """The matches of the schedule played so far that count (or all of them) as arrays, in its order.

        `parts` are those of `columns.PARTS` that are wanted, besides "results".
        """
        from warpleague.league.store.columns import joined

        columns = joined(self._columns(parts), self.season.players, self.store.count()).part(
            "results", *parts
        )
        return columns if everything else columns.without(self._out)

    def in_parts(self, *parts: str) -> Iterator[Columns]:
        """The same as `columns` of the matches that count, in pieces of some thousand matches: in little memory."""
        for some in self._columns(parts):
            yield some.without(self._out)

    def _columns(self, parts: Sequence[str]) -> Iterator[Columns]:
        from warpleague.league.store.columns import in_parts

        wanted = ("results", *parts)
        if self.schedule.format.ahead is not None:
            yield self.course.columns(self.schedule, self.store)[0].part(*wanted)
        elif self.is_numbered:
            yield from self.store.columns(self.season, wanted)
        else:
            yield from in_parts(self.stored(), self.season.players, wanted)

    def count_confinements(self) -> Counter[int | None]:
        """How many of the matches that count have each number in `Store.confinements`; None: it was not noted."""
        if self.is_numbered and not self._out:
            return self.store.count_numbered()
        numbers = self.columns().confinement.tolist() if self.store.count() else []
        return Counter(None if number < 0 else number for number in numbers)

    def scheduled(self) -> int | None:
        """How many matches the schedule has, or None if that depends on results that are missing."""
        fixed = self.schedule.fixed_total
        return self.course.columns(self.schedule, self.store)[1] if fixed is None else fixed

    def number_matches(self) -> None:
        """Give the stored matches their numbers in the schedule, unless they have them; the store is open to write.

        Where results decide which matches belong to the schedule, none has a number.
        """
        if self.schedule.format.ahead is not None:
            if self.store.numbering() is not None:
                with self.store.writing():
                    self.store.forget_numbers()
        elif not self.is_numbered:
            self.store.number(commitment_to(self.season), self.schedule)

    def find(self, text: str) -> tuple[str, int]:
        """The id and deal of the stored match that `text` means: its number in the schedule, or how its id begins.

        Raises `BadInput` if there is none, or more than one.
        """
        total = self.schedule.total
        if text.isdecimal() and 1 <= int(text) <= (total or int(text)):
            for fixture in self.schedule:
                if fixture.number == int(text):
                    if fixture.id not in self.store:
                        raise BadInput(f"match {text} of {self.config.name} has not been played yet")
                    return fixture.id, fixture.deal
        ids = self.store.matching(text)
        if len(ids) != 1:
            count = "no match" if not ids else "more than one match"
            numbers = f"; its matches are numbered 1 to {total:,}" if total and text.isdecimal() else ""
            raise BadInput(f"{count} of {self.config.name} has an id that begins with {text!r}{numbers}")
        return ids[0], self.store.deal_of(ids[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()
