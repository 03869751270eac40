"""The tasks that run beside the questions to a bot: above all the watch over its memory and its processes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import trio

from warpleague.runner.confine.launch import WATCH_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from warpleague.runner.bot.child import Child
    from warpleague.runner.bot.halt import Halt
    from warpleague.runner.bot.stderr import StderrLog
    from warpleague.runner.confine.launch import MemoryWatch

SLEEPER_WATCH_S: Final = 0.2
"""The same for one that sleeps, where the kernel caps its memory."""

_SHARE: Final = 0.02  # the largest share of the time spent on measuring memory


class Attendance:
    """The tasks beside the questions to one bot, from `begin` until they are ended.

    A match may be over before its event loop had a turn; then they need not be begun at all. That they are begun is
    known at once: it may also be over before they had their first turn.
    """

    def __init__(self) -> None:
        self._planned: tuple[trio.Nursery, Sequence[Callable[[], Awaitable[None]]]] | None = None
        self._now: tuple[trio.CancelScope, trio.Event] | None = None

    def plan(self, nursery: trio.Nursery, *tasks: Callable[[], Awaitable[None]]) -> None:
        """Have `begin` start the tasks in `nursery`."""
        self._planned = nursery, tasks

    def begin(self) -> None:
        """Start the tasks that were planned, if they have not been started."""
        if self._planned is not None:
            (nursery, tasks), self._planned = self._planned, None
            self._now = trio.CancelScope(), trio.Event()
            nursery.start_soon(_run, tasks, *self._now)

    async def end(self) -> None:
        """End the tasks and wait for that."""
        self._planned = None
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


async def read(stderr: StderrLog, pipe: int) -> None:
    """Read the standard error until it has ended, or is no longer read."""
    while stderr.drain(pipe):
        await trio.lowlevel.wait_readable(pipe)


async def watch(child: Child, halt: Halt, memory: MemoryWatch, check_children: Callable[[], None]) -> None:
    """Kill the bot once it has taken more memory than it may."""
    computed_ns = -1
    while True:
        begun, before_ns, computed_ns = time.perf_counter(), computed_ns, halt.own_ns()
        # Who computed nothing has taken no memory, if all of its processes are counted.
        slept = halt.counted and computed_ns == before_ns
        if not slept and memory.check(child.processes):
            child.kill()
            return
        check_children()
        pause_s = SLEEPER_WATCH_S if slept and memory.capped else WATCH_S
        # Never more than a small share of the time, however many processes there are.
        await trio.sleep(max(pause_s, (time.perf_counter() - begun) / _SHARE))
