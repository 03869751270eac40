"""Tests of how a record is written while its match goes on."""

import json
from typing import Any

import pytest
from hypothesis import strategies as st
from nullgame import NullGame, Tick

from warpleague.errors import OptionsError
from warpleague.games import load_game
from warpleague.match.scribe import Scribe
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl

TIMES = (1_500_000, 250_000, None)
_TIME = st.one_of(st.integers(0, 3_000_000), st.integers(0, 1 << 62))
_TOLD = st.tuples(_TIME, st.none() | _TIME, st.none() | _TIME)
_MORE = st.tuples(
    st.none() | st.text(max_size=5), st.none() | st.integers(0, 1 << 40), st.none() | st.floats(0, 1)
)


@pytest.fixture
def scribe() -> Scribe:
    """The record of a match of two seats."""
    return begun()


def begun() -> Scribe:
    """A record that has only its header."""
    seats = (SeatSpec(bot="a"), SeatSpec(bot="b"))
    spec = MatchSpec(
        id="m", game="null", options={}, seats=seats, key=bytes(32), clock=TimeControl(move_s=1.0)
    )
    return Scribe(NullGame(), spec, "")


def told(lines: list[bytes]) -> list[dict[str, Any]]:
    """The lines as values."""
    return [json.loads(line) for line in lines]


def test_each_look_at_a_record_sees_all_that_happened(scribe: Scribe) -> None:
    """However many decisions there are between two looks, the lines stand in order, rolls among them."""
    seen = 1
    for more in (1, 300, 700):
        for number in range(more):
            scribe.act(number % 2, "turn", Tick(0), None, TIMES)
            scribe.chance("here#1", (6,), (number % 6,))
        lines = told(scribe.since(seen))
        assert [line["type"] for line in lines] == ["act", "chance"] * more
        assert [line["n"] for line in lines] == list(range(seen, seen + 2 * more))
        seen += 2 * more
    first, second = scribe.spent.times()
    assert first.decisions + second.decisions == 1001
    assert first.wall_ms == first.decisions * 1.5


def test_a_line_keeps_what_was_told_of_its_own_decision(scribe: Scribe) -> None:
    """What is noted of the next decision, in the same dict, is not told of this one."""
    noted: dict[str, Any] = {}
    scribe.act(0, "turn", Tick(0), None, TIMES, "a note", 2_500_000_000, 0.25, noted)
    noted["again"] = [{"message": "no"}]
    scribe.act(0, "turn", Tick(1), None, TIMES, None, None, None, noted)
    first, second = told(scribe.since(1))
    assert "detail" not in first
    assert (first["note"], first["bank_s"], first["value"], first["ms"]) == (
        "a note",
        2.5,
        0.25,
        [1.5, 0.25, None],
    )
    assert second["detail"] == noted


def test_options_are_checked_however_often_they_come() -> None:
    """Options equal in Python, but not in JSON, are not taken for those that were in order."""
    game = load_game("coasters")
    good = options_json(load_options(game, 2, {}))
    assert load_options(game, 2, good) == load_options(game, 2, dict(good))
    for wrong in ({**good, "colours": True}, {**good, "max_rounds": "13"}):
        for _ in range(2):
            with pytest.raises(OptionsError):
                load_options(game, 2, wrong)
