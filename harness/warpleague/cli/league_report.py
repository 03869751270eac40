"""Write the pages of a league, which `warpleague.report.site` makes."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.progress import Progress

from warpleague.cli.common import check_writable, print_json, say, write_file
from warpleague.cli.league_common import league_command, open_league
from warpleague.report.site.write import SiteSettings, write_site
from warpleague.report.terminal.console import make_console
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from warpleague.report.site.write import NotesFile

_LINE_S: Final = 5.0  # between two lines of progress


def run_report(args: Namespace) -> int:
    """Exit code 1: a record does not hold, and its match has no replay."""
    notes: dict[str, NotesFile] = {}
    for analysis in getattr(args, "analysis", ()):
        notes |= analysis.notes_files()
    with open_league(args) as league:
        out = args.out or args.results / league.config.name / "report"
        check_writable(out / "index.html")
        with _progress(args, "replay") as progress:
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


class _Lines:
    """A line every few seconds, for an output that nobody may look at before the end."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._printed_at = time.monotonic()

    def tell(self, done: int, total: int) -> None:
        """Show the progress: `done` of `total`."""
        now = time.monotonic()
        if now - self._printed_at >= _LINE_S:
            self._printed_at = now
            say(f"{done:,} of {counted(total, self._what)}")


@contextmanager
def _progress(args: Namespace, what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how much of `what` is done: a bar in a terminal, elsewhere a line now and then."""
    if args.json:
        yield lambda _done, _total: None
        return
    if not sys.stderr.isatty():
        yield _Lines(what).tell
        return

    with Progress(console=make_console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{what}s", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
