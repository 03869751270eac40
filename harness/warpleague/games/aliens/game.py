"""The engine of aliens: the modules of this package as one `Game`."""

from __future__ import annotations

from typing import ClassVar

from warpleague.games.aliens import guide as _guide
from warpleague.games.aliens import legal as _legal
from warpleague.games.aliens import phrase as _phrase
from warpleague.games.aliens import position as _position
from warpleague.games.aliens import rules as _rules
from warpleague.games.aliens import scene as _scene
from warpleague.games.aliens import score as _score
from warpleague.games.aliens import state as _state
from warpleague.games.aliens import targets as _targets
from warpleague.games.aliens import tell as _tell
from warpleague.games.aliens import view as _view
from warpleague.games.aliens.actions import ACTIONS, Action
from warpleague.games.aliens.options import Options as AliensOptions
from warpleague.games.aliens.state import State
from warpleague.games.api import InPlaceGame


class Aliens(InPlaceGame[State, Action]):
    """Wormholes for the piecepack: OrthogonAliens (seat 0) against DiagonAliens (seat 1)."""

    id = "aliens"
    title = "OrthogonAliens against DiagonAliens"
    players = (2,)
    Options = AliensOptions
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View = _view.View
    Setup = _view.Setup

    initial = staticmethod(_state.initial)
    match_of = staticmethod(_state.match_of)
    actors = staticmethod(_state.actors)
    key = staticmethod(_state.key)
    chance = staticmethod(_rules.chance)
    address = staticmethod(_rules.address)
    legal = staticmethod(_legal.legal)
    legal_json = staticmethod(_legal.legal_json)
    parse = staticmethod(_legal.parse)
    ask = staticmethod(_legal.ask)
    copied = staticmethod(_state.copied)
    push = staticmethod(_rules.push)
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


GAME = Aliens()
