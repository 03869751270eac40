"""Who is nice is so as a session, too, where the kernel shares the processors between sessions."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpleague.runner.host import spawn

AUTOGROUP = Path("/proc/self/autogroup")

pytestmark = pytest.mark.skipif(
    not AUTOGROUP.exists() or os.geteuid() != 0,
    reason="this kernel does not share by sessions, or lets a user tell it only ten times a second",
)

TOLD = """
import os, sys
from warpleague.runner.host import be_nice
told = lambda: open('/proc/self/autogroup').read().split()[-1]
sys.stdin.readline()  # whoever started it has told how nice its session is
"""


def said(program: str) -> list[int]:
    """The numbers that a program writes which a thread nicer by 4 has started, in a session of its own."""

    def run() -> list[int]:
        os.nice(4)
        process = spawn([sys.executable, "-c", TOLD + program], "/", os.environ)
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"go\n")
        with process:
            return [int(told) for told in process.stdout.read().split()]

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


def test_the_session_of_a_bot_is_as_nice_as_who_started_it() -> None:
    """A bot takes the niceness of the thread that starts it, and so does its session."""
    assert said("print(os.nice(0), told())") == [os.nice(0) + 4] * 2


def test_a_process_is_nice_with_its_session() -> None:
    """As much as both are in all."""
    assert said("be_nice(3); print(os.nice(0), told())") == [os.nice(0) + 7] * 2
