"""Machines of a cluster that differ: their residuals and speeds, the rule, and how their matches are played again."""

import json
from typing import Any

import attrs
import numpy as np
import pytest
from tests.league.conftest import Command, Cup
from tests.league.inline import Trusting

from warpleague.league.ratings.statistics import chi_square_tail
from warpleague.league.results.machines import MachineLine, compared
from warpleague.league.store.columns import Columns
from warpleague.match.spec import Confinement, MatchResult, MatchSpec


@pytest.mark.parametrize(
    ("value", "freedom", "tail"),
    [(0.0, 3, 1.0), (3.841459, 1, 0.05), (5.991465, 2, 0.05), (16.918978, 9, 0.05), (124.342113, 100, 0.05)],
)
def test_the_tail_of_chi_square_is_that_of_printed_tables(value: float, freedom: int, tail: float) -> None:
    """The 95 % points of Abramowitz and Stegun, table 26.8, to seven digits."""
    assert chi_square_tail(value, freedom) == pytest.approx(tail, rel=1e-5)


def simulated(random: Any, bots: int, deals: int, machines: int, **how: float) -> list[MachineLine]:
    """A double round-robin whose matches are played on machines drawn at random.

    Bots differ by one unit of log odds from one to the next. On machine 0 the first bot is worse by `worse` units, and
    all take `slower` times as long.
    """
    tables = np.array([(one, other) for one in range(bots) for other in range(bots) if one != other])
    seats = np.repeat(tables, deals, axis=0)
    count = len(seats)
    owners = random.integers(0, machines, count)
    strength = seats - how.get("worse", 0.0) * ((seats == 0) & (owners == 0)[:, None])
    first = random.random(count) < 1 / (1 + np.exp(strength[:, 1] - strength[:, 0]))
    times = np.ones((count, 2, 5))
    times[:, :, 2] = np.exp(random.normal(0, 0.3, (count, 2)))
    times[owners == 0, :, 2] *= how.get("slower", 1.0)
    values = {
        "number": np.arange(count),
        "group": np.arange(count),
        "seats": seats,
        "ranks": np.where(first[:, None], [[1, 2]], [[2, 1]]),
        "scores": np.zeros((count, 2)),
        "rival": np.full(count, np.nan),
        "faults": np.zeros((count, 2), np.int64),
        "times": times,
    }
    return compared([f"machine {one}" for one in range(machines)], Columns(2, values), owners, bots)


@pytest.mark.parametrize(("bots", "deals"), [(2, 100), (6, 5)])
def test_residuals_of_equal_machines_are_normal(bots: int, deals: int) -> None:
    """Where machines are alike, one residual of twenty is above 1.64, and hardly ever does a machine stand out."""
    random = np.random.default_rng(1)
    lines = [line for _ in range(150) for line in simulated(random, bots, deals, 6)]
    residuals = [line.residual for line in lines if line.residual is not None]
    assert len(residuals) == len(lines)
    assert 0.02 < np.mean(np.array(residuals) > 1.645) < 0.07
    assert sum(line.stands_out for line in lines) <= 1


def test_a_machine_that_differs_stands_out_and_a_slow_one_alone_does_not() -> None:
    """The rule is about results; the interval of the speed covers the truth."""
    random = np.random.default_rng(2)
    worse, *others = simulated(random, 2, 300, 4, worse=3.0)
    assert worse.stands_out
    assert not any(line.stands_out for line in others)
    slow, *others = simulated(random, 2, 300, 4, slower=2.0)
    assert not slow.stands_out
    assert slow.speed is not None
    assert slow.speed[1] < 0.5 < slow.speed[2] < 0.6
    for line in others:
        assert line.speed is not None
        assert line.speed[0] > 1.1


def test_of_two_machines_none_stands_out() -> None:
    """Both have the same residual, however large: nobody can say which of the two is wrong."""
    lines = simulated(np.random.default_rng(3), 2, 300, 2, worse=3.0)
    assert lines[0].residual == pytest.approx(lines[1].residual)
    assert lines[0].residual is not None
    assert lines[0].residual > 5
    assert not any(line.stands_out for line in lines)


def test_matches_of_a_machine_that_stands_out_are_played_again(cup: Cup, command: Command) -> None:
    """`times --workers` names the machine, `mend --workers` removes its matches, and the next run plays them."""
    path, turn = cup.file("a", "b", deals=60), iter(range(1_000))

    def play(spec: MatchSpec, broken: int = 3) -> MatchResult:
        machine = next(turn) % 4
        result: MatchResult = cup.fake.play(spec)
        if machine == broken:
            result = attrs.evolve(result, ranks=tuple(2 if seat.bot == "a" else 1 for seat in spec.seats))
        return attrs.evolve(result, confinement=Confinement(level="limits", machine=f"m{machine}"))

    cup.play(path, play=play)
    code, out, _ = command("times", path, "--workers", "--json")
    lines = json.loads(out)
    assert code == 0
    assert [line["machine"] for line in lines] == ["m0", "m1", "m2", "m3"]
    assert sum(line["matches"] for line in lines) == 120
    assert [line["stands_out"] for line in lines] == [False, False, False, True]
    assert lines[3]["residual"] > max(line["residual"] for line in lines[:3])
    assert lines[0]["speed_low"] is None  # of a speed that is always the same no interval is known
    _, out, _ = command("times", path, "--workers")
    assert "stands out" in out
    _, out, _ = command("status", path, "--json")
    assert [way["matches"] for way in json.loads(out)["held"]] == [120]  # a machine is no way to confine bots
    code, out, _ = command("mend", path, "--json", new_pool=Trusting)
    assert json.loads(out)["removed"] == []
    code, out, _ = command("mend", path, "--workers", "--json", new_pool=Trusting)
    removed = json.loads(out)["removed"]
    assert len(removed) == lines[3]["matches"]
    assert {one["problem"] for one in removed} == {
        "it was played on m3, where results differ from those elsewhere"
    }
    with cup.open(path) as league:
        assert cup.run(league, play=lambda spec: play(spec, broken=-1)).played == len(removed)
        assert {event.details["match"] for event in league.store.events("removed")} == {
            one["match"] for one in removed
        }
    _, out, _ = command("times", path, "--workers", "--json")
    assert not any(line["stands_out"] for line in json.loads(out))


def test_a_league_without_a_cluster_has_no_machines(cup: Cup, command: Command) -> None:
    """That is said; nothing can be compared."""
    path = cup.file("a", "b")
    cup.play(path)
    assert "No match was played on a cluster" in command("times", path, "--workers")[1]
    assert json.loads(command("times", path, "--workers", "--json")[1]) == []
