"""How long a bot waited for what others used, by what the kernel tells of its group, its threads and its disks."""

from typing import cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpleague.runner.bot.child import Child
from warpleague.runner.bot.clocks import INTERVAL_NS, LongDecision, Reading, Waits

MS = 1_000_000
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
