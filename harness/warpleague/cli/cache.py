"""List the built bots in your cache, or remove some. A bot that is needed again is built again.

`warpleague.runner.bundle.cache` knows what is in use, and removes bots.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import add_examples, add_verb, duration, print_json
from warpleague.errors import BadInput
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from warpleague.runner.bundle.cache import Cached

_DAY_S = 86_400


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague cache`."""
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(handler=run_list)
    verbs = parser.add_subparsers()
    listing = add_verb(verbs, "list", "list the built bots, the one used last first")
    _add_json(listing)
    add_examples(listing, "cache list --json")
    listing.set_defaults(handler=run_list)
    clean = add_verb(verbs, "clean", "remove built bots, except those that a running command uses")
    clean.add_argument(
        "bots", nargs="*", metavar="BOT", help="the name of a bot, or the beginning of its digest"
    )
    clean.add_argument(
        "--older-than",
        type=duration(0, 1e6 * _DAY_S, "d"),
        metavar="DAYS",
        help="only those not used for this number of days, or for a time such as 12h",
    )
    clean.add_argument("--all", action="store_true", help="remove all")
    _add_json(clean)
    add_examples(clean, "cache clean --older-than 30", "cache clean my-bot 3f2a")
    clean.set_defaults(handler=run_clean)
    add_examples(parser, "cache", "cache clean --older-than 30")


def _add_json(parser: argparse.ArgumentParser) -> None:
    from argparse import SUPPRESS

    # Without a default, so that an option before the verb is not undone.
    parser.add_argument("--json", action="store_true", default=SUPPRESS, help="print the result as JSON")


def run_list(args: argparse.Namespace) -> int:
    """List what the cache holds."""
    from warpleague.runner.bundle.cache import cache_folder, cached

    entries = cached()
    if args.json:
        print_json({"folder": str(cache_folder()), "bots": [_json(entry) for entry in entries]})
        return 0
    from warpleague.report.terminal.bots import print_cache

    print_cache(str(cache_folder()), entries)
    return 0


def run_clean(args: argparse.Namespace) -> int:
    """Remove what the arguments name; 1 if some of it could not be removed because it is in use."""
    from warpleague.runner.bundle.cache import cached, clear, sweep_cache

    if not (args.bots or args.all or args.older_than is not None):
        raise BadInput("cache clean: say what to remove: names or digests, --older-than DAYS, or --all")
    if args.bots and args.all:
        raise BadInput("cache clean: name bots, or say --all, not both")
    chosen = _chosen(cached(), args.bots)
    if args.older_than is not None:
        before = time.time() - args.older_than
        chosen = [entry for entry in chosen if entry.used <= before]
    sweep_cache()
    removed: list[Cached] = []
    in_use: list[Cached] = []
    for entry in chosen:
        (removed if clear(entry) else in_use).append(entry)
    if args.json:
        print_json(
            {"removed": [_json(entry) for entry in removed], "kept": [_json(entry) for entry in in_use]}
        )
    else:
        from warpleague.report.terminal.bots import size_text

        many = counted(len(removed), "bot")
        print(f"removed {many}, {size_text(sum(entry.size for entry in removed))}")
        for entry in in_use:
            print(f"kept {entry.name} {entry.digest[:12]}: it is in use, or may not be removed")
    return 1 if in_use else 0


def _chosen(entries: Sequence[Cached], words: Sequence[str]) -> list[Cached]:
    """The entries that the words name; all without words."""
    from warpleague.text import nearest

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
