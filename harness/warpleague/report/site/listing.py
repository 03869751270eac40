"""The list of matches on a league's page, and the choice of matches that get a replay.

`assets/matches.js` shows the list. A long one is cut into parts, each a script that the page loads when it is wanted:
pages that are opened from a disk may load scripts, but no other files.
"""

from __future__ import annotations

import json
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from warpleague.report.site.frames import compressed_json
from warpleague.report.wording.match_words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from warpleague.league.results.details import FaultLine
    from warpleague.league.store.columns import Array, Columns

_LEVEL: Final = 5  # of compression: the highest one takes three times as long, and saves a twentieth
PART: Final = 5_000
"""Matches in one part of a list; the list of fewer matches is in the page itself."""


@attrs.frozen
class ListedMatch:
    """A match that gets a page: its number, id and deal."""

    number: int
    id: str
    deal: int


@attrs.frozen(slots=False)
class Listing:
    """All matches of the list in schedule order, as columns, with all faults, and whether the host was busy."""

    columns: Columns
    fault_lines: tuple[FaultLine, ...]
    busy: Array

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def faults(self) -> dict[int, list[tuple[int, str, int]]]:
        """Seat, kind and line of the faults of each match that has some, by its number."""
        by_match: dict[int, list[tuple[int, str, int]]] = {}
        for line in self.fault_lines:
            by_match.setdefault(line.number, []).append((line.seat, str(line.fault.kind), line.fault.n))
        return by_match

    @property
    def kinds(self) -> list[str]:
        """The kinds of faults that there are."""
        return sorted({str(line.fault.kind) for line in self.fault_lines})

    def chosen(self, most: int | None, wanted: Iterable[int] = ()) -> list[ListedMatch]:
        """The matches that get a replay, `most` at most (None: all), those whose numbers are `wanted` if they fit."""
        columns = self.columns
        places = np.searchsorted(columns.number, list(self.faults)).tolist()
        faulty = {
            place: frozenset((int(columns.seats[place, seat]), kind) for seat, kind, _ in of)
            for place, of in zip(places, self.faults.values(), strict=True)
        }
        at = choose(faulty, len(self), most)
        asked = set(np.searchsorted(columns.number, list(wanted)).tolist())
        spare = [place for place in at if place not in faulty and place not in asked][::-1]
        missing = sorted(asked - set(at))
        at = sorted({*at, *missing[: len(spare)]} - set(spare[: len(missing)]))
        parts = (columns.number[at].tolist(), columns.id[at].tolist(), columns.deal[at].tolist())
        return [ListedMatch(number, name.decode(), deal) for number, name, deal in zip(*parts, strict=True)]

    def block(
        self,
        bots: Iterable[str],
        pages: set[str],
        write: Callable[[str, bytes], None],
        picture: dict[str, Any] | None = None,
        part: int = PART,
    ) -> tuple[str, set[str]]:
        """The page's part of the list, as a block, and the names of its parts, each of which is given to `write`.

        `pages` are the ids of the matches that have a page; `picture` is for the board that the page begins with. A
        list of more than `part` matches is cut into parts of so many.
        """
        names = [one_line(name) for name in bots]
        if len(self) <= part:
            rows = list(self._rows(0, len(self), pages))
            return compressed_json({"bots": names, "rows": rows, "picture": picture}, _LEVEL), set()
        parts = []
        replays: dict[str, int] = {}
        for place, begin in enumerate(range(0, len(self), part)):
            end = min(begin + part, len(self))
            rows = list(self._rows(begin, end, pages))
            text = compressed_json(rows, _LEVEL)
            name = f"part-{blake2b(text.encode(), digest_size=6).hexdigest()}.js"
            write(name, f"globalThis.warpleague.parts[{place}] = {json.dumps(text)};\n".encode())
            parts.append([name, rows[0][0], rows[-1][0]])
            replays |= {row[1]: place for row in rows if row[-1]}
        data = {
            "bots": names,
            "rows": [],
            "parts": parts,
            "total": len(self),
            "replays": replays,
            "ends": sorted({one_line(text) for text in self.columns.texts}),
            "busy": bool(self.busy.any()),
            "picture": picture,
        }
        return compressed_json(data, _LEVEL), {name for name, *_ in parts}

    def _rows(self, begin: int, end: int, pages: set[str]) -> Iterator[list[Any]]:
        """A row for each match; what is in it says `assets/matches.js`."""
        some = self.columns.only(slice(begin, end))
        ends = [one_line(text) for text in some.texts]
        names = ("number", "id", "seats", "ranks", "scores", "why", "lines", "elapsed_s", "rival")
        rounded = {"scores": 4, "elapsed_s": 3}
        lists = (
            (np.round(some.values[name], rounded[name]) if name in rounded else some.values[name]).tolist()
            for name in names
        )
        busy = self.busy[begin:end].tolist()
        for (number, match, seats, ranks, scores, why, lines, elapsed_s, rival), waited in zip(
            zip(*lists, strict=True), busy, strict=True
        ):
            name = match.decode()
            yield [
                *(number, name, seats, ranks, scores, ends[why], lines),
                *(elapsed_s, self.faults.get(number, []), int(waited)),
                None if rival != rival else rival,
                int(name in pages),
            ]


def choose(faulty: Mapping[int, frozenset[tuple[int, str]]], count: int, most: int | None) -> list[int]:
    """Which of `count` matches get a replay, `most` at most (None: all), in schedule order.

    `faulty` has bot and kind of the faults of each match that has some. The first one of each bot's kinds of fault
    comes first, then the other faulty matches, then all others; of those that do not fit, a spread over the season.
    """
    if most is None or count <= most:
        return list(range(count))
    seen: set[tuple[int, str]] = set()
    first: list[int] = []
    other: list[int] = []
    for at in sorted(faulty):
        (first if faulty[at] - seen else other).append(at)
        seen |= faulty[at]
    clean = np.ones(count, bool)
    clean[[*first, *other]] = False
    chosen: list[int] = []
    for group in (first, other, np.flatnonzero(clean)):
        room = min(most - len(chosen), len(group))
        chosen += [int(group[place * len(group) // room]) for place in range(room)]
    return sorted(chosen)
