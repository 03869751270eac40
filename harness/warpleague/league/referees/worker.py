"""A referee process: takes calls from its pipe, and sends back what they return.

`pool` hands out the calls, and `forkserver` starts the process. A plain function is called while nothing else runs. An
async function is a task: `tasks` runs several of them side by side. A frame is a length (8 bytes, big-endian) and a
pickle.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from typing import Any, Final

_PR_SET_PDEATHSIG = 1
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


def serve(calls: int, answers: int, core: int) -> None:
    """Serve the calls that come from one pipe end until it ends, and answer to the other; stay on `core` (-1: any)."""
    if core >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    call = next_call(calls)
    while call is not None:
        number, is_task, packed = call
        if is_task:
            from warpleague.league.referees.tasks import run_tasks

            call = run_tasks(calls, answers, call)
        else:
            send(answers, number, *_called(packed))
            call = next_call(calls)


Call = tuple[int, bool, bytes]
"""Its number, whether it is a task, and the pickle of function and arguments."""


def next_call(calls: int) -> Call | None:
    """The next call; None if the pipe has ended."""
    try:
        call: Call = pickle.loads(read_frame(calls))
    except EOFError:
        return None
    return call


def _called(packed: bytes) -> tuple[bool, Any, str]:
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


def die_with(parent: int) -> None:
    """Have the kernel kill us when the thread that started us ends (Linux); elsewhere the pipe's end must do."""
    if sys.platform != "linux":
        return
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    # It may have died before we asked.
    if os.getppid() != parent:
        sys.exit(1)
