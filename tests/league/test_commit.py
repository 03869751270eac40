"""`league commit`: the secret is settled, and its commitment told, before there is a match or a bot."""

import json
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType

import pytest
from tests.league.conftest import Command, OpenLeague, WriteLeague

from warpleague.cli import main
from warpleague.league.play.running import run_league
from warpleague.league.season.config import load_config
from warpleague.match.chance import season_commitment

COMMITMENT = "commitment to the season's secret (SHA-256): "


@pytest.fixture
def commit(league_cli: Command) -> Command:
    """Runs `warpleague league commit FILE`, or another action; gives exit code, output and remarks."""
    return lambda path, *arguments, action="commit": league_cli(action, path, *arguments)


def test_a_random_secret_is_settled_once(
    commit: Command, write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """Asked again, before, during and after the run, the same commitment is told; the run uses its secret."""
    path = write_league("a", "b", top="")
    code, out, err = commit(path)
    assert code == 0
    assert out.startswith(COMMITMENT)
    assert "0 matches played since" in err
    assert commit(path)[1] == out
    with open_league(path) as league:
        assert COMMITMENT + season_commitment(league.season.secret) + "\n" == out
        assert commit(path)[1] == out
        run_league(league, executor=inline, play=fake.play)
    code, again, err = commit(path)
    assert (code, again) == (0, out)
    assert "6 matches played since" in err


def test_bots_need_not_be_there_yet(
    commit: Command, write_league: WriteLeague, open_league: OpenLeague, tmp_path: Path
) -> None:
    """A file without bots, or whose bots are no folders yet, can be committed to; they are entered later."""
    path = write_league(top="")
    told = commit(path)[1]
    assert told.startswith(COMMITMENT)
    assert main(["league", "run", str(path), "--results", str(tmp_path / "results")]) == 2
    path.write_text(path.read_text("utf-8").replace("bots = []", 'bots = ["bots/x", "bots/y"]'), "utf-8")
    assert commit(path)[1] == told
    write_league("x", "y", top="")
    with open_league(path) as league:
        assert told == f"{COMMITMENT}{league.season.commitment}\n"


def test_a_seed_is_committed_to_as_well(commit: Command, write_league: WriteLeague) -> None:
    """With a seed in the file its secret is the one committed to, and that the file gives it away is said."""
    code, out, err = commit(write_league("a", "b"), "--json")
    told = json.loads(out)
    assert (code, told["played"]) == (0, 0)
    again = json.loads(commit(write_league("a", "b"), "--json")[1])
    assert again["commitment"] == told["commitment"]
    assert told.keys() == {"league", "commitment", "committed", "entrants", "entered", "played", "store"}
    assert (told["entrants"], told["entered"]) == (None, None)
    assert err == ""
    assert "the secret follows from the seed" in commit(write_league("a", "b", name="mug"))[2]


def test_other_conditions_are_refused(commit: Command, write_league: WriteLeague) -> None:
    """Once committed to, a season's conditions are settled, too: the commitment is to these dice in this game."""
    path = write_league("a", "b", top="")
    commit(path)
    write_league("a", "b", top="", extra="[clock]\nmove_s = 3")
    code, out, err = commit(path)
    assert (code, out) == (2, "")
    assert "clock.move_s: was 1.0, is now 3.0" in err


def test_looks_say_that_nothing_was_played(commit: Command, write_league: WriteLeague) -> None:
    """After the commitment alone every look says that nothing has been played, and what to do."""
    path = write_league("a", "b", top="")
    told = commit(path)[1].removeprefix(COMMITMENT).strip()
    code, _, err = commit(path, action="status")
    assert code == 2
    assert f"(commitment {told}), but nothing has been played yet; start with: warpleague league run" in err


def test_the_time_of_the_commitment_stays(
    commit: Command, write_league: WriteLeague, open_league: OpenLeague
) -> None:
    """Status tells since when the secret is settled, which a later run does not change."""
    path = write_league("a", "b", top="")
    committed = json.loads(commit(path, "--json")[1])["committed"]
    with open_league(path) as league:
        assert league.store.committed() == committed
    assert json.loads(commit(path, "--json", action="status")[1])["committed"] == committed
    assert load_config(path).seed is None
