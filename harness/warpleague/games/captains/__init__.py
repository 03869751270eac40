"""Captains: the passenger-ship game about wormholes, for two to five players and solo.

The rules are in docs/games/captains.md; a rule cited as `captains T5` is the one with that number there.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from warpleague.games.api import InPlaceGame
from warpleague.games.captains import events as _events
from warpleague.games.captains import people as _people
from warpleague.games.captains import position as _position
from warpleague.games.captains import rules as _rules
from warpleague.games.captains import state as _state
from warpleague.games.captains.dealing import Options as CaptainsOptions
from warpleague.games.captains.dealing import plan
from warpleague.games.captains.geometry import ACTIONS, Action
from warpleague.games.captains.state import Position


class Captains(InPlaceGame[Position, Action]):
    """Passenger ships in a galaxy of wormholes, for one to five players."""

    id = "captains"
    title = "Captains: passenger ships and wormholes"
    players = (1, 2, 3, 4, 5)
    rules_version = 2
    Options = CaptainsOptions
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View = _position.View
    Setup = _position.Setup
    file_options = frozenset({"galaxy_file"})

    def check_options(self, players: int, options: Any) -> None:
        """A plan can be made with them."""
        plan(players, options)

    initial = staticmethod(_state.initial)
    match_of = staticmethod(_state.match_of)
    actors = staticmethod(_state.actors)
    key = staticmethod(_state.key)
    chance = staticmethod(_rules.chance)
    address = staticmethod(_rules.address)
    legal = staticmethod(_rules.legal)
    parse = staticmethod(_rules.parse)
    ask = staticmethod(_rules.ask)
    copied = staticmethod(_state.copied)
    push = staticmethod(_rules.push)
    retire = staticmethod(_rules.retire)
    outcome = staticmethod(_rules.outcome)
    setup = staticmethod(_position.setup)
    view = staticmethod(_position.view)
    view_json = staticmethod(_position.view_json)
    determinize = staticmethod(_position.determinize)
    to_json = staticmethod(_position.to_json)
    from_json = staticmethod(_position.from_json)
    scene = staticmethod(_people.scene)
    targets = staticmethod(_people.targets)
    tell = staticmethod(_events.tell)
    endings = _events.ENDINGS
    phrase = staticmethod(_people.phrase)
    heading = staticmethod(_people.heading)
    guide = staticmethod(_people.guide)
    galaxy = staticmethod(_people.galaxy)


GAME: Final = Captains()
