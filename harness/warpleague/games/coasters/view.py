"""The view of a seat in coasters: all but the messages of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import (
    FACINGS,
    Facing,
    arrow_letters,
)
from warpleague.games.coasters.position import KEYS, from_json, position_json
from warpleague.games.coasters.state import Why  # noqa: TC001 - the schema reads it
from warpleague.games.values import decoded

if TYPE_CHECKING:
    from random import Random

    from warpleague.games.api import JsonObject
    from warpleague.games.coasters.state import State


@attrs.frozen
class System:
    """A laid coaster."""

    at: tuple[int, int]
    """its column and row on the coaster grid; square (3X, 3Y) is its top left corner"""
    rotation: int
    """quarter turns clockwise, 0 to 3: which table of `setup.arrows` it shows"""


@attrs.frozen
class Ship:
    """A ship."""

    at: tuple[int, int]
    """its column and row on the square grid, rows downward"""
    facing: Facing
    """the direction it faces"""
    hits: int
    """hit points left: 3 at the start, destroyed at 0"""


@attrs.frozen
class SeenMessage:
    """A message that the viewer sent or received."""

    turn: int
    """the number of the turn or set-up decision in which it was sent"""
    seat: int
    """who sent it"""
    to: list[int]
    """to whom"""
    text: str
    """what it says"""


@attrs.frozen
class View:
    """The view of a seat: all of the position except messages between others."""

    options: dict[str, bool | int]
    """the options of the game, all of them"""
    players: int
    """number of seats; colour c belongs to seat c % players"""
    phase: Literal["lay", "deploy", "colour", "roll", "turn", "ally", "claim", "over"]
    """what is to be done: set-up (lay, deploy), choose the colour, roll the dice, act in the turn, answer an
    invocation (ally) or a claim"""
    round: int
    """number of the round, from 1"""
    turn: int
    """number of the turn, set-up decisions included, from 1"""
    seat: int | None
    """whose turn or set-up decision it is, null when the game is over"""
    colour: int | None
    """the colour it plays, null while it must choose one and when the game is over"""
    asked: list[int]
    """seats that must still answer the question of `seat`, the next one first"""
    systems: list[System | None]
    """by colour: the home system, null if it is not laid"""
    ships: list[Ship | None]
    """by colour: the ship, null if it is not yet there or no more"""
    last: list[int | None]
    """by seat: the colour it used last, null before its first turn and always with `free_colour`; the next is
    the first living one after it"""
    d6: int | None
    """the d6 of this turn, null before the roll"""
    flux: Literal["TIP", "SWAP", "HOP", "AIM", "DIG", "WILD"] | None
    """the flux die, null before the roll"""
    halves: int
    """movement left, in half points"""
    flux_used: bool
    """whether the flux was used in this turn"""
    agreed: list[int]
    """seats that confirmed the alliance in this turn"""
    refused: list[int]
    """seats that refused it in this turn"""
    claimed: bool
    """whether the claim was made in this turn"""
    eliminated: list[int]
    """seats whose last ship was destroyed, in order"""
    retired: list[int]
    """seats whose bot is out, in order"""
    why: Why | None
    """why the game is over, null while it goes on"""
    messages: list[SeenMessage]
    """messages that the viewer sent or received in this turn and in the `players` turns before it"""
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
    return from_json({key: view[key] for key in KEYS})
