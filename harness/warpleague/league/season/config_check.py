"""Checks what the tables of a league file say together: what fits its key alone was checked when it was read."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from warpleague.errors import ConfigError
from warpleague.games import load_game
from warpleague.league.season.config import BEACON_LENGTH, ILLEGAL, NAME_LENGTH, TIME_SHARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.season.config import EntrantClock, LeagueConfig
    from warpleague.match.spec import TimeControl


def check_config(config: LeagueConfig, where: str) -> None:
    """Raise `ConfigError` for what does not go together in a league file called `where`."""
    _check_network(config.sandbox.network, config, f"{where}: sandbox")
    for index, entry in enumerate(config.entries):
        _check_network(entry.network or (), config, f"{where}: bots[{index}]")
        # Tables, records and pages show it; unlike a manifest's, it may have blanks and letters of all languages.
        name = entry.name
        if name is not None and not (
            0 < len(name) <= NAME_LENGTH and name.isprintable() and name == name.strip()
        ):
            raise ConfigError(
                f"{where}: bots[{index}].name: must be 1 to {NAME_LENGTH} printable characters, "
                "without blanks around them"
            )
    _check_clock(config.clock, f"{where}: clock")
    for index, entry in enumerate(config.entries):
        if entry.clock is not None:
            _check_clock(entry.clock, f"{where}: bots[{index}].clock")
    if config.rules.strikes and config.rules.faults == "forfeit":
        raise ConfigError(f'{where}: rules.strikes: only faults = "substitute" has strikes')
    if config.rules.faults == "substitute" and not config.rules.strikes:
        raise ConfigError(
            f"{where}: rules.strikes: must be at least 1 to substitute; with 0 the first fault forfeits"
        )
    if not ILLEGAL.fullmatch(config.rules.illegal):
        raise ConfigError(f'{where}: rules.illegal: must be "fault", or "ask-again N" with N from 1 to 999')
    for key, command in (("on_end", config.on_end), ("arena.on_event", config.arena.on_event)):
        if command and not command[0]:
            raise ConfigError(f'{where}: {key}: must begin with a program, such as ["./notify.sh"]')
        if any("\0" in word for word in command):
            raise ConfigError(f"{where}: {key}: no word of a command can have a NUL")
    if config.arena.freeze_at is not None and not _is_time(config.arena.freeze_at):
        raise ConfigError(
            f"{where}: arena.freeze_at: must be a date and a time with its zone, such as "
            '"2026-12-28T18:00:00+00:00"'
        )
    beacon = config.season.beacon
    if beacon is not None and not (0 < len(beacon) <= BEACON_LENGTH and beacon.isprintable()):
        raise ConfigError(f"{where}: season.beacon: must be 1 to {BEACON_LENGTH} printable characters")
    tables = config.format.tables
    if isinstance(tables, int) and config.game.players == 1:
        raise ConfigError(
            f'{where}: format.tables: at tables of one all bots play the same deals; leave it at "all", and set deals'
        )
    _check_end(config, where)
    if config.format.kind == "test":
        _check_test(config, where)
    if config.format.kind == "swiss":
        _check_swiss(config, where)
    elif config.format.rounds:
        raise ConfigError(f'{where}: format.rounds: only kind = "swiss" has rounds')
    if config.entry is not None and not config.entry.leagues:
        raise ConfigError(f"{where}: entry.leagues: name the file of one league, or of several")
    knockout = config.format.kind in ("knockout", "double-elimination")
    if knockout and config.game.players != 2:
        raise ConfigError(
            f"{where}: format.kind: a {config.format.kind} needs tables of two; set players under [game]"
        )
    _check_seeding(config, where, seeded=knockout or config.format.kind == "swiss")
    if config.format.kind == "gauntlet":
        if isinstance(tables, int):
            raise ConfigError(f'{where}: format.tables: a gauntlet plays all its tables; leave it at "all"')
        if config.game.players == 1:
            more = [players for players in load_game(config.game.id).players if players > 1]
            todo = (
                f"write  players = {more[0]}  under [game]"
                if more
                else f"{config.game.id} has no such tables"
            )
            raise ConfigError(f"{where}: format.kind: a gauntlet needs tables of two or more; {todo}")
    elif config.format.challengers:
        raise ConfigError(f'{where}: format.challengers: only kind = "gauntlet" has challengers')


def _check_network(addresses: Sequence[str], config: LeagueConfig, where: str) -> None:
    if addresses:
        from warpleague.runner.confine.network import parse_address
    for address in addresses:
        if parse_address(address) is None:
            raise ConfigError(
                f"{where}.network: {address!r} must be an address of this machine with a port, such as "
                '"127.0.0.1:8080"; for a service elsewhere run a proxy here'
            )
    if addresses and config.rules.level != "sandbox":
        raise ConfigError(
            f'{where}.network: needs level = "sandbox" under [rules]: at level {config.rules.level} bots reach every '
            "address"
        )


def _check_clock(clock: TimeControl | EntrantClock, where: str) -> None:
    if clock.move_s is None and clock.bank_s is None:
        raise ConfigError(f"{where}: set move_s or bank_s, else a silent bot stops the league for good")
    if clock.increment_s is not None and clock.bank_s is None:
        raise ConfigError(f"{where}.increment_s: is added to a bank, but there is no bank_s")


def _check_end(config: LeagueConfig, where: str) -> None:
    kind, players = config.format.kind, config.game.players
    if config.format.until is not None:
        if kind not in ("ladder", "round-robin", "gauntlet"):
            raise ConfigError(f"{where}: format.until: only a ladder, a round-robin and a gauntlet end so")
        if players == 1:
            raise ConfigError(f"{where}: format.until: needs tables of two or more; set players under [game]")
    if config.format.time_share != TIME_SHARE and kind != "ladder":
        raise ConfigError(f"{where}: format.time_share: only a ladder has a share of the time for slow bots")
    if kind == "ladder":
        if players == 1:
            raise ConfigError(
                f"{where}: format.kind: a ladder needs tables of two or more; set players under [game]"
            )
        if config.format.deals != 1 or config.format.tables != "all":
            raise ConfigError(
                f"{where}: format: a ladder chooses its tables and deals; leave out tables and deals"
            )


def _check_seeding(config: LeagueConfig, where: str, *, seeded: bool) -> None:
    form = config.format
    if form.seeding is not None and not seeded:
        raise ConfigError(
            f"{where}: format.seeding: only a Swiss, a knockout and a double elimination have seeds"
        )
    if form.seeding == "rating" and form.ratings is None:
        raise ConfigError(
            f'{where}: format.ratings: seeding = "rating" needs the file of the league whose standings order the '
            'bots, such as ratings = "season.toml"'
        )
    if form.ratings is not None and form.seeding != "rating":
        raise ConfigError(
            f'{where}: format.ratings: only seeding = "rating" goes by the standings of a league'
        )


def _check_swiss(config: LeagueConfig, where: str) -> None:
    if not config.format.rounds:
        raise ConfigError(f"{where}: format.rounds: a Swiss needs a number of rounds, such as 9 for 60 bots")
    if config.format.tables != "all":
        raise ConfigError(f'{where}: format.tables: a Swiss pairs all bots in each round; leave it at "all"')
    if config.game.players == 1:
        raise ConfigError(
            f"{where}: format.kind: a Swiss needs tables of two or more; set players under [game]"
        )


def _check_test(config: LeagueConfig, where: str) -> None:
    form, bots, players = config.format, len(config.bots), config.game.players
    if bots and bots != 1 + players and not (bots == 2 and players <= 2):
        raise ConfigError(
            f"{where}: bots: a test is of the first bot against the second; beside a field, a table of {players} "
            f"needs {players - 1} more bots, not {bots - 2}"
        )
    if form.dice == "own":
        raise ConfigError(
            f'{where}: format.dice: a test compares bots on the same dice; leave it at "shared"'
        )
    if form.seats == "fixed":
        raise ConfigError(f'{where}: format.seats: a test plays every seat order; "rotations" or "all"')
    if form.tables != "all" or form.deals != 1:
        raise ConfigError(f"{where}: format: a test plays deals until it decides; leave out tables and deals")
    if form.elo0 >= form.elo1:
        raise ConfigError(f"{where}: format.elo1: must be above elo0 ({form.elo0:g}), not {form.elo1:g}")


def _is_time(text: str) -> bool:
    """Whether a text is a date and a time with its zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
