"""Spreading tasks over processes: what a Ctrl-C at a bad moment ends in."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from warpleague.extras.study.rerun import spread


def double(number: int) -> int:
    """A task."""
    return 2 * number


def interrupted_wait() -> None:
    """Do what a wait does that a Ctrl-C breaks off just when it has let go of its lock."""
    condition = threading.Condition()
    with condition:
        condition.release()
        raise KeyboardInterrupt


def test_a_ctrl_c_that_leaves_a_lock_free_is_a_ctrl_c() -> None:
    """The error of the lock, which hides the Ctrl-C, does not reach whoever waits for the results."""

    def tasks() -> Iterator[int]:
        yield from range(4)
        interrupted_wait()

    with pytest.raises(RuntimeError, match="un-acquired lock"):
        interrupted_wait()
    with closing(spread(double, tasks(), jobs=1)) as results:
        assert next(results) == 0
        with pytest.raises(KeyboardInterrupt):
            list(results)


def test_other_errors_of_locks_are_bugs() -> None:
    """An error of a lock that hides nothing is raised as it is."""

    def tasks() -> Iterator[int]:
        yield 1
        threading.Condition().release()

    with pytest.raises(RuntimeError, match="un-acquired lock"):
        list(spread(double, tasks(), jobs=1))


def test_the_command_line_reports_it_as_a_ctrl_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that ends so has exit code 130 and no traceback."""
    from warpleague.cli import main
    from warpleague.cli.tools import Tools

    def prepare(folder: Path) -> NoReturn:
        interrupted_wait()
        raise AssertionError(folder)

    words = ["league", "run", "leagues/demo.toml", "--results", str(tmp_path)]
    assert main(words, Tools(prepare=prepare)) == 130
    assert "interrupted" in capsys.readouterr().err
