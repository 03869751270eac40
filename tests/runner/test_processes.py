"""What is told of a process: how it ended, without giving its number away, and what state it is in."""

import os
import signal
import sys
import time

import pytest
from tests.waiting import PATIENCE_S

from warpleague.errors import HarnessFault
from warpleague.runner.host import ended, own_counts, spawn, state

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")


@pytest.mark.parametrize(("end", "status"), [("exit 3", 3), ("exit 130", 130), ("kill -9 $$", -9)])
def test_the_dead_keep_their_number(end: str, status: int) -> None:
    """How a child ended is told as often as asked; it stays a zombie, by whose number no other is meant."""
    process = spawn(["/bin/sh", "-c", f"read -r _; {end}"], "/", {})
    with process:
        assert ended(process) is None
        assert process.stdin is not None
        process.stdin.close()
        assert [ended(process, PATIENCE_S), ended(process)] == [status, status]
        os.killpg(process.pid, signal.SIGKILL)  # there is still such a group
        assert state(process.pid) is None
        assert process.wait() == status
        assert ended(process) == status
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def test_nothing_is_started_whose_end_could_not_be_known() -> None:
    """In a program that ignores SIGCHLD the kernel drops the status of each child, which must not be read as 0."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with pytest.raises(HarnessFault, match="ignores SIGCHLD"):
            spawn(["/bin/true"], "/", {})
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_name_cannot_forge_a_state() -> None:
    """State and start are read behind a program's name, whatever brackets and blanks that has."""
    code = (
        "import time\nopen('/proc/self/comm', 'w').write(') Z 1 1 (')\nprint(1, flush=True)\ntime.sleep(60)"
    )
    with spawn([sys.executable, "-I", "-S", "-c", code], "/", {}) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        found, mine = state(process.pid), state(os.getpid())
        process.kill()
    assert found is not None
    assert mine is not None
    assert found[1] >= mine[1] > 0
    assert state(process.pid) is None


def test_a_fork_reads_its_own_counts() -> None:
    """A fork does not go on reading what the kernel counts of its parent, whose descriptor it inherits."""
    while own_counts()[0] < 10_000_000:  # more than the child computes before it looks
        pass
    pid = os.fork()
    if pid == 0:
        own = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
        os._exit(0 if 0 < own_counts()[0] <= own + 5_000_000 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
