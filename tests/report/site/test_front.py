"""The front of a league's page: matches to look at, cards of bots, and a picture that is there."""

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.season.config import load_config
from warpleague.report.site.league_page import Listing, language_of, picks


def test_the_matches_to_look_at_are_what_they_are_called(cup: Path) -> None:
    """The best two meet in the first; none has more lines than the longest, none a greater upset."""
    with open_to_read(load_config(cup), cup.parent / "results") as league:
        columns = league.columns("matches")
        table = standings(league, columns)
        rows = {fixture.number: (fixture.seats, found) for fixture, found in league.results()}
    found = {pick.title: pick for pick in picks(columns, table)}
    seats, _ = rows[found["Best against second"].number]
    assert {table.names[bot] for bot in seats} == {line.bot for line in table.lines[:2]}
    assert rows[found["Longest"].number][1].lines == max(match.lines for _, match in rows.values())
    assert table.fit is not None
    ratings = table.fit.ratings

    def gap(seats: Any, ranks: Any) -> float:
        one, two = (ratings[bot] or 0.0 for bot in seats)
        return {(1, 2): two - one, (2, 1): one - two}.get(tuple(ranks), -1e9)

    most = max(gap(seats, match.ranks) for seats, match in rows.values())
    if "Greatest upset" in found:
        seats, match = rows[found["Greatest upset"].number]
        assert gap(seats, match.ranks) == pytest.approx(most)
    assert len({pick.match for pick in found.values()}) == len(found)


def test_matches_to_look_at_are_the_same_in_any_blocks(cup: Path) -> None:
    """Looked for in one block or in many, they are the same matches."""
    with open_to_read(load_config(cup), cup.parent / "results") as league:
        whole = league.columns("matches")
        table = standings(league, whole)
        found = picks(whole, table)
        blocks = attrs.evolve(whole, block=2)
        assert len(list(blocks.blocks())) > 2
        assert picks(blocks, table) == found


def test_matches_to_look_at_get_a_page_first(cup: Path) -> None:
    """They take the place of other faultless matches, and there are no more pages than were asked for."""
    with open_to_read(load_config(cup), cup.parent / "results") as league:
        columns = league.columns("matches")
    listing = Listing(columns, (), np.zeros(len(columns), bool))
    before = [match.number for match in listing.chosen(3)]
    wanted = [number for number in range(1, 13) if number not in before][:2]
    chosen = [match.number for match in listing.chosen(3, wanted)]
    assert set(wanted) < set(chosen)
    assert len(chosen) == 3
    assert [match.number for match in listing.chosen(0, wanted)] == []


def test_the_page_has_a_card_for_each_bot_and_a_board(site: Callable[..., Any], take_apart: Any) -> None:
    """Each bot has its last matches, each of which leads somewhere; the board has cells, and its match a page."""
    index = site(replays=2).index
    page = take_apart(index.read_bytes())
    data = json.loads(zlib.decompress(b64decode(page.block("data"))))
    assert data["picture"]["frames"][0]["scene"][0]["cells"]
    assert len(data["picture"]["names"]) == 2
    classes = [attributes.get("class") or "" for _, attributes in page.elements]
    assert classes.count("card") == 4
    assert sum(name in ("won", "drawn", "lost") for name in classes) == 4 * 6
    linked = {link[8:].partition("#")[0] for link in page.links() if link.startswith("matches/")}
    assert {path.name for path in (index.parent / "matches").glob("*.html")} == linked
    absent = [link for link in page.links() if link.startswith("#match=")]
    assert absent
    assert all(re.fullmatch(r"#match=[0-9a-f]{20}(&number=\d+)?", link) for link in absent)
    assert "4 bots in a round-robin of OrthogonAliens against DiagonAliens: 12 matches." in page.text


@pytest.mark.parametrize(
    ("command", "language"),
    [
        ("python3 -P bot.py", "Python"),
        ("rustc -O main.rs ./bot", "Rust"),
        ("/usr/bin/lua5.4 x", "Lua"),
        ("./bot", ""),
    ],
)
def test_the_language_of_a_bot_is_told_by_its_commands(command: str, language: str) -> None:
    """Where build and run do not tell, the card says nothing."""
    assert language_of(command.split()) == language
