"""The kinds of fault that a bot can be charged with, apart from the messages, which take long to load."""

from __future__ import annotations

from typing import Literal, TypeAlias

FaultKind: TypeAlias = Literal[
    "startup", "timeout", "crash", "malformed", "illegal", "flood", "memory", "protocol", "service"
]
