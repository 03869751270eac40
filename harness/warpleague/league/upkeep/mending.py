"""Finds the stored matches that do not hold, and removes them from the store.

`verifying` executes the records. The store enters each removal into its journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.errors import StoreError
from warpleague.league.referees.pool import RefereePool
from warpleague.league.season.season import ID
from warpleague.league.upkeep.verifying import altered, verify_league
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League


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
