"""Makes the check of a bot for a league: it plays under the league's conditions, at its table, as its matches do.

`warpleague bot check --league` and the checker of an arena both make their checks here.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.errors import BadInput, OptionsError
from warpleague.games import load_game
from warpleague.league.season.config import BotEntry, LeagueConfig
from warpleague.league.season.entry import folder_of, name_of, seat_in
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import Conditions, Level
from warpleague.runner.checkup import QUICK_S, Checkup, Table
from warpleague.runner.findings import FOLDER

if TYPE_CHECKING:
    from pathlib import Path


def check_for(
    config: LeagueConfig,
    folder: Path,
    *,
    names: tuple[str, ...] = (),
    level: Level | None = None,
    **more: Any,
) -> Checkup:
    """How to check the bot in `folder` for a league, with the other fields of `Checkup` that are given.

    If the league's file names the folder, what it says of this bot holds, such as a clock of its own. Bots of these
    `names` play in the league besides those of its file. `level` takes the place of the league's.
    """
    conditions = config.conditions if level is None else attrs.evolve(config.conditions, level=level)
    entry = BotEntry(path=str(folder))
    for known in config.entries:
        if os.path.realpath(folder_of(config, known)) == os.path.realpath(folder):
            entry = known
            break
    if conditions.level != "sandbox":
        entry = attrs.evolve(entry, network=())
    return Checkup(
        conditions=conditions,
        tables=(Table(config.game.id, config.game.players, config.game.options),),
        enter=lambda bundle: seat_in(config, entry, bundle, f"{config.path}: bots"),
        names=(*(name_of(config, each) for each in config.entries), *names),
        paths=config.sandbox.paths,
        one_core=config.run.affinity == "core",
        **more,
    )


def home_command(config: LeagueConfig, seed: str, within_s: float) -> list[str]:
    """The words of the command that repeats a check for this league on the author's machine, without the file.

    Where no option can tell what the file says, the command names the file, which the organiser has to give away.
    """
    words = ["warpleague", "bot", "check", FOLDER]
    words += ["--quick"] if within_s <= QUICK_S else ["--matches", "1"]
    try:
        words += _options(config)
    except OptionsError:
        words += ["--league", f"{config.name}.toml"]
    return [*words, "--seed", seed]


def _options(config: LeagueConfig) -> list[str]:
    """The options of `bot check` that say what the league's file does; `OptionsError` if they cannot."""
    if config.sandbox.network or config.run.affinity != "core":
        raise OptionsError("no option tells this")
    conditions, defaults = config.conditions, Conditions()
    game, players = load_game(config.game.id), config.game.players
    words = ["--game", config.game.id, "--players", str(players)]
    try:
        default = options_json(load_options(game, players, {}))
    except BadInput:  # one has to be given
        default = {}
    for name, value in config.game.options.items():
        if value != default.get(name):
            words += ["--option", f"{name}={_value(value)}"]
    for name in ("move_s", "bank_s", "increment_s"):
        value = getattr(conditions.clock, name)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", _seconds(value)]
    if conditions.clock.start_s != defaults.clock.start_s:
        words += ["--start-s", _seconds(conditions.clock.start_s)]
    if conditions.faults != defaults.faults:
        words += ["--faults", conditions.faults, "--strikes", str(conditions.strikes)]
    for option, field in (
        ("--ask-again", "again"),
        ("--failures", "failures"),
        ("--note-bytes", "note_bytes"),
        ("--pondering", "pondering"),
        ("--level", "level"),
    ):
        value = getattr(conditions, field)
        if value != getattr(defaults, field):
            words += [option, str(value)]
    for path in config.sandbox.paths:
        words += ["--sandbox-path", path]
    return words


def _seconds(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _value(value: object) -> str:
    """An option of a game as `--option` reads it."""
    if isinstance(value, (bool, int, float, str)) or (
        isinstance(value, (list, tuple)) and all(isinstance(one, (bool, int, float, str)) for one in value)
    ):
        return json.dumps(value, ensure_ascii=False)
    raise OptionsError("is a table, or is not set")
