"""Archives that strangers upload: those that hold a bot are unpacked, every other one is refused with its reason."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import warnings
import zipfile
from typing import TYPE_CHECKING, Final

import pytest

from warpleague.arena.submissions.limits import SubmissionLimits
from warpleague.arena.submissions.upload import pack_folder, unpack_upload
from warpleague.errors import BotError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMITS: Final = SubmissionLimits(folder_mb=1, files=2000)
MANIFEST: Final = b'name = "mine"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n'


def tar(*entries: tuple[str, bytes | str, bytes], zipped: bool = True, manifest: bool = True) -> bytes:
    """A tar of (name, content or target of a link, type), with a manifest before them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data, kind in ([("bot.toml", MANIFEST, tarfile.REGTYPE)] if manifest else []) + list(
            entries
        ):
            head = tarfile.TarInfo(name)
            head.type = kind
            if isinstance(data, str):
                head.linkname = data
                archive.addfile(head)
            else:
                head.size = len(data)
                archive.addfile(head, io.BytesIO(data))
    return gzip.compress(out.getvalue(), 1) if zipped else out.getvalue()


def file(name: str, data: bytes = b"x") -> tuple[str, bytes, bytes]:
    """An entry that is a plain file."""
    return name, data, tarfile.REGTYPE


def folder(name: str) -> tuple[str, bytes, bytes]:
    """An entry that is a folder."""
    return name, b"", tarfile.DIRTYPE


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[str, str, bytes]:
    """An entry that is a link."""
    return name, target, kind


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file of names with contents, with a manifest before them."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as archive:
        warnings.simplefilter("ignore")  # about names that are there twice
        archive.writestr("bot.toml", MANIFEST)
        for name, data in entries:
            archive.writestr(name, data)
    return out.getvalue()


def with_mode(name: str, mode: int) -> zipfile.ZipInfo:
    """An entry of a zip file with a Unix mode."""
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def hundred_thousand() -> bytes:
    """100,000 empty files, each with a name of its own."""
    head = bytearray(tarfile.TarInfo("x000000").tobuf(tarfile.USTAR_FORMAT))
    fixed = sum(head) - sum(head[1:7]) - sum(head[148:156]) + 8 * 32
    blocks = []
    for number in range(100_000):
        digits = b"%06d" % number
        head[1:7] = digits
        head[148:156] = b"%06o\0 " % (fixed + sum(digits))
        blocks.append(bytes(head))
    return gzip.compress(b"".join(blocks) + bytes(1024), 1)


def encrypted() -> bytes:
    """A zip file that says that its file is encrypted."""
    data = bytearray(zipped(("secret.py", b"x")))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.rindex(mark)
        data[place + at] |= 1
    return bytes(data)


def lying() -> bytes:
    """A zip bomb whose directory says that its file is small."""
    data = bytearray(zipped(("big", bytes(4 << 20))))
    place = data.rindex(b"PK\x01\x02")
    data[place + 24 : place + 28] = (9).to_bytes(4, "little")
    return bytes(data)


def damaged(data: bytes, at: int) -> bytes:
    """A tar with one bit of its second header turned."""
    found = bytearray(data)
    found[at] ^= 1
    return bytes(found)


def pax(name: str) -> bytes:
    """A tar whose extended header gives a file another name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        head = tarfile.TarInfo("harmless")
        head.pax_headers = {"path": name}
        archive.addfile(head)
    return out.getvalue()


def base256() -> bytes:
    """A tar with a size beyond what its digits can say."""
    head = bytearray(tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT))
    head[124:136] = b"\x80" + (1 << 60).to_bytes(11, "big")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + bytes(1024)


HOSTILE: Final[dict[str, tuple[Callable[[], bytes], str]]] = {
    "zip slip": (lambda: zipped(("../../evil.py", b"x")), "outside the folder"),
    "zip slip, inside a folder": (lambda: zipped(("a/../../evil", b"x")), "outside the folder"),
    "zip, absolute": (lambda: zipped(("/etc/cron.d/evil", b"x")), "outside the folder"),
    "zip, backslashes": (lambda: zipped((with_mode("..\\evil", 0o100644), b"x")), "characters that no name"),
    "zip, a link": (
        lambda: zipped((with_mode("s", 0o120777), b"/etc/passwd")),
        "neither a file nor a folder",
    ),
    "zip, a device": (lambda: zipped((with_mode("s", 0o020666), b"")), "neither a file nor a folder"),
    "zip, encrypted": (encrypted, "encrypted"),
    "zip, a rare method": (lambda: zipped(("a", b"x"), method=zipfile.ZIP_LZMA), "way that is not taken"),
    "zip bomb": (lambda: zipped(("big", bytes(4 << 20))), "more than 1 MiB"),
    "zip bomb with a lie": (lying, "damaged, or breaks off"),
    "zip, many files": (lambda: zipped(*((f"f{n}", b"") for n in range(2500))), "more than 2,000 files"),
    "zip, cut off": (lambda: zipped(("a", b"x" * 2000))[:-30], "damaged, or breaks off"),
    "zip, the same twice": (lambda: zipped(("a", b"1"), (with_mode("a", 0o100644), b"2")), "a twice"),
    "zip, a file as a folder": (lambda: zipped(("a", b"1"), ("a/b", b"2")), "a twice"),
    "tar slip": (lambda: tar(file("../evil")), "outside the folder"),
    "tar, absolute": (lambda: tar(file("/etc/evil")), "outside the folder"),
    "a link to the password file": (lambda: tar(link("s", "/etc/passwd")), "leads out of the folder"),
    "a link up and out": (lambda: tar(folder("d"), link("d/s", "../../x")), "leads out of the folder"),
    "links in circles": (lambda: tar(link("a", "b"), link("b", "a")), "leads in circles"),
    "writing through a link": (lambda: tar(link("d", "/tmp"), file("d/evil")), "without the folder"),
    "a hard link to the outside": (
        lambda: tar(link("h", "/etc/shadow", tarfile.LNKTYPE)),
        "outside the folder",
    ),
    "a hard link to nothing": (lambda: tar(link("h", "nothing", tarfile.LNKTYPE)), "which is no file"),
    "a device": (lambda: tar(("d", b"", tarfile.CHRTYPE)), "neither a file nor a folder"),
    "a named pipe": (lambda: tar(("p", b"", tarfile.FIFOTYPE)), "neither a file nor a folder"),
    "gzip bomb": (lambda: tar(file("big", bytes(8 << 20))), "more than 1 MiB"),
    "gzip bomb without a tar": (lambda: gzip.compress(b"0" * (8 << 20), 1), "or is none"),
    "100,000 files": (hundred_thousand, "more than 2,000 files"),
    "a name with an escape": (lambda: tar(file("a\x1b[2J")), "characters that no name"),
    "a name with a line end": (lambda: tar(file("a\nb")), "characters that no name"),
    "a name turned round": (lambda: tar(file("bot\u202eyp.txt")), "characters that no name"),
    "a name that is not UTF-8": (lambda: tar(file("bot\udcff.py")), "characters that no name"),
    "a name too long": (lambda: zipped((f"{'n' * 250}.py", b"x")), "too long"),
    "a path too long": (lambda: zipped(("/".join(["d" * 150] * 8), b"x")), "too long"),
    "folders too deep": (lambda: zipped(("d/" * 40 + "x", b"x")), "too deep"),
    "the same file twice": (lambda: tar(file("a"), file("a")), "a twice"),
    "a file without its folder": (lambda: tar(file("d/a")), "without the folder"),
    "another name in a header": (lambda: pax("../../evil"), "neither a file nor a folder"),
    "a size beyond all": (base256, "damaged header"),
    "a wrong checksum": (lambda: damaged(tar(file("abc"), zipped=False), 1024), "damaged header"),
    "tar, cut off": (lambda: tar(file("abc", b"x" * 3000), zipped=False)[:2000], "breaks off"),
    "gzip, cut off": (lambda: tar(file("abc", b"x" * 3000))[:-20], "breaks off"),
    "nothing": (lambda: b"", "breaks off"),
    "no archive": (lambda: b"MZ" + b"\x90" * 2000, "or is none"),
    "no manifest": (lambda: tar(file("bot.py"), manifest=False), "has no bot.toml"),
    "two folders": (
        lambda: tar(folder("a"), file("a/bot.toml"), folder("b"), manifest=False),
        "has no bot.toml",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name: str, tmp_path: Path) -> None:
    """Each with its reason; nothing is left on the disk, and nothing appears outside the folder."""
    make, reason = HOSTILE[name]
    place = tmp_path / "inner"
    place.mkdir()
    with pytest.raises(BotError, match=reason):
        unpack_upload(make(), place / "bot", LIMITS)
    assert [*tmp_path.rglob("*")] == [place]


def test_a_bot_comes_out_as_it_went_in(tmp_path: Path) -> None:
    """Whether `warpleague submit` packed it, or zip or tar did, with or without the folder around it."""
    source = tmp_path / "source"
    (source / "src").mkdir(parents=True)
    (source / "bot.toml").write_bytes(MANIFEST)
    (source / "src" / "run").write_bytes(b"#!/bin/sh\n")
    (source / "src" / "run").chmod(0o755)
    packed = pack_folder(source)
    assert packed == pack_folder(source)
    inner = zipped()  # a manifest at the top
    around = io.BytesIO()
    with zipfile.ZipFile(around, "w") as archive:
        archive.writestr("my-bot/bot.toml", MANIFEST)
        archive.writestr(with_mode("my-bot/src/run", 0o100755), "#!/bin/sh\n")
        archive.writestr("__MACOSX/my-bot/._bot.toml", b"x")
    unpack_upload(inner, tmp_path / "inner", LIMITS)
    assert (tmp_path / "inner" / "bot.toml").read_bytes() == MANIFEST
    for number, data in enumerate((packed, gzip.decompress(packed), around.getvalue())):
        found = tmp_path / str(number)
        unpack_upload(data, found, LIMITS)
        assert (found / "bot.toml").read_bytes() == MANIFEST
        assert (found / "src" / "run").stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2", "inner", "source"]


def test_damaged_zip_files_are_refused_or_taken(tmp_path: Path) -> None:
    """Whatever bytes of a zip file are others, it is one of a bot or is refused in words: never a failure of ours."""
    draw = random.Random(7)
    whole = zipped(("bot.py", b"x" * 300), ("data/a.txt", b"some words " * 20))
    refused = 0
    for number in range(400):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            data[draw.randrange(len(data))] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        try:
            unpack_upload(bytes(data), tmp_path / str(number), LIMITS)
        except BotError:
            refused += 1
            assert not (tmp_path / str(number)).exists()
    assert 100 < refused < 400
