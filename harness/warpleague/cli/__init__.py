"""The command line: finds the command to run, and turns its success or failure into an exit code.

The commands are declared in `commands`. Only the module of the one that runs is imported, since `--help` and
`--version` must be as fast as starting Python.
"""

from __future__ import annotations

import argparse
import errno
import gc
import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from warpleague.cli.declaration import load
from warpleague.cli.parser import BAD_INPUT, parser_for
from warpleague.errors import BadInput, HarnessFault, interrupt_behind
from warpleague.process import LastingStream, ReaderEnded, drop_output, reset_signals
from warpleague.text import SafeStream, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import TextIO

    from warpleague.league.referees.pool import Pool
    from warpleague.league.season.entry import Prepared
    from warpleague.match.spec import MatchResult, MatchSpec

DONE: Final = 0
FAILED: Final = 1
INTERRUPTED: Final = 130


class Tools(NamedTuple):
    """The tools with which commands play leagues; a caller, such as a test, may pass others.

    `prepare` makes a bundle of a bot's folder, `play` plays a match, `new_pool` makes the processes for matches. None:
    what commands always use.
    """

    prepare: Callable[[Path], Prepared] | None = None
    play: Callable[[MatchSpec], MatchResult] | None = None
    new_pool: Callable[..., Pool] | None = None

    @property
    def pool(self) -> dict[str, Any]:
        """The argument `new_pool` for functions that have a default of their own."""
        return {} if self.new_pool is None else {"new_pool": self.new_pool}


TOOLS: Final = Tools()
"""The tools that commands use."""


def run(words: Sequence[str], tools: Tools = TOOLS) -> int:
    """Run the command of these words; returns its exit code. Its errors are raised."""
    parser, rest = parser_for(words)
    args = parser.parse_args(rest, argparse.Namespace(tools=tools))
    if args.command.prints and isinstance(sys.stdout, SafeStream):
        cast("LastingStream", sys.stdout.inner).lasts = False
    code: int = load(args.command.run)(args)
    return code


def _cause(error: BaseException) -> BaseException:
    """The cause of an error: behind rich's exit when the reader ended, a lock's error after Ctrl-C, a group of trio's.

    The first of these kinds that is in a group of several causes decides its message; a group of bugs stays as it is.
    """
    if isinstance(error, SystemExit) and isinstance(error.__context__, ReaderEnded):
        return error.__context__
    if (interrupt := interrupt_behind(error)) is not None:
        return interrupt
    if isinstance(error, BaseExceptionGroup):
        causes = [_cause(inner) for inner in error.exceptions]
        for kind in (KeyboardInterrupt, SystemExit, ReaderEnded, HarnessFault, BadInput):
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
        case ReaderEnded():
            return DONE  # the reader (`| head`) needs no more
        case SystemExit() as cause:
            raise cause
        case (OSError(errno=errno.EMFILE | errno.ENFILE) | MemoryError()) as cause:
            from warpleague.runner.host import shortage  # for this error only

            print(
                f"warpleague: the machine gives this process too little: {shortage(cause)}", file=sys.stderr
            )
            return FAILED
        case OSError(errno=errno.ENOSPC, filename=None):
            drop_output(sys.stdout)
            print("warpleague: cannot write the output: no space left", file=sys.stderr)
            return FAILED
    raise error


def _spare_encodings() -> None:
    """Let a character that the terminal's or the locale's encoding lacks be escaped instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _safe_output() -> Iterator[None]:
    """Have all that is printed pass `SafeStream`: text of bots, records and stores cannot steer the terminal.

    Nor does it matter when nobody reads it any more: a run plays on, and a verdict stays what it is.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        stream and cast("TextIO", SafeStream(cast("TextIO", LastingStream(stream)))) for stream in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _print_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of a bug, as the interpreter does, with what could steer the terminal escaped."""
    from traceback import format_exception  # only a bug needs it

    if sys.stderr is not None:
        sys.stderr.write(safe("".join(format_exception(kind, error, trace))))


def main(argv: Sequence[str] | None = None, tools: Tools = TOOLS) -> int:
    """Run the command that `argv` (default: the process's arguments) names; returns the exit code.

    `tools` are what commands play leagues with, for who embeds the program or tests it.

    0: done. 1: a check failed, or the harness failed. 2: bad input, with an error message and no traceback. All
    other exceptions are bugs and keep their traceback.
    """
    if argv is None:
        reset_signals()
    _spare_encodings()
    sys.excepthook = _print_bug
    with _safe_output():
        try:
            try:
                return run(sys.argv[1:] if argv is None else argv, tools)
            finally:
                if sys.stdout is not None:  # there is none when it was closed (`>&-`)
                    sys.stdout.flush()  # so that a pipe breaks here, not at the interpreter's exit
                if argv is None:
                    gc.freeze()  # the process ends: to look for what could be freed takes long, and helps nobody
        except BaseException as error:  # noqa: BLE001 - sorted out, and raised again if it is a bug
            return _code(error)


if __name__ == "__main__":
    sys.exit(main())
