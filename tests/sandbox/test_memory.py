"""Memory beyond the cap, with the kernel's own control groups: who is charged, with what evidence, what is left."""

import errno
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
from warpleague.runner import doctor
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
@pytest.mark.parametrize("other_mb", [0, 50])
async def test_a_kill_below_the_cap_is_the_fault_of_who_holds_most(
    capped: str, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, other_mb: int
) -> None:
    """A bot that the kernel kills within its limit is charged if it took most of what was short; else it is void."""
    found = cgroups.memory_support()
    above = cgroups.Group(found, 64 << 20)
    if found.version == 2:
        cgroups.write_control(f"{above.path}/cgroup.subtree_control", "+memory")
    base = attrs.evolve(found, base=above.path)
    other = cgroups.Group(base, 60 << 20)
    monkeypatch.setattr(launch, "open_group", lambda cap: cgroups.Group(base, cap))
    try:
        # It has ended by now, but the kernel says how much it took.
        code = f"open({other.entry!r}, 'w').write('0'); hoard = bytearray(b'x') * ({other_mb} << 20)"
        subprocess.run([sys.executable, "-S", "-c", code], check=True)
        limit = "memory.limit_in_bytes" if found.version == 1 else "memory.max"
        cgroups.write_control(f"{above.path}/{limit}", 32 << 20)
        if other_mb:
            with pytest.raises(HarnessFault, match="greedy, which was within its limit"):
                await ask(f"hoard = bytearray(b'x') * (50 << 20)\n{DONE}")
        else:
            trouble, _ = await ask(f"hoard = bytearray(b'x') * (50 << 20)\n{DONE}")
            assert (trouble.kind, trouble.detail["killed_by"]) == ("memory", "kernel")
            assert "more than any other bot" in trouble.message
    finally:
        other.remove()
        above.remove()


@pytest.mark.trio
async def test_a_kill_of_a_child_ends_the_bot(
    capped: str, bot_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that lives on after the kernel killed a child of its own, below the cap, cannot choose when it ends."""
    found = cgroups.memory_support()
    if found.version == 2:
        pytest.skip("version 2 kills the whole group")
    above = cgroups.Group(found, 32 << 20)
    code = (
        "import os\ninput()\nif not os.fork(): hoard = bytearray(b'x') * (50 << 20)\nos.wait(); os.read(0, 1)"
    )
    seat = SeatSpec(bot="b", run=(sys.executable, "-S", "-c", code), cwd=str(bot_folder), memory_mb=LIMIT_MB)
    base = attrs.evolve(found, base=above.path)
    monkeypatch.setattr(launch, "open_group", lambda cap: cgroups.Group(base, cap))
    bot = BotProcess(seat, "limits")
    try:
        async with trio.open_nursery() as nursery:
            bot.attend(nursery)
            trouble = await bot.ask(b"go\n", PATIENCE_NS)
            await bot.close(0.0)
    finally:
        above.remove()
    assert isinstance(trouble, Violation)
    assert trouble.kind == "memory"


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


# Where control groups can be had and where not, on made-up trees; names, and what dead harnesses left behind.


ME = os.getpid()
STRANGER = 1
V1_FILES = ("tasks", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control")
V2_FILES = ("cgroup.type", "cgroup.subtree_control", "memory.max", "memory.swap.max", "memory.oom.group")


class FakeTree:
    """A hierarchy of control groups as plain folders, with the rules of the kernel that detection meets.

    `point` is where it is mounted; `denied` holds paths that may not be written or made.
    """

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.proc, self.point = place / "proc", place / "with space"
        (self.proc / "self").mkdir(parents=True)
        self.point.mkdir()
        self.denied: set[Path] = set()
        self.version = 2
        self.mkdir, self.rmdir, access = os.mkdir, os.rmdir, os.access
        monkeypatch.setattr(cgroups, "write_control", self.write)
        monkeypatch.setattr(os, "mkdir", self.make)
        monkeypatch.setattr(os, "rmdir", self.remove)
        monkeypatch.setattr(
            os, "access", lambda path, how: Path(path) not in self.denied and access(path, how)
        )

    def mounted(self, version: int, own: str, root: str = "/") -> None:
        """Have /proc tell that the tree is mounted, showing it from `root` on, and that we are in group `own`."""
        self.version = version
        names, kind, options = (
            ("4:memory", "cgroup", "rw,memory") if version == 1 else ("0:", "cgroup2", "rw")
        )
        (self.proc / "self/cgroup").write_text(f"9:cpu:/elsewhere\n{names}:{own}\n")
        point = str(self.point).replace(" ", r"\040")
        (self.proc / "self/mountinfo").write_text(
            f"20 1 0:1 / / rw - ext4 /dev/a rw\n35 31 0:32 {root} {point} rw shared:9 - {kind} {kind} {options}\n"
        )

    def group(self, path: str, *pids: int, controllers: str = "cpu memory", enabled: str = "") -> Path:
        """Make a group that holds processes."""
        folder = self.point / path
        if not folder.exists():
            self.mkdir(folder)
        self.fill(folder)
        (folder / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))
        if self.version == 2:
            (folder / "cgroup.controllers").write_text(controllers)
            (folder / "cgroup.subtree_control").write_text(enabled)
        return folder

    def fill(self, folder: Path) -> None:
        for name in ("cgroup.procs", *(V1_FILES if self.version == 1 else V2_FILES)):
            (folder / name).touch()
        (folder / "memory.events").touch()

    def make(self, path: str, *more: int) -> None:
        if Path(path).parent in self.denied:
            raise PermissionError(errno.EACCES, "Permission denied")
        self.mkdir(path, *more)
        if self.point in Path(path).parents:
            self.fill(Path(path))

    def remove(self, path: str) -> None:
        folder = Path(path)
        if self.point in folder.parents:
            if (folder / "cgroup.procs").read_text():
                raise OSError(errno.EBUSY, "Device or resource busy")
            for file in folder.iterdir():
                file.unlink()
        self.rmdir(path)

    def write(self, path: str, value: int | str) -> None:
        file = Path(path)
        if file in self.denied:
            raise PermissionError(errno.EACCES, "Permission denied")
        if not file.exists():
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        if file.name == "cgroup.procs":
            for other in self.point.rglob("cgroup.procs"):
                left = [pid for pid in other.read_text().split() if pid != str(value)]
                other.write_text("".join(f"{pid}\n" for pid in left))
            with file.open("a") as procs:
                procs.write(f"{value}\n")
        elif file.name == "cgroup.subtree_control":
            if (file.parent / "cgroup.type").exists() and (file.parent / "cgroup.procs").read_text():
                raise OSError(errno.EBUSY, "Device or resource busy")
            file.write_text(str(value).lstrip("+"))
        else:
            file.write_text(str(value))

    def detect(self) -> cgroups.CgroupSupport:
        """What is found of this tree."""
        try:
            return cgroups.detect_memory(str(self.proc))
        except cgroups.Impossible as error:
            return cgroups.CgroupSupport(base=error.base, reason=str(error))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTree:
    return FakeTree(tmp_path, monkeypatch)


def members(group: Path) -> list[int]:
    return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]


def test_divides_a_group_of_its_own(tree: FakeTree) -> None:
    """Alone in a delegated group, the harness moves to a leaf, so that the memory controller can be enabled."""
    tree.mounted(2, "/user/run.scope")
    tree.group("user")
    home = tree.group("user/run.scope", ME)
    assert tree.detect() == cgroups.CgroupSupport(2, str(home))
    assert members(home) == []
    assert members(home / cgroups.HARNESS_GROUP) == [ME]
    assert (home / "cgroup.subtree_control").read_text() == "memory"
    assert sorted(path.name for path in home.iterdir() if path.is_dir()) == [cgroups.HARNESS_GROUP]


def test_takes_what_it_has_started_along(tree: FakeTree) -> None:
    """Processes of the harness's own are moved with it."""
    with subprocess.Popen(["sleep", "60"]) as child:
        tree.mounted(2, "/mine")
        home = tree.group("mine", ME, child.pid)
        assert tree.detect().version == 2
        assert sorted(members(home / cgroups.HARNESS_GROUP)) == sorted([ME, child.pid])
        child.kill()


def test_finds_the_group_that_another_harness_process_divided(tree: FakeTree) -> None:
    """A referee starts in the leaf of its league, and makes groups beside it."""
    tree.mounted(2, f"/mine/{cgroups.HARNESS_GROUP}")
    home = tree.group("mine", enabled="memory")
    leaf = tree.group(f"mine/{cgroups.HARNESS_GROUP}", STRANGER, ME)
    assert tree.detect() == cgroups.CgroupSupport(2, str(home))
    assert members(leaf) == [STRANGER, ME]


def test_moves_nobody_else(tree: FakeTree) -> None:
    """In a group with others' processes there is no cap, and nothing is touched; the remedy is named."""
    tree.mounted(2, "/session")
    home = tree.group("session", STRANGER, ME)
    found = tree.detect()
    assert not found.version
    assert "holds others' processes too" in found.reason
    assert "systemd-run" in found.reason
    assert members(home) == [STRANGER, ME]
    assert not any(path.is_dir() for path in home.iterdir())


def test_the_root_group_needs_no_leaf(tree: FakeTree) -> None:
    """The root of version 2 may hold processes and distribute memory at once."""
    tree.mounted(2, "/")
    home = tree.group("", STRANGER, ME)
    (home / "cgroup.type").unlink()
    assert tree.detect() == cgroups.CgroupSupport(2, str(home))
    assert members(home) == [STRANGER, ME]


def test_says_that_the_controller_is_missing(tree: FakeTree) -> None:
    """Without the memory controller in the group there is no cap."""
    tree.mounted(2, "/session")
    tree.group("session", ME, controllers="cpu pids")
    assert "memory controller is not delegated" in tree.detect().reason


@pytest.mark.parametrize("file", ["", "cgroup.procs", "cgroup.subtree_control"])
def test_says_that_the_group_is_somebody_elses(tree: FakeTree, file: str) -> None:
    """A group that this user may not divide stays as it is."""
    tree.mounted(2, "/system")
    home = tree.group("system", ME)
    tree.denied.add(home / file)
    assert "may not be divided" in tree.detect().reason
    assert members(home) == [ME]


def test_goes_back_where_the_controller_cannot_be_enabled(
    tree: FakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the kernel refuses after the move, the harness is where it was, and the leaf is gone."""
    tree.mounted(2, "/mine")
    home = tree.group("mine", ME)
    tree.denied.add(home / "cgroup.subtree_control")
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert "could not be enabled: Permission denied" in tree.detect().reason
    assert members(home) == [ME]
    assert not any(path.is_dir() for path in home.iterdir())


def test_makes_groups_below_its_own_in_version_1(tree: FakeTree) -> None:
    """In version 1, groups are made where the harness is, whoever else is there; a mount may show a part only."""
    tree.mounted(1, "/docker/abc/job", root="/docker/abc")
    home = tree.group("job", STRANGER, ME)
    assert tree.detect() == cgroups.CgroupSupport(1, str(home))
    assert members(home) == [STRANGER, ME]


def test_says_who_refuses_in_version_1(tree: FakeTree) -> None:
    """Where a user may not make groups, the kernel's word for it is the reason."""
    tree.mounted(1, "/")
    tree.denied.add(tree.group("", ME))
    assert tree.detect().reason == "none can be made (cgroup v1): Permission denied"


@pytest.mark.parametrize(("own", "root"), [("/../other", "/"), ("/a", "/b"), ("/ab", "/a")])
def test_says_that_its_group_is_not_mounted(tree: FakeTree, own: str, root: str) -> None:
    """A group outside what is mounted, as in some containers, cannot be used."""
    tree.mounted(2, own, root)
    assert "not mounted" in tree.detect().reason


def test_trusts_no_tree_without_itself(tree: FakeTree) -> None:
    """A mount that shows another tree at the same path is not taken for ours."""
    tree.mounted(2, "/mine")
    tree.group("mine", STRANGER)
    assert "not to be seen" in tree.detect().reason


def test_says_that_there_are_none(tmp_path: Path) -> None:
    """A kernel without control groups is told from one that refuses."""
    with pytest.raises(cgroups.Impossible, match="has none"):
        cgroups.detect_memory(str(tmp_path))


@pytest.mark.parametrize(("version", "limit"), [(1, "memory.limit_in_bytes"), (2, "memory.max")])
def test_sets_the_cap(tree: FakeTree, version: int, limit: str) -> None:
    """A group has its cap before anyone is in it, swap included; it is gone after `remove`."""
    tree.mounted(version, "/mine")
    tree.group("mine", ME)
    group = cgroups.Group(tree.detect(), 96 << 20)
    folder = Path(group.path)
    assert (folder / limit).read_text() == str(96 << 20)
    if version == 1:
        assert (folder / "memory.memsw.limit_in_bytes").read_text() == str(96 << 20)
    else:
        assert (folder / "memory.swap.max").read_text() == "0"
        assert (folder / "memory.oom.group").read_text() == "1"
    assert Path(group.entry).parent == folder
    group.remove()
    assert not folder.exists()
    group.remove()


@pytest.fixture
def nothing_lost() -> Iterator[None]:
    """What a test loses of this machine's groups is there again after it."""
    before = cgroups.memory_states[:], cgroups.freezer_states[:]
    yield
    cgroups.memory_states[:], cgroups.freezer_states[:] = before


@pytest.mark.usefixtures("nothing_lost")
def test_does_without_after_a_failure_and_says_so(tree: FakeTree) -> None:
    """A group that cannot be made any more voids one match; then memory is polled, and the level says why."""
    tree.mounted(1, "/mine")
    home = tree.group("mine", ME)
    cgroups.memory_states.append(tree.detect())
    cgroups.freezer_states.append(cgroups.FreezerSupport(reason="not here"))
    signals = "stopped by signals, no freezer: not here"
    report = doctor.Report("limits", "resource limits")
    assert report.confinement().made_by == "resource limits; memory capped by cgroup v1; " + signals
    tree.denied.add(home)
    with pytest.raises(HarnessFault, match="no control group could be made: Permission denied"):
        cgroups.open_group(64 << 20)
    assert cgroups.open_group(64 << 20) is None
    told = "resource limits; memory polled, no cgroup: one could not be made any more: Permission denied; "
    assert report.confinement().made_by == told + signals


def test_sweeps_only_what_the_dead_left(tree: FakeTree) -> None:
    """Groups of dead harnesses go, the number of one having been given to another process or not; others stay."""
    tree.mounted(1, "/mine")
    tree.group("mine", ME)
    base = Path(tree.detect().base)
    namespace, pid, start = cgroups.groups_owner().split("-")
    ended = subprocess.Popen(["true"])
    ended.wait()
    dead = [f"warpleague-{namespace}-{ended.pid}-1-7", f"warpleague-{namespace}-{pid}-{int(start) - 1}-1"]
    alive = [
        f"warpleague-{cgroups.groups_owner()}-90",
        f"warpleague-{int(namespace) + 1}-{ended.pid}-1-7",
        "other-1-2-3-4",
    ]
    for name in dead + alive:
        tree.group(f"mine/{name}")
    assert cgroups.sweep_groups(str(base)) == len(dead)
    assert {path.name for path in base.iterdir() if path.is_dir()} == set(alive)
    assert cgroups.sweep_groups(str(base), ours_too=True) == 1


def test_a_zombie_is_dead() -> None:
    """A harness that was killed counts as dead before its parent has taken note."""
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert cgroups.started_at(ended.pid) == -1
    ended.wait()
    assert cgroups.started_at(ME) > 0


# Page tables, which are in no resident set and no limit of a process: the watch counts them as the bot's memory.


TABLES_MB = 32
LOOKS = 100

TAKE = """
import mmap, os, time
NORESERVE, NOHUGEPAGE = 0x4000, 15
kept = []
def take(tables, step, size):
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE
    while tables > 0:
        kept.append(mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ))
        kept[-1].madvise(NOHUGEPAGE)
        for at in range(0, size, step):
            kept[-1][at]
            tables -= 1
            if tables <= 0: break
"""

TABLE_HOGS = {
    "one page in each table": "take(20000, 2 << 20, 1 << 40)",
    "two tables for each page": "take(8000, 1 << 30, 1 << 43)",
    "many mappings": "take(20000, 2 << 20, 4 << 20)",
    "children": (
        "for _ in range(4):\n"
        "    told, tell = os.pipe()\n"
        "    if not os.fork(): take(5000, 2 << 20, 1 << 40); os.write(tell, b'x'); time.sleep(600)\n"
        "    os.read(told, 1)\n"
    ),
}
"""Takes more than twice the limit, in tables of 4 KiB each, and next to no memory besides."""


@pytest.fixture
def no_cgroup() -> Iterator[None]:
    """The memory of bots is looked at, as where control groups cannot be made any more."""
    cgroups.memory_states.append(cgroups.CgroupSupport(reason="switched off"))
    yield
    cgroups.memory_states.pop()


@pytest.mark.parametrize("hog", [*TABLE_HOGS, "honest"])
@pytest.mark.trio
async def test_counts_page_tables_without_a_control_group(
    sandboxed: None, no_cgroup: None, bot_folder: Path, hog: str
) -> None:
    """However they are taken, and by whatever process, tables beyond the limit are found; ordinary ones are not."""
    code = f"{TAKE}\ninput()\n{TABLE_HOGS.get(hog, '')}\nprint('done', flush=True)\ntime.sleep(600)"
    run = (sys.executable, "-I", "-S", "-c", code)
    bot = BotProcess(SeatSpec(bot="b", run=run, cwd=str(bot_folder), memory_mb=TABLES_MB), "sandbox")
    try:
        assert isinstance(await bot.ask(b"go\n", PATIENCE_NS), Answer)
        found = any(bot.memory_exceeded() for _ in range(LOOKS))
        assert found == (hog != "honest")
        assert bot.memory.exceeded_mb >= (TABLES_MB if found else 0)
    finally:
        bot.end()
