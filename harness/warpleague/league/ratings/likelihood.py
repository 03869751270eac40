"""Finds the ratings that make the results most likely, by Newton's method, whatever the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import attrs
import numpy as np

from warpleague.league.ratings.rows import added

if TYPE_CHECKING:
    from warpleague.league.ratings.rows import Floats, Ints, Rows

STEPS = 100
_PRECISE = 1e-9
_HALVINGS = 40
_SINGULAR = 1e12


class Model(Protocol):
    """The terms of a model for some contests."""

    def __call__(
        self, rows: Rows, strengths: Floats, draws: float | None, /
    ) -> tuple[Floats, Floats, Floats]:
        """The result of `models.bradley_terry`."""


@attrs.frozen
class Layout:
    """Where each parameter stands: `bots` log strengths first, then those of `seats` seats, then that of draws.

    `tier` (bots) numbers sets of bots whose common level the results do not tell; so their mean is zero, and that of
    the seats as well. `seats` is 0 to leave seats out.
    """

    bots: int
    tier: Ints
    seats: int = 0
    draws: bool = False

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.bots + self.seats + self.draws

    def index(self, rows: Rows) -> Ints:
        """The parameters that each row's contest depends on (rows, some)."""
        parts = [rows.bots]
        if self.seats:
            parts.append(rows.seats + self.bots)
        if self.draws:
            parts.append(np.full((len(rows.bots), 1), self.size - 1))
        return np.concatenate(parts, axis=1)

    def unfold(self, gradient: Floats, information: Floats) -> tuple[Floats, Floats]:
        """Gradient and information by the parameters of `index`, from those by place: a place is a bot and a seat."""
        if not self.seats:
            return gradient, information
        places = gradient.shape[1] - self.draws
        order = [*range(places), *range(places), *range(places, gradient.shape[1])]
        return gradient[:, order], information[:, order][:, :, order]

    def strengths(self, rows: Rows, parameters: Floats) -> Floats:
        """The log strength of each place (rows, places)."""
        worths = parameters[rows.bots]
        return worths + parameters[self.bots + rows.seats] if self.seats else worths

    def flat(self) -> Floats:
        """The projection on what results tell nothing of: the mean of each tier, and that of the seats."""
        size = self.size
        matrix = np.zeros((size, size))
        for number in sorted(set(self.tier.tolist())):  # np.unique would load numpy.ma, which takes long
            members = np.flatnonzero(self.tier == number)
            matrix[np.ix_(members, members)] = 1.0 / members.size
        seats = np.arange(self.bots, self.bots + self.seats)
        if self.seats:
            matrix[np.ix_(seats, seats)] = 1.0 / self.seats
        return matrix


@attrs.frozen
class Solution:
    """The most likely parameters; `inverse` is that of their information, zero where results tell nothing.

    `identified` says whether the results determine all parameters; `converged` whether the steps have come to an end.
    """

    parameters: Floats
    inverse: Floats
    converged: bool
    identified: bool


@attrs.frozen
class Likelihood:
    """The likelihood of `rows` as a function of the parameters.

    `prior` is in matches: as if each bot had drawn this number against one of mean rating. `offset` (rows, places) is
    added to the log strengths.
    """

    model: Model
    rows: Rows
    layout: Layout
    prior: float = 0.0
    offset: Floats | None = None

    def at(self, point: Floats) -> tuple[float, Floats, Floats]:
        """The log likelihood, its gradient, and its information."""
        rows, layout, prior = self.rows, self.layout, self.prior
        index = layout.index(rows)
        places = index.shape[1]
        strengths = layout.strengths(rows, point)
        if self.offset is not None:
            strengths = strengths + self.offset
        value, gradient, information = self.model(rows, strengths, point[-1] if layout.draws else None)
        gradient, information = layout.unfold(gradient, information)
        total = float(rows.weight @ value)
        slope = added(index.ravel(), np.repeat(rows.weight, places) * gradient.ravel(), layout.size)
        square = (index[:, :, None] * layout.size + index[:, None, :]).ravel()
        weight = np.repeat(rows.weight, places * places)
        curve = added(square, weight * information.ravel(), layout.size**2).reshape(layout.size, layout.size)
        if prior:
            own, bots = point[: layout.bots], np.arange(layout.bots)
            share = 0.5 * (1.0 + np.tanh(own / 2))
            total -= prior * float(np.log(np.cosh(own / 2)).sum())
            slope[bots] += prior * (0.5 - share)
            curve[bots, bots] += prior * share * (1 - share)
        return total, slope, curve

    def flat(self) -> Floats:
        """The projection on what neither results nor prior tell anything of."""
        flat = self.layout.flat()
        if self.prior:
            flat[: self.layout.bots, : self.layout.bots] = 0.0  # the prior tells the level
        return flat

    def solution(self, point: Floats, *, converged: bool = True) -> Solution:
        """The parameters `point` with the inverse of their information."""
        flat, curve = self.flat(), self.at(point)[2]
        identified = bool(np.linalg.cond(curve + flat) < _SINGULAR) if self.layout.size else True
        inverse = np.linalg.inv(curve + flat) - flat if identified else np.zeros_like(curve)
        return Solution(point, inverse, converged, identified)

    def maximum(self) -> Solution:
        """The most likely parameters."""
        flat, point = self.flat(), np.zeros(self.layout.size)
        value, slope, curve = self.at(point)
        converged = False
        for _ in range(STEPS):
            try:
                step = np.linalg.solve(curve + flat, slope)
            except np.linalg.LinAlgError:
                break
            for _ in range(_HALVINGS):
                further = self.at(point + step)
                # Where nothing is left to gain, rounding decides which value is greater.
                if further[0] >= value - 1e-12 * abs(value):
                    break
                step = step / 2
            point = point + step
            value, slope, curve = further
            if np.abs(step).max(initial=0.0) < _PRECISE:
                converged = True
                break
        return self.solution(point, converged=converged)
