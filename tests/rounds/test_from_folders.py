"""`--from-folders` takes every bot of a folder into a match or a league."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.rounds.conftest import ROOT, write_rounds

from warpleague.cli import main


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A folder with two bots whose manifests have one name, a link to one more, and a folder that is no bot."""
    write_rounds(tmp_path, {"x": "true"})
    place = tmp_path / "folders"
    for name in ("ann", "bob"):
        shutil.copytree(tmp_path / "start", place / name)
    (place / "cy").symlink_to(ROOT / "bots" / "random-python")
    (place / "notes").mkdir()
    return place


def called(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out.startswith(("{", "[")) else out, err


def test_a_league_of_all_bots_of_a_folder(
    capsys: pytest.CaptureFixture[str], folders: Path, tmp_path: Path
) -> None:
    """Each plays under the name of its folder; the other commands know the bots from the store."""
    path, results = tmp_path / "league.toml", tmp_path / "results"
    path.write_text(
        '[game]\nid = "aliens"\noptions = { max_turns = 2 }\n[clock]\nmove_s = 60\nstart_s = 60\n'
    )
    words = (path, "--results", results, "--json")
    code, data, _ = called(capsys, "league", "run", *words, "--quiet", "--from-folders", folders)
    assert code == 0
    assert (data["matches"], data["complete"]) == (6, True)
    assert {line["bot"] for line in data["standings"]} == {"ann", "bob", "cy"}
    code, standings, err = called(capsys, "league", "standings", *words)
    assert (code, err) == (0, "")
    assert standings == data["standings"]
    assert called(capsys, "league", "verify", *words)[0] == 0


def test_a_match_of_all_bots_of_a_folder(capsys: pytest.CaptureFixture[str], folders: Path) -> None:
    """They sit in the order of the names of their folders, after those that are named."""
    shutil.rmtree(folders / "ann")
    words = ("--option", "max_turns=2", "--move-s", "60", "--start-s", "60", "--seed", "1", "--json")
    code, data, _ = called(capsys, "match", "aliens", *words, "--from-folders", folders)
    assert (code, data["seats"]) == (0, ["start", "random-python"])


@pytest.mark.parametrize("name", ["none", "notes", "ann"])
def test_folders_without_bots(capsys: pytest.CaptureFixture[str], folders: Path, name: str) -> None:
    """A folder that is not there, has no bots, or is one itself is bad input."""
    code, _, err = called(capsys, "match", "aliens", "--from-folders", folders / name)
    assert code == 2
    assert str(folders / name) in err
