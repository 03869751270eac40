"""Bots that compute while others are asked, undo being stopped, or make their own children an excuse."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio
from tests.waiting import PATIENCE_S

from warpleague.match.spec import Level, SeatSpec, Violation
from warpleague.runner.bot.pipe import Answer
from warpleague.runner.bot.process import BotProcess, IdleBots
from warpleague.runner.confine import cgroups
from warpleague.runner.host import reap_orphans, state
from warpline.messages import BotHello

BOTS = Path(__file__).parents[1] / "bots"
MS = 1_000_000
HELLO = b'{"type":"hello"}\n'

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs a C compiler, and Linux"
)


@pytest.fixture
def start(bot_folder: Path) -> Iterator[Callable[..., BotProcess]]:
    """Builds and starts a misbehaving bot, shakes hands and asks it once; ends it afterwards."""
    begun = []

    def begin(
        stem: str, level: Level, *arguments: str, processes: int = 64, reusable: bool = False
    ) -> BotProcess:
        program = bot_folder / stem
        command = ["cc", "-std=c99", "-O1", "-o", str(program), str(BOTS / f"{stem}.c")]
        subprocess.run(command, check=True)
        run = (str(program), *arguments)
        seat = SeatSpec(
            bot=stem, run=run, cwd=str(bot_folder), processes=processes, memory_mb=512, reusable=reusable
        )
        bot = BotProcess(seat, level)
        begun.append(bot)
        assert isinstance(trio.run(bot.ask, HELLO, None), Answer)
        bot.greeted(BotHello(protocol=1, wants=()))
        bot.pondering.begin("off")
        return bot

    yield begin
    for bot in begun:
        bot.end()
    reap_orphans(set())


@pytest.fixture
def frozen() -> None:
    """Skips the test where bots cannot be frozen, saying why."""
    if not cgroups.freezer_support().base:
        pytest.skip(cgroups.freezer_support().reason)


def let_pass(seconds: float) -> None:
    """Use up the processor for a while, then wait for the dead that chains of children left to this process."""
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        pass
    reap_orphans(set())  # thousands a second: the machine would soon have no process ids left


def question(number: int) -> bytes:
    return b'{"type":"act","id":%d,"legal":[]}\n' % number


OUT_OF_TURN = pytest.mark.parametrize(
    ("stem", "level"),
    [
        ("continues_by_timers", "sandbox"),
        ("continues_by_children", "limits"),
        ("chains_of_children", "sandbox"),
    ],
)


@OUT_OF_TURN
def test_what_is_frozen_stays_so(
    start: Callable[..., BotProcess], frozen: None, stem: str, level: Level
) -> None:
    """While another is asked, a bot computes nothing, whatever it started; asked again, it answers."""
    del frozen
    bot = start(stem, level)
    assert isinstance(trio.run(bot.ask, question(1), None), Answer)
    bot.freeze()
    let_pass(0.01)  # until all of it stands still, on other processors, too
    before = bot.halt.own_ns()
    let_pass(0.2)
    after = bot.halt.own_ns()
    assert after - before < 10 * MS
    assert isinstance(trio.run(bot.ask, question(2), None), Answer)


def test_the_time_of_children_shows(start: Callable[..., BotProcess], frozen: None, sandboxed: None) -> None:
    """What processes compute that live for moments is in the bot's processor time, and makes it a ponderer."""
    del frozen, sandboxed
    bot = start("chains_of_children", "sandbox")
    rounds: list[float] = []  # how large a share of each round they got a processor
    while not bot.pondering.stops and len(rounds) < 100:
        begun, before = time.perf_counter_ns(), bot.halt.own_ns()
        assert isinstance(trio.run(bot.ask, question(len(rounds) + 1), None), Answer)
        let_pass(0.05)
        bot.check_children()
        rounds.append((bot.halt.own_ns() - before) / (time.perf_counter_ns() - begun))
    assert bot.halt.others_ns > 50 * MS
    # On a machine that gives it no quarter of the time, a bot takes little from others, and need not be stopped.
    assert bot.halt.stopped or not any(min(rounds[at : at + 4]) > 0.25 for at in range(97))


@pytest.mark.parametrize(("level", "chains"), [("limits", 0), ("limits", 12), ("sandbox", 2)])
def test_own_children_are_no_excuse(
    start: Callable[..., BotProcess], frozen: None, level: Level, chains: int, one_core: None
) -> None:
    """A bot that takes twice its time has not answered in time, however many of its processes kept it waiting."""
    del frozen, one_core
    bot = start("waits_for_its_children", level, "5", str(chains))
    begun = time.perf_counter_ns()
    trouble = trio.run(bot.ask, question(1), 300 * MS)
    assert isinstance(trouble, Violation)
    assert trouble.kind == "timeout"
    # What the rest of the machine took is excused; what the bot's own processes computed is not.
    assert trouble.detail.get("extended_ms", 0) * MS < time.perf_counter_ns() - begun - 250 * MS


@pytest.fixture
def one_core() -> Iterator[None]:
    """Has the test and what it starts share one processor, as a match of a league does."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture
def burners(one_core: None) -> Iterator[None]:
    """Keeps that processor busy with six other processes."""
    del one_core
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
    yield
    for process in running:
        process.kill()
        process.wait()


def test_a_busy_machine_is_not_charged(start: Callable[..., BotProcess], frozen: None, burners: None) -> None:
    """A bot that computes for 30 ms in all has used about that much of its time, though it took far longer."""
    del frozen, burners
    bot = start("computes_by_its_clock", "limits", "0.03")
    for number in range(1, 6):
        reply = trio.run(bot.ask, question(number), 60 * MS)
        assert isinstance(reply, Answer)
        assert 25 * MS < reply.wall_ns < 60 * MS


def test_many_processes_cost_no_more_to_watch(start: Callable[..., BotProcess], frozen: None) -> None:
    """A look at the memory of 300 processes costs the referee as little as one at a few."""
    del frozen
    if start("many_idle_processes", "limits", "3").child.group is None:
        pytest.skip("memory is not counted by a control group")
    few, many = (
        min(looks_at(start("many_idle_processes", "limits", str(count), processes=400))) for count in (3, 300)
    )
    assert many < 10 * few


def looks_at(bot: BotProcess) -> list[float]:
    """How long looks at a bot's memory take, in seconds of processor time."""
    assert isinstance(trio.run(bot.ask, question(1), None), Answer)
    taken = []
    for _ in range(20):
        begun = time.thread_time()
        assert not bot.memory_exceeded()
        taken.append(time.thread_time() - begun)
    return taken


def stays_stopped(bot: BotProcess) -> bool:
    """Whether all processes of a bot are stopped at last, and stay so for ten looks."""
    held = 0
    for _ in range(100):
        let_pass(0.03)
        bot.check_children()
        found = [state(pid) for pid in bot.child.processes()]
        held = held + 1 if all(each is None or each[0] in "TZ" for each in found) else 0
        if held == 10:
            return True
    return False


@OUT_OF_TURN
def test_without_a_freezer_who_undoes_a_stop_is_ended(
    start: Callable[..., BotProcess], no_freezer: None, stem: str, level: Level
) -> None:
    """Where signals alone stop bots, one that computes all the same is killed; that is its fault.

    A chain of processes may also be caught whole each time; then it computes nothing, and nobody is to be killed.
    """
    del no_freezer
    bot = start(stem, level)
    bot.check_children()
    number = 0
    reply = None
    deadline = time.perf_counter() + (1.5 if stem == "chains_of_children" else PATIENCE_S)
    while not isinstance(reply, Violation):
        if time.perf_counter() > deadline:
            assert stem == "chains_of_children"
            assert stays_stopped(bot)
            return
        number += 1
        reply = trio.run(bot.ask, question(number), 60_000 * MS)
        bot.pause()
        for _ in range(3):
            let_pass(0.03)
            bot.check_children()
    assert reply.kind == "crash"
    assert "while it was stopped" in reply.message


def test_without_a_freezer_nothing_waits_in_a_sandbox(
    start: Callable[..., BotProcess], no_freezer: None, sandboxed: None
) -> None:
    """A bot that could undo its being stopped is ended between two matches; one that is frozen waits."""
    del no_freezer, sandboxed
    idle = IdleBots(4)
    bot = start("computes_by_its_clock", "sandbox", "0", reusable=True)
    idle.keep(bot, "sandbox")
    assert len(idle) == 0
