"""Describes what went wrong with a bot's process as a fault, in words and with its evidence.

`process` notices it, and `warpleague.match.referee` judges it.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.match.faults import quote
from warpleague.match.spec import KILLED_BY_OTHERS, Violation
from warpleague.text import counted

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject
    from warpleague.runner.confine.launch import MemoryWatch
    from warpline.codec import LineTooLong

EVIDENCE_CHARS: Final = 2000
"""How much of a bot's standard error goes into the record with a fault."""
_NOTEWORTHY_NS: Final = 1_000_000


@attrs.frozen
class Unfinished:
    """The line of a bot that has begun and not ended: its first bytes, and how many came."""

    head: bytes = b""
    size: int = 0

    def words(self) -> str:
        """The received text, for the sentence about a fault; empty if nothing did."""
        if not self.size:
            return ""
        came = counted(self.size, "byte")
        if self.head.endswith(b"\r") and self.size == len(self.head):
            return f"; {came} came that end with a carriage return and no newline"
        return f"; {came} came without a newline"

    def evidence(self) -> JsonObject:
        """The same for the record."""
        if not self.size:
            return {}
        return {"unfinished_line_bytes": self.size, **quote(self.head), "line_bytes": self.size}


def timed_out(
    limit_ns: int, extended_ns: int, unfinished: Unfinished = Unfinished(), why: str = ""
) -> Violation:
    """No answer came within `limit_ns`, nor in the time that others took from the bot; `why`, if that is known."""
    text = f"no answer within {limit_ns / 1e9:.3f} s"
    if why:
        text += f": {why}"
    detail: JsonObject = {"limit_ms": round(limit_ns / 1e6, 3)}
    if extended_ns >= _NOTEWORTHY_NS:
        text += f", extended by {extended_ns / 1e9:.3f} s that others took from it"
        detail["extended_ms"] = round(extended_ns / 1e6, 3)
    return Violation("timeout", text + unfinished.words(), detail | unfinished.evidence())


def greedy(memory: MemoryWatch) -> Violation:
    """It took more memory than it may have."""
    text = f"took {memory.exceeded_mb} MiB of memory; the limit is {memory.limit_mb} MiB"
    if memory.kill is None:
        return Violation("memory", text)
    kill: JsonObject = {"killed_processes": memory.kill.processes, "peak_mb": memory.kill.peak_mb}
    return Violation("memory", f"{text}, and the kernel killed it", {"killed_by": "kernel", **kill})


def flooded(error: LineTooLong) -> Violation:
    """It wrote a line that is too long."""
    return Violation("flood", str(error), quote(error.head))


def not_stopped(used_ns: int) -> Violation:
    """It was stopped between its decisions and went on computing, so that it had to be killed."""
    text = f"computed for {used_ns / 1e6:.0f} ms while it was stopped, and was killed"
    return Violation("crash", text, {"computed_ms": round(used_ns / 1e6, 3)})


def ended(status: int | None) -> str:
    """How it ended: an exit status, negative for a signal, or None if it lives on without its output.

    Of a bot that neither the referee killed nor the kernel at its memory limit.
    """
    if status is None:
        return "closed its output and went on running"
    if status == -signal.SIGKILL:
        # Nobody can know who sent it, and a bot can send it to itself: so it is the bot's fault, with words by which
        # an organiser finds another cause (a machine without control groups that ran out of memory, say).
        return KILLED_BY_OTHERS
    if status < 0:
        return f"killed by {signal_name(-status)}"
    return f"exited with status {status}"


def signal_name(number: int) -> str:
    """The name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
