"""Computes the tables of a league from its results: standings, crosstable, seats, faults, times.

Results are read in one stream and in schedule order, so the order in which matches happened to end changes nothing.
The arithmetic of ratings is in `ratings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from warpleague.league.ratings.elo import SequentialElo, pair_points
from warpleague.league.ratings.outcomes import Outcomes, PairTotals
from warpleague.league.ratings.wanted import at_once, fitted
from warpleague.league.statistics import Mean, differences_to_next, share_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from warpleague.league.disqualifications import Disqualification
    from warpleague.league.league import League
    from warpleague.league.ratings.fit import Fit
    from warpleague.league.schedule import Fixture
    from warpleague.league.stored_match import StoredMatch
    from warpleague.match.spec import SeatFault


@attrs.define
class WinLossRecord:
    """A bot's (or a seat's) matches: `won` alone in front, `drawn` sharing the first place, `lost` all others.

    `points` is, for each match, the share of opponents beaten (a shared place half): 1, a half or 0 at a table
    of two. A solo match is won or lost against the game's own opponent, the rival, and neither where there is
    none. `scores` and `margins`, the score less the rival's, are in the game's own unit; `faults` counts faults.
    """

    played: int = 0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    points: float = 0.0
    faults: int = 0
    scores: Mean = attrs.Factory(Mean)
    margins: Mean = attrs.Factory(Mean)

    def add(
        self,
        seat: int,
        ranks: Sequence[int],
        score: float,
        faults: int,
        rival: float | None = None,
        group: int | None = None,
    ) -> None:
        """Count a match seen from `seat`; those of one `group` (on one deal) follow each other."""
        self.played += 1
        self.scores.add(score, group)
        self.faults += faults
        others = len(ranks) - 1
        if rival is not None:
            self.margins.add(score - rival, group)
            self.won += ranks[seat] == 1
            self.lost += ranks[seat] != 1
            self.points += ranks[seat] == 1
        if others == 0:
            return
        self.points += (
            sum(pair_points(ranks[seat], rank) for i, rank in enumerate(ranks) if i != seat) / others
        )
        if ranks[seat] != 1:
            self.lost += 1
        elif ranks.count(1) > 1:
            self.drawn += 1
        else:
            self.won += 1


@attrs.frozen
class Standing:
    """One line of the standings; a disqualified bot has no rank, and comes last.

    `elo` is the rating match by match, `fit` the fitted rating, `error` half its 95 % interval; a solo league has none
    of them. `above` and `below` are one-sided bounds for a bot that won or lost every match. `tier`, `island` and
    `guessed` are those of `Fit`. `likelihood` (LOS) is the likelihood that the bot is stronger than the next one in
    the table. `ahead`, in a solo league, is the mean difference to the next bot on the deals both played: in margin
    if the game has an opponent of its own, else in score.
    """

    rank: int | None
    bot: str
    elo: float | None
    error: float | None
    fit: float | None
    above: float | None
    below: float | None
    tier: int | None
    island: int | None
    likelihood: float | None
    record: WinLossRecord
    ahead: Mean | None = None
    disqualified: Disqualification | None = None
    guessed: bool = False

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object; what is named `..._error`, unlike `error`, is a standard error."""
        record = self.record
        data = {
            "rank": self.rank,
            "bot": self.bot,
            "elo": _rounded(self.elo),
            "error": _rounded(self.error),
            "fit": _rounded(self.fit),
            "above": _rounded(self.above),
            "below": _rounded(self.below),
            "tier": self.tier,
            "island": self.island,
            "guessed": self.guessed,
            "likelihood": _rounded(self.likelihood, 4),
            "played": record.played,
            "won": record.won,
            "drawn": record.drawn,
            "lost": record.lost,
            "points": _rounded(record.points, 6),
            "score": _rounded(record.scores.mean if record.played else None, 6),
            "score_error": _rounded(record.scores.error, 6),
            "faults": record.faults,
            "disqualified": self.disqualified.to_json() if self.disqualified else None,
        }
        if record.margins.count:
            low, high = share_interval(record.won, record.played)
            data["share"] = _rounded(record.won / record.played, 6)
            data["share_low"], data["share_high"] = _rounded(low, 6), _rounded(high, 6)
            data["margin"] = _rounded(record.margins.mean, 6)
            data["margin_error"] = _rounded(record.margins.error, 6)
        if self.ahead is not None and self.ahead.count:
            data["ahead"] = _rounded(self.ahead.mean, 6)
            data["ahead_error"] = _rounded(self.ahead.error, 6)
            data["ahead_deals"] = self.ahead.count
        return data


@attrs.frozen
class Standings:
    """The table, and what it is made of: bots in order of the season, pair totals, the joint fit (not in solo).

    `rival` is whether the matches were played against the game's own opponent.
    """

    lines: tuple[Standing, ...]
    names: tuple[str, ...]
    records: tuple[WinLossRecord, ...]
    totals: PairTotals
    fit: Fit | None
    solo: bool
    rival: bool
    matches: int

    @property
    def order(self) -> tuple[int, ...]:
        """The bots by rank."""
        return tuple(self.names.index(line.bot) for line in self.lines)

    def crosstable_json(self) -> list[dict[str, Any]]:
        """For each bot by rank: its points and meetings against each other bot, and likelihood of superiority."""
        rows = []
        for bot in self.order:
            against = {
                self.names[other]: {
                    "points": self.totals.points[bot][other],
                    "meetings": self.totals.games[bot][other],
                    "likelihood": _rounded(self.fit.superiority(bot, other) if self.fit else None, 4),
                }
                for other in self.order
                if other != bot
            }
            rows.append({"bot": self.names[bot], "against": against})
        return rows


def _rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)


class Tally:
    """What standings are made of, counted match by match in schedule order."""

    def __init__(self, bots: int, k: float, start: float) -> None:
        self.records = [WinLossRecord() for _ in range(bots)]
        self.totals = PairTotals(bots)
        self.elo = SequentialElo(bots, k, start)
        self.outcomes = Outcomes()
        self.matches = 0

    def add(
        self,
        seats: Sequence[int],
        ranks: Sequence[int],
        scores: Sequence[float],
        faults: Sequence[int],
        rival: float | None = None,
        group: int | None = None,
    ) -> None:
        """Count a match: bot, rank, score and number of faults of each seat, the rival's score, and its group."""
        self.matches += 1
        self.totals.add(seats, ranks)
        self.elo.add(seats, ranks)
        self.outcomes.add(group, tuple(seats), tuple(ranks))
        for seat, bot in enumerate(seats):
            self.records[bot].add(seat, ranks, scores[seat], faults[seat], rival, group)


def standings(league: League, each: Callable[[Fixture, StoredMatch, Tally], None] | None = None) -> Standings:
    """The standings of all matches played so far that belong to the season's schedule.

    `each` is given every match in schedule order, with the tally up to it: what else is wanted of the results can be
    counted in the same reading.
    """
    season, rating = league.season, league.config.rating
    tally = Tally(len(season.bots), rating.k, rating.start)
    for fixture, played in league.results():
        counts = [len(faults) for faults in played.faults]
        tally.add(fixture.seats, played.ranks, played.scores, counts, played.rival, fixture.group)
        if each is not None:
            each(fixture, played, tally)
    if season.players == 1:
        table = ranked(season.names, tally, None, rating.kind, solo=True, barred=league.barred)
        return _marked(_compared(table, league), league)
    fit = fitted(tally.outcomes, season.names, rating)
    table = ranked(season.names, tally, fit, rating.kind, solo=False, barred=league.barred)
    if rating.los == "holm":
        told = zip(table.lines, at_once([line.likelihood for line in table.lines]), strict=True)
        table = attrs.evolve(table, lines=tuple(attrs.evolve(line, likelihood=los) for line, los in told))
    return _marked(table, league)


def _marked(table: Standings, league: League) -> Standings:
    """The standings, the lines of disqualified bots marked."""
    found = {decision.bot: decision for decision in league.disqualified}
    lines = [attrs.evolve(line, disqualified=found.get(line.bot)) for line in table.lines]
    return attrs.evolve(table, lines=tuple(lines)) if found else table


def _compared(table: Standings, league: League) -> Standings:
    """Solo standings, each bot compared with the next on the deals that both have played."""
    values = (
        (fixture.deal, fixture.seats[0], played.scores[0] - (played.rival or 0.0))
        for fixture, played in league.results()
    )
    means = differences_to_next(table.order, values)
    lines = [attrs.evolve(line, ahead=mean) for line, mean in zip(table.lines, means, strict=False)]
    return attrs.evolve(table, lines=(*lines, *table.lines[len(lines) :]))


def ranked(
    names: Sequence[str],
    tally: Tally,
    fit: Fit | None,
    kind: str,
    *,
    solo: bool,
    barred: frozenset[int] = frozenset(),
) -> Standings:
    """Put the bots in order: by the fitted rating, or if there is no fit or `kind` is "elo" match by match.

    Solo bots go by share of wins, then by mean margin, and where there is no rival by mean score. Equals share
    a rank and leave a gap; bots that have not played come last, and after them the `barred`, without a rank.
    """
    bots = range(len(names))
    rival = any(record.margins.count for record in tally.records)
    ratings = tally.elo.ratings if fit is None or kind == "elo" else fit.ratings

    def strength(bot: int) -> tuple[float, ...]:
        """What ranks: the greater, the better. Without the digits in which equal results may differ by rounding."""
        record, rating = tally.records[bot], ratings[bot]
        if rating is None or not record.played:
            return (float("-inf"),)
        if rival:
            return (record.won / record.played, record.margins.mean)
        return (round(record.scores.mean if solo else rating, 6),)

    order = sorted(bots, key=names.__getitem__)
    order.sort(key=lambda bot: (bot not in barred, strength(bot), tally.records[bot].points), reverse=True)
    lines: list[Standing] = []
    for place, bot in enumerate(order):
        tied = place > 0 and strength(bot) == strength(order[place - 1])
        following = order[place + 1] if place + 1 < len(order) else None
        following = None if following in barred else following
        lines.append(
            Standing(
                rank=None if bot in barred else lines[-1].rank if tied else place + 1,
                bot=names[bot],
                elo=None if solo or not tally.records[bot].played else tally.elo.ratings[bot],
                error=fit.half(bot) if fit else None,
                fit=fit.ratings[bot] if fit else None,
                above=fit.above[bot] if fit else None,
                below=fit.below[bot] if fit else None,
                tier=fit.tiers[bot] if fit else None,
                island=fit.islands[bot] if fit else None,
                likelihood=fit.superiority(bot, following) if fit and following is not None else None,
                record=tally.records[bot],
                guessed=bool(fit and fit.guessed[bot]),
            )
        )
    return Standings(
        lines=tuple(lines),
        names=tuple(names),
        records=tuple(tally.records),
        totals=tally.totals,
        fit=fit,
        solo=solo,
        rival=rival,
        matches=tally.matches,
    )


@attrs.define
class SeatLine:
    """What a seat is worth: the matches seen from it, and the mean share of points with its standard error.

    On each deal every bot of the table takes the seat once, so differences in strength cancel out within a deal, and
    the errors, which are clustered by deal, are small.
    """

    seat: int
    record: WinLossRecord = attrs.Factory(WinLossRecord)
    share: Mean = attrs.Factory(Mean)

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object."""
        record = self.record
        return {
            "seat": self.seat,
            "played": record.played,
            "won": record.won,
            "drawn": record.drawn,
            "lost": record.lost,
            "share": _rounded(self.share.mean if self.share.count else None, 6),
            "share_error": _rounded(self.share.error, 6),
            "score": _rounded(record.scores.mean if record.played else None, 6),
            "faults": record.faults,
        }


def seats(league: League) -> list[SeatLine]:
    """The results by seat; with every bot in every seat equally often, all shares are alike if seats are."""
    lines = seat_lines(league)
    for fixture, played in league.results():
        count_seats(lines, fixture, played)
    return lines


def seat_lines(league: League) -> list[SeatLine]:
    """A line for each seat, before any match."""
    return [SeatLine(seat) for seat in range(league.season.players)]


def count_seats(lines: Sequence[SeatLine], fixture: Fixture, played: StoredMatch) -> None:
    """Count a match in the lines of its seats."""
    for line, score, faults in zip(lines, played.scores, played.faults, strict=True):
        before = line.record.points
        line.record.add(line.seat, played.ranks, score, len(faults), played.rival, fixture.group)
        line.share.add(line.record.points - before, fixture.group)


@attrs.frozen
class FaultLine:
    """A fault: whose, in which match (its number and id), in which seat, and what it was."""

    bot: str
    number: int
    match: str
    seat: int
    fault: SeatFault

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object; `n` is the number of the record's line."""
        data = {"bot": self.bot, "number": self.number, "match": self.match, "seat": self.seat}
        return data | attrs.asdict(self.fault)


def faults(league: League) -> Iterator[FaultLine]:
    """Every fault, in schedule order."""
    for fixture, played in league.results():
        yield from faults_of(league, fixture, played)


def faults_of(league: League, fixture: Fixture, played: StoredMatch) -> Iterator[FaultLine]:
    """Every fault of a match, seat by seat."""
    names = league.season.names
    for seat, found in enumerate(played.faults):
        for fault in found:
            yield FaultLine(names[fixture.seats[seat]], fixture.number, fixture.id, seat, fault)


@attrs.define
class TimeLine:
    """The time a bot used, in milliseconds: totals over asked decisions, and the longest decision and its match."""

    bot: str
    matches: int = 0
    decisions: int = 0
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    wait_ms: float = 0.0
    longest_ms: float = 0.0
    longest_match: str = ""

    def mean(self, total_ms: float) -> float | None:
        """A total divided by the decisions."""
        return total_ms / self.decisions if self.decisions else None

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object; means are for one decision."""
        return {
            "bot": self.bot,
            "matches": self.matches,
            "decisions": self.decisions,
            "wall_ms": _rounded(self.mean(self.wall_ms), 4),
            "cpu_ms": _rounded(self.mean(self.cpu_ms), 4),
            "wait_ms": _rounded(self.mean(self.wait_ms), 4),
            "longest_ms": _rounded(self.longest_ms, 3),
            "longest_match": self.longest_match,
        }


def times(league: League) -> list[TimeLine]:
    """The time each bot used, in the order of the season's bots."""
    lines = time_lines(league)
    for fixture, played in league.results():
        count_times(lines, fixture, played)
    return lines


def time_lines(league: League) -> list[TimeLine]:
    """A line for each bot, before any match."""
    return [TimeLine(name) for name in league.season.names]


def count_times(lines: Sequence[TimeLine], fixture: Fixture, played: StoredMatch) -> None:
    """Count a match in the lines of its bots."""
    for bot, used in zip(fixture.seats, played.times, strict=True):
        line = lines[bot]
        line.matches += 1
        line.decisions += used.decisions
        line.wall_ms += used.wall_ms
        line.cpu_ms += used.cpu_ms
        line.wait_ms += used.wait_ms
        if used.longest_ms > line.longest_ms:
            line.longest_ms, line.longest_match = used.longest_ms, fixture.id
