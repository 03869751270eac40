"""Puts trials into words, for the page of their author and for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping


def compares(new: int, old: int | None, deals: int) -> str:
    """Which versions a trial compares, by their numbers, and on how many deals; `old` is None until it begins."""
    beside = "the version that plays" if old is None else f"version {old}"
    return f"version {new} beside {beside}, {counted(deals, 'deal')}"


def outcome(state: str, matches: int, why: str | None, result: Mapping[str, Any] | None) -> str:
    """The difference between the versions in a sentence, or why there is none, or the matches played so far.

    `state`, `why` and `result` are those of a `Trial`.
    """
    if result is not None:
        return str(result.get("words"))
    if state == "failed":
        return f"not played, which does not count: {why}"
    return f"{counted(matches, 'match')} played"
