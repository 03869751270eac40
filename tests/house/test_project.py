"""Checks that what is said in several places is said alike: versions, Pythons, games, commands.

What a release holds is CHANGELOG.md's business.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from email.message import Message
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

import warpleague
from warpleague.cli.parser import parser_for
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


def test_only_targets_there_are_are_named(root: Path, readme: str) -> None:
    """Every `make TARGET` of README, contributors' page and the hook before a commit is one of the Makefile."""
    targets = set(re.findall(r"(?m)^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8")))
    assert set(re.findall(r"\bmake ([a-z-]+)\b", "\n".join(chain.from_iterable(commands(readme))))) <= targets
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


# What is packed for a package index: the wire by itself, and the page that the index shows.


pytest.importorskip("hatchling")


def built(source: Path, folder: Path) -> tuple[Path, Message]:
    """The wheel of a declaration, and its metadata."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return wheel, message_from_string(packed.read(name).decode())


def test_the_wire_is_a_package_without_dependencies(root: Path, tmp_path: Path) -> None:
    """Unpacked alone, its client is imported by a Python that sees no other package; it has the program's version."""
    wheel, told = built(root / "protocol", tmp_path / "dist")
    required = told.get_all("Requires-Dist") or []
    assert [name for name in required if "extra ==" not in name] == []
    declared = re.search(r'(?m)^version = "(.*)"', (root / "pyproject.toml").read_text("utf-8"))
    assert declared is not None
    assert told["Version"] == declared[1]
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "lib")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'lib')!r}); import warpline.client; print('there')"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "there\n", done.stderr
    assert (root / "protocol/LICENSE").read_text() == (root / "LICENSE").read_text()


def test_links_of_the_readme_work_on_an_index(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There no file of the project is beside the page: links are absolute, or plain text where its home is unknown."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source / name)
    (source / "scripts").mkdir()
    for script in ("hatch_metadata.py", "hatch_build.py", "compile.py"):
        shutil.copy(root / "scripts" / script, source / "scripts" / script)
    code = (
        "from hatchling.metadata.core import ProjectMetadata; from hatchling.plugin.manager import PluginManager; "
        "found = ProjectMetadata('.', PluginManager()).core; print(found.urls); print(found.readme)"
    )

    def page() -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    monkeypatch.delenv("WARPLEAGUE_HOME", raising=False)
    assert re.findall(r"\]\((?!https:)", page()) == []
    monkeypatch.setenv("WARPLEAGUE_HOME", "https://example.org/us/it/")
    text = page()
    assert "https://example.org/us/it/blob/v0.1.0/docs/games/aliens.md" in text
    assert "'Homepage': 'https://example.org/us/it'" in text
    links = re.findall(r"\]\(https://example\.org/us/it/blob/v[\d.]+/([^)#]*)", text)
    assert [link for link in links if not (root / link).exists()] == []


# The workflow that checks the project in public: it runs what everyone is told to run, on all that is promised.


WORKFLOW = ".github/workflows/checks.yml"


@pytest.fixture
def checks(root: Path) -> dict[str, Any]:
    """The job that checks a change."""
    job: dict[str, Any] = yaml.safe_load((root / WORKFLOW).read_text(encoding="utf-8"))["jobs"]["checks"]
    return job


def test_the_workflow_runs_on_all_that_is_promised(root: Path, checks: dict[str, Any]) -> None:
    """Every supported Python, on Linux for both kinds of processor, and on macOS; no failure ends the others."""
    classified = re.findall(r"Python :: (3\.\d+)", (root / "pyproject.toml").read_text(encoding="utf-8"))
    matrix = checks["strategy"]["matrix"]
    assert matrix["python"] == classified
    assert [re.sub(r"[\d.]+", "N", system) for system in matrix["system"]] == [
        "ubuntu-N",
        "ubuntu-N-arm",
        "macos-N",
    ]
    assert checks["strategy"]["fail-fast"] is False


def test_the_workflow_runs_the_readmes_commands(root: Path, checks: dict[str, Any]) -> None:
    """The two commands of the README's first block come first, then the contributors' `make check`."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    block = re.search(r"(?ms)^```console\n(.*?)^```$", readme)
    assert block is not None
    given = [step["run"] for step in checks["steps"] if step.get("run", "").startswith("make ")]
    assert given[:3] == [*re.findall(r"(?m)^\$ (.+)$", block[1]), "make check"]


def test_the_workflow_is_one(root: Path) -> None:
    """What only actionlint knows of workflows: keys, expressions, runners, the shell of each step."""
    program = shutil.which("actionlint")
    if program is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([program, WORKFLOW], cwd=root, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)


# The files for services and containers: what they name exists, and nothing in them runs as root.


DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def parse(words: list[str]) -> argparse.Namespace:
    """What `warpleague serve` understands of its words."""
    parser, rest = parser_for(["serve", *words])
    return parser.parse_args(rest)


def test_the_unit_starts_a_server() -> None:
    """Its command is understood, it is no root's, and it has more time to end than the server takes."""
    unit = (DEPLOY / "warpleague.service").read_text()
    settings = dict(re.findall(r"(?m)^(\w+)=(.*)$", unit))
    program, command, *words = shlex.split(settings["ExecStart"])
    assert (Path(program).name, command) == ("warpleague", "serve")
    args = parse(words)
    assert str(args.results).startswith("/var/lib/" + settings["StateDirectory"])
    assert settings["User"] != "root"
    assert int(settings["TimeoutStopSec"]) > 2 + 20 + 5 + 5
    assert settings["KillMode"] == "mixed"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify` has nothing to say but that the program is not installed."""
    unit = tmp_path / "warpleague.service"
    text = (DEPLOY / "warpleague.service").read_text()
    unit.write_text(text.replace("/opt/warpleague/bin/warpleague", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if "warpleague" in line]
    assert (done.returncode, said) == (0, [])


def test_the_image_is_made_of_what_there_is() -> None:
    """What it copies is in the checkout, its command is understood, and the last user is not root."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    steps = [line.partition(" ")[::2] for line in text.splitlines() if line and not line.startswith("#")]
    known = {"ARG", "FROM", "COPY", "RUN", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"}
    assert {name for name, _ in steps} <= known | {"ENTRYPOINT", "CMD"}
    for name, rest in steps:
        if name == "COPY":
            assert (DEPLOY.parent / rest.split()[0]).exists(), rest
    assert [rest for name, rest in steps if name == "USER"] == ["warpleague"]
    said = dict(steps)
    entry = re.findall(r'"([^"]*)"', said["ENTRYPOINT"])
    args = parse([*entry[2:], *re.findall(r'"([^"]*)"', said["CMD"])])
    assert f":{said['EXPOSE']}/health" in said["HEALTHCHECK"]
    assert str(args.port) == said["EXPOSE"]
    assert str(args.results) == said["VOLUME"]
    assert said["STOPSIGNAL"] == "SIGTERM"
