"""Serve leagues on one address: live standings, matches as they are played, replays, rules, and submissions.

The server also plays what is left of its leagues, unless told not to.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warpleague.cli.common import RESULTS, add_examples, count, duration_s

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague serve`."""
    parser.add_argument("config", type=Path, nargs="+", metavar="LEAGUE", help="the league files")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="the folder of results (default results)"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="where to listen (default 127.0.0.1: this machine only)",
    )
    parser.add_argument(
        "--port", type=count(0), default=8000, metavar="N", help="the port (default 8000; 0: a free one)"
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which visitors call this server, where it is not only for this machine; can be repeated",
    )
    parser.add_argument(
        "--behind-proxy",
        action="store_true",
        help="a proxy on this machine passes the visitors on, and says in X-Forwarded-For who they are",
    )
    parser.add_argument("--title", default="Warp League", metavar="TEXT", help="what stands above each page")
    parser.add_argument(
        "--no-play", action="store_true", help="play and check nothing: other processes do that"
    )
    parser.add_argument(
        "--jobs", type=count(0), metavar="N", help="matches at once (default: the file's; 0: all cores)"
    )
    parser.add_argument(
        "--delay",
        type=duration_s,
        default=0.0,
        metavar="TIME",
        help="show what happens in a match so much later, such as 30s",
    )
    parser.add_argument(
        "--pages-mb",
        type=count(1),
        default=500,
        metavar="MB",
        help="keep so much of made pages for each league (default 500)",
    )
    parser.add_argument(
        "--logs-mb",
        type=count(0),
        default=200,
        metavar="MB",
        help="keep so much of what bots print for each league, the newest (default 200; 0: nothing)",
    )
    add_examples(
        parser,
        "serve leagues/open.toml",
        "serve leagues/open.toml --port 8080 --delay 30s",
        "serve leagues/open.toml --behind-proxy --name arena.example.org",
    )
    parser.set_defaults(handler=_run)


def _run(args: argparse.Namespace) -> int:
    import trio

    from warpleague.arena.hall.run import Serving, run_server

    serving = Serving(
        paths=tuple(args.config),
        results=args.results,
        host=args.host,
        port=args.port,
        names=tuple(args.name),
        title=args.title,
        plays=not args.no_play,
        jobs=args.jobs,
        delay_s=args.delay,
        pages_mb=args.pages_mb,
        logs_mb=args.logs_mb,
        behind_proxy=args.behind_proxy,
    )
    trio.run(run_server, serving, lambda address: print(f"open {address}\nCtrl-C ends it", flush=True))
    return 0
