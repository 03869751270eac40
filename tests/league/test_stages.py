"""Stages: the best bots of finished leagues take part in another one, and nothing that is noted of them changes."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.league.conftest import Cup

from warpleague.errors import ConfigError
from warpleague.league.play.entering import stage_problems
from warpleague.league.play.running import StopWhen
from warpleague.league.results.standings import standings
from warpleague.league.store.disqualifications import disqualify

LEAGUES = Path(__file__).parents[2] / "leagues"
FINAL = """
seed = "test"
[entry]
leagues = ["red.toml", "blue.toml"]
top = 2
[game]
id = "aliens"
options = { max_turns = 10 }
[format]
kind = "knockout"
"""


@pytest.fixture
def play(cup: Cup, refereed: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Plays what is left of an open league, and closes it."""

    def play(league: Any) -> Any:
        with league:
            return cup.run(league, play=refereed())

    return play


@pytest.fixture(scope="module")
def played() -> dict[str, tuple[Path, list[str]]]:
    """What `groups` has played: the store of each group, and the names of its bots by rank."""
    return {}


@pytest.fixture
def groups(
    cup: Cup, play: Any, played: dict[str, tuple[Path, list[str]]], tmp_path_factory: Any
) -> dict[str, list[str]]:
    """Two groups of three that are finished; the names of each by rank."""
    for name, bots in (("red", ("a", "b", "c")), ("blue", ("d", "e", "f"))):
        path, store = cup.file(*bots, name=name, deals=4, game=cup.short), cup.results / name
        if name not in played:
            play(cup.open(path))
            with cup.open(path) as done:
                ranked = [line.bot for line in standings(done).lines]
            kept = tmp_path_factory.mktemp("groups") / name
            shutil.copytree(store, kept)
            played[name] = kept, ranked
        elif not store.exists():
            shutil.copytree(played[name][0], store)
    return {name: ranked for name, (_, ranked) in played.items()}


@pytest.fixture
def final(tmp_path: Path) -> Path:
    path = tmp_path / "final.toml"
    path.write_text(FINAL)
    return path


def test_the_best_of_each_group_play_the_final(
    groups: dict[str, list[str]], final: Path, cup: Cup, play: Any
) -> None:
    """The winners come first, then the second; a final that is read or run again has the same bots and no change."""
    red, blue = groups["red"], groups["blue"]
    league = cup.open(final)
    assert list(league.season.names) == [red[0], blue[0], red[1], blue[1]]
    assert play(league).complete
    with cup.read(final) as read:
        assert list(read.season.names) == [red[0], blue[0], red[1], blue[1]]
        # The stand-ins have no manifests; what matters is that no bot was added or removed.
        assert {change.what for change in read.changed} == {"broken"}
        assert stage_problems(read) == []
        assert len(read.store.entered()) == 1
    assert play(cup.open(final)).played == 0
    with cup.read(final) as read:
        assert len(read.store.entered()) == 1


def test_a_stage_may_have_bots_of_its_own_and_follow_a_stage(
    groups: dict[str, list[str]], final: Path, cup: Cup, play: Any
) -> None:
    """Bots of the file come before those that came through, which may come from a stage themselves."""
    play(cup.open(final))
    super_cup = cup.file("champion", name="super", game=cup.short)
    text = super_cup.read_text()
    super_cup.write_text(text.replace("[game]", '[entry]\nleagues = ["final.toml"]\ntop = 1\n[game]'))
    league = cup.open(super_cup)
    assert league.season.names[0] == "champion"
    assert league.season.names[1] in (groups["red"][:2] + groups["blue"][:2])
    assert play(league).complete


def test_groups_that_are_not_finished_or_do_not_hold_are_refused(
    groups: dict[str, list[str]], final: Path, cup: Cup
) -> None:
    """A group with matches left, or with an altered result, lets nobody through."""
    blue = cup.file("d", "e", "f", name="blue", deals=5, game=cup.short)
    with pytest.raises(ConfigError, match=r"blue is not finished \(24 of 30 matches played\)"):
        cup.open(final)
    blue = cup.file("d", "e", "f", name="blue", deals=4, game=cup.short)
    db = sqlite3.connect(cup.results / blue.stem / "league.sqlite")
    db.execute("UPDATE match SET digest = 'another' WHERE id = (SELECT min(id) FROM match)")
    db.commit()
    db.close()
    with pytest.raises(ConfigError, match="blue does not hold"):
        cup.open(final)


def test_a_group_that_changes_afterwards_stops_the_final(
    groups: dict[str, list[str]], final: Path, cup: Cup, play: Any
) -> None:
    """Others would come through: a run is refused, verify says so; the same bots listed by hand go on."""
    play(cup.open(final))
    red, blue = groups["red"], groups["blue"]
    with cup.open(final.with_name("red.toml")) as league:
        disqualify(league.store, red[0], "for the test", "out")
    with pytest.raises(ConfigError, match=f"red has changed .*: {red[0]}, {red[1]} came through, now"):
        cup.open(final)
    with cup.read(final) as read:
        assert [problem.split(":")[0] for _, _, problem in stage_problems(read)] == [
            "red has changed since its bots were entered here"
        ]
    listed = ", ".join(f'"bots/{name}"' for name in (red[0], blue[0], red[1], blue[1]))
    text = FINAL.replace('[entry]\nleagues = ["red.toml", "blue.toml"]\ntop = 2', f"bots = [{listed}]")
    final.write_text(text)
    assert play(cup.open(final)).played == 0


def test_a_bot_that_changes_after_its_group_is_refused(
    groups: dict[str, list[str]], final: Path, cup: Cup, tmp_path: Path
) -> None:
    """Who came through plays on with the content that played in the group."""
    (tmp_path / "bots" / groups["blue"][1] / "digest").write_text("new")
    with pytest.raises(ConfigError, match="has other content"):
        cup.open(final)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"red.toml", ', '"red.toml", "red.toml", ', "is named twice"),
        ('"red.toml", ', '"final.toml", ', "is this league itself"),
        ("top = 2", "top = 4", "red has 3 bots with a rank, and 4 come through"),
        ("top = 2", "top = 0", "must be at least 1"),
        ('["red.toml", "blue.toml"]', "[]", "name the file of one league"),
        ('"red.toml", ', '"green.toml", ', "there is no such file"),
    ],
)
def test_entries_that_do_not_fit_are_refused(
    groups: dict[str, list[str]], final: Path, cup: Cup, old: str, new: str, told: str
) -> None:
    """An error names the key and what is wrong with it."""
    assert groups
    final.write_text(FINAL.replace(old, new))
    with pytest.raises(ConfigError, match=told):
        cup.open(final)


def test_a_season_is_decided_by_its_final(cup: Cup, play: Any, refereed: Any, tmp_path: Path) -> None:
    """The final that comes with Warp League takes the first of the ladder, once that is over, on deals of its own."""
    (tmp_path / "bots").symlink_to(LEAGUES.parent / "bots")
    (tmp_path / "leagues").mkdir()
    season, final = (tmp_path / "leagues" / f"aliens-season{end}.toml" for end in ("", "-final"))
    for path in (season, final):
        text = (LEAGUES / path.name).read_text("utf-8")
        for old, new in (
            ('id = "aliens"', 'id = "aliens"\noptions = { max_turns = 10 }'),
            ("max_matches = 400", "max_matches = 60"),
            ("deals = 20", "deals = 2"),
        ):
            text = text.replace(old, new)
        path.write_text(text, "utf-8")
    cup.play(season, play=refereed(), stop_when=StopWhen(matches=40))
    with pytest.raises(ConfigError, match="aliens-season is not finished"):
        cup.open(final)
    assert play(cup.open(season)).stored == 60
    with cup.read(season) as league:
        first = [line.bot for line in standings(league).lines[:3]]
        keys = {league.season.key_of(fixture.deal) for fixture, _ in league.results()}
    with cup.open(final) as league:
        assert list(league.season.names) == first
        assert cup.run(league, play=refereed()).stored == 12
        assert keys.isdisjoint(league.season.key_of(fixture.deal) for fixture, _ in league.results())
