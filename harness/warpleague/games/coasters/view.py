"""The view of a seat in coasters: all but the messages of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import FACINGS, Facing, arrow_letters
from warpleague.games.coasters.position import Position, position_json, state_of
from warpleague.games.values import decoded

if TYPE_CHECKING:
    from random import Random

    from warpleague.games.api import JsonObject
    from warpleague.games.coasters.state import State


@attrs.frozen(kw_only=True)
class View(Position):
    """The view of a seat: all of the position except messages between others."""

    you: int
    """the viewer's seat"""
    messages_left: int
    """how many messages the viewer may still send in this turn"""


@attrs.frozen
class Setup:
    """The fixed part."""

    players: int
    """number of seats"""
    colours: int
    """number of colours in the game; colour c belongs to seat c % players"""
    facings: list[Facing]
    """the directions in the order of one turn to the right each"""
    flux: list[str]
    """the faces of the flux die in the order of the recorded roll"""
    arrows: list[list[list[str]]]
    """by rotation, row and column of a coaster: the directions of the arrows that leave the square"""
    hits: int
    """hit points of a ship"""
    talk: bool
    """whether there are alliances and talk"""


def setup(state: State) -> JsonObject:
    """The static facts, as described by `Setup`."""
    facts = state.table.config
    return {
        "players": facts.players,
        "colours": facts.ships,
        "facings": list(FACINGS),
        "flux": list(st.FLUX),
        "arrows": [[list(row) for row in arrow_letters(rotation)] for rotation in range(4)],
        "hits": st.HITS,
        "talk": facts.talks,
    }


def view(state: State, seat: int) -> JsonObject:
    """Everything `seat` may know, as described by `View` (A1: only talk is hidden)."""
    data: JsonObject = decoded(view_json(state, seat))
    return data


def view_json(state: State, seat: int) -> bytes:
    """The same in its bytes."""
    table = state.table
    heard = [message for message in table.messages if seat == message.seat or seat in message.to]
    return position_json(
        state, heard, b',"you":%d,"messages_left":%d' % (seat, st.messages_left(table, seat))
    )


def determinize(view: JsonObject, seat: int, rng: Random) -> State:
    """A position in which nothing was said that the viewer did not hear: the simplest that fits."""
    return state_of(view)
