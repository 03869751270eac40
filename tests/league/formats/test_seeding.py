"""Seeds: by the file's order, by a draw, or by the standings of another league, as noted when bots were entered."""

from typing import Any

import pytest
from tests.league.conftest import Cup

from warpleague.errors import ConfigError
from warpleague.league.results.standings import standings
from warpleague.league.store.events import commitment_to

CUP = 'kind = "knockout"\nseeding = "rating"\nratings = "season.toml"'


@pytest.fixture
def ranked(cup: Cup) -> list[str]:
    """Plays a season of four bots; their names by rank."""
    with cup.open(cup.file("a", "b", "c", "d", name="season", deals=5)) as league:
        cup.run(league)
        return [line.bot for line in standings(league).lines]


def seeded(league: Any) -> list[str]:
    return [league.season.names[bot] for bot in league.season.seeded]


def test_the_standings_of_another_league_seed_a_cup(ranked: list[str], cup: Cup) -> None:
    """Best first, those without a rank there last, in the file's order; the best seeds have the byes."""
    path = cup.file("new", "d", "c", "b", "a", "newer", name="cup", extra=CUP)
    with cup.open(path) as league:
        assert seeded(league) == [*ranked, "new", "newer"]
        byes = [f for f in league.schedule if league.season.names[f.seats[0]] in ranked[:2]]
        assert not byes
        assert cup.run(league).complete
    with cup.read(path) as league:
        assert seeded(league) == [*ranked, "new", "newer"]


def test_seeds_stay_as_they_were_noted(ranked: list[str], cup: Cup) -> None:
    """Another result of the season changes no cup that has begun; a bot that is added later comes last."""
    path = cup.file("d", "c", "b", "a", name="cup", extra=CUP)
    with cup.open(path) as league:
        cup.run(league)
        commitment = commitment_to(league.season)
    season = cup.file("a", "b", "c", "d", name="season", deals=40)
    with cup.open(season) as league:
        cup.run(league)
        assert [line.bot for line in standings(league).lines] != ranked
    with cup.open(path) as league:
        assert seeded(league) == ranked
        assert commitment_to(league.season) == commitment
    with cup.open(cup.file("e", "d", "c", "b", "a", name="cup", extra=CUP)) as league:
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
def test_seeds_that_do_not_fit_are_refused(cup: Cup, extra: str, told: str) -> None:
    """An error says what is missing or out of place, and nothing is played."""
    with pytest.raises(ConfigError, match=told):
        cup.open(cup.file("a", "b", extra=extra))
