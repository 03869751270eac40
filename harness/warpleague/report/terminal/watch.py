"""Shows a match while it is played: scores, the last things that happened, and the board, at the watcher's pace.

The runner calls `MatchWatcher.observe` after each step. If the output is not a terminal, each event is a line of text.
"""

from __future__ import annotations

import math
import os
import select
import sys
import time
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, Self

from rich.segment import Segment, Segments
from rich.text import Text

from warpleague.games import load_game
from warpleague.report.terminal.board import Picture, seat_style
from warpleague.report.terminal.console import QUIET, make_console
from warpleague.report.wording.match_words import SeatNames
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from warpleague.games.api import Event
    from warpleague.games.scene import Scene
    from warpleague.match.spec import MatchSpec


# -- viewport --------------------------------------------------------------------------------------------
# The whole terminal as a view: some lines that stay, a picture that scrolls where it is too high, and keys.

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
"""How often the size of the terminal is checked, in seconds."""


class Keys:
    """Reads single keys from the terminal, without waiting for Enter; none if the input is not a terminal."""

    def __init__(self) -> None:
        self._restore = ExitStack()
        self._fd = -1
        self._size = os.terminal_size((0, 0))

    def __enter__(self) -> Self:
        if sys.stdin is not None and sys.stdin.isatty():
            import termios  # only on Unix
            import tty

            self._fd = sys.stdin.fileno()
            before = termios.tcgetattr(self._fd)
            self._restore.callback(termios.tcsetattr, self._fd, termios.TCSADRAIN, before)
            tty.setcbreak(self._fd)
            self._size = os.get_terminal_size(self._fd)
        return self

    def __exit__(self, *raised: object) -> None:
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

    def __exit__(self, *raised: object) -> None:
        self._screen.__exit__(None, None, None)

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


# -- watch -----------------------------------------------------------------------------------------------

PACE_S: Final = 0.3
"""How long each step is shown by default, in seconds."""

_EVENTS: Final = 6
"""The number of last events shown above the board."""
_LOW: Final = 32
"""A terminal with fewer lines than this shows only `_EVENTS_LOW` events, to leave room for the board."""
_EVENTS_LOW: Final = 2
_FRAME_S: Final = 0.05
_LEAST_S: Final = 0.01


class MatchWatcher:
    """Watches one match in a terminal; a context manager around it.

    Each step is shown for `pace_s` seconds, during which the match waits; with 0 it is played as fast as it can be.
    """

    def __init__(self, spec: MatchSpec, console: Console | None = None, pace_s: float = PACE_S) -> None:
        self._game = load_game(spec.game)
        self._names = [seat.bot for seat in spec.seats]
        self._seat_names: SeatNames | None = None  # the game's own words for seats are in its scenes
        self._console = console or make_console()
        self._pace_s = pace_s
        self._paused = self._left = False
        self._events: deque[str] = deque(maxlen=_EVENTS)
        self._drawn = 0.0
        self._state: Any = None
        self._view = Viewport(self._console) if self._console.is_terminal else None
        self._keys = Keys()

    def __enter__(self) -> Self:
        if self._view is not None:
            self._keys.__enter__()
            self._view.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._view is None:
            return
        self._view.__exit__(*raised)
        self._keys.__exit__(*raised)
        if self._state is not None and raised[0] is None:
            # What stays on the terminal: whole, since it may scroll.
            self._console.print(score_line(self._names, self._scene()))
            self._console.print(Picture(self._scene()))

    def observe(self, state: Any, events: Sequence[Event]) -> None:
        """Take note of a step; called by the runner."""
        self._state = state
        if self._seat_names is None:
            self._seat_names = SeatNames(self._names, self._game.scene(state, None).roles)
        for event in events:
            line = safe(self._seat_names.say(self._game.tell(event.data)))
            self._events.append(line)
            if self._view is None:
                self._console.print(Text(line))
        if self._view is None or self._left:
            return
        if self._pace_s or self._paused:
            self._draw()
            self._wait()
        # Drawing is slower than most bots: it must not hold the match up more than it has to.
        elif time.monotonic() - self._drawn > _FRAME_S:
            self._draw()
            self._obey(self._keys.read(0) if self._keys.there else "")

    def _wait(self) -> None:
        """Show the step for as long as the pace says, and obey keys."""
        until = time.monotonic() + self._pace_s
        while not self._left:
            left_s = None if self._paused else max(0.0, until - time.monotonic())
            key = self._keys.read(left_s)
            if key == "" and not self._paused:
                return
            if key in ("right", "n", "enter"):
                self._paused = True
                return
            self._obey(key)
            self._draw()

    def _obey(self, key: str) -> None:
        assert self._view is not None
        if key == "space":
            self._paused = not self._paused
        elif key in ("+", "="):
            self._pace_s = max(_LEAST_S, self._pace_s / 1.5)
        elif key == "-":
            self._pace_s = max(_LEAST_S, self._pace_s) * 1.5
        elif key == "q":
            self._left = True
        else:
            self._view.scroll(key)

    def _scene(self) -> Any:
        assert self._seat_names is not None
        return self._seat_names.on(self._game.scene(self._state, None))

    def _draw(self) -> None:
        assert self._view is not None
        scene = self._scene()
        events = list(self._events)[-(_EVENTS_LOW if self._console.height < _LOW else _EVENTS) :]
        head = [score_line(self._names, scene)]
        head += [Text(line, style=QUIET, no_wrap=True, overflow="ellipsis") for line in events]
        pace = "paused" if self._paused else f"{self._pace_s:.2g} s"
        keys = "space pause  → step  + faster  - slower  q end" if self._keys.there else ""
        self._view.show(head, Picture(scene), f" {pace}  {keys}")
        self._drawn = time.monotonic()
