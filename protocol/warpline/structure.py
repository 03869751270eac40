"""The one strict converter from plain data (JSON, TOML) to attrs classes; it says where the data does not fit.

Nothing is converted on the way: `"5"`, `3.9` and `true` are not an int, None is not a str, a text is not a list. Only
a whole number is taken where a float is asked for. Bytes, duplicate keys and nesting are checked by whoever parses the
text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import count, repeat
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, override

from warpline.bounds import Bounds, MaxBytes, Null, Range, keys_of
from warpline.limits import MAX_INT

StructureHook: TypeAlias = Callable[[Any, Any], Any]
Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands: keys of objects, and indices of lists."""

_SHOWN: Final = 60
"""The most characters of a text in an error."""
_HUGE: Final = 10**_SHOWN
_SCALARS: Final = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    NoneType: "null",
}
_SIGNS: Final = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}
_BOUND: Final = re.compile(r"'(\w+)' must be (>=|>|<=|<) (\S+): (\S+)")


@attrs.frozen
class Misfit:
    """One place that does not fit.

    `problem` is "wrong" (the `value` is none of the type `wanted`), "unknown" (the key is none of the class
    `wanted`), "missing" (the key is needed; its value is of the type `wanted`), or else the sentence that says it.
    """

    path: Path
    problem: str
    wanted: Any = None
    value: Any = None

    def text(self, table: str = "an object") -> str:
        """The error in words; `table` is what the author of the data calls a JSON object."""
        match self.problem:
            case "wrong":
                return f"must be {described(self.wanted, table)}, not {shown(self.value, table)}"
            case "unknown":
                return "unknown key"
            case "missing":
                return "is required, but missing"
            case sentence:
                return sentence


class MisfitError(ValueError):
    """Data that does not fit; the text tells all its `misfits`, each with its path."""

    def __init__(self, *misfits: Misfit) -> None:
        super().__init__(misfits)
        self.misfits = misfits

    def __str__(self) -> str:
        return "; ".join(f"{_before(misfit.path)}{misfit.text()}" for misfit in self.misfits)


def path_text(path: Path) -> str:
    """A path as it is written, such as `seats[0].bot`; empty for the whole."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{_key(step)}" for step in path)
    return text.removeprefix(".")


def _key(key: str) -> str:
    """A key that a stranger may have chosen: short, and without control characters."""
    return key if key.isprintable() and len(key) <= _SHOWN else ascii(key[:_SHOWN])


def _before(path: Path) -> str:
    return f"{path_text(path)}: " if path else ""


def shown(value: object, table: str = "an object") -> str:
    """A value as the author of the data would recognise it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {value[:_SHOWN]!r}"
        case Mapping():
            return table
        case list() | tuple():
            return "a list"
        case int() if abs(value) >= _HUGE:
            return "a number of many digits"  # Python refuses to write thousands of them
        case _:
            return repr(value)


def described(kind: Any, table: str = "an object") -> str:
    """The type `kind` in words; that it may be null is left out."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _marked(described(args[0], table), args[1:])
    if origin is Literal:
        return " or ".join(repr(value) if isinstance(value, str) else shown(value) for value in args)
    if origin in (Union, UnionType):
        members = [described(member, table) for member in args if member is not NoneType]
        return " or ".join(dict.fromkeys(members))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " or ".join(repr(member.value) for member in kind)
    if _is_sequence(kind):
        return "a list"
    return _SCALARS.get(kind, table)


def _marked(text: str, marks: Iterable[Any]) -> str:
    for mark in marks:
        if isinstance(mark, Range) and mark.open:
            text += f" above {mark.least:,} and below {mark.greatest:,}"
        elif isinstance(mark, (Bounds, Range)):
            text += f" from {mark.least} to {'2^53 - 1' if mark.greatest == MAX_INT else mark.greatest}"
        elif isinstance(mark, MaxBytes):
            text += f" of at most {mark.size} bytes of UTF-8"
    return text


def _wrong(kind: Any, value: Any) -> MisfitError:
    return MisfitError(Misfit((), "wrong", kind, value))


# -- hooks: one for each kind of type --------------------------------------------------------------------------


def _scalar(value: Any, kind: Any) -> Any:
    # bool is a subclass of int: `type` tells them apart, isinstance does not.
    if type(value) is not kind:
        raise _wrong(kind, value)
    return value


def _float(value: Any, kind: Any) -> float:
    if type(value) not in (int, float):
        raise _wrong(kind, value)
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        raise MisfitError(Misfit((), "must be a number of fewer digits")) from None
    if not math.isfinite(number):
        raise MisfitError(Misfit((), f"must be a finite number, not {number}"))
    return number


def _annotated(kind: Any, converter: cattrs.Converter) -> StructureHook:
    base, *marks = get_args(kind)
    inner: StructureHook = converter.get_structure_hook(base)
    allows = [_allowing(mark) for mark in marks]

    def hook(value: Any, _: Any) -> Any:
        result = inner(value, base)
        for allowed in allows:
            if not allowed(result):
                raise _wrong(kind, value)
        return result

    return hook


def _allowing(mark: Any) -> Callable[[Any], bool]:
    """Whether a value is one that an annotation allows; annotations of others allow every value."""
    if isinstance(mark, MaxBytes):
        size = mark.size
        # A text has at most as many characters as bytes: only long ones need encoding.
        return lambda text: len(text) <= size and len(text.encode(errors="surrogatepass")) <= size
    if isinstance(mark, (Bounds, Range)):
        least, greatest = mark.least, mark.greatest
        if isinstance(mark, Range) and mark.open:
            return lambda number: least < number < greatest
        return lambda number: least <= number <= greatest
    return lambda _: True


def _literal(value: Any, kind: Any) -> Any:
    for choice in get_args(kind):
        if type(choice) is type(value) and choice == value:
            return choice
    raise _wrong(kind, value)


def _member(value: Any, kind: type[Enum]) -> Enum:
    for member in kind:
        if type(member.value) is type(value) and member.value == value:
            return member
    raise _wrong(kind, value)


def _union(kind: Any, converter: cattrs.Converter) -> StructureHook:
    members = [member for member in get_args(kind) if member is not NoneType]
    hooks = [(member, converter.get_structure_hook(member)) for member in members]
    optional = len(members) < len(get_args(kind))

    def hook(value: Any, _: Any) -> Any:
        if value is None and optional:
            return None
        for member, inner in hooks:
            try:
                return inner(value, member)
            except MisfitError as error:
                # The member whose inside is wrong was meant, not one of another shape.
                if len(hooks) == 1 or any(misfit.path for misfit in error.misfits):
                    raise
        raise _wrong(kind, value)

    return hook


def _each(parts: Iterable[tuple[str | int, Any, StructureHook, Any]]) -> list[Any]:
    """The values of parts, each given as its step in the path, its plain data, and the hook of its type."""
    values, misfits = [], []
    for step, data, inner, kind in parts:
        try:
            values.append(inner(data, kind))
        except MisfitError as error:
            misfits += _under(step, error)
    if misfits:
        raise MisfitError(*misfits)
    return values


def _under(step: str | int, error: MisfitError) -> list[Misfit]:
    return [attrs.evolve(misfit, path=(step, *misfit.path)) for misfit in error.misfits]


def _sequence(kind: Any, converter: cattrs.Converter) -> StructureHook:
    origin, args = get_origin(kind) or kind, get_args(kind) or (Any, ...)
    build = tuple if origin is Sequence else origin
    fixed = origin is tuple and Ellipsis not in args
    hooks = [converter.get_structure_hook(part) for part in args if part is not Ellipsis]

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise _wrong(kind, value)
        if not fixed:
            return build(_each(zip(count(), value, repeat(hooks[0]), repeat(args[0]))))
        if len(value) != len(args):
            raise MisfitError(Misfit((), f"must have {len(args)} entries, not {len(value)}"))
        return build(_each(zip(count(), value, hooks, args)))

    return hook


def _table(kind: Any, converter: cattrs.Converter) -> StructureHook:
    part = (get_args(kind) or (str, Any))[1]
    inner = converter.get_structure_hook(part)

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _wrong(kind, value)
        if part is Any:
            return dict(value)
        return dict(zip(value, _each((key, data, inner, part) for key, data in value.items()), strict=True))

    return hook


def _class(cls: Any, converter: cattrs.Converter, null: Null) -> StructureHook:
    keys = keys_of(cls)
    others = attrs.fields_dict(cls).keys() - {field.name for field in keys}
    omitted: dict[str, Any] = {name: override(omit=True) for name in others}
    build: StructureHook = make_dict_structure_fn(cls, converter, **omitted)
    optional = {field.name: field.type for field in keys if field.default is not attrs.NOTHING}

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _wrong(cls, value)
        misfits = []
        if null != "typed" and None in value.values():
            nulls = [key for key, part in value.items() if part is None and key in optional]
            if null == "refused":
                misfits = [Misfit((key,), "wrong", optional[key]) for key in nulls]
            value = {key: part for key, part in value.items() if key not in nulls}
        try:
            result = build(value, cls)
        except cattrs.ClassValidationError as group:
            # An unknown key often explains why another one is missing, so it comes first.
            errors = sorted(
                group.exceptions, key=lambda error: not isinstance(error, cattrs.ForbiddenExtraKeysError)
            )
            misfits += [misfit for error in errors for misfit in _misfits(error, cls, value)]
        if misfits:
            raise MisfitError(*misfits)
        return result

    return hook


def _misfits(error: Exception, cls: Any, value: Mapping[str, Any]) -> Iterator[Misfit]:
    """The message of one exception that cattrs collects of a class; a note on it names the field."""
    notes = getattr(error, "__notes__", ())
    name, kind = next(((note.name, note.type) for note in notes if hasattr(note, "name")), (None, None))
    match error:
        case MisfitError():
            yield from error.misfits if name is None else _under(name, error)
        case cattrs.ForbiddenExtraKeysError():
            for key in value:
                if key in error.extra_fields:
                    yield Misfit((key,), "unknown", cls, value[key])
        case KeyError() if name is not None:
            yield Misfit((name,), "missing", kind)
        case ValueError() | TypeError():  # an attrs validator
            text = str(error.args[0] if error.args else error)
            if match := _BOUND.fullmatch(text):  # as `ge`, `gt`, `le` and `lt` of attrs write it
                name, sign, bound, given = match.groups()
                text = f"must be {_SIGNS[sign]} {bound}, not {given}"
            yield Misfit(() if name is None else (name,), text)
        case _:
            raise error


def _is_sequence(kind: Any) -> bool:
    return (get_origin(kind) or kind) in (tuple, list, frozenset, set, Sequence)


def _is_table(kind: Any) -> bool:
    return (get_origin(kind) or kind) in (dict, Mapping)


def _has_origin(*origins: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) in origins


def strict_converter(*, unknown_keys: bool = False, null: Null = "typed") -> cattrs.Converter:
    """A converter whose `structure` takes exactly what a type describes, and else raises `MisfitError`.

    With `unknown_keys` an object may have more keys than its class has fields; they are ignored. `null` is about
    nulls in fields with a default: "typed" takes one if the type has None, "refused" takes none, "absent" takes each
    as if the field were absent.
    """
    converter = cattrs.Converter(forbid_extra_keys=not unknown_keys)
    converter.register_structure_hook_factory(attrs.has, lambda cls, inner: _class(cls, inner, null))
    converter.register_structure_hook_factory(_is_sequence, _sequence)
    converter.register_structure_hook_factory(_is_table, _table)
    converter.register_structure_hook_factory(_has_origin(Union, UnionType), _union)
    converter.register_structure_hook_factory(_has_origin(Annotated), _annotated)
    converter.register_structure_hook_func(_has_origin(Literal), _literal)
    converter.register_structure_hook(Enum, _member)
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _scalar)
    converter.register_structure_hook(float, _float)
    return converter
