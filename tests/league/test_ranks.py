"""Ranks as sets, and ratings apart from faults: against known values, in simulated leagues, and in the tables."""

import io
import json
import re
from typing import Any

import attrs
import numpy as np
import pytest
from rich.console import Console
from tests.league.conftest import Cup

from warpleague.league.play.organising import disqualify
from warpleague.league.ratings.fit import Fit, joint_fit
from warpleague.league.ratings.outcomes import Outcomes
from warpleague.league.ratings.posterior import fitted, shrunk_fit
from warpleague.league.ratings.ranks import mean_rank_sets, rank_sets
from warpleague.league.results.standings import standings
from warpleague.league.results.status import status
from warpleague.league.season.config import load_config
from warpleague.match.spec import MatchResult, MatchSpec, SeatFault, SeatTimes
from warpleague.report.terminal.tables import standings_json, standings_table
from warpleague.report.wording.league_words import league_sentence


def known(*ratings: float | None, error: float = 20.0, freedom: int = 100_000, tiers: Any = None) -> Fit:
    """Independent ratings that are equally sure."""
    bots = len(ratings)
    none = (None,) * bots
    islands = tuple(None if rating is None else 0 for rating in ratings)
    covariance = np.diag([0.0 if rating is None else error * error for rating in ratings])
    errors = tuple(None if rating is None else error for rating in ratings)
    return Fit(ratings, errors, none, none, tiers or islands, islands, covariance, (freedom,) * bots)


def test_sets_of_bots_that_are_apart_and_of_bots_that_are_not() -> None:
    """Who is surely stronger or weaker bounds a rank; bots that are not told apart share theirs."""
    assert rank_sets(known(1800.0, 1500.0, 1510.0, 1200.0), range(4)).sets == ((1, 1), (2, 3), (2, 3), (4, 4))
    assert rank_sets(known(1500.0, 1500.0, 1500.0), range(3)).sets == ((1, 3),) * 3


def test_the_difference_that_is_told_is_tukeys() -> None:
    """Of ten equally sure bots it is one error times 4.474, the studentized range's (Harter 1960)."""
    sets = rank_sets(known(*[1500.0] * 10), range(10))
    assert sets.difference is not None
    assert sets.difference == pytest.approx(4.474 * 20.0, rel=0.02)
    assert sets.more == 3.0
    assert sets == rank_sets(known(*[1500.0] * 10), range(10))
    # With few degrees of freedom and with many bots it grows; more than a hundred are bounded without simulation.
    few, hundred, more = (known(*[1500.0] * n, freedom=f) for n, f in ((10, 10), (100, 10**5), (101, 10**5)))
    simulated, bounded = rank_sets(hundred, range(100)).difference, rank_sets(more, range(101)).difference
    assert rank_sets(few, range(10)).difference > 1.2 * sets.difference
    assert simulated < bounded < 1.06 * simulated


def test_differences_beyond_all_bots_say_how_many_matches_are_missing() -> None:
    """Nobody differs by more than 800 Elo; errors shrink with the root of the matches, and few grow sure sooner."""
    assert rank_sets(known(1500.0, 1500.0, error=200.0), range(2)).least is None
    many, few = (rank_sets(known(1500.0, 1500.0, error=1000.0, freedom=n), range(2)) for n in (10**5, 5))
    assert many.least == pytest.approx((many.difference / 800) ** 2 - 1, rel=0.1)
    assert many.least < few.least < (few.difference / 800) ** 2 - 1


def test_a_tiny_season_says_so_in_words(cup: Cup) -> None:
    """Instead of thousands of Elo; the numbers of `--json` stay."""
    path = cup.file("alice", "bert", "carl", deals=1)
    cup.play(path, play=crashing)
    with cup.read(path) as league:
        text, told = said(league), standings_json(league)
    assert told["tells_apart"] > 800
    assert re.search(r"too few matches to tell most bots apart: at least \d+ more are needed\.", text)
    assert "cannot tell bots apart" not in text


def test_who_is_surely_weaker_leaves_the_test() -> None:
    """Steps of Romano and Wolf: 90 Elo are too few among ten equals, and enough if most are known to be apart."""
    equal = rank_sets(known(1592.0, *[1502.0] * 9, error=20.3), range(10))
    assert equal.sets[0] == (1, 10)
    apart = rank_sets(known(1592.0, 1502.0, *[1300.0 - 200 * i for i in range(8)], error=20.3), range(10))
    assert apart.sets[:3] == ((1, 1), (2, 2), (3, 3))


def test_what_is_not_known_makes_sets_wide() -> None:
    """Bots without matches, errors or a way to compare them may have any rank; those left out have none."""
    sets = rank_sets(known(1800.0, 1500.0, None), range(3))
    assert (sets.sets, sets.difference is not None) == (((1, 2), (2, 3), (1, 3)), True)
    assert rank_sets(known(1800.0, 1500.0, error=0.0), [1, 0]).sets == ((1, 2), (1, 2))
    assert rank_sets(known(1800.0, 1500.0, 1200.0), [0, 2]).sets == ((1, 1), None, (2, 2))
    assert rank_sets(known(1500.0), [0]).sets == ((1, 1),)
    islands = attrs.evolve(known(1800.0, 1500.0), tiers=(0, 1), islands=(0, 1))
    assert rank_sets(islands, range(2)) == rank_sets(known(None, None), range(2))


def swept(deals: int) -> Any:
    """Two equal bots, and one that won every match against both, as leagues rate them."""
    outcomes = Outcomes()
    for deal in range(deals):
        for one, two in ((0, 1), (0, 2)):
            outcomes.add_deal([((one, two), (1, 2)), ((two, one), (2, 1))])
        outcomes.add_deal(
            [((1, 2), (1, 2) if deal % 2 else (2, 1)), ((2, 1), (1, 2) if deal % 3 else (2, 1))]
        )
    return rank_sets(attrs.evolve(joint_fit(outcomes, 3), shrunk=shrunk_fit(outcomes, 3)), range(3)).sets


def test_a_bot_that_won_everything_is_first_after_enough_deals() -> None:
    """It has no finite rating: one deal against each says nothing, fifty do."""
    assert swept(1) == ((1, 3),) * 3
    assert swept(50) == ((1, 1), (2, 3), (2, 3))


@pytest.mark.parametrize(("bots", "seats", "deals"), [(4, 2, 10), (4, 3, 8), (6, 6, 20)])
@pytest.mark.parametrize("clones", [False, True], ids=["equal", "clones"])
def test_all_sets_hold_at_once(bots: int, seats: int, deals: int, clones: bool) -> None:
    """In short, what `tests/soak/strength.py ranks` simulates: equal bots, and pairs of clones 150 Elo apart."""
    rng, leagues, held = np.random.default_rng(1), 100, 0
    truth = np.repeat(np.arange(bots // 2) * 150.0, 2) if clones else np.zeros(bots)
    for _ in range(leagues):
        outcomes = Outcomes()
        for _ in range(deals * bots // seats):
            table, worth = rng.permutation(bots)[:seats], rng.normal(0, 150, seats)
            matches = []
            for turn in range(seats):
                order = np.roll(table, turn)
                level = (truth[order] + worth) / 173.7 + rng.gumbel(size=seats)
                matches.append((tuple(order.tolist()), tuple((np.argsort(np.argsort(-level)) + 1).tolist())))
            outcomes.add_deal(matches)
        sets = rank_sets(joint_fit(outcomes, bots), range(bots)).sets
        held += all(
            one is not None and one[0] <= 1 + (truth > own).sum() and (truth >= own).sum() <= one[1]
            for one, own in zip(sets, truth, strict=True)
        )
    assert held >= 90


# In the tables


def crashing(spec: MatchSpec) -> MatchResult:
    """Earlier letters are stronger: a wins 8 of 10 from b and c, b half of those from c; but a often crashes."""
    names, luck = [seat.bot[0] for seat in spec.seats], int(spec.id[:8], 16)
    first = luck % 10 < {"ab": 8, "ba": 2, "ac": 8, "ca": 2}.get("".join(names), 5)
    crashed = "a" in names and "crash" in spec.seats[names.index("a")].bot and luck // 10 % 10 < 4
    if crashed:
        first = names[0] != "a"
    fault = SeatFault("crash", 3, retired=True, message="gone")
    faults = tuple((fault,) if crashed and name == "a" else () for name in names)
    times = (SeatTimes(1, 1.0, 1.0, 0.0, 1.0),) * 2
    ranks = (1, 2) if first else (2, 1)
    return MatchResult(spec.id, ranks, (1.0, 0.0), "completed", "d", faults, times, b"{}\n", 1)


def said(league: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=400).print(standings_table(standings(league), "cup", 100))
    return out.getvalue()


def test_the_table_and_json_have_the_sets(cup: Cup) -> None:
    """A column of ranks, what they mean, how small differences the season tells, and numbers in `--json`."""
    path = cup.file("alice", "bert", "carl", deals=100)
    cup.play(path, play=crashing)
    with cup.read(path) as league:
        text, lines = said(league), standings_json(league)["standings"]
    assert [line["rank_set"] for line in lines] == [[1, 1], [2, 3], [2, 3]]
    heads = next(row for row in text.splitlines() if "ranks" in row)
    assert heads.split()[:3] == ["#", "ranks", "bot"]
    assert text.count(" 2-3 ") == 2
    assert "count as tied" in text
    assert "cannot tell bots apart that differ by less than about" in text
    assert "about 1,800 more matches would halve that." in text
    disqualify(load_config(path), cup.results, "alice", "a copy", "stay")
    with cup.read(path) as league:
        assert [line.get("rank_set") for line in standings_json(league)["standings"]] == [
            [1, 2],
            [1, 2],
            None,
        ]


@pytest.mark.parametrize(
    ("bots", "told"),
    [
        (("alice", "bert", "carl"), "alice won it, "),
        (("bert", "bess", "carl"), " came first, "),
    ],
)
def test_who_came_first_among_equals_did_not_win(cup: Cup, bots: tuple[str, ...], told: str) -> None:
    """The sentence about a league says "won it" only of a bot that is surely the strongest."""
    path = cup.file(*bots, deals=100)
    cup.play(path, play=crashing)
    with cup.read(path) as league:
        sentence = league_sentence(league, "Coasters", status(league), standings(league))
    assert told in sentence
    assert ("by strength it may have any rank from 1 to 3." in sentence) == ("came first" in told)


def scoring(spec: MatchSpec) -> MatchResult:
    """Luck that all bots share on a deal, and ten points more for alice."""
    deal, own = 20.0 * (spec.key[0] % 9), int(spec.id[:4], 16) % 3
    ten = 10.0 * (spec.seats[0].bot == "alice")
    times = (SeatTimes(1, 1.0, 1.0, 0.0, 1.0),)
    return MatchResult(spec.id, (1,), (deal + own + ten,), "completed", "d", ((),), times, b"{}\n", 1)


def test_in_solo_leagues_scores_rank(cup: Cup) -> None:
    """The sets are by mean scores; luck that all bots share does not count, however large."""
    path = cup.file("alice", "bert", "carl", game='id = "captains"\nplayers = 1', deals=30)
    cup.play(path, play=scoring)
    with cup.read(path) as league:
        lines, text = standings_json(league)["standings"], said(league)
    assert (lines[0]["bot"], lines[0]["rank_set"]) == ("alice", [1, 1])
    assert [line["rank_set"] for line in lines[1:]] == [[2, 3], [2, 3]]
    assert lines[0]["score_half"] > 3.0
    told = re.search(r"differ by less than about (\S+) in their mean score; about 270 more", text)
    assert told is not None
    assert 0.3 < float(told[1]) < 1.0


def test_means_of_few_deals_say_little() -> None:
    """One deal has no error; deals of their own for each bot leave the luck of each in the difference."""
    values, owners = np.array([[1.0], [2.0], [9.0], [10.0]]), np.array([[0], [1], [0], [1]])
    shared = mean_rank_sets(values, owners, np.array([0, 0, 1, 1]), 2, range(2))
    assert mean_rank_sets(values[:2], owners[:2], np.array([0, 0]), 2, range(2)) == rank_sets(
        known(None, None), [0, 1]
    )
    apart = mean_rank_sets(values, owners, np.arange(4), 2, range(2))
    assert shared is not None
    assert apart is not None
    assert (shared.difference, apart.sets) == (None, ((1, 2), (1, 2)))
    # By hand: the errors of both means are 4; Student's t of one degree of freedom is wider here, see `ranks`.
    assert apart.difference == pytest.approx(12.7 * 2**0.5 * 4.0, rel=0.4)
    assert mean_rank_sets(values[:0], owners[:0], np.arange(0), 2, range(2)) is None


def test_a_bot_that_crashes_is_rated_without_that_too(cup: Cup) -> None:
    """The table says so where the two ratings differ by more than their errors; who did not crash stays as it was."""
    path = cup.file("a-crash", "bert", "carl", deals=100)
    cup.play(path, play=crashing)
    with cup.read(path) as league:
        text, lines = (
            said(league),
            {line["bot"]: line for line in json.loads(json.dumps(standings_json(league)["standings"]))},
        )
    rest = lines["a-crash"]["rating_without_faults"]
    assert rest["differs"]
    assert rest["matches_left_out"] == lines["a-crash"]["forfeits"] > 100
    assert (
        rest["rating"] - lines["a-crash"]["rating"]
        > max(rest["rating_half"], lines["a-crash"]["rating_half"])
        > 0
    )
    assert (
        f"a-crash: {lines['a-crash']['rating']:.0f} ± {lines['a-crash']['rating_half']:.0f} by all matches, "
        f"{rest['rating']:.0f} ± {rest['rating_half']:.0f} without the {rest['matches_left_out']} "
        "that a fault decided."
    ) in text
    assert not lines["bert"]["rating_without_faults"]["differs"]
    assert "bert: " not in text


def test_nothing_is_rated_again_where_no_fault_decided(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a retired bot there is no second fit, and no key for it."""
    path, fits = cup.file("alice", "bert"), list[int]()
    cup.play(path, play=crashing)

    def count(*args: Any, **how: Any) -> Fit:
        fits.append(1)
        return fitted(*args, **how)

    monkeypatch.setattr("warpleague.league.results.standings.fitted", count)
    with cup.read(path) as league:
        assert all("rating_without_faults" not in line for line in standings_json(league)["standings"])
    assert len(fits) == 1


@pytest.mark.parametrize("others", [("bert",), ("bert", "carl")], ids=len)
def test_a_bot_that_loses_by_faults_alone_is_stronger_than_a_bound(cup: Cup, others: tuple[str, ...]) -> None:
    """Without its faults it won everything: the sentence has the bound."""

    def play(spec: MatchSpec) -> MatchResult:
        names, luck = [seat.bot for seat in spec.seats], int(spec.id[:8], 16)
        crashed = "alice" in names and luck % 3 == 0
        wins = ("bert" if luck % 2 else "carl") if "alice" not in names else "alice"
        first = (names[0] == wins) != crashed
        fault = SeatFault("crash", 3, retired=True, message="gone")
        faults = tuple((fault,) if crashed and name == "alice" else () for name in names)
        times = (SeatTimes(1, 1.0, 1.0, 0.0, 1.0),) * 2
        ranks = (1, 2) if first else (2, 1)
        return MatchResult(spec.id, ranks, (1.0, 0.0), "completed", "d", faults, times, b"{}\n", 1)

    path = cup.file("alice", *others, deals=30)
    cup.play(path, play=play)
    with cup.read(path) as league:
        lines = json.loads(json.dumps(standings_json(league)["standings"]))
        text, line = said(league), next(one for one in lines if one["bot"] == "alice")
    rest = line["rating_without_faults"]
    assert (rest["rating_half"], rest["rating_below"], rest["differs"]) == (None, None, True)
    assert f"by all matches, more than {rest['rating_above']:.0f} without the {line['forfeits']}" in text
