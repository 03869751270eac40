"""Knockout: losers are out, byes go to the best seeds, level ties are played on, and results give every pairing."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from warpleague.errors import BadInput
from warpleague.league.play.running import run_league
from warpleague.league.results.league import League, open_to_read
from warpleague.league.results.standings import placings, ties_of
from warpleague.league.schedule.formats.knockout import Tie
from warpleague.league.season.config import load_config
from warpleague.league.upkeep.verifying import mispaired
from warpleague.report.terminal.live import LiveWatcher
from warpleague.report.wording.bracket import _tree, bracket_json, bracket_text, latest_lines

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
def test_all_but_the_winner_lose_as_often_as_it_takes(
    kind: str, bots: str, write_league: Any, open_league: Any, fake: Any, inline: Any
) -> None:
    """All but the winner lose once, or twice with double elimination; the best seeds have the byes."""
    path = write_league(*bots, extra=f'kind = "{kind}"', deals=1)
    with open_league(path) as league:
        report = run_league(league, executor=inline, play=fake.play)
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_knockout_that_was_killed_again_and_again_is_the_same(
    kind: str, write_league: Any, open_league: Any, fake: Any, inline: Any, tmp_path: Path
) -> None:
    """Killed after every few matches and resumed, it has the same bracket as an undisturbed one."""
    path = write_league(*"abcdef", extra=f'kind = "{kind}"', deals=2)

    def told(league: League) -> list[Any]:
        return [(f.number, f.id, found.ranks) for f, found in league.results()]

    with open_league(path, tmp_path / "once") as league:
        run_league(league, executor=inline, play=fake.play)
        once, bracket = told(league), bracket_text(league)
    for _ in range(60):
        with open_league(path, tmp_path / "killed") as league:
            if run_league(league, executor=inline, play=fake.play, watcher=fake.Stop(5)).complete:
                break
    with open_to_read(load_config(path), tmp_path / "killed") as league:
        assert told(league) == once
        assert bracket_text(league) == bracket
        assert mispaired(league) == []


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
def test_a_bracket_is_seen_while_it_is_played(
    kind: str, write_league: Any, open_league: Any, fake: Any, inline: Any
) -> None:
    """The live view shows the bracket or the rounds; the latest ones where not all fit."""

    def seen(league: League, height: int) -> str:
        console = Console(file=io.StringIO(), width=80, height=height)
        watcher = LiveWatcher(console)
        watcher.started(league, None, 0, 2)
        with console.capture() as capture:
            console.print(watcher.frame())
        return capture.get()

    path = write_league(*"abcdefgh", extra=f'kind = "{kind}"' + "\nrounds = 3" * (kind == "swiss"), deals=1)
    with open_league(path) as league:
        before = seen(league, 40)
        run_league(league, executor=inline, play=fake.play)
        after, low = seen(league, 60), seen(league, 14)
        whole, rows = bracket_text(league), latest_lines(league, 80, 5)
    assert all(name in before for name in "abcdefgh")
    assert all(line.rstrip() in after for line in whole.splitlines())
    assert len(rows) <= 5
    assert rows[0] in low
    assert {"knockout": "Final", "double-elimination": "inal", "swiss": "Round 3"}[kind] in "\n".join(rows)


def test_other_formats_have_no_bracket(write_league: Any, open_league: Any) -> None:
    """Asked for the bracket of a round-robin, the program says that there is none."""
    with open_league(write_league("a", "b")) as league, pytest.raises(BadInput, match="has no bracket"):
        bracket_text(league)
