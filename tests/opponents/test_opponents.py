"""The opponents: every level answers every question legally, and equal questions alike."""

import json
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest

from warpleague.games import load_game
from warpleague.games.api import CHANCE, Outcome
from warpleague.games.playout import random_move
from warpleague.match.chance import match_key
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, TimeControl
from warpleague.opponents.captains import Captains, Search
from warpleague.opponents.player import Player, Skill
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.play import play_match
from warpline.client import Match, Question, Reply

ROOT = Path(__file__).parents[2]
TABLES: list[tuple[str, int, dict[str, Any]]] = [
    ("aliens", 2, {"both_ships": True, "diagonals": "swapped", "max_turns": 4}),
    ("captains", 1, {"ai": "brood"}),
    ("captains", 4, {"max_rounds": 3}),
    ("coasters", 2, {"colours": 2, "free_colour": True, "system_swap": True, "max_rounds": 4}),
    ("coasters", 4, {"wild_shot": True, "max_rounds": 3}),
    ("sheets", 1, {}),
    ("sheets", 3, {"shared_discards": True}),
]


class QuickCaptains(Captains):
    """Compares two plans by a few short playouts: what it compares otherwise takes a second."""

    search = Search(plans=2, positions=300, later=100, rounds=0)


def opponent(game: str) -> type[Player]:
    """The players of a game."""
    if game == "captains":
        return QuickCaptains
    kind: type[Player] = import_module(f"warpleague.opponents.{game}").OPPONENT
    return kind


def players(
    game: str, count: int, options: dict[str, Any], setup: Any, skills: list[Skill | None]
) -> list[Player | None]:
    """A player for each seat."""
    kind = opponent(game)
    made: list[Player | None] = []
    for seat in range(count):
        start = {
            "match": "test", "game": game, "rules": load_game(game).rules_version, "options": options, "seat": seat,
            "players": ["x"] * count, "seed": f"seed {seat}", "clock": {}, "setup": setup,
        }  # fmt: skip
        skill = skills[seat % len(skills)]
        made.append(None if skill is None else kind(Match(start), skill))
    return made


QUICK = {"aliens": 10, "sheets": 10}
"""The least effort with which the strongest players still do all that they do."""


def levels(game: str, quick: bool = False) -> tuple[Skill, ...]:
    """The skills of a game, from the second level on; the last one with less effort if it is to be `quick`."""
    *lower, best = opponent(game).skills
    return (*lower, attrs.evolve(best, effort=QUICK.get(game, best.effort)) if quick else best)


def play(
    name: str,
    count: int,
    chosen: dict[str, Any],
    skills: list[Skill | None],
    deal: str = "dice",
    moves: list[tuple[Any, int, Any]] | None = None,
) -> tuple[list[str], Outcome]:
    """All answers of a match between players of these skills, every one legal, and its outcome.

    None plays at random. `moves` gets each position, the seat, and what it did.
    """
    game = load_game(name)
    options = game.Options(**chosen)
    state = game.initial(count, options)
    rng = Random(deal)
    seated: list[Player | None] = []
    said = []
    pending: list[Any] = []
    while actors := game.actors(state):
        seat = actors[0]
        if seat == CHANCE:
            state, _ = game.apply(state, random_move(game, state, rng))
            continue
        if not seated:
            seated = players(name, count, attrs.asdict(options), game.setup(state), skills)
        player = seated[seat]
        if player is None:
            state, _ = game.apply(state, rng.choice(game.legal(state, seat)))
            continue
        if not pending:
            act = {"id": 1, "ask": game.ask(state, seat), "state": game.view(state, seat)}
            told = {"match": "test", "game": name, "rules": game.rules_version, "options": {}, "seat": seat}
            question = Question(act, Match({**told, "players": [], "seed": "", "clock": {}, "setup": {}}))
            answer = player.answer(question)
            said.append(repr(answer if not isinstance(answer, Reply) else (answer.action, list(answer.then))))
            pending = [answer.action, *answer.then] if isinstance(answer, Reply) else [answer]
        action = pending.pop(0)
        move = game.legal(state, seat)[action] if isinstance(action, int) else game.parse(state, seat, action)
        if moves is not None:
            moves.append((state, seat, move))
        state, events = game.apply(state, move)
        if any(event.reveals for event in events):
            pending.clear()
    return said, game.outcome(state)


@pytest.mark.parametrize(("name", "count", "options"), TABLES)
def test_every_level_plays_legally_and_alike(name: str, count: int, options: dict[str, Any]) -> None:
    """A match of all levels comes to its end without an illegal answer, and comes out the same again."""
    *lower, best = levels(name, quick=True)
    skills: list[Skill | None] = [best, *lower]
    assert play(name, count, options, skills) == play(name, count, options, skills)


@pytest.mark.parametrize(
    ("name", "options", "deal"),
    [("aliens", {}, 5), ("captains", {"max_rounds": 12}, 1), ("coasters", {}, 2), ("sheets", {}, 2)],
)
def test_each_level_beats_the_one_below(name: str, options: dict[str, Any], deal: int) -> None:
    """On a fixed deal each level wins against the one below."""
    skills: list[Skill | None] = [None, *levels(name)]
    for below, above in pairwise(skills):
        outcome = play(name, 2, options, [below, above], f"deal {deal}")[1]
        assert outcome.ranks == (2, 1), (below, above)


@pytest.mark.parametrize(("count", "deal"), [(3, "deal 0"), (5, "deal 2")])
def test_no_captain_stands_still(count: int, deal: str) -> None:
    """Without slips, no seat ends five turns running with energy left: there is always somewhere to go."""
    moves: list[tuple[Any, int, Any]] = []
    play("captains", count, {"max_rounds": 40}, [Captains.skills[2]], deal, moves)
    for seat in range(count):
        ends = [state.energy > 0 for state, mover, move in moves if mover == seat and move.do == "end"]
        longest = max(len(run) for run in "".join("x" if left else " " for left in ends).split(" "))
        assert longest < 5


def test_the_opponents_name_the_program_they_run() -> None:
    """Whoever changes an opponent makes a new bot of it: their folders are made anew."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "opponents.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("bot", "options"),
    [("aliens-4", {"max_turns": 8}), ("captains-5", {"max_rounds": 2}), ("coasters-5", {"max_rounds": 6})],
)
def test_the_searching_levels_say_what_they_expect(bot: str, options: dict[str, Any]) -> None:
    """In a real match they answer with the share that they expect, which the record keeps, from 0 to 1."""
    game = bot.partition("-")[0]
    seat = prepare(ROOT / "bots" / "opponents" / bot, "none").seat()
    spec = MatchSpec(
        "expects",
        game,
        options_json(load_game(game).Options(**options)),
        (seat, seat),
        match_key("expects"),
        clock=TimeControl(move_s=60.0, start_s=60.0),
        level="none",
    )
    result = play_match(spec)
    values = [json.loads(line).get("value") for line in result.record.splitlines() if b'"type":"act"' in line]
    expected = [value for value in values if value is not None]
    assert not any(result.faults)
    assert len(expected) > 3
    assert all(0 <= value <= 1 for value in expected)
    assert len(set(expected)) > 1
