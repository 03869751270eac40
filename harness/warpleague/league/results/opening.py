"""Opens the store of a league, to read its results or to mend them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.counts import counted
from warpleague.errors import StoreError
from warpleague.league.results.league import League
from warpleague.league.schedule.schedule import Schedule
from warpleague.league.season.config import BotEntry, with_dice
from warpleague.league.season.entry import check_names
from warpleague.league.season.season import Season
from warpleague.league.store import disqualifications
from warpleague.league.store.changes import changes
from warpleague.league.store.schema import unplayed
from warpleague.league.store.store import Store
from warpleague.strict import structure

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.league.season.config import LeagueConfig
    from warpleague.league.store.changes import Change
    from warpleague.league.store.disqualifications import Disqualification


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
    if season.format.until is not None:
        season = attrs.evolve(season, ended=store.ended(season))
    disqualified = _disqualified(store, season)
    barred = frozenset(season.names.index(decision.bot) for decision in disqualified)
    return League(
        config, season, Schedule(season, store).barring(barred), store, skipped, disqualified, changed
    )


def _disqualified(store: Store, season: Season) -> tuple[Disqualification, ...]:
    """The season's bots that are disqualified, in its order."""
    decisions = disqualifications.disqualified(store)
    return tuple(decisions[name] for name in season.names if name in decisions)


def check_store(store: Store, config: LeagueConfig) -> None:
    """Raise `StoreError` if the store is not one of this league's as the file has it, whatever its bots."""
    store.check_commitment()
    store.check_same_league(
        Season.of(
            config,
            (),
            b"",
            record=store.record_format(),
            seating=store.seating(),
            rules=store.rules(config.game.id),
        ),
        config,
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
                    "stores that, and plays the missing matches"
                )
            commitment = store.meta("commitment")
            raise unplayed(store.path, f"the season's secret is fixed (commitment {commitment}), but ")
        config = _with_noted(with_dice(config, store.dice()), store)
        season = Season.of(
            config,
            bots,
            secret,
            store.meta("beacon"),
            record=store.record_format(),
            seating=store.seating(),
            rules=store.rules(config.game.id),
        )
        store.check_same_league(season, config)
        check_names(config, season.names)
        return assemble(config, season, store, store.skipped(), changes(config, store))
    except BaseException:
        store.close()
        raise


def _with_noted(config: LeagueConfig, store: Store) -> LeagueConfig:
    """The league with the bots that came from other leagues at the last run, or from a folder if the file has none."""
    through = {name for stage in store.stages() for name, _ in stage.bots} if config.entry else set()
    everything = not config.bots and config.entry is None
    noted = [
        structure(bot, BotEntry, "bots") for bot in store.listed() if everything or bot.get("name") in through
    ]
    if not noted:
        return config
    path, config = config.path, attrs.evolve(config, bots=(*config.bots, *noted))
    object.__setattr__(config, "path", path)
    return config
