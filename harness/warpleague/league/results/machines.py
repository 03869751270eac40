"""Compares the machines of a cluster on which a league was played: results and speed of each against all others.

The residual of a machine is that of fishtest (`get_chi2` in its `util.py`): the chi-square of its results against
those of all others together, written as a standard normal value, and at least zero. There two programs play, here
many: so matches are compared with those of the same bots in the same seats only. Which machine plays which of these is
chance, and the points of each bot on the machine, less the mean, have a known covariance; this is the generalised test
of Cochran, Mantel and Haenszel (Landis, Heyman and Koch 1978).
"""

from __future__ import annotations

from math import exp, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from warpleague.league.ratings.statistics import chi_square_tail
from warpleague.league.results.tallies import means, shares
from warpleague.league.season.fixture import TIMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.results.league import League
    from warpleague.league.store.columns import Array, Columns

ERROR: Final = 0.001
"""How probable it is that any machine of a league stands out although all are alike, as fishtest has it."""
_FEWEST: Final = 3  # machines: of two that differ nobody can say which is wrong
_LEAST: Final = 1e-9  # of the largest variance: what rounding leaves
_SMALLEST: Final = 1e-300  # a probability that still has a normal value


@attrs.frozen
class MachineLine:
    """A machine: its matches, in how many a bot faulted, and how it compares with all others together.

    `speed` has the ratio of its speed to theirs, and the ends of its 95 % interval: the geometric mean, over all
    seats, of the processor time of a decision of the same bot there divided by that here. `residual` is that of the
    results. Either is None where nothing can be compared. `stands_out`: chance alone would hardly give such results.
    """

    machine: str
    matches: int
    faulted: int
    speed: tuple[float, float, float] | None
    residual: float | None
    stands_out: bool = False


def machines(league: League) -> list[MachineLine]:
    """The machines that played matches that count, by name; those of no cluster are left out."""
    names, columns, owners = _played(league)
    return compared(names, columns, owners, len(league.season.bots))


def outliers(league: League) -> list[tuple[str, str]]:
    """The ids of the matches of machines that stand out, and for each what is wrong."""
    names, columns, owners = _played(league)
    lines = compared(names, columns, owners, len(league.season.bots))
    ids = columns.id.tolist() if len(columns) else []
    return [
        (match_id.decode(), f"it was played on {line.machine}, where results differ from those elsewhere")
        for match_id, owner in zip(ids, owners.tolist(), strict=True)
        if (line := lines[owner]).stands_out
    ]


def _played(league: League) -> tuple[list[str], Columns, Array]:
    """The names of the machines, the matches that a machine of a cluster played, and the number of each one's."""
    known = {number: way.machine for number, way in league.store.confinements().items() if way.machine}
    names = sorted(set(known.values()))
    columns = league.columns("matches", "times")
    numbers = np.full(max(known, default=0) + 2, -1)  # the last one is that of a match without a confinement
    for number, name in known.items():
        numbers[number] = names.index(name)
    owners = numbers[np.minimum(columns.confinement, len(numbers) - 1)]
    return names, columns.only(owners >= 0), owners[owners >= 0]


def compared(names: Sequence[str], columns: Columns, owners: Array, bots: int) -> list[MachineLine]:
    """The machines with these `names`; `owners` has the number of that which played each match, of so many bots.

    One after the other the machine with the largest residual is found to stand out, and is left out of what the rest
    is compared with, for as long as chance alone gives so large a residual in less than `ERROR` of all leagues, and
    three machines are left.
    """
    count = len(names)
    if not count:
        return []
    results = _Results(columns, owners, bots)
    left, residuals, out = list(range(count)), results.residuals(range(count)), set[int]()
    now = dict(enumerate(residuals))
    while len(left) >= _FEWEST:
        worst = max(left, key=lambda one: now[one] or 0.0)
        if (now[worst] or 0.0) <= NormalDist().inv_cdf(1 - ERROR / len(left)):
            break
        out.add(worst)
        left.remove(worst)
        now = dict(zip(left, results.residuals(left), strict=True))
    matches = np.bincount(owners, minlength=count).tolist()
    faulted = np.bincount(owners[columns.faults.any(axis=1)], minlength=count).tolist()
    speeds = _speeds(columns, owners, count, bots)
    return [
        MachineLine(*line, one in out)
        for one, line in enumerate(zip(names, matches, faulted, speeds, residuals, strict=True))
    ]


class _Results:
    """The points of all matches, compared with those of the same bots in the same seats."""

    def __init__(self, columns: Columns, owners: Array, bots: int) -> None:
        self._owners, self._bots, self._seats = owners, bots, columns.seats.astype(np.int64)
        self._points = columns.scores if columns.players == 1 else shares(columns)
        self._tables, table = np.unique(self._seats, axis=0, return_inverse=True)
        self._table = table.ravel()

    def residuals(self, machines: Sequence[int]) -> list[float | None]:
        """The residual of each of these machines against the others of them together."""
        chosen = np.isin(self._owners, machines)
        owners, table, seats = self._owners[chosen], self._table[chosen], self._seats[chosen]
        size = np.bincount(table, minlength=len(self._tables))
        points = self._points[chosen]
        deviations = np.stack(
            [
                column - (np.bincount(table, column, len(size)) / np.maximum(size, 1))[table]
                for column in points.T
            ],
            axis=1,
        )
        products = np.zeros((len(size), seats.shape[1], seats.shape[1]))
        np.add.at(products, table, deviations[:, :, None] * deviations[:, None, :])
        residuals = []
        for machine in machines:
            ours = owners == machine
            here = np.bincount(table[ours], minlength=len(size))
            # Of a sum over some of the matches of a table that were drawn without putting back.
            factor = here * (size - here) / np.maximum(size * (size - 1), 1)
            covariance = np.zeros((self._bots, self._bots))
            rows, columns = self._tables[:, :, None], self._tables[:, None, :]
            np.add.at(covariance, (rows, columns), factor[:, None, None] * products)
            sums = np.bincount(seats[ours].ravel(), deviations[ours].ravel(), self._bots)
            residuals.append(_residual(sums, covariance))
        return residuals


def _residual(sums: Array, covariance: Array) -> float | None:
    """The standard normal value, at least zero, that is as improbable as these sums; None where nothing varies."""
    variances, directions = np.linalg.eigh(covariance)
    varied = variances > _LEAST * max(variances.max(initial=0.0), _LEAST)
    if not varied.any():
        return None
    along: Any = (directions.T @ sums)[varied]
    tail = chi_square_tail(float((along**2 / variances[varied]).sum()), int(varied.sum()))
    return max(0.0, -NormalDist().inv_cdf(min(max(tail, _SMALLEST), 0.5)))


def _speeds(
    columns: Columns, owners: Array, count: int, bots: int
) -> list[tuple[float, float, float] | None]:
    """The speed of each machine relative to all others, with its 95 % interval."""
    decisions, cpu_ms = (columns.times[:, :, TIMES.index(name)] for name in ("decisions", "cpu_ms"))
    match, seat = np.nonzero((decisions > 0) & (cpu_ms > 0))
    time = np.log(cpu_ms[match, seat] / decisions[match, seat])
    bot, owner = columns.seats[match, seat].astype(np.int64), owners[match]
    cell = bot * count + owner
    many = np.bincount(cell, minlength=bots * count).reshape(bots, count)
    total = np.bincount(cell, time, bots * count).reshape(bots, count)
    elsewhere = many.sum(axis=1, keepdims=True) - many
    usual = (total.sum(axis=1, keepdims=True) - total) / np.maximum(elsewhere, 1)
    some = elsewhere.ravel()[cell] > 0
    slower = means(
        (time - usual.ravel()[cell])[some, None], owner[some, None], match[some].astype(np.int64), count
    )
    speeds: list[tuple[float, float, float] | None] = []
    for mean in slower:
        others = max(int(some.sum()) - mean.count, 1)
        # The others' mean has an error, too: a smaller one, as they are more.
        half = None if mean.half is None else mean.half * sqrt(1 + mean.count / others)
        speeds.append(
            None if half is None else (exp(-mean.mean), exp(-mean.mean - half), exp(half - mean.mean))
        )
    return speeds
