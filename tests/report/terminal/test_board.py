"""Boards as text: what a person must be able to tell, also without colour."""

import io
import json
from random import Random
from typing import Any

import pytest
from rich.console import Console

from warpleague.cli import main
from warpleague.games import game_ids, load_game
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_roll
from warpleague.games.scene import Cell, Link, Panel, Piece, Scene
from warpleague.report.terminal.board import Picture


def drawn(scene: Scene, width: int = 100) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, color_system=None).print(Picture(scene))
    return [line.rstrip() for line in out.getvalue().splitlines()]


HEXES = (
    Cell(0, 0, "orbit", "12"),
    Cell(1, 0.5, "nebula", "134"),
    Cell(1, -0.5, "planet", "P0"),
    Cell(2, 0, "wild", "7 W3"),
    Cell(0, 1, "obstacle"),
)


def test_flat_top_hexes_share_their_sides() -> None:
    """Neighbours touch; labels, glyphs, a second word and pieces have their places, and a legend explains."""
    pieces = (Piece(1, 0.5, "wormhole", "b2", 1), Piece(1, 0.5, "ship", "A", 0), Piece(2, 0, "ship", "B", 1))
    assert drawn(Scene("hex", HEXES, pieces, caption="there")) == [
        "there",
        "      ____",
        " ____/ P0 \\____",
        "/o 12\\____/   7\\",
        "\\____/~134\\W3B_/",
        "/####\\Ab2_/",
        "\\####/",
        "o orbit   ~ nebula   P0 planet   W3 wild wormhole   ## obstacle   B ship   b2 wormhole",
    ]


def test_hexes_become_narrow_where_there_is_no_room() -> None:
    """With too few columns a hex takes four instead of five, and its glyph stands below its label."""
    assert drawn(Scene("hex", HEXES), 14)[:5] == [
        "     ___",
        " ___/ P0\\___",
        "/ 12\\___/  7\\",
        "\\o__/134\\W3_/",
        "/###\\~__/",
    ]


def test_too_many_pieces_end_in_a_plus() -> None:
    """Where a hex has no room for all its pieces, the uppermost are shown, and a plus."""
    pieces = tuple(Piece(0, 0, "ship", text, 0) for text in ("one", "two"))
    assert any("\\two+/" in line for line in drawn(Scene("hex", (Cell(0, 0, "blank", "1"),), pieces)))


def test_edges_and_boxes() -> None:
    """Dotted squares show drawn edges, filled boxes and wormholes."""
    cells = (Cell(0, 0, "filled-box", "■", 0), Cell(1, 0, "box", owner=0))
    links = (Link(-0.5, -0.5, 0.5, -0.5, "edge", 0), Link(0.5, -0.5, 0.5, 0.5, "edge", 0))
    pieces = (Piece(1, 0, "wormhole", "○", 0),)
    assert drawn(Scene("square", cells, pieces, links))[:3] == ["·━━━·   ·", " ▒▒▒┃ ○", "·   ·   ·"]


def test_regions_of_one_owner_are_walled_in() -> None:
    """A border parts the cells of two owners; ships stand below the arrows, and a star marks where a shot leads."""
    cells = (Cell(0, 0, "home-centre", "↑→↓←", 0), Cell(1, 0, "home", "↑↓", 0), Cell(2, 0, "home", "→", 1))
    pieces = (Piece(1, 0, "ship", "0:3", 0, "E"),)
    links = (Link(1, 0, 2, 0, "aim", 0),)
    assert drawn(Scene("square", cells, pieces, links)) == [
        "┌──────────┬─────┐",
        "│↑→↓← ↑↓   │→   *│",
        "│⌂0   ▶0:3 │     │",
        "└──────────┴─────┘",
        "⌂0 home of seat 0   ▶0:3 ship (number:hit points left)   * where it leads",
    ]


def test_panels_stand_beside_the_board_where_there_is_room() -> None:
    """Panels go beside the board as long as they fit there, the others below it in columns."""
    cells = tuple(Cell(0, y, "space", "") for y in range(6))
    panels = tuple(Panel(f"panel {i}", ("x" * 20,)) for i in range(4))
    wide = drawn(Scene("square", cells, panels=panels), 80)
    assert [sum(f"panel {i}" in line for i in range(4)) for line in wide] == [1, 0, 0, 1, 0, 0, 2, 0, 0]
    narrow = drawn(Scene("square", cells, panels=panels), 25)
    assert len(narrow) == 6 + 4 * 3


@pytest.mark.parametrize("width", [60, 100, 160])
@pytest.mark.parametrize("game_id", sorted(game_ids()))
def test_no_line_is_wider_than_the_terminal(game_id: str, width: int) -> None:
    """Every game's positions are drawn within the width, for everyone and for a seat, and say something."""
    game: Any = load_game(game_id)
    rng, state = Random(game_id), game.initial(game.players[-1], game.Options())
    for step in range(120):
        actors = game.actors(state)
        if not actors:
            break
        if actors == (CHANCE,):
            state, _ = game.apply(state, random_roll(game.chance(state), rng))
        else:
            state, _ = game.apply(state, rng.choice(game.legal(state, actors[0])))
        for viewer in (None, 0) if step % 30 == 0 else ():
            lines = drawn(game.scene(state, viewer), width)
            assert len(lines) > 3
            assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [50, 80])
def test_sheets_without_room_side_by_side_are_all_there(width: int) -> None:
    """On a narrow terminal sheets come in several rows, and none of them is cut."""
    game: Any = load_game("sheets")
    scene = game.scene(game.initial(4, game.Options()), None)
    dots = [sum(line.count("·") for line in drawn(scene, columns)) for columns in (width, 300)]
    assert dots[0] == dots[1] == 4 * 49


def test_show_galaxy_draws_what_a_match_with_that_seed_is_played_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same seed, players and options give the same galaxy, with its boards and a legend."""
    monkeypatch.setenv("COLUMNS", "120")
    call = ["games", "captains", "--show-galaxy", "--seed", "x", "--option", "pattern=decapoda-2"]
    assert main(call) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Galaxy decapoda-2")
    assert "place 0: side" in shown
    assert "[] station" in shown
    assert "seed 'x'" in shown
    assert main(call) == 0
    assert capsys.readouterr().out == shown
    assert main([*call, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["players"], data["options"]["pattern"]) == (1, "decapoda-2")
    numbers = [number for number, space in enumerate(data["setup"]["spaces"]) if space["kind"] == "cannon"]
    assert all(f"+{number:>3}" in shown for number in numbers)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["aliens", "--show-galaxy"], "aliens deals no galaxy"),
        (["--show-galaxy"], "which game"),
        (["captains", "--show-galaxy", "--players", "6"], "captains is for 1 to 5 players"),
        (["captains", "--show-galaxy", "--option", "patern=x"], "did you mean 'pattern'"),
        (["captains", "--seed", "x"], "need --show-galaxy"),
    ],
)
def test_show_galaxy_says_what_it_cannot_do(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other games, bad options and missing words are errors that say what is wrong."""
    assert main(["games", *arguments]) == 2
    assert message in capsys.readouterr().err
