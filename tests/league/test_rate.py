"""`warpleague rate`: it plays the shipped opponents, says the scale, and resumes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpleague.cli import main
from warpleague.errors import BadInput
from warpleague.games import GAMES, load_game
from warpleague.opponents.scale import FIELD_LEVEL, all_scales, scale_of
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.bundle.manifest import read_manifest

ROOT = Path(__file__).parents[2]


def test_the_scale_is_that_of_the_opponents_as_they_are() -> None:
    """Whoever changes an opponent must measure the scale again: python scripts/scale.py."""
    for scale in all_scales():
        assert scale.elo[0] == 0.0
        assert list(scale.elo) == sorted(scale.elo)
        for level in scale.levels:
            folder = ROOT / level.bot
            assert folder_digest(folder, read_manifest(folder).files) == level.digest, level.bot
        assert scale.field_level == (FIELD_LEVEL if scale.players > 2 else None)
    measured = {(scale.game, scale.players) for scale in all_scales()}
    assert measured == {(game, players) for game in GAMES for players in load_game(game).players}
    assert len({scale.digest for scale in all_scales()}) == len(measured)


def test_a_table_size_without_a_scale_names_those_that_have_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2; a size that the game does not have is told as such."""
    with pytest.raises(BadInput, match="only at those with 1, 2, 3, 4"):
        scale_of("sheets", 5)
    with pytest.raises(BadInput, match="only at other games"):
        scale_of("chess", 2)
    assert main(["rate", "bots/random-python", "--game", "coasters", "--players", "11"]) == 2
    assert "not 11" in capsys.readouterr().err


@pytest.mark.parametrize(("game", "players"), [("coasters", 3), ("captains", 1)])
def test_at_other_tables_the_field_and_the_score_count(
    game: str, players: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two bots on each deal, those of the field in all other seats; alone at the table a deal is won as a whole."""
    options = ("--in-process", "--jobs", "1", "--seed", "s", "--quiet", "--matches", "8")
    command = ["rate", "bots/random-python", "--game", game, "--players", str(players), *options]
    assert main([*command, "--json", "--results", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    scale = scale_of(game, players)
    assert (found["scale"], found["field_level"]) == (scale.digest, scale.field_level)
    assert (found["played"], found["deals"], found["matches"]) == (8, 4, 4 if players == 1 else 8)
    points = sum(line["points"] for line in found["against"])
    assert points < found["matches"] / 2
    assert main(["league", "verify", found["file"], "--results", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main([*command, "--results", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert ("bots of level 3 in all other seats" in told) == (players > 2)


def test_a_bot_is_rated_and_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight matches in the process, then the same command with more of them: none is played again.

    It says that the bot is itself a level of the scale.
    """
    common = (
        "bots/random-python",
        "--game",
        "coasters",
        "--in-process",
        "--jobs",
        "1",
        "--seed",
        "s",
        "--quiet",
    )
    command = ["rate", *common, "--json", "--results", str(tmp_path)]
    assert main([*command, "--matches", "4"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main([*command, "--matches", "12"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert first["matches"] == first["played"] == 4
    assert (second["matches"], second["played"]) == (12, 8)
    assert second["scale"] == scale_of("coasters", 2).digest
    assert second["same_as_levels"] == [1]
    assert main([*(word for word in command if word != "--json"), "--matches", "12"]) == 0
    for text in capsys.readouterr():
        assert "random-python-rated is the same program as level 1, bots/random-python: " in text
    assert second["elo_over_random_high"] < scale_of("coasters", 2).elo[2]
    assert sum(line["matches"] for line in second["against"]) == 12
    assert main(["league", "verify", second["file"], "--results", str(tmp_path)]) == 0


def test_a_bot_that_always_faults_gets_no_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said instead, and the exit code is 1."""
    bot = tmp_path / "broken"
    bot.mkdir()
    (bot / "bot.toml").write_text(
        'name = "broken"\nversion = "1"\ngames = ["coasters"]\nrun = ["python3", "main.py"]\n', "utf-8"
    )
    (bot / "main.py").write_text("raise SystemExit(3)\n", "utf-8")
    common = ("--game", "coasters", "--matches", "2", "--jobs", "1", "--level", "none", "--quiet")
    assert main(["rate", str(bot), *common, "--results", str(tmp_path / "results")]) == 1
    out = capsys.readouterr().out
    assert "broken faulted in every match" in out
    assert "level 3" not in out
