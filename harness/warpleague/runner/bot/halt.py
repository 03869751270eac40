"""Stops a bot while it is not asked: the kernel freezes it, or else signals stop it.

`turns` and `pondering` decide when. Anyone who may send signals to the bot can undo a stop by signals, even the bot
itself and its children. So its clocks are checked while it is stopped, and a bot that computes is killed.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Final

from warpleague.runner.bot.child import Child, Children

if TYPE_CHECKING:
    from warpleague.match.spec import Pondering as Policy


# -- pondering -------------------------------------------------------------------------------------------
# Finds out from a bot's processor clock whether it computes out of turn, so that it must be stopped.
#
# The bots of a match share a core, so such a bot takes time from its opponents. `halt` stops it.


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


# -- halt ------------------------------------------------------------------------------------------------


class Halt:
    """Stops and continues the bot of `child`, and judges what others of its processes do where nothing counts them."""

    def __init__(self, child: Child, pondering: Pondering) -> None:
        self._child = child
        self._pondering = pondering
        self.counted = child.freezer is not None
        """Whether a control group counts what all of the bot's processes compute, and freezes them."""
        self.cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
        """On how many processors the bot may run at once."""
        self.children = Children(self.cores)
        self.others_ns = 0
        """The processor time of its other processes so far, at the last reading."""
        self.stopped = False
        """Whether the bot shall be stopped now."""
        self.since_ns = 0
        """When it was stopped last, by `time.perf_counter_ns`."""
        self._stopped_at_ns = 0  # what it had computed until then
        self.undone_ns = 0
        """Its processor time while it was stopped."""

    def own_ns(self) -> int:
        """The processor time of the bot so far, with all of its known processes."""
        own_ns = self._child.cpu_ns() or 0
        if self._child.freezer is None:
            self.others_ns = self.children.used_ns
        else:
            self.others_ns = max(0, self._child.freezer.cpu_ns() - own_ns)
        return own_ns + self.others_ns

    def stop(self) -> None:
        """Freeze the bot until its next message, if a crash of the harness cannot leave it frozen."""
        if not self.stopped:
            self.since_ns = time.perf_counter_ns()
        if self.counted:
            self.stopped = self.stopped or self._child.pause()
            return
        was_stopped = self.stopped
        self.stopped = self._child.pause(self.children.any)
        if not was_stopped:
            # Only now: until the signal, a busy machine may have run the bot instead of us.
            self._stopped_at_ns = self.own_ns()

    def resume(self) -> None:
        """Let a stopped bot go on."""
        if self.stopped and not self.counted:
            self._check()
        self.stopped = False
        self._child.resume(self.children.any)

    def check(self, turns_ns: int, asked: bool, judged: bool) -> None:
        """Measure what the bot's other processes compute, and stop all of them if they compute out of turn.

        It has been the bot's turn for `turns_ns`, and is so now if it is `asked`; it is not `judged` before it is
        known which process is its own.
        """
        children = self.children
        if self.counted:
            self.own_ns()
            children.count(self.others_ns, turns_ns)
        else:
            children.measure(self._child.others(), turns_ns)
        if not judged or not (children.any or self.counted):
            return
        if self.counted:
            if not self.stopped:
                self._pondering.judge_children(children.out_of_turn_ns, children.gap_ns)
        elif self.stopped:
            self._check()
        else:
            self._pondering.judge_children(children.out_of_turn_ns, children.gap_ns)
        if self.stopped or (self._pondering.stops and not asked):
            self.stop()  # again, for those that were started since

    @property
    def undone(self) -> bool:
        """Whether the bot undid its stop and was killed."""
        return self.undone_ns > BUSY_NS

    def _check(self) -> None:
        now_ns = self.own_ns()
        self.undone_ns += max(0, now_ns - self._stopped_at_ns - QUIET_NS)
        self._stopped_at_ns = now_ns
        if self.undone:
            self._child.kill()
