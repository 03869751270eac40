"""Process 1 of a sandbox, which ends it: a bot of an ordinary user, whose user id is the same, has no hold on it."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import wait_until

from warpleague.match.spec import SeatSpec
from warpleague.runner import doctor
from warpleague.runner.bot.child import Child
from warpleague.runner.confine.sandbox import Sandbox, end_unmade, find_bubblewrap
from warpleague.runner.host import state

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="levels are tried on Linux only")
USER = 54321  # nobody's

# Becomes the ordinary user only when all is imported: the tests' Python may be in a folder of root's.
HARNESS = """
import json, os, sys, time
from warpleague.match.spec import SeatSpec
from warpleague.runner.confine import mounts
from warpleague.runner.bot.child import Child
from warpleague.runner.bot.process import BotProcess
asked = json.loads(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(asked["user"])
    os.setuid(asked["user"])
if not asked["hidden"]:
    mounts._HIDDEN_INIT = ()
bot = Child(SeatSpec(bot="b", run=tuple(asked["run"]), cwd=asked["cwd"]), "sandbox")
os.set_blocking(bot.stdout, True)
os.write(bot.stdin, json.dumps(asked).encode() + b"\\n")
os.write(1, os.read(bot.stdout, 65536))
time.sleep(600)
"""


@pytest.fixture
def python() -> str:
    """A Python that an ordinary user can run in a sandbox of that user's own."""
    user = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    program = find_bubblewrap()
    if program is None:
        pytest.skip("bubblewrap is not installed")
    attempt: Callable[..., Any] = subprocess.run
    made = attempt([program, "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True, **user)
    if made.returncode:
        pytest.skip(f"an ordinary user gets no sandbox: {made.stderr.decode().strip()}")
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        with contextlib.suppress(OSError):
            attempt([name, "-I", "-S", "-c", ""], check=True, **user)
            return name
    pytest.skip("no Python that an ordinary user can run")


@pytest.fixture
def probe(python: str) -> Iterator[Callable[..., tuple[subprocess.Popen[bytes], str, dict[str, str]]]]:
    """Starts a harness of an ordinary user's, and by it the probe, which tries what it is told.

    Gives the harness, a token among the probe's arguments, and what the probe found.
    """
    started: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as place:  # pytest's folders are closed to other users
        Path(place).chmod(0o755)

        def start(tries: list[str], *, hidden: bool = True) -> Any:
            token = f"probe-{secrets.token_hex(8)}"
            seat = doctor.probe_seat(Path(place, token), token)
            asked = {
                "run": [python, *seat.run[1:]],
                "cwd": seat.cwd,
                "user": USER,
                "hidden": hidden,
                "try": tries,
            }
            harness = subprocess.Popen(
                [sys.executable, "-c", HARNESS, json.dumps(asked)], stdout=subprocess.PIPE
            )
            started.append(harness)
            assert harness.stdout is not None
            return harness, token, json.loads(harness.stdout.readline())

        yield start
        for harness in started:
            harness.kill()
            harness.wait()
            assert harness.stdout is not None
            harness.stdout.close()


def test_a_bot_has_no_hold_on_process_1(probe: Callable[..., Any]) -> None:
    """Its memory, descriptors and limits are out of reach, by whatever path or call; signals do nothing."""
    assert probe(["overseer", "devices", "marks"])[2] == {"overseer": "", "devices": "", "marks": ""}


def test_the_probe_finds_process_1_where_it_is_not_hidden(probe: Callable[..., Any]) -> None:
    """On a machine where it could not be hidden the level would be refused."""
    assert "/proc/1/mem" in probe(["overseer"], hidden=False)[2]["overseer"]


def test_nothing_of_a_bot_outlives_the_harness_whatever_it_does(probe: Callable[..., Any]) -> None:
    """A bot that ignores all signals and leaves a daemon behind is gone with the harness, and so is the daemon."""
    harness, token, found = probe(["outlive"])
    assert found == {"outlive": ""}
    assert len([pid for pid in doctor.with_token(token) if pid != harness.pid]) >= 2
    harness.kill()
    harness.wait()
    wait_until(lambda: not doctor.with_token(token))


def test_what_was_left_unmade_is_ended_by_the_next_harness(sandboxed: None, bot_folder: Path) -> None:
    """A sandbox whose bubblewrap died before it was made waits for ever; it is ended, and one that is made is not."""
    seat = SeatSpec(bot="b", run=("/bin/sh", "-c", "read _"), cwd=str(bot_folder))
    child, unmade = Child(seat, "sandbox"), Sandbox(seat, {})
    process = unmade.start({})
    told = b""
    while b"}" not in told:  # from now on it waits for the word to go on
        told += os.read(unmade._status, 4096)
    pid = json.loads(told.splitlines()[0])["child-pid"]
    try:
        process.kill()
        process.wait()
        assert state(pid) is not None
        assert end_unmade() >= 1
        wait_until(lambda: state(pid) is None)
        assert child.alive()
        assert child.sandbox is not None
        assert state(child.sandbox.init_pid) is not None
    finally:
        unmade.close()
        child.end()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
