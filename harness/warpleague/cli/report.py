"""Write the site of a league.

These are the arguments and outputs of `warpleague league report`. The site itself is made in `warpleague.report.site`.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from warpleague.cli.common import check_writable, count, league_command, open_league, print_json, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_REPLAYS = 300
"""How many matches get a replay when nothing is said; on two processors that is a matter of seconds for any game."""


def configure_report(report: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague league report` that the other commands of a league do not have."""
    report.add_argument(
        "--out", type=Path, metavar="DIR", help="write to this folder (default: RESULTS/NAME/report)"
    )
    report.add_argument(
        "--replays",
        type=_replays,
        default=MOST_REPLAYS,
        metavar="N",
        help=f"write replays of at most N matches; `all` or `none` are possible, too (default: {MOST_REPLAYS})",
    )
    report.add_argument(
        "--analysis",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="show what an analysis found on the page of its match; `warpleague analyse --out "
        "FILE` writes this file; can be given several times",
    )
    report.add_argument(
        "--jobs",
        type=count(0),
        metavar="N",
        default=0,
        help="how many processes work at the same time (default: one for each core)",
    )


def _replays(text: str) -> int | None:
    """How many replays; None for all."""
    if text in ("all", "none"):
        return None if text == "all" else 0
    try:
        return count(0)(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be a number, all or none, not {text!r}") from None


def run_report(args: argparse.Namespace) -> int:
    """Exit code 1: a record does not hold, and its match has no replay."""
    from warpleague.report.site.write import write_site

    with open_league(args) as league:
        out = args.out or args.results / league.config.name / "report"
        check_writable(out / "index.html")
        with _progress(args, "replays") as progress:
            site = write_site(
                league,
                out,
                write_file,
                replays=args.replays,
                jobs=args.jobs,
                command=lambda *words: league_command(args, *words, name=("warpleague",)),
                progress=progress,
                analyses=args.analysis,
            )
    if args.json:
        changed = [change.to_json() for change in league.changed]
        print_json({"league": league.config.name, **site.to_json(), "changed": changed})
        return 1 if site.problems else 0
    for number, match, problem in site.problems:
        print(f"WRONG  match {number} ({match}): {problem}")
    of_all = "" if site.total is None else f" of {site.total:,}"
    print(
        f"{site.matches:,}{of_all} matches, {site.made + site.kept:,} replays "
        f"({site.made:,} written, {site.kept:,} there already), {site.bytes / 1e6:.1f} MB, {site.elapsed_s:.1f} s"
    )
    if site.left_out:
        full = league_command(args, "report", "--replays", "all")
        print(f"{site.left_out:,} matches without a replay. Write them all: {full}")
    print(f"open {site.index}")
    return 1 if site.problems else 0


@contextmanager
def _progress(args: argparse.Namespace, what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how much is done, and of how much; only in a terminal."""
    if args.json or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.progress import Progress

    from warpleague.report.terminal import make_console

    with Progress(console=make_console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
