"""Decides which part of the time of a decision is charged to the bot, and which part was taken by the host.

This module is pure: `stopwatch` passes in what the clocks show. The model:

- During a decision, a bot computes, sleeps, or waits for what others use. It is always charged for the time that it
  and its processes compute, and for the time that it sleeps.
- It waits while it is ready and others use its processor: the opponents, the referee, the rest of the machine. It also
  waits for the disk and for memory. This time is not charged, as far as others took it: see `waits`. Waiting for its
  own processes does not count as waiting.
- The kernel reports some of the waiting late, once the bot has got a processor. So waiting is summed over the whole
  decision: a late report makes up for what was charged before. A bot that is ready to run is not too late before the
  kernel has reported how long it waited.
- If the referee meant to read the clocks but came late, and neither computed nor waited for a processor, it was
  stopped, perhaps with the whole machine. This time is not charged either.
- An answer may also wait for the referee, which is busy with other matches or waits for a processor itself. When an
  answer is there, the time in which the referee could not have come earlier is not charged.

The referee reads the clocks every `INTERVAL_NS`. If it was stopped, it knows only with this precision when an answer
came.
"""

from __future__ import annotations

from typing import Final, NamedTuple

NEVER: Final = 1 << 62
"""A reading that no clock comes to."""

INTERVAL_NS: Final = 20_000_000
"""How long a referee that waits for an answer means to sleep at most before it reads the clocks."""

SLACK_NS: Final = 2_000_000
"""How late it may come because timers are coarse."""

PAUSE_NS: Final = 1_000_000_000
"""A referee that comes later than this was stopped: bots of one core cannot keep it away for so long."""

MOMENT_NS: Final = 500_000
"""The shortest time that shows whether a bot sleeps."""

_SLEEP_SHARE: Final = 4

OVERLOAD_NS: Final = 300_000_000_000
"""How long a host may keep a bot waiting in one decision, in addition to ten times its budget.

The lowest niceness gives a program a seventieth of what others get. Beside twenty of these on two cores, 0.3 s of
computing take about four minutes.
"""


class Reading(NamedTuple):
    """Readings of clocks that never go back, in nanoseconds; a clock that cannot be read stays at 0."""

    own_ns: int = 0
    """The processor time of the bot and its processes."""
    delay_ns: int = 0
    """How long it waited for a processor."""
    ran_ns: int = 0
    """The processor time of the referee."""
    waited_ns: int = 0
    """How long the referee was ready without a processor."""
    paused_ns: int = 0
    """How long the referee was stopped, as its event loop noticed."""
    stalled_ns: int = 0
    """How long the bot waited for the disk and for memory that others used; this may be corrected downwards."""


def excused_ns(
    passed_ns: int, planned_ns: int, since: Reading, came: bool, queued_ns: int | None = None
) -> int:
    """How much of the `passed_ns` between two readings is not charged to the bot.

    `since` is how far the clocks have moved since the last reading. `came` is whether any part of an answer was there.
    If the referee waited in its event loop, `queued_ns` is how long an answer may have been there; pauses were noticed
    there, too. If it is None, the referee waited for this bot alone, and meant to read after at most `planned_ns`.
    """
    late_ns = passed_ns - planned_ns - SLACK_NS
    waited_ns = since.delay_ns + since.stalled_ns
    if queued_ns is not None:
        lost_ns = max(waited_ns + (queued_ns if came else 0), since.paused_ns)
    elif came:
        lost_ns = max(waited_ns + since.waited_ns, late_ns)
    else:
        lost_ns = max(waited_ns, late_ns - since.ran_ns - since.waited_ns)
    return max(0, min(lost_ns, passed_ns - since.own_ns))


class LongDecision:
    """The charge of one decision that takes more than a moment; all times in nanoseconds.

    Where the readings are not `trusted`, since they miss some of the bot's own processes, at most as much is excused
    as it may take anyway, pauses of the host aside. A host that makes a bot wait for `overload_ns`, and ten times its
    budget, is overloaded.
    """

    __slots__ = (
        *("_begun", "_overload_ns", "_queued_ns", "_unsettled_ns"),
        *(
            "begun_ns",
            "budget_ns",
            "charged_ns",
            "excused_ns",
            "own_ns",
            "paused_ns",
            "read_ns",
            "seen",
            "sleeps",
        ),
    )

    def __init__(
        self, begun_ns: int, budget_ns: int | None, seen: Reading, overload_ns: int = OVERLOAD_NS
    ) -> None:
        self.begun_ns = begun_ns
        self.budget_ns = budget_ns
        self._begun = seen
        self.seen = seen
        """The last readings."""
        self._overload_ns = overload_ns
        self._queued_ns = 0  # what was excused though the bot itself did not wait
        # How long ago it was last seen to compute: it may have waited since, and the kernel has not reported it.
        self._unsettled_ns = 0
        self.read_ns = begun_ns
        """When the clocks were read last."""
        self.own_ns = 0
        """The processor time of the bot until then."""
        self.excused_ns = 0
        """The time excused so far."""
        self.charged_ns = 0
        """The charge of the bot until the last reading."""
        self.paused_ns = 0
        """How much of it was because the host was paused."""
        self.sleeps = False
        """Whether the bot mostly slept between the last two readings."""

    def update(
        self,
        now_ns: int,
        planned_ns: int,
        seen: Reading,
        *,
        came: bool = False,
        queued_ns: int | None = None,
        trusted: bool = True,
    ) -> None:
        """Take the readings of `now_ns`, after a sleep that was to last `planned_ns` at most; see `excused_ns`."""
        passed = now_ns - self.read_ns
        before, begun = self.seen, self._begun
        since = Reading(
            max(0, seen.own_ns - before.own_ns),
            max(0, seen.delay_ns - before.delay_ns),
            max(0, seen.ran_ns - before.ran_ns),
            max(0, seen.waited_ns - before.waited_ns),
            max(0, seen.paused_ns - before.paused_ns),
            max(0, seen.stalled_ns - before.stalled_ns),
        )
        if passed >= MOMENT_NS:
            self.sleeps = (since.own_ns + since.delay_ns) * _SLEEP_SHARE < passed
        self.own_ns += since.own_ns
        self._unsettled_ns = max(0, passed - since.own_ns + (0 if since.own_ns else self._unsettled_ns))
        # What the bot itself waited is summed below, since the kernel may report it late.
        beyond = excused_ns(passed, planned_ns, since, came, queued_ns) - since.delay_ns - since.stalled_ns
        beyond = max(0, beyond)
        if since.paused_ns > PAUSE_NS or (queued_ns is None and passed - planned_ns > PAUSE_NS):
            self.paused_ns += beyond
        else:
            self._queued_ns += beyond
        self.read_ns, self.seen = now_ns, seen
        excused = self._queued_ns
        excused += max(0, seen.delay_ns - begun.delay_ns) + max(0, seen.stalled_ns - begun.stalled_ns)
        if not trusted and self.budget_ns is not None:
            excused = min(excused, self.budget_ns)
        # Some of its processes may be counted late: what was excused for them is charged after all.
        lasted_ns = now_ns - self.begun_ns
        self.excused_ns = max(0, min(excused + self.paused_ns, lasted_ns - self.own_ns))
        self.charged_ns = lasted_ns - self.excused_ns

    def left_ns(self, now_ns: int) -> int:
        """How much of the budget is left; without one, more than any match takes."""
        budget_ns = NEVER if self.budget_ns is None else self.budget_ns
        return self.begun_ns + budget_ns + self.excused_ns - now_ns

    def may_be_in_time(self) -> bool:
        """Whether its time is not up if it has waited since it computed last, which the kernel may report later."""
        least_ns = max(self.own_ns, self.charged_ns - self._unsettled_ns)
        return self.budget_ns is None or least_ns < self.budget_ns

    def overloaded(self) -> bool:
        """Whether the host keeps the bot waiting for so long that the match is void."""
        if self.budget_ns is None:
            return self.excused_ns - self.paused_ns > self._overload_ns
        waited_ns = max(self.excused_ns, self._unsettled_ns) - self.paused_ns
        return waited_ns > self._overload_ns + 10 * self.budget_ns
