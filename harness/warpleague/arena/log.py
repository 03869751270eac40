"""The log of a process that runs for weeks: one JSON object a line on standard error."""

from __future__ import annotations

import contextlib
import json
import sys
from datetime import UTC, datetime
from traceback import format_exception
from typing import Any

from warpleague.safe_text import SafeStream, safe


def log(event: str, **facts: Any) -> None:
    """Write a line: the time (ISO 8601, UTC), what happened, and the particulars; a log that is full ends nothing."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"at": at, "event": event, **facts}, default=str)
    stream = sys.stderr.inner if isinstance(sys.stderr, SafeStream) else sys.stderr
    with contextlib.suppress(OSError, ValueError):
        stream.write(line + "\n")
        stream.flush()


def log_error(event: str, error: BaseException, **facts: Any) -> None:
    """The same of an error, with its traceback."""
    log(
        event, error=safe(f"{type(error).__name__}: {error}"), trace="".join(format_exception(error)), **facts
    )
