"""Whole matches written down for people to read, compared byte for byte.

Each file shows every move, what is told of it, and at some points what each seat sees. After a wanted change run
the tests with WARPLEAGUE_REGENERATE_GOLDEN=1 and read the difference.
"""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpleague.games.aliens import GAME
from warpleague.games.aliens.state import Options
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_playout

GOLDEN = Path(__file__).parent / "golden"
SIDES = ("OrthogonAliens", "DiagonAliens")


def short(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def drawn(state: Any, viewer: int) -> list[str]:
    """The board as text: suit and value of wormholes, two letters a ship, `##` for bases."""
    scene = GAME.scene(state, viewer)
    texts = {(cell.x, cell.y): cell.label or ("##" if cell.kind == "base" else ".") for cell in scene.cells}
    texts |= {(piece.x, piece.y): piece.text for piece in scene.pieces}
    rows = ["".join(f"{texts.get((x, y), ''):<3}" for x in range(1, 11)).rstrip() for y in range(1, 19)]
    lines = [f"    {19 - y:>2}  {row}" for y, row in enumerate(rows, 1)]
    return [*lines, *(f"    {panel.title}: {line}" for panel in scene.panels for line in panel.lines)]


def seen(state: Any) -> list[str]:
    """Both seats' views, and the board as each sees it."""
    lines = []
    for seat in (0, 1):
        view = GAME.view(state, seat)
        lines += [f"  seat {seat} sees: {GAME.scene(state, seat).caption}", *drawn(state, seat)]
        lines += [f"    {key}: {short(view[key])}" for key in view if key not in ("wormholes", "options")]
        lines += ["    wormholes:", *(f"      {short(hole)}" for hole in view["wormholes"])]
    return lines


def written(state: Any, moves: tuple[Any, ...], show: Callable[[dict[str, Any], int], bool]) -> str:
    """The playthrough; views are shown at the start, where `show` says so of a position, and at the end."""
    lines = [f"options {short(GAME.to_json(state)['options'])}", *seen(state)]
    for n, move in enumerate(moves, 1):
        actor = GAME.actors(state)[0]
        if actor == CHANCE:
            lines.append(f"{n}. dice {short(move)}")
        else:
            count = len(GAME.legal(state, actor))
            lines.append(
                f"{n}. seat {actor} {GAME.ask(state, actor)} (1 of {count}): {short(GAME.action_json(move))}"
            )
        state, events = GAME.apply(state, move)
        for event in events:
            lines.append(f"     {GAME.tell(event.data)}{' (news to the mover)' if event.reveals else ''}")
            if event.seats is not None and event.redacted is not None:
                lines.append(f"     to others: {GAME.tell(event.redacted)}")
        if show(GAME.to_json(state), n):
            lines += seen(state)
    if not GAME.actors(state):
        outcome = GAME.outcome(state)
        lines.append(f"ranks {outcome.ranks}, scores {outcome.scores}, why: {outcome.why}")
    return "\n".join([*lines, *seen(state)]) + "\n"


def compare(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WARPLEAGUE_REGENERATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "seed", "options"),
    [
        ("plain", 65, Options()),
        ("both-ships", 5, Options(both_ships=True, max_turns=40)),
        ("swapped", 2, Options(diagonals="swapped", max_turns=30)),
    ],
)
def test_random_matches_are_as_written(name: str, seed: int, options: Options) -> None:
    """A random match from the opening roll to the end, views shown after the set-up and at the first `send`."""
    playout = random_playout(GAME, 2, options, random.Random(seed))
    shown: set[str] = set()

    def first_of_its_kind(position: dict[str, Any], _: int) -> bool:
        fresh = position["phase"] in ("roll", "send") and position["phase"] not in shown
        shown.add(position["phase"])
        return fresh

    compare(name, written(playout.states[0], playout.moves, first_of_its_kind))


def test_a_cascade_is_as_written(position: Callable[..., Any]) -> None:
    """One die use in which ships land on, send and jump onto each other, and the mover comes back to its wormhole."""
    holes = [("suns", 1, 5, 8), ("moons", 1, 5, 7), ("suns", 2, 5, 9)]
    table = position(dice={"suns": 2}, ships={"suns": [5, 5], "crowns": [5, 7]}, holes=holes)
    start, moves, state = table.state, [], table.state
    for data in (
        {"do": "move", "ship": "suns", "way": "N"},
        {"do": "send", "to": [5, 8]},
        {"do": "jump", "way": "S"},
        {"do": "send", "to": [5, 9]},
        {"do": "jump", "way": "S"},
        {"do": "send", "to": [8, 9]},
        {"do": "jump", "way": "W"},
    ):
        moves.append(GAME.parse(state, GAME.actors(state)[0], data))
        state = GAME.apply(state, moves[-1])[0]
    compare("cascade", written(start, tuple(moves), lambda _, n: n in (2, 4)))
