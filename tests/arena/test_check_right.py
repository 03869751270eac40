"""How much right to the processors checks have."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from warpleague.arena.submissions.right import Right


def niceness() -> int:
    """That of this thread."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def niceness_of_a_child() -> int:
    """That of a process which this thread starts."""
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.nice(0))"], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no niceness of their own here")
def test_checks_have_less_right_once_they_have_taken_much() -> None:
    """Then what they start is nicer than matches; the checker itself is not, so that the next may have more right."""
    usual = niceness()
    assert not Right().low()
    right = Right()
    assert right.run(niceness_of_a_child, low=False) == usual
    right._taken.append((float("inf"), 1e9))
    assert right.low()
    assert right.run(niceness_of_a_child, low=True) == min(usual + 15, 19)
    assert right.run(niceness_of_a_child, low=False) == usual
    assert niceness() == usual


def test_what_checks_took_is_counted_against_the_processors() -> None:
    """A hundredth of two processors' time within 20 seconds is 0.4 s."""
    right = Right(cores=2)
    right._taken.append((float("inf"), 0.39))
    assert not right.low()
    right._taken.append((float("inf"), 0.02))
    assert right.low()
    right._taken[0] = (float("-inf"), 0.39)  # long ago
    assert not right.low()


def test_an_error_of_a_check_arrives() -> None:
    """Whatever right it has."""
    for low in (False, True):
        with pytest.raises(ZeroDivisionError):
            Right().run(lambda: 1 // 0, low=low)
