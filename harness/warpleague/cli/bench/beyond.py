"""Measures the extra time of a longer run over a shorter one, or says that noise hides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

import attrs

from warpleague.cli.bench.ground import PINGPONG_US
from warpleague.cli.bench.rows import Figure

if TYPE_CHECKING:
    from collections.abc import Callable


class Timed(Protocol):
    """A run of a command that was timed."""

    @property
    def seconds(self) -> float:
        """The wall time of the whole command."""


class Command(Timed, Protocol):
    """A run whose processes were timed, too."""

    @property
    def cpu_s(self) -> float:
        """The processor time of all its processes."""


T = TypeVar("T", bound=Timed, covariant=True)

_RUNS: Final = 3
_CLEAR: Final = 5  # the difference must be this many times the spread of equal runs
_DOUBLED: Final = 3  # times; after that the run would take minutes


@attrs.frozen
class Beyond(Generic[T]):
    """A short run and a long one, the fastest of some like ones each, and whether their difference is clear."""

    short: T
    long: T
    clear: bool

    @property
    def seconds(self) -> float | None:
        """The extra time of the long run over the short one; None where noise is too large to tell."""
        return self.long.seconds - self.short.seconds if self.clear else None


def beyond(run: Callable[[int], T], few: int, many: int) -> Beyond[T]:
    """Run a command with `few` repetitions and with `many`, which takes away what does not depend on them.

    A difference of two wall times says nothing where they vary by as much. So each is run three times, and the
    difference of the fastest must be five times the spread of like runs. If it is not, `many` is doubled, up to three
    times.
    """
    short = sorted((run(few) for _ in range(_RUNS)), key=_seconds)
    for _ in range(_DOUBLED + 1):
        long = sorted((run(many) for _ in range(_RUNS)), key=_seconds)
        spread = max(some[-1].seconds - some[0].seconds for some in (short, long))
        clear = long[0].seconds - short[0].seconds >= _CLEAR * spread
        if clear:
            break
        many *= 2
    return Beyond(short[0], long[0], clear)


def rate(
    label: str, more: Beyond[Command], matches: int, goal: float | None = None, base_us: float = 0.0
) -> list[Figure]:
    """Matches a second, and the processor time of one, from a long and a short run that differ by `matches` matches.

    `base_us` is the ping-pong, with which the goal is compared as a ratio.
    """
    cpu_ms = (more.long.cpu_s - more.short.cpu_s) * 1000 / matches
    us = None if more.seconds is None else more.seconds * 1e6 / matches
    of_rate = Figure(label, us and 1e6 / us, "/s", goal, False)
    if goal is not None and us is not None:
        most = 1e6 / goal / PINGPONG_US
        of_rate = attrs.evolve(of_rate, ratio=us / base_us, over="ping-pong", ratio_goal=most)
    return [of_rate, Figure(f"{label}, processor time", cpu_ms if more.clear else None, "ms a match")]


def _seconds(run: Timed) -> float:
    return run.seconds
