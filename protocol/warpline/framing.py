"""Cuts the bytes from the other side into lines."""

from __future__ import annotations

from warpline.limits import MAX_LINE


class LineTooLong(ValueError):
    """A line of more than the allowed bytes; `head` holds the first of them as evidence."""

    def __init__(self, limit: int, head: bytes) -> None:
        super().__init__(f"a line is longer than {limit} bytes")
        self.limit = limit
        self.head = head


class LineBuffer:
    r"""Bytes in, lines out: the cost is O(1) amortised for each byte, however they are cut.

    A line ends with `\n`; a `\r` before it stays part of the line, where it is harmless JSON whitespace. The
    limit counts the bytes before the `\n`. Memory is bounded by the caller: it stops feeding when `next_line`
    raises.
    """

    __slots__ = ("_buffer", "_limit", "_scanned", "_whole")

    HEAD = 256
    """Bytes of a line that is too long that its error keeps."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._whole: bytes | None = None  # the one complete line of a chunk, never copied into _buffer
        self._buffer = bytearray()
        self._scanned = 0  # bytes at the start of _buffer known to hold no newline

    def feed(self, data: bytes) -> None:
        """Take in what was read, cut anywhere."""
        if not self._buffer and self._whole is None:
            # An answer nearly always arrives as one chunk that is exactly one line.
            end = data.find(b"\n")
            if 0 <= end == len(data) - 1:
                self._whole = data[:end]
                return
        elif self._whole is not None:
            self._buffer += self._whole + b"\n"
            self._whole = None
        self._buffer += data

    def next_line(self) -> bytes | None:
        r"""The next complete line without its `\n`, or None; `LineTooLong` when it can only be too long."""
        line = self._whole
        if line is not None:
            self._whole = None
            if len(line) > self._limit:
                # Put it back: a line that is too long stays too long in later calls.
                self._buffer += line + b"\n"
                raise LineTooLong(self._limit, line[: self.HEAD])
            return line
        buffer = self._buffer
        if not buffer:
            return None
        end = buffer.find(b"\n", self._scanned)
        if (end if end >= 0 else len(buffer)) > self._limit:
            raise LineTooLong(self._limit, bytes(buffer[: self.HEAD]))
        if end < 0:
            self._scanned = len(buffer)
            return None
        line = bytes(buffer[:end])
        del buffer[: end + 1]  # a bytearray forgets its head without moving the rest
        self._scanned = 0
        return line

    def __len__(self) -> int:
        """The buffered bytes that were not returned yet, newlines included."""
        return len(self._buffer) + (0 if self._whole is None else len(self._whole) + 1)

    def peek(self, size: int = HEAD) -> bytes:
        """The first buffered bytes, at most `size` of them, as evidence for a fault."""
        if self._whole is not None:
            return (self._whole + b"\n")[:size]
        return bytes(self._buffer[:size])
