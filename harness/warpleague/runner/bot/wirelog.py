"""The wire log of one bot in one match: each line to it and from it, with its time."""

from __future__ import annotations

import time
from collections import deque
from typing import Final

from warpleague.counts import counted
from warpleague.match.spec import SeatLog
from warpleague.runner.bot.stderr import StderrLog
from warpleague.safe_text import safe
from warpline.limits import MAX_LINE

WIRE_KEPT: Final = 2 * 1024 * 1024
"""The most bytes of lines in a log, half from the beginning of the match and half from its end."""

LINE_KEPT: Final = MAX_LINE
"""The most bytes of one line in a log, half from its beginning and half from its end; a line of a bot always fits."""

_HALF: Final = WIRE_KEPT // 2
_TO, _FROM, _UNFINISHED = ">", "<", "<…"


class WireLog:
    """The lines that a bot is sent (`>`) and writes (`<`); times count from `begun_ns` of `time.perf_counter_ns`."""

    def __init__(self, begun_ns: int) -> None:
        self._begun_ns = begun_ns
        self._head: list[tuple[int, str, bytes]] = []
        self._tail: deque[tuple[int, str, bytes]] = deque()
        self._head_room = _HALF
        self._tail_bytes = 0
        self._lines_lost = self._bytes_lost = 0
        self._unfinished = bytearray()
        self._unfinished_lost = 0

    def sent(self, data: bytes) -> None:
        """Take what is handed to the bot."""
        self._keep(_TO, data.rstrip(b"\n"), 0)

    def received(self, data: bytes) -> None:
        """Take what was read from the bot; lines may begin and end anywhere in it."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._grow(line)
            self._keep(_FROM, bytes(self._unfinished), self._unfinished_lost)
            self._unfinished.clear()
            self._unfinished_lost = 0
        self._grow(rest)

    def _grow(self, piece: bytes) -> None:
        """Add to the line that is being read, whose middle is dropped when it is too long."""
        self._unfinished += piece
        if len(self._unfinished) > 4 * LINE_KEPT:
            self._unfinished_lost += len(self._unfinished) - 2 * LINE_KEPT
            del self._unfinished[LINE_KEPT:-LINE_KEPT]

    def _keep(self, way: str, line: bytes, lost: int) -> None:
        if lost or len(line) > LINE_KEPT:
            lost += len(line) - LINE_KEPT
            line = b"%b[... %d bytes not kept ...]%b" % (
                line[: LINE_KEPT // 2],
                lost,
                line[-LINE_KEPT // 2 :],
            )
        entry = (time.perf_counter_ns() - self._begun_ns, way, line)
        if self._head_room > 0:
            self._head_room -= len(line)
            self._head.append(entry)
            return
        self._tail.append(entry)
        self._tail_bytes += len(line)
        while self._tail_bytes > _HALF:
            oldest = self._tail.popleft()[2]
            self._tail_bytes -= len(oldest)
            self._lines_lost += 1
            self._bytes_lost += len(oldest)

    def text(self) -> str:
        """A line of text for each line of the wire: milliseconds, direction, and the line, safe for a terminal."""
        if self._unfinished:
            self._keep(_UNFINISHED, bytes(self._unfinished), self._unfinished_lost)
            self._unfinished.clear()
        gap = (
            f"# [... {counted(self._lines_lost, 'line')}, {counted(self._bytes_lost, 'byte')} not kept ...]\n"
        )
        return "".join(
            [*map(_spelled, self._head), gap if self._lines_lost else "", *map(_spelled, self._tail)]
        )


def _spelled(entry: tuple[int, str, bytes]) -> str:
    at_ns, way, line = entry
    return f"{at_ns / 1e6:11.3f} {way} {safe(line.decode('utf-8', 'backslashreplace'), keep='')}\n"


class BotLog:
    """The logs for the author of the bot in one seat: its standard error, and the wire log."""

    def __init__(self, begun_ns: int) -> None:
        self.wire = WireLog(begun_ns)
        self.stderr = StderrLog()

    def seat_log(self) -> SeatLog:
        """The stored lines, as text."""
        return SeatLog.of(self.stderr.text(), self.wire.text())
