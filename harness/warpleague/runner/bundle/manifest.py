"""Reads a `bot.toml`: TOML in, one checked `Manifest` out.

It is a stranger's file: nothing in it may name a program of this machine by its path, control a terminal, or make
its reader wait.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Final

import attrs

from warpleague.errors import BadInput, BotError, ConfigError
from warpleague.runner.bundle.shipped import shipped_bots, short_name
from warpleague.runner.confine.mounts import misfit_asked
from warpleague.runner.tree import MAX_DEPTH
from warpleague.strict import structure
from warpleague.text import nearest_path
from warpleague.toml_text import parse_toml, read_text
from warpline.bounds import Bounds, in_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

MANIFEST: Final = "bot.toml"
MANIFEST_KB: Final = 64
SHOWN_BYTES: Final = 1024

ANY: Final = "*"  # among a bot's games: it plays any, those of third parties too
# Where programs are that a manifest may name by their absolute paths: the system's, which every bot sees.
SYSTEM: Final = ("/usr", "/bin", "/sbin", "/nix/store", "/gnu/store")

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


def _check_name(_: object, field: attrs.Attribute[str], value: str) -> None:
    if not _NAME.fullmatch(value):
        text = "letters, digits, and after the first of them . _ + -, 64 characters at most"
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", value).strip("-._+")[:64]
        raise ValueError(
            f"{field.name} {value!r}: may consist of {text}{f', such as {plain!r}' if plain else ''}"
        )


def _check_texts(_: object, field: attrs.Attribute[Any], value: tuple[str, ...] | None) -> None:
    if value is None:
        return
    if not value or not value[0]:
        raise ValueError(f"{field.name}: must not be empty")
    if any("\0" in text for text in value):
        raise ValueError(f"{field.name}: must not contain the character NUL")


def _check_command(_: object, field: attrs.Attribute[Any], value: tuple[str, ...] | None) -> None:
    """A stranger's manifest must not name any program of this machine."""
    # The sandbox shows the folder around a program to the bot, and a Python outside of it is asked for its folders
    # installed.
    _check_texts(None, field, value)
    if value is None or "/" not in value[0]:
        return
    path = PurePosixPath(value[0])
    if ".." in path.parts or (path.is_absolute() and not any(map(path.is_relative_to, SYSTEM))):
        raise ValueError(
            f"{field.name}: the program {value[0]!r} must be in the bot's folder, or the name alone of one "
            "that is installed"
        )


def _check_shown(_: object, field: attrs.Attribute[Any], value: str | tuple[str, ...]) -> None:
    for text in (value,) if isinstance(value, str) else value:
        if not text.isprintable() or len(text.encode()) > SHOWN_BYTES:
            raise ValueError(
                f"{field.name}: must be printable, on one line, and of {SHOWN_BYTES} bytes at most"
            )


@attrs.frozen
class Limits:
    """A bot's demands on its host; `memory_mb` is its resident set in MiB.

    At level sandbox also: `processes` and threads at once, and `tmp_mb` MiB each of /tmp and /dev/shm to write to.
    """

    memory_mb: Annotated[int, Bounds(16, 16384)] = 512
    processes: Annotated[int, Bounds(1, 1024)] = 64
    tmp_mb: Annotated[int, Bounds(0, 4096)] = 0


def _check_paths(_: object, field: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    for path in value:
        if text := misfit_asked(path):
            raise ValueError(f"{field.name}: {text}")


@attrs.frozen
class ManifestSandbox:
    """`[sandbox]`: the paths of the machine that a bot asks to see beside what every bot sees."""

    paths: tuple[str, ...] = attrs.field(default=(), validator=_check_paths)


def plays(games: Sequence[str], game: str) -> bool:
    """Whether a bot whose manifest names these `games` plays `game`, an id."""
    return ANY in games or game in games


def games_named(games: Sequence[str]) -> str:
    """The games of a manifest, in words."""
    return "any game" if ANY in games else ", ".join(games)


_SHA256: Final = re.compile(r"[0-9a-f]{64}")


def _check_sha256(_: object, field: attrs.Attribute[str], value: str) -> None:
    if not _SHA256.fullmatch(value):
        raise ValueError(f"{field.name}: must be the 64 hexadecimal digits that sha256sum prints")


def _check_files(_: object, field: attrs.Attribute[Any], value: dict[str, LargeFile]) -> None:
    for name in value:
        path = PurePosixPath(name)
        odd = ".." in path.parts or str(path) != name or len(path.parts) > MAX_DEPTH
        if path.is_absolute() or odd or name in (".", MANIFEST):
            raise ValueError(f"{field.name}: {name!r} must be the name of a file in the bot's folder")
        if any(name.startswith(other + "/") for other in value):
            raise ValueError(f"{field.name}: {name!r} cannot be in a file")


@attrs.frozen
class LargeFile:
    """A file that is linked, not copied: its SHA-256, and where it is (default: where the bot finds it).

    `path` is absolute, or relative to the bot's folder.
    """

    sha256: str = attrs.field(validator=_check_sha256, metadata=in_schema(pattern=f"^{_SHA256.pattern}$"))
    path: str = ""


@attrs.frozen
class Manifest:
    """The content of a `bot.toml`."""

    name: str = attrs.field(validator=_check_name, metadata=in_schema(pattern=f"^{_NAME.pattern}$"))
    run: tuple[str, ...] = attrs.field(validator=_check_command, metadata=in_schema(minItems=1))
    games: tuple[str, ...] = attrs.field(
        validator=[_check_texts, _check_shown], metadata=in_schema(minItems=1)
    )
    version: str = attrs.field(
        default="0", validator=_check_name, metadata=in_schema(pattern=f"^{_NAME.pattern}$")
    )
    authors: tuple[str, ...] = attrs.field(default=(), validator=_check_shown)
    description: str = attrs.field(default="", validator=_check_shown)
    build: tuple[str, ...] | None = attrs.field(
        default=None, validator=_check_command, metadata=in_schema(minItems=1)
    )
    reusable: bool = False
    limits: Limits = Limits()
    sandbox: ManifestSandbox = ManifestSandbox()
    files: dict[str, LargeFile] = attrs.field(factory=dict, validator=_check_files)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the bot in `folder`; `BotError` names file and key."""
    require_folder(folder)
    path = folder / MANIFEST
    try:
        data = parse_toml(read_text(path, str(path), MANIFEST_KB), str(path))
    except FileNotFoundError:
        raise BotError(f"{folder}: no {MANIFEST} in this folder; {_instead(folder)}") from None
    except OSError as error:
        raise BotError(f"{path}: cannot read it: {error.strerror}") from None
    except ConfigError as error:
        raise BotError(str(error)) from None
    if "run" not in data and ("bots" in data or isinstance(data.get("game"), dict)):
        raise BotError(f"{path}: is a league file, and must be the bot's own: it says name, games and run")
    for key in ("run", "build"):
        if isinstance(text := data.get(key), str):
            raise BotError(f"{path}: {key}: must be a list of words: {key} = {as_words(text)}")
    try:
        return structure(data, Manifest, str(path))
    except ConfigError as error:
        raise BotError(str(error)) from None


def bots_in(folder: Path) -> list[Path]:
    """The folders of bots in `folder`, in the order of their names; `BadInput` if there are none."""
    if not os.path.isdir(folder):  # false where pathlib raises an error
        raise BadInput(f"{folder}: there is no such folder")
    if (folder / MANIFEST).is_file():
        raise BadInput(f"{folder}: is a bot itself; name the folder that it is in")
    folders = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    if not folders:
        raise BadInput(f"{folder}: no folder in it is a bot, with a {MANIFEST}")
    return folders


def _instead(folder: Path) -> str:
    """The remedy for a folder without a manifest."""
    with contextlib.suppress(OSError):
        for path in sorted(folder.iterdir()):
            if path.name.lower() == MANIFEST or get_close_matches(path.name, [MANIFEST], n=1, cutoff=0.85):
                return f"rename {path.name} to {MANIFEST}"
        if inner := sorted(folder.glob(f"*/{MANIFEST}")):
            return f"did you mean a folder in it, such as {inner[0].parent}?"
    return "it must say at least name, games, run"


def as_words(command: str) -> str:
    """A command line as a manifest has it: a TOML list of its words."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return json.dumps(words, ensure_ascii=False)


def require_folder(folder: Path) -> None:
    """Raise `BotError` if there is no such folder; it names the bot that may have been meant."""
    if os.path.isdir(folder):  # false where pathlib raises an error
        return
    if os.path.lexists(folder) and not os.path.islink(folder):
        if (folder.parent / MANIFEST).is_file():
            raise BotError(f"{folder}: is a file; a bot is named by its folder: {folder.parent}")
        kind = "a league file" if folder.suffix == ".toml" else "a file"
        raise BotError(f"{folder}: is {kind}, not a bot; name the folder with the bot's {MANIFEST}")
    folders = shipped_bots()
    with contextlib.suppress(OSError):
        folders = [*sorted(path.parent for path in folder.parent.glob(f"*/{MANIFEST}")), *folders]
    hint = nearest_path(str(folder), map(str, map(short_name, folders))) or "a bot is named by its folder"
    raise BotError(f"{folder}: there is no such folder; {hint}")
