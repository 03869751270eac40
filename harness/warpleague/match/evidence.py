"""How a bot's own words are kept and shown: as text in which nothing can steer a terminal.

Leaves when to quote a bot to the referee and the runner, and where to show it to the reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import JsonObject

_LINE_BYTES: Final = 1000


def safe(text: str, keep: str = "\n\t") -> str:
    """`text` with every character that is not printable escaped, but those in `keep`."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else f"\\x{ord(char):02x}" for char in text)


def printable(data: bytes) -> str:
    """Bytes as text without control characters (newline and tab stay)."""
    return safe(data.decode("utf-8", "backslashreplace"))


def quote(line: bytes) -> JsonObject:
    """A bot's line as a fault's evidence: its beginning, on one line, and its length in bytes."""
    text = line[:_LINE_BYTES].decode("utf-8", "backslashreplace")
    return {"line": safe(text, keep=""), "line_bytes": len(line)}


def told(detail: Mapping[str, Any], stderr_lines: int) -> list[str]:
    """What a fault's detail holds of the bot's own words, in indented lines: its line, and its standard error.

    Of that, `stderr_lines` at most: some languages name the cause at the end of a traceback, others at its beginning.
    """
    lines = []
    if detail.get("line"):
        lines.append(f"  its line was: {detail['line']}")
    if stderr := str(detail.get("stderr") or "").strip():
        lines.append("  it wrote to standard error:")
        words = [line for line in stderr.splitlines() if line.strip()]
        if len(words) > stderr_lines:
            half = stderr_lines // 2
            words = [*words[: stderr_lines - half], "...", *words[-half:]]
        lines += [f"    {line}" for line in words]
    return lines
