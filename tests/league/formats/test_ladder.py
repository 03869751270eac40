"""Ladders and leagues that end when the order is settled: the same deals however they are played."""

from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
from tests.league.conftest import Cup

from warpleague.errors import StoreError
from warpleague.league.play.running import StopWhen
from warpleague.league.play.verifying import mispaired
from warpleague.league.ratings.outcomes import Earlier, Outcomes
from warpleague.league.ratings.posterior import shrunk_fit
from warpleague.league.ratings.statistics import SCALE
from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.results.status import status
from warpleague.league.schedule.formats import format_of
from warpleague.league.season.config import UntilTable, load_config
from warpleague.league.season.fixture import Outcome
from warpleague.league.season.season import Season
from warpleague.league.store.disqualifications import disqualify
from warpleague.report.wording.league_words import besides_lines

LADDER = 'kind = "ladder"\nmax_matches = 60'
SETTLED = "until = { confidence = 0.8, top = 1 }"


def simulated(
    season: Season,
    truth: Any,
    rng: Any,
    most: int = 10**9,
    seen: dict[Any, Any] | None = None,
    wall_ms: Any = lambda _: 10.0,
    start_ms: Any = lambda _: 0.0,
) -> tuple[list[Any], bool]:
    """Plays a format whose bots have these true ratings; its deals in order, and whether it was decided.

    `seen` gets the ranks of each deal that was played. `wall_ms` is how long a bot thinks in a match, and
    `start_ms` how long it takes to start.
    """
    form = format_of(season)
    going = form.batches()
    batches = [list(next(going))]
    told = 0
    while sum(len(group.seats) for batch in batches for group in batch) < most:
        outcomes = []
        if len(batches) - told > (form.ahead or 0):
            for group in batches[told]:
                ranks: list[Any] = []
                for seats in group.seats:
                    level = truth[list(seats)] / SCALE + rng.gumbel(size=len(seats))
                    result = SimpleNamespace(
                        ranks=tuple(int((level > own).sum()) + 1 for own in level),
                        times=tuple(SimpleNamespace(wall_ms=wall_ms(bot)) for bot in seats),
                        elapsed_s=sum(wall_ms(bot) + start_ms(bot) for bot in seats) / 1000,
                    )
                    ranks.append(result)
                outcomes.append(Outcome(group, tuple(ranks)))
                if seen is not None:
                    seen[group] = [result.ranks for result in ranks]
            told += 1
        try:
            batches.append(list(going.send(outcomes)))
        except StopIteration as end:
            return [group for batch in batches for group in batch], bool(end.value)
    return [group for batch in batches for group in batch], False


def seen(league: Any) -> list[Any]:
    return [(f.number, f.id, found.ranks) for f, found in league.results()]


def write(cup: Cup, *bots: str, extra: str, deals: int | None = None) -> Path:
    """A league file; a ladder has no number of deals."""
    path: Path = cup.file(*bots, extra=extra, deals=deals or 1)
    return path


@pytest.mark.parametrize(
    ("extra", "deals"), [(f'{SETTLED}\nkind = "ladder"\nmax_matches = 160', 1), (SETTLED, 12)]
)
def test_a_league_that_was_killed_again_and_again_is_the_same(
    extra: str, deals: int, cup: Cup, tmp_path: Path
) -> None:
    """Killed after every few matches and resumed, the same deals count as in an undisturbed one."""
    path = write(cup, *"abcd", extra=extra, deals=deals)
    with cup.open(path, tmp_path / "once") as league:
        report = cup.run(league)
        assert report.complete
        once = seen(league)
    for _ in range(80):
        with cup.open(path, tmp_path / "killed") as league:
            if cup.run(league, watcher=cup.fake.Stop(41)).complete:
                break
    with open_to_read(load_config(path), tmp_path / "killed") as league:
        assert seen(league) == once
        assert mispaired(league) == []


@pytest.mark.parametrize(
    ("extra", "more", "deals"),
    [
        ('kind = "ladder"\nmax_matches = 200\n', 'kind = "ladder"\nmax_matches = 240\n', 1),
        ("", 'seats = "rotations"\ndice = "own"\n', 60),
    ],
)
def test_a_league_that_is_recorded_as_ended_stays_ended(extra: str, more: str, deals: int, cup: Cup) -> None:
    """Even if the program asks for more matches by now, as a later version may; unless something is changed."""
    until = "until = { confidence = 0.999, top = 2 }"
    path = write(cup, *"abcd", extra=extra + until, deals=deals)
    with cup.open(path) as league:
        cup.run(league, stop_when=StopWhen(matches=50))
        league.store.publish_secret()
    with cup.open(path) as league:
        report = cup.run(league)
        assert (report.complete, report.played) == (True, 0)
        counted = seen(league)
        assert 30 < len(counted) <= 50
        assert mispaired(league) == []
        assert status(league).complete
        with league.store.writing():
            league.store.remove(counted[0][1], "a test")
    with cup.open(path) as league:
        assert not status(league).complete
        cup.run(league, stop_when=StopWhen(matches=1))
        assert counted[0][1] in league.store
    with cup.open(write(cup, *"abcd", extra=more + until, deals=deals)) as league:
        assert not status(league).complete


def test_a_ladder_without_end_stops_when_it_is_told_to(cup: Cup) -> None:
    """After so many matches, or so much time; nothing is complete, the secret stays, and the next run goes on."""
    path = write(cup, *"abcd", extra='kind = "ladder"')
    for played in (10, 20):
        with cup.open(path) as league:
            report = cup.run(league, stop_when=StopWhen(matches=10))
            assert (report.played, report.stored, report.total) == (10, played, None)
            assert not report.complete
            assert not report.stopped
            assert league.store.published() is None
    with cup.open(path) as league:
        assert cup.run(league, stop_when=StopWhen(after_s=0.0)).played == 0


def test_a_disqualified_bot_leaves_the_ladder(cup: Cup) -> None:
    """The others go on without it."""
    path = write(cup, *"abcd", extra=LADDER)
    with cup.open(path) as league:
        cup.run(league, watcher=cup.fake.Stop(9))
        disqualify(league.store, "a", "for the test", "stay")
    with cup.open(path) as league:
        report = cup.run(league)
        assert report.complete
        assert all(league.season.names.index("a") not in f.seats for f, _ in seen_last(league, 20))


def met(league: Any) -> Counter[tuple[int, ...]]:
    """How many matches of each pair are stored, and count."""
    return Counter(tuple(sorted(fixture.seats)) for fixture, _ in league.results())


def test_a_bot_that_comes_later_changes_nothing_of_what_the_others_played(cup: Cup) -> None:
    """All that those who stay have played counts, deals in part, too; the newcomer meets each of them first."""
    with cup.open(write(cup, *"abcd", extra='kind = "ladder"')) as league:
        cup.run(league, stop_when=StopWhen(matches=81))
        before = met(league)
    path = write(cup, *"abcde", extra='kind = "ladder"')
    with cup.open(path) as league:
        assert met(league) == before
        report = cup.run(league, stop_when=StopWhen(matches=13))
        assert (report.before, report.stored) == (81, 94)
        new = league.season.names.index("e")
        with_new = [matches for pair, matches in met(league).items() if new in pair]
        assert len(with_new) == 4
        assert sum(with_new) >= 10
        assert min(with_new) >= 2
        assert mispaired(league) == []
        after = seen(league)
    with cup.open(path) as league:  # resumed: nobody has come or gone
        assert seen(league) == after
        before = met(league)
    with cup.open(write(cup, *"bcde", extra='kind = "ladder"')) as league:
        gone = sum(matches for pair, matches in before.items() if 0 in pair)
        assert len(seen(league)) == 94 - gone
        report = cup.run(league, stop_when=StopWhen(matches=8))
        assert report.played == 8
    with cup.open(write(cup, *"abcde", extra='kind = "ladder"')) as league:
        # Whoever pauses and comes back as it was has all that it played: nothing is gained by that.
        assert league.season.returns == {}
        assert len(seen(league)) == 94 + 8
        assert mispaired(league) == []


def killed_in(league: Any, cup: Cup, places: set[int], most: int) -> None:
    """Plays so many matches, but removes those at some places among them, as if they had not ended before a kill."""
    cup.run(league, stop_when=StopWhen(matches=most))
    fixtures = [fixture for fixture, _ in league.results()]
    lost = {fixtures[place].id for place in places}
    with league.store.writing() as db:
        db.executemany("DELETE FROM record WHERE id = ?", [(one,) for one in lost])
        db.executemany("DELETE FROM match WHERE id = ?", [(one,) for one in lost])


def test_gaps_and_deals_in_part_take_nothing_out(cup: Cup) -> None:
    """Matches that were missing when bots came are played; whatever was played behind them counts all the time."""
    with cup.open(write(cup, *"abc", extra='kind = "ladder"')) as league:
        killed_in(league, cup, {0, 1, 5, 30}, 60)
    path = write(cup, *"abcd", extra='kind = "ladder"')
    with cup.open(path) as league:
        assert len(seen(league)) == 56
        assert cup.run(league, stop_when=StopWhen(matches=4)).stored == 60
        assert all(3 not in pair for pair in met(league))
    with open_to_read(load_config(path), league.store.path.parent.parent) as league:
        assert len(seen(league)) == 60


def test_every_part_of_the_log_is_worked_out_again(cup: Cup, tmp_path: Path) -> None:
    """Bots come, go, come back and are disqualified: all is as it should be, until an early result is altered."""
    for bots in ("abcd", "abcde", "bcde", "abcdef"):
        with cup.open(write(cup, *bots, extra='kind = "ladder"')) as league:
            cup.run(league, stop_when=StopWhen(matches=41))
            if bots == "bcde":
                disqualify(league.store, "c", "for the test", "stay")
    path = tmp_path / "cup.toml"
    with cup.read(path) as league:
        assert mispaired(league) == []
        early = list(league.store.places())
    first = [one for one in early if not one.startswith("fact-")][:24]
    with cup.altered() as db:
        db.executemany(
            "UPDATE seat SET rank = seat + 1 WHERE match = (SELECT key FROM match WHERE id = ?)",
            [(one,) for one in first],
        )
    with cup.read(path) as league:
        wrong = {match for _, match, _ in mispaired(league)}
        before_entry = set(early[: early.index(first[0]) + 41])
        assert wrong & before_entry


@pytest.mark.parametrize(("bots", "part"), [("abcde", 24), ("abcdef", 40), ("abcdefgh", 60)])
def test_newcomers_get_their_part_of_a_ladder_that_was_over(bots: str, part: int, cup: Cup) -> None:
    """Beyond the most matches that the file allows, new bots get their part, and nothing drops out for that."""
    with cup.open(write(cup, *"abcd", extra=LADDER)) as league:
        assert cup.run(league).complete
        before = met(league)
    with cup.open(write(cup, *bots, extra=LADDER)) as league:
        report = cup.run(league)
        assert report.complete
        assert report.stored == 60 + part
        assert all(met(league)[pair] >= matches for pair, matches in before.items())
        new = [league.season.names.index(bot) for bot in bots[4:]]
        with_new = sum(matches for pair, matches in met(league).items() if set(pair) & set(new))
        assert part // 2 <= with_new <= part
        assert mispaired(league) == []


def test_a_deal_of_before_that_is_lost_is_played_again(cup: Cup) -> None:
    """What was taken over and is removed since, because it did not hold, comes first in the next run."""
    cup.play(write(cup, *"abc", extra='kind = "ladder"'), stop_when=StopWhen(matches=30))
    path = write(cup, *"abcd", extra='kind = "ladder"')
    with cup.open(path) as league:
        first = next(iter(league.schedule)).id
        with league.store.writing():
            league.store.remove(first, "a test")
    with cup.open(path) as league:
        assert first not in league.store
        cup.run(league, stop_when=StopWhen(matches=1))
        assert first in league.store


def test_an_entry_that_is_damaged_is_told(cup: Cup) -> None:
    """It is told where, and the store is not taken for another one."""
    path = write(cup, *"abc", extra='kind = "ladder"')
    cup.play(path, stop_when=StopWhen(matches=4))
    with cup.altered() as db:
        db.execute("UPDATE choice SET batch = 'first' WHERE place = 0")
    with cup.read(path) as league, pytest.raises(StoreError, match=r"is damaged: its chosen deals"):
        list(league.schedule)


def seen_last(league: Any, many: int) -> list[Any]:
    return list(league.results())[-many:]


@pytest.mark.parametrize(("n", "k"), [(6, 2), (20, 2), (7, 3), (9, 4)])
def test_nobody_starves_and_every_deal_is_new(n: int, k: int, make_season: Any) -> None:
    """Each bot has a quarter of the mean number of deals at least; no table has a deal twice."""
    rng = np.random.default_rng(3)
    season = make_season(n, k, kind="ladder", until=UntilTable(confidence=0.9999, top=2))
    groups, _ = simulated(season, np.linspace(200, -200, n), rng, 40 * n * k)
    dealt = [sum(bot in group.bots for group in groups) for bot in range(n)]
    assert min(dealt) >= sum(dealt) / n / 4 - 2
    assert len({(group.bots, group.round, group.turn) for group in groups}) == len(groups)


def test_the_best_meet_more_often_and_are_found_sooner(make_season: Any) -> None:
    """A ladder settles the first two of twelve bots with less than half the deals of a round-robin."""
    truth, until = np.linspace(220, -220, 12), UntilTable(confidence=0.9, top=2)
    needed = [0, 0]
    forms: list[dict[str, Any]] = [{"kind": "ladder"}, {"deals": 400}]
    for luck in (5, 6):
        for place, form in enumerate(forms):
            season, rng = make_season(12, 2, until=until, **form), np.random.default_rng(luck)
            groups, decided = simulated(season, truth, rng)
            assert decided
            needed[place] += len(groups)
    assert needed[0] < needed[1] / 2


@pytest.mark.parametrize("players", [2, 3])
def test_ratings_of_a_ladder_hold_though_results_choose_its_matches(players: int, make_season: Any) -> None:
    """The intervals of ten ladders hold the true ratings, and the bot that is rated highest is not overrated."""
    inside, over, spreads = [], [], []
    for number in range(10):
        rng = np.random.default_rng(number)
        truth = rng.normal(0, 100, 8)
        season = make_season(8, players, kind="ladder")
        deals, _ = simulated(season, truth, rng, 400, ranks := {})
        outcomes = Outcomes()
        for deal in deals:
            if deal in ranks:
                outcomes.add_deal(list(zip(deal.seats, ranks[deal], strict=True)))
        fit = shrunk_fit(outcomes, 8)
        off = np.array(fit.ratings) - 1500 - truth + truth.mean()
        inside += [abs(off[bot]) <= fit.half(bot) for bot in range(8)]
        over.append(off[np.argmax(off + truth)])
        assert fit.spread is not None
        assert fit.spread_interval is not None
        low, high = fit.spread_interval
        assert 30 < fit.spread < 250
        assert low < fit.spread < high
        spreads.append((low, high))
    assert np.mean(inside) > 0.85
    assert abs(np.mean(over)) < 40
    assert sum(low <= 100 <= high for low, high in spreads) >= 8


def test_equal_bots_may_differ_by_nothing() -> None:
    """Where each bot won half of its matches, the interval of the spread begins at 0; more matches make it shorter."""
    highest = []
    for deals in (1, 10, 100):
        outcomes = Outcomes()
        for pair in combinations(range(6), 2):
            outcomes.add_deal([(pair, (1, 2)), (pair[::-1], (1, 2))], times=deals)
        fit = shrunk_fit(outcomes, 6)
        low, high = fit.spread_interval or (None, 0.0)
        assert low == 0.0
        assert fit.spread is not None
        assert 0 < fit.spread < high
        highest.append(high)
    assert highest == sorted(highest, reverse=True)
    assert highest[-1] < 30


def test_shrunk_ratings_are_finite_and_say_how_little_is_known() -> None:
    """A bot that won all its matches has a rating with an error; one that played little is provisional."""
    outcomes = Outcomes()
    for _ in range(6):
        outcomes.add_deal([((0, 1), (1, 2)), ((1, 0), (2, 1))])
    outcomes.add_deal([((0, 2), (1, 2)), ((2, 0), (1, 2))])
    outcomes.add_deal([((3, 4), (1, 2)), ((4, 3), (1, 2))])
    fit = shrunk_fit(outcomes, 6)
    assert fit.ratings[0] > fit.ratings[2] > fit.ratings[1]
    assert (fit.ratings[5], fit.half(5)) == (None, None)
    assert fit.half(2) > fit.half(0) > 0
    assert [fit.provisional(bot) for bot in range(6)] == [False, False, True, True, True, False]
    assert fit.islands == (0, 0, 0, 3, 3, None)
    assert fit.superiority(0, 1) > 0.95
    assert fit.superiority(0, 3) is None
    anchored = shrunk_fit(outcomes, 6, start=1000.0, anchor=1)
    assert (anchored.ratings[1], anchored.errors[1]) == (1000.0, 0.0)


def test_equal_bots_end_a_league_if_they_may_be_equal(make_season: Any) -> None:
    """With `within`, bots of which none is better by so much have either place."""
    rng = np.random.default_rng(7)
    until = UntilTable(confidence=0.9, top=1, within=80)
    _, decided = simulated(make_season(3, 2, kind="ladder", until=until), np.zeros(3), rng, 4_000)
    assert decided


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE choice SET bots = (SELECT bots FROM choice WHERE place = 0) WHERE place = 7",
        "DELETE FROM choice WHERE place = 7",
        "UPDATE choice SET after = -1 WHERE place = 7",
        "UPDATE choice SET after = 1000000 WHERE place = 7",
    ],
)
def test_a_choice_that_was_altered_is_found(change: str, cup: Cup, tmp_path: Path) -> None:
    """Whoever changes which deals were chosen, or says that one was taken over, is found out, also after an entry."""
    for bots in ("abc", "abcd"):
        cup.play(write(cup, *bots, extra='kind = "ladder"'), stop_when=StopWhen(matches=20))
    path = tmp_path / "cup.toml"
    with cup.read(path) as league:
        assert mispaired(league) == []
        eighth = {fixture.id for fixture in league.schedule if fixture.group == 7}
    with cup.altered() as db:
        db.execute(change)
    with cup.read(path) as league:
        assert eighth & {match for _, match, _ in mispaired(league)}


def test_a_ladder_does_not_go_on_from_choices_that_are_damaged(cup: Cup) -> None:
    """A stored match whose deal is not among the chosen ones: a sentence says so, and nothing is played."""
    path = write(cup, *"abc", extra='kind = "ladder"')
    cup.play(path, stop_when=StopWhen(matches=20))
    with cup.altered() as db:
        db.execute("UPDATE choice SET bots = 'x' WHERE place = 7")
    with (
        cup.open(path) as league,
        pytest.raises(StoreError, match="is of a deal that is not among the chosen ones"),
    ):
        cup.run(league)


def test_a_ladder_says_how_many_matches_left_the_count(cup: Cup, tmp_path: Path) -> None:
    """Where a version gives way, its matches are told beside the name."""
    path = write(cup, *"abc", extra='kind = "ladder"')
    with cup.open(path) as league:
        cup.run(league, stop_when=StopWhen(matches=24))
        of_a = sum(matches for pair, matches in met(league).items() if 0 in pair)
    (tmp_path / "bots" / "a" / "digest").write_text("its second version")
    with cup.open(path) as league:
        now = status(league)
        assert (now.stored, now.other, now.earlier) == (24 - of_a, of_a, (("a", of_a),))
        assert besides_lines(now)[-1] == f"a: {of_a} matches of earlier versions left the count"


def test_a_version_that_comes_back_begins_anew_and_is_linked_to_what_it_was(cup: Cup, tmp_path: Path) -> None:
    """It draws new deals and counts from then on; its rating goes by all that its versions have played."""
    path, digest = write(cup, *"abcd", extra='kind = "ladder"'), tmp_path / "bots" / "a" / "digest"
    deals = []
    for version in ("first", "second", "first", "second", "first"):
        digest.write_text(version)
        with cup.open(path) as league:
            of_others = [found for f, found in league.results() if 0 not in f.seats]
            assert not [f for f, _ in league.results() if 0 in f.seats]
            table = standings(league)
            assert [line.fit for line in table.lines if line.bot == "a"] == [None]
            cup.run(league, stop_when=StopWhen(matches=24))
            deals.append({f.deal for f, _ in league.results() if 0 in f.seats})
            assert len(league.season.history) == len(deals)
            table = standings(league)
            a = next(line for line in table.lines if line.bot == "a")
            alone = shrunk_fit(table_outcomes(league), 4)
            assert a.record.played == sum(0 in f.seats for f, _ in league.results())
            assert of_others or alone.half(0) == pytest.approx(a.error)
            assert not of_others or a.error < alone.half(0)
    assert all(not one & other for one, other in combinations(deals, 2))
    with cup.read(path) as league:
        assert league.season.returns == {"a": 2}
        assert mispaired(league) == []
        assert not league.store.alterations()
    with cup.open(path) as league:  # nothing changes where nobody has come or gone
        assert league.season.returns == {"a": 2}
        assert {f.deal for f, _ in league.results() if 0 in f.seats} == deals[-1]


@pytest.mark.parametrize("out", [False, True])
def test_bots_that_have_left_tell_of_those_who_stayed(out: bool, cup: Cup) -> None:
    """Their matches leave the table, but not the ratings, unless they were disqualified and their results are out."""
    with cup.open(write(cup, *"abcd", extra='kind = "ladder"')) as league:
        cup.run(league, stop_when=StopWhen(matches=80))
        if out:
            disqualify(league.store, "d", "for the test", "out")
    with cup.open(write(cup, *"abc", extra='kind = "ladder"')) as league:
        cup.run(league, stop_when=StopWhen(matches=2))
        table, alone = standings(league), shrunk_fit(table_outcomes(league), 3)
        for line in table.lines:
            place = league.season.names.index(line.bot)
            assert line.record.played == sum(place in f.seats for f, _ in league.results())
            assert (line.error == pytest.approx(alone.half(place))) == out


def table_outcomes(league: Any) -> Outcomes:
    """The results that count."""
    outcomes = Outcomes()
    for fixture, found in league.results():
        outcomes.add(fixture.group, fixture.seats, found.ranks)
    return outcomes


def test_who_tries_many_versions_gains_little_by_the_best() -> None:
    """Of twenty versions that are all alike, the best is overrated by much less if they are linked."""
    gains = []
    for number in range(8):
        rng = np.random.default_rng(number)
        truth = np.append(rng.normal(0, 100, 9), np.zeros(20))
        outcomes = Outcomes()
        for pair in [*combinations(range(9), 2)] * 20:
            outcomes.add_deal([played_by(rng, pair, truth)])
        for version in [*range(9, 29)] * 24:
            outcomes.add_deal([played_by(rng, (int(rng.integers(9)), version), truth)])
        linked = Earlier(links=tuple(pairwise(range(9, 29))))
        for earlier in (None, linked):
            fit = shrunk_fit(outcomes, 29, earlier=earlier)
            off = np.array(fit.ratings) - truth
            gains.append(off[9:].max() - off[:9].mean())
    assert np.mean(gains[1::2]) < 45 < 60 < np.mean(gains[::2])


def played_by(rng: Any, seats: tuple[int, int], truth: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """A match of two bots with these true ratings: the seats and their ranks."""
    lead = (truth[seats[0]] - truth[seats[1]]) / SCALE
    return seats, ((1, 2) if rng.random() < 1 / (1 + np.exp(-lead)) else (2, 1))


def pace(slow: int) -> Any:
    """How long bots think in a match, in milliseconds: the first ones a hundred times as long as the others."""
    return lambda bot: 100_000.0 if bot < slow else 1_000.0


def charged(deals: list[Any], slow: int) -> tuple[float, float]:
    """The seconds that all bots take in some deals, and those of the slow ones among them."""
    wall_ms = pace(slow)
    seconds = [(bot, len(group.seats) * wall_ms(bot) / 1000) for group in deals for bot in group.bots]
    return sum(time for _, time in seconds), sum(time for bot, time in seconds if bot < slow)


@pytest.mark.parametrize(("slow", "others"), [(4, 10), (1, 4)])
def test_slow_bots_take_a_bounded_share_of_the_time(make_season: Any, slow: int, others: int) -> None:
    """Beyond their first deals, they take no more than a tenth; and they play on when the time for it has come."""
    season, bots = make_season(slow + others, 2, kind="ladder"), slow + others
    deals, _ = simulated(season, np.zeros(bots), np.random.default_rng(1), most=4_000, wall_ms=pace(slow))
    whole, of_slow = charged(deals, slow)
    first = 2 * slow * 100
    assert of_slow <= 0.1 * whole + first + 2 * 100
    often = Counter(bot for group in deals for bot in group.bots)
    assert min(often[bot] for bot in range(slow)) >= 1
    assert sum(often[bot] for bot in range(slow)) > slow


def test_a_bot_is_slow_by_its_own_decisions_alone(make_season: Any) -> None:
    """What a match takes beside decisions, such as with whom it was, counts against nobody: all play on."""
    season = make_season(8, 2, kind="ladder")
    deals, _ = simulated(
        season,
        np.zeros(8),
        np.random.default_rng(1),
        most=800,
        wall_ms=lambda _: 500.0,
        start_ms=lambda bot: 0.0 if bot else 10_000.0,
    )
    often = Counter(bot for group in deals for bot in group.bots)
    assert min(often.values()) > max(often.values()) / 2


def test_without_the_bound_slow_bots_take_nearly_all_the_time(make_season: Any) -> None:
    """`time_share` is what bounds it."""
    season = make_season(8, 2, kind="ladder", time_share=1.0)
    deals, _ = simulated(season, np.zeros(8), np.random.default_rng(1), most=1_000, wall_ms=pace(4))
    whole, of_slow = charged(deals, 4)
    assert of_slow > 0.9 * whole


def test_bots_that_think_alike_all_play(make_season: Any) -> None:
    """Who takes less than twice the usual time is not slow, and most bots cannot be slower than usual."""
    season = make_season(8, 2, kind="ladder")
    for wall_ms in (lambda bot: 1_000.0 + 100.0 * bot, lambda bot: 60_000.0 if bot else 10.0):
        deals, _ = simulated(season, np.zeros(8), np.random.default_rng(1), most=800, wall_ms=wall_ms)
        often = Counter(bot for group in deals for bot in group.bots)
        assert min(often.values()) > 0.15 * max(often.values())


def test_a_new_bot_plays_one_deal_before_it_is_known_how_slow_it_is(make_season: Any) -> None:
    """So a ladder begins with one deal of each bot, and then waits for these."""
    first = next(format_of(make_season(8, 2, kind="ladder")).batches())
    assert sorted(bot for group in first for bot in group.bots) == list(range(8))


def test_a_ladder_with_slow_bots_can_be_computed_again(cup: Cup) -> None:
    """Its pairings follow from the times in the records: `verify` finds the same ones, also when it was resumed."""
    path = write(cup, *"abcdef", extra='kind = "ladder"')

    def play(spec: Any) -> Any:
        result = cup.fake.play(spec)
        slow = [seat.bot in "ab" for seat in spec.seats]
        times = tuple(
            attrs.evolve(time, wall_ms=50_000.0 if late else 500.0)
            for time, late in zip(result.times, slow, strict=True)
        )
        return attrs.evolve(result, times=times)

    for most in (30, 31, 60):
        with cup.open(path) as league:
            cup.run(league, play=play, stop_when=StopWhen(matches=most))
            assert mispaired(league) == []
    with cup.open(path) as league:
        often = Counter(bot for fixture, _ in league.results() for bot in fixture.seats)
        assert len(list(league.results())) == 121
        assert often[0] + often[1] < often[2] / 2
