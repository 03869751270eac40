"""Completes the records of a league with their keys when the season is over, and executes them again to check them.

`warpleague.match.replay` executes one record.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import msgspec

from warpleague.errors import RecordError, StoreError
from warpleague.league.referees.pool import RefereePool
from warpleague.league.schedule.schedule import Course
from warpleague.league.season.fixture import MAX_NUMBER, Fixture, damaged
from warpleague.league.season.season import differences
from warpleague.match.chance import deal_key
from warpleague.match.record import (
    Act,
    End,
    Fault,
    Header,
    attempt_of,
    confinement_of,
    recorded_header,
    structured,
    unpack,
)
from warpleague.match.referee import taken
from warpleague.match.replay import line_words, verify_record
from warpleague.match.scribe import publish
from warpleague.match.spec import Confinement, MatchResult, SeatFault, SeatTimes, Taken, identity_of
from warpline.structure import MisfitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from warpleague.games.api import JsonObject
    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League
    from warpleague.league.store.journal import Head


def published_record(league: League, match_id: str, deal: int) -> bytes:
    """The record of a stored match; with its key in the header if the season's secret is public."""
    record = league.store.record(match_id)
    if league.store.published() is None:
        return record
    return publish(record, league.season.key_of(deal, attempt_of(record)), None)


def verify_league(
    league: League,
    jobs: int = 0,
    new_pool: NewPool = RefereePool,
    fixtures: Iterable[Fixture] | None = None,
) -> Iterator[tuple[Fixture, str | None]]:
    """Execute every stored match of the schedule again, dice included, on `jobs` processes (0: all cores).

    With `fixtures`, only these: some of the schedule, such as `random_sample` gives.

    Yields each, in schedule order, with what is wrong with it, or None: the record against itself, the seats and
    conditions in its header against the schedule, and result, faults and confinement in the store, which
    the tables are made of, against the record. The time used is not compared: it is the host's, and in no digest.
    """
    season = league.season
    confinements = league.store.confinements(damaged=True)
    attempts = league.store.attempts()
    waiting: deque[tuple[Fixture, Future[str | None]]] = deque()
    with new_pool(jobs, "none") as pool:
        for fixture in scheduled(league, league.store.ids()) if fixtures is None else fixtures:
            bots = [(season.bots[bot].bot, season.bots[bot].identity) for bot in fixture.seats]
            attempt = attempts[fixture.id]
            head = {**season.conditions, "id": fixture.id, "attempt": attempt or None}
            key = season.key_of(fixture.deal, attempt)
            try:
                played = league.store.match(fixture.id)
                if played is None:
                    continue
                stored = (played.ranks, played.scores, played.rival, played.why, played.digest, played.lines)
                faults = [[attrs.astuple(fault) for fault in seat] for seat in played.faults]
                record = league.store.record(fixture.id)
                if played.bots != tuple(bots):
                    raise damaged(fixture.id, "its bots are not those of its place in the schedule")
            except StoreError as error:
                # A call like the others, so that problems come in the order of the schedule.
                waiting.append((fixture, pool.submit(str, str(error))))
            else:
                number = played.confinement
                confinement = None if number is None else confinements.get(number, Confinement())
                waiting.append(
                    (fixture, pool.submit(problem_of, record, key, head, bots, stored, faults, confinement))
                )
            # Bounded: records wait in memory.
            if len(waiting) > 4 * pool.jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        for fixture, future in waiting:
            yield fixture, future.result()


def scheduled(league: League, ids: Iterable[str]) -> Iterator[Fixture]:
    """The matches of the schedule with these ids, in its order; of a long season the rest is not looked at."""
    left = set(ids)
    schedule = iter(league.schedule)
    while left and (fixture := next(schedule, None)) is not None:
        if fixture.id in left:
            left.remove(fixture.id)
            yield fixture


def random_sample(league: League, many: int, seed: str) -> tuple[list[Fixture], int]:
    """Stored matches of the schedule that are drawn at random, `many` or all, in its order; and how many there are.

    The same `seed` draws the same matches from the same store.
    """
    numbers = (
        {match_id: place[0] for match_id, place in league.store.places_in_schedule().items()}
        if league.is_numbered
        else {}
    )
    if numbers:
        # The others are passed over without working out their dice and ids: a sample takes the time of a sample.
        stored = sorted(numbers, key=numbers.__getitem__)
        drawn = Random(seed).sample(stored, min(many, len(stored)))
        wanted = {numbers[match_id] for match_id in drawn}
        others = [number for number in range(1, max(wanted, default=1)) if number not in wanted]
        found = list(islice(league.schedule.skipping(others), len(wanted)))
        if {fixture.id for fixture in found} == set(drawn):
            return found, len(stored)
    stored_fixtures = list(scheduled(league, league.store.ids()))
    drawn_fixtures = Random(seed).sample(stored_fixtures, min(many, len(stored_fixtures)))
    return sorted(drawn_fixtures, key=lambda fixture: fixture.number), len(stored_fixtures)


def problem_of(
    record: bytes,
    key: bytes,
    head: dict[str, Any],
    bots: list[tuple[str, str]],
    stored: tuple[Any, ...],
    faults: list[list[tuple[Any, ...]]],
    confinement: Confinement | None,
) -> str | None:
    """The error in a record, or None.

    `head` are the values its header must have, `bots` the name and identity of each seat, `stored` the ranks,
    scores, rival, termination, digest and number of lines that the store holds, `faults` the fields of every seat's
    faults, `confinement` how its bots were confined.
    """
    try:
        summary = verify_record(record, key)
    except RecordError as error:
        return str(error)
    header = summary.header
    problem = header_differences(header, head)
    if problem:
        return f"its header is that of another match: {'; '.join(problem)}"
    if [(seat["bot"], identity_of(seat["digest"], seat.get("clock"))) for seat in header["seats"]] != bots:
        return "its header names other bots, or other clocks of theirs"
    result = (tuple(summary.ranks), tuple(summary.scores), summary.rival, summary.why, summary.digest)
    if stored != (*result, summary.lines):
        return "the result in the store is not the one of its record"
    if faults != _faults_of(record, len(bots)):
        return "the faults in the store are not those of its record"
    if confinement != confinement_of(header):
        return "how its bots were confined, as the store has it, is not what its record says"
    return None


def altered(
    league: League,
    heads: Sequence[Head] = (),
    *,
    numbers_too: bool = True,
    seen: Callable[[int], None] = lambda _: None,
) -> list[tuple[int | None, str | None, str]]:
    """The alterations of the store: deleted, replaced, added; `heads` are earlier heads of its journal.

    Number in the schedule and id of each match concerned, as far as they are known, and what is wrong with it. With
    `numbers_too`, the numbers of all stored matches are compared with the schedule. `seen` is told which entry of the
    journal was compared last.
    """
    problems = league.store.alterations(heads, seen)
    if numbers_too and not problems:
        with suppress(StoreError):  # another check reports a match that cannot be read
            problems += misnumbered(league)
    ids = {match_id for match_id, _ in problems if match_id is not None}
    numbers = {fixture.id: fixture.number for fixture in scheduled(league, ids)}
    return [(numbers.get(match_id or ""), match_id, problem) for match_id, problem in problems]


def misnumbered(league: League) -> list[tuple[str | None, str]]:
    """Stored matches whose number or group is not the one they have in the schedule: the id, and what is wrong."""
    if not league.is_numbered:
        return []
    places = league.store.places_in_schedule()
    problems: list[tuple[str | None, str]] = [
        (fixture.id, "its number in the store is not its number in the schedule")
        for fixture in scheduled(league, league.store.ids())
        if places.pop(fixture.id, None) != (fixture.number, fixture.group)
    ]
    return problems + [
        (match_id, "has a number in the store, but is not in the schedule") for match_id in places
    ]


def place_of(number: int | None, match: str | None) -> str:
    """Where something is wrong, in words: the store, or a match, with its number in the schedule if that is known."""
    if match is None:
        return "the store"
    return f"match {number} ({match})" if number else f"match {match}"


def mispaired(league: League) -> list[tuple[int | None, str | None, str]]:
    """Stored matches that results before them do not give, in a format that goes by results; as `altered` tells them.

    Left out are those from before the last change of who plays, but in a ladder (`mischosen` says which are left out).
    """
    if league.schedule.format.ahead is None:
        return []
    if league.schedule.choices is not None:
        from warpleague.league.play.ladders import mischosen  # numpy, which other leagues do without

        wrong = mischosen(league)
    else:
        course, given = Course(league.schedule), set[str]()
        while (batch := course.take()) is not None:
            given.update(fixture.id for fixture in batch)
        wrong = [match_id for match_id in league.store.since_entry() if match_id not in given]
    problem = "is of a pairing that should not have been: the results before it give another one"
    return [(None, match_id, problem) for match_id in wrong]


def _faults_of(record: bytes, players: int) -> list[list[tuple[Any, ...]]]:
    """Kind, line, whether it retired, and message of every seat's faults, from a record that was verified."""
    faults: list[list[tuple[Any, ...]]] = [[] for _ in range(players)]
    for line in record.splitlines():
        if b'"type":"fault"' in line and (data := msgspec.json.decode(line))["type"] == "fault":
            message = data["detail"]["message"]
            faults[data["seat"]].append((data["kind"], data["n"], data["retired"], message))
    return faults


# -- records of other stores -----------------------------------------------------------------------------
# What the tables need of a match that was played elsewhere is read from its record.


T = TypeVar("T")
_MAX_NAME: Final = 64


@attrs.frozen
class Recorded:
    """The content of a record: the name and identity of the bot in each seat, and the result."""

    seats: tuple[tuple[str, str], ...]
    result: MatchResult


def read_recorded(
    packed: bytes, match_id: str, conditions: Mapping[str, Any], dealt: tuple[bytes, int] | None
) -> Recorded:
    """The match `match_id` of a season of these conditions, from its record, packed or not, by whomever it was made.

    With `dealt`, what its dice follow from and its deal, the record is executed, dice included; without, only its form
    is checked. Raises `RecordError` for a record that does not hold, or is of another match.
    """
    record = unpack(packed)
    if dealt is not None:
        verify_record(record, deal_key(*dealt, attempt_of(record)))
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
        # It stands beside the confinement; where it is absent it is "off".
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
        self.taken: list[Taken] = []

    def read(self) -> Recorded:
        """All of it; `RecordError` names the first line that is not of the right form."""
        data = self._object(0)
        if data.get("type") != Header.type:
            raise self._error(0, "the first line must be the match header")
        header = self._structured(0, data, Header)
        self.players = header.players
        self.faults = [[] for _ in range(self.players)]
        self.times = [[0, 0, 0, 0, 0] for _ in range(self.players)]
        self.taken = [Taken()] * self.players
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
        return RecordError(f"{line_words(index)}: {text}")

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
            self.taken[line.seat] = self.taken[line.seat].plus(taken(data))
        if isinstance(line, Act) and line.ms is not None:
            # In whole microseconds, which records have, so that sums are exact.
            wall, cpu, wait = (round((time or 0) * 1000) for time in line.ms)
            row = self.times[line.seat]
            row[:] = row[0] + 1, row[1] + wall, row[2] + cpu, row[3] + wait, max(row[4], wall)
