"""Verifying a record: what holds passes, and damage anywhere is found and placed."""

import json
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpleague.errors import RecordError
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.record import pack, unpack
from warpleague.match.replay import Replay, first_difference, verify_record
from warpleague.match.scribe import publish, seal
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import SeatSpec
from warpline.codec import canonical


@pytest.fixture(scope="module")
def record(request: pytest.FixtureRequest) -> bytes:
    return _record()


@cache
def _record(faulty: bool = True) -> bytes:
    import importlib.util
    from pathlib import Path

    location = importlib.util.spec_from_file_location("table", Path(__file__).with_name("conftest.py"))
    assert location is not None
    assert location.loader is not None
    module = importlib.util.module_from_spec(location)
    location.loader.exec_module(module)
    rng = Random(3)

    def bot(question: dict[str, Any]) -> Any:
        if faulty and question["id"] == 4:
            return 10**6
        return {
            "type": "act",
            "id": question["id"],
            "action": rng.randrange(len(question["legal"])),
            "note": "hm",
        }

    table = module.Table(module.make_spec(faults="substitute", strikes=9), bot, bot)
    return bytes(table.play().record)


def resealed(lines: list[bytes]) -> bytes:
    """The lines with a seal that fits: what only re-execution can find wrong."""
    return b"".join([*lines, seal(lines)])


def changed(record: bytes, line: int, **fields: Any) -> bytes:
    """The record with fields of one line (the header is 1) replaced, resealed."""
    lines = record.splitlines(keepends=True)[:-1]
    data = {**json.loads(lines[line - 1]), **fields}
    lines[line - 1] = canonical({key: value for key, value in data.items() if value is not ...}) + b"\n"
    return resealed(lines)


def find(record: bytes, **fields: Any) -> int:
    """The number of the first line with these fields."""
    for number, line in enumerate(record.splitlines(), 1):
        data = json.loads(line)
        if all(data.get(key) == value for key, value in fields.items()):
            return number
    raise LookupError(fields)


def test_a_record_verifies(record: bytes) -> None:
    """What the referee wrote holds, dice and all."""
    summary = verify_record(record)
    assert summary.chance == "key"
    assert summary.sealed
    assert summary.lines == len(record.splitlines()) - 3


@pytest.mark.parametrize(
    ("game", "players", "options"),
    [
        ("aliens", 2, {"both_ships": True, "max_turns": 30}),
        ("captains", 1, {"ai": "brood", "max_rounds": 6}),
        ("captains", 5, {"max_rounds": 4}),
        ("coasters", 4, {"max_rounds": 4}),
        ("sheets", 3, {}),
    ],
)
def test_records_of_every_game_hold_and_come_out_alike(
    spec: Any, table: Any, game: str, players: int, options: dict[str, Any]
) -> None:
    """Whatever the game and the table, a record verifies, and the same bots on the same dice give the same record."""

    def play() -> bytes:
        rng = Random(7)

        def bot(question: dict[str, Any]) -> int:
            return rng.randrange(len(question["legal"]))

        made = load_options(load_game(game), players, options)
        seats = tuple(SeatSpec(f"bot {seat}", "1", "aa") for seat in range(players))
        match = spec(game=game, options=options_json(made), seats=seats)
        return bytes(table(match, *[bot] * players).play().record)

    record = play()
    assert verify_record(record).chance == "key"
    assert first_difference(record, play()) is None


@settings(max_examples=300)
@given(place=st.integers(min_value=0), flip=st.integers(1, 255))
def test_any_changed_byte_is_found_and_placed(place: int, flip: int) -> None:
    """Whatever byte becomes another, verifying names the line it is in, or the next when lines were joined."""
    record = _record()
    place %= len(record)
    damaged = bytearray(record)
    damaged[place] ^= flip
    line = record.count(b"\n", 0, place) + 1
    with pytest.raises(RecordError) as caught:
        verify_record(bytes(damaged))
    told = int(str(caught.value).split("line ")[1].split(":")[0])
    # A line end lost or won moves all lines after it: the seal then counts differently.
    if damaged[place] in b"\n\r" or record[place] in b"\n\r":
        return
    assert told == line


@pytest.mark.parametrize("cut", [1, 2, 100, 1000])
def test_a_shortened_record_is_found(record: bytes, cut: int) -> None:
    """A file that ends early is not verified."""
    with pytest.raises(RecordError):
        verify_record(record[:-cut])


def test_missing_and_doubled_lines_are_found(record: bytes) -> None:
    """A line too few or too many does not hold, even with a seal that fits."""
    lines = record.splitlines(keepends=True)[:-1]
    with pytest.raises(RecordError, match="line 6: n must be 5"):
        verify_record(resealed(lines[:5] + lines[6:]))
    with pytest.raises(RecordError, match="line 7: n must be 6"):
        verify_record(resealed([*lines[:6], lines[5], *lines[6:]]))


@pytest.mark.parametrize(
    ("where", "fields", "text"),
    [
        ({"type": "chance"}, {"outcome": [1, 1, 1, 1]}, "the key gives"),
        ({"type": "chance"}, {"outcome": [9, 0, 0, 0]}, "is no outcome"),
        ({"type": "chance"}, {"of": [6, 6, 6]}, "the draws are of"),
        ({"type": "chance"}, {"at": "opening#2"}, "at must be 'opening#1'"),
        ({"type": "chance"}, {"at": ...}, "at must be 'opening#1', not None"),
        ({"type": "act", "ask": "place"}, {"seat": 7}, "there is no seat"),
        ({"type": "act", "ask": "place"}, {"ask": "turn"}, "the decision is"),
        ({"type": "act", "ask": "place"}, {"action": {"do": "fly"}}, "cannot do that"),
        ({"type": "act", "ask": "place"}, {"auto": True, "ms": ...}, "auto must stand"),
        ({"auto": True}, {"auto": ..., "ms": [1, 1, 1]}, "auto must stand"),
        ({"substituted": True}, {"substituted": ..., "ms": [1, 1, 1]}, "substituted must stand"),
        ({"type": "fault"}, {"retired": True}, "retired must be false"),
        ({"type": "end"}, {"ranks": [2, 2]}, "ranks must be"),
        ({"type": "end"}, {"digest": "0" * 64}, "the digest must be"),
        ({"type": "match"}, {"key": "00" * 32}, "does not belong to the seed"),
        ({"type": "match"}, {"game": "chess"}, "no game is called"),
        ({"type": "match"}, {"rules": 99}, "rules version"),
        ({"type": "match"}, {"options": {"max_turns": "x"}}, "max_turns"),
        ({"type": "match"}, {"format": 3}, "record format"),
        (
            {"type": "match"},
            {"level": "x"},
            "level: must be 'none' or 'limits' or 'sandbox', not the text 'x'",
        ),
        ({"type": "match"}, {"strikes": "x"}, "strikes: must be a whole number"),
        ({"type": "match"}, {"strikes": 0}, "retired must be true"),
        ({"type": "match"}, {"faults": "forfeit"}, "retired must be true"),
        ({"type": "match"}, {"id": 7}, "id: must be a text, not 7"),
        (
            {"type": "match"},
            {"clock": {"start_s": 1e300}},
            "clock.start_s: must be a number above 0 and below 1,000,000",
        ),
        ({"type": "match"}, {"clock": {"start_s": 10, "move_s": "1"}}, "clock.move_s: must be a number"),
        ({"type": "match"}, {"clock": {}}, "clock.start_s: is required, but missing"),
        ({"type": "match"}, {"detail": []}, "detail: must be an object"),
        ({"type": "match"}, {"detail": {"kept": "all"}}, "detail.kept: must be a list"),
        ({"type": "match"}, {"started": None}, "started: must be a text, not null"),
        ({"type": "match"}, {"position": []}, "position: must be an object"),
        ({"type": "act", "ask": "place"}, {"ms": ...}, "ms is missing"),
        ({"type": "act", "ask": "place"}, {"ms": [1, 2]}, "ms: must have 3 entries, not 2"),
        ({"type": "act", "ask": "place"}, {"ms": ["1", 2, 3]}, r"ms\[0\]: must be a number"),
        ({"type": "act", "ask": "place"}, {"ms": [1, -2, 3]}, r"ms\[1\]: must be a number from 0"),
        ({"type": "act", "ask": "place"}, {"ms": [None, 2, 3]}, r"ms\[0\]: must be a number, not null"),
        ({"type": "act", "ask": "place"}, {"bank_s": -1}, "bank_s: must be a number from 0"),
        ({"type": "act", "ask": "place"}, {"bank_s": "9"}, "bank_s: must be a number"),
        ({"substituted": True}, {"bank_s": None}, "bank_s: must be a number from 0 .* not null"),
        ({"type": "act", "ask": "place"}, {"then": True}, "with then took no time"),
        ({"type": "act", "ask": "place"}, {"then": "yes"}, "then: must be true, not the text 'yes'"),
        ({"type": "act", "ask": "place"}, {"note": 7}, "note: must be a text"),
        ({"type": "fault"}, {"kind": "treason"}, "kind: must be 'startup' or "),
        ({"type": "fault"}, {"kind": "startup"}, "the match has begun"),
        ({"type": "fault"}, {"kind": "crash"}, "retired must be true"),
        ({"type": "fault"}, {"retired": 1}, "retired: must be true or false, not 1"),
        ({"type": "fault"}, {"detail": None}, "detail: must be an object"),
        ({"type": "fault"}, {"detail": {"message": ["x"]}}, "detail.message: must be a text"),
        ({"type": "fault"}, {"detail": {"message": "x", "stderr": {}}}, "detail.stderr: must be a text"),
        ({"type": "fault"}, {"seat": 1}, "seat 1 was not asked here"),
        ({"type": "end"}, {"detail": {"stopped": [None]}}, r"detail.stopped\[0\]: must be a whole number"),
        (
            {"type": "match"},
            {"seats": [{"bot": "a", "version": "", "digest": 7}] * 2},
            r"seats\[0\].digest: must be a text, not 7; seats\[1\].digest: must be a text",
        ),
    ],
)
def test_a_forged_line_is_named(
    record: bytes, where: dict[str, Any], fields: dict[str, Any], text: str
) -> None:
    """A line that was changed with care, its checksum made to fit, fails when the match is executed."""
    line = find(record, **where)
    with pytest.raises(RecordError, match=text):
        verify_record(changed(record, line, **fields))


def test_without_a_key_only_possible_dice_are_checked(record: bytes) -> None:
    """A season's record verifies while its key is secret, and the summary says what was checked."""
    secret = changed(record, 1, key=None, seed=None)
    assert verify_record(secret).chance == "shape"
    assert verify_record(secret, match_key("test")).chance == "key"
    with pytest.raises(RecordError, match="the key gives"):
        verify_record(secret, match_key("another"))


def test_publishing_the_key_keeps_the_digest(record: bytes) -> None:
    """The header is completed and sealed anew when the season's secret is out."""
    secret = changed(record, 1, key=None, seed=None)
    whole = publish(secret, match_key("test"), "test")
    assert whole == record
    assert verify_record(whole).digest == verify_record(secret).digest


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_packed_records_are_read_by_their_content(record: bytes, name: str) -> None:
    """Compression follows the file's name when written, and its content when read."""
    packed = pack(record, name)
    assert unpack(packed) == record
    if name != "a.jsonl":
        assert len(packed) < len(record) / 2
        with pytest.raises(RecordError, match="damaged"):
            unpack(packed[:-3])


def test_the_first_difference_is_told(record: bytes) -> None:
    """Comparing two records ignores times and finds the first other line, or a missing one."""
    line = find(record, type="act")
    assert first_difference(record, changed(record, line, ms=[9, 9, 9], bank_s=0.5)) is None
    found = first_difference(record, changed(record, line, note="other"))
    assert found is not None
    assert (found.line, found.played_line) == (line, line)
    lines = record.splitlines(keepends=True)
    shorter = first_difference(record, b"".join(lines[:-2]))
    assert shorter is not None
    assert shorter.played == b""


def test_replaying_shows_every_line_with_its_events(record: bytes) -> None:
    """A replay yields a step for each line between header and end, with what happened."""
    replay = Replay(record)
    steps = list(replay)
    assert [step.data["n"] for step in steps] == list(range(1, len(steps) + 1))
    assert replay.summary is not None
    assert all(replay.game.tell(event.data) for step in steps for event in step.events)
