"""Takes a league's bots and its store for a run, and commits to secret and entrants."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs

from warpleague.errors import BadInput, StoreError
from warpleague.league.play.seeding import seeds_of
from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.opening import assemble, check_store
from warpleague.league.season.config import BEACON_LENGTH, with_dice
from warpleague.league.season.entry import enter_bots
from warpleague.league.season.season import Season, canonical
from warpleague.league.store.entrants_commitment import commitment_to
from warpleague.league.store.store import Store
from warpleague.match.chance import season_secret

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League
    from warpleague.league.season.config import LeagueConfig
    from warpleague.league.season.entry import Entries, Prepared
    from warpleague.league.season.season import Stage


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
        from warpleague.runner.confine.visible_paths import check_granted
        from warpleague.user_cache import cache_folder

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
        from warpleague.league.play.stages import check_content, entered_from

        config, stages = entered_from(config, results, store, new_pool)
    entries = enter_bots(config, prepare, (results,))
    if stages:
        check_content(config, stages, entries.bots)
    season = Season.of(
        config,
        entries.bots,
        _secret(store, config if deals_of is None else with_dice(deals_of, store.dice())),
        record=store.record_format(),
        seating=store.seating(),
        rules=store.rules(config.game.id),
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

    The bots are read only if the season commits to them, too. Raises `StoreError` if the store
    belongs to a league of other conditions, or cannot be written, and with entrants what `open_to_run` raises.
    """
    folder = results / config.name
    if with_entrants:
        return _commit_entrants(config, folder, prepare)
    # First without the lock, since the league may be running; what hinders reading, opening to write tells better.
    with suppress(StoreError), Store.open_to_read(folder) as store:
        if store.secret() is not None:
            check_store(store, config)
            return _commitment_of(store)
    with Store.open_to_write(folder) as store:
        store.commit(
            config,
            Season.of(
                config,
                (),
                _secret(store, config),
                record=store.record_format(),
                seating=store.seating(),
                rules=store.rules(config.game.id),
            ),
        )
        return _commitment_of(store)


def _commit_entrants(
    config: LeagueConfig, folder: Path, prepare: Callable[[Path], Prepared] | None
) -> Commitment:
    with Store.open_to_write(folder) as store:
        config, entries, season = _entered(config, folder.parent, store, prepare, RefereePool)
        beacon = store.meta("beacon")
        season = attrs.evolve(season, beacon=beacon)
        if beacon is not None:
            _check_settled(store, season, beacon)
        store.enter(config, season, entries.skipped)
        return _commitment_of(store)


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
