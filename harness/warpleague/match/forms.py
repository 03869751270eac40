"""Checks the form of a record's lines: which fields each line has, of which types and ranges.

Every reader may rely on it: a field that passes here can be shown, summed or given to a clock without another
check. Unknown fields are accepted, since a format may gain some. Each check returns what is wrong, or None.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, get_args

from warpleague.match.chance import KEY_BYTES
from warpleague.match.confinement import Confinement
from warpleague.match.spec import FAULT_KINDS, LEVELS, POLICIES, EntrantKind, Mark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpleague.games.api import JsonObject

    Checks = Mapping[str, tuple[Callable[[Any], bool], str]]

MAX_S: Final = 1_000_000
"""A clock's times are below this, in seconds."""

_MAX_COUNT: Final = 1 << 53
KINDS: Final = get_args(EntrantKind)
_MARKS: Final = get_args(Mark)
_TIMES: Final = 3  # of a decision: wall, processor, waiting


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MAX_COUNT


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_count, value))


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value < _MAX_COUNT


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _or_null(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


_HEADER: Final[Checks] = {
    "id": (_text, "a text"),
    "game": (_text, "a text"),
    "rules": (_count, "a whole number"),
    "options": (_object, "an object"),
    "players": (_count, "a whole number"),
    "seats": (lambda value: isinstance(value, list) and all(map(_object, value)), "a list of objects"),
    "clock": (_object, "an object"),
    "level": (lambda value: value in LEVELS, f"one of {', '.join(LEVELS)}"),
    "faults": (lambda value: value in POLICIES, f"one of {', '.join(POLICIES)}"),
    "strikes": (_count, "a whole number"),
    "position": (_or_null(_object), "null or an object"),
    "seed": (_or_null(_text), "null or a text"),
    "key": (_or_null(_text), f"null or {2 * KEY_BYTES} hexadecimal digits"),
    "harness": (_text, "a text"),
    "started": (_text, "a text"),
}
_PARENT: Final[Checks] = {
    "digest": (_text, "a text"),
    "n": (_count, "a whole number"),
    "rolls": (
        lambda value: _object(value) and all(map(_count, value.values())),
        "an object of whole numbers",
    ),
    "seat": (_count, "a whole number"),
    "action": (_object, "an object"),
    "redeal": (_text, "a text"),
}
_SEAT: Final[Checks] = dict.fromkeys(("bot", "version", "digest"), (_text, "a text"))
_KIND: Final[Checks] = {"kind": (lambda value: value in KINDS, f"one of {', '.join(KINDS)}")}
_EVIDENCE: Final[Checks] = {
    **dict.fromkeys(("message", "line", "stderr", "killed_by"), (_text, "a text")),
    **dict.fromkeys(
        ("line_bytes", "stderr_bytes", "limit_ms", "extended_ms", "peak_mb", "ms"), (_number, "a number")
    ),
    "exit": (lambda value: isinstance(value, str) or type(value) is int, "a number or a text"),
}
_TAKEN: Final = {"input_tokens": _count, "output_tokens": _count, "cost": _number}
_USAGE: Final[Checks] = {
    "usage": (
        lambda value: (
            _object(value) and all(name in value and fits(value[name]) for name, fits in _TAKEN.items())
        ),
        f"an object with {', '.join(_TAKEN)}",
    )
}
_CLOCK: Final = frozenset({"move_s", "bank_s", "increment_s", "start_s"})


def _misfit(data: Mapping[str, Any], checks: Checks, under: str = "") -> str | None:
    for name, (check, wanted) in checks.items():
        if name in data and not check(data[name]):
            return f"{under}{name} must be {wanted}"
    return None


def header_misfit(header: JsonObject) -> str | None:
    """What is wrong with the form of a record's header."""
    missing = sorted(_HEADER.keys() - header.keys())
    if missing:
        return f"the header lacks {', '.join(missing)}"
    misfit = _misfit(header, _HEADER)
    if misfit is not None:
        return misfit
    if header["players"] != len(header["seats"]):
        return "players and seats do not agree"
    for number, seat in enumerate(header["seats"]):
        if not _SEAT.keys() <= seat.keys() or _misfit(seat, _SEAT):
            return f"seat {number} must name its bot, with version and digest, as texts"
        if misfit := _misfit(seat, _KIND, f"seat {number}: "):
            return misfit
        if "clock" in seat and (misfit := _clock_misfit(seat["clock"])):
            return f"seat {number}: {misfit}"
    if misfit := _clock_misfit(header["clock"]):
        return misfit
    for name in ("again", "failures", "note_bytes"):
        if not _count(header.get(name, 0)):
            return f"{name} must be a whole number"
    if "parent" in header and (misfit := _parent_misfit(header)):
        return misfit
    try:
        Confinement.from_header(header)
    except ValueError as error:
        return str(error)
    return None


def _parent_misfit(header: JsonObject) -> str | None:
    parent = header["parent"]
    if not isinstance(parent, dict) or not {"digest", "n"} <= parent.keys():
        return "parent must be an object with digest and n"
    if header["position"] is None:
        return "a match with a parent starts from a position"  # or its dice could be chosen
    return _misfit(parent, _PARENT, "parent.")


def _clock_misfit(clock: Any) -> str | None:
    if not _object(clock):
        return "clock must be an object"
    for name, value in clock.items():
        if name in _CLOCK and not (_number(value) and 0 < value < MAX_S):
            return f"clock.{name} must be a number of seconds above 0 and below {MAX_S:,}"
    return None if "start_s" in clock else "clock.start_s is missing"


def act_misfit(line: JsonObject) -> str | None:
    """What is wrong with the form of a line that tells an action, the action itself aside."""
    marks = [name for name in _MARKS if name in line]
    for name in marks:
        if line[name] is not True:
            return f"{name} must be true where it stands"
    if len(marks) > 1:
        return f"only one of {', '.join(marks)} can be true"
    if not isinstance(line.get("note", ""), str):
        return "note must be a text"
    if "value" in line and not (_number(line["value"]) and line["value"] <= 1):
        return "value must be a number from 0 to 1"
    if "detail" in line and (misfit := _detail_misfit(line["detail"])):
        return misfit
    if "bank_s" in line and not _number(line["bank_s"]):
        return "bank_s must be a number of seconds"
    times = line.get("ms")
    if marks:
        return None if times is None else f"an action with {marks[0]} took no time of its own: no ms"
    if not isinstance(times, list) or len(times) != _TIMES or not _number(times[0]):
        return f"ms must be a list of {_TIMES} numbers"
    if not all(time is None or _number(time) for time in times):
        return "ms must hold numbers or null"
    return None


def _detail_misfit(detail: Any) -> str | None:
    """What is wrong with the form of what came before an action, and of what a service took for it."""
    if not isinstance(detail, dict) or not detail.keys() & {"again", "failed", "usage"}:
        return "detail of an action must be an object with again, failed or usage"
    for name in ("again", "failed"):
        if name in detail and (misfit := _before_misfit(detail[name], f"detail.{name}")):
            return misfit
    return _misfit(detail, _USAGE, "detail.")


def _before_misfit(before: Any, name: str) -> str | None:
    """What is wrong with the form of the answers before an action or a fault that were not played."""
    if not isinstance(before, list) or not before:
        return f"{name} must be a list that is not empty"
    for told in before:
        if not isinstance(told, dict) or "message" not in told:
            return f"each of {name} must be an object with a message"
        if misfit := _misfit(told, _EVIDENCE, f"{name}: "):
            return misfit
    return None


def fault_misfit(line: JsonObject) -> str | None:
    """What is wrong with the form of a line that tells a fault."""
    if line.get("kind") not in FAULT_KINDS:
        return f"there is no kind of fault {line.get('kind')!r}"
    if type(line.get("retired")) is not bool:
        return "retired must be true or false"
    if line.get("tied", True) is not True or ("tied" in line and not line["retired"]):
        return "tied must be true where it stands, and only of a seat that is out"
    detail = line.get("detail")
    if not isinstance(detail, dict) or "message" not in detail:
        return "detail must be an object with a message"
    if "failed" in detail and (misfit := _before_misfit(detail["failed"], "detail.failed")):
        return misfit
    return _misfit(detail, {**_EVIDENCE, **_USAGE}, "detail.")


def end_misfit(line: JsonObject) -> str | None:
    """What is wrong with the form of the last line, the result aside."""
    detail = line.get("detail", {})
    if not isinstance(detail, dict):
        return "detail must be an object"
    return _misfit(detail, {"stopped": (_counts, "a list of seats")}, "detail.")
