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
    right = Right(cores=1000)
    for _ in range(2):
        assert right.run(niceness) == usual
    right = Right(cores=1)
    assert right.run(niceness_of_a_child) == usual
    right._taken.append((float("inf"), 1e9))
    assert right.run(niceness_of_a_child) == min(usual + 10, 19)
    assert niceness() == usual


def test_an_error_of_a_check_arrives() -> None:
    """Whatever right it has."""
    right = Right()
    right._taken.append((float("inf"), 1e9))
    with pytest.raises(ZeroDivisionError):
        right.run(lambda: 1 // 0)
