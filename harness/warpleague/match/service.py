"""Services that bots use, such as language models: failures, tokens and cost in a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.match.evidence import quote
from warpleague.match.lines import number
from warpleague.match.spec import Violation
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import JsonObject
    from warpline.messages import Failed, Usage

TAKEN: Final = ("input_tokens", "output_tokens", "cost")
"""The cost of a service that an answer may name."""


def note_usage(noted: JsonObject, usage: Usage | None) -> None:
    """Add what a service took to what is noted of a decision."""
    if usage is not None:
        before = noted.get("usage", {})
        noted["usage"] = {name: number(before.get(name, 0) + getattr(usage, name)) for name in TAKEN}


def note_failure(
    noted: JsonObject, reply: Failed, line: bytes, wall_ns: int, *, allowed: bool
) -> Violation | None:
    """Note a failure that is `allowed` with the decision, which took `wall_ns`; else it is a fault."""
    message = safe(" ".join(reply.failed.split()), keep="")
    if not allowed:
        return Violation("service", f"its service failed: {message}", quote(line))
    noted.setdefault("failed", []).append({"message": message, "ms": number(wall_ns // 1000 / 1000)})
    return None


def taken(line: Mapping[str, Any]) -> tuple[int, int, int, float]:
    """How many failures a line of a record notes, and the tokens and the cost; the form of its detail was checked."""
    detail = line.get("detail", {})
    usage = detail.get("usage", {})
    failures = len(detail.get("failed", ())) + (line.get("kind") == "service")
    return failures, usage.get("input_tokens", 0), usage.get("output_tokens", 0), usage.get("cost", 0)
