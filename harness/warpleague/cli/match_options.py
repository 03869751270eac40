"""What the options of matches say: the conditions, the game's options, positions, and paths and logs of bots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.common import RESULTS, make_folder, unreadable
from warpleague.errors import BadInput, ConfigError, OptionsError, PositionError
from warpleague.match.spec import LEVEL, STRIKES, Conditions, TimeControl
from warpleague.runner.bot.logs import LogFolder
from warpleague.runner.bundle.cache import cache_folder
from warpleague.runner.confine.mounts import check_granted
from warpleague.toml_text import parse_toml, read_text
from warpline.limits import MAX_NOTE_BYTES

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from warpleague.games.api import Game, JsonObject


_OTHER_OPTIONS: Final = [
    "seed",
    "level",
    "move_s",
    "bank_s",
    "increment_s",
    "start_s",
    "faults",
    "strikes",
    "record",
]
_NO_OPTIONS: Final = {
    "players": "there are as many players as you name bots",
    **{name: f"write --{name.replace('_', '-')}" for name in _OTHER_OPTIONS},
}
"""Keys that people mistake for options of a game, and the right place of each."""


def clock_of(args: Namespace) -> TimeControl:
    """The time limits that the options say."""
    unlimited = args.move_s is None and args.bank_s is None and args.increment_s is None
    return TimeControl(1.0 if unlimited else args.move_s, args.bank_s, args.increment_s, args.start_s)


def conditions_of(args: Namespace) -> Conditions:
    """The conditions that the options say."""
    if args.strikes is not None and args.faults != "substitute":
        raise BadInput("--strikes needs --faults substitute: otherwise the first fault forfeits")
    if args.note_bytes > MAX_NOTE_BYTES:
        raise BadInput(f"--note-bytes: at most {MAX_NOTE_BYTES}, not {args.note_bytes}")
    strikes = STRIKES if args.strikes is None else args.strikes
    return Conditions(
        clock=clock_of(args),
        level=args.level or LEVEL,
        faults=args.faults,
        strikes=strikes if args.faults == "substitute" else 0,
        pondering=args.pondering,
        again=args.ask_again,
        failures=args.failures,
        note_bytes=args.note_bytes,
    )


def sandbox_paths(args: Namespace) -> tuple[str, ...]:
    """The paths of `--sandbox-path`; `BadInput` for one that no bot may see."""
    if args.sandbox_path:
        check_granted(args.sandbox_path, "--sandbox-path", (cache_folder(), RESULTS))
    return tuple(args.sandbox_path)


def parse_options(game: Game[Any, Any], pairs: Iterable[str]) -> JsonObject:
    """The raw options from `KEY=VALUE` texts.

    Values are read as TOML (`true`, `3`, `"text"`); any other value is a text. An option of
    `Game.file_options` names a TOML file whose content is taken.
    """
    raw: JsonObject = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise OptionsError(f"--option {pair}: must have the form KEY=VALUE")
        if key in raw:
            raise OptionsError(f"--option {key}: given twice")
        if key in _NO_OPTIONS and key not in {field.name for field in attrs.fields(game.Options)}:
            raise OptionsError(f"--option {key}: {game.id} has no such option; {_NO_OPTIONS[key]}")
        raw[key] = read_toml(Path(text)) if key in game.file_options else _value(text)
    return raw


def _value(text: str) -> Any:
    try:
        return parse_toml(f"value = {text}", "--option")["value"]
    except (ConfigError, KeyError):
        return text


def read_toml(path: Path) -> JsonObject:
    """The content of a TOML file; `BadInput` names it and the place of the mistake."""
    try:
        return parse_toml(read_text(path, str(path)), str(path))
    except OSError as error:
        raise BadInput(f"{path}: cannot read it: {unreadable(path, error)}") from None


def read_position(path: Path) -> JsonObject:
    """The JSON object in a position file. Raises `PositionError` if there is none."""
    try:
        data = json.loads(read_text(path, str(path)))
    except OSError as error:
        raise PositionError(f"{path}: cannot read it: {unreadable(path, error)}") from None
    except (ValueError, RecursionError) as error:
        if ".jsonl" in path.name:
            raise PositionError(
                f"{path}: this is the record of a match; take a position from it: warpleague replay position {path} "
                "--at N --out FILE"
            ) from None
        raise PositionError(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise PositionError(f"{path}: a position is a JSON object")
    return data


def log_folder(folder: Path | None) -> LogFolder | None:
    """The folder for logs, if one is named. It is made now; `BadInput` if that is not possible."""
    if folder is None:
        return None
    make_folder(folder)
    return LogFolder(folder)
