"""Which values a field may have besides its type: ranges of numbers, lengths of texts, nulls."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

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


def in_schema(**keywords: Any) -> dict[str, dict[str, Any]]:
    """The metadata of a field whose own validator asks for more than its type: `keywords` say it in JSON Schema."""
    return {"schema": keywords}
