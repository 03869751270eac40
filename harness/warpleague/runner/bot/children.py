"""Measures the CPU time of a bot's child processes, which the bot's own clock does not show.

`process` decides when to measure, and `pondering` what follows from it.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


_CHAIN: Final = 3
"""So many looks in a row with new processes, beside others that stay, are no chance.

A bot may start a helper or two.
"""


class Children:
    """The CPU time of the processes that one bot has beside its own, on `cores` processors.

    What starts and ends between two looks is not seen; but where each look finds new processes, there are many that
    live shortly, and they count as computing all the time, also beside one that stays. Times are in nanoseconds.
    """

    __slots__ = (
        *("_clocks", "_cores", "_looked_ns", "_new", "_turn_ns"),
        *("any", "gap_ns", "out_of_turn_ns", "used_ns"),
    )

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._clocks: dict[int, int] = {}
        self._looked_ns = time.perf_counter_ns()
        self._turn_ns = 0
        self._new = 0  # how many looks in a row have found new processes, out of turn
        self.any = False
        """Whether the bot ever had such a process."""
        self.used_ns = 0
        """The processor time they have used so far."""
        self.gap_ns = 0
        """Between the last two looks, how long it was not the bot's turn."""
        self.out_of_turn_ns = 0
        """Between the last two looks, what they used beyond all that there was of the bot's own time."""

    def look(self, pids: Iterable[int], turn_ns: int) -> None:
        """Look at the processes `pids`; it has been the bot's turn for `turn_ns` in all."""
        clocks: dict[int, int] = {}
        used = 0
        in_turn = turn_ns - self._turn_ns
        for pid in pids:
            with contextlib.suppress(OSError):
                clocks[pid] = now = time.clock_gettime_ns(clock_id(pid))
                before = self._clocks.get(pid, 0)
                used += (
                    now - before if now >= before else now
                )  # less than before: another with the same number
        looked_ns = time.perf_counter_ns()
        passed = looked_ns - self._looked_ns
        new = clocks.keys() - self._clocks.keys() if self._clocks and not in_turn else set()
        self._new = self._new + 1 if new else 0
        if self._new >= _CHAIN or (new and len(new) == len(clocks)):
            used = max(used, passed)
        self._clocks = clocks
        self.any = self.any or bool(clocks)
        self._judge(used, looked_ns, turn_ns)

    def count(self, used_ns: int, turn_ns: int) -> None:
        """Set their CPU time, counted by the kernel, including processes that ended long ago."""
        self._judge(max(0, used_ns - self.used_ns), time.perf_counter_ns(), turn_ns)

    def _judge(self, used: int, looked_ns: int, turn_ns: int) -> None:
        in_turn = turn_ns - self._turn_ns
        self.gap_ns = max(0, looked_ns - self._looked_ns - in_turn)
        self.out_of_turn_ns = max(0, used - in_turn * self._cores)
        self._looked_ns, self._turn_ns = looked_ns, turn_ns
        self.used_ns += used


def clock_id(pid: int) -> int:
    """The processor clock of a process, as clock_getcpuclockid(3) gives it: all threads, no children."""
    return (~pid) << 3 | 2
