"""Actions and decisions of captains in words: a sentence for each action, and a heading for each decision."""

from __future__ import annotations

from typing import assert_never

from warpleague.games.captains.actions import (
    Action,
    AiPlace,
    Cannon,
    Deliver,
    Discard,
    Done,
    Draw,
    Emerge,
    End,
    Move,
    Pickup,
    Place,
    Start,
    Take,
    Warp,
)
from warpleague.games.captains.rules import AI
from warpleague.games.captains.state import (
    AI_PLACE,
    EMERGE,
    HAND,
    PICKUP_PLANET,
    PICKUP_STATION,
    START,
    Position,
    State,
    pair,
)
from warpleague.text import counted


def phrase(state: Position, action: Action) -> str:
    """`action` as a sentence; it says only what the seat that acts knows."""
    assert isinstance(state, State)
    seat = state.seat
    match action:
        case Start(at=at):
            return f"Start on space {at}, with {_token(state, seat)} there"
        case Deliver(planet=planet):
            cards = state.cards.hands[seat][planet]
            return f"Deliver {counted(cards, 'passenger')} to planet {planet}, for {2 * cards} points"
        case Pickup(at="planet"):
            planet = state.table.galaxy.beside_planet[state.ships[seat]]
            return f"Pick up passengers at planet {planet}"
        case Pickup():
            pays = ", which gives the AI a point" if state.table.owners > state.table.players else ""
            return f"Pick up passengers at the station{pays}"
        case Discard(planet=planet):
            return f"Send a passenger for planet {planet} to the Docks"
        case Draw():
            return f"Draw passengers from the deck until you have {HAND}"
        case Take(planet=planet):
            return f"Take a passenger for planet {planet} from the Docks"
        case Done():
            return "End the pick-up"
        case Place(at=at):
            return f"Place {_token(state, seat)} on space {at}{_opens(state, seat)}{_explores(state, at)}"
        case Warp(to=to):
            return f"Warp to space {to}{_pays(state)}{_there(state, to)}"
        case Cannon(to=to):
            return f"Be shot from the cannon to space {to}{_there(state, to)}"
        case Move(to=to):
            free = state.table.galaxy.free[state.ships[seat]] >> to & 1
            return f"Move to space {to}{' for no energy' if free else ''}{_there(state, to)}"
        case Emerge(at=at):
            return f"Come out of the black hole on space {at}"
        case AiPlace(at=at):
            return f"Place {_token(state, AI)} of the AI on space {at}{_opens(state, AI)}"
        case End():
            left = f", {state.energy} energy unused" if state.energy else ""
            return f"End your turn{left}"
        case _:
            assert_never(action)


def heading(state: Position, seat: int) -> str:
    """The decision of the seat as a heading."""
    assert isinstance(state, State)
    if state.stage == START:
        return "Choose where to start, beside the station"
    if state.stage == PICKUP_PLANET:
        return f"Pick up at planet {state.focus}: send passengers away, or draw"
    if state.stage == PICKUP_STATION:
        return "Pick up at the station: take passengers from the Docks"
    if state.stage == EMERGE:
        return f"Choose where to come out, beside planet {state.focus}"
    if state.stage == AI_PLACE:
        return "Choose where the AI places its token"
    return f"Your turn: {state.energy} energy left"


def _token(state: State, owner: int) -> str:
    """The next token of an owner."""
    return f"a token {len(state.tokens.stacks[owner]) // 2 + 1}"


def _opens(state: State, owner: int) -> str:
    """What the second token of a number does."""
    stack = state.tokens.stacks[owner]
    return f": it opens a wormhole to space {stack[-1]}" if len(stack) & 1 else ""


def _explores(state: State, at: int) -> str:
    """The planet that a token on this space explores (captains T4)."""
    planet = state.table.galaxy.beside_planet[at]
    if planet < 0 or state.tokens.reached >> planet & 1:
        return ""
    return f", explores planet {planet}"


def _pays(state: State) -> str:
    """Who gets a point for a warp from the ship's space (captains T5)."""
    here = state.tokens.at.get(state.ships[state.seat])
    if here is None or here[0] == state.seat:
        return ""
    if here[0] >= state.table.players:
        return ", which gives the AI a point"
    return f", which gives seat {here[0]} a point"


def _there(state: State, space: int) -> str:
    """What a ship finds on a space."""
    galaxy = state.table.galaxy
    there = []
    if galaxy.beside_planet[space] >= 0:
        there.append(f"beside planet {galaxy.beside_planet[space]}")
    if galaxy.beside_station[space]:
        there.append("beside the station")
    kind = galaxy.kinds[space]
    if kind == "nebula":
        there.append("a nebula")
    elif kind == "cannon":
        there.append("the cannon")
    elif kind == "blackhole":
        there.append("the black hole")
    elif galaxy.wild[space]:
        there.append(f"a wild wormhole {galaxy.wild[space]}")
    other = pair(state.tokens, space)
    if other >= 0:
        there.append(f"a wormhole to space {other}")
    return f": {', '.join(there)}" if there else ""
