"""The copy of a bot in the cache, which the bot may change below level sandbox: the next start finds out."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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
from warpleague.runner.bundle.bundle import find, prepare
bundle = prepare(Path(sys.argv[1])) if len(sys.argv) == 2 else find(sys.argv[2])
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


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file of another size": (lambda copy: (copy / "bot.py").write_text("x"), "bot.py"),
    "a file with the times it had": (lambda copy: rewrite(copy / "lib/helper.py"), "lib/helper.py"),
    "what the build made": (lambda copy: rewrite(copy / "made"), "made"),
    "a new file": (lambda copy: (copy / "lib" / "learned").write_text(""), "lib/learned"),
    "a file that is gone": (lambda copy: (copy / "made").unlink(), "made"),
    "a file that may be executed": (lambda copy: (copy / "made").chmod(0o755), "made"),
    "a link in its place": (
        lambda copy: ((copy / "made").unlink(), (copy / "made").symlink_to("bot.py")),
        "made",
    ),
    "the manifest": (lambda copy: (copy / "bot.toml").write_text("x"), "bot.toml"),
}


def test_a_copy_that_was_changed_is_told_of_and_made_anew(bot: Path) -> None:
    """Whatever was changed, the next start finds it, names the files, and plays what the digest stands for."""
    copy, digest, told = prepared(bot)
    assert told == ""
    was = {path: path.read_bytes() for path in Path(copy).rglob("*") if path.is_file()}
    for what, (change, name) in CHANGES.items():
        change(Path(copy))
        again, same, told = prepared(bot)
        assert (again, same) == (copy, digest), what
        assert told.startswith(
            f"note: bot: its copy in the cache is not as it was made, most likely the bot wrote to it: {name};"
        ), what
        assert {path: path.read_bytes() for path in Path(copy).rglob("*") if path.is_file()} == was, what
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
