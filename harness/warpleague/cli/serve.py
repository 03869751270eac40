"""Show leagues in the browser while they are played, and take bots that authors submit.

The server also plays the rest of its leagues, unless an option forbids it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warpleague.cli.common import RESULTS, add_examples, count, duration, port

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague serve`."""
    parser.add_argument(
        "config", type=Path, nargs="+", metavar="LEAGUE", help="the file of a league; several are possible"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="DIR",
        help="the folder of all results (default: results)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="the address to listen at (default 127.0.0.1: only this machine can reach the pages; "
        "0.0.0.0: others can, too)",
    )
    parser.add_argument(
        "--port",
        type=port,
        default=8000,
        metavar="N",
        help="the port to listen at (default 8000; 0: any free port)",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name by which visitors from other machines reach this server; can be given several times",
    )
    parser.add_argument(
        "--behind-proxy",
        action="store_true",
        help="visitors come through a proxy on this machine, which gives their address in X-Forwarded-For",
    )
    parser.add_argument("--title", default="Warp League", metavar="TEXT", help="the title of the pages")
    parser.add_argument(
        "--no-play",
        action="store_true",
        help="only show pages: `arena play` and `arena check` play matches and check bots",
    )
    parser.add_argument(
        "--jobs",
        type=count(0),
        metavar="N",
        help="the number of matches at the same time (default: as the file says; 0: one for each core)",
    )
    parser.add_argument(
        "--delay",
        type=duration(0, 1e6),
        default=0.0,
        metavar="TIME",
        help="show the moves of a match only after this time, such as 30s",
    )
    parser.add_argument(
        "--pages-mb",
        type=count(1),
        default=500,
        metavar="MB",
        help="disk space for ready pages of each league, in MB (default 500)",
    )
    parser.add_argument(
        "--logs-mb",
        type=count(0),
        default=200,
        metavar="MB",
        help="disk space for the output of bots of each league, in MB; the newest stays (default 200; 0: none)",
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

    from warpleague.arena.web.server import Serving, run_server

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
