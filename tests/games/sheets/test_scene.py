"""The drawing of a sheet, and the texts of events."""

from typing import Any

import pytest

from warpleague.games.sheets import GAME

DRAWN = """\
yellow × 2 3 4 5 6  L
       4 × 6 1 2  L
       2 3 × 5  L
       6 4 2  R
       3 1  L
       ×  ✓
       L L L R L L
       diagonal 1 5 1  ✓
       L free line, R reroll, ✓ had
red    1 × 3 4 5 6
blue   ×1× ×2× (3) ( ) ( ) ( ) ( )
stored free lines 1, rerolls 1
points boxes 1, with wormhole 2
       connections 3"""


@pytest.fixture
def drawn_sheet(table: Any) -> Any:
    return table.sheet(
        edges=[0, 1, 2, 6, 7, 42, 43, 44, 83],
        wormholes=[1, 2],
        yellow=[0, 7, 13, 20],
        red=[2],
        blue=[-1, -2, 3],
        free_lines=1,
        rerolls=1,
    )


def test_the_other_sections_are_told_in_text(table: Any, drawn_sheet: Any) -> None:
    """A seat's panel shows yellow, red, blue, stored rewards and points."""
    scene = GAME.scene(table.state(table.sheet(), drawn_sheet), None)
    panel = next(panel for panel in scene.panels if panel.owner == 1)
    assert panel.title == "seat 1: 6 points"
    assert "\n".join(panel.lines) == DRAWN


def test_two_sheets_stand_side_by_side_in_80_columns(table: Any) -> None:
    """However much is marked, stored and rolled, a panel with its frame takes at most 39 columns."""
    full = table.sheet(
        edges=list(range(84)),
        wormholes=[0, 1, 2, 6, 7, 8, 13],
        blue=[-1, -1, -1, -2, -2, -2, -3],
        free_lines=10,
        rerolls=6,
    )
    for state in (table.state(full), table.state(*[full] * 4)):
        for panel in GAME.scene(state, None).panels:
            assert max(map(len, (panel.title, *panel.lines))) <= 35


def test_the_white_section_is_drawn_as_a_board(table: Any, drawn_sheet: Any) -> None:
    """Boxes are cells, wormholes pieces, drawn edges links on the borders of the cells; sheets side by side."""
    scene = GAME.scene(table.state(table.sheet(), drawn_sheet), None)
    filled = [(cell.x, cell.y) for cell in scene.cells if cell.kind == "filled-box"]
    assert filled == [(7, 0), (8, 0)]
    assert [(piece.x, piece.y) for piece in scene.pieces] == [(8, 0), (9, 0)]
    links = [(link.x1, link.y1, link.x2, link.y2) for link in scene.links if link.kind == "edge"]
    assert links[0] == (6.5, -0.5, 7.5, -0.5)  # edge 0, the top of box 0
    assert links[-1] == (12.5, 4.5, 12.5, 5.5)  # edge 83, the right of box 35
    assert scene.caption == "Round 1 of 7, seat 0's turn: seat 0 keeps a die and gives one away"


def test_the_dice_are_shown_by_where_they_lie(table: Any) -> None:
    """A panel lists dice in hand, kept and discarded, with values unless they are about to be rolled."""
    state = table.state(hand=["white", "red"], kept=["black-1", "blue"], offered=["black-2", "yellow"])
    lines = (
        "in hand:", "  white 1-2", "  red 5", "kept:", "  black 3", "  blue 1",
        "discarded:", "  black 4", "  yellow 6",
    )  # fmt: skip
    assert GAME.scene(state, None).panels[0].lines == lines
    first = GAME.initial(1, GAME.Options())
    assert GAME.scene(first, 0).panels[0].lines == (
        "in hand:", "  white", "  black", "  black", "  red", "  yellow", "  blue",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"event": "turn", "seat": 1, "round": 3}, "round 3: seat 1's turn begins"),
        (
            {"event": "rolled", "seat": 0, "dice": {"white": [2, 5], "red": 1}},
            "seat 0 rolls white 2-5, red 1",
        ),
        (
            {"event": "kept", "seat": 0, "unit": "white", "value": [2, 5], "discard": "red", "discarded": 1},
            "seat 0 keeps white 2-5 and gives away red 1",
        ),
        (
            {"event": "line", "seat": 0, "edge": 0, "free": False, "filled": [0]},
            "seat 0 draws the top edge of the box in row 1, column 1 with white, filling the box in row 1, column 1",
        ),
        (
            {"event": "line", "seat": 0, "edge": 41, "free": True, "filled": []},
            "seat 0 draws the bottom edge of the box in row 6, column 6 with a free line",
        ),
        (
            {"event": "line", "seat": 0, "edge": 48, "free": True, "filled": []},
            "seat 0 draws the right edge of the box in row 1, column 6 with a free line",
        ),
        (
            {"event": "red", "seat": 2, "unit": "black-1", "value": 2, "box": 1, "filled": [0, 1]},
            "seat 2 marks the red 2 with black, completing the box in row 1, column 2"
            " and with it the box in row 1, column 1",
        ),
        (
            {"event": "red", "seat": 2, "unit": "red", "value": 2, "box": None, "filled": []},
            "seat 2 marks the red 2 with red, completing no box",
        ),
        (
            {"event": "blue", "seat": 0, "unit": "blue", "value": 4, "box": 3},
            "seat 0 crosses out the blue 4 with blue and draws a wormhole in row 1, column 4",
        ),
        (
            {"event": "reward", "seat": 0, "reward": "free-line", "from": "row 6"},
            "seat 0 gets a free line for row 6",
        ),
        ({"event": "lost", "seat": 0, "units": ["red", "blue"]}, "seat 0 has no use for red and blue"),
        ({"event": "retired", "seat": 3}, "seat 3 left the match"),
    ],
)
def test_events_are_told_in_english(event: dict[str, Any], text: str) -> None:
    """Each event is one readable line."""
    assert GAME.tell(event) == text
