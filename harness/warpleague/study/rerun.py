"""Puts recorded matches to one bot again, question by question as its seat got them, without any opponents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import attrs
import trio

from warpleague.errors import BotError, RecordError
from warpleague.match import greeting
from warpleague.match.evidence import with_words
from warpleague.match.packing import unpack
from warpleague.match.replay import Replay
from warpleague.match.setup import recorded_spec
from warpleague.match.spec import SeatSpec, Violation
from warpleague.runner.bot.loop import Loop
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.bot.reuse import IdleBots
from warpleague.runner.doctor.promises import check_level
from warpleague.runner.host.reaper import become_subreaper, children, sweep
from warpleague.runner.playing import GRACE_S, greet, reap
from warpleague.study.following import Choice, Follower
from warpleague.study.workers import spread

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from warpleague.games.api import JsonObject
    from warpleague.match.spec import Level

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
    """The bot's fault at the record's line `n`: nothing was asked after it."""

    n: int
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
    """How the bot fares in each record, in their order: a list of the seats it was put to, which may be empty.

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
    return Seen(
        where,
        header["id"],
        header["game"],
        seat,
        names[seat]["bot"],
        tuple(follower.choices),
        fault,
        replay.key is not None,
    )


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
