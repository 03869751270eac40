"""Whole matches as text, to be read by people and compared byte for byte.

WARPLEAGUE_REGENERATE_GOLDEN=1 writes the files in `golden/` anew; read the difference before committing it.
"""

import json
import os
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from warpleague.games.api import CHANCE
from warpleague.games.captains import GAME
from warpleague.games.captains.dealing import AIS, Options
from warpleague.games.captains.geometry import Galaxy
from warpleague.games.captains.people import galaxy_scene
from warpleague.games.playout import random_roll

GOLDEN = Path(__file__).parent / "golden"
LIKING = {
    "deliver": 40,
    "pickup": 10,
    "draw": 10,
    "take": 8,
    "warp": 6,
    "place": 3,
    "cannon": 3,
    "move": 6,
    "end": 1,
}
"""How much the players of these matches like each kind of action; others 1. It keeps the matches short."""
MATCHES: dict[str, tuple[int, dict[str, Any]]] = {
    "two": (2, {"max_rounds": 25}),
    "three": (3, {"galaxy": "basic", "max_rounds": 12}),
    "five": (5, {"pattern": "geotria-7", "max_rounds": 7}),
    **{f"solo-{ai}": (1, {"ai": ai}) for ai in AIS},
}


_GLYPHS: Final = {
    "blank": ".", "orbit": "o", "nebula": "~", "cannon": "+", "blackhole": "@", "station": "[]", "obstacle": "##",
}  # fmt: skip
_LEGEND: Final = (
    "P0 planet   [] station   ## obstacle   . blank   o orbit   ~ nebula   "
    "W3 wild wormhole   + cannon   @ black hole"
)


@pytest.mark.parametrize("name", MATCHES)
def test_golden(name: str) -> None:
    """The match plays out exactly as written down."""
    text = playthrough(name)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WARPLEAGUE_REGENERATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def playthrough(name: str) -> str:
    """The match called `name`: each move and what is told, all views now and then, and the outcome."""
    players, options = MATCHES[name]
    rng = Random(name)
    state: Any = GAME.initial(players, Options(**options))
    lines = [f"{GAME.title}, {players} players, options {options}", ""]
    laid = False
    views = 0
    while actors := GAME.actors(state):
        if actors[0] == CHANCE:
            move: Any = random_roll(GAME.chance(state), rng)
            lines.append(f"chance: {list(move)}")
        else:
            if not laid:
                laid = True
                lines += ["", galaxy_text(state.table.galaxy)]
            legal = GAME.legal(state, actors[0])
            if state.round > views and state.round in (1, 2, 6):
                views = state.round
                lines += looks(state, players)
            forms = [GAME.action_json(action) for action in legal]
            weights = [LIKING.get(form["do"], 1) for form in forms]
            move = legal[rng.choices(range(len(legal)), weights)[0]]
            shown = json.dumps(GAME.action_json(move))
            lines.append(f"seat {actors[0]}, {GAME.ask(state, actors[0])}, 1 of {len(legal)}: {shown}")
        state, events = GAME.apply(state, move)
        for event in events:
            others = [GAME.tell(event.redacted)] if event.redacted else []
            lines.append("    " + " | the others: ".join([GAME.tell(event.data), *others]))
    outcome = GAME.outcome(state)
    lines += [*looks(state, players), f"ranks {outcome.ranks}, scores {outcome.scores}, why {outcome.why}"]
    lines += [f"    {part}: {numbers}" for part, numbers in outcome.breakdown.items()]
    return "\n".join(lines) + "\n"


def galaxy_text(galaxy: Galaxy) -> str:
    """A galaxy drawn in plain text, with the numbers of its spaces and a legend."""
    scene = galaxy_scene(galaxy)
    left = min(cell.x for cell in scene.cells)
    top = min(cell.y for cell in scene.cells)
    rows: dict[int, dict[int, str]] = {}
    for cell in scene.cells:
        glyph = _GLYPHS.get(cell.kind, "")
        if cell.kind == "planet":
            glyph = cell.label
        elif cell.kind == "wild":
            glyph = cell.label.split()[-1]
        elif cell.label:
            glyph = cell.label
        rows.setdefault(round((cell.y - top) * 2), {})[round(cell.x - left)] = glyph
    lines = []
    for y in range(max(rows) + 1):
        row = rows.get(y, {})
        lines.append("".join(row.get(x, "").center(4) for x in range(max(row, default=-1) + 1)).rstrip())
    return "\n".join((scene.caption, "", *lines, "", _LEGEND, *scene.panels[0].lines, ""))


def looks(state: Any, players: int) -> list[str]:
    """The picture's panels, and the view of every seat."""
    lines = ["", GAME.scene(state, None).caption]
    for panel in GAME.scene(state, None).panels:
        lines.append(f"  {panel.title}")
        lines += [f"    {line}" for line in panel.lines]
    for seat in range(players):
        view = GAME.view(state, seat)
        lines.append(f"view of seat {seat}:")
        lines += [f"    {key}: {json.dumps(value)}" for key, value in view.items()]
    return [*lines, ""]
