"""Takes over matches from the store of another machine, without trusting it.

Only ids, deals and records are taken. Each record is executed again, including its dice, and must be of the match
that its id names; results are read from it. Nothing that the other store says about the season as a whole has any
effect here.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import RecordError, StoreError
from warpleague.league.referees.pool import RefereeDied, RefereePool
from warpleague.league.season.season import differences
from warpleague.league.store import entrants_commitment
from warpleague.league.store.record_reader import Recorded, read_recorded
from warpleague.league.store.untrusted_store import UntrustedStore
from warpleague.match.lines import end_digest
from warpleague.match.packing import unpack
from warpleague.safe_text import safe

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.season.season import Season
    from warpleague.league.store.store import Store

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
    jobs: int = 0,
    new_pool: NewPool = RefereePool,
) -> Merged:
    """Take over the matches of the store at `path` into `store`, whose season `season` is; its bots do not matter.

    Within the store's `writing`, which gives `db`: `StoreError` names the first match that does not hold, and nothing
    may be committed then. Where both have a match, ours stays, and its id is reported if the records differ. With
    `trust` records are not executed, only their form is checked. `jobs` processes execute them (0: all cores).
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
            for deal, recorded in _checked(season, theirs, new, trust, jobs, new_pool):
                store.put(deal, recorded.seats, recorded.result)
                bots.update(recorded.seats)
            entrants_commitment.settle_merged(db, theirs.head(), sorted(bots))
            store.forget_numbers()
    return Merged(len(new), shared, tuple(differing))


def _check_season(store: Store, season: Season, theirs: UntrustedStore) -> None:
    if theirs.fact("commitment") != season.commitment:
        raise StoreError(
            f"{theirs.path}: its season has another secret, so its deals are others; machines that share a season "
            "need the same `name` and the same `seed` in the league file (without `name` it is the file's name), or "
            "a copy of the first machine's store to start from"
        )
    lines = differences(
        {**season.conditions, "beacon value": store.meta("beacon")},
        {**theirs.conditions(), "beacon value": theirs.fact("beacon")},
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
    jobs: int,
    new_pool: NewPool,
) -> Iterator[tuple[int, Recorded]]:
    waiting: deque[tuple[str, int, Future[Recorded]]] = deque()
    with new_pool(jobs, "none") as pool:

        def settled() -> tuple[int, Recorded]:
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
                key = None if trust else season.key_of(deal)
                packed = theirs.record(match_id)
                waiting.append(
                    (match_id, deal, pool.submit(read_recorded, packed, match_id, season.conditions, key))
                )
                if len(waiting) > 4 * pool.jobs:  # records wait in memory
                    yield settled()
            while waiting:
                yield settled()
        except BaseException:
            pool.kill()
            raise


def _digest(packed: bytes) -> str | None:
    try:
        return end_digest(unpack(packed))
    except RecordError:
        return None
