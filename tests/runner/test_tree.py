"""Trees of strangers: what a walk tells of them, and that whatever is in one can be removed."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.trees import DEEP, nest

from warpleague.runner.bundle.content import disk_bytes
from warpleague.runner.tree import BadTree, Entry, open_to_owner, remove_tree, scratch_folder, walk


@pytest.fixture
def top(tmp_path: Path) -> Iterator[Path]:
    """A folder for a tree; what a failed test leaves there no other tool could remove."""
    (tmp_path / "top").mkdir()
    yield tmp_path / "top"
    assert remove_tree(tmp_path / "top")


def test_files_come_first_and_links_are_not_followed(top: Path, tmp_path: Path) -> None:
    """Of each folder files, links, folders; a link to a folder is a link, also as what is to be removed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "link").symlink_to(outside)
    (top / "a" / "z").touch()
    (top / "y").touch()
    assert [entry.name for entry in walk(top)] == ["y", "a", "a/z", "a/link", "a/b"]
    assert [entry.name for entry in walk(top, lambda entry: entry.base != "a")] == ["y", "a"]
    came = [(entry.name, entry.after) for entry in walk(top, after=True) if entry.is_folder]
    assert came == [("a", False), ("a/b", False), ("a/b", True), ("a", True)]
    assert remove_tree(top / "a" / "link")
    (top / "a" / "link").symlink_to(outside)
    assert remove_tree(top / "a")
    assert os.listdir(outside) == ["kept"]


def test_deep_folders_are_walked_with_one_open_at_a_time(top: Path) -> None:
    """Neither recursion nor paths nor descriptors end the walk, and what is left is nothing."""
    nest(top)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 60, hard))
    try:
        assert sum(1 for _ in walk(top, strict=True)) == DEEP + 1
        assert disk_bytes(top) >= 0
        with scratch_folder() as scratch:
            nest(scratch)
        assert not scratch.exists()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_walk_of_a_tree_that_grows_ends(top: Path) -> None:
    """With a limit on names no tree is walked for ever."""
    (top / "d").mkdir()

    def grow(entry: Entry) -> bool:
        os.mkdir(f"{entry.base}/d", dir_fd=entry.folder)
        return True

    with pytest.raises(BadTree, match="more than 500 files and folders"):
        list(walk(top, grow, most=500))


def test_a_folder_moved_out_ends_the_walk(top: Path, tmp_path: Path) -> None:
    """Nothing beside the tree is ever told, or removed: the way back is made sure of."""
    (top / "a" / "b").mkdir(parents=True)
    (tmp_path / "beside" / "c").mkdir(parents=True)
    names = []

    def move(entry: Entry) -> bool:
        names.append(entry.name)
        if entry.base == "b":
            (top / "a").rename(tmp_path / "beside" / "a")
        return True

    with pytest.raises(OSError, match="moved while it was read"):
        list(walk(top, move))
    assert names == ["a", "a/b"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_closed_folders_are_told_of_opened_and_removed(top: Path) -> None:
    """A folder that may not be read or entered is passed over, unless the walk is strict; its owner can open it."""
    for mode in (0o000, 0o400, 0o100, 0o600):
        closed = top / f"{mode:03o}"
        (closed / "in").mkdir(parents=True)
        closed.chmod(mode)
    assert sum(1 for _ in walk(top)) == 4
    with pytest.raises(PermissionError, match="top/000"):
        list(walk(top, strict=True))
    open_to_owner(top)
    assert sum(1 for _ in walk(top, strict=True)) == 8
    top.chmod(0)
