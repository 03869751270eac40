"""Text that others wrote, made harmless for a terminal: no character in it can move the cursor or reorder a line.

All that the program prints passes `SafeStream` or the console of `warpleague.report.terminal.console`, so no command
can forget it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing import TextIO

_ASTRAL: Final = 0x10000


def safe(text: str, keep: str = "\n\t") -> str:
    """`text` with every character escaped that is not printable, apart from those in `keep`."""
    if text.isprintable() or ("\n" in keep and _is_printable(text)):
        return text
    return "".join(char if char.isprintable() or char in keep else f"\\x{ord(char):02x}" for char in text)


def printable(data: bytes) -> str:
    """Bytes as text without control characters (newline and tab stay)."""
    return safe(data.decode("utf-8", "backslashreplace"))


def safe_json(text: str) -> str:
    """JSON `text` with every character that is not printable as a JSON escape: the value stays the same."""
    if _is_printable(text):
        return text
    return re.sub(
        r"[^\n]", lambda match: match[0] if match[0].isprintable() else _json_escape(match[0]), text
    )


def _is_printable(text: str) -> bool:
    """Whether nothing but newlines in `text` is unprintable; long texts would take time one character at a time."""
    return text.replace("\n", "").isprintable()


def _json_escape(char: str) -> str:
    code = ord(char)
    if code < _ASTRAL:
        return f"\\u{code:04x}"
    code -= _ASTRAL
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


class SafeStream:
    """A text stream that writes `safe` text to another one, `inner`; in all else it is that stream."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner

    def write(self, text: str) -> int:
        """Write `text`, with what could steer a terminal escaped."""
        self.inner.write(safe(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
