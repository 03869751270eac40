"""Counts what the decisions of each seat took in a match."""

from __future__ import annotations

from warpleague.match.spec import SeatTimes


class Spent:
    """The times of all decisions so far, summed for each seat."""

    __slots__ = ("_seats", "_taken")

    def __init__(self, seats: int) -> None:
        # Decisions, their wall, processor and waiting time, and the longest wall time, in nanoseconds.
        self._seats = [[0, 0, 0, 0, 0] for _ in range(seats)]
        # Failures of services, tokens in and out, and cost, of the seats that have any.
        self._taken: dict[int, tuple[int, int, int, float]] = {}

    def add(
        self,
        seat: int,
        wall_ns: int,
        cpu_ns: int,
        wait_ns: int,
        longest_ns: int | None = None,
        count: int = 1,
    ) -> None:
        """Count one decision of `seat`, or `count` of them and the longest one."""
        spent = self._seats[seat]
        spent[0] += count
        spent[1] += wall_ns
        spent[2] += cpu_ns
        spent[3] += wait_ns
        if longest_ns is None:
            longest_ns = wall_ns
        if longest_ns > spent[4]:
            spent[4] = longest_ns

    def take(self, seat: int, failures: int, input_tokens: int, output_tokens: int, cost: float) -> None:
        """Count what the service of `seat` did and took for one decision."""
        before = self._taken.get(seat, (0, 0, 0, 0.0))
        more = before[0] + failures, before[1] + input_tokens, before[2] + output_tokens, before[3] + cost
        self._taken[seat] = more

    def failures(self, seat: int) -> int:
        """How often the service of `seat` has failed."""
        return self._taken[seat][0] if seat in self._taken else 0

    def times(self) -> tuple[SeatTimes, ...]:
        """The sums, by seat."""
        return tuple(
            SeatTimes(
                *(count, wall_ns / 1e6, cpu_ns / 1e6, wait_ns / 1e6, longest_ns / 1e6),
                *self._taken.get(seat, (0, 0, 0, 0.0)),
            )
            for seat, (count, wall_ns, cpu_ns, wait_ns, longest_ns) in enumerate(self._seats)
        )
