"""The engine of sheets: the modules of this package as one `Game`."""

from __future__ import annotations

from typing import ClassVar

from warpleague.games.api import Game
from warpleague.games.sheets import guide as _guide
from warpleague.games.sheets import legal as _legal
from warpleague.games.sheets import phrase as _phrase
from warpleague.games.sheets import position as _position
from warpleague.games.sheets import rollout as _rollout
from warpleague.games.sheets import rules as _rules
from warpleague.games.sheets import scene as _scene
from warpleague.games.sheets import score as _score
from warpleague.games.sheets import state as _state
from warpleague.games.sheets import targets as _targets
from warpleague.games.sheets import tell as _tell
from warpleague.games.sheets import view as _view
from warpleague.games.sheets.actions import ACTIONS, Action
from warpleague.games.sheets.options import Options as SheetsOptions
from warpleague.games.sheets.state import State


class Sheets(Game[State, Action]):
    """Wormhole, the roll & write: 1 to 4 players fill sheets from shared dice; all is public."""

    id = "sheets"
    title = "Wormhole, the roll & write"
    players = (1, 2, 3, 4)
    Options = SheetsOptions
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
    apply = staticmethod(_rules.apply)
    rollout = staticmethod(_rollout.SheetsRollout)
    retire = staticmethod(_rules.retire)
    outcome = staticmethod(_score.outcome)
    setup = staticmethod(_view.setup)
    view = staticmethod(_view.view)
    view_json = staticmethod(_position.view_json)
    determinize = staticmethod(_view.determinize)
    to_json = staticmethod(_position.to_json)
    from_json = staticmethod(_position.from_json)
    scene = staticmethod(_scene.scene)
    targets = staticmethod(_targets.targets)
    tell = staticmethod(_tell.tell)
    phrase = staticmethod(_phrase.phrase)
    heading = staticmethod(_phrase.heading)
    guide = staticmethod(_guide.guide)


GAME = Sheets()
