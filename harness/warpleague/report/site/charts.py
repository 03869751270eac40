"""Draws the charts of a league's page as SVG, in the colours of the style sheet.

Charts also hold their numbers as text, so that they can be read aloud and searched.
"""

from __future__ import annotations

from itertools import groupby
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import attrs
from markupsafe import Markup

from warpleague.report.wording.match_words import one_line
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_WIDTH: Final = 600
_ROW: Final = 26
_NAMES: Final = 160  # left of the plot
_VALUES: Final = 115  # right of it
_COLOURS: Final = 10
_TICKS: Final = 6  # of an axis, at most
_MAX_POINTS: Final = 10_000  # of all lines of a chart: the page of 400 bots stays below a megabyte


@attrs.frozen
class Row:
    """One line of a chart of intervals.

    `low` and `high` bound the 95 % interval; `above` or `below`, alone, is a bound that the value exceeds or stays
    under with 95 % confidence. `text` are the numbers in words.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    text: str = ""

    def extent(self) -> list[float]:
        """All values that the chart must have room for."""
        values = (self.value, self.low, self.high, self.above, self.below)
        return [value for value in values if value is not None]


def ticks(low: float, high: float) -> list[float]:
    """Round values from `low` to `high`, six at most: steps of 1, 2 or 5 times a power of ten."""
    span = max(high - low, 1e-9)
    power = 10.0 ** floor(log10(span / _TICKS))
    step = next(power * by for by in (1, 2, 5, 10, 20) if span / (power * by) <= _TICKS)
    first = ceil(low / step - 1e-9)
    last = floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _matches_of(bot: str) -> str:
    """The address, on the page of a league, of the matches of a bot."""
    return f"#bot={quote(one_line(bot))}"


def _label(value: float) -> str:
    return f"{round(value, 6):,.10g}"


def intervals(rows: Sequence[Row], axis: str) -> Markup:
    """A dot with its interval for each row. Empty without values."""
    values = [value for row in rows for value in row.extent()]
    if not values:
        return Markup()
    low, high = min(values), max(values)
    margin = (high - low or abs(high) or 1.0) * 0.06
    low, high = low - margin, high + margin
    height = _ROW * len(rows) + 34
    plot = _WIDTH - _NAMES - _VALUES

    def x(value: float) -> float:
        return round(_NAMES + (value - low) / (high - low) * plot, 1)

    parts = [_head(height, f"{axis}, with 95 % intervals")]
    bottom = _ROW * len(rows) + 4
    for tick in ticks(low, high):
        at = x(tick)
        parts.append(
            Markup('<path class="grid" d="M{0},2V{1}"/><text class="tick" x="{0}" y="{2}">{3}</text>').format(
                at, bottom, bottom + 14, _label(tick)
            )
        )
    parts.append(
        Markup('<text class="axis" x="{}" y="{}">{}</text>').format(_NAMES + plot / 2, bottom + 28, axis)
    )
    for place, row in enumerate(rows):
        parts.append(_interval_row(row, _ROW * place + _ROW / 2 + 2, x))
    return Markup("").join([*parts, Markup("</svg>")])


def _interval_row(row: Row, y: float, at: Callable[[float], float]) -> Markup:
    parts = [
        Markup('<a href="{}"><g class="row"><title>{}: {}</title>').format(
            _matches_of(row.name), one_line(row.name), row.text
        ),
        Markup('<text class="name" x="{}" y="{}">{}</text>').format(_NAMES - 12, y, _cut(row.name, 20)),
    ]
    if row.low is not None and row.high is not None:
        left, right = at(row.low), at(row.high)
        parts.append(
            Markup('<path class="bar" d="M{0},{2}H{1}M{0},{3}v8M{1},{3}v8"/>').format(left, right, y, y - 4)
        )
    for bound, sign in ((row.above, 1), (row.below, -1)):
        if bound is not None:
            start = at(bound)
            parts.append(
                Markup('<path class="bar" d="M{0},{3}v8M{0},{1}h{2}"/>').format(start, y, 26 * sign, y - 4)
            )
            parts.append(
                Markup('<path class="tip" d="M{},{}l{},-4v8z"/>').format(start + 34 * sign, y, -8 * sign)
            )
    if row.value is not None and row.above is None and row.below is None:
        parts.append(Markup('<circle class="dot" cx="{}" cy="{}" r="4.5"/>').format(at(row.value), y))
    parts.append(
        Markup('<text class="value" x="{}" y="{}">{}</text></g></a>').format(
            _WIDTH - _VALUES + 10, y, row.text
        )
    )
    return Markup("").join(parts)


@attrs.frozen
class _Plane:
    """Where whole numbers, such as matches (left to right), and values (bottom to top) are drawn in a chart."""

    first: float
    last: float
    low: float
    high: float
    right: float
    left: float = 46
    top: float = 8
    bottom: float = 250

    @classmethod
    def over(cls, across: tuple[float, float], values: tuple[float, float], right: float) -> _Plane:
        """A plane with some room below and above the values, which is most for a single one, and at least 1 wide."""
        margin = (values[1] - values[0]) * 0.05 or 50.0
        last = max(across[1], across[0] + 1)
        return cls(across[0], last, values[0] - margin, values[1] + margin, right)

    def at(self, x: float, value: float) -> tuple[float, float]:
        """The place in the chart."""
        across = (x - self.first) / (self.last - self.first)
        up = (value - self.low) / (self.high - self.low)
        left = self.left + across * (self.right - self.left)
        return round(left, 1), round(self.bottom - up * (self.bottom - self.top), 1)

    def grid(self, axis: str) -> Markup:
        """Lines for round values, and whole numbers below."""
        parts = [
            Markup(
                '<path class="grid" d="M{0},{2}H{1}"/><text class="tick left" x="{3}" y="{2}">{4}</text>'
            ).format(self.left, self.right, self.at(self.first, tick)[1], self.left - 6, _label(tick))
            for tick in ticks(self.low, self.high)
        ]
        return Markup("").join([*parts, self.ticks_below(axis)])

    def ticks_below(self, axis: str) -> Markup:
        """Whole numbers below the chart, and what they count."""
        parts = [
            Markup('<text class="tick" x="{}" y="{}">{}</text>').format(
                self.at(tick, self.low)[0], self.bottom + 16, _label(tick)
            )
            for tick in ticks(self.first, self.last)
            if tick == int(tick)
        ]
        middle = (self.left + self.right) / 2
        parts.append(
            Markup('<text class="axis" x="{}" y="{}">{}</text>').format(middle, self.bottom + 31, axis)
        )
        return Markup("").join(parts)


@attrs.frozen
class Point:
    """A point of a curve: its place across, its value, the bounds of its 95 % interval, and what it is in words."""

    x: int
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""

    def extent(self) -> list[float]:
        """All values that the chart must have room for."""
        return [value for value in (self.value, self.low, self.high) if value is not None]


def course(points: Sequence[Point], title: str) -> Markup:
    """A value over the matches, its 95 % intervals as a band, and dots that tell the numbers; empty without points."""
    if not points:
        return Markup()
    values = [value for point in points for value in point.extent()]
    plane = _Plane.over((0, points[-1].x), (min(values), max(values)), _WIDTH - 12)
    parts = [_head(plane.bottom + 36, title), Markup('<g class="course">'), plane.grid("matches")]
    # Where a point between has no interval, the band has a gap.
    for _, some in groupby(points, lambda point: point.low is not None and point.high is not None):
        bounds = [(point.x, point.low, point.high) for point in some]
        edge = [plane.at(x, high) for x, _, high in bounds if high is not None]
        edge += [plane.at(x, low) for x, low, _ in reversed(bounds) if low is not None]
        if edge:
            parts.append(Markup('<polygon class="band" points="{}"/>').format(_joined(edge)))
    parts.append(
        Markup('<polyline points="{}"/>').format(_joined(plane.at(one.x, one.value) for one in points))
    )
    for point in points:
        x, y = plane.at(point.x, point.value)
        parts.append(
            Markup('<g><title>{}</title><circle class="dot" cx="{}" cy="{}" r="4"/></g>').format(
                point.text, x, y
            )
        )
    return Markup("").join([*parts, Markup("</g></svg>")])


def _joined(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def history(lines: Sequence[tuple[str, Sequence[float]]], xs: Sequence[int]) -> Markup:
    """Ratings over the matches `xs`: a line for each name, at most ten in colour, the rest in grey.

    The grey lines of many bots have fewer points: nobody can distinguish them anyway.
    """
    values = [value for _, line in lines for value in line]
    if len(xs) < 2 or not values:
        return Markup()
    plane = _Plane.over((xs[0], xs[-1]), (min(values), max(values)), _WIDTH - _NAMES - 10)
    right, bottom = plane.right, plane.bottom

    def at(place: int, value: float) -> tuple[float, float]:
        return plane.at(xs[place], value)

    parts = [_head(bottom + 36, "Elo over the matches"), plane.grid("matches")]
    ends = _apart([at(len(xs) - 1, line[-1])[1] for _, line in lines[:_COLOURS]], 14.0, bottom)
    every = range(len(xs))
    few = [*every[:: 1 + len(lines) * len(xs) // _MAX_POINTS], *every[-1:]]
    for number in reversed(range(len(lines))):
        name, line = lines[number]
        places = every if number < _COLOURS else few
        points = " ".join("{},{}".format(*at(place, line[place])) for place in places)
        seat = f"seat-{number}" if number < _COLOURS else "other"
        parts.append(
            Markup('<a href="{}"><g class="line {}"><title>{}: {:.0f}</title><polyline points="{}"/>').format(
                _matches_of(name), seat, one_line(name), line[-1], points
            )
        )
        if number < _COLOURS:
            parts.append(
                Markup('<text x="{}" y="{}">{} {:.0f}</text>').format(
                    right + 8, round(ends[number], 1), _cut(name, 18), line[-1]
                )
            )
        parts.append(Markup("</g></a>"))
    return Markup("").join([*parts, Markup("</svg>")])


def curves(lines: Sequence[tuple[str, Sequence[Point]]], title: str, axis: str) -> Markup:
    """A curve with 95 % intervals for each name, over whole numbers; empty if there is no point."""
    points = [point for _, line in lines for point in line]
    if not points:
        return Markup()
    values = [value for point in points for value in point.extent()]
    ends = (min(point.x for point in points), max(point.x for point in points))
    plane = _Plane.over(ends, (min(values), max(values)), _WIDTH - _NAMES - 10)
    parts = [_head(plane.bottom + 36, title), plane.grid(axis)]
    named = [(name, line) for name, line in lines if line]
    places = _apart([plane.at(0, line[-1].value)[1] for _, line in named], 14.0, plane.bottom)
    for number, (name, line) in enumerate(named):
        # Curves stand a little apart, so that no interval hides another.
        shift = 3.0 * (number - (len(named) - 1) / 2)
        seat = f"seat-{number}" if number < _COLOURS else "other"
        at = [(x + shift, y) for x, y in (plane.at(point.x, point.value) for point in line)]
        parts.append(Markup('<g class="line {}"><polyline points="{}"/>').format(seat, _joined(at)))
        for point, (x, y) in zip(line, at, strict=True):
            low, high = (
                plane.at(point.x, point.value if end is None else end)[1] for end in (point.low, point.high)
            )
            parts.append(
                Markup(
                    '<g><title>{4}</title><path d="M{0},{1}V{2}"/><circle cx="{0}" cy="{3}" r="4"/></g>'
                ).format(x, low, high, y, point.text)
            )
        parts.append(
            Markup('<text x="{}" y="{}">{} {:.0f}</text></g>').format(
                plane.right + 14, round(places[number], 1), _cut(name, 18), line[-1].value
            )
        )
    return Markup("").join([*parts, Markup("</svg>")])


def ratio(points: Sequence[tuple[int, float]], low: float, high: float) -> Markup:
    """The log likelihood ratio of a test after so many deals, as a line between its bounds; empty without deals."""
    if not points:
        return Markup()
    points = [(0, 0.0), *points]
    values = [value for _, value in points]
    last = points[-1][0]
    bounds = min(low, *values), max(high, *values)
    plane = attrs.evolve(_Plane.over((0, last), bounds, _WIDTH - 10), bottom=220)
    title = f"LLR {values[-1]:+.2f} after {counted(last, 'deal')}, bounds {low:+.2f} and {high:+.2f}"
    parts = [_head(plane.bottom + 36, title), Markup('<g class="ratio">')]
    line = Markup('<path class="{}" d="M{},{y}H{}"/><text class="tick left" x="{}" y="{y}">{}</text>')
    ends = plane.left, plane.right, plane.left - 6
    for value, text in ((high, "accepted above"), (low, "rejected below")):
        y = plane.at(0, value)[1]
        parts.append(line.format("bound", *ends, f"{value:+.2f}", y=y))
        below = y + (12 if value > 0 else -10)
        parts.append(Markup('<text class="said" x="{}" y="{}">{}</text>').format(plane.left + 6, below, text))
    parts.append(line.format("grid", *ends, "0", y=plane.at(0, 0.0)[1]))
    x, y = plane.at(*points[-1])
    parts += [
        plane.ticks_below("deals"),
        Markup('<polyline class="course" fill="none" points="{}"/>').format(
            _joined(plane.at(*point) for point in points)
        ),
        Markup('<circle class="dot" cx="{}" cy="{}" r="4.5"/></g></svg>').format(x, y),
    ]
    return Markup("").join(parts)


def _apart(places: Iterable[float], gap: float, last: float) -> list[float]:
    """The places, moved down as far as needed for labels `gap` apart, then up where they went beyond `last`."""
    values = list(places)
    before, after = float("-inf"), last + gap
    downward = sorted(range(len(values)), key=values.__getitem__)
    for number in downward:
        values[number] = before = max(values[number], before + gap)
    for number in reversed(downward):
        values[number] = after = min(values[number], after - gap)
    return values


def small_interval(value: float, ends: tuple[float, float] | None) -> Markup:
    """A share with the ends of its interval, small enough for a cell of a table."""

    def x(number: float) -> float:
        return round(100 * min(max(number, 0.0), 1.0), 1)

    bar = Markup()
    if ends is not None:
        bar = Markup('<path class="bar" d="M{},6H{}"/>').format(*map(x, ends))
    return Markup(
        '<svg class="chart small" viewBox="-4 0 108 12" aria-hidden="true"><path class="grid" d="M0,6H100"/>'
        '<path class="zero" d="M50,1v10"/>{}<circle class="dot" cx="{}" cy="6" r="3.2"/></svg>'
    ).format(bar, x(value))


def small_bar(value: float, most: float) -> Markup:
    """A value as the length of a bar, small enough for a cell of a table."""
    width = round(100 * value / most, 1) if most > 0 else 0
    return Markup(
        '<svg class="chart small" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="fill" width="{}" height="8" y="2"/></svg>'
    ).format(width)


def _head(height: float, title: str) -> Markup:
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="group" aria-label="{}">').format(
        _WIDTH, height, title
    )


def _cut(text: str, most: int) -> str:
    text = one_line(text)
    return text if len(text) <= most else text[: most - 1] + "…"
