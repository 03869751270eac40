"""Rates the bots of a league after parts of its matches, with errors: the course of their ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from warpleague.league.ratings.statistics import share_interval
from warpleague.league.ratings.wanted import fitted
from warpleague.league.results.earlier_versions import earlier_versions
from warpleague.league.results.tallies import outcomes, rate, records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.fit import Fit
    from warpleague.league.results.league import League
    from warpleague.league.results.tallies import WinLossRecord
    from warpleague.league.store.columns import Columns

_POINTS = 20
_FEW_POINTS = 6
_MANY_BOTS = 40
"""The time of a fit grows with the cube of the number of bots. More bots than this are rated at fewer points."""
MAX_BOTS = 60
"""The most bots to fit again and again: a fit of a hundred takes up to two seconds. Of more there is only Elo."""


@attrs.frozen
class Estimate:
    """A rating, mean score or share of wins, with its 95 % interval; `low` and `high` are None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None


@attrs.frozen
class RatingCourse:
    """After how many matches of the league (`marks`) bots were rated, and the estimates of each bot there.

    An estimate is None where nothing is known of the bot yet, or where it has no finite rating.
    """

    marks: tuple[int, ...]
    estimates: tuple[tuple[Estimate | None, ...], ...]

    def of(self, bot: int) -> list[tuple[int, Estimate]]:
        """The points of one bot."""
        return [
            (mark, estimate)
            for mark, estimates in zip(self.marks, self.estimates, strict=True)
            if (estimate := estimates[bot]) is not None
        ]


def rating_course(league: League, columns: Columns, kind: str) -> RatingCourse:
    """Rate the bots after parts of the matches, which `columns` has in schedule order.

    The kind is "fit", "elo" (which has no error), "score" (the mean score) or "wins" (the share of wins, in percent).
    Where results choose the matches, schedule order is the order in which matches were chosen. Parts are whole deals,
    since the matches of one deal share its luck.
    """
    season = league.season
    bots = len(season.bots)
    marks = _marks(columns, _FEW_POINTS if kind == "fit" and bots >= _MANY_BOTS else _POINTS)
    if kind == "elo":
        rating = league.config.rating
        steps = rate([rating.start] * bots, columns, rating.k, marks)
        return RatingCourse(tuple(marks), tuple(tuple(map(Estimate, step)) for step in steps))
    earlier = earlier_versions(league) if kind == "fit" else None
    rows: list[tuple[Estimate | None, ...]] = []
    for mark in marks:
        part = columns.only(slice(mark))
        if kind == "fit":
            fit = fitted(outcomes(part), season.names, league.config, earlier, likelihoods=False)
            rows.append(tuple(_of_fit(fit, bot) for bot in range(bots)))
        else:
            of = _of_wins if kind == "wins" else _of_scores
            rows.append(tuple(map(of, records(part, part.seats, bots))))
    return RatingCourse(tuple(marks), tuple(rows))


def _marks(columns: Columns, most: int) -> Sequence[int]:
    """The ends of at most `most` parts of whole deals, about equally long. The last one is all matches."""
    count = len(columns)
    if not count:
        return []
    ends = np.r_[columns.starts[1:], count]
    wanted = np.arange(1, most + 1) * count / most
    marks: list[int] = np.unique(ends[np.searchsorted(ends, wanted)]).tolist()
    return marks


def _of_fit(fit: Fit, bot: int) -> Estimate | None:
    rating, half = fit.ratings[bot], fit.half(bot)
    if rating is None:
        return None
    if half is None or fit.guessed[bot]:
        return Estimate(rating)
    return Estimate(rating, rating - half, rating + half)


def _of_scores(record: WinLossRecord) -> Estimate | None:
    scores = record.scores
    if not scores.count:
        return None
    if scores.half is None:
        return Estimate(scores.mean)
    return Estimate(scores.mean, scores.mean - scores.half, scores.mean + scores.half)


def _of_wins(record: WinLossRecord) -> Estimate | None:
    if not record.played:
        return None
    low, high = share_interval(record.won, record.played)
    return Estimate(100 * record.won / record.played, 100 * low, 100 * high)
