"""`warpleague rate`: it plays the shipped opponents, says the scale, and resumes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpleague.cli import main
from warpleague.errors import BadInput
from warpleague.opponents.scale import all_scales, scale_of
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


def test_a_table_size_without_a_scale_names_those_that_have_one() -> None:
    with pytest.raises(BadInput, match=r"there is no scale .* only for aliens with 2 players"):
        scale_of("coasters", 4)


def test_a_bot_is_rated_and_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight matches in the process, then the same command with more of them: none is played again."""
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
