"""A placement finds a bot's strength on a scale, from deals against the opponents that tell most."""

from __future__ import annotations

from random import Random

import pytest
from tests.league.conftest import Cup, MakeSeason

from warpleague.errors import ConfigError
from warpleague.league.ratings.placement import Placement, half_of, level_of
from warpleague.league.ratings.statistics import expected
from warpleague.league.schedule.formats.placement import PlacementFormat
from warpleague.league.season.config import load_config
from warpleague.report.wording.league_words import placement_brief, placement_lines

LEVELS = (0.0, 300.0, 500.0, 700.0, 850.0)


def placed(truth: float, deals: int, rng: Random, luck: float = 0.0, within: float = 0.0) -> Placement:
    """After deals of two matches, whose luck helps one seat in the part `luck` of the deals."""
    known = Placement(LEVELS)
    while known.deals < deals:
        level = known.next_level()
        share, first = expected(truth - LEVELS[level]), rng.random()
        second = 1 - first if rng.random() < luck else rng.random()
        known.add(level, float(first < share) + float(second < share), 2)
        half = half_of(known.estimate())
        if known.deals >= 6 and half is not None and half <= within:
            break
    return known


@pytest.mark.parametrize(
    ("deals", "luck", "within"), [(6, 0.0, 0.0), (20, 0.0, 0.0), (20, 0.5, 0.0), (60, 0.0, 150.0)]
)
def test_the_interval_covers_the_truth(deals: int, luck: float, within: float) -> None:
    """In about 95 % of placements with adaptive opponents, at few deals, too, and where half an interval ends it."""
    rng, covered, times = Random(4), 0, 60
    for number in range(times):
        truth = (150.0, 400.0, 640.0, 900.0)[number % 4]
        estimate = placed(truth, deals, rng, luck, within).estimate()
        covered += (estimate.low is None or estimate.low <= truth) and (
            estimate.high is None or truth <= estimate.high
        )
    assert covered >= 0.88 * times


def test_opponents_come_near_the_bot() -> None:
    """A bot as strong as the fourth level soon meets this one most."""
    known = placed(700.0, 40, Random(1))
    matches = [known.against(level)[1] for level in range(len(LEVELS))]
    assert matches[3] == max(matches)
    assert matches[0] == 0


def test_who_wins_or_loses_everything_gets_a_bound() -> None:
    """Five deals won against the strongest: above it; lost against random play: below it; fewer say less."""
    best, worst = Placement(LEVELS), Placement(LEVELS)
    for deals in range(1, 6):
        best.add(4, 2.0, 2)
        worst.add(0, 0.0, 2)
        sure = deals == 5
        assert ("above level 5 (" in placement_brief(best, 50)) is sure
        assert ("below level 1 (" in placement_brief(worst, 50)) is sure
    assert best.estimate().high is None
    assert worst.estimate().low is None


def test_the_level_lies_between_those_of_the_scale() -> None:
    """Halfway between two strengths is half a level; beyond the ends there is none."""
    assert level_of(LEVELS, 400.0) == pytest.approx(2.5)
    assert level_of(LEVELS, -1.0) is None
    assert level_of(LEVELS, 851.0) is None


def test_few_deals_that_went_alike_are_not_sure() -> None:
    """Two deals, each won once and lost once, do not have an interval of no width."""
    known = Placement(LEVELS)
    known.add(2, 1.0, 2)
    known.add(2, 1.0, 2)
    half = half_of(known.estimate())
    assert half is not None
    assert half > 150
    (line, *rest) = placement_lines(known, "mine", random_is_a_guess=False)
    assert line.startswith("mine: level 3.0 (")
    assert "+500 ± " in line
    assert rest == ["  2 points of 4 matches against level 3"]


def test_at_larger_tables_two_exchange_seats_beside_the_field(make_season: MakeSeason) -> None:
    """On each deal the bot and its opponent change places, the field stays, and all pairs of seats have their turn."""
    season = make_season(5, 4, kind="placement", levels=(0.0, 100.0))
    batches, seen = PlacementFormat(season).batches(), set()
    groups = list(next(batches))
    while len(seen) < 6:
        for group in groups:
            first, second = group.seats
            (other,) = {1, 2} & {*first}
            change = {0: other, other: 0}
            assert second == tuple(change.get(bot, bot) for bot in first)
            assert sorted(first) == [0, other, 3, 4]
            seen.add((other, frozenset((first.index(0), first.index(other)))))
        groups = list(batches.send([]))


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("kind = 'placement'\nlevels = [0.0]\n", "two opponents or more"),
        ("kind = 'placement'\nlevels = [100.0, 0.0]\n", "from weak to strong"),
        ("kind = 'placement'\nlevels = [0.0, 1.0, 2.0]\n", "one number for each bot but the first: 2"),
        ("kind = 'placement'\nlevels = [0.0, 1.0]\nseats = 'fixed'\n", "leave out seats and dice"),
        ("kind = 'placement'\nlevels = [0.0, 1.0]\ndeals = 2\n", "leave out tables and deals"),
        ("levels = [0.0, 1.0]\n", "only kind"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(cup: Cup, form: str, message: str) -> None:
    """The message names the key of the league file."""
    path = cup.file("new", "a", "b")
    path.write_text(path.read_text("utf-8").replace("deals = 3", form), "utf-8")
    with pytest.raises(ConfigError, match=message):
        load_config(path)
