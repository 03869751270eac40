"""The script that measures what shared dice are worth: its figure, and that it plays every game it lists."""

import importlib.util
import sys
from pathlib import Path
from random import Random
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def luck(root: Path) -> ModuleType:
    """The script, loaded by path since scripts are no package."""
    spec = importlib.util.spec_from_file_location("luck_under_test", root / "scripts/luck.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


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
