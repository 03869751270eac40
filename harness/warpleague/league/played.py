"""A match as the result store knows it: its values, and how they come out of a row.

Leaves rows and transactions to `store`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import attrs
import msgspec

from warpleague.errors import StoreError
from warpleague.league.schema import SPARE
from warpleague.match.spec import SeatFault, SeatTimes

T = TypeVar("T")
RESULT_COLUMNS = "id, ranks, scores, rival, why, digest, faults, times, lines, elapsed_s, held"
_ranks = msgspec.json.Decoder(tuple[int, ...])
_scores = msgspec.json.Decoder(tuple[float, ...])
_faults = msgspec.json.Decoder(tuple[tuple[SeatFault, ...], ...])
_times = msgspec.json.Decoder(tuple[SeatTimes, ...])


@attrs.frozen
class Played:
    """A match as the store knows it, without its record; faults and times are decoded when asked for.

    That raises `StoreError` if they are damaged. `held` is the number of what held of the level (`Store.held`).
    """

    id: str
    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    rival: float | None
    why: str
    digest: str
    lines: int
    elapsed_s: float
    _faults: str
    _times: str
    held: int | None = None

    @property
    def faults(self) -> tuple[tuple[SeatFault, ...], ...]:
        """All faults of each seat, in order."""
        return _decoded(_faults, self._faults, self.id, "faults") if self._faults else ((),) * len(self.ranks)

    @property
    def times(self) -> tuple[SeatTimes, ...]:
        """The time each seat used."""
        return _decoded(_times, self._times, self.id, "times")


def played_from(row: tuple[Any, ...] | None) -> Played | None:
    """The match in a row of `RESULT_COLUMNS`; None for no row; `StoreError` for a damaged one."""
    if row is None:
        return None
    match_id, ranks, scores, rival, why, digest, faults, times, lines, elapsed_s, held = row
    ranked = _decoded(_ranks, ranks, match_id, "ranks")
    scored = _decoded(_scores, scores, match_id, "scores")
    if len(ranked) != len(scored) or not ranked:
        raise StoreError(
            f"the store is damaged: match {match_id}: ranks and scores of different tables; {SPARE}"
        )
    return Played(match_id, ranked, scored, rival, why, digest, lines, elapsed_s, faults, times, held)


def _decoded(decoder: msgspec.json.Decoder[T], text: str, match_id: str, column: str) -> T:
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, TypeError) as error:
        raise StoreError(f"the store is damaged: match {match_id}: {column}: {error}; {SPARE}") from None
