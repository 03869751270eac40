"""Finds out from a bot's processor clock whether it computes out of turn, so that it must be stopped.

The bots of a match share a core, so such a bot takes time from its opponents. `halt` stops it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from warpleague.match.spec import Pondering as Policy

QUIET_NS: Final = 1_000_000
"""The free work of every bot between two decisions, in nanoseconds of processor time: flush, clear up, wait
for input. Most were seen to take 0.01 to 0.1 ms, Java's compiler up to 0.8 ms."""

BUSY_NS: Final = 50_000_000
"""How much processor time of a bot's other processes out of turn counts as one busy gap, in nanoseconds."""

_BUSY_SHARE: Final = 8
_STEP: Final = 4
_ENOUGH: Final = 12


class Pondering:
    """The processor time of one bot out of turn so far.

    A gap between two decisions is busy if the bot computed for more than `QUIET_NS` and for more than an eighth of
    it. One busy gap may be a garbage collection or a compiler at work; a bot is stopped after three in a row, or as
    many among not much more: four quiet alarms make up for one busy one. Its other processes are counted apart, by the
    time they use.
    """

    __slots__ = ("_children_score", "_policy", "_score", "stops")

    def __init__(self) -> None:
        self._policy: Policy = "on"
        self._score = 0
        self._children_score = 0
        self.stops = False
        """Whether to freeze the bot between its decisions."""

    def begin(self, policy: Policy) -> None:
        """A match under `policy` begins; what was seen in another is forgotten."""
        self._policy = policy
        self._score = self._children_score = 0
        self.stops = policy == "always-stop"

    def judge(self, used_ns: int, gap_ns: int) -> None:
        """The bot computed for `used_ns`, more than `QUIET_NS`, in a gap in which it could run for `gap_ns`."""
        if used_ns * _BUSY_SHARE > gap_ns:
            self._score += _STEP
            if self._policy == "off" and self._score >= _ENOUGH:
                self.stops = True
        elif self._score:
            self._score -= 1

    def judge_children(self, used_ns: int, gap_ns: int) -> None:
        """Its other processes used `used_ns` out of turn, in `gap_ns` that were not the bot's."""
        if used_ns > QUIET_NS and used_ns * _BUSY_SHARE > gap_ns:
            self._children_score += _STEP * max(1, used_ns // BUSY_NS)
            if self._policy == "off" and self._children_score >= _ENOUGH:
                self.stops = True
        elif self._children_score:
            self._children_score -= 1
