"""Works out again what a ladder has chosen.

That follows from the results before, and from who played. The journal says when bots came, left or were disqualified,
so each stretch between two of these events is worked out with the bots of then.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from warpleague.errors import ConfigError
from warpleague.league.results.ladders import PARTS, begun
from warpleague.league.schedule.formats.ladder import Ladder
from warpleague.league.schedule.schedule import Course, Schedule
from warpleague.league.season.config import FormatTable
from warpleague.league.season.season import Season, deal_of
from warpleague.league.store import disqualifications, journal
from warpleague.league.store.columns import gathered
from warpleague.league.store.events import ENTRANTS, MERGED, PASSING
from warpleague.match.spec import SeatSpec
from warpleague.strict import structure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture, StoredMatch
    from warpleague.league.store.choices import Chosen
    from warpleague.league.store.store import Store


_PROGRAM_KEYS: Final = ("pairing", "returns", "seating", "seeds", "stages", "worth")
"""What the format of an entry has beside the keys of a league file."""


@attrs.frozen
class _Stretch:
    """A part of a ladder's journal between two entries: who played in it, and the entry with which they were entered.

    `merged`: it ends with a merge, whose matches may be of any stretch.
    """

    season: Season
    barred: frozenset[int]
    entered: int
    begin: int
    end: int
    merged: bool


@attrs.frozen
class _Until:
    """The results that were stored before an entry of the journal, and what had been chosen `before`."""

    store: Store
    places: Mapping[str, int]
    end: int
    before: Chosen

    def look_up(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, StoredMatch | None]]:
        for fixture, result in self.store.look_up(fixtures):
            yield fixture, result if self.places.get(fixture.id, self.end) < self.end else None

    def chosen(self, season: Season) -> Chosen:  # noqa: ARG002 - it was read for this season
        return self.before


def mischosen(league: League) -> list[str]:
    """The ids of stored matches that a ladder did not choose, or that the results before them do not give.

    Left out is what was chosen after a match was stored that has been removed since, and what was played before the
    seat orders or the dice of the format changed.
    """
    store, places = league.store, league.store.places()
    removed = [str(event.details.get("match")) for event in store.events(journal.REMOVED)]
    intact = min((places[one] for one in removed if one in places), default=store.journal() + 1)
    played = {match_id: places.get(match_id, 0) for match_id in store.ids()}
    stretches, others = _stretches(league)
    wrong: dict[str, None] = {}
    for stretch in stretches:
        season, chosen = stretch.season, store.chosen(stretch.season)
        ids = [
            [season.match_id(deal_of(season, group, seats), seats) for seats in group.seats]
            for group in chosen.groups(season)
        ]
        here = (chosen.after >= stretch.begin) & (chosen.after < min(stretch.end, intact))
        suspect = [one for row in np.flatnonzero(here).tolist() for one in ids[row]]
        if suspect:
            before = chosen.only(chosen.places < chosen.places[here].min())
            given = _given(stretch, store, places, before, len(suspect))
            wrong |= dict.fromkeys(one for one in suspect if one not in given)
        known = {one for of_deal in ids for one in of_deal}
        if not stretch.merged:
            in_part = (one for one, seq in played.items() if stretch.begin < seq < stretch.end)
            wrong |= dict.fromkeys(one for one in in_part if one not in known)
        # Nothing was chosen after the last entry, and before the first one only what was taken over.
        never = chosen.after > store.journal()
        if not others:
            never |= chosen.after < 0
        wrong |= dict.fromkeys(one for row in np.flatnonzero(never).tolist() for one in ids[row])
    return [one for one in wrong if one in played]


def _given(stretch: _Stretch, store: Store, places: Mapping[str, int], before: Chosen, most: int) -> set[str]:
    """The ids of the matches that the results give after the deals chosen `before`, about `most` of them."""
    season, results = stretch.season, _Until(store, places, stretch.end, before)
    schedule = Schedule(season, results).barring(stretch.barred)
    stored = ((fixture, match) for fixture, match in results.look_up(schedule) if match is not None)
    columns = gathered(stored, season.players, PARTS)
    so_far = begun(season, before, columns, stretch.barred, stretch.entered)
    form = Ladder(season)
    course = Course(schedule, form.batches(so_far, stretch.barred))
    most += 0 if so_far is None else (len(so_far.open) + len(so_far.last)) * form.matches_a_deal
    given = set[str]()
    while len(given) < most and (batch := course.take()) is not None:
        given.update(fixture.id for fixture in batch)
    return given


def _stretches(league: League) -> tuple[list[_Stretch], bool]:
    """The stretches of a ladder, in order, and whether matches of other formats or stores may have been taken over."""
    store, form = league.store, league.season.format
    events = [event for event in store.events() if event.kind not in PASSING]
    decided = store.events(*disqualifications.KINDS)
    stretches: list[_Stretch] = []
    season: Season | None = None
    entries, entered, others = 0, 0, False
    ends = [*((event.seq, event.kind) for event in events[1:]), (store.journal() + 1, "")]
    for event, (end, following) in zip(events, ends, strict=True):
        others |= event.kind == MERGED
        if event.kind == ENTRANTS:
            season, entered = _season(league, event.details, entries), event.seq
            if season is None or (season.format.seats, season.format.dice) != (form.seats, form.dice):
                others, season, stretches = True, None, stretches if season is None else []
        entries += event.kind in (ENTRANTS, MERGED)
        if season is not None:
            names = disqualifications.in_force(store, [one for one in decided if one.seq <= event.seq])
            barred = frozenset(place for place, name in enumerate(season.names) if name in names)
            stretches.append(_Stretch(season, barred, entered, event.seq, end, following == MERGED))
    return stretches, others


def _season(league: League, content: dict[str, Any], entries: int) -> Season | None:
    """The season as it was after an entry of bots with `entries` before it; None if it was another format."""
    with suppress(ConfigError, ValueError, TypeError, KeyError, AttributeError):
        fields = content["format"].items()
        form = {key: value for key, value in fields if value is not None and key not in _PROGRAM_KEYS}
        if form["kind"] == "ladder":
            return attrs.evolve(
                league.season,
                bots=tuple(SeatSpec(name, "", digest) for name, digest in content["bots"]),
                format=structure(form, FormatTable, "format"),
                history=league.season.history[:entries],
                ended=False,
            )
    return None
