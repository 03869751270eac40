"""Times the decisions of one bot that take more than a moment: which clocks are read, and when.

`clock` interprets the readings.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from warpleague.errors import HarnessFault
from warpleague.runner.bot.clock import OVERLOAD_NS, LongDecision, Reading
from warpleague.runner.bot.waits import Waits
from warpleague.runner.host.schedstat import own_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.runner.bot.child import Child
    from warpleague.runner.bot.halt import Halt
    from warpleague.runner.bot.loop import Loop, LoopShare


class Stopwatch:
    """Reads the clocks of the bot of `child`, and by `own_counts` those of this thread.

    A host is overloaded that makes a bot wait for `overload_ns`: see `LongDecision`.
    """

    def __init__(
        self,
        child: Child,
        halt: Halt,
        *,
        own_counts: Callable[[], tuple[int, int]] = own_counts,
        overload_ns: int = OVERLOAD_NS,
    ) -> None:
        self._child = child
        self._halt = halt
        self._waits = Waits(child)
        self._own_counts = own_counts
        self._overload_ns = overload_ns

    @property
    def wait_ns(self) -> int | None:
        """How long the bot waited for a processor in this decision, until the last reading; None if unknown."""
        return self._waits.processor_ns

    def start(self, begun_ns: int, budget_ns: int | None, cpu_ns: int, loop: Loop) -> LongDecision:
        """The clock of a decision that has begun, when the bot's own process had computed for `cpu_ns`."""
        self._waits.begin()
        own_ns = cpu_ns + self._halt.others_ns
        seen = Reading(own_ns, 0, *self._own_counts(), loop.paused_ns(begun_ns))
        return LongDecision(begun_ns, budget_ns, seen, self._overload_ns)

    def read(
        self, decision: LongDecision, planned_ns: int, came: bool, share: LoopShare, *, in_loop: bool = True
    ) -> None:
        """Read the clocks, after a sleep that was to last `planned_ns` at most; `came` as in `LongDecision.update`.

        Without `in_loop`, this process did not wait in its event loop, but for this bot alone. Raises `HarnessFault`
        if the machine is too busy for a match.
        """
        now = time.perf_counter_ns()  # before the other clocks, or the time between would be excused
        loop = share.loop
        queued_ns = loop.queued_ns(now, share.absent_ns) if in_loop else None
        own_ns = self._halt.own_ns()
        self._waits.read(now - decision.begun_ns, decision.own_ns + max(0, own_ns - decision.seen.own_ns))
        delay_ns, stalled_ns = self._waits.processor_ns or 0, self._waits.stalled_ns
        seen = Reading(own_ns, delay_ns, *self._own_counts(), loop.paused_ns(now), stalled_ns)
        trusted = self._halt.counted or not self._halt.children.any
        decision.update(now, planned_ns, seen, came=came, queued_ns=queued_ns, trusted=trusted)
        if decision.sleeps and self._child.ready():
            decision.sleeps = False
        if decision.overloaded():
            waited_s = (now - decision.begun_ns - decision.own_ns) / 1e9
            raise HarnessFault(
                f"the machine is overloaded: it kept a bot waiting for {waited_s:.0f} s in one decision,"
                " for a processor, the disk or memory"
            )

    def may_be_in_time(self, decision: LongDecision) -> bool:
        """Whether a bot whose time seems to be up waits for a processor: the kernel then reports later how long."""
        return decision.may_be_in_time() and self._child.any_ready()
