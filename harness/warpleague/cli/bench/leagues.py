"""The rows about leagues, measured from outside: the whole command, with start, end and storing of each match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.cli.bench.beyond import beyond, rate
from warpleague.cli.bench.ground import ASKING
from warpleague.cli.bench.rows import Figure

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.cli.bench.beyond import Beyond
    from warpleague.cli.bench.ground import Ground, LeagueRun


def whole(ground: Ground) -> list[Figure]:
    """A decision of a match of a league at level limits on one core, all that a match takes included.

    The time of a league of one deal is taken away, and with it the start of the command.
    """
    figures: list[Figure] = []
    for name in ground.games:
        for label, flags in (("wants []", ()), ("default wants", (f"-D{ASKING}",))):
            bot = ground.bot_folder(*flags)
            with ground.one_core():
                base = ground.measure_base()
                more = _net(ground, bot, 40, game=name, options={}, jobs=1)
            decisions = more.long.decisions - more.short.decisions
            us = None if more.seconds is None else more.seconds * 1e6 / decisions
            figures.append(Figure(f"{name}, {label}", us and us / base))
    return figures


def short(ground: Ground) -> list[Figure]:
    """Matches of 30 decisions a second on all cores, bots reused from one match to the next or started for each."""
    figures: list[Figure] = []
    for level, reusable, goal, deals in (
        ("limits", True, 600, 300),
        ("limits", False, 250, 150),
        ("sandbox", False, 60, 50),
    ):
        base = ground.measure_base()
        more = _net(ground, ground.bot_folder(reusable=reusable), deals, level=level)
        base = (base + ground.measure_base()) / 2
        matches = more.long.matches - more.short.matches
        label = f"{level}, bots {'kept' if reusable else 'restarted'}"
        figures += rate(label, more, matches, goal, base)
    if "fastchess" in ground.peers:
        from warpleague.cli.bench.peers import fastchess_games

        figures += fastchess_games(ground)
    return figures


def waiting(ground: Ground) -> list[Figure]:
    """Matches whose bots wait 1 s at each of 26 decisions: seconds of the whole command, and memory.

    Each job finds out by itself how many of them it plays at a time.
    """
    bot = ground.bot_folder("-DSLEEP_MS=1000")
    deals = ground.times(100)
    run = ground.league(
        bot, deals, options={"max_rounds": 11}, move_s=10.0, together="auto", measure_memory=True
    )
    return [
        Figure(f"{2 * deals} matches at limits", run.seconds, "s", goal=35.0),
        Figure("memory of the harness", run.memory_mb, "MB", goal=500.0),
    ]


def _net(ground: Ground, bot: Path, deals: int, **league: Any) -> Beyond[LeagueRun]:
    """A league of one deal, and a league of `deals` deals or of more, until the difference is clear."""
    return beyond(lambda deals: ground.league(bot, deals, **league), 1, max(2, ground.times(deals)))
