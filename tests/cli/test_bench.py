"""The benchmark says what it measures, and says so where noise hides a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest

from warpleague.cli.bench.beyond import beyond, rate
from warpleague.cli.bench.rows import Figure, Row, medians

if TYPE_CHECKING:
    from collections.abc import Callable


@attrs.frozen
class _Run:
    seconds: float
    cpu_s: float


def _command(second: float, noise: float) -> Callable[[int], _Run]:
    """A command whose repetitions take `second` seconds each, and whose runs vary by `noise` seconds."""
    count = iter(range(1000))

    def run(times: int) -> _Run:
        seconds = 1.0 + times * second + next(count) % 3 * noise / 2
        return _Run(seconds, 0.25 * seconds)

    return run


def test_fixed_part_of_a_command_is_taken_away() -> None:
    """Where runs hardly vary, a repetition costs what the long run took beyond the short one."""
    more = beyond(_command(0.01, 0.001), 1, 101)
    assert more.seconds == pytest.approx(1.0, abs=0.002)


def test_long_run_grows_until_the_difference_is_clear() -> None:
    """A difference that is less than five times the spread of like runs is not taken: the long run is doubled."""
    seen: list[int] = []
    command = _command(0.01, 0.3)

    def run(times: int) -> _Run:
        seen.append(times)
        return command(times)

    more = beyond(run, 1, 100)
    assert more.seconds is not None
    assert max(seen) == 200


def test_noise_hides_a_difference() -> None:
    """Where noise is larger than what is measured, the row has no value, in the table and in JSON."""
    more = beyond(_command(1e-6, 0.5), 1, 10)
    assert more.seconds is None
    figures = rate("peer", more, 9, 600, 2.2)
    assert [figure.value for figure in figures] == [None, None]
    row = medians(Row("short", "what", "leagues:short"), [figures])[0]
    assert (row["value"], row["met"], row["ratio"]) == (None, None, None)


def test_rounds_that_could_measure_count() -> None:
    """The median is that of the rounds in which the figure could be measured."""
    rounds = [[Figure("a", value)] for value in (None, 3.0, 5.0)]
    assert medians(Row("short", "what", "leagues:short"), rounds)[0]["value"] == 4.0
