"""Calls and answers between the pool and a referee process: frames on a pipe."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import Any, Final

ROOM: Final = -1
"""The number of an answer that belongs to no call: it says how many tasks there is room for now."""


_MAX_READ: Final = 1 << 20


def write_frame(pipe: int, value: object) -> None:
    """Send `value`; pickling comes first, so that what cannot be pickled leaves the pipe as it was."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    rest = memoryview(len(data).to_bytes(8, "big") + data)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def read_frame(pipe: int) -> bytes:
    """The next pickle; `EOFError` if the other side has closed the pipe, also in the middle of a frame."""
    return _read(pipe, int.from_bytes(_read(pipe, 8), "big"))


def _read(pipe: int, size: int) -> bytes:
    data = os.read(pipe, min(size, _MAX_READ))
    if len(data) == size:
        return data
    parts = [data]
    while size > (got := len(parts[-1])):
        if not got:
            raise EOFError
        size -= got
        parts.append(os.read(pipe, min(size, _MAX_READ)))
    return b"".join(parts)


Call = tuple[int, bool, bytes]
"""Its number, whether it is a task, and the pickle of function and arguments."""


def next_call(calls: int) -> Call | None:
    """The next call; None if the pipe has ended."""
    try:
        call: Call = pickle.loads(read_frame(calls))
    except EOFError:
        return None
    return call


def called(packed: bytes) -> tuple[bool, Any, str]:
    """Call the pickled function: whether it returned, what it returned or raised, and the traceback."""
    try:
        function, args, kwargs = pickle.loads(packed)
        return True, function(*args, **kwargs), ""
    except BaseException as error:  # noqa: BLE001 - what a match raises is the scheduler's to judge
        return False, error, "".join(traceback.format_exception(error))


def send(answers: int, number: int, done: bool, value: Any, text: str) -> None:
    """Answer a call: whether it is done, what it returned or raised, and the traceback."""
    try:
        data = (number, done, value, text)
        if not done:
            pickle.loads(pickle.dumps(value))  # many an exception pickles, but does not unpickle
        write_frame(answers, data)
    except BrokenPipeError:
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - sent instead of the value that cannot be pickled
        text = text or "".join(traceback.format_exception(error))
        unsent = RuntimeError(f"{type(value).__name__} cannot be pickled: {value}")
        write_frame(answers, (number, False, unsent, text))
