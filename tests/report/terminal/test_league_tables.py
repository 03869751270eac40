"""League tables as text: complete, and within the width they are given."""

import io
import re
from random import Random
from typing import Any

import attrs
import pytest
from rich.cells import cell_len
from rich.console import Console

from warpleague.league.ratings.fit import joint_fit
from warpleague.league.ratings.statistics import Mean
from warpleague.league.results.details import FaultLine, SeatLine, TimeLine
from warpleague.league.results.faulted import ServiceLine
from warpleague.league.results.standings import ranked
from warpleague.league.results.tallies import Tally, WinLossRecord
from warpleague.match.spec import SeatFault
from warpleague.report.terminal import tables
from warpleague.report.wording.columns import (
    FAULT_LINES,
    FAULTS,
    SEATS,
    SERVICES,
    TIMES,
    TableView,
    help_lines,
    line_json,
    shown_columns,
    standing_json,
)
from warpleague.report.wording.league_words import by_kind


def text(renderable: Any, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(renderable)
    return out.getvalue()


def made_up(names: Any, matches: int = 200, seed: int = 1, **options: Any) -> Any:
    """Standings of two-bot matches in which the earlier bot is a little stronger."""
    rng, results, tally = Random(seed), [], Tally(len(names), 16.0, 1500.0)
    for group in range(matches):
        one, two = rng.sample(range(len(names)), 2)
        ranks = (
            (1, 1) if rng.random() < 0.1 else (1, 2) if rng.random() < 0.5 + 0.05 * (two - one) else (2, 1)
        )
        results.append((group, (one, two), ranks))
        tally.add((one, two), ranks, (float(ranks[0] == 1), float(ranks[1] == 1)), (0, int(group % 50 == 0)))
    fit = joint_fit(tally.outcomes, len(names))
    return ranked(names, tally, fit, "elo", solo=False)


NAMES = ("alpha", "beta-with-a-long-name", "gamma", "delta")


def test_standings_show_every_bot_with_all_counts() -> None:
    """Wide standings have a line for each bot with rating, fit, error, counts, share and faults."""
    standings = made_up(NAMES)
    out = text(tables.standings_table(standings, "cup", 120), 120)
    assert "Standings of cup, 200 matches" in out
    for column in ("Elo", "fit", "± 95 %", "LOS", "played", "won", "drawn", "lost", "share", "faults"):
        assert column in out
    for line in standings.lines:
        row = next(row for row in out.splitlines() if line.bot in row).split()
        assert row[0] == str(line.rank)
        assert row[2] == f"{line.fit:.0f}"
        assert f"{line.elo:.0f}" in row
        assert f"{line.record.won}" in row
    assert "LOS: likelihood" in out


@pytest.mark.parametrize("width", [60, 96, 200])
def test_standings_fit_the_width(width: int) -> None:
    """At any width from 60 columns nothing is cut and no line is longer."""
    out = text(tables.standings_table(made_up(NAMES), "cup", width), width)
    assert "…" not in out
    assert all(len(line) <= width for line in out.splitlines())
    assert all(name[:8] in out for name in NAMES)


def test_sweeps_are_shown_as_guesses() -> None:
    """A bot that won everything has an estimate that is said to be one, and so has one that lost everything."""
    tally = Tally(2, 16.0, 1500.0)
    for _ in range(10):
        tally.add((0, 1), (1, 2), (1.0, 0.0), (0, 0))
    fit = joint_fit(tally.outcomes, 2)
    out = text(tables.standings_table(ranked(("top", "flop"), tally, fit, "elo", solo=False), "cup", 100))
    top = next(line for line in out.splitlines() if "top" in line)
    assert "≈ 1764" in top
    assert "won all" in top
    assert "a guess, so without ±" in " ".join(out.split())


def test_islands_are_told() -> None:
    """When no result compares two groups of bots, the table says so."""
    tally = Tally(4, 16.0, 1500.0)
    results = [(0, (0, 1), (1, 2)), (1, (1, 0), (1, 2)), (2, (2, 3), (1, 2)), (3, (3, 2), (1, 2))]
    for _, seats, ranks in results:
        tally.add(seats, ranks, (0.0, 0.0), (0, 0))
    fit = joint_fit(tally.outcomes, 4)
    out = text(tables.standings_table(ranked(NAMES, tally, fit, "elo", solo=False), "cup", 100))
    assert "2 groups of bots never met each other" in out


def test_the_crosstable_shows_shares_and_what_fits() -> None:
    """The crosstable has each bot's share against each other; in a narrow terminal it says what is missing."""
    standings = made_up(NAMES)
    out = text(tables.crosstable(standings, 100))
    first, second = standings.order[:2]
    share = standings.totals.points[first][second] / standings.totals.games[first][second]
    row = next(line for line in out.splitlines() if standings.names[first] in line)
    assert f"{100 * share:.0f}" in row.split()
    many = made_up([f"bot-{i}" for i in range(20)], matches=2_000)
    narrow = text(tables.crosstable(many, 60), 60)
    assert "more columns need a wider terminal" in narrow
    assert all(len(line) <= 60 for line in narrow.splitlines())
    huge = made_up([f"bot-{i}" for i in range(30)], matches=3_000)
    assert "too wide to read" in text(tables.crosstable(huge, 100))


def test_circles_are_told_below_the_crosstable_and_the_standings() -> None:
    """Where bots beat each other in circles more often than by chance, both tables say so; else neither does."""
    table = made_up(NAMES)
    for chance, told in ((0.5, False), (0.001, True), (None, False)):
        found = attrs.evolve(table, transitivity=chance)
        assert ("More cycles" in text(tables.crosstable(found, 100))) == told
        assert ("The ratings hide something" in text(tables.standings_table(found, "cup"))) == told


def test_solo_standings_have_no_elo() -> None:
    """Solo standings show mean scores with errors."""
    tally = Tally(2, 16.0, 1500.0)
    for score in (10.0, 12.0, 14.0):
        tally.add((0,), (1,), (score,), (0,))
        tally.add((1,), (1,), (score / 2,), (1,))
    out = text(tables.standings_table(ranked(("a", "b"), tally, None, "elo", solo=True), "cup"))
    assert "6 solo matches" in out
    assert "Elo" not in out
    row = next(line for line in out.splitlines() if " a " in line).split()
    assert row == ["1", "a", "12.00", "4.97", "3", "0"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_solo_standings_against_a_rival(width: int) -> None:
    """Against the game's own opponent: share of wins, mean margin with its error, and won and lost."""
    tally = Tally(2, 16.0, 1500.0)
    for score in (10.0, 12.0, 14.0):
        tally.add((0,), (1 if score > 11 else 2,), (score,), (0,), 11.0)
        tally.add((1,), (2,), (score / 2,), (1,), 11.0)
    table = ranked(("a", "b"), tally, None, "elo", solo=True)
    mean = Mean()
    mean.add(4.5)
    mean.add(5.5)
    ahead = attrs.evolve(table.lines[0], ahead=mean)
    table = attrs.evolve(table, lines=(ahead, *table.lines[1:]))
    out = text(tables.standings_table(table, "cup", width), width)
    row = next(line for line in out.splitlines() if " a " in line).split()
    left = ["1", "a", "66.7", "%"]
    counts = ["2", "1", "0"]
    assert (
        row
        == {
            60: [*left, "+1.00", "4.97", "+5.00", "6.35", "2"],
            80: [*left, "+1.00", "4.97", "+5.00", "6.35", *counts],
            120: [*left, "20.8", "to", "93.9", "+1.00", "4.97", "12.00", "+5.00", "6.35", "3", *counts],
        }[width]
    )
    assert all(len(line) <= width for line in out.splitlines() if "wins:" not in line)


@pytest.mark.parametrize("width", range(30, 81, 10))
def test_narrow_tables_keep_who_and_what_is_said_of_them(width: int) -> None:
    """Columns of numbers go before names are cut, the last ones first, and the table says that some are missing."""
    standings = made_up(NAMES)
    out = text(tables.standings_table(standings, "cup", width), width)
    rows = [line.split() for line in out.splitlines()]
    for line in standings.lines:
        place = "-" if line.rank is None else str(line.rank)
        assert any(row[:1] == [place] and line.bot.startswith(row[1]) for row in rows if len(row) > 1), out
    times = text(tables.times_table([TimeLine(bot=name) for name in NAMES]), width)
    assert all(name[:8] in times for name in NAMES)
    for told in (out, times):
        assert all(cell_len(line) <= width for line in told.splitlines())
    assert ("more in a wider terminal" in " ".join(times.split())) == (width < 70)


def test_seats_faults_and_times() -> None:
    """Seats show shares, faults their first match and what happened, times the slowest bot first."""
    line = SeatLine(0, WinLossRecord())
    for ranks in ((1, 2), (1, 2), (2, 1)):
        before = line.record.points
        line.record.add(0, ranks, 1.0, 0)
        line.share.add(line.record.points - before)
    assert "66.7 %" in text(tables.seats_table([line, SeatLine(1)]))
    fault = SeatFault(kind="timeout", n=7, retired=True, message="no answer in 1.0 s\nmore")
    found = [FaultLine("snail", number, f"{number:020}", 0, fault) for number in (3, 5)]
    out = text(tables.faults_table(by_kind(found)), 120)
    assert "snail" in out
    assert "3 (0000000000), line 7" in out
    assert "no answer in 1.0 s" in out
    assert "more" not in out
    assert "No faults." in text(tables.faults_table([]))
    quick = TimeLine("hare", 1, 10, 10.0, 9.0, 0.0, 2.0, "a" * 20)
    slow = TimeLine("tortoise", 1, 10, 100.0, 90.0, 0.0, 20.0, "b" * 20)
    rows = text(tables.times_table([quick, slow])).splitlines()
    assert [row.split()[0] for row in rows if "e" in row[:9] and row.startswith(("hare", "tortoise", " "))]
    assert next(i for i, row in enumerate(rows) if "tortoise" in row) < next(
        i for i, row in enumerate(rows) if "hare" in row
    )


FAULTED = by_kind(
    [FaultLine("snail", 3, "a" * 20, 0, SeatFault(kind="timeout", n=7, retired=True, message="late"))]
)
TIMED = [TimeLine("hare", 1, 10, 10.0, 9.0, 0.5, 2.0, "a" * 20)]
SERVED = [ServiceLine("owl", 2, 3, 2, 1, 1000, 100, 0.25)]
SEATED = [SeatLine(0), SeatLine(1)]


@pytest.mark.parametrize(
    ("columns", "lines", "table"),
    [
        (SEATS, SEATED, tables.seats_table(SEATED)),
        (FAULTS, FAULTED, tables.faults_table(FAULTED)),
        (TIMES, TIMED, tables.times_table(TIMED)),
        (SERVICES, SERVED, tables.services_table(SERVED)),
    ],
    ids=["seats", "faults", "times", "services"],
)
def test_a_table_shows_the_declared_columns(columns: Any, lines: Any, table: Any) -> None:
    """The heads and the cells of a terminal's table are those of the declared columns, and their help stands below."""
    shown = shown_columns(columns, TableView(lines))
    rows = [re.split(r"\s{2,}", row.strip()) for row in text(table, 160).splitlines() if row.strip()]
    assert rows[1] == [column.heading for column in shown]
    assert rows[3] == [cell for column in shown if (cell := column.text(lines[0]))]
    assert [" ".join(row) for row in rows[3 + len(lines) :]] == help_lines(columns, TableView(lines))


def test_each_fault_is_an_object_of_json() -> None:
    """Where the table counts faults by kind, `--json` tells each with match, seat and line of the record."""
    (tally,) = FAULTED
    assert line_json(FAULT_LINES, tally.first[0]) == {
        "bot": "snail",
        "number": 3,
        "match": "a" * 20,
        "seat": 0,
        "kind": "timeout",
        "n": 7,
        "retired": True,
        "message": "late",
    }


def test_one_seat_has_no_share() -> None:
    """Where matches have one seat, all points are its own."""
    assert "mean score" in text(tables.seats_table(SEATED[:1]))
    assert "share" not in text(tables.seats_table(SEATED[:1]))


def test_names_are_text_not_markup() -> None:
    """A bot's name or message in square brackets is shown as it is."""
    fault = SeatFault(kind="crash", n=1, retired=True, message="[red]boom[/red]")
    out = text(tables.faults_table(by_kind([FaultLine("[bold]x", 1, "m", 0, fault)])), 120)
    assert "[bold]x" in out
    assert "[red]boom[/red]" in out


def test_where_the_score_counts_it_ranks() -> None:
    """One large win is worth more than three small ones; the rating stays beside the score, and LOS goes."""
    tally = Tally(2, 16.0, 1500.0)
    for group, (one, two) in enumerate([(-9.0, 9.0), (1.0, -1.0), (1.0, -1.0), (2.0, -2.0)]):
        tally.add((0, 1), (1, 2) if one > two else (2, 1), (one, two), (0, 0), group=group)
    fit = joint_fit(tally.outcomes, 2)
    standings = ranked(("often", "much"), tally, fit, "score", solo=False)
    assert [line.bot for line in standings.lines] == ["much", "often"]
    assert [standing_json(line)["score"] for line in standings.lines] == [1.25, -1.25]
    assert ranked(("often", "much"), tally, fit, "fit", solo=False).lines[0].bot == "often"
    out = text(tables.standings_table(standings, "cup", 120), 120)
    row = next(row for row in out.splitlines() if "much" in row).split()
    assert row[2:4] == ["1.25", f"{standings.lines[0].record.scores.half:.2f}"]
    assert "score: the mean score of a match" in out
    assert "LOS" not in out
