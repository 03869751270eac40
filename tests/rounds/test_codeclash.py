"""The arena for CodeClash, against a stand-in of the interface that it uses.

The stand-in has what the arena calls, under CodeClash's names. A command runs in a shell of this machine, with the
folders of a container below a folder of the test's own.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.rounds.conftest import ROOT, write_rounds

ARENA = ROOT / "rounds" / "codeclash" / "warpleague.py"


class Container:
    """Executes commands as CodeClash's containers do; `root` takes the place of /."""

    def __init__(self, root: Path, *folders: str, cwd: str = "/workspace") -> None:
        self.root, self.folders, self.cwd = root, (*folders, "round", "logs", "workspace"), cwd

    def execute(self, action: str, cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        for folder in self.folders:
            for before in (" ", ">"):
                action = action.replace(f"{before}/{folder}", f"{before}{self.root}/{folder}")
        place = self.root / (cwd or self.cwd).lstrip("/")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", action],
            cwd=place,
            env={**os.environ, "PATH": path},
            timeout=timeout,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return {"output": done.stdout, "returncode": done.returncode}


class RoundStats:
    def __init__(self, round_num: int, agents: list[Any]) -> None:
        self.winner: str | None = None
        self.round_num = round_num
        self.scores = {agent.name: 0.0 for agent in agents}
        self.player_stats = {agent.name: SimpleNamespace(score=0.0) for agent in agents}
        self.details: list[str] = []


class CodeArena:
    log_env = Path("/logs")

    def __init__(self, root: Path, config: dict[str, Any], environment: Container) -> None:
        self.root, self.game_config, self.environment, self.logger = root, config, environment, None

    def log_round(self, _round_num: int) -> Path:
        return self.root / "logs"


def assert_zero_exit_code(result: dict[str, Any], *, logger: object = None) -> dict[str, Any]:
    assert result["returncode"] == 0, result["output"]
    return result


@pytest.fixture
def arena_class(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class in the script, with the stand-in in the place of CodeClash."""
    modules: dict[str, dict[str, Any]] = {
        "codeclash": {},
        "codeclash.agents": {},
        "codeclash.agents.player": {"Player": SimpleNamespace},
        "codeclash.arenas": {},
        "codeclash.arenas.arena": {"CodeArena": CodeArena, "RoundStats": RoundStats},
        "codeclash.constants": {"RESULT_TIE": "Tie"},
        "codeclash.utils": {},
        "codeclash.utils.environment": {"assert_zero_exit_code": assert_zero_exit_code},
    }
    for name, values in modules.items():
        module = ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("codeclash_arena", ARENA)
    assert spec is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded.WarpLeagueArena


def test_a_round_of_codeclash(arena_class: Any, tmp_path: Path) -> None:
    """Bots in folders of their own are checked and play; the scores are points, and the better bot wins."""
    root = tmp_path / "root"
    for name in ("logs", "workspace"):
        (root / name).mkdir(parents=True)
    shutil.copytree(ROOT / "bots" / "aliens-greedy", root / "ann")
    shutil.copytree(ROOT / "bots" / "random-python", root / "bob")
    write_rounds(tmp_path, {"x": "true"})
    shutil.copytree(tmp_path / "start", root / "cy")
    (root / "cy" / "bot.py").write_text("no python")
    agents = [
        SimpleNamespace(name=name, environment=Container(root, cwd=f"/{name}"))
        for name in ("ann", "bob", "cy")
    ]
    config = {"sims_per_round": 2, "args": {"game": "aliens"}}
    arena = arena_class(root, config, Container(root, "ann", "bob", "cy"))
    checked = [arena.validate_code(agent) for agent in agents]
    assert [valid for valid, _ in checked] == [True, True, False]
    assert "not ready" in checked[2][1]
    valid = agents[:2]
    for _ in range(2):  # a round after the first finds the folders of the one before
        shutil.rmtree(root / "logs")
        (root / "logs").mkdir()
        stats = RoundStats(1, valid)
        arena.execute_round(valid)
        arena.get_results(valid, 1, stats)
    assert stats.winner == "ann"
    assert stats.scores == {"ann": 2.0, "bob": 0.0}  # of the two deals, as the score of a lone valid agent
    assert stats.player_stats["ann"].score == 2.0
    assert [line.partition(",")[0] for line in stats.details] == ["ann: rank 1 to 2", "bob: rank 1 to 2"]
    assert "rating above " in stats.details[0]
    assert "100.0% of the points, 4 matches, 0 faults" in stats.details[0]


def test_the_scores_of_a_tournament(tmp_path: Path) -> None:
    """A round that chance may have decided is won, but not for sure; round 0 counts for nobody."""
    figures = [
        ("Tie", ["ann: rank 1 to 2, ...", "bob: rank 1 to 2, ..."]),
        ("ann", ["ann: rank 1 to 2, ...", "bob: rank 1 to 2, ..."]),
        ("ann", ["ann: rank 1, ...", "bob: rank 2, ..."]),
        ("bob", []),
    ]
    rounds = {
        str(number): {"winner": winner, "scores": {"bob": 1.5, "ann": 2.0}, "details": details}
        for number, (winner, details) in enumerate(figures)
    }
    (tmp_path / "metadata.json").write_text(json.dumps({"round_stats": rounds}))
    done = scores(tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0] == "round 0: winner Tie"
    assert lines[1:3] == ["  score 2; ann: rank 1 to 2, ...", "  score 1.5; bob: rank 1 to 2, ..."]
    assert lines[-2] == "ann: won 2 of 3 rounds, 1 of them for sure"
    assert lines[-1] == "bob: won 1 of 3 rounds, 0 of them for sure"
    assert "bob: not played" in lines[-3]
    refused = scores(tmp_path / "no")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("usage: scores.py FOLDER")


def scores(folder: Path) -> subprocess.CompletedProcess[str]:
    script = ARENA.parent / "scores.py"
    return subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False)
