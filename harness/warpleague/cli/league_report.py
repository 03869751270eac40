"""Write a league to files: its pages, which `warpleague.report.site` makes, its records, and its tables of data."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from rich.progress import Progress

from warpleague.cli.common import check_new, check_writable, print_json, say, write_file
from warpleague.cli.league_common import (
    ProgressLines,
    is_silent,
    league_command,
    open_league,
    print_json_list,
    told,
    with_lucks,
)
from warpleague.errors import BadInput
from warpleague.league.play.verifying import published_record
from warpleague.league.results.export import (
    DECISIONS,
    MATCHES,
    SEATS,
    file_name,
    match_row,
    need,
    seat_rows,
    table_file,
    write_decisions,
)
from warpleague.match.record import pack
from warpleague.match.replay import is_same_play
from warpleague.report.site.write import NotesFile, SiteSettings, write_site
from warpleague.report.terminal.console import make_console
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from warpleague.league.results.league import League


def run_report(args: Namespace) -> int:
    """Exit code 1: a record does not hold, and its match has no replay."""
    notes: dict[str, NotesFile] = {}
    for analysis in getattr(args, "analysis", ()):
        notes |= analysis.notes_files()
    with open_league(args) as league:
        if args.without_luck:
            league = with_lucks(args, league)
        out = args.out or args.results / league.config.name / "report"
        check_writable(out / "index.html")
        with _progress(args) as progress:
            site = write_site(
                league,
                out,
                write_file,
                lambda *words: league_command(args, *words, name=("warpleague",)),
                SiteSettings(replays=args.replays, jobs=args.jobs, notes=notes),
                progress,
            )
    if args.json:
        changed = [change.to_json() for change in league.changed]
        print_json({"league": league.config.name, **site.to_json(), "changed": changed})
        return 1 if site.problems else 0
    for number, match, problem in site.problems:
        print(f"WRONG  match {number} ({match}): {problem}")
    of_all = "" if site.total is None else f"{site.matches:,} of "
    print(
        f"{of_all}{counted(site.matches if site.total is None else site.total, 'match')}, "
        f"{counted(site.made + site.existing, 'replay')} "
        f"({site.made:,} written, {site.existing:,} there already), {site.bytes / 1e6:.1f} MB, {site.elapsed_s:.1f} s"
    )
    if site.left_out:
        full = league_command(args, "report", "--replays", "all")
        print(f"{counted(site.left_out, 'match')} without a replay. Write them all: {full}")
    print(f"open {site.index}")
    return 1 if site.problems else 0


@contextmanager
def _progress(args: Namespace) -> Iterator[Callable[..., None]]:
    """A function that shows what is made and how much of it is done: a bar in a terminal, elsewhere lines."""
    if not sys.stderr.isatty():
        yield ProgressLines(silent=args.json).tell
        return

    with Progress(console=make_console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done=0, total=0: bar.update(
            task, description=what, completed=done, total=total or None
        )


# -- league export ---------------------------------------------------------------------------------------
# Write the records of a league to files, or its matches, seats and decisions as tables for data tools.


_SUFFIXES: Final = {"jsonl": ".jsonl", "zst": ".jsonl.zst", "gz": ".jsonl.gz"}
"""The end of a record's file name, by format; the other formats are of tables."""


def run_export(args: Namespace) -> int:
    """Write the files and print what was written."""
    if args.format in _SUFFIXES:
        if args.decisions:
            raise BadInput("--decisions: is for tables; add --format csv or --format parquet")
        return _records(args)
    if args.match is not None:
        raise BadInput("--match: is for records; tables are of all matches")
    return _tables(args)


def _records(args: Namespace) -> int:
    with open_league(args) as league:
        folder = args.out or args.results / league.config.name / "records"
        if args.match is not None:
            wanted = iter([league.find(args.match)])
        else:
            wanted = ((fixture.id, fixture.deal) for fixture, _ in league.stored())
        total = 1 if args.match is not None else league.store.count()

        def written() -> Iterator[str]:
            for match_id, deal in told(wanted, "records", total, silent=is_silent(args)):
                path = folder / (match_id + _SUFFIXES[args.format])
                record = published_record(league, match_id, deal)
                check_new(path, args.force or is_same_play(path, record))
                write_file(path, pack(record, path.name))
                yield str(path)

        if args.json:
            print_json_list(written())
        elif args.match is not None:
            print(*written())
        else:
            print(f"{counted(sum(1 for _ in written()), 'record')} written to {folder}")
        if not league.store.published():
            say("note: the season is not over: the records' keys stay secret until then")
    return 0


def _tables(args: Namespace) -> int:
    need(args.format)
    with open_league(args) as league:
        folder = args.out or args.results / league.config.name / "tables"
        paths = {
            table.name: folder / file_name(table, args.format)
            for table in (MATCHES, SEATS, *([DECISIONS] if args.decisions else []))
        }
        for path in paths.values():
            check_new(path, args.force)
        counts = _write(league, paths, args)
        if args.json:
            print_json(
                [{"table": name, "file": str(paths[name]), "rows": rows} for name, rows in counts.items()]
            )
        else:
            for name, rows in counts.items():
                print(f"{rows:>9,} rows  {paths[name]}")
    return 0


def _write(league: League, paths: dict[str, Path], args: Namespace) -> dict[str, int]:
    """Write the tables; the number of rows in each."""
    counts = dict.fromkeys(paths, 0)
    total, silent = league.store.count(), is_silent(args)
    with (
        table_file(paths["matches"], MATCHES, args.format) as matches,
        table_file(paths["seats"], SEATS, args.format) as seats,
    ):
        for fixture, played in told(league.stored(), "matches", total, silent=silent):
            counts["matches"] += matches.write([match_row(league, fixture, played)])
            counts["seats"] += seats.write(seat_rows(league, fixture, played))
    if "decisions" in paths:
        path = paths["decisions"]
        with (
            table_file(path, DECISIONS, args.format) as decisions,
            TemporaryDirectory(prefix=f".{path.name}.", suffix=".part", dir=path.parent) as folder,
        ):
            stored = told(league.stored(), "matches whose decisions are read", total, silent=silent)
            fixtures = (fixture for fixture, _ in stored)
            counts["decisions"] = write_decisions(
                decisions, args.format, league, fixtures, Path(folder), args.jobs, **args.tools.pool
            )
    return counts
