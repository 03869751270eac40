"""Tests a bot with questions that arrive in awkward ways: in pieces, very long, or with very many legal actions.

A trial may repeat a seat of a match, to see whether the bot decides as it did there.
"""

from __future__ import annotations

import json
import math
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec
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


class InTurns:
    """Delivers lines in pieces and padded, in turns, and those after the first few whole."""

    def __init__(self, awkward: int) -> None:
        self._left = awkward

    async def __call__(self, bot: BotProcess, line: bytes, limit_ns: int) -> BotReply | Violation:
        """Deliver the next line."""
        if self._left == 0:
            return await whole(bot, line, limit_ns)
        self._left -= 1
        return await (in_pieces if self._left % 2 else padded)(bot, line, limit_ns)


class Script:
    """The decisions of a match that was played, in their order, for another one that is to repeat it."""

    def __init__(self, record: bytes) -> None:
        self.same = True
        """Whether all was decided alike so far."""
        self._decisions = _decisions(record.splitlines())
        self._at = 0

    def compare(self, lines: list[bytes]) -> None:
        """Take what was decided since the last time, as lines of a record."""
        found = _decisions(lines)
        self.same = self.same and found == self._decisions[self._at : self._at + len(found)]
        self._at += len(found)

    def next(self) -> Any:
        """What was decided next, as an answer gives it; 0 once something was decided otherwise."""
        return self._decisions[self._at][1] if self.same else 0


def _decisions(lines: list[bytes]) -> list[tuple[int, Any]]:
    acts = (msgspec.json.decode(line) for line in lines if b'"type":"act"' in line)
    return [(act["seat"], act["action"]) for act in acts]


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
    """How a bot fared: the first thing it did wrong with its evidence, or None; whether it stayed after `quit`.

    `same` is whether it decided as in the match that it was to repeat. `most` is the largest number of legal actions
    that it chose from.
    """

    trouble: Violation | None
    lingers: bool
    same: bool = True
    most: int = 0


def try_out(
    spec: MatchSpec,
    seat: int,
    deliver: Deliver,
    questions: int,
    within_s: float = math.inf,
    script: Script | None = None,
) -> Trial | None:
    """Seat the bot of `seat` alone, and put `questions` questions to it, every line handed over by `deliver`.

    With a `script` of the same match it gets all questions of the match, as long as it decides alike, and the other
    seats decide as they did there. Without one they take their first legal action. None if it had to be broken off
    after `within_s` seconds.
    """
    game = load_game(spec.game)
    with ending_leftovers():
        return trio.run(within, within_s, _try_out, game, spec, seat, deliver, questions, script)


async def _try_out(
    game: Game[Any, Any],
    spec: MatchSpec,
    seat: int,
    deliver: Deliver,
    questions: int,
    script: Script | None,
) -> Trial:
    referee = Referee(game, spec)
    referee.begin()
    for other in range(len(spec.seats)):
        if other != seat:  # what a seat does not want is not collected for it, even if it says hello later
            referee.connect(other, BotHello(protocol=1, wants=()))
    bot = BotProcess(spec.seats[seat], spec.level)
    trouble: Violation | None = None
    lingers, most = False, 0
    async with trio.open_nursery() as nursery:
        bot.attend(nursery)
        try:
            trouble = await _greet(referee, bot, seat, deliver)
            if trouble is None:
                trouble, most = await _question(referee, bot, seat, deliver, questions, script)
            bot.tell(greeting.quit_line())
        finally:
            told_s = trio.current_time()
            await bot.close(GRACE_S if trouble is None else 0)
            lingers = trouble is None and trio.current_time() - told_s >= GRACE_S
            nursery.cancel_scope.cancel()
    if trouble is not None:
        trouble.detail["stderr"] = bot.stderr.text()
    return Trial(trouble, lingers, script is None or script.same, most)


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
    referee: Referee,
    bot: BotProcess,
    seat: int,
    deliver: Deliver,
    questions: int,
    script: Script | None,
) -> tuple[Violation | None, int]:
    """What was wrong, if anything, and the largest number of legal actions that the bot chose from."""
    seen = 1  # the header
    most = 0
    while (step := referee.advance()) is not Situation.OVER:
        if step is Situation.FAULT:
            return referee.violation, most
        action: Any = 0
        if script is not None and script.same:
            lines = referee.lines_since(seen)
            seen += len(lines)
            script.compare(lines)
            action = script.next()
        elif questions <= 0:
            break
        if referee.seat != seat:
            answer = {"type": "act", "id": json.loads(referee.line)["id"], "action": action}
            referee.answer(json.dumps(answer).encode(), 0, None, None)
            continue
        questions -= 1
        actions = len(referee.legal)
        reply = await deliver(bot, referee.line, referee.budget_ns or 0)
        if isinstance(reply, Violation):
            return reply, most
        trouble = referee.answer(reply.line, reply.wall_ns, reply.cpu_ns, reply.wait_ns)
        if trouble is not None:
            return trouble, most
        most = max(most, actions)
    if script is not None and script.same:
        script.compare(referee.lines_since(seen))
    return None, most
