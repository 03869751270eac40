"""How far a league is: its matches, its bots, its commitments, and what is public of its secret."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.league.results.faulted import BotFaults, ConfinedMatches, bot_faults, confined_matches, voids
from warpleague.league.schedule.formats.placement import PlacementFollower
from warpleague.league.schedule.formats.strength_test import Deal, StrengthFormat, StrengthTest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.placement import Placement
    from warpleague.league.results.league import Change, League
    from warpleague.league.schedule.formats.strength_test import Match
    from warpleague.league.season.fixture import Fixture, StoredMatch
    from warpleague.league.season.season import Season
    from warpleague.league.store.disqualifications import Disqualification
    from warpleague.league.store.events import EntrantsCommitment
    from warpleague.match.spec import MatchResult, SeatFault


@attrs.frozen(kw_only=True)
class Status:
    """How far a league is.

    `matches` is the number of all matches that count (None where results that are missing decide it), `stored` of
    those that are played; `other` matches belong to earlier bots or formats, `taken_out` ones to disqualified bots.
    `earlier` says of each bot in how many of the others an earlier version of it played, if any did.
    `commitment` is the one to the secret, since `committed`; `entered` are those to the entrants. `secret` is
    hexadecimal, and None until it is `published`. `awaits` is the beacon the league waits for, `beacon` its value,
    `head` the receipt of the journal. `faulted` are the bots that faulted. `void` counts for each bot the matches that
    were begun in vain. All times are ISO times.
    """

    league: str
    game: str
    rules: int
    bots: tuple[str, ...]
    format: str
    matches: int | None
    stored: int
    other: int
    taken_out: int
    commitment: str
    committed: str | None
    published: str | None
    secret: str | None
    entered: tuple[EntrantsCommitment, ...]
    beacon: str | None
    awaits: str | None
    head: str
    level: str
    confined: tuple[ConfinedMatches, ...]
    created: str | None
    harness: str | None
    store: str
    skipped: tuple[str, ...]
    changed: tuple[Change, ...]
    disqualified: tuple[Disqualification, ...]
    faulted: tuple[BotFaults, ...] = ()
    earlier: tuple[tuple[str, int], ...] = ()
    void: dict[str, int] = attrs.Factory(dict)

    @property
    def complete(self) -> bool:
        """Whether all matches that count are played."""
        return self.stored == self.matches

    @property
    def percent(self) -> float | None:
        """How many of the matches are played, in percent; None where their number is not known."""
        return None if self.matches is None else 100 * self.stored / max(self.matches, 1)

    def to_json(self) -> dict[str, Any]:
        """The status as a JSON object."""
        return {
            "league": self.league,
            "game": self.game,
            "rules": self.rules,
            "bots": list(self.bots),
            "format": self.format,
            "matches": self.matches,
            "stored": self.stored,
            "complete": self.complete,
            "other": self.other,
            "commitment": self.commitment,
            "published": self.published,
            "secret": self.secret,
            "committed": self.committed,
            "entrants": self.entered[-1].commitment if self.entered else None,
            "entered": [attrs.asdict(entry) for entry in self.entered],
            "beacon": self.beacon,
            "awaits": self.awaits,
            "head": self.head,
            "level": self.level,
            "held": [way.to_json() for way in self.confined],
            "created": self.created,
            "harness": self.harness,
            "store": self.store,
            "skipped": list(self.skipped),
            "changed": [change.to_json() for change in self.changed],
            "disqualified": [decision.to_json() for decision in self.disqualified],
            "taken_out": self.taken_out,
            "faults": [fault.to_json() for fault in self.faulted],
            "earlier": dict(self.earlier),
            "void": self.void,
        }


def _earlier(league: League) -> tuple[tuple[str, int], ...]:
    """In how many stored matches an earlier version of each bot played, where one did."""
    now = {bot.bot: bot.identity for bot in league.season.bots}
    counts = Counter[str]()
    for (name, identity), many in league.store.count_versions().items():
        if now.get(name, identity) != identity:
            counts[name] += many
    return tuple((name, counts[name]) for name in now if counts[name])


def status(league: League) -> Status:
    """How far `league` is."""
    store, season = league.store, league.season
    confined = confined_matches(league)  # each stored match is in one of them: no need to count them again
    stored = sum(way.matches for way in confined)
    taken_out = len(league.columns(everything=True)) - stored if league.disqualified else 0
    published = store.published()
    total = league.scheduled()
    other = store.count() - stored - taken_out
    return Status(
        league=league.config.name,
        game=season.game,
        rules=season.rules,
        bots=tuple(season.names),
        format=league.schedule.describe_with(total),
        matches=league.total(stored) if league.disqualified else total,
        stored=stored,
        other=other,
        earlier=_earlier(league) if other else (),
        taken_out=taken_out,
        commitment=season.commitment,
        committed=store.committed(),
        published=published,
        secret=season.secret.hex() if published else None,
        entered=tuple(store.entered()),
        beacon=season.beacon,
        awaits=season.awaits,
        head=str(store.head()),
        level=season.level,
        confined=tuple(confined),
        created=store.meta("created"),
        harness=store.meta("harness"),
        store=str(store.path),
        skipped=league.skipped,
        changed=league.changed,
        disqualified=league.disqualified,
        faulted=tuple(bot_faults(league)) if stored else (),
        void=voids(store),
    )


# -- tests of strength -----------------------------------------------------------------------------------


class Follower:
    """Tells a test of matches that end in any order: each deal once it and all deals before it are whole."""

    def __init__(self, season: Season) -> None:
        self.state = StrengthTest.of(season)
        self._size = StrengthFormat(season).matches_a_deal
        self._next = 0
        self._open: dict[int, list[tuple[Match, Sequence[Sequence[SeatFault]]]]] = {}

    def finished(self, fixture: Fixture, result: StoredMatch | MatchResult) -> None:
        """A match has ended."""
        match = (fixture.seats, result.ranks, result.scores, result.rival)
        self._open.setdefault(fixture.group, []).append((match, result.faults))
        while len(self._open.get(self._next, ())) == self._size:
            self.state.add(Deal.of(*zip(*self._open.pop(self._next), strict=True)))
            self._next += 1


def placement(league: League) -> Placement:
    """What is known of the first bot of a placement after all whole deals that are stored."""
    follower = PlacementFollower(league.season)
    for fixture, result in league.results():
        follower.finished(fixture, result)
    return follower.state


def strength_test(league: League) -> StrengthTest:
    """The test of `league` after all whole deals that are stored, in the order of the schedule."""
    follower = Follower(league.season)
    for fixture, result in league.results():
        follower.finished(fixture, result)
    return follower.state
