"""What of the time that passes is the asked bot's: properties of the model, and what it says of known cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpleague.runner.bot.clocks import INTERVAL_NS, PAUSE_NS, SLACK_NS, LongDecision, Reading, excused_ns

MS = 1_000_000
times = st.integers(0, 10_000 * MS)
readings = st.builds(Reading, times, times, times, times)


@given(times, times, readings, st.booleans())
def test_what_a_bot_computes_is_its_own(passed: int, planned: int, since: Reading, came: bool) -> None:
    """Never is less charged than it computed, nor more than passed."""
    charged = passed - excused_ns(passed, planned, since, came)
    assert min(since.own_ns, passed) <= charged <= passed


@given(times, times, readings, st.booleans(), times)
def test_waiting_more_never_costs_more(
    passed: int, planned: int, since: Reading, came: bool, more: int
) -> None:
    """The longer others keep a bot, the more is excused; the more it computes, the less."""
    before = excused_ns(passed, planned, since, came)
    assert excused_ns(passed, planned, since._replace(delay_ns=since.delay_ns + more), came) >= before
    assert excused_ns(passed, planned, since._replace(own_ns=since.own_ns + more), came) <= before


@given(st.integers(0, INTERVAL_NS + SLACK_NS), times, times)
def test_nothing_is_excused_on_a_quiet_machine(passed: int, own: int, ran: int) -> None:
    """Where nobody waits and the referee comes when it meant to, all that passes is charged."""
    for came in (False, True):
        assert excused_ns(passed, INTERVAL_NS, Reading(own, 0, ran, 0), came) == 0


@pytest.mark.parametrize("came", [False, True])
def test_a_pause_of_the_machine_is_nobodys(came: bool) -> None:
    """Nothing ran and nothing waited for 4 s: all but what the referee meant to sleep is excused."""
    since = Reading(own_ns=5 * MS, delay_ns=0, ran_ns=1 * MS, waited_ns=0)
    charged = 4000 * MS - excused_ns(4000 * MS, INTERVAL_NS, since, came)
    assert charged <= INTERVAL_NS + SLACK_NS + 1 * MS


def test_a_referee_that_its_bot_keeps_busy_is_no_pause() -> None:
    """A bot that computes on the referee's processor makes it late; that is the bot's own time."""
    since = Reading(own_ns=300 * MS, delay_ns=0, ran_ns=0, waited_ns=280 * MS)
    for came in (False, True):
        assert excused_ns(300 * MS, INTERVAL_NS, since, came) == 0


def test_a_sleeper_is_charged_on_a_busy_machine() -> None:
    """A referee that waits for its turn finds a bot still asleep: that the bot slept was not the machine's doing."""
    since = Reading(own_ns=0, delay_ns=0, ran_ns=1 * MS, waited_ns=30 * MS)
    assert excused_ns(50 * MS, INTERVAL_NS, since, came=False) == 0
    assert excused_ns(50 * MS, INTERVAL_NS, since, came=True) == 30 * MS


@given(st.lists(st.tuples(st.integers(0, 100 * MS), st.integers(0, 100 * MS)), max_size=50))
def test_a_loaded_host_takes_as_much_as_it_took(slices: list[tuple[int, int]]) -> None:
    """Of any mix of computing and being kept waiting, exactly the computing is charged, at whatever looks."""
    turn = LongDecision(0, 50 * MS, Reading())
    now = own = kept = 0
    for computed, waited in slices:
        now, own, kept = now + computed + waited, own + computed, kept + waited
        turn.update(now, computed + waited, Reading(own, kept))
    assert turn.charged_ns == own
    assert turn.left_ns(now) == 50 * MS - own


@given(st.lists(times, min_size=1, max_size=20))
def test_untrusted_readings_double_the_time_at_most(kept: list[int]) -> None:
    """Where not all of the bot's processes are counted, what may be their doing is bounded; a pause is not theirs."""
    turn = LongDecision(0, 100 * MS, Reading())
    now = total = 0
    for each in kept:
        now, total = now + each, total + each
        turn.update(now, each, Reading(0, total), trusted=False)
    assert turn.excused_ns == min(total, 100 * MS)
    turn.update(now + 5 * PAUSE_NS, INTERVAL_NS, Reading(0, total), trusted=False)
    assert turn.excused_ns > 4 * PAUSE_NS


def test_a_clock_that_goes_back_takes_nothing() -> None:
    """Readings that are corrected downwards charge and excuse nothing by themselves."""
    turn = LongDecision(0, 100 * MS, Reading(50 * MS, 50 * MS, 50 * MS, 50 * MS))
    turn.update(10 * MS, INTERVAL_NS, Reading())
    assert turn.excused_ns == 0
    assert turn.charged_ns == 10 * MS
