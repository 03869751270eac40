"""Results as columns: whatever happens to a league, they are those of its matches, and so are their numbers."""

from itertools import groupby
from random import Random
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.league.conftest import Cup

from warpleague.league.play.organising import disqualify, reinstate
from warpleague.league.play.verifying import altered
from warpleague.league.ratings.outcomes import Outcomes, PairTotals
from warpleague.league.ratings.statistics import Mean, SequentialElo
from warpleague.league.results.league import League, count_played, left_of, open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.results.tallies import WinLossRecord, outcomes, tally
from warpleague.league.season.config import load_config
from warpleague.league.season.fixture import Fixture, StoredMatch
from warpleague.league.store.columns import PARTS, gathered, joined, of_matches
from warpleague.match.spec import Confinement, MatchResult, MatchSpec, SeatFault, SeatTimes


def made_up(spec: MatchSpec) -> MatchResult:
    """A result that follows from the match's id."""
    rng = Random(spec.id)
    ranks = rng.choice([(1, 2), (2, 1), (1, 1)])
    fault = SeatFault(kind="timeout", n=7, retired=False, message="slow")
    faults = ((fault,), ()) if rng.random() < 0.2 else ((), ())
    used = tuple(SeatTimes(rng.randrange(9), rng.random(), rng.random(), 0.5, rng.random()) for _ in ranks)
    confinement = rng.choice([None, Confinement(made_by="x"), Confinement(made_by="y")])
    return MatchResult(
        spec.id, ranks, (rng.random(), 2.0), rng.choice("ab"), "d", faults, used, b"{}\n", 1, 0.5,
        confinement=confinement,
    )  # fmt: skip


def check(league: League) -> None:
    """The columns of an open league, however they came about, are those of its matches, and so are the tables."""
    walked = list(league.store.played(league.schedule))
    assert list(league.stored()) == walked
    assert league.columns(*PARTS, everything=True).same(of_matches(walked, 2))
    assert altered(league) == []
    counting = of_matches(league.results(), 2)
    assert league.columns(*PARTS).same(counting)
    assert sum(league.count_confinements().values()) == len(counting)
    assert count_played(league) == league.store.count_of(league.counting) == len(counting)
    assert league.store.count() == len(list(league.store.ids()))
    if league.is_numbered:
        assert list(left_of(league)) == [fixture for fixture in league.due if fixture.id not in league.store]
    tally = standings(league, counting)
    assert standings(league).lines == tally.lines


@pytest.mark.parametrize("seed", range(2))
def test_columns_are_those_of_the_matches(cup: Cup, seed: int) -> None:
    """Bots come and go, the format changes, bots are disqualified, matches removed: columns stay right."""
    rng = Random(seed)
    results = cup.results
    out: set[str] = set()
    for _ in range(6):
        bots = ["a", "b", "c", *rng.sample(["d", "e"], rng.randrange(3))]
        path = cup.file(*bots, deals=rng.randrange(1, 5))
        left = rng.randrange(1, 9)

        def play(spec: MatchSpec) -> MatchResult:
            nonlocal left
            left -= 1
            if left < 0:
                raise RuntimeError("no more")
            return made_up(spec)

        with cup.open(path) as league:
            check(league)
            cup.run(league, play=play, jobs=1)
            check(league)
        config = load_config(path)
        if rng.random() < 0.7:
            bot = rng.choice("abc")
            if bot in out:
                reinstate(config, results, bot, "sorry")
            else:
                disqualify(config, results, bot, "cheats", rng.choice(["out", "stay"]))
            out ^= {bot}
        with open_to_read(load_config(cup.file(*bots, deals=2)), results) as league:
            check(league)


def test_a_run_numbers_matches_that_were_merged(cup: Cup) -> None:
    """Matches without numbers count by the schedule, and the next run gives them their numbers."""
    path = cup.file("a", "b", "c")
    with cup.open(path) as league:
        cup.run(league, play=made_up)
        with league.store.writing():
            league.store.forget_numbers()
        assert not league.is_numbered
        check(league)
    with cup.open(path) as league:
        assert league.is_numbered
        check(league)


def test_matches_deleted_by_hand_count_once(cup: Cup) -> None:
    """A run plays matches again whose rows were deleted, and the tables count them once."""
    path = cup.file("a", "b", "c")
    with cup.open(path) as league:
        cup.run(league, play=made_up)
        lines = standings(league).lines
        stored = league.store.count()
    with cup.altered() as db:
        gone = [row[0] for row in db.execute("SELECT id FROM match ORDER BY id LIMIT 2").fetchall()]
        for table in ("record", "match"):
            db.executemany(f"DELETE FROM {table} WHERE id = ?", [(match_id,) for match_id in gone])
    with cup.open(path) as league:
        assert league.store.count() == stored - len(gone)
        assert cup.run(league, play=made_up).played == len(gone)
        assert list(league.stored()) == list(league.store.played(league.schedule))
        assert standings(league).lines == lines


results = st.integers(1, 4).flatmap(
    lambda players: st.tuples(
        st.just(players),
        st.lists(
            st.lists(
                st.tuples(
                    st.permutations(range(5)).map(lambda bots: tuple(bots[:players])),
                    st.lists(st.integers(1, players), min_size=players, max_size=players),
                    st.lists(st.integers(-9, 9), min_size=players, max_size=players),
                ),
                min_size=1,
                max_size=3,
            ),
            max_size=6,
        ),
    )
)


@given(results)
@settings(max_examples=60, deadline=None)
def test_counting_columns_is_counting_matches(drawn: tuple[int, list[Any]]) -> None:
    """Records, points of pairs, Elo and outcomes of deals are those of a count match by match."""
    players, deals = drawn
    matches = [(group, *match) for group, deal in enumerate(deals) for match in deal]
    faults, times = ((),) * players, (SeatTimes(1, 1.0, 1.0, 1.0, 1.0), *(SeatTimes(),) * (players - 1))
    rows = [
        (
            Fixture(number, f"{number:020x}", group, group, seats),
            StoredMatch(
                f"{number:020x}",
                tuple(ranks),
                tuple(map(float, scores)),
                None,
                "w",
                "d",
                1,
                0.1,
                faults,
                times,
            ),
        )
        for number, (group, seats, ranks, scores) in enumerate(matches, 1)
    ]
    columns = attrs.evolve(gathered(rows, players, PARTS), block=4)
    assert joined([columns.only(slice(3, None)), columns.only(slice(0, 3))], players).same(columns)
    found = tally(columns, 5, 16.0, 1500.0)
    records, totals, elo, deals_of = (
        [WinLossRecord() for _ in range(5)],
        PairTotals(5),
        SequentialElo(5),
        Outcomes(),
    )
    for group, seats_, ranks, scores in matches:
        totals.add(seats_, ranks)
        elo.add(seats_, ranks)
        deals_of.add(group, tuple(seats_), tuple(ranks))
        for seat, bot in enumerate(seats_):
            records[bot].add(seat, ranks, float(scores[seat]), 0, None, None)
    assert found.totals.games == totals.games
    assert found.totals.points == totals.points
    assert found.elo.ratings == pytest.approx(elo.ratings)
    assert outcomes(columns).counts == deals_of.closed()
    for mine, theirs in zip(found.records, records, strict=True):
        assert (mine.played, mine.won, mine.drawn, mine.lost) == (
            theirs.played, theirs.won, theirs.drawn, theirs.lost,
        )  # fmt: skip
        assert mine.points == pytest.approx(theirs.points)
        assert mine.scores.mean == pytest.approx(theirs.scores.mean, abs=1e-9)


def test_errors_of_columns_are_by_group() -> None:
    """The mean of each bot is clustered by group, as if its values had been counted one after another."""
    rng = Random(4)
    rows = []
    for number in range(1, 61):
        seats_ = tuple(rng.sample(range(3), 2))
        scores = (rng.random(), 1e6 + rng.random())
        played = StoredMatch(
            f"{number:020x}", (1, 2), scores, None, "w", "d", 1, 0.1, ((), ()), (SeatTimes(),) * 2
        )
        rows.append((Fixture(number, played.id, number // 3, number // 3, seats_), played))
    found = tally(attrs.evolve(of_matches(rows, 2), block=4), 3, 16.0, 1500.0)
    for bot, record in enumerate(found.records):
        mean = Mean()
        for group, of_group in groupby(rows, lambda row: row[0].group):
            for fixture, played in of_group:
                if bot in fixture.seats:
                    mean.add(played.scores[fixture.seats.index(bot)], group)
        assert record.scores.mean == pytest.approx(mean.mean)
        assert record.scores.error == pytest.approx(mean.error, rel=1e-6)
        assert record.scores.half == pytest.approx(mean.half, rel=1e-6)
        more = attrs.evolve(record.scores)
        more.add(5.0)
        mean.add(5.0)
        assert more.error == pytest.approx(mean.error, rel=1e-6)
