"""Steps through a recorded match in a terminal: forward and back, with the board of each line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
from rich.text import Text

from warpleague.report.terminal.colours import QUIET
from warpleague.report.terminal.console import make_console
from warpleague.report.terminal.replay import names_of, shown_events
from warpleague.report.terminal.scene import paint
from warpleague.report.terminal.viewport import Keys, Viewport, score_line
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from rich.console import Console

    from warpleague.match.replay import Replay

_FAR: Final = 10


@attrs.frozen
class _Step:
    state: Any
    text: str


class Stepper:
    """The lines of a record as `seat` knew them (None: in full); the record is executed as far as it is shown."""

    def __init__(self, replay: Replay, seat: int | None, console: Console | None = None) -> None:
        self._replay = replay
        self._seat = seat
        self._console = console or make_console()
        self._names = names_of(replay)
        self._steps = [_Step(replay.first, "the start")]
        self._rest = self._read()

    def _read(self) -> Iterator[_Step]:
        for step in self._replay:
            lines = [
                self._names.say(self._replay.game.tell(event)) for event in shown_events(step, self._seat)
            ]
            yield _Step(step.state, safe("; ".join(lines), keep="") or f"({step.data['type']})")

    def _reach(self, number: int) -> int:
        """Execute lines up to this number, or to the last line if there are fewer."""
        while len(self._steps) <= number and (step := next(self._rest, None)) is not None:
            self._steps.append(step)
        return min(number, len(self._steps) - 1)

    def run(self, at: int = 0, pace_s: float | None = None) -> None:
        """Show line `at`, and obey keys until q; with `pace_s` continue without keys."""
        at = self._reach(at)
        last = len(self._replay.lines) - 2
        playing = pace_s is not None
        pace_s = pace_s or 0.5
        with Keys() as keys, Viewport(self._console) as view:
            while True:
                self._draw(view, at, last, playing)
                key = keys.read(pace_s if playing else None)
                moved = {
                    "right": 1, "n": 1, "enter": 1, "left": -1, "p": -1, ">": _FAR, "<": -_FAR,
                    "home": -at, "end": last - at, "": 1,
                }.get(key)  # fmt: skip
                if key == "" and not playing:
                    continue  # a key without a meaning
                if key in ("q", "escape"):
                    return
                if key == "space":
                    playing = not playing
                elif key in ("+", "="):
                    pace_s /= 1.5
                elif key == "-":
                    pace_s *= 1.5
                elif moved is not None:
                    at = self._reach(max(0, at + moved))
                    playing = playing and at < last
                else:
                    view.scroll(key)

    def _draw(self, view: Viewport, at: int, last: int, playing: bool) -> None:
        step = self._steps[at]
        scene = self._names.on(self._replay.game.scene(step.state, self._seat))
        names = [seat["bot"] for seat in self._replay.header["seats"]]
        line = Text(f"{at}/{last}  {step.text}", style=QUIET, no_wrap=True, overflow="ellipsis")
        keys = f"← → step  < > ten  Home End  space {'pause' if playing else 'play'}  q quit"
        view.show([score_line(names, scene), line], paint(scene), f" {keys}")
