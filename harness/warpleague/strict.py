"""The one strict converter from plain data (TOML, JSON) to values; it refuses everything that does not fit exactly.

Its callers read the files; it only names them in its errors.
"""

from __future__ import annotations

import json
import math
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn

from warpleague.errors import ConfigError
from warpleague.suggest import nearest

T = TypeVar("T")
_Hook = Callable[[Any, Any], Any]
_BOUND = re.compile(r"'(\w+)' must be (>=|>|<=|<) (\S+): (\S+)")
_SHOWN = 60  # characters of a text in an error
_SURELY = 0.8  # a key so like another one is that one, misspelt
_SIGNS = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}


@attrs.frozen
class _UnknownKey:
    """What is wrong with a key that its table does not have: it may belong into another one."""

    key: str
    known: tuple[str, ...]
    value: object


@attrs.frozen
class _NoTable:
    """What is wrong with a value where a table must be; the table's first key that can hold the value was meant."""

    cls: type
    value: object

    def __str__(self) -> str:
        return f"must be a table, not {_shown(self.value)}"


_Problem = str | _UnknownKey | _NoTable


class _Misfit(Exception):
    """Values that do not fit: a list of (path, problem), the path relative to where it was raised."""

    def __init__(self, *problems: tuple[tuple[str | int, ...], _Problem]) -> None:
        super().__init__(problems)
        self.problems = problems

    def under(self, step: str | int) -> list[tuple[tuple[str | int, ...], _Problem]]:
        return [((step, *path), problem) for path, problem in self.problems]


Tables = Mapping[str, Sequence[tuple[str, ...]]]
"""The tables in which keys belong, by the key: each table as the path of its name, `()` for the top of a file."""


def structure(data: object, cls: type[T], where: str, also: Tables | None = None) -> T:
    """A `cls` made of plain `data`; `where` (a file name, say) opens the text of every error.

    Nothing is converted on the way: `"5"`, `3.9` and `true` are no int, None is no str, a text is no list.
    Only a whole number is taken where a float is asked for. Unknown keys are errors. `also` are tables of keys that
    `cls` does not describe.

    Raises `ConfigError` with one line for each misfit: `where`, the path of the key, and what was probably meant: the
    table where a key belongs, the nearest right name, the way to write a value.
    """
    try:
        value: T = _CONVERTER.structure(data, cls)
    except _Misfit as misfit:
        lines = [
            f"{where}: {_path(path)}{_words(path, problem, cls, also or {})}"
            for path, problem in misfit.problems
        ]
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


def _words(path: tuple[str | int, ...], problem: _Problem, cls: type, also: Tables) -> str:
    """A problem in words; `cls` describes the whole file."""
    match problem:
        case _UnknownKey(key, known, value):
            if get_close_matches(key, known, n=1, cutoff=_SURELY):
                return f"unknown key; {nearest(key, known)}"
            if place := place_of(key, cls, value=value, also=also):
                return f"unknown key; {place}"
            if not get_close_matches(key, known, n=1):
                for near in get_close_matches(key, [*_tables(cls), *also], n=1, cutoff=_SURELY):
                    return (
                        f"unknown key; did you mean {near!r}? {place_of(near, cls, value=value, also=also)}"
                    )
            return f"unknown key; {nearest(key, known)}"
        case _NoTable(inner, value):
            return f"{problem}{_as_table(path, inner, value)}"
        case _:
            return problem


def _empty_table(field: Any) -> str:
    """How to write a table that is missing: with its required keys."""
    attrs.resolve_types(field.type)
    keys = [inner.name for inner in attrs.fields(field.type) if inner.default is attrs.NOTHING and inner.init]
    return (
        f"; write [{field.name}] and below it {' and '.join(f'{key} = ...' for key in keys)}" if keys else ""
    )


def _place(table: tuple[str, ...]) -> str:
    if not table:
        return "at the top of the file, above the first [table]"
    if "[]" in table:
        split = table.index("[]")
        inner = f"under {'.'.join(table[split + 1 :])} " if table[split + 1 :] else ""
        return f"{inner}in an entry of {'.'.join(table[:split])}"
    return f"under [{'.'.join(table)}]"


def _as_table(path: tuple[str | int, ...], cls: type, value: object) -> str:
    """How to write the table that was meant by a single value."""
    name = ".".join(map(str, path))
    if not path or not all(isinstance(step, str) for step in path):
        return ""
    for field in attrs.fields(cls):
        if field.init and not isinstance(value, (list, tuple)):
            with suppress(Exception):
                _CONVERTER.structure(value, field.type)
                line = f"{field.name} = {_toml(value)}"
                return f"; write [{name}] and below it {line}, or here {path[-1]} = {{ {line} }}"
    if isinstance(value, (list, tuple)) and all(isinstance(part, Mapping) for part in value):
        return f"; write [{name}], in single brackets"
    return f"; write [{name}] and below it its keys"


@cache
def _tables(cls: type) -> dict[str, list[tuple[str, ...]]]:
    """The tables in which each key of a class and of the classes in it belongs."""
    found: dict[str, list[tuple[str, ...]]] = {}

    def walk(cls: Any, table: tuple[str, ...]) -> None:
        attrs.resolve_types(cls)
        for field in attrs.fields(cls):
            if field.init:
                found.setdefault(field.name, []).append(table)
                for inner, more in _classes_in(field.type):
                    walk(inner, (*table, field.name, *more))

    walk(cls, ())
    return found


def _classes_in(kind: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """The attrs classes in a type, and how their place is told after the key: nothing, or `[]` in a list or table."""
    if attrs.has(kind):
        yield kind, ()
    elif not _is_literal(kind):
        more = () if _is_union(kind) else ("[]",)
        for part in get_args(kind):
            for inner, place in _classes_in(part):
                yield inner, (*more, *place)


def _toml(value: object) -> str:
    """A single value as it is written in TOML."""
    return json.dumps(value, ensure_ascii=False)  # texts, numbers and truth look alike in both


def _path(path: tuple[str | int, ...]) -> str:
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return f"{text}: " if text else ""


def _shown(value: object) -> str:
    """A value as the author of a file would recognise it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {value[:_SHOWN]!r}"
        case Mapping():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return repr(value)


def _wrong(wanted: str, value: object) -> _Misfit:
    return _Misfit(((), f"must be {wanted}, not {_shown(value)}{_rewritten(wanted, value)}"))


def _rewritten(wanted: str, value: object) -> str:
    """How to write what was probably meant, behind a semicolon; empty if nobody can know."""
    match value:
        case str() if wanted.startswith(("a number", "a whole number")):
            found = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z%]*)\s*", value)
            if found and found[2] in ("", "s", "sec", "seconds"):
                return f"; write it without quotes{' and unit' if found[2] else ''}: {found[1]}"
            return "; write a number without quotes and unit" if re.search(r"\d", value) else ""
        case str() if wanted == "true or false":
            return "; write true or false, without quotes"
        case str() if wanted == "a list":
            return f"; write it in brackets: [{_toml(value)}]" if len(value) <= _SHOWN else ""
        case Mapping() if wanted == "a list":
            return "; write a list in brackets: [ ... ]"
        case bool() | int() | float() if wanted == "a text":
            return f'; write it in quotes: "{_toml(value)}"'
    return ""


def _exactly(kind: type, wanted: str) -> _Hook:
    def hook(value: Any, _: Any) -> Any:
        # bool is a subclass of int: `type` tells them apart, isinstance does not.
        if type(value) is not kind:
            raise _wrong(wanted, value)
        return value

    return hook


def _number(value: Any, _: Any) -> float:
    if type(value) not in (int, float):
        raise _wrong("a number", value)
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        raise _Misfit(((), "must be a number of fewer digits")) from None
    if not math.isfinite(number):
        raise _wrong("a finite number", value)
    return number


def _literal(value: Any, cls: Any) -> Any:
    choices = get_args(cls)
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return choice
    meant = ""
    if isinstance(value, str):
        texts = [choice for choice in choices if isinstance(choice, str)]
        meant = "".join(f"; did you mean {near!r}?" for near in get_close_matches(value.lower(), texts, n=1))
    wanted = " or ".join(repr(choice) for choice in choices)
    raise _Misfit(((), f"must be {wanted}, not {_shown(value)}{meant}"))


def _member(value: Any, cls: type[Enum]) -> Enum:
    for member in cls:
        if type(member.value) is type(value) and member.value == value:
            return member
    raise _wrong(" or ".join(repr(member.value) for member in cls), value)


def _union(cls: Any, converter: cattrs.Converter) -> _Hook:
    kinds = get_args(cls)

    def hook(value: Any, _: Any) -> Any:
        if value is None and types.NoneType in kinds:
            return None
        misfits = []
        for kind in kinds:
            if kind is types.NoneType:
                continue
            try:
                return converter.structure(value, kind)
            except _Misfit as misfit:
                # The member whose inside is wrong was meant, not one of another shape.
                if any(path for path, _ in misfit.problems):
                    raise
                misfits.append(misfit)
        if len(misfits) == 1:
            raise misfits[0]
        texts = [str(problem) for misfit in misfits for _, problem in misfit.problems]
        raise _wrong(
            " or ".join(text.removeprefix("must be ").partition(", not ")[0] for text in texts), value
        )

    return hook


def _parts(parts: Iterable[tuple[str | int, Any, Any]], converter: cattrs.Converter) -> list[Any]:
    """The values of parts, each given as its step in the path, its plain data and its type."""
    values, problems = [], []
    for step, data, kind in parts:
        try:
            values.append(converter.structure(data, kind))
        except _Misfit as misfit:
            problems += misfit.under(step)
    if problems:
        raise _Misfit(*problems)
    return values


def _sequence(cls: Any, converter: cattrs.Converter) -> _Hook:
    origin, args = get_origin(cls) or cls, get_args(cls) or (Any,)
    build = {Sequence: tuple}.get(origin, origin)
    fixed = origin is tuple and not (len(args) == 2 and args[1] is Ellipsis) and args != (Any,)

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise _wrong("a list", value)
        if fixed and len(value) != len(args):
            raise _Misfit(((), f"must have {len(args)} entries, not {len(value)}"))
        kinds = args if fixed else (args[0],) * len(value)
        return build(_parts(zip(range(len(value)), value, kinds, strict=True), converter))

    return hook


def _table(cls: Any, converter: cattrs.Converter) -> _Hook:
    args = get_args(cls)
    kind = args[1] if args else Any

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _wrong("a table", value)
        for key in value:
            if type(key) is not str:
                raise _Misfit(((), f"keys must be texts, not {_shown(key)}"))
        values = _parts(((key, item, kind) for key, item in value.items()), converter)
        return dict(zip(value, values, strict=True))

    return hook


def _leaves(
    error: BaseException, step: str | None = None
) -> Iterable[tuple[tuple[str | int, ...], _Problem]]:
    """The misfits inside what cattrs raises: a group with a note for each attribute."""
    for note in getattr(error, "__notes__", ()):
        step = getattr(note, "name", step)
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif isinstance(error, _Misfit):
        yield from error.under(step) if step is not None else error.problems
    elif isinstance(error, (ValueError, TypeError)):  # an attrs validator
        name, text = _bound(str(error.args[0] if error.args else error))
        path = tuple(part for part in (step, name) if part is not None)
        yield path, text
    else:
        raise error


def _bound(text: str) -> tuple[str | None, str]:
    """The field and the misfit that attrs' own `ge`, `gt`, `le` and `lt` tell of; other texts as they are."""
    found = _BOUND.fullmatch(text)
    if found is None:
        return None, text
    name, sign, bound, value = found.groups()
    return name, f"must be {_SIGNS[sign]} {bound}, not {value}"


def _class(cls: Any, converter: cattrs.Converter) -> _Hook:
    attrs.resolve_types(cls)
    fields = [field for field in attrs.fields(cls) if field.init]
    known = [field.name for field in fields]
    required = [field.name for field in fields if field.default is attrs.NOTHING]
    as_tables = {field.name: _empty_table(field) for field in fields if attrs.has(field.type)}
    build = make_dict_structure_fn(cls, converter, _cattrs_detailed_validation=True)

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _Misfit(((), _NoTable(cls, value)))
        problems: list[tuple[tuple[str | int, ...], _Problem]] = [
            ((str(key),), _UnknownKey(str(key), tuple(known), value[key]))
            for key in value
            if key not in known
        ]
        missing = [name for name in required if name not in value]
        problems += [((name,), f"is required, but missing{as_tables.get(name, '')}") for name in missing]
        try:
            result = build({key: value[key] for key in value if key in known}, cls)
        except cattrs.ClassValidationError as error:
            problems += [
                problem
                for problem in _leaves(_without_missing(error))
                if not (problem[0] and problem[0][0] in missing)
            ]
        if problems:
            raise _Misfit(*problems)
        return result

    return hook


def _without_missing(error: cattrs.ClassValidationError) -> BaseExceptionGroup[Any]:
    """The group without the KeyErrors by which cattrs tells of missing keys: they are named already."""
    rest = [inner for inner in error.exceptions if not isinstance(inner, KeyError)]
    return BaseExceptionGroup(error.message, rest or [_Misfit()])


def _is_union(cls: Any) -> bool:
    return get_origin(cls) in (Union, types.UnionType)


def _is_literal(cls: Any) -> bool:
    return bool(get_origin(cls) == Literal)


def _is_sequence(cls: Any) -> bool:
    return (get_origin(cls) or cls) in (tuple, list, frozenset, set, Sequence)


def _is_table(cls: Any) -> bool:
    return (get_origin(cls) or cls) in (dict, Mapping)


def _make_converter() -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=True, forbid_extra_keys=True)
    converter.register_structure_hook_factory(attrs.has, _class)
    converter.register_structure_hook_factory(_is_sequence, _sequence)
    converter.register_structure_hook_factory(_is_table, _table)
    converter.register_structure_hook_factory(_is_union, _union)
    converter.register_structure_hook_func(_is_literal, _literal)
    converter.register_structure_hook(Enum, _member)
    converter.register_structure_hook(str, _exactly(str, "a text"))
    converter.register_structure_hook(int, _exactly(int, "a whole number"))
    converter.register_structure_hook(bool, _exactly(bool, "true or false"))
    converter.register_structure_hook(float, _number)
    return converter


_CONVERTER = _make_converter()
