"""One question and one answer over pipes, and which answers are charged as measured."""

import os
import select
import threading
import time
from collections.abc import Iterator

import pytest

from warpleague.runner.bot.child import clock_id
from warpleague.runner.bot.halt import QUIET_NS
from warpleague.runner.bot.pipe import SHORT_NS, Answer, Pipes, Sent

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
        self.pipes = self.over(OWN_CLOCK)

    def over(self, clock: int, cores: int = 1) -> Pipes:
        """The pipes of a bot whose processor clock is `clock`."""
        return Pipes(self.to, self.back, clock, cores)

    def answered(self, said: bytes, *, continues: bool = False) -> Answer | Sent:
        """What comes of a bot that answers at once; again where the machine was too busy for that."""
        while True:
            thread = threading.Thread(target=self.write_answer, args=(said,))
            thread.start()
            found = self.pipes.exchange(QUESTION, 60_000, continues)
            now = time.perf_counter_ns()
            thread.join()
            assert found is not None
            if isinstance(found, Answer) or now - found.begun_ns < SHORT_NS:
                return found

    def write_answer(self, said: bytes) -> None:
        select.select([self.question], [], [])
        os.read(self.question, 1000)
        os.write(self.answer, said)

    def close(self) -> None:
        for fd in (self.question, self.to, self.back, self.answer):
            try:
                os.close(fd)
            except OSError:
                continue


@pytest.fixture
def bot() -> Iterator[Bot]:
    made = Bot()
    yield made
    made.close()


def test_nothing_is_sent_if_the_bot_wrote_before(bot: Bot) -> None:
    os.write(bot.answer, b"early\n")
    assert not bot.pipes.silent()
    assert bot.pipes.exchange(b"question\n", 0) is None
    with pytest.raises(BlockingIOError):
        os.read(bot.question, 100)
    assert os.read(bot.back, 100) == b"early\n"


def test_nothing_is_sent_to_a_bot_whose_output_has_ended(bot: Bot) -> None:
    os.close(bot.answer)
    assert bot.pipes.exchange(b"question\n", 0) is None


def test_a_bot_that_does_not_answer_in_time_has_its_question(bot: Bot) -> None:
    """Both time and clock are read; the wait is as long as asked for."""
    before = time.perf_counter_ns()
    sent = bot.pipes.exchange(b"question\n", 3)
    assert isinstance(sent, Sent)
    assert (sent.written, sent.data) == (9, None)
    assert before <= sent.begun_ns
    assert time.perf_counter_ns() - sent.begun_ns >= 3_000_000
    assert sent.cpu_begun_ns is not None
    assert 0 < sent.cpu_begun_ns <= time.process_time_ns()
    assert os.read(bot.question, 100) == b"question\n"


@pytest.mark.parametrize("said", [b"part of a line", b"one\ntwo\n", b"one\ntwo", b"\n\n"])
def test_only_one_whole_line_is_an_answer(bot: Bot, said: bytes) -> None:
    """Anything else comes as it is. While it is waited for, other threads go on: the bot of this test is one."""
    sent = bot.answered(said)
    assert isinstance(sent, Sent)
    assert (sent.written, sent.data) == (len(QUESTION), said)
    assert sent.begun_ns <= time.perf_counter_ns()
    assert sent.cpu_begun_ns is not None
    assert sent.cpu_begun_ns <= time.process_time_ns()
    assert (bot.pipes.known_ns, bot.pipes.ended_ns, bot.pipes.turns_ns) == (-1, 0, 0)


def test_a_line_that_continues_an_earlier_one_is_no_answer_by_itself(bot: Bot) -> None:
    sent = bot.answered(b"a line\n", continues=True)
    assert isinstance(sent, Sent)
    assert sent.data == b"a line\n"


def test_a_gap_that_must_be_judged_is_told_in_full(bot: Bot) -> None:
    """Nothing is brought up to date then: the caller judges the gap first."""
    bot.pipes.gap_check_at_ns, bot.pipes.ended_ns = 1, 7
    sent = bot.answered(b"a line\n")
    assert isinstance(sent, Sent)
    assert sent.data == b"a line\n"
    assert (bot.pipes.gap_check_at_ns, bot.pipes.ended_ns, bot.pipes.turns_ns) == (1, 7, 0)


def test_a_line_that_comes_at_once_is_charged_as_measured(bot: Bot) -> None:
    """Its times are those between question and answer, and what is known of the bot's clocks goes on from there."""
    before = time.perf_counter_ns()
    answer = bot.answered(b"a line\n")
    assert isinstance(answer, Answer)
    assert (answer.line, answer.wait_ns) == (b"a line", 0)
    assert answer.cpu_ns is not None
    assert 0 <= answer.cpu_ns <= answer.wall_ns == bot.pipes.turns_ns
    assert before + answer.wall_ns <= bot.pipes.ended_ns <= time.perf_counter_ns()
    assert 0 < bot.pipes.known_ns <= time.process_time_ns()
    assert bot.pipes.gap_check_at_ns == bot.pipes.known_ns + QUIET_NS
    assert bot.pipes.skip_clock_until_ns == bot.pipes.ended_ns + QUIET_NS


@pytest.mark.parametrize("computes", [True, False])
def test_a_bot_that_computed_nearly_all_the_time_is_charged_as_measured(bot: Bot, computes: bool) -> None:
    """Others can have taken next to nothing from it. Where they may have taken more, further clocks are read."""

    def answer() -> None:
        select.select([bot.question], [], [])
        begun = time.process_time_ns()
        while computes and time.process_time_ns() - begun < 3 * SHORT_NS:
            pass  # this process stands for the bot: its clock is this one's
        if not computes:
            threading.Event().wait(3 * SHORT_NS / 1e9)
        os.write(bot.answer, b"a line\n")

    found: Answer | Sent | None = None
    for _ in range(100 if computes else 1):  # a busy machine may take some time from it
        thread = threading.Thread(target=answer)
        thread.start()
        found = bot.pipes.exchange(QUESTION, 60_000)
        thread.join()
        os.read(bot.question, 1000)
        if isinstance(found, Answer):
            break
    assert isinstance(found, Answer) is computes
    if isinstance(found, Answer):
        assert found.wall_ns >= 3 * SHORT_NS


def test_on_more_cores_a_bot_may_compute_more_in_less_time(bot: Bot) -> None:
    bot.pipes = bot.over(OWN_CLOCK, cores=4)
    bot.answered(b"a line\n")
    assert bot.pipes.skip_clock_until_ns == bot.pipes.ended_ns + QUIET_NS // 4


def test_the_clock_is_read_before_the_question_only_when_needed(bot: Bot) -> None:
    bot.pipes.skip_clock_until_ns = 1 << 62
    known = bot.pipes.exchange(b"1\n", 0)
    bot.pipes.skip_clock_until_ns = time.perf_counter_ns() - 1
    unknown = bot.pipes.exchange(b"2\n", 0)
    assert isinstance(known, Sent)
    assert isinstance(unknown, Sent)
    assert known.cpu_begun_ns is None
    assert unknown.cpu_begun_ns is not None


def test_a_clock_that_cannot_be_read_is_none(bot: Bot) -> None:
    sent = bot.over(NO_CLOCK).exchange(b"1\n", 0)
    assert isinstance(sent, Sent)
    assert sent.cpu_begun_ns is None


def test_a_full_pipe_takes_a_part_or_nothing(bot: Bot) -> None:
    """Then no answer is read: there cannot be one."""
    long = b"x" * (1 << 20)
    first = bot.pipes.exchange(long, 0)
    assert isinstance(first, Sent)
    assert 0 < first.written < len(long)
    second = bot.pipes.exchange(long, 5000)
    assert isinstance(second, Sent)
    assert (second.written, second.data) == (0, None)


def test_a_broken_pipe_counts_as_written(bot: Bot) -> None:
    """The last words of a bot that has ended may still be there: reading tells."""
    os.close(bot.question)
    sent = bot.pipes.exchange(b"question\n", 0)
    assert isinstance(sent, Sent)
    assert (sent.written, sent.data) == (9, None)
