"""Plays a league for a command: on this machine or on a cluster, with what is seen meanwhile, and the bots' logs."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import say
from warpleague.errors import BadInput

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from warpleague.extras.cluster.executor import ClusterExecutor
    from warpleague.league.play.running import MatchFault, RunReport, RunWatcher
    from warpleague.league.results.league import League
    from warpleague.runner.bot.logs import LogFolder


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add `--cluster`."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="play on many machines: on the Dask cluster whose scheduler has this address",
    )


def open_cluster(*what: Any, **more: Any) -> AbstractContextManager[ClusterExecutor]:
    """`league.play.cluster.cluster` with these arguments; `BadInput` where Dask is missing."""
    try:
        from warpleague.extras.cluster.executor import cluster
    except ModuleNotFoundError as error:
        if error.name != "distributed":
            raise
        raise BadInput(
            "--cluster: needs Dask in this environment: pip install 'warpleague[cluster]'"
        ) from None
    return cluster(*what, **more)


def add_stop_on_fault(parser: argparse.ArgumentParser) -> None:
    """Add `--stop-on-fault`."""
    parser.add_argument(
        "--stop-on-fault",
        action="store_true",
        help="stop once a bot has faulted, with exit code 1; played matches stay",
    )


def fault_line(fault: MatchFault) -> str:
    """At which match and fault a run stopped."""
    where = f"match {fault.fixture.number:,} ({fault.fixture.id}), seat {fault.seat}"
    return f"Stopped at a fault: {where}, {fault.bot}: {fault.fault.kind}: {fault.fault.message}"


def play_season(league: League, args: argparse.Namespace, logs: LogFolder | None) -> RunReport:
    """Play the missing matches of a league, as the arguments `jobs`, `cluster`, `quiet` and `stop_on_fault` say.

    With the arguments `matches` and `for_s` it stops after this number of matches or this time.
    """
    from warpleague.league.play.running import StopWhen, run_league

    stop_when = StopWhen(
        matches=getattr(args, "matches", None),
        after_s=getattr(args, "for_s", None),
        bot_faults=getattr(args, "stop_on_fault", False),
        bots_are_killed=True,
    )
    if args.cluster is None:
        with _watcher(args) as watcher:
            return run_league(
                league,
                jobs=args.jobs,
                play=args.tools.play,
                watcher=watcher,
                logs=logs,
                stop_when=stop_when,
                **args.tools.pool,
            )
    season = league.season
    shared, limit_s = season.format.dice != "own", season.longest_match_s
    with (
        open_cluster(args.cluster, season.level, season.bots, shared=shared, limit_s=limit_s) as executor,
        _watcher(args) as watcher,
    ):
        from warpleague.extras.cluster.worker import play_here

        return run_league(
            league,
            executor=executor,
            jobs=args.jobs,
            play=partial(play_here, log=logs is not None),
            watcher=watcher,
            logs=logs,
            stop_when=stop_when,
        )


@contextmanager
def _watcher(args: argparse.Namespace) -> Iterator[RunWatcher]:
    if args.quiet:
        from warpleague.league.play.running import RunWatcher

        class Quiet(RunWatcher):
            def note(self, text: str) -> None:
                say(f"note: {text}")

        yield Quiet()
        return
    from warpleague.report.terminal.console import make_console
    from warpleague.report.terminal.live import LiveWatcher, PlainWatcher

    console = make_console(stderr=True)
    if not console.is_terminal:
        yield PlainWatcher(console)
    else:
        with LiveWatcher(console) as watcher:
            yield watcher
