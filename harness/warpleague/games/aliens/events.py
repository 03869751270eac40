"""The events of aliens, one shared object for each, and a line of English for each.

Events are shared, so nobody may change their data.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from warpleague.games.aliens.geometry import COINS, COMPASS, COUNT, SHIPS, SIDES, SQUARES, WAYS
from warpleague.games.api import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpleague.games.aliens.state import Why


def _square(number: int) -> list[int]:
    return list(SQUARES[number])


@cache
def opening_roll(dice: tuple[int, ...], chooser: int | None) -> Event:
    """All four dice, and the seat that may choose; None: a tie (aliens P1)."""
    return Event({"event": "opening-roll", "dice": dict(zip(SHIPS, dice, strict=True)), "chooser": chooser})


@cache
def order(seat: int, first: str) -> Event:
    """The choice of the chooser."""
    return Event({"event": "order", "seat": seat, "first": first})


@cache
def place(coin: int, number: int) -> Event:
    """A coin laid on a square: its value is its owner's secret (aliens P2)."""
    suit, value = divmod(coin, 6)
    public = {"event": "place", "seat": suit >> 1, "suit": SHIPS[suit], "at": _square(number)}
    return Event({**public, "value": value}, seats=(suit >> 1,), redacted=public)


@cache
def roll(seat: int, dice: tuple[int, int]) -> Event:
    """The dice of a turn; -1 for a ship that loses this turn."""
    ships = SHIPS[2 * seat : 2 * seat + 2]
    shown = {ship: die for ship, die in zip(ships, dice, strict=True) if die >= 0}
    loses = [ship for ship, die in zip(ships, dice, strict=True) if die < 0]
    return Event({"event": "roll", "seat": seat, "dice": shown, "loses": loses})


@cache
def skip(seat: int) -> Event:
    """A turn lost by both ships of a side: no dice are rolled."""
    return Event({"event": "skip", "seat": seat})


# Keyed by one integer: at a fifth of a million a second the arguments' tuple and cache's call would show.
_moves: Final[dict[int, Event]] = {}
_activations: Final[dict[int, Event]] = {}


def move(ship: int, start: int, die: int, way: int, end: int) -> Event:
    """A ship moved by its die."""
    key = ((ship * COUNT + start) * 6 + die) * 8 + way
    event = _moves.get(key)
    if event is None:
        event = _moves[key] = Event(
            {
                "event": "move",
                "ship": SHIPS[ship],
                "way": WAYS[way],
                "die": die,
                "from": _square(start),
                "to": _square(end),
            }
        )
    return event


@cache
def stay(ship: int, number: int) -> Event:
    """A null die used."""
    return Event({"event": "stay", "ship": SHIPS[ship], "at": _square(number)})


@cache
def decline(ship: int, number: int) -> Event:
    """A die left unused on an enemy base."""
    return Event({"event": "decline", "ship": SHIPS[ship], "at": _square(number)})


EFFECTS: Final = ("jump", "black-hole", "none")
MUST_JUMP, BLACK_HOLE, NO_EFFECT = range(3)


def activate(ship: int, number: int, coin: int, effect: int, *, reveals: bool) -> Event:
    """A wormhole activated; `effect` is an index of `EFFECTS`."""
    key = (((ship * COUNT + number) * COINS + coin) * 3 + effect) * 2 + reveals
    event = _activations.get(key)
    if event is None:
        suit, value = divmod(coin, 6)
        event = _activations[key] = Event(
            {
                "event": "activate",
                "ship": SHIPS[ship],
                "at": _square(number),
                "suit": SHIPS[suit],
                "value": value,
                "effect": EFFECTS[effect],
            },
            reveals=reveals,
        )
    return event


@cache
def jump(ship: int, start: int, way: int, end: int) -> Event:
    """A ship jumped through a wormhole."""
    return Event(
        {"event": "jump", "ship": SHIPS[ship], "way": WAYS[way], "from": _square(start), "to": _square(end)}
    )


@cache
def send(ship: int, start: int, end: int) -> Event:
    """A ship sent away by the enemy that landed on it."""
    return Event({"event": "send", "ship": SHIPS[ship], "from": _square(start), "to": _square(end)})


@cache
def retired(seat: int) -> Event:
    """A bot is out."""
    return Event({"event": "retired", "seat": seat})


@cache
def end(winner: int | None, why: Why) -> Event:
    """The game is over; `winner` is None for a draw."""
    return Event({"event": "end", "winner": winner, "why": why})


_EFFECT_TEXTS: Final = {
    "jump": "and must jump",
    "black-hole": "a black hole: it loses its next turn",
    "none": "but no jump is possible",
}


def _dice(data: Mapping[str, Any]) -> str:
    return ", ".join(f"{ship.title()} {value}" for ship, value in data["dice"].items())


def _tell_opening_roll(data: Mapping[str, Any]) -> str:
    chooser = data["chooser"]
    then = "a tie, it is rolled again" if chooser is None else f"{SIDES[chooser]} may choose"
    return f"opening roll: {_dice(data)}: {then}"


def _tell_roll(data: Mapping[str, Any]) -> str:
    loses = "".join(f"; {ship.title()} loses its turn" for ship in data["loses"])
    return f"{SIDES[data['seat']]} rolled {_dice(data)}{loses}"


def _tell_place(data: Mapping[str, Any]) -> str:
    value = data.get("value")
    coin = f"a wormhole of {data['suit'].title()}" if value is None else f"{data['suit'].title()} {value}"
    return f"{SIDES[data['seat']]} placed {coin} on {_at(data['at'])}"


def _tell_activate(data: Mapping[str, Any]) -> str:
    coin = f"{data['suit'].title()} {data['value']}"
    effect = _EFFECT_TEXTS[data["effect"]]
    return f"{data['ship'].title()} activates the wormhole on {_at(data['at'])}: {coin}, {effect}"


def _tell_end(data: Mapping[str, Any]) -> str:
    return result(data["winner"], data["why"])


def result(winner: int | None, why: Why) -> str:
    """Who won and why, None: nobody."""
    return f"the match is drawn: {ENDINGS[why]}" if winner is None else f"{SIDES[winner]} won: {ENDINGS[why]}"


ENDINGS: Final[Mapping[str, str]] = {
    "base": "a ship landed on an enemy base",
    "max-turns": "all turns are played",
    "retired": "the other side left the match",
}
"""Why a match ended, in words."""


def _at(square: list[int]) -> str:
    return f"({square[0]},{square[1]})"


def _way(name: str) -> str:
    return COMPASS[WAYS.index(name)]


_TELLERS: Final[dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "opening-roll": _tell_opening_roll,
    "order": lambda data: f"{SIDES[data['seat']]} chose to {data['first']} first",
    "place": _tell_place,
    "roll": _tell_roll,
    "skip": lambda data: f"both ships of {SIDES[data['seat']]} lose their turn",
    "move": lambda data: (
        f"{data['ship'].title()} flies {data['die']} {_way(data['way'])} to {_at(data['to'])}"
    ),
    "stay": lambda data: f"{data['ship'].title()} stays on {_at(data['at'])}",
    "decline": lambda data: f"{data['ship'].title()} leaves its die unused on {_at(data['at'])}",
    "activate": _tell_activate,
    "jump": lambda data: f"{data['ship'].title()} jumps {_way(data['way'])} to {_at(data['to'])}",
    "send": lambda data: f"{data['ship'].title()} is sent to {_at(data['to'])}",
    "retired": lambda data: f"{SIDES[data['seat']]} left the match",
    "end": _tell_end,
}


def tell(event: Mapping[str, Any]) -> str:
    """One line for an event's JSON form.

    A side is in the plural, and a page puts the name of its one bot there: the verbs suit both.
    """
    return _TELLERS[event["event"]](event)
