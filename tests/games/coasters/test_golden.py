"""Whole games as text that a person can follow, compared byte for byte.

Each file in golden/ shows every move, what was told to whom, the galaxy and the views at some moments, and the
result. `WARPLEAGUE_REGENERATE_GOLDEN=1` writes them anew.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.games.coasters.conftest import Desk

from warpleague.games.coasters import GAME

GOLDEN = Path(__file__).parent / "golden"

# A script is a list of moves; `look` shows the galaxy and `view` also what every seat knows.

DUEL = """
lay 0 0 0   | lay 1 0 0   | deploy 1 2 U  | deploy 5 1 D  | look
roll 5 AIM  | step        | turn right    | fire
roll 1 TIP  | turn right  | end
roll 2 WILD | aim R       | step          | fire
roll 4 DIG  | turn left   | dig           | end           | view
roll 3 HOP  | turn right  | step          | turn left     | hop R     | fire  | look
"""

FOUR_PLAYERS = """
say 1 shall we hold together?             | lay 0 0 0
say 0 until the end!      | lay 1 0 0     | lay 0 1 0     | lay 1 1 0
deploy 1 2 D | deploy 4 1 D | deploy 1 4 R | deploy 4 4 L | look
roll 3 TIP  | say 1,3 all against seat 2    | say 1 and then seat 3     | fire
roll 2 AIM  | invoke 0    | agree   | invoke 2 | say 0,1,3 never | refuse | warp 0 | turn left | view | end
roll 1 TIP  | fire
roll 4 HOP  | hop D       | end
roll 1 TIP  | fire
roll 1 AIM  | end
roll 1 TIP  | fire
roll 1 TIP  | end
roll 6 TIP  | fire        | look
roll 2 AIM  | say 0,3 it is done            | claim         | agree | say 1 not with seat 3 alive | split | end
roll 1 TIP  | claim       | agree         | agree
"""

TAG_TEAM = """
lay 0 0 0   | lay 1 0 0   | lay 0 1 1     | lay 1 1 3
deploy 2 1 R | deploy 4 1 L | deploy 1 4 U | deploy 4 4 U | look
roll 1 TIP  | fire
roll 1 TIP  | end
roll 2 DIG  | warp 0      | turn right    | end
roll 6 SWAP | swap 2      | end           | view
roll 1 TIP  | fire
roll 1 TIP  | end
roll 3 HOP  | hop L       | end
roll 2 AIM  | aim R       | fire
roll 1 TIP  | fire        | look
roll 1 TIP  | fire
roll 1 TIP  | end
roll 1 TIP  | fire        | look
"""

SYSTEM_SWAP = """
lay 0 0 0   | lay 1 0 1   | lay 2 0 2
deploy 1 1 R | deploy 3 2 U | deploy 8 2 D | look
roll 1 SWAP | swap-systems 0 2 | view     | turn left | fire
roll 3 AIM  | end
roll 2 WILD | swap-systems 1 2 | look     | end
"""

WILD_SHOT = """
lay 0 0 1   | lay 1 0 3   | deploy 2 0 U  | deploy 5 2 U | look
roll 1 WILD | fire
roll 1 WILD | turn left   | fire
roll 1 WILD | view        | fire
roll 1 TIP  | end
roll 1 WILD | fire        | look
"""

SCRIPTS = {
    "duel": (2, {}, DUEL),
    "four-players": (4, {}, FOUR_PLAYERS),
    "tag-team": (2, {"colours": 2, "max_rounds": 6}, TAG_TEAM),
    "system-swap": (3, {"system_swap": True, "max_rounds": 1, "alliances": False}, SYSTEM_SWAP),
    "wild-shot": (2, {"wild_shot": True}, WILD_SHOT),
}


def told(events: Any, players: int) -> Iterator[Any]:
    """The lines of what was told, with who alone heard it."""
    for event in events:
        alone = "" if event.seats is None else f"   [only seats {', '.join(map(str, sorted(event.seats)))}]"
        assert event.seats is None or all(
            event.seen_by(s) is None for s in range(players) if s not in event.seats
        )
        yield f"    {GAME.tell(event.data)}{alone}"


def view_lines(state: Any, players: int) -> Iterator[Any]:
    """What is the same in all views once, then what each seat knows alone."""
    views = [GAME.view(state, seat) for seat in range(players)]
    own = ("messages", "you", "messages_left")
    shared = {key: value for key, value in views[0].items() if key not in own}
    assert all({**shared, **{key: view[key] for key in own}} == view for view in views)
    yield "  view of all seats:"
    yield from (f"    {key}: {json.dumps(value)}" for key, value in shared.items())
    for seat, view in enumerate(views):
        yield f"  only seat {seat}: {json.dumps({key: view[key] for key in own})}"


def playthrough(desk: Desk, players: int, options: Any, script: Any) -> Iterator[Any]:
    """The whole game as text."""
    state = GAME.initial(players, GAME.Options(**options))
    yield f"{GAME.id}, {players} players, options {json.dumps(options)}"
    moves = [move.strip() for line in script.strip().splitlines() for move in line.split("|")]
    for move in moves:
        if move in ("look", "view"):
            yield from (f"  {line}" for line in desk.draw(state))
            if move == "view":
                yield from view_lines(state, players)
            continue
        actor, chosen = desk.actor(state), desk.read(move)
        if actor == -1:
            yield f"dice: {move.removeprefix('roll ')}"
        else:
            chosen = GAME.parse(state, actor, chosen)
            yield f"seat {actor} ({GAME.ask(state, actor)}): {json.dumps(GAME.action_json(chosen))}"
        state, events = GAME.apply(state, chosen)
        yield from told(events, players)
    assert GAME.actors(state) == ()
    outcome = GAME.outcome(state)
    yield f"result: ranks {outcome.ranks}, scores {tuple(round(score, 6) for score in outcome.scores)}, {outcome.why}"
    yield f"breakdown: {json.dumps(dict(outcome.breakdown))}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_golden_playthrough(desk: Desk, name: str) -> None:
    """The game goes as its file in golden/ tells."""
    text = "\n".join(playthrough(desk, *SCRIPTS[name])) + "\n"
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WARPLEAGUE_REGENERATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
