"""`scripts/bench` measures: with tiny settings each row that takes no minutes has its figures and verdicts."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
import yaml  # type: ignore[import-untyped]
from tests.programs import program

ROWS = ["wire", "engines", "playout", "verify", "start", "undercharge"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="measures a C program")
def test_bench_measures(root: Path) -> None:
    """How large figures are is the machine's business, and of what else it does meanwhile; they are above zero."""
    script = [sys.executable, str(root / "scripts/bench"), *ROWS]
    tiny = ["--rounds", "1", "--scale", "0.02", "--game", "sheets", "--json"]
    done = subprocess.run([*script, *tiny], capture_output=True, check=True)
    figures = json.loads(done.stdout)["figures"]
    assert {row["row"] for row in figures} == set(ROWS)
    assert all(row["value"] > 0 for row in figures if row["row"] != "undercharge")
    assert all((row["met"] is None) == (row["goal"] is None) for row in figures)


# The script that measures the games as a benchmark: its figures, and the tables that it writes into the page.


Run = Callable[..., subprocess.CompletedProcess[str]]


PAGE = "before\n\n<!-- made by scripts/benchmark.py -->\n\n<!-- end -->\n\nafter\n"


@pytest.fixture
def benchmark(root: Path, tmp_path: Path) -> Run:
    """Runs the script on results and a page of its own."""
    (tmp_path / "page.md").write_text(PAGE)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        own = ["--results", str(tmp_path / "results.csv"), "--page", str(tmp_path / "page.md")]
        command = [sys.executable, str(root / "scripts/benchmark.py"), *arguments, *own]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_a_table_is_measured_in_parts_and_written_into_the_page(benchmark: Run, tmp_path: Path) -> None:
    """Three deals of coasters, the last after a stop that cut a line short; the page has them between its marks."""
    results, page = tmp_path / "results.csv", tmp_path / "page.md"
    assert benchmark("coasters 2", "--deals", "2").returncode == 0
    before = results.read_text()
    results.write_text(before + "coasters 2,strongest,2,1 2,1")
    assert benchmark("coasters 2", "--deals", "3").returncode == 0
    assert results.read_text().startswith(before)
    deals = [line.split(",")[1:3] for line in results.read_text().splitlines()[1:]]
    rows = ["strongest", "again", "slips", "slips again", "random", "level 2", "level 3", "level 4"]
    assert deals == [[row, str(deal)] for deal in range(3) for row in rows]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert text.count("| coasters | 2 |") == 1  # too few deals for rows with errors
    assert benchmark("--check").returncode == 0
    page.write_text(text.replace("| coasters | 2 |", "| coasters | 3 |"))
    assert benchmark("--check").returncode == 1


@pytest.mark.parametrize("script", ["benchmark.py", "scale.py"])
def test_the_page_has_the_figures_that_are_kept(root: Path, script: str) -> None:
    """Nobody changed a figure of the page, or of the scale, by hand."""
    command = [sys.executable, str(root / "scripts" / script), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_a_share_of_luck_never_leaves_zero_to_one(root: Path) -> None:
    """Of 40 simulated deals, with truths from 0.1 to 0.9: the interval is within, and holds nine times of ten."""
    sys.path.append(str(root / "scripts"))  # it imports other scripts
    luck = program(root / "scripts/benchmark.py").luck
    rng, held, many = Random(1), 0, 60
    for number in range(many):
        true = 0.1 + number % 5 / 5
        pairs = []
        for _ in range(40):
            shared = rng.gauss(0, sqrt(true))
            scores = [shared + rng.gauss(0, sqrt(1 - true)) for _ in range(2)]
            pairs.append([{"ranks": [1], "scores": [score], "rival": 0} for score in scores])
        value, low, high = luck(*zip(*pairs, strict=True))
        assert 0 <= low <= value <= high <= 1
        held += low <= true <= high
    assert held >= 0.9 * many


@pytest.mark.parametrize("page", ["docs/games/benchmark.md", "docs/opponents.md"])
def test_every_row_with_an_error_has_twenty_deals_or_more(root: Path, page: str) -> None:
    """Each row with an interval has a column of deals, and no figure of it is from fewer than 20."""
    head: list[str] = []
    rows = 0
    for line in (root / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        head = (head or cells) if cells else []
        if cells and ("±" in line or " to " in line):
            rows += 1
            assert int(cells[head.index("deals")]) >= 20, line
    assert rows >= 2


# The script that plays duels in one process: what it prints of two bots of different strength.


def test_duels_tell_share_elo_and_times(root: Path) -> None:
    """A level of the opponents beats random play, and the time of both is told."""
    command = [sys.executable, str(root / "scripts/duels.py"), "coasters", "coasters-4", "random"]
    done = subprocess.run([*command, "--deals", "3"], capture_output=True, text=True, check=True)
    first, *times = done.stdout.splitlines()
    assert first.startswith(
        "3 deals: coasters-4 scored 100.0 % (29.2 to 100.0) against random, Elo at least -154, "
    )
    assert [line.partition(":")[0] for line in times] == ["coasters-4", "random"]


def test_duels_are_continued_from_their_results(root: Path, tmp_path: Path) -> None:
    """Deals that are in the file are not played again, and a row in parts is the row in one."""
    command = [
        sys.executable,
        str(root / "scripts/duels.py"),
        "coasters",
        "coasters-3",
        "random",
        "--results",
    ]

    def run(file: str, deals: str) -> list[str]:
        words = [*command, str(tmp_path / file), "--deals", deals]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()

    whole = run("whole", "4")
    run("parts", "2")
    assert run("parts", "4")[0] == whole[0]
    assert (tmp_path / "parts").read_text() == (tmp_path / "whole").read_text()
    assert run("parts", "4") == whole[:1]


@pytest.mark.parametrize(
    ("words", "told"),
    [(["duels.py", "chess", "random", "random"], "chess"), (["benchmark.py", "chess 2"], "'aliens 2'")],
)
def test_what_does_not_exist_is_refused(root: Path, words: list[str], told: str) -> None:
    """A game, or a table, with the list of those that there are."""
    command = [sys.executable, str(root / "scripts" / words[0]), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


# The script that measures what shared dice are worth: its figure, and that it plays every game it lists.


@pytest.fixture(scope="module")
def luck(root: Path) -> ModuleType:
    """The script."""
    return program(root / "scripts/luck.py")


def test_the_ratio_is_one_without_common_luck_and_zero_where_it_decides_all(luck: ModuleType) -> None:
    """Luck that helps both bots alike cancels out; independent matches gain nothing; the error covers that."""
    rng = Random(1)
    draws = [(rng.random(), rng.random()) for _ in range(600)]
    found, error = luck.ratio(draws)
    assert abs(found - 1) < 3 * error < 0.25
    assert luck.ratio([(a, -a) for a, _ in draws])[0] == pytest.approx(0)
    assert luck.ratio([(a, a) for a, _ in draws])[0] == pytest.approx(2)
    half, error = luck.ratio([(a + b, -a + rng.random()) for a, b in draws])
    assert abs(half - 0.5) < 3 * error


def test_a_row_tells_both_ratios(luck: ModuleType) -> None:
    """Some deals of coasters between random bots, and of the real bots alone, give a row each."""
    assert luck.measure("coasters", ("random", "random"), 4, None).count("±") == 2
    assert luck.measure("captains solo", ("captains-planner~", "random"), 2, None).startswith("captains solo")
    beside = luck.measure("coasters field", ("random", "random"), 2, ("coasters-hunter", "random"))
    assert beside.count("±") == 2


# The workflow action that checks a bot: its own step, run as a workflow runs it.


@pytest.mark.skipif(shutil.which("bash") is None, reason="workflows run their steps in bash")
@pytest.mark.parametrize(
    ("bot", "code", "said"), [("bots/random-python", 0, "ready"), ("docs", 1, "bot.toml")]
)
def test_the_step_tells_and_decides(root: Path, tmp_path: Path, bot: str, code: int, said: str) -> None:
    """The step ends with the command's exit code, and the summary of the run shows what the command printed."""
    action = yaml.safe_load((root / ".github/actions/check-bot/action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    assert step["shell"] == "bash"
    program = tmp_path / "warpleague/bin/warpleague"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m warpleague "$@"\n')
    program.chmod(0o755)
    variables = {
        name: value.replace("${{ inputs." + key + " }}", str(given))
        for name, value in step["env"].items()
        for key, given in {"bot": bot, "level": "none", "arguments": "--game aliens --matches 1"}.items()
        if key in value
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=root,
        env={
            **os.environ,
            **variables,
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert summary == f"```text\n{done.stdout}```\n"
    assert said in done.stdout
