"""Sequential tests against an independent computation, and against truths that are known."""

from math import log
from typing import Any

import attrs
import numpy as np
import pytest

from warpleague.league.ratings.sprt import DealCounts, Sprt, estimate, ratio
from warpleague.league.ratings.statistics import SCALE, expected

VALUES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def likelihood(counts: Any, constraint: Any, rng: Any) -> float:
    """The greatest log likelihood of a multinomial distribution under a constraint, by scipy."""
    from scipy.optimize import minimize  # it would take each process of the tests a third of a second

    seen = counts > 0

    def cost(p: Any) -> float:
        return float(-(counts[seen] * np.log(np.maximum(p[seen], 1e-300))).sum())

    def slope(p: Any) -> Any:
        found = np.zeros(len(p))
        found[seen] = -counts[seen] / np.maximum(p[seen], 1e-300)
        return found

    constraints = [{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "eq", "fun": constraint}]
    starts = [(counts + 0.2) / (counts.sum() + 1.0), *rng.dirichlet(np.ones(5) * 2, size=2)]
    best = np.inf
    for start in starts:
        how: Any = {"bounds": [(1e-13, 1)] * 5, "constraints": constraints, "method": "SLSQP"}
        found = minimize(cost, start, jac=slope, options={"ftol": 1e-13, "maxiter": 500}, **how)
        if abs(found.x.sum() - 1) < 1e-8 and abs(constraint(found.x)) < 1e-8:
            best = min(best, found.fun)
    return -best


@pytest.mark.parametrize("unit", ["elo", "normalized"])
def test_ratios_are_those_of_constrained_maximum_likelihood(unit: Any) -> None:
    """For many and few deals, with outcomes that were never seen: scipy finds the same ratio, to 1e-4."""
    rng = np.random.default_rng(1)
    for size in (1, 2, 6, 40, 300) * 2:
        counts = rng.multinomial(size, rng.dirichlet(np.ones(5) * 0.6)).astype(float)
        low, high = sorted(rng.choice([-40.0, -5.0, 0.0, 3.0, 20.0, 90.0], 2, replace=False))
        test = Sprt(low, high, unit=unit)

        def keeps(elo: float) -> Any:
            def share(p: Any) -> float:
                return float(p @ VALUES - expected(elo))

            def distance(p: Any) -> float:
                mean = p @ VALUES
                # Normalised Elo: what one match's deviation of a half would make Elo, to first order.
                part = elo / (2 * SCALE) * 2**0.5
                return float(mean - 0.5 - part * np.sqrt(max(p @ (VALUES - mean) ** 2, 1e-16)))

            return share if unit == "elo" else distance

        told = likelihood(counts, keeps(test.elo1), rng) - likelihood(counts, keeps(test.elo0), rng)
        assert float(test.ratios(VALUES, counts)) == pytest.approx(told, abs=1e-4), (counts, test)


def test_one_pair_decides_nothing() -> None:
    """After one pair that was won twice the ratio is that of the shares, far from any bound."""
    counts = DealCounts()
    counts.add(1.0)
    assert ratio(Sprt(0, 20), counts) == pytest.approx(log(expected(20) / 0.5))


def test_only_level_deals_speak_against_a_difference() -> None:
    """If nobody ever wins a deal, a mean above a half gets less and less likely: exactly by its least other share."""
    counts = DealCounts()
    counts.add(0.5, 70)
    # A share of s needs at least 2s - 1 of the deals to be won twice.
    assert ratio(Sprt(0, 20), counts) == pytest.approx(70 * log(1 - (2 * expected(20) - 1)))


def run(truth: Any, test: Sprt, many: int, seed: int) -> Any:
    rng, ends = np.random.default_rng(seed), []
    steps = rng.multinomial(1, truth, size=(many, 160)).astype(float).cumsum(axis=1)
    ratios = test.ratios(VALUES, steps)
    low, high = test.bounds
    for path, counts in zip(ratios, steps, strict=True):
        at = np.flatnonzero((path <= low) | (path >= high))
        if at.size:
            ends.append((1 if path[at[0]] >= high else -1, counts[at[0]]))
    return ends


def test_a_test_errs_as_seldom_as_it_says_and_its_estimate_holds() -> None:
    """A short simulation; `tests/soak/strength.py` has the long one."""
    test = Sprt(0, 100)
    # Pairs whose luck is shared: most are level. The share is that of no difference.
    ends = run([0.1, 0.1, 0.6, 0.1, 0.1], test, 60, seed=2)
    assert len(ends) > 55
    assert sum(decision > 0 for decision, _ in ends) / len(ends) < 0.12
    inside = 0
    for decision, counts in ends:
        found = estimate(
            test, DealCounts(counts=dict(zip(VALUES, counts.astype(int), strict=True))), decision
        ).to_elo()
        assert found.low < found.elo < found.high
        inside += found.low <= 0 <= found.high
    assert 0.85 <= inside / len(ends) <= 1.0


def test_estimates_are_less_extreme_than_what_stopped_the_test() -> None:
    """A test that was accepted early has seen good luck: the estimate lies below the share that was reached."""
    counts = DealCounts(counts={0.0: 2, 0.25: 10, 0.5: 30, 0.75: 25, 1.0: 12})
    test = Sprt(0, 100)
    share = SCALE * log(counts.mean / (1 - counts.mean))
    found = estimate(test, counts, 1).to_elo()
    assert found.low < found.elo < share < found.high
    undecided = estimate(Sprt(0, 100, alpha=1e-9, beta=1e-9), counts, 0).to_elo()
    assert undecided.elo == pytest.approx(share, abs=3)


def test_a_sweep_has_an_estimate() -> None:
    """Where every deal was won twice, one more deal that was not gives an estimate with limits."""
    counts = DealCounts(counts={1.0: 23})
    found = estimate(Sprt(0, 50), counts, 1).to_elo()
    assert found.low is not None
    assert 50 < found.low < (found.elo or 9_999)


def stronger(test: Sprt, ratios: Any, end: tuple[int, int], decision: int, share: float) -> float:
    """The probability of an end like this one or a stronger one, where every deal is won with probability `share`.

    All ways there are, deal by deal; `end` is how many deals were won and lost, `ratios` are those of all such pairs.
    An end just like it counts by a half.
    """
    deals, found = sum(end), 0.0
    going = {0: 1.0}
    for played in range(1, deals + 1):
        after: dict[int, float] = {}
        for wins, chance in going.items():
            after[wins + 1] = after.get(wins + 1, 0.0) + chance * share
            after[wins] = after.get(wins, 0.0) + chance * (1.0 - share)
        going = {}
        for wins, chance in after.items():
            ratio_now = ratios[wins, played - wins]
            above, below = ratio_now >= test.bounds[1], ratio_now <= test.bounds[0]
            if played == deals:
                like = 0.5 if wins == end[0] else float(wins > end[0])
                ended = above if decision > 0 else below
                found += chance * (like if not decision or ended else float(decision < 0))
            elif not above and not below:
                going[wins] = chance
            elif above:
                found += chance
    return found


def test_limits_are_those_at_which_such_an_end_is_unlikely() -> None:
    """Deals that are won or lost: all tests there are, followed by their exact ratios, give the tails asked for."""
    test, rng, longest = Sprt(0, 100), np.random.default_rng(3), 100
    won, lost = np.mgrid[0 : longest + 1, 0 : longest + 1]
    lost[0, 0] = 1  # no ratio is asked for before the first deal
    ratios = test.ratios(np.array([0.0, 1.0]), np.stack([lost, won], axis=-1))
    decisions = []
    for share, most in ((0.5, longest), (0.65, longest), (0.75, longest), (0.6, 15), (0.55, 30)):
        wins, played, decision = 0, 0, 0
        while not decision and played < most:
            wins, played = wins + int(rng.random() < share), played + 1
            now = ratios[wins, played - wins]
            decision = 1 if now >= test.bounds[1] else -1 if now <= test.bounds[0] else 0
        decisions.append(decision)
        found = estimate(test, DealCounts(counts={0.0: played - wins, 1.0: wins}), decision).to_elo()
        limits: Any = ((found.low, 0.025), (found.elo, 0.5), (found.high, 0.975))
        for elo, tail in limits:
            told = stronger(test, ratios, (wins, played - wins), decision, expected(elo))
            assert told == pytest.approx(tail, abs=0.004)
    assert set(decisions) == {-1, 0, 1}


def test_many_deals_at_a_time_tell_the_same() -> None:
    """A test of 357 deals, followed deal by deal and in steps of several: estimate and limits differ by little."""
    counts = DealCounts(counts={0.0: 30, 0.25: 75, 0.5: 125, 0.75: 62, 1.0: 65})
    found = [attrs.asdict(estimate(Sprt(0, 20), counts, 1, max_steps).to_elo()) for max_steps in (100, 357)]
    assert found[0] == pytest.approx(found[1], abs=0.3)


@pytest.mark.parametrize("value", [0.0, 0.25, 1 / 3, 0.5, 0.7, 1.0])
def test_deals_that_all_went_alike_have_an_estimate(value: float) -> None:
    """At any length of a test the estimate is within its limits, and these come closer."""
    widths = []
    for deals in (1, 5, 15):
        found = estimate(Sprt(0, 50), DealCounts(counts={value: deals}), 0).to_elo()
        assert found.low < found.elo < found.high
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
