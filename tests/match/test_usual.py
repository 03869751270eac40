"""Reading the usual lines of a record at sight: whatever is accepted is what reading in full would accept."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from warpleague.games import load_game
from warpleague.match.record import Act, structured
from warpleague.match.replay import NUMBER, UsualActs
from warpleague.match.scribe import digest_form
from warpline.codec import canonical

GAME = load_game("sheets")
ROLL = next(iter(GAME.legal(GAME.apply(GAME.initial(1, GAME.Options()), (0,) * 7)[0], 0)))
LINES = [
    {"ask": "keep", "ms": [0.05, 12, None], "n": 7, "seat": 0},
    {"ask": "keep", "ms": [1, None, 0.001], "bank_s": 59.5, "note": "0e null .0000", "n": 70, "seat": 3},
    {"ask": "keep", "auto": True, "n": 1, "seat": 0},
    {"ask": "ai-keep", "bank_s": 3, "n": 123, "seat": 1, "then": True},
]


def reader() -> UsualActs:
    acts = UsualActs(GAME)
    acts.learn(ROLL)
    return acts


def text(line: dict[str, object]) -> bytes:
    return canonical({"type": "act", "action": GAME.action_json(ROLL), **line}) + b"\n"


def test_usual_lines_are_read_at_sight() -> None:
    """Action, number, seat and mark are those of the line, and the digest takes the same bytes of it."""
    for line in LINES:
        act = reader().read(text(line))
        assert act is not None, line
        assert (act.action, act.ask, act.n, act.seat) == (ROLL, line["ask"], line["n"], line["seat"])
        assert act.auto == ("auto" in line)
        assert act.digested == digest_form(json.loads(text(line)))


def test_other_lines_are_left_to_be_read_in_full() -> None:
    """An action not met before, marks that exclude each other, times that do not fit them, unknown fields."""
    usual = LINES[0]
    assert UsualActs(GAME).read(text(usual)) is None
    for change in (
        {"auto": True},
        {"then": True},
        {"ms": None},
        {"ms": [1, 2]},
        {"ms": [None, 1, 1]},
        {"ms": [-1, 1, 1]},
        {"ms": [1e-5, 1, 1]},
        {"extra": 1},
        {"substituted": True},
        {"note": "\u00e9"},
        {"n": 7.0},
        {"bank_s": True},
    ):
        assert reader().read(text({**usual, **change})) is None, change
    assert reader().read(text({**LINES[2], "then": True})) is None


@given(st.from_regex(NUMBER.decode(), fullmatch=True))
def test_numbers_read_at_sight_are_spelled_canonically(number: str) -> None:
    """No number is accepted that the canonical form spells otherwise."""
    assert canonical(json.loads(number)) == number.encode()


@settings(max_examples=300)
@given(st.sampled_from(LINES), st.integers(0, 200), st.integers(0, 255))
def test_a_changed_line_is_refused_or_is_another_good_one(
    line: dict[str, object], place: int, byte: int
) -> None:
    """Whatever byte is changed: what is still accepted is canonical, of the right form, with the digest of it all."""
    changed = bytearray(text(line))
    changed[place % len(changed)] = byte
    act = reader().read(bytes(changed))
    if act is not None:
        data = json.loads(changed)
        assert canonical(data) + b"\n" == changed
        assert structured(data, Act).seat == act.seat
        assert act.digested == digest_form(data)
        assert (act.n, act.seat, act.ask) == (data["n"], data["seat"], data["ask"])
