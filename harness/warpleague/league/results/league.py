"""An open league: its config, store, season and schedule, to run it or to read its results."""

from __future__ import annotations

from collections import Counter
from heapq import merge
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import attrs

from warpleague.errors import BadInput, ConfigError, StoreError
from warpleague.league.schedule.schedule import Course, Schedule
from warpleague.league.season.config import (
    BotEntry,
    FormatTable,
    LeagueConfig,
    RatingTable,
    toml_of,
    with_dice,
)
from warpleague.league.season.entry import check_names, folder_of
from warpleague.league.season.season import Season, differences
from warpleague.league.store import disqualifications
from warpleague.league.store.database import SPARE, json_object
from warpleague.league.store.events import numbering_of
from warpleague.league.store.schema import unplayed
from warpleague.league.store.store import Store
from warpleague.match.spec import identity_of
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.strict import structure
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from warpleague.league.season.fixture import Fixture, StoredMatch
    from warpleague.league.store.columns import Columns
    from warpleague.league.store.disqualifications import Disqualification
    from warpleague.league.store.journal import Head


@attrs.define
class CourseCache:
    """A pass through a schedule as far as its results are stored, with these results as arrays.

    Of most formats that go by results, only such a pass tells which matches count: it pairs round after round. Servers
    open the same league again and again, so the pass goes on where it ended if only results have been added since; it
    starts again if the journal does not go back to the head that it saw, or an event was entered.
    """

    _known: tuple[Season, frozenset[int], int] | None = None
    _head: Head | None = None
    _course: Course | None = None
    _counted: Columns | None = None
    _cached: tuple[Columns, int | None] | None = None

    def columns(self, schedule: Schedule, store: Store) -> tuple[Columns, int | None]:
        """All matches of the schedule that are stored, with all columns, and how many matches it has, if known."""
        from warpleague.league.store.columns import PARTS, gathered, joined

        players = schedule.season.players
        head, known = store.head(), (schedule.season, schedule.barred, len(store.events()))
        if self._cached is not None and (head, known) == (self._head, self._known):
            return self._cached
        course, counted = self._course, self._counted
        if course is None or self._known != known or not (self._head and store.goes_back_to(self._head)):
            course, counted = Course(schedule), None
        self._course = self._cached = None  # until all has been read
        course.continue_with(schedule)
        parts = [] if counted is None else [counted]
        counted = joined([*parts, gathered(course.newly_counted(), players, PARTS)], players)
        everything = joined([counted, gathered(course.not_yet_counted(), players, PARTS)], players)
        self._known, self._head, self._course, self._counted = known, head, course, counted
        self._cached = everything, course.tally()[1]
        return self._cached


# -- league ----------------------------------------------------------------------------------------------


@attrs.frozen
class League:
    """A league with its store open; a context manager that closes the store.

    `lucks`, by match, are there where the standings are also to say what is left without luck.
    """

    config: LeagueConfig
    season: Season
    schedule: Schedule
    store: Store
    skipped: tuple[str, ...] = ()
    disqualified: tuple[Disqualification, ...] = ()
    changed: tuple[Change, ...] = ()
    course: CourseCache = attrs.field(factory=CourseCache, eq=False)
    lucks: Mapping[str, tuple[float, ...]] | None = None

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
        barred = self.barred if self.disqualified else ()  # asked for each match of a list
        return [self.season.names[bot] for bot in fixture.seats if bot in barred]

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
        if schedule.needs_results:
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
        numbering = None if self.schedule.needs_results else self.store.numbering()
        return numbering is not None and numbering == numbering_of(self.season)

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
        if self.schedule.needs_results:
            yield self.course.columns(self.schedule, self.store)[0].part(*wanted)
        elif self.is_numbered:
            yield from self.store.columns(self.season, wanted)
        else:
            yield from in_parts(self.stored(), self.season.players, wanted)

    def count_confinements(self) -> Counter[int | None]:
        """How many of the matches that count have each number in `Store.confinements`; None: it was not noted."""
        if self.is_numbered and not self._out:
            return self.store.count_numbered()
        numbers = self.columns("matches").confinement.tolist() if self.store.count() else []
        return Counter(None if number < 0 else number for number in numbers)

    def scheduled(self) -> int | None:
        """How many matches the schedule has, or None if that depends on results that are missing."""
        if self.schedule.needs_results and self.schedule.fixed_total is None:
            return self.course.columns(self.schedule, self.store)[1]
        return self.schedule.total

    def number_matches(self) -> None:
        """Give the stored matches their numbers in the schedule, unless they have them; the store is open to write.

        Where only results tell which matches belong to the schedule, none has a number.
        """
        if self.schedule.needs_results:
            if self.store.numbering() is not None:
                with self.store.writing():
                    self.store.forget_numbers()
        elif self.is_numbered:
            return
        elif self.schedule.choices is not None:
            self.store.number_chosen(self.season)
        else:
            self.store.number(numbering_of(self.season), self.schedule)

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


# -- opening ---------------------------------------------------------------------------------------------


def assemble(
    config: LeagueConfig,
    season: Season,
    store: Store,
    skipped: tuple[str, ...],
    changed: tuple[Change, ...] = (),
) -> League:
    """The league whose file, season and open store these are."""
    seeds = store.seeds() if season.format.seeding == "rating" else ()
    stages = store.stages() if config.entry is not None else ()
    worth = store.worth(season.game)
    season = attrs.evolve(season, history=store.history(), seeds=seeds, stages=stages, worth=worth)
    if season.format.until is not None:
        season = attrs.evolve(season, ended=store.ended(season))
    decisions = disqualifications.disqualified(store)
    disqualified = tuple(decisions[name] for name in season.names if name in decisions)
    barred = frozenset(season.names.index(decision.bot) for decision in disqualified)
    return League(
        config, season, Schedule(season, store).barring(barred), store, skipped, disqualified, changed
    )


def check_store(store: Store, config: LeagueConfig) -> None:
    """Raise `StoreError` if the store is not one of this league's as the file has it, whatever its bots."""
    store.check_commitment()
    store.check_same_league(Season.of(config, (), b""), config)


def open_to_read(config: LeagueConfig, results: Path) -> League:
    """The league as it was last run, read-only; it may be running at the same time.

    The bots are those of the last run; what has changed in their folders and the file since then is in `changed`.
    Format and rating are the file's.
    """
    return _opened(config, Store.open_to_read(results / config.name))


def open_to_mend(config: LeagueConfig, results: Path) -> League:
    """The league as it was last run, to write to without running it; raises what `open_to_read` does."""
    # First to read: opening to write would make a store where there is none.
    open_to_read(config, results).store.close()
    return _opened(config, Store.open_to_write(results / config.name))


def _opened(config: LeagueConfig, store: Store) -> League:
    try:
        store.check_commitment()
        bots, secret = store.bots(), store.secret()
        if secret is None:
            raise unplayed(store.path)
        if bots is None:
            if merged := store.count():
                raise StoreError(
                    f"{store.path}: {counted(merged, 'match')} {'was' if merged == 1 else 'were'} taken over, "
                    "but this store does not know yet which bots are in the league; warpleague league run LEAGUE "
                    "stores that, and plays the missing matches"
                )
            commitment = store.meta("commitment")
            raise unplayed(store.path, f"the season's secret is fixed (commitment {commitment}), but ")
        config = _with_stored_bots(with_dice(config, store.dice()), store)
        season = Season.of(config, bots, secret, store.meta("beacon"))
        store.check_same_league(season, config)
        check_names(config, season.names)
        return assemble(config, season, store, store.skipped(), changes(config, store))
    except BaseException:
        store.close()
        raise


def _with_stored_bots(config: LeagueConfig, store: Store) -> LeagueConfig:
    """The league with the bots that came from other leagues at the last run, or from a folder if the file has none."""
    through = {name for stage in store.stages() for name, _ in stage.bots} if config.entry else set()
    everything = not config.bots and config.entry is None
    stored = [
        structure(bot, BotEntry, "bots") for bot in store.listed() if everything or bot.get("name") in through
    ]
    return attrs.evolve(config, bots=(*config.bots, *stored)) if stored else config


# -- what is played, and what is missing -----------------------------------------------------------------


def count_played(league: League) -> int:
    """How many of the matches that count are stored; where they are numbered, it need not read each."""
    if league.schedule.needs_results:
        return Course(league.counting).tally()[0]
    return sum(league.count_confinements().values())


def progress_of(league: League, course: Course) -> tuple[int, int | None]:
    """How many of the matches that count are stored, and how many there will be, if known; `course` is what is due."""
    form = league.schedule.format
    if not league.schedule.needs_results or league.disqualified:
        stored = count_played(league)
        return stored, league.total(stored)
    stored, total = course.tally()
    known = form.total(frozenset())
    return stored, total if known is None else known


def left_of(league: League) -> Schedule:
    """The matches that are due, without those that have a number in the store, if the format needs no results."""
    needs_none = league.schedule.format.ahead is None
    return _unnumbered(league, league.due) if needs_none and league.is_numbered else league.due


def listed(league: League) -> Iterator[tuple[Fixture, StoredMatch | None]]:
    """All matches of the schedule, in its order, each with its result or None; their `times` may be left empty.

    Where they are numbered in the store, none is looked up by its id. The caller reads in one `Store.snapshot`: else
    a match that is stored meanwhile may come twice.
    """
    if not league.is_numbered:
        return league.store.look_up(league.schedule)
    stored = league.store.numbered(league.season, times=False)
    if not league.schedule.left_out and league.schedule.fixed_total == league.store.count_numbered().total():
        return stored
    missing = ((fixture, None) for fixture in _unnumbered(league, league.schedule))
    return merge(stored, missing, key=lambda row: row[0].number)


def _unnumbered(league: League, schedule: Schedule) -> Schedule:
    """The matches of `schedule` that have no number in the store; of a format that needs no results."""
    return schedule.skipping(league.store.numbers())


# -- changes since the last run --------------------------------------------------------------------------
# Tables show the league as it was last run. Bots are not built here: only their manifests and the content of
# their folders are read. Changes of conditions, with which a store cannot be used, are detected in `store`.


_TABLES: Final = {"format": FormatTable, "rating": RatingTable}


@attrs.frozen
class Change:
    """One thing that is not as it was: of which kind, the bot if it is about one, and the words."""

    what: Literal["added", "removed", "content", "broken", "format", "rating"]
    bot: str | None
    text: str

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return attrs.asdict(self)


def changes(config: LeagueConfig, store: Store) -> tuple[Change, ...]:
    """The differences between the league as `config` and its bots' folders have it now, and as it was last run."""
    try:
        last = json_object(store.meta("config") or "{}")
    except ValueError as error:
        raise StoreError(f"{store.path}: is damaged: its config: {error}; {SPARE}") from None
    return (*_of_bots(config, store, last), *_of_tables(config, last))


def _of_bots(config: LeagueConfig, store: Store, last: dict[str, Any]) -> Iterator[Change]:
    played = {bot.bot: bot.identity for bot in store.bots() or ()}
    listed = [{"path": bot} if isinstance(bot, str) else bot for bot in last.get("bots", ())]
    seen: set[str] = set()
    for entry in config.entries:
        name, digest, problem = _bot_now(config, entry)
        if name in seen:
            continue  # two of one name: one of them was left out, or will be refused
        seen.add(name)
        if name in played:
            if problem:
                yield Change("broken", name, f"{name} cannot take part any more ({problem})")
            elif digest != played[name]:
                other = "another clock" if digest.split()[0] == played[name].split()[0] else "other content"
                yield Change("content", name, f"{name} has {other}")
        elif toml_of(entry) not in listed:
            yield Change("added", name, f"{name} was added")
    for name in played:
        if name not in seen:
            yield Change("removed", name, f"{name} was removed")


def _bot_now(config: LeagueConfig, entry: BotEntry) -> tuple[str, str, str]:
    """A bot's name in the league, the digest of its content, and what is wrong with it, if anything is."""
    folder = folder_of(config, entry)
    name = entry.named(folder.name)
    try:
        manifest = read_manifest(folder)
        name = entry.named(manifest.name)
        clock = None
        if entry.clock is not None:
            clock = {**attrs.asdict(entry.clock), "start_s": config.clock.start_s}
        return name, identity_of(folder_digest(folder, manifest.files), clock), ""
    except BadInput as error:
        return name, "", str(error).splitlines()[0]


def _of_tables(config: LeagueConfig, last: dict[str, Any]) -> Iterator[Change]:
    now = config.to_toml()
    for key, kind in _TABLES.items():
        try:
            before: Any = structure(last.get(key, {}), kind, "")  # with defaults for keys that are new since
        except ConfigError:
            continue  # of another version of the program, whose words are not ours
        for line in differences(toml_of(before), now[key], key):
            yield Change("format" if key == "format" else "rating", None, line)
