"""Shows a match while it is played: scores, the last things that happened, and the board, at the watcher's pace.

The runner calls `MatchWatcher.observe` after each step. If the output is not a terminal, each event is a line of text.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Self

from rich.text import Text

from warpleague.games import load_game
from warpleague.report.terminal.colours import QUIET
from warpleague.report.terminal.console import make_console
from warpleague.report.terminal.scene import paint
from warpleague.report.terminal.viewport import Keys, Viewport, score_line
from warpleague.report.wording.seat_names import SeatNames
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rich.console import Console

    from warpleague.games.api import Event
    from warpleague.match.spec import MatchSpec

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
        self._game = load_game(spec.game, spec.rules)
        self._names = [seat.bot for seat in spec.seats]
        self._said: SeatNames | None = None  # the game's own words for seats are in its scenes
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._view is None:
            return
        self._view.__exit__(kind, error, trace)
        self._keys.__exit__(kind, error, trace)
        if self._state is not None and kind is None:
            # What stays on the terminal: whole, since it may scroll.
            self._console.print(score_line(self._names, self._scene()))
            self._console.print(paint(self._scene()))

    def observe(self, state: Any, events: Sequence[Event]) -> None:
        """Take note of a step; called by the runner."""
        self._state = state
        if self._said is None:
            self._said = SeatNames(self._names, self._game.scene(state, None).roles)
        for event in events:
            line = safe(self._said.say(self._game.tell(event.data)))
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
        """Let the step be looked at."""
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
        assert self._said is not None
        return self._said.on(self._game.scene(self._state, None))

    def _draw(self) -> None:
        assert self._view is not None
        scene = self._scene()
        events = list(self._events)[-(_EVENTS_LOW if self._console.height < _LOW else _EVENTS) :]
        head = [score_line(self._names, scene)]
        head += [Text(line, style=QUIET, no_wrap=True, overflow="ellipsis") for line in events]
        pace = "paused" if self._paused else f"{self._pace_s:.2g} s"
        keys = "space pause  → step  + faster  - slower  q end" if self._keys.there else ""
        self._view.show(head, paint(scene), f" {pace}  {keys}")
        self._drawn = time.monotonic()
