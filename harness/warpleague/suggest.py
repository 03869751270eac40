"""Suggests what was meant: the known name that is nearest to an unknown one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_KNOWN = 12  # names listed in a message; nobody reads more


def nearest(name: str, known: Iterable[str], none: str = "none is allowed here") -> str:
    """A hint after an unknown `name`: the nearest of the `known` ones, else those (or `none`)."""
    from difflib import get_close_matches

    choices = list(known)
    close = get_close_matches(name, choices, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    more = f" and {len(choices) - _MAX_KNOWN} more" if len(choices) > _MAX_KNOWN else ""
    return f"known: {', '.join(choices[:_MAX_KNOWN])}{more}" if choices else none


def nearest_path(path: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """A hint for a `path` where nothing is: the `known` one with the nearest name; empty if none is near.

    `likeness`, from 0 to 1, is the least that two names must have in common.

    Only the last parts are compared, and those without `.toml`, which all league files have in common.
    """
    from difflib import get_close_matches

    choices = {_last(name): name for name in reversed(list(known))}
    close = get_close_matches(_last(path), choices, n=1, cutoff=likeness)
    return f"did you mean {choices[close[0]]!r}?" if close else ""


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].removesuffix(".toml")
