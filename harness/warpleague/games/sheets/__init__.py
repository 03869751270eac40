"""Sheets: Wormhole, the roll & write, for one to four seats; all is public."""

from __future__ import annotations

from typing import ClassVar

from warpleague.games.api import InPlaceGame
from warpleague.games.sheets import events as _events
from warpleague.games.sheets import people as _people
from warpleague.games.sheets import position as _position
from warpleague.games.sheets import rules as _rules
from warpleague.games.sheets import state as _state
from warpleague.games.sheets.geometry import ACTIONS, Action
from warpleague.games.sheets.state import Options as SheetsOptions
from warpleague.games.sheets.state import State


class Sheets(InPlaceGame[State, Action]):
    """Wormhole, the roll & write: 1 to 4 players fill sheets from shared dice; all is public."""

    id = "sheets"
    title = "Wormhole, the roll & write"
    players = (1, 2, 3, 4)
    Options = SheetsOptions
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View = _position.View
    Setup = _position.Setup

    initial = staticmethod(_state.initial)
    match_of = staticmethod(_state.match_of)
    actors = staticmethod(_state.actors)
    key = staticmethod(_state.key)
    chance = staticmethod(_rules.chance)
    address = staticmethod(_rules.address)
    legal = staticmethod(_rules.legal)
    legal_json = staticmethod(_rules.legal_json)
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


GAME = Sheets()
