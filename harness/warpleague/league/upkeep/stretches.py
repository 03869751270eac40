"""The parts of a ladder's log between two events, such as bots that come or go, worked out again from the journal."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import ConfigError
from warpleague.league.schedule.schedule import Schedule
from warpleague.league.season.config import FormatTable
from warpleague.league.store import disqualifications, entrants_commitment, journal
from warpleague.league.store.facts import META
from warpleague.match.spec import SeatSpec
from warpleague.strict import structure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.season.played_match import StoredMatch
    from warpleague.league.season.season import Season
    from warpleague.league.store.store import Store


# What an entry's format says beside the keys of a league file.
_SAID_BESIDE: Final = ("returns", "seeds", "stages", "seating")


@attrs.frozen
class Stretch:
    """A part of a ladder's log between two events: the ids of what was stored in it, and the schedule it is of."""

    schedule: Schedule
    ids: tuple[str, ...]


@attrs.frozen
class _Until:
    """The results that were stored before an entry of the journal."""

    store: Store
    places: Mapping[str, int]
    end: int

    def look_up(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, StoredMatch | None]]:
        for fixture, result in self.store.look_up(fixtures):
            yield fixture, result if self.places.get(fixture.id, self.end) < self.end else None


def stretches(league: League) -> Iterator[Stretch]:
    """The parts of a ladder's log before its last event, in order, as the journal has them.

    Left out are those that paired in an earlier way, those that end with a merge, whose matches may be of any part,
    and those whose results are not all what they were, since a match of them or before them was removed.
    """
    store, places = league.store, league.store.places()
    removed = [str(fact.said.get("match")) for fact in store.facts(journal.REMOVED)]
    intact = min((places[one] for one in removed if one in places), default=None)
    events = [fact for fact in store.facts() if fact.kind not in (META, journal.REMOVED, journal.VOIDED)]
    season: Season | None = None
    entries, barred = 0, set[str]()
    for event, following in pairwise(events):
        if event.kind == entrants_commitment.ENTRANTS:
            season = _season(league, event.said, entries, event.seq)
        if event.kind in (entrants_commitment.ENTRANTS, entrants_commitment.MERGED):
            entries += 1
        if event.kind in disqualifications.KINDS:
            decisions = [fact for fact in store.facts(*disqualifications.KINDS) if fact.seq <= event.seq]
            barred = set(disqualifications.in_force(store, decisions))
        if intact is not None and following.seq > intact:
            return
        if season is None or following.kind == entrants_commitment.MERGED:
            continue
        schedule = Schedule(season, _Until(store, places, following.seq))
        out = frozenset(place for place, name in enumerate(season.names) if name in barred)
        ids = tuple(match for match, seq in places.items() if event.seq < seq < following.seq)
        yield Stretch(
            schedule.barring(out), tuple(match for match in ids if not match.startswith(journal.FACT))
        )


def log_problem(league: League) -> str | None:
    """The error in the notes of a ladder's last event, or None; also if that cannot be known."""
    store = league.store
    events = store.facts(entrants_commitment.ENTRANTS)
    entry = entrants_commitment.commitment_to(league.season)
    if not events or events[-1].said.get("commitment") != entry:
        return None
    before, places = events[-1].seq, store.places()
    removed = [str(fact.said.get("match")) for fact in store.facts(journal.REMOVED)]
    if any(places.get(one, before) < before for one in removed):
        return None
    if store.begun(league.season, before) == league.season.taken_over:
        return None
    return "what had been played when its bots were entered is not what the store says"


def _season(league: League, content: dict[str, Any], entries: int, seq: int) -> Season | None:
    """The season as it was after an entry of bots with `entries` before it; None if it was another format."""
    with suppress(ConfigError, ValueError, TypeError, KeyError, AttributeError):
        fields = content["format"].items()
        form = {key: value for key, value in fields if value is not None and key not in _SAID_BESIDE}
        if form["kind"] == "ladder" and form.pop("pairing", 1) == entrants_commitment.PAIRING:
            season = attrs.evolve(
                league.season,
                bots=tuple(SeatSpec(name, "", digest) for name, digest in content["bots"]),
                format=structure(form, FormatTable, "format"),
                history=league.season.history[:entries],
                ended=False,
            )
            return attrs.evolve(season, taken_over=league.store.begun(season, seq))
    return None
