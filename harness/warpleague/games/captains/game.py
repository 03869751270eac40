"""The engine of captains: the modules of this package as one `Game`."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Final

from warpleague.games.api import Game
from warpleague.games.captains import guide as _guide
from warpleague.games.captains import legal as _legal
from warpleague.games.captains import phrase as _phrase
from warpleague.games.captains import position as _position
from warpleague.games.captains import rules as _rules
from warpleague.games.captains import scene as _scene
from warpleague.games.captains import score as _score
from warpleague.games.captains import state as _state
from warpleague.games.captains import targets as _targets
from warpleague.games.captains import tell as _tell
from warpleague.games.captains import view as _view
from warpleague.games.captains.actions import ACTIONS, Action
from warpleague.games.captains.dealing import RULES, plan
from warpleague.games.captains.options import Options as CaptainsOptions
from warpleague.games.captains.state import Position


class Captains(Game[Position, Action]):
    """Passenger ships in a galaxy of wormholes, for one to five players."""

    id = "captains"
    title = "Captains: passenger ships and wormholes"
    players = (1, 2, 3, 4, 5)
    rules_version = RULES
    Options = CaptainsOptions
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View = _view.View
    Setup = _view.Setup
    file_options = frozenset({"galaxy_file"})

    def by_rules(self, version: int) -> Captains | None:
        """Version 1, too: see `Plan.rules`."""
        return {RULES: GAME, 1: FIRST_RULES}.get(version)

    def check_options(self, players: int, options: Any) -> None:
        """A plan can be made with them."""
        plan(players, options)

    initial = staticmethod(_state.initial)
    match_of = staticmethod(_state.match_of)
    actors = staticmethod(_state.actors)
    key = staticmethod(_state.key)
    chance = staticmethod(_rules.chance)
    address = staticmethod(_rules.address)
    legal = staticmethod(_legal.legal)
    parse = staticmethod(_legal.parse)
    ask = staticmethod(_legal.ask)
    apply = staticmethod(_rules.apply)
    retire = staticmethod(_rules.retire)
    outcome = staticmethod(_score.outcome)
    setup = staticmethod(_view.setup)
    view = staticmethod(_view.view)
    view_json = staticmethod(_view.view_json)
    determinize = staticmethod(_view.determinize)
    to_json = staticmethod(_position.to_json)
    from_json = staticmethod(_position.from_json)
    scene = staticmethod(_scene.scene)
    targets = staticmethod(_targets.targets)
    tell = staticmethod(_tell.tell)
    phrase = staticmethod(_phrase.phrase)
    heading = staticmethod(_phrase.heading)
    guide = staticmethod(_guide.guide)
    galaxy = staticmethod(_scene.galaxy)


class _FirstRules(Captains):
    rules_version = 1
    initial = staticmethod(partial(_state.initial, rules=1))
    determinize = staticmethod(partial(_view.determinize, rules=1))
    from_json = staticmethod(partial(_position.from_json, rules=1))


GAME: Final = Captains()
FIRST_RULES: Final = _FirstRules()
"""For the records and leagues of before."""
