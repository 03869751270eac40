"""Whether dice come again: by default not where strangers play, and never to bots that could know them from pages."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import attrs
import pytest

from warpleague.arena.web.renderer import league_page, league_table, match_record
from warpleague.league.play.running import StopWhen, run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config, with_dice
from warpleague.league.store.store import Store
from warpleague.match.spec import SeatFault
from warpleague.report.terminal.tables import VIEWS
from warpleague.report.wording.league_words import dice_line

SANDBOX = '[rules]\nlevel = "sandbox"'


@pytest.mark.parametrize(
    ("extra", "begun", "dice"),
    [
        ("", None, "shared"),
        ('[rules]\nlevel = "none"', None, "shared"),
        (SANDBOX, None, "own"),
        (f'dice = "shared"\n{SANDBOX}', None, "shared"),
        (f'dice = "shared"\n{SANDBOX}', "own", "shared"),
        (SANDBOX, "shared", "shared"),
        ('dice = "own"', "shared", "own"),
        (f'kind = "test"\n{SANDBOX}', None, "shared"),
    ],
)
def test_dice_of_a_league(write_league: Any, extra: str, begun: Any, dice: str) -> None:
    """What the file says comes first, then what the store began with, then what fits the level."""
    config = load_config(write_league("a", "b", extra=extra, deals=1))
    assert with_dice(config, begun).format.dice == dice


def test_a_store_keeps_the_dice_that_it_began_with(
    write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path
) -> None:
    """A league at level sandbox that began when dice were shared by default has all its matches still."""
    path = write_league("a", "b", extra=f'dice = "shared"\n{SANDBOX}', deals=2)
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
    path = write_league("a", "b", extra=SANDBOX, deals=2)
    with open_league(path) as league:
        assert league.season.format.dice == "shared"
        assert len(list(league.results())) == 4
    with open_to_read(load_config(path), tmp_path / "results") as league:
        assert len(list(league.results())) == 4
        assert not [change for change in league.changed if change.what == "format"]
        assert "dice" in dice_line(league.season)
    with Store.open_to_read(tmp_path / "results" / "cup") as store:
        assert store.dice() == "shared"


def test_no_deal_comes_twice_where_strangers_play(
    write_league: Any, open_league: Any, fake: Any, inline: Any
) -> None:
    """Neither in another seat nor to another bot of a solo league."""
    for game in ("aliens", "captains"):
        path = write_league(*"abc", extra=SANDBOX, game=f'id = "{game}"', name=game)
        with open_league(path) as league:
            run_league(league, executor=inline, play=fake.play)
            deals = [fixture.deal for fixture, _ in league.results()]
            assert len(deals) == len(set(deals)) > 0


@pytest.mark.parametrize(
    ("game", "extra"),
    [
        ('id = "aliens"', SANDBOX),
        ('id = "captains"', SANDBOX),
        ('id = "captains"', f'dice = "shared"\n{SANDBOX}'),
        ('id = "aliens"', f'kind = "gauntlet"\nchallengers = ["a"]\n{SANDBOX}'),
        ('id = "aliens"', f'kind = "gauntlet"\nchallengers = ["a"]\ndice = "shared"\n{SANDBOX}'),
    ],
)
def test_a_version_that_comes_back_brings_no_result_back(
    write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path, game: str, extra: str
) -> None:
    """Where strangers may choose which of their versions plays, each choice draws new deals."""
    path, digest = write_league("a", "b", "c", extra=extra, game=game), tmp_path / "bots" / "a" / "digest"
    deals = []
    for version in ("first", "second", "first", "second"):
        digest.write_text(version)
        with open_league(path) as league:
            assert not [fixture for fixture, _ in league.results() if 0 in fixture.seats]
            run_league(league, executor=inline, play=fake.play)
            deals.append({fixture.deal for fixture, _ in league.results() if 0 in fixture.seats})
    assert all(not one & other for one, other in combinations(deals, 2))


def test_elsewhere_a_version_that_comes_back_has_its_results(
    write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path
) -> None:
    """Who changes a bot of their own and takes the change back has nothing to play again."""
    path, digest = write_league("a", "b"), tmp_path / "bots" / "a" / "digest"
    for version in ("first", "second", "first"):
        digest.write_text(version)
        with open_league(path) as league:
            before = len(list(league.results()))
            run_league(league, executor=inline, play=fake.play)
    assert before == 6


def tell_tale(spec: Any, fake: Any) -> Any:
    """A result with all by which a bot can tell what it saw."""
    result = fake.play(spec)
    fault = SeatFault(kind="illegal", n=7, retired=False, message="TELLTALE 6 1 4")
    return attrs.evolve(result, faults=((fault,),), why="telltale-end")


@pytest.mark.parametrize(("dice", "shown"), [("shared", False), ("own", True)])
def test_where_others_play_the_same_deals_only_totals_are_shown(
    write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path, dice: str, shown: bool
) -> None:
    """Neither a fault's words nor the end, the score, the id or the time of a match are on the page of the league."""
    path = write_league("a", "b", extra=f'dice = "{dice}"', game='id = "captains"', deals=2)
    with open_league(path) as league:
        run_league(
            league, executor=inline, play=lambda spec: tell_tale(spec, fake), stop_when=StopWhen(matches=3)
        )
        ids = [fixture.id for fixture, _ in league.results()]
    page = league_page(path, tmp_path / "results", {"title": "t", "leagues": [], "submits": False}, 1)
    assert page is not None
    text = page.page.decode() + json.dumps(page.sections) + json.dumps(page.bots) + page.order.decode()
    assert page.open_matches == shown
    assert ("TELLTALE" in text) == shown
    assert ('<section id="times">' in text) == shown
    assert any(match in text for match in ids) == shown
    assert ('href="matches/' in text or "#match=" in text) == shown
    assert "illegal" in text  # the number of faults is a total
    assert ("only totals are shown" in text) != shown
    tables = {name: league_table(path, tmp_path / "results", name) for name in VIEWS if name != "bracket"}
    assert (b"TELLTALE" in b"".join(filter(None, tables.values()))) == shown
    assert [name for name, table in tables.items() if table is None] == (
        [] if shown else ["faults", "times", "services"]
    )
    assert (match_record(path, tmp_path / "results", ids[0]) is not None) == shown
