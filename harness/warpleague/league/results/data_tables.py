"""A league as plain tables for data tools: its matches, the seats of each, and every decision with what the bot saw.

docs/data.md describes the columns; a test compares it with this module. `table_files` writes them to files.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import msgspec

from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.table_files import save_portion
from warpleague.league.results.table_shapes import DECISIONS
from warpleague.match.replay import Replay
from warpleague.match.scribe import action_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League
    from warpleague.league.results.table_files import TableFormat, Writer
    from warpleague.league.results.table_shapes import Columns, Row
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.season.played_match import StoredMatch

Recorded: TypeAlias = tuple[bytes, bytes, str, list[str]]
"""A match: its record and its key, its id, and the names of its bots by seat."""
_PORTION_BYTES: Final = 1 << 17
"""Records of about this size go to another process at once."""


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
            *(msgspec.json.encode(faults), any(fault.retired for fault in played.faults[seat])),
            *attrs.astuple(played.times[seat]),
        )


def write_decisions(
    writer: Writer,
    kind: TableFormat,
    league: League,
    fixtures: Iterable[Fixture],
    folder: Path,
    jobs: int = 0,
    new_pool: NewPool = RefereePool,
) -> int:
    """Write the rows of `DECISIONS` in the given order; how many they were.

    Every record is executed again for it, on `jobs` processes (0: all cores), which leave the rows in files in
    `folder`. `RecordError` at the first record that does not hold.
    """
    rows = 0
    waiting: deque[tuple[Path, Future[int]]] = deque()

    def take() -> int:
        path, future = waiting.popleft()
        count = future.result()
        writer.take(path)
        path.unlink()
        return count

    with new_pool(jobs, "none") as pool:
        for number, some in enumerate(_portions(league, fixtures)):
            path = folder / str(number)
            waiting.append((path, pool.submit(save_decisions, some, path, kind)))
            if len(waiting) > 2 * pool.jobs:  # bounded: records wait in memory, and rows in files
                rows += take()
        while waiting:
            rows += take()
    return rows


def save_decisions(matches: Iterable[Recorded], path: Path, kind: TableFormat) -> int:
    """Leave the rows of `DECISIONS` of some matches in a file for `Writer.take`; how many they are."""
    columns = decisions_of(matches)
    save_portion(path, DECISIONS, kind, columns)
    return len(columns[0])


def _portions(league: League, fixtures: Iterable[Fixture]) -> Iterator[list[Recorded]]:
    """The records of some matches at a time, so that it is worth the way to another process and back."""
    some: list[Recorded] = []
    size = 0
    season = league.season
    for fixture in fixtures:
        record = league.store.record(fixture.id)
        names = [season.names[bot] for bot in fixture.seats]
        some.append((record, season.key_of(fixture.deal), fixture.id, names))
        size += len(record)
        if size > _PORTION_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def decisions_of(matches: Iterable[Recorded]) -> Columns:
    """The columns of `DECISIONS` of some matches. `RecordError` if a record does not hold."""
    columns: Columns = tuple([[] for _ in DECISIONS.columns])
    for recorded in matches:
        _add_decisions(columns, *recorded)
    return columns


def _add_decisions(columns: Columns, record: bytes, key: bytes, match_id: str, names: list[str]) -> None:
    replay = Replay(record, key=key, where=f"match {match_id}")
    game, before = replay.game, replay.first
    actions = action_cache(game)
    seats: list[int] = []
    match_ids, numbers, sat, bots, asks, states, legals, acts, choices, hows, ms, values, ranks, scores = (
        columns
    )
    for step in replay:
        act, legal = step.act, step.legal
        if act is not None:
            seat, action = act.seat, act.action
            asks.append(act.ask)
            acts.append(actions.canonical(action))
            hows.append("only" if act.auto else "asked" if act.ms else "then")
            ms.append(float(act.ms[1 : act.ms.index(b",")]) if act.ms else None)
            values.append(float(act.value) if act.value else None)
        elif step.is_act:
            data = step.data
            seat = data["seat"]
            legal, action = game.legal(before, seat), game.parse(before, seat, data["action"])
            asks.append(data["ask"])
            acts.append(actions.canonical(action))
            hows.append(_how(data))
            ms.append(data.get("ms", (None,))[0])
            values.append(data.get("value"))
        else:
            before = step.state
            continue
        seats.append(seat)
        numbers.append(step.line - 1)
        states.append(game.view_json(before, seat))
        legals.append(game.legal_json(before, seat, legal) or actions.listed(legal))
        choices.append(_place(legal, action))
        before = step.state
    summary = replay.summary
    if summary is None:
        raise AssertionError("a replay that ends has a summary")
    match_ids += [match_id] * len(seats)
    sat += seats
    bots += [names[seat] for seat in seats]
    ranks += [summary.ranks[seat] for seat in seats]
    scores += [float(summary.scores[seat]) for seat in seats]


def _how(data: dict[str, Any]) -> str:
    """How it came to an action: the bot was asked, had given it before, it was the only one, or the referee's."""
    if data.get("substituted"):
        return "substituted"
    if data.get("auto"):
        return "only"
    return "asked" if "ms" in data else "then"


def _place(legal: Sequence[Any], action: Any) -> int | None:
    """Where an action is in the list of the legal ones; None for a message, which no list has."""
    try:
        return legal.index(action)
    except ValueError:
        return None
