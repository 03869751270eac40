"""Archives that strangers upload: those that hold a bot are unpacked, every other one is refused with its reason."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from warpleague.arena.submissions.ledger import SubmissionLimits
from warpleague.arena.submissions.upload import pack_folder, unpack_upload
from warpleague.errors import BotError

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


def pax(says: dict[str, str], kind: bytes = tarfile.REGTYPE, *, of_all: bool = False) -> bytes:
    """A tar with a manifest and an entry, of which an extended header says this."""
    out = io.BytesIO()
    with tarfile.open(
        fileobj=out, mode="w", format=tarfile.PAX_FORMAT, pax_headers=says if of_all else None
    ) as archive:
        manifest = tarfile.TarInfo("bot.toml")
        manifest.size = len(MANIFEST)
        archive.addfile(manifest, io.BytesIO(MANIFEST))
        head = tarfile.TarInfo("harmless")
        head.type = kind
        head.pax_headers = {} if of_all else says
        archive.addfile(head)
    return out.getvalue()


def large_headers() -> bytes:
    """A tar of three empty files, each with an extended header of nearly 1 MiB."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in "abc":
            head = tarfile.TarInfo(name)
            head.pax_headers = {"comment": "x" * 900_000}
            archive.addfile(head)
    return out.getvalue()


def gnu_name(name: str) -> bytes:
    """A tar of one file whose name GNU tar writes before its header, even if it is not long."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo(name))
    return out.getvalue()


def overlapping() -> bytes:
    """A zip bomb as David Fifield makes them: the content of each file holds the next file, too."""
    data = bytearray(zipped(("a", b"x" * 500), ("b", b"y" * 500), method=zipfile.ZIP_STORED))
    first = data.index(b"PK\x03\x04", data.index(b"PK\x03\x04") + 1)
    listed = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    for at in (first + 18, first + 22, listed + 20, listed + 24):
        data[at : at + 4] = (700).to_bytes(4, "little")
    return bytes(data)


def listed_often() -> bytes:
    """A zip file whose list names the same bytes again and again."""
    data = zipped(("a", b"x" * 500))
    start, end = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    tail = bytearray(data[end:])
    for at in (8, 10):
        tail[at : at + 2] = (2 + 9).to_bytes(2, "little")
    first = data.index(b"PK\x01\x02")
    tail[12:16] = (end - first + 9 * (end - start)).to_bytes(4, "little")
    return data[:end] + data[start:end] * 9 + bytes(tail)


def over_the_list() -> bytes:
    """A zip file whose last entry says that it reaches beyond where the list of entries begins."""
    data = bytearray(zipped(("a", b"x" * 500), method=zipfile.ZIP_STORED))
    local, listed = data.rindex(b"PK\x03\x04"), data.rindex(b"PK\x01\x02")
    for at in (local + 18, local + 22, listed + 20, listed + 24):
        data[at : at + 4] = (510).to_bytes(4, "little")
    return bytes(data)


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
    "writing through a link": (lambda: tar(link("d", "/tmp"), file("d/evil")), "below d, which is no folder"),
    "a hard link to the outside": (
        lambda: tar(link("h", "/etc/shadow", tarfile.LNKTYPE)),
        "outside the folder",
    ),
    "a hard link to nothing": (lambda: tar(link("h", "nothing", tarfile.LNKTYPE)), "which is not a file"),
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
    "zip, overlapping entries": (overlapping, "overlaps another one"),
    "zip, one entry listed often": (listed_often, "overlaps another one"),
    "zip, an entry over the list": (over_the_list, "overlaps the list"),
    "a file below a file": (lambda: tar(file("a"), file("a/b")), "below a, which is no folder"),
    "another name in a header": (lambda: pax({"path": "../../evil"}), "outside the folder"),
    "an absolute name in a header": (lambda: pax({"path": "/etc/evil"}), "outside the folder"),
    "a name with an escape in a header": (lambda: pax({"path": "a\x1b[2J"}), "characters that no name"),
    "a name with a NUL in a header": (lambda: pax({"path": "a\0b"}), "damaged header"),
    "the manifest's name in a header": (lambda: pax({"path": "bot.toml"}), "bot.toml twice"),
    "a link's target in a header": (
        lambda: pax({"linkpath": "/etc/passwd"}, kind=tarfile.SYMTYPE),
        "leads out of the folder",
    ),
    "a size in a header": (lambda: pax({"size": str(1 << 60)}), "more than 1 MiB"),
    "a size that is none": (lambda: pax({"size": "-1"}), "damaged header"),
    "a name for all that follows": (lambda: pax({"path": "b"}, of_all=True), "damaged header"),
    "a header of many MiB": (lambda: pax({"comment": "x" * (4 << 20)}), "damaged header"),
    "many headers of nearly one MiB": (large_headers, "more than 1 MiB"),
    "a header for nothing": (
        lambda: gnu_name("a" * 120)[:1024] + bytes(1024),
        "breaks off",
    ),
    "a long name out of the folder": (lambda: gnu_name("../" * 40 + "evil"), "outside the folder"),
    "a long name, too long": (lambda: gnu_name("d/" * 5000 + "x"), "too long"),
    "a long path of folders": (lambda: gnu_name("/".join(["d" * 150] * 8)), "too long"),
    "folders without entries": (
        lambda: tar(*(file("/".join(f"{n}x{m}" for m in range(19))) for n in range(200))),
        "more than 2,000 files",
    ),
    "many files that are left out": (
        lambda: tar(*(file(f"._{n}", b"") for n in range(7000))),
        "more than 2,000 files",
    ),
    "a large file that is left out": (lambda: tar(file("._big", bytes(2 << 20))), "more than 1 MiB"),
    "a sparse file": (lambda: pax({"GNU.sparse.major": "1"}), "without --sparse"),
    "a bzip2 bomb": (lambda: bz2.compress(tar(file("big", bytes(8 << 20)), zipped=False)), "more than 1 MiB"),
    "an xz bomb": (lambda: lzma.compress(tar(file("big", bytes(8 << 20)), zipped=False)), "more than 1 MiB"),
    "xz that takes much memory": (
        lambda: lzma.compress(
            tar(zipped=False), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "preset": 0}]
        ),
        "damaged, or breaks off: Memory",
    ),
    "bzip2, cut off": (lambda: bz2.compress(tar(zipped=False))[:-20], "breaks off"),
    "bzip2, damaged": (lambda: damaged(bz2.compress(tar(zipped=False)), 60), "damaged, or breaks off"),
    "xz, cut off": (lambda: lzma.compress(tar(zipped=False))[:-20], "breaks off"),
    "xz, damaged": (lambda: damaged(lzma.compress(tar(zipped=False)), 60), "damaged, or breaks off"),
    "xz, with something behind it": (lambda: lzma.compress(tar(zipped=False)) + b"more", "behind its end"),
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


LONG: Final = "vendor/" + "/".join([letter * 60 for letter in "xyz"]) + "/module.py"
SCRIPT: Final = b"print()\n"
FILES: Final = {"bot.toml": MANIFEST, "bot.py": SCRIPT, "lib/helper.py": SCRIPT}
APPLE: Final = b"\0\5\x16\7\0\2\0\0Mac OS X        "


def packed(
    files: dict[str, bytes], form: int = tarfile.GNU_FORMAT, folders: tuple[str, ...] = (), **more: object
) -> bytes:
    """A tar of these files, and of these folders before them, as Python writes the form; unpacked times in it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, **more) as archive:  # type: ignore[call-overload]
        for name in folders:
            head = tarfile.TarInfo(name)
            head.type, head.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(head)
        for name, data in files.items():
            head = tarfile.TarInfo(name)
            head.size, head.mtime = len(data), 1.5 if form == tarfile.PAX_FORMAT else 1
            archive.addfile(head, io.BytesIO(data))
    return out.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    """A zip of these files, without entries for folders."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def below(folder: str, files: dict[str, bytes] = FILES) -> dict[str, bytes]:
    """The files as they are named in an archive of a folder that holds them."""
    return {folder + name: data for name, data in files.items()}


def with_doubles(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files as tar of macOS packs them: before each of them what its file system knows of it."""
    doubled: dict[str, bytes] = {}
    for name, data in files.items():
        place, slash, last = name.rpartition("/")
        doubled |= {f"{place}{slash}._{last}": APPLE, name: data}
    return doubled


def as_before_posix(data: bytes) -> bytes:
    """A tar whose headers say nothing of a form."""
    blocks = [bytearray(data[at : at + 512]) for at in range(0, len(data), 512)]
    for block in blocks:
        if block[257:262] == b"ustar":
            block[257:265] = bytes(8)
            block[148:156] = b" " * 8
            block[148:156] = b"%06o\0 " % sum(block)
    return b"".join(blocks)


HONEST: Final[dict[str, Callable[[], bytes]]] = {
    "tar of a folder": lambda: packed(below("good/"), folders=("good", "good/lib")),
    "tar of the dot": lambda: packed(below("./"), folders=("./", "./lib")),
    "tar of single files": lambda: packed(below("good/")),
    "tar of single files, with the folders last": lambda: tar(
        *(file(name, data) for name, data in below("good/").items()),
        *(folder("good/lib"), folder("good")),
        manifest=False,
    ),
    "pax": lambda: packed(below("good/"), tarfile.PAX_FORMAT, folders=("good",)),
    "git archive": lambda: packed(
        below("good/"), tarfile.PAX_FORMAT, folders=("good",), pax_headers={"comment": "0" * 40}
    ),
    "ustar": lambda: packed(below("good/"), tarfile.USTAR_FORMAT),
    "tar from before POSIX": lambda: as_before_posix(packed(below("good/"), tarfile.USTAR_FORMAT)),
    "tar.gz": lambda: gzip.compress(packed(below("good/"))),
    "tar.bz2": lambda: bz2.compress(packed(below("good/"))),
    "tar.bz2 of several streams": lambda: (
        bz2.compress(packed(below("good/"))[:700]) + bz2.compress(packed(below("good/"))[700:])
    ),
    "tar.xz": lambda: lzma.compress(packed(below("good/")), preset=9),
    "tar of macOS": lambda: packed(with_doubles(below("good/")) | {"._good": APPLE}),
    "tar of macOS, the dot": lambda: packed({"./._.": APPLE} | with_doubles(below("./"))),
    "pax of macOS": lambda: packed(
        with_doubles(below("good/")), tarfile.PAX_FORMAT, pax_headers={"LIBARCHIVE.xattr.a": "b"}
    ),
    "zip": lambda: zip_of(below("good/")),
    "zip of files": lambda: zip_of(FILES),
    "zip of the Finder": lambda: zip_of(below("good/") | below("__MACOSX/", with_doubles(below("good/")))),
    "zip of files of the Finder": lambda: zip_of(FILES | {"__MACOSX/._bot.toml": APPLE, ".DS_Store": b"x"}),
    "a folder with an icon": lambda: packed(below("good/") | {"good/Icon\r": b""}),
    "desktop.ini beside the folder": lambda: zip_of({"desktop.ini": b"x"} | below("good/")),
    "Thumbs.db in the folder": lambda: zip_of(below("good/") | {"good/lib/Thumbs.db": b"x"}),
    "two folders around": lambda: packed(below("submission/good/")),
}
"""Archives of `FILES` as packers make them."""


@pytest.mark.parametrize("name", HONEST)
def test_what_packers_make_is_taken(name: str, tmp_path: Path) -> None:
    """The files of the bot come out, and nothing that a packer or a system added."""
    assert unpack_upload(HONEST[name](), tmp_path / "bot", LIMITS) == ()
    found = {
        path.relative_to(tmp_path / "bot").as_posix(): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert found == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["bot"]


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT, None])
def test_long_paths_come_out(form: int | None, tmp_path: Path) -> None:
    """Each form of archives has a way of its own to say a path of more than 100 bytes; letters are of any script."""
    files = FILES | {LONG: SCRIPT, "données/ß.txt": b"x"}
    data = zip_of(files) if form is None else packed(files, form)
    unpack_upload(data, tmp_path / "bot", LIMITS)
    assert (tmp_path / "bot" / LONG).read_bytes() == SCRIPT
    assert (tmp_path / "bot" / "données" / "ß.txt").read_bytes() == b"x"


def test_files_beside_the_folder_of_the_bot_are_told_of(tmp_path: Path) -> None:
    """A README or a licence beside the folder is no part of the bot."""
    data = zip_of({"README.md": b"x"} | below("around/good/") | {"around/LICENSE": b"x"})
    assert unpack_upload(data, tmp_path / "bot", LIMITS) == ("README.md", "around/LICENSE")


@pytest.mark.parametrize("make", [packed, zip_of])
def test_what_tools_make_beside_the_source_is_left_out_and_told_of(
    make: Callable[[dict[str, bytes]], bytes], tmp_path: Path
) -> None:
    """An environment and a history are no part of a bot, so their many files and their links do no harm."""
    more = {f"good/.git/objects/{number}": b"x" for number in range(2500)}
    more |= {"good/.venv/pyvenv.cfg": b"", "good/lib/node_modules/a.js": b"x", ".vscode/settings.json": b"{}"}
    told = unpack_upload(make(more | below("good/")), tmp_path / "bot", LIMITS)
    assert told == ("good/.git", "good/.venv", "good/lib/node_modules")
    assert {path.name for path in (tmp_path / "bot").rglob("*")} == {"bot.toml", "bot.py", "lib", "helper.py"}


def test_links_of_an_environment_do_no_harm(tmp_path: Path) -> None:
    """Those of a virtual environment lead to the author's machine."""
    data = tar(link(".venv/bin/python", "/usr/bin/python3"), file("bot.py"))
    assert unpack_upload(data, tmp_path / "bot", LIMITS) == (".venv",)
    assert not (tmp_path / "bot" / ".venv").exists()


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (b"", "tar czf"),
        (zip_of({}), "it is empty: pack the bot's folder with tar czf"),
        (SCRIPT * 300, "is none; pack the bot's folder with tar czf"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(600), "a 7z file; pack the bot's folder"),
        (b"Rar!\x1a\7" + bytes(600), "a rar file; pack the bot's folder"),
        (b"\x28\xb5\x2f\xfd" + bytes(600), "packed with zstd; pack the bot's folder"),
        (b"MZ" + bytes(600) + zip_of(FILES), "unpacks itself.*pack the bot's folder"),
        (zip_of({"good/Bot.toml": b"", "good/bot.py": b""}), "good/Bot.toml must be called bot.toml"),
        (zip_of({"bot.toml.txt": b"", "bot.py": b""}), "bot.toml.txt must be called bot.toml"),
        (zip_of(below("a/") | below("b/")), "there is a/bot.toml, b/bot.toml: send the folder of one bot"),
        (zip_of(below("a/b/c/")), "there is a/b/c/bot.toml: send the folder of one bot"),
        (zip_of({"a/bot.py": b""}), "there is a/bot.py: pack the bot's folder"),
        (zip_of({"good\\bot.toml": b""}), "packed with backslashes.*Explorer"),
        (tar(file("bot.py"), file("bot.py")), "bot.py twice; .* must be made again"),
        (gzip.compress(packed(FILES)) + b"\r\n", "pack it again"),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_to_do(data: bytes, remedy: str, tmp_path: Path) -> None:
    """A packer, a name or a way that an author can change is named."""
    with pytest.raises(BotError, match=remedy):
        unpack_upload(data, tmp_path / "bot", LIMITS)


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
