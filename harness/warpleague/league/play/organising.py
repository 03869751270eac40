"""The work of an organiser besides running: merge, mend, disqualify and reinstate."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import RecordError, StoreError
from warpleague.league.play.verifying import Recorded, altered, read_recorded, verify_league
from warpleague.league.referees.pool import RefereeDied, RefereePool
from warpleague.league.results.league import League, assemble, check_store, open_to_mend
from warpleague.league.season.config import LeagueConfig, with_dice
from warpleague.league.season.season import ID, Season, differences
from warpleague.league.store import disqualifications
from warpleague.league.store.events import record_merge
from warpleague.league.store.schema import UntrustedStore, store_at, unplayed
from warpleague.league.store.store import Store
from warpleague.match.record import attempt_of, unpack
from warpleague.match.scribe import end_digest
from warpleague.text import safe

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.store.disqualifications import Disqualification, Results


def merge(
    config: LeagueConfig,
    results: Path,
    others: Sequence[Path],
    *,
    trust: bool = False,
    new_pool: NewPool = RefereePool,
) -> list[Merged]:
    """Take over the matches of the stores `others` (files, or the folders they are in): all of them, or nothing.

    With `trust` their records are not executed. Raises `StoreError` if the league has no secret here yet, which
    decides whose matches are its own, if its store belongs to a league of other conditions, or where one of the stores
    is not there, is of another season, or has a match that does not hold.
    """
    folder = results / config.name
    with Store.open_to_read(folder) as store:
        if store.secret() is None:
            raise unplayed(store.path)
        check_store(store, config)
    paths = [store_at(path) for path in others]
    with Store.open_to_write(folder) as store:
        secret, beacon = store.secret(), store.meta("beacon")
        if secret is None:
            raise unplayed(store.path)
        config = with_dice(config, store.dice())
        season = Season.of(config, store.bots() or (), secret, beacon)
        # All stores in one transaction: if one does not hold, nothing is taken over of the others either.
        with store.writing() as db:
            merged = [merge_from(store, db, season, path, trust=trust, new_pool=new_pool) for path in paths]
        if store.bots() is not None:
            assemble(config, season, store, ()).number_matches()
        return merged


def mend(
    config: LeagueConfig,
    results: Path,
    jobs: int = 0,
    new_pool: NewPool = RefereePool,
    *,
    workers: bool = False,
) -> list[tuple[str, str]]:
    """Remove matches that do not hold from the store, so that they are played again; their ids, and what was wrong.

    With `workers`, then also all matches of machines whose results differ from those of the others.
    That they were is entered into the journal. Raises what `open_to_read` does, and `StoreError` if the league is
    being run.
    """
    with open_to_mend(config, results) as league:
        removed = remove_damaged(league, jobs, new_pool)
        with league.store.writing():
            league.store.forget_numbers()
        if workers:
            removed += remove_outliers(league)
        league.number_matches()
        return removed


def disqualify(config: LeagueConfig, results: Path, bot: str, reason: str, rule: Results) -> Disqualification:
    """Disqualify a bot of the last run, `rule` deciding about its results; it is entered into the journal.

    Raises `BadInput` for a name or reason that is none, `StoreError` if the league is being run, was not run yet, or
    its store belongs to a league of other conditions.
    """
    with _open_to_decide(config, results) as store:
        return disqualifications.disqualify(store, bot, reason, rule)


def reinstate(config: LeagueConfig, results: Path, bot: str, reason: str) -> None:
    """End the disqualification of a bot by a further entry; raises what `disqualify` does."""
    with _open_to_decide(config, results) as store:
        disqualifications.reinstate(store, bot, reason)


def _open_to_decide(config: LeagueConfig, results: Path) -> Store:
    """The store of a league that was run, to write to."""
    with Store.open_to_read(results / config.name) as store:  # makes nothing where there is nothing
        if store.bots() is None:
            raise unplayed(store.path)
        check_store(store, config)
    return Store.open_to_write(results / config.name)


# -- merging ---------------------------------------------------------------------------------------------
# Only ids, deals and records are taken. Each record is executed again, including its dice, and must be of the
# match that its id names; results are read from it. Nothing that the other store says about the season as a
# whole has any effect here.


_MAX_LINES: Final = 20
_MAX_CHARS: Final = 200
"""The most text that a message quotes of a difference between two leagues: the other one may say anything."""


@attrs.frozen
class Merged:
    """The report of a merge: matches taken over, matches both stores had, and ids whose digests disagree."""

    added: int
    shared: int
    differing: tuple[str, ...]


def merge_from(
    store: Store,
    db: sqlite3.Connection,
    season: Season,
    path: Path,
    *,
    trust: bool = False,
    new_pool: NewPool = RefereePool,
) -> Merged:
    """Take over the matches of the store at `path` into `store`, whose season `season` is; its bots do not matter.

    Within the store's `writing`, which gives `db`: `StoreError` names the first match that does not hold, and nothing
    may be committed then. Where both have a match, ours stays, and its id is reported if the records differ. With
    `trust` records are not executed, only their form is checked.
    """
    with UntrustedStore(path) as theirs:
        _check_season(store, season, theirs)
        shared, differing, new = 0, [], []
        for match_id, deal in theirs.matches():
            ours = store.digest_of(match_id)
            if ours is None:
                new.append((match_id, deal))
                continue
            shared += 1
            if ours != _digest(theirs.record(match_id)):
                differing.append(match_id)
        if new:
            bots: set[tuple[str, str]] = set()
            known, attempts = store.attempts(), dict[str, int]()
            for deal, recorded in _checked(season, theirs, new, trust, new_pool):
                store.put(deal, recorded.seats, recorded.result)
                bots.update(recorded.seats)
                match_id, attempt = recorded.result.id, attempt_of(recorded.result.record)
                if attempt != known[match_id]:
                    attempts[match_id] = attempt
            record_merge(db, theirs.head(), sorted(bots), attempts)
            store.forget_numbers()
    return Merged(len(new), shared, tuple(differing))


def _check_season(store: Store, season: Season, theirs: UntrustedStore) -> None:
    if theirs.meta("commitment") != season.commitment:
        raise StoreError(
            f"{theirs.path}: its season has another secret, so its deals are others; machines that share a season "
            "need the same `name` and the same `seed` in the league file (without `name` it is the file's name), or "
            "a copy of the first machine's store to start from"
        )
    lines = differences(
        {**season.conditions, "beacon value": store.meta("beacon")},
        {**theirs.conditions(), "beacon value": theirs.meta("beacon")},
    )
    if lines:
        shown = [safe(line, keep="")[:_MAX_CHARS] for line in lines[:_MAX_LINES]]
        if len(lines) > _MAX_LINES:
            shown.append(f"and {len(lines) - _MAX_LINES:,} more")
        raise StoreError(f"{theirs.path}: holds the results of another league:\n  " + "\n  ".join(shown))


def _checked(
    season: Season,
    theirs: UntrustedStore,
    new: list[tuple[str, int]],
    trust: bool,
    new_pool: NewPool,
) -> Iterator[tuple[int, Recorded]]:
    waiting: deque[tuple[str, int, Future[Recorded]]] = deque()
    with new_pool(0, "none") as pool:

        def next_checked() -> tuple[int, Recorded]:
            match_id, deal, future = waiting.popleft()
            try:
                recorded = future.result()
            except (RecordError, RefereeDied, MemoryError, RecursionError) as error:
                raise theirs.damaged(f"match {match_id}: {error or type(error).__name__}") from None
            if season.id_of(deal, recorded.seats) != match_id:
                raise theirs.damaged(
                    f"match {match_id}: its record is of another match, or its deal is another"
                )
            return deal, recorded

        try:
            for match_id, deal in new:
                dealt = None if trust else (season.dealt, deal)
                packed = theirs.record(match_id)
                waiting.append(
                    (match_id, deal, pool.submit(read_recorded, packed, match_id, season.conditions, dealt))
                )
                if len(waiting) > 4 * pool.jobs:  # records wait in memory
                    yield next_checked()
            while waiting:
                yield next_checked()
        except BaseException:
            pool.kill()
            raise


def _digest(packed: bytes) -> str | None:
    try:
        return end_digest(unpack(packed))
    except RecordError:
        return None


# -- mending ---------------------------------------------------------------------------------------------
# Each removal is an event in the journal, so that nobody can remove a result that holds without a trace.


def remove_damaged(league: League, jobs: int = 0, new_pool: NewPool = RefereePool) -> list[tuple[str, str]]:
    """Remove from a league's store, open to write, the matches that do not hold: ids, and what is wrong.

    They are those that `verify` finds wrong, and those of other bots or formats whose row or record cannot be read.
    """
    store = league.store
    wrong: dict[Any, str] = {
        fixture.id: problem
        for fixture, problem in verify_league(league, jobs, new_pool)
        if problem is not None
    }
    stored = store.ids()
    for _, match_id, problem in altered(league):
        if match_id is not None:
            wrong.setdefault(match_id, problem)
    for match_id in stored:
        if not (isinstance(match_id, str) and ID.fullmatch(match_id)):
            wrong[match_id] = "its id is none that a match can have"
        elif match_id not in wrong:
            try:
                store.check(match_id)
            except StoreError as error:
                wrong[match_id] = str(error)
    there = [(match_id, wrong[match_id]) for match_id in stored if match_id in wrong]
    if there:
        with store.writing():
            for match_id, problem in there:
                store.remove(match_id, problem)
    return [(safe(str(match_id)), problem) for match_id, problem in there]


def remove_outliers(league: League) -> list[tuple[str, str]]:
    """Remove from a league's store, open to write, the matches of machines that stand out: ids, and what is wrong."""
    from warpleague.league.results.machines import outliers  # numpy, which other repairs do without

    there = outliers(league)
    with league.store.writing():
        for match_id, problem in there:
            league.store.remove(match_id, problem)
    return there
