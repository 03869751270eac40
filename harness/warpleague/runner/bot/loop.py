"""The shared state of the matches on one event loop: which bots compute, and when the loop was late.

All of these matches have one core. So while a bot computes, no question of another match is asked: several bots are
waited for only while they sleep. A question that waits for its turn costs nobody time, since its clock has not begun.
A bot that slept may go on to compute while another one does; then the time that it takes from that one is not charged
(`clock`).
"""

from __future__ import annotations

import select
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import trio

from warpleague.runner.bot.clock import INTERVAL_NS, SLACK_NS
from warpleague.runner.host.schedstat import own_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FREEZE_S: Final = 0.005
"""How long a match may wait for its turn before its bots are frozen, in seconds."""

_RUN_NS: Final = 20_000_000
"""The longest the loop waits for its turn while bots answer at once, in nanoseconds."""

_AT_ONCE_NS: Final = 1_000_000  # a wait that was shorter may have found what was there before
_CHECK_NS: Final = 1_000_000  # how often to check for answers while the loop is busy
_here: Final = trio.lowlevel.RunVar["Loop"]("warpleague_loop")


def _nothing() -> None:
    pass


class Loop(trio.abc.Instrument):
    """The event loop of one call of `trio.run`; all times in nanoseconds.

    `clock` gives the time, `counts` how long this thread computed and waited for a processor so far.
    """

    def __init__(
        self,
        clock: Callable[[], int] = time.perf_counter_ns,
        counts: Callable[[], tuple[int, int]] = own_counts,
    ) -> None:
        self._clock = clock
        self._counts = counts
        self.matches = 0
        """How many are played."""
        self.asked = 0
        """How many bots are waited for in the loop, those that start included."""
        self.computing = 0
        """How many decisions are waited for of which it is not known that the bot sleeps."""
        self.called = 0
        """How many matches have been called to ask, but have not run since."""
        self.due_ns = 0
        """When the loop has to run next while bots answer at once: at once, if other matches wait for it."""
        self.starting = 0
        """How many matches start their bots."""
        self.idle_ns = 0
        """How long the loop waited while no bot computed or started."""
        self.computed_ns = 0
        """How long it waited while one computed."""
        self._queue = trio.lowlevel.ParkingLot()
        self._waits_ns = self._limit_ns = self._waited_ns = 0  # of the wait that is going on
        self._woke_ns = self._free_ns = clock()
        self._waiting: dict[int, LoopShare] = {}  # by the output of its bot
        self._outputs = select.poll()
        self._checked_ns = 0  # when these were polled last
        self._someone = trio.Event()
        self._tick_ns = self._tick_spent_ns = self._tick_paused_ns = 0  # of the wait for the next reading
        self._paused_ns = self._blocked_ns = 0

    @classmethod
    def here(cls) -> Loop:
        """The loop that runs."""
        try:
            return _here.get()
        except LookupError:
            loop = cls()
            _here.set(loop)
            trio.lowlevel.add_instrument(loop)
            trio.lowlevel.spawn_system_task(loop._check_all)
            return loop

    def now(self) -> int:
        """The time by its clock."""
        return self._clock()

    # ------------------------------------------------------------------ which question is asked

    async def turn(self, freeze: Callable[[], None]) -> None:
        """Wait until no bot of another match computes; `freeze` the bots of this match, if that takes a while."""
        with trio.move_on_after(FREEZE_S):
            await self._turn()
            return
        freeze()
        await self._turn()

    async def _turn(self) -> None:
        while self.taken:
            if self.computing:
                await self._queue.park()
                self.called -= 1
                if not self.computing:
                    break
            else:
                await trio.lowlevel.checkpoint()  # another match goes first
        self._call()

    @property
    def taken(self) -> bool:
        """Whether a question has to wait, because a bot computes or another match is to ask first."""
        return self.computing > 0 or self.called > 0

    def _call(self) -> None:
        # Each woken match wakes the next, which may ask if this bot has answered or sleeps.
        if called := len(self._queue.unpark()):
            self.called += called
            self.due_ns = 0

    def plan(self) -> None:
        """Decide when the loop has to run next; to be called when it has run."""
        self.due_ns = 0 if self.asked or self.called else self._clock() + _RUN_NS

    @property
    def queued(self) -> int:
        """How many matches wait for their turn."""
        return len(self._queue)

    def computes(self, more: int) -> None:
        """So many more decisions compute, or fewer."""
        self.computing += more
        if not self.computing:
            self._call()

    # ------------------------------------------------------------------ checks of the bots that are waited for

    async def _check_all(self) -> None:
        """Check each bot that is waited for every `INTERVAL_NS`."""
        while True:
            if not self._waiting:
                self._tick_ns = 0
                self._someone = trio.Event()
                await self._someone.wait()
            before_ns = self._begin_tick()
            await trio.sleep(INTERVAL_NS / 1e9)
            paused = self.paused_ns(self._clock()) > before_ns
            for share in list(self._waiting.values()):
                share.check(paused)

    def _begin_tick(self) -> int:
        # First: the time that it waits between the two readings is not a pause.
        spent_ns = sum(self._counts()) + self._blocked_ns
        now = self._clock()
        paused_ns = self.paused_ns(now)
        self._tick_ns, self._tick_spent_ns, self._tick_paused_ns = now, spent_ns, 0
        return paused_ns

    def notice_pauses(self) -> None:
        """Count from now on how long this process is stopped; to be called before a wait."""
        if not self._waiting:
            self._tick_ns = 0  # nobody knows what it did since the last one
            self._begin_tick()

    def add(self, share: LoopShare, output: int) -> None:
        """Check the bot of `share`, which writes to `output`, every `INTERVAL_NS` until `remove`."""
        self._check_answers()
        self._waiting[output] = share
        self._outputs.register(output, select.POLLIN)
        self._someone.set()

    def remove(self, output: int) -> None:
        """Check it no more."""
        self._outputs.unregister(output)
        del self._waiting[output]

    def _check_answers(self) -> None:
        """Note whose answers are there, so that it is known later how long they waited to be read."""
        now = self._clock()
        if now - self._checked_ns < _CHECK_NS:
            return
        for output, _ in self._outputs.poll(0):
            share = self._waiting[output]
            share.absent_ns = share.absent_ns or self._checked_ns
        self._checked_ns = now

    def paused_ns(self, now_ns: int) -> int:
        """How long this process was stopped so far: it was late, but neither computed nor waited for a processor."""
        if self._tick_ns and (late := now_ns - self._tick_ns - INTERVAL_NS - SLACK_NS) > 0:
            lost = late - (sum(self._counts()) + self._blocked_ns - self._tick_spent_ns)
            if lost > self._tick_paused_ns:
                self._paused_ns += lost - self._tick_paused_ns
                self._tick_paused_ns = lost
        return self._paused_ns

    @contextmanager
    def blocked(self) -> Iterator[None]:
        """The block may wait for the kernel. That does not count as a pause of this process."""
        begun, spent = self._clock(), sum(self._counts())
        try:
            yield
        finally:
            self._blocked_ns += max(0, self._clock() - begun - (sum(self._counts()) - spent))

    # ------------------------------------------------------------------ when an answer was there

    def queued_ns(self, now_ns: int, absent_ns: int) -> int:
        """How long at most an answer was there that is read now, in the first step of a task that waited for it.

        The loop may have come at once, but waited for a processor. Or it was busy with other matches, or was stopped,
        since it last asked the kernel for answers. `absent_ns` is when it last saw that this one was not there, or 0
        if it has not seen it since.
        """
        return now_ns - (absent_ns or max(self._free_ns, self._checked_ns))

    def before_io_wait(self, timeout: float) -> None:
        """Called by trio before it asks the kernel what is there, and waits if nothing is."""
        if self._waiting:
            self._check_answers()
        self._waits_ns = self._clock()
        self._limit_ns = round(min(timeout, 3600.0) * 1e9)
        # If it does not wait, all of the time is its own: this need not be known.
        self._waited_ns = self._counts()[1] if self._limit_ns else 0

    def after_io_wait(self, timeout: float) -> None:  # noqa: ARG002 - the name is trio's
        """Called by trio when it goes on."""
        now = self._clock()
        took = now - self._waits_ns
        waited = self._counts()[1] - self._waited_ns if self._limit_ns else took
        if took - waited < _AT_ONCE_NS:
            self._free_ns = self._woke_ns
        else:
            # It may have waited for a processor, or have been stopped.
            self._free_ns = now - min(max(waited, took - self._limit_ns - SLACK_NS, 0), took)
        self._woke_ns = now
        if self.computing:
            self.computed_ns += took
        elif not self.starting:
            self.idle_ns += took


class LoopShare:
    """The part of one bot in its event loop: whether the loop waits for it, and whether it computes meanwhile.

    `on_slow` is called now and then while an answer takes more than a moment.
    """

    def __init__(self, loop: Loop | None = None, on_slow: Callable[[], None] = _nothing) -> None:
        self.loop = Loop() if loop is None else loop
        self.on_slow = on_slow
        self.plays = False
        """Whether it makes decisions: other matches do not wait for a bot that starts."""
        self.alone = False
        """Whether no other bot of its match is asked while it is."""
        self.absent_ns = 0
        """When its answer was not there yet, for the last time before it was; 0 if it was not there at any time."""
        self._computes = False
        self._check: Callable[[bool], bool] | None = None
        self._scope = trio.CancelScope()
        self._failure: Exception | None = None

    @contextmanager
    def asked(self) -> Iterator[None]:
        """In this block, the loop waits for an answer of the bot."""
        self.loop.asked += 1
        self.loop.due_ns = 0
        self._set(computes=self.plays)
        try:
            yield
        finally:
            self.loop.asked -= 1
            self._set(computes=False)
            self.loop.plan()

    def note(self, *, sleeps: bool) -> None:
        """Note whether the bot sleeps."""
        self._set(computes=self.plays and not sleeps)

    def _set(self, *, computes: bool) -> None:
        if computes != self._computes:
            self._computes = computes
            self.loop.computes(1 if computes else -1)

    @contextmanager
    def waiting(self, scope: trio.CancelScope, output: int, check: Callable[[bool], bool]) -> Iterator[None]:
        """Have `check` called while the `output` is waited for within `scope`; its exceptions are raised here.

        Its argument is whether this process was stopped; it returns whether the bot sleeps.
        """
        self._check, self._scope, self.absent_ns = check, scope, 0
        self.loop.add(self, output)
        try:
            yield
        finally:
            self.loop.remove(output)
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure

    def check(self, paused: bool) -> None:
        """Check the bot; to be called by the loop."""
        assert self._check is not None
        try:
            self.note(sleeps=self._check(paused))
        except Exception as error:  # noqa: BLE001 - raised in `waiting`, in the match it belongs to
            self._failure = error
            self._scope.cancel()
