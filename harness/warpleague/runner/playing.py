"""Plays a match inside a running trio: starts the bots, greets them, asks them until it is over, and ends them.

The rules of the wire and the record are in `warpleague.match.referee`, one bot in `warpleague.runner.bot`.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.errors import BadInput, BotError, HarnessFault
from warpleague.match import greeting
from warpleague.match.faults import with_words
from warpleague.match.spec import MatchResult, SeatFault, SeatLog, Violation
from warpleague.runner.bot.clocks import Loop, LoopShare
from warpleague.runner.bot.logs import BotLog
from warpleague.runner.bot.process import BackgroundTasks, BotProcess, IdleBots
from warpleague.runner.bundle.bundle import missing_from
from warpleague.runner.host import children, reap_orphans

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from warpleague.games.api import Event
    from warpleague.match.referee import Question, Referee
    from warpleague.runner.bot.inside import InsideSeat
    from warpleague.runner.bot.pipe import Answer

    Bot = BotProcess | InsideSeat
    # The seats that are played inside this process.
    Present = Mapping[int, InsideSeat]
    # Runs beside a match while it is played, and is cancelled at its end.
    Attendant = Callable[[Referee], Awaitable[None]]
    # Starts the process of a seat; raises `BotError` if that cannot be.
    Starter = Callable[[Referee, int], BotProcess]
    # Called with every state of a match, and the events that led to it.
    Observer = Callable[[Any, Sequence[Event]], None]
    FaultObserver = Callable[[int, SeatFault], None]

GRACE_S: Final = 0.5  # how long a bot may take to exit after `quit`, in seconds
FAULT_GRACE_S: Final = 0.05  # the same after a fault: time to log the message, no more
_REAP_S: Final = 0.05  # how often to wait for the dead processes that bots have left behind, in seconds


def start_bot(referee: Referee, seat: int) -> BotProcess:
    """Start the process of a seat as any match does."""
    return BotProcess(referee.spec.seats[seat], referee.spec.level)


class Match:
    """One match: its `referee`, and the bots in its seats. `play` plays it.

    Reusable bots are taken from `idle`, if that is given, and wait there afterwards. A seat that is `present` is asked
    there, as a person's must be. The `attendant`, if there is one, runs beside the match. With `log` the result has
    the bots' logs. `before` are the children that this process has, if the caller has just listed them. The `starter`
    starts the bots.
    """

    def __init__(
        self,
        referee: Referee,
        *,
        idle: IdleBots | None = None,
        present: Present | None = None,
        attendant: Attendant | None = None,
        log: bool = False,
        before: set[int] | None = None,
        starter: Starter = start_bot,
    ) -> None:
        self._referee = referee
        self._spec = referee.spec
        self._idle = idle
        self._present = present or {}
        self._attendant = attendant
        self._starter = starter
        self._bots: list[Bot | None] = [None for _ in self._spec.seats]
        begun_ns = time.perf_counter_ns()
        self._logs = [BotLog(begun_ns) for _ in self._spec.seats] if log else []
        # Of seats that decide at once, until they are judged.
        self._answers: dict[int, Answer | Violation] = {}
        self._loop = Loop.here()
        self._turns = Turns(self._loop, self._begin_tasks, freezes=self._spec.pondering != "on")
        self._is_late = [partial(referee.is_late, seat) for seat in range(len(self._bots))]
        self._before = children() if before is None else before
        self._reaping = BackgroundTasks()

    async def play(self) -> MatchResult:
        """Play the match.

        Raises `BadInput` for a spec that cannot be played here, `HarnessFault` when the host failed. A bot's fault
        never raises: it is in the result.
        """
        begun_s = time.perf_counter()
        self._referee.begin()
        self._loop.matches += 1
        async with trio.open_nursery() as tasks:
            try:
                await self._start(tasks)
                asked_s = time.perf_counter()
                await self._ask_all(tasks)
                result = self._referee.finish(self._stopped())
                playing_s = time.perf_counter() - asked_s
                await self._say_goodbye()
            finally:
                await self._close()
                tasks.cancel_scope.cancel()
                self._loop.matches -= 1
        elapsed_s = time.perf_counter() - begun_s
        logs = tuple(
            SeatLog.of(log.stderr.text(), log.wire.text()) for log in self._logs
        )  # now that all bots have ended
        return attrs.evolve(result, elapsed_s=elapsed_s, playing_s=playing_s, logs=logs)

    # ------------------------------------------------------------------ the start

    async def _start(self, tasks: trio.Nursery) -> None:
        """Start and greet all bots; judge them in seat order, so that the record is the same each time."""
        self._reaping.plan(tasks, partial(reap, self._before, self._loop))
        if self._attendant is not None:
            tasks.start_soon(self._attendant, self._referee)
        if self._idle is not None:
            self._idle.begin(self._spec.key)
        troubles: list[Violation | None] = [None for _ in self._bots]
        waiting = set(range(len(self._bots)))

        async def start(seat: int) -> None:
            troubles[seat] = await self._start_bot(seat, tasks)
            waiting.discard(seat)
            if waiting:
                self._turns.freeze_others()  # those that are not ready need the core

        self._loop.starting += 1
        self._turns.asked = waiting
        try:
            for seat in sorted(waiting):
                if self._idle is None or seat in self._present:
                    continue
                idle = self._idle.take(self._spec.seats[seat], self._spec.level)
                if idle is not None:
                    self._seat(seat, idle, tasks)
                    await start(seat)  # most of them are ready at once
            if waiting:
                self._begin_tasks()
                async with trio.open_nursery() as nursery:
                    for seat in sorted(waiting):
                        nursery.start_soon(start, seat)
        finally:
            self._loop.starting -= 1
        for seat, trouble in enumerate(troubles):
            if trouble is not None:
                spec = self._spec.seats[seat]
                if spec.digest and (missing := missing_from(spec)) is not None:
                    raise HarnessFault(
                        f"{spec.bot} was prepared to be played, but {missing} is no longer there"
                    )
                self._punish(seat, trouble, tasks)

    async def _start_bot(self, seat: int, tasks: trio.Nursery) -> Violation | None:
        """Start the bot of `seat`, if it is not there yet, and greet it; None if it is ready."""
        bot = self._bots[seat]
        if bot is None:
            try:
                bot = self._present.get(seat) or self._started(seat)
            except BotError as error:
                return Violation("startup", str(error))
            self._seat(seat, bot, tasks)
        return await greet(self._referee, seat, bot)

    def _started(self, seat: int) -> BotProcess:
        if self._spec.seats[seat].kind == "person":
            raise BadInput(f"seat {seat} is a person's: warpleague play plays it")
        with self._loop.blocked():
            return self._starter(self._referee, seat)

    def _seat(self, seat: int, bot: Bot, tasks: trio.Nursery) -> None:
        self._bots[seat] = bot
        log = self._logs[seat] if self._logs else None
        bot.attend(tasks, self._turns.share(), log, at_once=False)
        if isinstance(bot, BotProcess):
            bot.pondering.begin(self._spec.pondering)
            self._turns.join(seat, bot)

    def _begin_tasks(self) -> None:
        """Begin the tasks beside the match, since the event loop is about to run."""
        self._reaping.begin()
        for bot in self._bots:
            if bot is not None:
                bot.begin_tasks()

    # ------------------------------------------------------------------ questions and answers

    async def _ask_all(self, tasks: trio.Nursery) -> None:
        """Ask until the match is over."""
        # The only loop that is paid for every decision. To compile it and the referee (with mypyc) saved a tenth of a
        # real match at most, and each version of Python would need a wheel of its own.
        referee, loop, clock = self._referee, self._loop, time.perf_counter_ns
        together = referee.game.simultaneous
        ask = self._ask_together if together else self._ask
        self._turns.play(alone=not together)
        while referee.advance():
            if clock() > loop.due_ns:  # for standard error, the memory watch, and other matches
                await self._turns.run_loop()
            answer = referee.violation or await ask(referee.seat)
            if isinstance(answer, Violation):
                trouble: Violation | None = answer
            else:
                trouble = referee.answer(answer.line, answer.wall_ns, answer.cpu_ns, answer.wait_ns)
            if trouble is not None:
                self._punish(referee.seat, trouble, tasks)

    def _ask(self, seat: int) -> Awaitable[Answer | Violation]:
        """Put the referee's question to the bot of `seat`."""
        bot, referee = self._bots[seat], self._referee
        assert bot is not None
        self._turns.asked = (seat,)
        return bot.ask(referee.line, referee.budget_ns, self._is_late[seat])

    async def _ask_together(self, seat: int) -> Answer | Violation:
        """The answer of `seat`; the bots of all seats that decide at once are asked together, each by its clock."""
        # A bot is charged for what its own processes compute, and for its own sleep: the time for which the others
        # keep it from the processor is not charged (`warpleague.runner.bot.clocks`).
        if seat not in self._answers:
            questions = self._referee.questions()
            self._turns.asked = asked = {question.seat for question in questions}

            async def ask(question: Question) -> None:
                bot = self._bots[question.seat]
                assert bot is not None
                is_late = self._is_late[question.seat]
                self._answers[question.seat] = await bot.ask(question.line, question.budget_ns, is_late)
                asked.discard(question.seat)

            async with trio.open_nursery() as nursery:
                for question in questions:
                    if question.seat not in self._present:
                        nursery.start_soon(ask, question)
                for question in questions:
                    if question.seat in self._present:
                        await ask(question)  # persons may share a page: they are asked in turn
        return self._answers.pop(seat)

    def _punish(self, seat: int, trouble: Violation, tasks: trio.Nursery) -> None:
        """Have the referee judge a violation, with the evidence the process can give; end the bot if it is retired."""
        bot = self._bots[seat]
        wall_ns = 0
        if bot is not None:
            trouble.detail.update(bot.evidence())
            if self._spec.private:
                for words in ("stderr", "frame", "line"):
                    trouble.detail.pop(words, None)
            else:
                trouble.message = with_words(trouble.kind, trouble.message, trouble.detail)
            if trouble.kind == "timeout":
                wall_ns = self._referee.budget_ns or 0
        if self._referee.fault(seat, trouble, wall_ns) and bot is not None:
            self._bots[seat] = None  # it must not compute on while the others think
            self._turns.leave(seat)
            bot.tell(greeting.fault_line(trouble))
            tasks.start_soon(bot.close, FAULT_GRACE_S)

    # ------------------------------------------------------------------ the end

    def _stopped(self) -> tuple[int, ...]:
        """The seats whose bots were stopped between their decisions, since they computed out of turn."""
        bots = enumerate(self._bots)
        return tuple(s for s, bot in bots if isinstance(bot, BotProcess) and bot.pondering.stops)

    async def _say_goodbye(self) -> None:
        """Send the result to the bots; those that are reusable then wait for their next match."""
        for seat, bot in enumerate(self._bots):
            if bot is not None:
                bot.tell(self._referee.end_line(seat))
                if self._idle is not None and isinstance(bot, BotProcess) and bot.is_reusable:
                    self._bots[seat] = None
                    await bot.leave()
                    self._idle.keep(bot, self._spec.level)

    async def _close(self) -> None:
        """End every bot that is not retired, all at once, each with a moment to exit by itself."""
        left = [bot for bot in self._bots if bot is not None]
        if left:
            with trio.CancelScope(shield=True):
                async with trio.open_nursery() as nursery:
                    for bot in left:
                        bot.tell(greeting.quit_line())
                        nursery.start_soon(bot.close, GRACE_S)


async def reap(before: set[int], loop: Loop) -> None:
    """Wait for the processes that bots leave behind, as soon as they have ended, for all matches on this loop.

    `before` are the children this process had before. It never returns: cancel it when the bots have ended.
    """
    while True:
        await trio.sleep(_REAP_S * max(loop.matches, 1))
        reap_orphans(before)


async def greet(referee: Referee, seat: int, bot: Bot) -> Violation | None:
    """Exchange hello and start for their answers; None if the bot is ready."""
    spec = referee.spec
    limit_ns = round((spec.seats[seat].clock or spec.clock).start_s * 1e9)
    if bot.hello is None:
        answer = await bot.ask(greeting.hello_line(), limit_ns)
        if isinstance(answer, Violation):
            return _at_startup(answer, "hello")
        hello = greeting.judge_hello(answer.line)
        if isinstance(hello, Violation):
            return hello
        bot.greeted(hello)
        referee.connect(seat, hello)
    else:
        referee.connect(seat, bot.hello)
    answer = await bot.ask(referee.start_line(seat), limit_ns)
    if isinstance(answer, Violation):
        return _at_startup(answer, "start")
    return greeting.judge_ready(answer.line)


def _at_startup(trouble: Violation, after: str) -> Violation:
    """The same trouble as a startup fault; a flood and a full memory keep their own kinds."""
    kind = trouble.kind if trouble.kind in ("flood", "memory") else "startup"
    return Violation(kind, f"after {after}: {trouble.message}", trouble.detail)


class Turns:
    """The turns of one match on `loop`: which of its bots may compute, and when the event loop runs.

    Seats alternate, so only one process of a match has work to do. To wake it on the same core costs one switch of
    context; on another core it costs about twenty times as much. So referee and bots share a core, and a bot that
    computes while others think takes time from them. With `freezes`, bots are frozen while others are asked.

    `begin_tasks` is called before the event loop runs: it begins what is to run beside the match. A match may be over
    before its event loop ever ran; then nothing need be begun.
    """

    def __init__(self, loop: Loop, begin_tasks: Callable[[], None], *, freezes: bool) -> None:
        self.asked: Collection[int] = ()  # the seats that are asked now, and may compute
        self._loop = loop
        self._freezes = freezes
        self._begin_tasks = begin_tasks
        self._bots: dict[int, BotProcess] = {}
        self._shares: list[LoopShare] = []

    def share(self) -> LoopShare:
        """The part in the event loop of one more bot."""
        self._shares.append(LoopShare(self._loop, self.on_slow))
        return self._shares[-1]

    def join(self, seat: int, bot: BotProcess) -> None:
        """Have the bot of `seat` frozen from now on while others are asked."""
        self._bots[seat] = bot

    def leave(self, seat: int) -> None:
        """Leave the bot of `seat` alone: it is retired."""
        self._bots.pop(seat, None)

    def play(self, *, alone: bool) -> None:
        """The questions begin; each bot is asked `alone`, or some at the same time."""
        for share in self._shares:
            share.plays, share.alone = True, alone
        self._loop.plan()

    def on_slow(self) -> None:
        """An answer takes more than a moment."""
        # Only now: so bots that answer at once are not frozen, and cost nothing more.
        self._begin_tasks()
        self.freeze_others()

    def freeze_others(self) -> None:
        """Freeze all bots that are not asked."""
        if self._freezes:
            for seat, bot in self._bots.items():
                if seat not in self.asked:
                    bot.freeze()

    async def run_loop(self) -> None:
        """Let the event loop run, and wait while a bot of another match computes."""
        self.asked = ()
        self._begin_tasks()
        await trio.lowlevel.checkpoint()
        if self._loop.taken:
            await self._loop.turn(self.freeze_others)
        self._loop.plan()
