"""Tests a bot with questions that arrive in awkward ways: in pieces, very long, or with very many legal actions."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import cycle
from random import Random
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.games import load_game
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_roll
from warpleague.match import greeting
from warpleague.match.referee import Referee, Situation
from warpleague.match.setup import load_options, players_and_options
from warpleague.match.spec import Violation
from warpleague.runner import playing
from warpleague.runner.bot.process import BotProcess, never_late
from warpleague.runner.host.reaper import ending_leftovers
from warpleague.runner.play import within
from warpline.messages import BotHello

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from warpleague.games.api import Game
    from warpleague.match.spec import MatchSpec
    from warpleague.runner.bot.exchange import Answer
    from warpleague.runner.bot.waiting import IsLate

    Way = Callable[[bytes], list[bytes]]
    """How a line is handed over: the pieces that it is sent in, one after the other."""

PAUSE_S: Final = 0.02
"""Between the pieces of a line, in seconds: a reader that takes what is there for a line has long taken it."""

LONG_BYTES: Final = 100 * 1024
"""More than a pipe holds (64 KiB), so that no reader gets it at once."""

_PIECE: Final = 4096
GRACE_S: Final = 2.0
"""How many seconds a bot may take to exit after `quit` before a check calls it lingering: longer than in a match."""

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
    """The bot of a seat, whose lines are handed over in these `ways`.

    Its time begins with the last piece. When it ends it may stay for `grace_s` seconds, to see whether it does.
    """

    def __init__(self, referee: Referee, seat: int, ways: Iterator[Way], grace_s: float) -> None:
        super().__init__(referee.spec.seats[seat], referee.spec.level)
        self.lingers = False
        """Whether it stayed after `quit` and the end of its input."""
        self._ways, self._grace_s = ways, grace_s

    async def ask(
        self, line: bytes, budget_ns: int | None, is_late: IsLate = never_late
    ) -> Answer | Violation:
        """As `BotProcess.ask`, with a line that is handed over in the next way."""
        *pieces, last = next(self._ways)(line)
        for piece in pieces:
            self.tell(piece)
            await trio.sleep(PAUSE_S)
        return await super().ask(last, budget_ns, is_late)

    async def close(self, grace_s: float) -> None:
        """As `BotProcess.close`."""
        begun_s = trio.current_time()
        patient = grace_s >= playing.GRACE_S
        await super().close(self._grace_s if patient else grace_s)
        self.lingers = patient and trio.current_time() - begun_s >= self._grace_s


@cache
def _most_crowded(name: str, players: int, options_text: str) -> tuple[Any, int, int] | None:
    """The state, who acts there, and how many legal actions it has; searched once for many bots."""
    game = load_game(name)
    options = load_options(game, players, json.loads(options_text))
    rng = Random(name)
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
    best = _most_crowded(spec.game, len(spec.seats), json.dumps(spec.options))
    if best is None:
        return None
    state, seat, most = best
    game = load_game(spec.game)
    position = game.to_json(state)
    # An option that follows from others is filled in, in a position.
    filled = {**spec.options, **players_and_options(game, position)[1]}
    return attrs.evolve(spec, position=position, options=filled), seat, most


@attrs.frozen
class Trial:
    """How a bot fared: the first thing it did wrong with its evidence, or None; whether it stayed after `quit`.

    `said` are its answers, each as it stands in the record.
    """

    trouble: Violation | None
    lingers: bool
    said: tuple[Any, ...]


def try_out(
    spec: MatchSpec,
    seat: int,
    ways: Sequence[Way],
    questions: int,
    seconds: float = math.inf,
    grace_s: float = GRACE_S,
) -> Trial | None:
    """Seat the bot of `seat` alone, and put `questions` questions to it; its lines come in these `ways`, in turn.

    The other seats take their first legal action. None if it took more than `seconds` and was cancelled. The
    bot lingers if it has not exited `grace_s` seconds after `quit`.
    """
    game = load_game(spec.game)
    with ending_leftovers():
        return trio.run(within, seconds, _try_out, game, spec, seat, ways, questions, grace_s)


async def _try_out(
    game: Game[Any, Any], spec: MatchSpec, seat: int, ways: Sequence[Way], questions: int, grace_s: float
) -> Trial:
    referee = Referee(game, spec)
    referee.begin()
    for other in range(len(spec.seats)):
        if other != seat:  # what a seat does not want is not collected for it, even if it says hello later
            referee.connect(other, BotHello(protocol=1, wants=()))
    bot = AwkwardBot(referee, seat, cycle(ways), grace_s)
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
    acts = map(json.loads, referee.lines_since(1))
    answers = tuple(act["action"] for act in acts if act["type"] == "act" and act["seat"] == seat)
    return Trial(trouble, bot.lingers, answers)


async def _question(referee: Referee, bot: BotProcess, seat: int, questions: int) -> Violation | None:
    """The error, if any."""
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
