"""The command as a shell sees it: exit codes, pipes that break, Ctrl-C, and what an installed wheel holds.

What each command says and does is tested with the command line, without processes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpleague import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., list[str]]

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs what only Linux has")


@pytest.fixture
def command() -> Command:
    """The argv of a command, run by this interpreter."""
    return lambda *arguments: [sys.executable, "-P", "-m", "warpleague", *map(str, arguments)]


@pytest.fixture
def make_bot(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a Python bot."""

    def make_bot(name: str, source: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.toml").write_text(
            f'name = "{name}"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n'
        )
        (folder / "bot.py").write_text(source)
        return folder

    return make_bot


@pytest.fixture
def first(make_bot: Callable[[str, str], Path]) -> Path:
    """A bot that always takes the first legal action."""
    return make_bot("first", "from warpline.client import run\nrun(lambda question: 0, wants=())\n")


def test_version_and_help(command: Command) -> None:
    """`--version` and `--help` succeed and say so on standard output."""
    version = subprocess.run(command("--version"), capture_output=True, text=True, check=True)
    assert version.stdout == f"warpleague {__version__}\n"
    shown = subprocess.run(command("--help"), capture_output=True, text=True, check=True)
    assert "reproduce" in shown.stdout


def test_bad_input_ends_with_2_and_no_traceback(command: Command) -> None:
    """The exit code and the streams are those promised, through a real process."""
    done = subprocess.run(command("match", "chess", "a", "b"), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("warpleague: no game is called 'chess'")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("games", "--json"),
        ("games",),
        ("match", "aliens", "{first}", "{first}", "--watch", "--option", "max_turns=6"),
    ],
    ids=["help", "json", "table", "watch"],
)
def test_a_reader_that_leaves_is_no_failure(
    command: Command, first: Path, arguments: tuple[str, ...]
) -> None:
    """When the reader of the output is gone (`| head`), the command ends quietly."""
    reading, writing = os.pipe()
    os.close(reading)
    argv = command(*(argument.format(first=first) for argument in arguments))
    try:
        done = subprocess.run(argv, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@LINUX
def test_a_full_disk_is_told(command: Command) -> None:
    """Output that cannot be written is a failure, in one line."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command("games", "--json"), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "warpleague: cannot write the output: no space left\n"


def test_a_closed_output_is_no_failure(command: Command, first: Path) -> None:
    """With standard output closed (`>&-`) a match is still played."""
    argv = command("match", "aliens", first, first, "--option", "max_turns=2")
    shell = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *argv]
    done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def ended(pids: list[int]) -> bool:
    """Whether none of the processes runs any more."""
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] != "Z":
                    return False
        except OSError:
            continue
    return True


@LINUX
@pytest.mark.parametrize("level", ["none", "limits"])
def test_ctrl_c_leaves_no_process(
    command: Command, make_bot: Callable[[str, str], Path], tmp_path: Path, level: str
) -> None:
    """SIGINT in the middle of a decision ends command and bots at once, with exit code 130 and one line."""
    fifo = tmp_path / "asked"
    os.mkfifo(fifo)
    # Both bots tell their process; the one that is asked then thinks for ever, deaf to everything.
    source = f"""
import os, signal
from warpline.client import run

told = os.open({str(fifo)!r}, os.O_WRONLY)
os.write(told, b"%d\\n" % os.getpid())

def choose(question):
    os.write(told, b"thinking\\n")
    while True:
        signal.pause()

run(choose, wants=())
"""
    bot = make_bot("thinker", source)
    record = tmp_path / "record.jsonl"
    argv = command(
        "match", "aliens", bot, bot, "--level", level, "--move-s", 600, "--start-s", 600, "--record", record
    )
    # A shell that starts something in the background has it ignore SIGINT; tests may be run by one.
    run = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    watchdog = threading.Timer(PATIENCE_S, run.kill)
    watchdog.start()
    try:
        with fifo.open() as lines:
            said = [lines.readline().strip() for _ in range(3)]
            run.send_signal(signal.SIGINT)
            out, err = run.communicate()
    finally:
        watchdog.cancel()
        run.kill()
    assert said[2] == "thinking"
    assert (run.returncode, out, err) == (130, "", "warpleague: interrupted\n")
    assert ended([int(pid) for pid in said[:2]])
    assert not record.exists()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel, built without a network from a copy of what belongs into it."""
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("harness", "protocol", "bots", "tests/bots", "leagues"):
        shutil.copytree(ROOT / folder, source / folder, ignore=ignored)
    (source / "results").mkdir()
    (source / "results" / "league.sqlite").touch()
    target = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, str(target)], cwd=source, check=True, stdout=subprocess.DEVNULL
    )
    (found,) = target.glob("*.whl")
    return found


def test_the_wheel_holds_what_the_program_needs(wheel: Path) -> None:
    """Starters, the bench's C program and type markers are in the wheel; tests, other bots and results are not."""
    names = set(zipfile.ZipFile(wheel).namelist())
    starters = {path.name for path in (ROOT / "bots").glob("random-*")} | {"first-c"}
    assert {f"warpleague/starters/{name}/bot.toml" for name in starters} <= names
    assert {"warpleague/cli/bench/pingpong.c", "warpleague/py.typed", "warpline/py.typed"} <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"warpleague", "warpline", f"warpleague-{__version__}.dist-info"}
    assert not [name for name in names if name.endswith((".sqlite", ".pyc"))]
    found = {name.split("/")[2] for name in names if name.startswith("warpleague/starters/")}
    assert found == starters


def test_bot_new_works_from_a_wheel(wheel: Path, tmp_path: Path) -> None:
    """Unpacked elsewhere, the program finds its starters and copies one."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    argv = [sys.executable, "-P", "-m", "warpleague", "bot", "new", str(tmp_path / "mine")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert 'name = "mine"' in (tmp_path / "mine" / "bot.toml").read_text()
    assert (tmp_path / "mine" / "bot.py").exists()
