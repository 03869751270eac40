"""Checks whether a JSON value fits a message class: nothing is converted, and every error has a path.

Bytes, duplicate keys and nesting are checked in `codec`.
"""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn

from warpline.messages import Bounds, JsonObject, MaxBytes, Range

if TYPE_CHECKING:
    from collections.abc import Callable

    from cattrs.converters import BaseConverter

    StructureHook: TypeAlias = Callable[[Any, Any], Any]

T = TypeVar("T")

_JSON_NAMES: dict[type, str] = {
    bool: "a boolean",
    int: "an integer",
    float: "a number with a fraction",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


class MisfitError(ValueError):
    """A value that does not fit; the text says what was expected."""


def _expect(value: Any, kind: type) -> Any:
    # `type(...) is`, not isinstance: true is no integer, although Python's bool is one.
    if type(value) is not kind:
        raise MisfitError(
            f"expected {_JSON_NAMES[kind]}, got {_JSON_NAMES.get(type(value), 'something else')}"
        )
    return value


def _exactly(kind: type) -> Any:
    return lambda value, _: _expect(value, kind)


def _number(value: Any, _: Any) -> float:
    if type(value) is int:
        return float(value)
    if type(value) is float:
        return value
    raise MisfitError(f"expected a number, got {_JSON_NAMES.get(type(value), 'something else')}")


def _annotated(value: Any, kind: Any) -> Any:
    base, *marks = get_args(kind)
    value = _number(value, base) if base is float else _expect(value, base)
    for mark in marks:
        if isinstance(mark, Bounds) and not mark.least <= value <= mark.greatest:
            raise MisfitError(f"expected an integer from {mark.least} to {mark.greatest}, got {value}")
        if isinstance(mark, Range) and not mark.least <= value <= mark.greatest:
            raise MisfitError(f"expected a number from {mark.least:g} to {mark.greatest:g}, got {value:g}")
        # A text has at most as many characters as bytes: only long ones need encoding.
        if isinstance(mark, MaxBytes) and (
            len(value) > mark.size or len(value.encode(errors="surrogatepass")) > mark.size
        ):
            raise MisfitError(f"expected at most {mark.size} bytes of UTF-8")
    return value


def _literal(value: Any, kind: Any) -> Any:
    if type(value) is not str or value not in get_args(kind):
        raise MisfitError(f"expected one of {', '.join(get_args(kind))}")
    return value


def _tuple_hook(kind: Any, converter: BaseConverter) -> StructureHook:
    item = get_args(kind)[0]
    inner = converter.get_structure_hook(item)

    def structure(value: Any, _: Any) -> tuple[Any, ...]:
        found = []
        for index, part in enumerate(_expect(value, list)):
            try:
                found.append(inner(part, item))
            except MisfitError as error:
                raise MisfitError(f"item {index}: {error}") from None
        return tuple(found)

    return structure


def _base(kind: Any) -> type:
    """The class of the values that `kind`, annotated or parametrised, describes."""
    origin: Any = get_origin(kind)
    found: type = get_args(kind)[0] if origin is Annotated else origin or kind
    return found


def _union(value: Any, kind: Any) -> Any:
    for member in get_args(kind):
        if type(value) is _base(member):
            return _converter.structure(value, member)
    expected = " or ".join(_JSON_NAMES[_base(member)] for member in get_args(kind))
    raise MisfitError(f"expected {expected}, got {_JSON_NAMES.get(type(value), 'something else')}")


def _is_kind(*origins: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) in origins


def _is_plain_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and type(None) not in get_args(kind)


def _class_hook(kind: Any, converter: BaseConverter) -> StructureHook:
    inner: Any = make_dict_structure_fn(kind, converter)
    optional = frozenset(a.name for a in attrs.fields(kind) if a.default is not attrs.NOTHING)

    def structure(value: Any, _: Any) -> Any:
        _expect(value, dict)
        return inner({k: v for k, v in value.items() if v is not None or k not in optional}, kind)

    return structure


def _make_converter() -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=True)
    for kind in (bool, int, str):
        converter.register_structure_hook(kind, _exactly(kind))
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook_func(lambda kind: kind == JsonObject, _exactly(dict))
    converter.register_structure_hook_func(_is_kind(Annotated), _annotated)
    converter.register_structure_hook_func(_is_kind(Literal), _literal)
    converter.register_structure_hook_func(_is_plain_union, _union)
    converter.register_structure_hook_factory(_is_kind(tuple), _tuple_hook)
    converter.register_structure_hook_factory(attrs.has, _class_hook)
    return converter


def _tell(error: BaseException, _: type | None) -> str:
    return "the field is missing" if isinstance(error, KeyError) else str(error)


def fit(value: object, kind: type[T]) -> T:
    """`value`, made of dicts, lists and scalars, as a `kind`; `MisfitError` names every place that does not fit."""
    try:
        return _converter.structure(value, kind)
    except cattrs.BaseValidationError as error:
        wrong = cattrs.transform_error(error, path="", format_exception=_tell)
        raise MisfitError("; ".join(_place(line) for line in wrong)) from None


def _place(line: str) -> str:
    told, _, path = line.rpartition(" @ ")
    return f"{path.lstrip('.') or 'message'}: {told}"


_converter = _make_converter()
