"""One question and one answer over pipes: the exchange in Python and the one in C do the same."""

from __future__ import annotations

import os
import select
import threading
import time
from typing import TYPE_CHECKING

import pytest

from warpleague.runner.bot.children import clock_id
from warpleague.runner.bot.exchange import QUIET_NS, SHORT_NS, Pipes, line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warpleague.runner.bot.exchange import Answered, Exchange, Exchanged

OWN_CLOCK = clock_id(os.getpid())
NO_CLOCK = clock_id(1 << 22)  # no process has this number
QUESTION = b'{"type":"act","id":12,"ask":"turn"}\n'


class Bot:
    """Both ends of a bot's two pipes, and the exchange over them."""

    def __init__(self) -> None:
        self.question, self.to = os.pipe()
        self.back, self.answer = os.pipe()
        for fd in (self.question, self.to, self.back, self.answer):
            os.set_blocking(fd, False)
        self.make: Callable[..., Exchange] = Pipes
        self.pipes = self.over(OWN_CLOCK)

    def over(self, clock: int, cores: int = 1) -> Exchange:
        """An exchange over these pipes of a bot whose processor clock is `clock`."""
        return self.make(self.to, self.back, clock, cores)

    def answered(self, said: bytes, question: bytes = QUESTION) -> Answered | Exchanged:
        """What an exchange tells of a bot that answers at once; again where the machine was too busy for that."""
        while True:
            begun = time.perf_counter_ns()
            thread = threading.Thread(target=self._answer, args=(said,))
            thread.start()
            found = self.pipes.exchange(question, 60_000)
            thread.join()
            assert found is not None
            if len(found) == 3 or found[3] - found[2] < SHORT_NS:
                return found
            assert begun < found[2]

    def _answer(self, said: bytes) -> None:
        select.select([self.question], [], [])
        os.read(self.question, 1000)
        os.write(self.answer, said)

    def close(self) -> None:
        for fd in (self.question, self.to, self.back, self.answer):
            try:
                os.close(fd)
            except OSError:
                continue


@pytest.fixture(params=["python", "c"])
def bot(request: pytest.FixtureRequest) -> Iterator[Bot]:
    made = Bot()
    if request.param == "c":
        made.make = request.getfixturevalue("in_c")("_exchange").Pipes
        made.pipes = made.over(OWN_CLOCK)
    yield made
    made.close()


def test_nothing_is_sent_if_the_bot_wrote_before(bot: Bot) -> None:
    os.write(bot.answer, b"early\n")
    assert bot.pipes.exchange(b"question\n", 0) is None
    with pytest.raises(BlockingIOError):
        os.read(bot.question, 100)
    assert os.read(bot.back, 100) == b"early\n"


def test_nothing_is_sent_to_a_bot_whose_output_has_ended(bot: Bot) -> None:
    os.close(bot.answer)
    assert bot.pipes.exchange(b"question\n", 0) is None


def test_a_bot_that_does_not_answer_in_time_has_its_question(bot: Bot) -> None:
    """Both times and the clock are told; the wait is as long as asked for."""
    before = time.perf_counter_ns()
    found = bot.pipes.exchange(b"question\n", 3)
    assert found is not None
    assert len(found) == 6
    written, data, begun, _, cpu_begun, cpu = found
    assert (written, data, cpu) == (9, None, None)
    assert before <= begun
    assert time.perf_counter_ns() - begun >= 3_000_000
    assert cpu_begun is not None
    assert 0 < cpu_begun <= time.process_time_ns()
    assert os.read(bot.question, 100) == b"question\n"


def test_what_is_no_whole_line_is_told_with_its_time_and_clock(bot: Bot) -> None:
    """While it waits, other threads go on: the bot of this test is one."""
    for said in (b"part of a line", b"one\ntwo\n", b"one\ntwo", b"\n\n"):
        found = bot.answered(said)
        assert len(found) == 6
        written, data, begun, now, cpu_begun, cpu = found
        assert (written, data) == (len(QUESTION), said)
        assert begun < now <= time.perf_counter_ns()
        assert cpu_begun is not None
        assert cpu is not None
        assert cpu_begun <= cpu <= time.process_time_ns()
    assert (bot.pipes.known_ns, bot.pipes.ended_ns, bot.pipes.turns_ns) == (-1, 0, 0)


def test_a_line_that_comes_at_once_is_told_with_what_it_took(bot: Bot) -> None:
    """What is known of the bot's clocks goes on from there."""
    before = time.perf_counter_ns()
    found = bot.answered(b"a line\n")
    assert len(found) == 3
    said, wall_ns, cpu_ns = found
    assert said == b"a line"
    assert cpu_ns is not None
    assert 0 <= cpu_ns <= wall_ns == bot.pipes.turns_ns < SHORT_NS
    assert before + wall_ns <= bot.pipes.ended_ns <= time.perf_counter_ns()
    assert 0 < bot.pipes.known_ns <= time.process_time_ns()
    assert bot.pipes.alarm_ns == bot.pipes.known_ns + QUIET_NS
    assert bot.pipes.known_until_ns == bot.pipes.ended_ns + QUIET_NS


def test_on_more_cores_a_bot_may_compute_more_in_less_time(bot: Bot) -> None:
    bot.pipes = bot.over(OWN_CLOCK, cores=4)
    bot.answered(b"a line\n")
    assert bot.pipes.known_until_ns == bot.pipes.ended_ns + QUIET_NS // 4


def test_a_gap_that_must_be_judged_is_told_in_full(bot: Bot) -> None:
    """Nothing is brought up to date then: the caller judges the gap first."""
    bot.pipes.alarm_ns, bot.pipes.ended_ns = 1, 7
    found = bot.answered(b"a line\n")
    assert len(found) == 6
    assert found[1] == b"a line\n"
    assert (bot.pipes.alarm_ns, bot.pipes.ended_ns, bot.pipes.turns_ns) == (1, 7, 0)


@pytest.mark.parametrize(("index", "digits"), [(0, b"0"), (7, b"7"), (42, b"42"), (999, b"999")])
def test_an_answer_that_is_no_more_than_an_index_is_told_as_one(bot: Bot, index: int, digits: bytes) -> None:
    said = b'{"type":"act","id":12,"action":%b}' % digits
    assert bot.answered(said + b"\n")[0] == index
    assert line_of(index, QUESTION) == said


@pytest.mark.parametrize(
    "said",
    [
        b'{"type":"act","id":1,"action":0}',
        b'{"type":"act","id":123,"action":0}',
        b'{"type":"act","id":12,"action":00}',
        b'{"type":"act","id":12,"action":}',
        b'{"type":"act","id":12,"action":1000}',
        b'{"type":"act","id":12,"action":-1}',
        b'{"type":"act","id":12,"action":1e1}',
        b'{"type":"act","id":12,"action":0} ',
        b'{"type":"act","id":12,"action":{}}',
        b'{"type":"act","id":12,"action": 1}',
        b'{"type":"act","id":12}',
        b'{"type":"act","id":12,',
        b'{"type":"a',
        b"",
    ],
)
def test_any_other_line_is_told_as_it_is(bot: Bot, said: bytes) -> None:
    assert bot.answered(said + b"\n")[0] == said
    assert line_of(said, QUESTION) == said


@pytest.mark.parametrize(
    "question", [b"go\n", b'{"type":"act","id":\n', b'{"type":"act","id":12', b'{"type":"start"}\n']
)
def test_an_index_answers_only_a_question(bot: Bot, question: bytes) -> None:
    said = b'{"type":"act","id":12,"action":0}'
    assert bot.answered(said + b"\n", question)[0] == said


def test_the_clock_is_read_before_the_question_only_when_needed(bot: Bot) -> None:
    bot.pipes.known_until_ns = 1 << 62
    known = bot.pipes.exchange(b"1\n", 0)
    bot.pipes.known_until_ns = time.perf_counter_ns() - 1
    unknown = bot.pipes.exchange(b"2\n", 0)
    assert known is not None
    assert unknown is not None
    assert len(known) == len(unknown) == 6
    assert known[4] is None
    assert unknown[4] is not None


def test_a_clock_that_cannot_be_read_is_none(bot: Bot) -> None:
    found = bot.over(NO_CLOCK).exchange(b"1\n", 0)
    assert found is not None
    assert found[4:] == (None, None)


def test_a_full_pipe_takes_a_part_or_nothing(bot: Bot) -> None:
    """Then no answer is read: there cannot be one."""
    long = b"x" * (1 << 20)
    first = bot.pipes.exchange(long, 0)
    assert first is not None
    assert 0 < first[0] < len(long)
    second = bot.pipes.exchange(long, 5000)
    assert second is not None
    assert second[:2] == (0, None)


def test_a_broken_pipe_counts_as_written(bot: Bot) -> None:
    """The last words of a bot that has ended may still be there: reading tells."""
    os.close(bot.question)
    found = bot.pipes.exchange(b"question\n", 0)
    assert found is not None
    assert found[:2] == (9, None)
