"""An analysis is the same wherever it was stopped, knows no more than the seat did, and belongs to one record."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.study.conftest import bot_folder, interrupted, played

from warpleague.cli import main
from warpleague.errors import BadInput
from warpleague.extras.study.analyse import (
    FIRST,
    FREE,
    Book,
    Decision,
    Plan,
    Playout,
    Sample,
    Setting,
    Task,
    mean_of,
    next_playouts,
    places,
    read_analysis,
    start,
    turns,
    verdict,
)
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.referee import Situation
from warpleague.match.replay import Replay
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, SeatSpec
from warpleague.runner.bundle.bundle import prepare
from warpleague.sim import Simulator

BOT = """
from warpline.client import Reply, run

def choose(q):
    return Reply(0, value=VALUE)

run(choose, wants=("legal",), reusable=True)
"""


def make_bot(folder: Path, value: str) -> Path:
    """A bot that takes the first action, and expects `value`."""
    return bot_folder(folder, BOT.replace("VALUE", value))


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a short match of aliens, in which hidden facts matter."""
    folder = tmp_path_factory.mktemp("analysed")
    seat = prepare(make_bot(folder / "first", "0.25"), "none").seat()
    path = folder / "match.jsonl"
    path.write_bytes(played("aliens", [seat, seat], {"max_turns": 12}).record)
    return path


def analysed(capsys: pytest.CaptureFixture[str], record: Path, *more: object) -> dict[str, Any]:
    """What the command finds, as JSON, without what differs from run to run."""
    arguments = ["analyse", str(record), "--level", "none", "--jobs", "1", "--json", *map(str, more)]
    capsys.readouterr()
    assert main(arguments) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {name: value for name, value in found.items() if name not in ("elapsed_s", "file")}


def test_it_goes_on_where_it_was_stopped(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file cut off anywhere leads to the same analysis as one made at once, and nothing is played twice."""
    out = tmp_path / "one.analysis"
    lines = [place.decision.n for place in places(Replay(record.read_bytes()))]
    more = ("--playouts", 16, "--actions", 3, "--line", lines[-1], "--line", lines[-2], "--out", out)
    whole = analysed(capsys, record, *more)
    text = out.read_bytes()
    assert [each["n"] for each in whole["decisions"]] == lines[-2:]
    assert whole["decisions"][0]["loss"] is not None
    out.write_bytes(text[: len(text) // 2])
    assert analysed(capsys, record, *more) == whole
    assert sorted(out.read_bytes().splitlines()) == sorted(text.splitlines())
    assert analysed(capsys, record, *more) == whole  # nothing is left to play
    assert out.stat().st_size == len(text)


def test_time_that_is_up_leaves_a_part(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With hardly any time it plays hardly anything, says so, and later goes on."""
    out = tmp_path / "part.analysis"
    part = analysed(capsys, record, "--seconds", "0.000001", "--out", out)
    assert part["stopped"] is True
    assert part["unknown"] > 0
    more = analysed(capsys, record, "--seconds", "0.000001", "--out", out)
    assert more["playouts"] > part["playouts"]
    assert main(["analyse", str(record), "--jobs", "1", "--seconds", "0.000001", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "decisions judged, so nothing is known of blunders: one decision takes up to " in said
    assert "--line N" in said
    assert "none" not in said


def test_ctrl_c_keeps_what_was_played(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C at the terminal ends the command with its exit code; the same command goes on from there."""
    out = tmp_path / "kept.analysis"
    line = places(Replay(record.read_bytes()))[0].decision.n
    more = ("--line", str(line), "--level", "none", "--jobs", "1", "--out", str(out))
    text = interrupted(["analyse", str(record), *more, "--playouts", str(2**20)], b" playouts")
    assert b"stopped by Ctrl-C: the same command goes on" in text
    kept = out.read_bytes()
    assert b'"k":0' in kept
    assert analysed(capsys, record, *more, "--playouts", 8)["stopped"] is False
    text = out.read_bytes()
    assert text.startswith(kept)
    played = [json.loads(sample)["k"] for sample in text.splitlines()[1:]]
    assert len(set(played)) == len(played) >= 8  # none is played twice


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: [lines[0].replace(b'"record":"', b'"record":"0'), *lines[1:]], "of another record"),
        (lambda lines: [lines[0].replace(b'"bots":[]', b'"bots":[["x","","y"]]'), *lines[1:]], "other bots"),
        (lambda lines: [*lines, b'{"k":0,"n":5,"worth":{"9999999":1}}\n'], "is not a sample"),
        (lambda lines: [*lines, b'{"k":"x"}\n'], "is not a sample"),
        (lambda lines: [b"{}\n", *lines[1:]], "is no analysis"),
    ],
)
def test_a_file_of_something_else_is_refused(
    change: Any, told: str, record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of another record, of other bots, or with lines that do not fit, is refused and kept."""
    out = tmp_path / "one.analysis"
    n = places(Replay(record.read_bytes()))[0].decision.n
    arguments = ["analyse", str(record), "--jobs", "1", "--seconds", "0.000001", "--out", str(out)]
    assert main(arguments) == 0
    changed = b"".join(change(out.read_bytes().splitlines(keepends=True))).replace(b'"n":5', b'"n":%d' % n)
    out.write_bytes(changed)
    capsys.readouterr()
    assert main(arguments) == 2
    assert told in capsys.readouterr().err
    assert out.read_bytes() == changed


STRANGE: Final = (None, True, -1, 1.5, 1 << 60, 10**400, float("nan"), "x", "\ud800", [], {}, ["a"], {"a": 1})
"""Values of JSON that hardly anything expects."""


@pytest.fixture(scope="module")
def analysis(record: Path) -> list[dict[str, Any]]:
    """The lines of a small analysis of the match."""
    out = record.with_name("small.analysis")
    arguments = ["analyse", str(record), "--level", "none", "--jobs", "1", "--seconds", "0.000001"]
    assert main([*arguments, "--out", str(out)]) == 0
    return [json.loads(line) for line in out.read_bytes().splitlines()]


@pytest.mark.parametrize(
    "key",
    [
        *("type", "format", "record", "game", "seed", "bots", "clock", "level", "estimates", "all_known"),
        *("actions", "n", "k", "worth", "chose", "faults", "valued", "of nobody"),
    ],
)
def test_whatever_a_stranger_wrote_into_a_file_is_refused_in_one_line(
    key: str, record: Path, analysis: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Each key of the first line and of a sample is looked at before it is used."""
    path = tmp_path / "strange.analysis"
    at = 0 if key in analysis[0] else 1
    told = []
    for value in (*STRANGE, *({"0": value} for value in STRANGE)):
        lines = [dict(line) for line in analysis]
        lines[at][key] = value
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        try:
            read_analysis(path, record.read_bytes())
        except BadInput as error:
            told.append(str(error))
    assert len(told) >= len(STRANGE) // 2
    assert all(text.startswith(f"{path}: ") and len(text.splitlines()) == 1 for text in told)


def test_bots_play_on_and_may_estimate(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With estimates every playout that does not end before is worth what the bot said; reusable bots go on."""
    bot = make_bot(tmp_path / "hopeful", "0.75")
    line = places(Replay(record.read_bytes()))[0].decision.n
    more = ("--with", bot, "--line", line, "--playouts", 8, "--actions", 2, "--out", tmp_path / "a")
    found = analysed(capsys, record, *more, "--estimates")
    (one,) = found["decisions"]
    assert found["faults"] == {}
    assert (one["before"]["value"], one["after"]["value"]) == (0.75, 0.75)
    assert one["loss"] is None  # eight playouts choose, and are not asked again
    with_bots = analysed(capsys, record, *more[:-1], tmp_path / "b")
    assert with_bots["decisions"][0]["after"]["value"] in (0, 0.5, 1)  # the bots are alike: one end
    silent = make_bot(tmp_path / "silent", "None")
    arguments = ["analyse", str(record), "--with", str(silent), "--estimates", "--line", str(line)]
    assert main([*arguments, "--playouts", "8", "--level", "none", "--out", str(tmp_path / "c")]) == 2
    assert "gave no value" in capsys.readouterr().err


@pytest.mark.parametrize("all_known", [False, True])
def test_a_playout_starts_from_what_the_seat_knew(all_known: bool) -> None:
    """A playout starts from a world that the seat cannot tell from the real one, or from that; each has other dice."""
    table = Simulator("aliens", 2)
    real = table.finish(table.start(), Random(1), most=30)  # each has wormholes that only it knows
    game, seat = table.game, table.actor(real)
    assert seat is not None
    setting = Setting("r", "aliens", 2, {}, "s", all_known=all_known)
    starts = [start(setting, table, Task(5, k, seat, table.dump(real), (FREE, 0))) for k in range(6)]
    assert starts == [start(setting, table, Task(5, k, seat, table.dump(real), (1,))) for k in range(6)]
    worlds = [world for world, _ in starts]
    assert all(game.view(world, seat) == game.view(real, seat) for world in worlds)
    assert len({json.dumps(game.to_json(world)) for world in worlds}) == (1 if all_known else 6)
    assert len({luck for _, luck in starts}) == 6


@pytest.mark.parametrize(
    ("game", "seats"), [("aliens", 2), ("captains", 5), ("coasters", 7), ("sheets", 4), ("sheets", 1)]
)
def test_a_playout_with_an_estimate_ends(game: str, seats: int) -> None:
    """As soon as there is an estimate, every game can be ended, so that bots hear of an end."""
    rules = load_game(game)
    bots = (SeatSpec("x"),) * seats
    spec = MatchSpec("x", game, options_json(rules.Options()), bots, match_key("x"), faults="substitute")
    playout = Playout(rules, spec, asks=0, estimates=True)
    playout.begin()
    assert playout.advance() is Situation.ASK
    playout.value = 0.5
    assert playout.advance() is Situation.OVER
    assert playout.end_line(0).startswith(b'{"type":"end"')
    assert set(playout.finish().ranks) == set(range(1, seats + 1))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--line", "1"), "--line 1: there is no decision on this line; nearest: 2; see `replay show`"),
        (("--seat", "2"), "seats 0 to 1"),
        (("--estimates",), "about the bots that --with names"),
        (("--with", "a", "b", "c"), "name one bot, or 2"),
        (("--with", "nowhere"), "nowhere"),
        (("--with", "bots/sheets-greedy"), "sheets-greedy does not play aliens (its games: sheets)"),
    ],
)
def test_what_cannot_be_analysed(
    more: tuple[str, ...], told: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad input is told in words."""
    assert main(["analyse", str(record), *more]) == 2
    assert told in capsys.readouterr().err


# Which playouts are played next, and what they are said to show: clear losses are found, chance is not.


def decision(n: int = 5, played: int = 0, legal: int = 4, seat: int = 0) -> Decision:
    """A decision of a made-up match."""
    return Decision(n, seat, "turn", {"do": "x"}, played, legal)


def plan(playouts: int = 256, actions: int = 16, *, bots: bool = False, least: float = 0.1) -> Plan:
    """A plan with a seed."""
    return Plan(playouts, actions, least, "s", bots)


def judged(
    about: Decision, by: Plan, chances: Sequence[float], free: float = 0.5, stop: Random | None = None
) -> Book:
    """All playouts that the plan asks for: way `w` of playout `k` wins with the given likelihood, by common luck.

    With `stop` only a part of what is asked for is played at a time, in any order.
    """
    book = Book()
    while due := next_playouts(about, book, by):
        if stop is not None:
            due = stop.sample(due, stop.randint(1, len(due)))
        for k, ways in due:
            luck = Random(f"{about.n} {k}").random()
            worth = {way: float(luck < (free if way == FREE else chances[way])) for way in ways}
            book.add(Sample(about.n, k, worth, chose=1 if by.bots and FREE in ways else None))
    return book


def test_a_clear_loss_is_a_blunder() -> None:
    """The best action is found, with the advantage in playouts that did not choose it; else it is settled early."""
    book = judged(decision(), plan(), [0.2, 0.3, 0.7, 0.1])
    found = verdict(decision(), book, plan())
    assert found is not None
    assert found.loss is not None
    assert (found.best, found.blunder) == (2, True)
    assert found.loss.playouts == 128  # of 256, half chose
    assert found.loss.value == pytest.approx(0.5, abs=0.15)
    assert found.others[0].index == 2
    assert found.before.value == pytest.approx(0.5, abs=0.1)
    book = judged(decision(), plan(), [0.9, 0.3, 0.2, 0.1])
    found = verdict(decision(), book, plan())
    assert found is not None
    assert found.loss is not None
    assert (found.best, found.loss.value, found.blunder) == (0, 0.0, False)
    assert book.total(5) == 2 * FIRST * 5  # two rounds of all ways


@pytest.mark.parametrize("seed", range(8))
def test_equal_actions_are_no_blunders(seed: int) -> None:
    """Among many equal actions one always looks best; that alone is no loss."""
    rng = Random(seed)
    about, by, book = decision(legal=16), plan(), Book()
    while due := next_playouts(about, book, by):
        for k, ways in due:
            book.add(Sample(5, k, {way: float(rng.random() < 0.5) for way in ways}))
    found = verdict(about, book, by)
    assert found is not None
    assert not found.blunder


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=9),
    st.booleans(),
    st.integers(2, 6),
    st.randoms(use_true_random=False),
)
def test_where_it_was_stopped_makes_no_difference(
    chances: list[float], bots: bool, actions: int, stop: Random
) -> None:
    """Playouts in any order and in any portions lead to the same verdict as all at once."""
    about, by = decision(legal=len(chances), played=1), plan(32, actions, bots=bots)
    whole = verdict(about, judged(about, by, chances), by)
    assert whole is not None
    assert verdict(about, judged(about, by, chances, stop=stop), by) == whole
    assert whole.looked_at <= max(actions, 2)


def test_bots_say_which_actions_are_worth_a_look() -> None:
    """Of a thousand actions, the one played and those that the bots chose are among the few that are looked at."""
    about, by = decision(played=700, legal=1000), plan(16, 3, bots=True)
    book = Book()
    first = next_playouts(about, book, by)
    assert first == [(k, (FREE,)) for k in range(FIRST)]
    for k, _ in first:
        book.add(Sample(5, k, {FREE: 0.0}, chose=444))
    ways = next_playouts(about, book, by)[0][1]
    assert len(ways) == 3
    assert {700, 444} < set(ways)


def test_few_equal_results_are_not_certain() -> None:
    """Eight wins of eight leave room for a loss; a mean of scores has the usual error; a single one has none."""
    won = mean_of([1.0] * 8, shares=True)
    assert won.interval is not None
    assert 0.15 < won.interval < 0.35
    scores = mean_of([10.0, 20.0], shares=False)
    assert scores.value == 15.0
    assert scores.error == pytest.approx(5.0)
    assert mean_of([10.0], shares=False).error is None


def test_turning_points_are_what_changed_a_value() -> None:
    """A seat's value that fell between two of its decisions, and one that its own decision changed."""
    by = plan()
    first, second = decision(5, 0), decision(9, 0)
    found = [
        verdict(first, judged(first, by, [0.9, 0.9, 0.9, 0.9], free=0.9), by),
        verdict(second, judged(second, by, [0.8, 0.1, 0.1, 0.1], free=0.2), by),
    ]
    changes = turns([each for each in found if each is not None], by)
    assert [(turn.since, turn.n, turn.own) for turn in changes] == [(5, 9, False), (9, 9, True)]
    assert changes[0].change.value < -0.5
    assert changes[1].change.value > 0.5
