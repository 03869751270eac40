"""Shows a league while it runs: a live view in a terminal, plain lines elsewhere.

It follows the events of `warpleague.league.play.running`. The final tables are in `terminal.tables`.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Self

import numpy as np
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from warpleague.league.play.running import RunWatcher, Void
from warpleague.league.ratings.outcomes import Earlier
from warpleague.league.ratings.posterior import fitted
from warpleague.league.results.faulted import FaultCounts
from warpleague.league.results.standings import earlier_versions, ranked, ranks_by
from warpleague.league.results.status import Follower
from warpleague.league.results.tallies import Tally, tally
from warpleague.league.schedule.formats.api import seatings_count
from warpleague.league.schedule.formats.placement import MATCHES_A_DEAL, PlacementFollower
from warpleague.report.terminal.console import BAD, QUIET
from warpleague.report.terminal.tables import standings_table
from warpleague.report.wording.bracket import latest_lines
from warpleague.report.wording.league_words import brief, duration, fault_lines, placement_brief, state_lines
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

    from warpleague.league.ratings.fit import Fit
    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.store.columns import Columns
    from warpleague.match.spec import MatchResult

_TOP = 10  # standings shown live
_LEAST = 5  # rows that a bracket has at least, and rows that are left below it
_WINDOW = 256  # matches the rate is taken over
_FRAME_S = 0.2
_LINE_S = 10.0  # between two plain lines
_FIT_S = 1.0  # between two fits of the table shown live
_FIT_SHARE = 20  # a fit may take this part of the time: one of 0.1 s waits for 2 s
_FAULTED = 3  # lines that tell which bots faulted
_BRACKETS = ("swiss", "knockout", "double-elimination")
_FIT_BOTS = 100  # with more bots, or more kinds of deals, a fit would hold up the run
_FIT_DEALS = 5_000
_OPEN_DEALS = 10_000  # deals in memory until they are whole


class _Counting(RunWatcher):
    """Counts matches, and shows the rate and the time left."""

    def __init__(self, console: Console, clock_s: Callable[[], float] = time.monotonic) -> None:
        self.console, self.clock_s = console, clock_s
        self.total: int | None = 0
        self.done = self.voids = 0
        self.halting = False
        self._ends: deque[float] = deque(maxlen=_WINDOW)

    def started(self, league: League, total: int | None, before: int, jobs: int) -> None:
        """The run begins."""
        self.league, self.total, self.done, self.jobs = league, total, before, jobs
        self._ends.append(self.clock_s())
        self.faults = FaultCounts.of(league) if before else FaultCounts(league.season.names)
        self.test: Follower | None = None
        self.placed: PlacementFollower | None = None
        if league.season.format.kind == "placement":
            self.placed = PlacementFollower(league.season)
            for fixture, result in league.results():
                self.placed.finished(fixture, result)
        if league.season.format.kind == "test":
            self.test = Follower(league.season)
            for fixture, result in league.results():
                self.test.finished(fixture, result)

    def finished(self, fixture: Fixture, result: MatchResult) -> None:
        """A match is stored."""
        self.done += 1
        self._ends.append(self.clock_s())
        self.faults.add(fixture.seats, result.faults)
        if self.test is not None:
            self.test.finished(fixture, result)
        if self.placed is not None:
            self.placed.finished(fixture, result)

    def placed_words(self) -> str:
        """What is known of a bot that is placed, and about how long it still takes."""
        if self.placed is None:
            return ""
        words, count = placement_brief(self.placed.state, self.placed.within), len(self._ends) - 1
        left = self.placed.state.left(self.placed.within)
        if left is None or count < 1:
            return words
        return f"{words} ({duration((self.clock_s() - self._ends[0]) / count * left * MATCHES_A_DEAL)})"

    def failed(self, void: Void) -> None:
        """A match is void: its traceback is shown at once."""
        self.voids += 1
        where = f"match {void.fixture.number} ({void.fixture.id})"
        self.console.print(
            f"[{BAD}]void:[/] {where}: {escape(void.error)}\n[{QUIET}]{escape(void.trace)}[/]", soft_wrap=True
        )

    def stopping(self) -> None:
        """The user wants to stop."""
        self.halting = True
        self.console.print("stopping: the matches being played are the last; once more to kill them")

    def note(self, text: str) -> None:
        """A line about the cluster."""
        self.console.print(f"note: {text}", markup=False, highlight=False, soft_wrap=True)

    def pace(self) -> str:
        """Matches a second over the last ones, and the time left at that rate."""
        spent = self.clock_s() - self._ends[0]
        count = len(self._ends) - 1
        if count < 1 or spent <= 0:
            return ""
        rate = count / spent
        speed = f"{rate:,.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min"
        return speed if self.total is None else f"{speed}, {duration((self.total - self.done) / rate)} left"

    def faulted(self) -> list[str]:
        """Which bots have faulted so far, those that did most often first."""
        return fault_lines(self.faults.most_often_first(), _FAULTED)

    def progress(self) -> str:
        """How many matches are played, of how many if that is known."""
        if self.total is None:
            return counted(self.done, "match")
        return f"{self.done:,}/{counted(self.total, 'match')}"


class PlainWatcher(_Counting):
    """One line now and then, never wrapped. By what a bot faulted is told once."""

    def __init__(self, console: Console, clock_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, clock_s)
        self._printed_at = 0.0
        self._faulted = False
        self._told = set[tuple[str, str | None]]()

    def started(self, league: League, total: int | None, before: int, jobs: int) -> None:
        """Print the plan of the run."""
        super().started(league, total, before, jobs)
        self._printed_at = self.clock_s()
        already = f", {before:,} of them already" if before else ""
        count = "as many matches as it takes" if total is None else counted(total, "match")
        self.console.print(
            f"{league.config.name}: {count}{already}, {jobs} at a time", highlight=False, soft_wrap=True
        )

    def finished(self, fixture: Fixture, result: MatchResult) -> None:
        """A match is stored: the first fault of the run is printed at once."""
        super().finished(fixture, result)
        if not self._faulted and any(result.faults):
            self._faulted, self._printed_at = True, 0.0

    def tick(self) -> None:
        """Say how far it is, if it is time to."""
        now = self.clock_s()
        if now - self._printed_at >= _LINE_S:
            self._printed_at = now
            details = "" if self.test is None else f"; {brief(self.test.state)}"
            details += f"; {self.placed_words()}" if self.placed is not None else ""
            faults = self.faults.most_often_first()
            details += "".join(f"; {line}" for line in fault_lines(faults, _FAULTED, self._told))
            self._told.update((bot.bot, bot.kind) for bot in faults)
            self.console.print(
                f"{', '.join(filter(None, (self.progress(), self.pace())))}{details}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )


class LiveWatcher(_Counting):
    """A live view: progress, the matches being played, the bracket or rounds, the top of the table. A context manager.

    The table counts matches as they end, so that its Elo may differ by a little from the final one, which
    takes them in schedule order. Its fit is computed again about once a second, where that costs little.
    """

    def __init__(self, console: Console, clock_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, clock_s)
        self._playing: dict[str, tuple[Fixture, float]] = {}
        self._drawn = 0.0
        self._fit: Fit | None = None
        self._fit_at, self._fit_of = 0.0, 0
        self._earlier = Earlier()
        self._deals: dict[int, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
        self._bracket: list[str] = []
        self._bracket_at = 0.0
        self._width = console.width
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def started(self, league: League, total: int | None, before: int, jobs: int) -> None:
        """Start from the stored matches."""
        super().started(league, total, before, jobs)
        rating = league.config.rating
        bots = len(league.season.bots)
        self._earlier = earlier_versions(league)
        if before:
            columns = league.columns()
            self.tally = tally(columns, bots, rating.k, rating.start)
            self._deals = _begun(columns, seatings_count(league.season.format.seats, columns.players))
        else:
            self.tally = Tally(bots, rating.k, rating.start)
        self.tick()

    def submitted(self, fixture: Fixture) -> None:
        """A match is on its way to a referee."""
        self._playing[fixture.id] = (fixture, self.clock_s())

    def finished(self, fixture: Fixture, result: MatchResult) -> None:
        """Count a match."""
        super().finished(fixture, result)
        self._playing.pop(fixture.id, None)
        faults = [len(seat) for seat in result.faults]
        self.tally.add(fixture.seats, result.ranks, result.scores, faults, result.rival)
        self._join(fixture, result)

    def _join(self, fixture: Fixture, result: MatchResult) -> None:
        """Put a match that was counted as a deal of its own to the others on its deal: they share their luck."""
        outcomes, match = self.tally.outcomes, (fixture.seats, result.ranks)
        before = self._deals.pop(fixture.group, [])
        if before:
            outcomes.closed()
            outcomes.add_deal([match], -1)
            outcomes.add_deal(before, -1)
            outcomes.add_deal([*before, match])
        self._deals[fixture.group] = [*before, match]
        if len(self._deals) > _OPEN_DEALS:
            del self._deals[next(iter(self._deals))]

    def failed(self, void: Void) -> None:
        """Show a void match."""
        super().failed(void)
        self._playing.pop(void.fixture.id, None)

    def tick(self) -> None:
        """Draw a frame, if it is time to."""
        now = self.clock_s()
        if now - self._drawn >= _FRAME_S:
            self._drawn = now
            if self.console.width != self._width:
                # The terminal has wrapped the lines of the last frame again, so their places are unknown.
                self._width = self.console.width
                self._live.stop()
                self.console.clear()
                self._live = Live(console=self.console, auto_refresh=False, transient=True)
                self._live.start()
            self._live.update(self.frame(), refresh=True)

    def frame(self) -> RenderableType:
        """The whole view."""
        width = self.console.width
        head = Table.grid(padding=(0, 1), expand=True)
        head.add_column(no_wrap=True)
        head.add_column(ratio=1)
        head.add_column(justify="right", no_wrap=True)
        name = Text(self.league.config.name, style="bold")
        # Without a total the bar only moves.
        bar = ProgressBar(total=None if self.total is None else max(self.total, 1), completed=self.done)
        counts = f"{self.progress()}  {'stopping' if self.halting else self.pace()}"
        head.add_row(name, bar, counts)
        faulted = (Text(line, style=BAD, no_wrap=True, overflow="ellipsis") for line in self.faulted())
        parts: list[RenderableType] = [head, *faulted, *self._matches(width)]
        if self.test is not None:
            lines = [Text(line, no_wrap=True) for line in state_lines(self.test.state, width=width)]
            return Group(*parts, Text(""), *lines)
        if self.placed is not None:
            return Group(*parts, Text(""), Text(self.placed_words(), no_wrap=True))
        cup = self.league.season.format.kind in _BRACKETS and len(self.league.season.bots) <= _FIT_BOTS
        if cup:
            bracket = self._drawn_bracket(width, max(self.console.height - len(parts) - _LEAST, _LEAST))
            parts += [Text(""), *(Text(line, no_wrap=True, overflow="ellipsis") for line in bracket)]
        if self.tally.matches and not (cup and self.league.season.format.kind != "swiss"):
            season, kind = self.league.season, ranks_by(self.league)
            solo = season.players == 1
            fit = None if solo else self._fitted()
            table = ranked(season.names, self.tally, fit, kind, solo=solo, barred=self.league.barred)
            parts += [Text(""), standings_table(table, self.league.config.name, width, top=_TOP)]
        return Group(*parts)

    def _drawn_bracket(self, width: int, rows: int) -> list[str]:
        """The bracket or the rounds as they were about a second ago, drawn again if that is due."""
        began = self.clock_s()
        if began >= self._bracket_at:
            if self.league.season.format.kind == "swiss":
                rows = rows // 2  # the table comes below
            self._bracket = latest_lines(self.league, width, rows)
            ended = self.clock_s()
            self._bracket_at = ended + max(_FIT_S, _FIT_SHARE * (ended - began))
        return self._bracket

    def _fitted(self) -> Fit | None:
        """The fit of about a second ago, computed again if it is due; None where it would cost too much."""
        outcomes, names = self.tally.outcomes, self.league.season.names
        began = self.clock_s()
        if len(names) > _FIT_BOTS or len(outcomes.counts) > _FIT_DEALS:
            return None
        if began >= self._fit_at and self._fit_of != self.tally.matches:
            self._fit = fitted(outcomes, names, self.league.config, self._earlier)
            ended = self.clock_s()
            self._fit_at = ended + max(_FIT_S, _FIT_SHARE * (ended - began))
            self._fit_of = self.tally.matches
        return self._fit

    def _matches(self, width: int) -> list[RenderableType]:
        """The matches now played: referees take them in the order they were submitted."""
        lines: list[RenderableType] = []
        now, names = self.clock_s(), self.league.season.names
        for fixture, since in list(self._playing.values())[: min(self.jobs, 8)]:
            bots = " – ".join(names[bot] for bot in fixture.seats)
            line = Text(f"  {fixture.number:>7}  {bots}  {duration(now - since)}", style=QUIET, no_wrap=True)
            line.truncate(width, overflow="ellipsis")
            lines.append(line)
        return lines


def _begun(columns: Columns, whole: int) -> dict[int, list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """The matches of incomplete deals, the last ones if there are many. A complete deal has `whole` matches."""
    _, places, counts = np.unique(columns.group, return_inverse=True, return_counts=True)
    at = np.flatnonzero(counts[places] < whole)[-_OPEN_DEALS:]
    deals: dict[int, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    parts = (columns.group[at].tolist(), columns.seats[at].tolist(), columns.ranks[at].tolist())
    for group, seats, ranks in zip(*parts, strict=True):
        deals.setdefault(group, []).append((tuple(seats), tuple(ranks)))
    return deals
