"""Results of many matches as arrays, one for each column, read from the store or made of single matches."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from warpleague.league.season.fixture import MAX_NUMBER, TIMES, Fixture, StoredMatch

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

BLOCK: Final = 65_536
"""Matches that are counted at once."""
_MAX_SCHEDULED: Final = (1 << 31) - 1
"""The greatest number of a match in the schedule that a column holds."""
_SEATS: Final = 65_536  # more than a table has
_AT_ONCE: Final = 10_000  # matches that are Python objects at the same time
_FORMS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "results": {
        "number": ("<i4", ""),
        "group": ("<i4", ""),
        "seats": ("<i2", "k"),
        "ranks": ("<i2", "k"),
        "scores": ("<f8", "k"),
        "rival": ("<f8", ""),  # not a number: there is none
        "faults": ("<i4", "k"),
    },
    "matches": {
        "id": ("S20", ""),
        "deal": ("<i8", ""),
        "lines": ("<i4", ""),
        "elapsed_s": ("<f8", ""),
        "why": ("<i4", ""),  # an index into the texts
        "confinement": ("<i4", ""),  # -1: not noted
    },
    "times": {"times": ("<f8", "k5")},
}
"""The columns of each part: type, and what one match has: one value, one for each seat, or five for each seat."""

PARTS: Final = tuple(_FORMS)
"""The parts in which columns are read: few tables need all of them."""

# numpy takes no NULL: infinity stands for a rival that is not there until the values are checked.
_OF_MATCH: Final = {
    "number": "number",
    "group": "cluster",
    "rival": "coalesce(rival, 9e999)",
    "confinement": "coalesce(confinement, -1)",
    "id": "CAST(id AS BLOB)",
    "deal": "deal",
    "lines": "lines",
    "elapsed_s": "elapsed_s",
    "why": "why",
}
_OF_SEAT: Final = {
    "seats": ("bot",),
    "ranks": ("rank",),
    "scores": ("score",),
    "faults": ("faults",),
    "times": TIMES,
}
"""Where each column is in the tables `match` and `seat`, in SQL."""


class Damaged(ValueError):
    """Stored results that make no sense."""


@attrs.frozen(slots=False, eq=False)
class Columns:
    """Matches in schedule order.

    `values` has the columns by name: arrays whose first axis is the matches, the second, if any, the seats. They are
    those of the parts that were read: "results" has `number`, `group` and `seats` of the fixture, `ranks`, `scores`,
    `rival`, `faults` (how many); "matches" has `id`, `deal`, `lines`, `elapsed_s`, `why` (an index into `texts`),
    `confinement`; "times" has `times`.
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

    def of_bot(self, bot: int) -> Array:
        """The indices of the matches in which `bot` has a seat."""
        return np.unique(np.flatnonzero(self.seats == bot) // self.players)

    def without(self, bots: Iterable[int]) -> Columns:
        """The matches in which none of `bots` plays."""
        barred = list(bots)
        return self.only(np.logical_not(np.isin(self.seats, barred).any(axis=1))) if barred else self

    def part(self, *parts: str) -> Columns:
        """The columns of these parts alone."""
        wanted = {name for part in parts for name in _FORMS[part]}
        values = {name: column for name, column in self.values.items() if name in wanted}
        return attrs.evolve(self, values=values, texts=self.texts if "why" in wanted else ())

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

    `expected` is about the number of matches. Room for them is reserved at once, which takes no memory
    before it is used; arrays that grow leave gaps.
    """
    texts: dict[str, int] = {}
    values: dict[str, Array] = {}
    count = 0
    for part in parts:
        end = count + len(part)
        # To join all parts at the end would need them and the whole at the same time.
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


def stored(
    db: sqlite3.Connection, bots: Mapping[int, int], players: int, parts: Sequence[str]
) -> Iterator[Columns]:
    """The matches that have a number in the schedule, in its order, some ten thousand after the other.

    `bots` has the number in the season of each bot of the store, by its id there. `Damaged` where a row makes no
    sense.
    """
    last = db.execute("SELECT max(number) FROM match").fetchone()[0] or 0
    if type(last) is not int or last > _MAX_SCHEDULED:
        raise Damaged(f"numbers of matches must be whole numbers up to {_MAX_SCHEDULED}")
    owners = np.full(max(bots, default=0) + 1, -1)
    for number, bot in bots.items():
        owners[number] = bot
    for begin in range(0, last, BLOCK):
        try:
            stored_columns = _stored(db, owners, players, parts, (begin + 1, begin + BLOCK))
        except (ValueError, TypeError, OverflowError) as error:
            raise Damaged(str(error)) from None
        if len(stored_columns):
            yield stored_columns


def _stored(
    db: sqlite3.Connection, owners: Array, players: int, parts: Sequence[str], numbers: tuple[int, int]
) -> Columns:
    """Those with these numbers, the first and the last one."""
    wanted = [name for part in PARTS if part in parts for name in _FORMS[part]]
    names = [name for name in wanted if name in _OF_MATCH]
    form = np.dtype([("key", "<i8"), *((name, "O" if name == "why" else _form(name)) for name in names)])
    listed = ", ".join(_OF_MATCH[name] for name in names)
    rows = db.execute(
        f"SELECT key, {listed} FROM match WHERE number BETWEEN ? AND ? ORDER BY number", numbers
    )
    texts: dict[str, int] = {}
    matches = np.fromiter(rows, form)
    values: dict[str, Array] = {name: matches[name] for name in names}
    if "why" in names:
        values["why"] = np.array([texts.setdefault(why, len(texts)) for why in values["why"].tolist()], "<i4")
    count, key = len(matches), matches["key"]
    fields = {
        field: "<f8" if name in ("times", "scores") else "<i8"
        for name in wanted
        for field in _OF_SEAT.get(name, ())
    }
    if count:
        # A run stores matches about in the order of their numbers, so the seats of a block are mostly one range of
        # keys, which is read in one go. After a merge or a change of the format they may lie anywhere.
        near = int(key.max()) - int(key.min()) < 2 * count
        bounds = (int(key.min()), int(key.max())) if near else numbers
        where = "BETWEEN ? AND ?" if near else "IN (SELECT key FROM match WHERE number BETWEEN ? AND ?)"
        # Match and seat as one number: the fewer values a row has, the sooner it is read.
        form = np.dtype([("seat", "<i8"), *fields.items()])
        listed = ", ".join((f"match * {_SEATS} + seat", *fields))
        query = f"SELECT {listed} FROM seat WHERE match {where} ORDER BY match, seat"
        seats = np.fromiter(db.execute(query, bounds), form)
        order = np.argsort(key, kind="stable")
        if len(seats) != count * players:
            seats = seats[np.isin(seats["seat"] // _SEATS, key)]
        if not np.array_equal(seats["seat"], (key[order][:, None] * _SEATS + np.arange(players)).ravel()):
            raise Damaged("its matches have other seats than their tables")
        place = np.empty(count, np.int64)
        place[order] = np.arange(count)
        for name in wanted:
            if name in _OF_SEAT:
                column = np.stack([seats[field] for field in _OF_SEAT[name]], axis=-1)
                values[name] = column.reshape(_shape(_SHAPES[name], count, players))[place]
    else:
        values |= {name: np.zeros(_shape(_SHAPES[name], 0, players)) for name in wanted if name in _OF_SEAT}
    _check(values, owners, players)
    if "seats" in values:
        values["seats"] = owners[values["seats"].astype(np.int64)]
    if "rival" in values:
        values["rival"] = np.where(np.isinf(values["rival"]), np.nan, values["rival"])
    return Columns(
        players, {name: np.ascontiguousarray(values[name], _form(name)) for name in wanted}, tuple(texts)
    )


def _check(values: Mapping[str, Array], owners: Array, players: int) -> None:
    """Raise `Damaged` where the values of `match` and `seat` are out of bounds."""
    bounds = {"faults": (0, 1 << 30), "times": (0, MAX_NUMBER), "scores": (-MAX_NUMBER, MAX_NUMBER)}
    for name, (low, high) in bounds.items():
        if name in values and not ((values[name] >= low) & (values[name] <= high)).all():
            raise Damaged(f"{name} must be from {low} to {high}")
    if "id" in values:
        digits = np.ascontiguousarray(values["id"]).view(np.uint8)
        decimal, letter = (
            (digits >= ord("0")) & (digits <= ord("9")),
            (digits >= ord("a")) & (digits <= ord("f")),
        )
        if not (decimal | letter).all():
            raise Damaged("ids must be 20 hexadecimal digits")
    if "seats" not in values:
        return
    seats, ranks, rival = values["seats"], values["ranks"], values["rival"]
    if not ((seats >= 0) & (seats < len(owners))).all() or (owners[seats.astype(np.int64)] < 0).any():
        raise Damaged("its bots must be those of the season")
    # Alone at the table a bot may come second.
    if not ((ranks >= 1) & (ranks <= players + np.isfinite(rival)[:, None])).all():
        raise Damaged("ranks must be those of a table")
    if not ((np.abs(rival) < MAX_NUMBER) | np.isposinf(rival)).all():
        raise Damaged(f"rival must be from {-MAX_NUMBER} to {MAX_NUMBER}")


def _shape(shape: str, count: int, players: int) -> tuple[int, ...]:
    return {"": (count,), "k": (count, players), "k5": (count, players, len(TIMES))}[shape]


def _form(name: str) -> str:
    return next(form[name][0] for form in _FORMS.values() if name in form)


_SHAPES: Final = {name: shape for form in _FORMS.values() for name, (_, shape) in form.items()}
