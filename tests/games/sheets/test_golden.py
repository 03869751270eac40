"""Playthroughs a person can read, compared byte for byte; WARPLEAGUE_REGENERATE_GOLDEN=1 writes them anew."""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from warpleague.games.api import CHANCE
from warpleague.games.sheets import GAME

FOLDER = Path(__file__).parent / "golden"


def picture(state: Any) -> list[str]:
    scene = GAME.scene(state, None)
    lines = [f"== {scene.caption}"]
    for panel in scene.panels:
        lines += [f"   -- {panel.title}", *(f"   {line}".rstrip() for line in panel.lines)]
    return lines


def views(state: Any) -> list[str]:
    """The views of all seats; they are one and the same, since all is public."""
    texts = {json.dumps(GAME.view(state, seat)) for seat in range(len(state.sheets))}
    assert len(texts) == 1
    return [f"== view of every seat: {texts.pop()}"]


def playthrough(players: int, shared: bool, seed: str, retire: int | None) -> str:
    """A match that draws every wormhole it can, else takes any kind of action.

    Seat `retire` is retired in its turn of round 3.
    """
    rng = Random(seed)
    state = GAME.initial(players, GAME.Options(shared))
    lines = [f"sheets, {players} players, shared_discards={shared}, seed {seed!r}", *picture(state)]
    shown = 0
    while actors := GAME.actors(state):
        if actors == (CHANCE,):
            move: Any = tuple(rng.randrange(n) for n in GAME.chance(state))
            lines.append(f"chance: {list(move)}")
        elif retire == actors[0] == state.seat and state.round == 3 and state.phase == "mark":
            lines.append(f"retire seat {retire}")
            state, events = GAME.retire(state, retire)
            retire = None
            lines += [f"    {GAME.tell(event.data)}" for event in events]
            continue
        else:
            if state.round > shown:
                shown = state.round
                lines += [*picture(state), *(views(state) if shown in (1, 4, 7) else [])]
            legal = GAME.legal(state, actors[0])
            holes = [action for action in legal if action.do == "blue" and action.box is not None]
            do = rng.choice(list(dict.fromkeys(action.do for action in legal)))
            move = rng.choice(holes or [action for action in legal if action.do == do])
            form = json.dumps(GAME.action_json(move))
            lines.append(f"seat {actors[0]}, {GAME.ask(state, actors[0])}, one of {len(legal)}: {form}")
        state, events = GAME.apply(state, move)
        lines += [f"    {GAME.tell(event.data)}" for event in events]
    outcome = GAME.outcome(state)
    lines += [*picture(state), *views(state)]
    lines.append(f"ranks {outcome.ranks}, scores {outcome.scores}, {outcome.why}")
    lines += [f"    {name}: {parts}" for name, parts in outcome.breakdown.items()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("name", "players", "shared", "retire"),
    [("solo", 1, False, None), ("two", 2, False, None), ("four-shared-one-retires", 4, True, 2)],
)
def test_playthrough(name: str, players: int, shared: bool, retire: int | None) -> None:
    """The match, its texts, drawings, views and result are those written down."""
    text = playthrough(players, shared, name, retire)
    path = FOLDER / f"{name}.txt"
    if os.environ.get("WARPLEAGUE_REGENERATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
