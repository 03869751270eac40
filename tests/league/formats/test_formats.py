"""Swiss: nobody meets twice, seats are balanced, byes go round, and every pairing follows from results."""

import io
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import combinations
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import pytest
from rich.console import Console
from tests.league.conftest import Cup

import warpleague.league.schedule.formats as formats
from warpleague.errors import BadInput, ConfigError
from warpleague.league.play.entering import stage_problems
from warpleague.league.play.running import run_league
from warpleague.league.play.verifying import mispaired
from warpleague.league.results.league import League, open_to_read
from warpleague.league.results.standings import placings, rounds_of, standings, ties_of
from warpleague.league.schedule.formats.api import Batches
from warpleague.league.schedule.formats.knockout import Tie
from warpleague.league.schedule.formats.swiss import Field, luck_of, pair_round
from warpleague.league.schedule.schedule import Course, Schedule
from warpleague.league.season.config import load_config
from warpleague.league.season.fixture import Group, Outcome, points_of
from warpleague.league.season.season import Season
from warpleague.league.store.disqualifications import disqualify
from warpleague.league.store.events import commitment_to
from warpleague.report.terminal.live import LiveWatcher
from warpleague.report.wording.bracket import _tree, bracket_json, bracket_text, latest_lines
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


def test_a_swiss_ranks_by_points_then_by_those_of_the_opponents(cup: Cup) -> None:
    """Points are those of all matches and byes; Buchholz adds up who was met; equals share a rank."""
    with cup.open(cup.file(*"abcde", extra=FORM, deals=1)) as league:
        cup.run(league)
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


# Knockout: losers are out, byes go to the best seeds, level ties are played on, and results give every pairing.


KINDS = ["knockout", "double-elimination"]


def losses(ties: list[Tie]) -> dict[int, int]:
    """How many ties each bot lost."""
    found: dict[int, int] = {}
    for tie in ties:
        for bot in tie.bots:
            if bot is not None:
                found[bot] = found.get(bot, 0) + (bot != tie.winner)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bots", ["ab", "abc", "abcdef", "abcdefgh"])
def test_all_but_the_winner_lose_as_often_as_it_takes(kind: str, bots: str, cup: Cup) -> None:
    """All but the winner lose once, or twice with double elimination; the best seeds have the byes."""
    path = cup.file(*bots, extra=f'kind = "{kind}"', deals=1)
    with cup.open(path) as league:
        report = cup.run(league)
        assert report.complete
        ties = ties_of(league.schedule)
        lost = sorted(losses(ties).values())
        most = 1 if kind == "knockout" else 2
        assert lost[1:] == [most] * (len(bots) - 1)
        assert lost[0] < most
        byes = [bot for tie in ties if None in tie.bots and tie.round == ties[0].round for bot in tie.bots]
        assert sorted(bot for bot in byes if bot is not None) == list(range(sum(b is None for b in byes)))
        assert all(tie.points[0] != tie.points[1] or tie.deals in (0, 5) for tie in ties)
        for tie in ties:
            level = tie.points[0] == tie.points[1]
            assert tie.decided == ("bye" if None in tie.bots else "seed" if level else "points")
        found = placings(league)
        assert found is not None
        assert {bot for bot in range(len(bots)) if found[bot].reached == "winner"} == {ties[-1].winner}
        order = sorted(range(len(bots)), key=lambda bot: found[bot].order, reverse=True)
        assert set(order[:2]) == set(ties[-1].bots)
        assert "nobody" not in bracket_text(league)
        assert [row["winner"] for row in bracket_json(league)][-1] in bots
        assert list(bracket_json(league)[0]) == [
                "round", "bots", "points", "deals", "winner", "decided", "faulted",
            ]  # fmt: skip


def test_a_bracket_is_drawn_as_a_tree(make_tree: Any) -> None:
    """The first round stands on the left, each winner between the two that met; a won match is one point."""
    assert make_tree() == [
        "a 2 ───┐",
        "       ├─ a 2 ─┐",
        "d 0 ───┘       │",
        "               ├─ b*",
        "b 1.5 ─┐       │",
        "       ├─ b 2 ─┘",
        "c 0.5 ─┘",
    ]


def test_a_bye_in_the_tree_needs_no_second_line() -> None:
    """A bot without an opponent in the first round goes on by itself."""
    rounds = [
        [Tie("Semi-finals", (0, None), winner=0), Tie("Semi-finals", (1, 2), [3, 1], 1, 1)],
        [Tie("Final", (0, 1))],
    ]
    assert _tree(rounds, ["anna", "b", "c"])[0] == "anna bye ───── anna ─┐"


@pytest.fixture
def make_tree() -> Any:
    rounds = [
        [Tie("Semi-finals", (0, 3), [4, 0], 1, 0), Tie("Semi-finals", (1, 2), [3, 1], 1, 1)],
        [Tie("Final", (0, 1), [4, 4], 2, 1, "seed")],
    ]
    return lambda: _tree(rounds, "abcd")


@pytest.mark.parametrize("kind", [*KINDS, "swiss"])
def test_a_bracket_is_seen_while_it_is_played(kind: str, cup: Cup) -> None:
    """The live view shows the bracket or the rounds; the latest ones where not all fit."""

    def seen(league: League, height: int) -> str:
        console = Console(file=io.StringIO(), width=80, height=height)
        watcher = LiveWatcher(console)
        watcher.started(league, None, 0, 2)
        with console.capture() as capture:
            console.print(watcher.frame())
        return capture.get()

    path = cup.file(*"abcdefgh", extra=f'kind = "{kind}"' + "\nrounds = 3" * (kind == "swiss"), deals=1)
    with cup.open(path) as league:
        before = seen(league, 40)
        cup.run(league)
        after, low = seen(league, 60), seen(league, 14)
        whole, rows = bracket_text(league), latest_lines(league, 80, 5)
    assert all(name in before for name in "abcdefgh")
    assert all(line.rstrip() in after for line in whole.splitlines())
    assert len(rows) <= 5
    assert rows[0] in low
    assert {"knockout": "Final", "double-elimination": "inal", "swiss": "Round 3"}[kind] in "\n".join(rows)


def test_other_formats_have_no_bracket(cup: Cup) -> None:
    """Asked for the bracket of a round-robin, the program says that there is none."""
    with cup.open(cup.file("a", "b")) as league, pytest.raises(BadInput, match="has no bracket"):
        bracket_text(league)


# Seeds: by the file's order, by a draw, or by the standings of another league, as noted when bots were entered.


CUP = 'kind = "knockout"\nseeding = "rating"\nratings = "season.toml"'


@pytest.fixture
def ranked(cup: Cup) -> list[str]:
    """Plays a season of four bots; their names by rank."""
    with cup.open(cup.file("a", "b", "c", "d", name="season", deals=5)) as league:
        cup.run(league)
        return [line.bot for line in standings(league).lines]


def seeded(league: Any) -> list[str]:
    return [league.season.names[bot] for bot in league.season.seeded]


def test_the_standings_of_another_league_seed_a_cup(ranked: list[str], cup: Cup) -> None:
    """Best first, those without a rank there last, in the file's order; the best seeds have the byes."""
    path = cup.file("new", "d", "c", "b", "a", "newer", name="cup", extra=CUP)
    with cup.open(path) as league:
        assert seeded(league) == [*ranked, "new", "newer"]
        byes = [f for f in league.schedule if league.season.names[f.seats[0]] in ranked[:2]]
        assert not byes
        assert cup.run(league).complete
    with cup.read(path) as league:
        assert seeded(league) == [*ranked, "new", "newer"]


def test_seeds_stay_as_they_were_noted(ranked: list[str], cup: Cup) -> None:
    """Another result of the season changes no cup that has begun; a bot that is added later comes last."""
    path = cup.file("d", "c", "b", "a", name="cup", extra=CUP)
    with cup.open(path) as league:
        cup.run(league)
        commitment = commitment_to(league.season)
    season = cup.file("a", "b", "c", "d", name="season", deals=40)
    with cup.open(season) as league:
        cup.run(league)
        assert [line.bot for line in standings(league).lines] != ranked
    with cup.open(path) as league:
        assert seeded(league) == ranked
        assert commitment_to(league.season) == commitment
    with cup.open(cup.file("e", "d", "c", "b", "a", name="cup", extra=CUP)) as league:
        assert seeded(league) == [*ranked, "e"]


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ('kind = "knockout"\nseeding = "rating"', "needs the file of the league"),
        ('seeding = "draw"', "only a Swiss, a knockout and a double elimination have seeds"),
        ('kind = "swiss"\nrounds = 2\nratings = "season.toml"', 'only seeding = "rating"'),
        ('kind = "knockout"\nseeding = "rating"\nratings = "none.toml"', "there is no such file"),
        ('kind = "knockout"\nseeding = "rating"\nratings = "cup.toml"', "is this league"),
    ],
)
def test_seeds_that_do_not_fit_are_refused(cup: Cup, extra: str, told: str) -> None:
    """An error says what is missing or out of place, and nothing is played."""
    with pytest.raises(ConfigError, match=told):
        cup.open(cup.file("a", "b", extra=extra))


# Formats that go by results: the same matches however they are played, whole deals in schedule order only.


@attrs.frozen
class Hill:
    """King of the hill: who has more points on a deal meets the next bot; decided at the third throne in a row."""

    season: Season
    ahead: int | None = 0
    most: int = 12

    def batches(self) -> Batches:
        king, challenger, row = 0, 1, 0
        for turn in range(self.most):
            pair = (king, challenger)
            outcomes = yield [Group(pair, (pair, pair[::-1]), turn)]
            for outcome in outcomes:
                first, second = outcome.played or (None, None)
                points = (
                    0
                    if first is None
                    else second.ranks[0] - second.ranks[1] + first.ranks[1] - first.ranks[0]
                )
                out = outcome.absent or frozenset({pair[1] if points >= 0 else pair[0]})
                row = row + 1 if king not in out else 1
                if king in out:
                    king, challenger = challenger, king
                if row == 3:
                    return True
            challenger = next(
                bot % len(self.season.bots)
                for bot in range(challenger + 1, challenger + 9)
                if bot % len(self.season.bots) != king
            )
        for _ in range(self.ahead or 0):
            yield []
        return False

    def total(self, without: frozenset[int]) -> int | None:  # noqa: ARG002
        return None

    def describe(self) -> str:
        return "king of the hill"


@pytest.fixture(params=[0, 3])
def hill(request: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """Makes every league a king of the hill, with so many batches ahead."""
    module = ModuleType("warpleague.league.schedule.formats.hill")
    module.__dict__["make"] = lambda season: Hill(season, request.param)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(formats.CLASSES, "round-robin", "hill:make")
    return request.param


def seen_course(league: Any) -> tuple[list, list]:
    """The matches that count, and the table."""
    matches = [(f.number, f.id, f.seats, played.ranks) for f, played in league.results()]
    return matches, [standing_json(line) for line in standings(league).lines]


def test_results_decide_the_same_matches_however_they_are_played(hill: int, cup: Cup, tmp_path: Path) -> None:
    """In one go, on threads, or stopped and resumed after every few matches: the same matches count."""
    path = cup.file("a", "b", "c", "d")
    found = []
    with cup.open(path, tmp_path / "once") as league:
        assert league.schedule.total is None
        report = cup.run(league)
        assert report.complete
        assert report.total == report.stored <= report.played
        assert report.played - report.total <= 2 * hill
        found.append(seen_course(league))
        assert cup.run(league).played == 0
    with ThreadPoolExecutor(4) as threads, cup.open(path, tmp_path / "threads") as league:
        assert run_league(league, executor=threads, jobs=4, play=cup.fake.play).complete
        found.append(seen_course(league))
    for step in range(40):
        with cup.open(path, tmp_path / "resumed") as league:
            report = cup.run(league, watcher=cup.fake.Stop(1 + step % 3))
            if report.complete:
                break
            assert not league.store.published()
    with open_to_read(load_config(path), tmp_path / "resumed") as league:
        found.append(seen_course(league))
    assert found[0] == found[1] == found[2]


def test_matches_are_known_up_to_the_first_missing_result(hill: int, make_season: Any) -> None:
    """Without results only what is ahead is known; nothing is said of how many matches there will be."""
    schedule = Schedule(make_season(3, 2))
    assert [f.number for f in schedule] == list(range(1, 2 * (hill + 1) + 1))
    assert schedule.total is None
    course = Course(schedule)
    assert sum(len(list(batch)) for batch in iter(course.take, None)) == 2 * (hill + 1)
    assert not course.over
    with pytest.raises(TypeError):
        len(schedule)


def test_a_disqualified_bot_holds_nobody_up(hill: int, cup: Cup) -> None:
    """A format goes on without the matches that a disqualified bot has not played."""
    path = cup.file("a", "b", "c", "d")
    with cup.open(path) as league:
        cup.run(league, watcher=cup.fake.Stop(1))
        disqualify(league.store, "a", "for the test", "stay")
    with cup.open(path) as league:
        assert cup.run(league).complete


# Stopped or killed: leagues whose pairings follow from results end as undisturbed ones.


FORMATS = {
    "swiss": ("abcde", 'kind = "swiss"\nrounds = 5'),
    "knockout": ("abcdef", 'kind = "knockout"'),
    "double elimination": ("abcdef", 'kind = "double-elimination"'),
    "ladder": ("abcd", 'kind = "ladder"\nmax_matches = 60'),
    "test": ("ab", 'kind = "test"\nelo1 = 150\nmax_matches = 300'),
}
GAME = 'id = "aliens"\noptions = { max_turns = 10 }'
FINAL = f"""
seed = "test"
[entry]
leagues = ["red.toml", "blue.toml"]
top = 2
[game]
{GAME}
[format]
kind = "knockout"
extra_deals = 0
"""


def seen_whole(path: Path, results: Path) -> tuple[list[Any], list[Any]]:
    """The matches that count and the table; pairings and stages have nothing wrong."""
    with open_to_read(load_config(path), results) as league:
        assert mispaired(league) == []
        assert stage_problems(league) == []
        matches = [(f.number, f.id, f.seats, found.ranks) for f, found in league.results()]
        return matches, [standing_json(line) for line in standings(league).lines]


@pytest.fixture
def play(cup: Cup) -> Callable[..., Any]:
    """Plays what is left of a league, in this process."""

    def play(path: Path, results: Path, how: Any = None) -> Any:
        with cup.open(path, results) as league:
            report = cup.run(league, play=how or cup.fake.play)
            assert report.complete
            return report

    return play


@pytest.mark.parametrize("name", FORMATS)
def test_a_league_stopped_again_and_again_ends_as_an_undisturbed_one(
    name: str, cup: Cup, play: Any, tmp_path: Path
) -> None:
    """Stopped after every few matches and resumed, it has the matches and the table of an undisturbed one.

    Where results are altered afterwards, matches show as pairings that should not have been.
    """
    bots, form = FORMATS[name]
    path = cup.file(*bots, extra=form, deals=1 if name in ("ladder", "test") else 2)
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    play(path, whole)
    for _ in range(60):
        with cup.open(path, torn) as league:
            if cup.run(league, watcher=cup.fake.Stop(7)).complete:
                break
    matches, table = seen_whole(path, torn)
    assert (matches, table) == seen_whole(path, whole)

    # Whoever came last now wins all it played.
    last = bots.index(table[-1]["bot"])
    changed = [(int(seats[0] != last), match_id) for _, match_id, seats, _ in matches if last in seats]
    with closing(sqlite3.connect(torn / "cup" / "league.sqlite")) as db, db:
        db.executemany(
            "UPDATE seat SET rank = 1 + (seat <> ?) WHERE match = (SELECT key FROM match WHERE id = ?)",
            changed,
        )
    with open_to_read(load_config(path), torn) as league:
        wrong = mispaired(league)
    assert wrong
    assert all("should not have been" in problem for _, _, problem in wrong)


def test_a_killed_final_has_the_bots_of_an_undisturbed_one(
    cup: Cup, play: Any, refereed: Any, tmp_path: Path
) -> None:
    """A final of two groups that is killed and resumed has the bots of an undisturbed one, and is whole."""
    final, whole, torn = tmp_path / "final.toml", tmp_path / "whole", tmp_path / "torn"
    final.write_text(FINAL)
    for name, bots in (("red", "ab"), ("blue", "cd")):
        play(cup.file(*bots, name=name, deals=1, game=GAME), whole, refereed())
    shutil.copytree(whole, torn)
    play(final, whole, refereed())
    command = [sys.executable, "-c", "import fakeplay; fakeplay.main()", str(final), str(torn)]
    run = subprocess.Popen([*command, "play_refereed"], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline()
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert play(final, torn, refereed()).played > 0
    entrants = [{line["bot"] for line in seen_whole(final, results)[1]} for results in (whole, torn)]
    assert entrants[0] == entrants[1]
