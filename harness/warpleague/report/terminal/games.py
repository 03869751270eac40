"""Prints the list of games, and the description of one game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from warpleague.report.terminal.console import make_console, make_table
from warpleague.text import safe

if TYPE_CHECKING:
    from rich.console import Console

    from warpleague.games.scene import Scene


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


def print_galaxy(scene: Scene, seed: str) -> None:
    """Print the board of a match with this seed."""
    from warpleague.report.terminal.board import Picture  # loads attrs, which a list of games does without

    console = make_console()
    console.print(Picture(scene))
    console.print(Text(safe(f"seed {seed!r}")))
