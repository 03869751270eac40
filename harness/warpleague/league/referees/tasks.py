"""Runs the tasks of a referee process side by side on one trio loop, and finds out how many it has room for.

A task is the call of an async function, which plays a match. As long as its bots sleep, the core is idle, and there is
room for more matches. Where bots compute, a second match would only wait for the first one.
"""

from __future__ import annotations

import os
import pickle
import resource
import time
import traceback
from typing import TYPE_CHECKING, Final

import trio

from warpleague.league.referees.frames import ROOM, next_call, send
from warpleague.runner.bot.loop import Loop
from warpleague.runner.confine.memory import free_share

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.league.referees.frames import Call

_DECIDE_S: Final = 0.1
"""How often it is decided how many tasks there is room for, in seconds."""

_IDLE_SHARE: Final = 0.5  # of its time that a core must be idle for more tasks
_BUSY_SHARE: Final = 0.9  # of the time that bots compute, from which on there are too many tasks
_STEP: Final = 16
_FREE_SHARE: Final = 0.25  # of memory and of descriptors that more tasks may not touch


def run_tasks(calls: int, answers: int, call: Call) -> Call | None:
    """Run `call` and the tasks that come after it, until they have ended and something else comes.

    Returns what came, or None if the pipe has ended, which breaks off all tasks. Where nobody reads the answers any
    more, the process leaves without a word.
    """
    try:
        return trio.run(_side_by_side, calls, answers, call)
    except BaseExceptionGroup as group:
        if (
            group.split(SystemExit)[1] is None
        ):  # `send` leaves, since the scheduler has died: nobody is there to tell
            raise SystemExit(0) from None
        raise


async def _side_by_side(calls: int, answers: int, call: Call | None) -> Call | None:
    async with trio.open_nursery() as teller:
        teller.start_soon(_report_room, answers)
        async with trio.open_nursery() as nursery:
            while call is not None and call[1]:
                nursery.start_soon(_run, answers, call)
                await trio.lowlevel.wait_readable(calls)
                call = next_call(calls)
            if call is None:
                nursery.cancel_scope.cancel()
        teller.cancel_scope.cancel()
    return call


async def _run(answers: int, call: Call) -> None:
    number, _, packed = call
    try:
        function, args, kwargs = pickle.loads(packed)
        done, value, text = True, await function(*args, **kwargs), ""
    except trio.Cancelled:
        raise
    except BaseException as error:  # noqa: BLE001 - what a match raises is the scheduler's to judge
        done, value, text = False, error, "".join(traceback.format_exception(error))
    send(answers, number, done, value, text)


async def _report_room(answers: int) -> None:
    room = Room(Loop.here())
    while True:
        await trio.sleep(_DECIDE_S)
        before = room.tasks
        if room.decide(time.perf_counter_ns()) != before:
            send(answers, ROOM, True, room.tasks, "")


def resources_left() -> bool:
    """Whether memory and descriptors are left for the bots of more matches."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        used = len(os.listdir("/dev/fd"))  # noqa: PTH208 - looked at all the time
    except OSError:
        used = 0
    return used < (1 - _FREE_SHARE) * most and free_share() > _FREE_SHARE


class Room:
    """How many matches may be played on `loop` at a time; `has_resources` says whether there are any for more."""

    def __init__(self, loop: Loop, has_resources: Callable[[], bool] = resources_left) -> None:
        self._loop = loop
        self._has_resources = has_resources
        self._decided_ns = loop.now()
        self._idle_ns, self._computed_ns = loop.idle_ns, loop.computed_ns
        self.tasks = 1

    def decide(self, now_ns: int) -> int:
        """Decide again, from what has been since the last decision."""
        loop = self._loop
        passed = max(now_ns - self._decided_ns, 1)
        idle, computed = loop.idle_ns - self._idle_ns, loop.computed_ns - self._computed_ns
        self._decided_ns, self._idle_ns, self._computed_ns = now_ns, loop.idle_ns, loop.computed_ns
        if idle > _IDLE_SHARE * passed and loop.matches >= self.tasks and self._has_resources():
            self.tasks += min(self.tasks, _STEP)
        elif loop.queued and computed > _BUSY_SHARE * passed and self.tasks > 1:
            self.tasks = max(1, min(self.tasks, loop.matches) - max(1, self.tasks // 8))
        return self.tasks
