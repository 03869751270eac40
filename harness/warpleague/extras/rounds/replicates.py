"""Replicates: the same rounds from the start with other dice, and the means over all runs with their errors.

Matches and rounds of one run have the same programs, so only runs are independent: each has one value in a mean.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.extras.rounds.results import Conditions, Results  # noqa: TC001 - read from the classes at run time
from warpleague.league.ratings.statistics import Mean, rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.extras.rounds.results import AuthorLine


@attrs.frozen(kw_only=True)
class Spread:
    """A mean over runs with the ends of its 95 % interval, by Student's t.

    An end is null with fewer than two runs, and where values without bounds are all equal.
    """

    mean: float
    low: float | None
    high: float | None
    runs: int
    """how many have a value"""

    @classmethod
    def of(cls, values: Iterable[float | None], most: float | None = None) -> Spread | None:
        """The mean of the values of all runs but those with None; None without any. They are from 0 to `most`."""
        known = [value for value in values if value is not None]
        if not known:
            return None
        if most is None:
            mean, half = Mean.of(known), Mean.of(known).half
            ends = None if half is None else (mean.mean - half, mean.mean + half)
        else:
            mean = Mean.of(value / most for value in known)
            ends = mean.share_interval() if len(known) > 1 else None
        unit = most or 1.0
        low, high = ends or (None, None)
        return cls(
            mean=round(mean.mean * unit, 6),
            low=rounded(None if low is None else low * unit, 6),
            high=rounded(None if high is None else high * unit, 6),
            runs=len(known),
        )


@attrs.frozen(kw_only=True)
class MeanLine:
    """An author in one round, over all runs in which this round is over."""

    round: int
    author: str
    rating: Spread | None
    rating_guesses: int
    """in how many runs the rating has no error, since the program won or lost everything"""
    share: Spread | None
    anchor_share: Spread | None
    levels_beaten: Spread | None
    """of the climb"""
    helped: Spread | None
    """the share of the new version against the one before it"""


@attrs.frozen(kw_only=True)
class MeanAuthor:
    """An author over all runs whose rounds are all over; each value of a run is a sum over its rounds."""

    author: str
    rounds_won: Spread | None
    """alone"""
    gain: Spread | None
    """by how much Elo the last version is ahead of the bot at the start; 0 without a new version"""
    input_tokens: Spread | None
    output_tokens: Spread | None
    cost: Spread | None
    edit_s: Spread | None


@attrs.frozen(kw_only=True)
class PairDifference:
    """By how much Elo an author is ahead of another one in the last round, both in the same run."""

    author: str
    other: str
    elo: Spread


@attrs.frozen(kw_only=True)
class Replicated:
    """The means over all runs of a file of rounds that have begun."""

    name: str
    game: str
    rounds: int
    replicates: int
    over: int
    """how many runs have all their rounds over"""
    anchor: str | None
    conditions: Conditions
    authors: tuple[MeanAuthor, ...]
    curves: tuple[MeanLine, ...]
    differences: tuple[PairDifference, ...]
    runs: tuple[Results, ...]

    def to_json(self) -> dict[str, Any]:
        """The means, and the results of each run, as a JSON object."""
        return attrs.asdict(self)

    def curve(self, author: str) -> list[MeanLine]:
        """The rounds of one author, in order."""
        return [line for line in self.curves if line.author == author]


def replicated(runs: Sequence[Results], replicates: int) -> Replicated:
    """The means over the results of at least one run, out of so many `replicates`."""
    first, whole = runs[0], [run for run in runs if run.over == run.rounds]
    authors = [line.author for line in first.authors if not line.fixed]
    last = max(run.over for run in runs)
    lines = {
        (number, author): [line for run in runs for line in run.curve(author) if line.round == number]
        for number in range(1, last + 1)
        for author in authors
    }
    return Replicated(
        name=first.name.partition("/")[0],
        game=first.game,
        rounds=first.rounds,
        replicates=replicates,
        over=len(whole),
        anchor=first.anchor,
        conditions=first.conditions,
        authors=tuple(_author(whole, author) for author in authors),
        curves=tuple(_line(number, author, some) for (number, author), some in lines.items()),
        differences=tuple(
            PairDifference(author=one, other=other, elo=ahead)
            for one, other in combinations(authors, 2)
            if (ahead := _ahead(whole, one, other)) is not None
        ),
        runs=tuple(runs),
    )


def _line(number: int, author: str, lines: Sequence[AuthorLine]) -> MeanLine:
    climbs = [line.climb for line in lines if line.climb is not None]
    levels = max((climb.levels for climb in climbs), default=1)
    return MeanLine(
        round=number,
        author=author,
        rating=Spread.of(line.rating for line in lines),
        rating_guesses=sum(line.rating is not None and line.rating_half is None for line in lines),
        share=Spread.of((line.share.mean for line in lines if line.share), 1),
        anchor_share=Spread.of((line.anchor_share.mean for line in lines if line.anchor_share), 1),
        levels_beaten=Spread.of((climb.levels_beaten for climb in climbs), levels),
        helped=Spread.of((line.helped.share for line in lines if line.helped), 1),
    )


def _author(runs: Sequence[Results], author: str) -> MeanAuthor:
    totals = [line for run in runs for line in run.authors if line.author == author]
    return MeanAuthor(
        author=author,
        rounds_won=Spread.of((line.rounds_won for line in totals), runs[0].rounds if runs else 1),
        gain=Spread.of(0.0 if line.version == f"{author}.0" else line.gain for line in totals),
        input_tokens=Spread.of(line.input_tokens for line in totals),
        output_tokens=Spread.of(line.output_tokens for line in totals),
        cost=Spread.of(line.cost for line in totals),
        edit_s=Spread.of(line.edit_s for line in totals),
    )


def _ahead(runs: Sequence[Results], one: str, other: str) -> Spread | None:
    """The difference of two authors in the last round of each run."""
    gaps: list[float | None] = []
    for run in runs:
        ratings = {line.author: line.rating for line in run.curves if line.round == run.rounds}
        ours, theirs = ratings.get(one), ratings.get(other)
        gaps.append(None if ours is None or theirs is None else ours - theirs)
    return Spread.of(gaps)
