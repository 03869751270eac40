"""Ratings against hand-computed values and known properties."""

from itertools import combinations, permutations
from math import comb, log10, sqrt
from random import Random
from typing import Any

import numpy as np
import pytest

from warpleague.league.ratings.fit import Method, joint_fit, transitivity
from warpleague.league.ratings.outcomes import Earlier, Outcomes
from warpleague.league.ratings.posterior import EDIT_DRIFTS, shrunk_fit
from warpleague.league.ratings.statistics import SCALE, SequentialElo, expected, student, t95


def fitted(results: Any, bots: Any, **options: Any) -> Any:
    return joint_fit(counted(results), bots, **{"start": 0.0, **options})


def counted(results: Any) -> Any:
    outcomes = Outcomes()
    for group, seats, ranks in results:
        outcomes.add(group, seats, ranks)
    return outcomes


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
    """A win, then a draw, at K = 16: each match starts from what the one before left, so that their order counts."""
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


def test_the_fit_of_two_bots_is_the_formula() -> None:
    """Sixty wins of a hundred are 70.4 Elo, with the binomial error."""
    fit = fitted(duels((0, 1, 60, 0, 40)), 2, anchor=1)
    assert fit.ratings[0] == pytest.approx(400 * log10(1.5), abs=1e-6)
    assert fit.ratings[1] == 0.0
    # The sandwich of independent wins and losses is the binomial error, with N - 1 in the place of N.
    assert fit.errors[0] == pytest.approx(SCALE / sqrt(100 * 0.24) * sqrt(100 / 99), rel=0.002)
    assert fit.superiority(0, 1) == pytest.approx(student(fit.ratings[0] / fit.errors[0], 158))
    assert fit.superiority(1, 0) == pytest.approx(1 - fit.superiority(0, 1))


def test_draws_make_errors_smaller() -> None:
    """Draws count half and carry less chance than wins and losses: the same share, a smaller error."""
    drawn, sharp = fitted(duels((0, 1, 30, 60, 10)), 2), fitted(duels((0, 1, 60, 0, 40)), 2)
    assert drawn.ratings == pytest.approx(sharp.ratings)
    assert drawn.errors[0] < 0.7 * sharp.errors[0]


def test_a_fit_reproduces_consistent_shares() -> None:
    """Shares made from ratings give these ratings back, less their mean."""
    true = [0.0, 100.0, -150.0, 250.0]
    outcomes = Outcomes()
    for a, b in combinations(range(4), 2):
        won = round(100_000 * expected(true[a] - true[b]))
        outcomes.add_deal([((a, b), (1, 2))], won)
        outcomes.add_deal([((b, a), (1, 2))], 100_000 - won)
    fit = joint_fit(outcomes, 4, start=1500.0)
    assert fit.ratings == pytest.approx([1500 + value - 50 for value in true], abs=0.01)
    assert fit.converged


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
        inside += sum(abs(fit.ratings[bot] - true[bot]) < fit.half(bot) for bot in range(4))
    assert 0.90 <= inside / 240 <= 0.985


def test_errors_cover_in_short_leagues() -> None:
    """Of true differences, about 95 in 100 lie within the 95 % interval, also where each pair has one deal only."""
    rng, true, inside, pairs = Random(5), [0.0, 60.0, -90.0, 30.0], 0, 0
    for _ in range(200):
        results = []
        for group, (a, b) in enumerate(combinations(range(4), 2)):
            luck = rng.gauss(0, 100)  # of the first seat, on this deal
            for seats in ((a, b), (b, a)):
                won = rng.random() < expected(true[seats[0]] - true[seats[1]] + luck)
                results.append((group, seats, (1, 2) if won else (2, 1)))
        fit = fitted(results, 4)
        for a, b in combinations(range(4), 2):
            variance = fit.covariance[a][a] + fit.covariance[b][b] - 2 * fit.covariance[a][b]
            if fit.superiority(a, b) is not None:  # else no error is told
                pairs += 1
                off = fit.ratings[a] - fit.ratings[b] - true[a] + true[b]
                inside += abs(off) < t95(fit.freedom_of(a, b)) * sqrt(variance)
    assert pairs > 700
    assert 0.93 <= inside / pairs <= 0.97


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
    """Ten wins of ten: the rating with one more deal drawn, said to be a guess, and the bound at 0.05."""
    fit = fitted(duels((0, 1, 10, 0, 0)), 2)
    assert fit.ratings[0] - fit.ratings[1] == pytest.approx(400 * log10(21), abs=1e-6)
    assert fit.guessed == (True, True)
    assert fit.above[0] - fit.below[1] == pytest.approx(182.7, abs=0.05)
    assert fit.above[0] + fit.below[1] == pytest.approx(0.0)  # the mean of both stays
    assert fit.errors == (None, None)
    assert fit.superiority(0, 1) is None


def test_a_swept_deal_counts_once() -> None:
    """Five deals of two matches that all went alike say no more than five matches do."""
    alone = fitted(duels((0, 1, 5, 0, 0)), 2)
    results = [(g, seats, ranks) for g in range(5) for seats, ranks in (((0, 1), (1, 2)), ((1, 0), (2, 1)))]
    deals = fitted(results, 2)
    assert deals.ratings == pytest.approx(alone.ratings)
    for fit in (alone, deals):
        assert expected(fit.above[0] - fit.below[1]) ** 5 == pytest.approx(0.05)


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
    """If one group won everything against the other, their distance is as if one more match had been drawn."""
    results = duels((0, 1, 6, 0, 4), (2, 3, 5, 0, 5), (0, 2, 4, 0, 0), (1, 3, 4, 0, 0))
    fit = fitted(results, 4)
    assert fit.tiers == (0, 0, 1, 1)
    assert set(fit.islands) == {0}
    assert fit.guessed in ((False, False, True, True), (True, True, False, False))
    expected_points = sum(4 * expected(fit.ratings[a] - fit.ratings[b]) for a, b in ((0, 2), (1, 3)))
    middle = sum(fit.ratings[:2]) / 2 - sum(fit.ratings[2:]) / 2
    assert expected_points + expected(middle) == pytest.approx(8.5)
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


def test_two_models_agree_on_pairs() -> None:
    """At tables of two, Plackett-Luce is Bradley-Terry, errors included, also with draws and seats."""
    results = duels((0, 1, 6, 3, 4), (1, 2, 5, 0, 5), (2, 0, 3, 1, 7))
    for seats in (False, True):
        pairs = fitted(results, 3, method=Method(seats=seats))
        rankings = fitted(results, 3, method=Method(kind="plackett-luce", seats=seats))
        assert rankings.ratings == pytest.approx(pairs.ratings)
        assert rankings.errors == pytest.approx(pairs.errors)
        assert rankings.seats == pytest.approx(pairs.seats)


def test_plackett_luce_by_hand() -> None:
    """With each order of three bots once, all are rated alike; one more tells them apart as the model says."""
    results = [(g, order, (1, 2, 3)) for g, order in enumerate(permutations(range(3)))]
    assert fitted(results, 3, method=Method(kind="plackett-luce")).ratings == pytest.approx(
        (0, 0, 0), abs=1e-9
    )
    fit = fitted([*results, (9, (0, 1, 2), (1, 2, 3))], 3, method=Method(kind="plackett-luce"))
    strengths = [10 ** (rating / 400) for rating in fit.ratings]
    # At the maximum every bot is placed as often as expected, over all choices that were made.
    chosen = [0.0] * 3
    for order in [*permutations(range(3)), (0, 1, 2)]:
        for place in range(2):
            total = sum(strengths[bot] for bot in order[place:])
            for bot in order[place:]:
                chosen[bot] += strengths[bot] / total
    assert chosen == pytest.approx([5.0, 5.0, 4.0])


def test_a_seat_has_a_rating() -> None:
    """Where the first seat wins three of four between equals, it is worth that, and the bots stay equal."""
    results = duels((0, 1, 30, 0, 10), (1, 0, 30, 0, 10))
    fit = fitted(results, 2, method=Method(seats=True))
    assert fit.ratings == pytest.approx((0, 0), abs=1e-6)
    assert fit.seats[0] - fit.seats[1] == pytest.approx(400 * log10(3))
    assert fit.seat_errors[0] == pytest.approx(fit.seat_errors[1])
    always = fitted(duels((0, 1, 30, 0, 10)), 2, method=Method(seats=True))
    assert always.seats == ()  # nobody changed seats: nothing tells them apart
    assert always.ratings[0] > always.ratings[1]


def test_draws_have_a_parameter() -> None:
    """Davidson's model gives back the shares of draws and of wins that it was fitted to."""
    fit = fitted(duels((0, 1, 50, 30, 20)), 2, method=Method(draws=True))
    ratio = 10 ** ((fit.ratings[0] - fit.ratings[1]) / 400)
    drawn = fit.draws / (fit.draws + ratio**0.5 + ratio**-0.5)
    assert drawn == pytest.approx(0.3)
    assert ratio == pytest.approx(50 / 20)


def test_draws_alone_make_no_bot_stronger() -> None:
    """Where one of two bots that draw never lost, no rating is most likely: it is guessed, and wins give a bound."""
    fit = fitted(duels((0, 1, 1, 7, 0)), 2, method=Method(draws=True))
    assert (fit.guessed, fit.errors, fit.draws, fit.superiority(0, 1)) == (
        (True, True),
        (None, None),
        None,
        None,
    )
    assert 0 < fit.ratings[0] - fit.ratings[1] < 100
    won = fitted(duels((0, 1, 1, 0, 0)), 2)
    assert (fit.above[0], fit.below[1]) == pytest.approx((won.above[0], won.below[1]))
    assert (fit.above[1], fit.below[0]) == (None, None)
    # In a chain of wins the draws between its ends hold them together.
    chain = fitted(duels((0, 1, 1, 8, 0), (1, 2, 1, 8, 0), (0, 2, 0, 9, 0)), 3, method=Method(draws=True))
    assert chain.guessed == (False,) * 3
    assert None not in chain.errors
    without = fitted(duels((0, 1, 0, 9, 0), (1, 2, 0, 9, 0)), 3, method=Method(draws=True))
    assert len(set(without.ratings)) == 1


@pytest.mark.parametrize("drawn", [0.9, 0.99])
def test_equal_bots_that_mostly_draw_are_rated_as_such(drawn: float) -> None:
    """In leagues of 20 matches a pair no rating runs away, and 95 % intervals hold about as often as they should."""
    rng, inside = Random(1), []
    for _ in range(40):
        pairs = [(a, b, [rng.random() for _ in range(20)]) for a, b in combinations(range(4), 2)]
        scores = [
            (
                a,
                b,
                sum(x > (1 + drawn) / 2 for x in seen),
                sum(x < drawn for x in seen),
                sum(drawn < x < (1 + drawn) / 2 for x in seen),
            )
            for a, b, seen in pairs
        ]
        fit = fitted(duels(*scores), 4, method=Method(draws=True))
        assert max(fit.ratings) - min(fit.ratings) < 1500
        mean = sum(fit.ratings) / 4
        inside += [
            abs(fit.ratings[bot] - mean) <= half for bot in range(4) if (half := fit.half(bot)) is not None
        ]
    assert sum(inside) >= 0.88 * len(inside)


def test_a_prior_is_a_drawn_match() -> None:
    """A prior of one match pulls to the mean, leaves nobody without a rating, and needs no guess."""
    fit = fitted(duels((0, 1, 10, 0, 0)), 2, method=Method(prior=1.0))
    half = fit.ratings[0]
    assert fit.ratings[1] == pytest.approx(-half)
    # What it lost against the other makes up for what it lost in the drawn match.
    assert 10 * (1 - expected(2 * half)) == pytest.approx(expected(half) - 0.5)
    assert fit.guessed == (False, False)
    assert set(fit.tiers) == {0}


def test_many_bots_of_all_strengths() -> None:
    """A chain of bots, each of which won nearly all against the next, is rated far beyond 20,000 points."""
    fit = fitted(duels(*((bot, bot + 1, 999, 0, 1) for bot in range(24))), 25, start=0.0)
    steps = [fit.ratings[bot] - fit.ratings[bot + 1] for bot in range(24)]
    assert steps == pytest.approx([400 * log10(999)] * 24)
    assert fit.converged
    swept = fitted(duels(*((bot, bot + 1, 9_999, 0, 0) for bot in range(12))), 13)
    steps = [swept.ratings[bot] - swept.ratings[bot + 1] for bot in range(12)]
    assert steps == pytest.approx([400 * log10(19_999)] * 12)


def test_all_bots_beaten_by_the_next() -> None:
    """Where every bot beat all that follow, the order is that one; equal results have equal ratings."""
    results = duels(*((a, b, 2, 0, 0) for a, b in combinations(range(6), 2)))
    fit = fitted(results, 6)
    assert list(fit.ratings) == sorted(fit.ratings, reverse=True)
    assert len(set(fit.tiers)) == 6
    twins = fitted(duels((0, 2, 3, 0, 1), (1, 2, 3, 0, 1), (0, 1, 1, 0, 1)), 3)
    assert twins.ratings[0] == pytest.approx(twins.ratings[1])


@pytest.mark.parametrize(("deals", "low", "high"), [(5, 0.91, 0.985), (10, 0.935, 0.97)])
def test_the_coverage_of_a_short_duel_is_known_exactly(deals: int, low: float, high: float) -> None:
    """All outcomes of some deals of two bots together cover about 95 in 100, for bots of any strength."""
    told = []
    for lost in range(deals + 1):
        for level in range(deals + 1 - lost):
            wins = ((2, 1),) * lost + ((1, 1),) * level + ((1, 2),) * (deals - lost - level)
            results = [
                (group, seats, (first, 3 - first))
                for group, (one, two) in enumerate(wins)
                for seats, first in (((0, 1), one), ((1, 0), two))
            ]
            fit = fitted(results, 2, anchor=1)
            if fit.superiority(0, 1) is not None:
                ways = comb(deals, lost) * comb(deals - lost, level) * 2**level
                told.append((2 * lost + level, ways, fit.ratings[0], fit.half(0)))
    found = []
    for truth in range(0, 160, 10):
        won = expected(truth)
        weights = [ways * (1 - won) ** loss * won ** (2 * deals - loss) for loss, ways, *_ in told]
        inside = [abs(rating - truth) <= half for *_, rating, half in told]
        found.append(sum(w for w, i in zip(weights, inside, strict=True) if i) / sum(weights))
    assert low <= min(found) <= max(found) <= high
    assert 0.945 <= sum(found) / len(found) <= 0.96


def test_errors_cover_where_bots_differ_much() -> None:
    """Also with a spread of 400 Elo about 95 in 100 differences lie within their intervals, those of far bots too."""
    rng, inside, far = np.random.default_rng(3), [], []
    for _ in range(60):
        true = rng.normal(0, 400, 6)
        results = []
        for group, (a, b) in enumerate(pair for pair in combinations(range(6), 2) for _ in range(10)):
            for seats in ((a, b), (b, a)):
                won = rng.random() < expected(true[seats[0]] - true[seats[1]])
                results.append((group, seats, (1, 2) if won else (2, 1)))
        fit = fitted(results, 6)
        for a, b in combinations(range(6), 2):
            if fit.superiority(a, b) is not None:
                variance = fit.covariance[a][a] + fit.covariance[b][b] - 2 * fit.covariance[a][b]
                off = fit.ratings[a] - fit.ratings[b] - true[a] + true[b]
                inside.append(abs(off) < t95(fit.freedom_of(a, b)) * sqrt(variance))
                if abs(true[a] - true[b]) > 400:
                    far.append(inside[-1])
    assert 0.92 <= np.mean(inside) <= 0.98
    assert np.mean(far) >= 0.91


def rounds(strength: Any, deals: int, seed: int) -> list[Any]:
    """The results of all pairs of four bots; `strength` gives the lead of one bot over another in Elo."""
    rng, results = Random(seed), []
    pairs = [pair for pair in combinations(range(4), 2) for _ in range(deals)]
    for group, (a, b) in enumerate(pairs):
        for seats in ((a, b), (b, a)):
            won = rng.random() < expected(strength(*seats))
            results.append((group, seats, (1, 2) if won else (2, 1)))
    return results


def test_cycles_are_told_from_chance() -> None:
    """Bots that beat each other in a circle are found; bots that differ in strength alone hardly ever are."""

    def circle(a: int, b: int) -> float:
        return 200.0 if (b - a) % 4 == 1 else -200.0 if (a - b) % 4 == 1 else 0.0

    def tested(strength: Any, seed: int) -> float | None:
        outcomes = counted(rounds(strength, 20, seed))
        return transitivity(outcomes, joint_fit(outcomes, 4).ratings)

    assert all(tested(circle, seed) < 0.001 for seed in range(5))
    honest = [tested(lambda a, b: 80.0 * (b - a), seed) for seed in range(40)]
    assert sum(value < 0.05 for value in honest) <= 6
    assert transitivity(counted(rounds(circle, 1, 0)), (0.0,) * 4) is None


def test_a_lead_of_much_alike_bots_is_doubted() -> None:
    """In a league the likelihood to be stronger is nearer to a half than the two bots alone would make it."""
    outcomes = counted(rounds(lambda a, b: 0.0 * (a - b), 12, 4))
    alone, shrunk = joint_fit(outcomes, 4), shrunk_fit(outcomes, 4)
    order = sorted(range(4), key=lambda bot: alone.ratings[bot] or 0.0)
    best, worst = order[-1], order[0]
    assert 0.5 < shrunk.superiority(best, worst) < alone.superiority(best, worst)


def test_the_bound_of_a_sweep_allows_for_what_is_not_known_of_the_rivals() -> None:
    """A bot that won all against rivals of uncertain ratings is at least so strong in 95 of 100 leagues."""
    rng, wrong, leagues = Random(2), 0, 0
    for _ in range(200):
        true = [rng.gauss(150, 100), *(rng.gauss(0, 60) for _ in range(3))]
        results = []
        for group, (a, b) in enumerate(pair for pair in combinations(range(4), 2) for _ in range(2)):
            for seats in ((a, b), (b, a)):
                won = rng.random() < expected(true[seats[0]] - true[seats[1]])
                results.append((group, seats, (1, 2) if won else (2, 1)))
        fit = fitted(results, 4)
        leagues += 1
        if fit.above[0] is not None and fit.tiers[1:].count(fit.tiers[1]) == 3:
            wrong += fit.above[0] > true[0] - sum(true[1:]) / 3
    assert wrong <= 0.05 * leagues


def test_a_great_edit_is_not_taken_for_drift() -> None:
    """Versions that programs edit may differ much: then their ratings do, and their intervals hold the truth."""
    rng = np.random.default_rng(1)
    truth = [0.0, 300.0, 0.0]
    outcomes = Outcomes()
    for one, two in ((0, 1), (0, 2), (1, 2)):
        for _ in range(40):
            won = rng.random(2) < expected(truth[one] - truth[two])
            outcomes.add_deal([((one, two), (1, 2) if first else (2, 1)) for first in won])
    linked = Earlier(links=((0, 1),))
    fit = shrunk_fit(outcomes, 3, anchor=2, earlier=linked, drifts=EDIT_DRIFTS)
    drifted = shrunk_fit(outcomes, 3, anchor=2, earlier=linked)
    for bot in (0, 1):
        rating, half = fit.ratings[bot], fit.half(bot)
        assert rating is not None
        assert half is not None
        assert abs(rating - 1500 - truth[bot]) < half < 90
    steps = [one.ratings[1] - one.ratings[0] for one in (fit, drifted)]
    assert steps[0] > steps[1] + 30


def test_many_bots_are_rated_as_few_are() -> None:
    """Bots that have not played change nothing: ratings are the same where so many bots are solved in another way."""
    strong = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    rng, results = Random(3), []
    for group, (one, two) in enumerate([*combinations(range(6), 2)] * 6):
        won = rng.random() < 1 / (1 + np.exp(strong[two] - strong[one]))
        results.append((group, (one, two), (1, 2) if won else (2, 1)))
    linked = Earlier(links=((0, 1),))
    few, many = (shrunk_fit(counted(results), bots, earlier=linked) for bots in (6, 210))
    assert many.ratings[:6] == pytest.approx(few.ratings)
    assert many.errors[:6] == pytest.approx(few.errors)
    assert many.spread == pytest.approx(few.spread)
    assert set(many.ratings[6:]) == {None}
