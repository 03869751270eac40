"""What becomes of the trial of a level when somebody kills the probe."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from warpleague.errors import BadInput
from warpleague.match.spec import Level
from warpleague.runner import doctor
from warpleague.runner.bot.process import BotProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="levels are tried on Linux only")


@pytest.fixture
def kill_probes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Has the first `times` probes killed before they are asked; gives the list of those that were asked."""

    def kill(times: int, whom: Callable[[BotProcess], int], number: int = signal.SIGKILL) -> list[int]:
        asked: list[int] = []
        ask = BotProcess.ask

        async def kill_and_ask(self: Any, *args: Any, **more: Any) -> Any:
            asked.append(self.pid)
            if len(asked) <= times:
                os.kill(whom(self), number)
            return await ask(self, *args, **more)

        monkeypatch.setattr(BotProcess, "ask", kill_and_ask)
        doctor.check_level.cache_clear()
        return asked

    yield kill
    doctor.check_level.cache_clear()


def first(bot: BotProcess) -> int:
    """What was started for the bot: in a sandbox, bubblewrap."""
    return bot.pid


def innermost(bot: BotProcess) -> int:
    """What runs for the bot now: in a sandbox, the first process in it."""
    return bot.child.processes()[0]


@pytest.mark.parametrize("whom", [first, innermost])
@pytest.mark.parametrize("level", ["limits", "sandbox"])
def test_a_probe_killed_from_outside_is_tried_again(
    level: Level, whom: Callable[[BotProcess], int], kill_probes: Callable[..., list[int]]
) -> None:
    """One kill of the probe, or of its sandbox, does not end anything: the level is tried once more, and holds."""
    asked = kill_probes(1, whom)
    assert doctor.check_level(level).holds
    assert len(asked) == 2


@pytest.mark.parametrize("level", ["limits", "sandbox"])
def test_a_probe_killed_twice_is_told(level: Level, kill_probes: Callable[..., list[int]]) -> None:
    """A second kill has a cause: the level is refused, with how the probe ended, and not tried a third time."""
    asked = kill_probes(9, first)
    with pytest.raises(BadInput, match=f"level {level} does not hold on this machine: .*(SIGKILL|status -9)"):
        doctor.check_level(level)
    assert len(asked) == 2


def test_a_probe_that_dies_of_itself_is_not_tried_again(kill_probes: Callable[..., list[int]]) -> None:
    """A signal that follows from what the probe does is a finding, and the first one counts."""
    asked = kill_probes(9, first, signal.SIGSEGV)
    with pytest.raises(BadInput, match=r"SIGSEGV|was not run"):
        doctor.check_level("limits")
    assert len(asked) == 1


@pytest.mark.parametrize("command", [("doctor", "--level", "limits"), ("match", "aliens", "{bot}", "{bot}")])
def test_too_few_descriptors_are_named(command: tuple[str, ...]) -> None:
    """Where a process may open few files, that is the error, and not that a level does not hold."""
    bot = str(Path(__file__).parents[2] / "bots" / "random-python")
    words = [word.format(bot=bot) for word in command]
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)); "
        "from warpleague.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, *words], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2
    assert "this process may open 24 files; Warp League needs 64: `ulimit -n 64`" in done.stderr
    assert "does not hold" not in done.stderr
    assert "Traceback" not in done.stderr


def test_folders_of_killed_probes_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next trial removes a folder that a killed one left, but none that is new or that somebody locks."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, locked, new = (tmp_path / f"warpleague-probe-{name}" for name in ("left", "locked", "new"))
    for folder in (left, locked, new):
        (folder / "bot").mkdir(parents=True)
        (folder / "bot" / "probe.py").touch()
    for folder in (left, locked):
        os.utime(folder, (1e9, 1e9))
    handle = os.open(locked, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert doctor.examine("limits").holds
    finally:
        os.close(handle)
    assert sorted(tmp_path.iterdir()) == [locked, new]


def run_python(code: str) -> str:
    """What a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def test_too_few_processes_are_named() -> None:
    """They are the error, and not the level, with what allows more; nobody limits the processes of root."""
    said = run_python(
        "import os, resource\n"
        "from warpleague.errors import BadInput\n"
        "from warpleague.runner.host import check_own_limits\n"
        "if os.geteuid() == 0:\n"
        "    os.setresuid(54321, 54321, 54321)\n"
        "resource.setrlimit(resource.RLIMIT_NPROC, (3, 3))\n"
        "try:\n"
        "    check_own_limits('limits')\n"
        "except BadInput as error:\n"
        "    print(error)\n"
    )
    assert re.match(
        r"this process may start [0-2] processes; Warp League needs 8 at level limits: `ulimit -u`", said
    )


@pytest.mark.parametrize(
    ("limit", "error", "text"),
    [
        ("AS, (1 << 32, 1 << 32)", "MemoryError()", "it may use 4096 MiB of memory: `ulimit -v`"),
        ("NOFILE, (50, 50)", "OSError(errno.EMFILE, '')", "it may open 50 files: `ulimit -n`"),
        ("NOFILE, (50, 50)", "OSError(errno.EAGAIN, '')", "it may start no more processes: `ulimit -u`"),
    ],
)
def test_what_is_too_little_comes_with_its_remedy(limit: str, error: str, text: str) -> None:
    """The limit of the process, and the command that allows more."""
    said = run_python(
        "import errno, resource\n"
        "from warpleague.runner.host import shortage\n"
        f"resource.setrlimit(resource.RLIMIT_{limit})\n"
        f"print(shortage({error}))\n"
    )
    assert said.startswith(text)
