"""Aliens: Wormholes for the piecepack, OrthogonAliens against DiagonAliens, for two seats."""

from __future__ import annotations

from typing import ClassVar

from warpleague.games.aliens import events as _events
from warpleague.games.aliens import people as _people
from warpleague.games.aliens import position as _position
from warpleague.games.aliens import rules as _rules
from warpleague.games.aliens import state as _state
from warpleague.games.aliens.geometry import ACTIONS, Action
from warpleague.games.aliens.state import Options as AliensOptions
from warpleague.games.aliens.state import State
from warpleague.games.api import InPlaceGame


class Aliens(InPlaceGame[State, Action]):
    """Wormholes for the piecepack: OrthogonAliens (seat 0) against DiagonAliens (seat 1)."""

    id = "aliens"
    title = "OrthogonAliens against DiagonAliens"
    players = (2,)
    worth = "warpleague.opponents.worth_aliens"
    Options = AliensOptions
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


GAME = Aliens()
