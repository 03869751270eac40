"""The fields of option classes: each with its default, the values it may have and a text that explains it."""

from __future__ import annotations

from typing import Any

import attrs


def switch(default: bool, text: str) -> Any:
    """An option that is true or false."""
    return attrs.field(default=default, validator=attrs.validators.instance_of(bool), metadata={"help": text})


def whole(default: int, low: int, high: int, text: str) -> Any:
    """An option that is a whole number from `low` to `high`."""

    def check(_: Any, field: attrs.Attribute[int], value: object) -> None:
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{field.name} must be a whole number from {low} to {high}, not {value!r}")

    asked = {"minimum": low, "maximum": high}  # as `in_schema` of warpline.bounds, which no game knows
    return attrs.field(default=default, validator=check, metadata={"help": text, "schema": asked})


def choice(default: str | None, values: tuple[str | None, ...], text: str) -> Any:
    """An option that is one of `values`."""
    return attrs.field(default=default, validator=attrs.validators.in_(values), metadata={"help": text})


def free(kind: type, text: str) -> Any:
    """An option of type `kind`, by default None; the game looks at the value itself."""
    optional = attrs.validators.optional(attrs.validators.instance_of(kind))
    return attrs.field(default=None, validator=optional, metadata={"help": text})
