"""Fixtures: groups of matches on one deal, single matches, and their outcomes."""

from __future__ import annotations

import json
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import StoreError
from warpleague.league.season import utc_now
from warpleague.match.spec import MatchResult, SeatFault, SeatTimes

if TYPE_CHECKING:
    from collections.abc import Sequence


Table = tuple[int, ...]
"""Bots at a table, as numbers in `Season.bots`; where it says so, in seat order."""


@attrs.frozen
class Group:
    """One deal, and the matches that are played on it: what counts only as a whole.

    `seats` has the bots of each match in seat order, in the order to play them. `bots` are those on whom the deal's
    number depends; two groups of the same ones must differ in `round` or `turn` (both from 0). `place` is the one in
    the schedule, from 0, where it is not the next one: all groups have equally many matches then.
    """

    bots: Table
    seats: tuple[Table, ...]
    round: int
    turn: int = 0
    place: int | None = attrs.field(default=None, eq=False)


@attrs.frozen
class Outcome:
    """The outcome of a group: the result of each match of `group.seats`, in this order.

    `played` is None if the group will not be played to its end, because the bots `absent` were disqualified before.
    """

    group: Group
    played: tuple[StoredMatch, ...] | None
    absent: frozenset[int] = frozenset()

    def matches(self) -> list[tuple[Table, tuple[int, ...]]]:
        """Bots and ranks by seat of each match that was played."""
        return [
            (seats, result.ranks) for seats, result in zip(self.group.seats, self.played or (), strict=False)
        ]

    def microseconds(self) -> list[tuple[Table, tuple[int, ...]]]:
        """Bots by seat of each match that was played, and the microseconds of their decisions."""
        return [
            (seats, tuple(round(times.wall_ms * 1000) for times in result.times))
            for seats, result in zip(self.group.seats, self.played or (), strict=False)
        ]


def points_of(outcome: Outcome, by_score: bool = False) -> Counter[int]:
    """The points of each bot in a group that was played: two for each opponent beaten in a match, one for a tie.

    With `by_score` a bot has beaten those who scored less than it in all matches of the group together.
    """
    points: Counter[int] = Counter()
    played = list(zip(outcome.group.seats, outcome.played or (), strict=True))
    totals: Counter[int] = Counter()
    for seats, result in played:
        totals.update(dict(zip(seats, result.scores, strict=True)))
    for seats, result in played:
        ranks = [-totals[bot] for bot in seats] if by_score else result.ranks
        for bot, rank in zip(seats, ranks, strict=True):
            points[bot] += sum((rank < other) + (rank <= other) for other in ranks) - 1
    return points


def faulted_in(outcome: Outcome) -> Counter[int]:
    """In how many matches of a group that was played each bot faulted."""
    counts: Counter[int] = Counter()
    for seats, result in zip(outcome.group.seats, outcome.played or (), strict=False):
        counts.update(bot for bot, faults in zip(seats, result.faults, strict=True) if faults)
    return counts


@attrs.frozen
class Fixture:
    """A scheduled match.

    `number` counts the season's matches from 1 in schedule order; `seats` holds the bot in each seat;
    `group` numbers the matches that share one deal at one table: they follow each other without a gap. A match that
    has its own dice is a group of its own.
    """

    number: int
    id: str
    deal: int
    group: int
    seats: Table


# -- stored matches --------------------------------------------------------------------------------------


MEND: Final = (
    "warpleague league mend LEAGUE removes matches that do not hold, so that the next run plays them again"
)
"""The remedy for matches in the store that are damaged."""


def is_text(value: object) -> bool:
    """Whether a value is text that can be written anywhere."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


MAX_NUMBER = 1e12
"""Points, or seconds, of a match are below this: far above any, and sums of squares stay finite."""
TIMES = ("decisions", "wall_ms", "cpu_ms", "wait_ms", "longest_ms")
SEAT_TIMES: Final = tuple(field.name for field in attrs.fields(SeatTimes))
"""All that is stored of the time that a seat used: `TIMES`, and what services did."""
_numbers = attrgetter(*SEAT_TIMES)


@attrs.frozen
class LatestMatch:
    """A match in a list of the latest: bots, ranks and scores by seat, how long it took, and when it was stored.

    `stored_s` is in whole seconds since 1970, `lines` the lines of its record.
    """

    id: str
    bots: list[str]
    ranks: list[int]
    scores: list[float]
    why: str
    stored_s: float
    elapsed_s: float
    lines: int


@attrs.frozen
class StoredVersion:
    """The matches of one version of a bot: how many, in how many it was (or shared) first, and how often it faulted.

    `identity` is that of `SeatSpec`; `since` and `until` are when its first and its last match were stored (ISO).
    """

    identity: str
    matches: int
    first: int
    faults: int
    since: str
    until: str


@attrs.frozen
class StoredMatch:
    """A match as the store has it, without its record.

    `bots` are name and identity of the bot in each seat, `faults` all faults of each seat, in order, `times` the time
    that each seat used. `confinement` is a number of `Store.confinements`, `stored` an ISO time.
    """

    id: str
    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    rival: float | None
    why: str
    digest: str
    lines: int
    elapsed_s: float
    faults: tuple[tuple[SeatFault, ...], ...]
    times: tuple[SeatTimes, ...]
    confinement: int | None = None
    deal: int = 0
    bots: tuple[tuple[str, str], ...] = ()
    stored: str = ""

    @classmethod
    def of(
        cls, deal: int, bots: Sequence[tuple[str, str]], result: MatchResult, confinement: int | None = None
    ) -> StoredMatch:
        """The match whose result was just made; `bots` are names and identities."""
        return cls(
            id=result.id,
            ranks=tuple(result.ranks),
            scores=tuple(result.scores),
            rival=None if result.rival is None else float(result.rival),
            why=result.why,
            digest=result.digest,
            lines=result.lines,
            elapsed_s=float(result.elapsed_s),
            faults=tuple(map(tuple, result.faults)),
            times=tuple(
                attrs.evolve(
                    seat,
                    wall_ms=float(seat.wall_ms),
                    cpu_ms=float(seat.cpu_ms),
                    wait_ms=float(seat.wait_ms),
                    longest_ms=float(seat.longest_ms),
                    cost=float(seat.cost),
                )
                for seat in result.times
            ),
            confinement=confinement,
            deal=deal,
            bots=tuple(bots),
            stored=utc_now(),
        )

    def check(self) -> None:
        """Raise `StoreError` if a value makes no sense."""
        if not self.ranks:
            raise damaged(self.id, "it has no seats")
        last = len(self.ranks) + (self.rival is not None)  # alone at the table a bot may come second
        for rank in self.ranks:
            if type(rank) is not int or not 1 <= rank <= last:
                raise damaged(self.id, f"ranks: must be from 1 to {last}")
        rival = () if self.rival is None else (self.rival,)
        for name, values in (("scores", self.scores), ("elapsed_s", (self.elapsed_s,)), ("rival", rival)):
            for value in values:
                if not (isinstance(value, (int, float)) and abs(value) < MAX_NUMBER):
                    raise damaged(
                        self.id, f"{name}: must be numbers between -{MAX_NUMBER:g} and {MAX_NUMBER:g}"
                    )
        for name, text in (("why", self.why), ("digest", self.digest), ("stored", self.stored)):
            if not is_text(text) or not text.isprintable():
                raise damaged(self.id, f"{name}: must be text that can be printed")
        if type(self.lines) is not int or not (self.confinement is None or type(self.confinement) is int):
            raise damaged(self.id, "lines, confinement: must be whole numbers")
        for seat in self.times:
            for number in _numbers(seat):
                if not (isinstance(number, (int, float)) and 0 <= number < MAX_NUMBER):
                    raise damaged(
                        self.id, f"times: must be numbers, each at least 0 and below {MAX_NUMBER:g}"
                    )

    def check_players(self, players: int) -> None:
        """Raise `StoreError` if it is of another number of players."""
        if len(self.ranks) != players:
            raise damaged(self.id, "its seats are not those of its table")

    def journal_texts(self) -> tuple[Any, ...]:
        """The values that the journal hashes; what belongs to the seats is JSON text."""
        faults = [[attrs.asdict(fault) for fault in seat] for seat in self.faults]
        # What few bots have is left out where it is nothing.
        times = [
            {name: value for name in SEAT_TIMES if (value := getattr(seat, name)) or name in TIMES}
            for seat in self.times
        ]
        return (
            self.id,
            self.deal,
            compact_json(self.bots),
            compact_json(self.ranks),
            compact_json(self.scores),
            self.why,
            self.digest,
            compact_json(faults) if any(faults) else "",
            compact_json(times),
            self.lines,
            self.elapsed_s,
            self.stored,
            self.rival,
        )


@attrs.frozen
class PlayedMatch:
    """A stored match with its place in the journal, `entry`, as lists for programs show it."""

    entry: int
    match: StoredMatch


def damaged(match_id: object, what: str) -> StoreError:
    """The error about a match of the store."""
    return StoreError(f"the store is damaged: match {match_id}: {what}; {MEND}")


compact_json: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=repr).encode
