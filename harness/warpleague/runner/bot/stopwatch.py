"""Times the decisions of one bot that take more than a moment: which clocks are read, and when.

What the readings mean is in `clock`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from warpleague.errors import HarnessFault
from warpleague.runner.bot.clock import LongDecision, Reading
from warpleague.runner.bot.waits import Waits
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
        self._waits = Waits(child)

    @property
    def wait_ns(self) -> int | None:
        """How long the bot waited for a processor in this decision, until the last look; None if it is not known."""
        return self._waits.processor_ns

    def start(self, begun_ns: int, budget_ns: int | None, cpu_ns: int, loop: Loop) -> LongDecision:
        """The clock of a decision that has begun, when the bot's own process had computed for `cpu_ns`."""
        self._waits.begin()
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
        own_ns = self._halt.own_ns()
        self._waits.look(now - turn.begun_ns, turn.own_until(own_ns))
        kept_ns, stalled_ns = self._waits.processor_ns or 0, self._waits.stalled_ns
        seen = Reading(own_ns, kept_ns, *own_counts(), loop.paused_ns(now), stalled_ns)
        trusted = self._halt.counted or not self._halt.children.any
        turn.look(now, planned_ns, seen, came=came, queued_ns=queued_ns, trusted=trusted)
        if turn.sleeps and self._child.ready():
            turn.sleeps = False
        if turn.overloaded():
            kept_s = (now - turn.begun_ns - turn.own_ns) / 1e9
            raise HarnessFault(
                f"the machine is overloaded: it kept a bot waiting for {kept_s:.0f} s in one decision,"
                " for a processor, the disk or memory"
            )

    def may_be_in_time(self, turn: LongDecision) -> bool:
        """Whether a bot whose time seems to be up waits for a processor: then it is told later for how long it did."""
        return turn.may_be_in_time() and self._child.any_ready()
