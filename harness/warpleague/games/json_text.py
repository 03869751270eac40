"""The JSON of views: written and read by msgspec, or by the standard library in a bot's folder that lacks msgspec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Part: TypeAlias = Any
"""A part of a view, ready to be put into a larger value for `encoded`."""

encoded: Callable[[Any], bytes]
"""The compact JSON, in UTF-8, of dicts with text keys, lists, tuples, scalars and parts."""
decoded: Callable[[bytes], Any]
"""The value that JSON stands for."""
part: Callable[[Any], Part]
"""The encoded form of a value, ready to be put into a larger value; without msgspec the value itself."""

try:
    import msgspec
except ImportError:
    import json

    encoded = lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()  # noqa: E731
    decoded = json.loads
    part = lambda value: value  # noqa: E731
else:
    encoded = msgspec.json.Encoder().encode
    decoded = msgspec.json.Decoder().decode
    part = lambda value: msgspec.Raw(encoded(value))  # noqa: E731
