"""Ladder: bots meet without end; next comes the deal of an even pair about which least is known."""

from __future__ import annotations

from collections import Counter, deque
from itertools import combinations, permutations
from statistics import median_low
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from warpleague.league.ratings.outcomes import Outcomes
from warpleague.league.ratings.posterior import Posterior
from warpleague.league.schedule.formats.api import (
    FEWEST,
    Batches,
    batch_size,
    describe_seatings,
    describe_until,
    enough,
    seatings_count,
)
from warpleague.league.schedule.formats.round_robin import group_of
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from warpleague.league.ratings.outcomes import Floats, Ints
    from warpleague.league.season.fixture import Group, Outcome, Table
    from warpleague.league.season.season import Season


_SHARE: Final = 4
"""No bot plays less than this part of the mean."""
_EVEN: Final = 4
"""Every fourth deal goes to those who met least, however far apart they are."""
_ROUNDED: Final = 1e-9
_DIGITS: Final = 9


CHOOSES: Final = (
    "a new bot first meets each other bot once, before it meets anyone twice; of all other deals every fourth goes to "
    "the two bots that met least, the rest to an even pair of whose ratings a second of play tells most; bots that "
    "think much longer than others take at most a part of the time; when bots come or go, all that was played among "
    "those who stay goes on counting"
)
"""How opponents are chosen, in words."""


@attrs.frozen
class Begun:
    """How far a ladder is: what was chosen before, and what has come of it.

    `tables` (deals, players) are all deals that were chosen among the bots of now, in order. `outcomes` are those of
    the deals that are over; `used_us` and `matches` how long each bot decided in them, in microseconds, and in how
    many matches. `open` are the deals that are not over, and `last` those of the batch chosen last, over or not.
    `next_place` is the place in the schedule of the next deal. `entered` is how many deals had been chosen when these
    bots were entered, and `newcomers` are those that were in none of them.
    """

    tables: Ints
    outcomes: Outcomes
    used_us: Ints
    matches: Ints
    open: Sequence[Group]
    last: Sequence[Group]
    next_place: int
    entered: int
    newcomers: int


@attrs.frozen
class Ladder:
    """Batches of deals, each chosen by what is known when the batch begins.

    The n-th deal of a table is the same in every ladder and round-robin of the season, so that bots can come and go:
    it goes on with all deals that were chosen among those who stay. A batch follows from the results of all batches
    but the one before it, so it does not matter whether the league was stopped in between.
    """

    season: Season
    # While a batch is being played, the next one is chosen without its results: else processors would be idle at the
    # end of each batch. It is part of the pairing, so no machine may choose otherwise.
    ahead: int | None = 1

    @property
    def matches_a_deal(self) -> int:
        """How many matches one deal takes."""
        return seatings_count(self.season.format.seats, self.season.players)

    def batches(self, begun: Begun | None = None, barred: frozenset[int] = frozenset()) -> Batches:
        """Deals until the order is settled, or as many matches are played as the file says, or without end.

        With `begun`, those that come next, after what is not over. `barred` bots are not chosen.
        """
        season, form = self.season, self.season.format
        choice = _Choice(season, self.matches_a_deal, [bot for bot in season.by_name if bot not in barred])
        given, most, place, settled = 0, self._most(begun), 0, False
        if begun is not None:
            given, place = len(begun.tables), begun.next_place
            choice.restore(begun)
            for batch in (begun.open, begun.last):
                choice.plan(batch)
                choice.learn((yield batch))
        while len(choice.present) >= season.players and (most is None or given < most):
            known = choice.known()
            if settled := given > 0 and enough(known, choice.present, form.until):
                break
            size = batch_size(len(choice.present), given)
            chosen = choice.batch(known, size if most is None else min(size, most - given), place)
            given, place = given + len(chosen), place + len(chosen)
            # An empty one, where the first deals of new bots are not over: what comes next waits for these.
            choice.learn((yield chosen))
        # What was chosen when the order was settled is played to its end, and counts.
        while choice.waits:
            choice.learn((yield []))
        return settled

    def _most(self, begun: Begun | None) -> int | None:
        """How many deals there are at most: beyond those that had begun, bots which came since get their part."""
        season, matches = self.season, self.season.format.max_matches
        if matches is None:
            return None
        most = max(matches // self.matches_a_deal, 1)
        if begun is None or not begun.entered:
            return most
        part = min(most * season.players * begun.newcomers // len(season.bots), most)
        return max(most, begun.entered + part)

    def total(self, without: frozenset[int]) -> int | None:  # noqa: ARG002 - results decide
        """Results decide it."""
        return None

    def describe(self) -> str:
        """Bots, seat orders, and what ends it."""
        form = self.season.format
        end = [] if form.max_matches is None else [f"{counted(form.max_matches, 'match')} at most"]
        end += [] if form.until is None else [describe_until(form.until)]
        tables = f"{counted(len(self.season.bots), 'bot')} at tables of {self.season.players}"
        return f"ladder: {tables}, {describe_seatings(form)}, {' or '.join(end) or 'without end'}"


@attrs.define
class _Choice:
    """Chooses deals: `present` are the bots that still play.

    A deal is worth what it tells of the ratings, for each second that it takes: little where one bot is sure to win,
    and where much is known already. In simulated leagues of 20 bots whose first three places were to be clear
    (`tests/soak/strength.py ladder`), ladders took 2,900 to 4,500 matches (median), round-robins 26,000 to 33,000.
    """

    season: Season
    matches: int
    present: list[int]
    outcomes: Outcomes = attrs.Factory(Outcomes)
    dealt: Ints = attrs.field(init=False)  # how many deals each bot has had
    met: Counter[Table] = attrs.Factory(Counter)
    together: Ints = attrs.field(init=False)  # how many deals each pair has had
    times: TimeShare = attrs.field(init=False)
    chosen: int = 0
    _waiting: deque[Sequence[Group]] = attrs.Factory(deque)
    """The batches whose outcomes have not come."""
    _known: Posterior | None = None
    _least: int = 0
    """No two bots have had fewer deals together."""
    _here: Ints = attrs.field(init=False)
    """The bots that may be chosen: all but slow ones that wait, if those are enough for a table."""
    _luck: Ints = attrs.field(init=False)
    """The place of each bot in an order drawn by lot."""

    def __attrs_post_init__(self) -> None:
        bots = len(self.season.bots)
        lot = sorted(self.present, key=lambda bot: self.season.shuffled([bot]))
        self._luck = np.zeros(bots, dtype=np.int64)
        self._luck[lot] = range(len(lot))
        self._here = np.array(self.present, dtype=np.int64)
        self.dealt = np.zeros(bots, dtype=np.int64)
        self.times = TimeShare(bots, self.season.format.time_share)
        self.together = np.zeros((bots, bots), dtype=np.int64)

    @property
    def waits(self) -> bool:
        """Whether a batch is not over."""
        return any(self._waiting)

    def restore(self, begun: Begun) -> None:
        """Go on where a ladder was, but for the deals that are not over and the last batch, which `plan` is told."""
        self.outcomes = begun.outcomes
        self.times.restore(begun.used_us, begun.matches)
        tables = begun.tables
        left = Counter(tuple(sorted(group.bots)) for group in (*begun.open, *begun.last))
        self.met = Counter(map(tuple, np.sort(tables, axis=1).tolist())) - left
        self.chosen = len(tables) - left.total()
        bots = len(self.season.bots)
        self.dealt = np.bincount(tables.ravel(), minlength=bots)
        for one, two in permutations(range(self.season.players), 2):
            at = tables[:, one] * bots + tables[:, two]
            self.together += np.bincount(at, minlength=bots * bots).reshape(bots, bots)
        for table, many in left.items():
            self._meet(table, -many)
            self.dealt[list(table)] -= many

    def plan(self, batch: Sequence[Group]) -> None:
        """Take it that the deals of a batch have been chosen."""
        self._waiting.append(batch)
        for group in batch:
            self._count(group)

    def learn(self, outcomes: list[Outcome]) -> None:
        """Take in what came of the batch that waits longest, while another one is played; nothing of the first one."""
        if len(self._waiting) < 2 and not outcomes:
            return
        self._waiting.popleft()
        for outcome in outcomes:
            if matches := outcome.matches():
                self.outcomes.add_deal(matches)
                self._known = None
            self.times.tell(outcome)

    def known(self) -> Posterior:
        """What the results say of the bots: the same whenever they came, and however often somebody asked."""
        if self._known is None:
            self._known = Posterior.of(self.outcomes, len(self.season.bots))
        return self._known

    def batch(self, known: Posterior, size: int, place: int) -> list[Group]:
        """The next deals, from this place in the schedule on, each chosen as if those before it had been played.

        They are fewer where the first deals of new bots are not over.
        """
        season, until = self.season, self.season.format.until
        # What is being played now need not be chosen once more.
        distances = known.expected([group.bots for batch in self._waiting for group in batch], self.matches)
        costs = self.times.costs()
        each = known.worth(self.present) / costs
        asked = each if until is None else known.worth(self.present, until.top) / costs
        pairs = _Pairs(self, known, distances, each, asked)
        groups: list[Group] = []
        self._waiting.append(groups)
        self.times.weigh(self.present)
        for _ in range(size):
            new, over = self.times.new(), self.times.over()
            waiting = new | over
            here = np.array([bot for bot in self.present if bot not in waiting], dtype=np.int64)
            # A new bot comes first: where one waits that has played less than all others, so does the batch.
            others = self.dealt[here].min() if len(here) else len(season.bots)
            if new and min(self.dealt[bot] for bot in new) < others:
                break
            self._here = here if len(here) >= season.players else np.array(self.present, dtype=np.int64)
            table = self._table(pairs)
            group = attrs.evolve(group_of(season, table, self.met[table]), place=place + len(groups))
            self._count(group)
            pairs.expect(table, self.matches)
            groups.append(group)
        return groups

    def _count(self, group: Group) -> None:
        table = tuple(sorted(group.bots))
        self.times.plan(group)
        self.chosen += 1
        self.met[table] += 1
        self.dealt[list(table)] += 1
        self._meet(table, 1)

    def _meet(self, table: Sequence[int], many: int) -> None:
        for one, two in permutations(table, 2):
            self.together[one, two] += many

    def _table(self, pairs: _Pairs) -> Table:
        """Two bots that are worth a deal, and at a larger table who is worth most beside them.

        First comes who has played too little. Every fourth deal goes to those who met least: so ratings do not hang
        by a few near pairs. All others go to an even pair of which a second of play tells most (`each`). Where places
        must be clear, all go to pairs whose order is not yet clear (`asked`).
        """
        dealt = self.dealt[self._here]
        mean, least = float(dealt.sum()) / len(dealt), int(dealt.min())
        if least < max(mean / _SHARE, min(mean, FEWEST)):
            needy = self._here[dealt == least]
            first = int(needy[np.argmin(self._luck[needy])])
            return self._filled([first], lambda bot: pairs.each[bot] * pairs.distances_of(bot))
        if self.season.format.until is None and self.chosen % _EVEN == 0:
            return self._filled(self._least_met(), lambda bot: -self.together[bot].astype(float))
        best, row = pairs.best(self._here)
        return self._filled(best, row)

    def _filled(self, table: list[int], row: Callable[[int], Floats]) -> Table:
        """The table with who is worth most beside those who sit there; a new bot first meets whom it has not met.

        `row` says how much each bot is worth beside one.
        """
        while len(table) < self.season.players:
            rest = self._here[~np.isin(self._here, table)]
            sums = np.sum([row(bot)[rest] for bot in table], axis=0).round(_DIGITS)
            again = np.sum([self.met_too_soon(bot)[rest] for bot in table], axis=0)
            order = np.lexsort((-self._luck[rest], self.dealt[rest], -sums, again))
            table.append(int(rest[order[0]]))
        return tuple(sorted(table))

    def _least_met(self) -> list[int]:
        """The two bots that met least, of those the two that played least, and of these the first by lot."""
        here = self._here
        ordered = here[np.lexsort((self._luck[here], self.dealt[here]))]
        if not (pair := self._least_of(ordered, self._least)):
            together = self.together[np.ix_(here, here)]
            together[np.diag_indices(len(here))] = together.max() + 1
            least = int(together.min())
            if len(here) == len(self.present):
                self._least = least
            pair = self._least_of(ordered, least)
        return pair

    def _least_of(self, ordered: Ints, least: int) -> list[int]:
        """The same of the pairs that had so few deals together, if any; bots in order of deals, then of the lot."""
        dealt = self.dealt
        best, pair = (1 << 62, 0), list[int]()
        for place, bot in enumerate(ordered.tolist()):
            # Each pair is found with the bot that comes first. So the sums that are left are at least twice its deals,
            # and of pairs of bots with equally many the first one found comes first by lot.
            if best[0] < 2 * dealt[bot] or (pair and best[0] == 2 * dealt[bot] == 2 * dealt[pair[0]]):
                break
            rest = ordered[place + 1 :]
            near = rest[self.together[bot, rest] == least]
            if len(near):
                near = near[dealt[near] == dealt[near[0]]]
                lots = self.lots(bot, near)
                key = (int(dealt[bot] + dealt[near[0]]), int(lots.min()))
                if key < best:
                    best, pair = key, [bot, int(near[np.argmin(lots)])]
        return pair

    def opponents(self) -> float:
        """How many deals a bot is new for: it takes so many to meet every other bot."""
        return (len(self.present) - 1) / (self.season.players - 1)

    def met_too_soon(self, bot: int) -> NDArray[np.bool_]:
        """Whether a bot has met each other one, and one of the two is new: it has not had time to meet all."""
        new = self.dealt < self.opponents()
        met: NDArray[np.bool_] = (self.together[bot] > 0) & (new[bot] | new)
        return met

    def lots(self, one: Ints | int, two: Ints) -> Ints:
        """The places of some pairs in an order drawn by lot."""
        luck = self._luck
        lots: Ints = np.minimum(luck[one], luck[two]) * len(luck) + np.maximum(luck[one], luck[two])
        return lots


@attrs.define
class _Pairs:
    """How much a deal of each pair is worth while the deals of a batch are chosen: never more than before.

    A deal that is chosen makes many others worth less, and to work all of these out after each would take the square
    of the number of bots. So each bot has a bound, what the best of its pairs was worth once, and only bots whose
    bound is the greatest are worked out again, until none is greater than what was found (lazy greedy; Minoux 1978).
    """

    choice: _Choice
    known: Posterior
    distances: Floats
    each: Floats
    asked: Floats
    _worth: Floats = attrs.field(init=False)
    _bound: Floats = attrs.field(init=False)
    """What the best pair of each bot is worth at most."""
    _allowed: NDArray[np.bool_] = attrs.field(init=False)
    _chosen: list[tuple[float, Floats]] = attrs.Factory(list)
    """What each chosen pair does to the distances: a factor, and a vector whose differences count squared."""
    _squares: list[Floats] = attrs.field(init=False)
    """The sums of these factors times the squares of the vectors, after each pair."""
    _done: Ints = attrs.field(init=False)
    """How many of the chosen pairs the distances of each bot have taken in."""

    def __attrs_post_init__(self) -> None:
        bots = len(self.distances)
        self._worth, self._bound = self.each, np.full(bots, np.inf)
        self._allowed, self._done = np.zeros(bots, dtype=bool), np.zeros(bots, dtype=np.int64)
        self._squares = [np.zeros(bots)]

    def distances_of(self, bot: int) -> Floats:
        """The variances of the differences to one bot."""
        done, now = int(self._done[bot]), len(self._chosen)
        if done < now:
            factors = np.array([factor for factor, _ in self._chosen[done:]])
            vectors = np.array([vector for _, vector in self._chosen[done:]])
            own = factors * vectors[:, bot]
            self.distances[bot] -= (
                own @ vectors[:, bot] + self._squares[now] - self._squares[done] - 2 * (own @ vectors)
            )
            self._done[bot] = now
        distances: Floats = self.distances[bot]
        return distances

    def expect(self, table: Sequence[int], matches: int) -> None:
        """Take it that a deal is played: distances become what they will be about, the ratings stay."""
        # A match adds a term of rank one to the precision, so the covariance loses one (Sherman and Morrison).
        for one, two in combinations(table, 2):
            first, second = self.distances_of(one), self.distances_of(two)
            share = 1 / (1 + np.exp(self.known.mean[two] - self.known.mean[one]))
            weight = matches * share * (1 - share) / self.known.scatter
            factor = weight / (1 + weight * first[two])
            vector = (second - first) / 2
            self._chosen.append((float(factor), vector))
            self._squares.append(self._squares[-1] + factor * vector * vector)
        for bot in table:
            if self.choice.dealt[bot] - 1 < self.choice.opponents() <= self.choice.dealt[bot]:
                self._bound[bot] = np.inf  # it is not new any more, and may meet others again

    def best(self, here: Ints) -> tuple[list[int], Callable[[int], Floats]]:
        """The pair among the bots `here` that is worth most, and what gives the worth of each pair of a bot."""
        allowed = np.zeros(len(self._bound), dtype=bool)
        allowed[here] = True
        if not np.array_equal(allowed, self._allowed):
            self._allowed = allowed
            self._bound = np.where(allowed, np.inf, -np.inf)
            settled = not (self.asked[np.ix_(here, here)] > 0).any()
            self._worth = self.each if settled else self.asked
        rows: dict[int, Floats] = {}
        while True:
            greatest = float(self._bound.max())
            # Machines may round differently: what is as good but for the last digits is equal.
            good = np.flatnonzero(self._bound >= greatest * (1 - _ROUNDED)).tolist()
            bot = next((bot for bot in good if bot not in rows), None)
            if bot is None:
                break
            rows[bot] = self._row(bot)
            self._bound[bot] = rows[bot].max()
        row = self._row
        if greatest <= 0:  # all have met
            row = self._any_row
            rows = {bot: row(bot) for bot in here.tolist()}
            greatest = max(float(worths.max()) for worths in rows.values())
        limit = greatest * (1 - _ROUNDED)
        equal = {bot: np.flatnonzero(worths >= limit) for bot, worths in rows.items()}
        one = np.repeat(list(equal), [len(others) for others in equal.values()])
        two = np.concatenate(list(equal.values()))
        first = int(np.argmin(self.choice.lots(one, two)))
        return [int(one[first]), int(two[first])], row

    def _any_row(self, bot: int) -> Floats:
        worths: Floats = self._worth[bot] * self.distances_of(bot) * self._allowed
        return worths

    def _row(self, bot: int) -> Floats:
        """How much the pairs of one bot are worth that have not met too often."""
        worths = self._any_row(bot)
        worths[self.choice.met_too_soon(bot)] = 0.0
        return worths


# -- time share ------------------------------------------------------------------------------------------
# Bots that think much longer than others get a bounded share of a ladder's time.
#
# To think long is no fault, as long as the clock allows it. But a bot whose matches take as long as fifty others
# would take nearly all of a ladder's time. In simulated ladders of 4 to 10 bots whose matches take 3 s, four more
# bots whose matches take 170 s now take 19 % of the first hour, most of it for the first deal of each, and 11 % of
# four hours. The bound is for all slow bots together, so an author gets no more with several bots. The times of
# matches are in the store, so anybody can compute the same again.


LEAST_S: Final = 0.2
"""The least charge for each bot of a match, so that small differences between quick bots do not count."""
_SLOW: Final = 2.0
"""Times the time of the middle bot: who takes no longer is never slow."""


@attrs.define
class TimeShare:
    """How long each of `bots` bots decided in its matches; `share` is the part for slow bots.

    A bot is slow if it decides for more than twice as long in a match as the middle bot. All that slow bots have taken
    beyond the time of the middle bot is at most the part `share` of all time, or else they wait.
    """

    bots: int
    share: float
    used_us: Ints = attrs.field(init=False)  # whole numbers, whose sum does not depend on their order
    matches: Ints = attrs.field(init=False)
    _planned: deque[Group] = attrs.Factory(deque)
    """The deals whose results have not come yet."""
    _pending: Ints = attrs.field(init=False)
    """The matches of these, by bot."""
    _present: frozenset[int] = frozenset()
    _slow: frozenset[int] = frozenset()
    _paces: list[float] = attrs.Factory(list)
    _middle: float = 0.0
    _whole: float = 0.0
    """How long all bots that are present will have decided."""
    _excess: float = 0.0
    """How much longer the slow ones among them will have decided than the middle one."""

    def __attrs_post_init__(self) -> None:
        self.used_us, self.matches = np.zeros(self.bots, dtype=np.int64), np.zeros(self.bots, dtype=np.int64)
        self._pending = np.zeros(self.bots, dtype=np.int64)

    def restore(self, used_us: Ints, matches: Ints) -> None:
        """Go on with what bots took before."""
        self.used_us, self.matches = used_us.copy(), matches.copy()

    def plan(self, group: Group) -> None:
        """Take it that a deal will be played."""
        self._planned.append(group)
        many = len(group.seats)
        self._pending[list(group.bots)] += many
        for bot in self._present.intersection(group.bots):
            self._whole += many * self._paces[bot]
            self._excess += many * (self._paces[bot] - self._middle) if bot in self._slow else 0.0

    def tell(self, outcome: Outcome) -> None:
        """Charge the deal that was planned first with what it took."""
        group = self._planned.popleft()
        self._pending[list(group.bots)] -= len(group.seats)
        for seats, microseconds in outcome.microseconds():
            here = list(seats)
            self.used_us[here] += microseconds
            self.matches[here] += 1

    def paces(self) -> Floats:
        """How long each bot decides in a match, in seconds; a bot that has played none, as long as the middle one."""
        # Only its own decisions count. Bots also start and end, and wait for each other, but nobody can tell whose
        # time that was: a fast bot that had met only a slow one was taken for slow for good.
        known = np.maximum(self.used_us / 1e6 / np.maximum(self.matches, 1), LEAST_S)
        return np.where(self.matches > 0, known, self._middle_pace(known))

    def costs(self) -> Floats:
        """How long a match of each pair takes, as a multiple of that of two middle bots."""
        paces = self.paces()
        costs: Floats = (paces[:, None] + paces[None, :]) / (2 * self._middle_pace(paces))
        return costs

    def _middle_pace(self, paces: Floats) -> float:
        return _middle(paces[self.matches > 0].tolist())

    def weigh(self, present: Sequence[int]) -> None:
        """Find out which bots among those `present` are slow, before `new` and `over` are asked."""
        self._present, self._paces = frozenset(present), self.paces().tolist()
        self._middle = _middle([self._paces[bot] for bot in present if self.matches[bot]])
        self._slow = frozenset(
            bot for bot in present if self.matches[bot] and self._paces[bot] > _SLOW * self._middle
        )
        # Added up in the order of the bots, so that all machines round alike.
        many = (self.matches + self._pending).tolist()
        self._whole = sum(many[bot] * self._paces[bot] for bot in present)
        self._excess = sum(
            many[bot] * (self._paces[bot] - self._middle) for bot in present if bot in self._slow
        )

    def new(self) -> frozenset[int]:
        """The bots whose first deal is not over: nobody knows yet whether they are slow."""
        return self._present.intersection(np.flatnonzero((self._pending > 0) & (self.matches == 0)).tolist())

    def over(self) -> frozenset[int]:
        """The slow bots, if they have taken their share of the time; else none."""
        return self._slow if self._excess > self.share * self._whole else frozenset()


def _middle(paces: Sequence[float]) -> float:
    """The time of the middle bot: at most half of the bots take less."""
    return median_low(paces) if paces else LEAST_S
