"""Swiss: nobody meets twice, seats are balanced, byes go round, and every pairing follows from results."""

import random
import sqlite3
from collections import Counter
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from warpleague.league.play.running import run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import rounds_of, standings
from warpleague.league.schedule.formats.swiss import Field, luck_of, pair_round
from warpleague.league.season.config import load_config
from warpleague.league.season.fixture import Outcome, points_of
from warpleague.league.upkeep.verifying import mispaired
from warpleague.report.wording.bracket import bracket_json, bracket_text
from warpleague.report.wording.columns import standing_json

FORM = 'kind = "swiss"\nrounds = 4'


def played(n: int, k: int, rounds: int, *, fixed: bool = False) -> tuple[Field, list[list[tuple[int, ...]]]]:
    """A Swiss in which the stronger bot, the one with the lower number, wins most of the time."""
    rng = random.Random(n * k)
    names = [f"bot{i}" for i in range(n)]
    field, told = Field(k, 2 * (k - 1), list(range(n)), fixed), []
    for round_ in range(rounds):
        tables, byes = pair_round(field, luck_of(names, b"s" * 32, round_))
        assert sorted([bot for table in tables for bot in table] + byes) == list(range(n))
        told.append(tables)
        field.seat(tables)
        for bot in byes:
            field.bye(bot)
        for table in tables:
            order = sorted(table, key=lambda bot: bot + rng.gauss(0, n / 4))
            for place, bot in enumerate(order):
                field.scores[bot] += 2 * (k - 1 - place)
    return field, told


@pytest.mark.parametrize(
    ("n", "k", "rounds"), [(60, 2, 9), (61, 2, 9), (8, 2, 7), (60, 3, 9), (61, 4, 7), (40, 4, 9), (24, 4, 5)]
)
def test_nobody_meets_twice(n: int, k: int, rounds: int) -> None:
    """No two bots meet twice and none has two byes; at tables of two seats differ by one at most."""
    field, _ = played(n, k, rounds, fixed=True)
    assert max(field.met.values()) == 1
    assert sum(field.byes.values()) == rounds * (n % k)
    assert max(field.byes.values(), default=0) <= 1
    spreads = [max(seats) - min(seats) for seats in ([field.seats[b, s] for s in range(k)] for b in range(n))]
    assert max(spreads) <= (1 if k == 2 else 2)


def parts(bots: tuple[int, ...], k: int, met: Any) -> bool:
    """Whether bots can be parted into tables at which nobody meets again, by trying all."""
    if not bots:
        return True
    return any(
        not any(met[pair] for pair in combinations((bots[0], *rest), 2))
        and parts(tuple(bot for bot in bots[1:] if bot not in rest), k, met)
        for rest in combinations(bots[1:], k - 1)
    )


@pytest.mark.parametrize(("n", "k", "rounds"), [(16, 4, 5), (9, 3, 5), (12, 3, 6)])
def test_at_larger_tables_bots_meet_again_only_where_all_parts_would_have_it(
    n: int, k: int, rounds: int
) -> None:
    """In each round a meeting again means that no other tables of the round are without one."""
    _, told = played(n, k, rounds)
    met, avoided = Counter[tuple[int, int]](), 0
    for tables in told:
        pairs = [pair for table in tables for pair in combinations(sorted(table), 2)]
        possible = parts(tuple(range(n)), k, met)
        assert any(met[pair] for pair in pairs) != possible
        avoided += possible
        met.update(pairs)
    assert 1 < avoided < rounds


def test_bots_meet_others_of_like_scores() -> None:
    """From the second round on winners meet winners: scores of a pair differ by one win at most early on."""
    _, told = played(32, 2, 2)
    met = Counter(pair for tables in told for table in tables for pair in combinations(sorted(table), 2))
    assert set(met.values()) == {1}
    first = played(32, 2, 1)[0]
    assert {abs(first.scores[a] - first.scores[b]) for a, b in told[1]} == {0}


def seen(league: Any) -> list[Any]:
    return [(f.number, f.id, found.ranks) for f, found in league.results()]


def test_a_swiss_that_was_killed_again_and_again_is_the_same(
    write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path
) -> None:
    """Killed after every few matches and resumed, a Swiss has the same pairings as an undisturbed one."""
    path = write_league("a", "b", "c", "d", "e", extra=FORM, deals=2)
    with open_league(path, tmp_path / "once") as league:
        report = run_league(league, executor=inline, play=fake.play)
        assert (report.complete, report.total) == (True, 4 * 2 * 2 * 2)
        once = seen(league)
    for _ in range(20):
        with open_league(path, tmp_path / "killed") as league:
            if run_league(league, executor=inline, play=fake.play, watcher=fake.Stop(3)).complete:
                break
    with open_to_read(load_config(path), tmp_path / "killed") as league:
        assert seen(league) == once
        assert mispaired(league) == []


def test_a_swiss_ranks_by_points_then_by_those_of_the_opponents(
    write_league: Any, open_league: Any, fake: Any, inline: Any
) -> None:
    """Points are those of all matches and byes; Buchholz adds up who was met; equals share a rank."""
    with open_league(write_league(*"abcde", extra=FORM, deals=1)) as league:
        run_league(league, executor=inline, play=fake.play)
        lines, (_, meetings) = standings(league).lines, rounds_of(league.schedule)
        drawn, rounds = bracket_text(league), bracket_json(league)
    placed = {line.bot: line.placing for line in lines if line.placing is not None}
    byes = Counter(meeting.bots[0] for meeting in meetings if len(meeting.bots) == 1)
    for line in lines:
        number, placing = "abcde".index(line.bot), placed[line.bot]
        assert placing.points == line.record.points + 2 * byes[number]
        met = [other for meeting in meetings if number in meeting.bots for other in meeting.bots]
        met = [other for other in met if other != number] + [number] * byes[number]
        assert placing.buchholz == sum(placed["abcde"[other]].points or 0 for other in met)
        assert standing_json(line)["buchholz"] == placing.buchholz
    order = [(placed[line.bot].points, placed[line.bot].buchholz) for line in lines]
    assert order == sorted(order, reverse=True)
    assert [line.rank for line in lines] == [1 + order.index(found) for found in order]
    assert len([line for line in drawn.splitlines() if line.endswith(": bye")]) == 4
    assert sum(row["decided"] == "bye" for row in rounds) == 4
    assert sum(sum(row["points"]) for row in rounds) == 4 * (2 * 4 + 4)


def test_a_changed_result_shows_as_a_wrong_pairing(
    write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path
) -> None:
    """Where a result of the first round was altered, matches of later rounds should not have been."""
    path = write_league(*"abcdefgh", extra=FORM, deals=1)
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
        first = next(f.id for f, found in league.results() if found.ranks in ((1, 2), (2, 1)))
    db = sqlite3.connect(tmp_path / "results" / "cup" / "league.sqlite")
    db.execute(
        "UPDATE seat SET rank = 1 + (rank = 1) WHERE match = (SELECT key FROM match WHERE id = ?)",
        (first,),
    )
    db.commit()
    db.close()
    with open_to_read(load_config(path), tmp_path / "results") as league:
        wrong = mispaired(league)
    assert wrong
    assert all("should not have been" in problem for _, _, problem in wrong)


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ('kind = "swiss"', "a Swiss needs a number of rounds"),
        ("rounds = 3", 'only kind = "swiss" has rounds'),
    ],
)
def test_bad_rounds_are_refused(write_league: Any, extra: str, told: str) -> None:
    """A Swiss without rounds, and rounds without a Swiss, are errors."""
    from warpleague.errors import ConfigError

    with pytest.raises(ConfigError, match=told):
        load_config(write_league("a", "b", extra=extra))


@pytest.mark.parametrize("n", [8, 60])
def test_seeds_meet_the_other_half_first(n: int) -> None:
    """Seeded, the first round has the upper half against the lower half, in order; later, equals do the same."""
    field = Field(2, 2, list(range(n)), seeds={bot: bot for bot in range(n)})
    names = [f"bot{i}" for i in range(n)]
    tables, _ = pair_round(field, luck_of(names, b"s" * 32, 0))
    assert sorted(tuple(sorted(table)) for table in tables) == [(i, i + n // 2) for i in range(n // 2)]
    field.seat(tables)
    field.scores.update(dict.fromkeys(range(n // 2), 2))
    tables, _ = pair_round(field, luck_of(names, b"s" * 32, 1))
    quarter = n // 4
    assert {(i, i + quarter) for i in range(quarter)} <= {tuple(sorted(table)) for table in tables}


def test_seeds_are_spread_over_large_tables() -> None:
    """At tables of four each has one bot of each quarter of the seeds in the first round."""
    field = Field(4, 6, list(range(24)), seeds={bot: bot for bot in range(24)})
    tables, _ = pair_round(field, luck_of([f"bot{i}" for i in range(24)], b"s" * 32, 0))
    assert all(sorted(bot // 6 for bot in table) == [0, 1, 2, 3] for table in tables)


def test_where_scores_count_a_deal_is_won_by_their_sum() -> None:
    """Seat 0's bot wins one match of two by much: that is worth both, where else each bot has won once."""
    group: Any = SimpleNamespace(seats=((4, 7), (7, 4)))
    results: Any = [
        SimpleNamespace(ranks=(1, 2), scores=(12.0, -12.0)),
        SimpleNamespace(ranks=(1, 2), scores=(1.0, -1.0)),
    ]
    outcome = Outcome(group, tuple(results))
    assert points_of(outcome) == {4: 2, 7: 2}
    assert points_of(outcome, by_score=True) == {4: 4, 7: 0}
