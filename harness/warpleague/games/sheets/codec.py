"""Checks positions that people write by hand, and names the field that is wrong.

Leaves the JSON form itself to `view`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.errors import PositionError
from warpleague.games.sheets.actions import UNITS
from warpleague.games.sheets.geometry import BOXES, CELLS, CIRCLES, EDGES, ROUNDS, SIDE, YELLOW_LINES
from warpleague.games.sheets.legal import useful
from warpleague.games.sheets.state import PHASES
from warpleague.games.sheets.view import state_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import JsonObject
    from warpleague.games.sheets.state import State

_KEYS = (
    "round", "turn", "phase", "actor", "dice", "hand", "kept", "offered", "taken", "retired",
    "shared_discards", "sheets",
)  # fmt: skip
_SHEET_KEYS = ("edges", "wormholes", "yellow", "red", "blue", "free_lines", "rerolls")
_DISCARDABLE = UNITS[1:]
_MOST_FREE_LINES = sum(line.reward == "free-line" for line in YELLOW_LINES)
_MOST_REROLLS = 6
"""Three from the yellow section, three from the rounds (S2, S5)."""


def state_from_json(data: object) -> State:
    """The state written as `data`; `PositionError` names the first field that does not fit."""
    table = _object(data, "position", _KEYS)
    sheets = _list(table["sheets"], "sheets")
    if not 1 <= len(sheets) <= 4:
        raise PositionError(f"sheets: {len(sheets)} sheets, but 1 to 4 can play")
    for seat, sheet in enumerate(sheets):
        _check_sheet(sheet, f"sheets[{seat}]")
    players = len(sheets)
    _number(table["round"], "round", 1, ROUNDS)
    _number(table["turn"], "turn", 0, players - 1)
    if type(table["phase"]) is not str or table["phase"] not in PHASES:
        raise PositionError(f"phase: must be one of {', '.join(PHASES)}")
    if table["actor"] is not None:
        _number(table["actor"], "actor", 0, players - 1, "or null")
    if type(table["shared_discards"]) is not bool:
        raise PositionError("shared_discards: must be true or false")
    _numbers(table["retired"], "retired", 0, players - 1)
    _check_dice(table["dice"])
    for name in ("hand", "kept", "offered"):
        _units(table[name], name, _DISCARDABLE if name == "offered" else UNITS)
    if table["taken"] is not None and table["taken"] not in _DISCARDABLE:
        raise PositionError(f"taken: must be null or one of {', '.join(_DISCARDABLE)}")
    _check_phase(table, players)
    state = state_from(table)
    _check_uses(state)
    return state


def _check_sheet(data: object, at: str) -> None:
    table = _object(data, at, _SHEET_KEYS)
    _numbers(table["edges"], f"{at}.edges", 0, EDGES - 1)
    _numbers(table["wormholes"], f"{at}.wormholes", 0, BOXES - 1)
    _numbers(table["yellow"], f"{at}.yellow", 0, CELLS - 1)
    _numbers(table["red"], f"{at}.red", 1, SIDE)
    _number(table["free_lines"], f"{at}.free_lines", 0, _MOST_FREE_LINES)
    _number(table["rerolls"], f"{at}.rerolls", 0, _MOST_REROLLS)
    circles = _list(table["blue"], f"{at}.blue")
    if len(circles) > CIRCLES:
        raise PositionError(f"{at}.blue: {len(circles)} circles written, but there are {CIRCLES}")
    standing: set[int] = set()
    crossed = 0
    for i, data_of_circle in enumerate(circles):
        circle = _object(data_of_circle, f"{at}.blue[{i}]", ("value", "crossed"))
        value = _number(circle["value"], f"{at}.blue[{i}].value", 1, SIDE)
        if type(circle["crossed"]) is not bool:
            raise PositionError(f"{at}.blue[{i}].crossed: must be true or false")
        if circle["crossed"]:
            crossed += 1
        elif value in standing:
            raise PositionError(f"{at}.blue[{i}]: {value} stands in an open circle already (sheets S4)")
        else:
            standing.add(value)
    if crossed != len(table["wormholes"]):
        raise PositionError(
            f"{at}.wormholes: {len(table['wormholes'])} wormholes, but {crossed} crossed-out circles"
            f" in {at}.blue; each stands for one wormhole (sheets S4)"
        )


def _check_dice(data: object) -> None:
    if type(data) is not dict:
        raise PositionError("dice: must be an object of values by unit")
    for unit, value in data.items():
        if unit not in UNITS:
            raise PositionError(f"dice: {unit!r} is no unit; units are {', '.join(UNITS)}")
        if unit != "white":
            _number(value, f"dice.{unit}", 1, SIDE)
        elif type(value) is not list or len(value) != 2:
            raise PositionError("dice.white: must be a list of two values")
        else:
            for i, one in enumerate(value):
                _number(one, f"dice.white[{i}]", 1, SIDE)


def _check_phase(table: JsonObject, players: int) -> None:
    """Whether seats and units fit the phase."""
    phase, turn, actor, retired = table["phase"], table["turn"], table["actor"], table["retired"]
    hand, kept, offered, taken = table["hand"], table["kept"], table["offered"], table["taken"]
    solo_roll = phase == "roll" and players == 1 and not hand
    if (actor is None) != (phase in ("roll", "over")):
        raise PositionError(f"actor: must be {'a seat' if actor is None else 'null'} in the phase {phase!r}")
    if len(retired) == players and phase != "over":
        raise PositionError("phase: must be 'over' when all seats are retired")
    if phase in ("roll", "keep", "mark") and turn in retired:
        raise PositionError(f"turn: seat {turn} is retired")
    if actor in retired:
        raise PositionError(f"actor: seat {actor} is retired")
    others = players > 1 and phase in ("take", "use")
    if phase != "lines" and actor is not None and (actor == turn) == others:
        who = "another seat than" if others else "the seat of"
        raise PositionError(f"actor: in the phase {phase!r} {who} 'turn' must act")
    if (phase == "lines" or (phase == "over" and len(retired) < players)) and table["round"] != ROUNDS:
        raise PositionError(f"round: must be {ROUNDS} in the phase {phase!r}")
    if (taken is not None) != (phase == "use"):
        raise PositionError(f"taken: must be {'a unit' if taken is None else 'null'} in the phase {phase!r}")
    if phase in ("roll", "keep") and not solo_roll:
        if len(hand) not in (2, 4, 6) or not len(kept) == len(offered) == 3 - len(hand) // 2:
            raise PositionError(
                "hand: 6, 4 or 2 units must be in hand, and half of the others each in 'kept' and 'offered'"
            )
    elif hand:
        raise PositionError(f"hand: must be empty in the phase {phase!r}")
    elif bool(kept) != (phase == "mark"):
        raise PositionError(
            f"kept: {'must not' if phase == 'mark' else 'must'} be empty in the phase {phase!r}"
        )
    elif phase in ("lines", "over"):
        if offered:
            raise PositionError(f"offered: must be empty in the phase {phase!r}")
    elif phase == "mark" or (players == 1 and phase != "use"):
        if len(offered) != 3 or len(kept) > 3:
            raise PositionError(
                f"offered: must have three units in the phase {phase!r}, and 'kept' at most three"
            )
    elif phase == "take":
        if not 1 <= len(offered) <= 3:
            raise PositionError("offered: must have one to three units in the phase 'take'")
    elif len(offered) > (3 if table["shared_discards"] else 2):
        raise PositionError("offered: has too many units: three were discarded, and one of them is taken")
    elif (taken in offered) != table["shared_discards"]:
        raise PositionError("offered: the taken unit must be in it exactly with shared_discards")
    units = [*hand, *kept, *offered]
    if len(set(units)) != len(units):
        raise PositionError("hand, kept, offered: a unit can be in one of them only")
    rolled = [*([] if phase == "roll" else hand), *kept, *([] if solo_roll else offered)]
    if taken is not None:
        rolled.append(taken)
    for unit in rolled:
        if unit not in table["dice"]:
            raise PositionError(f"dice: the value of {unit!r} is missing")


def _check_uses(state: State) -> None:
    """What must be marked must have a use (T2, T3)."""
    due = [(unit, "kept") for unit in range(len(UNITS)) if state.kept >> unit & 1 and state.phase == "mark"]
    if state.phase == "use":
        due.append((state.taken, "taken"))
    for unit, name in due:
        if not useful(state.dice, state.round, state.sheets[state.actor], unit):
            raise PositionError(f"{name}: {UNITS[unit]!r} has no use on the sheet of seat {state.actor}")


def _object(data: object, at: str, keys: Sequence[str]) -> JsonObject:
    if type(data) is not dict:
        raise PositionError(f"{at}: must be an object with the keys {', '.join(keys)}")
    for key in data:
        if key not in keys:
            raise PositionError(f"{at}: unknown key {key!r}; its keys are {', '.join(keys)}")
    for key in keys:
        if key not in data:
            raise PositionError(f"{at}: the key {key!r} is missing")
    return data


def _list(data: object, at: str) -> list[Any]:
    if type(data) is not list:
        raise PositionError(f"{at}: must be a list")
    return data


def _number(data: object, at: str, least: int, most: int, also: str = "") -> int:
    if type(data) is not int or not least <= data <= most:
        raise PositionError(f"{at}: must be an integer from {least} to {most} {also}".rstrip())
    return data


def _numbers(data: object, at: str, least: int, most: int) -> None:
    numbers = [_number(item, f"{at}[{i}]", least, most) for i, item in enumerate(_list(data, at))]
    if len(set(numbers)) != len(numbers):
        raise PositionError(f"{at}: a number is listed twice")


def _units(data: object, at: str, allowed: Sequence[str]) -> None:
    for i, item in enumerate(_list(data, at)):
        if item not in allowed:
            raise PositionError(f"{at}[{i}]: must be one of {', '.join(allowed)}")
