"""The league files that come with the project."""

import tomllib
from pathlib import Path

import pytest

from warpleague.games import game_ids
from warpleague.league.season.config import load_config
from warpleague.runner.bundle.manifest import plays, read_manifest

LEAGUES = sorted((Path(__file__).parents[2] / "leagues").glob("*.toml"))


@pytest.mark.parametrize("path", LEAGUES, ids=lambda path: path.stem)
def test_shipped_leagues_are_sound(path: Path) -> None:
    """Each shipped league file loads, and its bots' folders exist and claim its game."""
    game = "aliens" if path.stem == "demo" else path.stem.removeprefix("demo-").partition("-")[0]
    if game not in game_ids():
        pytest.skip(f"{game} is not installed")
    config = load_config(path)
    assert config.game.id == game
    for entry in config.entries:
        assert plays(read_manifest(path.parent / entry.path).games, game)


@pytest.mark.parametrize(
    "path", [path for path in LEAGUES if path.stem.startswith("demo")], ids=lambda path: path.stem
)
def test_python_is_enough_for_the_demo(path: Path) -> None:
    """Each league of the demo has as many bots in Python as its tables have seats, and skips all others."""
    config = load_config(path)
    manifests = [
        tomllib.loads((path.parent / entry.path / "bot.toml").read_text()) for entry in config.entries
    ]
    in_python = [entry for entry in manifests if entry["run"][0] == "python3" and "build" not in entry]
    assert len(in_python) >= config.game.players
    assert config.missing == "skip"
