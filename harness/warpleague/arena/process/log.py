"""The log of a process that runs for weeks: one JSON object a line on standard error."""

from __future__ import annotations

import contextlib
import json
import sys
from datetime import UTC, datetime
from traceback import format_exception
from typing import Any

from warpleague.text import SafeStream, safe


def log(event: str, **details: Any) -> None:
    """Write a line with the time (ISO 8601, UTC), the event and its details; errors of writing are ignored."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"at": at, "event": event, **details}, default=str)
    stream = sys.stderr.inner if isinstance(sys.stderr, SafeStream) else sys.stderr
    with contextlib.suppress(OSError, ValueError):
        stream.write(line + "\n")
        stream.flush()


def log_error(event: str, error: BaseException, **details: Any) -> None:
    """Write a line about an error, with its traceback."""
    trace = "".join(format_exception(error))
    log(event, error=safe(f"{type(error).__name__}: {error}"), trace=trace, **details)
