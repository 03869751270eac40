"""Tests of strength as leagues: what they play, when they stop, and that nothing but whole deals in order decides."""

import json
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
from tests.league.conftest import Cup, MakeSeason

import warpleague.cli
import warpleague.league.play.running
import warpleague.runner.bundle.bundle
import warpleague.runner.play
from warpleague.cli import Tools, main
from warpleague.errors import ConfigError
from warpleague.league.ratings.sprt import Sprt
from warpleague.league.ratings.statistics import expected
from warpleague.league.results.status import Follower, strength_test
from warpleague.league.schedule.formats.strength_test import Deal, StrengthFormat, StrengthTest
from warpleague.league.season.config import EntrantClock, load_config
from warpleague.match.spec import MatchResult, MatchSpec, SeatFault, SeatTimes
from warpleague.report.wording.league_words import (
    brief,
    estimate_line,
    estimate_words,
    exit_code,
    gauge,
    luck_lines,
    one_way_lines,
    state_lines,
    verdict,
)

FORM = "kind = 'test'\nelo1 = 100\n"


def played(spec: MatchSpec, strengths: dict[str, float]) -> MatchResult:
    """A match that the stronger bot wins more often; the deal is lucky for one seat."""
    luck = Random(spec.key).random()
    rng = Random(f"{spec.id}")
    level = [
        strengths.get(seat.bot, 0.0) + rng.random() + luck * (i == 0) for i, seat in enumerate(spec.seats)
    ]
    ranks = tuple(1 + sum(other > own for other in level) for own in level)
    times = (SeatTimes(1, 1.0, 1.0, 0.0, 1.0),) * len(ranks)
    return MatchResult(spec.id, ranks, tuple(level), "completed", "d", ((),) * len(ranks), times, b"{}\n", 1)


@pytest.fixture
def duel(cup: Cup) -> Path:
    path = cup.file("new", "old")
    text = path.read_text("utf-8").replace("deals = 3", FORM)
    path.write_text(text, "utf-8")
    return path


def test_a_test_stops_where_the_deals_in_order_decide(duel: Path, cup: Cup, tmp_path: Path) -> None:
    """Run to its end, run on after a stop, or with matches that end in any order: the same deals decide."""

    def play(spec: MatchSpec) -> MatchResult:
        return played(spec, {"new": 0.3})

    found = []
    for name, most in (("whole", 10_000), ("parts", 30)):
        while True:
            count = 0

            def some(spec: MatchSpec) -> MatchResult:
                nonlocal count
                count += 1
                if count > most:  # noqa: B023 - called at once
                    raise RuntimeError("out of time")
                return play(spec)

            with cup.open(duel, tmp_path / name) as league:
                report = cup.run(league, play=some)
                state = strength_test(league)
                if report.complete:
                    found.append((state.to_json(), [fixture.id for fixture in league.schedule]))
                    break
    assert found[0] == found[1]
    assert found[0][0]["decision"] == "accepted"
    assert found[0][0]["llr"] >= found[0][0]["llr_high"]
    # What a batch played beyond the end changes nothing.
    assert found[0][0]["matches"] <= len(found[0][1])


def test_a_deal_counts_once_it_and_all_before_it_are_whole(make_season: MakeSeason) -> None:
    """Matches of later deals that end first wait for those of earlier ones."""
    season = make_season(2, 2, kind="test")
    test = StrengthFormat(season)
    groups = list(next(iter(test.batches())))
    assert all(set(group.seats) == {(0, 1), (1, 0)} for group in groups)
    follower = Follower(season)

    class Fixed:
        ranks, scores, rival, faults = (1, 2), (3.0, 1.0), None, ((), ())

    def end(group: int, seats: Any) -> int:
        fixture = type("F", (), {"seats": seats, "group": group})
        follower.finished(fixture, Fixed())  # type: ignore[arg-type]
        return follower.state.counts.deals

    assert end(1, (0, 1)) == 0
    assert end(1, (1, 0)) == 0
    assert end(0, (0, 1)) == 0
    assert end(0, (1, 0)) == 2
    # Whoever sat first won: each deal is level.
    assert (follower.state.won, follower.state.level, follower.state.lost) == (0, 2, 0)


def test_beside_a_field_both_take_the_same_seats(make_season: MakeSeason) -> None:
    """At a table of three each of both bots sits in each seat beside the same field, on the same deal."""
    season = make_season(4, 3, kind="test")
    groups = list(next(iter(StrengthFormat(season).batches())))
    for group in groups:
        with_new = [seats for seats in group.seats if 0 in seats]
        with_old = [seats for seats in group.seats if 1 in seats]
        assert [tuple(1 if bot == 0 else bot for bot in seats) for seats in with_new] == with_old
        assert sorted(seats.index(0) for seats in with_new) == [0, 1, 2]
    assert len({group.round for group in groups}) == len(groups)
    # The field changes its order, so that not always the same bot follows.
    orders = {group.seats[0] for group in groups}
    assert len(orders) > 1


@pytest.mark.parametrize(("players", "pool"), [(2, 3), (3, 5), (4, 3), (4, 6)])
def test_the_field_of_each_deal_is_dealt_from_the_pool(
    players: int, pool: int, make_season: MakeSeason
) -> None:
    """Both never meet and have the same field and seats; the pool plays equally often, in an order by the secret."""
    tests = [
        StrengthFormat(make_season(2 + pool, players, kind="test", secret=letter * 32))
        for letter in (b"a", b"b")
    ]
    fields = []
    for round_ in range(4 * pool):
        seats = tests[0].group(round_).seats
        with_new = [table for table in seats if 0 in table]
        assert [tuple(1 if bot == 0 else bot for bot in table) for table in with_new] == [
            table for table in seats if 1 in table
        ]
        assert len(seats) == 2 * len(with_new) == 2 * players
        assert {len(set(table)) for table in seats} == {players}
        fields.append(set(with_new[0]) - {0})
    met = [sum(bot in field for field in fields) for bot in range(2, 2 + pool)]
    assert set(met) == {4 * (players - 1)}
    orders = [[test.group(round_).seats for round_ in range(4 * pool)] for test in tests]
    assert orders[0] != orders[1]


def test_beside_a_field_both_shares_are_told_and_no_elo_of_them() -> None:
    """The best against the worst: shares of 100 and 0 %, a difference of 100 points and not a share of 150 %."""
    state = StrengthTest(Sprt(0.0, 20.0), -0.5, 1.5, fixed=True)
    for new, old in ((1.0, 0.0), (1.0, 0.25), (1.0, 0.0), (0.75, 0.0), (1.0, 0.0)):
        state.add(Deal(0.5 + new - old, new, old, (new, old), 4))
    assert state.judged == 1
    told = "\n".join([*state_lines(state), estimate_line(state), verdict(state, "new", "old"), brief(state)])
    assert "share of the new bot 95.0 %, of the old one 5.0 %, difference +90.0 ± 17.0" in told
    assert "difference +90.0 points of 100 (+73.0 to +100.0 with 95 % confidence)" in told
    assert "Elo" not in told
    data = state.to_json()
    assert (data["share_new"], data["share_old"], data["difference"]) == (0.95, 0.05, 0.9)
    assert data["difference_low"] == pytest.approx(0.9 - data["difference_half"], abs=1e-5)
    assert (data["difference_high"], data["elo"], data["low"], data["high"]) == (1.0, None, None, None)
    going = StrengthTest(Sprt(0.0, 20.0), -0.5, 1.5)
    going.add(Deal(0.75, 0.5, 0.25, (1.0, 0.0), 4))
    assert "Elo" not in "\n".join([*state_lines(going), estimate_line(going), verdict(going, "new", "old")])
    assert "(0 or 2.88 points of 100)" in state_lines(going)[0]


def test_a_fixed_test_never_contradicts_its_interval() -> None:
    """A likelihood of 95.5 % with an interval that holds equal bots is undecided, in a duel and beside a field."""
    for low, values, judged in (
        (0.0, (1.0, 0.75, 1.0, 0.5, 0.5), 0),
        (0.0, (1.0, 0.75, 1.0, 0.75, 0.75), 1),
        (0.0, (0.0, 0.25, 0.0, 0.25, 0.25), -1),
        (-0.5, (1.0, 0.75, 1.0, 0.5, 0.5), 0),
        (-0.5, (0.25, 0.25, 0.0, 0.25, 0.0), -1),
    ):
        state = StrengthTest(Sprt(alpha=0.1), low, 1 - low, fixed=True)
        for value in values:
            state.add(Deal(value, value / 2, (1 - value) / 2, (value, 0.0), 2))
        mean, half = state.difference, state.difference_half
        assert half is not None
        assert (mean - half > 0, mean + half < 0) == (judged > 0, judged < 0)
        assert (state.judged, exit_code(state)) == (judged, {1: 0, 0: 3, -1: 1}[judged])
        if not judged:
            assert (state.superiority or 0) > 0.95
            assert "equal bots are within the 95 % interval" in verdict(state, "new", "old")


def test_what_a_deal_is_worth() -> None:
    """Each other: the share of points. Beside a field: a half and the difference. Alone: whoever scored more."""
    each_other = Deal.of([((0, 1), (1, 2), (9.0, 5.0), None), ((1, 0), (1, 1), (6.0, 6.0), None)])
    assert (each_other.value, each_other.scores) == (0.75, (7.5, 5.5))
    field = Deal.of(
        [((0, 2, 3), (1, 2, 3), (5.0, 4.0, 3.0), None), ((1, 2, 3), (2, 1, 3), (4.0, 5.0, 3.0), None)]
    )
    assert (field.value, field.new, field.old) == (1.0, 1.0, 0.5)
    alone = Deal.of([((0,), (1,), (12.0,), 10.0), ((1,), (1,), (13.0,), 10.0)])
    assert (alone.value, alone.scores) == (0.0, (2.0, 3.0))


def test_beside_a_field_the_difference_on_the_same_seats_decides() -> None:
    """What is counted is the difference of shares; the state says so, and how much luck the shared deals took out."""
    rng = Random(1)
    state = StrengthTest(Sprt(0, 1, games=3), -0.5, 1.5)
    for _ in range(200):
        lucky = [rng.random() < 0.5 for _ in range(3)]
        matches = []
        for seat, luck in enumerate(lucky):
            for bot, worse in ((0, 0.0), (1, 0.2)):
                seats = tuple(bot if place == seat else 2 + (place - seat) % 3 for place in range(3))
                # The luck of the deal decides whether this seat is first or last, but for a slip now and then.
                first = luck != (rng.random() < worse)
                ranks = tuple(2 if place != seat else 1 if first else 3 for place in range(3))
                matches.append((seats, ranks, (0.0, 0.0, 0.0), None))
        state.add(Deal.of(matches))
    assert state.beside
    assert state.counts.mean - 0.5 == pytest.approx(0.0, abs=0.05)
    assert 0.2 < (state.saved_share or 0.0) < 0.5
    assert state.to_json()["share_variance_ratio"] == round(state.saved_share or 0.0, 4)
    (line,) = luck_lines(state)
    assert line.startswith("Decided by the difference of shares in the same seats of the same deals: ")


def test_a_fixed_test_plays_its_matches(duel: Path, cup: Cup) -> None:
    """With `fixed`, results do not stop it, and the estimate is not corrected."""
    duel.write_text(duel.read_text("utf-8").replace("elo1 = 100", "fixed = 60"), "utf-8")
    with cup.open(duel) as league:
        report = cup.run(league, play=lambda spec: played(spec, {"new": 0.4}))
        assert (report.total, report.complete) == (60, True)
        state = strength_test(league)
    assert (state.counts.deals, state.decision) == (30, 0)
    told = state.estimate()
    assert told.low < told.elo < told.high
    assert verdict(state, "new", "old").startswith("Accepted after 60 matches on 30 deals: new is stronger")


def test_a_fixed_test_judges_deals_that_went_alike() -> None:
    """Deals that all went alike have no error: what is said is how likely that is for equal bots, and a bound."""

    def fixed(value: float, deals: int, low: float = 0.0) -> tuple[StrengthTest, str]:
        state = StrengthTest(Sprt(), low, 1.0 - low, fixed=True)
        for _ in range(deals):
            state.add(Deal(value, value, 1 - value, (1.0, 0.0), 2))
        return state, verdict(state, "new", "old")

    won, said = fixed(1.0, 10)
    assert won.by_chance == 0.5**10
    assert said == (
        "Accepted after 20 matches on 10 deals: new won every deal; if it is not stronger than old, the probability "
        "of that is less than 0.1 %."
    )
    told = won.estimate()
    # Deals of a bot that wins this share of them are all won with a probability of 5 %.
    assert told.low is not None
    assert told.elo is None
    assert told.high is None
    assert expected(told.low) ** 10 == pytest.approx(0.05)
    assert estimate_words(told).startswith("more than +")
    assert (won.to_json()["decision"], exit_code(won)) == ("accepted", 0)
    lost, said = fixed(0.0, 5)
    assert exit_code(lost) == 1
    assert said.startswith("Rejected after 10 matches on 5 deals: old won every deal")
    assert estimate_words(lost.estimate()).startswith("less than -")
    few, said = fixed(1.0, 4)
    assert exit_code(few) == 3
    assert said.endswith("the probability of that is at most 6.2 %.")
    level, said = fixed(0.5, 200)
    assert (exit_code(level), said) == (3, "Undecided after 400 matches on 200 deals: every deal was level.")
    around = level.estimate()
    assert around.low == pytest.approx(-(around.high or 0))
    assert 0 < (around.high or 0) < 10
    # A value that is no sum of powers of two, beside a field.
    third, _ = fixed(0.5 + 1 / 3, 7, low=-0.5)
    assert third.by_chance == pytest.approx(0.75**7)
    assert third.superiority is None


def test_an_undecided_test_ends_at_its_limit(duel: Path, cup: Cup) -> None:
    """With `max_matches` it stops undecided, and says what it knows."""
    duel.write_text(duel.read_text("utf-8").replace("elo1 = 100", "elo1 = 5\nmax_matches = 41"), "utf-8")
    with cup.open(duel) as league:
        report = cup.run(league, play=lambda spec: played(spec, {}))
        assert (report.played, report.complete) == (40, True)
        state = strength_test(league)
    said = verdict(state, "new", "old")
    assert said.startswith("Undecided after 40 matches on 20 deals: the test has chosen neither 0 nor 5 Elo")
    assert said.endswith("The 95 % interval of the estimate holds both.")
    assert "LLR" in brief(state)
    assert "●" in gauge(state)
    assert any("share" in line for line in state_lines(state))


def test_an_interval_is_shown_once_it_rules_something_out() -> None:
    """Two deals give an interval wider than all shares there are: it is left out, and said to be."""
    state = StrengthTest(Sprt(), 0.0, 1.0)
    for value in (1.0, 0.5):
        state.add(Deal(value, value, 1 - value, (1.0, 0.0), 2))
    for told in (brief(state), "\n".join(state_lines(state))):
        assert "share 75.0 % (too few deals yet for an interval)" in told
        assert "±" not in told
        assert "LOS" not in told
        assert "left" not in told
    for value in (1.0, 0.5) * 10:
        state.add(Deal(value, value, 1 - value, (1.0, 0.0), 2))
    for told in (brief(state), "\n".join(state_lines(state))):
        assert "share 75.0 % ± 11.3" in told
        assert "LOS 100.0 %" in told
        assert "left" in told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("elo1 = -3", "format.elo1"),
        ("dice = 'own'", "format.dice"),
        ("seats = 'fixed'", "format.seats"),
        ("deals = 4", "leave out tables and deals"),
        ("alpha = 0.0", "alpha"),
    ],
)
def test_what_a_test_cannot_be(duel: Path, change: str, told: str) -> None:
    """What makes no sense in a test is refused, with the key that is wrong."""
    duel.write_text(duel.read_text("utf-8").replace("elo1 = 100", change), "utf-8")
    with pytest.raises(ConfigError, match=told):
        load_config(duel)


def test_a_test_needs_the_right_number_of_bots(cup: Cup) -> None:
    """A pool may be larger than the table, and not smaller."""
    path = cup.file("a", "b", "c", "d")
    path.write_text(path.read_text("utf-8").replace("deals = 3", FORM), "utf-8")
    assert len(load_config(path).bots) == 4
    path = cup.file("a", "b", "c", game="id = 'captains'\nplayers = 3")
    path.write_text(path.read_text("utf-8").replace("deals = 3", FORM), "utf-8")
    with pytest.raises(ConfigError, match="a table of 3 needs at least 2 more bots, not 1"):
        load_config(path)


@pytest.fixture
def compare(tools: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> Any:
    """Runs `warpleague compare`, with stand-ins, in a folder with two bots; gives exit code, output and remarks."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "other"):
        (tmp_path / "bots" / name).mkdir(parents=True)

    deals: dict[bytes, int] = {}

    def run(
        strength: float,
        *arguments: str,
        new: str = "bots/one",
        old: str = "bots/other",
        first: bool = False,
        crashes: str = "",
    ) -> Any:
        def play(spec: MatchSpec) -> MatchResult:
            # The season's dice follow from the name of this folder, too, which differs from run to run.
            deal = deals.setdefault(spec.key, len(deals))
            same = attrs.evolve(spec, key=deal.to_bytes(32, "big"), id=f"{deal} {spec.seats[0].bot}")
            found = attrs.evolve(played(same, {new.rpartition("/")[2]: strength}), id=spec.id)
            if not crashes:
                return found
            out = [seat.bot == crashes for seat in spec.seats]
            fault = SeatFault("crash", 7, True, "killed by SIGSEGV")
            return attrs.evolve(
                found,
                ranks=tuple(1 + gone for gone in out),
                faults=tuple((fault,) if gone else () for gone in out),
            )

        bots = ["aliens", new, old] if first else [new, old, "--game", "aliens"]
        words = ["compare", *bots, "--seed", "s", "--elo1", "150", *arguments]
        code = main(words, Tools(**{**tools, "play": play}))
        return code, *capsys.readouterr()

    return run


def test_exit_codes_of_compare(compare: Any, tmp_path: Path) -> None:
    """0: accepted, 1: rejected, 3: undecided, 2: bad input; resumed, it plays nothing and says the same."""
    code, out, err = compare(0.8)
    assert code == 0, err
    assert "Accepted after" in out
    assert "one against other" in err
    code, again, _ = compare(0.8, "--quiet")
    assert code == 0
    assert "0 matches played" in again
    assert again.splitlines()[0] == out.splitlines()[0]
    code, out, _ = compare(-0.3, "--alpha", "0.04", "--seed", "t")
    assert (code, "Rejected after" in out) == (1, True)
    code, out, _ = compare(0.0, "--max-matches", "8", "--json", "--seed", "u")
    data = json.loads(out)
    assert (code, data["decision"], data["deals"], data["left"]) == (3, "undecided", 4, None)
    assert data["path"][-1] == [4, pytest.approx(data["llr"], abs=1e-3)]
    code, _, err = compare(0.0, "--game", "alien")
    assert (code, "aliens" in err) == (2, True)
    code, _, err = compare(0.0, "--players", "3")
    assert code == 2
    files = list((tmp_path / "results").glob("compare-one-other-*.toml"))
    assert len(files) == 3
    assert attrs.asdict(load_config(files[0]).format)["kind"] == "test"


def test_compare_over_a_pool(compare: Any, tmp_path: Path, capsys: Any) -> None:
    """Both play each bot of the pool, never each other; a pool that does not fill the table is refused."""
    for name in ("a", "b", "c"):
        (tmp_path / "bots" / name).mkdir()
    pool = ("--field", "bots/a,bots/b,bots/c", "--quiet")
    # So many that no bot wins or loses everything by chance, which would leave the Elo without an interval.
    code, out, _ = compare(0.7, *pool, "--fixed", "192", "--json")
    data = json.loads(out)
    assert (code, data["field"], data["matches"], data["deals"]) == (0, ["a", "b", "c"], 192, 48)
    assert 0 <= data["share_old"] < data["share_new"] <= 1
    assert all(-1 <= value <= 1 for value, _ in data["values"])
    assert main(["league", "standings", data["file"], "--json"]) == 0
    ratings = {line["bot"]: line["rating"] for line in json.loads(capsys.readouterr().out)["standings"]}
    assert data["elo"] == pytest.approx(ratings["one"] - ratings["other"], abs=0.02)
    assert data["low"] < data["elo"] < data["high"]
    assert not data["elo_is_a_guess"]
    code, out, _ = compare(2.0, *pool)
    assert code == 0
    assert "share of the new bot " in out.splitlines()[1]
    assert "Elo by the fit of all bots: " in out
    (file, *_) = (tmp_path / "results").glob("compare-one-other-*.toml")
    assert load_config(file).game.players == 2
    for words, told in (
        (("--field", "bots/a", "--players", "1", "--game", "captains"), "alone at a table"),
        (("--field", "bots/a", "--players", "3", "--game", "captains"), "needs at least 2 more bots, not 1"),
    ):
        code, _, err = compare(0.0, *words)
        assert (code, told in err) == (2, True), err


def test_beside_a_field_a_bot_that_lost_everything_has_a_guess(compare: Any, tmp_path: Path) -> None:
    """The table guesses its distance, and so does the test: an Elo without an interval, which says so."""
    (tmp_path / "bots" / "a").mkdir()
    options = ("--field", "bots/a", "--fixed", "24", "--quiet")
    _, out, _ = compare(0.5, *options, crashes="other")
    assert "Elo by the fit of all bots: ≈ +" in out
    assert "a guess" in out
    _, out, _ = compare(0.5, *options, "--json", crashes="other")
    data = json.loads(out)
    assert data["elo"] > 0
    assert (data["low"], data["high"], data["elo_is_a_guess"]) == (None, None, True)


@pytest.mark.parametrize(("crashes", "winner"), [("one", "other"), ("other", "one")])
@pytest.mark.parametrize("test", [("--elo1", "20", "--max-matches", "60"), ("--fixed", "60")])
def test_a_bot_that_faulted_in_every_match_leaves_no_verdict(
    compare: Any, crashes: str, winner: str, test: tuple[str, ...]
) -> None:
    """It says who faulted, in words and in JSON; nobody is accepted, and the exit code is that of `rate`."""
    options = (*test, "--quiet")
    code, out, _ = compare(0.0, *options, crashes=crashes)
    assert code == 1
    (said,) = [line for line in out.splitlines() if line.startswith("No verdict after 60 matches")]
    assert said.endswith(f"{crashes} faulted in every match, so nothing is known of which bot is stronger.")
    assert f"{crashes} faulted in 60 of 60 matches (crash: killed by SIGSEGV)." in out
    assert "Accepted" not in out
    code, out, _ = compare(0.0, *options, "--json", crashes=crashes)
    data = json.loads(out)
    assert (code, data["decision"]) == (1, "undecided")
    assert data["always_faulted"] == ["new" if crashes == "one" else "old"]
    code, out, _ = compare(0.0, "--elo1", "100", "--quiet", crashes=crashes)
    assert (code, "No verdict after" in out) == (1, True)
    assert data["faults"] == [
        {"bot": crashes, "played": 60, "faulted": 60, "kind": "crash", "message": "killed by SIGSEGV"}
    ]
    assert (data["one_way"], data["same_bot"]) == ("won" if winner == "one" else "lost", False)


def test_a_test_can_stop_at_a_fault(compare: Any) -> None:
    """With exit code 1, and a line that says which match and fault; accepted or not is not the question then."""
    code, out, _ = compare(0.0, "--stop-on-fault", crashes="other")
    assert code == 1
    assert "Stopped at a fault: match " in out
    assert "other: crash: killed by SIGSEGV; played matches stay." in out


def test_a_bot_against_itself_is_told(compare: Any) -> None:
    """It is a way to try the test, so it is played, and said before and after; another clock is another bot."""
    code, out, err = compare(0.0, "--max-matches", "8", old="bots/one", new="bots/one")
    assert code == 3
    for text in (out, err):
        assert "are the same bot (content " in text
    code, out, _ = compare(0.0, "--max-matches", "8", "--json", old="bots/one", new="bots/one")
    assert json.loads(out)["same_bot"] is True
    code, out, err = compare(0.0, "--max-matches", "8", old="bots/one@0.1s", new="bots/one")
    assert "are the same bot" not in out + err


def test_a_verdict_says_what_the_interval_holds() -> None:
    """Both, one of them, or none; and of a test that decided, whether every deal went one way."""

    def said(values: list[float], elo0: float = 0.0, elo1: float = 20.0) -> str:
        state = StrengthTest(Sprt(elo0, elo1), 0.0, 1.0)
        for value in values:
            state.add(Deal(value, value, 1 - value, (value, 0.0), 2))
        return " ".join([verdict(state, "new", "old"), *one_way_lines(state, "new", "old")])

    mixed = [1.0, 0.0, 0.5, 0.5] * 5
    assert "holds both" in said(mixed)
    assert "holds 0 and not 900" in said(mixed[:8], 0.0, 900.0) or "Rejected" in said(mixed[:8], 0.0, 900.0)
    assert "Every deal" not in said(mixed)
    assert said([0.5] * 5).endswith("Every deal was level.")
    assert said([1.0] * 100).endswith("Every deal went one way: new won them all.")
    assert said([1.0] * 100).startswith(
        "Accepted after 106 matches on 53 deals: the lead of new over old is nearer to 20 than to 0 Elo. By the "
        "estimate new is better, by about "
    )
    assert "By the estimate new is worse, by about " in said([0.5] * 5 + [0.0] * 80, 0.0, 50.0)
    assert said([]) == "Undecided: no deal was played to its end."
    assert "after 2 matches on 1 deal:" in said([1.0])


def test_a_rejected_bot_may_be_better() -> None:
    """Beside a field, too: it leads by less than was asked, as its estimate says, and the verdict does not deny it."""
    state = StrengthTest(Sprt(0.0, 80.0), -0.5, 1.5)
    for _ in range(80):
        for value in (0.6, 0.5):
            state.add(Deal(value, value, 1 - value, (value, 0.0), 2))
    difference, low, _ = state.estimated_difference() or (0.0, 0.0, 0.0)
    assert difference > low > 0
    assert verdict(state, "new", "old").endswith(
        "the lead of new over old is nearer to 0 than to 11.3 points of 100. By the estimate new is better, by about "
        f"{100 * difference:.1f} points of 100, but by less than was asked."
    )


def test_each_bot_may_have_its_own_clock(compare: Any, tmp_path: Path) -> None:
    """A clock behind a folder is that bot's alone, and part of its name; what is no clock is refused."""
    code, _, err = compare(0.8, "--move-s", "2", new="bots/one@0.1s", old="bots/one@60s+0.5s/1s")
    assert code == 0
    assert "one@0.1s against one@60s+0.5s/1s" in err
    (file,) = (tmp_path / "results").glob("compare-*.toml")
    config = load_config(file)
    assert [entry.clock for entry in config.entries] == [
        EntrantClock(move_s=0.1),
        EntrantClock(move_s=1.0, bank_s=60.0, increment_s=0.5),
    ]
    assert config.clock.move_s == 2.0
    code, _, err = compare(0.8, new="bots/one@60s+0s")
    assert (code, "one@60s+0s against other" in err) == (0, True)
    for wrong in ("bots/one@", "bots/one@5", "bots/one@0.1s+"):
        code, _, err = compare(0.8, new=wrong)
        assert (code, "is not a clock; write @0.1s for each decision" in err) == (2, True)
    _, _, err = compare(0.0, "--max-matches", "4", new="bots/one@100ms")
    assert "one@0.1s against other" in err
    # A folder of this very name is meant as it stands.
    (tmp_path / "bots" / "mine@2s").mkdir()
    code, _, err = compare(0.0, "--max-matches", "4", new="bots/mine@2s")
    assert (code, "mine@2s against other" in err) == (3, True)


def test_the_game_may_stand_first(compare: Any, tmp_path: Path) -> None:
    """`compare GAME NEW OLD` is the same test as `compare NEW OLD --game GAME`; without a game both forms are told."""
    assert compare(0.8)[0] == compare(0.8, first=True)[0] == 0
    assert len(list((tmp_path / "results").glob("compare-*.toml"))) == 1
    assert warpleague.cli.main(["compare", "bots/one", "bots/other"]) == 2


def test_a_test_that_has_ended_has_nothing_left(compare: Any) -> None:
    """At its limit an undecided test does not say how many matches are likely left."""
    code, out, _ = compare(0.02, "--max-matches", "40", "--elo1", "30")
    assert code == 3
    assert "± " in out
    assert "likely left" not in out


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_ratio_is_shown_between_its_bounds_in_any_width(width: int) -> None:
    """The line of the LLR has both bounds and fits the terminal."""
    state = StrengthTest(Sprt(0, 20), 0.0, 1.0)
    for value in (1.0, 0.5, 0.0, 1.0):
        state.add(Deal(value, value, 1 - value, (value, 0.0), 2))
    line = state_lines(state, width=width)[0]
    assert len(line) <= width
    assert "-2.94 ├" in line
    assert "┤ +2.94" in line


def test_what_shared_deals_save_is_measured() -> None:
    """If all of a score is the luck of deal and seat, nothing of it is left; if none is, all of it."""
    rng = Random(1)
    for shared, low, high in ((True, 0.0, 0.1), (False, 0.8, 1.25)):
        state = StrengthTest(Sprt(0, 1), 0.0, 1.0)
        for _ in range(400):
            lucky = rng.random()

            def score(shared: bool = shared, lucky: float = lucky) -> float:
                return lucky if shared else rng.random()

            first, second = score(), score()
            state.add(Deal.of([((0, 1), (1, 2), (first, 0.0), None), ((1, 0), (1, 2), (second, 0.0), None)]))
        assert low <= (state.saved or 0.0) <= high


def test_matches_in_one_process_have_the_same_deals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--in-process` gives the same results on the same deals, says so of processor time, and its store verifies."""
    monkeypatch.chdir(tmp_path)
    words = ["compare", "bots/aliens-greedy", "bots/random-python", "--game", "aliens", "--seed", "s"]
    words += ["--option", "max_turns=20", "--fixed", "4", "--json", "--quiet", "--jobs", "1"]
    found = []
    for more in ((), ("--in-process",)):
        assert main([*words, *more]) in (0, 1, 3)
        found.append(json.loads(capsys.readouterr().out))
    between, inside = found
    for key in ("deals", "won", "level", "lost", "share_new", "score"):
        assert inside[key] == between[key]
    assert [line["decisions"] for line in inside["times"]] == [line["decisions"] for line in between["times"]]
    assert all(line["cpu_ms"] > 0 for line in inside["times"])
    assert inside["wait_ms"] == 0
    assert inside["file"] == f"results/{inside['league']}.toml"
    assert {str(file) for file in Path("results").glob("*.toml")} == {between["file"], inside["file"]}
    assert main(["league", "verify", inside["file"]]) == 0
    capsys.readouterr()
    words.remove("--json")
    assert main([*words, "--in-process"]) in (0, 1, 3)
    assert "aliens-greedy: " in (out := capsys.readouterr().out)
    assert " ms of processor time each, at most " in out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("bots/random-perl", "bots/random-python"), "random-perl runs"),
        (("bots/random-python", "itself"), "itself ended without a call of warpline.client.run"),
        (
            ("bots/random-python", "bots/random-python", "--log", "logs"),
            "neither with --cluster nor with --log",
        ),
    ],
)
def test_who_cannot_play_in_one_process(
    more: tuple[str, ...],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is in another language, reads the wire itself or needs processes is refused; nothing is left of it."""
    monkeypatch.chdir(tmp_path)
    Path("itself").mkdir()
    Path("itself/bot.toml").write_text('name = "itself"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n')
    Path("itself/bot.py").write_text("import sys\nfor line in sys.stdin:\n    pass\n")
    assert main(["compare", *more, "--game", "aliens", "--in-process"]) == 2
    assert told in capsys.readouterr().err
    assert list(Path().glob("results/*")) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("bots/one", "bots/none"), "OLD: there is no folder"),
        (("bots/none", "bots/one"), "NEW: there is no folder"),
        (("bots/one", "bots/other", "--field", "bots/none"), "--field: there is no folder"),
        (("bots/one", "bots/other", "--elo1", "-3"), "--elo1: must be above elo0"),
        (("bots/one", "bots/other", "--fixed", "1"), "--fixed: must be 2 at least"),
    ],
)
def test_what_is_refused_names_the_argument_and_leaves_nothing(
    compare: Any, words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    """Nobody who gave arguments knows of a league file; of what was not played there is none, and no store."""
    new, old, *more = words
    code, out, err = compare(0.0, *more, new=new, old=old)
    assert (code, out, told in err, ".toml" in err) == (2, "", True, False), err
    assert list(tmp_path.glob("results/*")) == []


def test_a_refused_rating_names_the_argument_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a comparison."""
    monkeypatch.chdir(tmp_path)
    assert main(["rate", "ghost", "--game", "aliens"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("warpleague: BOT: there is no folder")
    assert list(tmp_path.glob("results/*")) == []


def test_what_was_played_stays_when_something_is_refused(compare: Any, tmp_path: Path) -> None:
    """The same test with a claim that makes no sense: its matches and its file are still there."""
    compare(0.0, "--max-matches", "4")
    before = {path: path.is_dir() or path.read_bytes() for path in tmp_path.glob("results/*")}
    assert compare(0.0, "--elo0", "200")[0] == 2
    assert {path: path.is_dir() or path.read_bytes() for path in tmp_path.glob("results/*")} == before


def test_a_fixed_number_is_of_whole_deals(compare: Any) -> None:
    """It is said how many matches are played where the number is not one of them."""
    _, out, err = compare(0.0, "--fixed", "5")
    assert "after 4 matches on 2 deals" in out
    assert "note: --fixed 5: plays 4, since" in err
    assert "note" not in compare(0.0, "--fixed", "4")[2]


def test_an_undecided_test_says_who_is_stronger() -> None:
    """If the interval excludes equal bots, though the likelihood of 20 Elo has not reached its bound; both ways."""
    for low, values, told in (
        (0.0, (1.0, 1.0, 0.5), "By the estimate new is better, by about "),
        (0.0, (0.0, 0.0, 0.5), "By the estimate new is worse, by about "),
        (-0.5, (1.5, 1.25, 1.5), "By the estimate new is better, by about "),
        (0.0, (1.0, 0.0, 0.5), ""),
    ):
        state = StrengthTest(Sprt(0.0, 20.0), low, 1.0 - low)
        for value in values * 8:
            state.add(Deal(value, value / 2, (1 - value) / 2, (value, 0.0), 2))
        said = verdict(state, "new", "old")
        assert said.startswith("Undecided after 48 matches on 24 deals: ")
        assert told in said if told else "By the estimate" not in said


def test_before_a_whole_deal_nothing_is_told_of_shares() -> None:
    """A share of no deal would read as one that was lost."""
    for low in (0.0, -0.5):
        state = StrengthTest(Sprt(), low, 1.0 - low)
        for told in (brief(state), "\n".join(state_lines(state))):
            assert "no whole deal yet" in told
            assert "share" not in told
