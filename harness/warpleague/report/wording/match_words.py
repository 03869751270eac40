"""Puts the conditions, scores and outcome of a match into words.

All text that comes from outside is made safe to show here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.counts import counted
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LIMITS: Final = {"move_s": "a decision", "bank_s": "for the match", "increment_s": "more each decision"}

BUSY_SHARE: Final = 0.1
"""The host counts as busy if a bot waited for a processor for more than this share of its time."""

Rows = list[tuple[str, str]]


def one_line(text: object) -> str:
    """Any text on one line, with nothing in it that is not to be seen."""
    return safe(str(text), keep="")


def number(value: float) -> str:
    """A score as it is read: whole numbers without a point, others with two digits after it at most."""
    return f"{round(value, 2):,.10g}"


def conditions(header: Mapping[str, Any], clock: Mapping[str, Any]) -> dict[str, str]:
    """The conditions of matches, from the keys of a record's header; `clock` may lack limits."""
    limits = [f"{clock[name]:g} s {text}" for name, text in _LIMITS.items() if clock.get(name) is not None]
    options = [
        f"{name} {_option_text(value)}" for name, value in header["options"].items() if value is not None
    ]
    return {
        "game": one_line(f"{header['game']}, rules version {header['rules']}"),
        "options": one_line(", ".join(options) or "none"),
        "clock": ", ".join(limits) or "none",
        "faults": one_line(
            header["faults"] + _strikes(header["strikes"]) + _asked_again(header) + _failures(header)
        ),
        "level": one_line(header["level"]),
    }


def _strikes(count: int) -> str:
    return f", {counted(count, 'strike')}" if count else ""


def _asked_again(header: Mapping[str, Any]) -> str:
    count = header.get("again", 0)
    return f", illegal actions asked again {counted(count, 'time')}" if count else ""


def _failures(header: Mapping[str, Any]) -> str:
    """How often a bot may say that its service failed."""
    parts = [(header.get("failures", 0), "asked again"), (header.get("void", 0), "matches of a bot void")]
    texts = [f"{text} {counted(count, 'time')}" for count, text in parts if count]
    return f", after failures of services {' and '.join(texts)}" if texts else ""


def _option_text(value: object) -> str:
    """The value of an option as a league file has it; a table by its keys only."""
    if isinstance(value, dict):
        return f"of {', '.join(map(str, value))}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def labels(names: Sequence[str]) -> list[str]:
    """The names of the bots of a match, with the seat where several have the same."""
    return [f"{name} #{seat}" if names.count(name) > 1 else name for seat, name in enumerate(names)]


def placing(ranks: Sequence[int], seat: int) -> str:
    """The place of a seat among several as an ordinal, such as `2nd` or `1st, shared`; empty for a seat alone."""
    if len(ranks) == 1:
        return ""
    rank = ranks[seat]
    ending = "th" if 10 < rank < 14 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}" + (", shared" if ranks.count(rank) > 1 else "")


def outcome(
    names: Sequence[str], ranks: Sequence[int], scores: Sequence[float], rival: float | None, why: str
) -> str:
    """Who has won, in one sentence, the winner first and each score beside its name, and why it ended.

    `names` are those that distinguish the bots of the match.
    """
    order = sorted(range(len(names)), key=lambda seat: ranks[seat])
    first = [names[seat] for seat in order if ranks[seat] == 1]
    if rival is not None:
        verb = "beats the game" if ranks[0] == 1 else "does not beat the game"
        text = f"{names[0]} {verb}, {number(scores[0])} to {number(rival)}"
    elif len(names) == 1:
        text = f"{names[0]} reaches {number(scores[0])}"
    elif len(names) == 2 and len(first) == 1:
        text = f"{first[0]} wins, {' : '.join(number(scores[seat]) for seat in order)}"
    else:
        behind = ", ".join(f"{names[seat]} {number(scores[seat])}" for seat in order if ranks[seat] > 1)
        best = number(scores[order[0]])
        whole = first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"
        verb = f"wins with {best}" if len(first) == 1 else f"share the first place with {best}"
        text = f"{whole} {verb}" + (f"; {behind}" if behind else "")
    return f"{text} ({one_line(why)})"
