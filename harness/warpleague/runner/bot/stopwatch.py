"""Times the decisions of one bot that take more than a moment: which clocks are read, and when.

What the readings mean is in `clock`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from warpleague.errors import HarnessFault
from warpleague.runner.bot.clock import LongDecision, Reading
from warpleague.runner.host.schedstat import own_counts

if TYPE_CHECKING:
    from warpleague.runner.bot.child import Child
    from warpleague.runner.bot.halt import Halt
    from warpleague.runner.bot.loop import Loop


class Stopwatch:
    """Reads the clocks of the bot of `child`."""

    def __init__(self, child: Child, halt: Halt) -> None:
        self._child = child
        self._halt = halt
        self._kept_ns: int | None = (
            0  # as it was last read: until the bot is asked again, it waits for nothing
        )
        self._kept_begun: int | None = 0

    def start(self, begun_ns: int, budget_ns: int | None, cpu_ns: int, loop: Loop) -> LongDecision:
        """The clock of a decision that has begun, when the bot's own process had computed for `cpu_ns`."""
        self._kept_begun = self._kept_ns
        own_ns = cpu_ns + self._halt.others_ns
        return LongDecision(
            begun_ns, budget_ns, Reading(own_ns, self._kept_ns or 0, *own_counts(), loop.paused_ns(begun_ns))
        )

    def look(
        self, turn: LongDecision, planned_ns: int, came: bool, loop: Loop, *, dozed: bool = True
    ) -> None:
        """Look at the clocks, after a sleep that was to last `planned_ns` at most; `came` as in `LongDecision.look`.

        Unless it `dozed`, which means that it waited for an answer in `loop`, it waited for this bot alone.

        Raises `HarnessFault` if the machine is too busy for a match.
        """
        now = time.perf_counter_ns()  # before the other clocks, or the time between would be excused
        queued_ns = loop.queued_ns(now) if dozed else None
        self._kept_ns = self._child.kept_ns()
        seen = Reading(self._halt.own_ns(), self._kept_ns or 0, *own_counts(), loop.paused_ns(now))
        trusted = self._halt.counted or not self._halt.children.any
        turn.look(now, planned_ns, seen, came=came, queued_ns=queued_ns, trusted=trusted)
        if turn.sleeps and self._child.ready():
            turn.sleeps = False
        if turn.overloaded():
            kept_s = turn.excused_ns / 1e9
            raise HarnessFault(
                f"the machine is overloaded: it kept a bot from a processor for {kept_s:.0f} s in one decision"
            )

    @property
    def wait_ns(self) -> int | None:
        """How long the bot waited for a processor in this decision, until the last look; None if it is not known."""
        if self._kept_ns is None or self._kept_begun is None:
            return None
        return max(0, self._kept_ns - self._kept_begun)
