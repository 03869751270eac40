"""Stages: takes the best bots of finished leagues into another one, such as a final after groups.

Who came through is noted with the entrants. From then on it does not change: if the other league's standings do, a
run is refused, and `verify` says so.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs

from warpleague.counts import counted
from warpleague.errors import BadInput, ConfigError, StoreError
from warpleague.league.referees.pool import RefereePool
from warpleague.league.season.config_check import check_config
from warpleague.league.season.config_file import load_config
from warpleague.league.season.season import Stage
from warpleague.league.store.journal import Head

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League
    from warpleague.league.season.config import BotEntry, LeagueConfig
    from warpleague.league.store.store import Store
    from warpleague.match.spec import SeatSpec


def entered_from(
    config: LeagueConfig, results: Path, store: Store | None = None, new_pool: NewPool = RefereePool
) -> tuple[LeagueConfig, tuple[Stage, ...]]:
    """The league with the bots that come from other ones under its own, and where these come from.

    The best of each league come first, in the order in which the file names the leagues, then the second of each, and
    so on. `store` is that of the league itself, if it has one. Raises `ConfigError` if another league is not finished,
    does not hold, has too few bots, or is not any more what it was when its bots were entered.
    """
    if config.entry is None:
        return config, ()
    known = {} if store is None else {stage.league: stage for stage in store.stages()}
    begun = store is not None and bool(store.count())
    stages: list[Stage] = []
    entries: list[list[BotEntry]] = []
    for index, named in enumerate(config.entry.leagues):
        where = f"{config.path}: entry.leagues[{index}]"
        other = load_config(config.path.parent / named)
        if other.name in (config.name, *(stage.league for stage in stages)):
            raise ConfigError(f"{where}: {named} is named twice, or is this league itself")
        with _opened(other, results, where) as league:
            stage = _through(league, config.entry.top, where)
            before = known.get(other.name)
            if before is not None and begun:
                problem = _changed(league, before, stage)
                if problem is not None:
                    raise ConfigError(
                        f"{where}: {problem}. Undo that; or, to go on with the bots that were entered, "
                        "list them under bots, in the same order, and leave out [entry]"
                    )
                stage = before
            elif (
                before is not None
                and before.bots == stage.bots
                and not league.store.alterations([_head(before)])
            ):
                stage = before
            else:
                _check_holds(league, where, new_pool)
            stages.append(stage)
            entries.append([_entry_of(league, name, config.path.parent) for name, _ in stage.bots])
    most = max(map(len, entries), default=0)
    taken = tuple(bots[place] for place in range(most) for bots in entries if place < len(bots))
    path = config.path
    config = attrs.evolve(config, bots=(*config.bots, *taken))
    object.__setattr__(config, "path", path)
    check_config(config, str(path))
    return config, tuple(stages)


def check_content(config: LeagueConfig, stages: Sequence[Stage], bots: Sequence[SeatSpec]) -> None:
    """Raise `ConfigError` if a bot that came through is not the one that played there."""
    now = {bot.bot: bot.identity for bot in bots}
    for stage in stages:
        for name, digest in stage.bots:
            if name in now and now[name] != digest:
                raise ConfigError(
                    f"{config.path}: entry: {name} is not the bot that played in {stage.league}: it has other "
                    "content; put it back, or list the bots under bots, and leave out [entry]"
                )


def stage_problems(league: League) -> list[tuple[None, None, str]]:
    """Other leagues that changed after their bots were entered; in the form of `verifying.altered`.

    Leagues whose results are not in the same folder are left out.
    """
    problems: list[tuple[None, None, str]] = []
    config = league.config
    for index, stage in enumerate(league.season.stages):
        named = config.entry.leagues[index] if config.entry and index < len(config.entry.leagues) else ""
        with suppress(StoreError):
            try:
                other = load_config(config.path.parent / named)
                with _reading(other, league.store.path.parent.parent) as one:
                    problem = _changed(one, stage, _through(one, len(stage.bots), stage.league))
            except StoreError:
                raise
            except BadInput as error:
                problem = f"{stage.league}, from which bots were entered, cannot be read: {error}"
            if problem is not None:
                problems.append((None, None, problem))
    return problems


def _head(stage: Stage) -> Head:
    return Head.parse(stage.head)


def _reading(config: LeagueConfig, results: Path) -> League:
    from warpleague.league.results.opening import open_to_read

    return open_to_read(config, results)


def _opened(config: LeagueConfig, results: Path, where: str) -> League:
    """A league that is finished, to read."""
    from warpleague.league.results.remaining import count_played

    try:
        league = _reading(config, results)
    except StoreError as error:
        raise ConfigError(f"{where}: {error}") from error
    stored = count_played(league)
    total = league.total(stored)
    if total is None or stored < total:
        league.store.close()
        left = (
            f"{counted(stored, 'match')} played"
            if total is None
            else f"{stored:,} of {counted(total, 'match')} played"
        )
        raise ConfigError(
            f"{where}: {config.name} is not finished ({left}); warpleague league run {config.path} plays the rest"
        )
    return league


def _through(league: League, top: int, where: str) -> Stage:
    """Who comes through by the standings now: the first `top` of the bots that have a rank."""
    from warpleague.league.results.standings import standings

    ranked = [line.bot for line in standings(league).lines if line.rank is not None]
    if len(ranked) < top:
        raise ConfigError(
            f"{where}: {league.config.name} has {len(ranked)} bots with a rank, and {top} come through"
        )
    digests = {bot.bot: bot.identity for bot in league.season.bots}
    bots = tuple((name, digests[name]) for name in ranked[:top])
    return Stage(league.config.name, str(league.store.head()), bots)


def _changed(league: League, before: Stage, now: Stage) -> str | None:
    """The change in a league since its bots were entered, or None."""
    if before.bots != now.bots:
        was, are = (", ".join(name for name, _ in stage.bots) for stage in (before, now))
        return f"{before.league} has changed since its bots were entered here: {was} came through, now {are} would"
    if league.store.alterations([_head(before)]):
        return (
            f"{before.league} has changed since its bots were entered here: league verify says what is wrong"
        )
    return None


def _check_holds(league: League, where: str, new_pool: NewPool) -> None:
    """Raise `ConfigError` if a record of the league does not hold, or its store was altered."""
    from warpleague.league.upkeep.verifying import altered, mispaired, verify_league

    wrong = [problem for _, problem in verify_league(league, new_pool=new_pool) if problem is not None]
    wrong += [problem for _, _, problem in (*altered(league), *mispaired(league), *stage_problems(league))]
    if wrong:
        raise ConfigError(
            f"{where}: {league.config.name} does not hold: {wrong[0]}; warpleague league verify {league.config.path} "
            "says all of it"
        )


def _entry_of(league: League, name: str, base: Path) -> BotEntry:
    """A bot of `league` as an entry of a file in the folder `base`."""
    from warpleague.league.season.entry import folder_of, name_of

    for entry in league.config.entries:
        if name_of(league.config, entry) == name:
            folder = folder_of(league.config, entry)
            path = os.path.relpath(folder, base)
            return attrs.evolve(entry, path=path, name=name)
    raise ConfigError(
        f"{league.config.path}: bots: {name}, which played, is not in the file any more; put it back"
    )
