"""Shows on standard error how far a computation is: in a terminal in one line, elsewhere in a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_TERMINAL_S: Final = 0.5
_ELSEWHERE_S: Final = 20.0


class WorkProgress:
    """As a context manager it removes the line at its end."""

    def __init__(self) -> None:
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._began_s = time.monotonic()
        self._next_s = self._began_s + (0 if self._live else _ELSEWHERE_S)
        self._width = 0

    def show(self, text: str) -> None:
        """Show `text` if it is time for it; may be called as often as one likes."""
        now_s = time.monotonic()
        if sys.stderr is None or now_s < self._next_s:
            return
        self._next_s = now_s + (_TERMINAL_S if self._live else _ELSEWHERE_S)
        line = f"{text}, {now_s - self._began_s:.0f} s"
        if self._live:
            print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width and sys.stderr is not None:
            print("\r" + self._width * " " + "\r", end="", file=sys.stderr, flush=True)
