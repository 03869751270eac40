"""Start a new bot, give a bot the engine, list bots. What checks a bot is in `bot_check`, which loads far more."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.common import print_json
from warpleague.errors import BadInput, BotError
from warpleague.languages import LANGUAGES
from warpleague.report.terminal.bots import print_bots
from warpleague.runner.bundle.content import LEFT_OUT
from warpleague.runner.bundle.manifest import MANIFEST, read_manifest
from warpleague.runner.bundle.shipped import ENGINE, located, shipped_root, starter_folder, write_engine

if TYPE_CHECKING:
    from argparse import Namespace

STARTERS: Final = {language.word: language for language in LANGUAGES}
"""The languages that there is a starter in, by their words on the command line."""
SEARCHER: Final = "search-python"
"""The starter of bots in Python that bring the engine."""


def run_new(args: Namespace) -> int:
    """Copy a starter under the new name."""
    folder: Path = args.folder
    if os.path.lexists(folder):
        raise BadInput(f"{folder}: exists already; choose another name")
    shown = Path(os.path.realpath(folder)).name
    name = re.sub(r"[^A-Za-z0-9._+-]", "-", shown).strip("-._+") or "my-bot"
    language = STARTERS[args.lang]
    searches = args.with_engine and args.lang == "python"
    copy_starter(starter_folder(SEARCHER if searches else language.starter), folder, name[:64])
    how = "searches" if searches else "plays at random"
    print(f"{folder}: a bot in {language.name} that {how}; make it yours, then:")
    shown = f"./{folder}" if str(folder).startswith("-") else str(folder)  # otherwise it looks like an option
    print(f"  warpleague bot check {shlex.quote(shown)}")
    if args.with_engine:
        _put_engine(folder)
    return 0


def copy_starter(source: Path, folder: Path, name: str) -> None:
    """Copy the starter bot in `source` to the new `folder`, with `name` in its manifest; not what a build left there.

    Raises `BadInput` if the folder cannot be written.
    """
    try:
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    except OSError as error:
        raise BadInput(f"{folder}: cannot write there: {error.strerror or error}") from None
    manifest = (source / MANIFEST).read_text(encoding="utf-8")
    # Line by line, not through a parser: what the starter's author laid out to be read stays as it is.
    for key, value in (("name", f'"{name}"'), ("version", '"0.1"'), ("authors", "[]")):
        manifest = re.sub(rf"^{key} = .*$", f"{key} = {value}", manifest, flags=re.MULTILINE)
    (folder / MANIFEST).write_text(manifest, encoding="utf-8")


def run_engine(args: Namespace) -> int:
    """Put the engine into the folder of a bot, or renew it there."""
    read_manifest(args.folder)
    _put_engine(args.folder)
    return 0


def _put_engine(folder: Path) -> None:
    size = write_engine(folder)
    print(
        f"{folder / ENGINE}: the rules and the simulator, {size / 1024:.0f} KiB; `warpleague docs simulator` "
        "explains how to use it"
    )


def run_list(args: Namespace) -> int:
    """List bots by their manifests; 1 if one of them cannot be read."""
    root: Path = located(args.folder) if args.folder else shipped_root() / "bots"
    if not root.is_dir():
        raise BadInput(f"{root}: there is no such folder")
    folders = sorted(path.parent for path in root.glob(f"*/{MANIFEST}"))
    bots: list[dict[str, Any]] = []
    for folder in folders:
        try:
            manifest = read_manifest(folder)
        except BotError as error:
            bots.append({"folder": str(folder), "error": str(error)})
            continue
        bots.append(
            {
                "folder": str(folder),
                "name": manifest.name,
                "version": manifest.version,
                "games": list(manifest.games),
                "run": list(manifest.run),
            }
        )
    if args.json:
        print_json(bots)
    elif bots:
        print_bots(bots)
    else:
        itself = "; it is a bot itself: name the folder that it is in" if (root / MANIFEST).is_file() else ""
        print(f"{root}: no bots in the folders of this folder{itself}")
    return 1 if any("error" in bot for bot in bots) else 0
