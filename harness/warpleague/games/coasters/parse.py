"""Reads an action from JSON, and says why it is not possible now.

Leaves which actions are legal to `legal`.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import ActionError
from warpleague.games.coasters import actions as act
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import CENTRE, FACINGS
from warpleague.games.coasters.legal import legal

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.coasters.state import State

MAX_TEXT: Final = 280
"""A message's length in code points (A1)."""

_COASTERS, _SQUARES = 10, 32
"""How far out an action's place may be on either grid: no galaxy of ten coasters reaches further (G3, C2)."""


def parse(state: State, seat: int, data: object) -> act.Action:
    """The action of `seat` that `data` names; `ActionError` says what is wrong with it."""
    if not isinstance(data, dict):
        raise ActionError(f"an action must be an object such as {{'do': 'end'}}, not {_short(data)}")
    do = data.get("do")
    reader = _READERS.get(do) if isinstance(do, str) else None
    if reader is None:
        raise ActionError(f"no action is called {_short(do)}; now possible: {_possible(state)}")
    keys, read = reader
    if len(data) != len(keys) + 1 or any(key not in data for key in keys):
        wanted = ", ".join(("do", *keys))
        raise ActionError(f"{do} has exactly the keys {wanted}, not {_short(sorted(map(str, data)))}")
    if do == "say":
        return _say(state, seat, data)
    action = read(data)
    if action not in legal(state):
        raise ActionError(
            f"{_brief(data)} is not possible now{_why(state, action)}; possible: {_possible(state)}"
        )
    return action


# -- reading the fields --------------------------------------------------------------------------------------


def _whole(data: dict[str, Any], key: str, low: int, high: int) -> int:
    value = data[key]
    if type(value) is not int or not low <= value <= high:
        raise ActionError(
            f"{data['do']}: {key} must be a whole number from {low} to {high}, not {_short(value)}"
        )
    return value


def _pair(data: dict[str, Any], key: str, low: int, high: int) -> tuple[int, int]:
    value = data[key]
    if (
        not isinstance(value, list)
        or len(value) != 2
        or any(type(part) is not int or not low <= part <= high for part in value)
    ):
        raise ActionError(f"{data['do']}: {key} must be a list of two whole numbers, not {_short(value)}")
    return value[0], value[1]


def _word(data: dict[str, Any], key: str, words: tuple[str, ...]) -> int:
    value = data[key]
    if not isinstance(value, str) or value not in words:
        raise ActionError(f"{data['do']}: {key} must be one of {', '.join(words)}, not {_short(value)}")
    return words.index(value)


def _system_pair(data: dict[str, Any]) -> act.Action:
    a, b = _pair(data, "systems", 0, 9)
    if a >= b:
        raise ActionError("swap-systems: systems must be two colours, the smaller first")
    return act.SYSTEM_SWAPS[a, b]


_TURNS: Final = (act.TURN_LEFT, act.TURN_RIGHT)
_READERS: Final[dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], act.Action]]]] = {
    "lay": (
        ("at", "rotation"),
        lambda d: act.lay(*_pair(d, "at", -_COASTERS, _COASTERS), _whole(d, "rotation", 0, 3)),
    ),
    "deploy": (
        ("at", "facing"),
        lambda d: act.deploy(*_pair(d, "at", -_SQUARES, _SQUARES), _word(d, "facing", FACINGS)),
    ),
    "choose-colour": (("colour",), lambda d: act.CHOICES[_whole(d, "colour", 0, 9)]),
    "end": ((), lambda _: act.END),
    "fire": ((), lambda _: act.FIRE),
    "step": ((), lambda _: act.STEP),
    "turn": (("way",), lambda d: _TURNS[_word(d, "way", ("left", "right"))]),
    "warp": (("to",), lambda d: act.WARPS[_whole(d, "to", 0, 9)]),
    "swap": (("with",), lambda d: act.SWAPS[_whole(d, "with", 0, 9)]),
    "swap-systems": (("systems",), _system_pair),
    "hop": (("way",), lambda d: act.HOPS[_word(d, "way", FACINGS)]),
    "aim": (("facing",), lambda d: act.AIMS[_word(d, "facing", FACINGS)]),
    "dig": ((), lambda _: act.DIG),
    "invoke": (("ally",), lambda d: act.INVOKES[_whole(d, "ally", 0, 9)]),
    "claim": ((), lambda _: act.CLAIM),
    "agree": ((), lambda _: act.AGREE),
    "refuse": ((), lambda _: act.REFUSE),
    "split": ((), lambda _: act.SPLIT),
    "say": (("to", "text"), lambda _: None),
}


def text_misfit(text: object) -> str | None:
    """What is wrong with a message's text (A1), or None."""
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_TEXT:
        return f"text must be a string of 1 to {MAX_TEXT} code points"
    for character in text:
        kind = unicodedata.category(character)
        if kind in ("Cc", "Cs"):
            what = "control character" if kind == "Cc" else "lone surrogate"
            return f"text must be without the {what} U+{ord(character):04X}"
    return None


def to_misfit(to: object, seat: int, players: int) -> str | None:
    """What is wrong with a message's addressees (A1), or None."""
    if not isinstance(to, list) or not to or any(type(other) is not int for other in to):
        return "to must be a list of at least one seat"
    if len(set(to)) != len(to) or any(not 0 <= other < players or other == seat for other in to):
        return f"to must name distinct other seats from 0 to {players - 1}, not {_short(to)}"
    return None


def _say(state: State, seat: int, data: dict[str, Any]) -> act.Say:
    """A1: anything to anyone else, within the limits."""
    table = state.table
    if not table.config.talks:
        raise ActionError(f"say: there is no talk in this game; possible: {_possible(state)}")
    misfit = to_misfit(data["to"], seat, table.config.players) or text_misfit(data["text"])
    if misfit:
        raise ActionError(f"say: {misfit}")
    if st.messages_left(table, seat) <= 0:
        raise ActionError(f"say: only {st.MESSAGES_A_TURN} messages a turn; possible: {_possible(state)}")
    return act.Say(tuple(data["to"]), data["text"])


# -- saying why not ------------------------------------------------------------------------------------------


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _brief(data: dict[str, Any]) -> str:
    return " ".join(str(data[key]) for key in ("do", *(key for key in data if key != "do")))


def _possible(state: State) -> str:
    """The names of what may be done, each once, with the values it may have where they are few."""
    names: dict[str, int] = {}
    for action in legal(state):
        names[action.do] = names.get(action.do, 0) + 1
    if st.messages_left(state.table, state.asked[0] if state.asked else state.seat) > 0:
        names["say"] = 1
    return ", ".join(name if count == 1 else f"{name} ({count} ways)" for name, count in names.items())


_FACES: Final[dict[type, int]] = {
    act.Swap: st.SWAP, act.SwapSystems: st.SWAP, act.Hop: st.HOP, act.Aim: st.AIM, act.Dig: st.DIG
}  # fmt: skip
"""The face of the flux die that allows an action (T6); WILD allows them all."""


def _why(state: State, action: act.Action) -> str:
    """The reason, with its rule, where there is one to name; else empty."""
    if state.phase != st.TURN:
        return ""
    table = state.table
    board = table.galaxy
    pose = state.ships[state.colour]
    double = table.config.homes[1 << state.seat | state.agreed]

    def busy(onward: int) -> str:
        if onward < 0:
            return ": no square lies ahead (T5)"
        if state.occupied >> (onward >> 2) & 1:
            return ": the square ahead is occupied (S1)"
        return ""

    kind = type(action)
    if kind in (act.Step, act.Warp, act.Turn):
        if kind is not act.Turn and state.flux == st.TIP:
            return ": after TIP the ship only turns (T6)"
        if kind is act.Warp:
            if not state.halves:
                return ": no movement is left (T4)"
            if (pose >> 2) % 9 != CENTRE:
                return ": the ship is not on the centre of a system (T4)"
            return ": no warp leads there from here, or the centre is occupied (T4)"
        if kind is act.Step:
            if not board.arrow(pose):
                return ": no arrow leads forward (G2)"
            if reason := busy(board.ahead[pose]):
                return reason
        entered = board.step[pose] if kind is act.Step else pose
        cost = 1 if double >> (entered >> 2) // 9 & 1 else 2
        return f": it costs {cost} halves and {state.halves} are left (T2)"
    if kind in _FACES:
        options = table.config.options
        if kind is act.SwapSystems and not options.system_swap:
            return ": only the option system_swap lets systems change places (V2)"
        if kind is act.Swap and options.system_swap:
            return ": with the option system_swap systems change places, not ships (V2)"
        if state.fluxed:
            return ": the flux was used in this turn (T6)"
        if state.flux not in (_FACES[kind], st.WILD):
            return f": the flux is {st.FLUX[state.flux]} (T6)"
        if state.flux == st.WILD and options.wild_shot:
            return ": WILD makes the shot wild and gives no flux action (V3)"
        if kind is act.Dig:
            return busy(board.ahead[pose])
        if kind is act.Hop:
            return ": no empty square lies there (T6)"
        return (
            ": only with a ship of another seat (T6)" if kind is act.Swap else ": no such system is laid (V2)"
        )
    if not table.config.talks and kind in (act.Claim, act.Invoke):
        return ": there are no alliances in this game (A)"
    if kind is act.Claim:
        return ": at most once a turn, and once a ship is gone (A3)"
    if kind is act.Invoke:
        return ": only another survivor that has not answered in this turn (A2)"
    return ""
