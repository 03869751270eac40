"""Whole matches of real Python bots over real pipes: repeated to the byte, whatever the pipes do to a line.

What a misbehaving bot gets is tested with tests/bots; what the referee makes of a line, with the match layer.
"""

import errno
import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from tests.games.hands import Options
from tests.runner.conftest import MakeSeat, MakeSpec, WideGame

from warpleague.errors import HarnessFault, RecordError
from warpleague.games import GAMES, load_game
from warpleague.games.api import Game
from warpleague.match import greeting
from warpleague.match.referee import Question, Referee
from warpleague.match.replay import first_difference, verify_record
from warpleague.match.spec import Level, MatchResult, MatchSpec, SeatSpec, TimeControl, Violation
from warpleague.runner.bot.pipe import Answer
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.host import children, own_counts
from warpleague.runner.play import end_idle, idle_bots, play_in_series, play_match, play_out
from warpleague.runner.playing import Match

FIRST = "from warpline.client import run\nrun(lambda question: 0, wants=())\n"

# Draws from the seed by a hash, so that every Python and every platform draws alike.
DRAWS = """
from hashlib import sha256
from warpline.client import run

def choose(question):
    text = f"{question.seed} {question.id}".encode()
    return int.from_bytes(sha256(text).digest()[:8], "big") % len(question.legal)

run(choose, wants=("legal",))
"""

GOLDEN = {
    ("draws", "first"): "20a994d5f081aff1003319b89866a193c9cbe306c800fbfaccd709ebabffe3e5",
    ("first", "draws"): "b5a8643555f812911365da27c6b2e089302ce0ef29231db3e5f8920b984356ea",
}
"""Digests of one match in both seat orders. They change only with the rules."""


def play_here(game: Game[Any, Any], spec: MatchSpec) -> MatchResult:
    """Play a match of a game that need not be registered."""

    async def play() -> MatchResult:
        return await Match(Referee(game, spec)).play()

    return trio.run(play)


def acts(result: MatchResult) -> list[dict[str, Any]]:
    """The act lines of a record."""
    lines = map(json.loads, result.record.splitlines())
    return [line for line in lines if line["type"] == "act"]


@pytest.mark.parametrize(("one", "two"), GOLDEN)
def test_golden_digest(make_seat: MakeSeat, make_spec: MakeSpec, one: str, two: str) -> None:
    """A match of deterministic bots has one digest, on every Python, at every repetition."""
    seats = {"first": make_seat("first", FIRST), "draws": make_seat("draws", DRAWS)}
    spec = make_spec(seats[one], seats[two], max_turns=30)
    first, again = play_match(spec), play_match(spec)
    assert first.faults == ((), ())
    assert first_difference(first.record, again.record) is None
    assert first.digest == again.digest == GOLDEN[one, two]
    assert verify_record(first.record).digest == first.digest


def test_watching_changes_nothing(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """An observer hears of every step, and the digest stays the same."""
    spec = make_spec(make_seat("first", FIRST), make_seat("draws", DRAWS))
    steps: list[Any] = []
    watched = play_match(spec, observer=lambda _, events: steps.append(events))
    assert watched.digest == play_match(spec).digest
    assert len(steps) == watched.lines


def test_notes_and_values_are_kept(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """A note in any script, and the share that a bot expects, stand with its action; a record with them verifies.

    Of the share, four decimals at most are kept.
    """
    values = (0, 1, 0.5, 0.123456, 0.0001, 0.00004, 0.99999)
    told = (
        "from warpline.client import Reply, run\n"
        f"run(lambda q: Reply(0, note=f'nr. {{q.id}} → ☃', value={values}[q.id % 7]))\n"
    )
    result = play_match(make_spec(make_seat("telling", told), make_seat("first", FIRST)))
    mine = [line for line in acts(result) if line["seat"] == 0 and "ms" in line]
    numbers = range(1, len(mine) + 1)
    assert [line["note"] for line in mine] == [f"nr. {number} → ☃" for number in numbers]
    kept = (0, 1, 0.5, 0.1235, 0.0001, 0, 1)
    assert [line["value"] for line in mine] == [kept[number % 7] for number in numbers]
    assert verify_record(result.record).digest == result.digest
    wrong = result.record.replace(b'"value":0.1235', b'"value":1.1235', 1)
    with pytest.raises(RecordError, match=r"line \d+:"):
        verify_record(wrong)


@pytest.mark.parametrize(
    ("row", "listed", "asked"),
    [(4, 3, 1), (4, 9, 1), (4, 1, 2), (1, 3, 4)],
    ids=["all", "more", "one", "none"],
)
def test_then_saves_round_trips(
    make_seat: MakeSeat, make_spec: MakeSpec, wide: WideGame, row: int, listed: int, asked: int
) -> None:
    """Listed actions are played without asking while the seat is to act; the rest of the list is dropped."""
    source = (
        "from warpline.client import Reply, run\n"
        f"run(lambda q: Reply(0, then=[{{'do': 'tick', 'hand': 0}}] * {listed}), wants=())\n"
    )
    options = wide.Options(moves=8, row=row)
    seats = make_seat("lister", source), make_seat("first", FIRST)
    result = play_here(wide, make_spec(*seats, game="wide", options=options))
    assert result.faults == ((), ())
    assert result.times[0].decisions == asked
    assert [line.get("then") for line in acts(result) if line["seat"] == 0].count(True) == 4 - asked


SIPPING = """
import os, sys

def line():
    held = b""
    while not held.endswith(b"\\n"):
        data = os.read(0, {size})
        if not data:
            sys.exit()
        held += data
    return held

def say(text):
    for byte in text.encode() + b"\\n":
        os.write(1, bytes([byte]))

line(); say('{{"type":"hello","protocol":1,"wants":["state"]}}')
line(); say('{{"type":"ready"}}')
number = 0
while (got := line()).startswith(b'{{"type":"act"'):
    number += 1
    say('{{"type":"act","id":%d,"action":0,"note":"%d"}}' % (number, len(got)))
"""


def test_questions_larger_than_a_pipe(make_seat: MakeSeat, make_spec: MakeSpec, wide: WideGame) -> None:
    """Questions of 300 KB reach a bot that reads little at a time and answers byte by byte, whole and in time."""
    seat = make_seat("sipping", SIPPING.format(size=1000))
    options = wide.Options(moves=4, bytes=300_000)
    result = play_here(wide, make_spec(seat, seat, game="wide", options=options))
    assert result.faults == ((), ())
    assert all(int(line["note"]) > 300_000 for line in acts(result))


SLOW_READER = """
import os, time

def line():
    held = b""
    while not held.endswith(b"\\n"):
        if len(held) > 100_000 and not line.waited:
            line.waited = True
            time.sleep(0.4)
        held += os.read(0, 1 << 16)
    return held

def say(text):
    os.write(1, text.encode() + b"\\n")

line.waited = False
line(); say('{"type":"hello","protocol":1}')
line(); say('{"type":"ready"}')
line(); time.sleep(0.4); say('{"type":"act","id":1,"action":0}')
"""


def test_reading_slowly_gains_no_time(make_seat: MakeSeat, make_spec: MakeSpec, wide: WideGame) -> None:
    """A bot that has half of a long question wait in the pipe while it thinks is on its own time."""
    slow, first = make_seat("slow", SLOW_READER), make_seat("first", FIRST)
    options = wide.Options(moves=2, bytes=300_000)
    clock = TimeControl(move_s=0.6, start_s=60.0)
    result = play_here(wide, make_spec(slow, first, game="wide", options=options, clock=clock))
    assert [fault.kind for fault in result.faults[0]] == ["timeout"]


LATE_READER = """
import sys, time

sys.stdin.readline()
print('{"type":"hello","protocol":1}', flush=True)
sys.stdin.readline()
print('{"type":"ready"}', flush=True)
time.sleep(1)
for number, line in enumerate(sys.stdin, 1):
    if not line.startswith('{"type":"act","id":%d,' % number) or not line.endswith("}\\n"):
        break
    print('{"type":"act","id":%d,"action":0}' % number, flush=True)
"""


def test_a_question_that_was_cut_off_is_completed(
    make_seat: MakeSeat, make_spec: MakeSpec, wide: WideGame
) -> None:
    """After a timeout over a question that did not fit into the pipe, the rest comes before the next one."""
    late, first = make_seat("late", LATE_READER), make_seat("first", FIRST)
    options = wide.Options(moves=24, bytes=300_000)
    more = {"clock": TimeControl(move_s=0.5, start_s=60.0), "faults": "substitute", "strikes": 24}
    result = play_here(wide, make_spec(late, first, game="wide", options=options, **more))
    assert {fault.kind for fault in result.faults[0]} == {"timeout"}
    assert any("ms" in line for line in acts(result) if line["seat"] == 0)


def test_a_bot_that_missed_a_line_waits_for_no_other_match(make_seat: MakeSeat) -> None:
    """What did not fit into the pipe would stand before the next match's first line."""
    bot = BotProcess(make_seat("deaf", "import time; time.sleep(60)"), "none")
    try:
        bot.tell(b"x" * 300_000 + b"\n")
        assert not bot.rest()
    finally:
        bot.end()


@pytest.mark.trio
@pytest.mark.parametrize("how", ["kept", "closed"])
async def test_a_bot_may_be_left_before_its_watch_has_begun(make_seat: MakeSeat, how: str) -> None:
    """A match that is over before the watch over a bot has had a turn leaves no task on closed descriptors.

    A reusable bot is left, then may turn out to be dead and be ended at once: the watch must be over by then.
    """
    async with trio.open_nursery() as nursery:
        bot = BotProcess(make_seat("first", FIRST), "limits")
        bot.attend(nursery)
        if how == "closed":
            await bot.close(0.0)
        else:
            await bot.leave()
            bot.end()


@pytest.mark.trio
@pytest.mark.skipif(sys.platform != "linux", reason="nothing watches memory elsewhere")
async def test_a_bot_that_plays_only_short_matches_is_looked_at_too(make_seat: MakeSeat) -> None:
    """Where the event loop gets no turn, a bot whose memory was not measured for a while is measured at once."""
    bot = BotProcess(make_seat("first", FIRST), "limits")
    assert isinstance(await bot.ask(greeting.hello_line(), 60_000_000_000), Answer)
    bot.memory._limit_pages = 1
    bot.memory._checked = float("-inf")
    async with trio.open_nursery() as nursery:
        bot.attend(nursery, at_once=False)
        trouble = await bot.ask(b"{}\n", 60_000_000_000)
        await bot.close(0.0)
    assert isinstance(trouble, Violation)
    assert trouble.kind == "memory"


@pytest.mark.trio
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="elsewhere there is no other way")
async def test_a_bot_is_ended_even_without_a_descriptor_to_wait_with(
    make_seat: MakeSeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that has no descriptor left to watch a bot's end with waits for it all the same."""

    def fail(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    bot = BotProcess(make_seat("first", "input()"), "none")
    monkeypatch.setattr(os, "pidfd_open", fail)
    await bot.close(60.0)
    assert bot.child.status() == 1  # by itself, at the end of its input


def test_a_host_that_is_short_of_something_is_no_fault_of_the_bot(
    make_seat: MakeSeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no process can be started any more, nobody loses by it."""

    def fail(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    seat = make_seat("first", FIRST)
    monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(HarnessFault, match="cannot start first"):
        BotProcess(seat, "none")


PID = """
import os
from warpline.client import Reply, run

run(lambda question: Reply(0, note=str(os.getpid())), reusable=True)
"""


@pytest.fixture
def series() -> Iterator[None]:
    """Ends what waits for a match after the last one, as the end of a referee process does."""
    yield
    end_idle()


@pytest.mark.usefixtures("series")
def test_a_reusable_bot_keeps_its_process(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """In a series a reusable bot plays every match in one process; a bot that only says it is gets new ones."""
    kept = make_seat("kept", PID, reusable=True)
    eager = make_seat("eager", PID)
    pids: tuple[set[str], set[str]] = set(), set()
    for _ in range(2):
        result = play_in_series(another_key(make_spec(kept, eager, max_turns=2)))
        assert result.faults == ((), ())
        for line in acts(result):
            if "note" in line:
                pids[line["seat"]].add(line["note"])
    assert [len(found) for found in pids] == [1, 2]


def another_key(spec: MatchSpec) -> MatchSpec:
    """The same match with other dice."""
    return attrs.evolve(spec, key=os.urandom(32))


@pytest.mark.usefixtures("series")
def test_no_process_lives_to_see_the_same_dice_again(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Before a match with dice that were seen every waiting bot is ended: whoever saw them, and whoever was alive."""
    one, two, three = (make_seat(name, PID, reusable=True) for name in ("one", "two", "three"))

    def pids(*seats: SeatSpec, key: bytes) -> set[str]:
        result = play_in_series(attrs.evolve(make_spec(*seats, max_turns=3), key=key))
        return {line["note"] for line in acts(result) if "note" in line}

    first = pids(one, two, key=b"1" * 32)
    assert pids(one, two, key=b"2" * 32) == first
    bystander = pids(three, attrs.evolve(three, bot="cousin"), key=b"3" * 32)
    again = pids(two, one, key=b"1" * 32)
    assert not again & first
    assert idle_bots() == 2
    later = pids(three, attrs.evolve(three, bot="cousin"), key=b"4" * 32)
    assert not later & bystander


def test_the_standard_error_of_a_bot_that_computes_is_read(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """A bot whose pipe is full would never answer."""
    source = """
import sys, time
from warpline.client import run

def choose(question):
    end = time.process_time() + 0.01
    while time.process_time() < end:
        pass
    sys.stderr.write("x" * 200_000)
    return 0

run(choose, wants=())
"""
    spec = make_spec(make_seat("loquacious", source), make_seat("first", FIRST), max_turns=3)
    result = play_match(attrs.evolve(spec, clock=TimeControl(move_s=60.0)))
    assert not any(result.faults)
    assert result.times[0].cpu_ms >= 10 * result.times[0].decisions > 0


def test_standard_error_is_kept_as_evidence(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """With a fault, the beginning and the end of what the bot wrote to standard error go into the record."""
    source = (
        "import sys\n"
        "sys.stderr.write('the beginning\\n' + 'x' * 300_000 + '\\nthe end\\n')\n"
        "raise SystemExit(7)\n"
    )
    result = play_match(make_spec(make_seat("chatty", source), make_seat("first", FIRST)))
    (fault,) = result.faults[0]
    detail = json.loads(result.record.splitlines()[fault.n])["detail"]
    assert detail["exit"] == 7
    assert detail["stderr"].startswith("the beginning")
    assert detail["stderr"].endswith("the end\n")
    assert "bytes not shown" in detail["stderr"]
    assert len(detail["stderr"]) < 4100
    spec = attrs.evolve(make_spec(make_seat("chatty", source), make_seat("first", FIRST)), private=True)
    detail = json.loads(play_match(spec).record.splitlines()[fault.n])["detail"]
    assert detail["exit"] == 7
    assert detail.keys().isdisjoint(("stderr", "line"))


@pytest.mark.parametrize("private", [False, True])
def test_the_words_of_a_bot_stand_in_the_sentence_unless_they_are_private(
    make_seat: MakeSeat, make_spec: MakeSpec, private: bool
) -> None:
    """What it printed instead of hello, and why it ended: told where anybody may read what bots print."""
    says, ends = "input()\nprint('Odd engine', flush=True)\ninput()", "raise ValueError('odd value')"
    spec = make_spec(make_seat("says", says), make_seat("ends", ends))
    result = play_match(attrs.evolve(spec, private=private))
    said, ended = (faults[0].message for faults in result.faults)
    assert said.startswith("bad hello: not JSON: text where a message must be")
    assert ended.startswith("after hello: exited with status 1")
    assert said.endswith("; it wrote: Odd engine") is not private
    assert ended.endswith(": ValueError: odd value") is not private
    assert ("dd engine" in result.record.decode()) is not private


BUSY = """
import time
from warpline.client import run

def choose(question):
    cpu, wall = time.process_time() + 0.03, time.perf_counter() + 0.03
    while time.process_time() < cpu or time.perf_counter() < wall:
        pass
    return 0

run(choose, wants=())
"""
IDLE = """
import select
from warpline.client import run

def choose(question):
    select.select([], [], [], 0.1)
    return 0

run(choose, wants=())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_times_are_plausible(make_seat: MakeSeat, make_spec: MakeSpec, wide: WideGame) -> None:
    """Computing shows as CPU time, waiting as wall time alone, and neither exceeds the time the match took.

    The two are different clocks, and on virtual machines the processor's was seen to run ahead by 10 ms: they are
    not compared.
    """
    seats = make_seat("busy", BUSY), make_seat("idle", IDLE)
    busy_before_ns = sum(own_counts())
    result = play_here(wide, make_spec(*seats, game="wide", options=wide.Options(moves=8)))
    busy_ms = (sum(own_counts()) - busy_before_ns) / 1e6
    computing, waiting = result.times
    assert computing.decisions == waiting.decisions == 4
    assert computing.cpu_ms >= 4 * 29
    assert computing.wall_ms >= 4 * 29
    # Woken, it may have to wait for a processor. So may the referee: while it does, or computes, nobody knows when the
    # answer came.
    assert waiting.wall_ms + waiting.wait_ms + busy_ms >= 4 * 99
    assert waiting.cpu_ms < 4 * 90
    assert waiting.longest_ms <= waiting.wall_ms
    assert (computing.wall_ms + waiting.wall_ms) / 1000 <= result.playing_s <= result.elapsed_s
    assert all(min(line["ms"]) >= 0 for line in acts(result))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_nothing_is_left(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """After a match, good or bad, there are no more open files and no more children than before."""
    first, bad = make_seat("first", FIRST), make_seat("bad", "raise SystemExit(1)\n")
    play_match(make_spec(first, first))
    gc.collect()  # what other tests left is not to go meanwhile
    before = len(os.listdir("/proc/self/fd"))
    with open("/proc/thread-self/children") as file:
        children = file.read()
    for seats in ((first, first), (first, bad), (bad, bad)):
        play_match(make_spec(*seats))
    assert len(os.listdir("/proc/self/fd")) == before
    with open("/proc/thread-self/children") as file:
        assert file.read() == children


def test_a_bot_that_cannot_start_is_charged(make_seat: MakeSeat, make_spec: MakeSpec, tmp_path: Path) -> None:
    """Its program is there and cannot be started, or it was prepared and ends at once: nobody else loses by it."""
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF, or so it says")
    program.chmod(0o755)
    bad = make_seat("bad", "raise SystemExit(3)")
    for seat in (attrs.evolve(bad, run=(str(program),)), attrs.evolve(bad, digest="aa")):
        result = play_match(make_spec(make_seat("first", FIRST), seat))
        assert [[fault.kind for fault in faults] for faults in result.faults] == [[], ["startup"]]
        assert result.ranks == (1, 2)


@pytest.mark.parametrize(
    ("gone", "level"), [("folder", "limits"), ("script", "none"), ("program", "none"), ("program", "limits")]
)
def test_a_prepared_bot_that_has_gone_voids_the_match(
    make_seat: MakeSeat, make_spec: MakeSpec, gone: str, level: Level
) -> None:
    """Whoever removed a bot from the cache in mid-run, it was not the bot: nobody loses the match."""
    seat = make_seat("first", FIRST)
    changes: dict[str, Any] = {
        "folder": {"cwd": seat.cwd + "/gone"},
        "script": {"run": (seat.run[0], "gone.py")},
        "program": {"run": (seat.cwd + "/gone", *seat.run[1:])},
    }
    left = attrs.evolve(seat, digest="aa", **changes[gone])
    with pytest.raises(
        HarnessFault, match=r"first was prepared to be played, but .*gone.* is no longer there"
    ):
        play_match(attrs.evolve(make_spec(left, seat), level=level))


ORPHANS = """
import os, time
from warpline.client import run

def choose(question):
    for _ in range(100):
        child = os.fork()
        if not child:
            if not os.fork():
                os._exit(0)
            os._exit(0)
        os.waitpid(child, 0)
    return 0

run(choose, wants=())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans become a subreaper's children on Linux")
def test_what_bots_leave_behind_is_waited_for_in_time(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Dead orphans of a bot do not pile up in the referee: they would take the process ids of the whole machine."""
    most, steps = 0, 0

    def count(*_: Any) -> None:
        nonlocal most, steps
        steps += 1
        most = max(most, len(children()))

    spec = make_spec(make_seat("orphans", ORPHANS), make_seat("first", FIRST), max_turns=40)
    result = play_match(spec, observer=count)
    assert result.faults == ((), ())
    assert steps > 20
    left = 100 * sum(time.decisions for time in result.times[:1])
    assert left > 1000
    assert most < left / 2


# Matches in which several seats decide at once, of real bots: asked together, recorded in the order of the seats.


PLANS = """
from hashlib import sha256
from warpline.client import run

def choose(question):
    return sha256(f"{question.seed} {question.id} {question.events}".encode()).digest()[0] % 3

run(choose, wants=("events",))
"""

# Answers only when as many bots as there are seats have been asked: each adds a file.
MEETS = """
import time
from pathlib import Path
from warpline.client import run

def choose(question):
    Path(f"asked-{question.id}-{question.seat}").touch()
    while len(list(Path().glob(f"asked-{question.id}-*"))) < 3:
        time.sleep(0.005)
    return 0

run(choose, wants=())
"""

FALLS = """
import sys
from warpline.client import run

def choose(question):
    sys.exit(3)

run(choose, wants=())
"""

ERRS = """
from warpline.client import run

run(lambda question: 7 if question.id == 2 else 0, wants=())
"""

GOLDEN_TOGETHER = "d58b26e622461cb6f2e38319078e5d0bdeb340a199750597ac84b0b992786296"


class InTurn(Referee):
    """A referee that asks one seat after the other."""

    def questions(self) -> list[Question]:
        return super().questions()[:1]


@pytest.fixture(autouse=True)
def hands() -> Iterator[None]:
    """The game of hands is registered."""
    GAMES["hands"] = "tests.games.hands:GAME"
    load_game.cache_clear()
    yield
    del GAMES["hands"]
    load_game.cache_clear()


def told(result: MatchResult) -> list[tuple[Any, ...]]:
    """Each line of the record, in short: its kind, its seat, and what was done."""
    lines = map(json.loads, result.record.splitlines())
    return [
        (line["type"], line["seat"], line.get("kind") or line["action"]["hand"])
        for line in lines
        if line["type"] in ("act", "fault")
    ]


def test_the_record_is_that_of_a_match_in_turn(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Nobody can have seen more than when asked one after the other; and it is the same on every machine."""
    seats = [make_seat(f"draws-{number}", PLANS) for number in range(3)]
    spec = make_spec(*seats, game="hands", options=Options(rounds=8))
    result = play_match(spec)
    assert result.faults == ((), (), ())
    assert [seat for _, seat, _ in told(result)] == [0, 1, 2] * 8
    in_turn = play_out(InTurn(load_game(spec.game), spec))
    assert result.digest == in_turn.digest == verify_record(result.record).digest == GOLDEN_TOGETHER


def test_all_are_asked_before_one_has_answered(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Each waits until all have been asked, and none is charged with a fault."""
    result = play_match(make_spec(*[make_seat("meets", MEETS)] * 3, game="hands", options=Options(rounds=2)))
    assert result.faults == ((), (), ())
    assert len(told(result)) == 6


def test_faults_are_judged_in_the_order_of_the_seats(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Whoever fell first; the round is played to its end, and who is out is not asked again."""
    errs, falls, first = make_seat("errs", ERRS), make_seat("falls", FALLS), make_seat("draws", PLANS)
    result = play_match(make_spec(errs, first, falls, game="hands", options=Options(rounds=3)))
    lines = told(result)
    assert [(kind, seat) for kind, seat, _ in lines] == [
        ("act", 0),
        ("act", 1),
        ("fault", 2),
        ("fault", 0),
        ("act", 1),
    ]
    assert (lines[2][2], lines[3][2]) == ("crash", "illegal")
    assert result.ranks == (2, 1, 3)  # not in the same decision
    assert verify_record(result.record).digest == result.digest


def test_who_goes_out_in_the_same_decision_ranks_equal(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """The order in which they are judged is none in which they fell; the record says so, and holds."""
    falls, first = make_seat("falls", FALLS), make_seat("draws", PLANS)
    result = play_match(make_spec(falls, first, falls, game="hands", options=Options(rounds=3)))
    assert result.ranks == (2, 1, 2)
    assert [line.get("tied") for line in map(json.loads, result.record.splitlines()) if "kind" in line] == [
        None,
        True,
    ]
    assert verify_record(result.record).ranks == result.ranks
