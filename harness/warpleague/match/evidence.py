"""How a bot's own words are kept and shown: as text in which nothing can steer a terminal.

Leaves when to quote a bot to the referee and the runner, and where to show it to the reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject

_LINE_BYTES: Final = 1000


def safe(text: str, keep: str = "\n\t") -> str:
    """`text` with every character that is not printable escaped, but those in `keep`."""
    return "".join(char if char.isprintable() or char in keep else f"\\x{ord(char):02x}" for char in text)


def printable(data: bytes) -> str:
    """Bytes as text without control characters (newline and tab stay)."""
    return safe(data.decode("utf-8", "backslashreplace"))


def quote(line: bytes) -> JsonObject:
    """A bot's line as a fault's evidence: its beginning, on one line, and its length in bytes."""
    text = line[:_LINE_BYTES].decode("utf-8", "backslashreplace")
    return {"line": safe(text, keep=""), "line_bytes": len(line)}
