"""The whole terminal as a view: some lines that stay, a picture that scrolls where it is too high, and keys."""

from __future__ import annotations

import math
import os
import select
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

from rich.segment import Segment, Segments
from rich.text import Text

from warpleague.report.terminal.colours import QUIET
from warpleague.report.terminal.styles import seat_style
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rich.console import Console, RenderableType

    from warpleague.games.scene import Scene

_ESCAPES: Final = {
    "[A": "up", "[B": "down", "[C": "right", "[D": "left", "[5~": "page up", "[6~": "page down",
    "[H": "home", "[F": "end", "[1~": "home", "[4~": "end",
    "OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home", "OF": "end",
}  # fmt: skip
_NAMES: Final = {" ": "space", "\r": "enter", "\n": "enter", "\x1b": "escape"}
_LONGEST: Final = 8
_ESCAPE_S: Final = 0.02
"""How long the rest of an escape sequence may take."""
_LOOK_S: Final = 0.2
"""How often the size of the terminal is looked at, in seconds."""


class Keys:
    """Reads single keys from the terminal, without waiting for Enter; none if the input is not a terminal."""

    def __init__(self) -> None:
        self._restore = ExitStack()
        self._fd = -1
        self._size = os.terminal_size((0, 0))

    def __enter__(self) -> Self:
        if sys.stdin is not None and sys.stdin.isatty():
            import termios
            import tty

            self._fd = sys.stdin.fileno()
            before = termios.tcgetattr(self._fd)
            self._restore.callback(termios.tcsetattr, self._fd, termios.TCSADRAIN, before)
            tty.setcbreak(self._fd)
            self._size = os.get_terminal_size(self._fd)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore.close()

    @property
    def there(self) -> bool:
        """Whether a key can come."""
        return self._fd >= 0

    def read(self, wait_s: float | None) -> str:
        """The name of the next key, or empty if none comes within `wait_s` seconds (None: wait for one).

        It is `resize` if the terminal has got another size meanwhile.
        """
        if not self.there:
            time.sleep(wait_s or 0)
            return ""
        until = math.inf if wait_s is None else time.monotonic() + wait_s
        while not select.select([self._fd], [], [], max(0.0, min(_LOOK_S, until - time.monotonic())))[0]:
            size = os.get_terminal_size(self._fd)
            if size != self._size:
                self._size = size
                return "resize"
            if time.monotonic() >= until:
                return ""
        char = os.read(self._fd, 1).decode("latin-1")
        if char == "\x1b" and select.select([self._fd], [], [], _ESCAPE_S)[0]:
            return self._escape()
        return _NAMES.get(char, char)

    def _escape(self) -> str:
        """The name of the key whose sequence has begun; nothing of the next key is read."""
        text = ""
        while len(text) < _LONGEST:
            text += os.read(self._fd, 1).decode("latin-1")
            if text not in ("[", "O") and (len(text) == 1 or not text[-1].isdecimal()):
                break
        return _ESCAPES.get(text, "")


class Viewport:
    """A context manager: the terminal's other screen, as long as it is open."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._screen = console.screen()
        self._top = 0
        self._height = self._room = 0

    def __enter__(self) -> Self:
        self._screen.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._screen.__exit__(kind, error, trace)

    def show(self, head: Sequence[Text], body: RenderableType, foot: str) -> None:
        """Draw `head`, as much of `body` as there is room for, and one line `foot`."""
        console = self.console
        options = console.options
        size = console.size
        lines: list[list[Segment]] = []
        for text in head:
            lines += console.render_lines(text, options, pad=False)
        lines = lines[: max(1, size.height - 4)]
        rows = console.render_lines(body, options, pad=False)
        self._height, self._room = len(rows), max(1, size.height - len(lines) - 1)
        self._top = max(0, min(self._top, self._height - self._room))
        shown = rows[self._top : self._top + self._room]
        if self._height > self._room:
            foot = f" ↑↓ {self._top + 1}-{self._top + len(shown)} of {self._height} {foot}"
        blank: list[Segment] = []
        lines += shown + [blank] * (self._room - len(shown))
        last = Text(foot, style="reverse", no_wrap=True, overflow="ellipsis", end="")
        lines += console.render_lines(last, options, pad=False)[:1]
        drawn: list[Segment] = []
        for number, line in enumerate(lines):
            drawn += [*line, *([_NEW_LINE] if number < len(lines) - 1 else [])]
        self._screen.update(Segments(drawn))

    def scroll(self, key: str) -> bool:
        """Scroll by a key; whether it was one for that."""
        by = {"up": -1, "down": 1, "page up": -self._room, "page down": self._room}.get(key)
        if by is None:
            return False
        self._top = max(0, min(self._top + by, self._height - self._room))
        return True


_NEW_LINE: Final = Segment.line()


def score_line(names: Sequence[str], scene: Scene | None) -> Text:
    """The players, with their scores if the game has them."""
    text = Text(no_wrap=False)
    scores = scene.scores if scene is not None else ()
    for seat, name in enumerate(names):
        score = f" {scores[seat]:g}" if scores else ""
        text.append(f"{seat} {safe(name, keep='')}{score}", seat_style(seat))
        text.append("   ")
    if scores and scene is not None:
        text.append(scene.measure, QUIET)
    return text
