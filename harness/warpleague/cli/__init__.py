"""The command line: which command runs, and how its success or failure becomes an exit code.

Leaves each family of commands to its module, loaded only when it is the one asked for: `--help` and `--version`
must stay as cheap as starting Python.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final, NoReturn

from warpleague import __version__
from warpleague.errors import BadInput, HarnessFault

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130

COMMANDS: Final = {
    "match": "play one match",
    "games": "list the games, or describe one",
    "replay": "show or verify a recorded match",
    "reproduce": "play a recorded match again and compare",
    "league": "run a league, look at its tables",
    "bot": "check a bot, list bots",
    "bench": "measure engines, referee and wire on this machine",
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors say where to find help."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n{self.prog} --help tells more\n")


def _overview() -> _Parser:
    """The parser of the bare command, which knows the families by name only."""
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name.ljust(width)}  {text}" for name, text in COMMANDS.items())
    parser = _Parser(
        prog="warpleague",
        description="A tournament harness for bots that play board games about wormholes.",
        epilog=f"commands:\n{listing}\n\nwarpleague COMMAND --help tells more about a command",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="warpleague [--help] [--version] COMMAND ...",
    )
    parser.add_argument("--version", action="version", version=f"warpleague {__version__}")
    parser.add_argument("command", metavar="COMMAND", choices=tuple(COMMANDS), help=argparse.SUPPRESS)
    return parser


def _run(argv: Sequence[str]) -> int:
    name = _overview().parse_args(argv[:1]).command
    family = import_module(f"warpleague.cli.{name}")
    parser = _Parser(prog=f"warpleague {name}", description=(family.__doc__ or "").split("\n\n")[0])
    family.configure(parser)
    args = parser.parse_args(argv[1:])
    code: int = args.handler(args)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` (default: the process's arguments) names; returns the exit code.

    0: done. 1: a check failed, or the harness did. 2: bad input, told in one text without a traceback. What is
    no error of ours or the user's is a bug and keeps its traceback.
    """
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except BadInput as error:
        print(f"warpleague: {error}", file=sys.stderr)
        return BAD_INPUT
    except HarnessFault as error:
        print(f"warpleague: the harness failed, nothing was decided: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("warpleague: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): keep the exit from failing on the same pipe once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


if __name__ == "__main__":
    sys.exit(main())
