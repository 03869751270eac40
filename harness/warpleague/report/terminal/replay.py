"""Prints a recorded match: each line in words, and the board when asked for.

`warpleague.match.replay` executes the record; the games provide words and scenes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.rule import Rule
from rich.text import Text

from warpleague.match.evidence import evidence_lines
from warpleague.report.terminal.colours import BAD, QUIET
from warpleague.report.terminal.console import make_console
from warpleague.report.terminal.scene import RIVAL, paint
from warpleague.report.terminal.styles import seat_style
from warpleague.report.wording.seat_names import SeatNames
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from rich.console import Console

    from warpleague.match.replay import Replay, ReplayStep

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
        console.print(paint(names.on(game.scene(replay.first, seat))))
        return
    for step in replay:
        number = step.data["n"]
        if number != at if at is not None else not _noticed(step, seat):
            continue
        _print_step(console, replay, step, seat, names)
        if boards or at is not None:
            console.print(paint(names.on(game.scene(step.state, seat))))
        if at is not None:
            return
    _print_end(console, replay)


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
    console.print(f"ended: {summary.why}", markup=False)
    console.print(f"digest {summary.digest}")
