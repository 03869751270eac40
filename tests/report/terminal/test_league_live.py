"""What is seen while a league runs."""

import io
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from rich.console import Console

from warpleague.league.play.running import RunReport, Void
from warpleague.league.ratings.outcomes import Outcomes
from warpleague.league.ratings.posterior import fitted
from warpleague.league.results.league import League
from warpleague.league.season.config import FormatTable, RatingTable
from warpleague.league.season.fixture import Fixture
from warpleague.match.spec import MatchResult, SeatFault, SeatTimes
from warpleague.report.terminal.live import LiveWatcher, PlainWatcher
from warpleague.report.wording.league_words import duration, waited_words


class Time:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def league() -> SimpleNamespace:
    """As much of a league as a watcher looks at."""
    season = SimpleNamespace(
        names=("anna", "bert"), bots=(1, 2), players=2, game="aliens", format=FormatTable()
    )
    config = SimpleNamespace(name="cup", rating=RatingTable(), format=FormatTable())
    store = SimpleNamespace(count=lambda: 0)
    return SimpleNamespace(
        season=season, config=config, store=store, results=lambda: iter(()), barred=frozenset()
    )


def fixture(number: int) -> Fixture:
    return Fixture(number, f"id{number}", 1, number, (0, 1))


def result(number: int) -> MatchResult:
    times = (SeatTimes(), SeatTimes())
    return MatchResult(f"id{number}", (1, 2), (1.0, 0.0), "completed", "", ((), ()), times, b"", 1)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def console(**options: Any) -> Console:
    return Console(file=io.StringIO(), width=80, highlight=False, **options)


def table_lines(watcher: LiveWatcher) -> list[str]:
    """The lines of the standings in the frame that would be drawn now, the best bot's first."""
    plain = console()
    plain.print(watcher.frame())
    assert "± 95 %" in written(plain)
    return [line for line in written(plain).splitlines() if line.lstrip()[:2] in ("1 ", "2 ")]


def test_plain_lines_come_now_and_then(clock: Time, league: League) -> None:
    """Without a terminal there is a line at the start and one every ten seconds, with rate and time left."""
    watcher = PlainWatcher(console(), clock)
    watcher.started(league, total=100, before=10, jobs=2)
    for number in range(1, 21):
        clock.now += 1.0
        watcher.finished(fixture(number), result(number))
        watcher.tick()
    lines = written(watcher.console).splitlines()
    assert lines == [
        "cup: 100 matches, 10 of them already, 2 at a time",
        "20/100 matches, 1.0/s, 1 min 20 s left",
        "30/100 matches, 1.0/s, 1 min 10 s left",
    ]


def test_a_plain_line_is_never_wrapped_and_tells_a_fault_once(clock: Time, league: League) -> None:
    """Whoever reads lines from a file gets whole ones; later lines say only how often the bot faulted."""
    watcher = PlainWatcher(console(), clock)
    watcher.started(league, total=100, before=0, jobs=2)
    fault = SeatFault("timeout", 7, True, f"no answer within 1.000 s: it computed {'and computed ' * 20}")
    for number in range(1, 21):
        clock.now += 1.0
        watcher.finished(fixture(number), attrs.evolve(result(number), faults=((), (fault,))))
        watcher.tick()
    first, *more = written(watcher.console).splitlines()[1:]
    assert "; bert faulted in 1 of 1 match (timeout: no answer within 1.000 s: it computed and" in first
    assert first.endswith("and computed ...)")
    assert [line.partition("; ")[2] for line in more] == ["bert faulted in 11 of 11 matches"]


def test_void_matches_are_shown_at_once(clock: Time, league: League) -> None:
    """A void match is shown with number, id, error and traceback, brackets and all."""
    watcher = PlainWatcher(console(), clock)
    watcher.started(league, total=1, before=0, jobs=1)
    watcher.failed(Void(fixture(7), "HarnessFault: no [disk]", "Traceback: [1] here"))
    out = written(watcher.console)
    assert "void: match 7 (id7): HarnessFault: no [disk]" in out
    assert "Traceback: [1] here" in out


def test_the_live_view_shows_progress_matches_and_the_table(
    clock: Time, league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a terminal a frame has the bar, the matches being played for how long, and the standings so far."""
    monkeypatch.setenv("TERM", "xterm")  # nothing is drawn over on a dumb one
    watcher = LiveWatcher(console(force_terminal=True, color_system=None), clock)
    with watcher:
        watcher.started(league, total=4, before=0, jobs=1)
        for number in (1, 2, 3):
            watcher.submitted(fixture(number))
        clock.now += 2.0
        watcher.finished(fixture(1), result(1))
        watcher.tick()
        plain = console()
        plain.print(watcher.frame())
        frame = written(plain)
    assert "cup" in frame
    assert "1/4" in frame
    assert "30.0/min, 6 s left" in frame
    assert "2  anna – bert  2 s" in frame
    assert "3  anna – bert" not in frame  # one job: the third match waits
    assert "1508" in frame
    assert all(len(line) <= 80 for line in frame.splitlines())
    assert "1/4" in written(watcher.console)


def test_frames_are_drawn_five_times_a_second_at_most(clock: Time, league: League) -> None:
    """However fast matches end, drawing keeps its pace."""
    watcher = LiveWatcher(console(force_terminal=True, color_system=None), clock)
    frames = []
    watcher.frame = lambda: frames.append(clock.now) or ""
    with watcher:
        watcher.started(league, total=1_000, before=0, jobs=1)
        for number in range(1_000):
            clock.now += 0.001
            watcher.finished(fixture(number), result(number))
            watcher.tick()
    assert len(frames) <= 6


def test_the_fit_is_shown_while_a_league_runs(clock: Time, league: League) -> None:
    """The live table has the fit with its errors, by deal in whatever order matches end; again once a second."""
    fits = set()
    watcher = LiveWatcher(console(force_terminal=True, color_system=None), clock)
    deals = Outcomes()
    watcher.started(league, total=40, before=0, jobs=1)
    for half in (0, 1):
        for deal in range(20):
            ranks = (2, 1) if deal % 3 == half else (1, 2)
            seats = (half, 1 - half)
            found = attrs.evolve(result(deal), ranks=ranks)
            watcher.finished(Fixture(deal, f"{deal}-{half}", deal, deal, seats), found)
            clock.now += 0.1
            fits.add(tuple(line.split()[2] for line in table_lines(watcher)))
    clock.now += 1.0
    best = table_lines(watcher)[0]
    for deal in range(20):
        first = ((0, 1), (2, 1) if deal % 3 == 0 else (1, 2))
        deals.add_deal([first, ((1, 0), (2, 1) if deal % 3 == 1 else (1, 2))])
    fit = fitted(deals, league.season.names, league.config)
    top = max((0, 1), key=lambda bot: fit.ratings[bot] or 0.0)
    assert best.split()[1:4] == [league.season.names[top], f"{fit.ratings[top]:.0f}", f"{fit.half(top):.0f}"]
    assert len(fits) <= 6


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min 01 s"), (3599.9, "1 h 00 min"), (7500, "2 h 05 min")],
)
def test_durations_read_well(seconds: float, said: str) -> None:
    """Times are said in the two units that matter."""
    assert duration(seconds) == said


def test_a_run_whose_bots_mostly_waited_says_so() -> None:
    """The share of their time that bots got is told with its reason and remedy, unless it is large or all is short."""
    report = RunReport(2, 0, 2, 2, (), stopped=False, failure=None, elapsed_s=60.0)
    assert waited_words(report) == []
    assert waited_words(attrs.evolve(report, cpu_ms=90_000, wait_ms=80_000)) == []
    assert waited_words(attrs.evolve(report, cpu_ms=10, wait_ms=900)) == []
    (line,) = waited_words(attrs.evolve(report, cpu_ms=6_000, wait_ms=94_000))
    assert (
        "bots got 6 % of their time: they computed for 6 s, and waited for a processor for 1 min 34 s" in line
    )
    assert "--jobs" in line
