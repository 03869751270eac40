"""The command as a shell sees it: exit codes, pipes that break, Ctrl-C, and what an installed wheel holds.

What each command says and does is tested with the command line, without processes.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import sysconfig
import threading
import venv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.waiting import PATIENCE_S

from warpleague import __version__

Command = Callable[..., list[str]]


ROOT = Path(__file__).parents[2]

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


@contextmanager
def unread() -> Iterator[int]:
    """A pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


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
    with unread() as output:
        argv = command(*(argument.format(first=first) for argument in arguments))
        done = subprocess.run(argv, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_verdict_does_not_depend_on_who_reads_it(
    command: Command, first: Path, make_bot: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """A run plays all matches, and a test of strength, a check and a verification end with their codes."""
    crash = make_bot("crash", "import sys\nsys.exit(7)\n")
    league = tmp_path / "league.toml"
    league.write_text(
        f"name = 'unread'\nbots = ['{first}', {{ path = '{first}', name = 'twin' }}]\n"
        "[game]\nid = 'aliens'\noptions = { max_turns = 2 }\n[format]\ndeals = 3\n[rules]\nlevel = 'none'\n"
    )
    store = ("--results", tmp_path)

    def unread_code(*arguments: object) -> int:
        with unread() as output:
            return subprocess.run(command(*arguments), stdout=output, stderr=output, check=False).returncode

    assert unread_code("league", "run", league, *store) == 0
    listed = subprocess.run(
        command("league", "matches", league, *store, "--json"), capture_output=True, check=True
    )
    assert [len(match["ranks"]) for match in json.loads(listed.stdout)] == [2] * 6
    assert unread_code("league", "verify", league, *store) == 0
    with closing(sqlite3.connect(tmp_path / "unread" / "league.sqlite")) as base, base:
        base.execute("UPDATE seat SET score = score + 1")
    assert unread_code("league", "verify", league, *store) == 1
    assert unread_code("bot", "check", crash, "--quick", "--level", "none") == 1


SIGNALS = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM})
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize("level", ["none", "limits"])
def test_signals_that_the_starter_ignores_or_blocks_change_nothing(
    command: Command, make_bot: Callable[[str, str], Path], level: str
) -> None:
    """A crash is told with its status, and the bot inherits nothing of what the starter did to signals."""
    crash = make_bot(
        "crash",
        "import signal, sys\n"
        "usual = not signal.pthread_sigmask(signal.SIG_BLOCK, ())\n"
        "usual &= {signal.getsignal(signal.SIGCHLD), signal.getsignal(signal.SIGUSR1)} == {signal.SIG_DFL}\n"
        "sys.exit(7 if usual else 8)\n",
    )
    match = command("match", "aliens", crash, crash, "--level", level)
    done = subprocess.run(
        [sys.executable, "-c", SIGNALS, *match], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout.count("exited with status 7") == 2


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
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.bin")
    for folder in ("harness", "protocol", "bots", "tests/bots", "leagues", "rounds", "docs", "scripts"):
        shutil.copytree(ROOT / folder, source / folder, ignore=ignored)
    (source / "results").mkdir()
    (source / "results" / "league.sqlite").touch()
    target = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, str(target)], cwd=source, check=True, stdout=subprocess.DEVNULL
    )
    (found,) = target.glob("*-py3-none-any.whl")
    if shutil.which("cc") is not None:
        subprocess.run(
            [sys.executable, "-c", build, str(target)],
            cwd=source,
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "WARPLEAGUE_COMPILE": "1"},
        )
    return found


def test_a_wheel_has_the_part_in_c_if_asked_for(wheel: Path) -> None:
    """It then says on which systems it runs; the wheel that is built by default runs everywhere."""
    compiled = [path for path in wheel.parent.glob("*.whl") if path != wheel]
    if not compiled:
        pytest.skip("no C compiler")
    assert "-py3-none-linux_" in compiled[0].name or sys.platform != "linux"
    more = set(zipfile.ZipFile(compiled[0]).namelist()) - set(zipfile.ZipFile(wheel).namelist())
    assert more == {"warpleague/runner/confine/enter.bin"}


def test_the_wheel_holds_what_a_user_needs(wheel: Path) -> None:
    """All bots, leagues and pages, and type markers are in the wheel; tests are not."""
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        script = packed.getinfo("warpleague/shipped/rounds/agents/steps.sh")
    assert script.external_attr >> 16 & 0o111  # or pip would install a script that cannot be run
    wanted = {"warpleague/py.typed", "warpline/py.typed"}
    for pattern in (
        "bots/*/bot.toml",
        "leagues/*.toml",
        "rounds/*.toml",
        "rounds/*/*.*",
        "docs/**/*.md",
        "protocol/SPEC.md",
        "README.md",
    ):
        found = [path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)]
        assert found, pattern
        wanted |= {f"warpleague/shipped/{path}" for path in found}
    assert wanted - names == set()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"warpleague", "warpline", f"warpleague-{__version__}.dist-info"}
    assert not [name for name in names if name.endswith((".sqlite", ".pyc")) or "tests" in name]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel in it; what the wheel depends on is lent by this one."""
    pytest.importorskip("pip", reason="pip is not installed")
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    options = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-compile")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", *options, wheel],
        check=True,
        timeout=PATIENCE_S,
    )
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python.parent


def test_an_installed_wheel_needs_no_checkout(installed: Path, tmp_path: Path) -> None:
    """In an empty folder, a wheel finds the bots, leagues and pages that come with it, and starts new bots."""

    def told(*arguments: str) -> str:
        done = subprocess.run(
            [installed / "warpleague", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = {bot["name"]: bot["folder"] for bot in json.loads(told("bot", "list", "--json"))}
    assert {path.parent.name for path in (ROOT / "bots").glob("*/bot.toml")} <= listed.keys()
    assert all(Path(folder).is_relative_to(installed.parent) for folder in listed.values())
    assert "bots/aliens-greedy" in told("bot", "list")
    told("bot", "list", "bots/opponents")
    match = json.loads(told("match", "sheets", "bots/sheets-greedy", "bots/random-python", "--json"))
    assert match["seats"] == ["sheets-greedy", "random-python"]
    told("bot", "new", "mine")
    (tmp_path / "mine.toml").write_text(
        'bots = ["mine", "bots/random-python"]\n[game]\nid = "sheets"\nplayers = 2\n', encoding="utf-8"
    )
    assert "2 matches played" in told("league", "run", "mine.toml")
    assert (
        json.loads(told("league", "commit", "leagues/demo-sheets.toml", "--json"))["league"] == "demo-sheets"
    )
    assert told("docs", "write-a-bot").startswith("# Write a bot\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "mine.toml", "results"]


def test_pages_say_what_needs_a_checkout(installed: Path, tmp_path: Path) -> None:
    """From a wheel, links to the source are told to lead nowhere; so is a page on how to change the source."""
    told = [
        subprocess.run(
            [installed / "warpleague", "docs", page],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        for page in ("architecture", "contributing")
    ]
    assert [done.returncode for done in told] == [0, 2]
    assert told[0].stdout.startswith("# Architecture\n")
    assert all("only a checkout of the project has" in done.stderr for done in told)
