"""The rows about decisions within a match: the wire, what the default wants cost, charged time, and verify."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING, Any

import attrs
import msgspec
import trio

from warpleague.cli.bench.engines import engine_s
from warpleague.cli.bench.ground import ASKING, PINGPONG_US
from warpleague.cli.bench.nullgame import NullGame
from warpleague.cli.bench.rows import Figure
from warpleague.match.referee import Referee
from warpleague.match.replay import verify_record
from warpleague.runner.playing import Match

if TYPE_CHECKING:
    from warpleague.cli.bench.ground import Ground
    from warpleague.games.api import Game
    from warpleague.match.spec import MatchResult, SeatSpec


@attrs.frozen
class Played:
    """Matches that were played: microseconds a decision within them, the engine's share, how many decisions."""

    us: float
    share: float
    decisions: int


def wire(ground: Ground) -> list[Figure]:
    """A decision of two trivial bots in a game with hardly any rules: it measures the wire and the record."""
    with ground.one_core():
        base = ground.measure_base()
        us = play(ground, NullGame(), ground.seat(), 3).us
    return [Figure("null game", us / base, goal=2.5)]


def wants(ground: Ground) -> list[Figure]:
    """A decision of bots that get position, events and legal actions, over one of bots that want nothing."""
    figures: list[Figure] = []
    with ground.one_core():
        for name, game in ground.games.items():
            none = play(ground, game, ground.seat(), 10)
            every = play(ground, game, ground.seat(wants=True), 10)
            figures.append(Figure(name, every.us / none.us, goal=1.5))
    return figures


def verify(ground: Ground) -> list[Figure]:
    """A decision of a record that is executed again and checked, as `replay verify` does it."""
    figures: list[Figure] = []
    with ground.one_core():
        base = ground.measure_base()
        for name, game in ground.games.items():
            results = [_match(ground, game, ground.seat(), number) for number in range(ground.times(5))]
            gc.collect()
            begun = time.perf_counter()
            for result in results:
                verify_record(result.record)
            us = (time.perf_counter() - begun) * 1e6 / sum(_decisions(result) for result in results)
            figures.append(
                Figure(
                    name,
                    us,
                    "µs",
                    goal=17.0,
                    ratio=us / base,
                    over="ping-pong",
                    ratio_goal=17.0 / PINGPONG_US,
                )
            )
    return figures


def undercharge(ground: Ground) -> list[Figure]:
    """The share of decisions of a bot that computes 1 ms which are recorded with less than half of it."""
    game = next(iter(ground.games.values()))
    seat = ground.built(ground.bot_folder(f"-D{ASKING}", "-DBURN_MS=1"))
    low = decisions = 0
    with ground.one_core():
        for number in range(ground.times(5)):
            for line in _match(ground, game, seat, number).record.splitlines():
                data = msgspec.json.decode(line)
                if "ms" in data:
                    decisions += 1
                    low += data["ms"][0] < 0.5
    return [Figure(f"of {game.id}", 100 * low / decisions, "%", goal=0.1)]


def play(ground: Ground, game: Game[Any, Any], seat: SeatSpec, matches: int) -> Played:
    """Play whole matches of trivial bots on this core; what is measured lies between greeting and end."""
    spent = engine = 0.0
    decisions = 0
    for number in range(ground.times(matches)):
        gc.collect()
        result = _match(ground, game, seat, number)
        spent += result.playing_s
        decisions += _decisions(result)
        if game.id != "null":
            engine += engine_s(game, result.record)
    return Played(spent * 1e6 / decisions, engine / spent, decisions)


def _match(ground: Ground, game: Game[Any, Any], seat: SeatSpec, number: int) -> MatchResult:
    async def play() -> MatchResult:
        return await Match(Referee(game, ground.spec(game, seat, number))).play()

    return trio.run(play)


def _decisions(result: MatchResult) -> int:
    return sum(times.decisions for times in result.times)
