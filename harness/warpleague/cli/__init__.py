"""The command line: finds the command to run, and turns its success or failure into an exit code.

Each family of commands is a module, which is loaded only when it is needed: `--help` and `--version` must be as
fast as starting Python.
"""

from __future__ import annotations

import argparse
import errno
import gc
import io
import os
import re
import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Final, NoReturn, cast

from warpleague import __version__
from warpleague.errors import BadInput, HarnessFault
from warpleague.safe_text import SafeStream, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import TextIO

    from _typeshed import SupportsWrite

DONE: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130

COMMANDS: Final = {
    "match": "play one match between bots",
    "play": "play against bots yourself, in the browser or in the terminal",
    "games": "list the games, or describe one",
    "replay": "show or verify a recorded match",
    "analyse": "find the blunders and turning points of a recorded match",
    "reproduce": "play a recorded match again and compare",
    "league": "run a league, look at its tables",
    "compare": "test whether a bot is better than another",
    "bot": "check a bot, start a new one, list bots",
    "submit": "submit a bot to an arena",
    "serve": "serve leagues on one address: watch them live, submit bots",
    "arena": "organise an arena: authors, submissions, decisions",
    "sim": "serve the rules of the games to programs that search",
    "demo": "play a small league of every game",
    "docs": "list the pages of the documentation, or print one",
    "completion": "print what a shell needs to complete commands",
    "cache": "list the built bots in the cache, remove some",
    "doctor": "try what each level of confinement promises on this machine",
    "bench": "measure engines, referee and wire on this machine",
}

_AFTER: Final = """\
warpleague COMMAND --help explains a command, with examples

exit codes:
  0    done
  1    a check failed, or the harness failed
  2    bad input
  3    a test of strength is undecided
  4    in a single match a bot did not start
  130  stopped by Ctrl-C"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors say where to find help, and whose help has colours in a terminal."""

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help."""
        stream = sys.stdout.inner if isinstance(sys.stdout, SafeStream) else sys.stdout
        if file is not None or stream is None or not stream.isatty() or os.environ.get("NO_COLOR"):
            super().print_help(file)
            return
        from rich_argparse import RawDescriptionRichHelpFormatter

        class Coloured(RawDescriptionRichHelpFormatter):
            text_markup = help_markup = False
            group_name_formatter = str

        self.formatter_class = Coloured
        stream.write(self.format_help())  # past what would escape the colours

    def error(self, message: str) -> NoReturn:
        self.exit(
            BAD_INPUT, f"{self.prog}: {message}{_meant(message)}\n{self.prog} --help explains the command\n"
        )


def _meant(message: str) -> str:
    """What a mistyped word may have been meant to be, where argparse lists what it could have been."""
    from difflib import get_close_matches

    found = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)$", message)
    near = found and get_close_matches(found[1], re.findall(r"[\w-]+", found[2]), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _overview() -> _Parser:
    """The parser of the bare command, which knows the families by name only."""
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name.ljust(width)}  {text}" for name, text in COMMANDS.items())
    parser = _Parser(
        prog="warpleague",
        description="A tournament harness for bots that play board games about wormholes.",
        epilog=f"commands:\n{listing}\n\n{_AFTER}",
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


def _cause(error: BaseException) -> BaseException:
    """What ended the command: an exit behind which rich hides a broken pipe, or a task group trio's, looked through.

    A group of several causes is told by the first kind of these that is in it; one of bugs stays as it is.
    """
    if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
        return error.__context__
    if isinstance(error, BaseExceptionGroup):
        causes = [_cause(inner) for inner in error.exceptions]
        for kind in (KeyboardInterrupt, SystemExit, BrokenPipeError, HarnessFault, BadInput):
            for cause in causes:
                if isinstance(cause, kind):
                    return cause
    return error


def _code(error: BaseException) -> int:
    """The exit code for an error that ended a command; the error is printed on standard error, and bugs are raised."""
    match _cause(error):
        case BadInput() as cause:
            print(f"warpleague: {cause}", file=sys.stderr)
            return BAD_INPUT
        case HarnessFault() as cause:
            print(f"warpleague: the harness failed, nothing was decided: {cause}", file=sys.stderr)
            return FAILED
        case KeyboardInterrupt():
            print("warpleague: interrupted", file=sys.stderr)
            return INTERRUPTED
        case BrokenPipeError():
            _drop_output()  # the reader has ended (`| head`) and needs no more
            return DONE
        case SystemExit() as cause:
            raise cause
        case OSError(errno=errno.EMFILE | errno.ENFILE) | MemoryError():
            print(
                f"warpleague: the machine gives this process too little: {str(error) or 'out of memory'}",
                file=sys.stderr,
            )
            return FAILED
        case OSError(errno=errno.ENOSPC, filename=None):
            _drop_output()
            print("warpleague: cannot write the output: no space left", file=sys.stderr)
            return FAILED
    raise error


def _drop_output() -> None:
    """Keep the interpreter's exit from failing on standard output once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spare_encodings() -> None:
    """Let a character that the terminal's or the locale's encoding lacks be escaped instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _safe_output() -> Iterator[None]:
    """Have all that is printed pass `SafeStream`: text of bots, records and stores cannot steer the terminal."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        cast("TextIO", SafeStream(stream)) if stream is not None else stream for stream in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _tell_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of a bug, as the interpreter does, with what could steer the terminal escaped."""
    from traceback import format_exception

    if sys.stderr is not None:
        sys.stderr.write(safe("".join(format_exception(kind, error, trace))))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` (default: the process's arguments) names; returns the exit code.

    0: done. 1: a check failed, or the harness failed. 2: bad input, with an error message and no traceback. All
    other exceptions are bugs and keep their traceback.
    """
    _spare_encodings()
    sys.excepthook = _tell_bug
    with _safe_output():
        try:
            try:
                return _run(sys.argv[1:] if argv is None else argv)
            finally:
                if sys.stdout is not None:  # there is none when it was closed (`>&-`)
                    sys.stdout.flush()  # so that a pipe breaks here, not at the interpreter's exit
                if argv is None:
                    gc.freeze()  # the process ends: to look for what could be freed takes long, and helps nobody
        except BaseException as error:  # noqa: BLE001 - sorted out, and raised again if it is a bug
            return _code(error)


if __name__ == "__main__":
    sys.exit(main())
