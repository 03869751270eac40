"""Which matches a season has: complete, balanced, on the same deals, with ids that say all."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import combinations, islice, permutations
from math import comb
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.league.conftest import MakeSeason

from warpleague.league.schedule.formats import sampled
from warpleague.league.schedule.formats.round_robin import berger, spread_sets
from warpleague.league.schedule.formats.sampled import meetings, sample_tables, seat_counts, spreads
from warpleague.league.schedule.schedule import Schedule
from warpleague.league.season.seat_plan import balance_seats, cycles

sizes = st.integers(1, 4).flatmap(lambda k: st.tuples(st.integers(max(k, 2), 7), st.just(k)))


@given(sizes, st.integers(1, 2), st.sampled_from(["all", "rotations", "fixed"]))
@settings(max_examples=40, deadline=None)
def test_a_round_robin_is_complete(make_season: MakeSeason, size: Any, deals: int, seats: Any) -> None:
    """Every set of bots plays every deal of its own in every seat order asked for, and nothing else."""
    n, k = size
    schedule = Schedule(make_season(n, k, deals=deals, seats=seats))
    fixtures = list(schedule)
    assert len(fixtures) == len(schedule)
    assert [fixture.number for fixture in fixtures] == list(range(1, len(fixtures) + 1))
    assert len({fixture.id for fixture in fixtures}) == len(fixtures)
    tables = defaultdict(lambda: defaultdict(list))
    for fixture in fixtures:
        tables[frozenset(fixture.seats)][fixture.deal].append(fixture.seats)
    assert set(tables) == {frozenset(table) for table in combinations(range(n), k)}
    for table, by_deal in tables.items():
        assert len(by_deal) == deals
        for orders in by_deal.values():
            if seats == "all":
                assert sorted(orders) == sorted(permutations(sorted(table)))
            elif seats == "rotations":
                first = orders[0]
                assert sorted(orders) == sorted(first[i:] + first[:i] for i in range(k))
            else:
                assert len(orders) == 1


def test_a_long_duel_has_every_match_once(make_season: MakeSeason) -> None:
    """Of 120,000 deals of one table no two are the same: with 32 bits there would be such a pair."""
    season = make_season(2, 2)
    assert len({season.deal((0, 1), 0, round_) for round_ in range(120_000)}) == 120_000
    assert 1 << 52 <= max(season.deal((0, 1), 0, round_) for round_ in range(60)) < 1 << 53


def test_challengers_of_a_gauntlet_take_turns_in_seats(make_season: MakeSeason) -> None:
    """With one seat order a table, no challenger of several has a seat of its own."""
    season = make_season(8, 2, kind="gauntlet", challengers=("bot0", "bot1"), seats="fixed")
    fixtures = list(Schedule(season))
    for challenger in (0, 1):
        assert Counter(f.seats.index(challenger) for f in fixtures if challenger in f.seats) == {0: 3, 1: 3}


def test_matches_of_a_group_follow_each_other(make_season: MakeSeason) -> None:
    """All seat orders of one table and deal stand together and share a group number of their own."""
    groups = [fixture.group for fixture in Schedule(make_season(5, 3, deals=2, seats="all"))]
    assert groups == sorted(groups)
    assert set(Counter(groups).values()) == {6}


def test_berger_rounds_seat_each_bot_once_and_evenly() -> None:
    """Each Berger round has every bot once, and over all rounds each bot sits first as often as second."""
    assert list(berger(4)) == [(0, 3), (1, 2), (3, 2), (0, 1), (1, 3), (2, 0)]
    for n in range(2, 13):
        pairs = list(berger(n))
        size = n // 2
        assert len({frozenset(pair) for pair in pairs}) == len(pairs) == comb(n, 2)
        for start in range(0, len(pairs), size):
            assert len({bot for pair in pairs[start : start + size] for bot in pair}) == 2 * size
        first = Counter(pair[0] for pair in pairs)
        assert all(abs(2 * first[bot] - (n - 1)) <= 1 for bot in range(n))


@pytest.mark.parametrize(("n", "k"), [(6, 2), (5, 3), (7, 3), (6, 4), (8, 4), (7, 5)])
def test_fixed_seats_are_balanced(make_season: MakeSeason, n: int, k: int) -> None:
    """With one seat order a table, every bot sits in every seat equally often within one, with any number of deals."""
    seats = [fixture.seats for fixture in Schedule(make_season(n, k, seats="fixed", deals=k + 1))]
    for deals in range(1, k + 2):
        counts = seat_counts(n, k, seats[: comb(n, k) * deals])
        assert max(max(row) - min(row) for row in counts) <= (0 if deals == k else 1)


def follows_of(schedule: Schedule, n: int) -> Counter[tuple[int, int]]:
    """How often each bot plays just before each other one."""
    found = Counter(dict.fromkeys(permutations(range(n), 2), 0))
    for fixture in schedule:
        found.update(zip(fixture.seats, fixture.seats[1:] + fixture.seats[:1], strict=True))
    return found


@pytest.mark.parametrize(("seats", "off"), [("rotations", 8), ("fixed", 3)])
def test_neighbours_are_about_even_after_one_deal(make_season: MakeSeason, seats: str, off: int) -> None:
    """Each bot sits just before each other one about equally often: of 60 matches (fixed: 15) in about 20 (5)."""
    season = make_season(8, 4, seats=seats)
    follows = follows_of(Schedule(season), 8).values()
    assert max(follows) - min(follows) <= off


def test_bots_that_come_one_by_one_have_even_seats(make_season: MakeSeason) -> None:
    """Bots that join a league take seats that even out those of all who are there; what was planned stays."""
    season = make_season(5, 4, seats="fixed")
    for n in range(6, 9):
        grown = attrs.evolve(make_season(n, 4, seats="fixed"), history=season.entries)
        assert {f.id for f in Schedule(season)} <= {f.id for f in Schedule(grown)}
        counts = seat_counts(n, 4, [fixture.seats for fixture in Schedule(grown)])
        assert max(max(row) - min(row) for row in counts) <= 2
        season = grown


@pytest.mark.parametrize(
    "form", [{}, {"seats": "fixed"}, {"kind": "gauntlet"}, {"tables": 9}, {"kind": "swiss", "rounds": 1}]
)
def test_names_do_not_choose_seats(make_season: MakeSeason, form: dict[str, Any]) -> None:
    """Who sits where follows from the secret: with another one the same names have other seats and neighbours."""
    told = [
        [fixture.seats for fixture in Schedule(make_season(7, 3, secret, deals=1, **form))]
        for secret in (b"s" * 32, b"s" * 32, b"t" * 32)
    ]
    assert told[0] == told[1] != told[2]


def test_a_beacon_changes_who_sits_where(make_season: MakeSeason) -> None:
    """Whoever knows the secret cannot choose names for seats, either, before the beacon is known."""
    season = attrs.evolve(make_season(7, 3, seats="fixed"), awaits="x")
    one, two = ([f.seats for f in Schedule(attrs.evolve(season, beacon=value))] for value in ("1", "2"))
    assert one != two


def test_tables_that_a_merged_store_played_keep_their_seats(make_season: MakeSeason) -> None:
    """Two machines that each play some of the bots have the same orders as the one that takes over their matches."""
    one, all_ = make_season(5, 3), make_season(8, 3)
    two = attrs.evolve(one, bots=all_.bots[3:])
    merged = tuple(attrs.evolve(season.entries[0], merged=True) for season in (one, two))
    ids = {f.id for f in Schedule(attrs.evolve(all_, history=merged))}
    assert {f.id for f in Schedule(one)} <= ids
    assert {f.id for f in Schedule(two)} <= ids


def test_a_league_too_large_for_a_plan_draws_its_seats(make_season: MakeSeason) -> None:
    """Of more tables than are planned together, each draws its own order: the first one comes at once."""
    season = make_season(40, 4, seats="fixed")
    seats = [fixture.seats for fixture in islice(Schedule(season), 2_000)]
    first = Counter(table.index(min(table)) for table in seats)
    assert min(first.values()) > 400


def test_all_sets_are_listed_once_and_spread_evenly() -> None:
    """Every set comes once; after each tenth of the list pairs have met about equally often."""
    for n, k in [(5, 3), (6, 3), (7, 4), (8, 4), (4, 4), (6, 1), (1, 1), (9, 5)]:
        tables = list(spread_sets(n, k))
        assert len({frozenset(table) for table in tables}) == len(tables) == comb(n, k)
    tables = list(spread_sets(16, 4))
    for part in range(1, 10):
        met = meetings(16, tables[: len(tables) * part // 10]).values()
        assert max(met) - min(met) <= 12
    games = Counter(bot for table in tables[: len(tables) // 2] for bot in table)
    assert max(games.values()) - min(games.values()) <= 2


def test_designs_let_everyone_follow_everyone() -> None:
    """Over the cyclic orders of a design each bot follows each other one equally often, at any table size."""
    for k in range(2, 10):
        orders = cycles(k)
        follows = Counter(pair for order in orders for pair in zip(order, order[1:] + order[:1], strict=True))
        assert set(follows) == set(permutations(range(k), 2))
        assert len(set(follows.values())) == 1


@contextmanager
def short_search() -> Iterator[None]:
    """Sampled tables are searched for with few steps: where it does not matter how evenly pairs meet."""
    with pytest.MonkeyPatch.context() as patch:
        for steps in ("_CYCLIC_STEPS", "_ANNEAL_STEPS"):
            patch.setattr(sampled, steps, 500)
        patch.setattr(sampled, "sample_tables", lru_cache(sample_tables.__wrapped__))
        yield


@pytest.mark.parametrize(("players", "deals"), [(3, 2), (4, 6), (5, 4)])
@pytest.mark.parametrize("form", [{}, {"kind": "gauntlet"}, {"tables": 9}, {"seats": "all"}])
def test_neighbours_are_even(make_season: MakeSeason, players: int, deals: int, form: dict[str, Any]) -> None:
    """After a few deals of each table each bot has followed each other one as often as it was followed."""
    with short_search():
        follows = follows_of(Schedule(make_season(7, players, deals=deals, **form)), 7)
    assert all(follows[one, two] == follows[two, one] for one, two in combinations(range(7), 2))


@pytest.mark.parametrize(
    "form", [{}, {"seats": "fixed"}, {"seats": "all"}, {"tables": 8}, {"kind": "gauntlet"}]
)
def test_the_order_of_the_file_does_not_matter(make_season: MakeSeason, form: dict[str, Any]) -> None:
    """Bots may stand in any order in the file: the same matches with the same numbers."""
    season = make_season(6, 3, challengers=("bot2",) if "kind" in form else (), deals=2, **form)
    turned = attrs.evolve(season, bots=season.bots[3:] + season.bots[2::-1])
    told = [(f.number, f.id, f.deal, [season.names[bot] for bot in f.seats]) for f in Schedule(season)]
    assert told == [
        (f.number, f.id, f.deal, [turned.names[bot] for bot in f.seats]) for f in Schedule(turned)
    ]


@given(st.integers(5, 9), st.integers(3, 4), st.integers(3, 14), st.integers(0, 2), st.integers(0, 3))
@settings(max_examples=8, deadline=None)
def test_an_extended_sample_contains_what_it_extends(
    make_season: MakeSeason, n: int, k: int, tables: int, bots: int, more: int
) -> None:
    """With more bots or tables all matches of a sampled league stay, and bots have as many games again.

    However long the search for even meetings is: here it is short.
    """
    before = make_season(n, k, tables=tables, seats="rotations")
    after = attrs.evolve(make_season(n + bots, k, tables=tables + more), history=before.entries)
    with short_search():
        assert {f.id for f in Schedule(before)} <= {f.id for f in Schedule(after)}
        games = Counter(bot for f in Schedule(after) for bot in f.seats)
        assert max(games.values()) - min(games[bot] for bot in range(n + bots)) <= k
        again = attrs.evolve(after, history=after.entries)
        assert [f.id for f in Schedule(again)] == [f.id for f in Schedule(after)]


def test_a_changed_bot_gets_deals_that_its_author_has_not_seen(make_season: MakeSeason) -> None:
    """Under its old name a bot gets new deals in every format; two versions in a gauntlet or a solo league share."""
    for players, form in ((1, {}), (2, {}), (2, {"kind": "gauntlet"}), (3, {"kind": "gauntlet"})):
        season = make_season(5, players, deals=3, **form)
        old = {f.deal for f in Schedule(season) if 0 in f.seats}
        bots = (attrs.evolve(season.bots[0], digest="changed"), *season.bots[1:])
        changed = attrs.evolve(season, bots=bots, history=season.entries)
        assert not old & {f.deal for f in Schedule(changed) if 0 in f.seats}
        others = {f.id for f in Schedule(season) if 0 not in f.seats}
        assert others <= {f.id for f in Schedule(changed)}
        back = attrs.evolve(season, history=(*changed.history, *changed.entries))
        assert {f.id for f in Schedule(back)} == {f.id for f in Schedule(season)}


@pytest.mark.parametrize("seats", ["rotations", "fixed", "all"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_versions_in_a_gauntlet_share_deals_seats_and_neighbours(
    make_season: MakeSeason, players: int, seats: str
) -> None:
    """Each challenger plays the very matches that each other one plays: only the challenger is another."""
    season = make_season(
        7, players, kind="gauntlet", challengers=("bot5", "bot0", "bot2"), seats=seats, deals=3
    )
    told = [
        [(f.deal, tuple(-1 if b == bot else b for b in f.seats)) for f in Schedule(season) if bot in f.seats]
        for bot in (0, 2, 5)
    ]
    assert told[0] == told[1] == told[2]
    grown = attrs.evolve(
        season, format=attrs.evolve(season.format, challengers=("bot5", "bot0", "bot2", "bot1"))
    )
    grown = attrs.evolve(grown, history=season.entries)
    old = {f.id for f in Schedule(season) if 1 not in f.seats}
    assert old <= {f.id for f in Schedule(grown)}


@pytest.mark.parametrize(
    ("n", "k", "count"),
    [(6, 3, 6), (7, 3, 7), (9, 4, 9), (10, 4, 25), (12, 3, 24), (5, 2, 7), (4, 3, 11), (8, 4, 8)],
)
def test_samples_are_balanced(n: int, k: int, count: int) -> None:
    """Sampled tables give every bot as many games and seats within one, and every pair meetings within two."""
    tables = sample_tables(k, ((frozenset(range(n)), count),))
    assert len(tables) == count
    assert all(len(set(table)) == k for table in tables)
    games, met, seats = spreads(range(n), tables)
    assert (games <= 1, met <= 2, seats <= 1) == (True, True, True)


def test_tables_are_as_even_when_bots_came_one_by_one() -> None:
    """After eight bots have joined a sampled league one by one, games differ by one at most, and meetings by two."""
    stages = tuple((frozenset(range(n)), 20) for n in range(6, 15))
    tables = sample_tables(3, stages)
    games, met, _ = spreads(range(14), tables)
    assert (games <= 1, met <= 2) == (True, True)
    assert set(sample_tables(3, stages[:4])) <= set(tables)


def test_a_block_design_is_found_where_there_is_one() -> None:
    """Seven bots at seven tables of three meet once each: the Fano plane, found by cyclic development."""
    assert set(meetings(7, sample_tables(3, ((frozenset(range(7)), 7),))).values()) == {1}


@given(
    st.integers(2, 4).flatmap(
        lambda k: st.lists(
            st.permutations(range(8)).map(lambda deck: tuple(deck[:k])), min_size=1, max_size=40
        )
    )
)
@settings(max_examples=100, deadline=None)
def test_seats_are_balanced_for_any_tables(tables: Any) -> None:
    """Whatever the tables, seating keeps their bots and order, and evens each bot's seats within one."""
    k = len(tables[0])
    seated = balance_seats(tables)
    assert [set(table) for table in seated] == [set(table) for table in tables]
    assert all(max(row) - min(row) <= 1 for row in seat_counts(8, k, seated))


def test_a_sampled_season_plays_all_seat_orders_of_its_tables(make_season: MakeSeason) -> None:
    """A sampled season has the asked number of tables, each with its deals and rotations."""
    season = make_season(8, 4, tables=6, deals=2, seats="rotations")
    with short_search():
        fixtures = list(Schedule(season))
        assert len(fixtures) == len(Schedule(season)) == 6 * 2 * 4
    assert len({(frozenset(f.seats), f.deal) for f in fixtures}) == 12


def test_a_gauntlet_sets_challengers_against_the_field(make_season: MakeSeason) -> None:
    """In a gauntlet every table has one challenger, and every set of the other bots meets each challenger."""
    season = make_season(5, 3, kind="gauntlet", challengers=("bot1", "bot3"), seats="fixed")
    fixtures = list(Schedule(season))
    assert len(fixtures) == len(Schedule(season)) == 2 * 3
    assert {frozenset(f.seats) for f in fixtures} == {
        frozenset((c, *others)) for c in (1, 3) for others in combinations((0, 2, 4), 2)
    }
    default = Schedule(make_season(4, 2, kind="gauntlet"))
    assert {frozenset(f.seats) for f in default} == {frozenset((0, other)) for other in (1, 2, 3)}


def test_ids_cover_all_that_determines_a_match(make_season: MakeSeason) -> None:
    """A change of any condition, bot, name, seat order or deal changes every id; the same season, none."""
    season = make_season(3, 2)
    base = [fixture.id for fixture in Schedule(season)]
    assert base == [fixture.id for fixture in Schedule(make_season(3, 2))]
    clock = attrs.evolve(season.clock, move_s=2.0)
    bots = tuple(attrs.evolve(bot, digest=bot.digest + "'") for bot in season.bots)
    for changed in (
        attrs.evolve(season, clock=clock),
        attrs.evolve(season, options={"x": 1}),
        attrs.evolve(season, rules=99),
        attrs.evolve(season, level="none"),
        attrs.evolve(season, faults="substitute"),
        attrs.evolve(season, strikes=1),
        attrs.evolve(season, secret=b"t" * 32),
        attrs.evolve(season, bots=bots),
        make_season(3, 2, names="other"),
    ):
        assert not set(base) & {fixture.id for fixture in Schedule(changed)}
    assert season.match_id(1, (0, 1)) != season.match_id(1, (1, 0))
    assert season.match_id(1, (0, 1)) != season.match_id(2, (0, 1))


@pytest.mark.parametrize("seats", ["rotations", "all", "fixed"])
@pytest.mark.parametrize("kind", ["round-robin", "gauntlet"])
def test_bots_may_come_and_deals_be_added_without_changing_the_rest(
    make_season: MakeSeason, seats: str, kind: str
) -> None:
    """With a bot or a deal more, all earlier matches stay in the schedule, wherever the new bot stands in the file."""
    before = make_season(4, 3, deals=2, seats=seats, kind=kind)
    small = {fixture.id for fixture in Schedule(before)}
    assert small <= {fixture.id for fixture in Schedule(make_season(4, 3, deals=3, seats=seats, kind=kind))}
    grown = make_season(6, 3, deals=2, seats=seats, kind=kind, challengers=("bot0",) * (kind == "gauntlet"))
    turned = attrs.evolve(grown, bots=grown.bots[:0:-1] + grown.bots[:1], history=before.entries)
    assert small <= {fixture.id for fixture in Schedule(turned)}


def test_solo_bots_share_their_deals(make_season: MakeSeason) -> None:
    """At tables of one, all bots play the same deals."""
    fixtures = list(Schedule(make_season(3, 1, deals=4)))
    deals = defaultdict(set)
    for fixture in fixtures:
        deals[fixture.seats].add(fixture.deal)
    assert len(fixtures) == 12
    assert len({frozenset(found) for found in deals.values()}) == 1


@pytest.mark.parametrize(
    ("players", "form"),
    [(1, {}), (2, {}), (3, {"seats": "all"}), (2, {"tables": 9}), (2, {"kind": "gauntlet"})],
)
def test_with_dice_of_their_own_no_two_matches_share_any(
    make_season: MakeSeason, players: int, form: dict
) -> None:
    """Each match has a deal of its own and is a group of its own; who plays whom and where is as with shared dice."""
    shared = list(Schedule(make_season(5, players, deals=3, **form)))
    own = list(Schedule(make_season(5, players, deals=3, dice="own", **form)))
    assert [fixture.seats for fixture in own] == [fixture.seats for fixture in shared]
    assert len({fixture.deal for fixture in own}) == len({fixture.group for fixture in own}) == len(own)
    assert not {fixture.deal for fixture in own} & {fixture.deal for fixture in shared}
    assert "dice of its own" in Schedule(make_season(5, players, dice="own", **form)).describe()
    grown = Schedule(make_season(6, players, deals=4, dice="own", **form))
    assert form or {fixture.id for fixture in own} <= {fixture.id for fixture in grown}


def test_bots_play_evenly_at_any_moment(make_season: MakeSeason) -> None:
    """At no moment of a round has a bot played more than two matches more than another (tables of two)."""
    games = Counter(dict.fromkeys(range(6), 0))
    for fixture in Schedule(make_season(6, 2, seats="fixed")):
        games.update(fixture.seats)
        assert max(games.values()) - min(games.values()) <= 2


def test_a_long_schedule_needs_no_memory(make_season: MakeSeason) -> None:
    """The first matches of a season of a hundred billion come at once."""
    schedule = Schedule(make_season(60, 6, deals=1_000, seats="rotations"))
    assert len(schedule) == comb(60, 6) * 6_000
    assert next(iter(schedule)).number == 1
