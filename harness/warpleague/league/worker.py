"""A referee process: takes calls from its pipe, one after another, and sends back what they return.

`pool` starts, replaces and stops referees. The command is `python -P -m warpleague.league.worker IN OUT PARENT
CORE`: two inherited file descriptors, the process to die with, and the core to stay on (-1: any). A frame is a
length (8 bytes, big-endian) and a pickle.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from typing import Any, BinaryIO

_PR_SET_PDEATHSIG = 1


def write_frame(pipe: BinaryIO, value: object) -> None:
    """Send `value`; pickling comes first, so that what cannot be pickled leaves the pipe as it was."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> bytes:
    """The next pickle; `EOFError` if the other side has closed the pipe, also in the middle of a frame."""
    size = pipe.read(8)
    if len(size) < 8:
        raise EOFError
    data = pipe.read(int.from_bytes(size, "big"))
    if len(data) < int.from_bytes(size, "big"):
        raise EOFError
    return data


def main(argv: list[str]) -> None:
    """Serve calls until the pipe ends."""
    source, target, parent, core = (int(text) for text in argv)
    _die_with(parent)
    # Ours alone: a bot that inherited them could speak as the referee, or keep them open after our death.
    os.set_inheritable(source, False)
    os.set_inheritable(target, False)
    if core >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    with os.fdopen(source, "rb") as calls, os.fdopen(target, "wb") as answers:
        while True:
            try:
                call = read_frame(calls)
            except EOFError:
                return
            _answer(answers, *_called(call))


def _called(call: bytes) -> tuple[bool, Any, str]:
    try:
        function, args, kwargs = pickle.loads(call)
        return True, function(*args, **kwargs), ""
    except BaseException as error:  # noqa: BLE001 - what a match raises is the scheduler's to judge
        return False, error, "".join(traceback.format_exception(error))


def _answer(answers: BinaryIO, done: bool, value: Any, text: str) -> None:
    try:
        data = (done, value, text)
        if not done:
            pickle.loads(pickle.dumps(value))  # many an exception pickles, but does not unpickle
        write_frame(answers, data)
    except BrokenPipeError:
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - sent instead of the value that cannot be pickled
        text = text or "".join(traceback.format_exception(error))
        write_frame(
            answers, (False, RuntimeError(f"{type(value).__name__} cannot be pickled: {value}"), text)
        )


def _die_with(parent: int) -> None:
    """Have the kernel kill us when the thread that started us ends (Linux); elsewhere the pipe's end must do."""
    if sys.platform != "linux":
        return
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    # It may have died before we asked.
    if os.getppid() != parent:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
