"""The work of an organiser besides running: merge, mend, disqualify and reinstate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.opening import assemble, check_store, open_to_mend
from warpleague.league.season.config import with_dice
from warpleague.league.season.season import Season
from warpleague.league.store import disqualifications
from warpleague.league.store.schema import store_at, unplayed
from warpleague.league.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.season.config import LeagueConfig
    from warpleague.league.store.disqualifications import Disqualification, Results
    from warpleague.league.upkeep.merging import Merged


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
    from warpleague.league.upkeep.merging import merge_from

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
        season = Season.of(
            config,
            store.bots() or (),
            secret,
            beacon,
            record=store.record_format(),
            seating=store.seating(),
            rules=store.rules(config.game.id),
        )
        with store.writing() as db:
            merged = [merge_from(store, db, season, path, trust=trust, new_pool=new_pool) for path in paths]
        if store.bots() is not None:
            assemble(config, season, store, ()).number_matches()
        return merged


def mend(
    config: LeagueConfig, results: Path, jobs: int = 0, new_pool: NewPool = RefereePool
) -> list[tuple[str, str]]:
    """Remove matches that do not hold from the store, so that they are played again; their ids, and what was wrong.

    That they were is entered into the journal. Raises what `open_to_read` does, and `StoreError` if the league is
    being run.
    """
    from warpleague.league.upkeep.mending import remove_damaged

    with open_to_mend(config, results) as league:
        removed = remove_damaged(league, jobs, new_pool)
        with league.store.writing():
            league.store.forget_numbers()
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
