"""The words for whether an edit helped claim no more than the deals show."""

import pytest

from warpleague.extras.rounds.report import verdict_of
from warpleague.league.ratings.sprt import Sprt
from warpleague.league.schedule.formats.strength_test import Deal, StrengthTest


@pytest.mark.parametrize(
    ("shares", "word"),
    [
        ([1.0, 1.0], "open"),
        ([1.0] * 5, "better"),
        ([0.0] * 4, "open"),
        ([0.0] * 5, "worse"),
        ([0.75] * 2, "open"),
        ([0.5, 0.5], "equal"),
        ([1.0, 0.0], "open"),
        ([1.0, 0.75, 1.0, 0.75, 1.0], "better"),
    ],
)
def test_deals_that_all_went_alike_may_have_done_so_by_chance(shares: list[float], word: str) -> None:
    """By chance two equal bots win two deals in a row now and then, but hardly five."""
    test = StrengthTest(Sprt(0.0, 20.0, 0.05, 0.05, "elo", 2), 0.0, 1.0, fixed=True)
    for share in shares:
        test.add(Deal(value=share, new=share, old=1 - share, scores=(share, 1 - share), matches=2))
    assert verdict_of(test.to_json()) == word
