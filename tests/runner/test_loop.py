"""Matches that share an event loop: whose bot may compute when, and how many matches there is room for."""

import os
from collections.abc import Awaitable, Callable
from random import Random

import attrs
import pytest
import trio
from tests.runner.conftest import MakeSeat, MakeSpec
from trio.testing import MockClock

from warpleague.league.referees.process import Room
from warpleague.match.chance import match_key
from warpleague.match.spec import MatchResult, MatchSpec
from warpleague.runner.bot.clocks import FREEZE_S, Loop, LoopShare
from warpleague.runner.play import end_idle, play_beside, play_match

MS = 1_000_000
SLEEPS = """
import select
from warpline.client import run

def choose(question):
    select.select([], [], [], 0.03)
    return 0

run(choose, wants=())
"""
COMPUTES = """
import time
from warpline.client import run

def choose(question):
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    return 0

run(choose, wants=())
"""


@pytest.mark.parametrize("seed", range(5))
def test_one_computes_at_a_time_and_all_get_their_turn(
    seed: int,
) -> None:
    """However long decisions compute or sleep, no question is asked while a bot computes, and none is forgotten."""
    rng = Random(seed)
    asked = []

    async def play(name: int) -> None:
        loop = Loop.here()
        share = LoopShare(loop)
        share.plays = True
        for _ in range(5):
            if loop.taken:
                await loop.turn(lambda: None)
            assert not loop.computing
            asked.append(name)
            if rng.random() < 0.3:
                continue  # it answers at once
            with share.asked():
                for _ in range(rng.randrange(4)):
                    await trio.sleep(rng.random())
                    share.note(sleeps=rng.random() < 0.5)
            if rng.random() < 0.5:
                await trio.lowlevel.checkpoint()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for name in range(6):
                nursery.start_soon(play, name)
        assert (Loop.here().asked, Loop.here().computing, Loop.here().taken) == (0, 0, False)

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert sorted(asked) == [name for name in range(6) for _ in range(5)]


def test_a_match_that_waits_for_its_turn_is_frozen() -> None:
    """Bots that must wait long for their turn are frozen, so that they do not disturb the one that computes."""
    frozen = []

    async def main() -> None:
        share = LoopShare(Loop.here())
        share.plays = True
        async with trio.open_nursery() as nursery:
            with share.asked():
                nursery.start_soon(Loop.here().turn, lambda: frozen.append(trio.current_time()))
                began = trio.current_time()
                await trio.sleep(1)
        assert frozen == [pytest.approx(began + FREEZE_S)]

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_matches_on_one_loop_are_those_played_alone(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Side by side, waiting bots wait at the same time, and each record is that of the match by itself."""
    seats = make_seat("sleeps", SLEEPS), make_seat("also", SLEEPS)
    specs = [
        attrs.evolve(make_spec(*seats, level="limits", max_turns=2), id=f"test {i}", key=match_key(f"{i}"))
        for i in range(4)
    ]
    alone = play_match(specs[0])
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, Loop.here().asked - Loop.here().starting)
            await trio.sleep(0.005)

    assert beside(specs, watch)["test 0"].digest == alone.digest
    assert most > 1


def test_bots_that_compute_take_turns(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Of the matches on one loop, only one has a bot that computes, and each bot is charged what it computed."""
    counts = []

    async def watch() -> None:
        while True:
            counts.append(Loop.here().computing)
            await trio.sleep(0.002)

    seats = make_seat("computes", COMPUTES), make_seat("also", COMPUTES)
    results = beside(
        [
            attrs.evolve(make_spec(*seats, max_turns=2), id=f"test {i}", key=match_key(f"{i}"))
            for i in range(2)
        ],
        watch,
    )
    # A busy machine may not show for a moment that a bot computes.
    assert sum(count > 1 for count in counts) <= len(counts) // 10
    for result in results.values():
        for times in result.times:
            assert times.cpu_ms > 19 * times.decisions


def beside(specs: list[MatchSpec], watch: Callable[[], Awaitable[None]]) -> dict[str, MatchResult]:
    """The results of matches that are played on one loop, by their ids; `watch` runs beside them."""
    results = {}

    async def play(spec: MatchSpec) -> None:
        results[spec.id] = await play_beside(spec)

    async def main() -> None:
        async with trio.open_nursery() as watching:
            watching.start_soon(watch)
            async with trio.open_nursery() as nursery:
                for spec in specs:
                    nursery.start_soon(play, spec)
            watching.cancel_scope.cancel()

    try:
        trio.run(main)
    finally:
        end_idle()
    return results


class QueuedLoop(Loop):
    """A loop on which so many matches wait for their turn."""

    waiting_matches = 0

    @property
    def queued(self) -> int:
        return self.waiting_matches


def test_there_is_room_for_more_while_bots_sleep() -> None:
    """Where the core is idle the matches double; where bots compute and others are held back they become fewer."""
    memory = [True]
    now = 0
    loop = QueuedLoop(lambda: now)
    room = Room(loop, lambda: memory[0])
    found = []
    for _ in range(7):
        loop.matches = room.tasks
        now, loop.idle_ns = now + 100, loop.idle_ns + 90
        found.append(room.decide(now))
    assert found == [2, 4, 8, 16, 32, 48, 64]
    now, loop.computed_ns = now + 100, loop.computed_ns + 95
    assert room.decide(now) == 64  # nobody is held back
    loop.waiting_matches = 3
    for _ in range(40):
        now, loop.computed_ns = now + 100, loop.computed_ns + 95
        room.decide(now)
    assert room.tasks == 1
    memory[0] = False
    now, loop.idle_ns = now + 100, loop.idle_ns + 90
    assert room.decide(now) == 1  # no memory is left


class Clock:
    """A clock that stands still until it is moved on."""

    def __init__(self) -> None:
        self.now = 1_000 * MS
        self.waited = 0

    def loop(self) -> Loop:
        """A loop that goes by this clock."""
        return Loop(lambda: self.now, lambda: (0, self.waited))


@pytest.fixture
def clock() -> Clock:
    return Clock()


def io_wait(loop: Loop, clock: Clock, took: int, waited: int = 0, limit_s: float = 0.0) -> None:
    loop.before_io_wait(limit_s)
    clock.now, clock.waited = clock.now + took, clock.waited + waited
    loop.after_io_wait(limit_s)


@pytest.mark.parametrize(("took", "waited"), [(MS // 10, 0), (MS // 2, 0), (8 * MS, 8 * MS)])
def test_a_loop_that_asks_late_charges_nobody_for_it(clock: Clock, took: int, waited: int) -> None:
    """If the kernel answers at once, though slowly or without a processor, the answer may have been there before."""
    loop = clock.loop()
    io_wait(loop, clock, 20 * MS)
    clock.now += 30 * MS  # busy with other matches
    io_wait(loop, clock, took, waited)
    assert loop.queued_ns(clock.now, 0) >= 30 * MS


def test_an_answer_that_ended_a_wait_has_just_come(clock: Clock) -> None:
    """If the loop slept until the answer came, the bot is charged for all but the wait for a processor after that."""
    loop = clock.loop()
    io_wait(loop, clock, 20 * MS)
    clock.now += 30 * MS
    io_wait(loop, clock, 20 * MS, 3 * MS, limit_s=1.0)
    assert loop.queued_ns(clock.now, 0) == 3 * MS


def test_a_bot_that_slept_while_the_loop_was_busy_is_charged_for_that(clock: Clock) -> None:
    """While other matches go on, it is seen whose answers are not there yet: until then these bots took their time."""
    output, answer = os.pipe()
    other, _ = os.pipe()

    async def main() -> None:
        loop = clock.loop()
        share, beside = LoopShare(loop), LoopShare(loop)
        io_wait(loop, clock, 20 * MS)
        with share.waiting(trio.CancelScope(), output, lambda _: True):
            for match in range(5):
                clock.now += 10 * MS
                if match == 3:
                    os.write(answer, b"!")
                with beside.waiting(trio.CancelScope(), other, lambda _: True):
                    pass
        # The answer came between 40 and 50 ms after the beginning, and it was not there at 30.
        assert 20 * MS <= loop.queued_ns(clock.now, share.absent_ns) <= 22 * MS

    trio.run(main)
