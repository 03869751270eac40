"""What `warpleague games` asks the engine of a game: its description, and the map of a match."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.cli.common import print_json
from warpleague.cli.match_options import parse_options
from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.games.api import CHANCE
from warpleague.match.chance import Dice, match_key
from warpleague.match.setup import first_state, load_options, options_json, players_text
from warpleague.report.terminal.games import print_galaxy

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.games.api import Game


def describe(game: Game[Any, Any]) -> dict[str, Any]:
    """The description of a game, as JSON."""
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


def show_galaxy(args: Namespace) -> int:
    """Draw the board of a match with this seed, these options and this number of players."""
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
