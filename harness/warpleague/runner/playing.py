"""Plays a match inside a running trio: starts the bots, greets them, asks them in turn, and ends them.

The rules of the wire and the record are in `warpleague.match.referee`, one process in `warpleague.runner.bot`.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.errors import BadInput, BotError, HarnessFault
from warpleague.match import greeting
from warpleague.match.evidence import with_words
from warpleague.match.referee import Referee, Situation
from warpleague.match.spec import Violation
from warpleague.match.together import TogetherReferee
from warpleague.runner.bot.exchange import BotReply, line_of
from warpleague.runner.bot.loop import Loop
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.bot.watch import Attendance
from warpleague.runner.bot.wirelog import BotLog
from warpleague.runner.hints import NOTHING_WRITTEN
from warpleague.runner.host.reaper import children, reap_orphans
from warpleague.runner.together import ask_together

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from warpleague.games.api import Event, Game
    from warpleague.match.confinement import Confinement
    from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec
    from warpleague.runner.bot.inside import InsideSeat
    from warpleague.runner.bot.reuse import IdleBots

    Seat = BotProcess | InsideSeat
    Present = Mapping[int, InsideSeat]
    """The seats that are played inside this process."""
    Attendant = Callable[[Referee], Awaitable[None]]
    """Runs beside a match while it is played, and is cancelled at its end."""
    Starter = Callable[[Referee, int], BotProcess]
    """Starts the process of a seat; raises `BotError` if that cannot be."""

GRACE_S: Final = 0.5
"""How long a bot may take to exit after `quit`, in seconds."""

FAULT_GRACE_S: Final = 0.05
"""The same after a fault: time to log the message, no more."""

_REAP_S: Final = 0.05
"""How often the dead processes that bots have left behind are looked for, in seconds."""

_BREATH_NS: Final = 20_000_000
"""The longest the event loop waits for its turn while bots answer at once, in nanoseconds."""


def start_bot(referee: Referee, seat: int) -> BotProcess:
    """Start the process of a seat as any match does."""
    return BotProcess(referee.spec.seats[seat], referee.spec.level)


async def play_game(
    game: Game[Any, Any],
    spec: MatchSpec,
    observer: Callable[[Any, Sequence[Event]], None] | None = None,
    idle: IdleBots | None = None,
    confinement: Confinement | None = None,
    log: bool = False,
    present: Present | None = None,
    before: set[int] | None = None,
    make: Callable[..., Referee] = Referee,
    attendant: Attendant | None = None,
    starter: Starter = start_bot,
) -> MatchResult:
    """Play `spec` as a match of `game`, registered or not; like `play_match`, inside a running trio.

    Reusable bots are taken from `idle`, if that is given, and wait there afterwards. The record's header says the
    `confinement`, if it is given. With `log` the result has the bots' logs. A seat that is `present` is asked there,
    as a person's must be. `before` are the children that this process has, if the caller has just looked. `make`
    makes the referee. The `attendant`, if there is one, runs beside the match. The `starter` starts the bots.
    """
    begun = time.perf_counter()
    if game.simultaneous and make is Referee:
        make = TogetherReferee
    started = datetime.now(UTC).isoformat(timespec="seconds")
    referee = make(game, spec, started=started, confinement=confinement, observer=observer)
    referee.begin()
    bots: list[Seat | None] = [None] * len(spec.seats)
    if idle is not None:
        idle.begin(spec.key)
    begun_ns = time.perf_counter_ns()
    logs = [BotLog(begun_ns) for _ in spec.seats] if log else []
    if before is None:
        before = children()
    loop = Loop.here()
    loop.matches += 1
    async with trio.open_nursery() as attendants:
        reaping = Attendance()
        reaping.plan(attendants, partial(reap, before, loop))
        if attendant is not None:
            attendants.start_soon(attendant, referee)
        try:
            loop.starting += 1
            try:
                await _start_all(referee, bots, attendants, idle, logs, present or {}, reaping, starter)
            finally:
                loop.starting -= 1
            asked = time.perf_counter()
            if isinstance(referee, TogetherReferee):
                reaping.begin()
                await ask_together(referee, bots, partial(_punish, referee, bots, attendants=attendants))
            else:
                await _ask_all(referee, bots, attendants, reaping)
            stopped = tuple(s for s, bot in enumerate(bots) if bot is not None and bot.pondering.stops)
            result = referee.finish(stopped)
            playing_s = time.perf_counter() - asked
            for seat, bot in enumerate(bots):
                if bot is not None:
                    bot.tell(referee.end_line(seat))
                    if idle is not None and isinstance(bot, BotProcess) and _reusable(bot):
                        bots[seat] = None
                        await bot.leave()
                        idle.keep(bot, spec.level)
        finally:
            await _close_all(bots)
            attendants.cancel_scope.cancel()
            loop.matches -= 1
    return attrs.evolve(
        result,
        elapsed_s=time.perf_counter() - begun,
        playing_s=playing_s,
        logs=tuple(kept.seat_log() for kept in logs),  # now that all bots have ended
    )


async def reap(before: set[int], loop: Loop) -> None:
    """Wait for what bots leave behind as soon as it has ended, also that of other matches on this loop.

    `before` are the children this process had before. It never returns: cancel it when the bots have ended.
    """
    while True:
        await trio.sleep(_REAP_S * max(loop.matches, 1))
        reap_orphans(before)


def _reusable(bot: Seat) -> bool:
    """Whether both the manifest and the bot itself say that the process may play another match."""
    return bot.seat.reusable and bot.hello is not None and bot.hello.reusable


async def _start_all(
    referee: Referee,
    bots: list[Seat | None],
    attendants: trio.Nursery,
    idle: IdleBots | None,
    logs: Sequence[BotLog],
    present: Present,
    reaping: Attendance,
    starter: Starter,
) -> None:
    """Start and greet every bot at once; judge them in seat order, so that the record is the same each time.

    The event loop has no turn if all have waited for this match, and are ready at once.
    """
    troubles: list[Violation | None] = [None] * len(bots)
    spec = referee.spec

    def enter(seat: int, bot: BotProcess) -> None:
        bots[seat] = bot
        if logs:
            bot.log_to(logs[seat])
        bot.pondering.begin(spec.pondering)
        bot.attend(attendants, at_once=False)

    async def start(seat: int) -> None:
        if seat in present:
            bots[seat] = present[seat]
            troubles[seat] = await greet(referee, seat, present[seat])
            return
        if spec.seats[seat].kind == "person":
            raise BadInput(f"seat {seat} is a person's: warpleague play plays it")
        try:
            with Loop.here().blocked():
                bot = starter(referee, seat)
        except BotError as error:
            troubles[seat] = Violation("startup", str(error))
            return
        enter(seat, bot)
        troubles[seat] = await greet(referee, seat, bot)

    async def wait_ready(seat: int, bot: BotProcess) -> None:
        troubles[seat] = _ready(await bot.awaited())

    def still(seat: int) -> None:
        """Have a bot that is ready stand still: those that are not need the core."""
        bot = bots[seat]
        if bot is not None and troubles[seat] is None and spec.pondering != "on":
            bot.hush()

    async def wait_for(seat: int, call: Callable[[], Awaitable[None]]) -> None:
        await call()
        waited_for.pop(seat)
        if waited_for:
            still(seat)

    waited_for: dict[int, Callable[[], Awaitable[None]]] = {}
    for seat in range(len(bots)):
        bot = None if idle is None or seat in present else idle.take(spec.seats[seat], spec.level)
        if bot is None or bot.hello is None:
            waited_for[seat] = partial(start, seat)
            continue
        enter(seat, bot)
        referee.connect(seat, bot.hello)
        line = referee.start_line(seat)
        found = bot.put(line, _start_ns(spec, seat))
        if found is None:
            waited_for[seat] = partial(wait_ready, seat, bot)
        elif isinstance(found, Violation):
            troubles[seat] = _ready(found)
        else:
            troubles[seat] = greeting.judge_ready(line_of(found[0], line))
    if waited_for:
        reaping.begin()
        for seat in range(len(bots)):
            if seat not in waited_for:
                still(seat)
        async with trio.open_nursery() as nursery:
            for seat, call in waited_for.items():
                nursery.start_soon(wait_for, seat, call)
    for seat, trouble in enumerate(troubles):
        if trouble is not None:
            _check_bundle(referee.spec.seats[seat])
            _punish(referee, bots, seat, trouble, attendants)


def _check_bundle(seat: SeatSpec) -> None:
    """Raise `HarnessFault` for a bot that did not start because its built copy is missing from the machine."""
    from warpleague.runner.bundle.bundle import missing_from

    if seat.digest and (missing := missing_from(seat)) is not None:
        raise HarnessFault(f"{seat.bot} was prepared to be played, but {missing} is no longer there")


async def greet(referee: Referee, seat: int, bot: Seat) -> Violation | None:
    """Exchange hello and start for their answers; None if the bot is ready."""
    limit_ns = _start_ns(referee.spec, seat)
    if bot.hello is None:
        reply = await bot.ask(greeting.hello_line(), limit_ns)
        if isinstance(reply, Violation):
            return _at_startup(reply, "hello")
        hello = greeting.judge_hello(reply.line)
        if isinstance(hello, Violation):
            return hello
        bot.hello = hello
        bot.locate()
    referee.connect(seat, bot.hello)
    return _ready(await bot.ask(referee.start_line(seat), limit_ns))


def _start_ns(spec: MatchSpec, seat: int) -> int:
    """How long the bot of `seat` may take for each of its messages before the match."""
    return round((spec.seats[seat].clock or spec.clock).start_s * 1e9)


def _ready(reply: BotReply | Violation) -> Violation | None:
    """Judge what came after start; None if the bot is ready."""
    return _at_startup(reply, "start") if isinstance(reply, Violation) else greeting.judge_ready(reply.line)


def _at_startup(trouble: Violation, after: str) -> Violation:
    """The same trouble as a startup fault; a flood and a full memory keep their own kinds."""
    kind = trouble.kind if trouble.kind in ("flood", "memory") else "startup"
    text = f"after {after}: {trouble.message}"
    if trouble.kind == "timeout" and after == "hello" and "unfinished_line_bytes" not in trouble.detail:
        text += f"; {NOTHING_WRITTEN}"
    return Violation(kind, text, trouble.detail)


async def _ask_all(
    referee: Referee, bots: list[Seat | None], attendants: trio.Nursery, reaping: Attendance
) -> None:
    """The match itself: the only loop that is paid for every decision."""
    loop = Loop.here()
    for bot in bots:
        if bot is not None:
            if isinstance(bot, BotProcess):
                bot.share.plays = bot.share.alone = True
            if referee.spec.pondering != "on":
                bot.on_slow = partial(_hush, bots, bot)
    over, asked = Situation.OVER, Situation.ASK
    advance, choose, is_late, clock = referee.advance, referee.choose, referee.is_late, time.perf_counter_ns
    breath = clock() + _BREATH_NS
    while (step := advance()) is not over:
        seat = referee.seat
        bot = bots[seat]
        if bot is None:
            raise AssertionError(f"seat {seat} was asked after its bot had not started")
        if step is asked:
            if loop.taken:
                reaping.begin()
                await loop.turn(partial(_hush, bots if referee.spec.pondering != "on" else (), None))
            found = bot.put(referee.line, referee.budget_ns, is_late)
            if isinstance(found, tuple):
                said, wall_ns, cpu_ns = found
                if isinstance(said, int):
                    trouble = choose(said, wall_ns, cpu_ns)
                else:
                    trouble = await _judged(referee, bot, BotReply(said, wall_ns, cpu_ns, 0))
            else:
                reaping.begin()
                trouble = found or await _judged(referee, bot, await bot.awaited())
        else:
            trouble = referee.violation
        if trouble is not None:
            _punish(referee, bots, seat, trouble, attendants)
        elif bot.pondering.stops:
            bot.pause()
        if loop.asked or clock() > breath:
            reaping.begin()
            for each in bots:
                if each is not None:
                    each.look_after()
            await trio.lowlevel.checkpoint()
            breath = clock() + _BREATH_NS


async def _judged(referee: Referee, bot: Seat, reply: BotReply | Violation) -> Violation | None:
    """Have the referee judge an answer; if it is a late one to an earlier question, the next one."""
    while isinstance(reply, BotReply):
        trouble = referee.answer(reply.line, reply.wall_ns, reply.cpu_ns, reply.wait_ns)
        if trouble is None or not referee.is_late(reply.line):
            return trouble
        reply = await bot.again()
    return reply


def _hush(bots: Sequence[Seat | None], asked: Seat | None) -> None:
    """Have all bots but the one that is asked stand still: it takes more than a moment, and they share its core."""
    for bot in bots:
        if bot is not None and bot is not asked:
            bot.hush()


def _punish(
    referee: Referee, bots: list[Seat | None], seat: int, trouble: Violation, attendants: trio.Nursery
) -> None:
    """Have a violation judged, with the evidence the process can give; a bot that is out is ended."""
    bot = bots[seat]
    wall_ns = 0
    if bot is not None:
        trouble.detail.update(bot.evidence())
        if referee.spec.private:
            for words in ("stderr", "line"):
                trouble.detail.pop(words, None)
        else:
            trouble.message = with_words(trouble.kind, trouble.message, trouble.detail)
        if trouble.kind == "timeout":
            wall_ns = referee.budget_ns or 0
    if referee.fault(seat, trouble, wall_ns) and bot is not None:
        bots[seat] = None  # it must not compute on while the others think
        bot.tell(greeting.fault_line(trouble))
        attendants.start_soon(bot.close, FAULT_GRACE_S)


async def _close_all(bots: list[Seat | None]) -> None:
    """End every bot that is still in, all at once, each with a moment to exit by itself."""
    left = [bot for bot in bots if bot is not None]
    if not left:
        return
    with trio.CancelScope(shield=True):
        async with trio.open_nursery() as nursery:
            for bot in left:
                bot.tell(greeting.quit_line())
                nursery.start_soon(bot.close, GRACE_S)
