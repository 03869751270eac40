"""A deadline and a host that keeps its bots waiting; bots that compute while it is not their turn."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
import trio
from rich.console import Console

from warpleague.errors import HarnessFault
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.referee import Referee
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec, SeatTimes, TimeControl, Violation
from warpleague.match.spec import Pondering as Policy
from warpleague.report.terminal.replay import print_result
from warpleague.runner.bot.child import Child, clock_id
from warpleague.runner.bot.clocks import Stopwatch
from warpleague.runner.bot.halt import QUIET_NS, Children, Pondering
from warpleague.runner.bot.pipe import Answer
from warpleague.runner.bot.process import BotProcess, IdleBots
from warpleague.runner.play import play_match
from warpleague.runner.playing import Match
from warpline.messages import BotHello

MS = 1_000_000
HELLO = BotHello(protocol=1, wants=())
BUDGET_NS = 100 * MS


class FakeChild:
    """A bot that is two pipes; its processor clock and its waiting show what a test says, as of the question."""

    pid = own_pid = 0
    group = freezer = None
    clock_id = clock_id(1 << 22)  # no process has this number

    def __init__(self) -> None:
        self.theirs_in, self.stdin = os.pipe()
        self.stdout, self.theirs_out = os.pipe()
        self.stderr = -1
        for fd in (self.stdin, self.stdout):
            os.set_blocking(fd, False)
        self.begun = time.perf_counter_ns()
        self.cpu_share = 0.0
        self.waited_share = 0.0
        self.is_ready = False

    def at_input(self) -> tuple[int, bool | None]:
        return 0, None

    def cpu_ns(self) -> int:
        return round((time.perf_counter_ns() - self.begun) * self.cpu_share)

    def pressure_ns(self, kind: str) -> int | None:
        return round((time.perf_counter_ns() - self.begun) * self.waited_share) if kind == "cpu" else None

    def main_counts(self) -> None:
        return None

    def thread_counts(self) -> dict[int, tuple[int, int]]:
        return {}

    def own_traffic_bytes(self) -> None:
        return None

    def all_traffic_bytes(self) -> int:
        return 0

    def ready(self) -> bool:
        return False

    def any_ready(self) -> bool:
        return self.is_ready

    def others(self) -> list[int]:
        return []

    def close(self) -> None:
        for fd in (self.theirs_in, self.stdin, self.stdout, self.theirs_out):
            os.close(fd)


class BusyChildren(Children):
    """Other processes of a bot, that compute for a share of the time from `begun` on."""

    def __init__(self, begun: int, share: float) -> None:
        super().__init__(1)
        self.any = share > 0
        self.begun, self.share = begun, share

    def measure(self, pids: Iterable[int], turn_ns: int) -> None:
        del pids, turn_ns
        self.used_ns = round((time.perf_counter_ns() - self.begun) * self.share)


Fake = tuple[BotProcess, FakeChild]
MakeFake = Callable[..., Fake]


@pytest.fixture
def make_fake() -> Iterator[MakeFake]:
    """Makes a bot without a process, whose decisions are timed by what `more` says (as of `Stopwatch`)."""
    children = []

    def make(**more: Any) -> Fake:
        child = FakeChild()
        children.append(child)
        seat = SeatSpec(bot="fake")
        return BotProcess(seat, "none", lambda *_: cast("Child", child), partial(Stopwatch, **more)), child

    yield make
    for child in children:
        child.close()


@pytest.fixture
def fake(make_fake: MakeFake) -> Fake:
    """A bot without a process."""
    return make_fake()


async def put(bot: BotProcess, budget_ns: int) -> Answer | Violation:
    """Put a question to a bot, in the loop that runs."""
    async with trio.open_nursery() as nursery:
        bot.attend(nursery, at_once=False)
    return await bot.ask(b"?\n", budget_ns)


@pytest.mark.trio
async def test_a_bot_with_other_processes_is_owed_its_time_once(fake: Fake) -> None:
    """Where nothing counts what its other processes compute, their doing cannot more than double its time."""
    bot, child = fake
    child.waited_share = 1.0
    bot.halt.children.any = True
    begun = time.perf_counter_ns()
    trouble = await put(bot, BUDGET_NS)
    assert isinstance(trouble, Violation)
    assert trouble.kind == "timeout"
    assert trouble.detail["limit_ms"] == 100
    assert trouble.detail["extended_ms"] == 100
    assert time.perf_counter_ns() - begun >= 2 * BUDGET_NS


@pytest.mark.trio
@pytest.mark.parametrize(
    ("cpu", "waited", "children"), [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.2, 0.8, 0.9)]
)
async def test_nothing_is_owed_to_a_bot_that_only_was_slow(
    make_fake: MakeFake, cpu: float, waited: float, children: float
) -> None:
    """Sleeping and computing extend nothing, nor does waiting for one's own threads and processes."""
    bot, child = make_fake(own_counts=lambda: (0, time.perf_counter_ns()))  # a busy machine is no matter
    child.cpu_share, child.waited_share = cpu, waited
    bot.halt.children = BusyChildren(child.begun, children)
    trouble = await put(bot, BUDGET_NS)
    assert isinstance(trouble, Violation)
    assert trouble.detail.get("extended_ms", 0) < 50  # a busy machine may be late with the first reading


@pytest.mark.trio
async def test_a_bot_is_waited_for_while_others_have_its_processor(fake: Fake) -> None:
    """An answer that comes late by no more than the wait counts, however late, and the wait is not charged."""
    bot, child = fake
    child.waited_share = 1.0
    begun = time.perf_counter_ns()

    def read(kind: str) -> int | None:
        if time.perf_counter_ns() - begun > 4 * BUDGET_NS:
            os.write(child.theirs_out, b"late\n")
        return FakeChild.pressure_ns(child, kind)

    child.pressure_ns = read
    reply = await put(bot, BUDGET_NS)
    assert isinstance(reply, Answer)
    assert reply.line == b"late"
    assert reply.wall_ns < BUDGET_NS
    assert reply.wait_ns is not None
    assert reply.wait_ns > 3 * BUDGET_NS


@pytest.mark.trio
async def test_a_wait_that_is_told_late_is_waited_for(fake: Fake) -> None:
    """A bot that is ready to run is not out, however late the kernel tells that it waited all the time."""
    bot, child = fake
    child.is_ready = True
    begun = time.perf_counter_ns()

    def read(kind: str) -> int | None:
        child.waited_share = float(time.perf_counter_ns() - begun > 4 * BUDGET_NS)
        if child.waited_share:
            os.write(child.theirs_out, b"late\n")
        return FakeChild.pressure_ns(child, kind)

    child.pressure_ns = read
    reply = await put(bot, BUDGET_NS)
    assert isinstance(reply, Answer)
    assert reply.wall_ns < BUDGET_NS


@pytest.mark.trio
async def test_a_bot_that_is_ready_and_computes_is_out_in_time(fake: Fake) -> None:
    """Being ready is no excuse by itself: who computes has got a processor, and nothing is told later."""
    bot, child = fake
    child.is_ready, child.cpu_share = True, 0.1
    trouble = await put(bot, BUDGET_NS)
    assert isinstance(trouble, Violation)
    assert trouble.detail.get("extended_ms", 0) < 50  # a busy machine may be late with the first look


@pytest.mark.trio
async def test_an_overloaded_host_voids_the_match(make_fake: MakeFake) -> None:
    """A bot that gets no processor for minutes is not waited for any longer, and not blamed."""
    bot, child = make_fake(overload_ns=0)
    child.waited_share = 1.0
    with pytest.raises(HarnessFault, match="overloaded: it kept a bot waiting for"):
        await put(bot, 20 * MS)


def gaps(policy: Policy, *used_and_lasted_ms: tuple[float, float]) -> bool:
    """Whether a bot is stopped after gaps in which it computed that long, of that length."""
    pondering = Pondering()
    pondering.begin(policy)
    for used, lasted in used_and_lasted_ms:
        if used * MS > QUIET_NS:
            pondering.judge(round(used * MS), round(lasted * MS))
    return pondering.stops


def test_stops_a_bot_that_computes_in_gap_after_gap() -> None:
    """Three busy gaps in a row are enough; what every bot does, however often, and one long collection are not."""
    assert gaps("off", (20, 20), (5, 10), (2, 4))
    assert not gaps("off", (20, 20), (5, 10))
    assert not gaps("off", *[(0.9 * QUIET_NS / MS, 1)] * 1000)
    assert not gaps("off", (300, 300))
    assert not gaps("off", *[(2, 100)] * 100)
    assert not gaps("off", *([(20, 20)] + [(2, 100)] * 4) * 20)


def test_the_policy_decides() -> None:
    """With "on" nobody is stopped, with "always-stop" everybody from the start."""
    assert not gaps("on", *[(20, 20)] * 100)
    assert gaps("always-stop")


@pytest.mark.parametrize(
    ("used_ms", "stopped"),
    [
        ([12, 12, 12], True),
        ([12, 12], False),
        ([160], True),
        ([40, 5, 5, 5, 5, 40, 5], False),
        ([0.5] * 9, False),
    ],
)
def test_other_processes_are_judged_by_the_time_they_use(used_ms: list[float], stopped: bool) -> None:
    """Three looks at a busy one stop the bot, or one look after which it has used as much; a late end does not."""
    policies: tuple[tuple[Policy, bool], ...] = (("off", stopped), ("on", False))
    for policy, expected in policies:
        pondering = Pondering()
        pondering.begin(policy)
        for used in used_ms:
            pondering.judge_children(round(used * MS), 50 * MS)
        assert pondering.stops == expected


def test_a_result_tells_of_stopped_bots_and_a_busy_host() -> None:
    """What is printed after a match names the seats that were stopped and those that waited for a processor."""
    seats = (SeatSpec(bot="a"), SeatSpec(bot="b"))
    spec = MatchSpec("m", "aliens", {}, seats, match_key("m"))
    times = (
        SeatTimes(decisions=9, wall_ms=4000, wait_ms=2000),
        SeatTimes(decisions=9, wall_ms=4000, wait_ms=5),
    )
    result = MatchResult("m", (1, 2), (1, 0), "base", "d", ((), ()), times, b"", 9, stopped=(1,))
    out = io.StringIO()
    print_result(spec, result, Console(file=out, width=100))
    told = out.getvalue()
    assert "seat 1 was stopped between its decisions" in told
    assert "seat 0 was stopped" not in told
    assert "seat 0 waited 2000 ms for a processor, which is not counted as its own time" in told
    assert "seat 1 waited" not in told


SLOW = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello": print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "start": print('{"type":"ready"}', flush=True)
    elif message["type"] == "act":
        if message["id"] <= 40: time.sleep(0.01)
        print('{"type":"act","id":%d,"action":0}' % message["id"], flush=True)
    elif message["type"] == "quit": break
"""
PONDERER = SLOW.replace("import json, sys, time", "import hashlib, json, sys, threading, time").replace(
    "for line in sys.stdin:",
    """
def busy():
    block = bytes(1 << 20)
    while True: hashlib.sha256(block)  # past the interpreter's lock
for _ in range(4):  # so that some of them compute however busy the machine is
    threading.Thread(target=busy, daemon=True).start()
for line in sys.stdin:""",
)

EMPLOYER = (
    SLOW.replace("import json, sys, time", "import json, os, sys, time")
    .replace(
        "for line in sys.stdin:",
        """
if not os.fork():
    os.setsid()
    time.sleep(60)
for line in sys.stdin:""",
    )
    .replace('"protocol":1', '"protocol":1,"reusable":true')
)


@pytest.fixture
def duel(bot_folder: Path) -> Callable[..., MatchResult]:
    """Plays a bot that computes all the time against one that takes its time and sleeps."""
    for name, code in (("ponderer", PONDERER), ("slow", SLOW)):
        (bot_folder / f"{name}.py").write_text(code)
        (bot_folder / f"{name}.py").chmod(0o644)
    options = options_json(load_options(load_game("aliens"), 2, {"max_turns": 30}))
    seats = tuple(
        SeatSpec(bot=name, run=(sys.executable, "-P", f"{name}.py"), cwd=str(bot_folder))
        for name in ("ponderer", "slow")
    )
    spec = MatchSpec(
        "m", "aliens", options, seats, match_key("m"), clock=TimeControl(move_s=60.0, start_s=60.0)
    )

    def play(**changes: Any) -> MatchResult:
        return play_match(attrs.evolve(spec, **changes))

    return play


@pytest.mark.skipif(sys.platform != "linux", reason="needs the processor clocks of other processes")
@pytest.mark.parametrize("level", ["limits", "sandbox"])
def test_a_ponderer_is_stopped_and_its_opponent_is_not(duel: Callable[..., MatchResult], level: str) -> None:
    """Whoever computes between its decisions is stopped there; it goes on playing, and the record tells."""
    result = duel(level=level)
    assert result.stopped == (0,)
    assert result.faults == ((), ())
    assert b'"detail":{"stopped":[0]}' in result.record


@pytest.mark.skipif(sys.platform != "linux", reason="needs the processor clocks of other processes")
@pytest.mark.parametrize("means", ["freezer", "signals"])
def test_pondering_changes_no_result(
    duel: Callable[..., MatchResult], request: pytest.FixtureRequest, means: str
) -> None:
    """Allowed, forbidden or made impossible: the same moves; the policy says who is stopped, by whatever means."""
    if means == "signals":
        request.getfixturevalue("no_freezer")
    short = options_json(load_options(load_game("aliens"), 2, {"max_turns": 12}))
    results = {policy: duel(pondering=policy, options=short) for policy in ("on", "off", "always-stop")}
    assert len({result.digest for result in results.values()}) == 1, {
        p: (r.faults, r.stopped, r.lines) for p, r in results.items()
    }
    assert [results[policy].stopped for policy in ("on", "always-stop")] == [(), (0, 1)]


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Two processes for each processor that compute all the time."""
    count = 2 * len(os.sched_getaffinity(0))
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="signals to threads")
def test_stopped_by_signals_all_threads_stand_still_at_once(
    bot_folder: Path, no_freezer: None, busy_machine: None
) -> None:
    """A signal that waits for the sleeping thread of a bot would let the others go on, and that is held against it."""
    del no_freezer, busy_machine
    (bot_folder / "ponderer.py").write_text(PONDERER)
    seat = SeatSpec(bot="ponderer", run=(sys.executable, "-P", "ponderer.py"), cwd=str(bot_folder))
    bot = BotProcess(seat, "limits")
    try:
        trio.run(bot.ask, b'{"type":"hello"}\n', None)
        bot.greeted(HELLO)
        bot.pondering.begin("always-stop")
        for number in range(1, 13):
            assert isinstance(trio.run(bot.ask, b'{"type":"act","id":%d}\n' % number, None), Answer)
            bot.pause()
            begun = time.perf_counter()
            while time.perf_counter() - begun < 0.01:
                pass
            bot.check_children()
        assert bot.halt.undone_ns < 20_000_000  # 50 ms would be held against it
    finally:
        bot.end()


@pytest.fixture
def employer(bot_folder: Path, sandboxed: None) -> SeatSpec:
    """A reusable bot that has a second process, in a session of its own."""
    del sandboxed
    (bot_folder / "employer.py").write_text(EMPLOYER)
    (bot_folder / "employer.py").chmod(0o644)
    run = (sys.executable, "-P", "employer.py")
    return SeatSpec(bot="employer", run=run, cwd=str(bot_folder), reusable=True)


def test_a_bot_with_other_processes_waits_for_no_other_match(employer: SeatSpec) -> None:
    """A reusable bot that has started another process is ended with it, and starts anew."""
    options = options_json(load_options(load_game("aliens"), 2, {"max_turns": 4}))
    clock = TimeControl(move_s=60.0, start_s=60.0)
    spec = MatchSpec(
        "m", "aliens", options, (employer, employer), match_key("m"), clock=clock, level="sandbox"
    )
    idle = IdleBots(4)

    async def play() -> None:
        await Match(Referee(load_game("aliens"), spec), idle=idle).play()

    trio.run(play)
    assert len(idle) == 0


def test_without_a_freezer_all_that_a_bot_started_is_stopped_with_it(
    employer: SeatSpec, no_freezer: None
) -> None:
    """A stopped bot cannot have another process of its own compute for it; both go on when it is asked."""
    del no_freezer
    bot = BotProcess(employer, "sandbox")

    def states() -> set[str]:
        found = bot.child.processes()
        assert len(found) == 2
        return {Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] for pid in found}

    try:
        assert isinstance(trio.run(bot.ask, b'{"type":"hello"}\n', None), Answer)
        bot.greeted(HELLO)
        bot.check_children()
        bot.pause()
        while states() != {"T"}:
            os.sched_yield()
        bot.halt.resume()
        while "T" in states():
            os.sched_yield()
    finally:
        bot.end()


class Clocks:
    """Processor clocks of processes, set by a test, in nanoseconds."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}
        self.now = 0

    def clock_gettime_ns(self, clock: int) -> int:
        return self.of[~(clock >> 3)]

    def perf_counter_ns(self) -> int:
        return self.now


def test_what_other_processes_use_beyond_the_bots_own_time_is_out_of_turn() -> None:
    """Between two looks: clocks that went on, those of new ones, and a number used again, less the bot's turn."""
    clocks = Clocks()
    children = Children(1, clocks)
    clocks.of, clocks.now = {7: 20, 8: 5}, 100
    children.measure([7, 8], turn_ns=100)
    assert (children.any, children.used_ns, children.out_of_turn_ns, children.gap_ns) == (True, 25, 0, 0)
    clocks.of, clocks.now = {7: 60, 8: 3, 9: 10}, 200
    children.measure([7, 8, 9], turn_ns=130)
    assert (children.used_ns, children.out_of_turn_ns, children.gap_ns) == (25 + 53, 53 - 30, 70)


def test_a_chain_of_short_processes_computes_all_the_time() -> None:
    """Where each look finds a new process, others lived between the looks, beside an idle one too; not in the turn."""
    clocks = Clocks()
    for idle, expected in (((), [0, 100, 100, 100, 100]), ((7,), [0, 0, 0, 100, 100])):
        children, used = Children(1, clocks), []
        for look in range(5):
            clocks.of, clocks.now = {7: 0, 20 + look: 0}, clocks.now + 100
            children.measure([*idle, 20 + look], turn_ns=0)
            used.append(children.out_of_turn_ns)
        assert used == expected
        children.measure([*idle, 24], turn_ns=0)
        assert children.out_of_turn_ns == 0
