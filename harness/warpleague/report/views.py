"""The looks at a league, each in two forms: JSON for programs, a table for people.

Leaves computing to `warpleague.league.standings`, and the looks of a single table to `tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from warpleague.league import standings as computed
from warpleague.league.held import Held, held
from warpleague.report import tables
from warpleague.report.figures import by_kind, decision_lines, held_lines, read_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from warpleague.league.league import League


@attrs.frozen
class View:
    """One look at a league; `table` is given the width in columns."""

    data: Callable[[League], Any]
    table: Callable[[League, int], RenderableType]


def status(league: League) -> dict[str, Any]:
    """How far the league is, as JSON: matches, bots, and what is public of its secret."""
    store, season = league.store, league.season
    lines = held(league)  # each stored match is in one of them: no need to look for all of them again
    stored = sum(line.matches for line in lines)
    total = league.total(stored)
    taken_out = store.count_of(league.schedule) - stored if league.disqualified else 0
    published = store.published()
    entered = [attrs.asdict(entry) for entry in store.entered()]
    return {
        "league": league.config.name,
        "game": season.game,
        "rules": season.rules,
        "bots": list(season.names),
        "format": league.schedule.describe(),
        "matches": total,
        "stored": stored,
        "complete": stored == total,
        "other": store.count() - stored - taken_out,
        "commitment": season.commitment,
        "published": published,
        "secret": season.secret.hex() if published else None,
        "committed": store.committed(),
        "entrants": entered[-1]["commitment"] if entered else None,
        "entered": entered,
        "beacon": season.beacon,
        "awaits": season.awaits,
        "head": str(store.head()),
        "level": season.level,
        "held": [line.to_json() for line in lines],
        "created": store.meta("created"),
        "harness": store.meta("harness"),
        "store": str(store.path),
        "skipped": list(league.skipped),
        "changed": [change.to_json() for change in league.changed],
        "disqualified": [found.to_json() for found in league.disqualified],
        "taken_out": taken_out,
    }


def _status_table(league: League, _: int) -> RenderableType:
    data = status(league)
    share = 100 * data["stored"] / max(data["matches"], 1)
    secret = f"{data['secret']}, public since {data['published']}" if data["published"] else "until the end"
    rows = [
        ("league", data["league"]),
        ("game", f"{data['game']}, rules version {data['rules']}"),
        ("bots", ", ".join(data["bots"])),
        ("format", data["format"]),
        ("matches", f"{data['stored']:,} of {data['matches']:,} played ({share:.0f} %)"),
        ("store", f"{data['store']}, since {data['created']}"),
        ("commitment", f"{data['commitment']}, since {data['committed']}"),
        ("entrants", "\n".join(f"{line['commitment']}, since {line['since']}" for line in data["entered"])),
        *([("beacon", data["beacon"] or f"awaited: {data['awaits']}")] if data["awaits"] else []),
        ("secret", secret),
        ("receipt", data["head"]),
        (
            "level",
            "\n".join(held_lines(data["level"], [Held(**line) for line in data["held"]])) or data["level"],
        ),
    ]
    if data["other"]:
        rows.insert(5, ("besides", f"{data['other']:,} matches of earlier bots or formats, not counted"))
    if data["taken_out"]:
        rows.insert(5, ("taken out", f"{data['taken_out']:,} matches of disqualified bots, not counted"))
    if league.skipped:
        rows.insert(3, ("left out", "\n".join(league.skipped)))
    if league.disqualified:
        rows.insert(3, ("disqualified", "\n".join(decision_lines(league.disqualified))))
    return tables.facts(rows)


def _held(league: League) -> RenderableType:
    return tables.held_text(league.season.level, held(league))


def _standings(league: League, width: int) -> RenderableType:
    table = tables.standings_table(computed.standings(league), league.config.name, width)
    return tables.stacked(table, _held(league)) if league.store.count() else table


VIEWS: dict[str, View] = {
    "status": View(status, _status_table),
    "standings": View(
        lambda league: [line.to_json() for line in computed.standings(league).lines], _standings
    ),
    "crosstable": View(
        lambda league: computed.standings(league).crosstable_json(),
        lambda league, width: tables.crosstable(computed.standings(league), width),
    ),
    "seats": View(
        lambda league: [line.to_json() for line in computed.seats(league)],
        lambda league, _: tables.seats_table(computed.seats(league)),
    ),
    "faults": View(
        lambda league: [line.to_json() for line in computed.faults(league)],
        lambda league, _: tables.faults_table(by_kind(computed.faults(league))),
    ),
    "times": View(
        lambda league: [line.to_json() for line in computed.times(league)],
        lambda league, _: tables.times_table(computed.times(league)),
    ),
}


def all_tables(league: League, width: int) -> RenderableType:
    """Every table, as the end of a run prints them."""
    read = read_tables(league)
    parts = [tables.standings_table(read.standings, league.config.name, width)]
    if not read.standings.solo:
        parts += [tables.crosstable(read.standings, width), tables.seats_table(read.seats)]
    parts += [tables.times_table(read.times), _held(league), tables.faults_table(read.faults)]
    return tables.stacked(*parts)
