"""Turns the plain data of files (TOML, JSON) into values, strictly, and says how to write what was meant.

Its callers read the files; it only names them in its errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import attrs

from warpleague.errors import ConfigError
from warpleague.text import nearest
from warpline.bounds import keys_of
from warpline.structure import Misfit, MisfitError, Path, path_text, strict_converter

T = TypeVar("T")
_SHOWN = 60  # characters of a text that is written again in an error
_SURELY = 0.8  # a key so like another one is that one, misspelt
_TABLE = "a table"  # what TOML calls an object

Tables = Mapping[str, Sequence[tuple[str, ...]]]
"""The tables in which keys belong, by the key: each table as the path of its name, `()` for the top of a file."""

Time: TypeAlias = Annotated[str, "time"]
"""A date and a time with its zone, in ISO 8601; TOML has such values without quotes, too."""


def _time(value: object, _: object) -> str:
    text = value.isoformat() if isinstance(value, datetime) else value
    with suppress(ValueError):
        if isinstance(text, str) and datetime.fromisoformat(text).tzinfo is not None:
            return text
    raise MisfitError(
        Misfit((), "must be a date and a time with its zone, such as 2026-12-28T18:00:00+00:00")
    )


_converter: Final = strict_converter()
_converter.register_structure_hook_func(lambda kind: kind == Time, _time)
_structure: Final = _converter.structure


def structure(data: object, cls: type[T], where: str, also: Tables | None = None) -> T:
    """A `cls` made of plain `data`, strictly; `where` (a file name, say) opens the text of every error.

    Unknown keys are errors. `also` are tables of keys that `cls` does not describe.

    Raises `ConfigError` with one line for each misfit: `where`, the path of the key, and what was probably meant: the
    table where a key belongs, the nearest right name, the way to write a value.
    """
    try:
        value: T = _structure(data, cls)
    except MisfitError as error:
        lines = []
        for misfit in error.misfits:
            path = path_text(misfit.path)
            lines.append(f"{where}: {path}{': ' if path else ''}{_words(misfit, cls, also or {})}")
        raise ConfigError("\n".join(lines)) from None
    return value


def place_of(key: str, cls: type, *, value: object = None, also: Tables | None = None) -> str:
    """Where a key belongs in a file that `cls` describes, as a sentence; empty if it has no such key."""
    places = sorted([*_tables(cls).get(key, ()), *(also or {}).get(key, ())], key=len)
    if not places:
        return ""
    if isinstance(value, Mapping) and "[]" not in places[0]:
        return f"write it as [{'.'.join((*places[0], key))}]"
    return f"`{key}` belongs {' or '.join(map(_place, places[:2]))}"


def _words(misfit: Misfit, cls: type, also: Tables) -> str:
    """A misfit in words, with what was probably meant; `cls` describes the whole file."""
    text, wanted, value = misfit.text(_TABLE), misfit.wanted, misfit.value
    match misfit.problem:
        case "unknown":
            return f"{text}; {_meant(str(misfit.path[-1]), value, _names(wanted), cls, also)}"
        case "missing" if attrs.has(wanted):
            keys = [field.name for field in keys_of(wanted) if field.default is attrs.NOTHING]
            return (
                f"{text}; write [{misfit.path[-1]}] and below it {' and '.join(f'{key} = ...' for key in keys)}"
                if keys
                else text
            )
        case "wrong" if attrs.has(wanted):
            return text + _as_table(misfit.path, wanted, value)
        case "wrong":
            return text + _rewritten(wanted, value)
    return text


def _meant(key: str, value: object, known: Sequence[str], cls: type, also: Tables) -> str:
    """Which key an unknown one was probably meant to be: one of the `known` keys of its table, or of another table."""
    if get_close_matches(key, known, n=1, cutoff=_SURELY):
        return nearest(key, known)
    if place := place_of(key, cls, value=value, also=also):
        return place
    if not get_close_matches(key, known, n=1):
        for near in get_close_matches(key, [*_tables(cls), *also], n=1, cutoff=_SURELY):
            return f"did you mean {near!r}? {place_of(near, cls, value=value, also=also)}"
    return nearest(key, known)


def _names(cls: type) -> list[str]:
    return [field.name for field in keys_of(cls)]


def _place(table: tuple[str, ...]) -> str:
    if not table:
        return "at the top of the file, above the first [table]"
    if "[]" in table:
        split = table.index("[]")
        inner = f"under {'.'.join(table[split + 1 :])} " if table[split + 1 :] else ""
        return f"{inner}in an entry of {'.'.join(table[:split])}"
    return f"under [{'.'.join(table)}]"


def _as_table(path: Path, cls: type, value: object) -> str:
    """How to write the table that was meant by a single value: its first key that can hold the value was meant."""
    name = ".".join(map(str, path))
    if not path or not all(isinstance(step, str) for step in path):
        return ""
    for field in keys_of(cls):
        if not isinstance(value, (list, tuple)):
            with suppress(Exception):
                kind: Any = field.type
                _structure(value, kind)
                line = f"{field.name} = {_toml(value)}"
                return f"; write [{name}] and below it {line}, or here {path[-1]} = {{ {line} }}"
    if isinstance(value, (list, tuple)) and all(isinstance(part, Mapping) for part in value):
        return f"; write [{name}], in single brackets"
    return f"; write [{name}] and below it its keys"


def _rewritten(wanted: Any, value: object) -> str:
    """How to write the value that was meant, behind a semicolon; empty if nobody can know."""
    kinds = {get_origin(kind) or kind for kind in _members(wanted)}
    if isinstance(value, str) and kinds & {int, float}:
        match = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z%]*)\s*", value)
        if match and match[2] in ("", "s", "sec", "seconds"):
            return f"; write it without quotes{' and unit' if match[2] else ''}: {match[1]}"
        return "; write a number without quotes and unit" if re.search(r"\d", value) else ""
    if isinstance(value, str) and bool in kinds:
        return "; write true or false, without quotes"
    if isinstance(value, str) and Literal in kinds:
        texts = [choice for choice in get_args(wanted) if isinstance(choice, str)]
        return "".join(f"; did you mean {near!r}?" for near in get_close_matches(value.lower(), texts, n=1))
    if kinds & {list, tuple, frozenset}:
        if isinstance(value, str):
            return f"; write it in brackets: [{_toml(value)}]" if len(value) <= _SHOWN else ""
        return "; write a list in brackets: [ ... ]" if isinstance(value, Mapping) else ""
    if str in kinds and isinstance(value, (bool, int, float)) and abs(value) < 10**_SHOWN:
        return f'; write it in quotes: "{_toml(value)}"'
    return ""


def _members(kind: Any) -> tuple[Any, ...]:
    """The types that a union may have, without their annotations; any other type alone."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return tuple(get_args(member)[0] if get_origin(member) is Annotated else member for member in members)


@cache
def _tables(cls: type) -> dict[str, list[tuple[str, ...]]]:
    """The tables in which each key of a class and of the classes in it belongs."""
    tables: dict[str, list[tuple[str, ...]]] = {}

    def walk(cls: Any, table: tuple[str, ...]) -> None:
        attrs.resolve_types(cls)
        for field in keys_of(cls):
            tables.setdefault(field.name, []).append(table)
            for inner, more in _classes_in(field.type):
                walk(inner, (*table, field.name, *more))

    walk(cls, ())
    return tables


def _classes_in(kind: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """The attrs classes in a type, and how their place is written after the key: `[]` in a list or table."""
    if attrs.has(kind):
        yield kind, ()
    elif get_origin(kind) not in (Literal, Annotated):
        more = () if get_origin(kind) in (Union, UnionType) else ("[]",)
        for part in get_args(kind):
            for inner, place in _classes_in(part):
                yield inner, (*more, *place)


def _toml(value: object) -> str:
    """A single value as it is written in TOML."""
    return json.dumps(value, ensure_ascii=False)  # texts, numbers and truth look alike in both
