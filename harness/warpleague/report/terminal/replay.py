"""Prints a recorded match: each line in words, and the board when asked for.

`warpleague.match.replay` executes the record; the games provide words and scenes.
"""

from __future__ import annotations

import json
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import attrs
from rich.rule import Rule
from rich.text import Text

from warpleague.games import load_game
from warpleague.match.faults import evidence_lines
from warpleague.report.terminal.board import Picture, seat_style
from warpleague.report.terminal.console import BAD, QUIET, make_console, make_table
from warpleague.report.terminal.watch import Keys, Viewport, score_line
from warpleague.report.wording.match_words import BUSY_SHARE, RIVAL, SeatNames, ending, seat_lucks
from warpleague.runner.hints import hint
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from warpleague.match.replay import Replay, ReplayStep
    from warpleague.match.spec import MatchResult, MatchSpec


_MARGIN: Final = 7
"""The columns that the numbers of lines take; what follows them stays to their right."""

_STDERR_LINES: Final = 12
"""How much of a faulting bot's standard error is shown, from its end."""


def shown_events(step: ReplayStep, seat: int | None) -> list[dict[str, Any]]:
    """The events of a step as `seat` saw them (None: in full)."""
    if seat is None:
        return [event.data for event in step.events]
    return [form for event in step.events if (form := event.seen_by(seat)) is not None]


def _known(line: dict[str, Any], seat: int | None) -> dict[str, Any]:
    """A line of the record as far as `seat` knew it (None: in full).

    Of dice, and of what others did, only that there was something, and whose: the events tell the rest.
    """
    if seat is None or line.get("seat") == seat:
        return line
    return {key: line[key] for key in ("n", "seat", "type") if key in line}


def _noticed(step: ReplayStep, seat: int | None) -> bool:
    """Whether `seat` learned that there was this step: not of a message between others (coasters A1)."""
    return seat is None or step.data.get("seat") == seat or bool(shown_events(step, seat))


def steps_json(replay: Replay, seat: int | None) -> list[dict[str, Any]]:
    """Every line of the record with what happened, as JSON, as far as `seat` knew it; executes the whole record."""
    return [
        {"n": step.data["n"], "line": _known(step.data, seat), "events": shown_events(step, seat)}
        for step in replay
        if _noticed(step, seat)
    ]


def headline(replay: Replay) -> Text:
    """The match in one line: game, id, seats."""
    header = replay.header
    text = Text(f"{header['game']}, match {header['id']}: ", style="bold")
    for seat, player in enumerate(header["seats"]):
        if seat:
            text.append(", ")
        text.append(safe(f"{seat} {player['bot']}"), style=seat_style(seat))
    return text


def show_replay(
    replay: Replay, *, boards: bool, at: int | None, seat: int | None, console: Console | None = None
) -> None:
    """Tell the match; with `at`, only the board after that line (0: before the first), which must be there."""
    console = console or make_console()
    game = replay.game
    names = names_of(replay)
    console.print(headline(replay))
    if (parent := replay.header.get("parent")) is not None:
        text = f"branches off after line {parent['n']} of the match with digest {parent['digest']}"
        console.print(Text(safe(text), style="italic"), soft_wrap=True)
    if at == 0:
        console.print(Picture(names.on(game.scene(replay.first, seat))))
        return
    for step in replay:
        number = step.data["n"]
        if number != at if at is not None else not _noticed(step, seat):
            continue
        _print_step(console, replay, step, seat, names)
        if boards or at is not None:
            console.print(Picture(names.on(game.scene(step.state, seat))))
        if at is not None:
            return
    _print_end(console, replay)
    if seat is None:
        _print_lucks(console, replay, names)


def names_of(replay: Replay) -> SeatNames:
    """The names of the bots for the texts of a match."""
    roles = replay.game.scene(replay.first, None).roles
    return SeatNames([player["bot"] for player in replay.header["seats"]], roles)


def _print_step(
    console: Console, replay: Replay, step: ReplayStep, seat: int | None, names: SeatNames
) -> None:
    data = _known(step.data, seat)
    style = seat_style(data.get("seat")) if "seat" in data else QUIET
    lines = [names.say(replay.game.tell(event)) for event in shown_events(step, seat)]
    if "kind" in data:  # a fault, and not another seat's
        detail = data.get("detail") or {}
        after = "is out" if data["retired"] else "is substituted"
        after += ", equal to the one before" if data.get("tied") else ""
        who = names.say(f"seat {data['seat']}")
        lines.insert(0, f"{who} {after}: {data['kind']}: {detail.get('message', '')}")
        style = BAD
    marks = [name for name in ("auto", "then", "substituted") if data.get(name)]
    if data.get("ms"):
        marks.append(f"{data['ms'][0]:g} ms")
    if "value" in data:
        marks.append(f"expects {100 * data['value']:.4g} %")
    text = Text(safe("; ".join(lines)) or f"({data['type']})", style)
    if marks:
        text.append(f"  [{', '.join(marks)}]", QUIET)
    _print_hanging(console, f"{data['n']:5}  ", text)
    if data.get("note"):
        _print_hanging(console, " " * _MARGIN, Text(safe(f"note: {data['note']}"), style="italic"))
    detail = data.get("detail") or {}
    for line in evidence_lines(detail, _STDERR_LINES, str(detail.get("message", ""))):
        _print_hanging(console, " " * _MARGIN, Text(safe(line)))


def _print_hanging(console: Console, margin: str, text: Text) -> None:
    """Print `text` beside the margin, in a terminal wrapped there; elsewhere in one line, whole."""
    lines = text.wrap(console, console.width - _MARGIN) if console.is_terminal else [text]
    for line in lines:
        console.print(Text(margin, style=QUIET).append_text(line), soft_wrap=True)
        margin = " " * _MARGIN


def _print_end(console: Console, replay: Replay) -> None:
    summary = replay.summary
    assert summary is not None
    console.print(Rule())
    order = sorted(range(len(summary.ranks)), key=lambda seat: summary.ranks[seat])
    for seat in order:
        player = replay.header["seats"][seat]["bot"]
        text = f"{summary.ranks[seat]}. {player} (seat {seat}), score {summary.scores[seat]:g}"
        console.print(Text(safe(text), style=seat_style(seat)))
    if summary.rival is not None:
        place = 2 if summary.ranks[0] == 1 else 1
        console.print(Text(f"{place}. {RIVAL}, score {summary.rival:g}", style="italic"))
    console.print(f"ended: {ending(replay.game, summary.why)}", markup=False)
    console.print(f"digest {summary.digest}")


def _print_lucks(console: Console, replay: Replay, names: SeatNames) -> None:
    """What the dice gave each seat, if the game says what positions are worth."""
    for seat, luck in enumerate(seat_lucks(replay)):
        told = f"luck of {names.say(f'seat {seat}')}: {luck.total} points, the most by line {luck.n} ({luck.most}): "
        _print_hanging(console, "", Text(safe(told + names.say(luck.told)), style=seat_style(seat)))


# -- step ------------------------------------------------------------------------------------------------
# Steps through a recorded match in a terminal: forward and back, with the board of each line.

_FAR: Final = 10


@attrs.frozen
class _Step:
    state: Any
    text: str


class Stepper:
    """The lines of a record as `seat` knew them (None: in full); the record is executed as far as it is shown."""

    def __init__(self, replay: Replay, seat: int | None) -> None:
        self._replay = replay
        self._seat = seat
        self._console = make_console()
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
        view.show([score_line(names, scene), line], Picture(scene), f" {keys}")


# -- match -----------------------------------------------------------------------------------------------
# Prints a finished match: one table, and the faults in words.

_LONG_WAIT_MS: Final = 1000.0
"""Shorter waits in a match are not worth a line."""
_MATCH_STDERR_LINES: Final = 8  # of a bot that is out; its record has more


def print_result(spec: MatchSpec, result: MatchResult, console: Console | None = None) -> None:
    """Print the ranks, the time that each bot took, every fault, and the command that reproduces the match."""
    console = console or make_console()
    console.print(Text(f"{spec.game}, match {result.id}", style="bold"))
    table = make_table()
    table.add_column("seat", justify="right")
    table.add_column("bot", overflow="fold")
    for heading in ("rank", "score", "decisions", "mean ms", "longest ms"):
        table.add_column(heading, justify="right")
    table.add_column("fault")
    for seat, bot in enumerate(spec.seats):
        times = result.times[seat]
        faults = result.faults[seat]
        mean = times.wall_ms / times.decisions if times.decisions else 0.0
        table.add_row(
            str(seat),
            Text(bot.bot, style=seat_style(seat)),
            str(result.ranks[seat]),
            f"{result.scores[seat]:g}",
            str(times.decisions),
            f"{mean:.2f}",
            f"{times.longest_ms:.2f}",
            Text(", ".join(fault.kind for fault in faults), style=BAD),
        )
    if result.rival is not None:
        rank = "2" if result.ranks[0] == 1 else "1"
        table.add_row("", Text(RIVAL, style="italic"), rank, f"{result.rival:g}")
    console.print(table)
    for seat, faults in enumerate(result.faults):
        for fault in faults:
            after = "is out" if fault.retired else "was substituted"
            text = f"seat {seat}, {spec.seats[seat].bot}, {after}: {fault.kind}: {fault.message}"
            console.print(Text(safe(text), style=BAD), soft_wrap=True)
            if fault.retired:
                detail = json.loads(result.record.splitlines()[fault.n])["detail"]
                for line in evidence_lines(detail, _MATCH_STDERR_LINES, fault.message):
                    console.print(Text(safe(line)), soft_wrap=True)
                if advice := hint(spec.seats[seat], fault.message, detail):
                    console.print(Text(safe(f"  {advice}")), soft_wrap=True)
    if len(spec.seats) > 1 and all(seat and seat[0].kind == "startup" for seat in result.faults):
        console.print("no bot was ready to play: all rank equal", style=BAD)
    for seat in result.stopped:
        console.print(
            f"seat {seat} was stopped between its decisions: pondering is {spec.pondering!r}", markup=False
        )
    most = max(result.times, key=attrgetter("wait_ms"))
    if most.wait_ms > max(BUSY_SHARE * most.wall_ms, _LONG_WAIT_MS):
        seat, waited = result.times.index(most), f"{most.wait_ms:.0f} ms for a processor"
        console.print(
            f"the host was busy: seat {seat} waited {waited}, which is not counted as its own time",
            markup=False,
        )
    console.print(
        f"ended: {ending(load_game(spec.game), result.why)}; {result.lines} lines in {result.elapsed_s:.2f} s; "
        f"seed {spec.seed!r}",
        markup=False,
    )
    console.print(f"digest {result.digest}", soft_wrap=True)
