"""Shows a match while it is played: the board redrawn in place, with the last things that happened.

The runner calls `MatchWatcher.observe` after each step. If the output is no terminal, each event is a line of text.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Self

from rich.console import Group
from rich.live import Live
from rich.text import Text

from warpleague.games import load_game
from warpleague.report.scene import paint
from warpleague.report.styles import seat_style
from warpleague.report.terminal import make_console
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rich.console import Console

    from warpleague.games.api import Event
    from warpleague.match.spec import MatchSpec

_TOLD: Final = 6
_FRAME_S: Final = 0.05


class MatchWatcher:
    """Watches one match in a terminal; a context manager around it."""

    def __init__(self, spec: MatchSpec, console: Console | None = None) -> None:
        self._game = load_game(spec.game)
        self._console = console or make_console()
        self._told: deque[str] = deque(maxlen=_TOLD)
        self._drawn = 0.0
        self._state: Any = None
        self._title = Text(f"{spec.game}: ", style="bold")
        for seat, bot in enumerate(spec.seats):
            self._title.append(f"{seat} {bot.bot}  ", seat_style(seat))
        self._live = Live(console=self._console, auto_refresh=False) if self._console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._draw()
            self._live.stop()

    def observe(self, state: Any, events: Sequence[Event]) -> None:
        """Take note of a step; called by the runner."""
        self._state = state
        for event in events:
            line = safe(self._game.tell(event.data))
            self._told.append(line)
            if self._live is None:
                self._console.print(Text(line))
        # Drawing is slower than most bots: it must not hold the match up more than it has to.
        if self._live is not None and time.monotonic() - self._drawn > _FRAME_S:
            self._draw()

    def _draw(self) -> None:
        if self._live is None or self._state is None:
            return
        # Above the board, in a fixed number of lines: a low terminal cuts off the last panels, and nothing jumps.
        lines = [*self._told, *[""] * (_TOLD - len(self._told))]
        told = Text("\n".join(lines), style="bright_black", no_wrap=True, overflow="ellipsis")
        scene = paint(self._game.scene(self._state, None))
        self._live.update(Group(self._title, told, scene), refresh=True)
        self._drawn = time.monotonic()
