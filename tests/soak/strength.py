"""Simulates leagues and tests of strength whose truth is known, and checks what is said about them.

    python tests/soak/strength.py errors     do 95 % intervals of ratings and seats cover 93 to 97 % in 47 designs?
    python tests/soak/strength.py tests      do sequential tests err as seldom as they say, do estimates hold?
    python tests/soak/strength.py ladder     how soon does a ladder settle the first three places, how often wrongly?
    python tests/soak/strength.py best       how soon is the best of six bots known, how often is it a wrong one?
    python tests/soak/strength.py adaptive   do intervals hold where results choose the matches, and the top rating?
    python tests/soak/strength.py equal      how much is the first of equal bots overrated, which spread do they show?
    python tests/soak/strength.py versions   how much is the best of twenty versions overrated that are all alike?
    python tests/soak/strength.py edits      do intervals hold where versions are edits by programs, as in rounds?
    python tests/soak/strength.py ranks      do the sets of ranks of a league hold, of all bots at once?

Each takes a quarter of an hour; --quick makes a tenth of the simulations. The exit code is 1 if a figure is out of
its range.
"""

import argparse
import sys
from collections import Counter
from itertools import combinations, pairwise, permutations
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np

from warpleague.league.ratings.fit import joint_fit
from warpleague.league.ratings.outcomes import Earlier, Outcomes
from warpleague.league.ratings.posterior import DRIFTS, EDIT_DRIFTS, Posterior, shrunk_fit
from warpleague.league.ratings.ranks import mean_rank_sets, rank_sets
from warpleague.league.ratings.sprt import DealCounts, Sprt, estimate
from warpleague.league.ratings.statistics import SCALE, Mean, expected, t95
from warpleague.league.schedule.formats import format_of
from warpleague.league.season.config import FormatTable, UntilTable
from warpleague.league.season.fixture import Outcome
from warpleague.league.season.season import Season
from warpleague.match.spec import SeatSpec, TimeControl

PAIR_VALUES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])

# Sequential tests


def pair_outcomes(elo: float, luck: float, drawn: float) -> Any:
    """The probabilities of 0, 1/2, 1, 3/2 and 2 points of two matches on one deal, whose luck is shared.

    `luck` is the deviation in Elo of what a deal is worth to the first seat; both matches are drawn with probability
    `drawn` by themselves. The mean is the expected share of `elo`.
    """
    deals = np.linspace(-5, 5, 401)
    weight = np.exp(-deals * deals / 2)
    weight /= weight.sum()

    def at(strength: float) -> Any:
        found = np.zeros(5)
        first = 1 / (1 + np.exp(-(strength + deals * luck / SCALE)))
        second = 1 / (1 + np.exp(-(strength - deals * luck / SCALE)))
        for one, p in ((2, first * (1 - drawn)), (1, drawn + 0 * first), (0, (1 - first) * (1 - drawn))):
            for two, q in (
                (2, second * (1 - drawn)),
                (1, drawn + 0 * second),
                (0, (1 - second) * (1 - drawn)),
            ):
                found[one + two] += (weight * p * q).sum()
        return found

    low, high = -9.0, 9.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) @ PAIR_VALUES < expected(elo) else (low, middle)
    return at((low + high) / 2)


def run_tests(test: Sprt, probabilities: Any, many: int, rng: Any, most: int = 1_000_000) -> Any:
    """Run tests to their ends, looking after each deal: what each decided, and the counts it ended with."""
    below, above = test.bounds
    counts, decided = np.zeros((many, 5)), np.zeros(many, dtype=int)
    going, played, step = np.arange(many), 0, 8
    while going.size and played < most:
        new = rng.multinomial(1, probabilities, size=(going.size, step)).astype(float)
        path = counts[going][:, None, :] + new.cumsum(axis=1)
        ratios = test.ratios(PAIR_VALUES, path)
        hit = (ratios <= below) | (ratios >= above)
        first = np.where(hit.any(axis=1), hit.argmax(axis=1), step - 1)
        rows = np.arange(going.size)
        counts[going] = path[rows, first]
        decided[going] = np.where(hit.any(axis=1), np.where(ratios[rows, first] >= above, 1, -1), 0)
        going = going[~hit.any(axis=1)]
        played += step
        step = 8 if played < 64 else 64
    return decided, counts


def as_deals(counts: Any) -> DealCounts:
    """The counts of one test."""
    return DealCounts(counts=dict(zip(PAIR_VALUES.tolist(), counts.astype(int).tolist(), strict=True)))


def covered(test: Sprt, decided: Any, counts: Any, truth: float) -> float:
    """How many of the corrected intervals contain the truth."""
    inside = 0
    for decision, found in zip(decided, counts, strict=True):
        told = estimate(test, as_deals(found), int(decision)).to_elo()
        inside += (told.low is None or told.low <= truth) and (told.high is None or truth <= told.high)
    return inside / len(decided)


def tests(many: int, seed: int) -> bool:
    """Error rates, deals beside those of a fixed size, and the coverage of estimates, for luck of any strength."""
    rng, fine = np.random.default_rng(seed), True
    slack = 0.01 if many >= 2_000 else 0.03
    print("elo1  luck  draws  truth  accepted  limit  deals  fixed  covered")
    for elo1, luck, drawn in (
        (20, 0, 0.0), (20, 200, 0.3), (20, 800, 0.0), (30, 0, 0.0), (50, 0, 0.3), (50, 200, 0.0), (50, 800, 0.3),
    ):  # fmt: skip
        test = Sprt(0, elo1)
        for truth in (0.0, elo1 / 2, float(elo1), 2.0 * elo1):
            probabilities = pair_outcomes(truth, luck, drawn)
            decided, counts = run_tests(test, probabilities, many, rng)
            accepted, share = (decided > 0).mean(), covered(test, decided, counts, truth)
            limit = {0.0: test.alpha, float(elo1): 1 - test.beta}.get(truth)
            good = 0.93 - (slack - 0.01) <= share <= 0.97 + (slack - 0.01)
            if truth == 0:
                good = good and accepted <= test.alpha + slack
            elif truth == elo1:
                good = good and 1 - accepted <= test.beta + slack
            deals, fixed = counts.sum(axis=1).mean(), fixed_size(test, probabilities)
            good = good and deals < fixed
            fine = fine and good
            print(
                f"{elo1:4}  {luck:4}  {drawn:5}  {truth:5.0f}  {accepted:8.3f}  {'' if limit is None else limit:5}"
                f"  {deals:5.0f}  {fixed:5.0f}  {share:.3f}{'' if good else '  OUT OF RANGE'}",
                flush=True,
            )
    return fine


def fixed_size(test: Sprt, probabilities: Any) -> float:
    """How many deals a test takes that errs as seldom, and whose size is fixed beforehand."""
    mean = probabilities @ PAIR_VALUES
    variance = probabilities @ (PAIR_VALUES - mean) ** 2
    low, high = test.shares(float(np.sqrt(variance)))
    away = NormalDist().inv_cdf(1 - test.alpha) + NormalDist().inv_cdf(1 - test.beta)
    return float(away**2 * variance / (high - low) ** 2)


# Errors of ratings

SPREAD = 50.0  # of the bots of one league, and of the seats, in Elo: one standard deviation
WIDE = (250.0, 400.0)  # the same of bots that differ much


def designs() -> list[tuple[int, int, int, str, float, float, float]]:
    """47 leagues: bots, seats at a table, deals of each table, seat orders, luck in Elo, share of draws, spread.

    39 of them have bots of about the same strength, 8 have bots that differ much.
    """
    found = []
    for bots, deals in ((2, 5), (2, 10), (2, 30), (2, 100), (3, 2), (3, 5), (3, 20), (4, 1), (4, 3), (4, 10)):
        found += [(bots, 2, deals, "rotations", luck, drawn) for luck, drawn in ((0.0, 0.0), (150.0, 0.3))]
    for bots, deals in ((6, 1), (8, 1), (8, 4)):
        found += [(bots, 2, deals, "rotations", luck, 0.0) for luck in (0.0, 300.0)]
    for bots, seats, deals in (
        (3, 3, 8),
        (3, 3, 40),
        (4, 3, 3),
        (4, 3, 12),
        (5, 4, 2),
        (5, 4, 10),
        (6, 3, 1),
    ):
        found.append((bots, seats, deals, "rotations", 150.0, 0.0))
    found += [(3, 3, 8, "all", 0.0, 0.0), (4, 2, 3, "fixed", 0.0, 0.2), (4, 2, 12, "fixed", 0.0, 0.0)]
    found += [(5, 3, 4, "fixed", 0.0, 0.0), (6, 2, 2, "fixed", 0.0, 0.0), (8, 2, 1, "rotations", 0.0, 0.5)]
    assert len(found) == 39
    wide = [
        (8, 2, 4, "rotations", 0.0, 0.0),
        (8, 2, 10, "rotations", 150.0, 0.0),
        (6, 2, 10, "rotations", 0.0, 0.0),
    ]
    wide += [(5, 4, 10, "rotations", 150.0, 0.0)]
    return [(*one, SPREAD) for one in found] + [(*one, spread) for spread in WIDE for one in wide]


def orders_of(design: Any) -> list[list[tuple[int, ...]]]:
    """The seat orders of each deal of this design."""
    bots, seats, deals, kind, *_ = design
    found = []
    for round_ in range(deals):
        for table in combinations(range(bots), seats):
            turned = table[round_ % seats :] + table[: round_ % seats]
            found.append(
                list(permutations(turned)) if kind == "all"
                else [turned[i:] + turned[:i] for i in range(seats)] if kind == "rotations" else [turned]
            )  # fmt: skip
    return found


def league(design: Any, truth: Any, seat_worth: Any, rng: Any) -> tuple[Outcomes, Mean]:
    """Play a league of this design: its outcomes, and the share of the first seat."""
    _, seats, _, _, luck, drawn, _ = design
    outcomes, share = Outcomes(), Mean()
    for group, orders in enumerate(orders_of(design)):
        worth = seat_worth + (rng.normal(0, luck, seats) if luck else 0.0)
        for order in orders:
            if rng.random() < drawn:
                ranks = (1,) * seats
            else:
                level = (truth[list(order)] + worth) / SCALE + rng.gumbel(size=seats)
                ranks = tuple(int((level > own).sum()) + 1 for own in level)
            outcomes.add(group, order, ranks)
            points = sum(0.5 * (r == ranks[0]) + (r > ranks[0]) for r in ranks) - 0.5
            share.add(points / (seats - 1), group)
    return outcomes, share


def endless(design: Any, truth: Any, seat_worth: Any) -> tuple[Any, float]:
    """What endless leagues of this design would give: the fitted ratings, and the share of the first seat."""
    bots, seats, _, _, luck, drawn, _ = design
    met = Counter(
        (order[s], order[t], s, t)
        for orders in orders_of(design)
        for order in orders
        for s, t in permutations(range(seats), 2)
    )
    one, two, s, t = np.array(list(met)).T
    times = np.array(list(met.values()), dtype=float)
    part = np.linspace(-5, 5, 101)
    weight = np.exp(-part * part / 2)
    away = (truth[one] - truth[two] + seat_worth[s] - seat_worth[t])[:, None] + part * luck * np.sqrt(2)
    points = drawn / 2 + (1 - drawn) * (weight / (1 + np.exp(-away / SCALE))).sum(axis=1) / weight.sum()
    games, won = np.zeros((bots, bots)), np.zeros((bots, bots))
    np.add.at(games, (one, two), times)
    np.add.at(won, (one, two), times * points)
    found = np.array(truth, dtype=float)
    for _ in range(50):
        told = games / (1 + np.exp((found[None, :] - found[:, None]) / SCALE))
        curve = told * (1 - told / np.maximum(games, 1e-9))
        step = np.linalg.solve(np.diag(curve.sum(axis=1)) - curve + 1.0, (won - told).sum(axis=1)) * SCALE
        found += step
        if np.abs(step).max() < 1e-9:
            break
    first = s == 0
    return found, float((times * points)[first].sum() / times[first].sum())


def errors(many: int, seed: int) -> bool:
    """The coverage of the intervals of differences between bots, and of the shares of seats.

    Each league has bots and seats of its own, whose strengths are drawn. With fixed ones the coverage of a short
    league would be nearly a matter of chance: five deals of two bots have 21 outcomes, and it jumps by up to five
    points in a hundred where one of these gets into the interval or falls out of it. One standard error of the
    simulation is let pass; small leagues, which vary most, are played four times as often.
    """
    rng, fine = np.random.default_rng(seed), True
    print("bots  seats  deals  orders     luck  draws  spread  without  differences  seats")
    for design in designs():
        bots, seats, _, kind, luck, drawn, spread = design
        inside = told = within = noted = missing = 0
        leagues = 4 * many if bots < 4 else many
        slack = float(np.sqrt(0.05 * 0.95 / leagues))
        for _ in range(leagues):
            truth = rng.normal(0, spread, bots)
            # Where each deal has one seat order only, seats are not balanced within it.
            seat_worth = rng.normal(0, SPREAD, seats) if kind != "fixed" else np.zeros(seats)
            target, first = endless(design, truth, seat_worth)
            outcomes, seat = league(design, truth, seat_worth, rng)
            fit = joint_fit(outcomes, bots)
            for a, b in combinations(range(bots), 2):
                variance = fit.covariance[a, a] + fit.covariance[b, b] - 2 * fit.covariance[a, b]
                if fit.tiers[a] != fit.tiers[b] or variance < 1e-6:
                    missing += 1
                    continue
                freedom = fit.freedom_of(a, b)
                off = fit.ratings[a] - fit.ratings[b] - target[a] + target[b]
                inside += abs(off) <= t95(freedom) * np.sqrt(variance)
                told += 1
            if seat.half is not None and kind != "fixed":
                within += abs(seat.mean - first) <= seat.half
                noted += 1
        share, of_seat = inside / max(told, 1), within / noted if noted else 0.95
        good = all(0.93 - slack <= found <= 0.97 + slack for found in (share, of_seat))
        fine = fine and good
        print(
            f"{bots:4}  {seats:5}  {design[2]:5}  {kind:9}  {luck:4.0f}  {drawn:5}  {spread:6.0f}"
            f"  {missing / (missing + told):7.3f}  {share:11.3f}  {f'{of_seat:.3f}' if noted else ''}"
            f"{'' if good else '  OUT OF RANGE'}",
            flush=True,
        )
    return fine


# Ladders


def season(bots: int = 20, players: int = 2, salt: int = 0, **form: Any) -> Season:
    """A season of so many bots, whose names and secret follow from `salt`."""
    return Season(
        game="aliens" if players == 2 else "captains",
        rules=1,
        options={},
        players=players,
        format=FormatTable(**form),
        clock=TimeControl(move_s=1.0),
        level="limits",
        faults="forfeit",
        strikes=0,
        secret=salt.to_bytes(32, "big"),
        bots=tuple(SeatSpec(bot=f"bot{i:02} {salt}", digest=f"digest {i}") for i in range(bots)),
    )


UNTIL = UntilTable(confidence=0.95, top=3)


def settle(season: Season, truth: Any, luck: float, most: int, rng: Any) -> tuple[int, list[int] | None]:
    """Play until the first places are settled: how many matches that took, and who these are (None: not settled)."""
    bots, until = len(season.bots), season.format.until
    assert until is not None
    outcomes = Outcomes()
    for group, ranks in played(season, truth, luck, most, rng):
        outcomes.add_deal(list(zip(group.seats, ranks, strict=True)))
    told, known = outcomes.matches, Posterior.of(outcomes, bots)
    return told, known.order(range(bots))[: until.top] if told < most else None


def played(season: Season, truth: Any, luck: float, most: int, rng: Any) -> Any:
    """The deals of a season in schedule order, each with the ranks of its matches, until it or `most` ends them."""
    going = format_of(season).batches()
    ahead, told = format_of(season).ahead or 0, 0
    waiting = [list(next(going))]
    while told < most:
        outcomes = []
        if len(waiting) > ahead:
            for group in waiting.pop(0):
                worth = rng.normal(0, luck, season.players) if luck else np.zeros(season.players)
                found = []
                for seats in group.seats:
                    level = (truth[list(seats)] + worth) / SCALE + rng.gumbel(size=len(seats))
                    found.append(tuple(int((level > own).sum()) + 1 for own in level))
                results = [
                    SimpleNamespace(
                        ranks=ranks,
                        scores=tuple(-r for r in ranks),
                        faults=((),) * len(ranks),
                        times=(SimpleNamespace(wall_ms=0.0),) * len(ranks),
                        elapsed_s=0.0,
                    )
                    for ranks in found
                ]
                outcomes.append(Outcome(group, tuple(results)))  # type: ignore[arg-type]
                told += len(found)
                yield group, found
        try:
            waiting.append(list(going.send(outcomes)))
        except StopIteration:
            return


# Adaptive formats


ADAPTIVE: tuple[tuple[str, dict[str, Any], int, int], ...] = (
    ("ladder", {"kind": "ladder"}, 2, 600),
    ("ladder", {"kind": "ladder"}, 2, 2_000),
    ("ladder", {"kind": "ladder"}, 3, 600),
    ("ladder until", {"kind": "ladder", "until": UntilTable(top=1)}, 2, 2_000),
    ("swiss", {"kind": "swiss", "rounds": 7, "deals": 3}, 2, 1_000_000),
    ("round-robin until", {"deals": 10_000, "until": UntilTable(top=1)}, 2, 2_000),
    ("knockout", {"kind": "knockout", "deals": 10}, 2, 1_000_000),
)
"""Formats whose results choose the matches, or when to stop; seats at a table, and matches at most."""


def adaptive(many: int, seed: int) -> bool:
    """Where results choose the matches: the coverage of intervals, the bias of the top bot, and the order found.

    Ten bots, whose strengths are drawn with a spread in Elo. Intervals of ten equal bots (0) cover more: shrinking is
    right for them. `bias` is how much the bot that is rated highest is overrated, and its standard error.
    """
    fine = True
    print(
        "format          seats  spread  matches  own    differences  bias     pairs in order  top found"
        "  LOS 95 wrong"
    )
    for name, form, players, matches in ADAPTIVE:
        for spread in (0, 40, 150, 250, 400):
            own, apart, bias, right, top, lengths, sure, wrong = [], [], [], [], [], [], 0, 0
            for number in range(many):
                rng = np.random.default_rng([seed, spread, matches, players, number])
                truth = rng.normal(0, spread, 10) if spread else np.zeros(10)
                truth -= truth.mean()
                outcomes = Outcomes()
                deals = played(season(10, players, number, **form), truth, 0.0, matches, rng)
                for group, ranks in deals:
                    outcomes.add_deal(list(zip(group.seats, ranks, strict=True)))
                lengths.append(outcomes.matches)
                fit = shrunk_fit(outcomes, 10)
                rated, error = np.array(fit.ratings) - 1500.0, np.array(fit.errors)
                own += (np.abs(rated - truth) <= t95(10_000) * error + 1e-9).tolist()
                for a, b in combinations(range(10), 2):
                    variance = fit.covariance[a, a] + fit.covariance[b, b] - 2 * fit.covariance[a, b]
                    off = rated[a] - rated[b] - truth[a] + truth[b]
                    apart.append(abs(off) <= t95(10_000) * np.sqrt(variance) + 1e-9)
                    right.append((rated[a] > rated[b]) == (truth[a] > truth[b]))
                best, second = np.argsort(-rated)[:2]
                bias.append(rated[best] - truth[best])
                top.append(best == truth.argmax())
                if fit.superiority(best, second) >= 0.95:
                    sure, wrong = sure + 1, wrong + (truth[best] < truth[second])
            slack = 2 * np.sqrt(0.05 * 0.95 / (many * 10))
            good = np.mean(own) >= 0.92 - slack and (not spread or np.mean(own) <= 0.97 + slack)
            good = good and abs(np.mean(bias)) <= 15 + 2 * np.std(bias) / np.sqrt(many)
            fine = fine and good
            print(
                f"{name:17} {players:2}  {spread:6}  {np.mean(lengths):7,.0f}  {np.mean(own):.3f}"
                f"  {np.mean(apart):11.3f}  {np.mean(bias):+4.0f} ±{np.std(bias) / np.sqrt(many):2.0f}"
                f"  {np.mean(right):14.3f}  {np.mean(top):9.2f}"
                f"  {wrong} of {sure}"
                f"{'' if good else '  OUT OF RANGE'}",
                flush=True,
            )
    return fine


EQUAL: tuple[tuple[str, int, dict[str, Any], int, float], ...] = (
    ("ladder", 10, {"kind": "ladder"}, 200, 35),
    ("ladder", 10, {"kind": "ladder"}, 600, 20),
    ("swiss", 12, {"kind": "swiss", "rounds": 5, "deals": 1}, 1_000_000, 100),
    ("swiss", 10, {"kind": "swiss", "rounds": 7, "deals": 3}, 1_000_000, 40),
    ("knockout", 8, {"kind": "knockout", "deals": 2}, 1_000_000, 120),
    ("knockout", 16, {"kind": "knockout", "deals": 5}, 1_000_000, 60),
    ("double elimination", 16, {"kind": "double-elimination", "deals": 5}, 1_000_000, 50),
)
"""Formats of equal bots: their number, matches at most, and how much the first may be overrated, in Elo."""


def equal(many: int, seed: int) -> bool:
    """Equal bots: how much the first is overrated, and the spread they seem to have, whose interval is to reach 0."""
    fine = True
    print("format              bots  matches  first overrated  shown spread  interval    reaches 0  own")
    for name, bots, form, most, limit in EQUAL:
        first, shown, own, lengths = [], [], [], []
        for number in range(many):
            rng, outcomes = np.random.default_rng([seed, bots, most, number]), Outcomes()
            for group, places in played(season(bots, 2, number, **form), np.zeros(bots), 0.0, most, rng):
                outcomes.add_deal(list(zip(group.seats, places, strict=True)))
            fit = shrunk_fit(outcomes, bots)
            off = np.array(fit.ratings) - 1500.0
            first.append(off.max())
            own += (np.abs(off) <= t95(10_000) * np.array(fit.errors)).tolist()
            low, high = fit.spread_interval or (0.0, 0.0)
            shown.append((fit.spread or 0.0, low, high, float(low == 0)))
            lengths.append(outcomes.matches)
        spread, low, high, reaches = np.mean(shown, axis=0)
        good = bool(np.mean(first) <= limit and np.mean(own) >= 0.95)
        fine = fine and good
        print(
            f"{name:18}  {bots:4}  {np.mean(lengths):7,.0f}  {np.mean(first):+8.0f}"
            f" ±{np.std(first) / np.sqrt(many):3.0f}  {spread:15.0f}  {low:3.0f} to {high:3.0f}"
            f"  {reaches:9.2f}  {np.mean(own):.3f}"
            f"{'' if good else '  OUT OF RANGE'}",
            flush=True,
        )
    return fine


# Sets of ranks

RANKED = (
    *((4, 2, 3, 100.0), (4, 2, 20, 100.0), (8, 2, 4, 100.0), (8, 2, 20, 100.0), (12, 2, 4, 100.0)),
    *((6, 3, 4, 100.0), (5, 4, 8, 100.0), (6, 5, 5, 100.0), (7, 6, 4, 100.0)),
    *((4, 2, 3, 400.0), (8, 2, 5, 400.0), (5, 4, 3, 400.0)),
)
"""Leagues: bots, seats at a table, deals of each table, spread of the bots in Elo."""


def strengths(kind: str, bots: int, spread: float, rng: Any) -> Any:
    """The strengths of bots that are equal, that are pairs of clones, or that all differ."""
    if kind == "equal":
        return np.zeros(bots)
    drawn = rng.normal(0, spread, bots)
    return np.repeat(drawn, 2)[:bots] if kind == "clones" else drawn


def all_hold(sets: Any, truth: Any) -> bool:
    """Whether the set of each bot has its true ranks: those of equal bots are all that they share."""
    return all(
        first <= 1 + (truth > own).sum() and (truth >= own).sum() <= last
        for (first, last), own in zip(sets, truth, strict=True)
    )


def rank_fit(outcomes: Outcomes, bots: int, adaptive: bool) -> Any:
    """The fit of a league file without a model of its own."""
    if adaptive:
        return shrunk_fit(outcomes, bots)
    fit = joint_fit(outcomes, bots)
    # Only bots without a finite difference need the shrunk ratings, which take long.
    return attrs.evolve(fit, shrunk=shrunk_fit(outcomes, bots)) if any(fit.guessed) else fit


def ranks(many: int, seed: int) -> bool:
    """In how many leagues all sets of ranks hold: 95 % at least; and how many ranks they have on average."""
    fine = True
    print("format      bots  seats  matches  spread  strengths   all hold  ranks")

    def told(name: str, seats: int, matches: int, spread: float, kind: str, found: Any) -> bool:
        share, sizes = float(np.mean([one for one, _ in found])), np.mean([size for _, size in found])
        good = share >= 0.95 - 2 * float(np.sqrt(0.05 * 0.95 / len(found)))
        print(
            f"{name:10}  {bots:4}  {seats:5}  {matches:7,}  {spread:6.0f}  {kind:10}  {share:8.3f}  {sizes:5.1f}"
            f"{'' if good else '  OUT OF RANGE'}",
            flush=True,
        )
        return good

    def held(ranked: Any, truth: Any) -> tuple[bool, float]:
        sizes = [last - first + 1 for first, last in ranked.sets]
        return all_hold(ranked.sets, truth), float(np.mean(sizes))

    for kind in ("equal", "clones", "all differ"):
        for bots, seats, deals, spread in RANKED:
            design, found = (bots, seats, deals, "rotations", 150.0, 0.0, spread), []
            rng = np.random.default_rng([seed, *design[:3]])
            for _ in range(many):
                truth = strengths(kind, bots, spread, rng)
                outcomes, _ = league(design, truth, np.zeros(seats), rng)
                found.append(held(rank_sets(rank_fit(outcomes, bots, adaptive=False), range(bots)), truth))
            fine = told("all meet", seats, outcomes.matches, spread, kind, found) and fine
        bots = 6
        for deals in (15, 30, 200):
            rng, found = np.random.default_rng([seed, deals]), []
            for _ in range(many):
                truth = strengths(kind, bots, 1.0, rng)
                scores = truth + rng.exponential(2.0, (deals, 1)) + rng.exponential(1.0, (deals, bots))
                owners, clusters = np.indices((bots, deals))[0].T.ravel(), np.arange(deals).repeat(bots)
                means = mean_rank_sets(scores.reshape(-1, 1), owners[:, None], clusters, bots, range(bots))
                found.append(held(means, truth))
            fine = told("scores", 1, deals * bots, 1.0, kind, found) and fine
        bots = 10
        for name, form, seats, matches in ADAPTIVE:
            found = []
            for number in range(many // 10):
                rng = np.random.default_rng([seed, seats, matches, number])
                truth, outcomes = strengths(kind, bots, 150.0, rng), Outcomes()
                for group, places in played(season(bots, seats, number, **form), truth, 0.0, matches, rng):
                    outcomes.add_deal(list(zip(group.seats, places, strict=True)))
                found.append(held(rank_sets(rank_fit(outcomes, bots, adaptive=True), range(bots)), truth))
            fine = told(name[:10], seats, outcomes.matches, 150.0, kind, found) and fine
    return fine


def versions(many: int, seed: int) -> bool:
    """Nine bots that are well known, and twenty versions of a tenth that are all alike, with 24 matches each.

    How much is the best version overrated: with versions that are linked, without, and if it plays once more.
    """
    print("spread  not linked  linked  and 24 fresh deals  and 100 fresh deals")
    worst = 0.0
    for spread in (0, 40, 100, 250):
        gains = []
        for number in range(many):
            rng = np.random.default_rng([seed, spread, number])
            truth = np.append(rng.normal(0, spread, 9) if spread else np.zeros(9), np.zeros(20))
            outcomes = Outcomes()

            def play(one: int, two: int) -> None:
                won = rng.random() < expected(truth[one] - truth[two])  # noqa: B023 - called in this turn of the loop
                outcomes.add_deal([((one, two), (1, 2) if won else (2, 1))])  # noqa: B023

            for pair in [*combinations(range(9), 2)] * 40:
                play(*pair)
            for version in [*range(9, 29)] * 24:
                play(int(rng.integers(9)), version)
            linked = Earlier(links=tuple(pairwise(range(9, 29))))

            def off(earlier: Earlier | None) -> Any:
                rated = np.array(shrunk_fit(outcomes, 29, earlier=earlier).ratings) - truth  # noqa: B023
                return rated[9:] - rated[:9].mean()

            found = [off(None).max(), off(linked).max()]
            best = int(off(linked).argmax())
            for more in (24, 76):
                for _ in range(more):
                    play(int(rng.integers(9)), 9 + best)
                found.append(off(linked)[best])
            gains.append(found)
        means = np.mean(gains, axis=0)
        worst = max(worst, means[-1])
        print(
            f"{spread:6}  {means[0]:10.0f}  {means[1]:6.0f}  {means[2]:18.0f}  {means[3]:19.0f}", flush=True
        )
    return bool(worst < 20)


def edits(many: int, seed: int) -> bool:
    """Five rounds of three authors and an anchor, with edits of several sizes: do the intervals hold?

    `kept` is the part of an edit's true effect that its rating shows; with the drifts of a ladder beside it.
    """
    print("deals  edits of                 coverage  kept  with a ladder's drifts: coverage  kept")
    fine, chains = True, [range(first, first + 6) for first in (0, 6, 12)]
    links = Earlier(links=tuple(pair for chain in chains for pair in pairwise(chain)))
    anchor = 18
    for deals, size, often in ((5, 30, 1.0), (5, 150, 1.0), (40, 30, 1.0), (40, 150, 1.0), (40, 300, 0.3)):
        inside, shown = Counter[str](), dict.fromkeys(("rounds", "ladder", "truth"), 0.0)
        for number in range(many // 4):
            rng = np.random.default_rng([seed, deals, size, number])
            truth = np.zeros(19)
            for chain in chains:
                steps = rng.normal(0, size, 5) if often == 1 else size * (rng.random(5) < often)
                truth[list(chain)] = np.cumsum([rng.normal(0, 150), *steps])
            outcomes = Outcomes()
            for round_ in range(1, 6):
                field = [chain[round_ - back] for chain in chains for back in (0, 1)]
                for one, two in combinations([*field, anchor], 2):
                    for won in rng.random((deals, 2)) < expected(truth[one] - truth[two]):
                        outcomes.add_deal([((one, two), (1, 2) if first else (2, 1)) for first in won])
            for name, drifts in (("rounds", EDIT_DRIFTS), ("ladder", DRIFTS)):
                fit = shrunk_fit(outcomes, 19, anchor=anchor, earlier=links, drifts=drifts)
                rated = np.array(fit.ratings[:anchor], dtype=float) - 1500
                halves = np.array([fit.half(bot) for bot in range(anchor)], dtype=float)
                inside[name] += int((np.abs(rated - truth[:anchor]) <= halves).sum())
                one, two = np.array(links.links).T
                shown[name] += float((rated[two] - rated[one]) @ (truth[two] - truth[one]))
                shown["truth"] += float(((truth[two] - truth[one]) ** 2).sum()) / 2
        held = {name: inside[name] / (anchor * (many // 4)) for name in ("rounds", "ladder")}
        kept = {name: shown[name] / shown["truth"] for name in ("rounds", "ladder")}
        fine = fine and (0.92 if many >= 200 else 0.85) <= held["rounds"] <= 0.99
        kind = f"{size} Elo" if often == 1 else f"{size} Elo, {often:.0%} of them"
        print(
            f"{deals:5}  {kind:23}  {held['rounds']:8.3f}  {kept['rounds']:4.2f}  {held['ladder']:32.3f}"
            f"  {kept['ladder']:4.2f}",
            flush=True,
        )
    return fine


def ladder(many: int, seed: int) -> bool:
    """A ladder against a round-robin: matches until the first three of 20 bots are settled, and wrong orders."""
    fine, most = True, 40_000
    print("strengths         luck  format       matches (median)  not settled  wrong order")
    for told, luck in (("30 Elo apart", 0.0), ("30 Elo apart", 200.0), ("drawn, 200 Elo", 0.0)):
        medians = []
        forms: tuple[dict[str, Any], ...] = ({"kind": "ladder"}, {"deals": 10_000})
        for form in forms:
            rng = np.random.default_rng(seed)
            needed, wrong, open_ = [], 0, 0
            for _ in range(many):
                truth = -30.0 * rng.permutation(20) if told.startswith("30") else rng.normal(0, 200, 20)
                matches, found = settle(season(until=UNTIL, **form), truth, luck, most, rng)
                needed.append(matches)
                open_ += found is None
                wrong += found is not None and found != np.argsort(-truth)[:3].tolist()
            medians.append(float(np.median(needed)))
            good = wrong <= many * 0.05 + 2 * np.sqrt(many * 0.05 * 0.95)
            fine = fine and good
            print(
                f"{told:16}  {luck:4.0f}  {form.get('kind', 'round-robin'):11}  {medians[-1]:16,.0f}  {open_:11}  "
                f"{wrong:4} of {many}{'' if good else '  OUT OF RANGE'}",
                flush=True,
            )
        fine = fine and medians[0] < medians[1]
    return fine


def best(many: int, seed: int) -> bool:
    """`league best` among six bots: how often it names one that is not the best, nor within what counts as equal."""
    fine, most = True, 2_000
    print("strengths         luck  within  matches (median)  round-robin  not settled  wrong")
    for told, luck, within in (
        ("10 Elo apart", 0.0, 0.0),
        ("10 Elo apart", 200.0, 0.0),
        ("30 Elo apart", 0.0, 0.0),
        ("drawn, 50 Elo", 0.0, 0.0),
        ("drawn, 50 Elo", 0.0, 20.0),
        ("all equal", 0.0, 20.0),
    ):
        until = UntilTable(confidence=0.95, top=1, within=within)
        rng = np.random.default_rng(seed)
        needed, others, wrong, open_ = [], [], 0, 0
        for run in range(many):
            apart = float(told[:2]) if told.endswith("apart") else 0.0
            truth = rng.normal(0, 50, 6) if told.startswith("drawn") else -apart * rng.permutation(6)
            matches, found = settle(season(6, salt=run, kind="ladder", until=until), truth, luck, most, rng)
            needed.append(matches)
            open_ += found is None
            wrong += found is not None and truth[found[0]] < truth.max() - within
            if run < many // 5:
                others.append(settle(season(6, deals=10_000, until=until), truth, luck, 2 * most, rng)[0])
        good = wrong <= many * 0.05 + 2 * np.sqrt(many * 0.05 * 0.95)
        fine = fine and good
        print(
            f"{told:16}  {luck:4.0f}  {within:6.0f}  {np.median(needed):16,.0f}  {np.median(others):11,.0f}  "
            f"{open_:11}  {wrong:4} of {many}{'' if good else '  OUT OF RANGE'}",
            flush=True,
        )
    return fine


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what",
        choices=["errors", "tests", "ladder", "best", "adaptive", "equal", "versions", "edits", "ranks"],
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    simulate, many = {
        "tests": (tests, 2_000),
        "errors": (errors, 1_000),
        "ladder": (ladder, 200),
        "best": (best, 200),
        "adaptive": (adaptive, 200),
        "equal": (equal, 200),
        "versions": (versions, 200),
        "edits": (edits, 200),
        "ranks": (ranks, 1_000),
    }[args.what]
    fine = simulate(many // 10 if args.quick else many, args.seed)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
