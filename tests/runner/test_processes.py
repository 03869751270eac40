"""What is told of a process: how it ended, without giving its number away, and what state it is in."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from warpleague.runner.host.processes import ended, spawn, state

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")

PATIENCE_S = 60.0


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
