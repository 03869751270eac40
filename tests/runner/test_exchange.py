"""One question and one answer over pipes: the exchange in Python and the one in C do the same."""

from __future__ import annotations

import importlib.util
import os
import runpy
import shutil
import sysconfig
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from warpleague.runner.bot.children import clock_id
from warpleague.runner.bot.exchange import Pipes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warpleague.runner.bot.exchange import Exchange

COMPILE = Path(__file__).parents[2] / "scripts" / "compile.py"
OWN_CLOCK = clock_id(os.getpid())
NO_CLOCK = clock_id(1 << 22)  # no process has this number


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """The exchange in C, compiled for these tests."""
    if shutil.which("cc") is None or not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        pytest.skip("no C compiler, or no headers of Python")
    program = runpy.run_path(str(COMPILE))
    (source,) = (path for path in program["sources"]() if path.name == "_exchange.c")
    made = program["compile_into"](tmp_path_factory.mktemp("compiled"), source)
    spec = importlib.util.spec_from_file_location("_exchange", made)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    exchange: Callable[..., Any] = module.exchange
    return exchange


class Bot:
    """Both ends of a bot's two pipes, and the exchange over them."""

    def __init__(self) -> None:
        self.question, self.to = os.pipe()
        self.back, self.answer = os.pipe()
        for fd in (self.question, self.to, self.back, self.answer):
            os.set_blocking(fd, False)
        self.ask: Exchange = Pipes(self.to, self.back).exchange

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
        made.ask = partial(request.getfixturevalue("in_c"), made.to, made.back)
    yield made
    made.close()


def test_nothing_is_sent_if_the_bot_wrote_before(bot: Bot) -> None:
    os.write(bot.answer, b"early\n")
    assert bot.ask(b"question\n", 0, OWN_CLOCK, 0) is None
    with pytest.raises(BlockingIOError):
        os.read(bot.question, 100)
    assert os.read(bot.back, 100) == b"early\n"


def test_nothing_is_sent_to_a_bot_whose_output_has_ended(bot: Bot) -> None:
    os.close(bot.answer)
    assert bot.ask(b"question\n", 0, OWN_CLOCK, 0) is None


def test_a_bot_that_does_not_answer_in_time_has_its_question(bot: Bot) -> None:
    """Both times and the clock are told; the wait is as long as asked for."""
    before = time.perf_counter_ns()
    found = bot.ask(b"question\n", 3, OWN_CLOCK, 0)
    assert found is not None
    written, data, begun, _, cpu_begun, cpu = found
    assert (written, data, cpu) == (9, None, None)
    assert before <= begun
    assert time.perf_counter_ns() - begun >= 3_000_000
    assert cpu_begun is not None
    assert 0 < cpu_begun <= time.process_time_ns()
    assert os.read(bot.question, 100) == b"question\n"


def test_an_answer_is_read_with_its_time_and_clock(bot: Bot) -> None:
    """While it waits, other threads go on: the bot of this test is one."""
    os.set_blocking(bot.question, True)

    def answer() -> None:
        os.read(bot.question, 100)
        os.write(bot.answer, b"answer\n")

    thread = threading.Thread(target=answer)
    thread.start()
    found = bot.ask(b"question\n", 5000, OWN_CLOCK, 0)
    thread.join()
    assert found is not None
    written, data, begun, now, cpu_begun, cpu = found
    assert (written, data) == (9, b"answer\n")
    assert begun < now <= time.perf_counter_ns()
    assert cpu_begun is not None
    assert cpu is not None
    assert cpu_begun <= cpu <= time.process_time_ns()


def test_the_clock_is_read_before_the_question_only_when_needed(bot: Bot) -> None:
    known = bot.ask(b"1\n", 0, OWN_CLOCK, 1 << 62)
    unknown = bot.ask(b"2\n", 0, OWN_CLOCK, time.perf_counter_ns() - 1)
    assert known is not None
    assert unknown is not None
    assert known[4] is None
    assert unknown[4] is not None


def test_a_clock_that_cannot_be_read_is_none(bot: Bot) -> None:
    found = bot.ask(b"1\n", 0, NO_CLOCK, 0)
    assert found is not None
    assert found[4:] == (None, None)


def test_a_full_pipe_takes_a_part_or_nothing(bot: Bot) -> None:
    """Then no answer is read: there cannot be one."""
    long = b"x" * (1 << 20)
    first = bot.ask(long, 0, OWN_CLOCK, 0)
    assert first is not None
    assert 0 < first[0] < len(long)
    second = bot.ask(long, 5000, OWN_CLOCK, 0)
    assert second is not None
    assert second[:2] == (0, None)


def test_a_broken_pipe_counts_as_written(bot: Bot) -> None:
    """The last words of a bot that has ended may still be there: reading tells."""
    os.close(bot.question)
    found = bot.ask(b"question\n", 0, OWN_CLOCK, 0)
    assert found is not None
    assert found[:2] == (9, None)
