"""Where control groups can be had and where not, on made-up trees; names, and what dead harnesses left behind."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpleague.errors import HarnessFault
from warpleague.runner import doctor
from warpleague.runner.confine import cgroups

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")

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
