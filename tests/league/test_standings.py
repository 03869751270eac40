"""What the tables say about results made up by hand."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import attrs
import pytest
from tests.league.conftest import Cup

from warpleague.errors import StoreError
from warpleague.league.ratings.statistics import Mean, student, t95
from warpleague.league.results import details, standings
from warpleague.league.results.league import CourseCache, League, open_to_read
from warpleague.league.results.standings import ranked
from warpleague.league.results.tallies import Tally, WinLossRecord
from warpleague.league.season.config import load_config
from warpleague.league.store.columns import PARTS
from warpleague.league.store.disqualifications import disqualify
from warpleague.match.spec import MatchResult, MatchSpec, SeatFault, SeatTimes
from warpleague.report.wording.columns import SEATS, TIMES, line_json, standing_json


def test_a_record_counts_wins_draws_and_losses() -> None:
    """Alone in front is won, sharing the front is drawn, all else is lost; points are shares of opponents."""
    record = WinLossRecord()
    for seat, ranks in [
        (0, (1, 2)),
        (1, (1, 1)),
        (0, (2, 1)),
        (2, (3, 1, 2)),
        (1, (1, 2, 2)),
        (0, (1, 1, 3)),
    ]:
        record.add(seat, ranks, score=0.0, faults=0)
    assert (record.played, record.won, record.drawn, record.lost) == (6, 1, 2, 3)
    assert record.points == pytest.approx(1 + 0.5 + 0 + 0.5 + 0.25 + 0.75)


def test_means_and_errors() -> None:
    """The mean and its standard error are those of the textbook."""
    mean = Mean()
    assert mean.error is None
    for value in (2.0, 4.0, 4.0, 6.0):
        mean.add(value)
    assert mean.mean == 4.0
    assert mean.error == pytest.approx((8 / 3 / 4) ** 0.5)
    assert mean.half == pytest.approx(3.18245 * mean.error, rel=1e-5)


def test_intervals_of_means_are_students() -> None:
    """The factors are those of printed tables, for odd and even degrees of freedom, and the normal one for many."""
    table = {1: 12.7062, 2: 4.30265, 3: 3.18245, 9: 2.26216, 10: 2.22814, 30: 2.04227, 5000: 1.95996}
    assert {freedom: t95(freedom) for freedom in table} == pytest.approx(table, rel=1e-5)
    assert student(-2.22814, 10) == pytest.approx(0.025, rel=1e-4)
    assert student(0.0, 7) == 0.5


def interval(shares: list[float]) -> tuple[float, float]:
    """Of the mean of shares, one a deal."""
    return Mean.of(shares).share_interval() or (0.0, 1.0)


@pytest.mark.parametrize("deals", [3, 4, 6, 20, 40])
@pytest.mark.parametrize("true", [0.5, 0.7, 0.9, 0.98])
@pytest.mark.parametrize("together", [False, True])
def test_intervals_over_deals_hold_what_they_promise(deals: int, true: float, together: bool) -> None:
    """In simulated duels of two matches a deal, also few and one-sided ones, at least nine of ten intervals hold."""
    rng, held, many = Random(f"{deals} {true} {together}"), 0, 1000
    for _ in range(many):
        draws = [(rng.random() < true, rng.random() < true) for _ in range(deals)]
        low, high = interval([(a + (a if together else b)) / 2 for a, b in draws])
        held += low <= true <= high
    assert held >= 0.92 * many


def test_intervals_of_deals_that_end_alike_are_bounds() -> None:
    """Never is a share certain: the bound is that of Clopper and Pearson, and more deals tell more."""
    assert interval([1.0] * 3) == pytest.approx((0.025 ** (1 / 3), 1.0))
    assert interval([0.0] * 40) == pytest.approx((0.0, 0.0881), abs=1e-4)
    low, high = interval([0.5] * 20)
    assert low < 0.5 < high
    assert Mean().share_interval() is None


def test_errors_of_means_are_by_group() -> None:
    """Values of one group count as one draw: alike, they widen the error, opposed, they narrow it to nothing."""
    alike, opposed, mixed = Mean(), Mean(), Mean()
    for group, value in enumerate((2.0, 4.0, 4.0, 6.0)):
        for _ in range(3):
            alike.add(value, group)
        opposed.add(value, group)
        opposed.add(8.0 - value, group)
    assert (alike.count, alike.mean) == (12, 4.0)
    assert alike.error == pytest.approx((8 / 3 / 4) ** 0.5)
    assert opposed.error is None  # nothing tells how sure it is
    # Groups of different sizes, by hand: sums less size times the mean (3) are -2, 3 and -1.
    for group, values in enumerate(((1.0,), (5.0, 4.0), (2.0,))):
        for value in values:
            mixed.add(value, group)
    assert mixed.mean == 3.0
    assert mixed.error == pytest.approx((14 * 3 / 2) ** 0.5 / 4)


def test_equal_ratings_share_a_rank_and_the_unplayed_come_last() -> None:
    """Equal ratings share a rank and leave a gap; a bot without matches has no rating and stands last."""
    tally = Tally(4, 16.0, 1500.0)
    tally.add((1, 2), (1, 1), (0.0, 0.0), (0, 0))
    tally.add((3, 1), (2, 1), (0.0, 0.0), (1, 0))
    tally.add((3, 2), (2, 1), (0.0, 0.0), (0, 0))
    tally.elo.ratings[1] = tally.elo.ratings[2]
    lines = ranked(("w", "x", "y", "z"), tally, None, "elo", solo=False).lines
    assert [(line.rank, line.bot) for line in lines] == [(1, "x"), (1, "y"), (3, "z"), (4, "w")]
    assert lines[3].elo is None
    assert lines[2].record.faults == 1


@pytest.fixture
def league(cup: Cup) -> Iterator[League]:
    """A league where a beats b in seat 0 and draws in seat 1; b always faults once in seat 0."""

    def play(spec: MatchSpec) -> Any:
        names = [seat.bot for seat in spec.seats]
        ranks = (1, 2) if names == ["a", "b"] else (1, 1)
        fault = SeatFault(kind="timeout", n=7, retired=False, message="slow")
        faults = ((), ()) if names[0] == "a" else ((fault,), ())
        times = tuple(
            SeatTimes(decisions=2, wall_ms=10.0, cpu_ms=8.0, wait_ms=1.0, longest_ms=6.0 + (name == "b"))
            for name in names
        )
        return MatchResult(spec.id, ranks, (1.0, 0.0), "completed", "d", faults, times, b"{}\n", 1)

    with cup.open(cup.file("a", "b", deals=4, extra="[rating]\nkind = 'fit'")) as league:
        cup.run(league, play=play)
        yield league


def test_standings_json(league: League) -> None:
    """The JSON form of the standings holds rank, bot, rating and all counts."""
    first, second = (standing_json(line) for line in standings.standings(league).lines)
    assert (first["rank"], first["bot"], first["played"]) == (1, "a", 8)
    assert (first["won"], first["drawn"], first["lost"], first["faults"]) == (4, 4, 0, 0)
    assert (second["won"], second["drawn"], second["lost"], second["faults"]) == (0, 4, 4, 4)
    assert first["points"] == 6.0
    assert first["rating"] == pytest.approx(1595.42, abs=0.01)
    assert 1525 < first["running_elo"] < 1530  # match by match, it has come only so far
    assert first["running_elo"] + second["running_elo"] == pytest.approx(3000.0)
    # All four deals went alike: no variation, hence nothing that an error or a likelihood could come from.
    assert (first["rating_half"], first["likelihood"]) == (None, None)


def test_crosstable_seats_faults_and_times(league: League) -> None:
    """The other tables count the same matches: by opponent, by seat, by fault, by time."""
    rows = standings.standings(league).crosstable_json()
    assert rows[0]["bot"] == "a"
    assert (rows[0]["against"]["b"]["points"], rows[0]["against"]["b"]["meetings"]) == (6.0, 8)
    seat0, seat1 = (line_json(SEATS, line) for line in details.seats(league))
    assert (seat0["won"], seat0["drawn"], seat0["lost"], seat0["share"]) == (4, 4, 0, 0.75)
    assert seat1["share"] == 0.25
    # On each deal one win and one draw, whoever sits there first: no variation, so the interval is a bound.
    assert 0 < seat0["share_low"] < 0.75 < seat0["share_high"] < 1
    found = list(details.faults(league))
    assert [(line.bot, line.seat, line.fault.kind, line.fault.n) for line in found] == [
        ("b", 0, "timeout", 7)
    ] * 4
    a, b = (line_json(TIMES, line) for line in details.times(league))
    assert (a["matches"], a["decisions"], a["mean_wall_ms"], a["mean_cpu_ms"], a["mean_wait_ms"]) == (
        8,
        16,
        5.0,
        4.0,
        0.5,
    )
    assert (a["longest_ms"], b["longest_ms"]) == (6.0, 7.0)
    assert (a["timeouts"], b["timeouts"]) == (0, 4)  # which are no decisions


def test_an_anchor_is_where_the_file_says(league: League) -> None:
    """A rating anchored on a bot gives it the start rating."""
    rating = attrs.evolve(league.config.rating, anchor="b", start=1000.0)
    moved = attrs.evolve(league, config=attrs.evolve(league.config, rating=rating))
    ratings = {line.bot: line.fit for line in standings.standings(moved).lines}
    assert ratings["b"] == 1000.0
    assert ratings["a"] == pytest.approx(1190.85, abs=0.01)


def test_a_lead_is_over_who_else_sat_there_on_the_same_deal(league: League) -> None:
    """Whoever sits first scores one point in every match: on the same deal and seat nobody leads."""
    for line in standings.standings(league).lines:
        assert line.lead is not None
        assert (line.lead.count, line.lead.mean) == (8, 0.0)


# What a later look at a league goes on with: it finds what a look from the beginning would find.


UNTIL = "until = { confidence = 0.999, top = 2 }"
FORMATS = [UNTIL, 'kind = "swiss"\nrounds = 4', 'kind = "knockout"']


class Begun(NamedTuple):
    """A league that goes by results, open, what a look at it has begun, and how to store some more of its matches."""

    path: Path
    league: League
    begun: CourseCache
    add: Callable[[int], int]


def add_some(league: League, cup: Cup, rng: Random, most: int) -> int:
    """Store some of the matches that are known and not stored, in any order; how many."""
    left = [fixture for fixture in league.schedule if fixture.id not in league.store]
    chosen = rng.sample(left, min(len(left), most))
    specs = [(one, league.season.spec(one.id, one.deal, one.seats)) for one in chosen]
    league.store.add([(one, spec.seats, cup.fake.play(spec)) for one, spec in specs])
    return len(chosen)


@pytest.fixture
def going(cup: Cup) -> Iterator[Begun]:
    """A league of some forty matches, which has been looked at."""
    path, begun, rng = cup.file("a", "b", "c", deals=30, extra=UNTIL), CourseCache(), Random(1)
    with cup.open(path) as league:
        while add_some(league, cup, rng, 4) and league.store.count() < 40:
            pass
        look(path, begun)
        yield Begun(path, league, begun, lambda most: add_some(league, cup, rng, most))


def look(path: Path, begun: CourseCache | None = None, results: str = "results") -> tuple[Any, int | None]:
    """All matches of a league and their number, as an own reader sees them."""
    with open_to_read(load_config(path), path.parent / results) as league:
        if begun is None:
            return league.columns(*PARTS), league.schedule.total
        league = attrs.evolve(league, course=begun)
        with league.store.snapshot():
            return league.columns(*PARTS, everything=True), league.scheduled()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(2))
def test_a_look_that_goes_on_finds_the_same(cup: Cup, form: str, seed: int) -> None:
    """Whatever was stored between two looks, in whatever order, all columns and the total are the same."""
    path, begun, rng = (
        cup.file("a", "b", "c", "d", deals=6 if form == UNTIL else 1, extra=form),
        CourseCache(),
        Random(seed),
    )
    with cup.open(path) as league:
        while add_some(league, cup, rng, rng.randrange(1, 7)):
            found, total = look(path, begun)
            fresh, fresh_total = look(path)
            assert found.same(fresh)
            assert total == fresh_total
        assert total == len(found) == league.store.count()


@pytest.mark.parametrize("change", ["removed", "disqualified", "another store"])
def test_it_begins_anew_if_more_than_results_has_changed(going: Begun, cup: Cup, change: str) -> None:
    """A match that is gone, or a bot that plays no more, changes what follows from the beginning on."""
    store = going.league.store
    if change == "removed":
        first = next(iter(going.league.schedule))
        with store.writing():
            store.remove(first.id, "a test")
    elif change == "disqualified":
        disqualify(store, "a", "a test", "stay")
    else:
        with cup.open(going.path, going.path.parent / "other") as other:
            while add_some(other, cup, Random(9), 4) and other.store.count() < 40:
                pass
    results = "other" if change == "another store" else "results"
    found, total = look(going.path, going.begun, results)
    fresh, fresh_total = look(going.path, results=results)
    assert found.same(fresh)
    assert total == fresh_total


def test_after_an_error_it_begins_anew(going: Begun) -> None:
    """A damaged match is told at each look, and once it is mended all are found."""
    store = going.league.store
    before = set(store.ids())
    going.add(9)
    last = (set(store.ids()) - before).pop()
    with store.writing() as db:
        db.execute("UPDATE match SET lines = 'x' WHERE id = ?", (last,))
    for _ in range(2):
        with pytest.raises(StoreError, match=last):
            look(going.path, going.begun)
    with store.writing() as db:
        db.execute("UPDATE match SET lines = 1 WHERE id = ?", (last,))
    assert look(going.path, going.begun)[0].same(look(going.path)[0])
