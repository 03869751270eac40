"""How much right to the processors a check has: that of a match while checks take little, and less beyond that.

A check with less right lives on what matches leave. Where bots think all the time that is so little that it may take
some ten times as long; so nobody waits for more than one such check, and no bot is refused by one.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

from warpleague.runner.host.niceness import be_nice_as_session

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_SHARE: Final = 0.01
"""Of all the processors' time may go to checks that have the right of matches."""
_WINDOW_S: Final = 20.0
_NICE: Final = 15


class Right:
    """Runs checks one after the other, and remembers the processor time of those in the last 20 seconds."""

    def __init__(self, cores: int | None = None) -> None:
        self._most_s = _SHARE * _WINDOW_S * (cores or os.cpu_count() or 1)
        self._taken: deque[tuple[float, float]] = deque()

    def low(self) -> bool:
        """Whether checks have taken so much of late that the next one should have less right than a match."""
        now_s = time.monotonic()
        while self._taken and self._taken[0][0] < now_s - _WINDOW_S:
            self._taken.popleft()
        return sum(cpu_s for _, cpu_s in self._taken) > self._most_s

    def run(self, check: Callable[[], T], *, low: bool) -> T:
        """Call `check`; what it starts has the right of a match, or less of it if `low`."""
        begun_s = _cpu_s()
        try:
            if not (low and sys.platform == "linux"):
                return check()
            # On Linux each thread has a niceness of its own, and it cannot be taken back: this thread ends with it.
            be_nice_as_session(_NICE)
            with ThreadPoolExecutor(1, initializer=_be_nice) as thread:
                return thread.submit(check).result()
        finally:
            be_nice_as_session(0)
            self._taken.append((time.monotonic(), _cpu_s() - begun_s))


def _be_nice() -> None:
    os.nice(_NICE)


def _cpu_s() -> float:
    """The processor time of this process and of all that it has started and waited for, in seconds."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
