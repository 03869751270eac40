"""Positions of sheets as JSON, and what is wrong with one that somebody wrote by hand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from warpleague.errors import PositionError
from warpleague.games.api import CHANCE, JsonObject
from warpleague.games.reading import Given
from warpleague.games.sheets.geometry import (
    BONUS_ROUNDS,
    BOXES,
    CELLS,
    CIRCLES,
    EDGES,
    ROUNDS,
    SIDE,
    UNIT_NUMBER,
    UNITS,
    YELLOW_LINES,
)
from warpleague.games.sheets.rules import useful
from warpleague.games.sheets.state import NOBODY, PHASES, Sheet, State, filled_boxes
from warpleague.games.values import mask, members

if TYPE_CHECKING:
    from collections.abc import Sequence


_KEYS: Final = (
    "round", "turn", "phase", "actor", "dice", "hand", "kept", "offered", "taken", "retired",
    "shared_discards", "sheets",
)  # fmt: skip
_SHEET_KEYS: Final = ("edges", "wormholes", "yellow", "red", "blue", "free_lines", "rerolls")
_DISCARDABLE: Final = UNITS[1:]
_MAX: Final = Counter(line.reward for line in YELLOW_LINES) + Counter(reroll=len(BONUS_ROUNDS))
"""All rewards of a game, by their names (S2, S5)."""
_UNIT_NAMES: Final = tuple(tuple(UNITS[unit] for unit in members(units)) for units in range(64))


def sheet_json(sheet: Sheet) -> JsonObject:
    """The marks of a sheet."""
    return {
        "edges": members(sheet.edges),
        "wormholes": members(sheet.wormholes),
        "yellow": members(sheet.yellow),
        "red": members(sheet.red),
        "blue": blue_json(sheet.blue),
        "free_lines": sheet.free_lines,
        "rerolls": sheet.rerolls,
    }


def blue_json(blue: tuple[int, ...]) -> list[JsonObject]:
    """The circles of a sheet."""
    return [{"value": abs(value), "crossed": value < 0} for value in blue]


def dice_json(dice: Sequence[int]) -> JsonObject:
    """The dice that were rolled."""
    white = {"white": [dice[0], dice[1]]} if dice[0] else {}
    return {**white, **{unit: value for unit, value in zip(UNITS[1:], dice[2:], strict=True) if value}}


def to_json(state: State) -> JsonObject:
    """The whole position."""
    return {
        "round": state.round,
        "turn": state.seat,
        "phase": state.phase,
        "actor": state.actor if state.actor >= 0 else None,
        "dice": dice_json(state.dice),
        "hand": list(_UNIT_NAMES[state.hand]),
        "kept": list(_UNIT_NAMES[state.kept]),
        "offered": list(_UNIT_NAMES[state.offered]),
        "taken": UNITS[state.taken] if state.taken >= 0 else None,
        "retired": list(state.retired),
        "shared_discards": state.shared,
        "sheets": [sheet_json(sheet) for sheet in state.sheets],
    }


# -- reading -----------------------------------------------------------------------------------------------


def from_json(data: object) -> State:
    """The position written as `data`; `PositionError` names the first field that does not fit."""
    position = Given(data)
    top = position.fields(*_KEYS)
    sheets = top["sheets"].items()
    if not 1 <= len(sheets) <= 4:
        top["sheets"].fail(f"{len(sheets)} sheets, but 1 to 4 can play")
    for sheet in sheets:
        _check_sheet(sheet)
    players = len(sheets)
    round_ = top["round"].whole(1, ROUNDS)
    turn = top["turn"].whole(0, players - 1)
    for seat, sheet in enumerate(sheets):
        _check_rewards(sheet, round_ if seat <= turn else round_ - 1)
    top["phase"].index(PHASES)
    if top["actor"].value is not None:
        top["actor"].whole(0, players - 1)
    top["shared_discards"].flag()
    top["retired"].distinct(0, players - 1)
    _check_dice(top["dice"])
    _check_units(top["hand"], UNITS)
    _check_units(top["kept"], UNITS)
    _check_units(top["offered"], _DISCARDABLE)
    if top["taken"].value is not None:
        top["taken"].index(_DISCARDABLE)
    checked: JsonObject = position.value  # type: ignore[assignment]
    _check_phase(checked, players)
    state = read_state(checked)
    _check_uses(state)
    return state


def _check_sheet(given: Given) -> None:
    sheet = given.fields(*_SHEET_KEYS)
    sheet["edges"].distinct(0, EDGES - 1)
    wormholes = sheet["wormholes"].distinct(0, BOXES - 1)
    sheet["yellow"].distinct(0, CELLS - 1)
    sheet["red"].distinct(1, SIDE)
    circles = sheet["blue"].items()
    if len(circles) > CIRCLES:
        sheet["blue"].fail(f"{len(circles)} circles written, but there are {CIRCLES}")
    standing: set[int] = set()
    crossed = 0
    for item in circles:
        circle = item.fields("value", "crossed")
        value = circle["value"].whole(1, SIDE)
        if circle["crossed"].flag():
            crossed += 1
        elif value in standing:
            item.fail(f"{value} stands in an open circle already (sheets S4)")
        else:
            standing.add(value)
    if crossed != len(wormholes):
        sheet["wormholes"].fail(
            f"{len(wormholes)} wormholes, but {crossed} crossed-out circles in 'blue';"
            " each stands for one wormhole (sheets S4)"
        )


def _check_rewards(given: Given, rounds: int) -> None:
    """How much may be stored by a seat that has begun `rounds` rounds (S2, S5).

    A position made by hand may hold all rewards of a game besides those that are still to come. So what follows from
    it holds no more, either.
    """
    sheet = given.fields(*_SHEET_KEYS)
    marked: set[object] = set(sheet["yellow"].value)  # type: ignore[call-overload]
    to_come = Counter(line.reward for line in YELLOW_LINES if not marked.issuperset(line.cells))
    to_come["reroll"] += sum(bonus > rounds for bonus in BONUS_ROUNDS)
    for key, reward in {"free_lines": "free-line", "rerolls": "reroll"}.items():
        sheet[key].whole(0, 2 * _MAX[reward] - to_come[reward])


def _check_dice(given: Given) -> None:
    dice = given.fields(*UNITS)
    for unit in dice:
        if unit == "white":
            dice[unit].wholes(1, SIDE, length=2)
        else:
            dice[unit].whole(1, SIDE)


def _check_units(given: Given, allowed: Sequence[str]) -> None:
    for item in given.items():
        item.index(allowed)


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
    """Check that each pending mark has a use (T2, T3)."""
    due = [(unit, "kept") for unit in range(len(UNITS)) if state.kept >> unit & 1 and state.phase == "mark"]
    if state.phase == "use":
        due.append((state.taken, "taken"))
    for unit, name in due:
        if not useful(state.dice, state.round, state.sheets[state.actor], unit):
            raise PositionError(f"{name}: {UNITS[unit]!r} has no use on the sheet of seat {state.actor}")


def _sheet_from(data: JsonObject) -> Sheet:
    edges = mask(data["edges"])
    return Sheet(
        edges,
        filled_boxes(edges),
        mask(data["wormholes"]),
        mask(data["yellow"]),
        mask(data["red"]),
        tuple(-circle["value"] if circle["crossed"] else circle["value"] for circle in data["blue"]),
        data["free_lines"],
        data["rerolls"],
    )


def _units_from(names: list[str]) -> int:
    return mask([UNIT_NUMBER[name] for name in names])


def read_state(data: JsonObject) -> State:
    """The position that is written in `data`, a view perhaps; trusts its caller that all of it fits."""
    dice = data["dice"]
    actor = data["actor"]
    if actor is None:
        actor = NOBODY if data["phase"] == "over" else CHANCE
    return State(
        tuple(_sheet_from(sheet) for sheet in data["sheets"]),
        data["shared_discards"],
        data["round"],
        data["turn"],
        data["phase"],
        actor,
        (*dice.get("white", (0, 0)), *(dice.get(unit, 0) for unit in UNITS[1:])),
        _units_from(data["hand"]),
        _units_from(data["kept"]),
        _units_from(data["offered"]),
        -1 if data["taken"] is None else UNIT_NUMBER[data["taken"]],
        tuple(data["retired"]),
    )
