"""What runs beside the questions to a bot while it plays: above all the watch over its memory and its processes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from warpleague.runner.bot.child import Child
    from warpleague.runner.bot.halt import Halt
    from warpleague.runner.confine.launch import MemoryWatch

WATCH_S: Final = 0.05
"""How often a bot's resident set is measured, in seconds."""

SLEEPER_WATCH_S: Final = 0.2
"""The same for one that sleeps, where the kernel caps its memory."""

_SHARE: Final = 0.02  # the largest share of the time spent on measuring memory


class Attendance:
    """The tasks beside the questions to one bot, until they are ended.

    It is known at once that they are begun: a match may be over before its tasks have had their first turn.
    """

    def __init__(self) -> None:
        self._now: tuple[trio.CancelScope, trio.Event] | None = None

    def begin(self, nursery: trio.Nursery, *tasks: Callable[[], Awaitable[None]]) -> None:
        """Start the tasks in `nursery`."""
        self._now = trio.CancelScope(), trio.Event()
        nursery.start_soon(_run, tasks, *self._now)

    async def end(self) -> None:
        """End the tasks and wait for that."""
        if self._now is not None:
            scope, ended = self._now
            scope.cancel()
            with trio.CancelScope(shield=True):
                await ended.wait()
            self._now = None


async def _run(
    tasks: Sequence[Callable[[], Awaitable[None]]], scope: trio.CancelScope, ended: trio.Event
) -> None:
    try:
        with scope:
            async with trio.open_nursery() as nursery:
                for task in tasks:
                    nursery.start_soon(task)
    finally:
        ended.set()  # also when the whole match is cancelled: `end` waits for it


async def watch(child: Child, halt: Halt, memory: MemoryWatch, look_at_children: Callable[[], None]) -> None:
    """Return once the bot has taken more memory than it may."""
    computed_ns = -1
    while True:
        begun, before_ns, computed_ns = time.perf_counter(), computed_ns, halt.own_ns()
        # Who computed nothing has taken no memory, if all of its processes are counted.
        slept = halt.counted and computed_ns == before_ns
        if not slept and memory.check(child.processes):
            return
        look_at_children()
        pause_s = SLEEPER_WATCH_S if slept and memory.capped else WATCH_S
        # Never more than a small share of the time, however many processes there are.
        await trio.sleep(max(pause_s, (time.perf_counter() - begun) / _SHARE))
