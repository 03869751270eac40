"""Freezes what everybody sees of a league before its end: pages and the JSON API read a copy of the store.

From the time that the league's file names until the season is over, the copy has the matches that were stored before
it, or none where the standings are hidden. So all that is made of the store keeps to it.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from warpleague.errors import StoreError
from warpleague.league.season.fixture import PlayedMatch, utc_now
from warpleague.league.store.database import back_up
from warpleague.league.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.league.season.config import LeagueConfig

FOLDER: Final = "frozen"
_STORE: Final = "league.sqlite"


def freeze_time_s(config: LeagueConfig) -> float | None:
    """The time at which the public view of a league freezes, in seconds since 1970, or None."""
    at = config.arena.freeze_at
    return None if at is None else datetime.fromisoformat(at).timestamp()


def is_frozen(config: LeagueConfig, results: Path, now_s: float | None = None) -> bool:
    """Whether it is frozen now: the time has come, and the season's secret is not public yet."""
    at_s = freeze_time_s(config)
    if at_s is None or (time.time() if now_s is None else now_s) < at_s:
        return False
    with suppress(StoreError), Store.open_to_read(results / config.name) as store:
        return store.published() is None
    return False


def shown_results(config: LeagueConfig, results: Path) -> Path:
    """The folder of results of which everybody may see the league: the real one, or one with a copy.

    Waits for the disk. Raises `StoreError` if nothing has been played yet.
    """
    if not is_frozen(config, results):
        return results
    at_s = freeze_time_s(config)
    assert at_s is not None
    folder = results / config.name / FOLDER / f"{at_s:.0f}-{config.arena.freeze}"
    if not folder.is_dir():
        _make(config, results, folder, at_s)
    return folder


def stored_matches(
    config: LeagueConfig, results: Path, most: int, before: int | None = None, bot: str | None = None
) -> list[PlayedMatch]:
    """Matches that everybody may see, as `Store.last_played`. Waits for the disk."""
    with Store.open_to_read(shown_results(config, results) / config.name) as store:
        return store.last_played(most, before, bot)


def stored_match(config: LeagueConfig, results: Path, match: str) -> PlayedMatch | None:
    """A match that everybody may see, or None. Waits for the disk."""
    with Store.open_to_read(shown_results(config, results) / config.name) as store:
        return store.played_match(match)


def _make(config: LeagueConfig, results: Path, folder: Path, at_s: float) -> None:
    """Make the folder with the copy, whole or not at all; another process may do so at the same time."""
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.{time.monotonic_ns()}.draft")
    until = datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")
    try:
        back_up(results / config.name / _STORE, draft / config.name / _STORE)
        with Store.open_to_write(draft / config.name) as store:
            late = [
                match.match.id
                for match in store.last_played(1 << 60)
                if config.arena.freeze == "hidden" or match.match.stored >= until
            ]
            if late:
                with store.writing():
                    for match in late:
                        store.remove(match, f"not shown: what is seen of the league was frozen, {utc_now()}")
        with suppress(OSError):
            draft.rename(folder)  # if it is there meanwhile, it is the same
    finally:
        shutil.rmtree(draft, ignore_errors=True)
