"""The clock of a build: what others take from it does not count, sleep does."""

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from warpleague.runner.bundle.build import WALL, BuildClock, computed


def test_a_build_that_waits_for_a_processor_is_not_too_long() -> None:
    """It computed for 54 of the 240 seconds that it took; alone, that is within a limit of 60."""
    clock = BuildClock(60.0, 1000.0)
    for second in range(1, 241):
        clock.update(1000.0 + second, 54.0 * second / 240, runs=True)
        assert not clock.excess()
    assert clock.time.words == "240.0 s, 54.0 s of processor time"


def test_a_build_that_computes_for_too_long_is_ended() -> None:
    """All its processes count."""
    clock = BuildClock(60.0, 0.0)
    clock.update(31.0, 62.0, runs=True)
    assert clock.excess() == "took more than 60 s"


def test_a_build_that_sleeps_is_ended_as_soon_as_by_the_wall_clock() -> None:
    """It waits for nobody."""
    clock = BuildClock(60.0, 0.0)
    clock.update(59.0, 1.0, runs=False)
    assert not clock.excess()
    clock.update(61.0, 1.0, runs=False)
    assert clock.excess() == "took more than 60 s"


def test_a_build_ends_even_if_it_gets_no_processor() -> None:
    """By the wall clock there is a limit, too."""
    clock = BuildClock(2.0, 0.0)
    clock.update(WALL * 2.0, 0.5, runs=True)
    assert not clock.excess()
    clock.update(WALL * 2.0 + 0.1, 0.5, runs=True)
    assert clock.excess() == "took more than 10 seconds by the wall clock"


@given(st.lists(st.tuples(st.floats(0, 1e3), st.floats(0, 1e3), st.booleans())))
def test_what_is_counted_never_shrinks(looks: list[tuple[float, float, bool]]) -> None:
    """Also where processes end, and the system forgets what they computed."""
    clock, now_s, last_s = BuildClock(60.0, 0.0), 0.0, 0.0
    for more_s, cpu_s, runs in looks:
        now_s += more_s
        clock.update(now_s, cpu_s, runs=runs)
        assert clock.cpu_s + clock.slept_s >= last_s
        last_s = clock.cpu_s + clock.slept_s


def test_the_time_of_children_counts() -> None:
    """What a process and a child that has ended have computed."""
    code = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    outer += "; print('over', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"over\n"
        assert computed([process.pid])[0] >= 0.25
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.wait()
    assert computed([os.getpid()])[1]
    assert computed([1 << 30]) == (0.0, False)
