"""Seeds: by the file's order, by a draw, or by the standings of another league, as noted when bots were entered."""

from pathlib import Path
from typing import Any

import pytest

from warpleague.errors import ConfigError
from warpleague.league.play.running import run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.season.config import load_config
from warpleague.league.store.events import commitment_to

CUP = 'kind = "knockout"\nseeding = "rating"\nratings = "season.toml"'


@pytest.fixture
def ranked(write_league: Any, open_league: Any, fake: Any, inline: Any) -> list[str]:
    """Plays a season of four bots; their names by rank."""
    with open_league(write_league("a", "b", "c", "d", name="season", deals=5)) as league:
        run_league(league, executor=inline, play=fake.play)
        return [line.bot for line in standings(league).lines]


def seeded(league: Any) -> list[str]:
    return [league.season.names[bot] for bot in league.season.seeded]


def test_the_standings_of_another_league_seed_a_cup(
    ranked: list[str], write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path
) -> None:
    """Best first, those without a rank there last, in the file's order; the best seeds have the byes."""
    path = write_league("new", "d", "c", "b", "a", "newer", name="cup", extra=CUP)
    with open_league(path) as league:
        assert seeded(league) == [*ranked, "new", "newer"]
        byes = [f for f in league.schedule if league.season.names[f.seats[0]] in ranked[:2]]
        assert not byes
        assert run_league(league, executor=inline, play=fake.play).complete
    with open_to_read(load_config(path), tmp_path / "results") as league:
        assert seeded(league) == [*ranked, "new", "newer"]


def test_seeds_stay_as_they_were_noted(
    ranked: list[str], write_league: Any, open_league: Any, fake: Any, inline: Any
) -> None:
    """Another result of the season changes no cup that has begun; a bot that is added later comes last."""
    path = write_league("d", "c", "b", "a", name="cup", extra=CUP)
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
        commitment = commitment_to(league.season)
    season = write_league("a", "b", "c", "d", name="season", deals=40)
    with open_league(season) as league:
        run_league(league, executor=inline, play=fake.play)
        assert [line.bot for line in standings(league).lines] != ranked
    with open_league(path) as league:
        assert seeded(league) == ranked
        assert commitment_to(league.season) == commitment
    with open_league(write_league("e", "d", "c", "b", "a", name="cup", extra=CUP)) as league:
        assert seeded(league) == [*ranked, "e"]


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ('kind = "knockout"\nseeding = "rating"', "needs the file of the league"),
        ('seeding = "draw"', "only a Swiss, a knockout and a double elimination have seeds"),
        ('kind = "swiss"\nrounds = 2\nratings = "season.toml"', 'only seeding = "rating"'),
        ('kind = "knockout"\nseeding = "rating"\nratings = "none.toml"', "there is no such file"),
        ('kind = "knockout"\nseeding = "rating"\nratings = "cup.toml"', "is this league"),
    ],
)
def test_seeds_that_do_not_fit_are_refused(
    write_league: Any, open_league: Any, extra: str, told: str
) -> None:
    """An error says what is missing or out of place, and nothing is played."""
    with pytest.raises(ConfigError, match=told):
        open_league(write_league("a", "b", extra=extra))
