"""The rows about leagues, measured from outside: the whole command, with start, end and storing of each match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.cli.bench.ground import ASKING, PINGPONG_US
from warpleague.cli.bench.rows import Figure

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.cli.bench.ground import Ground


def whole(ground: Ground) -> list[Figure]:
    """A decision of a match of a league at level limits on one core, all that a match takes included.

    A league of one deal is taken away: what is left is no start of the command.
    """
    found: list[Figure] = []
    for name in ground.games:
        for label, flags in (("wants []", ()), ("default wants", (f"-D{ASKING}",))):
            bot = ground.bot_folder(*flags)
            with ground.one_core():
                base = ground.measure_base()
                seconds, decisions, _ = _net(ground, bot, 40, game=name, options={}, jobs=1)
            us = seconds * 1e6 / decisions
            found.append(Figure(f"{name}, {label}", us / base, goal=5.0))
    return found


def short(ground: Ground) -> list[Figure]:
    """Matches of 30 decisions a second on all cores, bots kept from one match to the next or started for each."""
    found: list[Figure] = []
    for level, reusable, goal, deals in (
        ("limits", True, 600, 300),
        ("limits", False, 250, 150),
        ("sandbox", False, 60, 50),
    ):
        base = ground.measure_base()
        seconds, _, matches = _net(ground, ground.bot_folder(reusable=reusable), deals, level=level)
        base = (base + ground.measure_base()) / 2
        us = seconds * 1e6 / matches
        label = f"{level}, bots {'kept' if reusable else 'restarted'}"
        most = 1e6 / goal / PINGPONG_US
        found.append(
            Figure(label, 1e6 / us, "/s", goal, False, ratio=us / base, over="ping-pong", ratio_goal=most)
        )
    if "fastchess" in ground.peers:
        from warpleague.cli.bench.peers import fastchess_games

        found += fastchess_games(ground)
    return found


def busy(ground: Ground) -> list[Figure]:
    """The share of all cores that bots which think 10 ms a decision keep busy, over the whole command."""
    bot = ground.bot_folder("-DBURN_MS=10")
    run = ground.league(bot, ground.times(50))
    return [
        Figure(
            "whole command", run.bots_cpu_s / run.seconds / max(1, len(ground.cores)), goal=0.95, most=False
        )
    ]


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


def _net(ground: Ground, bot: Path, deals: int, **league: Any) -> tuple[float, int, int]:
    """Seconds, decisions and matches of a league of `deals` deals, without those of a league of one deal."""
    deals = max(2, ground.times(deals))
    one = ground.league(bot, 1, **league)
    many = ground.league(bot, deals, **league)
    return max(many.seconds - one.seconds, 1e-6), many.decisions - one.decisions, many.matches - one.matches
