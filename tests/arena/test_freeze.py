"""Standings that are frozen or hidden before the end of a season: no page and no answer in JSON tells more."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path

import attrs
import pytest
import trio
from tests.arena.harness import ApiHarness

from warpleague.arena.web.renderer import is_frozen, shown_results
from warpleague.errors import ConfigError
from warpleague.league.season.config import load_config
from warpleague.league.store.store import Store

AT = "2021-01-01T00:00:00+00:00"


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ApiHarness]:
    """Three of its six matches were stored before the time at which it is frozen."""
    found = ApiHarness(tmp_path)
    with closing(sqlite3.connect(found.results / "played" / "league.sqlite")) as db, db:
        for match in found.matches[:3]:
            db.execute("UPDATE match SET stored = '2020-12-31T23:59:59+00:00' WHERE id = ?", (match,))
    yield found
    found.close()


def everything(arena: ApiHarness) -> str:
    """All that everybody can get of the league but the pages of single matches."""
    paths = ["/l/played/", "/bots", "/l/played/bots/mine", "/l/played/matches/order.js", "/"]
    paths += [f"/api/leagues/played{path}" for path in ("", "/standings", "/bots", "/matches", "/playing")]
    paths += [f"/api/leagues/played/tables/{table}" for table in arena.values()["table"]]
    return "\n".join(arena.ask("GET", path).text for path in paths)


def test_frozen_standings_have_the_matches_from_before(arena: ApiHarness) -> None:
    """In tables, lists, pages of matches and records; the store itself is as it was."""
    arena.serve(f'[arena]\nfreeze_at = "{AT}"\n')
    early, late = arena.matches[:3], arena.matches[3:]
    listed = arena.ask("GET", "/api/leagues/played/matches").json["matches"]
    assert sorted(match["match"] for match in listed) == early
    lines = arena.ask("GET", "/api/leagues/played/standings").json["standings"]
    assert [line["played"] for line in lines] == [3, 3]
    assert not any(match in everything(arena) for match in late)
    assert f"Shown is how the league stood at {AT}" in unescape(everything(arena))
    for match in late:
        for path in (
            f"/l/played/matches/{match}.html",
            f"/l/played/matches/{match}.js",
            f"/api/leagues/played/matches/{match}",
            f"/api/leagues/played/matches/{match}/record",
        ):
            assert arena.ask("GET", path).status == 404, path
    assert arena.ask("GET", f"/api/leagues/played/matches/{early[0]}").status == 200
    with Store.open_to_read(arena.results / "played") as store:
        assert store.count() == 6


def test_hidden_standings_have_no_matches(arena: ApiHarness) -> None:
    """The bots are named, and nothing else."""
    arena.serve(f'[arena]\nfreeze_at = "{AT}"\nfreeze = "hidden"\n')
    assert arena.ask("GET", "/api/leagues/played/matches").json["matches"] == []
    assert {
        line["bot"]: line["played"]
        for line in arena.ask("GET", "/api/leagues/played/standings").json["standings"]
    } == {
        "mine": 0,
        "loser": 0,
    }
    assert not any(match in everything(arena) for match in arena.matches)
    assert "Results are hidden until the season is over." in arena.ask("GET", "/l/played/").text


def test_authors_still_get_the_records_of_their_own_bots(arena: ApiHarness) -> None:
    """They know their own matches anyway."""
    arena.serve(f'[arena]\nfreeze_at = "{AT}"\n')
    assert arena.ask("GET", "/api/leagues/played/bots/mine/records.zip", "ada").status == 200


def test_all_is_shown_before_the_time_and_after_the_season(arena: ApiHarness) -> None:
    """The time alone decides when it begins, and the end of the season when it ends."""
    arena.serve('[arena]\nfreeze_at = "2121-01-01T00:00:00+00:00"\n')
    assert len(arena.ask("GET", "/api/leagues/played/matches").json["matches"]) == 6
    arena.serve(f'[arena]\nfreeze_at = "{AT}"\n')
    at_s = 1609459200.0
    assert not is_frozen(arena.played, arena.results, at_s - 1)
    assert is_frozen(arena.played, arena.results, at_s)
    assert shown_results(arena.played, arena.results) != arena.results
    with Store.open_to_write(arena.results / "played") as store:
        store.publish_secret()
    assert shown_results(arena.played, arena.results) == arena.results
    arena.render()
    assert len(arena.ask("GET", "/api/leagues/played/matches").json["matches"]) == 6


def test_the_page_is_made_again_when_the_time_has_come(
    arena: ApiHarness, autojump_clock: trio.abc.Clock
) -> None:
    """Also where no match is stored any more, so that nothing else changes the page."""
    arena.serve(f'[arena]\nfreeze_at = "{AT}"\nfreeze = "hidden"\n')
    feed = arena.feeds[1]

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(feed.run, arena.whole.words())
            await trio.sleep(5)
            assert feed.page is not None
            feed.page = attrs.evolve(feed.page, frozen=False)  # as if it had been made before the time
            await trio.sleep(5)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=autojump_clock)
    assert feed.page is not None
    assert feed.page.frozen


def test_a_league_without_a_page_says_whether_matches_were_played(
    arena: ApiHarness, autojump_clock: trio.abc.Clock
) -> None:
    """A server that has just started says that tables are being made, not that nothing was played."""

    async def main() -> None:
        for feed in arena.feeds:
            feed.page = None
            with trio.move_on_after(1):
                await feed.run(arena.whole.words())
            feed.page = None

    trio.run(main, clock=autojump_clock)
    for league, sentence in (
        ("played", "The tables of this league are being made."),
        ("cup", "No match has been played yet."),
    ):
        assert arena.ask("GET", f"/api/leagues/{league}").json["sentence"] == sentence
        assert arena.ask("GET", f"/api/leagues/{league}/standings").json["error"] == sentence
        assert sentence in arena.ask("GET", f"/l/{league}/").text


def test_a_time_needs_no_quotes(arena: ApiHarness) -> None:
    """TOML has times of its own, whose zone may be a Z."""
    path = arena.folder / "times.toml"
    for time in ("2026-12-28T18:00:00Z", "2026-12-28 18:00:00+00:00", '"2026-12-28T18:00:00+00:00"'):
        path.write_text(arena.played.path.read_text() + f"[arena]\nfreeze_at = {time}\n")
        assert load_config(path).arena.freeze_at == "2026-12-28T18:00:00+00:00"


@pytest.mark.parametrize(
    "time", ['"tomorrow"', '"2026-12-28"', '"2026-12-28T18:00:00"', "2026-12-28", "18:00:00", "1"]
)
def test_a_time_needs_its_zone(arena: ApiHarness, time: str) -> None:
    """Or nobody knows when it is."""
    path = arena.folder / "wrong.toml"
    path.write_text(arena.played.path.read_text() + f"[arena]\nfreeze_at = {time}\n")
    with pytest.raises(ConfigError, match=r"arena\.freeze_at: must be a date and a time with its zone"):
        load_config(path)
