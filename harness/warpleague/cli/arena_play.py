"""Keep a league played: what is left, what is submitted, and what the organiser decides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import RESULTS, add_examples, add_verb, count

if TYPE_CHECKING:
    import argparse


def configure_play(verbs: Any) -> None:
    """Add `warpleague arena play`."""
    play = add_verb(verbs, "play", "keep a league played until stopped, as serve does")
    play.add_argument("config", type=Path, metavar="LEAGUE", help="the league file")
    play.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="the folder of results (default results)"
    )
    play.add_argument(
        "--jobs", type=count(0), metavar="N", help="matches at once (default: the file's; 0: all cores)"
    )
    play.add_argument("--live", action="store_true", help="let serve show the matches that are being played")
    play.add_argument(
        "--logs-mb",
        type=count(0),
        default=200,
        metavar="MB",
        help="keep so much of what bots print, the newest (default 200; 0: nothing)",
    )
    play.add_argument("--tied", action="store_true", help="end when standard input ends, too")
    add_examples(play, "arena play leagues/open.toml --live")
    play.set_defaults(handler=_run)


def _run(args: argparse.Namespace) -> int:
    from warpleague.arena.keeping import Keeping, keep_playing
    from warpleague.arena.tied import tie_to_input
    from warpleague.runner.bundle.shipped import located

    if args.tied:
        tie_to_input()
    return keep_playing(
        Keeping(located(args.config), args.results, args.jobs, live=args.live, logs_mb=args.logs_mb)
    )
