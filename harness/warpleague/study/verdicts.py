"""Evaluates the playouts of a match: which to play next, the value of each decision, the blunders.

Pure: `warpleague.study.analyse` plays them. A *way* to continue from a decision is one of its legal actions, by index,
or `FREE`: nothing is prescribed, and the bots that play on decide themselves. Playout number `k` of a decision plays
all ways from one and the same world with the same dice, so ways are compared playout by playout.
"""

from __future__ import annotations

from collections import Counter
from math import ceil, sqrt
from random import Random
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.games.api import JsonObject

FREE: Final = -1
"""The way to continue without a prescribed action."""
FIRST: Final = 8
"""How many playouts each action gets at first; after that they double, and the worse half of the actions drops out."""
LEAST: Final = 0.1
"""The default for the least share of the points that a blunder loses."""
_CLEAR: Final = 3.0
"""How many standard errors a loss must exceed: in a match of a hundred decisions, one in seven matches errs once."""
_SURE: Final = 2.0
"""How many standard errors make it unlikely enough that an action is better, to look at it no further."""
_INTERVAL: Final = 1.96


@attrs.frozen
class Decision:
    """A decision of a record: the line `n`, who decided what, and the place of that in the legal actions."""

    n: int
    seat: int
    ask: str
    action: JsonObject
    played: int
    legal: int


@attrs.frozen
class Sample:
    """Playout number `k` of the decision on line `n`: the worth of each way to continue, for the seat that decided.

    `chose` is the choice of the bots without a prescribed action. `faults` counts theirs by kind. `valued` says how
    many of the worths are a bot's own estimates.
    """

    n: int
    k: int
    worth: dict[int, float]
    chose: int | None = None
    faults: dict[str, int] = attrs.field(factory=dict)
    valued: int = 0


@attrs.frozen
class Plan:
    """How far to go: `playouts` of an action at most, of `actions` of a decision at most.

    A loss below `least` is not a blunder. `shares` is false if a worth is a score instead of a share from 0 to 1.
    """

    playouts: int
    actions: int
    least: float
    seed: str
    bots: bool
    shares: bool = True

    def rounds(self) -> list[int]:
        """How many playouts an action has had after each round."""
        sizes = [FIRST]
        while sizes[-1] * 2 <= self.playouts:
            sizes.append(sizes[-1] * 2)
        return sizes


@attrs.frozen
class Mean:
    """A mean of playouts, its standard error (None: too few to say), and how many they were."""

    value: float
    error: float | None
    playouts: int

    @property
    def interval(self) -> float | None:
        """Half the width of the 95 % interval."""
        return None if self.error is None else _INTERVAL * self.error


@attrs.frozen
class Option:
    """An action that was examined, by its index, and its value."""

    index: int
    mean: Mean


@attrs.frozen
class Verdict:
    """The findings about a decision.

    `before` is the value of the position, `after` that of the action played. `others` are the best alternatives that
    were left, the best first. `loss` says how much better the best action was than the one played (None: not known
    yet); it comes from playouts that had no part in choosing `best`.
    """

    decision: Decision
    before: Mean
    after: Mean
    gain: Mean
    others: tuple[Option, ...]
    looked_at: int
    best: int | None
    loss: Mean | None
    blunder: bool
    playouts: int


@attrs.frozen
class Turn:
    """A change of a seat's value, from line `since` to line `n`: by its own decision, or (`own` false) by the rest."""

    n: int
    since: int
    seat: int
    own: bool
    before: float
    after: float
    change: Mean


class Book:
    """All playouts of the decisions of one match."""

    def __init__(self) -> None:
        self._worth: dict[int, dict[int, dict[int, float]]] = {}
        self._chose: dict[int, dict[int, int]] = {}
        self.playouts = 0
        self.valued = 0
        self.faults: Counter[str] = Counter()

    def add(self, sample: Sample) -> None:
        """Add a sample, unless it is known already."""
        ways = self._worth.setdefault(sample.n, {})
        for way, worth in sample.worth.items():
            samples = ways.setdefault(way, {})
            self.playouts += sample.k not in samples
            samples.setdefault(sample.k, worth)
        if sample.chose is not None:
            self._chose.setdefault(sample.n, {}).setdefault(sample.k, sample.chose)
        self.faults.update(sample.faults)
        self.valued += sample.valued

    def worths(self, n: int, way: int, ks: Iterable[int]) -> list[float]:
        """The worth of the playouts `ks` of a way; only those that there are."""
        samples = self._worth.get(n, {}).get(way, {})
        return [samples[k] for k in ks if k in samples]

    def missing(self, n: int, ways: Sequence[int], ks: Iterable[int]) -> list[tuple[int, tuple[int, ...]]]:
        """The missing playouts: each `k` with its ways."""
        known = self._worth.get(n, {})
        every = [(k, tuple(way for way in ways if k not in known.get(way, {}))) for k in ks]
        return [(k, left) for k, left in every if left]

    def total(self, n: int) -> int:
        """How many playouts a decision has had."""
        return sum(map(len, self._worth.get(n, {}).values()))

    def chosen(self, n: int) -> list[int]:
        """The choices of the bots in the first playouts, the most frequent first."""
        chose = self._chose.get(n, {})
        counts = Counter(chose[k] for k in range(FIRST) if k in chose)
        return sorted(counts, key=lambda action: (-counts[action], action))


def mean_of(values: Sequence[float], shares: bool, low: float = 0.0) -> Mean:
    """The mean of `values`, which lie from `low` to 1 if they are `shares`.

    Then one value at either end is added to the spread, so that a few equal results do not look certain.
    """
    count = len(values)
    mean = sum(values) / count if count else 0.0
    squares = sum((value - mean) ** 2 for value in values)
    if shares and count:
        return Mean(mean, sqrt((squares + (mean - low) ** 2 + (1 - mean) ** 2) / (count + 1) / count), count)
    return Mean(mean, sqrt(squares / (count - 1) / count) if count > 1 else None, count)


def candidates(decision: Decision, book: Book, plan: Plan) -> list[int]:
    """The actions to examine: the recorded one, the choices of the bots, and others drawn by the seed."""
    if decision.legal <= plan.actions:
        return list(range(decision.legal))
    wanted = dict.fromkeys([decision.played, *book.chosen(decision.n)])
    for action in Random(f"{plan.seed} {decision.n}").sample(range(decision.legal), plan.actions):
        wanted.setdefault(action)
    return sorted(list(wanted)[: plan.actions])


@attrs.frozen
class _Round:
    """A round: the playouts from `low` to `high` of `ways`."""

    low: int
    high: int
    ways: tuple[int, ...]


def _rounds(decision: Decision, book: Book, plan: Plan) -> tuple[list[_Round], _Round | None]:
    """The rounds that are complete, and the one to play next (None: no more is needed).

    They follow from the samples of earlier rounds alone, so they do not depend on where an analysis was stopped.
    """
    done: list[_Round] = []
    if plan.bots:
        first = _Round(0, FIRST, (FREE,))  # the actions that the bots choose must be examined
        if book.missing(decision.n, first.ways, range(FIRST)):
            return done, first
    left = candidates(decision, book, plan)
    low = 0
    for high in plan.rounds():
        if done:
            left = _better_half(decision, book, plan, left, low)
        turn = _Round(low, high, tuple(dict.fromkeys((FREE, decision.played, *left))))
        if done and not _may_be_blunder(decision, book, plan, turn.ways, low):
            return done, None
        if book.missing(decision.n, turn.ways, range(low, high)):
            return done, turn
        done.append(turn)
        low = high
    return done, None


def _better_half(decision: Decision, book: Book, plan: Plan, left: list[int], high: int) -> list[int]:
    worth = {way: sum(book.worths(decision.n, way, range(high))) for way in left}
    if not plan.bots and high == FIRST:
        return left  # too few to drop one
    ranked = sorted(left, key=lambda way: (-worth[way], way))
    return sorted(ranked[: max(2, ceil(len(ranked) / 2))])


def _may_be_blunder(decision: Decision, book: Book, plan: Plan, ways: Sequence[int], high: int) -> bool:
    """Whether one of the ways may yet be better than the action played, by as much as matters.

    Never settled before each has had twice the first number of playouts.
    """
    if high < 2 * FIRST:
        return True
    for way in ways:
        if way not in (FREE, decision.played):
            better = _paired(decision, book, plan, way, range(high))
            if better.error is None or better.value + _SURE * better.error >= max(plan.least, 1e-9):
                return True
    return False


def _paired(decision: Decision, book: Book, plan: Plan, way: int, ks: range, than: int | None = None) -> Mean:
    """By how much a way was better than the action played, or than another way, playout by playout."""
    ours = book.worths(decision.n, way, ks)
    theirs = book.worths(decision.n, decision.played if than is None else than, ks)
    return mean_of([a - b for a, b in zip(ours, theirs, strict=True)], plan.shares, low=-1.0)


def next_playouts(decision: Decision, book: Book, plan: Plan) -> list[tuple[int, tuple[int, ...]]]:
    """The playouts that a decision needs next: numbers, each with its ways; none if all is known."""
    due = _rounds(decision, book, plan)[1]
    return [] if due is None else book.missing(decision.n, due.ways, range(due.low, due.high))


def verdict(decision: Decision, book: Book, plan: Plan) -> Verdict | None:
    """The verdict of the complete rounds on a decision, or None if none is complete."""
    done = _rounds(decision, book, plan)[0]
    if not done:
        return None
    n, played, last = decision.n, decision.played, done[-1]
    ks = range(last.high)
    others = [
        Option(way, mean_of(book.worths(n, way, ks), plan.shares))
        for way in last.ways
        if way not in (FREE, played)
    ]
    others.sort(key=lambda option: (-option.mean.value, option.index))
    best, loss = None, None
    if len(done) > 1:  # chosen by the playouts before the last round, judged by those of the last round
        worth = {way: sum(book.worths(n, way, range(last.low))) for way in last.ways if way != FREE}
        best = max(worth, key=lambda way: (worth[way], way == played, -way))
        loss = Mean(0.0, 0.0, last.high - last.low)
        if best != played:
            loss = _paired(decision, book, plan, best, range(last.low, last.high))
    return Verdict(
        decision,
        before=mean_of(book.worths(n, FREE, ks), plan.shares),
        after=mean_of(book.worths(n, played, ks), plan.shares),
        gain=_paired(decision, book, plan, played, ks, than=FREE),
        others=tuple(others[:3]),
        looked_at=len([way for way in done[0].ways if way != FREE]),
        best=best,
        loss=loss,
        blunder=loss is not None and _is_clear(loss, plan),
        playouts=book.total(n),
    )


def _is_clear(change: Mean, plan: Plan) -> bool:
    return (
        change.error is not None
        and abs(change.value) >= max(plan.least, 1e-9)
        and (change.value > _CLEAR * change.error or change.value < -_CLEAR * change.error)
    )


def turns(verdicts: Sequence[Verdict], plan: Plan) -> list[Turn]:
    """The changes of a seat's value that matter and are clear of their errors, the largest first."""
    turns: list[Turn] = []
    last: dict[int, Verdict] = {}
    for now in verdicts:
        n, seat = now.decision.n, now.decision.seat
        if (then := last.get(seat)) is not None:
            errors = (now.before.error, then.after.error)
            error = None if None in errors else sqrt(sum(each**2 for each in errors if each is not None))
            change = Mean(now.before.value - then.after.value, error, now.before.playouts)
            if _is_clear(change, plan):
                since = then.decision.n
                turns.append(Turn(n, since, seat, False, then.after.value, now.before.value, change))
        if _is_clear(now.gain, plan):
            turns.append(Turn(n, n, seat, True, now.before.value, now.after.value, now.gain))
        last[seat] = now
    return sorted(turns, key=lambda turn: -abs(turn.change.value))
