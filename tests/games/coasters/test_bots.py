"""The two ready bots: the hunter hunts, the diplomat makes, uses, keeps and breaks alliances.

They play in this process on the JSON that the wire would carry; one match's opening goes through the real client.
"""

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from tests.games.coasters.conftest import Desk
from tests.programs import program

from warpleague.games.api import CHANCE
from warpleague.games.coasters import GAME

BOTS = Path(__file__).resolve().parents[3] / "bots"


def wire(value: Any) -> Any:
    return json.loads(json.dumps(value))


def load(name: str, what: Any) -> Any:
    """A name of a fresh copy of a bot's program."""
    return getattr(program(BOTS / name / "main.py"), what)


def hunter() -> Any:
    """A hunter, as a function from a question to its choice."""
    return load("coasters-hunter", "choose")


def diplomat() -> Any:
    """A diplomat for one match, as a function from a question to its choice."""
    made = []

    def choose(question: Any) -> Any:
        if not made:
            made.append(load("coasters-diplomat", "Diplomat")(question.seat, question.seed))
        return made[0].decide(question)

    return choose


def randomly(seed: int) -> Any:
    rng = Random(seed)
    return lambda question: rng.randrange(len(question.legal))


def play(bots: Any, seed: int, start: Any = None, **options: Any) -> Any:
    """A match as the referee plays it, `then` included: the outcome and all that was told."""
    rng, count = Random(seed), len(bots)
    state = start or GAME.initial(count, GAME.Options(**options))
    setup = wire(GAME.setup(state))
    unseen, told, then, last = [[] for _ in bots], [], [], None
    while actors := GAME.actors(state):
        seat = actors[0]
        if seat != last:
            then, last = [], seat
        if seat == CHANCE:
            move = rng.randrange(6), rng.randrange(6)
        elif then:
            move = GAME.parse(state, seat, then.pop(0))
        else:
            legal = GAME.legal(state, seat)
            question = SimpleNamespace(
                ask=GAME.ask(state, seat), seat=seat, seed=f"{seed} {seat}", match=str(seed), setup=setup,
                state=wire(GAME.view(state, seat)), legal=wire([GAME.action_json(action) for action in legal]),
                events=wire(unseen[seat]), talk=GAME.talk(state, seat), players=["bot"] * count, clock={},
            )  # fmt: skip
            unseen[seat] = []
            choice = bots[seat](question)
            if hasattr(choice, "then"):
                choice, then = choice.action, wire(list(choice.then))
            move = legal[choice] if isinstance(choice, int) else GAME.parse(state, seat, wire(choice))
        state, events = GAME.apply(state, move)
        told += [event.data for event in events]
        for other, seen in enumerate(unseen):
            seen += [form for event in events if (form := event.seen_by(other)) is not None]
    return GAME.outcome(state), told


def test_the_hunter_beats_random_play_in_duels() -> None:
    """It wins at least 18 of 20 duels, ten in each seat."""
    own = hunter()
    won = 0
    for seed in range(10):
        won += play([own, randomly(seed)], seed)[0].ranks == (1, 2)
        won += play([randomly(seed), own], seed)[0].ranks == (2, 1)
    assert won >= 18


@pytest.mark.parametrize(
    "options", [{"colours": 2, "free_colour": True}, {"colours": 3, "system_swap": True, "wild_shot": True}]
)
@pytest.mark.parametrize("bot", [hunter, diplomat])
def test_the_bots_play_every_variation_by_the_rules(bot: Any, options: Any) -> None:
    """All their actions are legal, alone and against each other, with three players and all variations."""
    outcome, _ = play([bot(), hunter(), bot()], 1, max_rounds=30, **options)
    assert 1 in outcome.ranks


def test_the_hunter_finishes_a_ship_that_it_can_reach(desk: Desk) -> None:
    """One hit point left, three squares and a turn away: it goes there and fires in one plan."""
    drawing = ". . . . . 1^1\n. . . . . .\n0^ . . . . ."
    state = desk.turn(drawing, "0/0 1/0", "6 AIM")
    outcome, told = play([hunter(), randomly(0)], 0, start=state)
    assert outcome.ranks == (1, 2)
    assert [event["seat"] for event in told if event["event"] == "turn"] == []


def test_diplomats_ally_in_private_and_share_the_victory(desk: Desk) -> None:
    """Proposed and accepted by message, confirmed when invoked, and claimed when only allies are left."""
    kept = 0
    for seed in range(6):
        outcome, told = play([diplomat(), diplomat(), randomly(seed)], seed)
        texts = [event["text"] for event in told if event["event"] == "said"]
        assert texts.index("alliance?") < texts.index("alliance!")
        assert {"event": "answered", "seat": 1, "answer": "agree"} in told
        assert all(len(event["to"]) == 1 for event in told if event["event"] == "said")
        kept += (outcome.why, outcome.ranks) == ("claim", (1, 1, 3))
    assert kept >= 3


@pytest.mark.parametrize(("true", "answer"), [(True, "agree"), (False, "split")])
def test_a_false_diplomat_splits_where_a_true_one_agrees(desk: Desk, true: Any, answer: Any) -> None:
    """Asked by its ally to share, the stronger of the two keeps its word or breaks it."""
    drawing = ". . . . . . . . .\n. 0>1 . . 1^ . . . .\n. . . . . . . . ."
    state = desk.do(desk.turn(drawing, "0/0 1/0 2/0", "1 TIP", eliminated=[2]), "claim")
    asked = load("coasters-diplomat", "Diplomat")(1, "seed")
    asked.true, asked.allies = true, {0}
    question = SimpleNamespace(ask="claim", seat=1, state=wire(GAME.view(state, 1)), events=[], talk=8)
    assert asked.decide(question) == {"do": answer}


def test_the_hunter_speaks_the_wire(desk: Desk) -> None:
    """Run as a program it says hello, gets ready, and answers a turn with a plan that ends it."""
    state = desk.turn(". . . . . .\n. 0> . . . 1^\n. . . . . .", "0/0 1/0", "2 TIP")
    clock = {"move_s": 5.0}
    lines = [
        {"type": "hello", "protocol": 1, "referee": "test"},
        {
            "type": "start", "match": "m", "game": "coasters", "rules": 1, "options": GAME.view(state, 0)["options"],
            "seat": 0, "players": ["a", "b"], "seed": "00", "clock": clock, "setup": GAME.setup(state),
        },
        {
            "type": "act", "id": 0, "ask": "turn", "clock": clock, "events": [], "state": GAME.view(state, 0),
            "legal": [GAME.action_json(action) for action in GAME.legal(state, 0)],
        },
        {"type": "quit"},
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "main.py"],
        cwd=BOTS / "coasters-hunter",
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    hello, ready, answer = map(json.loads, done.stdout.splitlines())
    assert (hello["name"], ready) == ("coasters-hunter", {"type": "ready"})
    plan = [answer["action"], *answer.get("then", [])]
    assert plan[-1] == {"do": "fire"}
