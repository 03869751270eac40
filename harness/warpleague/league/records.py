"""The records of a league: completed with their keys once the season is over, and executed again to check all.

Leaves executing one record to `warpleague.match.replay`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from warpleague.errors import RecordError
from warpleague.league.store import differences
from warpleague.match.chance import deal_key
from warpleague.match.lines import publish
from warpleague.match.replay import verify_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.league import League
    from warpleague.league.schedule import Fixture
    from warpleague.league.store import Played


def published_record(league: League, match_id: str, deal: int) -> bytes:
    """The record of a stored match; with its key in the header if the season's secret is public."""
    record = league.store.record(match_id)
    if league.store.published() is None:
        return record
    return publish(record, deal_key(league.season.secret, deal), None)


def verify_league(league: League) -> Iterator[tuple[Fixture, str | None]]:
    """Execute every stored match of the schedule again, dice included, in schedule order.

    Yields each with what is wrong with it, or None: the record against itself, the seats and conditions in its
    header against the schedule, and the result in the store, which the tables are made of, against the record.
    """
    for fixture, played in league.results():
        yield fixture, _problem(league, fixture, played)


def _problem(league: League, fixture: Fixture, played: Played) -> str | None:
    season = league.season
    record = league.store.record(fixture.id)
    try:
        summary = verify_record(record, deal_key(season.secret, fixture.deal))
    except RecordError as error:
        return str(error)
    header = msgspec.json.decode(record.partition(b"\n")[0])
    told = differences({key: header[key] for key in season.conditions}, season.conditions)
    if header["id"] != fixture.id:
        told.append(f"id: {header['id']}")
    if told:
        return f"its header tells of another match: {'; '.join(told)}"
    bots = [(season.bots[bot].bot, season.bots[bot].digest) for bot in fixture.seats]
    if [(seat["bot"], seat["digest"]) for seat in header["seats"]] != bots:
        return "its header tells of other bots"
    stored = (played.ranks, played.scores, played.why, played.digest)
    if stored != (tuple(summary.ranks), tuple(summary.scores), summary.why, summary.digest):
        return "the result in the store is not the one of its record"
    return None
