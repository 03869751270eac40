"""Decides how values are read from the JSON of a position: each with its type, range and name for errors.

Leaves what the fields of a position are to `codec`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from warpleague.errors import PositionError

if TYPE_CHECKING:
    from collections.abc import Callable


class Fields:
    """Reads the fields of one JSON object; `path` names it in errors."""

    def __init__(self, data: object, path: str, known: tuple[str, ...]) -> None:
        if not isinstance(data, dict):
            raise PositionError(f"{path or 'position'}: must be an object, not {data!r:.60}")
        self.data = data
        self.path = path
        for key in data:
            if key not in known:
                self.fail(str(key), f"unknown; known fields: {', '.join(known)}")

    def name(self, key: str) -> str:
        """The full name of a field, for errors."""
        return f"{self.path}.{key}" if self.path else key

    def fail(self, key: str, text: str) -> NoReturn:
        """Raise `PositionError` about the field `key`."""
        raise PositionError(f"{self.name(key)}: {text}")

    def need(self, key: str) -> Any:
        """The value of a field that must be there."""
        if key not in self.data:
            self.fail(key, "is missing")
        return self.data[key]

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number; `default`, if given, where the field is missing."""
        if key not in self.data and default is not None:
            return default
        return whole(self.need(key), self.name(key), low, high)

    def flag(self, key: str) -> bool:
        """True or false; false where the field is missing."""
        value = self.data.get(key, False)
        if type(value) is not bool:
            self.fail(key, f"must be true or false, not {value!r:.60}")
        return value

    def word(self, key: str, known: tuple[str, ...], default: str | None = None) -> str:
        """One of the words `known`."""
        value = self.need(key) if default is None else self.data.get(key, default)
        if not isinstance(value, str) or value not in known:
            self.fail(key, f"must be one of {', '.join(known)}; not {value!r:.60}")
        return value

    def rows(
        self, key: str, length: int | None, read: Callable[[object, str], Any], default: Any = None
    ) -> Any:
        """A list of `length` items (None: any number), each read by `read(item, path)`, as a tuple."""
        value = self.need(key) if default is None else self.data.get(key, default)
        return rows(value, self.name(key), length, read)


def whole(value: object, path: str, low: int, high: int) -> int:
    """`value` if it is a whole number from `low` to `high`."""
    if type(value) is not int or not low <= value <= high:
        raise PositionError(f"{path}: must be a whole number from {low} to {high}, not {value!r:.60}")
    return value


def rows(value: object, path: str, length: int | None, read: Callable[[object, str], Any]) -> tuple[Any, ...]:
    """A list of `length` items (None: any number), each read by `read(item, path)`, as a tuple."""
    if not isinstance(value, list):
        raise PositionError(f"{path}: must be a list, not {value!r:.60}")
    if length is not None and len(value) != length:
        raise PositionError(f"{path}: must have {length} items, not {len(value)}")
    return tuple(read(item, f"{path}[{i}]") for i, item in enumerate(value))


def number(low: int, high: int) -> Callable[[object, str], int]:
    """A reader of whole numbers from `low` to `high`, for `rows`."""
    return lambda value, path: whole(value, path, low, high)


def distinct(values: tuple[int, ...], path: str) -> tuple[int, ...]:
    """`values` if no number comes twice."""
    if len(set(values)) != len(values):
        raise PositionError(f"{path}: names one number twice: {list(values)}")
    return values
