"""What a process of the program has to do with others: what its starter left to it, and who reads its output."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

# Ignored on purpose: by nohup, by shells for what they run in the background, and by Python, which restores them in
# what it starts.
_MAY_BE_IGNORED: Final = frozenset(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGPIPE", "SIGXFSZ")
    if hasattr(signal, name)
)


def reset_signals() -> None:
    """Unblock all signals, and give those that are ignored their usual effect; for the main thread.

    Both are inherited from one program to the next. Where SIGCHLD is ignored, as some window managers and daemons
    leave it, the kernel takes the status of each child: a crash and a failed build would look like success. A bot that
    waits for an alarm would wait for ever where its signal is blocked.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - _MAY_BE_IGNORED:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def drop_output(stream: TextIO) -> None:
    """Let all that is written to `stream` from now on, and what it still holds, go nowhere.

    A stream tries again at each flush to write what it could not write, the last time when the interpreter ends: so it
    gets another file below it.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class ReaderEnded(BrokenPipeError):
    """Nobody reads the output any more, and the command is for nothing else."""


class LastingStream:
    """A text stream on which a program can go on writing to `inner` when nobody reads it any more (`| head`)."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner
        self.lasts = True
        """Whether what is written then is dropped. Else `write` and `flush` raise `ReaderEnded`, once."""

    def write(self, text: str) -> int:
        """Write `text`."""
        with self._dropping():
            self.inner.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand on what was written so far."""
        with self._dropping():
            self.inner.flush()

    @contextmanager
    def _dropping(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            drop_output(self.inner)
            if not self.lasts:
                raise ReaderEnded from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
