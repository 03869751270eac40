"""Reads and writes a league file: TOML in, one checked `LeagueConfig` out."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from warpleague.errors import BadInput, ConfigError, StoreError
from warpleague.games import load_game
from warpleague.league.season.config import NAME, BotEntry, GameTable, LeagueConfig
from warpleague.league.season.config_check import check_config
from warpleague.match.setup import load_options, options_json
from warpleague.runner.bundle.manifest import MANIFEST, bots_in
from warpleague.runner.bundle.shipped import located
from warpleague.strict import place_of, structure
from warpleague.suggest import nearest, nearest_path
from warpleague.toml_text import parse_toml, read_text


def write_config(config: LeagueConfig, target: Path, *remarks: str) -> None:
    """Write the complete configuration to the file `target`, below these remarks; `StoreError` if it cannot be."""
    import tomli_w

    text = "".join(f"# {remark}\n" for remark in remarks) + "\n" + tomli_w.dumps(config.to_toml())
    scratch = target.with_suffix(".tmp")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(target)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from None


def load_config(path: Path, *, without_bots: bool = False, from_folders: Path | None = None) -> LeagueConfig:
    """The league file at `path`; `ConfigError` or `OptionsError` names file and key of what does not fit.

    A path that begins with `leagues/` may name a file that comes with Warp League (`shipped.located`).
    `without_bots` takes a file that has no bots yet, too. All bots in the folder `from_folders` take part besides
    those of the file, each under the name of its own folder.
    """
    path = located(path)
    where = str(path)
    data = _read_toml(path, where)
    if path.name == MANIFEST or ("run" in data and "games" in data):
        raise ConfigError(
            f"{where}: is the {MANIFEST} of a bot; name the file of a league, whose `bots` name folders"
        )
    config = structure(data, LeagueConfig, where, _tables_of_options(data))
    if from_folders is not None:
        entries = (BotEntry(path=str(bot.absolute()), name=bot.name) for bot in bots_in(from_folders))
        config = attrs.evolve(config, bots=(*config.bots, *entries))
    name = config.name or path.stem
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{where}: name: {name!r} must be letters, digits, dots, dashes, such as "
            f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name).strip('-._')[:64] or 'my-league'!r}; it names a folder"
        )
    game = _complete_game(config.game, path)
    given = {config.missing, config.missing_toolchain} - {None}
    if len(given) > 1:
        raise ConfigError(
            f"{where}: missing_toolchain: is the earlier name of missing, and says the opposite; leave it out"
        )
    config = attrs.evolve(
        config, name=name, game=game, missing=given.pop() if given else "error", missing_toolchain=None
    )
    object.__setattr__(config, "path", path)
    if not config.bots and not without_bots and config.entry is None:
        raise ConfigError(
            f'{where}: bots: a league needs bots; write bots = ["FOLDER", "FOLDER"] above the first [table]'
        )
    check_config(config, where)
    return config


def _read_toml(path: Path, where: str) -> dict[str, Any]:
    if path.suffix == ".sqlite":
        raise ConfigError(f"{where}: is the store of a league; name the league's TOML file")
    try:
        return parse_toml(read_text(path, where), where)
    except FileNotFoundError:
        near = sorted(map(str, path.parent.glob("*.toml")))
        places = (Path("leagues"), path.parent / "leagues")
        far = [str(file) for place in places for file in sorted(place.glob("*.toml"))]
        folder = os.path.isdir(path.parent)  # noqa: PTH112 - never an error
        none = f"{path.parent} has no .toml files" if folder else "nor its folder"
        hint = nearest_path(path.name, near + far) or nearest("", near or far, none)
        raise ConfigError(f"{where}: there is no such file; {hint}") from None
    except IsADirectoryError:
        raise ConfigError(f"{where}: is a folder; {_in_folder(path)}") from None
    except OSError as error:
        raise ConfigError(f"{where}: cannot be read: {error.strerror or error}") from None


def _in_folder(folder: Path) -> str:
    """The remedy for a folder in place of a league file."""
    if (folder / "league.sqlite").is_file():
        return "it has a league's store; the league's TOML file comes first"
    files = sorted(str(path) for path in folder.glob("*.toml") if path.name != MANIFEST)
    if files:
        return f"name a league's TOML file in it, such as {files[0]}"
    if (folder / MANIFEST).is_file():
        return "it is a bot's; name the league's TOML file, whose `bots` name folders"
    return "name the league's TOML file"


def _tables_of_options(data: dict[str, Any]) -> dict[str, list[tuple[str, ...]]]:
    """The table where the options of the game belong, by their names, if the file says which game it is."""
    table = data.get("game")
    name = table.get("id") if isinstance(table, dict) else table
    if isinstance(name, str):
        with suppress(BadInput):
            return {field.name: [("game", "options")] for field in attrs.fields(load_game(name).Options)}
    return {}


def _complete_game(table: GameTable, path: Path) -> GameTable:
    where = str(path)
    try:
        game = load_game(table.id)
    except BadInput as error:
        raise ConfigError(f"{where}: game.id: {error}") from error
    players = table.players or game.players[0]
    if players not in game.players:
        allowed = ", ".join(map(str, game.players))
        raise ConfigError(f"{where}: game.players: {game.id} is for {allowed} players, not {players}")
    raw = dict(table.options)
    for option in game.file_options & raw.keys():
        if isinstance(raw[option], str):
            raw[option] = _read_toml(path.parent / raw[option], f"{where}: game.options.{option}")
    for key in raw.keys() - {field.name for field in attrs.fields(game.Options)}:
        if place := place_of(key, LeagueConfig, value=raw[key]):
            raise ConfigError(f"{where}: game.options.{key}: unknown key; {place}")
    options = load_options(game, players, raw, f"{where}: game.options")
    return GameTable(id=table.id, players=players, options=options_json(options))
