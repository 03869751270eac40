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
    from warpleague.runner.bot.loop import Loop, LoopShare


class Stopwatch:
    """Reads the clocks of the bot of `child`."""

    def __init__(self, child: Child, halt: Halt) -> None:
        self._child = child
        self._halt = halt
        self._told_ns = (
            0  # what `kept_ns` of the child told last: until the bot is asked again, it waits for nothing
        )
        self._summed_ns = 0  # what it told of this decision
        self._waited_begun: int | None = None  # of the main thread, at the first look
        self.wait_ns: int | None = 0
        """How long the bot waited for a processor in this decision, until the last look; None if it is not known."""

    def start(self, begun_ns: int, budget_ns: int | None, cpu_ns: int, loop: Loop) -> LongDecision:
        """The clock of a decision that has begun, when the bot's own process had computed for `cpu_ns`."""
        self._summed_ns = self.wait_ns = 0
        self._waited_begun = None
        own_ns = cpu_ns + self._halt.others_ns
        return LongDecision(begun_ns, budget_ns, Reading(own_ns, 0, *own_counts(), loop.paused_ns(begun_ns)))

    def look(
        self, turn: LongDecision, planned_ns: int, came: bool, share: LoopShare, *, dozed: bool = True
    ) -> None:
        """Look at the clocks, after a sleep that was to last `planned_ns` at most; `came` as in `LongDecision.look`.

        Unless it `dozed`, which means that it waited for an answer in the loop, it waited for this bot alone.

        Raises `HarnessFault` if the machine is too busy for a match.
        """
        now = time.perf_counter_ns()  # before the other clocks, or the time between would be excused
        loop = share.loop
        queued_ns = loop.queued_ns(now, share.absent_ns) if dozed else None
        self._count_waits(now - turn.begun_ns)
        seen = Reading(self._halt.own_ns(), self.wait_ns or 0, *own_counts(), loop.paused_ns(now))
        trusted = self._halt.counted or not self._halt.children.any
        turn.look(now, planned_ns, seen, came=came, queued_ns=queued_ns, trusted=trusted)
        if turn.sleeps and self._child.ready():
            turn.sleeps = False
        if turn.overloaded():
            kept_s = turn.excused_ns / 1e9
            raise HarnessFault(
                f"the machine is overloaded: it kept a bot from a processor for {kept_s:.0f} s in one decision"
            )

    def _count_waits(self, passed_ns: int) -> None:
        """Bring `wait_ns` up to date, `passed_ns` after the decision began."""
        told = self._child.kept_ns()
        if told is None:
            self.wait_ns = None
            return
        # At the first look, more may be told than of this decision.
        self._summed_ns = min(self._summed_ns + max(0, told - self._told_ns), passed_ns)
        self._told_ns = told
        # Of a wait that is shorter than a tick, the kernel may tell nothing for a group, but it does for a thread.
        # Neither tells more than there was, so the larger one is nearer.
        waited = self._child.main_waited_ns()
        if self._waited_begun is None:
            self._waited_begun = waited
        by_thread = 0 if waited is None or self._waited_begun is None else waited - self._waited_begun
        self.wait_ns = max(self.wait_ns or 0, self._summed_ns, by_thread)
