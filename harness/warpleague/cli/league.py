"""Print the tables of a league, and the list of its matches."""

from __future__ import annotations

import shutil
import sys
import textwrap
from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.common import print_json
from warpleague.cli.league_common import open_league, print_json_list, told, with_lucks
from warpleague.errors import BadInput
from warpleague.league.ratings.threads import one_thread
from warpleague.league.results.league import listed
from warpleague.text import nearest

if TYPE_CHECKING:
    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture, StoredMatch

_NUMBER: Final = 9
"""The columns of a match's number, and of the blanks after it."""


def run_status(args: Namespace) -> int:
    """Print how far a league is."""
    from warpleague.report.terminal.console import (
        make_console,  # rich, which the list of matches does without
    )
    from warpleague.report.terminal.status import status_json, status_table

    with open_league(args) as league, one_thread():  # numpy, where matches are played
        if args.json:
            print_json(status_json(league))
        else:
            make_console().print(status_table(league, proofs=args.proofs))
    return 0


def run_table(args: Namespace) -> int:
    """Print one of the tables: the last word of the command names it."""
    from warpleague.report.terminal.console import make_console

    with one_thread():
        from warpleague.report.terminal.tables import MACHINES_VIEW, VIEWS  # loads numpy
    view = MACHINES_VIEW if getattr(args, "workers", False) else VIEWS[args.command.word]
    with open_league(args) as league:
        if getattr(args, "without_luck", False):  # of these commands only one has it
            league = with_lucks(args, league)
        if args.json:
            print_json(view.data(league))
        else:
            console = make_console()
            console.print(view.table(league, console.width))
    return 0


def run_standings(args: Namespace) -> int:
    """Print the standings of one league, or with --together one table over several."""
    first, *more = args.config
    if not args.together:
        if more:
            raise BadInput("several leagues: add --together for one table over them, or name one league")
        args.config = first
        return run_table(args)
    if args.without_luck:
        raise BadInput("--without-luck is for one league: leave out --together")
    from warpleague.report.terminal.console import make_console

    with one_thread():
        from warpleague.league.results.together import LeagueResults, together  # loads numpy
        from warpleague.report.terminal.together import together_json, together_table
    results = []
    for file in args.config:
        with open_league(Namespace(**{**vars(args), "config": file})) as league:
            results.append(LeagueResults.of(league))
    table = together(results)
    if args.json:
        print_json(together_json(table))
    else:
        make_console().print(together_table(table))
    return 0


def run_list(args: Namespace) -> int:
    """Print a line for each match, or JSON."""
    with open_league(args) as league, league.store.snapshot():
        names = league.season.names
        if args.bot is not None and args.bot not in names:
            raise BadInput(f"--bot: no bot is called {args.bot!r}; {nearest(args.bot, names)}")
        only = None if args.bot is None else names.index(args.bot)
        matches = (
            (fixture, played) for fixture, played in listed(league) if only is None or only in fixture.seats
        )
        # Who sees the list itself needs no more.
        silent = sys.stdout.isatty() or not sys.stderr.isatty()
        rows = told(matches, "matches", league.schedule.total or league.store.count(), silent=silent)
        if args.json:
            print_json_list(_match_json(league, fixture, played) for fixture, played in rows)
            return 0
        for fixture, played in rows:
            bots = " – ".join(names[bot] for bot in fixture.seats)
            out = league.disqualified_in(fixture)
            if played is None:
                why = f", {' and '.join(out)} disqualified" if out else ""
                _print_line(f"{fixture.number:>7}  {fixture.id}  {bots}  not played{why}")
                continue
            ranks = "-".join(map(str, played.ranks))
            scores = ", ".join(f"{score:g}" for score in played.scores)
            if played.rival is not None:
                scores += f" against {played.rival:g}"
            taken = "" if league.counts(fixture) else f"  taken out: {' and '.join(out)} disqualified"
            _print_line(
                f"{fixture.number:>7}  {fixture.id}  {bots}  ranks {ranks}  scores {scores}  {played.why}{taken}"
            )
    return 0


def _print_line(line: str) -> None:
    """Print a line: whole to a file or a program, in a terminal folded at its width, beside the number."""
    if sys.stdout.isatty():
        columns = shutil.get_terminal_size().columns
        line = textwrap.fill(
            line, columns, subsequent_indent=" " * _NUMBER, break_on_hyphens=False, replace_whitespace=False
        )
    print(line)


def _match_json(league: League, fixture: Fixture, played: StoredMatch | None) -> dict[str, Any]:
    """A line of `matches`; what only a result has is missing where there is none."""
    names = league.season.names
    row: dict[str, Any] = {
        "number": fixture.number,
        "match": fixture.id,
        "deal": fixture.deal,
        "played": played is not None,
        "seats": [names[bot] for bot in fixture.seats],
    }
    if played is not None:
        row["ranks"], row["scores"], row["why"] = played.ranks, played.scores, played.why
        if played.rival is not None:
            row["rival"] = played.rival
        row["digest"], row["faults"] = played.digest, [len(seat) for seat in played.faults]
    if out := league.disqualified_in(fixture):
        row |= {"disqualified": out, "counts": played is not None and league.counts(fixture)}
    return row
