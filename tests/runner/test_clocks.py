"""What of the time that passes is the asked bot's: properties of the model, and what it says of known cases."""

import os
from collections.abc import Awaitable, Callable
from random import Random
from typing import cast

import attrs
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from tests.runner.conftest import MakeSeat, MakeSpec
from trio.testing import MockClock

from warpleague.league.referees.process import Room
from warpleague.match.chance import match_key
from warpleague.match.spec import MatchResult, MatchSpec
from warpleague.runner.bot.child import Child
from warpleague.runner.bot.clocks import (
    FREEZE_S,
    INTERVAL_NS,
    PAUSE_NS,
    SLACK_NS,
    LongDecision,
    Loop,
    LoopShare,
    Reading,
    Waits,
    excused_ns,
)
from warpleague.runner.play import end_idle, play_beside, play_match

MS = 1_000_000
times = st.integers(0, 10_000 * MS)
readings = st.builds(Reading, times, times, times, times)


@given(times, times, readings, st.booleans())
def test_what_a_bot_computes_is_its_own(passed: int, planned: int, since: Reading, came: bool) -> None:
    """Never is less charged than it computed, nor more than passed."""
    charged = passed - excused_ns(passed, planned, since, came)
    assert min(since.own_ns, passed) <= charged <= passed


@given(times, times, readings, st.booleans(), times)
def test_waiting_more_never_costs_more(
    passed: int, planned: int, since: Reading, came: bool, more: int
) -> None:
    """The longer others keep a bot, the more is excused; the more it computes, the less."""
    before = excused_ns(passed, planned, since, came)
    assert excused_ns(passed, planned, since._replace(delay_ns=since.delay_ns + more), came) >= before
    assert excused_ns(passed, planned, since._replace(own_ns=since.own_ns + more), came) <= before


@given(st.integers(0, INTERVAL_NS + SLACK_NS), times, times)
def test_nothing_is_excused_on_a_quiet_machine(passed: int, own: int, ran: int) -> None:
    """Where nobody waits and the referee comes when it meant to, all that passes is charged."""
    for came in (False, True):
        assert excused_ns(passed, INTERVAL_NS, Reading(own, 0, ran, 0), came) == 0


@pytest.mark.parametrize("came", [False, True])
def test_a_pause_of_the_machine_is_nobodys(came: bool) -> None:
    """Nothing ran and nothing waited for 4 s: all but what the referee meant to sleep is excused."""
    since = Reading(own_ns=5 * MS, delay_ns=0, ran_ns=1 * MS, waited_ns=0)
    charged = 4000 * MS - excused_ns(4000 * MS, INTERVAL_NS, since, came)
    assert charged <= INTERVAL_NS + SLACK_NS + 1 * MS


def test_a_referee_that_its_bot_keeps_busy_is_no_pause() -> None:
    """A bot that computes on the referee's processor makes it late; that is the bot's own time."""
    since = Reading(own_ns=300 * MS, delay_ns=0, ran_ns=0, waited_ns=280 * MS)
    for came in (False, True):
        assert excused_ns(300 * MS, INTERVAL_NS, since, came) == 0


def test_a_sleeper_is_charged_on_a_busy_machine() -> None:
    """A referee that waits for its turn finds a bot still asleep: that the bot slept was not the machine's doing."""
    since = Reading(own_ns=0, delay_ns=0, ran_ns=1 * MS, waited_ns=30 * MS)
    assert excused_ns(50 * MS, INTERVAL_NS, since, came=False) == 0
    assert excused_ns(50 * MS, INTERVAL_NS, since, came=True) == 30 * MS


@given(st.lists(st.tuples(st.integers(0, 100 * MS), st.integers(0, 100 * MS)), max_size=50))
def test_a_loaded_host_takes_as_much_as_it_took(slices: list[tuple[int, int]]) -> None:
    """Of any mix of computing and being kept waiting, exactly the computing is charged, at whatever looks."""
    turn = LongDecision(0, 50 * MS, Reading())
    now = own = kept = 0
    for computed, waited in slices:
        now, own, kept = now + computed + waited, own + computed, kept + waited
        turn.update(now, computed + waited, Reading(own, kept))
    assert turn.charged_ns == own
    assert turn.left_ns(now) == 50 * MS - own


@given(st.lists(times, min_size=1, max_size=20))
def test_untrusted_readings_double_the_time_at_most(kept: list[int]) -> None:
    """Where not all of the bot's processes are counted, what may be their doing is bounded; a pause is not theirs."""
    turn = LongDecision(0, 100 * MS, Reading())
    now = total = 0
    for each in kept:
        now, total = now + each, total + each
        turn.update(now, each, Reading(0, total), trusted=False)
    assert turn.excused_ns == min(total, 100 * MS)
    turn.update(now + 5 * PAUSE_NS, INTERVAL_NS, Reading(0, total), trusted=False)
    assert turn.excused_ns > 4 * PAUSE_NS


def test_a_clock_that_goes_back_takes_nothing() -> None:
    """Readings that are corrected downwards charge and excuse nothing by themselves."""
    turn = LongDecision(0, 100 * MS, Reading(50 * MS, 50 * MS, 50 * MS, 50 * MS))
    turn.update(10 * MS, INTERVAL_NS, Reading())
    assert turn.excused_ns == 0
    assert turn.charged_ns == 10 * MS


# How long a bot waited for what others used, by what the kernel tells of its group, its threads and its disks.


MAIN, OTHER = 7, 8


@attrs.define
class Kernel:
    """What the kernel tells of a bot; times in milliseconds, None where it says nothing."""

    own_pid: int = MAIN
    cpu: int | None = 0
    io: int | None = 0
    memory: int | None = 0
    threads: dict[int, tuple[int, int]] = attrs.field(factory=lambda: {MAIN: (0, 0)})
    capped: bool = False
    own_bytes: int | None = 0
    all_bytes: int = 0
    is_ready: bool = False

    def pressure_ns(self, kind: str) -> int | None:
        told: int | None = getattr(self, kind)
        return None if told is None else told * MS

    def thread_counts(self) -> dict[int, tuple[int, int]]:
        return {thread: (ran * MS, waited * MS) for thread, (ran, waited) in self.threads.items()}

    def main_counts(self) -> tuple[int, int] | None:
        return self.thread_counts().get(MAIN)

    def ready(self) -> bool:
        return self.is_ready

    def any_ready(self) -> bool:
        return self.is_ready

    def at_cap(self) -> bool:
        return self.capped

    def own_traffic_bytes(self) -> int | None:
        return self.own_bytes

    def all_traffic_bytes(self) -> int:
        return self.all_bytes


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


def waits_of(kernel: Kernel) -> Waits:
    return Waits(cast("Child", kernel))


@pytest.mark.parametrize(
    ("told", "waited", "expected"),
    [
        ([0, 0, 0], [0, 2, 3], 3),  # too short for the group
        ([0, 9, 9], [0, 0, 9], 9),  # told late of the thread, and not counted twice
        ([0, 5, 10], [0, 0, 20], 20),  # moved between processors: the group is told half of it
        ([50, 50, 50], [0, 0, 0], 10),  # of what was before this decision no more than had passed
        ([0, 0, 0], [70, 70, 72], 12),
        ([0, 4, 4], [None, None, None], 4),
        ([None, None, None], [0, 0, 7], 7),
        ([None, None, None], [None, None, None], None),
    ],
)
def test_the_witness_that_tells_more_is_believed(
    kernel: Kernel, told: list[int | None], waited: list[int | None], expected: int | None
) -> None:
    """Waits for a processor are told of a group and of a thread; neither tells more than there was."""
    waits = waits_of(kernel)
    for look, (kernel.cpu, thread) in enumerate(zip(told, waited, strict=True), 1):
        kernel.threads = {} if thread is None else {MAIN: (0, thread)}
        waits.read(look * 10 * MS, 0)
    assert waits.processor_ns == (None if expected is None else expected * MS)


def test_any_thread_may_be_the_one_that_computes(kernel: Kernel) -> None:
    """Java's first thread sleeps: what another one waits for counts as well, less what the rest computed."""
    waits = waits_of(kernel)
    kernel.cpu, kernel.threads = 1, {MAIN: (0, 0), OTHER: (0, 0)}
    waits.read(10 * MS, 0)
    kernel.cpu, kernel.threads = 40, {MAIN: (3, 0), OTHER: (20, 70)}
    waits.read(100 * MS, 23 * MS)
    assert waits.processor_ns == (70 - 3) * MS


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=20))
def test_waiting_for_own_threads_is_no_excuse(slices: list[tuple[int, int]]) -> None:
    """Threads that take turns on one processor wait for each other all the time, and the bot does not wait at all."""
    kernel = Kernel(threads={MAIN: (0, 0), OTHER: (0, 0)})
    waits = waits_of(kernel)
    passed = 0
    for first, second in slices:
        (ran, waited), (ran_too, waited_too) = kernel.threads[MAIN], kernel.threads[OTHER]
        kernel.threads = {MAIN: (ran + first, waited + second), OTHER: (ran_too + second, waited_too + first)}
        passed += first + second
        waits.read(passed * MS, passed * MS)
    assert waits.processor_ns == 0


def test_who_was_ready_at_two_looks_and_did_not_compute_has_waited(kernel: Kernel) -> None:
    """What both witnesses miss is known if nothing of the bot ran between two looks at which it was ready."""
    waits = waits_of(kernel)
    kernel.is_ready, kernel.cpu = True, 5
    waits.read(10 * MS, 5 * MS)
    kernel.cpu = 9
    waits.read(30 * MS, 5 * MS)  # nobody told of more than 4 ms of these 20
    assert waits.processor_ns == 25 * MS
    waits.read(50 * MS, 6 * MS)  # it ran: it may have slept as well
    assert waits.processor_ns == 25 * MS
    kernel.is_ready = False
    waits.read(70 * MS, 6 * MS)
    kernel.is_ready = True
    waits.read(90 * MS, 6 * MS)
    assert waits.processor_ns == 25 * MS


def test_a_bot_with_a_past_begins_anew(kernel: Kernel) -> None:
    """What a bot waited and computed in one decision is neither its excuse nor its burden in the next one."""
    waits = waits_of(kernel)
    kernel.cpu, kernel.threads = 800, {MAIN: (200, 800), OTHER: (0, 0)}
    waits.read(1000 * MS, 200 * MS)
    assert waits.processor_ns == 800 * MS
    waits.begin()
    waits.read(500 * MS, 0)
    assert waits.processor_ns == 0
    kernel.cpu, kernel.threads = 850, {MAIN: (250, 900), OTHER: (0, 0)}
    waits.read(650 * MS, 50 * MS)
    assert waits.processor_ns == 100 * MS


def test_the_disk_is_excused_as_far_as_others_used_it(kernel: Kernel) -> None:
    """Whoever reads nearly all that is read waits for itself; beside others that read more, others are to blame."""
    waits = waits_of(kernel)
    kernel.io, kernel.own_bytes, kernel.all_bytes = 100, 9_000, 10_000
    waits.read(200 * MS, 0)
    assert waits.stalled_ns == 10 * MS
    kernel.io, kernel.own_bytes, kernel.all_bytes = 200, 10_000, 100_000
    waits.read(300 * MS, 0)
    assert waits.stalled_ns == 180 * MS
    waits.begin()
    kernel.io, kernel.own_bytes, kernel.all_bytes = 300, 20_000, 110_000
    waits.read(200 * MS, 0)
    assert waits.stalled_ns == 0


def test_a_disk_that_is_not_told_of_is_no_excuse(kernel: Kernel) -> None:
    """Where it is not known how much a bot reads, or for how long it waited, the wait is its own."""
    waits = waits_of(kernel)
    kernel.io, kernel.own_bytes, kernel.all_bytes = 100, None, 10_000
    waits.read(200 * MS, 0)
    kernel.io = None
    waits.read(300 * MS, 0)
    assert waits.stalled_ns == 0


@pytest.mark.parametrize(("capped", "expected"), [(False, 60), (True, 0)])
def test_memory_is_excused_unless_the_bot_took_all_of_its_own(
    kernel: Kernel, capped: bool, expected: int
) -> None:
    """Memory that comes back from the disk is one wait, although both are told; at its cap a bot waits for itself."""
    waits = waits_of(kernel)
    kernel.capped = capped
    kernel.memory, kernel.io, kernel.own_bytes, kernel.all_bytes = 60, 60, 5_000, 5_000
    waits.read(200 * MS, 0)
    assert waits.stalled_ns == expected * MS


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 20)), min_size=1, max_size=20))
def test_what_is_told_late_makes_up_for_what_was_charged(slices: list[tuple[int, int]]) -> None:
    """However long it waits before it computes a little, and however late this is told, only its computing counts."""
    kernel = Kernel(cpu=None)
    waits, turn = waits_of(kernel), LongDecision(0, 50 * MS, Reading())
    now = own = waited = 0
    for wait, computed in slices:
        now, waited = now + wait, waited + wait  # ready, and told of nothing yet
        waits.read(now * MS, own * MS)
        turn.update(now * MS, INTERVAL_NS, Reading(own * MS, waits.processor_ns or 0), queued_ns=0)
        assert turn.may_be_in_time() == (own < 50)
        now, own = now + computed, own + computed
        kernel.threads = {MAIN: (own, waited)}
        waits.read(now * MS, own * MS)
        turn.update(now * MS, INTERVAL_NS, Reading(own * MS, waits.processor_ns or 0), queued_ns=0)
        assert turn.charged_ns == own * MS


def test_who_slept_before_it_computed_is_too_late(kernel: Kernel) -> None:
    """A bot that was told of no wait when it computed again has slept, and its time is up."""
    turn = LongDecision(0, 100 * MS, Reading())
    turn.update(150 * MS, INTERVAL_NS, Reading(), queued_ns=0)
    assert turn.may_be_in_time()
    turn.update(170 * MS, INTERVAL_NS, Reading(1 * MS), queued_ns=0)
    assert not turn.may_be_in_time()


# Matches that share an event loop: whose bot may compute when, and how many matches there is room for.


SLEEPS = """
import select
from warpline.client import run

def choose(question):
    select.select([], [], [], 0.03)
    return 0

run(choose, wants=())
"""
COMPUTES = """
import time
from warpline.client import run

def choose(question):
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    return 0

run(choose, wants=())
"""


@pytest.mark.parametrize("seed", range(5))
def test_one_computes_at_a_time_and_all_get_their_turn(
    seed: int,
) -> None:
    """However long decisions compute or sleep, no question is asked while a bot computes, and none is forgotten."""
    rng = Random(seed)
    asked = []

    async def play(name: int) -> None:
        loop = Loop.here()
        share = LoopShare(loop)
        share.plays = True
        for _ in range(5):
            if loop.taken:
                await loop.turn(lambda: None)
            assert not loop.computing
            asked.append(name)
            if rng.random() < 0.3:
                continue  # it answers at once
            with share.asked():
                for _ in range(rng.randrange(4)):
                    await trio.sleep(rng.random())
                    share.note(sleeps=rng.random() < 0.5)
            if rng.random() < 0.5:
                await trio.lowlevel.checkpoint()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for name in range(6):
                nursery.start_soon(play, name)
        assert (Loop.here().asked, Loop.here().computing, Loop.here().taken) == (0, 0, False)

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert sorted(asked) == [name for name in range(6) for _ in range(5)]


def test_a_match_that_waits_for_its_turn_is_frozen() -> None:
    """Bots that must wait long for their turn are frozen, so that they do not disturb the one that computes."""
    frozen = []

    async def main() -> None:
        share = LoopShare(Loop.here())
        share.plays = True
        async with trio.open_nursery() as nursery:
            with share.asked():
                nursery.start_soon(Loop.here().turn, lambda: frozen.append(trio.current_time()))
                began = trio.current_time()
                await trio.sleep(1)
        assert frozen == [pytest.approx(began + FREEZE_S)]

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_matches_on_one_loop_are_those_played_alone(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Side by side, waiting bots wait at the same time, and each record is that of the match by itself."""
    seats = make_seat("sleeps", SLEEPS), make_seat("also", SLEEPS)
    specs = [
        attrs.evolve(make_spec(*seats, level="limits", max_turns=2), id=f"test {i}", key=match_key(f"{i}"))
        for i in range(4)
    ]
    alone = play_match(specs[0])
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, Loop.here().asked - Loop.here().starting)
            await trio.sleep(0.005)

    assert beside(specs, watch)["test 0"].digest == alone.digest
    assert most > 1


def test_bots_that_compute_take_turns(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Of the matches on one loop, only one has a bot that computes, and each bot is charged what it computed."""
    counts = []

    async def watch() -> None:
        while True:
            counts.append(Loop.here().computing)
            await trio.sleep(0.002)

    seats = make_seat("computes", COMPUTES), make_seat("also", COMPUTES)
    results = beside(
        [
            attrs.evolve(make_spec(*seats, max_turns=2), id=f"test {i}", key=match_key(f"{i}"))
            for i in range(2)
        ],
        watch,
    )
    # A busy machine may not show for a moment that a bot computes.
    assert sum(count > 1 for count in counts) <= len(counts) // 10
    for result in results.values():
        for times in result.times:
            assert times.cpu_ms > 19 * times.decisions


def beside(specs: list[MatchSpec], watch: Callable[[], Awaitable[None]]) -> dict[str, MatchResult]:
    """The results of matches that are played on one loop, by their ids; `watch` runs beside them."""
    results = {}

    async def play(spec: MatchSpec) -> None:
        results[spec.id] = await play_beside(spec)

    async def main() -> None:
        async with trio.open_nursery() as watching:
            watching.start_soon(watch)
            async with trio.open_nursery() as nursery:
                for spec in specs:
                    nursery.start_soon(play, spec)
            watching.cancel_scope.cancel()

    try:
        trio.run(main)
    finally:
        end_idle()
    return results


class QueuedLoop(Loop):
    """A loop on which so many matches wait for their turn."""

    waiting_matches = 0

    @property
    def queued(self) -> int:
        return self.waiting_matches


def test_there_is_room_for_more_while_bots_sleep() -> None:
    """Where the core is idle the matches double; where bots compute and others are held back they become fewer."""
    memory = [True]
    now = 0
    loop = QueuedLoop(lambda: now)
    room = Room(loop, lambda: memory[0])
    found = []
    for _ in range(7):
        loop.matches = room.tasks
        now, loop.idle_ns = now + 100, loop.idle_ns + 90
        found.append(room.decide(now))
    assert found == [2, 4, 8, 16, 32, 48, 64]
    now, loop.computed_ns = now + 100, loop.computed_ns + 95
    assert room.decide(now) == 64  # nobody is held back
    loop.waiting_matches = 3
    for _ in range(40):
        now, loop.computed_ns = now + 100, loop.computed_ns + 95
        room.decide(now)
    assert room.tasks == 1
    memory[0] = False
    now, loop.idle_ns = now + 100, loop.idle_ns + 90
    assert room.decide(now) == 1  # no memory is left


class Clock:
    """A clock that stands still until it is moved on."""

    def __init__(self) -> None:
        self.now = 1_000 * MS
        self.waited = 0

    def loop(self) -> Loop:
        """A loop that goes by this clock."""
        return Loop(lambda: self.now, lambda: (0, self.waited))


@pytest.fixture
def clock() -> Clock:
    return Clock()


def io_wait(loop: Loop, clock: Clock, took: int, waited: int = 0, limit_s: float = 0.0) -> None:
    loop.before_io_wait(limit_s)
    clock.now, clock.waited = clock.now + took, clock.waited + waited
    loop.after_io_wait(limit_s)


@pytest.mark.parametrize(("took", "waited"), [(MS // 10, 0), (MS // 2, 0), (8 * MS, 8 * MS)])
def test_a_loop_that_asks_late_charges_nobody_for_it(clock: Clock, took: int, waited: int) -> None:
    """If the kernel answers at once, though slowly or without a processor, the answer may have been there before."""
    loop = clock.loop()
    io_wait(loop, clock, 20 * MS)
    clock.now += 30 * MS  # busy with other matches
    io_wait(loop, clock, took, waited)
    assert loop.queued_ns(clock.now, 0) >= 30 * MS


def test_an_answer_that_ended_a_wait_has_just_come(clock: Clock) -> None:
    """If the loop slept until the answer came, the bot is charged for all but the wait for a processor after that."""
    loop = clock.loop()
    io_wait(loop, clock, 20 * MS)
    clock.now += 30 * MS
    io_wait(loop, clock, 20 * MS, 3 * MS, limit_s=1.0)
    assert loop.queued_ns(clock.now, 0) == 3 * MS


def test_a_bot_that_slept_while_the_loop_was_busy_is_charged_for_that(clock: Clock) -> None:
    """While other matches go on, it is seen whose answers are not there yet: until then these bots took their time."""
    output, answer = os.pipe()
    other, _ = os.pipe()

    async def main() -> None:
        loop = clock.loop()
        share, beside = LoopShare(loop), LoopShare(loop)
        io_wait(loop, clock, 20 * MS)
        with share.waiting(trio.CancelScope(), output, lambda _: True):
            for match in range(5):
                clock.now += 10 * MS
                if match == 3:
                    os.write(answer, b"!")
                with beside.waiting(trio.CancelScope(), other, lambda _: True):
                    pass
        # The answer came between 40 and 50 ms after the beginning, and it was not there at 30.
        assert 20 * MS <= loop.queued_ns(clock.now, share.absent_ns) <= 22 * MS

    trio.run(main)
