"""Seeds the bots of a league by their ratings in another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warpleague.league.season.config import LeagueConfig
    from warpleague.league.season.season import Season
    from warpleague.league.store.store import Store


def seeds_of(config: LeagueConfig, season: Season, store: Store, results: Path) -> tuple[str, ...]:
    """The names of the season's bots, the best first, where they are seeded by rating; else empty.

    They are in the order of the standings that the league of `format.ratings` has in `results`. Bots that have no rank
    there come after the others, in the order of the file. What was noted when bots were entered stays once matches
    are stored or the season awaits a beacon: bots that are new since come last. `ConfigError` if there are no such
    standings.
    """
    if config.format.seeding != "rating" or config.format.ratings is None:
        return ()
    known: Sequence[str] = store.seeds()
    if not (known and (store.count() or season.awaits is not None)):
        known = _ranked(config, config.format.ratings, results)
    names = season.names
    here = [name for name in known if name in names]
    return (*here, *(name for name in names if name not in here))


def _ranked(config: LeagueConfig, named: str, results: Path) -> list[str]:
    from warpleague.league.results.opening import open_to_read
    from warpleague.league.results.standings import standings
    from warpleague.league.season.config_file import load_config

    where = f"{config.path}: format.ratings"
    other = load_config(config.path.parent / named)
    if other.name == config.name:
        raise ConfigError(f"{where}: {named} is this league; name the file of another one")
    try:
        with open_to_read(other, results) as league:
            lines = standings(league).lines
    except StoreError as error:
        raise ConfigError(f"{where}: {error}") from error
    ranked = [line.bot for line in lines if line.rank is not None and line.record.played]
    if not ranked:
        raise ConfigError(f"{where}: no match of {other.name} is stored in {results}, so it has no standings")
    return ranked
