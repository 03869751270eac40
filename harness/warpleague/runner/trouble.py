"""In which words, and with what evidence, the trouble of a bot's process is told.

Leaves noticing it to `process`, and judging it to `warpleague.match.referee`.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from warpleague.match.evidence import quote
from warpleague.match.referee import Violation

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject
    from warpleague.runner.confine import MemoryWatch
    from warpline.framing import LineTooLong


def timed_out(limit_ns: int, extended_ns: int, unfinished_bytes: int, why: str = "") -> Violation:
    """No answer came within `limit_ns`, nor in the time that the host owed the bot; `why`, if that is known."""
    text = f"no answer within {limit_ns / 1e9:.3f} s"
    if why:
        text += f": {why}"
    detail: JsonObject = {"limit_ms": round(limit_ns / 1e6, 3)}
    if extended_ns > 0:
        text += f", extended by {extended_ns / 1e9:.3f} s of waiting for a processor"
        detail["extended_ms"] = round(extended_ns / 1e6, 3)
    if unfinished_bytes:
        detail["unfinished_line_bytes"] = unfinished_bytes
    return Violation("timeout", text, detail)


def greedy(memory: MemoryWatch) -> Violation:
    """It took more memory than it may have."""
    text = f"took {memory.exceeded_mb} MiB of memory; the limit is {memory.limit_mb} MiB"
    if memory.kill is None:
        return Violation("memory", text)
    detail: JsonObject = {
        "killed_by": "kernel",
        "killed_processes": memory.kill.processes,
        "peak_mb": memory.kill.peak_mb,
    }
    return Violation("memory", f"{text}, and the kernel killed it", detail)


def flooded(error: LineTooLong) -> Violation:
    """It wrote a line that is too long."""
    return Violation("flood", str(error), quote(error.head))


def ended(status: int | None) -> str:
    """How it ended: an exit status, negative for a signal, or None if it lives on without its output."""
    if status is None:
        return "closed its output and went on running"
    if status < 0:
        return f"killed by {signal_name(-status)}"
    return f"exited with status {status}"


def signal_name(number: int) -> str:
    """The name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
