"""The rows of the benchmark: what each measures, its goal, and how its figures are printed.

A row is one function. To add one, write the function beside its like and name it in `ROWS`.
"""

from __future__ import annotations

import statistics
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import attrs

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.cli.bench.ground import Ground


Takes = Literal["moment", "while", "minutes"]


@attrs.frozen
class Figure:
    """One figure of a row: `value` in `unit`, and the `goal` to reach (`most`: at most that, else at least).

    The value is None where this run is too noisy to measure it.

    `label` distinguishes the figures of one row. If the unit is not a ratio, `ratio` may be one, to `over`, another
    figure of this run. Then at most `ratio_goal` is what the goal is on the machine that it was set for: a slow or
    busy machine may reach this one alone. A figure of a peer has no goal.
    """

    label: str
    value: float | None
    unit: str = "times"
    goal: float | None = None
    most: bool = True
    ratio: float | None = None
    over: str = ""
    ratio_goal: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the figure reaches the goal, or None without a goal."""
        if self.goal is None or self.value is None:
            return None
        return self.value <= self.goal if self.most else self.value >= self.goal

    @property
    def met_as_ratio(self) -> bool | None:
        """Whether the ratio reaches its goal, or None without a goal."""
        if self.ratio is None or self.ratio_goal is None:
            return None
        return self.ratio <= self.ratio_goal


@attrs.frozen
class Row:
    """A row: its `name` on the command line, what it measures, and the place of its function.

    `measure` is "module:function" below this package, called with the `Ground`. What `takes` minutes is measured only
    when asked for, and then once; what takes no moment is left out of a quick run.
    """

    name: str
    what: str
    measure: str
    takes: Takes = "while"

    def load(self) -> Callable[[Ground], Sequence[Figure]]:
        """The function that measures this row."""
        module, _, function = self.measure.partition(":")
        measure: Callable[[Ground], Sequence[Figure]] = getattr(
            import_module(f"warpleague.cli.bench.{module}"), function
        )
        return measure


ROWS: Final = (
    Row("wants", "a decision with the default wants, to one with none", "matches:wants", "moment"),
    Row("wire", "a decision without a game, to the common measure", "matches:wire", "moment"),
    Row("match", "a decision of a match of a league, as a command, to the common measure", "leagues:whole"),
    Row("engines", "engine steps a second, to those of OpenSpiel's backgammon", "engines:against_openspiel"),
    Row(
        "playout",
        "random playouts a second, to those by legal actions and positions",
        "engines:rollouts",
        "moment",
    ),
    Row("short", "matches of 30 decisions a second", "leagues:short"),
    Row("demo", "where the processor time of the demo's last league goes", "demo:shares", "minutes"),
    Row("start", "commands, to python -c pass", "starts:commands"),
    Row("verify", "replay verify, a decision", "matches:verify", "moment"),
    Row(
        "undercharge", "decisions of a bot that computes 1 ms, charged less than half", "matches:undercharge"
    ),
    Row("waiting", "200 matches whose bots wait 1 s a decision", "leagues:waiting", "minutes"),
    Row("million", "looks at 1,000,000 matches of 50 bots, and their report", "large:million", "minutes"),
    Row("bots", "standings of 159,600 matches of 400 bots", "large:many_bots", "minutes"),
)


def rows(names: Sequence[str], most: Takes) -> tuple[Row, ...]:
    """The rows to measure: those named, or all that take no longer than `most`."""
    known = {row.name: row for row in ROWS}
    for name in names:
        if name not in known:
            from warpleague.suggest import nearest

            raise BadInput(f"--row: there is no row {name!r}; {nearest(name, list(known))}")
    if names:
        return tuple(known[name] for name in dict.fromkeys(names))
    lengths = get_args(Takes)
    return tuple(row for row in ROWS if lengths.index(row.takes) <= lengths.index(most))


def medians(row: Row, rounds: Sequence[Sequence[Figure]]) -> list[dict[str, Any]]:
    """The figures of a row over some rounds, as JSON: the median of each, and the least and the largest."""
    rows: list[dict[str, Any]] = []
    for of_rounds in zip(*rounds, strict=True):
        values = [figure.value for figure in of_rounds if figure.value is not None]
        ratios = [figure.ratio for figure in of_rounds if figure.ratio is not None]
        figure = attrs.evolve(
            of_rounds[0],
            value=statistics.median(values) if values else None,
            ratio=statistics.median(ratios) if ratios else None,
        )
        rows.append(
            {
                "row": row.name,
                "what": row.what,
                "label": figure.label,
                "value": None if figure.value is None else _rounded(figure.value),
                "least": _rounded(min(values)) if values else None,
                "most": _rounded(max(values)) if values else None,
                "unit": figure.unit,
                "goal": figure.goal,
                "goal_is": None if figure.goal is None else "at most" if figure.most else "at least",
                "met": figure.met,
                "ratio": None if figure.ratio is None else _rounded(figure.ratio),
                "over": figure.over or None,
                "ratio_goal": figure.ratio_goal,
                "met_as_ratio": figure.met_as_ratio,
            }
        )
    return rows


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
