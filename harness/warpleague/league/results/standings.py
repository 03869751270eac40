"""Computes the standings and the crosstable of a league from its results.

Results are counted in schedule order, so the order in which matches happened to end changes nothing. `tallies`
counts them, and `ratings` has the arithmetic of ratings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from warpleague.games import load_game
from warpleague.league.ratings.statistics import Mean, differences_to_next, rounded
from warpleague.league.ratings.transitivity import transitivity
from warpleague.league.ratings.wanted import at_once, fitted
from warpleague.league.results.earlier_versions import earlier_versions
from warpleague.league.results.placings import placings
from warpleague.league.results.tallies import Tally, WinLossRecord, means, tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.fit import Fit
    from warpleague.league.ratings.outcomes import PairTotals
    from warpleague.league.results.league import League
    from warpleague.league.results.placings import Placing
    from warpleague.league.store.columns import Columns
    from warpleague.league.store.disqualifications import Disqualification


@attrs.frozen
class Standing:
    """One line of the standings; a disqualified bot has no rank, and comes last.

    `elo` is the rating match by match, `fit` the fitted rating, `error` half its 95 % interval; a solo league has none
    of them. `above` and `below` are one-sided bounds for a bot that won or lost every match. `tier`, `island` and
    `guessed` are those of `Fit`. `likelihood` (LOS) is the likelihood that the bot is stronger than the next one in
    the table. A `provisional` place rests on less than half as many deals as bots have on average (ladders).
    `lead` is how much more it scored, on average, than who else sat in its seat on the same deal; `ahead`,
    in a solo league, is the mean difference to the next bot on the deals both played: in margin
    if the game has an opponent of its own, else in score. `placing` is what ranks in a cup and in a Swiss.
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
    lead: Mean | None = None
    placing: Placing | None = None
    provisional: bool = False


@attrs.frozen
class Standings:
    """The table, and what it is made of: bots in order of the season, pair totals, the joint fit (not in solo).

    `rival` is whether the matches were played against the game's own opponent. `course` are Elo ratings on the way.
    With `by_score` mean scores rank, and not ratings, at tables of two and more. `transitivity` is how likely results
    would differ so much from what the ratings say, if these explained who beats whom.
    """

    lines: tuple[Standing, ...]
    names: tuple[str, ...]
    records: tuple[WinLossRecord, ...]
    totals: PairTotals
    fit: Fit | None
    solo: bool
    rival: bool
    matches: int
    course: tuple[list[float], ...] = ()
    by_score: bool = False
    transitivity: float | None = None

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
                    "likelihood": rounded(self.fit.superiority(bot, other) if self.fit else None, 4),
                }
                for other in self.order
                if other != bot
            }
            rows.append({"bot": self.names[bot], "against": against})
        return rows


def standings(league: League, columns: Columns | None = None, marks: Sequence[int] = ()) -> Standings:
    """The standings of all matches played so far that belong to the season's schedule.

    `columns` are those matches, if they have been read already. `marks` are as for `tally`.
    """
    season, rating = league.season, league.config.rating
    solo = season.players == 1
    if columns is None:
        columns = league.columns(*(("matches",) if solo else ()))
    counted = tally(columns, len(season.bots), rating.k, rating.start, marks)
    if solo:
        table = ranked(season.names, counted, None, rating.kind, solo=True, barred=league.barred)
        return _marked(_compared(table, columns), league)
    fit = fitted(counted.outcomes, season.names, league.config, earlier_versions(league))
    placed = placings(league)
    table = ranked(
        season.names, counted, fit, ranks_by(league), solo=False, barred=league.barred, placed=placed
    )
    table = attrs.evolve(table, transitivity=transitivity(counted.outcomes, fit.ratings))
    if rating.los == "holm":
        lines = zip(table.lines, at_once([line.likelihood for line in table.lines]), strict=True)
        table = attrs.evolve(table, lines=tuple(attrs.evolve(line, likelihood=los) for line, los in lines))
    if season.format.dice == "shared":
        means = on_same_deals(columns, len(season.bots))
        places = {name: bot for bot, name in enumerate(season.names)}
        table = attrs.evolve(
            table, lines=tuple(attrs.evolve(line, lead=means[places[line.bot]]) for line in table.lines)
        )
    return _marked(table, league)


def ranks_by(league: League) -> str:
    """The rank keys of the bots, as `ranked` takes them: the score where the game says so, else the rating."""
    return "score" if load_game(league.season.game).by_score else league.config.rating.kind


def on_same_deals(columns: Columns, bots: int) -> list[Mean]:
    """For each bot how much more it scored than who else sat in its seat on the same deal, with the same luck."""
    means = [Mean() for _ in range(bots)]
    for some in columns.blocks() if columns.players > 1 else ():
        means = [mean + more for mean, more in zip(means, _on_same_deals(some, bots), strict=True)]
    return means


def _on_same_deals(columns: Columns, bots: int) -> list[Mean]:
    players = columns.players
    groups = np.repeat(columns.group.astype(np.int64), players)
    _, seat = np.unique(groups * players + np.tile(np.arange(players), len(columns)), return_inverse=True)
    scores = columns.scores.ravel()
    total, count = np.bincount(seat, scores)[seat], np.bincount(seat)[seat]
    several = count > 1
    more = scores[several] - (total[several] - scores[several]) / (count[several] - 1)
    return means(more[:, None], columns.seats.ravel()[several][:, None], groups[several], bots)


def _marked(table: Standings, league: League) -> Standings:
    """The standings, the lines of disqualified bots marked."""
    decisions = {decision.bot: decision for decision in league.disqualified}
    lines = [attrs.evolve(line, disqualified=decisions.get(line.bot)) for line in table.lines]
    return attrs.evolve(table, lines=tuple(lines)) if decisions else table


def _compared(table: Standings, columns: Columns) -> Standings:
    """Solo standings, each bot compared with the next on the deals that both have played."""
    values = columns.scores[:, 0] - np.nan_to_num(columns.rival)
    streams = (columns.deal.tolist(), columns.seats[:, 0].tolist(), values.tolist())
    means = differences_to_next(table.order, zip(*streams, strict=True))
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
    placed: Sequence[Placing] | None = None,
) -> Standings:
    """Put the bots in order: by the fitted rating, or if there is no fit or `kind` is "elo" match by match.

    If `kind` is "score" the mean score comes first. Of shrunk ratings the lower end of the 95 % interval ranks.
    Where a format has `placed` them, this comes first. Solo bots go by share of wins, then by mean margin, and where
    there is no rival by mean score. Equals share a rank and leave a gap; bots that have not played come last, and
    after them the `barred`, without a rank.
    """
    bots = range(len(names))
    rival = any(record.margins.count for record in tally.records)
    ratings = tally.elo.ratings if fit is None or kind == "elo" else fit.ratings

    def strength(bot: int) -> tuple[float, ...]:
        """The rank key: the greater, the better. Without the digits in which equal results may differ by rounding."""
        return rated(bot) if placed is None else placed[bot].order

    def rated(bot: int) -> tuple[float, ...]:
        record, rating = tally.records[bot], ratings[bot]
        if not record.played:
            return (float("-inf"),)
        if kind == "score":
            return (round(record.scores.mean, 6),)
        if rating is None:
            return (float("-inf"),)
        if rival:
            return (record.won / record.played, record.margins.mean)
        if fit is not None and fit.spread is not None and kind != "elo":
            # What is known of a bot counts, not what may be luck.
            rating -= fit.half(bot) or 0.0
        return (round(record.scores.mean if solo else rating, 6),)

    order = sorted(bots, key=names.__getitem__)
    order.sort(
        key=lambda bot: (bot not in barred, strength(bot), rated(bot), tally.records[bot].points),
        reverse=True,
    )
    lines: list[Standing] = []
    for place, bot in enumerate(order):
        equal = place > 0 and strength(bot) == strength(order[place - 1])
        following = order[place + 1] if place + 1 < len(order) else None
        following = None if following in barred else following
        lines.append(
            Standing(
                rank=None if bot in barred else lines[-1].rank if equal else place + 1,
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
                placing=None if placed is None else placed[bot],
                provisional=bool(fit and fit.provisional(bot)),
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
        course=tuple(tally.course),
        by_score=kind == "score" and not solo,
    )
