"""Takes a league's bots and its store for a run, and commits to secret and entrants."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs

from warpleague.errors import BadInput, ConfigError, StoreError
from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.league import League, assemble, check_store, count_played, open_to_read
from warpleague.league.season.config import (
    BEACON_LENGTH,
    BotEntry,
    LeagueConfig,
    check_config,
    load_config,
    with_dice,
)
from warpleague.league.season.entry import Entries, Prepared, enter_bots, folder_of, name_of
from warpleague.league.season.season import Season, Stage, canonical
from warpleague.league.store.events import commitment_to, entrants_text
from warpleague.league.store.journal import Head
from warpleague.league.store.store import Store
from warpleague.match.chance import season_secret
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from warpleague.league.referees.pool import NewPool
    from warpleague.match.spec import SeatSpec


def open_to_run(
    config: LeagueConfig,
    results: Path,
    prepare: Callable[[Path], Prepared] | None = None,
    beacon: str | None = None,
    new_pool: NewPool = RefereePool,
    deals_of: LeagueConfig | None = None,
) -> League:
    """Bundle the bots, take the store in `results`/NAME for this process alone, and write down the season.

    `prepare` makes a bundle of a bot's folder (default: the runner's). `beacon` is the value of the beacon that the
    season awaits. `new_pool` makes the processes that verify the groups before a final. `deals_of` is a league whose
    deals this one has, if both have the same seed.

    Raises what `enter_bots` raises, and `StoreError` if the league is being run already, the store belongs to a league
    of other conditions, or the season awaits a beacon and its entrants are not those committed to.
    """
    if config.sandbox.paths and prepare is None:
        from warpleague.runner.bundle.cache import cache_folder
        from warpleague.runner.confine.mounts import check_granted

        where = f"{config.path}: sandbox.paths"
        check_granted(config.sandbox.paths, where, (cache_folder(), results, config.path))
    store = Store.open_to_write(results / config.name)
    try:
        config, entries, season = _entered(config, results, store, prepare, new_pool, deals_of)
        season = attrs.evolve(season, beacon=_beacon(store, season, beacon))
        store.enter(config, season, entries.skipped)
        league = assemble(config, season, store, entries.skipped)
        league.number_matches()
        return league
    except BadInput:
        store.discard()
        raise
    except BaseException:
        store.close()
        raise


def _entered(
    config: LeagueConfig,
    results: Path,
    store: Store,
    prepare: Callable[[Path], Prepared] | None,
    new_pool: NewPool,
    deals_of: LeagueConfig | None = None,
) -> tuple[LeagueConfig, Entries, Season]:
    """The league with all its bots, these bots, and the season without the value of its beacon."""
    config = with_dice(config, store.dice())
    stages: tuple[Stage, ...] = ()
    if config.entry is not None:
        config, stages = entered_from(config, results, store, new_pool)
    entries = enter_bots(config, prepare, (results,))
    if stages:
        check_content(config, stages, entries.bots)
    secret = _secret(store, config if deals_of is None else with_dice(deals_of, store.dice()))
    season = Season.of(config, entries.bots, secret)
    season = attrs.evolve(season, history=store.history(), worth=store.worth(season.game))
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
    _check_committed(store, season, known)
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


def _check_committed(store: Store, season: Season, known: str | None) -> None:
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
    """The commitments, since when (ISO times), and how many matches are stored since.

    `commitment` is the SHA-256 of the season's secret, `entrants` that of its bots, conditions and format, which
    `preimage` has as the text that is hashed; None where they have not been entered now or before.
    """

    commitment: str
    committed: str
    entrants: str | None
    entered: str | None
    played: int
    store: Path
    preimage: str | None = None


def commit(
    config: LeagueConfig,
    results: Path,
    *,
    with_entrants: bool = False,
    prepare: Callable[[Path], Prepared] | None = None,
) -> Commitment:
    """Fix the secret of a season before there are matches or bots, and return its commitment, each time the same.

    The bots are read only if the season commits to them, too. Raises `StoreError` if the store
    belongs to a league of other conditions, or cannot be written, and with entrants what `open_to_run` raises.
    """
    folder = results / config.name
    if with_entrants:
        return _commit_entrants(config, folder, prepare)
    # First without the lock, since the league may be running; `open_to_write` gives the better error.
    with suppress(StoreError), Store.open_to_read(folder) as store:
        if store.secret() is not None:
            check_store(store, config)
            return _commitment_of(store)
    with Store.open_to_write(folder) as store:
        store.commit(config, Season.of(config, (), _secret(store, config)))
        return _commitment_of(store)


def _commit_entrants(
    config: LeagueConfig, folder: Path, prepare: Callable[[Path], Prepared] | None
) -> Commitment:
    with Store.open_to_write(folder) as store:
        config, entries, season = _entered(config, folder.parent, store, prepare, RefereePool)
        beacon = store.meta("beacon")
        season = attrs.evolve(season, beacon=beacon)
        if beacon is not None:
            _check_committed(store, season, beacon)
        store.enter(config, season, entries.skipped)
        return attrs.evolve(_commitment_of(store), preimage=entrants_text(season))


def _commitment_of(store: Store) -> Commitment:
    last = store.entered()[-1:]
    return Commitment(
        commitment=store.meta("commitment") or "",
        committed=store.committed() or "",
        entrants=last[0].commitment if last else None,
        entered=last[0].since if last else None,
        played=store.count(),
        store=store.path,
    )


# -- stages ----------------------------------------------------------------------------------------------
# The best bots of finished leagues take part in another one, such as a final after groups.
#
# Who qualified is stored with the entrants. From then on it does not change: if the other league's standings do, a run
# is refused, and `verify` says so.


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
        with _open_finished(other, results, where) as league:
            stage = _qualified(league, config.entry.top, where)
            before = known.get(other.name)
            if before is not None and begun:
                problem = _change_in(league, before, stage)
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
                _verify(league, where, new_pool)
            stages.append(stage)
            entries.append([_entry_of(league, name, config.path.parent) for name, _ in stage.bots])
    most = max(map(len, entries), default=0)
    taken = tuple(bots[place] for place in range(most) for bots in entries if place < len(bots))
    config = attrs.evolve(config, bots=(*config.bots, *taken))
    check_config(config, str(config.path))
    return config, tuple(stages)


def check_content(config: LeagueConfig, stages: Sequence[Stage], bots: Sequence[SeatSpec]) -> None:
    """Raise `ConfigError` if a bot that qualified is not the one that played there."""
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
                with open_to_read(other, league.store.path.parent.parent) as one:
                    problem = _change_in(one, stage, _qualified(one, len(stage.bots), stage.league))
            except StoreError:
                raise
            except BadInput as error:
                problem = f"{stage.league}, from which bots were entered, cannot be read: {error}"
            if problem is not None:
                problems.append((None, None, problem))
    return problems


def _head(stage: Stage) -> Head:
    return Head.parse(stage.head)


def _open_finished(config: LeagueConfig, results: Path, where: str) -> League:
    """A league that is finished, to read."""
    try:
        league = open_to_read(config, results)
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


def _qualified(league: League, top: int, where: str) -> Stage:
    """Who qualifies by the standings now: the first `top` of the bots that have a rank."""
    from warpleague.league.results.standings import standings  # which loads numpy

    ranked = [line.bot for line in standings(league).lines if line.rank is not None]
    if len(ranked) < top:
        raise ConfigError(
            f"{where}: {league.config.name} has {len(ranked)} bots with a rank, and {top} come through"
        )
    digests = {bot.bot: bot.identity for bot in league.season.bots}
    bots = tuple((name, digests[name]) for name in ranked[:top])
    return Stage(league.config.name, str(league.store.head()), bots)


def _change_in(league: League, before: Stage, now: Stage) -> str | None:
    """The change in a league since its bots were entered, or None."""
    if before.bots != now.bots:
        was, are = (", ".join(name for name, _ in stage.bots) for stage in (before, now))
        return f"{before.league} has changed since its bots were entered here: {was} came through, now {are} would"
    if league.store.alterations([_head(before)]):
        return (
            f"{before.league} has changed since its bots were entered here: league verify says what is wrong"
        )
    return None


def _verify(league: League, where: str, new_pool: NewPool) -> None:
    """Raise `ConfigError` if a record of the league does not hold, or its store was altered."""
    from warpleague.league.play.verifying import altered, mispaired, verify_league

    wrong = [problem for _, problem in verify_league(league, new_pool=new_pool) if problem is not None]
    wrong += [problem for _, _, problem in (*altered(league), *mispaired(league), *stage_problems(league))]
    if wrong:
        raise ConfigError(
            f"{where}: {league.config.name} does not hold: {wrong[0]}; warpleague league verify {league.config.path} "
            "says all of it"
        )


def _entry_of(league: League, name: str, base: Path) -> BotEntry:
    """A bot of `league` as an entry of a file in the folder `base`."""
    for entry in league.config.entries:
        if name_of(league.config, entry) == name:
            folder = folder_of(league.config, entry)
            path = os.path.relpath(folder, base)
            return attrs.evolve(entry, path=path, name=name)
    raise ConfigError(
        f"{league.config.path}: bots: {name}, which played, is not in the file any more; put it back"
    )


# -- seeds -----------------------------------------------------------------------------------------------


def seeds_of(config: LeagueConfig, season: Season, store: Store, results: Path) -> tuple[str, ...]:
    """The names of the season's bots, the best first, where they are seeded by rating; else empty.

    They are in the order of the standings that the league of `format.ratings` has in `results`. Bots that have no rank
    there come after the others, in the order of the file. What was stored when bots were entered stays once matches
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
    from warpleague.league.results.standings import standings  # which loads numpy

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
