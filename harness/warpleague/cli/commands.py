"""The commands: their names, in the groups of the overview, and the parser of each, made only when it is needed."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Final

from warpleague import __version__
from warpleague.cli.parser import Parser, below
from warpleague.cli.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUPS: Final = {
    "play": {
        "play": "play against bots yourself, in the browser or in the terminal",
        "match": "play one match between bots",
        "games": "list the games, or describe one",
        "brief": "print everything about a game that the author of a bot needs",
        "demo": "play a small league of every game",
        "docs": "list the pages of the documentation, or print one",
    },
    "improve a bot": {
        "bot": "start a new bot, check whether a bot is ready, list bots",
        "compare": "test whether a bot is better than another",
        "replay": "show or verify the record of a match",
        "analyse": "find the mistakes and turning points in the record of a match",
        "reproduce": "play a recorded match again, and compare",
        "sim": "answer questions about the rules, for bots that search",
    },
    "run a league": {
        "league": "play a league, and print its tables",
        "rounds": "let programs edit bots in rounds of edit, check and play",
    },
    "arena": {
        "submit": "send a bot to an arena",
        "serve": "show leagues in the browser while they are played, and take bots that authors submit",
        "arena": "organise an arena: authors, submissions, decisions",
    },
    "this machine": {
        "doctor": "test this machine: languages, limits and the sandbox",
        "cache": "list the built bots in the cache, or remove some",
        "completion": "print a script that lets your shell complete commands",
    },
}
"""The help of each command, by its name; each is a module of this folder."""

COMMANDS: Final = {name: what for group in GROUPS.values() for name, what in group.items()}

_AFTER: Final = """\
warpleague help COMMAND explains a command, with examples

exit codes:
  0    done
  1    a check failed, or the program itself failed
  2    bad input
  3    a test of strength is undecided
  4    in a single match a bot did not start
  130  stopped by Ctrl-C"""


def overview() -> Parser:
    """The parser of the bare program, which knows the commands by name only."""
    parser = Parser(
        prog="warpleague",
        description="A tournament program for bots that play board games about wormholes.",
        epilog=_AFTER,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="warpleague [--help] [--version] COMMAND ...",
    )
    parser.add_argument("--version", action="version", version=f"warpleague {__version__}")
    commands = parser.add_subparsers(required=True)
    for name, what in COMMANDS.items():
        commands.add_parser(name, help=what)
    parser.groups = {title: tuple(group) for title, group in GROUPS.items()}
    return parser


def parser_of(name: str) -> Parser:
    """The parser of a command, whose module is loaded for it."""
    family = import_module(f"warpleague.cli.{name}")
    parser = Parser(prog=f"warpleague {name}", description=(family.__doc__ or "").split("\n\n")[0])
    family.configure(parser)
    parser.set_defaults(tools=TOOLS)
    parser.groups = getattr(family, "GROUPS", {})
    return parser


def leaves() -> Iterator[Parser]:
    """The parsers of all commands that take arguments, such as those of `match` and `league run`."""
    for name in COMMANDS:
        yield from below(parser_of(name))


Parser.leaves = staticmethod(leaves)
