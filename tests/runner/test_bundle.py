"""What makes two folders the same bot, and what the cache does with them.

What may not be in a folder is tested with the command line.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpleague.errors import BotError
from warpleague.runner.bundle import bundle, content
from warpleague.runner.bundle.archive import BadArchive, unpack
from warpleague.runner.bundle.build import WALL, BuildClock, computed
from warpleague.runner.bundle.bundle import find_bundle, pack_bundle, prepare, receive_bundle
from warpleague.runner.bundle.cache import HELD, bundle_folder, cached_bundles, trim_received
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.runner.tree import remove_tree


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot of two files, and a cache of its own."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "bot"
    (folder / "lib").mkdir(parents=True)
    (folder / "bot.toml").write_text('name = "bot"\ngames = ["aliens"]\nrun = ["python3", "main.py"]\n')
    (folder / "main.py").write_text("import lib.help\n")
    (folder / "lib" / "help.py").write_text("help = 1\n")
    return folder


def with_build(folder: Path, command: str) -> None:
    """Have the bot of `folder` built by a shell command."""
    manifest = folder / "bot.toml"
    manifest.write_text(manifest.read_text() + f'build = ["/bin/sh", "-c", "{command}"]\n')


def test_a_digest_is_its_contents(folder: Path) -> None:
    """A copy elsewhere, with caches and version control beside it, is the same bot."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    for ignored in ("__pycache__", ".git", ".venv"):
        (copy / ignored).mkdir()
        (copy / ignored / "file").write_text("x")
    (copy / "main.pyc").write_bytes(b"x")
    assert folder_digest(copy) == folder_digest(folder)


def test_every_change_makes_another_bot(folder: Path) -> None:
    """Content, names, and the right to execute are all part of a bot's identity."""
    digests = {folder_digest(folder)}
    main = folder / "main.py"
    main.write_text("import lib.help \n")
    digests.add(folder_digest(folder))
    main.chmod(0o755)
    digests.add(folder_digest(folder))
    main.rename(folder / "start.py")
    digests.add(folder_digest(folder))
    (folder / "lib" / "help.py").rename(folder / "help.py")
    digests.add(folder_digest(folder))
    (folder / "empty").touch()
    digests.add(folder_digest(folder))
    assert len(digests) == 6


def test_a_link_inside_is_its_content(folder: Path) -> None:
    """A link to a file of the same folder counts as a copy of it."""
    (folder / "linked.py").symlink_to("main.py")
    linked = folder_digest(folder)
    (folder / "linked.py").unlink()
    shutil.copy(folder / "main.py", folder / "linked.py")
    assert folder_digest(folder) == linked


def test_a_bundle_is_built_once_and_found_again(folder: Path) -> None:
    """The build runs in a copy, once for each content; the digest finds the bundle; the folder stays untouched."""
    log = folder.with_name("log")
    with_build(folder, f"echo built >> '{log}'; touch made")
    assert find_bundle(folder_digest(folder)) is None
    one, two = prepare(folder), prepare(folder)
    assert one == two == find_bundle(one.digest)
    assert log.read_text() == "built\n"
    assert (Path(one.cwd) / "made").exists()
    assert not (folder / "made").exists()
    (folder / "main.py").write_text("pass\n")
    assert prepare(folder).digest != one.digest
    assert log.read_text() == "built\nbuilt\n"


def test_bundles_are_built_one_at_a_time(folder: Path) -> None:
    """Several that prepare the same bot at once share one build, and leave nothing but the bundle."""
    log = folder.with_name("log")
    with_build(folder, f"echo built >> '{log}'")
    with ThreadPoolExecutor(4) as pool:
        bundles = set(pool.map(prepare, [folder] * 4))
    assert len(bundles) == 1
    assert log.read_text() == "built\n"
    (bundle,) = bundles
    names = {path.name for path in Path(bundle.cwd).parent.iterdir()}
    assert names == {Path(bundle.cwd).name, f"{Path(bundle.cwd).name}.seal"}


def test_a_failed_build_leaves_nothing(folder: Path) -> None:
    """After a failing build there is no bundle, and no draft of one."""
    with_build(folder, "touch half; exit 1")
    with pytest.raises(BotError, match="exit status 1"):
        prepare(folder)
    assert find_bundle(folder_digest(folder)) is None
    assert [path for path in folder.with_name("cache").rglob("*") if not path.is_dir()] == []


def test_a_manifests_defaults(folder: Path) -> None:
    """What a manifest leaves out has a modest default."""
    manifest = read_manifest(folder)
    assert (manifest.version, manifest.reusable, manifest.build) == ("0", False, None)
    assert manifest.limits.memory_mb == 512


def test_python_bots_are_shielded_from_their_own_files(folder: Path) -> None:
    """A Python bot runs on this interpreter, without its folder on the module path."""
    run = prepare(folder).run
    assert run[1:] == ("-P", "main.py")
    assert Path(run[0]).is_absolute()


@pytest.mark.parametrize("key", ["run", "build"])
@pytest.mark.parametrize(
    "program",
    ["/proc/self/cwd/bot/python3", "/opt/tool/bin/tool", "../other/main", "lib/../../main", "/usr/../x"],
)
def test_a_manifest_names_no_program_of_the_host(folder: Path, key: str, program: str) -> None:
    """What is neither the bot's own nor a program of the system is refused before anything is run."""
    others = {"run": "python3", "build": "true", key: program}
    lines = [
        'name = "bot"',
        'games = ["aliens"]',
        *(f'{name} = ["{value}"]' for name, value in others.items()),
    ]
    (folder / "bot.toml").write_text("\n".join(lines))
    with pytest.raises(BotError, match=f"{key}: the program .* must be in the bot's folder"):
        prepare(folder, "none")


def test_a_manifest_that_never_ends_or_never_comes(folder: Path) -> None:
    """A device, a named pipe and a file that is too long are refused instead of read."""
    manifest = folder / "bot.toml"
    makers: tuple[Callable[[], object], ...] = (
        lambda: manifest.symlink_to("/dev/zero"),
        lambda: os.mkfifo(manifest),
    )
    for make in makers:
        manifest.unlink()
        make()
        with pytest.raises(BotError, match="is not a plain file"):
            read_manifest(folder)
    manifest.unlink()
    manifest.write_bytes(b"#" * (1 << 17))
    with pytest.raises(BotError, match="more than 64 KiB"):
        read_manifest(folder)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x = " + "[" * 20_000, "not TOML"),
        ('version = "=1+1"', "version '=1\\+1': may consist of letters"),
        (f'description = "{"1" * 2000}"', "1024 bytes at most"),
        ('authors = ["a\\nb"]', "authors: must be printable"),
    ],
)
def test_a_manifest_that_would_do_harm_where_it_is_read_or_shown(folder: Path, line: str, told: str) -> None:
    """Brackets without end, control characters and long texts are the bot's error, not ours."""
    manifest = folder / "bot.toml"
    manifest.write_text(manifest.read_text() + line + "\n")
    with pytest.raises(BotError, match=told):
        read_manifest(folder)


def test_a_name_that_is_no_text(folder: Path) -> None:
    """A file name that is not UTF-8 is told of."""
    with open(os.fsencode(folder) + b"/\xff", "wb"):
        pass
    with pytest.raises(BotError, match="not UTF-8"):
        folder_digest(folder)


def test_a_folder_that_changes_while_it_is_bundled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Content that is not that of the digest never gets into the cache under it."""
    digest = folder_digest(folder)
    (folder / "main.py").write_text("import lib.other\n")
    answers = iter([digest])
    monkeypatch.setattr(
        "warpleague.runner.bundle.bundle.folder_digest",
        lambda place, _: next(answers, None) or folder_digest(place),
    )
    with pytest.raises(BotError, match="changed while it was bundled"):
        prepare(folder)
    assert find_bundle(digest) is None


def test_a_file_that_becomes_a_pipe_is_not_waited_for(folder: Path) -> None:
    """What is no longer a file, or gone, when it is read is named; nothing hangs."""
    file = next(file for file in content.files_of(folder) if file.name == "main.py")
    file.path.unlink()
    with pytest.raises(BotError, match=r"main\.py: cannot read it"):
        content.read_content(file)
    os.mkfifo(file.path)
    with pytest.raises(BotError, match=r"main\.py: is no longer a file"):
        content.read_content(file)


def test_folders_without_end_and_files_without_number(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders so deep that no path reaches their end, and very many files, are refused in plain words."""
    assert len(content.files_of(folder, max_names=4)) == 3
    (folder / "more").mkdir()
    with pytest.raises(BotError, match="more than 4 files and folders"):
        content.files_of(folder, max_names=4)
    (folder / "more").rmdir()
    monkeypatch.chdir(folder)
    for _ in range(1200):
        Path("deep").mkdir()
        os.chdir("deep")
    with pytest.raises(BotError, match="folders nested more than 100 deep"):
        folder_digest(folder)
    os.chdir(tmp_path)
    assert remove_tree(folder)


def test_a_digest_that_is_a_path_finds_nothing(folder: Path) -> None:
    """A record may claim any digest: only one that is a digest is looked for."""
    target = Path(prepare(folder).cwd)
    assert find_bundle(f"../{target.parent.name}/{target.name}") is None


def test_a_bot_that_may_take_more_memory_than_there_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot chooses its limits; one that could take all of the machine is refused, scratch space included."""
    sizes = {"SC_PHYS_PAGES": 1024, "SC_PAGE_SIZE": 1 << 20}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    manifest = folder / "bot.toml"
    text = manifest.read_text()
    manifest.write_text(text + "[limits]\nmemory_mb = 900\ntmp_mb = 62\n")
    prepare(folder)
    manifest.write_text(text + "[limits]\nmemory_mb = 900\ntmp_mb = 63\n")
    with pytest.raises(BotError, match=r"1026 MiB .*, but this machine has 1024"):
        prepare(folder)


def test_shipped_bots_play_match_after_match() -> None:
    """A start takes more than a short match; only who hands questions on to an engine or a model starts each time."""
    folders = [path.parent for path in (Path(__file__).parents[2] / "bots").rglob("bot.toml")]
    assert len(folders) > 20
    started = {folder.name for folder in folders if not read_manifest(folder).reusable}
    assert started == {"gtp-engine", "uci-engine", "llm"}


# The copy of a bot in the cache, which the bot may change below level sandbox: the next start finds out.


BOT = """
import json, sys
open(__file__, "a").write("# learned\\n")
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        print('{"type": "hello", "protocol": 1, "wants": []}', flush=True)
    elif kind == "start":
        print('{"type": "ready"}', flush=True)
    elif kind == "act":
        print(json.dumps({"type": "act", "id": message["id"], "action": 0}), flush=True)
"""
PREPARE = """
import sys
from pathlib import Path
from warpleague.runner.bundle.bundle import find_bundle, prepare
bundle = prepare(Path(sys.argv[1])) if len(sys.argv) == 2 else find_bundle(sys.argv[2])
print(bundle and bundle.cwd, bundle and bundle.digest, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot of three files, one of which the build makes, and a cache of the test's own."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "bot"
    (folder / "lib").mkdir(parents=True)
    (folder / "bot.py").write_text(BOT)
    (folder / "lib" / "helper.py").write_text("x = 1\n")
    (folder / "bot.toml").write_text(
        'name = "bot"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\nbuild = ["/bin/sh", "-c", "echo made >made"]\n'
    )
    return folder


def start(*args: str | Path) -> subprocess.Popen[str]:
    """A process that prepares a bot, or finds one by its digest, and uses it until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", PREPARE, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def prepared(*args: str | Path) -> tuple[str, str, str]:
    """The copy, the digest, and what is told, of a process that prepares or finds a bot and ends."""
    with start(*args) as process:
        out, told = process.communicate("")
    copy, digest = out.split()
    return copy, digest, told


def rewrite(path: Path) -> None:
    """Change a file as somebody does who hides it: of the same size, with the same times."""
    were = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(were.st_atime_ns, were.st_mtime_ns))


CHANGES: list[dict[str, Callable[[Path], object]]] = [
    {
        "bot.py": lambda file: file.write_text("x"),  # of another size
        "lib/helper.py": rewrite,
        "lib/learned": lambda file: file.write_text(""),  # new
        "made": rewrite,  # by the build
    },
    {"bot.toml": lambda file: file.write_text("x"), "made": lambda file: file.chmod(0o755)},
    {
        "lib/helper.py": lambda file: file.unlink(),
        "made": lambda file: (file.unlink(), file.symlink_to("bot.py")),
    },
]
"""What is done to the files of a copy between one start and the next."""


def test_a_copy_that_was_changed_is_told_of_and_made_anew(bot: Path) -> None:
    """Whatever was changed, the next start finds it, names the files, and plays what the digest stands for."""
    copy, digest, told = prepared(bot)
    assert told == ""
    was = {path: path.read_bytes() for path in Path(copy).rglob("*") if path.is_file()}
    for changes in CHANGES:
        for name, change in changes.items():
            change(Path(copy, name))
        again, same, told = prepared(bot)
        assert (again, same) == (copy, digest)
        opening = "note: bot: its copy in the cache is not as it was made, most likely the bot wrote to it: "
        assert told.startswith(opening)
        names, _, _ = told.removeprefix(opening).partition(";")
        assert sorted(names.split(", ")) == sorted(changes)
        assert {path: path.read_bytes() for path in Path(copy).rglob("*") if path.is_file()} == was
    assert prepared(bot)[2] == ""


def test_a_copy_that_was_changed_is_not_found_by_its_digest(bot: Path) -> None:
    """A match that is played again would be played by another bot."""
    copy, digest, _ = prepared(bot)
    assert prepared("find", digest)[:2] == (copy, digest)
    Path(copy, "made").write_text("other")
    found, _, told = prepared("find", digest)
    assert found == "None"
    assert "not as it was made" in told


def test_a_copy_of_the_same_content_is_left_alone(bot: Path, tmp_path: Path) -> None:
    """A cache that was copied or restored has other stamps, which is nobody's doing."""
    copy, _, _ = prepared(bot)
    shutil.copytree(tmp_path / "cache", tmp_path / "other", symlinks=True)
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "other").rename(tmp_path / "cache")
    mark = Path(copy, "lib", "mark")
    number = Path(copy, "made").stat().st_ino
    for _ in range(2):
        assert prepared(bot)[2] == ""
        assert Path(copy, "made").stat().st_ino == number
    mark.touch()
    assert "lib/mark" in prepared(bot)[2]


def test_a_copy_that_is_in_use_is_left_to_the_next_start(bot: Path) -> None:
    """The bots of another command run in it."""
    with start(bot) as other:
        assert other.stdout is not None
        copy = other.stdout.readline().split()[0]
        Path(copy, "made").write_text("other")
        assert prepared(bot)[2] == ""
        assert Path(copy, "made").read_text() == "other"
        other.communicate("")
    assert ": made; it is made again" in prepared(bot)[2]


def test_a_bot_that_writes_to_itself_is_told_of(bot: Path) -> None:
    """After a match at a level below the sandbox, the next command says so."""
    match = [sys.executable, "-m", "warpleague", "match", "aliens", str(bot), str(bot), "--seed", "1"]
    match += ["--option", "max_turns=2"]
    first, second = (subprocess.run(match, capture_output=True, text=True, check=True) for _ in range(2))
    assert "not as it was made" not in first.stderr
    assert "the bot wrote to it: bot.py; it is made again" in second.stderr


# A built bot that is packed and received is the same bot in another cache; what is not a bot is refused.


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    made = tmp_path / "bot"
    (made / "deep").mkdir(parents=True)
    (made / "bot.toml").write_text('name = "far"\ngames = ["aliens"]\nrun = ["./run"]\n')
    (made / "run").write_text("#!/bin/sh\n")
    (made / "run").chmod(0o755)
    (made / "deep" / "data").write_bytes(bytes(range(256)))
    return made


def test_a_bot_arrives_as_it_left(sent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, contents and the right to run them are the same in the other cache; taking it twice does no harm."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "here"))
    there = bundle.prepare(sent, "none")
    archive = pack_bundle(there.digest)
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "there"))
    assert bundle.find_bundle(there.digest) is None
    receive_bundle(there.digest, archive)
    receive_bundle(there.digest, archive)
    found = bundle.find_bundle(there.digest)
    assert found is not None
    assert (found.name, found.digest, found.run) == ("far", there.digest, (f"{found.cwd}/run",))
    assert Path(found.cwd).is_relative_to(tmp_path / "there")
    assert (Path(found.cwd) / "deep" / "data").read_bytes() == bytes(range(256))
    assert (Path(found.cwd) / "run").stat().st_mode & 0o777 == 0o755


def test_the_same_copy_gives_the_same_archive(
    sent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it was used, and also where it came from another machine."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "here"))
    digest = bundle.prepare(sent, "none").digest
    archive = pack_bundle(digest)
    os.utime(bundle_folder(digest), (1, 1))
    assert pack_bundle(digest) == archive
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "there"))
    receive_bundle(digest, archive)
    assert pack_bundle(digest) == archive


def test_room_is_made_among_bots_that_came(
    sent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that came from another machine and were used longest ago go; what was prepared here or is in use stays."""
    archives = {}
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "there"))
    for number in range(3):
        (sent / "number").write_text(str(number))
        digest = bundle.prepare(sent, "none").digest
        archives[digest] = pack_bundle(digest)
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "here"))
    (sent / "number").write_text("mine")
    mine = bundle.prepare(sent, "none").digest
    HELD.release()
    for used, (digest, archive) in enumerate(archives.items()):
        receive_bundle(digest, archive)
        os.utime(bundle_folder(digest), (used, used))
    oldest, old, new = archives
    here = {entry.digest: entry.size for entry in cached_bundles()}
    trim_received(here[new[:32]] + here[old[:32]])
    assert [bundle_folder(digest).is_dir() for digest in (mine, oldest, old, new)] == [
        True,
        False,
        True,
        True,
    ]
    assert bundle.find_bundle(old) is not None  # in use from now on
    trim_received(0)
    assert [bundle_folder(digest).is_dir() for digest in (mine, old, new)] == [True, True, False]


def test_what_is_not_here_cannot_be_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that was never prepared here is named by its digest."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path))
    with pytest.raises(BotError, match="the bot with digest aaaaaaaaaaaa is not in the cache"):
        pack_bundle("a" * 64)


def test_an_archive_that_leads_out_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is received is unpacked as what a stranger's build leaves is: nothing outside the bot's folder."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("../stolen"))
    with pytest.raises(BotError, match="outside the folder"):
        receive_bundle("b" * 64, out.getvalue())
    assert not (tmp_path / "stolen").exists()
    assert bundle.find_bundle("b" * 64) is None


# What comes out of a sandboxed build may be written by anyone: archives that a good tar would not make.


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


# The clock of a build: what others take from it does not count, sleep does.


def test_a_build_that_waits_for_a_processor_is_not_too_long() -> None:
    """It computed for 54 of the 240 seconds that it took; alone, that is within a limit of 60."""
    clock = BuildClock(60.0, 1000.0)
    for second in range(1, 241):
        clock.update(1000.0 + second, 54.0 * second / 240, runs=True)
        assert not clock.excess()
    assert clock.time.words == "240.0 s, 54.0 s of processor time"


@pytest.mark.parametrize(
    ("limit_s", "looks", "told"),
    [
        (60.0, [(31.0, 62.0, True)], "took more than 60 s"),
        (60.0, [(59.0, 1.0, False), (61.0, 1.0, False)], "took more than 60 s"),
        (
            2.0,
            [(WALL * 2.0, 0.5, True), (WALL * 2.0 + 0.1, 0.5, True)],
            "took more than 10 seconds by the wall clock",
        ),
    ],
    ids=["all its processes compute", "it sleeps", "it gets no processor"],
)
def test_a_build_that_takes_too_long_is_ended(limit_s: float, looks: list[tuple], told: str) -> None:
    """By the processor time of all it started, by its sleep, which waits for nobody, and by the wall clock at last."""
    clock = BuildClock(limit_s, 0.0)
    for number, (now_s, cpu_s, runs) in enumerate(looks, 1):
        clock.update(now_s, cpu_s, runs=runs)
        assert clock.excess() == (told if number == len(looks) else "")


@given(st.lists(st.tuples(st.floats(0, 1e3), st.floats(0, 1e3), st.booleans())))
def test_what_is_counted_never_shrinks(looks: list[tuple[float, float, bool]]) -> None:
    """Also where processes end, and the system forgets what they computed."""
    clock, now_s, last_s = BuildClock(60.0, 0.0), 0.0, 0.0
    for more_s, cpu_s, runs in looks:
        now_s += more_s
        clock.update(now_s, cpu_s, runs=runs)
        assert clock.cpu_s + clock.slept_s >= last_s
        last_s = clock.cpu_s + clock.slept_s


def test_the_time_of_children_counts() -> None:
    """What a process and a child that has ended have computed."""
    code = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    outer += "; print('over', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"over\n"
        assert computed([process.pid])[0] >= 0.25
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.wait()
    assert computed([os.getpid()])[1]
    assert computed([1 << 30]) == (0.0, False)
