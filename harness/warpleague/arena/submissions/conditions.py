"""The conditions of a league for authors: clock, rules, limits, languages and libraries of the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from warpleague.arena.submissions.entering import closed_to_bots, matches_added, sandbox_refusal
from warpleague.arena.submissions.ledger import Ledger, SubmissionLimits
from warpleague.arena.submissions.versions import versions_in
from warpleague.games import load_game
from warpleague.league.season.config import (
    GameTable,
    LeagueConfig,
    RulesTable,
    RunTable,
    SandboxTable,
    ServiceTable,
    dice_of,
)
from warpleague.league.season.entry import name_of
from warpleague.match.spec import TimeControl
from warpleague.report.wording.match_words import conditions as condition_words
from warpleague.runner.bundle.offered import Machine, offered_machine


@attrs.frozen(kw_only=True)
class Clock:
    """The time limits of a bot, in seconds; null where there is none."""

    move_s: float | None
    """For one decision."""
    bank_s: float | None
    """For all decisions of a match."""
    increment_s: float | None
    """The seconds that the bank gains before each decision."""
    start_s: float
    """To start and get ready."""


@attrs.frozen(kw_only=True)
class Conditions:
    """The conditions of all matches of a league, and of the check of a bot for it."""

    league: str
    game: str
    rules: int
    """The version of the game's rules."""
    players: int
    """Seats of a match."""
    options: dict[str, Any]
    """All options of the game."""
    clock: Clock
    format: str
    dice: str
    """`own`: each match has its own dice; `shared`: all seat orders of a deal have the same."""
    level: str
    """How bots are confined."""
    faults: str
    """The price of a fault: `forfeit`, or `substitute` (the first legal action is played)."""
    strikes: int
    """How many faults are substituted."""
    illegal: str
    """The rule for an illegal action."""
    ask_again: int
    """How often a bot is asked again if a service that it uses failed."""
    note_bytes: int
    """How long the note of an answer may be."""
    pondering: str
    """Whether bots may compute while others are asked."""
    paths: list[str]
    """Paths of the machine that bots see in the sandbox, beside what all bots see."""
    network: list[str]
    """Addresses that bots reach in the sandbox."""
    affinity: str
    """`core`: referee and bots of a match share one core."""
    names: list[str]
    """The names of the bots that play."""
    takes_bots: bool
    closed: str | None
    """Why it takes no bots now."""
    closes: str | None = None
    """The time from which on it takes no more, as an ISO time; null where the organiser decides."""
    matches: int | None
    """How many more matches a new bot makes; null where results decide that, or no bots are taken."""
    limits: dict[str, int]
    """The limits of a submission; `warpleague arena limits` explains them."""
    machine: Machine | None
    """What bots find on it, asked at that level; null if the level does not hold."""


def conditions_of(ledger: Ledger | None, config: LeagueConfig) -> Conditions:
    """The conditions of a league; `ledger` is None if no author has been made yet. Waits for the disk."""
    game, rules = load_game(config.game.id), config.rules
    names = [name_of(config, entry) for entry in config.entries]
    closed: str | None = "nobody can submit bots here yet: the organiser has made no author"
    matches = None
    limits = SubmissionLimits()
    if ledger is not None:
        names += [one.bot for one in versions_in(ledger, config.name, active=True)]
        closed = sandbox_refusal(ledger) or closed_to_bots(ledger, config)
        matches = matches_added(ledger, config) if closed is None else None
        limits = ledger.limits
    return Conditions(
        league=config.name,
        game=config.game.id,
        rules=game.rules_version,
        players=config.game.players,
        options=config.game.options,
        clock=Clock(**attrs.asdict(config.clock)),
        format=config.format.kind,
        dice=dice_of(config),
        level=rules.level,
        faults=rules.faults,
        strikes=rules.strikes,
        illegal=rules.illegal,
        ask_again=config.service.ask_again,
        note_bytes=config.service.note_bytes,
        pondering=rules.pondering,
        paths=list(config.sandbox.paths),
        network=list(config.sandbox.network),
        affinity=config.run.affinity,
        names=names,
        takes_bots=closed is None,
        closed=closed,
        closes=config.arena.close_at,
        matches=matches,
        limits=attrs.asdict(limits),
        machine=offered_machine(rules.level, config.sandbox.paths),
    )


def config_of(conditions: Conditions) -> LeagueConfig:
    """A league with these conditions, to check a bot for it; it has no bots.

    Raises `BadInput` or `ValueError` for values that no league has.
    """
    rules = RulesTable(
        faults=conditions.faults,  # type: ignore[arg-type]
        strikes=conditions.strikes,
        level=conditions.level,  # type: ignore[arg-type]
        pondering=conditions.pondering,  # type: ignore[arg-type]
        illegal=conditions.illegal,
    )
    return LeagueConfig(
        name=conditions.league,
        game=GameTable(id=conditions.game, players=conditions.players, options=conditions.options),
        clock=TimeControl(**attrs.asdict(conditions.clock)),
        rules=rules,
        service=ServiceTable(ask_again=conditions.ask_again, note_bytes=conditions.note_bytes),
        sandbox=SandboxTable(paths=tuple(conditions.paths), network=tuple(conditions.network)),
        run=RunTable(affinity=conditions.affinity),  # type: ignore[arg-type]
        path=Path(f"{conditions.league}.toml"),
    )


def facts(conditions: Conditions) -> list[tuple[str, str]]:
    """The conditions in words, for a page and for the terminal."""
    how = config_of(conditions).conditions
    header = {
        "game": conditions.game,
        "rules": conditions.rules,
        "options": conditions.options,
        "faults": how.faults,
        "strikes": how.strikes,
        "again": how.again,
        "failures": how.failures,
        "level": how.level,
    }
    words = condition_words(header, attrs.asdict(how.clock))
    shared = "all seat orders of a deal have the same dice"
    return [
        ("game", words["game"]),
        ("players", f"{conditions.players} at a table"),
        ("options", words["options"]),
        ("format", conditions.format),
        ("dice", "each match has its own dice" if conditions.dice == "own" else shared),
        ("clock", words["clock"]),
        ("faults", words["faults"]),
        ("confined", f"level {words['level']}"),
        ("pondering", conditions.pondering),
        ("core", "bots of a match share one core" if conditions.affinity == "core" else "bots use all cores"),
        ("paths", ", ".join(conditions.paths) or "none but those of the system"),
        ("network", ", ".join(conditions.network) or "none"),
        ("bots", ", ".join(conditions.names) or "none yet"),
        ("submissions", conditions.closed or _taken(conditions)),
    ]


def _taken(conditions: Conditions) -> str:
    until = "" if conditions.closes is None else f" until {conditions.closes}"
    if conditions.matches is None:
        return f"taken{until}; results decide how many matches a new bot plays"
    return f"taken{until}; a new bot makes {conditions.matches:,} more matches"
