"""Decide about the leagues of an arena, and work for them until it is stopped: play, check bots, play challenges."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.arena.processes import end_with_parent
from warpleague.arena.submissions import entering
from warpleague.arena.submissions.workers import run_challenges as play_challenges
from warpleague.arena.submissions.workers import run_checker
from warpleague.cli.arena import open_ledger, user
from warpleague.cli.common import print_json
from warpleague.errors import BadInput
from warpleague.league.season.config import load_config
from warpleague.runner.bundle.shipped import located

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path
    from types import FrameType

    from warpleague.league.season.config import LeagueConfig


# -- work until it is stopped ----------------------------------------------------------------------------


def run_play(args: Namespace) -> int:
    """Play a league and new bots in it."""
    from warpleague.arena.scheduler import (  # numpy: 20 MB that checks do without
        SchedulerSettings,
        run_scheduler,
    )

    if args.end_with_parent:
        end_with_parent()
    return run_scheduler(
        SchedulerSettings(located(args.config), args.results, args.jobs, live=args.live, logs_mb=args.logs_mb)
    )


def run_check(args: Namespace) -> int:
    """Check submitted bots."""
    leagues, stopped = _begin(args)
    with open_ledger(args) as ledger:
        run_checker(ledger, leagues, stopped.wait, once=args.once)
    return 0


def run_challenges(args: Namespace) -> int:
    """Play matches on demand."""
    leagues, stopped = _begin(args)
    with open_ledger(args) as ledger:
        play_challenges(ledger, leagues, stopped.wait, once=args.once)
    return 0


def _begin(args: Namespace) -> tuple[dict[str, LeagueConfig], threading.Event]:
    """The leagues of a process that works for an arena until it is stopped, and what says that it is."""
    leagues = _leagues(args.config)
    for config in leagues.values():
        entering.check_league(config)
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        if stopped.is_set():
            os._exit(130)  # the check goes on from its start the next time
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    if args.end_with_parent:
        end_with_parent()
    return leagues, stopped


def _leagues(paths: list[Path]) -> dict[str, LeagueConfig]:
    leagues = {}
    for path in paths:
        config = load_config(path, without_bots=True)
        if config.name in leagues:
            raise BadInput(f"{path}: name: there is another league called {config.name}")
        leagues[config.name] = config
    return leagues


# -- decisions -------------------------------------------------------------------------------------------


def run_pause(args: Namespace) -> int:
    """Let no new matches of a league begin."""
    return _pause(args, "no more matches begin", on=True)


def run_resume(args: Namespace) -> int:
    """Continue a paused league."""
    return _pause(args, "its matches begin again", on=False)


def _pause(args: Namespace, text: str, *, on: bool) -> int:
    (name,) = _leagues([args.config])
    with open_ledger(args) as ledger:
        changed = entering.pause(ledger, name, user(), on=on)
    return _print_decision(args, name, text if changed else f"{'is' if on else 'is not'} paused, as before")


def run_extend(args: Namespace) -> int:
    """Play more matches."""
    ((name, config),) = _leagues([args.config]).items()
    given = {"deals": args.deals, "max_matches": args.matches}
    more = [(key, value) for key, value in given.items() if value is not None]
    if len(more) != 1:
        raise BadInput("extend: to what? --deals N or --matches N")
    with open_ledger(args) as ledger:
        extension = entering.extend(ledger, config, user(), *more[0], sure=args.yes)
    return _print_decision(args, name, f"will play {extension.words()}", attrs.asdict(extension))


def run_close(args: Namespace) -> int:
    """Take no more submissions."""
    (name,) = _leagues([args.config])
    with open_ledger(args) as ledger:
        changed = entering.close(ledger, name, user())
    text = "takes no more submissions; the season is over when its matches are played"
    return _print_decision(args, name, text if changed else f"{text}, as before")


def run_disqualify(args: Namespace) -> int:
    """Take a bot out of a league."""
    return _ask(args, args.bot, {"bot": args.bot, "reason": args.reason, "results": args.its_results})


def run_reinstate(args: Namespace) -> int:
    """Let a disqualified bot play again."""
    return _ask(args, args.bot, {"bot": args.bot, "reason": args.reason})


def run_replay(args: Namespace) -> int:
    """Declare a match void."""
    return _ask(args, args.match, {"match": args.match, "reason": args.reason})


def _ask(args: Namespace, about: str, given: dict[str, Any]) -> int:
    """Enter a decision that whoever plays the league carries out."""
    ((name, config),) = _leagues([args.config]).items()
    what = args.command.word
    with open_ledger(args) as ledger:
        entering.ask(ledger, config, what, user(), **given)
    return _print_decision(args, name, f"{what} {about}: will be done when the league is played next", given)


def _print_decision(args: Namespace, league: str, text: str, given: dict[str, Any] | None = None) -> int:
    if args.json:
        print_json({"league": league, "what": args.command.word, **(given or {})})
    else:
        print(f"{league}: {text}")
    return 0
