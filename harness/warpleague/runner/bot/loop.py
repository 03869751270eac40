"""What the matches on one event loop share: which bots compute, and since when the loop had no time for an answer.

All of these matches have one core. So while a bot computes, no question of another match is asked: several bots are
waited for only while they sleep. A question that is held back costs nobody time, since its clock has not begun. A bot
that slept may go on to compute while another one does; then the time that it takes from that one is not charged
(`clock`).
"""

from __future__ import annotations

import select
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import trio

from warpleague.runner.bot.clock import LOOK_NS, SLACK_NS
from warpleague.runner.host.schedstat import own_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HUSH_S: Final = 0.005
"""How long a match may be held back before its bots are stopped, in seconds."""

_AT_ONCE_NS: Final = 1_000_000  # who slept for less may have found what was there before
_CHECK_NS: Final = 1_000_000  # how often to check for answers while the loop is busy
_here: Final = trio.lowlevel.RunVar["Loop"]("warpleague_loop")


class Loop(trio.abc.Instrument):
    """The event loop of one call of `trio.run`; all times in nanoseconds."""

    def __init__(self) -> None:
        self.matches = 0
        """How many are played."""
        self.asked = 0
        """How many bots are waited for in the loop, those that start included."""
        self.computing = 0
        """How many decisions are waited for of which it is not known that the bot sleeps."""
        self.starting = 0
        """How many matches start their bots."""
        self.idle_ns = 0
        """How long the loop waited while no bot computed or started."""
        self.computed_ns = 0
        """How long it waited while one computed."""
        self._held_back = trio.lowlevel.ParkingLot()
        self._called = 0  # matches whose turn has come, but which have not run since
        self._waits_ns = self._limit_ns = self._waited_ns = 0  # of the wait that is going on
        self._woke_ns = self._free_ns = time.perf_counter_ns()
        self._dozing: dict[int, LoopShare] = {}  # by the output of its bot
        self._outputs = select.poll()
        self._checked_ns = 0  # when these were looked at last
        self._someone = trio.Event()
        self._tick_ns = self._tick_spent_ns = self._tick_paused_ns = 0  # of the wait for the next look
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
            trio.lowlevel.spawn_system_task(loop._look_in_turn)
            return loop

    # ------------------------------------------------------------------ which question is asked

    async def turn(self, hush: Callable[[], None]) -> None:
        """Wait until no bot of another match computes; `hush` stops the bots of the match, if that takes a while."""
        with trio.move_on_after(HUSH_S):
            await self._turn()
            return
        hush()
        await self._turn()

    async def _turn(self) -> None:
        while self.taken:
            if self.computing:
                await self._held_back.park()
                self._called -= 1
                if not self.computing:
                    break
            else:
                await trio.lowlevel.checkpoint()  # another match goes first
        self._call()

    @property
    def taken(self) -> bool:
        """Whether a question has to wait, because a bot computes or another match is to ask first."""
        return self.computing > 0 or self._called > 0

    def _call(self) -> None:
        # Each that is called calls the next one: it may ask at once if the first one's bot answers at once or sleeps.
        self._called += len(self._held_back.unpark())

    @property
    def held_back(self) -> int:
        """How many matches wait for their turn."""
        return len(self._held_back)

    def computes(self, more: int) -> None:
        """So many more decisions compute, or fewer."""
        self.computing += more
        if not self.computing:
            self._call()

    # ------------------------------------------------------------------ looking at those who are waited for

    async def _look_in_turn(self) -> None:
        while True:
            if not self._dozing:
                self._tick_ns = 0
                self._someone = trio.Event()
                await self._someone.wait()
            before_ns = self._begin_tick()
            await trio.sleep(LOOK_NS / 1e9)
            paused = self.paused_ns(time.perf_counter_ns()) > before_ns
            for share in list(self._dozing.values()):
                share.look(paused)

    def _begin_tick(self) -> int:
        spent_ns = sum(own_counts()) + self._blocked_ns  # first: what it waits between the two is no pause
        now = time.perf_counter_ns()
        paused_ns = self.paused_ns(now)
        self._tick_ns, self._tick_spent_ns, self._tick_paused_ns = now, spent_ns, 0
        return paused_ns

    def notice_pauses(self) -> None:
        """Count from now on how long this process is stopped; to be called before one `dozes`."""
        if not self._dozing:
            self._tick_ns = 0  # nobody knows what it did since the last one
            self._begin_tick()

    def dozes(self, share: LoopShare, output: int) -> None:
        """Look at the bot of `share`, which writes to `output`, every `LOOK_NS` until `wakes`."""
        self._check_answers()
        self._dozing[output] = share
        self._outputs.register(output, select.POLLIN)
        self._someone.set()

    def wakes(self, output: int) -> None:
        """Look at it no more."""
        self._outputs.unregister(output)
        del self._dozing[output]

    def _check_answers(self) -> None:
        """See whose answers are there, so that it is known how long they were when they are read."""
        now = time.perf_counter_ns()
        if now - self._checked_ns < _CHECK_NS:
            return
        for output, _ in self._outputs.poll(0):
            share = self._dozing[output]
            share.absent_ns = share.absent_ns or self._checked_ns
        self._checked_ns = now

    def paused_ns(self, now_ns: int) -> int:
        """How long this process was stopped so far: it looked late, but neither computed nor was kept from it."""
        if self._tick_ns and (late := now_ns - self._tick_ns - LOOK_NS - SLACK_NS) > 0:
            lost = late - (sum(own_counts()) + self._blocked_ns - self._tick_spent_ns)
            if lost > self._tick_paused_ns:
                self._paused_ns += lost - self._tick_paused_ns
                self._tick_paused_ns = lost
        return self._paused_ns

    @contextmanager
    def blocked(self) -> Iterator[None]:
        """What is done here may wait for the kernel without being a pause of this process."""
        begun, spent = time.perf_counter_ns(), sum(own_counts())
        try:
            yield
        finally:
            self._blocked_ns += max(0, time.perf_counter_ns() - begun - (sum(own_counts()) - spent))

    # ------------------------------------------------------------------ when an answer was there

    def queued_ns(self, now_ns: int, absent_ns: int) -> int:
        """How long at most an answer was there that is found now, in the first step of a task that waited for it.

        The loop may have come at once, but waited for a processor; or it was busy with other matches, or was stopped,
        since it last asked the kernel for answers. `absent_ns` is when it last saw that this one was not there, or 0
        if it has not seen it since.
        """
        return now_ns - (absent_ns or max(self._free_ns, self._checked_ns))

    def before_io_wait(self, timeout: float) -> None:
        """Called by trio before it asks the kernel what is there, and waits if nothing is."""
        if self._dozing:
            self._check_answers()
        self._waits_ns = time.perf_counter_ns()
        self._limit_ns = round(min(timeout, 3600.0) * 1e9)
        # If it does not wait, all of the time is its own: this need not be known.
        self._waited_ns = own_counts()[1] if self._limit_ns else 0

    def after_io_wait(self, timeout: float) -> None:  # noqa: ARG002 - the name is trio's
        """Called by trio when it goes on."""
        now = time.perf_counter_ns()
        took = now - self._waits_ns
        waited = own_counts()[1] - self._waited_ns if self._limit_ns else took
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
    """What one bot has to do with the loop: whether it is waited for there, and whether it computes meanwhile."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.plays = False
        """Whether it is asked for decisions: what it computes while it starts keeps no other match back."""
        self.alone = False
        """Whether no other bot of its match is asked while it is."""
        self.absent_ns = 0
        """When its answer was not there yet, for the last time before it was; 0 if it was not there at any time."""
        self._computes = False
        self._look: Callable[[bool], bool] | None = None
        self._scope = trio.CancelScope()
        self._failure: Exception | None = None

    @contextmanager
    def dozing(self, scope: trio.CancelScope, output: int, look: Callable[[bool], bool]) -> Iterator[None]:
        """Have `look` called while its `output` is waited for within `scope`; what that raises is raised here.

        It is told whether this process was stopped, and tells whether the bot sleeps.
        """
        self._look, self._scope, self.absent_ns = look, scope, 0
        self.loop.dozes(self, output)
        try:
            yield
        finally:
            self.loop.wakes(output)
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure

    def look(self, paused: bool) -> None:
        """Look at the bot; to be called by the loop."""
        assert self._look is not None
        try:
            self.saw(self._look(paused))
        except Exception as error:  # noqa: BLE001 - raised in `dozing`, in the match it belongs to
            self._failure = error
            self._scope.cancel()

    def begin(self) -> None:
        """The loop waits for its answer from now on."""
        self.loop.asked += 1
        self._tell(computes=self.plays)

    def saw(self, sleeps: bool) -> None:
        """It was seen whether it sleeps."""
        self._tell(computes=self.plays and not sleeps)

    def end(self) -> None:
        """The answer came, or none will."""
        self.loop.asked -= 1
        self._tell(computes=False)

    def _tell(self, *, computes: bool) -> None:
        if computes != self._computes:
            self._computes = computes
            self.loop.computes(1 if computes else -1)
