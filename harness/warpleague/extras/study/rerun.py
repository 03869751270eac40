"""Puts recorded matches to one bot again, question by question as its seat got them, without any opponents."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import time
from collections import Counter, deque
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import msgspec
import trio
from rich.text import Text

from warpleague.errors import BotError, HarnessFault, RecordError, interrupt_behind
from warpleague.games.api import JsonObject  # noqa: TC001 - read from the classes at run time
from warpleague.league.results.faulted import BotFaults
from warpleague.match import greeting
from warpleague.match.faults import with_words
from warpleague.match.record import unpack
from warpleague.match.referee import Referee, Situation
from warpleague.match.replay import Replay
from warpleague.match.setup import recorded_spec
from warpleague.match.spec import FATAL, Level, Mark, MatchSpec, SeatSpec, Violation
from warpleague.report.terminal.console import BAD, make_console, make_table
from warpleague.report.wording.league_words import fault_sentence
from warpleague.runner.bot.clocks import Loop
from warpleague.runner.bot.process import BotProcess, IdleBots
from warpleague.runner.doctor import check_level
from warpleague.runner.host import become_subreaper, children, sweep
from warpleague.runner.playing import GRACE_S, greet, reap
from warpleague.sim import cores
from warpleague.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from multiprocessing.queues import Queue, SimpleQueue

    from warpleague.games.api import Game
    from warpleague.match.scribe import Remarks, Times


# -- following -------------------------------------------------------------------------------------------
# A referee that plays a record again with one bot: it asks that bot, and continues as recorded.
#
# So the bot gets the same questions as its seat, after any answers.

_NANO = 1_000_000_000


@attrs.frozen(kw_only=True)
class Choice:
    """The bot's decision at a line of the record."""

    n: int
    """the line of the record"""
    id: int
    """the number of the question that the bot got last"""
    ask: str
    """the kind of decision"""
    action: JsonObject
    recorded: JsonObject | None
    """null: the recorded bot had faulted"""
    same: bool | None
    """null: one of them sent a message, or the recorded bot had faulted, so they cannot be compared"""
    ms: float | None
    """by the wall clock; null: it is from a `then` list"""
    recorded_ms: float | None
    value: float | None
    """what the bot expects"""


class Follower(Referee):
    """The referee of a record that holds, for the bot of seat `follows`.

    Life: `begin`; `start_line` and `connect` of that seat; then, while `next_question` says so, send `line` and report
    the `answer`. `choices` has the decisions.
    """

    def __init__(self, game: Game[Any, Any], spec: MatchSpec, record: bytes, follows: int) -> None:
        super().__init__(game, spec)
        self.follows = follows
        self.choices: list[Choice] = []
        self._record: list[JsonObject] = [msgspec.json.decode(line) for line in record.splitlines()[1:]]
        self._at = 0
        self._ms: float | None = None
        self._begun = False
        for seat in range(len(spec.seats)):
            if seat != follows:
                self._audience.leave(seat)

    def is_over(self) -> bool:
        """Whether the match has ended; where the bot's seat is out before, the record is not followed any further."""
        return not self.game.actors(self._state)

    @property
    def _next(self) -> JsonObject:
        """The next line of the record."""
        return self._record[self._at]

    def next_question(self) -> bool:
        """Go on as the record did until the bot must be asked; false at the end, or when its seat is out.

        `violation` is set, and false comes back, when an action of its `then` list is not legal.
        """
        while not self._begun and self._next["type"] == "fault" and self._fell_at_start(self._next):
            self._fault_as_recorded()
        self._begun = True
        while not self.is_retired(self.follows):
            if self.advance() is not Situation.ASK:
                return False
            if self.seat == self.follows:
                return True
            if self._next["type"] == "fault":
                self._fault_as_recorded()
            else:
                self._act_as_recorded()
        return False

    def _fell_at_start(self, fault: JsonObject) -> bool:
        """Whether a seat failed before the first question; a crash at its first one has the same message."""
        return fault["kind"] == "startup" or (fault["kind"] in FATAL and fault["seat"] != self.follows)

    def judge(self, line: bytes, wall_ns: int) -> Violation | None:
        """Judge the bot's answer, which took `wall_ns`, and continue as recorded."""
        self._ms = wall_ns / 1e6
        times = self._next.get("ms")
        # The bank loses the recorded time, so that the next question has the same clock.
        return self.answer(line, round(times[0] * 1e6) if times else 0, None, None)

    def place(self) -> int:
        """The number of the record's line that is next."""
        number: int = self._next.get("n", len(self._record))
        return number

    # ------------------------------------------------------------------ as the record has it

    def _take(self, kind: str) -> JsonObject:
        line = self._next
        if line["type"] != kind:
            raise RecordError(f"line {self._at + 1}: expected {kind}, found {line['type']}")
        self._at += 1
        return line

    def _act_as_recorded(self) -> None:
        line = self._next
        if "ms" in line:
            self.charge(round(line["ms"][0] * 1e6))
        self._play(self.game.parse(self._state, self.seat, line["action"]))

    def _fault_as_recorded(self) -> None:
        line = self._take("fault")
        lost_ns = (self.budget_ns or 0) if line["kind"] == "timeout" else 0
        self.fault(line["seat"], Violation(line["kind"], line["detail"]["message"]), lost_ns)

    def _roll(self) -> None:
        shown = tuple(self._take("chance")["outcome"])
        self._then = []
        state, events = self.game.apply(self._state, shown)
        self._became(state, events)

    def _play(
        self,
        action: Any,
        mark: Mark | None = None,
        times_ns: Times | None = None,  # noqa: ARG002 - the record has them
        remarks: Remarks | None = None,
    ) -> None:
        """Store the bot's decision, and play the recorded one."""
        self._noted = {}
        _, _, value = remarks or (None, None, None)
        asked = self.seat == self.follows and mark in (None, "then")
        if asked and self._next["type"] == "fault":
            self._note(action, None, self._next, mark, value)
            self._fault_as_recorded()
            return
        line = self._take("act")
        recorded = self.game.parse(self._state, self.seat, line["action"])
        if asked:
            self._note(action, recorded, line, mark, value)
        if recorded != action:
            self._then = []  # the rest was meant for another position
        self._talked = self._talk > 0 and recorded not in self.legal
        state, events = self.game.apply(self._state, recorded)
        if self._then and any(event.reveals for event in events):
            self._then = []
        if "bank_s" in line:
            self._banks[self.seat] = round(line["bank_s"] * _NANO)
        self._became(state, events)

    def _note(
        self, action: Any, recorded: Any, line: JsonObject, mark: Mark | None, value: float | None
    ) -> None:
        talks = self._talk > 0 and (action not in self.legal or recorded not in self.legal)
        form = self.game.action_json
        times = line.get("ms")
        self.choices.append(
            Choice(
                n=line["n"],
                id=self._id,
                ask=self._ask,
                action=form(action),
                recorded=None if recorded is None else form(recorded),
                same=None if recorded is None or talks else action == recorded,
                ms=self._ms if mark is None else None,
                recorded_ms=times[0] if times and mark is None else None,
                value=value,
            )
        )


# -- workers ---------------------------------------------------------------------------------------------
# Spreads tasks over processes, each on a core of its own with the bots it starts, and returns their results.

T = TypeVar("T")
R = TypeVar("R")

_AHEAD: Final = 4  # tasks for each process that are read before their turn


class TimeIsUp(Exception):
    """The time for the tasks is over."""


def spread(
    call: Callable[[T], R],
    tasks: Iterable[T],
    jobs: int | None = None,
    end_s: float | None = None,
    least: int = 1,
) -> Generator[R, None, None]:
    """The results of `call` for each of `tasks`, in their order, computed by `jobs` processes (default: one a core).

    `call` is a function of a module. Its exceptions are raised here. Raises `TimeIsUp` once `time.monotonic()` is
    `end_s`, but not before there are `least` results. Closing the iterator, or leaving its loop, cancels the running
    tasks. Raises `HarnessFault` if a process dies.
    """
    jobs = jobs or cores()
    forking = multiprocessing.get_context("fork" if hasattr(os, "fork") else None)
    places: Queue[int] = forking.Queue()
    pids: SimpleQueue[int] = forking.SimpleQueue()
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [-1]
    for number in range(jobs):
        places.put(allowed[number % len(allowed)])
    waiting: deque[Future[R]] = deque()
    done = False
    become_subreaper()
    before = children()
    try:
        with ProcessPoolExecutor(jobs, forking, _start_worker, (places, pids)) as pool:
            try:
                for task in tasks:
                    waiting.append(pool.submit(call, task))
                    if len(waiting) >= _AHEAD * jobs:
                        yield _next(waiting, end_s if least <= 0 else None)
                        least -= 1
                while waiting:
                    yield _next(waiting, end_s if least <= 0 else None)
                    least -= 1
                done = True
            except BrokenExecutor:
                raise HarnessFault("a process that computed a part of the work was killed") from None
            except RuntimeError as error:
                if (interrupt := interrupt_behind(error)) is not None:
                    raise interrupt from None
                raise
            finally:
                while not done and not pids.empty():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pids.get(), signal.SIGKILL)
                # The pool itself must wait for its processes: it would never end if the sweep did that.
                pool.shutdown(cancel_futures=True)
    finally:
        if not done:
            sweep(before)  # the bots of the processes that were killed


def _next(waiting: deque[Future[R]], end_s: float | None) -> R:
    """The next result. Raises `TimeIsUp` if it is not there at `end_s`."""
    if end_s is not None and not wait([waiting[0]], max(end_s - time.monotonic(), 0)).done:
        raise TimeIsUp
    return waiting.popleft().result()


def _start_worker(places: Queue[int], pids: SimpleQueue[int]) -> None:
    """Stay on one core, which the bots of this process share; a person at the terminal stops its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pids.put(os.getpid())
    core = places.get()
    if core >= 0:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})


# -- rerun -----------------------------------------------------------------------------------------------

_IDLE: Final = IdleBots(4)


@attrs.frozen
class Task:
    """A record, packed or not, the name it goes by, and the seat to put to the bot (None: all that have its name).

    `key` is the match's key, where the record does not tell it.
    """

    where: str
    record: bytes
    seat: int | None = None
    key: bytes | None = None


@attrs.frozen
class Fault:
    """The bot's fault: nothing was asked after it."""

    n: int
    """the line of the record"""
    kind: str
    message: str
    stderr: str


@attrs.frozen
class Seen:
    """How the bot fared in one seat of one match. `seeded` is false if its seed in the match is not known."""

    where: str
    match: str
    game: str
    seat: int
    bot: str
    choices: tuple[Choice, ...]
    fault: Fault | None
    seeded: bool

    @property
    def different(self) -> tuple[Choice, ...]:
        """Where it decided differently."""
        return tuple(choice for choice in self.choices if choice.same is False)


@attrs.frozen
class Bot:
    """The bot that is tried: how it runs, its level, and the names of its seats in records."""

    seat: SeatSpec
    level: Level
    names: frozenset[str]


def rerun(
    bot: Bot, tasks: Iterable[Task], jobs: int | None = None, end_s: float | None = None
) -> Generator[list[Seen], None, None]:
    """The decisions of the bot in each record, in their order: a list of the seats it had, which may be empty.

    Raises `TimeIsUp` once `time.monotonic()` is `end_s`, but not before the first record is done; `RecordError` for a
    record that does not hold, and `BadInput` if the level does not hold here.
    """
    check_level(bot.level)
    yield from spread(partial(rerun_one, bot), tasks, jobs, end_s)


def rerun_one(bot: Bot, task: Task) -> list[Seen]:
    """Put one record to the bot."""
    record = unpack(task.record, task.where)
    replay = Replay(record, key=task.key, where=task.where)
    if task.seat is None:
        seats = [n for n, seat in enumerate(replay.header["seats"]) if seat["bot"] in bot.names]
    elif task.seat < replay.header["players"]:
        seats = [task.seat]
    else:
        raise RecordError(
            f"{task.where}: the match has seats 0 to {replay.header['players'] - 1}, not {task.seat}"
        )
    if seats:
        for _ in replay:  # what follows trusts that the record holds
            pass
    return [_put(bot, task.where, replay, record, seat) for seat in seats]


def _put(bot: Bot, where: str, replay: Replay, record: bytes, seat: int) -> Seen:
    header = replay.header
    names: list[JsonObject] = header["seats"]
    seats = [SeatSpec(bot=name["bot"], version=name["version"], digest=name["digest"]) for name in names]
    seats[seat] = attrs.evolve(bot.seat, bot=names[seat]["bot"])
    spec = recorded_spec(header, tuple(seats), replay.key or bytes(32), bot.level, where)
    follower = Follower(replay.game, spec, record, seat)
    become_subreaper()
    before = children() | _IDLE.pids()
    try:
        fault: Fault | None = trio.run(_follow, follower, spec.key, before)
    finally:
        sweep(before | _IDLE.pids())
    match, game, bot_name = header["id"], header["game"], names[seat]["bot"]
    seeded = replay.key is not None
    return Seen(where, match, game, seat, bot_name, tuple(follower.choices), fault, seeded)


async def _follow(follower: Follower, key: bytes, before: set[int]) -> Fault | None:
    seat = follower.spec.seats[follower.follows]
    level = follower.spec.level
    follower.begin()
    _IDLE.begin(key)
    bot = _IDLE.take(seat, level)
    if bot is None:
        try:
            bot = BotProcess(seat, level)
        except BotError as error:
            return Fault(0, "startup", str(error), "")
    trouble: Violation | None = None
    stays = False
    async with trio.open_nursery() as nursery:
        bot.attend(nursery)
        nursery.start_soon(reap, before, Loop.here())
        try:
            trouble = await greet(follower, follower.follows, bot) or await _question(follower, bot)
            if trouble is None:
                stays = follower.is_over() and bot.is_reusable
                if follower.is_over():
                    bot.tell(follower.end_line(follower.follows))
            else:
                trouble.detail.update(bot.evidence())
        finally:
            if stays:
                await bot.leave()
                _IDLE.keep(bot, level)
            else:
                bot.tell(greeting.quit_line())
                await bot.close(GRACE_S if trouble is None else 0)
            nursery.cancel_scope.cancel()
    if trouble is None:
        return None
    message = with_words(trouble.kind, trouble.message, trouble.detail)
    return Fault(follower.place(), trouble.kind, message, bot.stderr.text())


async def _question(follower: Follower, bot: BotProcess) -> Violation | None:
    asked = 0
    while follower.next_question():
        reply = await bot.ask(follower.line, follower.budget_ns)
        if isinstance(reply, Violation):
            return reply
        trouble = follower.judge(reply.line, reply.wall_ns)
        if trouble is not None:
            return trouble
        asked += 1
        if asked % 64 == 0:
            await trio.lowlevel.checkpoint()
    return follower.violation


# -- summary ---------------------------------------------------------------------------------------------
# Prints the results of a rerun of recorded matches: different decisions, faults, times.

_STDERR_CHARS: Final = 800
_SLOWER: Final = 2.0
"""How many times as long as recorded a decision must take to be called slower."""
_SLOWER_MS: Final = 10.0
"""And by how much: what takes less differs from run to run."""


@attrs.define
class Summary:
    """The sums over all seats that were put to a bot; the first `most` differences and the slowest decisions."""

    most: int
    records: int = 0
    seats: int = 0
    decisions: int = 0
    compared: int = 0
    different: int = 0
    slower: int = 0
    ms: float = 0.0
    recorded_ms: float = 0.0
    elapsed_s: float = 0.0
    faults: Counter[str] = attrs.field(factory=Counter)
    bot_faults: BotFaults = attrs.field(factory=lambda: BotFaults(""))
    asks: dict[str, list[int]] = attrs.field(factory=dict)
    first: list[tuple[str, int, Choice]] = attrs.field(factory=list)
    slowest: list[tuple[str, int, Choice]] = attrs.field(factory=list)

    def add(self, seen: Seen) -> None:
        """Count one seat."""
        self.seats += 1
        self.decisions += len(seen.choices)
        self.bot_faults.played += 1
        if seen.fault is not None:
            self.faults[seen.fault.kind] += 1
            self.bot_faults.matches += 1
            self.bot_faults.kinds[seen.fault.kind] += 1
            self.bot_faults.messages.setdefault(seen.fault.kind, seen.fault.message)
        for choice in seen.choices:
            if choice.same is not None:
                self.compared += 1
                about = self.asks.setdefault(choice.ask, [0, 0])
                about[0] += 1
                about[1] += not choice.same
            if choice.same is False:
                self.different += 1
                if len(self.first) < self.most:
                    self.first.append((seen.where, seen.seat, choice))
            if choice.ms is not None and choice.recorded_ms is not None:
                self.ms += choice.ms
                self.recorded_ms += choice.recorded_ms
                if is_slower(choice):
                    self.slower += 1
                    self.slowest.append((seen.where, seen.seat, choice))
        if len(self.slowest) > 10 * self.most:
            self._cut()

    def _cut(self) -> None:
        self.slowest.sort(key=lambda slow: -_excess(slow[2]))
        del self.slowest[self.most :]

    def worst(self) -> list[tuple[str, int, Choice]]:
        """The decisions that were slower than recorded, by how much."""
        self._cut()
        return self.slowest


def _excess(choice: Choice) -> float:
    return (choice.ms or 0) - (choice.recorded_ms or 0)


def is_slower(choice: Choice) -> bool:
    """Whether a decision took clearly longer than recorded."""
    more = (choice.ms or 0) > _SLOWER * (choice.recorded_ms or 0)
    return more and _excess(choice) > _SLOWER_MS


@attrs.frozen(kw_only=True)
class RerunSeat:
    """How the bot fared in one seat of one match."""

    record: str
    match: str
    game: str
    seat: int
    name: str
    """of the recorded bot"""
    decisions: int
    different: list[Choice]
    slower: list[Choice]
    fault: Fault | None
    seeded: bool
    """whether it got its seed of the match"""

    @classmethod
    def of(cls, seen: Seen) -> RerunSeat:
        """Every decision of a seat that differs or is slower, and the fault."""
        return cls(
            record=seen.where,
            match=seen.match,
            game=seen.game,
            seat=seen.seat,
            name=seen.bot,
            decisions=len(seen.choices),
            different=list(seen.different),
            slower=[choice for choice in seen.choices if is_slower(choice)],
            fault=seen.fault,
            seeded=seen.seeded,
        )


@attrs.frozen(kw_only=True)
class ComparedDecisions:
    """Decisions of a kind."""

    compared: int
    different: int


@attrs.frozen(kw_only=True)
class Rerun:
    """Recorded matches that were put to a bot again."""

    bot: str
    records: int
    decisions: int
    compared: int
    different: int
    """of the compared ones"""
    faults: dict[str, int]
    """by kind"""
    slower: int
    """decisions that took more than twice as long as recorded, and 10 ms longer"""
    ms: float
    """the sum of all decisions whose times are known"""
    recorded_ms: float
    asks: dict[str, ComparedDecisions]
    """by kind of decision"""
    elapsed_s: float
    records_a_second: float | None
    stopped: bool
    """before the last record"""
    seats: list[RerunSeat]

    @classmethod
    def of(cls, bot: str, summary: Summary, seats: list[RerunSeat], *, stopped: bool) -> Rerun:
        """The sums over all seats, and each seat."""
        return cls(
            bot=bot,
            records=summary.records,
            decisions=summary.decisions,
            compared=summary.compared,
            different=summary.different,
            faults=dict(sorted(summary.faults.items())),
            slower=summary.slower,
            ms=round(summary.ms, 3),
            recorded_ms=round(summary.recorded_ms, 3),
            asks={
                ask: ComparedDecisions(compared=compared, different=different)
                for ask, (compared, different) in sorted(summary.asks.items())
            },
            elapsed_s=round(summary.elapsed_s, 3),
            records_a_second=round(summary.records / summary.elapsed_s, 2) if summary.elapsed_s else None,
            stopped=stopped,
            seats=seats,
        )


def print_fault(seen: Seen) -> None:
    """Print a fault of the bot at once."""
    console = make_console()
    assert seen.fault is not None
    text = f"{seen.where}: seat {seen.seat}, line {seen.fault.n}: {seen.fault.kind}: {seen.fault.message}"
    console.print(Text(safe(text), style=BAD), soft_wrap=True)
    if seen.fault.stderr.strip():
        for line in seen.fault.stderr.strip()[-_STDERR_CHARS:].splitlines():
            console.print(Text(safe(f"  | {line}")), soft_wrap=True)


def print_summary(name: str, summary: Summary) -> None:
    """Print the differences, the slower decisions, and the sums."""
    console = make_console()
    if summary.first:
        rest = summary.different - len(summary.first)
        more = f", and {rest:,} more" if rest else ""
        console.print(Text(f"Decided differently ({len(summary.first)}{more})", style="bold"))
        for where, seat, choice in summary.first:
            head = f"  {where}, line {choice.n}, seat {seat}: {choice.ask}"
            recorded = f"      recorded {_action(choice.recorded)}"
            now = f"      now      {_action(choice.action)}{_expects(choice)}"
            for line in (head, recorded, now):
                console.print(Text(safe(line)), soft_wrap=True)
    if slow := summary.worst():
        more = f" of {summary.slower:,}" if summary.slower > len(slow) else ""
        console.print(Text(f"Slower by more than twice ({len(slow)}{more})", style="bold"))
        for where, seat, choice in slow[:5]:
            took = f"{choice.ms:.1f} ms, recorded {choice.recorded_ms:.1f} ms"
            console.print(Text(safe(f"  {where}, line {choice.n}, seat {seat}: {took}")), soft_wrap=True)
    if len(summary.asks) > 1 or summary.different:
        table = make_table()
        table.add_column("decision")
        for heading in ("compared", "different", "share"):
            table.add_column(heading, justify="right")
        for ask, (compared, different) in sorted(summary.asks.items()):
            table.add_row(ask, f"{compared:,}", f"{different:,}", f"{100 * different / compared:.2f} %")
        console.print(table)
    compared, records = summary.compared, summary.records
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(summary.faults.items()))
    if summary.bot_faults.matches:
        print(f"{fault_sentence(attrs.evolve(summary.bot_faults, bot=name), 'seat')}.")
    print(
        f"{name}: {summary.different:,} of {counted(compared, 'decision')} "
        f"{'differs' if summary.different == 1 else 'differ'}; "
        f"faults: {faults or 'none'}; slower: {summary.slower:,}"
    )
    pace = f"{records / summary.elapsed_s:.1f} records a second" if summary.elapsed_s else "at once"
    then = f"{summary.ms / 1000:.2f} s of its own time, recorded {summary.recorded_ms / 1000:.2f} s"
    print(
        f"{counted(records, 'record')}, {counted(summary.seats, 'seat')}, "
        f"in {summary.elapsed_s:.1f} s ({pace}); {then}"
    )


def _action(action: JsonObject | None) -> str:
    return json.dumps(action, ensure_ascii=False)


def _expects(choice: Choice) -> str:
    return "" if choice.value is None else f"  (expects {100 * choice.value:.4g} %)"
