"""Keeps the first and the last bytes of a bot's standard error, however much it writes."""

from __future__ import annotations

import os
import select
import time
from typing import Final

from warpleague.counts import counted
from warpleague.safe_text import printable
from warpline.limits import STDERR_KEPT, STDERR_READ

HEAD_BYTES: Final = STDERR_KEPT // 2
TAIL_BYTES: Final = STDERR_KEPT - HEAD_BYTES
_CHUNK: Final = 1 << 16


class StderrLog:
    """The head and the tail, half of `STDERR_KEPT` each, of a stream of bytes.

    Paths of files in `folder`, the copy of a bot in the cache, are written as the author knows them: relative to the
    bot's folder.
    """

    __slots__ = ("_folder", "_head", "_tail", "total")

    def __init__(self, folder: str = "") -> None:
        self._folder = f"{folder}/"
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    @property
    def full(self) -> bool:
        """Whether so much was read that the rest is left unread."""
        return self.total >= STDERR_READ

    def drain(self, fd: int) -> bool:
        """Read what the non-blocking pipe `fd` holds; false once it has ended or is left unread."""
        while not self.full:
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.feed(data)
        return False

    def drain_until(self, fd: int, other: int, until_ns: int) -> None:
        """Drain the pipe `fd` until there is something in `other`, or until that time of `time.perf_counter_ns`."""
        poll = select.poll()
        poll.register(other, select.POLLIN)
        if not self.full:
            poll.register(fd, select.POLLIN)
        while (left_ns := until_ns - time.perf_counter_ns()) > 0:
            ready = [readable for readable, _ in poll.poll(-(-left_ns // 1_000_000))]
            if fd in ready and not self.drain(fd):
                poll.unregister(fd)
            if other in ready:
                break

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self.total += len(data)
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def text(self, most: int = HEAD_BYTES + TAIL_BYTES) -> str:
        """The stored text, at most about `most` characters, with a line that says how much is missing.

        Control characters other than newline and tab are escaped: the text is safe for a terminal.
        """
        tail = bytes(self._tail[-TAIL_BYTES:])
        head = bytes(self._head)
        if len(head) + len(tail) > most:
            if tail:
                head, tail = head[: most // 2], tail[-(most - most // 2) :]
            else:
                head, tail = head[: most // 2], head[-(most - most // 2) :]
        missing = self.total - len(head) - len(tail)
        gap = f"\n[... {counted(missing, 'byte')} not shown ...]\n" if missing > 0 else ""
        text = printable(head) + gap + printable(tail)
        return text if len(self._folder) == 1 else text.replace(self._folder, "")
