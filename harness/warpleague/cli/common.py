"""What several command families share: options given as text, files read, JSON printed.

Leaves what the commands do to their modules.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.errors import BadInput, OptionsError, PositionError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from warpleague.games.api import Game, JsonObject


def print_json(data: object) -> None:
    """Print `data` as indented JSON in UTF-8."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


def say(text: str) -> None:
    """A remark for the person at the terminal: on standard error, so that it never mixes with output."""
    print(text, file=sys.stderr)


def add_clock(parser: argparse.ArgumentParser) -> None:
    """The options of the time limits."""
    clock = parser.add_argument_group("clock")
    clock.add_argument(
        "--move-s", type=seconds, metavar="S", help="most seconds for one decision (default 1)"
    )
    clock.add_argument("--bank-s", type=seconds, metavar="S", help="bank of seconds for the whole match")
    clock.add_argument(
        "--increment-s", type=seconds, metavar="S", help="added to the bank before each decision"
    )
    clock.add_argument(
        "--start-s", type=seconds, metavar="S", default=10.0, help="seconds to get ready (default 10)"
    )


def seconds(text: str) -> float:
    """A positive, finite number of seconds; `argparse` turns the error into its own."""
    value = float(text)
    if not 0 < value < 1e6:
        raise ValueError(text)
    return value


def parse_options(game: Game[Any, Any], pairs: Iterable[str]) -> JsonObject:
    """The raw options from `KEY=VALUE` texts.

    Values are read as TOML (`true`, `3`, `"text"`); what is no TOML value is a text as it stands. An option of
    `Game.file_options` names a TOML file whose content is taken.
    """
    raw: JsonObject = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise OptionsError(f"--option {pair}: must have the form KEY=VALUE")
        if key in raw:
            raise OptionsError(f"--option {key}: given twice")
        raw[key] = read_toml(Path(text)) if key in game.file_options else _value(text)
    return raw


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def read_toml(path: Path) -> JsonObject:
    """The content of a TOML file; `BadInput` names it and the place of the mistake."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: cannot read it: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not TOML: {error}") from None


def read_position(path: Path) -> JsonObject:
    """The JSON object in a position file; `PositionError` if there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PositionError(f"{path}: cannot read it: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise PositionError(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise PositionError(f"{path}: a position is a JSON object")
    return data
