"""An open league: its config, store, season and schedule, to run it or to read its results."""

from __future__ import annotations

import secrets
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import attrs

from warpleague.counts import counted
from warpleague.errors import BadInput, StoreError
from warpleague.league.play.seeding import seeds_of
from warpleague.league.schedule.schedule import Course, Schedule
from warpleague.league.season.config import BotEntry
from warpleague.league.season.config_check import BEACON_LENGTH
from warpleague.league.season.entry import check_names, enter_bots
from warpleague.league.season.season import Season, canonical
from warpleague.league.store import disqualifications
from warpleague.league.store.changes import changes
from warpleague.league.store.entrants_commitment import commitment_to
from warpleague.league.store.schema import unplayed
from warpleague.league.store.store import Store
from warpleague.match.chance import season_secret
from warpleague.strict import structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from warpleague.league.schedule.schedule import Fixture
    from warpleague.league.season.config import LeagueConfig
    from warpleague.league.season.entry import Entries, Prepared
    from warpleague.league.season.played_match import StoredMatch
    from warpleague.league.season.season import Stage
    from warpleague.league.store.changes import Change
    from warpleague.league.store.columns import Columns
    from warpleague.league.store.disqualifications import Disqualification


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

    @property
    def counting(self) -> Schedule:
        """The matches that count when they are played: all except those of bots whose results are taken out."""
        return self.schedule.without(self._out)

    @property
    def due(self) -> Schedule:
        """The matches that must be played for the season to be over: all except those of disqualified bots."""
        return self.schedule.without(self.barred)

    @property
    def barred(self) -> frozenset[int]:
        """The numbers of the disqualified bots."""
        return self._numbers(found.bot for found in self.disqualified)

    @property
    def _out(self) -> frozenset[int]:
        """The numbers of the disqualified bots whose results are taken out."""
        return self._numbers(found.bot for found in self.disqualified if found.results == "out")

    def _numbers(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(self.season.names.index(name) for name in names)

    def disqualified_in(self, fixture: Fixture) -> list[str]:
        """The names of the disqualified bots in a match, by seat."""
        return [self.season.names[bot] for bot in fixture.seats if bot in self.barred]

    def counts(self, fixture: Fixture) -> bool:
        """Whether a match counts once it is played."""
        out = {found.bot for found in self.disqualified if found.results == "out"}
        return out.isdisjoint(self.disqualified_in(fixture))

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
        return self.store.played(schedule) if schedule.format.ahead is None else Course(schedule).played()

    @property
    def _entry(self) -> str | None:
        """The commitment to the entrants, which says of which schedule the store's columns are.

        None where they cannot be kept, since results decide which matches belong to the schedule.
        """
        return None if self.schedule.format.ahead is not None else commitment_to(self.season)

    def columns(self, *parts: str, everything: bool = False) -> Columns:
        """The matches of the schedule played so far that count (or all of them) as arrays, in its order.

        `parts` are those of `columns.PARTS` that are wanted, besides "results".
        """
        from warpleague.league.store.columns import gathered

        wanted = ("results", *parts)
        entry = self._entry
        found = None if entry is None else self.store.columns(entry, self.season.players, wanted)
        if found is None:
            still = self.store.still
            if still is None:
                found = gathered(self.stored(), self.season.players, wanted)
            else:
                found = still.columns(self).part(*wanted)
        return found if everything else found.without(self._out)

    def in_parts(self, *parts: str) -> Iterator[Columns]:
        """The same as `columns` of the matches that count, in pieces of some thousand matches: in little memory."""
        from warpleague.league.store.columns import Damaged, in_parts

        entry, players, wanted = self._entry, self.season.players, ("results", *parts)
        last = 0
        if entry is None and self.store.still is not None:
            yield self.columns(*parts)
            return
        found = None if entry is None else self.store.each_columns(entry, players, wanted)
        if found is not None:
            with suppress(Damaged):  # verify reports it
                for some in found:
                    yield some.without(self._out)
                    last = int(some.number[-1])
                return
        left = ((fixture, played) for fixture, played in self.stored() if fixture.number > last)
        for some in in_parts(left, players, wanted):
            yield some.without(self._out)

    def count_confinements(self) -> Counter[int | None]:
        """How many of the matches that count have each number in `Store.confinements`; None: it was not noted."""
        entry = None if self._out else self._entry
        found = None if entry is None else self.store.count_columns(entry)
        if found is not None:
            return found
        numbers = self.columns().confinement.tolist() if self.store.count() else []
        return Counter(None if number < 0 else number for number in numbers)

    def columns_fit(self) -> bool:
        """Whether the columns in the store, if it has some of this season, are those of its matches."""
        entry = self._entry
        return entry is None or self.store.columns_fit(entry, self.stored(), self.season.players)

    def keep_columns(self) -> None:
        """Make the store's columns anew, if it has none of this season, or they miss matches or tell of lost ones.

        The store must be open to write.
        """
        entry = self._entry
        if entry is None:
            with self.store.writing():
                self.store.drop_columns()
        elif self.store.count_columns(entry) is None or not self.store.columns_tell_all():
            self.store.make_columns(entry, self.stored(), self.season.players)

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


def open_to_run(
    config: LeagueConfig,
    results: Path,
    prepare: Callable[[Path], Prepared] | None = None,
    beacon: str | None = None,
) -> League:
    """Bundle the bots, take the store in `results`/NAME for this process alone, and write down the season.

    `prepare` makes a bundle of a bot's folder (default: the runner's). `beacon` is the value of the beacon that the
    season awaits. Raises what `enter_bots` raises, and `StoreError` if the league is being run already, the store
    belongs to a league of other conditions, or the season awaits a beacon and its entrants are not those committed to.
    """
    if config.sandbox.paths and prepare is None:
        from warpleague.runner.confine.visible_paths import check_granted
        from warpleague.user_cache import cache_folder

        where = f"{config.path}: sandbox.paths"
        check_granted(config.sandbox.paths, where, (cache_folder(), results, config.path))
    store = Store.open_to_write(results / config.name)
    try:
        config, entries, season = _entered(config, results, store, prepare)
        season = attrs.evolve(season, beacon=_beacon(store, season, beacon))
        store.enter(config, season, entries.skipped)
        league = assemble(config, season, store, entries.skipped)
        league.keep_columns()
        return league
    except BaseException:
        store.close()
        raise


def _entered(
    config: LeagueConfig, results: Path, store: Store, prepare: Callable[[Path], Prepared] | None
) -> tuple[LeagueConfig, Entries, Season]:
    """The league with all its bots, these bots, and the season without the value of its beacon."""
    stages: tuple[Stage, ...] = ()
    if config.entry is not None:
        from warpleague.league.play.stages import check_content, entered_from

        config, stages = entered_from(config, results, store)
    entries = enter_bots(config, prepare, (results,))
    if stages:
        check_content(config, stages, entries.bots)
    season = Season.of(
        config, entries.bots, _secret(store, config), record=store.record_format(), seating=store.seating()
    )
    season = attrs.evolve(season, history=store.history())
    seeds = seeds_of(config, season, store, results)
    return config, entries, attrs.evolve(season, seeds=seeds, stages=stages)


def _beacon(store: Store, season: Season, given: str | None) -> str | None:
    """The value of the season's beacon: the one in the store, else the one given now; None if it awaits none."""
    if season.awaits is None:
        if given is not None:
            raise BadInput(
                "--beacon: the league file names no beacon; [season] beacon says which value it is"
            )
        return None
    known = store.meta("beacon")
    _check_settled(store, season, known)
    if known is None and given is None:
        raise StoreError(
            f"{store.path}: this season waits for its beacon ({season.awaits}); once its value is known: "
            "warpleague league run LEAGUE --beacon VALUE"
        )
    if given is not None and not (0 < len(given) <= BEACON_LENGTH and given.isprintable()):
        raise BadInput(f"--beacon: must be 1 to {BEACON_LENGTH} printable characters")
    if known is not None and given is not None and given != known:
        raise BadInput(
            f"--beacon: the value of this season's beacon is {known!r}, not {given!r}; it cannot change"
        )
    return known if known is not None else given


def _check_settled(store: Store, season: Season, known: str | None) -> None:
    """Raise `StoreError` unless the entrants of a season that awaits a beacon are those that were committed to."""
    entered = store.entered()
    if entered and entered[-1].commitment == commitment_to(season):
        return
    if known is not None:
        raise StoreError(
            f"{store.path}: the beacon of this season is known, so its bots and its format cannot change any "
            "more; give the league another name to start a new season"
        )
    raise StoreError(
        f"{store.path}: this season waits for a beacon, so commit to its entrants first: "
        "warpleague league commit LEAGUE --entrants"
    )


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
    season = attrs.evolve(season, history=store.history(), seeds=seeds, stages=stages)
    if season.format.kind == "ladder":
        season = attrs.evolve(season, taken_over=store.taken_over(season))
    found = _disqualified(store, season)
    barred = frozenset(season.names.index(decision.bot) for decision in found)
    return League(config, season, Schedule(season, store).barring(barred), store, skipped, found, changed)


def _disqualified(store: Store, season: Season) -> tuple[Disqualification, ...]:
    """The season's bots that are disqualified, in its order."""
    found = disqualifications.disqualified(store)
    return tuple(found[name] for name in season.names if name in found)


def _secret(store: Store, config: LeagueConfig) -> bytes:
    """The season's secret: the one in the store, else the one of the file's seed, else one drawn now."""
    store.check_commitment()
    stored = store.secret()
    if stored is not None:
        return stored
    if config.seed is None:
        return secrets.token_bytes(32)
    # The first of several leagues of one seed to end must not tell the secrets of the others.
    conditions = Season.of(config, (), b"").conditions
    return season_secret(canonical([config.seed, config.name, conditions]).decode())


@attrs.frozen
class Commitment:
    """What is committed to, since when (ISO times), and how many matches are stored since.

    `commitment` is the SHA-256 of the season's secret, `entrants` that of its bots, conditions and format; None where
    they have not been entered.
    """

    commitment: str
    committed: str
    entrants: str | None
    entered: str | None
    played: int
    store: Path


def commit(
    config: LeagueConfig,
    results: Path,
    *,
    with_entrants: bool = False,
    prepare: Callable[[Path], Prepared] | None = None,
) -> Commitment:
    """Fix the secret of a season before there are matches or bots, and return its commitment, each time the same.

    The bots are read only if there is to be a commitment to them as well. Raises `StoreError` if the store
    belongs to a league of other conditions, or cannot be written, and with entrants what `open_to_run` raises.
    """
    folder = results / config.name
    if with_entrants:
        return _commit_entrants(config, folder, prepare)
    # First without the lock, since the league may be running; what hinders reading, opening to write tells better.
    with suppress(StoreError), Store.open_to_read(folder) as store:
        if store.secret() is not None:
            check_store(store, config)
            return _told(store)
    with Store.open_to_write(folder) as store:
        store.commit(
            config,
            Season.of(
                config, (), _secret(store, config), record=store.record_format(), seating=store.seating()
            ),
        )
        return _told(store)


def _commit_entrants(
    config: LeagueConfig, folder: Path, prepare: Callable[[Path], Prepared] | None
) -> Commitment:
    with Store.open_to_write(folder) as store:
        config, entries, season = _entered(config, folder.parent, store, prepare)
        beacon = store.meta("beacon")
        season = attrs.evolve(season, beacon=beacon)
        if beacon is not None:
            _check_settled(store, season, beacon)
        store.enter(config, season, entries.skipped)
        return _told(store)


def check_store(store: Store, config: LeagueConfig) -> None:
    """Raise `StoreError` if the store is not one of this league's as the file has it, whatever its bots."""
    store.check_commitment()
    store.check_same_league(
        Season.of(config, (), b"", record=store.record_format(), seating=store.seating()), config
    )


def _told(store: Store) -> Commitment:
    last = store.entered()[-1:]
    return Commitment(
        commitment=store.meta("commitment") or "",
        committed=store.committed() or "",
        entrants=last[0].commitment if last else None,
        entered=last[0].since if last else None,
        played=store.count(),
        store=store.path,
    )


def open_to_read(config: LeagueConfig, results: Path) -> League:
    """The league as it was last run, read-only; it may be running at the same time.

    The bots are those of the last run; what has changed in their folders and the file since then is in `changed`.
    Format and rating are the file's.
    """
    return _opened(config, Store.open_to_read(results / config.name))


def open_to_mend(config: LeagueConfig, results: Path) -> League:
    """The league as it was last run, to write to without running it; raises what `open_to_read` does."""
    open_to_read(config, results).store.close()  # makes nothing where there is nothing
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
                    "stores that, and plays what is left"
                )
            commitment = store.meta("commitment")
            raise unplayed(store.path, f"the season's secret is fixed (commitment {commitment}), but ")
        config = _with_noted(config, store)
        season = Season.of(
            config, bots, secret, store.meta("beacon"), record=store.record_format(), seating=store.seating()
        )
        store.check_same_league(season, config)
        check_names(config, season.names)
        return assemble(config, season, store, store.skipped(), changes(config, store))
    except BaseException:
        store.close()
        raise


def _with_noted(config: LeagueConfig, store: Store) -> LeagueConfig:
    """The league with the bots that came from other ones at the last run."""
    through = {name for stage in store.stages() for name, _ in stage.bots} if config.entry else set()
    noted = [structure(bot, BotEntry, "bots") for bot in store.listed() if bot.get("name") in through]
    if not noted:
        return config
    path, config = config.path, attrs.evolve(config, bots=(*config.bots, *noted))
    object.__setattr__(config, "path", path)
    return config
