"""Counts what the decisions of each seat took in a match."""

from __future__ import annotations

from warpleague.match.spec import SeatTimes


class Spent:
    """The times of all decisions so far, summed for each seat."""

    __slots__ = ("_seats",)

    def __init__(self, seats: int) -> None:
        # Decisions, their wall, processor and waiting time, and the longest wall time, in nanoseconds.
        self._seats = [[0, 0, 0, 0, 0] for _ in range(seats)]

    def add(self, seat: int, wall_ns: int, cpu_ns: int, wait_ns: int) -> None:
        """Count one decision of `seat`."""
        spent = self._seats[seat]
        spent[0] += 1
        spent[1] += wall_ns
        spent[2] += cpu_ns
        spent[3] += wait_ns
        if wall_ns > spent[4]:
            spent[4] = wall_ns

    def times(self) -> tuple[SeatTimes, ...]:
        """The sums, by seat."""
        return tuple(
            SeatTimes(count, *[spent_ns / 1e6 for spent_ns in times_ns]) for count, *times_ns in self._seats
        )
