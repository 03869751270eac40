"""The engine of coasters: the modules of this package as one `Game`."""

from __future__ import annotations

from typing import ClassVar

from warpleague.games.api import Game
from warpleague.games.coasters import guide as _guide
from warpleague.games.coasters import legal as _legal
from warpleague.games.coasters import phrase as _phrase
from warpleague.games.coasters import position as _position
from warpleague.games.coasters import rules as _rules
from warpleague.games.coasters import scene as _scene
from warpleague.games.coasters import score as _score
from warpleague.games.coasters import state as _state
from warpleague.games.coasters import targets as _targets
from warpleague.games.coasters import tell as _tell
from warpleague.games.coasters import view as _view
from warpleague.games.coasters.actions import ACTIONS, Action
from warpleague.games.coasters.options import MAX_COLOURS, check
from warpleague.games.coasters.options import Options as CoastersOptions
from warpleague.games.coasters.state import State


class Coasters(Game[State, Action]):
    """The battle of pyramid ships on Martian Coasters; see docs/games/coasters.md for the rules."""

    id = "coasters"
    title = "Wormholes: the battle on Martian Coasters"
    players = tuple(range(2, MAX_COLOURS + 1))
    Options = CoastersOptions
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View = _view.View
    Setup = _view.Setup

    check_options = staticmethod(check)
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
    talk = staticmethod(_state.talk)


GAME = Coasters()
