"""Killed for good: leagues whose pairings follow from results, in processes that are shot while they play."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from warpleague.league.play.entering import stage_problems
from warpleague.league.play.running import run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.season.config import load_config
from warpleague.league.upkeep.verifying import mispaired
from warpleague.report.wording.columns import standing_json

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
KILLED_AFTER = 7
"""Matches that a run has told of when it is killed."""


def killed(path: Path, results: Path, matches: int, how: str = "play") -> None:
    """Play a league in a process of its own, with referee processes, and kill it after some matches."""
    command = [sys.executable, "-c", "import fakeplay; fakeplay.main()", str(path), str(results), how]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    told = [line for _ in range(matches) if (line := run.stdout.readline())]
    run.send_signal(signal.SIGKILL)
    told += [line for line in run.stdout if line.endswith("\n")]
    run.wait()
    run.stdout.close()
    assert told
    with open_to_read(load_config(path), results) as league:
        assert {line.strip() for line in told} <= set(league.store.ids())


def seen(path: Path, results: Path) -> tuple[list[Any], list[Any]]:
    """The matches that count and the table; pairings and stages have nothing wrong."""
    with open_to_read(load_config(path), results) as league:
        assert mispaired(league) == []
        assert stage_problems(league) == []
        matches = [(f.number, f.id, f.seats, found.ranks) for f, found in league.results()]
        return matches, [standing_json(line) for line in standings(league).lines]


@pytest.fixture
def play(open_league: Any, fake: Any, inline: Any) -> Callable[..., Any]:
    """Plays what is left of a league, in this process."""

    def play(path: Path, results: Path, how: Any = None) -> Any:
        with open_league(path, results) as league:
            report = run_league(league, executor=inline, play=how or fake.play)
            assert report.complete
            return report

    return play


@pytest.mark.parametrize("name", FORMATS)
def test_a_killed_league_ends_as_an_undisturbed_one(
    name: str, write_league: Any, play: Any, tmp_path: Path
) -> None:
    """Killed and resumed, it has the matches and the table of a run that nothing disturbed.

    Where results are altered afterwards, matches show as pairings that should not have been.
    """
    bots, form = FORMATS[name]
    path = write_league(*bots, extra=form, deals=1 if "ladder" in name or name == "test" else 2)
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    play(path, whole)
    killed(path, torn, KILLED_AFTER)
    report = play(path, torn)
    assert 0 < report.before < report.stored
    matches, table = seen(path, torn)
    assert (matches, table) == seen(path, whole)

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


def test_a_killed_final_ends_as_an_undisturbed_one(
    write_league: Any, play: Any, refereed: Any, tmp_path: Path
) -> None:
    """A final of two groups that is killed and resumed has the bots of an undisturbed one, and its matches."""
    final, whole, torn = tmp_path / "final.toml", tmp_path / "whole", tmp_path / "torn"
    final.write_text(FINAL)
    for name, bots in (("red", "ab"), ("blue", "cd")):
        play(write_league(*bots, name=name, deals=1, game=GAME), whole, refereed())
    shutil.copytree(whole, torn)
    play(final, whole, refereed())
    killed(final, torn, 1, "play_refereed")
    assert play(final, torn, refereed()).played > 0
    assert seen(final, torn) == seen(final, whole)
