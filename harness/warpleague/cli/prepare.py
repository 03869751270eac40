"""Build the bots of a league before it is run, here and on the workers of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.cli.common import print_json, say
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse


def configure_prepare(parser: argparse.ArgumentParser) -> None:
    """Add the options of `league prepare`."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="also send the bots to the machines of the Dask cluster whose scheduler has this address",
    )


def run_prepare(args: argparse.Namespace) -> int:
    """Build all bots, print what was built and which workers can play."""
    from warpleague.league.season.config import load_config
    from warpleague.league.season.entry import enter_bots

    config = load_config(args.config)
    if config.entry is not None:
        from warpleague.league.play.entering import entered_from

        config, _ = entered_from(config, args.results, **args.tools.pool)
    entries = enter_bots(config, args.tools.prepare)
    for line in entries.skipped:
        say(f"note: {line}")
    jobs = None
    if args.cluster is not None:
        from warpleague.cli.season import open_cluster

        with open_cluster(args.cluster, config.rules.level, entries.bots) as executor:
            jobs = executor.jobs
            for note in executor.new_notes():
                say(f"note: {note}")
    if args.json:
        bots = [{"bot": bot.bot, "version": bot.version, "digest": bot.digest} for bot in entries.bots]
        print_json({"league": config.name, "bots": bots, "skipped": list(entries.skipped), "jobs": jobs})
        return 0
    for bot in entries.bots:
        print(f"prepared  {bot.bot} {bot.version} ({bot.digest[:12]})")
    if jobs is not None:
        print(f"the cluster plays {counted(jobs, 'match')} at a time")
    return 0
