"""Asks the bots of a match in which several seats decide at once: all of them together, each by its own clock.

A bot is charged for what its own processes compute, and for its own sleep: the time for which the others keep it from
the processor is not charged (`warpleague.runner.bot.clock`).
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from warpleague.match.referee import Situation
from warpleague.runner.bot.exchange import BotReply
from warpleague.runner.bot.loop import Loop
from warpleague.runner.bot.process import BotProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.match.spec import Violation
    from warpleague.match.together import Question, TogetherReferee
    from warpleague.runner.bot.inside import InsideSeat

    Seat = BotProcess | InsideSeat
    Replies = dict[int, BotReply | Violation]

_BREATH_NS: Final = 20_000_000
"""The longest the event loop waits for its turn while bots answer at once, in nanoseconds."""


async def ask_together(
    referee: TogetherReferee, bots: list[Seat | None], punish: Callable[[int, Violation], None]
) -> None:
    """The match itself, from the first question to the end; `punish` has a fault of a seat judged."""
    loop = Loop.here()
    thinking: set[int] = set()
    hush = partial(_hush, bots if referee.spec.pondering != "on" else (), thinking)
    for bot in bots:
        if bot is not None:
            if isinstance(bot, BotProcess):
                bot.share.plays = True
            bot.on_slow = hush
    replies: Replies = {}
    breath = time.perf_counter_ns() + _BREATH_NS
    while (step := referee.advance()) is not Situation.OVER:
        seat = referee.seat
        trouble = referee.violation
        if step is Situation.ASK:
            if seat not in replies:
                if loop.taken:
                    await loop.turn(hush)
                await _ask(referee, bots, thinking, replies)
            reply = replies.pop(seat)
            trouble = (
                referee.answer(reply.line, reply.wall_ns, reply.cpu_ns, reply.wait_ns)
                if isinstance(reply, BotReply)
                else reply
            )
        if trouble is not None:
            punish(seat, trouble)
        if loop.asked or time.perf_counter_ns() > breath:
            for each in bots:
                if each is not None:
                    each.look_after()
            await trio.lowlevel.checkpoint()
            breath = time.perf_counter_ns() + _BREATH_NS


async def _ask(
    referee: TogetherReferee, bots: list[Seat | None], thinking: set[int], replies: Replies
) -> None:
    """Ask all who are to be asked now, and put what they answered into `replies`."""
    questions = referee.questions()
    thinking.update(question.seat for question in questions)
    inside = [question for question in questions if not isinstance(bots[question.seat], BotProcess)]

    async def ask(*some: Question) -> None:
        for question in some:
            seat = question.seat
            bot = bots[seat]
            if bot is None:
                raise AssertionError(f"seat {seat} was asked after its bot was out")
            is_late = partial(referee.is_late, seat=seat)
            reply = await bot.ask(question.line, question.budget_ns, is_late)
            while isinstance(reply, BotReply) and is_late(reply.line):
                reply = await bot.again()
            replies[seat] = reply
            thinking.discard(seat)
            if bot.pondering.stops:
                bot.pause()

    if len(questions) == 1:
        await ask(questions[0])
        return
    async with trio.open_nursery() as nursery:
        for question in questions:
            if question not in inside:
                nursery.start_soon(ask, question)
        nursery.start_soon(ask, *inside)  # persons, who may share a page, are asked in turn


def _hush(bots: Sequence[Seat | None], thinking: set[int]) -> None:
    """Have all bots stand still that are not asked now: one that is takes more than a moment."""
    for seat, bot in enumerate(bots):
        if bot is not None and seat not in thinking:
            bot.hush()
