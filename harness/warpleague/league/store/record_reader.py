"""Reads from a record what the tables need of a match that was played elsewhere."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from warpleague.errors import RecordError
from warpleague.league.season.played_match import MAX_NUMBER
from warpleague.league.season.season import differences
from warpleague.match.confinement import Confinement
from warpleague.match.forms import act_misfit, end_misfit, fault_misfit, header_misfit
from warpleague.match.packing import unpack
from warpleague.match.replay import verify_record
from warpleague.match.service import taken
from warpleague.match.spec import MatchResult, SeatFault, SeatTimes, identity_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import JsonObject

_MAX_NAME: Final = 64


@attrs.frozen
class Recorded:
    """What was read from a record: the name and identity of the bot in each seat, and the result."""

    seats: tuple[tuple[str, str], ...]
    result: MatchResult


def read_recorded(packed: bytes, match_id: str, conditions: Mapping[str, Any], key: bytes | None) -> Recorded:
    """The match `match_id` of a season of these conditions, from its record, packed or not, by whomever it was made.

    With `key` the record is executed, dice included; without, only its form is looked at. Raises `RecordError` for a
    record that does not hold, or is of another match.
    """
    record = unpack(packed)
    if key is not None:
        verify_record(record, key)
    recorded = _Reader(record).read()
    header = recorded_header(record)
    told = header_differences(header, {**conditions, "id": match_id})
    if told:
        raise RecordError(f"its header is that of another match: {'; '.join(told)}")
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
    """The header of a record whose form was looked at."""
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
    found = {name: header.get(name) for name in wanted}
    if "pondering" in wanted:
        # It stands beside the confinement; where nothing is noted it is the usual.
        found["pondering"] = (header.get("detail") or {}).get("pondering", "off")
    return differences(found, wanted)


class _Reader:
    """Reads the lines of a record, each of the right form, and adds up what a result has of them."""

    def __init__(self, record: bytes) -> None:
        self.record = record
        self.lines = record.splitlines()
        self.players = 0
        self.faults: list[list[SeatFault]] = []
        self.times: list[list[int]] = []
        self.taken: list[tuple[int, int, int, float]] = []

    def read(self) -> Recorded:
        header = self._object(0)
        self._expect(0, "the first line must be the match header" if header.get("type") != "match" else None)
        self._expect(0, header_misfit(header))
        self.players = header["players"]
        self.faults = [[] for _ in range(self.players)]
        self.times = [[0, 0, 0, 0, 0] for _ in range(self.players)]
        self.taken = [(0, 0, 0, 0.0)] * self.players
        for index in range(1, len(self.lines)):
            line = self._object(index)
            match line.get("type"):
                case "act":
                    self._expect(index, act_misfit(line))
                    self._count(self._seat(index, line), line)
                case "fault":
                    self._expect(index, fault_misfit(line))
                    told = SeatFault(line["kind"], index, line["retired"], line["detail"]["message"])
                    self.faults[self._seat(index, line)].append(told)
                    self._count(self._seat(index, line), line)
                case "end":
                    return self._end(index, header, line)
        raise RecordError(f"line {len(self.lines)}: the record stops here: there is no end line")

    def _end(self, index: int, header: JsonObject, line: JsonObject) -> Recorded:
        self._expect(index, end_misfit(line))
        try:
            told = msgspec.convert({name: line.get(name) for name in _End.__struct_fields__}, _End)
        except msgspec.ValidationError as error:
            raise RecordError(f"line {index + 1}: {error}") from None
        if not self.players == len(told.ranks) == len(told.scores):
            raise RecordError(f"line {index + 1}: there must be {self.players} ranks and scores")
        last = self.players + (told.rival is not None)  # alone at the table a bot may come second
        if not all(1 <= rank <= last for rank in told.ranks):
            raise RecordError(f"line {index + 1}: ranks must be from 1 to {last}")
        numbers = (*told.scores, *(() if told.rival is None else (told.rival,)))
        if not all(abs(number) < MAX_NUMBER for number in numbers):
            raise RecordError(f"line {index + 1}: scores must be between -{MAX_NUMBER:g} and {MAX_NUMBER:g}")
        if not (told.why.isprintable() and told.digest.isprintable()):
            raise RecordError(f"line {index + 1}: why and digest must be texts that can be printed")
        seats = tuple(
            (seat["bot"], identity_of(seat["digest"], seat.get("clock"))) for seat in header["seats"]
        )
        times = tuple(
            SeatTimes(count, wall / 1000, cpu / 1000, wait / 1000, longest / 1000, *more)
            for (count, wall, cpu, wait, longest), more in zip(self.times, self.taken, strict=True)
        )
        result = MatchResult(
            id=header["id"],
            ranks=told.ranks,
            scores=told.scores,
            why=told.why,
            digest=told.digest,
            faults=tuple(map(tuple, self.faults)),
            times=times,
            record=self.record,
            lines=index - 1,
            # The record does not tell how long the match took; its decisions took this.
            elapsed_s=sum(seat.wall_ms for seat in times) / 1000,
            rival=told.rival,
            confinement=Confinement.from_header(header),
        )
        return Recorded(seats, result)

    def _object(self, index: int) -> JsonObject:
        try:
            data = msgspec.json.decode(self.lines[index]) if self.lines else None
        except (msgspec.DecodeError, RecursionError) as error:
            raise RecordError(f"line {index + 1}: not JSON: {error}") from None
        if not isinstance(data, dict):
            raise RecordError(f"line {index + 1}: not a JSON object")
        return data

    def _expect(self, index: int, misfit: str | None) -> None:
        if misfit is not None:
            raise RecordError(f"line {index + 1}: {misfit}")

    def _seat(self, index: int, line: JsonObject) -> int:
        seat = line.get("seat")
        if type(seat) is not int or not 0 <= seat < self.players:
            raise RecordError(f"line {index + 1}: there is no seat {seat!r}")
        return seat

    def _count(self, seat: int, line: JsonObject) -> None:
        if "detail" in line:
            failures, read, written, cost = map(add, self.taken[seat], taken(line))
            self.taken[seat] = failures, read, written, cost
        if "ms" in line:
            # In whole microseconds, which records have, so that sums are exact.
            wall, cpu, wait = (round((time or 0) * 1000) for time in line["ms"])
            row = self.times[seat]
            row[:] = row[0] + 1, row[1] + wall, row[2] + cpu, row[3] + wait, max(row[4], wall)


class _End(msgspec.Struct):
    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    why: str
    digest: str
    rival: float | None = None
