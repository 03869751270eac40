"""Measures how long a bot waited in one decision for what others used: a processor, the disk, memory.

For a processor there are two witnesses. Neither reports much more than there was, so the larger one is nearer. Both
are exact to a few milliseconds each time that the bot was moved between processors:

- The pressure on the bot's control group. It reports too little of waits that are shorter than a tick, and where the
  bot was moved between processors.
- How long each thread of the bot waited, less what the rest of the bot computed: it may have waited for them. The
  kernel reports it only once the thread has got a processor.

Besides, a bot that was ready to run at two readings and computed nothing between them has waited all the time between.

For disk and memory there is the pressure on the group alone; without a group, what the main thread waited for the
disk, if the kernel counts that. Who reads much waits for what it reads: only the share of others in all that was read
and written is theirs. Who has taken all the memory that it may waits for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from warpleague.runner.bot.child import Child

_UNEXPLAINED_NS: Final = 2_000_000
"""If a bot neither computed nor waited for a processor for so long, further clocks are read."""

_Counts = tuple[int, int]
"""How long a thread computed, and how long it waited for a processor."""


class Waits:
    """How long the bot of `child` waited, and for what; all times in nanoseconds."""

    def __init__(self, child: Child) -> None:
        self._child = child
        # The last reading, perhaps of an earlier decision: between questions a bot waits for nothing.
        self._pressure: dict[str, int] = {}
        self._threads: dict[int, _Counts] = {}
        self._traffic = 0, child.all_traffic_bytes()
        self.begin()

    def begin(self) -> None:
        """A decision begins."""
        self.processor_ns: int | None = 0
        """How long it waited for a processor, until the last reading; None if the system does not say."""
        self.stalled_ns = 0
        """How long it waited for the disk and for memory that others used, until the last reading."""
        self._by_group_ns = self._disk_ns = self._memory_ns = 0
        # If it was ready at the last reading: how much time had passed, and what it had computed.
        self._ready: tuple[int, int] | None = None
        self._begun: dict[int, _Counts] = {}  # what each thread had computed and waited before
        self._traffic_begun = self._traffic

    def read(self, passed_ns: int, own_ns: int) -> None:
        """Read what the kernel reports, `passed_ns` after the decision began, in which the bot computed `own_ns`."""
        idle_ns = max(0, passed_ns - own_ns)
        by_group = self._by_pressure("cpu", passed_ns - self._by_group_ns)
        before, self._ready = self._ready, (passed_ns, own_ns) if self._is_ready(by_group) else None
        certain_ns = 0
        if before is not None and self._ready is not None and before[1] == own_ns:
            certain_ns = passed_ns - before[0]
        self._by_group_ns += max(by_group or 0, certain_ns)
        main = self._child.main_counts()
        if by_group is None and main is None:
            self.processor_ns = None
        else:
            threads = {} if main is None else {self._child.own_pid: main}
            waited_ns = max(self.processor_ns or 0, self._by_group_ns)
            waited_ns = max(waited_ns, self._by_threads(threads, idle_ns, own_ns))
            self._threads |= threads
            # A thread that never waited for a processor did not wait longer than the limit either.
            if idle_ns - waited_ns > _UNEXPLAINED_NS and (by_group is None or self._by_group_ns):
                threads = self._child.thread_counts()
                waited_ns = max(waited_ns, self._by_threads(threads, idle_ns, own_ns))
                self._threads = threads  # those that have ended are forgotten
            self.processor_ns = waited_ns = min(waited_ns, passed_ns)
            idle_ns -= waited_ns
        if idle_ns - self.stalled_ns > _UNEXPLAINED_NS:
            self._count_stalls(idle_ns)

    def _is_ready(self, by_group: int | None) -> bool:
        """Whether any thread is ready to run; all are checked only if the group waited for a while."""
        waited = by_group is None or by_group > _UNEXPLAINED_NS
        return self._child.any_ready() if waited else self._child.ready()

    def _by_pressure(self, kind: str, most_ns: int) -> int | None:
        """How long the group waited since the last reading, at most `most_ns`; None if the kernel does not say.

        The first reading may report more than there was in this decision.
        """
        now = self._child.pressure_ns(kind)
        if now is None:
            return None
        before, self._pressure[kind] = self._pressure.get(kind, 0), now
        return min(max(0, now - before), max(0, most_ns))

    def _by_threads(self, counts: dict[int, _Counts], idle_ns: int, own_ns: int) -> int:
        """How long the bot waited at least, by the one of these threads that reports most."""
        waited_ns = 0
        for thread, (computed, waited) in counts.items():
            begun = self._begun.get(thread)
            if begun is None or computed < begun[0]:  # another with the same number
                begun = self._begun[thread] = self._before(thread, computed, waited, idle_ns, own_ns)
            others_ns = max(0, own_ns - (computed - begun[0]))
            waited_ns = max(waited_ns, waited - begun[1] - others_ns)
        return waited_ns

    def _before(self, thread: int, computed: int, waited: int, idle_ns: int, own_ns: int) -> _Counts:
        """How long a thread had computed and waited before this decision."""
        known = self._threads.get(thread, (0, 0))
        if computed < known[0]:
            known = 0, 0
        return max(known[0], computed - own_ns), max(known[1], waited - idle_ns)

    def _count_stalls(self, idle_ns: int) -> None:
        """Bring `stalled_ns` up to date, if the bot neither computed nor waited for a processor for `idle_ns`."""
        left_ns = idle_ns - self._memory_ns - self._disk_ns
        memory_ns = self._by_pressure("memory", left_ns) or 0
        if memory_ns and self._child.at_cap():
            memory_ns = 0
        self._memory_ns += memory_ns
        # Memory that was taken from it comes back from the disk: that is one wait, not two.
        self._disk_ns += max(0, (self._by_pressure("io", left_ns) or 0) - memory_ns)
        self.stalled_ns = self._memory_ns
        if self._disk_ns:
            self.stalled_ns += round(self._disk_ns * self._others_share())

    def _others_share(self) -> float:
        """The share of others in what was read from the disks and written to them; 0.0 if unknown."""
        own, all_ = self._child.own_traffic_bytes(), self._child.all_traffic_bytes()
        if own is None:
            return 0.0
        self._traffic = own, all_
        own, all_ = max(0, own - self._traffic_begun[0]), all_ - self._traffic_begun[1]
        return 1.0 - min(1.0, own / all_) if all_ > 0 else 1.0
