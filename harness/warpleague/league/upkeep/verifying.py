"""Completes the records of a league with their keys when the season is over, and executes them again to check them.

`warpleague.match.replay` executes one record.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import attrs
import msgspec

from warpleague.errors import RecordError, StoreError
from warpleague.league.referees.pool import RefereePool
from warpleague.league.schedule.schedule import Course
from warpleague.league.season.played_match import damaged
from warpleague.league.store.record_reader import header_differences
from warpleague.match.confinement import Confinement
from warpleague.match.forms import confinement_of
from warpleague.match.lines import publish
from warpleague.match.replay import verify_record
from warpleague.match.spec import identity_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League
    from warpleague.league.schedule.schedule import Schedule
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.store.journal import Head


def published_record(league: League, match_id: str, deal: int) -> bytes:
    """The record of a stored match; with its key in the header if the season's secret is public."""
    record = league.store.record(match_id)
    if league.store.published() is None:
        return record
    return publish(record, league.season.key_of(deal), None)


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
    waiting: deque[tuple[Fixture, Future[str | None]]] = deque()
    with new_pool(jobs, "none") as pool:
        for fixture in league.schedule if fixtures is None else fixtures:
            bots = [(season.bots[bot].bot, season.bots[bot].identity) for bot in fixture.seats]
            head = {**season.conditions, "id": fixture.id}
            key = season.key_of(fixture.deal)
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


def random_sample(league: League, many: int, seed: str) -> tuple[list[Fixture], int]:
    """Stored matches of the schedule that are drawn at random, `many` or all, in its order; and how many there are.

    The same `seed` draws the same matches from the same store.
    """
    ids = set(league.store.ids())
    stored = [fixture for fixture in league.schedule if fixture.id in ids]
    drawn = Random(seed).sample(stored, min(many, len(stored)))
    return sorted(drawn, key=lambda fixture: fixture.number), len(stored)


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


def altered(league: League, heads: Sequence[Head] = ()) -> list[tuple[int | None, str | None, str]]:
    """The alterations of the store: deleted, replaced, added; `heads` are earlier heads of its journal.

    Number in the schedule and id of each match concerned, as far as they are known, and what is wrong with it.
    """
    problems = league.store.alterations(heads)
    with suppress(StoreError):  # another check reports a match that cannot be read
        problems += misnumbered(league) if not problems else []
    ids = {match_id for match_id, _ in problems if match_id is not None}
    numbers: dict[str, int] = {}
    for fixture in league.schedule if ids else ():
        if fixture.id in ids:
            numbers[fixture.id] = fixture.number
            if len(numbers) == len(ids):
                break
    return [(numbers.get(match_id or ""), match_id, problem) for match_id, problem in problems]


def misnumbered(league: League) -> list[tuple[str | None, str]]:
    """Stored matches whose number or group is not the one they have in the schedule: the id, and what is wrong."""
    if not league.is_numbered:
        return []
    places = league.store.places_in_schedule()
    left = set(league.store.ids())
    problems: list[tuple[str | None, str]] = []
    for fixture in league.schedule:
        if not left:
            break  # of a long season that has just begun, the rest need not be looked at
        if fixture.id not in left:
            continue
        left.remove(fixture.id)
        if places.pop(fixture.id, None) != (fixture.number, fixture.group):
            problems.append((fixture.id, "its number in the store is not its number in the schedule"))
    return problems + [
        (match_id, "has a number in the store, but is not in the schedule") for match_id in places
    ]


def mispaired(league: League) -> list[tuple[int | None, str | None, str]]:
    """Stored matches that results before them do not give, in a format that goes by results; as `altered` tells them.

    Left out are those from before the last change of who plays, but in a ladder (`stretches` says which are left out).
    """
    if league.schedule.format.ahead is None:
        return []
    parts: list[tuple[Schedule, Sequence[str]]] = [(league.schedule, league.store.since_entry())]
    problems: list[tuple[int | None, str | None, str]] = []
    if league.season.format.kind == "ladder":
        from warpleague.league.upkeep.stretches import log_problem, stretches  # which only ladders need

        parts = [*((part.schedule, part.ids) for part in stretches(league)), *parts]
        if (wrong := log_problem(league)) is not None:
            problems.append((None, None, wrong))
    problem = "is of a pairing that should not have been: the results before it give another one"
    for schedule, stored in parts:
        course, given = Course(schedule), set[str]()
        while (batch := course.take()) is not None:
            given.update(fixture.id for fixture in batch)
        problems += [(None, match_id, problem) for match_id in stored if match_id not in given]
    return problems


def _faults_of(record: bytes, players: int) -> list[list[tuple[Any, ...]]]:
    """Kind, line, whether it retired, and message of every seat's faults, from a record that was verified."""
    faults: list[list[tuple[Any, ...]]] = [[] for _ in range(players)]
    for line in record.splitlines():
        if b'"type":"fault"' in line and (data := msgspec.json.decode(line))["type"] == "fault":
            message = data["detail"]["message"]
            faults[data["seat"]].append((data["kind"], data["n"], data["retired"], message))
    return faults
