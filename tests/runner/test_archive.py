"""What comes out of a sandboxed build may be written by anyone: archives that a good tar would not make."""

import contextlib
import io
import os
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from warpleague.runner.bundle.archive import MAX_ENTRIES, BadArchive, unpack

FILE, HARD, SOFT, DEVICE, FOLDER, PIPE = b"0", b"1", b"2", b"3", b"5", b"6"


def archive(*entries: tuple, end: bool = True) -> bytes:
    """A ustar archive of entries: name, kind, and content or the target of a link."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, kind, *more in entries:
            info = tarfile.TarInfo(name)
            info.type = kind
            content = b""
            if kind == FILE and more:
                content = more[0]
            elif more:
                info.linkname = more[0]
            info.size = len(content)
            info.mode = 0o4711 if "run" in name else 0o600
            tar.addfile(info, io.BytesIO(content))
        offset = out.tell()
    return out.getvalue() if end else out.getvalue()[:offset]


def unpacked(data: bytes, tmp_path: Path, most: int = 1 << 20) -> Path:
    unpack(io.BytesIO(data), tmp_path / "out", most)
    return tmp_path / "out"


def test_files_folders_and_links_come_out(tmp_path: Path) -> None:
    """Names, contents and the right to execute are kept; owners and other permissions are ours."""
    long = "d/" + "e" * 90 + "/" + "f" * 90
    folder = unpacked(
        archive(
            *(("./", FOLDER), ("./d", FOLDER), ("./d/" + "e" * 90, FOLDER), (long, FILE, b"deep")),
            *(("./run", FILE, b"#!"), ("./empty", FILE), ("hard", HARD, "run"), ("soft", SOFT, "d/../run")),
        ),
        tmp_path,
    )
    assert (folder / long).read_bytes() == b"deep"
    assert (folder / "run").stat().st_mode & 0o7777 == 0o755
    assert (folder / "empty").stat().st_mode & 0o7777 == 0o644
    assert str((folder / "soft").readlink()) == "d/../run"
    assert (folder / "hard").read_bytes() == (folder / "soft").read_bytes() == b"#!"


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([("../x", FILE, b"")], "../x, which is outside the folder"),
        ([("/x", FILE, b"")], "/x, which is outside the folder"),
        ([("d", FOLDER), ("d/../../x", FILE, b"")], "outside the folder"),
        ([("d", SOFT, "."), ("d/x", FILE, b"")], "d/x, below d, which is no folder"),
        ([("d", SOFT, "."), ("d/e/x", FILE, b"")], "d/e/x, below d, which is no folder"),
        ([("d", FILE, b""), ("d/x", FILE, b"")], "d/x, below d, which is no folder"),
        ([("d/x", FILE, b""), ("d", SOFT, "..")], "d twice"),
        ([("x", FILE, b"1"), ("x", FILE, b"2")], "x twice"),
        ([("x", SOFT, "y"), ("x", FOLDER)], "x twice"),
        ([("", FILE, b"1")], " twice"),
        ([("d", FOLDER), ("d", SOFT, "..")], "d twice"),
        ([("x", HARD, "../../etc/passwd")], "outside the folder"),
        ([("x", SOFT, "y"), ("z", HARD, "x")], "z, a link to x, which is not a file"),
        ([("x", HARD, "y")], "x, a link to y, which is not a file"),
        ([("x", SOFT, "../x")], "x, a link that leads out of the folder, to ../x"),
        ([("x", SOFT, "/etc/passwd")], "a link that leads out of the folder"),
        ([("a", SOFT, "b"), ("b", SOFT, "/etc")], "a link that leads out of the folder"),
        ([("a", SOFT, "b"), ("b", SOFT, "a")], "a link that leads in circles"),
        ([("a", SOFT, "b/x"), ("b", SOFT, "a/../b")], "a link that leads in circles"),
        ([("x", SOFT, "")], "x, a link to nowhere"),
        ([("d", FOLDER), ("e", SOFT, "d"), ("x", SOFT, "e/../../y")], "a link that leads out of the folder"),
        (
            [("d", FOLDER), ("d/up", SOFT, ".."), ("x", SOFT, "d/up/../y")],
            "a link that leads out of the folder",
        ),
        ([("d", FOLDER), ("d/up", SOFT, ".."), ("x", SOFT, "d/up/d/up/../y")], "leads out of the folder"),
        ([("x", SOFT, "nothing/../../y")], "a link that leads out of the folder"),
        ([("x", SOFT, "x/y")], "x, a link that leads in circles"),
        ([("x", DEVICE)], "x, which is neither a file nor a folder nor a link"),
        ([("x", PIPE)], "x, which is neither a file nor a folder nor a link"),
        ([("x", FILE, bytes(600_000)), ("y", FILE, bytes(600_000))], "more than 1 MiB"),
    ],
)
def test_what_a_folder_must_not_hold_is_refused(entries: list, text: str, tmp_path: Path) -> None:
    """Nothing is written outside the folder, through a link, twice or in excess; the entry is named."""
    with pytest.raises(BadArchive) as caught:
        unpacked(archive(*entries), tmp_path)
    assert text in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_links_to_nothing_are_kept(tmp_path: Path) -> None:
    """A link inside the folder may lead to what is not there, or to something below a file."""
    folder = unpacked(
        archive(("f", FILE), ("a", SOFT, "gone/x"), ("b", SOFT, "f/x"), ("c", SOFT, "a")), tmp_path
    )
    assert [str((folder / name).readlink()) for name in "abc"] == ["gone/x", "f/x", "a"]


LINKS = 8_000
UP = "d/../" * 17


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(lambda n: UP + f"x{n + 1}", id="one chain"),
        pytest.param(lambda n: UP + f"x{n - 1}", id="one chain from its end"),
        pytest.param(lambda n: f"x{n + 1}" if n % 40 < 38 else UP, id="chains as long as they may be"),
        pytest.param(lambda n: f"x{n // 2}/" * 12 if n else UP, id="trees"),
        pytest.param(lambda n: f"x{(n + 1) % LINKS}", id="one circle"),
        pytest.param(lambda n: f"x{n ^ 1}", id="small circles"),
        pytest.param(lambda n: "nothing/" * 9 + f"x{n + 1}", id="nowhere"),
        pytest.param(lambda n: f"y/{n}/" * 9, id="through a file"),
    ],
)
def test_many_links_cost_time_in_proportion_to_their_number(
    shape: Callable[[int], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they lead to, each link is followed once, or the first one that leads too far is refused."""
    data = archive(("d", FOLDER), ("y", FILE), *((f"x{n}", SOFT, shape(n)) for n in range(LINKS)))
    monkeypatch.setattr(os, "symlink", lambda *_: None)  # what is looked at is the looking
    begun = time.process_time()
    with contextlib.suppress(BadArchive):
        unpacked(data, tmp_path)
    assert time.process_time() - begun < 10


def test_a_chain_may_be_as_long_as_the_kernel_follows(tmp_path: Path) -> None:
    """Forty links one after another can be opened, one more cannot, from wherever they are looked at."""
    for count in (40, 41):
        for order in (1, -1):
            names = [(f"x{n}", SOFT, f"x{n + 1}") for n in range(count)][::order]
            data = archive(*names, (f"x{count}", FILE, b"end"))
            place = tmp_path / f"{count}{order}"
            place.mkdir()
            if count == 40:
                assert (unpacked(data, place) / "x0").read_bytes() == b"end"
            else:
                with pytest.raises(BadArchive, match="x0, a link that leads through more than 40 others"):
                    unpacked(data, place)


def test_hard_links_multiply_nothing(tmp_path: Path) -> None:
    """Hard links share a file, so that they cannot multiply what is written."""
    folder = unpacked(
        archive(("x", FILE, bytes(900_000)), *((f"y{n}", HARD, "x") for n in range(9))), tmp_path
    )
    assert (folder / "y8").stat().st_ino == (folder / "x").stat().st_ino


@pytest.mark.parametrize("cut", [0, 100, 512, 700, 1024])
def test_an_archive_that_breaks_off_is_refused(cut: int, tmp_path: Path) -> None:
    """Wherever it ends before its end mark, it is none."""
    data = archive(("x", FILE, bytes(600)), end=False)[: 512 + 600]
    with pytest.raises(BadArchive, match="breaks off"):
        unpacked(data[:cut], tmp_path)


def test_bytes_that_are_no_archive_are_refused(tmp_path: Path) -> None:
    """Noise, a damaged header, and numbers that are none are refused."""
    good = archive(("x", FILE, b"x"))
    for number, data in enumerate(
        (b"\1" * 4096, good.replace(b"x\0", b"y\0", 1), good[:124] + b"\x80" + good[125:], b"{}\n" * 400)
    ):
        with pytest.raises(BadArchive, match="an archive"):
            unpack(io.BytesIO(data), tmp_path / str(number), 1000)


def test_entries_are_counted(tmp_path: Path) -> None:
    """Very many files are refused, however small."""
    data = archive(*((f"x{n}", FILE) for n in range(6)))
    with pytest.raises(BadArchive, match="more than 5 files"):
        unpack(io.BytesIO(data), tmp_path / "out", 1 << 20, most_entries=5)
    assert MAX_ENTRIES == 50_000
