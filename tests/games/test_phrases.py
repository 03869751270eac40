"""The sentences for actions: every kind of action of every variant in random matches, and some word by word."""

import re
from importlib import import_module
from random import Random
from typing import Any

import pytest
from tests.games.test_contract_kept import CROWDED

from warpleague.games import GAMES, load_game
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_move
from warpleague.report.wording.docs import pages
from warpleague.report.wording.match_words import SeatNames

VARIANTS: dict[str, list[tuple[int, dict[str, Any]]]] = {
    "aliens": [(2, {}), (2, {"both_ships": True, "diagonals": "swapped", "max_turns": 120})],
    "captains": [
        (1, {"ai": "brood", "max_rounds": 12}),
        (2, {"galaxy": "basic", "max_rounds": 12}),
        (3, {"galaxy_file": CROWDED, "max_rounds": 20}),
        (5, {"max_rounds": 6}),
    ],
    "coasters": [
        (2, {"max_rounds": 20}),
        (5, {"max_rounds": 40}),
        (4, {"system_swap": True, "wild_shot": True, "max_rounds": 8}),
        (3, {"colours": 3, "free_colour": True, "max_rounds": 6}),
    ],
    "sheets": [(1, {}), (2, {}), (3, {"shared_discards": True})],
}
BAD_ENGLISH = re.compile(
    r"\b[Yy]ou (?!as\b)\w*[^\Ws]s\b|\byou \w+ its\b|seat 0|owner 0|Aliens\b|of you\b|[Yy]ou's"
)
"""What is wrong in a sentence that calls seat 0 `you`."""
NEVER_LISTED = {"say"}
"""Free text is no legal action."""


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_action_is_a_sentence_of_its_own(name: str) -> None:
    """Over the variants of a game each kind of action comes up."""
    game = load_game(name)
    kinds: set[str] = set()
    for number, (players, options) in enumerate(VARIANTS[name]):
        rng = Random(f"{name} {number}")
        state = game.initial(players, game.Options(**options))
        while actors := game.actors(state):
            if actors != (CHANCE,):
                legal = game.legal(state, actors[0])
                phrases = [game.phrase(state, action) for action in legal]
                assert len(set(phrases)) == len(phrases)
                for phrase in phrases:
                    assert phrase[0].isupper()
                    assert not {"None", "True"} & set(phrase.replace(",", " ").split())
                assert game.heading(state, actors[0])[0].isupper()
                kinds |= {action.do for action in legal}
            state, _ = game.apply(state, random_move(game, state, rng))
    assert kinds == {action.do for action in game.Actions} - NEVER_LISTED  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", GAMES)
def test_who_plays_is_called_you_and_every_end_has_words(name: str) -> None:
    """In all that is told to seat 0, also when the others leave the match."""
    game = load_game(name)
    for number, (players, options) in enumerate(VARIANTS[name]):
        rng = Random(f"{name} {number}")
        state = game.initial(players, game.Options(**options))
        names = SeatNames([f"bot-{seat}" for seat in range(players)], game.scene(state, 0).roles, you=0)
        told = []
        while actors := game.actors(state):
            if len(told) > 400 and number == 1:
                state, events = game.retire(state, actors[0] if actors != (CHANCE,) else 0)
                assert not BAD_ENGLISH.search(names.say(game.tell(events[0].data)))
                break
            state, events = game.apply(state, random_move(game, state, rng))
            seen = [data for event in events if (data := event.seen_by(0)) is not None]
            told += [game.tell(data) for data in seen] + [game.scene(state, 0).caption]
        bad = {line: said for line in told if BAD_ENGLISH.search(said := names.say(line))}
        assert not bad
        if not game.actors(state):
            assert game.endings[game.outcome(state).why]


def test_what_a_black_die_counts_as_is_told_as_the_rules_have_it() -> None:
    """Guide, legend, and the page that the brief is made of, say what the engine does."""
    game = load_game("sheets")
    state = game.initial(2, game.Options())
    uses = game.setup(state)["black_uses"]
    first = {
        colour: 1 + next(at for at, own in enumerate(uses) if colour in own) for colour in ("red", "blue")
    }
    told = dict(game.scene(state, 0).legend)["black"]
    assert f"from round {first['red']} also as red, and from round {first['blue']} also as blue" in told
    guide = game.guide()
    assert guide is not None
    assert any(told.partition("yellow")[2] in rule for rule in guide.rules)
    spans = f"in rounds 1-{first['red'] - 1} it can be used as yellow, in rounds {first['red']}-{first['blue'] - 1} as"
    page = " ".join(pages()["sheets"].path.read_text().split())
    assert spans in page
    assert f"in rounds {first['blue']}-{len(uses)} as yellow, red or blue" in page


def test_aliens_tells_only_what_the_seat_knows() -> None:
    """Of wormholes where a ship may land: the own one with its length, the enemy's without, until it is public."""
    game = load_game("aliens")

    def phrases(public: bool) -> list[str]:
        holes = [
            {"at": [5, 6], "suit": "moons", "value": 2, "public": False, "up": "suit"},
            {"at": [6, 6], "suit": "arms", "value": 3, "public": public, "up": "suit"},
        ]
        position = {
            "options": {"max_turns": 400, "both_ships": False, "diagonals": "normal"},
            "phase": "turn",
            "to_move": 0,
            "turn": 10,
            "ships": {"suns": [5, 5], "moons": [10, 2], "crowns": [5, 4], "arms": [1, 18]},
            "dice": {"suns": 1},
            "lost": [],
            "wormholes": holes,
            "pending": None,
            "result": None,
        }
        state = game.from_json(position)
        assert game.heading(state, 0) == "Use a die: Suns 1"
        return [game.phrase(state, action) for action in game.legal(state, 0)]

    hidden = phrases(public=False)
    assert hidden[0] == "Fly Suns 1 north to (5,6): your wormhole, 2 east or west"
    assert hidden[1] == (
        "Fly Suns 1 north-east to (6,6): an enemy wormhole of unknown length, south-east or north-west"
    )
    assert "Fly Suns 1 south to (5,4): from where you send Crowns away" in hidden
    known = phrases(public=True)
    assert known[1] == "Fly Suns 1 north-east to (6,6): an enemy wormhole, 3 south-east or north-west"
    assert known[2:] == hidden[2:]


def test_sheets_tells_equal_dice_apart_and_what_an_edge_fills() -> None:
    """The two black dice may show the same value."""
    game = load_game("sheets")
    state = game.initial(2, game.Options())
    state, _ = game.apply(state, (5, 3, 4, 4, 0, 1, 2))
    assert game.heading(state, 0) == "Choose a die to keep, and one to give away"
    phrases = [game.phrase(state, action) for action in game.legal(state, 0)]
    assert phrases[0] == "Keep the white pair 6-4 and give away the first black 5"
    assert phrases[1] == "Keep the white pair 6-4 and give away the second black 5"
    assert phrases[2] == "Keep the white pair 6-4 and give away red 1"


@pytest.mark.parametrize("name", ["aliens", "captains", "coasters"])
def test_each_reason_why_a_game_ends_has_words(name: str) -> None:
    """Those of sheets follow from the matches above."""
    state = import_module(f"warpleague.games.{name}.{'dealing' if name == 'captains' else 'state'}")
    assert set(load_game(name).endings) == set(state.WHYS)
