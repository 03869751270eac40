"""What the commands of a league share: the league that the arguments name, and commands on it to copy."""

from __future__ import annotations

import shlex
import sys
import time
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

import attrs
import msgspec

from warpleague.cli.common import RESULTS, json_text, program, say, write_out
from warpleague.errors import StoreError
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.report.wording.league_words import changes_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from warpleague.league.results.league import League
    from warpleague.league.season.config import LeagueConfig

_ARENA: Final = "arena.db"
"""The file of an arena in its folder of results, beside the leagues."""
_ROWS: Final = 400  # of a list, encoded at once
_LINE_S: Final = 5.0  # between two lines of progress
_LOG_LINE_S: Final = 30.0  # the same where nobody looks at a terminal
T = TypeVar("T")


def open_league(args: Namespace) -> League:
    """Open the league that the arguments name for reading, and print what has changed since its last run."""
    config = load_config(args.config, without_bots=True)
    try:
        league = open_to_read(in_arena(config, args.results) or config, args.results)
    except StoreError as error:
        command = league_command(args, "run", name=("warpleague",))
        raise StoreError(str(error).replace("warpleague league run LEAGUE", command)) from None
    if league.changed:
        say(
            f"note: {changes_line(league)} Shown is the league as it was last run; "
            f"to play what is new: {league_command(args, 'run')}"
        )
    return league


def with_lucks(args: Namespace, league: League) -> League:
    """The league with the luck of its matches, for standings that tell what is left without it."""
    from warpleague.league.results.luck import lucks_of  # numpy, which most commands do without

    lines = ProgressLines(silent=not sys.stderr.isatty())
    computed = partial(lines.tell, "matches whose luck is computed")
    return attrs.evolve(league, lucks=lucks_of(league, computed=computed, **args.tools.pool))


def in_arena(config: LeagueConfig, results: Path) -> LeagueConfig | None:
    """The league as the arena in the folder of results plays it; None if there is none, or it plays no such league."""
    if not (results / _ARENA).is_file():
        return None
    from warpleague.arena.submissions.entering import league_in_arena  # loads the whole arena, which few have

    return league_in_arena(config, results)


def league_command(args: Namespace, *words: str, name: tuple[str, ...] | None = None) -> str:
    """A command of ours on the same league, to be copied; `name` calls the program (default: as it can be here)."""
    results = () if args.results == RESULTS else ("--results", str(args.results))
    return command_on(args.config, words[0], *results, *words[1:], name=name)


def command_on(file: Path, word: str, *words: str, name: tuple[str, ...] | None = None) -> str:
    """The same on the league of a file, with all `words` that follow it."""
    return shlex.join((*(name or program()), "league", word, str(file), *words))


def print_json_list(rows: Iterable[object]) -> None:
    """Print what `print_json` prints of a list; however long it is, memory holds some hundred rows."""
    source = iter(rows)
    before = "["
    while some := list(islice(source, _ROWS)):
        # The encoder of the standard library is slow where it indents.
        text = msgspec.json.format(json_text(some, indent=None), indent=2)
        write_out(f"{before}{text[1:-2]}")
        before = ","
    print("[]" if before == "[" else "\n]")


def is_silent(args: Namespace) -> bool:
    """Whether a program reads what is printed, and nobody sees it waiting."""
    return bool(args.json) and not sys.stderr.isatty()


class ProgressLines:
    """A line on standard error now and then, for those who wait, unless it is `silent`."""

    def __init__(self, *, silent: bool = False) -> None:
        self._silent = silent
        self._pause_s = _LINE_S if sys.stderr.isatty() else _LOG_LINE_S
        self._printed_s = time.monotonic()

    def tell(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show the progress: `done` of `total`, where that is known."""
        now_s = time.monotonic()
        if not self._silent and now_s - self._printed_s >= self._pause_s:
            self._printed_s = now_s
            say(f"{what}: {done:,} of {total:,}" if total else what)


def told(rows: Iterable[T], what: str, total: int, *, silent: bool) -> Iterator[T]:
    """The same rows, one after the other; meanwhile, unless it is `silent`, lines say how many of the `total` came."""
    lines = ProgressLines(silent=silent)
    for done, row in enumerate(rows, 1):
        yield row
        lines.tell(what, done, total)
