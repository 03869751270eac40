"""Prepare a league before its first match: build its bots, fix the secret of its dice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.cli.common import print_json, say
from warpleague.errors import BadInput
from warpleague.league.season.config import load_config
from warpleague.league.season.entry import enter_bots
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace


def run_commit(args: Namespace) -> int:
    """Fix the secret; a file without bots will do."""
    from warpleague.league.play.entering import commit  # loads the store, which `prepare` does without

    if args.explain and not args.entrants:
        raise BadInput("--explain: it explains the commitment to the entrants; give --entrants, too")
    config = load_config(args.config, without_bots=not args.entrants)
    fixed = commit(config, args.results, with_entrants=args.entrants, prepare=args.tools.prepare)
    if args.json:
        data = {"league": config.name, **attrs.asdict(fixed), "store": str(fixed.store)}
        if not args.explain:
            del data["preimage"]
        print_json(data)
        return 0
    print(f"commitment to the season's secret (SHA-256): {fixed.commitment}")
    if args.entrants:
        print(f"commitment to the entrants (SHA-256): {fixed.entrants}")
    if args.explain:
        print(f"it is the hash of this text, without the end of its line:\n{fixed.preimage}")
    say(
        f"{config.name}: fixed {fixed.committed}, stored in {fixed.store}; "
        f"{counted(fixed.played, 'match')} played since"
    )
    if config.seed is not None:
        say(
            f"note: the secret follows from the seed in {args.config}: anyone who sees the file knows the dice"
        )
    return 0


def run_prepare(args: Namespace) -> int:
    """Build all bots, print what was built and which workers can play."""
    config = load_config(args.config)
    if config.entry is not None:
        from warpleague.league.play.entering import entered_from

        config, _ = entered_from(config, args.results, **args.tools.pool)
    entries = enter_bots(config, args.tools.prepare)
    for line in entries.skipped:
        say(f"note: {line}")
    jobs = None
    if (cluster := getattr(args, "cluster", None)) is not None:
        with cluster.open(config.rules.level, entries.bots) as executor:
            executor.send_bots()
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
