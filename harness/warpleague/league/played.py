"""A match as the result store knows it: its values, and how they come out of a row.

Leaves rows and transactions to `store`.
"""

from __future__ import annotations

from typing import Any

import attrs
import msgspec

from warpleague.match.spec import SeatFault, SeatTimes

RESULT_COLUMNS = "id, ranks, scores, rival, why, digest, faults, times, lines, elapsed_s"
_ranks = msgspec.json.Decoder(tuple[int, ...])
_scores = msgspec.json.Decoder(tuple[float, ...])
_faults = msgspec.json.Decoder(tuple[tuple[SeatFault, ...], ...])
_times = msgspec.json.Decoder(tuple[SeatTimes, ...])


@attrs.frozen
class Played:
    """A match as the store knows it, without its record; faults and times are decoded when asked for."""

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

    @property
    def faults(self) -> tuple[tuple[SeatFault, ...], ...]:
        """All faults of each seat, in order."""
        return _faults.decode(self._faults) if self._faults else ((),) * len(self.ranks)

    @property
    def times(self) -> tuple[SeatTimes, ...]:
        """The time each seat used."""
        return _times.decode(self._times)


def played_from(row: tuple[Any, ...] | None) -> Played | None:
    """The match in a row of `RESULT_COLUMNS`; None for no row."""
    if row is None:
        return None
    match_id, ranks, scores, rival, why, digest, faults, times, lines, elapsed_s = row
    ranked, scored = _ranks.decode(ranks), _scores.decode(scores)
    return Played(match_id, ranked, scored, rival, why, digest, lines, elapsed_s, faults, times)
