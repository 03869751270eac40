"""The records of a league: completed with their keys once the season is over, and executed again to check all.

Leaves executing one record to `warpleague.match.replay`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from warpleague.errors import RecordError
from warpleague.league.pool import RefereePool
from warpleague.league.store import differences
from warpleague.match.chance import deal_key
from warpleague.match.lines import publish
from warpleague.match.replay import verify_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from warpleague.league.league import League
    from warpleague.league.schedule import Fixture


def published_record(league: League, match_id: str, deal: int) -> bytes:
    """The record of a stored match; with its key in the header if the season's secret is public."""
    record = league.store.record(match_id)
    if league.store.published() is None:
        return record
    return publish(record, deal_key(league.season.secret, deal), None)


def verify_league(league: League, jobs: int = 0) -> Iterator[tuple[Fixture, str | None]]:
    """Execute every stored match of the schedule again, dice included, on `jobs` processes (0: all cores).

    Yields each, in schedule order, with what is wrong with it, or None: the record against itself, the seats and
    conditions in its header against the schedule, and the result in the store, which the tables are made of,
    against the record.
    """
    season = league.season
    waiting: deque[tuple[Fixture, Future[str | None]]] = deque()
    with RefereePool(jobs, "none") as pool:
        for fixture, played in league.results():
            bots = [(season.bots[bot].bot, season.bots[bot].digest) for bot in fixture.seats]
            head = {**season.conditions, "id": fixture.id}
            stored = (played.ranks, played.scores, played.rival, played.why, played.digest)
            record, key = league.store.record(fixture.id), deal_key(season.secret, fixture.deal)
            waiting.append((fixture, pool.submit(problem_of, record, key, head, bots, stored)))
            # Bounded: records wait in memory.
            if len(waiting) > 4 * pool.jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        for fixture, future in waiting:
            yield fixture, future.result()


def problem_of(
    record: bytes, key: bytes, head: dict[str, Any], bots: list[tuple[str, str]], stored: tuple[Any, ...]
) -> str | None:
    """What is wrong with a record, or None.

    `head` are the values its header must have, `bots` the name and digest of each seat, `stored` the ranks,
    scores, rival, termination and digest that the store holds.
    """
    try:
        summary = verify_record(record, key)
    except RecordError as error:
        return str(error)
    header = summary.header
    told = differences({key: header[key] for key in head}, head)
    if told:
        return f"its header tells of another match: {'; '.join(told)}"
    if [(seat["bot"], seat["digest"]) for seat in header["seats"]] != bots:
        return "its header tells of other bots"
    if stored != (tuple(summary.ranks), tuple(summary.scores), summary.rival, summary.why, summary.digest):
        return "the result in the store is not the one of its record"
    return None
