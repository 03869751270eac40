"""The script that measures the games as a benchmark: its figures, and the tables that it writes into the page."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


PAGE = "before\n\n<!-- made by scripts/benchmark.py -->\n\n<!-- end -->\n\nafter\n"


@pytest.fixture
def benchmark(root: Path, tmp_path: Path) -> Run:
    """Runs the script on figures and a page of its own."""
    (tmp_path / "page.md").write_text(PAGE)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        own = ["--figures", str(tmp_path / "figures.json"), "--page", str(tmp_path / "page.md")]
        command = [sys.executable, str(root / "scripts/benchmark.py"), *arguments, *own]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_a_table_is_measured_and_written_into_the_page(benchmark: Run, tmp_path: Path) -> None:
    """Three deals of coasters: the figures fit each other, and the page has them between its marks."""
    done = benchmark("coasters 2", "--deals", "3")
    assert (done.returncode, done.stdout) == (0, "coasters 2: 3 deals\n")
    figures = json.loads((tmp_path / "figures.json").read_text())["coasters 2"]
    assert sum(first for first, _ in figures["firsts"]) == pytest.approx(1)
    assert 1 <= figures["legal"] <= figures["most"]
    assert list(figures["levels"]) == ["random", "coasters-2", "coasters-3", "coasters-4"]
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert page.count("| coasters | 2 |") == 3
    assert benchmark("--check").returncode == 0
    (tmp_path / "page.md").write_text(page.replace("| coasters | 2 |", "| coasters | 3 |"))
    assert benchmark("--check").returncode == 1


def test_a_table_that_is_not_in_the_list_is_refused(benchmark: Run) -> None:
    """With the tables that there are."""
    done = benchmark("chess 2")
    assert done.returncode == 2
    assert "'aliens 2'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_has_the_figures_that_are_kept(root: Path) -> None:
    """Nobody changed a figure of the page by hand."""
    command = [sys.executable, str(root / "scripts/benchmark.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0
