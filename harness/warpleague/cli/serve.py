"""Show leagues in the browser while they are played, and take bots that authors submit.

The server also plays the rest of its leagues, unless an option forbids it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from warpleague.arena.web.server import Serving, run_server

if TYPE_CHECKING:
    from argparse import Namespace


def run_serve(args: Namespace) -> int:
    """Serve until Ctrl-C."""
    serving = Serving(
        paths=tuple(args.config),
        results=args.results,
        host=args.host,
        port=args.port,
        names=tuple(args.name),
        root=args.path,
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
