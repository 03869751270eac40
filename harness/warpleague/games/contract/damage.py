"""The JSON side of the contract suite: whether a value is plain JSON, and how it can be damaged."""

from __future__ import annotations

import copy
import json
import math
from typing import TYPE_CHECKING, Any, Final

from warpline.structure import MisfitError, strict_converter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_JUNK: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 7, 10**9, 1.0, -0.5, "", "0", "N", "no such thing", "\u2603", [], [0],
    [1, 2], [[1, 1]], {}, {"do": "move"},
)  # fmt: skip
_INT_LIMIT = 1 << 53
_structure: Final = strict_converter().structure


def dumps(value: Any) -> str:
    """The canonical JSON text of `value`: keys sorted, no spaces; 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def json_misfit(value: Any, *, floats: bool, path: str = "$") -> str | None:
    """The part of `value` that is not plain JSON (tuples, keys that are no strings, NaN, huge integers), or None."""
    if value is None or type(value) in (bool, str):
        return None
    if type(value) is int:
        return None if abs(value) < _INT_LIMIT else f"{path}: {value} has more than 53 bits"
    if type(value) is float and floats:
        return None if math.isfinite(value) else f"{path}: {value}"
    if type(value) is list:
        parts = ((f"{path}[{i}]", part) for i, part in enumerate(value))
    elif type(value) is dict:
        strange = next((key for key in value if type(key) is not str), None)
        if strange is not None:
            return f"{path}: key {strange!r} is no string"
        parts = ((f"{path}.{key}", part) for key, part in value.items())
    else:
        return f"{path}: {value!r} of type {type(value).__name__}"
    return next((misfit for at, part in parts if (misfit := json_misfit(part, floats=floats, path=at))), None)


def shape_misfit(value: Any, cls: type) -> str | None:
    """Where plain JSON is not what the attrs class `cls` describes, or None."""
    try:
        _structure(value, cls)
    except MisfitError as error:
        return str(error)
    return None


def mutants(action: dict[str, Any], foreign: list[Any], rng: Random, count: int) -> Iterator[Any]:
    """`count` JSON values made from a legal action: keys lost, added or changed, or other things."""
    for _ in range(count):
        kind = rng.randrange(8)
        data = copy.deepcopy(action)
        if kind == 0:
            yield rng.choice((*_JUNK, [data], json.dumps(data)))
        elif kind == 1 and foreign:
            yield copy.deepcopy(rng.choice(foreign))
        elif kind == 2:
            del data[rng.choice(list(data))]
            yield data
        elif kind == 3:
            data[rng.choice(("", "extra", "ship", "at", "seat"))] = rng.choice(_JUNK)
            yield data
        else:
            _damage(data, rng)
            yield data


def corruptions(position: Any, rng: Random, count: int) -> Iterator[Any]:
    """`count` copies of a position's JSON, each damaged in one or two places."""
    for _ in range(count):
        data = [copy.deepcopy(position)]
        for _ in range(rng.choice((1, 1, 2))):
            _damage(data[0], rng)
        yield data[0]


def _damage(data: Any, rng: Random) -> None:
    """Change one place in a JSON container."""
    places: list[tuple[Any, Any]] = []
    pending = [data]
    while pending:
        part = pending.pop()
        keys = part if isinstance(part, dict) else range(len(part))
        for key in keys:
            places.append((part, key))
            if isinstance(part[key], (dict, list)):
                pending.append(part[key])
    if not places:
        return
    holder, key = rng.choice(places)
    value = holder[key]
    kind = rng.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif kind == 2 and type(value) is int:
        holder[key] = value + rng.choice((-2, -1, 1, 2))
    elif kind == 3 and type(value) is int:
        holder[key] = rng.choice((float(value), str(value), bool(value), [value]))
    elif kind == 4:
        other, where = rng.choice(places)
        holder[key] = copy.deepcopy(other[where])
    else:
        holder[key] = copy.deepcopy(rng.choice(_JUNK))
