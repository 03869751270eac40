"""The output of a bot that nobody has judged yet: whole lines, the beginning of one, and the end of the output."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from warpleague.match.evidence import quote
from warpleague.match.spec import Violation
from warpleague.runner.bot import violations
from warpleague.runner.bot.exchange import CHUNK
from warpleague.runner.bot.violations import Unfinished
from warpline.framing import LineBuffer, LineTooLong

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.runner.bot.wirelog import WireLog


class Output:
    """The standard output of one bot, read from its non-blocking pipe."""

    __slots__ = ("_buffer", "_pipe", "ended", "unread", "wire")

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._buffer = LineBuffer()
        self.unread = False
        """Whether there is anything that was read and not taken as a line."""
        self.ended = False
        """Whether the output has ended."""
        self.wire: WireLog | None = None
        """Where to log what is read."""

    @property
    def unfinished(self) -> Unfinished:
        """The line that has begun, if one has."""
        return Unfinished(self._buffer.peek(), len(self._buffer)) if self.unread else Unfinished()

    def read(self) -> bool:
        """Read what is there; false if there was nothing."""
        with contextlib.suppress(BlockingIOError):
            self.take(os.read(self._pipe, CHUNK))
            return True
        return False

    def take(self, data: bytes) -> None:
        """Take what was read; if it is empty, the output has ended."""
        if data:
            if self.wire is not None:
                self.wire.received(data)
            self._buffer.feed(data)
            self.unread = True
        else:
            self.ended = True

    def line(self) -> bytes | Violation | None:
        """The next whole line; None if there is none yet."""
        try:
            line = self._buffer.next_line()
        except LineTooLong as error:
            return violations.flooded(error)
        if line is not None:
            self.unread = len(self._buffer) > 0
        return line

    def unasked(self, is_late: Callable[[bytes], bool]) -> Violation | None:
        """Read what is there, which came before the question: a fault, unless its lines are late answers.

        The beginning of a line stays: the rest may follow, and is judged then.
        """
        if not self.ended:
            self.read()
        while (line := self.line()) is not None:
            if isinstance(line, Violation):
                return line
            if not is_late(line):
                return Violation("protocol", "it wrote a line without having been asked", quote(line))
        return None
