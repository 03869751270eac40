"""Keeps reusable bots between two matches of the same referee, but not too many.

`warpleague.runner.playing` starts, greets and judges them. A bot that does anything while it waits is replaced by a
fresh one, and nobody is charged for it. No process of a bot plays two matches with the same dice, because it
would know them.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from warpleague.match.spec import Level, SeatSpec
    from warpleague.runner.bot.process import BotProcess

    Kind = tuple[SeatSpec, Level]


_MAX_KEYS: Final = 10_000  # more matches than these outlives no process


class IdleBots:
    """At most `most` processes, by what they run; the longest idle one goes first.

    With `same_dice` they stay although they have seen the dice that come: for playouts, where nothing is at stake.
    """

    def __init__(self, most: int, *, same_dice: bool = False) -> None:
        self._most = most
        self._same_dice = same_dice
        self._bots: OrderedDict[int, tuple[Kind, BotProcess]] = OrderedDict()
        self._keys: set[bytes] = set()  # of the matches that those who wait may know of

    def __len__(self) -> int:
        return len(self._bots)

    def pids(self) -> set[int]:
        """The process ids of all that wait."""
        return set(self._bots)

    def begin(self, key: bytes) -> None:
        """Get ready for a match with this key: if there has been one, end every process that waits.

        Not only those that played it: what one knows, another that was alive with it may know.
        """
        if self._same_dice:
            return
        if key in self._keys or len(self._keys) >= _MAX_KEYS:
            self.end_all()
        self._keys.add(key)

    def take(self, seat: SeatSpec, level: Level) -> BotProcess | None:
        """A waiting process for `seat`, woken up; None if there is none that was silent."""
        kind = _kind(seat, level)
        for pid, (process, bot) in list(self._bots.items()):
            if process == kind:
                del self._bots[pid]
                if bot.wake():
                    bot.seat = seat
                    return bot
                bot.end()
        return None

    def keep(self, bot: BotProcess, level: Level) -> None:
        """Let `bot` wait for its next match; it may be ended instead."""
        if not bot.rest():
            bot.end()
            return
        self._bots[bot.pid] = _kind(bot.seat, level), bot
        while len(self._bots) > self._most:
            _, (_, oldest) = self._bots.popitem(last=False)
            oldest.end()

    def end_all(self) -> None:
        """End every process that waits; none is left that knows of a match."""
        self._keys.clear()
        while self._bots:
            _, (_, bot) = self._bots.popitem()
            bot.end()


@lru_cache(maxsize=256)
def _kind(seat: SeatSpec, level: Level) -> Kind:
    return attrs.evolve(seat, bot=""), level  # it may play under another name
