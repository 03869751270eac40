"""Results of many matches as arrays, one for each column, so that tables of a million matches take a second or two.

`kept` stores them, `tallies` counts them.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec
import numpy as np

from warpleague.match import zstd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from warpleague.league.season.fixture import Fixture
    from warpleague.league.season.played_match import StoredMatch

    Array = NDArray[Any]

BLOCK: Final = 65_536
"""Matches that are counted at once."""
_AT_ONCE: Final = 10_000  # matches that are Python objects at the same time
_MAX_BYTES: Final = 1 << 28  # of one part of a chunk, unpacked
TIMES: Final = ("decisions", "wall_ms", "cpu_ms", "wait_ms", "longest_ms")
"""What the last axis of the column `times` has, in this order: the fields of `SeatTimes`."""

_FORMS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "results": {
        "number": ("<i4", ""),
        "group": ("<i4", ""),
        "seats": ("<i2", "k"),
        "ranks": ("<i2", "k"),
        "scores": ("<f8", "k"),
        "rival": ("<f8", ""),  # not a number: there is none
        "faults": ("<i4", "k"),
        "confinement": ("<i4", ""),  # -1: not noted
    },
    "matches": {
        "id": ("S20", ""),
        "deal": ("<i8", ""),
        "lines": ("<i4", ""),
        "elapsed_s": ("<f8", ""),
        "why": ("<i4", ""),  # an index into the texts of the chunk
    },
    "times": {"times": ("<f8", "k5")},
}
"""The columns of each part: type, and what one match has: one value, one for each seat, or five for each seat."""

PARTS: Final = tuple(_FORMS)
"""The parts in which columns are stored and read: few tables need all of them."""


class Damaged(ValueError):
    """Stored columns that cannot be read."""


@attrs.frozen(slots=False, eq=False)
class Columns:
    """Matches in schedule order.

    `values` has the columns by name: arrays whose first axis is the matches, the second, if any, the seats. They are
    those of the parts that were read: "results" has `number`, `group` and `seats` of the fixture, `ranks`, `scores`,
    `rival`, `faults` (how many), `confinement`; "matches" has `id`, `deal`, `lines`, `elapsed_s`, `why` (an index into
    `texts`); "times" has `times`.
    """

    players: int
    values: Mapping[str, Array]
    texts: tuple[str, ...] = ()
    block: int = BLOCK

    def __len__(self) -> int:
        return len(self.values["number"])

    def __getattr__(self, name: str) -> Array:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None

    @cached_property
    def starts(self) -> Array:
        """The index of the first match of each group."""
        group = self.values["group"]
        return np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else np.zeros(0, np.int64)

    def blocks(self) -> Iterator[Columns]:
        """The same in parts of whole groups, about `block` matches each, so that counting one needs little memory."""
        begin = 0
        for end in block_ends(self.starts, len(self), self.block):
            yield self.only(slice(begin, end))
            begin = end

    def only(self, chosen: Array | slice) -> Columns:
        """The matches at these indices, or where a mask is true."""
        values = {name: column[chosen] for name, column in self.values.items()}
        return attrs.evolve(self, values=values)

    def without(self, bots: Iterable[int]) -> Columns:
        """The matches in which none of `bots` plays."""
        barred = list(bots)
        return self.only(np.logical_not(np.isin(self.seats, barred).any(axis=1))) if barred else self

    def part(self, *parts: str) -> Columns:
        """The columns of these parts alone."""
        wanted = {name for part in parts for name in _FORMS[part]}
        values = {name: column for name, column in self.values.items() if name in wanted}
        return attrs.evolve(self, values=values, texts=self.texts if "why" in wanted else ())

    def pack(self, part: str) -> bytes:
        """One part as the store keeps it."""
        plain: dict[str, bytes] = {
            name: np.ascontiguousarray(self.values[name].T, form).tobytes()
            for name, (form, _) in _FORMS[part].items()
        }
        if part == "matches":
            plain["texts"] = msgspec.json.encode(self.texts)
        return zstd.compress(msgspec.msgpack.encode(plain), 3)

    def same(self, other: Columns) -> bool:
        """Whether all columns are equal to the bit, whatever the order of the texts."""
        if self.values.keys() != other.values.keys() or len(self) != len(other):
            return False
        plain = [name for name in self.values if name != "why"]
        return all(
            np.array_equal(self.values[name], other.values[name], equal_nan=name in ("rival", "scores"))
            for name in plain
        ) and [self.texts[i] for i in self.why.tolist()] == [other.texts[i] for i in other.why.tolist()]


def block_ends(starts: Array, count: int, block: int) -> list[int]:
    """Where to cut `count` rows into blocks of whole groups, of about `block` rows each.

    `starts` has the first row of each group.
    """
    at = np.searchsorted(starts, range(block, count, block))
    return [*dict.fromkeys(starts[at[at < len(starts)]].tolist()), count]


def of_matches(matches: Iterable[tuple[Fixture, StoredMatch]], players: int) -> Columns:
    """The columns of matches that are given in schedule order; `StoreError` if one is damaged."""
    rows: dict[str, list[Any]] = {name: [] for form in _FORMS.values() for name in form}
    texts: dict[str, int] = {}
    for fixture, played in matches:
        rows["number"].append(fixture.number)
        rows["group"].append(fixture.group)
        rows["seats"].append(fixture.seats)
        rows["ranks"].append(played.ranks)
        rows["scores"].append(played.scores)
        rows["rival"].append(np.nan if played.rival is None else played.rival)
        rows["faults"].append([len(seat) for seat in played.faults])
        rows["confinement"].append(-1 if played.confinement is None else played.confinement)
        rows["id"].append(fixture.id.encode())
        rows["deal"].append(fixture.deal)
        rows["lines"].append(played.lines)
        rows["elapsed_s"].append(played.elapsed_s)
        rows["why"].append(texts.setdefault(played.why, len(texts)))
        rows["times"].append(
            [
                (used.decisions, used.wall_ms, used.cpu_ms, used.wait_ms, used.longest_ms)
                for used in played.times
            ]
        )
    count = len(rows["number"])
    values = {
        name: np.array(rows[name], form).reshape(_shape(shape, count, players))
        for part in _FORMS.values()
        for name, (form, shape) in part.items()
    }
    return Columns(players, values, tuple(texts))


def gathered(matches: Iterable[tuple[Fixture, StoredMatch]], players: int, parts: Sequence[str]) -> Columns:
    """The same for many matches, and only these parts: in less memory."""
    return joined(in_parts(matches, players, parts), players).part(*parts)


def in_parts(
    matches: Iterable[tuple[Fixture, StoredMatch]], players: int, parts: Sequence[str]
) -> Iterator[Columns]:
    """The same, some thousand matches after the other."""
    source = iter(matches)
    while some := list(islice(source, _AT_ONCE)):
        yield of_matches(some, players).part(*parts)


def joined(parts: Iterable[Columns], players: int, expected: int = 0) -> Columns:
    """Several columns as one, in schedule order; of an iterator, memory holds one besides the whole.

    `expected` is about how many matches they have. Room for so many is set aside at once, which takes no memory
    before it is used; arrays that grow leave gaps.
    """
    texts: dict[str, int] = {}
    values: dict[str, Array] = {}
    count = 0
    for part in parts:
        end = count + len(part)
        if end > expected:  # others may have stored some since they were counted
            expected = max(end, 2 * expected)
            values = {name: np.resize(of, (expected, *of.shape[1:])) for name, of in values.items()}
        for name, column in part.values.items():
            if name == "why":
                known = np.array([texts.setdefault(text, len(texts)) for text in part.texts], "<i4")
                column = known[column] if len(column) else column
            if name not in values:
                values[name] = np.empty((expected, *column.shape[1:]), column.dtype)
            values[name][count:end] = column
        count = end
    if not values:
        return of_matches((), players)
    whole = Columns(players, {name: column[:count] for name, column in values.items()}, tuple(texts))
    number = whole.number
    if count and not (number[1:] > number[:-1]).all():
        return whole.only(np.argsort(number, kind="stable"))
    return whole


def unpack(parts: Mapping[str, bytes], players: int) -> Columns:
    """The columns of stored parts; `Damaged` if they are not what `pack` makes."""
    values: dict[str, Array] = {}
    texts: tuple[str, ...] = ()
    count: int | None = None
    try:
        for part, packed in parts.items():
            plain = msgspec.msgpack.decode(
                zstd.decompress(packed, _MAX_BYTES) if isinstance(packed, bytes) else b"",
                type=dict[str, bytes],
            )
            for name, (form, shape) in _FORMS[part].items():
                column = np.frombuffer(plain[name], form)
                each = int(np.prod(_shape(shape, 1, players)))
                count = len(column) // each if count is None else count
                whole = _shape(shape, count, players)
                values[name] = column.reshape(whole[::-1]).T
            if part == "matches":
                texts = tuple(msgspec.json.decode(plain["texts"], type=list[str]))
                if count and not (values["why"].min() >= 0 and values["why"].max() < len(texts)):
                    raise Damaged("why")
    except (msgspec.MsgspecError, zstd.ZstdError, KeyError, ValueError, MemoryError) as error:
        raise Damaged(str(error)) from None
    return Columns(players, values, texts)


def _shape(shape: str, count: int, players: int) -> tuple[int, ...]:
    return {"": (count,), "k": (count, players), "k5": (count, players, len(TIMES))}[shape]
