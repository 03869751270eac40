"""Tests a bot with questions that arrive in awkward ways: in pieces, very long, or with very many legal actions."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import chain, repeat
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
from warpleague.runner import playing
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.host.reaper import ending_leftovers
from warpleague.runner.play import within
from warpline.messages import BotHello

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from warpleague.games.api import Game
    from warpleague.match.spec import MatchSpec
    from warpleague.runner.bot.exchange import Answered, BotReply

    Way = Callable[[bytes], list[bytes]]
    """How a line is handed over: the pieces that it is sent in, one after the other."""

PAUSE_S: Final = 0.02
"""Between the pieces of a line, in seconds: a reader that takes what is there for a line has long taken it."""

LONG_BYTES: Final = 100 * 1024
"""More than a pipe holds (64 KiB), so that no reader gets it at once."""

_PIECE: Final = 4096
GRACE_S: Final = 2.0
"""How long a bot may take to exit after `quit` before it is said to linger, in seconds: longer than in a match."""

_SEARCHED: Final = 3000


def whole(line: bytes) -> list[bytes]:
    """A line as any match sends it."""
    return [line]


def in_pieces(line: bytes) -> list[bytes]:
    """A line as its first byte, some more, and the rest."""
    middle = min(len(line) // 2, _PIECE)
    return [line[:1], line[1:middle], line[middle:]]


def padded(line: bytes) -> list[bytes]:
    """A line that an unknown field, which every bot must ignore, makes longer than `LONG_BYTES`."""
    end = line.rindex(b"}")
    return [line[:end] + b',"padding":"' + b" " * LONG_BYTES + b'"}\n']


class AwkwardBot(BotProcess):
    """The bot of a seat, whose lines are handed over in these `ways`, and whole when there are no more.

    Its time begins with the last piece. When it ends it may stay for `GRACE_S`, to see whether it does.
    """

    def __init__(self, referee: Referee, seat: int, ways: Iterable[Way]) -> None:
        super().__init__(referee.spec.seats[seat], referee.spec.level)
        self.most = 0
        """The largest number of legal actions that it was to choose from."""
        self.lingers = False
        """Whether it stayed after `quit` and the end of its input."""
        self._referee = referee
        self._ways = iter(ways)
        self._later: tuple[list[bytes], int | None, Callable[[bytes], bool] | None] | None = None

    def put(
        self, line: bytes, budget_ns: int | None, forgive: Callable[[bytes], bool] | None = None
    ) -> Answered | Violation | None:
        """As `BotProcess.put`; a line in pieces is sent by `awaited`."""
        self.most = max(self.most, len(self._referee.legal))
        pieces = next(self._ways, whole)(line)
        if len(pieces) == 1:
            return super().put(pieces[0], budget_ns, forgive)
        self._later = pieces, budget_ns, forgive
        return None

    async def awaited(self) -> BotReply | Violation:
        """As `BotProcess.awaited`."""
        if self._later is None:
            return await super().awaited()
        (pieces, budget_ns, forgive), self._later = self._later, None
        for piece in pieces[:-1]:
            self.tell(piece)
            await trio.sleep(PAUSE_S)
        self._ways = chain([whole], self._ways)
        return await self.ask(pieces[-1], budget_ns, forgive)

    async def close(self, grace_s: float) -> None:
        """As `BotProcess.close`."""
        begun_s = trio.current_time()
        patient = grace_s >= playing.GRACE_S
        await super().close(GRACE_S if patient else grace_s)
        self.lingers = patient and trio.current_time() - begun_s >= GRACE_S


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


def try_out(spec: MatchSpec, seat: int, way: Way, questions: int, within_s: float = math.inf) -> Trial | None:
    """Seat the bot of `seat` alone, and put `questions` questions to it, every line handed over in one `way`.

    The other seats take their first legal action. None if it had to be broken off after `within_s` seconds.
    """
    game = load_game(spec.game)
    with ending_leftovers():
        return trio.run(within, within_s, _try_out, game, spec, seat, way, questions)


async def _try_out(game: Game[Any, Any], spec: MatchSpec, seat: int, way: Way, questions: int) -> Trial:
    referee = Referee(game, spec)
    referee.begin()
    for other in range(len(spec.seats)):
        if other != seat:  # what a seat does not want is not collected for it, even if it says hello later
            referee.connect(other, BotHello(protocol=1, wants=()))
    bot = AwkwardBot(referee, seat, repeat(way))
    trouble: Violation | None = None
    async with trio.open_nursery() as nursery:
        bot.attend(nursery)
        try:
            trouble = await playing.greet(referee, seat, bot)
            if trouble is None:
                trouble = await _question(referee, bot, seat, questions)
            bot.tell(greeting.quit_line())
        finally:
            await bot.close(playing.GRACE_S if trouble is None else 0)
            nursery.cancel_scope.cancel()
    if trouble is not None:
        trouble.detail["stderr"] = bot.stderr.text()
    return Trial(trouble, bot.lingers)


async def _question(referee: Referee, bot: BotProcess, seat: int, questions: int) -> Violation | None:
    """What was wrong, if anything."""
    while (step := referee.advance()) is not Situation.OVER:
        if step is Situation.FAULT:
            return referee.violation
        if questions <= 0:
            break
        if referee.seat != seat:
            answer = {"type": "act", "id": json.loads(referee.line)["id"], "action": 0}
            referee.answer(json.dumps(answer).encode(), 0, None, None)
            continue
        questions -= 1
        reply = await bot.ask(referee.line, referee.budget_ns)
        if isinstance(reply, Violation):
            return reply
        trouble = referee.answer(reply.line, reply.wall_ns, reply.cpu_ns, reply.wait_ns)
        if trouble is not None:
            return trouble
    return None
