"""Ratings against hand-computed values and known properties."""

from __future__ import annotations

from itertools import combinations
from math import log10, sqrt
from random import Random
from typing import Any

import pytest

from warpleague.league.ratings.bradley_terry import joint_fit
from warpleague.league.ratings.elo import SCALE, SequentialElo, expected
from warpleague.league.ratings.outcomes import PairTotals


def fitted(results: Any, bots: Any, **options: Any) -> Any:
    totals = PairTotals(bots)
    for _, seats, ranks in results:
        totals.add(seats, ranks)
    return joint_fit(totals, lambda: iter(results), **{"start": 0.0, **options})


def duels(*scores: Any) -> Any:
    """Results (bot, bot, wins of the first, draws, wins of the second), each match a group of its own."""
    results = []
    for a, b, won, drawn, lost in scores:
        for ranks, count in (((1, 2), won), ((1, 1), drawn), ((2, 1), lost)):
            results += [(len(results) + i, (a, b), ranks) for i in range(count)]
    return results


def test_expected_shares() -> None:
    """A difference of 400 is ten to one, none is even."""
    assert expected(0) == 0.5
    assert expected(400) == pytest.approx(10 / 11)
    assert expected(-400) == pytest.approx(1 / 11)


def test_sequential_elo_by_hand() -> None:
    """A win, then a draw, at K = 16: each match starts from what the one before left."""
    elo = SequentialElo(2, 16.0, 1500.0)
    elo.add((0, 1), (1, 2))
    assert elo.ratings == [1508.0, 1492.0]
    elo.add((1, 0), (1, 1))
    share = 1 / (1 + 10 ** (-16 / 400))
    assert elo.ratings == pytest.approx([1508.0 + 16 * (0.5 - share), 1492.0 - 16 * (0.5 - share)])


def test_sequential_elo_at_larger_tables() -> None:
    """A table counts as its pairs with K divided by the opponents, a shared place as half."""
    elo = SequentialElo(4, 16.0, 1500.0)
    elo.add((3, 1, 2), (1, 2, 2))
    assert elo.ratings == [1500.0, 1496.0, 1496.0, 1508.0]
    assert sum(elo.ratings) == 6000.0


def test_sequential_elo_depends_on_order() -> None:
    """The same results in another order give other ratings: which is why they are taken in schedule order."""
    one, two = SequentialElo(2), SequentialElo(2)
    for ranks in ((1, 2), (1, 2), (2, 1)):
        one.add((0, 1), ranks)
    for ranks in ((2, 1), (1, 2), (1, 2)):
        two.add((0, 1), ranks)
    assert one.ratings != two.ratings


def test_the_fit_of_two_bots_is_the_formula() -> None:
    """Sixty wins of a hundred are 70.4 Elo, with the binomial error."""
    fit = fitted(duels((0, 1, 60, 0, 40)), 2, anchor=1)
    assert fit.ratings[0] == pytest.approx(400 * log10(1.5), abs=1e-6)
    assert fit.ratings[1] == 0.0
    # The sandwich of independent wins and losses is the binomial error, with N - 1 in the place of N.
    assert fit.errors[0] == pytest.approx(SCALE / sqrt(100 * 0.24) * sqrt(100 / 99), rel=1e-9)
    assert fit.superiority(0, 1) == pytest.approx(0.976, abs=1e-3)
    assert fit.superiority(1, 0) == pytest.approx(1 - fit.superiority(0, 1))


def test_draws_make_errors_smaller() -> None:
    """Draws count half and carry less chance than wins and losses: the same share, a smaller error."""
    drawn, sharp = fitted(duels((0, 1, 30, 60, 10)), 2), fitted(duels((0, 1, 60, 0, 40)), 2)
    assert drawn.ratings == pytest.approx(sharp.ratings)
    assert drawn.errors[0] < 0.7 * sharp.errors[0]


def test_a_fit_reproduces_consistent_shares() -> None:
    """Shares made from ratings give these ratings back, less their mean."""
    true = [0.0, 100.0, -150.0, 250.0]
    totals = PairTotals(4)
    for a in range(4):
        for b in range(4):
            if a != b:
                totals.games[a][b] = 1_000
                totals.points[a][b] = 1_000 * expected(true[a] - true[b])
    fit = joint_fit(totals, lambda: iter(()), start=1500.0)
    assert fit.ratings == pytest.approx([1500 + value - 50 for value in true], abs=1e-6)


def test_duplicate_groups_that_agree_have_larger_errors() -> None:
    """Matches on one deal that always end alike count as one, not as two: clustering sees it."""
    rng = Random(1)
    apart, together = [], []
    for group in range(200):
        ranks = (1, 2) if rng.random() < 0.5 else (2, 1)
        together += [(group, (0, 1), ranks), (group, (1, 0), ranks[::-1])]
        apart += [(2 * group, (0, 1), ranks), (2 * group + 1, (1, 0), ranks[::-1])]
    ratio = fitted(together, 2).errors[0] / fitted(apart, 2).errors[0]
    assert ratio == pytest.approx(sqrt(2), rel=0.01)


def test_errors_cover_at_tables_of_three() -> None:
    """Of the true ratings, about 95 in 100 lie within the 95 % interval, also when tables are not pairs."""
    rng, true, inside = Random(3), [0.0, 60.0, -90.0, 130.0], 0
    for _ in range(60):
        results = []
        for group in range(90):
            seats = tuple(rng.sample(range(4), 3))
            order = sorted(seats, key=lambda bot: rng.expovariate(10 ** (true[bot] / 400)))
            results.append((group, seats, tuple(order.index(bot) + 1 for bot in seats)))
        fit = fitted(results, 4, start=25.0)
        inside += sum(abs(fit.ratings[bot] - true[bot]) < 1.96 * fit.errors[bot] for bot in range(4))
    assert 0.90 <= inside / 240 <= 0.985


def test_errors_cover_in_short_leagues() -> None:
    """Of true differences, about 95 in 100 lie within the 95 % interval, also where each pair has one deal only."""
    rng, true, inside, pairs = Random(5), [0.0, 60.0, -90.0, 30.0], 0, 0
    for _ in range(300):
        results = []
        for group, (a, b) in enumerate(combinations(range(4), 2)):
            luck = rng.gauss(0, 100)  # of the first seat, on this deal
            for seats in ((a, b), (b, a)):
                won = rng.random() < expected(true[seats[0]] - true[seats[1]] + luck)
                results.append((group, seats, (1, 2) if won else (2, 1)))
        fit = fitted(results, 4)
        for a, b in combinations(range(4), 2):
            variance = fit.covariance[a][a] + fit.covariance[b][b] - 2 * fit.covariance[a][b]
            if len(set(fit.tiers)) == 1:
                pairs += 1
                off = fit.ratings[a] - fit.ratings[b] - true[a] + true[b]
                inside += abs(off) < 1.96 * sqrt(variance)
    assert pairs > 1_000
    assert 0.93 <= inside / pairs <= 0.98


def test_results_without_variation_have_no_error() -> None:
    """Where all deals went alike, or are too few for the ratings, no error is made up; an anchor's is zero."""
    alike = [(group, (0, 1), ranks) for group in range(9) for ranks in ((1, 2), (2, 1))]
    assert fitted(alike, 2).errors == (None, None)
    assert fitted(alike, 2, anchor=0).errors == (0.0, None)
    one_deal = [(0, (0, 1, 2), (1, 2, 3)), (0, (1, 2, 0), (1, 2, 3)), (0, (2, 0, 1), (1, 2, 2))]
    fit = fitted(one_deal, 3)
    assert set(fit.tiers) == {0}
    assert fit.errors == (None, None, None)
    assert fit.superiority(0, 1) is None
    # One that shared every place is no more certain for it than the two that did not.
    drawn = [(g, (2, b), (1, 1)) for g in range(4) for b in (0, 1)]
    drawn += [(4 + g, (0, 1), (1, 2) if g % 2 else (2, 1)) for g in range(4)]
    errors = fitted(drawn, 3).errors
    assert errors[2] is None
    assert errors[0] == pytest.approx(errors[1])


def test_a_sweep_has_no_finite_rating() -> None:
    """Ten wins of ten: the rating at which that has probability one half, and the bound at 0.05."""
    fit = fitted(duels((0, 1, 10, 0, 0)), 2)
    assert fit.ratings[0] - fit.ratings[1] == pytest.approx(457.6, abs=0.05)
    assert fit.above[0] - fit.ratings[1] == pytest.approx(182.7, abs=0.05)
    assert fit.errors == (None, None)
    assert fit.superiority(0, 1) is None


def test_a_swept_bot_does_not_disturb_the_others() -> None:
    """Bots that won or lost everything are set aside, the others rated as if those had not been there."""
    rest = duels((0, 1, 6, 0, 4), (1, 2, 5, 0, 5), (0, 2, 7, 0, 3))
    swept = duels((3, 0, 4, 0, 0), (3, 1, 4, 0, 0), (4, 2, 0, 0, 6))
    alone, fit = fitted(rest, 5), fitted(rest + swept, 5)
    assert fit.ratings[:3] == pytest.approx(alone.ratings[:3])
    assert fit.errors[:3] == pytest.approx(alone.errors[:3])
    assert fit.ratings[3] > fit.above[3] > max(fit.ratings[:2])
    assert fit.ratings[4] < fit.below[4] < fit.ratings[2]
    assert set(fit.islands) == {0}
    assert len(set(fit.tiers)) == 3


def test_a_bot_between_two_sweeps_has_no_bound() -> None:
    """Where a beat b and b beat c throughout, b is placed between them, and only the ends have bounds."""
    fit = fitted(duels((0, 1, 8, 0, 0), (1, 2, 8, 0, 0)), 3)
    assert fit.ratings[0] > fit.ratings[1] > fit.ratings[2]
    assert [value is None for value in fit.above] == [False, True, True]
    assert [value is None for value in fit.below] == [True, True, False]


def test_bots_that_results_do_not_compare_are_islands() -> None:
    """Two groups that never met are rated apart, and no likelihood compares them."""
    fit = fitted(duels((0, 1, 6, 0, 4), (2, 3, 5, 0, 5)), 5)
    assert fit.islands == (0, 0, 1, 1, None)
    assert fit.ratings[4] is None
    assert fit.superiority(0, 2) is None
    assert fit.superiority(0, 1) is not None


def test_one_way_groups_are_tiers() -> None:
    """If one group won everything against the other, their distance is where that had probability one half."""
    results = duels((0, 1, 6, 0, 4), (2, 3, 5, 0, 5), (0, 2, 4, 0, 0), (1, 3, 4, 0, 0))
    fit = fitted(results, 4)
    assert fit.tiers == (0, 0, 1, 1)
    assert set(fit.islands) == {0}
    one, two = (expected(fit.ratings[a] - fit.ratings[b]) for a, b in ((0, 2), (1, 3)))
    assert one**4 * two**4 == pytest.approx(0.5)
    assert fit.ratings[0] - fit.ratings[1] == pytest.approx(400 * log10(1.5), abs=1e-6)
    assert fit.superiority(1, 2) is None
    assert fit.superiority(0, 1) is not None


def test_an_anchor_moves_but_does_not_stretch() -> None:
    """Anchoring sets one bot's rating, keeps all differences, and gives it no error."""
    results = duels((0, 1, 6, 0, 4), (1, 2, 5, 1, 4), (0, 2, 7, 0, 3))
    free, anchored = fitted(results, 3), fitted(results, 3, start=2000.0, anchor=2)
    assert anchored.ratings[2] == 2000.0
    assert anchored.errors[2] == 0.0
    assert anchored.ratings[0] - anchored.ratings[1] == pytest.approx(free.ratings[0] - free.ratings[1])
    assert anchored.superiority(0, 1) == pytest.approx(free.superiority(0, 1))


def test_nothing_played_is_no_error() -> None:
    """Without results nobody has a rating."""
    fit = fitted([], 3)
    assert fit.ratings == fit.errors == fit.islands == (None, None, None)
