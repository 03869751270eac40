"""Figures are the same everywhere: on the league's page, in the JSON of its tables, read one by one or in one go."""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from warpleague.league.results import details, standings
from warpleague.league.results.league import League, open_to_read
from warpleague.league.results.standings import rating_course
from warpleague.league.season.config import load_config
from warpleague.league.store.columns import PARTS
from warpleague.report.site.bot_page import BotTables, file_name, pages_on_disk, pages_on_server
from warpleague.report.site.charts import Point, course
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
    read_tables,
    shown_columns,
)
from warpleague.report.wording.league_words import by_kind


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
    told = VIEWS["standings"].data(league)["standings"]
    rows = page.rows("standings")
    assert [row["bot"] for row in rows] == [line["bot"] for line in told]
    assert any(line["rating_half"] is not None or line["guessed"] for line in told)
    for row, line in zip(rows, told, strict=True):
        assert near(row["#"], line["rank"])
        assert near(row["Elo"], line["running_elo"])
        assert near(row["fit"], line["rating"])
        assert row["fit"].startswith("≈") == line["guessed"]
        assert row["± 95 %"] in ("won all", "lost all", "never lost", "never won") or near(
            row["± 95 %"], line["rating_half"]
        )
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
    for cells, line in zip(page.rows("seats"), VIEWS["seats"].data(league), strict=True):
        assert near(cells["share"], 100 * line["share"])
        assert cells["95 % interval"] == f"{100 * line['share_low']:.1f} to {100 * line['share_high']:.1f}"
        assert near(cells["mean score"], line["score"])
        for name in ("seat", "played", "won", "drawn", "lost", "faults"):
            assert cells[name] == f"{line[name]:,}"
    times = {line["bot"]: line for line in VIEWS["times"].data(league)}
    assert len(page.rows("times")) == len(times)
    for cells in page.rows("times"):
        line = times[cells["bot"]]
        assert cells["decisions"] == f"{line['decisions']:,}"
        for name, key in (
            ("mean", "mean_wall"),
            ("processor", "mean_cpu"),
            ("wait", "mean_wait"),
            ("longest", "longest"),
        ):
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
        *(
            "seat",
            "played",
            "won",
            "drawn",
            "lost",
            "share",
            "share_low",
            "share_high",
            "score",
            "faults",
            "even",
        )
    ]
    assert list(line_json(TIMES, times[0])) == [
        *(
            "bot",
            "matches",
            "decisions",
            "timeouts",
            "mean_wall_ms",
            "mean_cpu_ms",
            "mean_wait_ms",
            "longest_ms",
            "longest_match",
        )
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


# The page of a bot: its rating over time, results against each opponent, versions, matches, faults and times.


NAME = "late <i>&1"


def tables_of(cup: Path, **options: Any) -> BotTables:
    with open_to_read(load_config(cup), cup.parent / "results") as league, league.store.snapshot():
        return BotTables.read(league, **options)


def test_the_page_of_a_bot_has_all_of_it(site: Callable[..., Any], take_apart: Any) -> None:
    """Each part of it with its figures, and the name of the bot as text."""
    out = site().index.parent
    page = take_apart((out / "bots" / file_name(NAME)).read_bytes())
    headings = [attributes.get("id") for tag, attributes in page.elements if tag == "section"]
    assert headings == ["course", "last", "against", "versions", "faults", "times"]
    assert NAME in page.text
    for other in ("noter <i>&0", "crash <i>&2", "plain <i>&3"):
        assert f"bots/{file_name(other)}" in (out / "index.html").read_text("utf-8")
        assert file_name(other) in page.links()
    assert "plays now" in page.text
    assert "timeout" in page.text
    assert any(link.startswith("../matches/") for link in page.links())
    assert sum(tag == "circle" for tag, _ in page.elements) > 2


def test_results_against_opponents_add_up_to_the_crosstable(cup: Path) -> None:
    """What each bot did against each other is what that one did against it, the other way round."""
    tables = tables_of(cup)
    rows = {name: {row.bot: row for row in tables.page(name)["against"]} for name in tables.table.names}
    for one, of_one in rows.items():
        assert sum(row.met for row in of_one.values()) == tables.page(one)["record"].played
        for other, row in of_one.items():
            back = rows[other][one]
            assert (row.won, row.drawn, row.lost) == (back.lost, back.drawn, back.won)


def test_best_and_worst_are_matches_won_and_lost(cup: Path) -> None:
    """The best match is one that the bot won, the worst one that it lost; a bot without either lacks it."""
    tables = tables_of(cup)
    for name in tables.table.names:
        values = tables.page(name)
        titles = {pick.title: pick.text for pick in values["picks"]}
        assert ("Best match" in titles) == (values["record"].won > 0)
        assert ("Worst match" in titles) == (values["record"].lost > 0)
        if "Best match" in titles:
            assert titles["Best match"].startswith(f"{name} beats ")
        if "Worst match" in titles:
            assert f"beats {name}," in titles["Worst match"]


def test_the_course_ends_with_the_rating_of_the_table(cup: Path) -> None:
    """The last estimate is the fit of the table, with its interval, after whole deals up to the last match."""
    tables = tables_of(cup)
    assert tables.course.marks[-1] == len(tables.columns) == 12
    for line in tables.table.lines:
        mark, last = tables.course.of(tables.table.names.index(line.bot))[-1]
        assert line.fit is not None
        assert mark == 12
        assert last.value == pytest.approx(line.fit)
        if line.error is None or line.guessed:
            assert last.low is None
        else:
            assert last.high == pytest.approx(line.fit + line.error)


def test_of_very_many_bots_the_course_is_that_of_elo(cup: Path) -> None:
    """Match by match, without intervals; it ends with the Elo of the table."""
    with open_to_read(load_config(cup), cup.parent / "results") as league:
        course_of_elo = rating_course(league, league.columns(), "elo")
    table = tables_of(cup).table
    for line in table.lines:
        mark, last = course_of_elo.of(table.names.index(line.bot))[-1]
        assert mark == 12
        assert line.elo is not None
        assert last.value == pytest.approx(line.elo)
        assert last.low is None


def test_where_others_play_the_same_deals_only_totals_are_shown(cup: Path) -> None:
    """No match, no rating on the way, no time and no message of a fault."""
    values = tables_of(cup, only_totals=True).page(NAME)
    assert not any(values[name] for name in ("course", "picks", "last", "times"))
    assert all(not one["since"] and not one["until"] for one in values["versions"])
    assert [column.name for column in values["fault_columns"]] == ["kind", "faults", "forfeits"]
    assert values["record"].played == sum(row.met for row in values["against"]) == 6


def test_addresses_of_bots_are_their_own() -> None:
    """However alike names are, and whatever they contain, each has a file of its own, and no address is a path."""
    names = ["a", "A", "a/b", "a b", "../a", "ä", "x" * 64, "x" * 63 + "y"]
    files = pages_on_disk(names)
    assert len(set(files.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,40}-[0-9a-f]{8}\.html", file) for file in files.values())
    assert not any("/" in address for address in pages_on_server(names).values())


def test_a_chart_of_a_rating_has_a_gap_where_there_is_no_interval() -> None:
    """A point without an interval is in the line, and not in the band; without points there is no chart."""
    points = [
        Point(5, 10.0, 8.0, 12.0, "five"),
        Point(10, 11.0, 9.0, 13.0, "ten"),
        Point(15, 12.0, text="fifteen"),
        Point(20, 12.0, 11.0, 13.0, "<twenty>"),
    ]
    drawn = course(points, "rating")
    assert drawn.count("<polygon") == 2
    assert drawn.count("<circle") == 4
    assert "&lt;twenty&gt;" in drawn
    assert course([], "rating") == ""
