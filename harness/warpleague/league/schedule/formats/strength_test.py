"""A test of strength: two bots play the same deals until a sequential test decides which is better.

The first bot of the league is the new one, the second the old one, the others the pool. Without a pool they play
each other; at tables of one, and beside a field from the pool, each takes the same seats on the same deal. Deals are
counted in the order of the schedule: in the order in which they end, quick ones would come first, and would decide.
"""

from __future__ import annotations

from math import gcd, sqrt
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.league.ratings.statistics import Mean, pair_points, student
from warpleague.league.schedule.formats.api import Batches, describe_seatings, seatings, seatings_count
from warpleague.league.season.fixture import Group, Outcome
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.sprt import DealCounts, Estimate, Shares, Sprt
    from warpleague.league.season.season import Season

    Match = tuple[Sequence[int], Sequence[int], Sequence[float], float | None]
    """The bot, the rank and the score of each seat, and the score of the game's own opponent, if it has one."""
    Part = tuple[tuple[int, int], float, float]
    """The bot and seat that a part of a difference is of, its weight, and its value."""


# -- the format ------------------------------------------------------------------------------------------


NEW, OLD = 0, 1
_FEWEST, _MAX = 4, 64  # deals in a batch
_SHARE = 8  # a batch is so small a part of what was played: what is played beyond the end is wasted


@attrs.frozen
class StrengthFormat:
    """Batches of whole deals, until the test decides or no more may be played."""

    season: Season
    ahead: int | None = 1

    @property
    def matches_a_deal(self) -> int:
        """How many matches one deal takes."""
        orders = seatings_count(self.season.format.seats, self.season.players)
        return orders if self._duel else 2 * orders

    @property
    def most(self) -> int | None:
        """How many deals are played at most, None without a limit."""
        form = self.season.format
        limit = form.fixed or form.max_matches
        return None if limit is None else max(limit // self.matches_a_deal, 1)

    def batches(self) -> Batches:
        """Deals, each with all its seat orders for both bots."""
        test, played, most = StrengthTest.of(self.season), 0, self.most
        waiting = 0
        while True:
            size = min(max(_FEWEST, played // _SHARE), _MAX)
            if most is not None:
                size = min(size, most - played)
            outcomes = yield [self.group(round_) for round_ in range(played, played + size)]
            played += size
            waiting += 1 if size else 0
            if outcomes:
                waiting -= 1
                for outcome in outcomes:
                    _count(test, outcome)
                    if test.decision:
                        return True
            if most is not None and played >= most and not waiting:
                return False

    def total(self, without: frozenset[int]) -> int | None:
        """Known beforehand only for a fixed number of matches."""
        if without & {NEW, OLD}:
            return 0
        return self.most * self.matches_a_deal if self.season.format.fixed and self.most else None

    def describe(self) -> str:
        """Who is tested, and how."""
        form, names = self.season.format, self.season.names
        way = "against" if self.season.players == 2 else "beside"
        beside = (
            f", each {way} {', '.join(names[2:])} in the same seats of the same deals" if names[2:] else ""
        )
        if form.fixed:
            size = f"{counted(self.most or 1, 'deal')}"
        else:
            unit = " in normalised Elo" if form.unit == "normalized" else ""
            size = f"{form.elo0:g} against {form.elo1:g}{unit}, errors {form.alpha:g} and {form.beta:g}"
        return f"test: {names[NEW]} against {names[OLD]}{beside}, {size}, {describe_seatings(form)}"

    @property
    def _duel(self) -> bool:
        """Whether both bots sit at one table."""
        return self.season.players == 2 and len(self.season.bots) == 2

    def group(self, round_: int) -> Group:
        """The matches of a deal: all seat orders of both bots."""
        season = self.season
        kind = season.format.seats
        if self._duel:
            orders = tuple(seatings(kind, (NEW, OLD), round_))
        else:
            with_new = tuple(seatings(kind, (NEW, *self._field(round_)), round_))
            with_old = tuple(tuple(OLD if bot == NEW else bot for bot in seats) for seats in with_new)
            orders = tuple(order for both in zip(with_new, with_old, strict=True) for order in both)
        return Group(tuple(range(len(season.bots))), orders, round_)

    def _field(self, round_: int) -> tuple[int, ...]:
        """The bots of the pool that sit beside both on this deal.

        The pool is dealt out in turn, in an order drawn from the season's secret. Whenever all have played equally
        often, it is drawn anew, so that neighbours change, too.
        """
        pool, seats = range(2, len(self.season.bots)), self.season.players - 1
        if not pool:
            return ()
        turn, place = divmod(round_, len(pool) // gcd(len(pool), seats))
        order = self.season.drawn_order(pool, turn)
        return tuple(order[(place * seats + seat) % len(pool)] for seat in range(seats))


def _count(test: StrengthTest, outcome: Outcome) -> None:
    if outcome.played is not None:
        matches = zip(outcome.group.seats, outcome.played, strict=True)
        test.add(Deal.of([(seats, result.ranks, result.scores, result.rival) for seats, result in matches]))


# -- its decision ----------------------------------------------------------------------------------------


_CORRECTED = ("difference_corrected", "difference_low", "difference_high")  # for when the test stopped
_PATH = 400  # the most points of the path in memory


@attrs.frozen
class Deal:
    """The result of a deal for the new bot and the old one.

    `new` and `old` are their shares of points from 0 to 1, `value` is what the test counts: 0.5 means that both did
    equally well. `scores` are their mean scores (margins, where the game has an opponent of its own). `parts` are what
    the difference of scores is the sum of, and `share_parts` what the difference of shares is the sum of: the bot and
    seat that each is of, its weight, and its value. `faulted` are the bots that faulted in each of their matches.
    """

    value: float
    new: float
    old: float
    scores: tuple[float, float]
    matches: int
    parts: tuple[Part, ...] = ()
    share_parts: tuple[Part, ...] = ()
    faulted: frozenset[int] = frozenset()

    @classmethod
    def of(cls, matches: Sequence[Match], faults: Sequence[Sequence[Sequence[object]]] = ()) -> Deal:
        """The deal of these matches, with the faults of each seat of each match, if they are known."""
        # Of each bot: seat, share of points, score.
        rows: tuple[list[tuple[int, float, float]], ...] = ([], [])
        for seats, ranks, scored, rival in matches:
            for seat, bot in enumerate(seats):
                if bot in (NEW, OLD):
                    others = [rank for other, rank in enumerate(ranks) if other != seat]
                    share = sum(pair_points(ranks[seat], rank) for rank in others) / max(len(others), 1)
                    rows[bot].append((seat, share, scored[seat] - (rival or 0.0)))
        new, old = (sum(share for _, share, _ in part) / len(part) for part in rows)
        scores = tuple(sum(score for *_, score in part) / len(part) for part in rows)
        together = any(NEW in seats and OLD in seats for seats, *_ in matches)
        if together:
            # Each match is one draw of luck for both: what it adds is the difference in it.
            both = list(zip(*rows, strict=True))
            parts = [((NEW, mine[0]), 1 / len(matches), mine[2] - theirs[2]) for mine, theirs in both]
            share_parts = [((NEW, mine[0]), 1 / len(matches), mine[1] - theirs[1]) for mine, theirs in both]
        else:
            parts, share_parts = (
                [
                    ((bot, row[0]), (1 if bot == NEW else -1) / len(part), row[what])
                    for bot, part in enumerate(rows)
                    for row in part
                ]
                for what in (2, 1)
            )
        if all(len(seats) == 1 for seats, *_ in matches):
            # Alone at the table: whoever did better on the same deal wins it.
            value = 0.5 if scores[NEW] == scores[OLD] else float(scores[NEW] > scores[OLD])
            new, old = value, 1.0 - value
        else:
            # Beside a field the difference of the shares is about what they would have over a half in a duel.
            value = new if together else 0.5 + new - old
        faulted = {NEW, OLD} if faults else set[int]()
        for (seats, *_), of_seats in zip(matches, faults, strict=bool(faults)):
            faulted -= {bot for bot, found in zip(seats, of_seats, strict=True) if not found}
        return cls(
            *(value, new, old, (scores[NEW], scores[OLD]), len(matches), tuple(parts), tuple(share_parts)),
            faulted=frozenset(faulted),
        )


class _Saving:
    """How much less a difference varies over deals than if each of its parts had dice of its own."""

    def __init__(self) -> None:
        self._deals, self._total, self._squares = 0, 0.0, 0.0
        # By bot and seat, sums of 1, value, value², weight².
        self._parts: dict[tuple[int, int], list[float]] = {}

    def add(self, whole: float, parts: Sequence[Part]) -> None:
        """Count the difference on a deal, and what it is the sum of."""
        self._deals += 1
        self._total += whole
        self._squares += whole * whole
        for key, weight, value in parts:
            sums = self._parts.setdefault(key, [0.0] * 4)
            for place, more in enumerate((1.0, value, value * value, weight * weight)):
                sums[place] += more

    @property
    def ratio(self) -> float | None:
        """The variance as a part of what it is with dice of their own; None where too little tells."""
        deals = self._deals
        if deals < 3:
            return None
        shared = (self._squares - self._total**2 / deals) / (deals - 1)
        apart = sum(
            (squares - total * total / count) / (count - 1) * weights / deals
            for count, total, squares, weights in self._parts.values()
            if count > 1
        )
        return shared / apart if apart > 1e-12 else None


class StrengthTest:
    """A test that receives its deals in the order of the schedule.

    `decision` is 1 once the new bot is accepted, -1 once it is rejected, else 0. Deals that come later change
    nothing. A test of a `fixed` number of deals never stops by itself; `judged` is what it came to. `always_faulted`
    are those of the two that faulted in every match. `beside` is whether each of the bots sat beside a field: then the
    difference of their shares in the same seats of the same deals decides. `new` and `old` are their mean shares of
    points, from 0 to 1.
    """

    def __init__(self, test: Sprt, low: float, high: float, *, fixed: bool = False) -> None:
        from warpleague.league.ratings.sprt import DealCounts

        self.test, self.fixed, self.beside = test, fixed, low < 0
        self.counts: DealCounts = DealCounts(low, high)
        self.decision = 0
        self.ratio = 0.0
        self.matches = 0
        self.won = self.level = self.lost = 0
        self.path: list[tuple[int, float]] = []
        self.always_faulted = frozenset[int]()
        self.scores, self.new, self.old = Mean(), Mean(), Mean()
        self._saved, self._saved_share = _Saving(), _Saving()

    @classmethod
    def of(cls, season: Season) -> StrengthTest:
        """The test that the season's format asks for, before any deal."""
        from warpleague.league.ratings.sprt import Sprt

        form, alone = season.format, season.players == 1
        orders = 1 if alone else seatings_count(form.seats, season.players)
        test = Sprt(form.elo0, form.elo1, form.alpha, form.beta, form.unit, orders)
        duel = alone or (season.players == 2 and len(season.bots) == 2)
        low, high = (0.0, 1.0) if duel else (-0.5, 1.5)
        return cls(test, low, high, fixed=form.fixed is not None)

    def add(self, deal: Deal) -> None:
        """Count the next deal, unless the test has come to its end."""
        if self.decision:
            return
        from warpleague.league.ratings.sprt import ratio

        self.always_faulted = deal.faulted & self.always_faulted if self.counts.deals else deal.faulted
        self.counts.add(deal.value)
        self.matches += deal.matches
        self.won += deal.value > 0.5 + 1e-9
        self.lost += deal.value < 0.5 - 1e-9
        self.level = self.counts.deals - self.won - self.lost
        self.scores.add(deal.scores[0] - deal.scores[1])
        self.new.add(deal.new)
        self.old.add(deal.old)
        self._saved.add(deal.scores[0] - deal.scores[1], deal.parts)
        self._saved_share.add(deal.new - deal.old, deal.share_parts)
        self.ratio = ratio(self.test, self.counts)
        self.path.append((self.counts.deals, self.ratio))
        if len(self.path) > 2 * _PATH:
            self.path = self.path[::2]
        if not self.fixed:
            below, above = self.test.bounds
            self.decision = 1 if self.ratio >= above else -1 if self.ratio <= below else 0

    @property
    def half(self) -> float | None:
        """Half the 95 % interval of the mean value; None where too few deals tell."""
        return self.counts.half

    @property
    def difference(self) -> float:
        """The share of points of the new bot less that of the old one, from -1 to 1."""
        return self._scale * (self.counts.mean - 0.5)

    @property
    def difference_half(self) -> float | None:
        """Half the 95 % interval of the difference; None where too few deals tell."""
        return None if self.half is None else self._scale * self.half

    @property
    def _scale(self) -> float:
        # In a duel the share of one is a half plus half the difference.
        return 1.0 if self.beside else 2.0

    @property
    def superiority(self) -> float | None:
        """The likelihood that the new bot is the stronger one (LOS)."""
        deals, variance = self.counts.deals, self.counts.variance
        if deals < 2 or not variance:
            return None
        return student((self.counts.mean - 0.5) / sqrt(variance / deals), deals - 1)

    @property
    def by_chance(self) -> float | None:
        """Where all deals had one value: how likely that is at most if the bots are equal; None elsewhere.

        Whatever the distribution of deals is: by Markov's inequality, for each deal.
        """
        if not self.counts.deals or self.counts.variance:
            return None
        values, _ = self.counts.arrays()
        low, high, value = float(values[0]), float(values[-1]), self.counts.mean
        near, far = (0.5 - low, value - low) if value > 0.5 else (high - 0.5, high - value)
        return (near / far) ** self.counts.deals

    @property
    def one_way(self) -> int | None:
        """1 if the new bot won every deal, -1 if it lost every deal, 0 if every deal was level; None elsewhere."""
        deals = self.counts.deals
        ways = {1: self.won, -1: self.lost, 0: self.level}
        return next((way for way, count in ways.items() if deals and count == deals), None)

    @property
    def judged(self) -> int:
        """1: accepted, -1: rejected, 0: undecided; also of a test of a fixed number of deals, as far as it got.

        That one is decided if the 95 % interval that is printed excludes equal bots: on both sides, so the verdict
        never contradicts it. Against a bot that faulted in every match nobody is accepted.
        """
        if self.always_faulted:
            return 0
        if not self.fixed:
            return self.decision
        low, high = self._shares().low, self._shares().high
        return 1 if low is not None and low > 0.5 else -1 if high is not None and high < 0.5 else 0

    @property
    def saved(self) -> float | None:
        """The variance of the difference in score, as a part of what it is if each match has dice of its own."""
        return self._saved.ratio

    @property
    def saved_share(self) -> float | None:
        """The same for the difference in the shares of points, by which the test decides; None for solo games."""
        return self._saved_share.ratio

    @property
    def left(self) -> int | None:
        """How many matches are likely left, if the results go on as they did; None where nothing tells."""
        deals = self.counts.deals
        if self.decision or self.fixed or deals < 2 or not self.ratio:
            return None
        below, above = self.test.bounds
        wall = above if self.ratio > 0 else below
        return round((wall / self.ratio - 1.0) * self.matches)

    def estimate(self) -> Estimate:
        """The difference in Elo, corrected for when the test stopped; of a duel: beside a field no league has it."""
        return self._shares().to_elo()

    def estimated_difference(self) -> tuple[float, float, float] | None:
        """The difference of the shares of points, corrected, and its 95 % interval; None without deals."""
        shares = self._shares()
        if shares.mean is None or shares.low is None or shares.high is None:
            return None
        low, mean, high = (self._scale * (share - 0.5) for share in (shares.low, shares.mean, shares.high))
        return mean, max(low, -1.0), min(high, 1.0)

    def _shares(self) -> Shares:
        from warpleague.league.ratings.sprt import estimate, fixed_estimate

        return fixed_estimate(self.counts) if self.fixed else estimate(self.test, self.counts, self.decision)

    def to_json(self) -> dict[str, Any]:
        """The state as a JSON object; shares and differences are parts of 1.

        Elo is null beside a field, where only a fit of all bots has one.
        """
        from warpleague.league.ratings.sprt import Estimate

        below, above = self.test.bounds
        elo = Estimate(None, None, None) if self.beside else self.estimate()
        half, corrected = self.difference_half, self.estimated_difference() or (None,) * 3
        return {
            "decision": {1: "accepted", -1: "rejected", 0: "undecided"}[self.judged],
            "always_faulted": [("new", "old")[bot] for bot in sorted(self.always_faulted)],
            "llr": round(self.ratio, 6),
            "llr_low": round(below, 6),
            "llr_high": round(above, 6),
            "elo0": self.test.elo0,
            "elo1": self.test.elo1,
            "unit": self.test.unit,
            "deals": self.counts.deals,
            "matches": self.matches,
            "won": self.won,
            "level": self.level,
            "lost": self.lost,
            "values": [[value - 0.5 * self.beside, count] for value, count in self.counts.to_json()],
            "share_new": round(self.new.mean, 6),
            "share_old": round(self.old.mean, 6),
            "difference": round(self.difference, 6),
            "difference_half": None if half is None else round(half, 6),
            "likelihood": None if self.superiority is None else round(self.superiority, 4),
            "by_chance": self.by_chance,
            "one_way": None if self.one_way is None else {1: "won", -1: "lost", 0: "level"}[self.one_way],
            "score": round(self.scores.mean, 6),
            "score_half": None if self.scores.half is None else round(self.scores.half, 6),
            "variance_ratio": None if self.saved is None else round(self.saved, 4),
            "share_variance_ratio": None if self.saved_share is None else round(self.saved_share, 4),
            "left": self.left,
            **{
                name: None if value is None else round(value, 6)
                for name, value in zip(_CORRECTED, corrected, strict=True)
            },
            **elo.to_json(),
        }
