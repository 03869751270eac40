"""Figures are the same everywhere: on the league's page, in the JSON of its tables, read one by one or in one go."""

from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from warpleague.league.ratings.statistics import t95
from warpleague.league.results import details, standings
from warpleague.league.results.league import League, open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.store.columns import PARTS
from warpleague.report.terminal.tables import VIEWS
from warpleague.report.wording.columns import (
    COLUMNS,
    FAULTS,
    SEATS,
    TIMES,
    Column,
    Layout,
    TableView,
    line_json,
    shown_columns,
)
from warpleague.report.wording.league_words import by_kind, read_tables


class Tables(HTMLParser):
    """The tables of a page by the id of their section: rows of the texts of their cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self.section = ""
        self.in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.section = dict(attributes).get("id") or ""
        elif tag == "tr":
            self.found.setdefault(self.section, []).append([])
        elif tag in ("td", "th"):
            self.found[self.section][-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.found[self.section][-1][-1] += data

    def rows(self, section: str) -> list[dict[str, str]]:
        """The rows of a table by the heads of its columns; of two alike, the first one."""
        head, *rows = self.found[section]
        return [dict(zip(reversed(head), reversed(row), strict=True)) for row in rows]


@pytest.fixture
def league(cup: Path) -> Iterator[League]:
    """The league of twelve matches, with faults."""
    with open_to_read(load_config(cup), cup.parent / "results") as found:
        yield found


@pytest.fixture
def page(site: Callable[..., Any]) -> Tables:
    """The tables of its page."""
    return Tables(site(replays=0).index.read_text("utf-8"))


def near(text: str, value: float | None) -> bool:
    """Whether a figure on a page is this one, rounded to the digits it is written with."""
    if value is None or text in ("-", ""):
        return value is None and text in ("-", "")
    bare = text.replace(",", "").removesuffix("%").strip().lstrip("≈ ")
    digits = len(bare.partition(".")[2])
    return float(bare) == pytest.approx(value, abs=0.5001 * 10**-digits + 0.005)


def test_standings_are_those_of_the_json(league: League, page: Tables) -> None:
    """Every figure of the page's standings is the one `standings --json` has, rounded; errors are 95 % there too."""
    told = VIEWS["standings"].data(league)
    rows = page.rows("standings")
    assert [row["bot"] for row in rows] == [line["bot"] for line in told]
    assert any(line["error"] is not None or line["guessed"] for line in told)
    for row, line in zip(rows, told, strict=True):
        assert near(row["#"], line["rank"])
        assert near(row["Elo"], line["elo"])
        assert near(row["fit"], line["fit"])
        assert row["fit"].startswith("≈") == line["guessed"]
        assert row["± 95 %"] in ("won all", "lost all") or near(row["± 95 %"], line["error"])
        assert near(row["share"], 100 * line["points"] / line["played"])
        assert near(row["lead"], line["lead"])
        likelihood = line["likelihood"]
        assert near(row["LOS"], None if likelihood is None else 100 * likelihood)
        for name in ("played", "won", "drawn", "lost", "faults"):
            assert row[name] == f"{line[name]:,}"


def test_other_tables_are_those_of_the_json(league: League, page: Tables) -> None:
    """So are the crosstable, the seats, the times and the faults."""
    for row, line in zip(page.found["crosstable"][1:], VIEWS["crosstable"].data(league), strict=True):
        shown = [cell for cell in row[2:] if cell != "·"]
        assert row[1] == line["bot"]
        shares = [100 * other["points"] / other["meetings"] for other in line["against"].values()]
        assert all(map(near, shown, shares))
        assert len(shown) == len(shares)
    deals = {fixture.group for fixture, _ in league.results()}
    for cells, line in zip(page.rows("seats"), VIEWS["seats"].data(league), strict=True):
        assert near(cells["share"], 100 * line["share"])
        assert near(cells["± 95 %"], 100 * t95(len(deals) - 1) * line["share_error"])
        assert near(cells["mean score"], line["score"])
        for name in ("seat", "played", "won", "drawn", "lost", "faults"):
            assert cells[name] == f"{line[name]:,}"
    times = {line["bot"]: line for line in VIEWS["times"].data(league)}
    assert len(page.rows("times")) == len(times)
    for cells in page.rows("times"):
        line = times[cells["bot"]]
        assert cells["decisions"] == f"{line['decisions']:,}"
        for name, key in (("mean", "wall"), ("processor", "cpu"), ("wait", "wait"), ("longest", "longest")):
            assert near(cells[name], line[f"{key}_ms"])
    faults = VIEWS["faults"].data(league)
    rows = page.rows("faults")
    assert rows
    for cells in rows:
        mine = [line for line in faults if (line["bot"], line["kind"]) == (cells["bot"], cells["kind"])]
        assert cells["faults"] == f"{len(mine):,}"
        assert cells["forfeits"] == f"{sum(line['retired'] for line in mine):,}"
    assert sum(int(row["faults"]) for row in rows) == len(faults)


def test_page_and_json_have_the_declared_columns(league: League, page: Tables) -> None:
    """The page has the heads of the columns that are declared for pages, and `--json` the keys of all columns."""
    seats, times = details.seats(league), details.times(league)
    kinds = by_kind(details.faults(league))
    heads: dict[str, list[Column[Any, Any]]] = {
        "seats": shown_columns(SEATS, TableView(seats, page=True)),
        "times": shown_columns(TIMES, TableView(times, page=True)),
        "faults": shown_columns(FAULTS, TableView(kinds, page=True)),
        "standings": shown_columns(COLUMNS, Layout(standings.standings(league))),
    }
    for name, columns in heads.items():
        assert page.found[name][0] == [column.heading for column in columns]
    assert VIEWS["seats"].data(league) == [line_json(SEATS, line) for line in seats]
    assert VIEWS["times"].data(league) == [line_json(TIMES, line) for line in times]
    assert list(line_json(SEATS, seats[0])) == [
        *("seat", "played", "won", "drawn", "lost", "share", "share_error", "score", "faults", "even")
    ]
    assert list(line_json(TIMES, times[0])) == [
        *("bot", "matches", "decisions", "wall_ms", "cpu_ms", "wait_ms", "longest_ms", "longest_match")
    ]


def test_all_tables_come_from_one_reading(league: League) -> None:
    """Read in one go the tables are those read one by one, with the course of Elo beside them."""
    wanted = (
        standings.standings(league),
        details.seats(league),
        details.times(league),
        by_kind(details.faults(league)),
    )
    columns = league.columns(*PARTS)
    read = read_tables(league, columns, standings=standings.standings(league, columns, (1, 5, 12)))
    assert (read.standings.lines, read.seats, read.times) == (wanted[0].lines, *wanted[1:3])
    assert [(kind.bot, kind.kind, kind.count, kind.retired) for kind in read.faults] == [
        (kind.bot, kind.kind, kind.count, kind.retired) for kind in wanted[3]
    ]
    assert len(read.standings.course) == 3
    ratings = dict(zip(read.standings.names, read.standings.course[-1], strict=True))
    assert ratings == {line.bot: line.elo for line in read.standings.lines}
