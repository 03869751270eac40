"""`league best`: it plays until the best bot is known, names it, and says how sure that is."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.league.conftest import Command, Cup

from warpleague.league.ratings.posterior import Posterior
from warpleague.league.results.best import round_robin_matches
from warpleague.league.season.config import UntilTable, load_config
from warpleague.match.spec import MatchResult, MatchSpec, SeatTimes

STRENGTH = {"anna": 0.0, "bert": 0.1, "cleo": 1.5, "dora": 0.2}


def stronger(spec: MatchSpec) -> MatchResult:
    """A match that the stronger bot wins more often."""
    rng = Random(f"{spec.key.hex()} {[seat.bot for seat in spec.seats]}")
    level = tuple(STRENGTH[seat.bot] + rng.random() for seat in spec.seats)
    ranks = tuple(1 + sum(other > own for other in level) for own in level)
    times = (SeatTimes(1, 1.0, 1.0, 0.0, 1.0),) * len(ranks)
    return MatchResult(spec.id, ranks, level, "completed", "d", ((),) * len(ranks), times, b"{}\n", 1)


def equal(spec: MatchSpec) -> MatchResult:
    """Whoever sits first wins."""
    times = (SeatTimes(1, 1.0, 1.0, 0.0, 1.0),) * 2
    return MatchResult(spec.id, (1, 2), (1.0, 0.0), "completed", "d", ((), ()), times, b"{}\n", 1)


@pytest.fixture
def league_file(cup: Cup) -> Path:
    return cup.file("anna", "bert", "cleo", "dora")


def test_the_best_is_named_with_its_error(command: Command, league_file: Path, cup: Cup) -> None:
    """In words and in JSON; the file's own league is not touched, and what was played can be looked at."""
    code, out, err = command("best", league_file, play=stronger)
    assert code == 0, err
    first = out.splitlines()[0]
    assert first.startswith("cleo is the best of 4, with an error below 5 %: ")
    assert "until the first place is settled with 95.0%" in err
    code, out, _ = command("best", league_file, "--json", "--quiet", play=stronger)
    data = json.loads(out)
    assert (code, data["known"], data["best"], data["leader"], data["played"]) == (0, True, "cleo", "cleo", 0)
    assert 0 < data["error"] < 0.05
    assert f": {data['matches']} matches." in first
    assert data["round_robin_matches"] % 12 == 0
    assert sorted(path.name for path in cup.results.iterdir()) == ["cup-best", "cup-best.toml"]
    code, out, _ = command("standings", Path(data["file"]), "--json")
    assert (code, json.loads(out)["standings"][0]["bot"]) == (0, "cleo")


def test_a_stopped_search_goes_on(command: Command, league_file: Path, cup: Cup, tmp_path: Path) -> None:
    """A run that was stopped says who leads, with exit code 3; run on, it ends as if it had not been stopped."""
    found = []
    code, out, _ = command("best", league_file, "--quiet", "--matches", "6", play=stronger)
    assert (code, out.startswith("Not known with 95 % confidence after ")) == (3, True)
    for _ in range(2):
        code, out, _ = command("best", league_file, "--json", "--quiet", play=stronger)
        assert code == 0
        found.append(
            {key: json.loads(out)[key] for key in ("best", "error", "matches", "round_robin_matches")}
        )
        (tmp_path / "results").rename(tmp_path / f"stopped {len(found)}")
    assert found[0] == found[1]


def test_equal_bots_are_not_ranked_by_chance(command: Command, league_file: Path) -> None:
    """At its limit the search names nobody; where such bots count as equal, it names one of them."""
    code, out, _ = command("best", league_file, "--json", "--quiet", "--max-matches", "80", play=equal)
    data = json.loads(out)
    assert (code, data["known"], data["best"], data["matches"], data["complete"]) == (
        3,
        False,
        None,
        80,
        True,
    )
    assert data["error"] > 0.05
    assert data["round_robin_matches"] is None
    code, out, _ = command("best", league_file, "--quiet", "--within", "200", play=equal)
    assert (code, "(bots within 200 Elo are equal)" in out) == (0, True)


def test_what_cannot_be_searched(command: Command, cup: Cup) -> None:
    """Solo leagues and wrong options are refused, each with the place and what to do."""
    solo = cup.file("anna", "bert", game='id = "captains"\nplayers = 1', name="solo")
    code, _, err = command("best", solo)
    assert (code, "solo.toml: game.players: needs tables of two or more" in err) == (2, True)
    path = cup.file("anna", "bert")
    for words, told in (
        (("--confidence", "1.5"), "--confidence: must be "),
        (("--within", "-1"), "--within: must"),
    ):
        code, _, err = command("best", path, *words)
        assert (code, told in err) == (2, True), err


def test_a_league_of_other_formats_is_searched_too(command: Command, cup: Cup) -> None:
    """Whatever the file plays, the search takes its bots, game, clock and rules."""
    path = cup.file("anna", "bert", "cleo", "dora", extra="kind = 'swiss'\nrounds = 2\n[clock]\nmove_s = 3.0")
    code, out, _ = command("best", path, "--quiet", play=stronger)
    assert (code, out.startswith("cleo is the best of 4")) == (0, True)
    config = load_config(cup.results / "cup-best.toml")
    assert (config.format.kind, config.clock.move_s, len(config.bots)) == ("ladder", 3.0, 4)


def test_a_round_robin_takes_longer_the_nearer_the_second_is() -> None:
    """Four times as long at half the distance, about; without a difference there is no number."""

    def needed(lead: float) -> int | None:
        known = Posterior(4)
        known.mean, known.spread = np.array([lead, 0.0, -1.0, -1.0]), 150.0
        return round_robin_matches(known, UntilTable(), 2, 2)

    far, near = needed(0.4), needed(0.2)
    assert far is not None
    assert near is not None
    assert 3 < near / far < 5
    assert needed(0.0) is None
