"""The reference opponents as policies for playouts: `policy("captains", 3)` plays as `captains-3` does."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import BadInput
from warpleague.games import GAMES, load_game
from warpleague.match.setup import options_json
from warpline.client import Match, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from warpleague.games.api import Game
    from warpleague.opponents.player import Player

    Policy = Callable[[Any, int, Sequence[Any], Random], Any]

LEVELS: Final = 5
"""Level 1 plays at random."""


def policy(game: str, level: int, rules: int | None = None) -> Policy:
    """A policy for `Simulator.playout` and `finish`: the opponent of this level decides for every seat.

    It uses only facts that the seat may know, nothing hidden in the position. Each decision stands alone: a plan is
    not remembered from one action to the next. `BadInput` if there is no such game or level.
    """
    if game not in GAMES:
        raise BadInput(f"{game}: only {', '.join(GAMES)} have reference opponents")
    if not 1 <= level <= LEVELS:
        raise BadInput(f"level {level}: the levels are 1 to {LEVELS}")
    if level == 1:
        return _at_random
    engine = load_game(game, rules)
    kind: type[Player] = import_module(f"warpleague.opponents.{game}").OPPONENT
    skill = kind.skills[level - 2]
    players: dict[Any, tuple[Match, Player]] = {}

    def choose(state: Any, seat: int, legal: Sequence[Any], rng: Random) -> Any:
        count, options = engine.match_of(state)
        key = seat, count, repr(options)
        if key not in players:
            match = _match(engine, seat, count, options)
            players[key] = match, kind(match, skill)
        match, player = players[key]
        player.rng = rng
        act = {"id": 0, "ask": engine.ask(state, seat), "state": engine.view(state, seat)}
        answer = player.answer(Question(act, match))
        move = answer.action if isinstance(answer, Reply) else answer
        return legal[move] if isinstance(move, int) else engine.parse(state, seat, move)

    return choose


def _at_random(_state: Any, _seat: int, legal: Sequence[Any], rng: Random) -> Any:
    return legal[int(rng.random() * len(legal))]


def _match(game: Game[Any, Any], seat: int, players: int, options: Any) -> Match:
    """A match as an opponent is told of it; none of them reads the board from there."""
    return Match(
        {
            "match": "playout",
            "game": game.id,
            "rules": game.rules_version,
            "options": options_json(options),
            "seat": seat,
            "players": [f"seat {number}" for number in range(players)],
            "seed": "",
            "clock": {},
            "setup": {},
        }
    )
