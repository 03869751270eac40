"""Leagues on a real Dask cluster: workers that come late, die, freeze, or are unfit, and a scheduler that dies."""

import asyncio
import contextlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.soak.dask_processes import DaskProcesses
from tests.waiting import PATIENCE_S, wait_until

import warpleague
import warpline
from warpleague.games import load_game
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, TimeControl
from warpleague.runner.bundle.bundle import find_bundle, pack_bundle, prepare

# To import it would take each process of the tests a second.
if importlib.util.find_spec("distributed") is None:
    pytest.skip("distributed is not installed", allow_module_level=True)

CONFIG = """
name = "spread"
seed = "spread"
bots = ["slow", { path = "slow", name = "twin" }]
[game]
id = "aliens"
options = { max_turns = 4 }
[format]
deals = 12
dice = "shared"
[clock]
move_s = 600.0
start_s = 600.0
"""
HOLD = """
    if question.id == 1:
        hold()
    return"""
HELD = """import time
from contextlib import suppress
from pathlib import Path
from random import Random

FOLDER = Path({folder!r})


def hold():
    for name in ("first", "second", "third", "fourth"):
        with suppress(FileNotFoundError):
            return (FOLDER / name).unlink()
    while not (FOLDER / "go").exists():
        time.sleep(0.01)
"""

BACKWARDS = """import os, time
wall = time.time
time.time = lambda: 2 * os.path.getmtime({file!r}) - wall() if os.path.exists({file!r}) else wall()
"""


@pytest.fixture
def dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DaskProcesses]:
    # The profiler would look 100 times a second.
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")
    cluster = DaskProcesses(tmp_path)
    yield cluster
    cluster.end()


@pytest.fixture
def config(tmp_path: Path, bots: Path) -> Path:
    """A league of 24 short matches. Two of them are played; the bots of the others wait for `go`."""
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "bot.toml").write_text((bots / "random-python" / "bot.toml").read_text())
    for name in ("first", "second", "third", "fourth"):
        (tmp_path / name).touch()
    text = (bots / "random-python" / "bot.py").read_text()
    text = text.replace("from random import Random\n", HELD.format(folder=str(tmp_path)))
    (slow / "bot.py").write_text(text.replace("\n    return", HOLD))
    path = tmp_path / "spread.toml"
    path.write_text(CONFIG)
    return path


def go(config: Path) -> None:
    """Have the bots that wait play on."""
    config.with_name("go").touch()


def run(config: Path, *more: str, results: str = "results") -> subprocess.Popen[bytes]:
    """The league's run; what it says goes to the file that `said` reads."""
    command = [sys.executable, "-P", "-m", "warpleague", "league", "run", str(config), "--quiet"]
    folder = ("--results", str(config.parent / results))
    with config.with_suffix(".said").open("wb") as file:
        return subprocess.Popen([*command, *folder, *more], stdout=file, stderr=file)


def said(config: Path) -> str:
    return config.with_suffix(".said").read_text()


def count(config: Path) -> int:
    """How many matches are stored."""
    path = config.parent / "results" / "spread" / "league.sqlite"
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as store:
            found: int = store.execute("SELECT count(*) FROM match").fetchone()[0]
            return found
    except sqlite3.Error:
        return 0  # it is only being made


def test_workers_come_and_go(dask: DaskProcesses, config: Path) -> None:
    """The matches of a frozen or killed worker are played by others, with other dice; the rest as without a cluster.

    A worker that comes back ends its bots, which know shared dice, before it gets matches again; one that joins late
    gets some; one that has another program gets none.
    """
    frozen, killed = dask.worker(), dask.worker()
    dask.worker(PYTHONPATH=altered(dask.folder, "warpleague/match/chance.py", "# other dice\n"))
    wait_for_workers(dask)
    league = run(config, "--cluster", dask.address)
    wait_until(lambda: count(config) > 0)
    frozen.send_signal(signal.SIGSTOP)
    wait_until(lambda: "has been silent since" in said(config))
    assert "others play its matches" in said(config)
    frozen.send_signal(signal.SIGCONT)
    wait_until(lambda: "answers again" in said(config))
    dask.worker()
    wait_until(lambda: "joined, 1 match at a time" in said(config))
    killed.send_signal(signal.SIGKILL)
    wait_until(lambda: "was lost; others play its matches" in said(config))
    go(config)
    assert league.wait(PATIENCE_S) == 0
    assert "gets no matches: the source of warpleague (changed, or of another commit)" in said(config)
    assert results(config) == {"faults": 0, "void": 0}
    with contextlib.closing(sqlite3.connect(config.parent / "results" / "spread" / "league.sqlite")) as store:
        told = store.execute("SELECT said FROM fact WHERE kind = 'void'").fetchall()
        confined = store.execute("SELECT text FROM confinement").fetchall()
    assert {json.loads(text)["machine"] for (text,) in confined} == {platform.node()}
    vain = {json.loads(said)["match"] for (said,) in told}
    assert run(config, results="here").wait(PATIENCE_S) == 0
    spread, here = dict(stored(config, "results")), dict(stored(config, "here"))
    assert len(here) == 24
    assert {one for one in here if spread[one] != here[one]} == vain
    assert vain


def test_clocks_go_backwards(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scheduler, worker and client go on all the same, though Dask plans by the clock that is set."""
    file = config.with_name("backwards")
    site = config.with_name("site")
    site.mkdir()
    (site / "sitecustomize.py").write_text(BACKWARDS.format(file=str(file)))
    monkeypatch.setenv("PYTHONPATH", str(site))
    dask = DaskProcesses(config.parent)
    try:
        dask.worker()
        wait_for_workers(dask)
        league = run(config, "--cluster", dask.address)
        wait_until(lambda: count(config) > 0)
        file.touch()
        go(config)
        assert league.wait(PATIENCE_S) == 0
    finally:
        dask.end()
    assert count(config) == 24


def test_no_worker_is_fit(dask: DaskProcesses, config: Path) -> None:
    """Workers of another version, or without the sandbox asked for, are told each with its reason, exit code 2."""
    version = f'__version__ = "{warpleague.__version__}"'
    older = altered(dask.folder, "warpleague/__init__.py", "", (version, '__version__ = "0.0"'))
    dask.worker(PYTHONPATH=older)
    dask.worker(PATH="/nowhere")
    wait_for_workers(dask)
    text = config.read_text()
    config.write_text(text.replace("[clock]", '[rules]\nlevel = "sandbox"\n[clock]'))
    league = run(config, "--cluster", dask.address)
    assert league.wait(PATIENCE_S) == 2
    if "no worker of the cluster" not in said(config):
        pytest.skip("this machine has no sandbox itself: " + said(config))
    assert "warpleague is 0.0 there" in said(config)
    assert "level sandbox does not hold" in said(config)


def test_a_worker_takes_bots_from_another(
    dask: DaskProcesses, bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot leaves the client once: when the client has it no more, a worker that joins has it from another worker.

    A bot that nobody has is not waited for as long as its program is missing: that is told when the worker joins.
    """
    from warpleague.extras.cluster.executor import cluster

    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "client"))
    seat = prepare(bots / "random-perl", "none").seat()
    dask.worker()
    wait_for_workers(dask)
    with cluster(dask.address, "none", [seat]) as executor:
        assert not list(tmp_path.glob("cache*/*/*/bot.toml"))
        executor.send_bots()
        shutil.rmtree(tmp_path / "client")
        dask.worker()
        wait_until(lambda: executor.jobs == 2)
        executor.send_bots()
        assert executor.jobs == 2
        assert len(list(tmp_path.glob("cache*/*/*/bot.toml"))) == 2
        dask.worker(PATH="/nowhere")
        notes: list[str] = []
        wait_until(
            lambda: notes.extend(executor.new_notes()) or any("lacks the program" in note for note in notes)
        )
        assert executor.jobs == 2


def test_a_worker_that_can_take_no_bot_plays_no_more(
    dask: DaskProcesses, bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its match is played by another worker, on the same dice: it was not begun, and is not void."""
    from warpleague.extras.cluster.executor import cluster

    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "client"))
    seat = prepare(bots / "random-python", "none").seat()
    options = options_json(load_game("aliens").Options(max_turns=4))
    spec = MatchSpec(
        "m", "aliens", options, (seat, seat), bytes(32), level="none", clock=TimeControl(start_s=60.0)
    )
    cache = tmp_path / "cache"
    dask.worker(WARPLEAGUE_CACHE=str(cache))
    wait_for_workers(dask)
    notes: list[str] = []
    with cluster(dask.address, "none", [seat]) as executor:
        cache.touch()  # where a file is, no folder can be made
        match = executor.submit(executor.player(log=False), spec)
        executor.flush()
        wait_until(
            lambda: notes.extend(executor.new_notes()) or any("gets no matches" in note for note in notes)
        )
        assert not match.done()
        dask.worker()
        assert match.result(PATIENCE_S).confinement.machine == platform.node()
        (unfit,) = (note for note in [*notes, *executor.new_notes()] if "gets no matches" in note)
        assert str(cache) in unfit
        assert executor.jobs == 1


def test_an_altered_archive_is_refused(bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker takes no archive but the one whose digest the client told; until that comes, it asks the client."""
    from warpleague.extras.cluster.bots import Archive, WorkerBots

    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "client"))
    bot = prepare(bots / "random-python", "none").digest
    packed, archive = pack_bundle(bot, "none"), Archive.of(bot, "none")
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "worker"))
    given = [packed.replace(b"import", b"report"), packed]
    asked = []

    class Worker:
        """A Dask worker that finds an altered archive in its memory, and after its question the right one."""

        contact_address = address = "tcp://here"

        def __init__(self) -> None:
            self.data: dict[str, bytes] = {}

        @property
        def scheduler(self) -> "Worker":
            return self

        async def who_has(self, keys: list[str]) -> dict[str, list[str]]:
            if len(asked) == 1 or not self.data:
                self.data[keys[0]] = given.pop(0)
            return {keys[0]: []}

        def log_event(self, _: str, message: tuple[str, str]) -> None:
            assert find_bundle(bot) is None
            asked.append(message)

    taker = WorkerBots("run", "none", {bot: archive})
    assert taker.check(Worker()) is None
    asyncio.run(taker.take(bot))
    assert asked == [("tcp://here", bot)]
    assert pack_bundle(bot) == packed


def test_the_scheduler_dies(dask: DaskProcesses, config: Path) -> None:
    """The run ends within seconds with one clear line; what was played is there, and the rest can be played here."""
    dask.worker()
    wait_for_workers(dask)
    league = run(config, "--cluster", dask.address)
    # When two matches are over nothing more is sent: only the loss of the connection shows.
    wait_until(lambda: count(config) == 2)
    dask.scheduler.send_signal(signal.SIGKILL)
    killed_s = time.monotonic()
    assert league.wait(PATIENCE_S) == 1
    assert "does not answer any more" in said(config)
    assert "Traceback" not in said(config)
    assert time.monotonic() - killed_s < 60  # seconds, with room for a busy machine
    played = count(config)
    assert 0 < played < 24
    go(config)
    assert run(config).wait(PATIENCE_S) == 0
    assert count(config) == 24


def test_a_checkout_and_a_wheel_are_the_same_program(tmp_path: Path) -> None:
    """The bots and pages that only a wheel holds do not make it another program; a changed module does."""
    place = altered(tmp_path, "warpleague/match/chance.py", "")
    words = "import sys; from warpleague.extras.cluster.worker import this_program\n"
    words += "for _ in sys.stdin: print(this_program.__wrapped__(), flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", words],
        env={**os.environ, "PYTHONPATH": place},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        asking, answers = process.stdin, process.stdout
        assert asking
        assert answers

        def source() -> bytes:
            asking.write(b"again\n")
            asking.flush()
            return answers.readline()

        before = source()
        assert b"source of warpleague" in before
        bot = Path(place, "warpleague", "shipped", "bots", "some", "bot.py")
        bot.parent.mkdir(parents=True)
        bot.write_text("print()\n")
        assert source() == before
        with Path(place, "warpleague", "match", "chance.py").open("a", encoding="utf-8") as module:
            module.write("other = 1\n")
        assert source() != before


def stored(config: Path, results: str) -> list[tuple[str, str]]:
    """The id and the digest of each stored match."""
    path = config.parent / results / "spread" / "league.sqlite"
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as store:
        return store.execute("SELECT id, digest FROM match ORDER BY id").fetchall()


def wait_for_workers(dask: DaskProcesses) -> None:
    """Return once the scheduler knows all workers."""
    wait_until(lambda: all("Registered to" in dask.said(worker) for worker in dask.processes[1:]))


def altered(folder: Path, name: str, more: str, change: tuple[str, str] = ("", "")) -> str:
    """A folder with copies of our packages, in which the file `name` has been changed."""
    target = folder / f"copy-{name.replace('/', '-')}"
    for package in (warpleague, warpline):
        source = Path(str(package.__file__)).parent
        shutil.copytree(source, target / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    file = target / name
    file.write_text(file.read_text().replace(*change) + more if change[0] else file.read_text() + more)
    return str(target)


def results(config: Path) -> dict[str, int]:
    """How many faults and void matches the league has."""
    command = [sys.executable, "-P", "-m", "warpleague", "league", "run", str(config), "--json", "--quiet"]
    done = subprocess.run(
        [*command, "--results", str(config.parent / "results")], capture_output=True, check=True
    )
    told = json.loads(done.stdout)
    return {"faults": sum(line["faults"] for line in told["standings"]), "void": len(told["void"])}
