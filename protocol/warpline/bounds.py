"""Which fields are keys, and which values they may have besides their type: ranges, lengths of texts, nulls."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import attrs

from warpline.limits import MAX_INT

Null: TypeAlias = Literal["typed", "absent", "refused"]
"""The meaning of a null in a field with a default: fine if the type has None, like no field, or a misfit."""


@attrs.frozen
class Bounds:
    """Annotation of an integer: the least and the greatest value allowed."""

    least: int = -MAX_INT
    greatest: int = MAX_INT


@attrs.frozen
class Range:
    """Annotation of a number: the least and the greatest value allowed; both excluded if the range is `open`."""

    least: float
    greatest: float
    open: bool = False


@attrs.frozen
class MaxBytes:
    """Annotation of a text: how many bytes of UTF-8 it may have."""

    size: int


NO_KEY: Final = {"no_key": True}
"""The metadata of a field that is no key of a file or message: the program sets it."""


def is_key(field: attrs.Attribute[Any]) -> bool:
    """Whether a field of a class is a key of its JSON form."""
    return field.init and "no_key" not in field.metadata


def keys_of(cls: type) -> list[attrs.Attribute[Any]]:
    """The fields of an attrs class that are keys of its JSON form."""
    return [field for field in attrs.fields(cls) if is_key(field)]


def in_schema(**keywords: Any) -> dict[str, dict[str, Any]]:
    """The metadata of a field whose own validator asks for more than its type: `keywords` say it in JSON Schema."""
    return {"schema": keywords}
