"""Which playouts are played next, and what they are said to show: clear losses are found, chance is not."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpleague.extras.study.analyse import (
    FIRST,
    FREE,
    Book,
    Decision,
    Plan,
    Sample,
    mean_of,
    next_playouts,
    turns,
    verdict,
)


def decision(n: int = 5, played: int = 0, legal: int = 4, seat: int = 0) -> Decision:
    """A decision of a made-up match."""
    return Decision(n, seat, "turn", {"do": "x"}, played, legal)


def plan(playouts: int = 256, actions: int = 16, *, bots: bool = False, least: float = 0.1) -> Plan:
    """A plan with a seed."""
    return Plan(playouts, actions, least, "s", bots)


def judged(
    about: Decision, by: Plan, chances: Sequence[float], free: float = 0.5, stop: Random | None = None
) -> Book:
    """All playouts that the plan asks for: way `w` of playout `k` wins with the given likelihood, by common luck.

    With `stop` only a part of what is asked for is played at a time, in any order.
    """
    book = Book()
    while due := next_playouts(about, book, by):
        if stop is not None:
            due = stop.sample(due, stop.randint(1, len(due)))
        for k, ways in due:
            luck = Random(f"{about.n} {k}").random()
            worth = {way: float(luck < (free if way == FREE else chances[way])) for way in ways}
            book.add(Sample(about.n, k, worth, chose=1 if by.bots and FREE in ways else None))
    return book


def test_a_clear_loss_is_a_blunder() -> None:
    """The best action is found, its advantage is that of playouts that did not choose it, and it is clear."""
    book = judged(decision(), plan(), [0.2, 0.3, 0.7, 0.1])
    found = verdict(decision(), book, plan())
    assert found is not None
    assert found.loss is not None
    assert (found.best, found.blunder) == (2, True)
    assert found.loss.playouts == 128  # of 256, half chose
    assert found.loss.value == pytest.approx(0.5, abs=0.15)
    assert found.others[0].index == 2
    assert found.before.value == pytest.approx(0.5, abs=0.1)


def test_the_best_action_is_settled_early() -> None:
    """A decision that cannot be a blunder gets no more playouts than it needs, and loses nothing."""
    book = judged(decision(), plan(), [0.9, 0.3, 0.2, 0.1])
    found = verdict(decision(), book, plan())
    assert found is not None
    assert found.loss is not None
    assert (found.best, found.loss.value, found.blunder) == (0, 0.0, False)
    assert book.total(5) == 2 * FIRST * 5  # two rounds of all ways


@pytest.mark.parametrize("seed", range(8))
def test_equal_actions_are_no_blunders(seed: int) -> None:
    """Among many equal actions one always looks best; that alone is no loss."""
    rng = Random(seed)
    about, by, book = decision(legal=16), plan(), Book()
    while due := next_playouts(about, book, by):
        for k, ways in due:
            book.add(Sample(5, k, {way: float(rng.random() < 0.5) for way in ways}))
    found = verdict(about, book, by)
    assert found is not None
    assert not found.blunder


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=9),
    st.booleans(),
    st.integers(2, 6),
    st.randoms(use_true_random=False),
)
def test_where_it_was_stopped_makes_no_difference(
    chances: list[float], bots: bool, actions: int, stop: Random
) -> None:
    """Playouts in any order and in any portions lead to the same verdict as all at once."""
    about, by = decision(legal=len(chances), played=1), plan(32, actions, bots=bots)
    whole = verdict(about, judged(about, by, chances), by)
    assert whole is not None
    assert verdict(about, judged(about, by, chances, stop=stop), by) == whole
    assert whole.looked_at <= max(actions, 2)


def test_bots_say_which_actions_are_worth_a_look() -> None:
    """Of a thousand actions, the one played and those that the bots chose are among the few that are looked at."""
    about, by = decision(played=700, legal=1000), plan(16, 3, bots=True)
    book = Book()
    first = next_playouts(about, book, by)
    assert first == [(k, (FREE,)) for k in range(FIRST)]
    for k, _ in first:
        book.add(Sample(5, k, {FREE: 0.0}, chose=444))
    ways = next_playouts(about, book, by)[0][1]
    assert len(ways) == 3
    assert {700, 444} < set(ways)


def test_few_equal_results_are_not_certain() -> None:
    """Eight wins of eight leave room for a loss; a mean of scores has the usual error; a single one has none."""
    won = mean_of([1.0] * 8, shares=True)
    assert won.interval is not None
    assert 0.15 < won.interval < 0.35
    scores = mean_of([10.0, 20.0], shares=False)
    assert scores.value == 15.0
    assert scores.error == pytest.approx(5.0)
    assert mean_of([10.0], shares=False).error is None


def test_turning_points_are_what_changed_a_value() -> None:
    """A seat's value that fell between two of its decisions, and one that its own decision changed."""
    by = plan()
    first, second = decision(5, 0), decision(9, 0)
    found = [
        verdict(first, judged(first, by, [0.9, 0.9, 0.9, 0.9], free=0.9), by),
        verdict(second, judged(second, by, [0.8, 0.1, 0.1, 0.1], free=0.2), by),
    ]
    changes = turns([each for each in found if each is not None], by)
    assert [(turn.since, turn.n, turn.own) for turn in changes] == [(5, 9, False), (9, 9, True)]
    assert changes[0].change.value < -0.5
    assert changes[1].change.value > 0.5
