"""The lines of a record as classes: which fields each line has, of which types and ranges.

Every reader may rely on it: a field that passes here can be shown, summed or given to a clock without another
check. Unknown fields are accepted, since a format may gain some; a field with a default may be absent, but not null.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

import attrs

from warpleague.match.confinement import Confinement
from warpleague.match.spec import (  # noqa: TC001 - the types of fields are read at run time
    EntrantKind,
    FaultPolicy,
    Level,
    Seconds,
)
from warpline.bounds import Bounds, Range
from warpline.faults import FaultKind  # noqa: TC001
from warpline.limits import MAX_INT
from warpline.structure import strict_converter

T = TypeVar("T")
JsonObject: TypeAlias = dict[str, Any]
Count: TypeAlias = Annotated[int, Bounds(0)]
Number: TypeAlias = Annotated[float, Range(0, MAX_INT)]
Share: TypeAlias = Annotated[float, Range(0, 1)]
Times: TypeAlias = tuple[Number, Number | None, Number | None]
"""Milliseconds of a decision: wall, processor, waiting; null where the system cannot tell."""
Yes: TypeAlias = Literal[True]

_converter: Final = strict_converter(unknown_keys=True, null="refused")


def structured(data: object, kind: type[T]) -> T:
    """A line of a record, or a part of it, as an object of the class `kind`.

    Raises `MisfitError` if it does not fit.
    """
    return _converter.structure(data, kind)


def confinement_of(header: JsonObject) -> Confinement | None:
    """How the bots were confined, from a record's header whose form was checked; None if it does not say so."""
    return structured(header["detail"], Confinement) if "detail" in header else None


# -- the header --------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Clock:
    """The time limits, in seconds; one that is absent does not limit."""

    start_s: Seconds
    move_s: Seconds | None = None
    bank_s: Seconds | None = None
    increment_s: Seconds | None = None


@attrs.frozen(kw_only=True)
class Seat:
    """Who plays a seat; `clock` is its own, instead of that of the match."""

    bot: str
    version: str
    digest: str
    kind: EntrantKind = "bot"
    clock: Clock | None = None


@attrs.frozen(kw_only=True)
class Parent:
    """The match that this one branches off from, after its line `n`."""

    digest: str
    n: Count
    seat: Count | None = None
    action: JsonObject | None = None
    redeal: str | None = None
    rolls: dict[str, Count] | None = None


@attrs.frozen(kw_only=True)
class Header:
    """The first line: all that determines the match."""

    type: ClassVar[str] = "match"
    format: Count
    id: str
    game: str
    rules: Count
    options: JsonObject
    players: Count
    seats: tuple[Seat, ...]
    clock: Clock
    level: Level
    faults: FaultPolicy
    strikes: Count
    position: JsonObject | None
    seed: str | None
    key: str | None
    harness: str
    started: str
    again: Count = 0
    failures: Count = 0
    note_bytes: Count | None = None
    parent: Parent | None = None
    detail: Confinement | None = None

    def __attrs_post_init__(self) -> None:
        if self.players != len(self.seats):
            raise ValueError("players and seats do not agree")
        if self.parent is not None and self.position is None:
            raise ValueError("a match with a parent starts from a position")  # or its dice could be chosen


# -- what happened -----------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Evidence:
    """The evidence about an answer that was not played: why, and the traces of the bot's process."""

    message: str
    line: str | None = None
    line_bytes: Number | None = None
    stderr: str | None = None
    stderr_bytes: Number | None = None
    exit: int | str | None = None
    killed_by: str | None = None
    limit_ms: Number | None = None
    extended_ms: Number | None = None
    peak_mb: Number | None = None
    ms: Number | None = None


@attrs.frozen(kw_only=True)
class Usage:
    """The cost of services for a decision, as the bot reported it."""

    input_tokens: Count
    output_tokens: Count
    cost: Number


def _check_filled(_: object, field: attrs.Attribute[Any], value: tuple[Any, ...] | None) -> None:
    if value == ():
        raise ValueError(f"{field.name} must not be empty")


@attrs.frozen(kw_only=True, slots=False)  # two classes with slots have no common subclass
class Detail:
    """The steps before an action: illegal answers and failures that led to another question; the cost of services."""

    again: tuple[Evidence, ...] | None = attrs.field(default=None, validator=_check_filled)
    failed: tuple[Evidence, ...] | None = attrs.field(default=None, validator=_check_filled)
    usage: Usage | None = None


@attrs.frozen(kw_only=True)
class FaultDetail(Detail, Evidence):
    """The evidence of a fault, and what came before it."""


@attrs.frozen(kw_only=True)
class Chance:
    """Dice were rolled: `of` has a number of sides or a list of weights for each, `outcome` an index."""

    type: ClassVar[str] = "chance"
    n: Count
    at: str | None = None
    of: tuple[Count | tuple[Count, ...], ...]
    outcome: tuple[Count, ...]


@attrs.define(kw_only=True)  # made more often than all others, and faster if it is not frozen
class Act:
    """A seat decided: `ms` is there where it was asked, else one of the marks `auto`, `substituted` and `then`."""

    type: ClassVar[str] = "act"
    n: Count
    seat: Count
    ask: str
    action: JsonObject
    ms: Times | None = None
    auto: Yes | None = None
    substituted: Yes | None = None
    then: Yes | None = None
    note: str | None = None
    value: Share | None = None
    bank_s: Number | None = None
    detail: Detail | None = None

    def __attrs_post_init__(self) -> None:
        marks = [name for name in ("auto", "substituted", "then") if getattr(self, name)]
        if len(marks) > 1:
            raise ValueError(f"only one of {', '.join(marks)} can be true")
        if marks and self.ms is not None:
            raise ValueError(f"an action with {marks[0]} took no time of its own: no ms")
        if not marks and self.ms is None:
            raise ValueError("ms is missing: it must be a list of three numbers")


@attrs.frozen(kw_only=True)
class Fault:
    """A bot broke a rule; if its seat is `retired`, it may tie with the one that went out before it."""

    type: ClassVar[str] = "fault"
    n: Count
    seat: Count
    kind: FaultKind
    retired: bool
    tied: Yes | None = None
    detail: FaultDetail

    def __attrs_post_init__(self) -> None:
        if self.tied and not self.retired:
            raise ValueError("tied must be true only of a retired seat")


@attrs.frozen(kw_only=True)
class EndDetail:
    """The seats whose bots were stopped between their decisions."""

    stopped: tuple[Count, ...] | None = None


@attrs.frozen(kw_only=True)
class End:
    """The last line but the seal: the result; `rival` is the score of the game's own opponent."""

    type: ClassVar[str] = "end"
    ranks: tuple[Count, ...]
    scores: tuple[float, ...]
    breakdown: JsonObject
    why: str
    digest: str
    rival: float | None = None
    detail: EndDetail | None = None


@attrs.frozen(kw_only=True)
class Seal:
    """The checksums of all lines before it, in base64."""

    type: ClassVar[str] = "seal"
    crc: str
