"""List the games, or describe one: its players, options and actions; or draw the map of a match.

The facts come from the engines; docs/games/ has the rules. Loading all engines takes ten times as long as starting
Python, so those of our own games are also stored in a file, which `scripts/games.py` writes and checks; `game_engine`
asks an engine.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague import games
from warpleague.cli.common import json_text, say, write_out
from warpleague.errors import BadInput
from warpleague.games import GAMES, game_ids, load_game

if TYPE_CHECKING:
    from argparse import Namespace

LISTED: Final = Path(games.__file__).with_name("listed.json")
"""The file beside the games with what `describe` says about each of ours."""


def run_games(args: Namespace) -> int:
    """Print the list or the description; 1 if one of the games in the list cannot be loaded."""
    if args.show_galaxy:
        from warpleague.cli.game_engine import show_galaxy  # loads an engine

        return show_galaxy(args)
    if args.seed is not None or args.players is not None or args.option:
        raise BadInput("--seed, --players and --option need --show-galaxy")
    descriptions: list[dict[str, Any]] = []
    broken: list[str] = []
    for name in game_ids() if args.game is None else (args.game,):
        try:
            descriptions.append(_description(name))
        except BadInput as error:
            if args.game is not None:
                raise
            broken.append(str(error))
    write_out(_text(descriptions, args))
    for problem in broken:
        say(f"warpleague: {problem}")
    return 1 if broken else 0


def _description(name: str) -> dict[str, Any]:
    """The description of a game; of ours nothing is loaded for it."""
    if name in GAMES:
        return _ours()[name]
    from warpleague.cli.game_engine import describe

    return describe(load_game(name))


@cache
def _ours() -> dict[str, dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(LISTED.read_bytes())
    return {game["game"]: game for game in listed}


def _text(descriptions: list[dict[str, Any]], args: Namespace) -> str:
    if args.json:
        return json_text(descriptions if args.game is None else descriptions[0]) + "\n"
    from warpleague.report.terminal.console import make_console
    from warpleague.report.terminal.games import print_game, print_games

    console = make_console()
    with console.capture() as captured:
        if args.game is None:
            print_games(descriptions, console)
        else:
            print_game(descriptions[0], console)
    return captured.get()
