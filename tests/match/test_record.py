"""Verifying a record: what holds passes, and damage anywhere is found and placed."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nullgame import NullGame, Tick

from warpleague.errors import OptionsError, RecordError
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.record import Act, pack, read_record, structured, unpack
from warpleague.match.replay import NUMBER, FastLineParser, Replay, first_difference, verify_record
from warpleague.match.scribe import Scribe, digest_form, publish, seal
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl
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
    line = record.count(b"\n", 0, place)
    with pytest.raises(RecordError) as caught:
        verify_record(bytes(damaged))
    told = int(str(caught.value).replace("the header", "line 0").split("line ")[1].split(":")[0])
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
    with pytest.raises(RecordError, match="line 5: n must be 5"):
        verify_record(resealed(lines[:5] + lines[6:]))
    with pytest.raises(RecordError, match="line 6: n must be 6"):
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
    assert (found.line, found.played_line) == (line - 1, line - 1)  # as its n, of which the header has none
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


# Reading the usual lines of a record at sight: whatever is accepted is what reading in full would accept.


GAME = load_game("sheets")
ROLL = next(iter(GAME.legal(GAME.apply(GAME.initial(1, GAME.Options()), (0,) * 7)[0], 0)))
LINES = [
    {"ask": "keep", "ms": [0.05, 12, None], "n": 7, "seat": 0},
    {"ask": "keep", "ms": [1, None, 0.001], "bank_s": 59.5, "note": "0e null .0000", "n": 70, "seat": 3},
    {"ask": "keep", "auto": True, "n": 1, "seat": 0},
    {"ask": "ai-keep", "bank_s": 3, "n": 123, "seat": 1, "then": True},
]


def reader() -> FastLineParser:
    acts = FastLineParser(GAME)
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
    assert FastLineParser(GAME).read(text(usual)) is None
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


# Golden records: each holds as it is, and the referee makes it again from its decisions.


GOLDEN = Path(__file__).parent / "golden" / "2"
DIGESTS = {
    "aliens": "045ec873d1b5d42e2f767e1fd527ed0453bb8f6fbc14e2e3885f6db924ab7a34",
    "captains": "9d4c7c1cd3414b7f1616b68cc395a49a5feca3b8b12ceaa5661a810634f38770",
    "coasters": "76dcfe0b2da11fcda497821bf149745807513fc72829a915160af4e7c30e4857",
    "sheets": "2b2a920caa6e2b784c58105b9a1c7b2776c95faf5316b5e035df5276a41d8b71",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_golden_record_holds(name: str) -> None:
    """It verifies against its key, and has the digest it always had."""
    summary = verify_record(read_record(GOLDEN / f"{name}.jsonl.gz"))
    assert (summary.digest, summary.chance, summary.sealed) == (DIGESTS[name], "key", True)
    assert summary.header["format"] == 2


@pytest.mark.parametrize("name", DIGESTS)
def test_golden_match_comes_out_again(name: str, spec: Callable[..., Any], table: Any) -> None:
    """The referee, asked for the match and given its decisions, writes the same digest."""
    replay = Replay(read_record(GOLDEN / f"{name}.jsonl.gz"))
    lines = [msgspec.json.decode(line) for line in replay.lines]
    answers = iter([line["action"] for line in lines if line["type"] == "act" and "auto" not in line])
    header = replay.header
    match = spec(
        id=header["id"],
        game=header["game"],
        options=header["options"],
        seats=tuple(SeatSpec(**seat) for seat in header["seats"]),
        key=replay.key,
        seed=header["seed"],
        level=header["level"],
    )
    bots = [lambda _question: next(answers)] * len(match.seats)
    assert table(match, *bots).play().digest == DIGESTS[name]


# Tests of how a record is written while its match goes on.


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
            scribe.act((Tick(0), "turn", number % 2, None), TIMES)
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
    scribe.act((Tick(0), "turn", 0, None), TIMES, ("a note", 2_500_000_000, 0.25), noted)
    noted["again"] = [{"message": "no"}]
    scribe.act((Tick(1), "turn", 0, None), TIMES, None, noted)
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
