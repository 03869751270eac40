"""The one strict converter from plain data (TOML, JSON) to values; it refuses everything that does not fit exactly.

Its callers read the files; it only names them in its errors.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn

from warpleague.errors import ConfigError
from warpleague.suggest import nearest

T = TypeVar("T")
_Hook = Callable[[Any, Any], Any]
_BOUND = re.compile(r"'(\w+)' must be (>=|>|<=|<) (\S+): (\S+)")
_SIGNS = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}


class _Misfit(Exception):
    """Values that do not fit: a list of (path, text), the path relative to where it was raised."""

    def __init__(self, *problems: tuple[tuple[str | int, ...], str]) -> None:
        super().__init__(problems)
        self.problems = problems

    def under(self, step: str | int) -> list[tuple[tuple[str | int, ...], str]]:
        return [((step, *path), text) for path, text in self.problems]


def structure(data: object, cls: type[T], where: str) -> T:
    """A `cls` made of plain `data`; `where` (a file name, say) opens the text of every error.

    Nothing is converted on the way: `"5"`, `3.9` and `true` are no int, None is no str, a text is no list.
    Only a whole number is taken where a float is asked for. Unknown keys are errors.

    Raises `ConfigError` with one line for each misfit: `where`, the path of the key, the nearest right name.
    """
    try:
        value: T = _CONVERTER.structure(data, cls)
    except _Misfit as misfit:
        lines = [f"{where}: {_path(path)}{text}" for path, text in misfit.problems]
        raise ConfigError("\n".join(lines)) from None
    return value


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
            return f"the text {value[:60]!r}"
        case Mapping():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return repr(value)


def _wrong(wanted: str, value: object) -> _Misfit:
    return _Misfit(((), f"must be {wanted}, not {_shown(value)}"))


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
    if not math.isfinite(value):
        raise _wrong("a finite number", value)
    return float(value)


def _literal(value: Any, cls: Any) -> Any:
    choices = get_args(cls)
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return choice
    raise _wrong(" or ".join(repr(choice) for choice in choices), value)


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
        texts = [text for misfit in misfits for _, text in misfit.problems]
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


def _leaves(error: BaseException, step: str | None = None) -> Iterable[tuple[tuple[str | int, ...], str]]:
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
    build = make_dict_structure_fn(cls, converter, _cattrs_detailed_validation=True)

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _wrong("a table", value)
        problems: list[tuple[tuple[str | int, ...], str]] = [
            ((str(key),), f"unknown key; {nearest(str(key), known)}") for key in value if key not in known
        ]
        missing = [name for name in required if name not in value]
        problems += [((name,), "is required, but missing") for name in missing]
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
