"""Print a script that lets your shell complete commands, options and files of warpleague with Tab.

It is a text for the shell's own start-up file: it needs no Python while you type.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Final

import shtab

from warpleague import __version__
from warpleague.cli.parser import Parser
from warpleague.games import game_ids

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHELLS: Final = ("bash", "zsh", "tcsh")
_EXAMPLES: Final = """\
bash reads it from ~/.local/share/bash-completion/completions/warpleague,
zsh from a file _warpleague in a folder of its fpath.

examples:
  warpleague completion bash
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", choices=_SHELLS, help="your shell")
    parser.set_defaults(handler=_print)


def _print(args: argparse.Namespace) -> int:
    print(shtab.complete(whole_parser(), shell=args.shell))
    return 0


def whole_parser() -> Parser:
    """All commands in one parser, with what completes each argument."""
    from warpleague.cli.commands import COMMANDS

    parser = Parser(prog="warpleague")
    parser.add_argument("--version", action="version", version=f"warpleague {__version__}")
    families = parser.add_subparsers()
    for name, text in COMMANDS.items():
        import_module(f"warpleague.cli.{name}").configure(families.add_parser(name, help=text))
    explained = families.add_parser("help", help="explain a command")
    explained.add_argument("command", nargs="?", choices=tuple(COMMANDS), help="the command")
    for action in _actions(parser):
        if action.nargs != 0 and action.choices is None:
            if action.metavar == "GAME":
                action.choices = game_ids()
            elif action.type is not int and action.type is not float:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in {id(inner): inner for inner in action.choices.values()}.values():
                yield from _actions(inner)
        else:
            yield action
