"""Play the demo: a small league of every game, each with its report, in about a minute.

It runs commands of `warpleague league` and prints each of them, so that users can type them, too.
"""

from __future__ import annotations

import io
import shlex
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Final

from warpleague.cli import run
from warpleague.cli.common import RESULTS, program, say
from warpleague.errors import BadInput

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from pathlib import Path

INTERRUPTED: Final = 130
SMALL: Final = ("demo-captains", "demo-coasters", "demo-sheets")
"""Leagues of which only the standings are shown; the files are in `leagues/`."""
LAST: Final = "demo"
NEXT: Final = {
    "Next, write a bot that beats these:": (
        "bot new my-bot",
        "bot check my-bot",
        "match aliens my-bot bots/aliens-greedy --watch",
    ),
    "Or play yourself, in the browser:": ("play aliens",),
    "All of this, step by step:": ("docs first-hour",),
}
"""Next steps for a newcomer: words of `warpleague`, by what they are good for."""


def run_demo(args: Namespace) -> int:
    """Play the leagues of the demo, then tell what a newcomer may do next."""
    code = play_all(SMALL, LAST, args.results)
    if code != INTERRUPTED:
        _print_next()
    return code


def play_all(small: Sequence[str], last: str, results: Path) -> int:
    """Play the leagues `leagues/NAME.toml` of these names, whatever becomes of one of them.

    Of the `small` ones only the standings are shown. Returns the highest of their exit codes.
    """
    worst = 0
    for name in (*small, last):
        try:
            code = _play(name, results, small=name != last)
        except BadInput as error:
            say(f"warpleague: {error}")
            code = 2
        if code == INTERRUPTED:
            return code
        worst = max(worst, code)
        if name != last:
            print(flush=True)
    return worst


def _print_next() -> None:
    print()
    for purpose, commands in NEXT.items():
        print(purpose)
        for words in commands:
            print(f"  {shlex.join((*program(), *words.split()))}")


def _play(name: str, results: Path, *, small: bool) -> int:
    """Run one league and write its report; the exit code of what went wrong first, else 0."""
    if not small:
        return _league("run", name, results) or _league("report", name, results)
    return (
        _league("run", name, results, "--quiet", shown=False)  # only the last league says how to continue
        or _league("standings", name, results)
        or _league("report", name, results)
    )


def _league(action: str, name: str, results: Path, *options: str, shown: bool = True) -> int:
    """Do what `warpleague league ACTION` does, after showing this command; returns its exit code.

    If not `shown`, what it prints on standard output is shown only when it fails.
    """
    place = () if results == RESULTS else ("--results", str(results))
    words = ("league", action, f"leagues/{name}.toml", *place, *options)
    print(shlex.join((*program(), *words)), flush=True)
    if shown:
        return run(words)
    output = io.StringIO()
    with redirect_stdout(output):
        code = run(words)
    if code:
        print(output.getvalue(), end="")
    return code
