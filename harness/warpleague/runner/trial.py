"""Tests a bot with questions that arrive in awkward ways: in pieces, very long, or with very many legal actions."""

from __future__ import annotations

import json
import math
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.games import load_game
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_roll
from warpleague.match import greeting
from warpleague.match.referee import Referee, Situation
from warpleague.match.setup import load_options, position_facts
from warpleague.match.spec import Violation
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.host.reaper import ending_leftovers
from warpleague.runner.play import within
from warpline.messages import BotHello

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warpleague.games.api import Game
    from warpleague.match.spec import MatchSpec
    from warpleague.runner.bot.exchange import BotReply

    Deliver = Callable[[BotProcess, bytes, int], Awaitable[BotReply | Violation]]

PAUSE_S: Final = 0.02
"""Between the pieces of a line, in seconds: a reader that takes what is there for a line has long taken it."""

LONG_BYTES: Final = 100 * 1024
"""More than a pipe holds (64 KiB), so that no reader gets it at once."""

_PIECE: Final = 4096
GRACE_S: Final = 2.0
"""How long a bot may take to exit after `quit` before it is said to linger, in seconds: longer than in a match."""

_SEARCHED: Final = 3000


async def whole(bot: BotProcess, line: bytes, limit_ns: int) -> BotReply | Violation:
    """Deliver a line as any match does."""
    return await bot.ask(line, limit_ns)


async def in_pieces(bot: BotProcess, line: bytes, limit_ns: int) -> BotReply | Violation:
    """Deliver a line as its first byte, some more, and the rest, with pauses between them."""
    middle = min(len(line) // 2, _PIECE)
    for piece in (line[:1], line[1:middle]):
        bot.tell(piece)
        await trio.sleep(PAUSE_S)
    return await bot.ask(line[middle:], limit_ns)


async def padded(bot: BotProcess, line: bytes, limit_ns: int) -> BotReply | Violation:
    """Deliver a line that an unknown field, which every bot must ignore, makes longer than `LONG_BYTES`."""
    end = line.rindex(b"}")
    return await bot.ask(line[:end] + b',"padding":"' + b" " * LONG_BYTES + b'"}\n', limit_ns)


@cache
def _most_crowded(name: str, players: int, options_text: str, seed: str) -> tuple[Any, int, int] | None:
    """The state, who acts there, and how many legal actions it has; searched once for many bots."""
    game = load_game(name)
    options = load_options(game, players, json.loads(options_text))
    rng = Random(seed)
    best: tuple[Any, int] | None = None
    most = 0
    state = game.initial(players, options)
    for _ in range(_SEARCHED):
        actors = game.actors(state)
        if not actors:
            state = game.initial(players, options)
        elif actors == (CHANCE,):
            state, _ = game.apply(state, random_roll(game.chance(state), rng))
        else:
            legal = game.legal(state, actors[0])
            if len(legal) > most:
                best, most = (state, actors[0]), len(legal)
            state, _ = game.apply(state, legal[rng.randrange(len(legal))])
    return None if best is None else (*best, most)


def crowded(spec: MatchSpec) -> tuple[MatchSpec, int, int] | None:
    """The match from the position with the most legal actions that some random play comes by.

    Also the seat that is to act there, and how many actions it has. None if no seat is ever asked.
    """
    best = _most_crowded(spec.game, len(spec.seats), json.dumps(spec.options), spec.seed)
    if best is None:
        return None
    state, seat, most = best
    game = load_game(spec.game)
    position = game.to_json(state)
    # An option that follows from others is filled in, in a position.
    filled = {**spec.options, **position_facts(game, position)[1]}
    return attrs.evolve(spec, position=position, options=filled), seat, most


@attrs.frozen
class Trial:
    """How a bot fared: the first thing it did wrong with its evidence, or None; whether it stayed after `quit`."""

    trouble: Violation | None
    lingers: bool


def try_out(
    spec: MatchSpec, seat: int, deliver: Deliver, questions: int, within_s: float = math.inf
) -> Trial | None:
    """Seat the bot of `seat` alone, and put `questions` questions to it, every line handed over by `deliver`.

    The other seats take their first legal action. None if it had to be broken off after `within_s` seconds.
    """
    with ending_leftovers():
        return trio.run(within, within_s, _try_out, load_game(spec.game), spec, seat, deliver, questions)


async def _try_out(
    game: Game[Any, Any], spec: MatchSpec, seat: int, deliver: Deliver, questions: int
) -> Trial:
    referee = Referee(game, spec)
    referee.begin()
    for other in range(len(spec.seats)):
        if other != seat:  # what a seat does not want is not collected for it, even if it says hello later
            referee.connect(other, BotHello(protocol=1, wants=()))
    bot = BotProcess(spec.seats[seat], spec.level)
    trouble: Violation | None = None
    lingers = False
    async with trio.open_nursery() as nursery:
        bot.attend(nursery)
        try:
            trouble = await _greet(referee, bot, seat, deliver) or await _question(
                referee, bot, seat, deliver, questions
            )
            bot.tell(greeting.quit_line())
        finally:
            told_s = trio.current_time()
            await bot.close(GRACE_S if trouble is None else 0)
            lingers = trouble is None and trio.current_time() - told_s >= GRACE_S
            nursery.cancel_scope.cancel()
    if trouble is not None:
        trouble.detail["stderr"] = bot.stderr.text()
    return Trial(trouble, lingers)


async def _greet(referee: Referee, bot: BotProcess, seat: int, deliver: Deliver) -> Violation | None:
    limit_ns = round(referee.spec.clock.start_s * 1e9)
    reply = await deliver(bot, greeting.hello_line(), limit_ns)
    if isinstance(reply, Violation):
        return reply
    hello = greeting.judge_hello(reply.line)
    if isinstance(hello, Violation):
        return hello
    referee.connect(seat, hello)
    reply = await deliver(bot, referee.start_line(seat), limit_ns)
    return reply if isinstance(reply, Violation) else greeting.judge_ready(reply.line)


async def _question(
    referee: Referee, bot: BotProcess, seat: int, deliver: Deliver, questions: int
) -> Violation | None:
    while questions and (step := referee.advance()) is not Situation.OVER:
        if step is Situation.FAULT:
            return referee.violation
        if referee.seat != seat:
            number = json.loads(referee.line)["id"]
            referee.answer(b'{"type":"act","id":%d,"action":0}' % number, 0, None, None)
            continue
        questions -= 1
        reply = await deliver(bot, referee.line, referee.budget_ns or 0)
        if isinstance(reply, Violation):
            return reply
        trouble = referee.answer(reply.line, reply.wall_ns, reply.cpu_ns, reply.wait_ns)
        if trouble is not None:
            return trouble
    return None
