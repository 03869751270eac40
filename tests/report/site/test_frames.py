"""The frames of a replay: what each viewer saw, and nothing besides."""

import json
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.site.conftest import patch

from warpleague.errors import RecordError
from warpleague.games import load_game
from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.match.replay import Replay
from warpleague.match.setup import options_json
from warpleague.match.spec import TimeControl
from warpleague.report.site.delta import EMPTY, diff, plain, splices
from warpleague.report.site.match_page import CompressedJson, compress_replay, evidence, frames
from warpline.codec import canonical


def decoded(record: bytes) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each frame of a record with its scenes, that of everything first, as a viewer would make them."""
    scenes: list[dict[str, Any]] = []
    for frame in json.loads(json.dumps(list(frames(Replay(record))))):
        scenes = scenes or [EMPTY] * len(frame["scene"])
        deltas = [frame["scene"][0] if delta is None else delta for delta in frame["scene"]]
        scenes = [patch(scene, delta) for scene, delta in zip(scenes, deltas, strict=True)]
        yield frame, scenes


def test_every_seat_is_shown_what_the_game_shows_it(record: bytes) -> None:
    """Decoded, every frame is the scene that the game draws for that viewer: nothing more, nothing less."""
    replay = Replay(record)
    game, viewers = replay.game, (None, *range(replay.header["players"]))
    states = [replay.first, *(step.state for step in Replay(record))]
    found = [scenes for _, scenes in decoded(record)]
    assert len(found) == len(states)
    for state, scenes in zip(states, found, strict=True):
        assert scenes == [plain(game.scene(state, viewer)) for viewer in viewers]


def test_every_seat_is_told_what_it_was_told(record: bytes) -> None:
    """What happened is told to each viewer in the form of the events that it saw."""
    replay = Replay(record)
    seats = range(replay.header["players"])
    for step, (frame, _) in zip(Replay(record), list(decoded(record))[1:], strict=True):
        everything = frame["told"][0]
        assert everything == [replay.game.tell(event.data) for event in step.events]
        for seat in seats:
            seen = [event.seen_by(seat) for event in step.events]
            told = frame["told"][1 + seat]
            wanted = [replay.game.tell(form) for form in seen if form is not None]
            assert (everything if told is None else told) == wanted


def test_frames_keep_what_led_to_them(record: bytes) -> None:
    """Each frame has its line's seat, decision, times, marks, note and fault."""
    lines = [json.loads(line) for line in record.splitlines()[1:-2]]
    for line, (frame, _) in zip(lines, list(decoded(record))[1:], strict=True):
        assert frame["kind"] == line["type"]
        for name in ("seat", "ask", "ms"):
            assert frame.get(name) == line.get(name)
        assert frame.get("marks", []) == [mark for mark in ("auto", "then", "substituted") if line.get(mark)]
        assert ("note" in frame) == ("note" in line)
        if line["type"] == "act":
            assert json.loads(frame["action"]) == line["action"]
        if line["type"] == "fault":
            kind, retired, found = frame["fault"]
            assert (kind, retired) == (line["kind"], line["retired"])
            assert found[0][0] == "message"
            assert len(found) == len(line["detail"])
    assert any("note" in line for line in lines)
    assert any(line["type"] == "fault" for line in lines)


def test_a_replay_is_small(record: bytes) -> None:
    """The packed frames of a match stay below 100 kB, and no more than a little above the record itself."""
    faults: list[list[dict[str, Any]]] = [[] for _ in range(9)]
    block, end = compress_replay(Replay(record), {"seats": []}, faults)
    assert len(block) < min(100_000, 2 * len(record))
    data = json.loads(zlib.decompress(b64decode(block)))
    assert (data["seats"], len(data["frames"])) == ([], len(record.splitlines()) - 2)
    assert end["type"] == "end"
    fault_lines = [n for n, frame in enumerate(data["frames"]) if "fault" in frame]
    assert sorted(fault["n"] for found in faults for fault in found) == fault_lines


def test_what_seats_saw_can_be_kept_apart(record: bytes) -> None:
    """Then the first block has what the viewer of everything sees, the other the rest, and both together all of it."""
    faults: list[list[dict[str, Any]]] = [[] for _ in range(9)]
    whole, _ = compress_replay(Replay(record), {"seats": []}, faults)
    views = CompressedJson()
    first, _ = compress_replay(Replay(record), {"seats": []}, faults, apart=views)
    one, two, all_ = (json.loads(zlib.decompress(b64decode(text))) for text in (first, views.text(), whole))
    assert one["frames"] == all_["frames"]
    for name in ("told", "scene"):
        assert [a + b for a, b in zip(one[name], two[name], strict=True)] == all_[name]
        assert {len(seen) for seen in one[name]} == {1}


def test_words_of_bots_are_made_harmless(record: bytes, hostile: str) -> None:
    """Notes and evidence come out as text without control characters, their words still there."""
    seen = 0
    for frame, _ in decoded(record):
        texts = [frame.get("note", "")] + [text for _, text in frame.get("fault", [0, 0, []])[2]]
        for text in texts:
            assert all(char.isprintable() or char in "\n\t" for char in text)
            seen += "\\x1b[2J\\x202egnp.\\x07" in text
    assert seen > 2


def test_the_bank_is_the_one_that_bots_were_told(play: Callable[..., Any]) -> None:
    """Bank left plus increment is what the next question says, timeouts included."""
    clock = TimeControl(move_s=1.0, bank_s=5.0, increment_s=0.25)
    record, banks = play("sheets", "plain", "late", clock=clock, faults="substitute", strikes=99)
    left: dict[int, list[float]] = {0: [], 1: []}
    for frame, _ in decoded(record):
        if frame.get("ms") or "substituted" in frame.get("marks", ()):
            left[frame["seat"]].append(frame["bank"])
    for seat, told in banks.items():
        assert left[seat][-2] + 0.25 == pytest.approx(told, abs=0.002)


def test_a_message_brings_the_bank_no_increment(play: Callable[..., Any]) -> None:
    """In a match with talk, too, the bank left is what the next question says, whoever talks and whoever is out."""
    clock = TimeControl(move_s=1.0, bank_s=5.0, increment_s=0.25)
    options = options_json(load_game("coasters").Options(max_rounds=6))
    record, banks = play("coasters", "talker", "talker late", "crash", clock=clock, options=options)
    left: dict[int, list[tuple[float, bool]]] = {0: [], 1: [], 2: []}
    for frame, _ in decoded(record):
        if frame.get("ms"):
            left[frame["seat"]].append((frame["bank"], '"say"' in frame["action"]))
    assert sum(said for _, said in left[0]) > 6
    for seat in (0, 1):
        *_, (bank, said), _ = left[seat]
        assert bank + (0 if said else 0.25) == pytest.approx(banks[seat], abs=0.002)


def test_a_bank_that_nobody_knows_is_not_told(play: Callable[..., Any]) -> None:
    """Without a bank there is none in any frame, nor where the record does not tell it."""
    record, _ = play("sheets", "plain", "plain")
    assert not any("bank" in frame for frame, _ in decoded(record))
    record, _ = play("sheets", "plain", "plain", clock=TimeControl(bank_s=5.0))
    lines = [json.loads(line) for line in record.splitlines()[:-1]]
    older = [canonical({name: line[name] for name in line.keys() - {"bank_s"}}) + b"\n" for line in lines]
    assert sum("bank" in frame for frame, _ in decoded(record)) > 10
    assert not any("bank" in frame for frame, _ in decoded(b"".join(older)))


def test_long_evidence_is_cut_in_its_middle() -> None:
    """Of a very long text beginning and end are kept, and what is missing is said; odd details are shown as JSON."""
    found = dict(
        evidence({"stderr": "a" * 9_000 + "z" * 9_000, "exit": 3, "message": "m", "odd": {"x": [1]}})
    )
    assert list(found) == ["message", "exit", "odd", "stderr"]
    assert (found["exit"], found["odd"]) == ("3", '{"x":[1]}')
    assert found["stderr"].startswith("aaa")
    assert found["stderr"].endswith("zzz")
    assert "[10,000 characters more in the record]" in found["stderr"]
    assert evidence(None) == []


def test_a_record_that_does_not_hold_has_no_frames(record: bytes) -> None:
    """Frames end with an error at the first line that does not hold."""
    lines = record.splitlines(keepends=True)
    with pytest.raises(RecordError, match="line 8"):
        list(frames(Replay(b"".join([*lines[:8], *lines[9:-1]]))))


def test_what_stays_on_a_board_is_built_once(record: bytes) -> None:
    """From line to line a game shows the very cells it showed before: else every frame would cost a whole board."""
    replay = Replay(record)
    before = replay.game.scene(replay.first, None).cells
    same = kept = 0
    for step in replay:
        cells = replay.game.scene(step.state, None).cells
        alike = [(one, other) for one, other in zip(before, cells, strict=False) if one == other]
        same += len(alike)
        kept += sum(one is other for one, other in alike)
        before = cells
    assert kept > 0.8 * same


# Scenes told by their differences: exact, whatever changes.


PLACES = st.sampled_from((0, 1, 1.5, -2))
TEXTS = st.sampled_from(("", "a", "b 1", "\x1b[2J", "\u202e</script>", "two\nlines"))
OWNERS = st.sampled_from((None, 0, 1))
KINDS = st.sampled_from(("blank", "wild", "odd kind"))
IDS = st.sampled_from(("", "a", "b-1"))
CELLS = st.builds(Cell, PLACES, PLACES, KINDS, TEXTS, OWNERS, IDS, IDS, TEXTS, st.sampled_from(("", "N SE")))
DIRECTIONS = st.sampled_from(("", "N"))
PIECES = st.builds(
    Piece, PLACES, PLACES, KINDS, TEXTS, OWNERS, DIRECTIONS, IDS, IDS, TEXTS, st.integers(0, 3)
)
ITEMS = st.builds(Item, KINDS, TEXTS, IDS, IDS, st.booleans())
TRAYS = st.builds(
    Tray, TEXTS, st.lists(st.lists(ITEMS, max_size=3).map(tuple), max_size=2).map(tuple), OWNERS
)
SCENES = st.builds(
    Scene,
    st.sampled_from(("square", "hex")),
    st.lists(CELLS, max_size=6).map(tuple),
    st.lists(PIECES, max_size=4).map(tuple),
    st.lists(st.builds(Link, PLACES, PLACES, PLACES, PLACES, KINDS, OWNERS, IDS), max_size=4).map(tuple),
    st.lists(
        st.builds(Panel, TEXTS, st.lists(TEXTS, max_size=3).map(tuple), OWNERS, st.integers(0, 2)), max_size=3
    ).map(tuple),
    TEXTS,
    st.lists(TRAYS, max_size=2).map(tuple),
    st.lists(st.tuples(IDS, TEXTS), max_size=2).map(tuple),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(st.sampled_from((0.0, 1.0, 2.5)), max_size=2).map(tuple),
    st.sampled_from(("points", "hits")),
    st.booleans(),
    OWNERS,
    st.lists(TEXTS, max_size=2).map(tuple),
)


@given(st.lists(SCENES, min_size=1, max_size=5))
def test_a_chain_of_deltas_gives_every_scene(scenes: list[Scene]) -> None:
    """From nothing on, each delta makes exactly the next scene of the one before, which stays as it is."""
    shown, before = EMPTY, None
    for scene in scenes:
        kept = repr(shown)
        after = patch(shown, diff(before, scene))
        assert after == plain(scene)
        assert repr(shown) == kept
        shown, before = after, scene


@given(SCENES)
def test_the_plain_form_holds_nothing_that_steers(scene: Scene) -> None:
    """No text of it has a control character, or one that turns the order of letters; no change is no delta."""

    def texts(value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, dict):
            value = list(value.values())
        return [text for item in value for text in texts(item)] if isinstance(value, list) else []

    assert all(text.isprintable() for text in texts(plain(scene)))
    assert diff(scene, scene) == {}


def test_a_cell_that_changes_costs_one_splice() -> None:
    """What changes in place, and what comes or goes in the middle, is told alone."""
    assert splices("abcd", "abXd", str) == [[2, 1, "X"]]
    assert splices("abcd", "XbcY", str) == [[0, 1, "X"], [3, 1, "Y"]]
    assert splices("abcd", "abXcd", str) == [[2, 0, "X"]]
    assert splices("abcd", "ad", str) == [[1, 2]]
    assert splices("aa", "aaa", str) == [[2, 0, "a"]]


@given(SCENES, SCENES, SCENES, SCENES)
@settings(max_examples=30)
def test_a_step_that_another_viewer_sees_too_may_be_told_from_there(
    old: Scene, new: Scene, other_old: Scene, other_new: Scene
) -> None:
    """The delta is the same whether it is made anew or, where two viewers see alike, taken from the other's."""
    mixed_old = attrs.evolve(old, pieces=other_old.pieces, panels=other_old.panels, focus=other_old.focus)
    mixed_new = attrs.evolve(new, pieces=other_new.pieces, panels=other_new.panels, focus=other_new.focus)
    like = (other_old, other_new, diff(other_old, other_new))
    assert list(diff(mixed_old, mixed_new, like).items()) == list(diff(mixed_old, mixed_new).items())
    assert diff(None, mixed_new, (None, other_new, diff(None, other_new))) == diff(None, mixed_new)
