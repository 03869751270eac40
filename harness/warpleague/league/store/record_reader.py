"""Reads from a record what the tables need of a match that was played elsewhere."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import msgspec

from warpleague.errors import RecordError
from warpleague.league.season.played_match import MAX_NUMBER
from warpleague.league.season.season import differences
from warpleague.match.forms import Act, End, Fault, Header, structured
from warpleague.match.packing import unpack
from warpleague.match.replay import verify_record
from warpleague.match.service import taken
from warpleague.match.spec import MatchResult, SeatFault, SeatTimes, identity_of
from warpline.structure import MisfitError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import JsonObject

T = TypeVar("T")
_MAX_NAME: Final = 64


@attrs.frozen
class Recorded:
    """The content of a record: the name and identity of the bot in each seat, and the result."""

    seats: tuple[tuple[str, str], ...]
    result: MatchResult


def read_recorded(packed: bytes, match_id: str, conditions: Mapping[str, Any], key: bytes | None) -> Recorded:
    """The match `match_id` of a season of these conditions, from its record, packed or not, by whomever it was made.

    With `key` the record is executed, dice included; without, only its form is checked. Raises `RecordError` for a
    record that does not hold, or is of another match.
    """
    record = unpack(packed)
    if key is not None:
        verify_record(record, key)
    recorded = RecordReader(record).read()
    header = recorded_header(record)
    problem = header_differences(header, {**conditions, "id": match_id})
    if problem:
        raise RecordError(f"its header is that of another match: {'; '.join(problem)}")
    for seat in header["seats"]:
        name, digest = seat["bot"], seat["digest"]
        if len(digest) > _MAX_NAME or not digest.isprintable():
            raise RecordError(f"the digest of {name!r} must be at most {_MAX_NAME} printable characters")
        if not (0 < len(name) <= _MAX_NAME and name.isprintable()):
            raise RecordError(
                f"the name of a bot must be 1 to {_MAX_NAME} printable characters, not {name!r}"
            )
    return recorded


def recorded_header(record: bytes) -> JsonObject:
    """The header of a record whose form was checked."""
    header: JsonObject = msgspec.json.decode(record.split(b"\n", 1)[0])
    return header


def header_differences(header: JsonObject, wanted: Mapping[str, Any]) -> list[str]:
    """In which of the `wanted` values, conditions of a season and a match's id, a record's header differs.

    A league's matches start from the game's own position. Which beacon its season awaits is in no record.
    """
    wanted = {name: value for name, value in wanted.items() if name not in ("beacon", "record", "void")} | {
        "format": wanted.get("record", 1),
        "position": None,
    }
    values = {name: header.get(name) for name in wanted}
    if "pondering" in wanted:
        # It stands beside the confinement; where nothing is noted it is the usual.
        values["pondering"] = (header.get("detail") or {}).get("pondering", "off")
    return differences(values, wanted)


class RecordReader:
    """Reads the lines of a record, each of the right form, and adds up what a result has of them."""

    def __init__(self, record: bytes) -> None:
        self.record = record
        self.lines = record.splitlines()
        self.players = 0
        self.faults: list[list[SeatFault]] = []
        self.times: list[list[int]] = []
        self.taken: list[tuple[int, int, int, float]] = []

    def read(self) -> Recorded:
        """All of it; `RecordError` names the first line that is not of the right form."""
        data = self._object(0)
        if data.get("type") != Header.type:
            raise self._error(0, "the first line must be the match header")
        header = self._structured(0, data, Header)
        self.players = header.players
        self.faults = [[] for _ in range(self.players)]
        self.times = [[0, 0, 0, 0, 0] for _ in range(self.players)]
        self.taken = [(0, 0, 0, 0.0)] * self.players
        for index in range(1, len(self.lines)):
            data = self._object(index)
            match data.get("type"):
                case Act.type:
                    self._add(index, data, self._structured(index, data, Act))
                case Fault.type:
                    fault = self._structured(index, data, Fault)
                    self._add(index, data, fault)
                    seat_fault = SeatFault(fault.kind, index, fault.retired, fault.detail.message)
                    self.faults[fault.seat].append(seat_fault)
                case End.type:
                    return self._end(index, header, self._structured(index, data, End))
        raise RecordError(f"line {len(self.lines)}: the record stops here: there is no end line")

    def _end(self, index: int, header: Header, end: End) -> Recorded:
        if not self.players == len(end.ranks) == len(end.scores):
            raise self._error(index, f"there must be {self.players} ranks and scores")
        last = self.players + (end.rival is not None)  # alone at the table a bot may come second
        if not all(1 <= rank <= last for rank in end.ranks):
            raise self._error(index, f"ranks must be from 1 to {last}")
        numbers = (*end.scores, *(() if end.rival is None else (end.rival,)))
        if not all(abs(number) < MAX_NUMBER for number in numbers):
            raise self._error(index, f"scores must be between {-MAX_NUMBER:g} and {MAX_NUMBER:g}")
        if not (end.why.isprintable() and end.digest.isprintable()):
            raise self._error(index, "why and digest must be texts that can be printed")
        seats = tuple(
            (seat.bot, identity_of(seat.digest, None if seat.clock is None else attrs.asdict(seat.clock)))
            for seat in header.seats
        )
        times = tuple(
            SeatTimes(count, wall / 1000, cpu / 1000, wait / 1000, longest / 1000, *more)
            for (count, wall, cpu, wait, longest), more in zip(self.times, self.taken, strict=True)
        )
        result = MatchResult(
            id=header.id,
            ranks=end.ranks,
            scores=end.scores,
            why=end.why,
            digest=end.digest,
            faults=tuple(map(tuple, self.faults)),
            times=times,
            record=self.record,
            lines=index - 1,
            # The record does not say how long the match took; its decisions took this.
            elapsed_s=sum(seat.wall_ms for seat in times) / 1000,
            rival=end.rival,
            confinement=header.detail,
        )
        return Recorded(seats, result)

    def _error(self, index: int, text: str) -> RecordError:
        return RecordError(f"line {index + 1}: {text}")

    def _object(self, index: int) -> JsonObject:
        try:
            data = msgspec.json.decode(self.lines[index]) if self.lines else None
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._error(index, f"not JSON: {error}") from None
        if not isinstance(data, dict):
            raise self._error(index, "not a JSON object")
        return data

    def _structured(self, index: int, data: JsonObject, kind: type[T]) -> T:
        try:
            return structured(data, kind)
        except MisfitError as error:
            raise self._error(index, str(error)) from None

    def _add(self, index: int, data: JsonObject, line: Act | Fault) -> None:
        """Count the times of a decision, and what services took for it."""
        if line.seat >= self.players:
            raise self._error(index, f"there is no seat {line.seat}")
        if line.detail is not None:
            failures, read, written, cost = map(add, self.taken[line.seat], taken(data))
            self.taken[line.seat] = failures, read, written, cost
        if isinstance(line, Act) and line.ms is not None:
            # In whole microseconds, which records have, so that sums are exact.
            wall, cpu, wait = (round((time or 0) * 1000) for time in line.ms)
            row = self.times[line.seat]
            row[:] = row[0] + 1, row[1] + wall, row[2] + cpu, row[3] + wait, max(row[4], wall)
