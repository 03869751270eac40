"""The bound on a search: how much of which clock, and what is said when it is met."""

import pytest

from warpline.budget import Budget, OverBudget
from warpline.client import Match, Question


def question(now: dict[str, float], clock: dict[str, float] | None = None) -> Question:
    start = {
        "match": "m", "game": "g", "rules": 1, "options": {}, "seat": 0, "players": ["a"], "seed": "s", "setup": {},
        "clock": now if clock is None else clock,
    }  # fmt: skip
    return Question({"id": 1, "ask": "turn", "clock": now}, Match(start))


@pytest.mark.parametrize(
    ("now", "clock", "limit_s"),
    [
        ({}, None, None),
        ({"move_s": 1.0}, None, 0.2),
        ({"move_s": 0.05}, None, 0.01),
        ({"bank_s": 60.0}, None, 0.6),
        ({"bank_s": 2.0}, {"bank_s": 60.0, "increment_s": 1.0}, 0.21),
        ({"bank_s": 0.5}, {"bank_s": 60.0, "increment_s": 1.0}, 0.1),
        ({"bank_s": 60.0, "move_s": 1.0}, None, 0.2),
        ({"bank_s": 3.0, "move_s": 1.0}, None, 0.03),
    ],
)
def test_a_decision_gets_a_part_of_the_clock(
    now: dict[str, float], clock: dict[str, float] | None, limit_s: float | None
) -> None:
    """A fifth of a limit for each decision; of a bank little, since all decisions come out of it."""
    assert Budget.of(question(now, clock)).limit_s == pytest.approx(limit_s)


def test_a_budget_that_is_used_up_stops_the_search_and_says_so() -> None:
    """It says after how much processor time; before, it says nothing."""
    plenty, none = Budget(1000.0), Budget(1e-9)
    assert (plenty.over(), plenty.over(0.5), plenty.met, plenty.note) == (False, False, False, None)
    assert (none.over(), none.met, none.note) == (
        True,
        True,
        "stopped the search after 1e-06 ms of processor time",
    )
    with pytest.raises(OverBudget):
        none.check()


def test_without_a_clock_nothing_is_stopped() -> None:
    """A question without limits has no bound."""
    budget = Budget.of(question({}))
    budget.check()
    assert (budget.over(0.0), budget.note) == (False, None)
