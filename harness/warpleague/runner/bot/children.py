"""Measures the CPU time of a bot's child processes, which the bot's own clock does not show.

`process` decides when to measure, and `pondering` what follows from it.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


_CHAIN: Final = 3
"""With new processes in this number of measurements in a row, beside others that stay, chance is excluded.

A bot may start a helper or two.
"""


class Children:
    """The CPU time of the processes that one bot has beside its own, on `cores` processors.

    A process that starts and ends between two measurements is missed. But where each of them finds new processes,
    there are many that live shortly, and they count as computing all the time, also beside one that stays. Times are
    in nanoseconds; `clock` is the module `time`, or what stands for it.
    """

    __slots__ = (
        *("_clock", "_clocks", "_cores", "_measured_ns", "_new", "_turn_ns"),
        *("any", "gap_ns", "out_of_turn_ns", "used_ns"),
    )

    def __init__(self, cores: int, clock: Any = time) -> None:
        self._cores = cores
        self._clock = clock
        self._clocks: dict[int, int] = {}
        self._measured_ns = self._clock.perf_counter_ns()
        self._turn_ns = 0
        self._new = 0  # how many measurements in a row saw new processes, out of turn
        self.any = False
        """Whether the bot ever had such a process."""
        self.used_ns = 0
        """The processor time they have used so far."""
        self.gap_ns = 0
        """Between the last two measurements, how long it was not the bot's turn."""
        self.out_of_turn_ns = 0
        """Between the last two measurements, what they used beyond all that there was of the bot's own time."""

    def measure(self, pids: Iterable[int], turn_ns: int) -> None:
        """Measure the processes `pids`; it has been the bot's turn for `turn_ns` in all."""
        clocks: dict[int, int] = {}
        used = 0
        in_turn = turn_ns - self._turn_ns
        for pid in pids:
            with contextlib.suppress(OSError):
                clocks[pid] = now = self._clock.clock_gettime_ns(clock_id(pid))
                before = self._clocks.get(pid, 0)
                used += now - before if now >= before else now  # less: another process with the same number
        measured_ns = self._clock.perf_counter_ns()
        passed = measured_ns - self._measured_ns
        new = clocks.keys() - self._clocks.keys() if self._clocks and not in_turn else set()
        self._new = self._new + 1 if new else 0
        if self._new >= _CHAIN or (new and len(new) == len(clocks)):
            used = max(used, passed)
        self._clocks = clocks
        self.any = self.any or bool(clocks)
        self._judge(used, measured_ns, turn_ns)

    def count(self, used_ns: int, turn_ns: int) -> None:
        """Set their CPU time, counted by the kernel, including processes that ended long ago."""
        self._judge(max(0, used_ns - self.used_ns), self._clock.perf_counter_ns(), turn_ns)

    def _judge(self, used: int, measured_ns: int, turn_ns: int) -> None:
        in_turn = turn_ns - self._turn_ns
        self.gap_ns = max(0, measured_ns - self._measured_ns - in_turn)
        self.out_of_turn_ns = max(0, used - in_turn * self._cores)
        self._measured_ns, self._turn_ns = measured_ns, turn_ns
        self.used_ns += used


def clock_id(pid: int) -> int:
    """The processor clock of a process, as clock_getcpuclockid(3) gives it: all threads, no children."""
    return (~pid) << 3 | 2
