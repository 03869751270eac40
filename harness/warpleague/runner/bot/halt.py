"""Stops a bot while it is not asked, and finds out whether it computes out of turn.

`play` and `process` decide when. The kernel freezes a bot, or else signals stop it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from warpleague.runner.bot.child import Child, clock_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.match.spec import Pondering as Policy

# The free work of every bot between two decisions, in nanoseconds of processor time: flush, clear up, wait for input.
# Most were seen to take 0.01 to 0.1 ms, Java's compiler up to 0.8 ms.
QUIET_NS: Final = 1_000_000

# How much processor time of a bot's other processes out of turn counts as one busy gap, in nanoseconds. A bot that
# was stopped by a signal may compute as much, in all, before it is killed.
BUSY_NS: Final = 50_000_000

_BUSY_SHARE: Final = 8
_STEP: Final = 4
_ENOUGH: Final = 12


class Pondering:
    """The processor time of one bot out of turn so far, and whether to stop it between its decisions for that."""

    # A gap between two decisions is busy if the bot computed for more than `QUIET_NS` and for more than an eighth of
    # it. One busy gap may be a garbage collection or a compiler at work; a bot is stopped after three in a row, or as
    # many among not much more: four gaps that were judged and not busy make up for one that was. Its other processes
    # are counted apart, by the time they use.

    def __init__(self) -> None:
        self._policy: Policy = "on"
        self._score = self._children_score = 0
        self.stops = False  # whether to freeze the bot between its decisions

    def begin(self, policy: Policy) -> None:
        """A match under `policy` begins; what was seen in another is forgotten."""
        self._policy = policy
        self._score = self._children_score = 0
        self.stops = policy == "always-stop"

    def judge(self, used_ns: int, gap_ns: int) -> None:
        """The bot computed for `used_ns`, more than `QUIET_NS`, in a gap in which it could run for `gap_ns`."""
        busy = used_ns * _BUSY_SHARE > gap_ns
        self._score = self._scored(self._score, _STEP if busy else 0)

    def judge_children(self, used_ns: int, gap_ns: int) -> None:
        """Its other processes used `used_ns` out of turn, in `gap_ns` that were not the bot's."""
        busy = used_ns > QUIET_NS and used_ns * _BUSY_SHARE > gap_ns
        more = _STEP * max(1, used_ns // BUSY_NS) if busy else 0
        self._children_score = self._scored(self._children_score, more)

    def _scored(self, score: int, more: int) -> int:
        score = score + more if more else max(0, score - 1)
        if more and score >= _ENOUGH and self._policy == "off":
            self.stops = True
        return score


# With new processes in this number of measurements in a row, beside others that stay, chance is excluded. A bot may
# start a helper or two.
_CHAIN: Final = 3


class Children:
    """The processor time of the processes that one bot has beside its own, on `cores` processors, in nanoseconds.

    `clock` is the module `time`, or what stands for it.
    """

    # The bot's own clock does not show it. A process that starts and ends between two measurements is missed. But
    # where each of them finds new processes, there are many that live shortly, and they count as computing all the
    # time, also beside one that stays.

    def __init__(self, cores: int, clock: Any = time) -> None:
        self._cores = cores
        self._clock = clock
        self._clocks: dict[int, int] = {}
        self._measured_ns = self._clock.perf_counter_ns()
        self._turn_ns = 0
        self._new = 0  # how many measurements in a row saw new processes, out of turn
        self.any = False  # whether the bot ever had such a process
        self.used_ns = 0  # the processor time they have used so far
        self.gap_ns = 0  # between the last two measurements, how long it was not the bot's turn
        # Between the last two measurements, what they used beyond all that there was of the bot's own time.
        self.out_of_turn_ns = 0

    def measure(self, pids: Iterable[int], turn_ns: int) -> None:
        """Measure the processes `pids`; it has been the bot's turn for `turn_ns` in all."""
        clocks: dict[int, int] = {}
        used = 0
        for pid in pids:
            with contextlib.suppress(OSError):
                clocks[pid] = now = self._clock.clock_gettime_ns(clock_id(pid))
                before = self._clocks.get(pid, 0)
                used += now - before if now >= before else now  # less: another process with the same number
        measured_ns = self._clock.perf_counter_ns()
        out_of_turn = turn_ns == self._turn_ns
        new = clocks.keys() - self._clocks.keys() if self._clocks and out_of_turn else set()
        self._new = self._new + 1 if new else 0
        if self._new >= _CHAIN or (new and len(new) == len(clocks)):
            used = max(used, measured_ns - self._measured_ns)
        self._clocks = clocks
        self.any = self.any or bool(clocks)
        self._add(used, measured_ns, turn_ns)

    def count(self, used_ns: int, turn_ns: int) -> None:
        """Set their processor time, counted by the kernel, including processes that ended long ago."""
        self._add(max(0, used_ns - self.used_ns), self._clock.perf_counter_ns(), turn_ns)

    def _add(self, used: int, measured_ns: int, turn_ns: int) -> None:
        in_turn = turn_ns - self._turn_ns
        self.gap_ns = max(0, measured_ns - self._measured_ns - in_turn)
        # What they used in the bot's own turn is charged to its decision, so only what did not fit into it is left.
        self.out_of_turn_ns = max(0, used - in_turn * self._cores)
        self._measured_ns, self._turn_ns = measured_ns, turn_ns
        self.used_ns += used


class Halt:
    """Stops and continues the bot of `child`, and judges what its other processes do out of turn."""

    def __init__(self, child: Child, pondering: Pondering) -> None:
        self._child = child
        self._pondering = pondering
        # Whether a control group counts what all of the bot's processes compute, and freezes them.
        self.counted = child.freezer is not None
        # On how many processors the bot may run at once.
        self.cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
        self.children = Children(self.cores)
        self.others_ns = 0  # the processor time of its other processes so far, at the last reading
        self.stopped = False  # whether the bot shall be stopped now
        self.since_ns = 0  # when it was stopped last, by `time.perf_counter_ns`
        self._stopped_at_ns = 0  # what it had computed until then
        self.undone_ns = 0  # its processor time while it was stopped

    def own_ns(self) -> int:
        """The processor time of the bot so far, with all of its known processes."""
        # The clock of its group counts dead ones, too. Without a group there are the bot's own clock and those of its
        # other processes, which `check` reads every 50 ms.
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
            # Once is enough: what a frozen bot had started is in its group, and frozen as well.
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
            self._check_stop()
        self.stopped = False
        self._child.resume(self.children.any)

    def check(self, turns_ns: int, asked: bool, judged: bool) -> None:
        """Measure what the bot's other processes compute, and stop all of them if they compute out of turn.

        It has been the bot's turn for `turns_ns`, and is so now if it is `asked`; it is not `judged` before it is
        known which process is its own.
        """
        # Sixty children that computed in sessions of their own took a processor from the opponent: a move of 30 ms
        # took 1.8 s. The clock that is read with each question does not show them.
        children = self.children
        if self.counted:
            self.own_ns()
            children.count(self.others_ns, turns_ns)
        else:
            children.measure(self._child.others(), turns_ns)
        if not judged or not (children.any or self.counted):
            return
        if not self.stopped:
            self._pondering.judge_children(children.out_of_turn_ns, children.gap_ns)
        elif not self.counted:
            self._check_stop()
        if self.stopped or (self._pondering.stops and not asked):
            self.stop()  # again, for those that were started since

    @property
    def undone(self) -> bool:
        """Whether the bot undid its stop and was killed."""
        return self.undone_ns > BUSY_NS

    def _check_stop(self) -> None:
        """Kill a bot that went on computing after a signal had stopped it."""
        # Anyone who may send signals to the bot can undo such a stop by SIGCONT, even the bot itself and its children.
        now_ns = self.own_ns()
        self.undone_ns += max(0, now_ns - self._stopped_at_ns - QUIET_NS)
        self._stopped_at_ns = now_ns
        if self.undone:
            self._child.kill()
