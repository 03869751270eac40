"""The page of a bot: its rating over time, results against each opponent, versions, matches, faults and times."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import rating_course
from warpleague.league.season.config import load_config
from warpleague.report.site.bot_page import BotTables, file_name, pages_on_disk, pages_on_server
from warpleague.report.site.charts import Point, course

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
