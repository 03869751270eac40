"""A league as plain tables for data tools: its matches, the seats of each, and every decision with what the bot saw.

The columns are told in docs/data.md, which a test compares with this module. `table_files` writes them to files.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import attrs
import msgspec

from warpleague.games.api import CHANCE
from warpleague.league.pool import RefereePool
from warpleague.match.replay import Replay
from warpleague.match.scribe import action_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from warpleague.league.league import League
    from warpleague.league.schedule import Fixture
    from warpleague.league.stored_match import StoredMatch

Kind: TypeAlias = Literal["text", "whole", "number", "truth", "json"]
Row: TypeAlias = tuple[Any, ...]
"""The values of one row in the order of the table's columns; None where there is no value."""


@attrs.frozen
class Column:
    """A column: its name, and what its values are (`json`: text that holds JSON)."""

    name: str
    kind: Kind


@attrs.frozen
class Table:
    """A table: its name, which is its file's, and its columns."""

    name: str
    columns: tuple[Column, ...]


def _table(name: str, **kinds: Kind) -> Table:
    return Table(name, tuple(Column(column, kind) for column, kind in kinds.items()))


MATCHES: Final = _table(
    "matches",
    number="whole",
    match="text",
    game="text",
    deal="whole",
    players="whole",
    why="text",
    rival="number",
    counts="truth",
    lines="whole",
    elapsed_s="number",
    digest="text",
)
SEATS: Final = _table(
    "seats",
    match="text",
    seat="whole",
    bot="text",
    version="text",
    bot_digest="text",
    rank="whole",
    score="number",
    faults="json",
    retired="truth",
    decisions="whole",
    wall_ms="number",
    cpu_ms="number",
    wait_ms="number",
    longest_ms="number",
    failures="whole",
    input_tokens="whole",
    output_tokens="whole",
    cost="number",
)
DECISIONS: Final = _table(
    "decisions",
    match="text",
    n="whole",
    seat="whole",
    bot="text",
    ask="text",
    state="json",
    legal="json",
    action="json",
    choice="whole",
    how="text",
    ms="number",
    value="number",
    rank="whole",
    score="number",
)
TABLES: Final = (MATCHES, SEATS, DECISIONS)


def match_row(league: League, fixture: Fixture, played: StoredMatch) -> Row:
    """The row of a match in `MATCHES`."""
    return (
        *(fixture.number, fixture.id, league.season.conditions["game"], fixture.deal, len(played.ranks)),
        *(played.why, played.rival, league.counts(fixture), played.lines, played.elapsed_s, played.digest),
    )


def seat_rows(league: League, fixture: Fixture, played: StoredMatch) -> Iterator[Row]:
    """The rows of a match in `SEATS`, in the order of the seats."""
    for seat, bot in enumerate(fixture.seats):
        entrant = league.season.bots[bot]
        faults = [
            {"kind": fault.kind, "n": fault.n, "message": fault.message} for fault in played.faults[seat]
        ]
        yield (
            *(fixture.id, seat, league.season.names[bot], entrant.version, entrant.digest),
            *(played.ranks[seat], played.scores[seat]),
            *(msgspec.json.encode(faults).decode(), any(fault.retired for fault in played.faults[seat])),
            *attrs.astuple(played.times[seat]),
        )


def decision_rows(league: League, fixtures: Iterable[Fixture], jobs: int = 0) -> Iterator[list[Row]]:
    """The rows of each match in `DECISIONS`, a list a match, in the given order; on `jobs` processes (0: all cores).

    Every record is executed again for it; `RecordError` at the first that does not hold.
    """
    waiting: deque[Future[list[Row]]] = deque()
    with RefereePool(jobs, "none") as pool:
        for fixture in fixtures:
            names = [league.season.names[bot] for bot in fixture.seats]
            record = league.store.record(fixture.id)
            waiting.append(pool.submit(decisions_of, record, fixture.id, names))
            if len(waiting) > 4 * pool.jobs:  # bounded: records and rows wait in memory
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def decisions_of(record: bytes, match_id: str, names: list[str]) -> list[Row]:
    """The rows of one record in `DECISIONS`; `names` are the bots' by seat. `RecordError` if it does not hold."""
    replay = Replay(record, where=f"match {match_id}")
    game, before = replay.game, replay.first
    actions = action_cache(game)
    found: list[Row] = []
    for step in replay:
        if game.actors(before) != (CHANCE,):
            data = step.data
            if data["type"] == "act":
                seat: int = data["seat"]
                legal = game.legal(before, seat)
                listed = game.legal_json(before, seat, legal) or actions.listed(legal)
                action = game.parse(before, seat, data["action"])
                found.append(
                    (
                        *(match_id, data["n"], seat, names[seat], data["ask"]),
                        *(game.view_json(before, seat).decode(), listed.decode()),
                        *(msgspec.json.encode(data["action"]).decode(), _place(legal, action)),
                        *(_how(data), data.get("ms", (None,))[0], data.get("value")),
                    )
                )
        before = step.state
    ranks, scores = replay.summary.ranks, replay.summary.scores  # type: ignore[union-attr]
    return [(*row, ranks[row[2]], float(scores[row[2]])) for row in found]


def _how(data: dict[str, Any]) -> str:
    """How it came to an action: the bot was asked, had given it before, it was the only one, or the referee's."""
    if data.get("substituted"):
        return "substituted"
    if data.get("auto"):
        return "only"
    return "asked" if "ms" in data else "then"


def _place(legal: Any, action: Any) -> int | None:
    """Where an action is in the list of the legal ones; None for a message, which no list has."""
    return next((place for place, other in enumerate(legal) if other == action), None)
