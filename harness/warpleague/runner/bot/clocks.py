"""Decides which part of the time of a decision is charged to the bot, and which part was taken by the host.

The first part is pure: the stopwatch below passes in what the clocks show.
"""

from __future__ import annotations

import select
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from warpleague.errors import HarnessFault
from warpleague.runner.host import own_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warpleague.runner.bot.child import Child
    from warpleague.runner.bot.halt import Halt

NEVER: Final = 1 << 62  # a reading that no clock comes to
# How long a referee that waits for an answer means to sleep at most before it reads the clocks.
INTERVAL_NS: Final = 20_000_000

SLACK_NS: Final = 2_000_000  # how late it may come because timers are coarse
# A referee that comes later than this was stopped: bots of one core cannot keep it away for so long.
PAUSE_NS: Final = 1_000_000_000

# How long a host may keep a bot waiting in one decision, in addition to ten times its budget. The lowest niceness
# gives a program a seventieth of what others get. Beside twenty of these on two cores, 0.3 s of computing take about
# four minutes.
OVERLOAD_NS: Final = 300_000_000_000

_MOMENT_NS: Final = 500_000  # the shortest time that shows whether a bot sleeps
_SLEEP_SHARE: Final = 4


# -- what is charged: pure -------------------------------------------------------------------------------

# During a decision, a bot computes, sleeps, or waits for what others use. It is always charged for the time that it
# and its processes compute, and for the time that it sleeps. It waits while it is ready and others use its processor:
# the opponents, the referee, the rest of the machine. It also waits for the disk and for memory. This time is not
# charged, as far as others took it, at any niceness and any load. Waiting for its own processes does not count as
# waiting.
#
# The kernel reports some of the waiting late, once the bot has got a processor. So waiting is summed over the whole
# decision: a late report makes up for what was charged before. A bot that is ready to run is not too late before the
# kernel has reported how long it waited.
#
# If the referee meant to read the clocks but came late, and neither computed nor waited for a processor, it was
# stopped, perhaps with the whole machine. This time is not charged either. An answer may also wait for the referee,
# which is busy with other matches or waits for a processor itself: then the time in which it could not have come
# earlier is not charged. If the referee was stopped, it knows only to `INTERVAL_NS` when an answer came. A suspended
# machine costs nobody time: the clock stands still meanwhile.
#
# Measured beside 20 programs on two cores: decisions that compute 300 ms were charged 300 to 310 ms, and with
# `nice -n 19` most that compute 20 ms were charged 20 to 28 ms. In a league where everything was stopped for 4 s four
# times, a bot that computes 50 ms in each decision was charged at most 58 ms for one.


class Reading(NamedTuple):
    """Readings of clocks that never go back, in nanoseconds; a clock that cannot be read stays at 0."""

    own_ns: int = 0  # the processor time of the bot and its processes
    delay_ns: int = 0  # how long it waited for a processor
    ran_ns: int = 0  # the processor time of the referee
    waited_ns: int = 0  # how long the referee was ready without a processor
    paused_ns: int = 0  # how long the referee was stopped, as its event loop noticed
    # How long the bot waited for the disk and for memory that others used; this may be corrected downwards.
    stalled_ns: int = 0


def excused_ns(
    passed_ns: int, planned_ns: int, since: Reading, came: bool, queued_ns: int | None = None
) -> int:
    """How much of the `passed_ns` between two readings is not charged to the bot.

    `since` is how far the clocks have moved since the last reading. `came` is whether any part of an answer was there.
    If the referee waited in its event loop, `queued_ns` is how long an answer may have been there; pauses were noticed
    there, too. If it is None, the referee waited for this bot alone, and meant to read after at most `planned_ns`.
    """
    late_ns = passed_ns - planned_ns - SLACK_NS
    waited_ns = since.delay_ns + since.stalled_ns
    # Of two reasons the larger one, not the sum: both may tell of the same time.
    if queued_ns is not None:
        lost_ns = max(waited_ns + (queued_ns if came else 0), since.paused_ns)
    elif came:
        # The answer was there, and waited for a referee that was kept from its processor, or was late altogether.
        lost_ns = max(waited_ns + since.waited_ns, late_ns)
    else:
        # No answer waited for the referee, so what it computed or waited is no excuse: the bot slept on meanwhile.
        # Only a referee that was late and did neither was stopped, and the bot with it.
        lost_ns = max(waited_ns, late_ns - since.ran_ns - since.waited_ns)
    # Never less than it computed is charged: no waiting that a bot brings about itself gives it time to think.
    return max(0, min(lost_ns, passed_ns - since.own_ns))


class LongDecision:
    """The charge of one decision that takes more than a moment; all times in nanoseconds.

    Where the readings are not `trusted`, since they miss some of the bot's own processes, at most as much is excused
    as it may take anyway, pauses of the host aside. A host that makes a bot wait for `overload_ns`, and ten times its
    budget, is overloaded.
    """

    def __init__(
        self, begun_ns: int, budget_ns: int | None, seen: Reading, overload_ns: int = OVERLOAD_NS
    ) -> None:
        self.begun_ns = begun_ns
        self.budget_ns = budget_ns
        self._begun = seen
        self.seen = seen  # the last readings
        self._overload_ns = overload_ns
        self._queued_ns = 0  # what was excused though the bot itself did not wait
        # How long it may have waited since it was last seen to compute, without a report of the kernel.
        self._unreported_ns = 0
        self.read_ns = begun_ns  # when the clocks were read last
        self.own_ns = 0  # the processor time of the bot until then
        self.excused_ns = 0  # the time excused so far
        self.charged_ns = 0  # the charge of the bot until the last reading
        self.paused_ns = 0  # how much of `excused_ns` was because the host was paused
        self.sleeps = False  # whether the bot mostly slept between the last two readings

    def update(
        self,
        now_ns: int,
        planned_ns: int,
        seen: Reading,
        *,
        came: bool = False,
        queued_ns: int | None = None,
        trusted: bool = True,
    ) -> None:
        """Take the readings of `now_ns`, after a sleep that was to last `planned_ns` at most; see `excused_ns`."""
        passed = now_ns - self.read_ns
        before, begun = self.seen, self._begun
        since = Reading(*[now - then if now > then else 0 for now, then in zip(seen, before, strict=True)])
        if passed >= _MOMENT_NS:
            self.sleeps = (since.own_ns + since.delay_ns) * _SLEEP_SHARE < passed
        self.own_ns += since.own_ns
        self._unreported_ns = max(0, passed - since.own_ns + (0 if since.own_ns else self._unreported_ns))
        # What the bot itself waited is not added up from reading to reading, but taken from the whole decision below.
        # So what the kernel reports late makes up for what was charged before.
        beyond = excused_ns(passed, planned_ns, since, came, queued_ns) - since.delay_ns - since.stalled_ns
        beyond = max(0, beyond)
        if since.paused_ns > PAUSE_NS or (queued_ns is None and passed - planned_ns > PAUSE_NS):
            self.paused_ns += beyond
        else:
            self._queued_ns += beyond
        self.read_ns, self.seen = now_ns, seen
        excused = self._queued_ns
        excused += max(0, seen.delay_ns - begun.delay_ns) + max(0, seen.stalled_ns - begun.stalled_ns)
        if not trusted and self.budget_ns is not None:
            # Processes that nobody counts may have kept the bot's own one waiting, so as to gain time.
            excused = min(excused, self.budget_ns)
        # Some of its processes may be counted late: what was excused for them is charged after all.
        lasted_ns = now_ns - self.begun_ns
        self.excused_ns = max(0, min(excused + self.paused_ns, lasted_ns - self.own_ns))
        self.charged_ns = lasted_ns - self.excused_ns

    def left_ns(self, now_ns: int) -> int:
        """How much of the budget is left; without one, more than any match takes."""
        budget_ns = NEVER if self.budget_ns is None else self.budget_ns
        return self.begun_ns + budget_ns + self.excused_ns - now_ns

    def may_be_in_time(self) -> bool:
        """Whether its time is not up if it has waited since it computed last, which the kernel may report later."""
        least_ns = max(self.own_ns, self.charged_ns - self._unreported_ns)
        return self.budget_ns is None or least_ns < self.budget_ns

    def overloaded(self) -> bool:
        """Whether the host keeps the bot waiting for so long that the match is void."""
        # Pauses do not count: after one the match goes on.
        if self.budget_ns is None:
            return self.excused_ns - self.paused_ns > self._overload_ns
        waited_ns = max(self.excused_ns, self._unreported_ns) - self.paused_ns
        return waited_ns > self._overload_ns + 10 * self.budget_ns


# -- how long a bot waited for others --------------------------------------------------------------------


# If a bot neither computed nor waited for a processor for so long, further clocks are read.
_UNEXPLAINED_NS: Final = 2_000_000

_Counts = tuple[int, int]  # how long a thread computed, and how long it waited for a processor


class Waits:
    """How long the bot of `child` waited in one decision for what others used; all times in nanoseconds."""

    # For a processor there are two witnesses. Neither reports much more than there was, so the larger one is nearer.
    # Both are exact to a few milliseconds each time that the bot was moved between processors. The pressure on the
    # bot's control group reports too little of waits that are shorter than a tick, and where the bot was moved. How
    # long each thread of the bot waited is reported only once the thread has got a processor.

    def __init__(self, child: Child) -> None:
        self._child = child
        # The last reading, perhaps of an earlier decision: between questions a bot waits for nothing.
        self._pressure: dict[str, int] = {}
        self._threads: dict[int, _Counts] = {}
        self._traffic = 0, child.all_traffic_bytes()
        self.begin()

    def begin(self) -> None:
        """A decision begins."""
        # How long it waited for a processor, until the last reading; None if the system does not say.
        self.processor_ns: int | None = 0
        # How long it waited for the disk and for memory that others used, until the last reading.
        self.stalled_ns = 0
        self._by_group_ns = self._disk_ns = self._memory_ns = 0
        # If it was ready at the last reading: how much time had passed, and what it had computed.
        self._ready: tuple[int, int] | None = None
        self._begun: dict[int, _Counts] = {}  # what each thread had computed and waited before
        self._traffic_begun = self._traffic

    def read(self, passed_ns: int, own_ns: int) -> None:
        """Read what the kernel reports, `passed_ns` after the decision began, in which the bot computed `own_ns`."""
        idle_ns = max(0, passed_ns - own_ns)
        # The cheap readings first: one file of the group, and one of the main thread. All threads, and what was read
        # from disks, are asked only if there is time left that these do not explain.
        by_group = self._by_pressure("cpu", passed_ns - self._by_group_ns)
        # A bot that was ready at two readings and computed nothing between them waited all the time between.
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
        """How long the group waited since the last reading, at most `most_ns`; None if the kernel does not say."""
        # At most that, since the first reading may report more than there was in this decision.
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
                known = self._threads.get(thread, (0, 0))
                if computed < known[0]:
                    known = 0, 0
                # Nobody read it when the decision began. It cannot have computed more since than the whole bot, nor
                # waited longer than the bot was idle.
                begun = max(known[0], computed - own_ns), max(known[1], waited - idle_ns)
                self._begun[thread] = begun
            # A thread that waits for others of its own bot, and not for a processor that others have, is not excused.
            others_ns = max(0, own_ns - (computed - begun[0]))
            waited_ns = max(waited_ns, waited - begun[1] - others_ns)
        return waited_ns

    def _count_stalls(self, idle_ns: int) -> None:
        """Bring `stalled_ns` up to date, if the bot neither computed nor waited for a processor for `idle_ns`."""
        left_ns = idle_ns - self._memory_ns - self._disk_ns
        # There is the pressure on the group alone; without a group, what the main thread waited for the disk, if the
        # kernel counts that. To wait for memory is to wait for pages that the host took and that come back from the
        # disk or from swap, or that must be found. Who has taken all the memory that it may waits for itself.
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
        # Who reads much waits for what it reads: no bot gains time by reading its own files past the kernel's cache. A
        # bot that writes is charged with its share alone, even if it waits for all of it to be written.
        own, all_ = self._child.own_traffic_bytes(), self._child.all_traffic_bytes()
        if own is None:
            return 0.0
        self._traffic = own, all_
        own, all_ = max(0, own - self._traffic_begun[0]), all_ - self._traffic_begun[1]
        return 1.0 - min(1.0, own / all_) if all_ > 0 else 1.0


class Stopwatch:
    """Times the decisions of the bot of `child` that take more than a moment: which clocks are read, and when.

    `own_counts` reads those of this thread. A host is overloaded that makes a bot wait for `overload_ns`: see
    `LongDecision`.
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
        # The question may have been asked a while ago, by a plain poll: only the bot's own clock was read before it,
        # or is known from its last answer.
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
            decision.sleeps = False  # it waits for a processor, and the kernel has not counted that yet
        if decision.overloaded():
            waited_s = (now - decision.begun_ns - decision.own_ns) / 1e9
            raise HarnessFault(
                f"the machine is overloaded: it kept a bot waiting for {waited_s:.0f} s in one decision,"
                " for a processor, the disk or memory"
            )

    def may_be_in_time(self, decision: LongDecision) -> bool:
        """Whether a bot whose time seems to be up waits for a processor: the kernel then reports later how long."""
        return decision.may_be_in_time() and self._child.any_ready()


# -- several matches on one event loop -------------------------------------------------------------------


FREEZE_S: Final = 0.005  # how long a match may wait for its turn before its bots are frozen, in seconds
# The longest the loop waits for its turn while bots answer at once, in nanoseconds: it has to read standard error and
# to run the watch over memory.
_RUN_NS: Final = 20_000_000

_AT_ONCE_NS: Final = 1_000_000  # a wait that was shorter may have found what was there before
_CHECK_NS: Final = 1_000_000  # how often to check for answers while the loop is busy
_here: Final = trio.lowlevel.RunVar["Loop"]("warpleague_loop")


class Loop(trio.abc.Instrument):
    """The event loop of one call of `trio.run`, which several matches share; all times in nanoseconds.

    `clock` gives the time, `counts` how long this thread computed and waited for a processor so far.
    """

    # Bots that wait leave their core idle, so several matches have one core and one loop. But while a bot computes,
    # no question of another match is asked: several bots are waited for only while they sleep. A question that waits
    # for its turn costs nobody time, since its clock has not begun. A bot that slept may go on to compute while
    # another one does; then the time that each takes from the other is not charged. So other matches change when a
    # bot is asked, and not what it is charged.

    def __init__(
        self,
        clock: Callable[[], int] = time.perf_counter_ns,
        counts: Callable[[], tuple[int, int]] = own_counts,
    ) -> None:
        self._clock = clock
        self._counts = counts
        self.matches = 0  # how many are played
        self.asked = 0  # how many bots are waited for in the loop, those that start included
        self.computing = 0  # how many decisions are waited for of which it is not known that the bot sleeps
        self.called = 0  # how many matches have been called to ask, but have not run since
        # When the loop has to run next while bots answer at once: at once, if other matches wait for it.
        self.due_ns = 0
        self.starting = 0  # how many matches start their bots
        self.idle_ns = 0  # how long the loop waited while no bot computed or started
        self.computed_ns = 0  # how long it waited while one computed
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
        # They share the core with the bot that computes, and would take time from it.
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
        # One at a time. Each woken match wakes the next, which may ask if this bot has answered or sleeps.
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
        # The counts before the time: what this thread waits for a processor between the two is not a pause.
        spent_ns = sum(self._counts()) + self._blocked_ns
        now = self._clock()
        paused_ns = self.paused_ns(now)
        self._tick_ns, self._tick_spent_ns, self._tick_paused_ns = now, spent_ns, 0
        return paused_ns

    def notice_pauses(self) -> None:
        """Count from now on how long this process is stopped; to be called before a wait."""
        if not self._waiting:
            self._tick_ns = 0  # there is no earlier reading to compare with
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
        # A loop that is busy with other matches asks the kernel late. What it saw at the last check without an answer
        # bounds how long an answer has waited for it, to the millisecond.
        now = self._clock()
        if now - self._checked_ns < _CHECK_NS:
            return
        for output, _ in self._outputs.poll(0):
            share = self._waiting[output]
            share.absent_ns = share.absent_ns or self._checked_ns
        self._checked_ns = now

    def paused_ns(self, now_ns: int) -> int:
        """How long this process was stopped so far: it was late, but neither computed nor waited for a processor."""
        # A pause of the machine or of its container stops bots, too, and none of them is charged for it.
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

        `absent_ns` is when it was last seen that this answer was not there, or 0 if it has not been seen since.
        """
        # The loop may have come at once, but waited for a processor. Or it was busy with other matches, or was
        # stopped, since it last asked the kernel for answers. "At most": where the loop itself waits for a processor,
        # a bot that sleeps may be charged less than it slept. Hardly ever is one charged more.
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
            # An answer may have been there before it asked, since it last woke.
            self._free_ns = self._woke_ns
        else:
            # It slept until something came. After that it may have waited for a processor, or have been stopped.
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

    def __init__(self, loop: Loop | None = None, on_slow: Callable[[], None] = lambda: None) -> None:
        self.loop = Loop() if loop is None else loop
        self.on_slow = on_slow
        self.plays = False  # whether it makes decisions: other matches do not wait for a bot that starts
        self.alone = False  # whether no other bot of its match is asked while it is
        # When its answer was not there yet, for the last time before it was; 0 if it was not there at any time.
        self.absent_ns = 0
        self._computes = False
        self._check: Callable[[bool], bool] | None = None
        self._scope = trio.CancelScope()
        self._failure: Exception | None = None

    @contextmanager
    def asked(self) -> Iterator[None]:
        """In this block, the loop waits for an answer of the bot."""
        self.loop.asked += 1
        self.loop.due_ns = 0
        self._set(computes=self.plays)  # until the clocks show that it sleeps
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
