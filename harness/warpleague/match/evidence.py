"""The evidence beside a fault: a bot's own line and standard error, as a record keeps them and as they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import JsonObject

_LINE_BYTES: Final = 1000


def quote(line: bytes) -> JsonObject:
    """A bot's line as a fault's evidence: its beginning, on one line, and its length in bytes."""
    text = line[:_LINE_BYTES].decode("utf-8", "backslashreplace")
    return {"line": safe(text, keep=""), "line_bytes": len(line)}


def evidence_lines(detail: Mapping[str, Any], stderr_lines: int) -> list[str]:
    """What a line's detail holds of the bot's own words, in indented lines: illegal answers, its line, standard error.

    Of that, `stderr_lines` at most: some languages name the cause at the end of a traceback, others at its beginning.
    """
    lines = []
    for refused in detail.get("again", ()):
        lines.append(f"  asked again, since it was illegal: {refused['message']}")
        lines += evidence_lines(refused, stderr_lines)
    for failed in detail.get("failed", ()):
        lines.append(f"  asked again, since its service failed: {failed['message']}")
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
