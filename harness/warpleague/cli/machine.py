"""What concerns this machine: the cache of built bots, and a script that lets a shell complete commands.

`warpleague.runner.bundle.cache` knows which bots are in use, and removes others.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import shtab

from warpleague.cli.common import print_json
from warpleague.cli.declaration import Argument, Command
from warpleague.cli.parser import Parser
from warpleague.errors import BadInput
from warpleague.games import game_ids
from warpleague.runner.bundle.cache import Cached, cache_folder, cached_bundles, remove_bundle, sweep_cache
from warpleague.text import counted, nearest, size_text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence


def run_cache_list(args: Namespace) -> int:
    """List what the cache holds."""
    entries = cached_bundles()
    if args.json:
        print_json({"folder": str(cache_folder()), "bots": [_json(entry) for entry in entries]})
        return 0
    from warpleague.cli.bot import print_cache  # rich

    print_cache(str(cache_folder()), entries)
    return 0


def run_cache_clean(args: Namespace) -> int:
    """Remove what the arguments name; 1 if some of it could not be removed because it is in use."""
    if not (args.bots or args.all or args.older_than is not None):
        raise BadInput("cache clean: say what to remove: names or digests, --older-than DAYS, or --all")
    if args.bots and args.all:
        raise BadInput("cache clean: name bots, or say --all, not both")
    chosen = _chosen(cached_bundles(), args.bots)
    if args.older_than is not None:
        before = time.time() - args.older_than
        chosen = [entry for entry in chosen if entry.used <= before]
    sweep_cache()
    removed: list[Cached] = []
    in_use: list[Cached] = []
    for entry in chosen:
        (removed if remove_bundle(entry.path) else in_use).append(entry)
    if args.json:
        print_json(
            {"removed": [_json(entry) for entry in removed], "kept": [_json(entry) for entry in in_use]}
        )
    else:
        many = counted(len(removed), "bot")
        print(f"removed {many}, {size_text(sum(entry.size for entry in removed))}")
        for entry in in_use:
            print(f"kept {entry.name} {entry.digest[:12]}: it is in use, or may not be removed")
    return 1 if in_use else 0


def _chosen(entries: Sequence[Cached], words: Sequence[str]) -> list[Cached]:
    """The entries that the words name; all without words."""
    for word in words:
        if not any(_is_named(entry, word) for entry in entries):
            hint = nearest(word, sorted({entry.name for entry in entries}), "the cache is empty")
            raise BadInput(f"cache clean: no bot in the cache has the name or digest {word!r}; {hint}")
    return [entry for entry in entries if not words or any(_is_named(entry, word) for word in words)]


def _is_named(entry: Cached, word: str) -> bool:
    return word == entry.name or (len(word) >= 4 and entry.digest.startswith(word[:32].lower()))


def _json(entry: Cached) -> dict[str, Any]:
    return {
        "name": entry.name,
        "version": entry.version,
        "digest": entry.digest,
        "level": entry.level,
        "machine": entry.machine,
        "folder": str(entry.path),
        "bytes": entry.size,
        "used": datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds"),
        "in_use": entry.in_use,
    }


# -- completion ------------------------------------------------------------------------------------------


def run_completion(args: Namespace) -> int:
    """Print the script for a shell."""
    print(shtab.complete(_whole_parser(), shell=args.shell))
    return 0


def _whole_parser() -> Parser:
    """All commands in one parser, with what completes each argument."""
    parser = Parser()
    verbs = _add_below(parser)
    commands = tuple(command.word for command in parser.below)
    argument = Argument("command", "the command", nargs="?", choices=commands)
    explain = Command("help", "explain a command", arguments=(argument,))
    verbs.add_parser("help", help=explain.help, description=explain.help, command=explain)
    for action in _actions(parser):
        if action.nargs != 0 and action.choices is None:
            if action.metavar == "GAME":
                action.choices = game_ids()
            elif action.type is not int and action.type is not float:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


def _add_below(parser: Parser) -> argparse._SubParsersAction[Parser]:
    """Give the parser those of the commands below it."""
    verbs = parser.add_subparsers(parser_class=Parser)
    for command in parser.below:
        # zsh shows the description beside the name.
        short: dict[str, Any] = {} if command.above else {"description": command.help}
        inner = verbs.add_parser(command.word, help=command.help, command=command, **short)
        if inner.below:
            _add_below(inner)
    return verbs


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a command, and those of the commands below it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)
        else:
            yield action
