"""The limits on the wire: sizes of lines and messages, what the fields of messages and files may hold, faults."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import attrs

PROTOCOL: Final = 1
"""The version of the protocol; both sides say it in `hello`."""

MAX_LINE: Final = 64 * 1024
"""Bytes of a line from a bot, its newline not counted."""

MAX_DEPTH: Final = 32
"""Levels of nesting, the message itself being the first."""

MAX_INT: Final = 2**53 - 1
"""The largest magnitude of an integer: every language's doubles hold it exactly (RFC 8259, section 6)."""

NOTE_BYTES: Final = 1024
"""Bytes of an answer's `note` in UTF-8, where the start message does not allow more."""

MAX_NOTE_BYTES: Final = 16 * 1024
"""The most that a start message may allow."""

MAX_COST: Final = 1_000_000
"""The greatest `cost` in an answer's `usage`."""

NAME_BYTES: Final = 256
"""Bytes of the `name` and of the `version` a bot says in `hello`, in UTF-8."""

STDERR_KEPT: Final = 64 * 1024
"""Bytes of a bot's stderr that are stored, half from its head and half from its tail."""

STDERR_READ: Final = 16 * 1024 * 1024
"""Bytes of a bot's stderr that are read at all; a bot that writes more blocks."""


# -- bounds ----------------------------------------------------------------------------------------------
# Which fields are keys, and which values they may have besides their type: ranges, lengths of texts, nulls.


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


# -- faults ----------------------------------------------------------------------------------------------
# The kinds of fault that a bot can be charged with, apart from the messages, which take long to load.


FaultKind: TypeAlias = Literal[
    "startup", "timeout", "crash", "malformed", "illegal", "flood", "memory", "protocol", "service"
]
