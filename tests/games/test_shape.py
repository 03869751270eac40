"""Whether the built-in games have one shape: who knows one finds their way in all of them."""

import re
from pathlib import Path

import pytest

import warpleague.games
from warpleague.games import GAMES, load_game

FOLDER = Path(warpleague.games.__file__).parent
MODULES = re.findall(r"^(\w+) {2,}\S", warpleague.games.__doc__ or "", re.MULTILINE)
EXTRAS = {"aliens": set(), "captains": {"boards", "dealing"}, "coasters": set(), "sheets": set()}
HOMES = {
    "state": ["initial", "match_of", "actors"],
    "rules": ["chance", "address", "legal", "parse", "ask", "push", "retire", "outcome"],
    "events": ["tell"],
    "position": ["to_json", "from_json", "setup", "view", "determinize"],
    "people": ["scene", "targets", "phrase", "heading", "guide"],
}


@pytest.mark.parametrize("game_id", GAMES)
def test_a_game_has_the_modules_that_the_package_lists(game_id: str) -> None:
    """The six, and no more than what is its own."""
    assert len(MODULES) == 6
    found = {path.stem for path in (FOLDER / game_id).glob("*.py")} - {"__init__"}
    assert found == {*MODULES, *EXTRAS[game_id]}


@pytest.mark.parametrize("game_id", GAMES)
def test_a_method_is_the_function_of_its_module(game_id: str) -> None:
    """Each method of the contract is found in the same module of every game."""
    game = load_game(game_id)
    for module, names in HOMES.items():
        for name in names:
            assert getattr(game, name).__module__ == f"warpleague.games.{game_id}.{module}", name
