"""List the games, or describe one: players, options, actions.

Leaves the rules to the engines and docs/games/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.cli.common import print_json

if TYPE_CHECKING:
    import argparse

    from warpleague.games.api import Game


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague games`."""
    parser.add_argument("game", nargs="?", metavar="GAME", help="describe this game")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(handler=run)


def describe(game: Game[Any, Any]) -> dict[str, Any]:
    """What there is to say about a game, as JSON."""
    import attrs

    from warpleague.match.setup import options_json

    defaults = options_json(game.Options())
    return {
        "game": game.id,
        "title": game.title,
        "players": list(game.players),
        "rules": game.rules_version,
        "options": {
            field.name: {"default": defaults[field.name], "help": field.metadata.get("help", "")}
            for field in attrs.fields(game.Options)
        },
        "actions": [action.do for action in game.Actions],  # type: ignore[attr-defined]
    }


def run(args: argparse.Namespace) -> int:
    """Print the list or the description."""
    from warpleague.games import game_ids, load_game

    ids = game_ids() if args.game is None else (args.game,)
    found = [describe(load_game(name)) for name in ids]
    if args.json:
        print_json(found if args.game is None else found[0])
        return 0
    from warpleague.report.games import print_game, print_games

    if args.game is None:
        print_games(found)
    else:
        print_game(found[0])
    return 0
