"""List the games, or describe one: its players, options and actions; or draw the map of a match.

The facts come from the engines; docs/games/ has the rules. Loading all engines takes ten times as long as starting
Python, so those of our own games are also stored in a file, which `scripts/games.py` writes and checks. Functions that
need an engine import what they need for it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague import games
from warpleague.cli.common import json_text, print_json, say, write_out
from warpleague.errors import BadInput
from warpleague.games import GAMES, game_ids, load_game

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.games.api import Game

LISTED: Final = Path(games.__file__).with_name("listed.json")
"""The file beside the games with what `describe` says about each of ours."""


def run_games(args: Namespace) -> int:
    """Print the list or the description; 1 if one of the games in the list cannot be loaded."""
    if args.show_galaxy:
        return _show_galaxy(args)
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


def describe(game: Game[Any, Any]) -> dict[str, Any]:
    """The description of a game, as JSON."""
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
        "by_score": game.by_score,
        "actions": [action.do for action in game.Actions],  # type: ignore[attr-defined]
    }


def _description(name: str) -> dict[str, Any]:
    """The description of a game; of ours nothing is loaded for it."""
    return _ours()[name] if name in GAMES else describe(load_game(name))


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


def _show_galaxy(args: Namespace) -> int:
    """Draw the board of a match with this seed, these options and this number of players."""
    import secrets

    from warpleague.cli.match_options import parse_options
    from warpleague.games.api import CHANCE
    from warpleague.match.chance import Dice, match_key
    from warpleague.match.setup import first_state, load_options, options_json, players_text
    from warpleague.report.terminal.games import print_galaxy

    if args.game is None:
        raise BadInput("--show-galaxy: which game? For instance: warpleague games captains --show-galaxy")
    game = load_game(args.game)
    players = game.players[0] if args.players is None else args.players
    if players not in game.players:
        raise BadInput(f"--players {players}: {game.id} is for {players_text(game)}")
    options = load_options(game, players, parse_options(game, args.option), "--option")
    seed = secrets.token_hex(4) if args.seed is None else args.seed
    dice = Dice(match_key(seed))
    state = first_state(game, players, options, None)
    while game.actors(state) == (CHANCE,):
        rolled = dice.roll(dice.at(game.address(state)), game.chance(state))
        state, _ = game.apply(state, rolled)
    scene = game.galaxy(state)
    if scene is None:
        raise BadInput(f"--show-galaxy: {game.id} deals no galaxy: captains does")
    if args.json:
        facts = {"game": game.id, "players": players, "seed": seed, "options": options_json(options)}
        print_json({**facts, "setup": game.setup(state)})
        return 0
    print_galaxy(scene, seed)
    return 0
