"""Reads a bot's action: the shared object that a JSON value names, or a text that says what would be legal.

Leaves the list of legal actions to `legal`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import ActionError
from warpleague.games.sheets.actions import (
    ACTIONS,
    BLUES,
    FREE_LINES,
    KEEPS,
    LINES,
    PASS,
    REDS,
    REROLL,
    TAKES,
    YELLOWS,
    Action,
)
from warpleague.games.sheets.legal import legal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.games.sheets.state import State

_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    kind.do: tuple(field.name for field in attrs.fields(kind))  # type: ignore[attr-defined]
    for kind in ACTIONS
}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "unit": (str,),
    "discard": (str,),
    "edge": (int,),
    "cell": (int,),
    "value": (int,),
    "box": (int, type(None)),
}
_TYPE_NAMES: Final = {str: "a string", int: "an integer", type(None): "null"}


def _key(action: Action) -> tuple[Any, ...]:
    return (action.do, *(getattr(action, name) for name in _FIELDS[action.do]))


def _all() -> Iterable[Action]:
    yield REROLL
    yield PASS
    yield from KEEPS.values()
    yield from LINES
    yield from FREE_LINES
    yield from TAKES
    for yellows in YELLOWS.values():
        yield from yellows
    for reds in REDS.values():
        yield from reds.values()
    for blues in BLUES.values():
        yield from blues.values()


_BY_KEY: Final = {_key(action): action for action in _all()}

_SHOWN = 12


def parse(state: State, data: object) -> Action:
    """The action of the acting seat that `data` names; `ActionError` if it is none, or not legal now."""
    allowed = legal(state)
    if type(data) is not dict:
        raise ActionError(f"an action is a JSON object with the key 'do'; legal now: {_listed(allowed)}")
    do = data.get("do")
    if type(do) is not str or do not in _FIELDS:
        raise ActionError(f"'do' must be one of {', '.join(_FIELDS)}; legal now: {_kinds(allowed)}")
    names = _FIELDS[do]
    for name in data:
        if name != "do" and name not in names:
            raise ActionError(f"{do!r} has no key {name!r}; its keys are {', '.join(('do', *names))}")
    for name in names:
        if name not in data:
            raise ActionError(f"{do!r} lacks the key {name!r}")
        if type(data[name]) not in _TYPES[name]:
            wanted = " or ".join(_TYPE_NAMES[kind] for kind in _TYPES[name])
            raise ActionError(f"{name!r} of {do!r} must be {wanted}")
    action = _BY_KEY.get((do, *(data[name] for name in names)))
    if action is not None and action in allowed:
        return action
    alike = [other for other in allowed if other.do == do]
    if alike:
        raise ActionError(f"this {do!r} is not legal now; of this kind are legal: {_listed(alike)}")
    raise ActionError(f"{do!r} is not legal now; legal now: {_kinds(allowed)}")


def _kinds(actions: Iterable[Action]) -> str:
    return ", ".join(dict.fromkeys(action.do for action in actions))


def _listed(actions: Iterable[Action]) -> str:
    """The first few actions as JSON."""
    forms = [dict(zip(("do", *_FIELDS[action.do]), _key(action), strict=True)) for action in actions]
    more = f" and {len(forms) - _SHOWN} more" if len(forms) > _SHOWN else ""
    return " ".join(json.dumps(form) for form in forms[:_SHOWN]) + more
