"""Keeps a league up to date: plays its matches, checks submissions, and carries out the organiser's decisions."""

from __future__ import annotations

from argparse import SUPPRESS
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import RESULTS, add_examples, add_verb, count

if TYPE_CHECKING:
    import argparse


def configure_play(verbs: Any) -> None:
    """Add `warpleague arena play`."""
    play = add_verb(
        verbs, "play", "play a league and new bots in it, until you stop it (`serve` does this, too)"
    )
    play.add_argument("config", type=Path, metavar="LEAGUE", help="the file of the league")
    play.add_argument(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="DIR",
        help="the folder of all results (default: results)",
    )
    play.add_argument(
        "--jobs",
        type=count(0),
        metavar="N",
        help="the number of matches at the same time (default: as the file says; 0: one for each core)",
    )
    play.add_argument("--live", action="store_true", help="let `serve` show matches while they are played")
    play.add_argument(
        "--logs-mb",
        type=count(0),
        default=200,
        metavar="MB",
        help="disk space for the output of bots, in MB; the newest stays (default 200; 0: none)",
    )
    play.add_argument("--end-with-parent", "--tied", action="store_true", help=SUPPRESS)
    add_examples(play, "arena play leagues/open.toml --live")
    play.set_defaults(handler=_run)


def _run(args: argparse.Namespace) -> int:
    from warpleague.arena.processes import end_with_parent
    from warpleague.arena.scheduler import SchedulerSettings, run_scheduler
    from warpleague.runner.bundle.shipped import located

    if args.end_with_parent:
        end_with_parent()
    return run_scheduler(
        SchedulerSettings(located(args.config), args.results, args.jobs, live=args.live, logs_mb=args.logs_mb)
    )
