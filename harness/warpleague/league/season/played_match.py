"""A match in the result store: its values, and how they are read from a row."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import msgspec

from warpleague.errors import StoreError
from warpleague.league.season.text import MEND, is_text, utc_now
from warpleague.match.confinement import Confinement
from warpleague.match.forms import structured
from warpleague.match.spec import SeatFault, SeatTimes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.match.spec import MatchResult

T = TypeVar("T")
MAX_NUMBER = 1e12
"""Points, or seconds, of a match are below this: far above any, and sums of squares stay finite."""
RESULT_COLUMNS = "id, ranks, scores, rival, why, digest, faults, times, lines, elapsed_s, held"
LATEST_COLUMNS = "match.id, bots, ranks, why, stored"
PLAYED_COLUMNS = (
    "deal, bots, stored, match.id, ranks, scores, rival, why, digest, faults, times, lines, elapsed_s, held"
)
TIMES = ("decisions", "wall_ms", "cpu_ms", "wait_ms", "longest_ms")
_SEAT_TIMES: Final = tuple(field.name for field in attrs.fields(SeatTimes))
_numbers = attrgetter(*_SEAT_TIMES)
_ranks = msgspec.json.Decoder(tuple[int, ...])
_scores = msgspec.json.Decoder(tuple[float, ...])
_faults = msgspec.json.Decoder(tuple[tuple[SeatFault, ...], ...])
_times = msgspec.json.Decoder(tuple[SeatTimes, ...])


@attrs.frozen
class LatestMatch:
    """What a list of matches just over says of one: bots and ranks by seat, and when it was stored.

    `stored_s` is in whole seconds since 1970.
    """

    id: str
    bots: list[str]
    ranks: list[int]
    why: str
    stored_s: float


def latest_from(row: Sequence[Any]) -> LatestMatch | None:
    """The match of a row of `LATEST_COLUMNS`; None if the row is damaged, which `verify` reports."""
    with suppress(ValueError, TypeError, LookupError, RecursionError):
        match, bots, ranks, why, stored = row
        names = [bot[0] for bot in json.loads(bots)]
        stored_s = datetime.fromisoformat(stored).timestamp()
        return LatestMatch(str(match), names, json.loads(ranks), str(why), stored_s)
    return None


@attrs.frozen
class PlayedMatch:
    """What lists for programs say of a match: names and identities of its bots by seat, and its result.

    `entry` is its place in the journal, `stored` an ISO time.
    """

    entry: int
    deal: int
    bots: list[tuple[str, str]]
    stored: str
    result: StoredMatch


def played_match_from(row: Sequence[Any]) -> PlayedMatch | None:
    """The match of a row of `PLAYED_COLUMNS` behind its entry; None if the row is damaged, which `verify` reports."""
    entry, deal, bots, stored, *result = row
    with suppress(ValueError, TypeError, LookupError, RecursionError, StoreError):
        seats = [(str(name), str(identity)) for name, identity in json.loads(bots)]
        found = PlayedMatch(int(entry), int(deal), seats, str(stored), played_from(tuple(result), len(seats)))
        _ = found.result.faults, found.result.times
        return found
    return None


@attrs.frozen
class StoredMatch:
    """A match as the store knows it, without its record; faults and times are decoded when asked for.

    That raises `StoreError` if they are damaged. `confinement` is the number of a confinement (`Store.confinements`).
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
    confinement: int | None = None

    @property
    def faults(self) -> tuple[tuple[SeatFault, ...], ...]:
        """All faults of each seat, in order."""
        if not self._faults:
            return ((),) * len(self.ranks)
        found = _decoded(_faults, self._faults, self.id, "faults")
        if len(found) != len(self.ranks):
            raise _damaged(self.id, "faults: must be those of each seat")
        return found

    @property
    def times(self) -> tuple[SeatTimes, ...]:
        """The time each seat used."""
        found = _decoded(_times, self._times, self.id, "times")
        numbers = [number for seat in found for number in _numbers(seat)]
        if len(found) != len(self.ranks) or not all(0 <= number < MAX_NUMBER for number in numbers):
            raise _damaged(
                self.id, f"times: must be those of each seat, each at least 0 and below {MAX_NUMBER:g}"
            )
        return found


def row_of(match_id: str, deal: int, bots: Sequence[tuple[str, str]], result: MatchResult) -> tuple[Any, ...]:
    """A finished match as the journal's `COLUMNS`, just as SQLite gives them back; `bots` are names and digests."""
    faults = [[attrs.asdict(fault) for fault in seat] for seat in result.faults]
    # What few bots have is left out where it is nothing.
    times = [
        {name: value for name in _SEAT_TIMES if (value := getattr(seat, name)) or name in TIMES}
        for seat in result.times
    ]
    rival = None if result.rival is None else float(result.rival)
    return (
        *(match_id, deal, _json(bots), _json(result.ranks), _json(result.scores)),
        *(result.why, result.digest, _json(faults) if any(faults) else "", _json(times)),
        *(result.lines, float(result.elapsed_s), utc_now(), rival),
    )


def played_from(row: tuple[Any, ...], players: int | None = None) -> StoredMatch:
    """The match in a row of `RESULT_COLUMNS`; `StoreError` for a damaged one, or one of another number of players."""
    match_id, ranks, scores, rival, why, digest, faults, times, lines, elapsed_s, confinement = row
    ranked = _decoded(_ranks, ranks, match_id, "ranks")
    scored = _decoded(_scores, scores, match_id, "scores")
    if not len(ranked) == len(scored) == (players or len(ranked)) or not ranked:
        raise _damaged(match_id, "ranks and scores of different tables")
    last = len(ranked) + (rival is not None)  # alone at the table a bot may come second
    if not all(1 <= rank <= last for rank in ranked):
        raise _damaged(match_id, f"ranks: must be from 1 to {last}")
    for name, value in (("scores", max(map(abs, scored))), ("rival", rival), ("elapsed_s", elapsed_s)):
        if not (value is None and name == "rival") and not (
            isinstance(value, (int, float)) and abs(value) < MAX_NUMBER
        ):
            raise _damaged(match_id, f"{name}: must be numbers between -{MAX_NUMBER:g} and {MAX_NUMBER:g}")
    # One look at them all, since nearly all are as they should be.
    plain = type(why) is type(digest) is type(faults) is type(times) is str
    if not (plain and (why + digest).isprintable() and (faults + times).isascii()):
        for name, text in {"why": why, "digest": digest, "faults": faults, "times": times}.items():
            if not is_text(text) or not (name in ("faults", "times") or text.isprintable()):
                raise _damaged(match_id, f"{name}: must be text that can be printed")
    if type(lines) is not int or not (confinement is None or type(confinement) is int):
        raise _damaged(match_id, "lines, held: must be whole numbers")
    return StoredMatch(
        match_id, ranked, scored, rival, why, digest, lines, elapsed_s, faults, times, confinement
    )


def confinement_from(text: object) -> Confinement:
    """How bots were confined, from the text that the store keeps; `ValueError` if the text is not valid."""
    return structured(msgspec.json.decode(text) if isinstance(text, str) else None, Confinement)


def _damaged(match_id: object, what: str) -> StoreError:
    return StoreError(f"the store is damaged: match {match_id}: {what}; {MEND}")


def _decoded(decoder: msgspec.json.Decoder[T], text: str, match_id: str, column: str) -> T:
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, TypeError, UnicodeEncodeError, RecursionError) as error:
        raise _damaged(match_id, f"{column}: {error}") from None


_json: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
