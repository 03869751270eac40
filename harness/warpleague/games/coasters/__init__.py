"""Coasters: ships of pyramids hunt each other through a galaxy of coasters, for two to ten seats."""

from __future__ import annotations

from typing import ClassVar

from warpleague.games.api import InPlaceGame
from warpleague.games.coasters import events as _events
from warpleague.games.coasters import people as _people
from warpleague.games.coasters import position as _position
from warpleague.games.coasters import rules as _rules
from warpleague.games.coasters import state as _state
from warpleague.games.coasters.geometry import ACTIONS, MAX_COLOURS, Action
from warpleague.games.coasters.state import Options as CoastersOptions
from warpleague.games.coasters.state import State, check


class Coasters(InPlaceGame[State, Action]):
    """The battle of pyramid ships on Martian Coasters; see docs/games/coasters.md for the rules."""

    id = "coasters"
    title = "Wormholes: the battle on Martian Coasters"
    players = tuple(range(2, MAX_COLOURS + 1))
    worth = "warpleague.opponents.worth_coasters"
    Options = CoastersOptions
    Actions: ClassVar[tuple[type, ...]] = ACTIONS
    View = _position.View
    Setup = _position.Setup

    check_options = staticmethod(check)
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
    talk = staticmethod(_state.talk)


GAME = Coasters()
