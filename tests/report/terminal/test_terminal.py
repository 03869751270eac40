"""Boards, results and live matches in a terminal: all of it is shown, and nothing shown steers the terminal.

What there is to draw is tested with the games, where it stands on the board with the drawing of boards.
"""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from warpleague.games import load_game
from warpleague.games.api import Event
from warpleague.games.scene import Cell, Panel, Scene
from warpleague.match.chance import match_key
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchResult, MatchSpec, SeatFault, SeatSpec, SeatTimes
from warpleague.report.terminal import console as console_module
from warpleague.report.terminal.board import LOOKS, SEAT_STYLES, Picture, seat_style
from warpleague.report.terminal.console import BAD, CODE, GOOD, HEAD, QUIET, WARNING, make_table
from warpleague.report.terminal.replay import print_result
from warpleague.report.terminal.watch import MatchWatcher
from warpleague.text import safe

MakeConsole = Callable[..., Console]


COLOURS = sorted({look.style for look in LOOKS.values() if look.style and look.style != "bold"})
"""Of the kinds of cells."""


@pytest.fixture
def make_console() -> MakeConsole:
    """A console that writes into memory, a terminal if told so."""

    def make_console(*, terminal: bool = False, width: int = 80) -> Console:
        return Console(file=io.StringIO(), force_terminal=terminal, width=width, highlight=False)

    return make_console


def written(console: Console) -> str:
    """What went to the console."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def spec_of(game: str, *bots: str) -> MatchSpec:
    """A match of these bots."""
    seats = tuple(SeatSpec(bot) for bot in bots)
    options = options_json(load_game(game).Options())
    return MatchSpec("id", game, options, seats, match_key("x"), seed="[b]x[/b]")


def test_seats_have_colours_of_their_own() -> None:
    """Each of ten seats has a colour; nobody has another."""
    assert len({seat_style(seat) for seat in range(10)}) == len(SEAT_STYLES) == 10
    assert seat_style(None) not in SEAT_STYLES


@pytest.mark.parametrize("style", [*SEAT_STYLES, QUIET, GOOD, WARNING, BAD, HEAD, CODE, *COLOURS])
def test_colours_can_be_read_on_white_and_on_black(style: str) -> None:
    """The contrast is near the 4.5 to 1 that WCAG asks for, which no colour has on both."""
    colour = Style.parse(style).color
    assert colour is not None
    shares = [part / 255 for part in colour.get_truecolor()]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    assert 1.05 / (light + 0.05) > 3.9
    assert (light + 0.05) / 0.05 > 3.9


@pytest.mark.parametrize("text", ["\x1b[2J", "\x9b2J", "a\rb", "\x00", "\u202eevil", "\ud800"])
def test_no_text_steers_the_terminal(make_console: MakeConsole, text: str) -> None:
    """Control characters, also those that turn the direction of writing, are spelled out wherever they come from."""
    assert safe(text) != text
    panel = Panel(text, (text,))
    console = make_console()
    console.print(Picture(Scene("square", (Cell(0, 0, "x"),), panels=(panel,), caption=text)))
    assert not set(written(console)) & set("\x1b\x9b\r\x00\u202e\ud800")


def test_plain_text_stays_as_it_is() -> None:
    """Letters of any script, tabs and newlines are no danger; brackets are no markup."""
    assert safe("grün ☃ 星\t[bold]\n") == "grün ☃ 星\t[bold]\n"


def test_a_result_fits_a_terminal(make_console: MakeConsole) -> None:
    """Long names and messages are told whole in 80 columns, the seed without being taken for markup."""
    name = "a-bot-with-a-name-of-more-than-thirty-letters"
    fault = SeatFault("timeout", 3, True, "no answer within 1.000 s \x1b[31m")
    record = b'{}\n{}\n{}\n{"detail":{"stderr":"a\\nlast \x1b[31m words"}}\n'.replace(b"\x1b", b"\\u001b")
    result = MatchResult(
        "id", (1, 2), (1.0, 0.0), "retired", "d" * 64, ((), (fault,)), (SeatTimes(), SeatTimes()), record, 3
    )
    console = make_console()
    print_result(spec_of("aliens", "short", name), result, console)
    told = written(console)
    assert f"seat 1, {name}, is out: timeout: no answer within 1.000 s \\x1b[31m\n" in told
    assert "  it wrote to standard error:\n    a\n    last \\x1b[31m words\n" in told
    assert "seed '[b]x[/b]'" in told
    assert f"digest {'d' * 64}" in told
    table = told[: told.index("seat 1,")]
    assert all(len(line) <= 80 for line in table.splitlines())
    assert "…" not in table


@pytest.fixture
def steps() -> list[tuple[Any, list[Event]]]:
    """The first steps of a match of aliens: a roll, and two decisions."""
    game = load_game("aliens")
    state, found = game.initial(2, game.Options()), []
    for number in range(3):
        seat = game.actors(state)[0]
        move = (0, 1, 2, 3) if number == 0 else game.legal(state, seat)[0]
        state, events = game.apply(state, move)
        found.append((state, list(events)))
    return found


def test_watching_a_terminal_draws_the_board(make_console: MakeConsole, steps: list[Any]) -> None:
    """In a terminal the board is drawn in place, and the last picture shows the last event."""
    console = make_console(terminal=True, width=100)
    with MatchWatcher(spec_of("aliens", "left", "right"), console) as watcher:
        for step in steps:
            watcher.observe(*step)
    told = written(console)
    last = load_game("aliens").tell(steps[-1][1][-1].data)
    assert "left" in told
    assert last.replace("DiagonAliens", "right") in told


def test_watching_a_file_tells_each_event_once(make_console: MakeConsole, steps: list[Any]) -> None:
    """Elsewhere each event is a line, in order."""
    console = make_console(width=200)
    with MatchWatcher(spec_of("aliens", "left", "right"), console) as watcher:
        for step in steps:
            watcher.observe(*step)
    told = [load_game("aliens").tell(event.data) for _, events in steps for event in events]
    named = [line.replace("DiagonAliens", "right").replace("OrthogonAliens", "left") for line in told]
    assert written(console).splitlines() == named


CELLS: st.SearchStrategy[str | Text] = st.sampled_from(
    [
        *("", "12.5", "漢字", "a b c " * 4, "[bold]12[/]", ":x: 5", "a\\[b", "two\nlines"),
        *(Text("7", "red"), Text("8 9", "dim")),
    ]
)


@settings(max_examples=25)
@given(st.data(), st.integers(90, 120))
def test_a_table_written_quickly_is_that_of_rich(data: st.DataObject, width: int) -> None:
    """Whether or not a table's lines are made without rich, they are the same."""
    quick = make_table()
    for number in range(data.draw(st.integers(1, 5))):
        quick.add_column(
            f"column {number}", justify=data.draw(st.sampled_from(["left", "right"])), min_width=number
        )
    for _ in range(data.draw(st.integers(0, 4))):
        quick.add_row(*(data.draw(CELLS) for _ in quick.columns))
    slow = Table(box=quick.box, header_style=HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    slow.columns, slow.rows = quick.columns, quick.rows
    assert printed(quick, width) == printed(slow, width)


def printed(table: Table, width: int) -> str:
    """What a console of so many columns prints."""
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_name_from_right_to_left_keeps_its_numbers_on_their_side(
    monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> None:
    """In a terminal marks without width isolate its words; a file gets the names as they are."""
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setenv("TERM", "xterm")
    table = make_table()
    table.add_column("bot")
    table.add_column("won", justify="right")
    names = ["\u05d0\u05d1-2", "\u05d0 \u05d2", "Ada"]
    for name in names:
        table.add_row(name, "12")
    console_module.make_console().print(table, "\u05d0\u05d1, \u05d2 7")
    lines = [line for line in out.getvalue().splitlines() if re.search("12|7", line)]
    shown = ["\u2068\u05d0\u05d1-2\u2069", "\u2068\u05d0 \u05d2\u2069", "Ada"] if terminal else names
    assert [line.split("  ")[0].strip() for line in lines[:3]] == shown
    assert len({cell_len(line) for line in lines[:3]}) == 1
    assert lines[3] == (
        "\u2068\u05d0\u05d1\u2069, \u2068\u05d2\u2069 7" if terminal else "\u05d0\u05d1, \u05d2 7"
    )
