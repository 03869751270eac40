"""Memory beyond the cap, with the kernel's own control groups: who is charged, with what evidence, what is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from tests.waiting import PATIENCE_S

from warpleague.errors import HarnessFault
from warpleague.match.spec import Level, SeatSpec, Violation
from warpleague.runner.bot.pipe import Answer
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.confine import cgroups, launch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")

LIMIT_MB = 64
PATIENCE_NS = 60_000_000_000
DONE = "print('done', flush=True)"

HOGS = {
    "private": "hoard = bytearray(b'x') * (120 << 20)",
    "shared": "import mmap; hoard = mmap.mmap(-1, 300 << 20)\nfor at in range(0, 300 << 20, 4096): hoard[at] = 1",
    "children": (
        "import os, time\n"
        "for _ in range(8):\n"
        "    if not os.fork(): hoard = bytearray(b'x') * (40 << 20); time.sleep(60)\n"
        "while True: os.wait()"
    ),
    "unmapped": "import os\nfor _ in range(6): os.write(os.memfd_create('x'), bytes(50 << 20))",
}
"""Takes more than the cap of `LIMIT_MB`, in ways of which the watch over resident sets sees the last not at all."""


@pytest.fixture
def capped(monkeypatch: pytest.MonkeyPatch, own_groups: Callable[[], set[str]]) -> Iterator[str]:
    """The folder of this machine's groups, no more of ours in it afterwards; skips the test where there are none."""
    found = cgroups.memory_support()
    if not found.version:
        pytest.skip(str(found))
    # Few MiB above the limit, so that the private hog meets this cap rather than the one on private memory.
    monkeypatch.setattr(launch, "MARGIN_MB", 8)
    before = own_groups()
    yield found.base
    assert own_groups() == before


async def ask_once(seat: SeatSpec, level: Level) -> tuple[Answer | Violation, dict[str, Any]]:
    """Start a bot, ask it once and end it; what came of it, and the evidence."""
    bot = BotProcess(seat, level)
    try:
        return await bot.ask(b"go\n", PATIENCE_NS), bot.evidence()
    finally:
        bot.end()


@pytest.fixture
def ask(bot_folder: Path) -> Callable[..., Any]:
    """Runs Python code as a bot that is asked once and not watched."""

    async def ask(
        code: str, level: Level = "limits", **limits: int
    ) -> tuple[Answer | Violation, dict[str, Any]]:
        run = (sys.executable, "-I", "-S", "-c", f"input()\n{code}")
        given: dict[str, Any] = {"memory_mb": LIMIT_MB, **limits}
        return await ask_once(SeatSpec(bot="greedy", run=run, cwd=str(bot_folder), **given), level)

    return ask


@pytest.mark.trio
@pytest.mark.parametrize("hog", HOGS)
async def test_the_kernel_stops_a_hog_at_limits(capped: str, ask: Callable[..., Any], hog: str) -> None:
    """Whatever kind of memory it is, and whoever of its children took it, the bot's fault is `memory`."""
    if hog == "children" and cgroups.memory_support().version == 1:
        pytest.skip("version 1 ends one process of a group only; the watch ends the others, as tested below")
    trouble, evidence = await ask(f"{HOGS[hog]}\n{DONE}")
    assert isinstance(trouble, Violation), "it took what it wanted"
    assert trouble.kind == "memory", trouble
    cap_mb = LIMIT_MB + LIMIT_MB // 8 + 8
    assert trouble.message.startswith(
        f"took {trouble.detail['peak_mb']} MiB of memory; the limit is {LIMIT_MB} MiB"
    )
    assert cap_mb - 4 <= trouble.detail["peak_mb"] <= cap_mb
    assert trouble.detail["killed_by"] == "kernel"
    assert trouble.detail["killed_processes"] >= 1
    assert evidence.get("exit", "SIGKILL") == "SIGKILL"


@pytest.mark.trio
@pytest.mark.parametrize("hog", ["private", "shared"])
async def test_the_kernel_stops_a_hog_in_the_sandbox(
    capped: str, sandboxed: None, ask: Callable[..., Any], hog: str
) -> None:
    """A sandbox in which the kernel killed for want of memory is no fault of the sandbox."""
    trouble, _ = await ask(f"{HOGS[hog]}\n{DONE}", "sandbox")
    assert isinstance(trouble, Violation)
    assert (trouble.kind, trouble.detail["killed_by"]) == ("memory", "kernel")


@pytest.mark.trio
@pytest.mark.parametrize("level", ["limits", "sandbox"])
async def test_children_count_together(capped: str, bot_folder: Path, level: Level) -> None:
    """Eight processes within the limit each are beyond it together: the watch ends them all, daemons too."""
    run = (sys.executable, "-I", "-S", "-c", "input()\n" + HOGS["children"])
    bot = BotProcess(SeatSpec(bot="many", run=run, cwd=str(bot_folder), memory_mb=LIMIT_MB), level)
    async with trio.open_nursery() as nursery:
        bot.attend(nursery)
        trouble = await bot.ask(b"go\n", PATIENCE_NS)
        await bot.close(0.0)
    assert isinstance(trouble, Violation)
    assert trouble.kind == "memory"


@pytest.mark.trio
async def test_scratch_space_is_granted_besides(
    capped: str, sandboxed: None, ask: Callable[..., Any]
) -> None:
    """What `tmp_mb` grants may be filled, and all of the memory be used beside it."""
    code = (
        "for name in '/tmp/a', '/dev/shm/b':\n"
        "    with open(name, 'wb', buffering=0) as file:\n"
        "        for _ in range(50): file.write(bytes(1 << 20))\n"
        "hoard = bytearray(b'x') * (45 << 20)\n"
    )
    trouble, evidence = await ask(code + DONE, "sandbox", tmp_mb=50)
    assert isinstance(trouble, Answer), (trouble, evidence)


@pytest.mark.trio
async def test_a_kill_from_outside_is_nobodys_fault(
    capped: str, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot within its own limit that the kernel kills since others left it no memory voids the match."""
    found = cgroups.memory_support()
    above = cgroups.Group(found, 32 << 20)
    try:
        if found.version == 2:
            cgroups.write_control(f"{above.path}/cgroup.subtree_control", "+memory")
        monkeypatch.setattr(
            launch, "open_group", lambda cap: cgroups.Group(attrs.evolve(found, base=above.path), cap)
        )
        with pytest.raises(HarnessFault, match="greedy, which was within its limit"):
            await ask(f"hoard = bytearray(b'x') * (50 << 20)\n{DONE}")
    finally:
        above.remove()


@pytest.mark.trio
@pytest.mark.parametrize("level", ["limits", "sandbox"])
async def test_a_group_that_cannot_be_entered_is_no_fault_of_the_bot(
    capped: str,
    bot_folder: Path,
    level: Level,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bot that could not be put into its group is not run, and not charged with that."""

    def closed(cap: int) -> cgroups.Group:
        group = cgroups.Group(cgroups.memory_support(), cap)
        group.entry = f"{group.path}/no-such-file"
        return group

    monkeypatch.setattr(launch, "open_group", closed)
    run = (sys.executable, "-c", f"open({str(bot_folder / 'ran')!r}, 'w'); print(1)")
    with pytest.raises(HarnessFault, match="no-such-file"):
        await ask_once(SeatSpec(bot="innocent", run=run, cwd=str(bot_folder)), level)
    assert not (bot_folder / "ran").exists()


def test_a_daemon_goes_with_its_group(capped: str, bot_folder: Path) -> None:
    """At limits, too, what left the bot's process group dies with the bot."""
    code = "import os, time\nif os.fork(): time.sleep(60)\nos.setsid(); print(os.getpid(), flush=True); time.sleep(60)"
    bot = BotProcess(SeatSpec(bot="b", run=(sys.executable, "-c", code), cwd=str(bot_folder)), "limits")
    os.set_blocking(bot.child.stdout, True)
    daemon = int(os.read(bot.child.stdout, 100))
    bot.end()
    assert ended(daemon)


HARNESS = """
import os, sys
from warpleague.match.spec import SeatSpec
from warpleague.runner.bot.process import BotProcess
code = "import os, time\\nif os.fork(): time.sleep(60)\\nos.setsid(); print(os.getpid(), flush=True); time.sleep(60)"
bot = BotProcess(SeatSpec(bot="b", run=(sys.executable, "-c", code), cwd=sys.argv[1]), "limits")
os.set_blocking(bot.child.stdout, True)
print(os.read(bot.child.stdout, 100).decode().strip(), bot.child.group.path, flush=True)
"""


def start(bot_folder: Path, then: str) -> tuple[subprocess.Popen[str], int, Path]:
    """Another harness with a bot that has left a daemon: the harness, the daemon, the bot's group."""
    command = [sys.executable, "-P", "-c", HARNESS + then, str(bot_folder)]
    harness = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert harness.stdout is not None
    daemon, group = harness.stdout.readline().split()
    return harness, int(daemon), Path(group)


def test_a_killed_harness_leaves_nothing_for_long(capped: str, bot_folder: Path) -> None:
    """The next harness ends what ran in the groups of one that was killed, and leaves those of a live one alone."""
    harness, daemon, group = start(bot_folder, "input()")
    with harness:
        cgroups.sweep_groups(capped)
        assert group.exists()
        assert not ended(daemon, wait_s=0)
        harness.send_signal(signal.SIGKILL)
        harness.wait()
        cgroups.sweep_groups(capped)
        assert not group.exists()
        assert ended(daemon)


def test_a_harness_that_ends_takes_its_groups_along(capped: str, bot_folder: Path) -> None:
    """Bots that wait for another match when their referee ends are ended with it, groups and all."""
    harness, daemon, group = start(bot_folder, "")
    with harness:
        harness.communicate()
        assert not group.exists()
        assert ended(daemon)


def ended(pid: int, wait_s: float = PATIENCE_S) -> bool:
    """Whether the process is no more, or is within `wait_s` seconds."""
    deadline = time.monotonic() + wait_s
    while cgroups.started_at(pid) >= 0:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.005)
    return True
