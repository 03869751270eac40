"""Builds as strangers write them: what they reach, what they may take, what is left of them.

What a failing build is told by the commands is tested with the command line.
"""

import json
import os
import resource
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.trees import nest
from tests.waiting import PATIENCE_S

import warpleague.runner.bundle.build as building
from warpleague.cli import main
from warpleague.errors import BotError, BuildError, HarnessFault
from warpleague.match.spec import Conditions, Level
from warpleague.runner.bundle import bundle as bundles
from warpleague.runner.bundle import cache as staging
from warpleague.runner.bundle.build import CommandLimits
from warpleague.runner.bundle.bundle import find_bundle, prepare
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.checkup import Checkup, check_bot
from warpleague.runner.confine.sandbox import Sandbox
from warpleague.runner.doctor import check_level, with_token
from warpleague.runner.tree import remove_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="levels are kept on Linux")

CONFINED = ("limits", "sandbox")


@pytest.fixture(params=CONFINED)
def level(request: pytest.FixtureRequest) -> Level:
    """Each level that confines a build, where this machine can give it."""
    return request.param


class Maker:
    """Writes bots whose builds run some Python or a shell's script, with limits, and a cache of their own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch, self.count = folder, patch, 0
        self.cache = folder / "cache"
        patch.setenv("WARPLEAGUE_CACHE", str(self.cache))

    def __call__(self, code: str = "", *, shell: str | None = None) -> Path:
        """Write a bot; its folder."""
        folder = self.folder / f"bot{self.count}"
        self.count += 1
        folder.mkdir()
        build = ["python3", "-I", "build.py"] if shell is None else ["/bin/sh", "-c", shell]
        (folder / "build.py").write_text(code)
        (folder / "bot.toml").write_text(
            f'name = "bot"\ngames = ["aliens"]\nrun = ["python3", "build.py"]\nbuild = {json.dumps(build)}\n'
        )
        return folder

    def limit(self, **limits: Any) -> None:
        """Set limits of builds."""
        self.patch.setattr(building, "LIMITS", CommandLimits(**limits))

    def cached(self) -> list[str]:
        """The names of what is in the cache, but for the seals of the copies."""
        names = (path.name for folder in self.cache.glob("*") for path in folder.iterdir())
        return sorted(name for name in names if not name.endswith(".seal"))


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    return Maker(tmp_path, monkeypatch)


@pytest.fixture
def token() -> str:
    """So many seconds that a `sleep` with it goes on for years, and can be told from all others by it."""
    return f"{10**9 + secrets.randbelow(10**9)}.{secrets.randbelow(10**9):09}"


def gone(token: str, within_s: float = PATIENCE_S) -> bool:
    """Whether no process with `token` is left, now or soon."""
    deadline = time.monotonic() + within_s
    while with_token(token):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


# What a build reaches


def test_the_network_is_out_of_reach(sandboxed: None, make: Maker) -> None:
    """In the sandbox a build reaches no server of this machine, by address or by an abstract name."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as hidden:
        name = f"warpleague-test-{secrets.token_hex(8)}"
        hidden.bind("\0" + name)
        hidden.listen()
        code = f"""
import socket
for family, address in ((socket.AF_INET, ("127.0.0.1", {server.getsockname()[1]})), (socket.AF_UNIX, "\\0{name}")):
    try:
        socket.socket(family).connect(address)
    except OSError:
        continue
    raise SystemExit("reached")
"""
        prepare(make(code), "sandbox")
        with pytest.raises(BotError, match="reached"):
            prepare(make(code + "\n"), "none")


def test_only_its_folder_can_be_written(sandboxed: None, make: Maker, tmp_path: Path) -> None:
    """In the sandbox a build writes to its copy and to a scratch space of its own, and sees no file of ours."""
    (tmp_path / "secret").write_text("secret")
    code = f"""
import os, pathlib
reached = []
for place in ("/", "/usr", "/usr/bin", "/etc", "/source", "/dev", "/proc", "/run", "/var", {str(tmp_path)!r}):
    try:
        pathlib.Path(place, "written").write_text("x")
        reached.append(place)
    except OSError:
        pass
if os.path.exists({str(tmp_path)!r}):
    reached.append("ours")
assert os.getuid() != 0 or not reached, reached
assert not reached, reached
pathlib.Path("/tmp/scratch").write_text("x")
pathlib.Path("made").write_text("x")
"""
    folder = make(code)
    bundle = prepare(folder, "sandbox")
    assert sorted(os.listdir(bundle.cwd)) == ["bot.toml", "build.py", "made"]
    assert not (folder / "made").exists()


def test_a_confined_build_has_a_clean_environment(
    level: Level, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the harness's environment is there, and HOME and TMPDIR can be written to; at none all is there."""
    monkeypatch.setenv("WARPLEAGUE_TEST_SECRET", "x")
    code = """
import os, pathlib, tempfile
pathlib.Path.home().joinpath("cache").write_text("x")
tempfile.TemporaryFile().close()
raise SystemExit("seen" if "WARPLEAGUE_TEST_SECRET" in os.environ else 0)
"""
    bundle = prepare(make(code), level)
    assert "cache" not in os.listdir(bundle.cwd)
    with pytest.raises(BotError, match="seen"):
        prepare(make(code.replace('.joinpath("cache").write_text("x")', "")), "none")


def test_a_script_finds_the_programs_that_the_manifest_would(
    level: Level, make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's `PATH` counts, as far as it can be seen; where a program is not found, its folders are told."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("mycompiler", "uname"):
        (tools / name).write_text("#!/bin/sh\necho mine >made\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:relative:/usr/lib:{os.environ['PATH']}")
    for name in ("mycompiler", "uname"):  # the system has one of them, too, which the user's comes before
        if level == "limits":
            assert (Path(prepare(make(shell=name), level).cwd) / "made").read_text() == "mine\n"
    tried = make(shell="true; yourcompiler" if level == "limits" else "mycompiler; exit 3")
    with pytest.raises(BotError, match=r"compiler: .*not found\nnote: it looked for programs in") as caught:
        prepare(tried, level)
    assert (str(tools) in str(caught.value)) == (level == "limits")
    assert "relative" not in str(caught.value)
    assert "/usr/lib:" in str(caught.value)


# What a build may take


def test_a_build_that_hangs_is_ended(make: Maker, level: Level, token: str) -> None:
    """A build that does not end is killed with all it started once its time is up, and told with what it had said."""
    folder = make(shell=f"echo half done; sleep {token} & sleep {token}")
    for seconds in (0.7, 5, 40):  # on a busy machine it may take a while to get that far
        make.limit(seconds=seconds)
        with pytest.raises(BotError, match=rf"building bot took more than {seconds:g} s: ") as caught:
            prepare(folder, level)
        assert gone(token)
        assert make.cached() == []
        if "half done" in str(caught.value):
            break
    else:
        pytest.fail("what it had said is not told")


def test_even_without_confinement_a_build_is_waited_for_in_vain_only_once(make: Maker) -> None:
    """At none, too, a build that hangs, with its output closed, is ended when its time is up."""
    make.limit(seconds=0.5)
    with pytest.raises(BotError, match=r"took more than 0\.5 s"):
        prepare(make(shell="exec >&- 2>&-; sleep 100"), "none")


@pytest.mark.parametrize("shell", ["sleep {0} &", "setsid sh -c '(trap \"\" TERM HUP; sleep {0}; :) &'"])
@pytest.mark.parametrize("level", ["none", *CONFINED])
def test_what_a_build_leaves_running_is_killed(level: Level, shell: str, make: Maker, token: str) -> None:
    """A process left in the background, and a daemon that holds the pipes, are not waited for, and die."""
    bundle = prepare(make(shell=shell.format(token) + "\ntouch made"), level)
    assert (Path(bundle.cwd) / "made").exists()
    assert gone(token)


@pytest.mark.parametrize(
    "shell",
    [
        "dd if=/dev/zero of=big bs=1M count=64",
        "exec 3>big; rm big; dd if=/dev/zero bs=1M count=64 >&3",
        "i=0; while [ $i -lt 64 ]; do dd if=/dev/zero of=big$i bs=1M count=1 || exit 1; i=$((i+1)); done",
        "cat /dev/zero >&1 >/proc/$PPID/fd/1",
        "dd if=/dev/zero of=/tmp/big bs=1M count=64",
    ],
)
def test_the_disk_cannot_be_filled(sandboxed: None, shell: str, make: Maker) -> None:
    """In the sandbox a build gets so much space and no more, in files, deleted ones, scratch space and its result."""
    make.limit(folder_mb=8, tmp_mb=8, seconds=5)
    # Where the build is no other user than its shell, that one's output can be flooded, which costs time alone.
    with pytest.raises(BotError, match=r"building bot (failed|made|took more than)"):
        prepare(make(shell=shell), "sandbox")
    assert make.cached() == []


def test_a_file_without_end_is_stopped_at_limits(make: Maker) -> None:
    """At limits one file has a limit of its own, and all files together are looked at."""
    make.limit(folder_mb=8)
    with pytest.raises(BotError, match=r"limit exceeded|made more than 8 MiB"):  # who looks first
        prepare(make(shell="dd if=/dev/zero of=big bs=1M count=64; exit 1"), "limits")
    many = "for i in 1 2 3 4; do dd if=/dev/zero of=big$i bs=1M count=6; done; sleep 100"
    with pytest.raises(BotError, match="building bot made more than 8 MiB of files"):
        prepare(make(shell=many), "limits")


def test_memory_is_limited(level: Level, make: Maker) -> None:
    """One process is refused more than its share, and several together are ended."""
    make.limit(memory_mb=64)
    with pytest.raises(BotError, match="MemoryError"):
        prepare(make("x = bytearray(400 << 20)"), level)
    code = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        break
x = bytearray(b"x") * (40 << 20)
time.sleep(100)
"""
    with pytest.raises(BotError, match=r"building bot took .* MiB of memory, more than 64 MiB"):
        prepare(make(code), level)


def test_a_build_gets_by_with_fewer_open_files_where_we_may_have_no_more(
    sandboxed: None, make: Maker
) -> None:
    """In the sandbox a build runs also where the harness itself may open fewer files than a build usually may."""
    ours = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = 300 if ours == resource.RLIM_INFINITY else min(300, ours)
    code = f"import resource; assert resource.getrlimit(resource.RLIMIT_NOFILE) == ({most}, {most})"
    prepare_it = "import sys; from pathlib import Path; from warpleague.runner.bundle.bundle import prepare; "
    prepare_it += "prepare(Path(sys.argv[1]), 'sandbox')"
    shell = ["/bin/sh", "-c", f'ulimit -n {most} && exec "$@"', "sh", sys.executable, "-c", prepare_it]
    done = subprocess.run([*shell, str(make(code))], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_processes_are_limited(sandboxed: None, make: Maker) -> None:
    """In the sandbox a build has so many processes at once, and no more."""
    make.limit(processes=12)
    code = """
import os, time
try:
    for number in range(40):
        if os.fork() == 0:
            time.sleep(100)
except OSError:
    raise SystemExit(f"stopped at {number}")
"""
    with pytest.raises(BotError, match=r"stopped at (9|10|11)\b"):
        prepare(make(code), "sandbox")


def test_of_much_output_the_end_is_told(level: Level, make: Maker) -> None:
    """A talkative build that fails is told with its exit status and the end of what it said, escaped."""
    code = "print('line\\n' * 300_000 + '\\x1b[1mlast words', flush=True); raise SystemExit(7)"
    with pytest.raises(BotError) as caught:
        prepare(make(code), level)
    text = str(caught.value)
    assert "building bot failed (exit status 7)" in text
    assert text.endswith("\\x1b[1mlast words")
    assert len(text) < 6000


def test_a_build_killed_by_a_signal_is_told(level: Level, make: Maker) -> None:
    """How a build ended is in the error, signals too."""
    with pytest.raises(BotError, match=r"building bot failed \(killed by signal 9\)"):
        prepare(make(shell="kill -9 $$"), level)


# What comes out


def test_a_build_cannot_rewrite_what_its_author_said(level: Level, make: Maker) -> None:
    """The manifest in the bundle is the author's, whatever the build made of it."""
    for shell in (
        "echo 'x' > bot.toml",
        "rm bot.toml; mkdir bot.toml; touch bot.toml/x",
        "ln -sf /etc/passwd bot.toml",
    ):
        folder = make(shell=shell)
        if level == "sandbox" and "ln" in shell:
            with pytest.raises(BotError, match="a link that leads out of the folder"):
                prepare(folder, level)
            continue
        made = Path(prepare(folder, level).cwd) / "bot.toml"
        assert not made.is_symlink()
        assert made.read_text() == (folder / "bot.toml").read_text()


def test_a_result_is_plain_files_that_all_can_read(sandboxed: None, make: Maker) -> None:
    """Owners, set-user-id bits and closed files do not come out of the sandbox; links inside the folder do."""
    shell = "umask 077; echo x >f; cp /bin/true p; chmod 6755 p; ln f hard; ln -s d/../f soft; mkdir -m 700 d"
    bundle = prepare(make(shell=shell), "sandbox")
    found = {path.name: path for path in Path(bundle.cwd).iterdir()}
    assert {name: stat.S_IMODE(path.stat().st_mode) for name, path in found.items()} == {
        **dict.fromkeys(("bot.toml", "build.py", "f", "hard", "soft"), 0o644),
        **dict.fromkeys(("p", "d"), 0o755),
    }
    assert {path.lstat().st_uid for path in found.values()} == {os.getuid()}
    assert found["hard"].read_text() == found["soft"].read_text() == "x\n"
    assert found["soft"].is_symlink()


@pytest.mark.parametrize(
    ("shell", "text"),
    [
        ("ln -s /etc/passwd x", "a link that leads out of the folder, to /etc/passwd"),
        ("mkdir d; ln -s .. d/up; ln -s d/up/../.. x", "a link that leads out of the folder"),
        ("ln -s x x", "x, a link that leads in circles"),
        ("mkfifo x", "x, which is neither a file nor a folder nor a link"),
        ("cd ..; rm -rf /bot/* /bot/.[a-z]*; kill -9 $PPID", "failed (killed by signal 9)"),
    ],
)
def test_what_no_bundle_may_hold_is_refused(sandboxed: None, shell: str, text: str, make: Maker) -> None:
    """Links out of the folder, pipes, and paths without end are told, and nothing of them is kept."""
    with pytest.raises(BotError) as caught:
        prepare(make(shell=shell), "sandbox")
    assert text in str(caught.value)
    assert make.cached() == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (
            "for _ in range(1100): os.mkdir('deep'); os.chdir('deep')\nopen('x', 'w')",
            "folders nested more than 100 deep",
        ),
        ("for _ in range(90): os.mkdir('d' * 99); os.chdir('d' * 99)", "a path that is too long"),
        ("open(b'\\xff', 'w')", r"the name b'\\xff', which is not UTF-8"),
    ],
)
def test_what_others_could_not_read_is_the_builds_failure(
    level: Level, code: str, text: str, make: Maker
) -> None:
    """Deep folders, long paths and names that are no text are told of, and nothing of them stays in the cache."""
    with pytest.raises(BuildError, match=f"building bot made {text}"):
        prepare(make(f"import os\n{code}"), level)
    assert make.cached() == []


def test_a_copy_that_its_bot_filled_with_folders_is_made_again(make: Maker) -> None:
    """Below sandbox a bot may nest folders in its own copy, and remove its seal: it is listed and made again."""
    folder = make(shell="true")
    bundle = prepare(folder, "limits")
    nest(Path(bundle.cwd))
    staging.HELD.release()
    assert [entry.name for entry in staging.cached_bundles()] == ["bot"]
    for gone in ("deep", f"../{Path(bundle.cwd).name}.seal"):
        remove_tree(Path(bundle.cwd, gone))
        nest(Path(bundle.cwd))
        bundle = prepare(folder, "limits")
        assert sorted(os.listdir(bundle.cwd)) == ["bot.toml", "build.py"]
        staging.HELD.release()
    nest(Path(bundle.cwd))
    assert staging.remove_bundle(Path(bundle.cwd))
    assert make.cached() == []


# The cache


def test_a_bot_is_built_once_for_each_level(make: Maker, sandboxed: None, tmp_path: Path) -> None:
    """A build that succeeded at one level may fail at another one, which shows however often it succeeded before."""
    folder = make(shell=f"echo built >> {tmp_path / 'log'} && touch made")
    first = prepare(folder, "limits")
    assert prepare(folder, "limits") == first
    assert prepare(folder, "none").digest == first.digest
    assert (tmp_path / "log").read_text() == "built\n" * 2
    with pytest.raises(BotError, match=r"failed \(exit status \d+\) in the sandbox, where it has no network"):
        prepare(folder, "sandbox")
    found = find_bundle(first.digest)
    assert found is not None
    assert found == first
    stem = first.digest[:32]
    assert make.cached() == [f"{stem}-limits", f"{stem}-none"]


def test_a_bot_without_a_build_is_copied_once(make: Maker) -> None:
    """Its copy is the same at all levels."""
    folder = make()
    (folder / "bot.toml").write_text('name = "bot"\ngames = ["aliens"]\nrun = ["python3", "build.py"]\n')
    assert prepare(folder, "limits") == prepare(folder, "none") == prepare(folder, "sandbox")
    assert make.cached() == [folder_digest(folder)[:32]]


def test_long_names_and_closed_files_come_out_of_a_build(level: Level, make: Maker) -> None:
    """What compilers and package managers leave is kept at each level, whatever its names and permissions are."""
    name, deep = "Main$anon$" + "_" * 120 + ".class", "/".join(["some-package"] * 30)
    code = f"""
from pathlib import Path
Path({name!r}).write_text("x")
Path({deep!r}).mkdir(parents=True)
Path({deep!r}, "Some.class").write_text("x")
Path("closed").mkdir()
Path("closed", "model").write_text("x")
Path("closed", "model").chmod(0)
Path("closed").chmod(0)
"""
    found = Path(prepare(make(code), level).cwd)
    for path in (name, f"{deep}/Some.class", "closed/model"):
        assert (found / path).read_text() == "x"
        assert (found / path).stat().st_mode & 0o400
    assert (found / "closed").stat().st_mode & 0o700 == 0o700


def test_a_copy_depends_on_its_digest_alone(make: Maker, tmp_path: Path) -> None:
    """Permissions that the digest does not tell apart are the same in every copy."""
    folder = make(shell="true")
    (folder / "sub").mkdir(mode=0o700)
    (folder / "sub" / "file").write_text("x")
    (folder / "sub" / "file").chmod(0o600)
    (folder / "build.py").chmod(0o710)
    found = Path(prepare(folder).cwd)
    modes = [stat.S_IMODE((found / name).stat().st_mode) for name in ("sub", "sub/file", "build.py")]
    assert modes == [0o755, 0o644, 0o755]


@pytest.mark.parametrize("level", CONFINED)
def test_what_a_killed_harness_leaves_goes_at_the_next_start(
    level: Level,
    make: Maker,
    token: str,
) -> None:
    """Killed during a build, the harness leaves no process; its draft goes when this or any bot is prepared."""
    folder = make(shell=f"test -e half && exit 3; touch half; exec sleep {token}")
    stem = f"{folder_digest(folder)[:32]}-{level}"

    def start_and_kill() -> None:
        code = "import sys; from pathlib import Path; from warpleague.runner.bundle.bundle import prepare; "
        code += "prepare(Path(sys.argv[1]), sys.argv[2])"
        before = make.cached()
        with subprocess.Popen([sys.executable, "-c", code, str(folder), level]) as harness:
            while not any(pid != harness.pid and b"sleep" in command(pid)[:20] for pid in with_token(token)):
                assert harness.poll() is None
            harness.kill()
        assert gone(token)
        assert set(make.cached()) == {*before, stem + ".draft", stem + ".lock"}

    start_and_kill()
    other = prepare(make(shell="true"), level)
    assert make.cached() == [Path(other.cwd).name]
    start_and_kill()
    make.limit(seconds=0.5)
    with pytest.raises(BotError, match=r"took more than 0\.5 s"):
        prepare(folder, level)
    assert make.cached() == [Path(other.cwd).name]


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_draft_in_use_is_left_alone(tmp_path: Path) -> None:
    """Cleaning up does not touch the draft of someone who still builds; afterwards lock and draft are gone."""
    with staging.staging_folder(tmp_path / "bot") as mine:
        mine.mkdir()
        (mine / "file").touch()
        assert staging.remove_drafts(tmp_path) == 0
        assert (mine / "file").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_resists_removal_is_removed(tmp_path: Path) -> None:
    """A draft with closed folders, or deeper than Python follows, goes all the same."""
    folder = tmp_path / "bot.draft"
    (folder / "closed" / "inner").mkdir(parents=True)
    (folder / "closed").chmod(0)
    within = os.open(folder, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=within)
        above, within = within, os.open("d", os.O_RDONLY, dir_fd=within)
        os.close(above)
    os.close(within)
    assert staging.remove_drafts(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


# Which level is asked for


def test_each_command_builds_at_the_level_it_was_asked_for(
    make: Maker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`match`, `bot check` and `league run` build at the level of the match."""
    levels = []

    def build(job: Any, level: Level) -> None:
        del job
        levels.append(level)
        raise BotError("far enough")

    monkeypatch.setattr(bundles, "build_bot", build)
    folder = make(shell="true")
    for level in ("none", "limits", "sandbox"):
        assert main(["match", "aliens", str(folder), str(folder), "--level", level]) == 2
        assert not check_bot(folder, Checkup(conditions=Conditions(level=level)))
        (tmp_path / "cup.toml").write_text(
            f'bots = ["{folder}", {{ path = "{folder}", name = "b" }}]\n'
            f'[game]\nid = "aliens"\n[rules]\nlevel = "{level}"\n'
        )
        command = ["league", "run", str(tmp_path / "cup.toml"), "--results", str(tmp_path / level)]
        assert main(command) == 2
    # A league goes on to its second bot, to tell of both.
    assert levels == ["none"] * 4 + ["limits"] * 4 + ["sandbox"] * 4
    assert "far enough" in capsys.readouterr().err


def test_a_sandbox_that_fails_is_not_the_builds_fault(
    sandboxed: None, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sandbox that is killed is a failure of the harness or its host, and leaves nothing behind."""
    enter = Sandbox.enter

    def enter_and_kill(self: Any, process: Any) -> None:
        enter(self, process)
        os.kill(process.pid, signal.SIGKILL)

    check_level("sandbox")
    monkeypatch.setattr(Sandbox, "enter", enter_and_kill)
    with pytest.raises(HarnessFault, match="the sandbox to build bot in failed"):
        prepare(make(shell="sleep 100"), "sandbox")
    assert make.cached() == []


@pytest.mark.parametrize("program", ["cc", "rustc", "javac", "go"])
def test_compilers_work(program: str, level: Level, make: Maker, tmp_path: Path) -> None:
    """Every compiler that is installed here compiles at every level."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    folder = make()
    sources = {
        "cc": (
            "main.c",
            '#include <stdio.h>\nint main(void) { return puts("x") < 0; }\n',
            ["-o", "x", "main.c"],
        ),
        "rustc": ("main.rs", 'fn main() { println!("x"); }\n', ["-o", "x", "main.rs"]),
        "javac": ("Main.java", "class Main {}\n", ["Main.java"]),
        "go": ("main.go", "package main\nfunc main() {}\n", ["build", "-o", "x", "main.go"]),
    }
    name, source, arguments = sources[program]
    (folder / name).write_text(source)
    manifest = folder / "bot.toml"
    lines = [line for line in manifest.read_text().splitlines() if not line.startswith("build")]
    manifest.write_text("\n".join([*lines, f"build = {json.dumps([program, *arguments])}\n"]))
    made = set(os.listdir(prepare(folder, level).cwd))
    assert made & {"x", "Main.class"}
