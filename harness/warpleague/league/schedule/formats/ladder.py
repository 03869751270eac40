"""Ladder: bots meet without end; next comes the deal of an even pair about which least is known."""

from __future__ import annotations

from collections import Counter, deque
from itertools import permutations
from statistics import median_low
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from warpleague.league.ratings.posterior import Posterior
from warpleague.league.schedule.formats.api import (
    FEWEST,
    MAX,
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
    from collections.abc import Iterable, Sequence

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
class Ladder:
    """Batches of deals, each chosen by what is known when the batch begins.

    The n-th deal of a table is the same in every ladder and round-robin of the season, so that bots can come and go:
    it begins with all deals that those who stay have begun. A bot that is disqualified does not play any more.
    """

    season: Season
    # While a batch is being played, the next one is chosen without its results: else processors would be idle at the
    # end of each batch. It is part of the pairing, so no machine may choose otherwise.
    ahead: int | None = 1

    @property
    def matches_a_deal(self) -> int:
        """How many matches one deal takes."""
        return seatings_count(self.season.format.seats, self.season.players)

    def batches(self) -> Batches:
        """Deals until the order is settled, or as many matches are played as the file says, or without end."""
        season, form = self.season, self.season.format
        choice = _Choice(season, self.matches_a_deal, Posterior(len(season.bots)), list(season.by_name))
        known = choice.known
        whole, begun = groups(season)
        most = self._most(len(whole) + len(begun))
        given = 0
        waiting: list[list[Group]] = []

        def learn(outcomes: list[Outcome]) -> None:
            """Take in what came of the batch that waits longest; nothing came of one without deals."""
            if outcomes:
                waiting.pop(0)
            choice.times.tell(outcomes)
            for outcome in outcomes:
                known.add(outcome.matches())
                choice.present = [bot for bot in choice.present if bot not in outcome.absent]

        # First what was played before bots came or left. What is open comes last, and at once, so that all that was
        # played counts while its rest is missing.
        for taken in (*(whole[at : at + MAX] for at in range(0, len(whole), MAX)), begun):
            if not taken:
                continue
            waiting.append(taken)
            given += len(taken)
            choice.count(taken)
            learn((yield taken))
        while waiting:
            learn((yield []))
        if given:
            known.update()
            if len(choice.present) >= season.players and enough(known, choice.present, form.until):
                return True
        while len(choice.present) >= season.players:
            size = batch_size(len(choice.present), given)
            chosen = choice.batch(size if most is None else min(size, most - given))
            if not chosen and choice.is_short:
                learn((yield []))
                known.update()
                continue
            waiting.append(chosen)
            given += len(chosen)
            outcomes = yield chosen
            if outcomes:
                learn(outcomes)
                known.update()
                if len(choice.present) >= season.players and enough(known, choice.present, form.until):
                    return True
                # What is being played now need not be chosen once more.
                known.expect_all([group.bots for batch in waiting for group in batch], choice.matches)
            if most is not None and given >= most and not any(waiting):
                break
        return False

    def _most(self, begun: int) -> int | None:
        """How many deals there are at most: beyond those that had `begun`, bots which came since get their part."""
        season, matches = self.season, self.season.format.max_matches
        if matches is None:
            return None
        most = max(matches // self.matches_a_deal, 1)
        new = len(season.bots) - len({bot for one in season.deals_in_progress for bot in one.table})
        part = min(most * season.players * new // len(season.bots), most)
        return max(most, begun + part) if begun else most

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
    """Chooses deals: `present` are the bots that still play, `known` is what results say of them.

    A deal is worth what it tells of the ratings, for each second that it takes: little where one bot is sure to win,
    and where much is known already. In simulated leagues of 20 bots whose first three places were to be clear,
    ladders took 2,900 to 4,500 matches (median), round-robins 26,000 to 33,000.
    """

    season: Season
    matches: int
    known: Posterior
    present: list[int]
    dealt: Ints = attrs.field(init=False)  # how many deals each bot has had
    met: Counter[Table] = attrs.Factory(Counter)
    together: Ints = attrs.field(init=False)  # how many deals each pair has had
    times: TimeShare = attrs.field(init=False)
    chosen: int = 0
    is_short: bool = False
    """Whether the last batch has fewer deals, since the first deals of new bots are not over."""
    _waiting: frozenset[int] = frozenset()
    """New bots in their first deal, slow ones that have taken their share."""
    _luck: Ints = attrs.field(init=False)
    """The place of each bot in an order drawn by lot."""
    _pair_luck: Ints = attrs.field(init=False)
    """The same for each pair: first that of the bot that comes first, then that of the other."""

    def __attrs_post_init__(self) -> None:
        bots = len(self.season.bots)
        lot = sorted(self.present, key=lambda bot: self.season.shuffled([bot]))
        self._luck = np.zeros(bots, dtype=np.int64)
        self._luck[lot] = range(len(lot))
        self._pair_luck = np.minimum.outer(self._luck, self._luck) * bots + np.maximum.outer(
            self._luck, self._luck
        )
        self.dealt = np.zeros(bots, dtype=np.int64)
        self.times = TimeShare(bots, self.season.format.time_share)
        self.together = np.zeros((bots, bots), dtype=np.int64)

    def batch(self, size: int) -> list[Group]:
        """The next deals, each chosen as if those before it had been played."""
        season, until = self.season, self.season.format.until
        known, costs = self.known, self.times.costs()
        each = known.worth(self.present) / costs
        asked = each if until is None else known.worth(self.present, until.top) / costs
        groups: list[Group] = []
        self.is_short = False
        # `known.expect` makes each deal that is chosen worth less, and so are those like it: else a batch would be one
        # pair again and again.
        for _ in range(size):
            new, over = self.times.new(self.present), self.times.over(self.present)
            self._waiting = new | over
            # A new bot comes first: where one waits that has played less than all others, so does the batch.
            rest = [self.dealt[bot] for bot in self.present if bot not in self._waiting]
            if new and min(self.dealt[bot] for bot in new) < min(rest, default=len(self.season.bots)):
                self.is_short = True
                break
            table = self._table(asked, each)
            group = group_of(season, table, self.met[table])
            self.count([group])
            known.expect(table, self.matches)
            groups.append(group)
        return groups

    def count(self, groups: Iterable[Group]) -> None:
        """Take it that these deals have been chosen."""
        for group in groups:
            table = tuple(sorted(group.bots))
            self.times.plan(group)
            self.chosen += 1
            self.met[table] += 1
            self.dealt[list(table)] += 1
            for one, two in permutations(table, 2):
                self.together[one, two] += 1

    def _table(self, asked: Floats, each: Floats) -> Table:
        """Two bots that are worth a deal, and at a larger table who is worth most beside them.

        First comes who has played too little. Every fourth deal goes to those who met least: so ratings do not hang
        by a few near pairs. All others go to an even pair of which a second of play tells most (`each`). Where places
        must be clear, all go to pairs whose order is not yet clear (`asked`).
        """
        here = self._here()
        dealt = self.dealt[here].tolist()
        mean, least = sum(dealt) / len(dealt), min(dealt)
        if least < max(mean / _SHARE, min(mean, FEWEST)):
            needy = [bot for bot, many in zip(here, dealt, strict=True) if many == least]
            return self._filled(
                [min(needy, key=self._luck.tolist().__getitem__)], each * self.known.distances
            )
        if self.season.format.until is None and self.chosen % _EVEN == 0:
            return self._filled(self._least_met(), -self.together.astype(float))
        allowed = np.zeros(len(self.season.bots))
        allowed[here] = 1.0
        worth = (asked if (asked[np.ix_(here, here)] > 0).any() else each) * self.known.distances
        worth = worth * np.outer(allowed, allowed)
        fresh = np.where(self._met_too_soon(), 0.0, worth)
        worth = fresh if fresh.any() else worth
        # Machines may round differently: what is as good but for the last digits is equal.
        best = np.argwhere(worth >= worth.max() * (1 - _ROUNDED))
        return self._filled(self._drawn(best, 0), worth)

    def _filled(self, table: list[int], worth: Floats) -> Table:
        """The table with who is worth most beside those who sit there; a new bot first meets whom it has not met."""
        soon = self._met_too_soon()
        while len(table) < self.season.players:
            sums = worth[table].sum(axis=0).round(_DIGITS)
            again = soon[table].sum(axis=0)
            rest = [bot for bot in self._here() if bot not in table]
            table.append(
                max(rest, key=lambda bot: (-again[bot], sums[bot], -self.dealt[bot], self._luck[bot]))
            )
        return tuple(sorted(table))

    def _here(self) -> list[int]:
        """The bots that may be chosen: all but the slow ones that wait, if those are enough for a table."""
        here = [bot for bot in self.present if bot not in self._waiting]
        return here if len(here) >= self.season.players else self.present

    def _least_met(self) -> list[int]:
        """The two bots that met least, of those the two that played least."""
        here = np.array(self._here())
        together = self.together[np.ix_(here, here)].astype(float)
        np.fill_diagonal(together, np.inf)
        pairs = here[np.argwhere(together == together.min())]
        return self._drawn(pairs, self.dealt[pairs].sum(axis=1))

    def _met_too_soon(self) -> NDArray[np.bool_]:
        """For each pair whether it has met, and one of them is new: it has not had time to meet every other bot."""
        opponents = (len(self.present) - 1) / (self.season.players - 1)
        new = self.dealt < opponents
        met: NDArray[np.bool_] = (self.together > 0) & (new[:, None] | new[None, :])
        return met

    def _drawn(self, pairs: Ints, before: Ints | int) -> list[int]:
        """Of some pairs the one for which `before` is least, and of these the first by lot."""
        one, two = pairs.T
        least = int(np.argmin(before * len(self.season.bots) ** 2 + self._pair_luck[one, two]))
        return [int(bot) for bot in pairs[least]]


def groups(season: Season) -> tuple[list[Group], list[Group]]:
    """The deals that had begun: those that were played to their end, and the others.

    Their order follows from them: the first deal of each table, then the second one, and so on.
    """
    # A store may be damaged, or a stranger's.
    known = [
        one
        for one in season.deals_in_progress
        if len(set(one.table)) == len(one.table) == season.players and max(one.table) < len(season.bots)
    ]
    whole: list[Group] = []
    left: list[Group] = []
    for number in range(max((one.deals for one in known), default=0)):
        for one in known:
            if number < one.deals:
                (left if number in one.open else whole).append(group_of(season, one.table, number))
    return whole, left


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
    """The seconds that each of `bots` bots decided in its matches; `share` is the part for slow bots.

    A bot is slow if it decides for more than twice as long in a match as the middle bot. All that slow bots have taken
    beyond the time of the middle bot is at most the part `share` of all time, or else they wait.
    """

    bots: int
    share: float
    seconds: Floats = attrs.field(init=False)
    matches: Floats = attrs.field(init=False)
    _planned: deque[dict[int, int]] = attrs.Factory(deque)
    """Matches of each deal whose result has not come yet, by bot."""

    def __attrs_post_init__(self) -> None:
        self.seconds, self.matches = np.zeros(self.bots), np.zeros(self.bots)

    def plan(self, group: Group) -> None:
        """Take it that a deal will be played."""
        self._planned.append({bot: len(group.seats) for bot in group.bots})

    def tell(self, outcomes: Iterable[Outcome]) -> None:
        """Charge the deals that were planned first with what they took."""
        for outcome in outcomes:
            self._planned.popleft()
            for seats, seconds in outcome.seconds():
                here = list(seats)
                self.seconds[here] += seconds
                self.matches[here] += 1

    def paces(self) -> Floats:
        """How long each bot decides in a match, in seconds; a bot that has played none, as long as the middle one."""
        # Only its own decisions count. Bots also start and end, and wait for each other, but nobody can tell whose
        # time that was: a fast bot that had met only a slow one was taken for slow for good.
        known = np.maximum(self.seconds / np.maximum(self.matches, 1), LEAST_S)
        return np.where(self.matches > 0, known, self._middle_pace(known))

    def costs(self) -> Floats:
        """How long a match of each pair takes, as a multiple of that of two middle bots."""
        paces = self.paces()
        costs: Floats = (paces[:, None] + paces[None, :]) / (2 * self._middle_pace(paces))
        return costs

    def _middle_pace(self, paces: Floats) -> float:
        return _middle(paces[self.matches > 0].tolist())

    def new(self, present: Sequence[int]) -> frozenset[int]:
        """The bots among those `present` whose first deal is not over: nobody knows yet whether they are slow."""
        planned = {bot for deal in self._planned for bot in deal}
        return frozenset(bot for bot in present if bot in planned and not self.matches[bot])

    def over(self, present: Sequence[int]) -> frozenset[int]:
        """The slow bots among those `present`, if these have taken their share of the time; else none."""
        paces, matches = self.paces(), self.matches.copy()
        middle = _middle([float(paces[bot]) for bot in present if matches[bot]])
        for deal in self._planned:
            for bot, many in deal.items():
                matches[bot] += many
        slow = [bot for bot in present if self.matches[bot] and paces[bot] > _SLOW * middle]
        excess = sum(float(matches[bot] * (paces[bot] - middle)) for bot in slow)
        # Added up in the order of the bots, so that all machines round alike.
        whole = sum(float(matches[bot] * paces[bot]) for bot in present)
        return frozenset(slow if excess > self.share * whole else ())


def _middle(paces: Sequence[float]) -> float:
    """The time of the middle bot: at most half of the bots take less."""
    return median_low(paces) if paces else LEAST_S
