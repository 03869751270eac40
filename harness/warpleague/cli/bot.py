"""Start a new bot, give a bot the engine, list bots. What checks a bot is in `bot_check`, which loads far more."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.text import Text

from warpleague.cli.common import print_json
from warpleague.errors import BadInput, BotError
from warpleague.languages import LANGUAGES
from warpleague.report.terminal.console import BAD, GOOD, WARNING, make_console, make_table
from warpleague.runner.bundle.content import LEFT_OUT
from warpleague.runner.bundle.manifest import MANIFEST, games_named, read_manifest
from warpleague.runner.bundle.shipped import (
    ENGINE,
    located,
    shipped_bots,
    shipped_root,
    short_name,
    starter_folder,
    write_engine,
)
from warpleague.text import counted, safe, size_text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from rich.console import RenderableType

    from warpleague.league.season.entry import Problem
    from warpleague.runner.bundle.cache import Cached
    from warpleague.runner.findings import Finding


# -- printing --------------------------------------------------------------------------------------------


_STYLES: Final = {"ok": GOOD, "warning": WARNING, "failed": f"bold {BAD}"}


def print_finding(finding: Finding) -> None:
    """Print one finding as a line (a failure with its evidence below)."""
    text = Text(f"{finding.verdict:8}", style=_STYLES[finding.verdict])
    text.append(f"{finding.what}: ", "bold")
    text.append(safe(finding.text))
    make_console().print(text, soft_wrap=True)


def print_bots(bots: list[dict[str, Any]]) -> None:
    """Print one line a bot; those that cannot be read, with the reason, below."""
    table = make_table()
    for column in ("bot", "version", "games", "folder"):
        table.add_column(column, overflow="fold")
    for bot in bots:
        if "error" not in bot:
            folder = str(short_name(Path(bot["folder"])))
            row = (bot["name"], bot["version"], games_named(bot["games"]), folder)
            table.add_row(*(Text(safe(cell)) for cell in row))
    console = make_console()
    console.print(table)
    for bot in bots:
        if "error" in bot:
            console.print(Text(safe(bot["error"]), style=BAD), soft_wrap=True)


def print_cache(folder: str, entries: Sequence[Cached]) -> None:
    """Print one line for each built bot in the cache, and their total size."""
    console = make_console()
    if entries:
        table = make_table()
        for column in ("bot", "version", "digest", "built at"):
            table.add_column(column, overflow="fold")
        table.add_column("size", justify="right")
        for column in ("last used", ""):
            table.add_column(column)
        for entry in entries:
            used = datetime.fromtimestamp(entry.used, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
            size, level = size_text(entry.size), entry.level or ""
            row = (entry.name, entry.version, entry.digest[:12], level, size, used)
            table.add_row(*(Text(safe(cell)) for cell in row), "in use" if entry.in_use else "")
        console.print(table)
    many = counted(len(entries), "bot")
    text = f"{folder}: {many}, {size_text(sum(entry.size for entry in entries))}"
    console.print(Text(safe(text)), soft_wrap=True)


def problems_table(problems: Sequence[Problem], bots: int) -> RenderableType:
    """The bots of a league that cannot take part, each with the problem and its solution."""
    table = make_table()
    for column, ratio in (("bot", 1), ("what is wrong", 3), ("what to do", 3)):
        table.add_column(column, overflow="fold", ratio=ratio)
    for problem in problems:
        table.add_row(Text(problem.bot, style="bold"), Text(problem.what), Text(problem.todo))
    title = f"{len(problems)} of {counted(bots, 'bot')} cannot take part"
    return Group(Text(title, style=f"bold {BAD}"), table)


# -- the commands ----------------------------------------------------------------------------------------


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
    folders = sorted(path.parent for path in root.glob(f"*/{MANIFEST}")) if args.folder else shipped_bots()
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
