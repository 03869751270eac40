"""The largest sizes of lines and messages on the wire, which `codec` checks, and the kinds of faults."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

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


# -- faults ----------------------------------------------------------------------------------------------
# The kinds of fault that a bot can be charged with, apart from the messages, which take long to load.


FaultKind: TypeAlias = Literal[
    "startup", "timeout", "crash", "malformed", "illegal", "flood", "memory", "protocol", "service"
]
