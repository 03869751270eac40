"""Small parts that stored values share: the time, text that can be written, and the way to mend."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

MEND: Final = (
    "warpleague league mend LEAGUE removes matches that do not hold, so that the next run plays them again"
)
"""The remedy for matches in the store that are damaged."""


def is_text(value: object) -> bool:
    """Whether a value is text that can be written anywhere."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def utc_now() -> str:
    """The time as the store writes it: ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
