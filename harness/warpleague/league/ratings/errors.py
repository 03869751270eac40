"""Errors of fitted ratings, clustered by deal: the matches on one deal share its luck, so they are not independent.

The covariance is the sandwich of Liang and Zeger (1986). The deals' surpluses are adjusted for having helped to fit
the ratings (CR2; Bell and McCaffrey 2002), and the degrees of freedom of the intervals are Satterthwaite's for it
(Pustejovsky and Tipton 2018). Without both, intervals of short leagues come out too narrow, or too wide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from warpleague.league.ratings.rows import added

if TYPE_CHECKING:
    from warpleague.league.ratings.likelihood import Layout, Model, Solution
    from warpleague.league.ratings.rows import Floats, Ints, Rows

_ALL = 1.0 - 1e-7  # a deal of this leverage decides a parameter alone
_SMALL = 0.01
_BOUNDED = 1.6  # degrees of freedom for each that there is for normal values
_COARSE = 8.0  # more of them, where deals have three outcomes
_MAX_EXACT = 20_000_000  # numbers in memory at once


@attrs.frozen
class Spread:
    """How sure parameters are: their `covariance`, and for contrasts how many degrees of freedom it has.

    `deals` (parameters) is the number of deals that tell of each. `scatter` is how much all deals scatter, divided by
    what independent contests would.
    """

    covariance: Floats
    deals: Floats
    scatter: float
    _inverse: Floats
    _support: Ints
    _adjust: Floats
    _information: Floats
    _times: Floats
    _coarse: bool

    def widened(self, share: float, inverse: Floats) -> Spread:
        """The same, no parameter being surer than all deals together say, or a `share` of the way there.

        `inverse` is that of the information at the fitted ratings. Where a bot hardly ever wins, its few wins decide
        how much its deals scatter, and too often there are too few of them: then its own error is too small.
        """
        values, axes = np.linalg.eigh(self.scatter * inverse - self.covariance)
        more = (axes * np.maximum(values, 0.0)) @ axes.T
        return attrs.evolve(self, covariance=self.covariance + share * more)

    def deals_of(self, parameters: Ints) -> float:
        """How many deals tell of any of these parameters."""
        return float(self._times[np.isin(self._support, parameters).any(axis=1)].sum())

    def freedom(self, contrast: Floats) -> Floats:
        """Satterthwaite's degrees of freedom of each contrast; `contrast` is (parameters, contrasts).

        They are for normal values. The values of deals have no tails, only a few outcomes, so their variance is known
        better than that; where deals have three outcomes only, few deals have so few outcomes in all that Student's t
        is much too wide. `make simulations` measures how much better.

        Where there are very many deals and contrasts, their number less one, for the parameter that weighs most.
        """
        deals, width = self._support.shape
        if deals * width * contrast.shape[1] > _MAX_EXACT or contrast.size > 10_000:
            degrees: Floats = np.maximum(self.deals[np.abs(contrast).argmax(axis=0)] - 1, 1.0)
            return degrees
        here = (self._support >= 0)[:, :, None]
        direction = np.where(here, (self._inverse @ contrast)[self._support], 0.0)
        direction = np.einsum("dji,djc->dic", self._adjust, direction)
        pulled = np.einsum("dij,djc->dic", self._information, direction)
        own = (direction * pulled).sum(axis=1)
        local = _local(self._inverse, self._support, 0.0)
        shared = np.einsum("dic,dij,djc->dc", pulled, local, pulled)
        trace = self._times @ (own - shared)
        squares = self._times @ (own * own - 2 * own * shared)
        size = len(self._inverse)
        for i in range(contrast.shape[1]):
            outer = self._times[:, None, None] * pulled[:, :, None, i] * pulled[:, None, :, i]
            both = self._inverse @ _scattered(outer, self._support, size)
            squares[i] += (both * both.T).sum()
        normal = np.where(squares > 0, trace * trace / np.where(squares > 0, squares, 1.0), 0.0)
        return np.where(squares > 0, _BOUNDED * normal + (_COARSE if self._coarse else 0.0), 1.0)


def clustered(
    model: Model, rows: Rows, times: Floats, layout: Layout, solution: Solution, best: Floats, *, coarse: bool
) -> Spread:
    """The spread of the parameters `best`, from `rows` of single matches; `times` is how many deals went like each.

    `solution` are parameters near them, and the inverse of their information, by which the surpluses are weighed.
    `coarse`: a deal has three outcomes, since it has matches of two bots in both seat orders, none of them drawn.
    """
    strengths = layout.strengths(rows, solution.parameters)
    draws = solution.parameters[-1] if layout.draws else None
    _, _, information = model(rows, strengths, draws)
    _, gradient, _ = model(rows, layout.strengths(rows, best), best[-1] if layout.draws else None)
    gradient, information = layout.unfold(gradient, information)
    index, size, deals = layout.index(rows), layout.size, len(times)
    share = rows.weight / times[rows.deal]
    # The parameters of each deal, in order: `support`; and for each parameter of a row the place where it is there.
    keys, place = np.unique(rows.deal[:, None] * size + index, return_inverse=True)
    of = keys // size
    first = np.searchsorted(of, np.arange(deals))
    place = (place.ravel() - first[np.repeat(rows.deal, index.shape[1])]).reshape(index.shape)
    width = int(place.max(initial=0)) + 1
    support = np.full((deals, width), -1)
    support[of, np.arange(len(keys)) - first[of]] = keys % size
    at = rows.deal[:, None] * width + place
    surplus = added(at.ravel(), (share[:, None] * gradient).ravel(), deals * width).reshape(deals, width)
    square = (at[:, :, None] * width + place[:, None, :]).ravel()
    inner = added(square, (share[:, None, None] * information).ravel(), deals * width * width)
    inner = inner.reshape(deals, width, width)
    adjust = _adjustment(_local(solution.inverse + layout.flat(), support, 1.0), inner)
    surplus = np.einsum("dij,dj->di", adjust, surplus)
    outer = times[:, None, None] * surplus[:, :, None] * surplus[:, None, :]
    covariance = solution.inverse @ _scattered(outer, support, size) @ solution.inverse
    counted = added(support[support >= 0], np.repeat(times, width)[(support >= 0).ravel()], size)
    usual = float(times @ np.trace(inner, axis1=1, axis2=2))
    scatter = float(times @ (surplus * surplus).sum(axis=1)) / usual if usual > 0 else 1.0
    return Spread(covariance, counted, scatter, solution.inverse, support, adjust, inner, times, coarse)


def _adjustment(local: Floats, inner: Floats) -> Floats:
    """(1 - inner local)^(-1/2) for each deal: what makes its surplus as large as if it had not helped to fit."""
    adjusted = np.empty_like(local)
    # For a small leverage the first step of the series is as good, and quick.
    small = np.einsum("dij,dji->d", inner, local) < _SMALL
    adjusted[small] = np.eye(local.shape[1]) + inner[small] @ local[small] / 2
    local, inner = local[~small], inner[~small]
    root = np.linalg.cholesky(local)
    leverage, axes = np.linalg.eigh(np.swapaxes(root, 1, 2) @ inner @ root)
    # What one deal decides alone has no surplus left that could be made larger.
    wider = np.where(leverage < _ALL, 1.0 / np.sqrt(np.maximum(1.0 - leverage, 1.0 - _ALL)), 0.0)
    middle = (axes * wider[:, None, :]) @ np.swapaxes(axes, 1, 2)
    adjusted[~small] = np.linalg.solve(np.swapaxes(root, 1, 2), middle @ np.swapaxes(root, 1, 2))
    return adjusted


def _local(matrix: Floats, support: Ints, unused: float) -> Floats:
    """The part of a matrix for each deal's parameters; `unused` is on the diagonal where there is none."""
    here = support >= 0
    local = np.where(
        here[:, :, None] & here[:, None, :], matrix[support[:, :, None], support[:, None, :]], 0.0
    )
    index = np.arange(support.shape[1])
    local[:, index, index] += np.where(here, 0.0, unused)
    return local


def _scattered(parts: Floats, support: Ints, size: int) -> Floats:
    """The sum of the deals' matrices, each at its parameters."""
    here = support >= 0
    both = here[:, :, None] & here[:, None, :]
    at = (support[:, :, None] * size + support[:, None, :])[both]
    return added(at, parts[both], size * size).reshape(size, size)
