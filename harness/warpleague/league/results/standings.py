"""Computes the standings and the crosstable of a league from its results.

Results are counted in schedule order, so the order in which matches happened to end changes nothing. `tallies`
counts them, and `ratings` has the arithmetic of ratings.
"""

from __future__ import annotations

from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from warpleague.games import load_game
from warpleague.league.ratings.fit import Fit, transitivity
from warpleague.league.ratings.outcomes import Earlier, Outcomes, PairTotals
from warpleague.league.ratings.posterior import at_once, fitted
from warpleague.league.ratings.ranks import RankSets, mean_rank_sets, rank_sets
from warpleague.league.ratings.statistics import Mean, differences_to_next, rounded, wilson_interval
from warpleague.league.results.faulted import retired_seats
from warpleague.league.results.luck import WithoutLuck, without_luck
from warpleague.league.results.tallies import Tally, WinLossRecord, means, outcomes, rate, records, tally
from warpleague.league.schedule.formats.knockout import Knockout, Tie
from warpleague.league.schedule.formats.swiss import Field, Meeting, Swiss
from warpleague.league.schedule.schedule import Course, Schedule
from warpleague.league.store import disqualifications
from warpleague.league.store.events import ENTRANTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.outcomes import Match
    from warpleague.league.results.league import League
    from warpleague.league.store.columns import Array, Columns
    from warpleague.league.store.disqualifications import Disqualification


@attrs.frozen
class Placing:
    """The rank key of a bot where a format decides it: the greater `order`, the better.

    In a cup `reached` is the round in which it lost for good or now plays, or that it won. In a Swiss `points` are
    those of its whole rounds, one for each match won at a table of two, and `buchholz` the points of all that it met;
    a bye counts as a meeting with the bot itself.
    """

    order: tuple[float, ...]
    reached: str | None = None
    points: float | None = None
    buchholz: float | None = None


@attrs.frozen
class WithoutFaults:
    """A bot's rating without the matches that a fault decided, `matches` of which it played.

    `fit`, `error`, `above` and `below` are as in `Standing`; they are measured from the bots whose own faults decided
    no match, so that a bot that rises does not press the others down. `differs` is whether this rating and that by all
    matches differ by more than half the 95 % interval of each; a bound must differ by more than that of all matches.
    The two share most matches, so by chance this happens less often than in 5 % (Hausman 1978).
    """

    matches: int
    fit: float | None
    error: float | None
    above: float | None
    below: float | None
    differs: bool


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
    `without_luck` is the share of points without the luck of the dice, where that was asked for.
    `rank_set` is the first and the last rank that the bot may have by strength (`RankSets`); `without_faults` is its
    other rating, if a fault decided any of its matches.
    """

    rank: int | None
    bot: str
    elo: float | None
    record: WinLossRecord
    error: float | None = None
    fit: float | None = None
    above: float | None = None
    below: float | None = None
    tier: int | None = None
    island: int | None = None
    likelihood: float | None = None
    ahead: Mean | None = None
    disqualified: Disqualification | None = None
    guessed: bool = False
    lead: Mean | None = None
    placing: Placing | None = None
    provisional: bool = False
    without_luck: WithoutLuck | None = None
    rank_set: tuple[int, int] | None = None
    without_faults: WithoutFaults | None = None


@attrs.frozen
class Standings:
    """The table, and what it is made of: bots in order of the season, pair totals, the joint fit (not in solo).

    `rival` is whether the matches were played against the game's own opponent. `course` are Elo ratings on the way.
    With `by_score` mean scores rank, and not ratings, at tables of two and more. `transitivity` is how likely results
    would differ so much from what the ratings say, if these explained who beats whom. `rank_sets` are those of the
    lines, and how small differences can be told.
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
    rank_sets: RankSets | None = None

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


def standings(
    league: League, columns: Columns | None = None, marks: Sequence[int] = (), *, other_ratings: bool = True
) -> Standings:
    """The standings of all matches played so far that belong to the season's schedule.

    `columns` are those matches, if they have been read already. `marks` are as for `tally`. With `other_ratings` lines
    have `without_faults`, which takes as long as the ratings.
    """
    season, rating = league.season, league.config.rating
    solo = season.players == 1
    if columns is None:
        columns = league.columns(*(("matches",) if solo else ()))
    counted = tally(columns, len(season.bots), rating.k, rating.start, marks)
    if solo:
        table = ranked(season.names, counted, None, rating.kind, solo=True, barred=league.barred)
        table = _with_rank_sets(_compared(table, columns), columns, league.barred)
        return _marked(_without_luck(table, league, columns), league)
    earlier = earlier_versions(league)
    fit = fitted(counted.outcomes, season.names, league.config, earlier)
    placed = placings(league)
    table = ranked(
        season.names, counted, fit, ranks_by(league), solo=False, barred=league.barred, placed=placed
    )
    table = attrs.evolve(table, transitivity=transitivity(counted.outcomes, fit.ratings))
    table = _with_rank_sets(table, columns, league.barred)
    if other_ratings and (retired := retired_seats(league, columns)).any():
        decided = np.asarray(retired.any(axis=1))
        rest = fitted(outcomes(columns, ~decided), season.names, league.config, earlier, likelihoods=False)
        table = _with_other_ratings(table, rest, columns.seats[decided], columns.seats[retired])
    if rating.los == "holm":
        lines = zip(table.lines, at_once([line.likelihood for line in table.lines]), strict=True)
        table = attrs.evolve(table, lines=tuple(attrs.evolve(line, likelihood=los) for line, los in lines))
    if season.format.dice == "shared":
        means = on_same_deals(columns, len(season.bots))
        places = {name: bot for bot, name in enumerate(season.names)}
        table = attrs.evolve(
            table, lines=tuple(attrs.evolve(line, lead=means[places[line.bot]]) for line in table.lines)
        )
    return _marked(_without_luck(table, league, columns), league)


def _with_rank_sets(table: Standings, columns: Columns, barred: frozenset[int]) -> Standings:
    """The standings with the ranks that each bot may have, by what ranks; the `barred` have none."""
    ranked = [bot for bot in table.order if bot not in barred]
    if table.fit is not None and not table.by_score:
        return with_rank_sets(table, rank_sets(table.fit, ranked))
    values = np.where(columns.ranks == 1, 1.0, 0.0) if table.rival else columns.scores
    clusters = columns.deal if table.solo else columns.group
    sets = mean_rank_sets(values, columns.seats, clusters, len(table.names), ranked)
    return table if sets is None else with_rank_sets(table, sets)


def with_rank_sets(table: Standings, sets: RankSets) -> Standings:
    """The standings with these sets of ranks, by bot."""
    lines = zip(table.lines, table.order, strict=True)
    return attrs.evolve(
        table,
        lines=tuple(attrs.evolve(line, rank_set=sets.sets[bot]) for line, bot in lines),
        rank_sets=sets,
    )


def _with_other_ratings(table: Standings, rest: Fit, decided: Array, retired: Array) -> Standings:
    """The standings with the ratings by the `rest` of the matches.

    `decided` are the bots by match and seat where a fault decided, `retired` those whose fault it was.
    """
    assert table.fit is not None
    both = [bot for bot in range(len(table.names)) if None not in (table.fit.ratings[bot], rest.ratings[bot])]
    steady = set(both) - set(retired.tolist()) or set(both)
    lines = []
    for line, bot in zip(table.lines, table.order, strict=True):
        matches = int((decided == bot).any(axis=1).sum())
        mates = [other for other in steady if rest.islands[other] == rest.islands[bot]] if bot in both else []
        if matches:
            line = attrs.evolve(line, without_faults=_without_faults(table.fit, rest, bot, matches, mates))
        lines.append(line)
    return attrs.evolve(table, lines=tuple(lines))


def _without_faults(whole: Fit, rest: Fit, bot: int, matches: int, mates: Sequence[int]) -> WithoutFaults:
    """The rating of a bot by the `rest` of the matches, measured from the bots `mates`; none if there are none."""
    if not mates:
        return WithoutFaults(matches, None, None, None, None, differs=False)
    by_all, by_rest = (
        np.array([fit.ratings[one] for one in (bot, *mates)], dtype=float) for fit in (whole, rest)
    )
    shift = float((by_all - by_rest)[1:].mean())
    fit, error = float(by_rest[0]) + shift, None if rest.guessed[bot] else rest.half(bot)
    above, below = (None if of is None else of + shift for of in (rest.above[bot], rest.below[bot]))
    half, before = whole.half(bot), float(by_all[0])
    if half is None or whole.guessed[bot]:
        differs = False
    elif rest.guessed[bot]:
        differs = (above is not None and above - before > half) or (
            below is not None and before - below > half
        )
    else:
        differs = error is not None and abs(fit - before) > max(half, error)
    return WithoutFaults(matches, fit, error, above, below, bool(differs))


def ranks_by(league: League) -> str:
    """The rank keys of the bots, as `ranked` takes them: the score where the game says so, else the rating."""
    return "score" if load_game(league.season.game).by_score else league.config.rating.kind


def on_same_deals(columns: Columns, bots: int) -> list[Mean]:
    """For each bot how much more it scored than who else sat in its seat on the same deal, with the same luck."""
    means = [Mean() for _ in range(bots)]
    if columns.players == 1:
        return means
    for some in columns.blocks():
        means = [mean + more for mean, more in zip(means, _on_same_deals(some, bots), strict=True)]
    return means


def _on_same_deals(columns: Columns, bots: int) -> list[Mean]:
    # The luck of a deal and of a seat is the same for all who sat there. With a sum and a count for each seat of each
    # deal, the mean of the others is the sum less one's own, divided by one less.
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


def _without_luck(table: Standings, league: League, columns: Columns) -> Standings:
    if league.lucks is None:
        return table
    if "id" not in columns.values:
        columns = league.columns("matches")
    left = dict(zip(table.names, without_luck(columns, league.lucks, len(table.names)), strict=True))
    lines = tuple(attrs.evolve(line, without_luck=left[line.bot]) for line in table.lines)
    return attrs.evolve(table, lines=lines)


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
    rival = any(record.margins.count for record in tally.records)
    keys = [_rank_key(bot, tally, fit, kind, solo=solo, rival=rival) for bot in range(len(names))]
    strengths = keys if placed is None else [placing.order for placing in placed]
    order = sorted(range(len(names)), key=names.__getitem__)
    order.sort(
        key=lambda bot: (bot not in barred, strengths[bot], keys[bot], tally.records[bot].points),
        reverse=True,
    )
    lines: list[Standing] = []
    for place, (bot, following) in enumerate(zip_longest(order, order[1:])):
        equal = place > 0 and strengths[bot] == strengths[order[place - 1]]
        line = Standing(
            rank=None if bot in barred else lines[-1].rank if equal else place + 1,
            bot=names[bot],
            elo=None if solo or not tally.records[bot].played else tally.elo.ratings[bot],
            record=tally.records[bot],
            placing=None if placed is None else placed[bot],
        )
        lines.append(
            line if fit is None else _fitted(line, fit, bot, None if following in barred else following)
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


def _rank_key(
    bot: int, tally: Tally, fit: Fit | None, kind: str, *, solo: bool, rival: bool
) -> tuple[float, ...]:
    """What ranks a bot, the greater the better; without the digits in which equal results may differ by rounding."""
    record = tally.records[bot]
    rating = tally.elo.ratings[bot] if fit is None or kind == "elo" else fit.ratings[bot]
    if not record.played:
        return (float("-inf"),)
    if kind == "score":
        return (round(record.scores.mean, 6),)
    if rating is None:
        return (float("-inf"),)
    if rival:
        return (record.won / record.played, record.margins.mean)
    if fit is not None and fit.spread is not None and kind != "elo":
        # What is known of a bot counts, not what may be luck: a few lucky matches must not take it to the top.
        rating -= fit.half(bot) or 0.0
    return (round(record.scores.mean if solo else rating, 6),)


def _fitted(line: Standing, fit: Fit, bot: int, following: int | None) -> Standing:
    """A line with what the fit says of its bot, and of the one that follows it in the table, if one does."""
    return attrs.evolve(
        line,
        fit=fit.ratings[bot],
        error=fit.half(bot),
        above=fit.above[bot],
        below=fit.below[bot],
        tier=fit.tiers[bot],
        island=fit.islands[bot],
        likelihood=None if following is None else fit.superiority(bot, following),
        guessed=bool(fit.guessed[bot]),
        provisional=fit.provisional(bot),
    )


# -- placings --------------------------------------------------------------------------------------------
# Where a format decides who stands where: by how far a bot came in a cup, by points and a tie-break in a Swiss.


def placings(league: League) -> list[Placing] | None:
    """The placing of each bot; None for formats in which ratings rank."""
    kind = league.season.format.kind
    if kind in ("knockout", "double-elimination"):
        return _cup(league)
    return _swiss(league) if kind == "swiss" else None


def _cup(league: League) -> list[Placing]:
    ties, lives = ties_of(league.schedule), 2 if league.season.format.kind == "double-elimination" else 1
    rounds: dict[str, int] = {}
    for tie in ties:
        rounds.setdefault(tie.round, len(rounds))
    bots = range(len(league.season.bots))
    last, lost = dict.fromkeys(bots, ""), dict.fromkeys(bots, 0)
    for tie in ties:
        for bot in tie.bots:
            if bot is not None:
                last[bot] = tie.round
                lost[bot] += tie.winner not in (None, bot)
    left = [bot for bot in bots if lost[bot] < lives]
    placings = []
    for bot in bots:
        out = bot not in left
        reached = last[bot] if out else "winner" if len(left) == 1 else f"{last[bot]}, still in"
        placings.append(Placing((float(not out), float(rounds.get(last[bot], -1))), reached=reached))
    return placings


def _swiss(league: League) -> list[Placing]:
    field, meetings = rounds_of(league.schedule)
    unit = 2 * (league.season.players - 1)
    bots = range(len(league.season.bots))
    points = [field.scores[bot] / unit for bot in bots]
    against = [0.0 for _ in bots]
    for meeting in meetings:
        for bot in meeting.bots:
            met = [other for other in meeting.bots if other != bot] or [bot]
            against[bot] += sum(points[other] for other in met)
    return [Placing((points[bot], against[bot]), points=points[bot], buchholz=against[bot]) for bot in bots]


# -- brackets --------------------------------------------------------------------------------------------
# How the ties of a knockout and the rounds of a Swiss went, as far as results are stored.


def ties_of(schedule: Schedule) -> list[Tie]:
    """The bracket of a season as far as it is known, in the order in which ties are played."""
    assert isinstance(schedule.format, Knockout)
    ties: list[Tie] = []
    for _ in Course(schedule, schedule.format.batches(ties)).counted():
        pass
    return ties


def rounds_of(schedule: Schedule) -> tuple[Field, list[Meeting]]:
    """The rounds of a season as far as they are known, and what its bots did in those that are whole."""
    assert isinstance(schedule.format, Swiss)
    field, meetings = schedule.format.field(), list[Meeting]()
    for _ in Course(schedule, schedule.format.batches(field, meetings)).counted():
        pass
    return field, meetings


# -- earlier versions ------------------------------------------------------------------------------------
# Results of a ladder's earlier versions and of bots that have left: evidence about the bots that play now.


_MAX: Final = 100
"""The most versions and retired bots to rate, the newest: ratings cost the cube of the number of bots."""


def earlier_versions(league: League) -> Earlier:
    """The results of earlier versions of a ladder's bots, and of bots that have left, before the last entry.

    A version that plays once more is the same as before: what it played then tells of it, too.
    """
    season = league.season
    if season.format.kind != "ladder":
        return Earlier()
    store = league.store
    entries = store.events(ENTRANTS)
    if len(entries) < 2:
        return Earlier()
    known = {(bot.bot, bot.identity): place for place, bot in enumerate(season.bots)}
    chains: dict[str, dict[str, None]] = {}  # the versions of each bot, as they came first
    for entry in season.history:
        for name, identity in entry.bots:
            chains.setdefault(name, {})[identity] = None
    arrived = dict.fromkeys(bot for entry in season.history for bot in entry.bots)
    gone = [bot for bot in arrived if bot not in known][-_MAX:]
    known.update({bot: len(season.bots) + place for place, bot in enumerate(gone)})
    links = []
    for name, identities in chains.items():
        there = [known[name, identity] for identity in identities if (name, identity) in known]
        links += list(pairwise(there))
    decisions = disqualifications.disqualified(store)  # also of bots that have left
    out = {name for name, decision in decisions.items() if decision.results == "out"}
    again = {season.names.index(name) for name in season.returns}
    counted = set(league.store.places_in_schedule()) if again else set[str]()
    deals: dict[tuple[int, tuple[int, ...]], list[Match]] = {}
    for match_id, deal, bots, ranks in store.results_before(entries[-1].seq):
        if not out.isdisjoint(name for name, _ in bots) or not all(bot in known for bot in bots):
            continue
        seats = tuple([known[bot] for bot in bots])
        # Among those of now all matches count, but for those from before a version came back.
        if max(seats) >= len(season.bots) or (again.intersection(seats) and match_id not in counted):
            deals.setdefault((deal, tuple(sorted(seats))), []).append((seats, ranks))
    outcomes = Outcomes()
    for matches in deals.values():
        outcomes.add_deal(matches)
    return Earlier(len(gone), tuple(links), outcomes)


# -- rating course ---------------------------------------------------------------------------------------
# The ratings after parts of the matches, with errors.


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
    low, high = wilson_interval(record.won, record.played)
    return Estimate(100 * record.won / record.played, 100 * low, 100 * high)
