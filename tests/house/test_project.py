"""Checks that what is said in several places is said alike: versions, Pythons, games, commands.

What a release holds is CHANGELOG.md's business.
"""

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import warpleague
from warpleague.games import GAMES


@pytest.fixture
def pyproject(root: Path) -> dict[str, Any]:
    """The project's declaration."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def readme(root: Path) -> str:
    """The README."""
    return (root / "README.md").read_text(encoding="utf-8")


def commands(text: str) -> list[list[str]]:
    """The commands of each console block, in order."""
    return [
        re.findall(r"(?m)^\$ (.+)$", block) for block in re.findall(r"(?ms)^```console\n(.*?)^```$", text)
    ]


def test_the_version_is_told_once_everywhere(root: Path, pyproject: dict[str, Any]) -> None:
    """Declaration, package and changelog name the same version."""
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    latest = re.search(r"(?m)^## (\d+\.\d+\.\d+)", changelog)
    assert latest is not None
    assert pyproject["project"]["version"] == warpleague.__version__ == latest[1]


def test_the_supported_pythons_agree(root: Path, pyproject: dict[str, Any]) -> None:
    """Classifiers, the lower bound, the linters' target and the bootstrap name the same Pythons."""
    classifiers = pyproject["project"]["classifiers"]
    minors = [int(m[1]) for c in classifiers if (m := re.fullmatch(r".*:: 3\.(\d+)", c))]
    bounds = re.search(r"(?m)^oldest=(\d+) newest=(\d+)", (root / "scripts/bootstrap.sh").read_text())
    assert bounds is not None
    assert minors == list(range(int(bounds[1]), int(bounds[2]) + 1))
    assert pyproject["project"]["requires-python"] == f">=3.{minors[0]}"
    assert pyproject["tool"]["ruff"]["target-version"] == f"py3{minors[0]}"
    assert pyproject["tool"]["mypy"]["python_version"] == f"3.{minors[0]}"


def test_every_game_is_kept_apart_from_the_others(pyproject: dict[str, Any]) -> None:
    """The import contract of independence names every built-in game."""
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    (independent,) = [
        contract for contract in contracts if contract["name"] == "games do not import each other"
    ]
    assert set(independent["modules"]) == {target.partition(":")[0] for target in GAMES.values()}


def test_every_dependency_has_a_reason(root: Path, pyproject: dict[str, Any]) -> None:
    """docs/dependencies.md has a row for each direct dependency, and none for what is gone."""
    groups = chain.from_iterable(pyproject["dependency-groups"].values())
    wanted = [*pyproject["project"]["dependencies"], *pyproject["build-system"]["requires"], *groups]
    names = {re.split(r"[<>=~! \[]", requirement)[0] for requirement in wanted}
    text = (root / "docs/dependencies.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"(?m)^\| `([\w.-]+)` \|", text))
    assert names - rows == set()
    assert rows - names == set()


def test_two_commands_set_the_project_up(readme: str) -> None:
    """The README's first commands are two: get the project, and see it work."""
    blocks = commands(readme)
    if not blocks:
        pytest.skip("the README has no commands yet")
    assert len(blocks[0]) == 2


def test_the_readme_names_only_targets_there_are(root: Path, readme: str) -> None:
    """Every `make TARGET` of the README is a target of the Makefile."""
    targets = set(re.findall(r"(?m)^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8")))
    assert set(re.findall(r"\bmake ([a-z-]+)\b", "\n".join(chain.from_iterable(commands(readme))))) <= targets


def test_contributors_are_told_only_targets_there_are(root: Path) -> None:
    """Every `make TARGET` of the contributors' page and of the hook before a commit is a target of the Makefile."""
    targets = set(re.findall(r"(?m)^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8")))
    hook = (root / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    page = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "make quick" in hook
    assert set(re.findall(r"(?:`|entry: )make ([a-z-]+)", page + hook)) <= targets


def test_continuous_integration_runs_the_readmes_commands(root: Path) -> None:
    """What is checked for a change is what everyone can run, the README's `make check` and `make test` first."""
    script = (root / ".ci/run").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^(?:counted )?make ([\w-]+)", script) == [
        "check",
        "test",
        "test-ends",
        "test-tables",
        "test-bridges",
    ]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_numbered_rule_is_cited_and_tested(root: Path, game: str) -> None:
    """Each rule of a game's page is cited by number in its engine, and a test is named after it."""
    page = (root / f"docs/games/{game}.md").read_text(encoding="utf-8")
    rules = set(re.findall(r"\*\*([A-Z]\d+)\b", page))
    engine, tests = (
        "\n".join(path.read_text(encoding="utf-8") for path in sorted((root / folder).glob(pattern)))
        for folder, pattern in (
            (f"harness/warpleague/games/{game}", "*.py"),
            (f"tests/games/{game}", "test_*.py"),
        )
    )
    cited = set(re.findall(r"\b[A-Z]\d+\b", engine))
    for letter, first, last in re.findall(r"\b([A-Z])(\d+)(?:-| to )\1(\d+)\b", engine):
        cited |= {f"{letter}{number}" for number in range(int(first), int(last) + 1)}
    named = {number.upper() for name in re.findall(r"def (test_\w+)", tests) for number in name.split("_")}
    assert len(rules) > 10
    assert rules - cited == set()
    assert rules - named == set()
