"""Finds out from a bot's processor clock whether it computes out of turn, so that it must be stopped.

The bots of a match share a core, so such a bot takes time from its opponents. `halt` stops it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from warpleague.match.spec import Pondering as Policy

QUIET_NS: Final = 1_000_000
"""What every bot may do between two decisions, in nanoseconds of processor time: flush, clear up, wait
for input. Most were seen to take 0.01 to 0.1 ms, Java's compiler up to 0.8 ms."""

LOOK_NS: Final = 50_000_000
"""How much processor time of a bot's other processes out of turn counts as one busy gap, in nanoseconds."""

_BUSY_SHARE: Final = 8
_STEP: Final = 4
_ENOUGH: Final = 12
_NEVER: Final = 1 << 62


class Pondering:
    """What one bot computed out of turn so far.

    A gap between two decisions is busy if the bot computed for more than `QUIET_NS` and for more than an eighth of
    it. One busy gap may be a garbage collection or a compiler at work; a bot is stopped after three in a row, or as
    many among not much more: four quiet alarms make up for one busy one. Its other processes are counted apart, by the
    time they use.
    """

    __slots__ = (
        "_children_score",
        "_policy",
        "_quiet_ns",
        "_score",
        "alarm_ns",
        "known_ns",
        "known_until_ns",
        "stops",
    )

    def __init__(self, cores: int = 1) -> None:
        self._policy: Policy = "on"
        self._quiet_ns = QUIET_NS // cores
        self._score = 0
        self._children_score = 0
        self.alarm_ns = _NEVER
        """The reading of the processor clock beyond which the gap that is ending has to be judged."""
        self.known_ns: int | None = None
        """What the processor clock showed at the last answer; None if it could not be read."""
        self.known_until_ns = 0
        """Until then, by `time.perf_counter_ns`, it cannot have computed more since than every bot may."""
        self.stops = False
        """Whether the bot is to be stopped between its decisions."""

    def begin(self, policy: Policy) -> None:
        """A match under `policy` begins; what was seen in another is forgotten."""
        self._policy = policy
        self._score = self._children_score = 0
        self.stops = policy == "always-stop"

    def forget_clock(self) -> None:
        """The processor clock is another one now: wait for its next reading."""
        self.alarm_ns = _NEVER
        self.known_until_ns = 0

    def answered(self, now_ns: int, cpu_ns: int | None) -> None:
        """An answer was there at `now_ns`; read after that, the processor clock showed `cpu_ns` (None: unreadable)."""
        self.known_ns = cpu_ns
        if cpu_ns is None:
            self.known_until_ns = 0
        else:
            self.known_until_ns = now_ns + self._quiet_ns
            self.alarm_ns = cpu_ns + QUIET_NS

    def judge(self, cpu_ns: int, gap_ns: int) -> None:
        """The clock shows `cpu_ns`, beyond the alarm, after a gap in which the bot could run for `gap_ns`."""
        used_ns = cpu_ns - (self.alarm_ns - QUIET_NS)
        if used_ns * _BUSY_SHARE > gap_ns:
            self._score += _STEP
            if self._policy == "off" and self._score >= _ENOUGH:
                self.stops = True
        elif self._score:
            self._score -= 1

    def judge_children(self, used_ns: int, gap_ns: int) -> None:
        """Its other processes used `used_ns` out of turn, in `gap_ns` that were not the bot's."""
        if used_ns > QUIET_NS and used_ns * _BUSY_SHARE > gap_ns:
            self._children_score += _STEP * max(1, used_ns // LOOK_NS)
            if self._policy == "off" and self._children_score >= _ENOUGH:
                self.stops = True
        elif self._children_score:
            self._children_score -= 1
