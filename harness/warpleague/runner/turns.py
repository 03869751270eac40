"""Decides which bots of a match may compute, and when its event loop runs.

The bots of a match share a core with each other, and several matches may share an event loop. So bots that are not
asked are frozen as soon as an answer takes more than a moment, and a match asks only while no bot of another one
computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from warpleague.runner.bot.loop import LoopShare

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from warpleague.runner.bot.loop import Loop
    from warpleague.runner.bot.process import BotProcess


class Turns:
    """The turns of one match on `loop`; with `freezes`, bots are frozen while others are asked.

    `begin_tasks` is called before the event loop runs: it begins what is to run beside the match. A match may be over
    before its event loop ever ran; then nothing need be begun.
    """

    def __init__(self, loop: Loop, begin_tasks: Callable[[], None], *, freezes: bool) -> None:
        self.asked: Collection[int] = ()
        """The seats that are asked now, and may compute."""
        self._loop = loop
        self._freezes = freezes
        self._begin_tasks = begin_tasks
        self._bots: dict[int, BotProcess] = {}
        self._shares: list[LoopShare] = []

    def share(self) -> LoopShare:
        """The part in the event loop of one more bot."""
        self._shares.append(LoopShare(self._loop, self.on_slow))
        return self._shares[-1]

    def join(self, seat: int, bot: BotProcess) -> None:
        """Have the bot of `seat` frozen from now on while others are asked."""
        self._bots[seat] = bot

    def leave(self, seat: int) -> None:
        """Leave the bot of `seat` alone: it is out."""
        self._bots.pop(seat, None)

    def play(self, *, alone: bool) -> None:
        """The questions begin; each bot is asked `alone`, or some at the same time."""
        for share in self._shares:
            share.plays, share.alone = True, alone
        self._loop.plan()

    def on_slow(self) -> None:
        """An answer takes more than a moment."""
        self._begin_tasks()
        self.freeze_others()

    def freeze_others(self) -> None:
        """Freeze all bots that are not asked."""
        if self._freezes:
            for seat, bot in self._bots.items():
                if seat not in self.asked:
                    bot.freeze()

    async def run_loop(self) -> None:
        """Let the event loop run, and wait while a bot of another match computes."""
        self.asked = ()
        self._begin_tasks()
        await trio.lowlevel.checkpoint()
        if self._loop.taken:
            await self._loop.turn(self.freeze_others)
        self._loop.plan()
