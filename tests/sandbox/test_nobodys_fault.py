"""Troubles that are nobody's fault: a sandbox that dies before the bot runs, a host that is short of something."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from warpleague.errors import HarnessFault
from warpleague.match.spec import Level, SeatSpec, Violation
from warpleague.runner import doctor, host
from warpleague.runner.bot.child import Child
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.confine import sandbox
from warpleague.runner.host import become_subreaper, children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="levels are tried on Linux only")


@pytest.fixture
def seat(bot_folder: Path) -> SeatSpec:
    """A bot that says one line and ends."""
    (bot_folder / "bot.sh").write_text("#!/bin/sh\necho hello\n")
    (bot_folder / "bot.sh").chmod(0o755)
    return SeatSpec(bot="innocent", run=(str(bot_folder / "bot.sh"),), cwd=str(bot_folder))


def test_a_sandbox_killed_before_the_bot_runs_is_no_crash_of_the_bot(
    sandboxed: None, seat: SeatSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill while the bot is still held back is told as one from outside: the bot had no part in it."""

    def kill(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while host.state(pid) is not None:
            os.sched_yield()

    monkeypatch.setattr(sandbox, "state", kill)
    with pytest.raises(sandbox.Killed, match="the sandbox could not be made"):
        Child(seat, "sandbox")


@pytest.mark.trio
async def test_the_end_of_process_1_is_the_bots_own(sandboxed: None, bot_folder: Path) -> None:
    """Whoever ended process 1 of a sandbox in which a bot runs, the match is not void: a bot might have done it."""
    run = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
    bot = BotProcess(SeatSpec(bot="suspect", run=run, cwd=str(bot_folder)), "sandbox")
    try:
        assert bot.child.sandbox is not None
        os.kill(bot.child.sandbox.init_pid, signal.SIGKILL)
        trouble = await bot.ask(b"{}\n", 60_000_000_000)
    finally:
        bot.end()
    assert isinstance(trouble, Violation)
    assert trouble.kind == "crash"
    assert trouble.message == "killed by SIGKILL, not by the referee and not at its memory limit"


@pytest.mark.trio
async def test_a_kill_from_outside_is_told_as_such(bot_folder: Path) -> None:
    """A bot without a sandbox whom somebody kills is charged with a crash, in words that say who did not do it."""
    run = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
    bot = BotProcess(SeatSpec(bot="victim", run=run, cwd=str(bot_folder)), "none")
    try:
        os.kill(bot.pid, signal.SIGKILL)
        trouble = await bot.ask(b"{}\n", 60_000_000_000)
    finally:
        bot.end()
    assert isinstance(trouble, Violation)
    assert trouble.kind == "crash"
    assert trouble.message == "killed by SIGKILL, not by the referee and not at its memory limit"


def test_what_fails_in_front_of_the_bot_is_told_in_its_own_words(
    sandboxed: None, seat: SeatSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs between bubblewrap and the bot, and ends there, is no start of the bot that went wrong."""
    gate = ("/bin/sh", "-c", "echo 'no such user' >&2; exit 1")
    monkeypatch.setattr(sandbox, "_GATE", gate)
    with pytest.raises(HarnessFault, match="the sandbox could not be made: no such user"):
        Child(seat, "sandbox")


@pytest.mark.trio
async def test_a_sandbox_that_does_not_end_is_given_back_all_the_same(
    sandboxed: None, seat: SeatSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is the bot's doing, so no match is void by it; no descriptor, task or control group of the bot stays."""
    before = os.listdir("/proc/self/fd")
    async with trio.open_nursery() as nursery:
        between = os.listdir("/proc/self/fd")
        bot = BotProcess(seat, "sandbox")
        group = bot.child.group
        bot.attend(nursery)
        monkeypatch.setattr(sandbox, "_readable", lambda *_: False)
        await bot.close(0.0)
        assert sorted(os.listdir("/proc/self/fd")) == sorted(between)
        assert group is None or not Path(group.path).exists()
    assert sorted(os.listdir("/proc/self/fd")) == sorted(before)


def test_what_a_killed_sandbox_leaves_to_us_is_waited_for(sandboxed: None, seat: SeatSpec) -> None:
    """If somebody kills bubblewrap, process 1 of its sandbox becomes our child: it stays no zombie."""
    assert become_subreaper()
    before = children()
    bot = BotProcess(seat, "sandbox")
    os.kill(bot.pid, signal.SIGKILL)
    bot.end()
    assert children() <= before


SHORT = """
import os, resource, sys
from warpleague.errors import HarnessFault
from warpleague.match.spec import SeatSpec
from warpleague.runner.bot.child import Child

run, cwd, level = sys.argv[1:]
seat = SeatSpec(bot="b", run=(run,), cwd=cwd)
Child(seat, level).end()  # what is asked once a process has been asked
before = sorted(os.listdir("/proc/self/fd"))
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
failures = []
for spare in range(40):
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(before) - 1 + spare, hard))
    try:
        Child(seat, level).end()
    except HarnessFault as error:
        failures.append(str(error))
    else:
        break
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
assert sorted(os.listdir("/proc/self/fd")) == before, os.listdir("/proc/self/fd")
print(len(failures))
"""


@pytest.mark.parametrize("level", ["none", "limits", "sandbox"])
def test_a_host_without_descriptors_is_no_fault_of_the_bot(level: Level, seat: SeatSpec) -> None:
    """However many are free, a bot either starts or voids its match, and none stays open."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", SHORT, seat.run[0], seat.cwd, level],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 3


def test_a_disk_without_room_for_the_probe_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the probe cannot be written, the level does not hold, and the file system's reason is given."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    report = doctor.examine("limits")
    assert not report.holds
    assert "no room for a probe" in report.complaint()
    assert "No space left on device" in report.complaint()
