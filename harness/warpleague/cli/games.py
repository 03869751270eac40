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

from rich.text import Text

from warpleague import games
from warpleague.cli.common import json_text, say, write_out
from warpleague.errors import BadInput
from warpleague.games import GAMES, game_ids, load_game
from warpleague.report.terminal.console import make_console, make_table

if TYPE_CHECKING:
    from argparse import Namespace

    from rich.console import Console


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

    console = make_console()
    with console.capture() as captured:
        if args.game is None:
            print_games(descriptions, console)
        else:
            print_game(descriptions[0], console)
    return captured.get()


# -- games -----------------------------------------------------------------------------------------------
# Prints the list of games, and the description of one game.


def print_games(games: list[dict[str, Any]], console: Console) -> None:
    """Print one line a game."""
    table = make_table()
    table.add_column("game")
    table.add_column("title")
    table.add_column("players", justify="right")
    table.add_column("options")
    for game in games:
        players = game["players"]
        span = str(players[0]) if len(players) == 1 else f"{players[0]}-{players[-1]}"
        table.add_row(game["game"], game["title"], span, ", ".join(game["options"]))
    console.print(table)


def print_game(game: dict[str, Any], console: Console) -> None:
    """Print all about one game."""
    players = ", ".join(map(str, game["players"]))
    console.print(
        f"[bold]{game['title']}[/] ({game['game']}), rules version {game['rules']}, players: {players}"
    )
    if game["options"]:
        table = make_table()
        for heading in ("option", "default", "meaning"):
            table.add_column(heading)
        for name, option in game["options"].items():
            default = option["default"]
            text = "-" if default is None else str(default)
            text = text.lower() if isinstance(default, bool) else text
            table.add_row(Text(name), Text(text), Text(option["help"]))
        console.print(table)
    if game["by_score"]:
        console.print("standings: by mean score")
    console.print(f"actions: {', '.join(game['actions'])}")
