"""`warpleague replay` and `warpleague reproduce`: what they make of good, damaged and foreign records.

What makes a record hold is tested with the match layer.
"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from warpleague.match import zstd
from warpleague.match.chance import match_key
from warpleague.match.record import read_record
from warpleague.match.replay import Replay
from warpleague.match.scribe import seal
from warpleague.report.terminal.replay import show_replay
from warpline.codec import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

    from tests.cli.conftest import MakeBot, Run


def rewrite(record: Path, target: Path, **header: Any) -> Path:
    """The record with other header fields, sealed anew, as `target`."""
    first, *rest = record.read_bytes().splitlines(keepends=True)
    lines = [canonical({**json.loads(first), **header}) + b"\n", *rest[:-1]]
    target.write_bytes(b"".join([*lines, seal(lines)]))
    return target


@pytest.fixture
def secret(record: Path, tmp_path: Path) -> Path:
    """The same record while its season keeps the key."""
    return rewrite(record, tmp_path / "secret.jsonl", key=None, seed=None)


def test_verify_tells_what_holds(run: Run, record: Path) -> None:
    """A good record is verified, its dice by its key; `--json` prints one object for one file, a list for several."""
    done = run("replay", "verify", record)
    assert (done.code, done.err) == (0, "")
    assert f"verified  {record}" in done.out
    assert "dice follow from the key" in done.out
    one = run("replay", "verify", record, "--json").json
    assert one["digest"] in done.out
    assert one["digest"] == json.loads(record.read_text().splitlines()[-2])["digest"]
    assert (one["verified"], one["chance"], one["sealed"], one["ranks"]) == (True, "key", True, [1, 1])
    assert run("replay", "verify", record, record, "--json").json == [one, one]


def test_verify_goes_on_after_a_bad_file(run: Run, record: Path, tmp_path: Path) -> None:
    """Every file is reported, in order: missing, damaged, good; what cannot be read decides the exit code."""
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(record.read_bytes().replace(b'"ms":[', b'"ms":[1', 1))
    found = run("replay", "verify", bad, record, "--json")
    assert found.code == 1
    assert [one["verified"] for one in found.json] == [False, True]
    assert "checksum" in found.json[0]["error"]
    done = run("replay", "verify", tmp_path / "none", bad, record)
    assert done.code == 2
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["NOT", "NOT", "verified"]
    assert "cannot read it" in lines[0]


def test_a_file_too_large_for_a_record_is_not_read(run: Run, tmp_path: Path) -> None:
    """A file that is larger than any record is refused at once, not read into memory."""
    huge = tmp_path / "huge.jsonl"
    with huge.open("wb") as file:
        file.truncate((1 << 28) + 1)  # takes no room: it is one hole
    found = run("replay", "verify", huge, "--json")
    assert (found.code, found.json["error"]) == (1, f"{huge}: larger than any record")
    assert "larger than any record" in run("replay", "show", huge).err


def _zstd(pieces: Iterable[bytes]) -> bytes:
    packer = zstd.ZstdCompressor(level=3)
    return b"".join([*map(packer.compress, pieces), packer.flush()])


BOMBS = {
    "lines of two bytes": (_zstd([b"a\n" * (1 << 19)] * 64), "more lines than any record"),
    "newlines": (gzip.compress(b"\n" * (1 << 23)), "more lines than any record"),
    "one line": (_zstd([b" " * (1 << 20)] * 300), "larger than any record"),
    "one line of JSON": (_zstd([b"[", b"1," * (1 << 19), b"1]\n"]), "longer than any line"),
    "brackets": (gzip.compress(b"[" * (1 << 21) + b"\n"), "longer than any line"),
}


@pytest.mark.parametrize(("data", "text"), BOMBS.values(), ids=BOMBS)
def test_a_small_file_cannot_fill_the_memory(tmp_path: Path, data: bytes, text: str) -> None:
    """What unpacks to far more than a record is refused while it is unpacked, in little memory."""
    bomb = tmp_path / "bomb.jsonl.zst"
    bomb.write_bytes(data)
    program = (
        "import resource, sys\nfrom warpleague.cli import main\n"
        "code = main(['replay', 'verify', sys.argv[1]])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)\nsys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(bomb)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert text in done.stdout
    assert int(done.stdout.split()[-1]) < 800  # MiB; the file is a few KiB


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (lambda _: b"", "empty"),
        (lambda _: b"\x00" * 20 + b"\n", "not JSON"),
        (lambda data: data[: len(data) // 2], "cut off"),
        (lambda data: gzip.compress(data)[:-9], "cut off"),
        (lambda _: b"[" * 5000 + b"\n", "not JSON"),
        (lambda _: b"[]\n", "not a JSON object"),
        (lambda _: b"{}\n", "header"),
    ],
    ids=["empty", "binary", "half", "half packed", "deep", "list", "object"],
)
def test_damage_is_a_failed_check(run: Run, record: Path, tmp_path: Path, damage: Any, word: str) -> None:
    """Whatever a file holds, verify says why it is no record, with exit code 1; show refuses it with 2."""
    bad = tmp_path / "bad"
    bad.write_bytes(damage(record.read_bytes()))
    done = run("replay", "verify", bad)
    assert done.code == 1
    assert word in done.out
    assert run("replay", "show", bad).code == 2


def test_a_secret_key_can_be_given(run: Run, secret: Path) -> None:
    """Without its key a record's dice are only possible; `--key` checks them, and a wrong key does not verify."""
    assert "dice possible (key unknown)" in run("replay", "verify", secret).out
    assert "dice follow" in run("replay", "verify", secret, "--key", match_key("kept").hex()).out
    wrong = run("replay", "verify", secret, "--key", match_key("other").hex())
    assert (wrong.code, "the key gives" in wrong.out) == (1, True)


def test_show_tells_every_line(run: Run, record: Path) -> None:
    """Each line of the record is told in order, then how it ended."""
    done = run("replay", "show", record)
    assert done.code == 0
    told = [int(line.split()[0]) for line in done.out.splitlines() if line[:5].strip().isdigit()]
    lines = len(record.read_text().splitlines()) - 3  # header, end and seal have no number
    assert told == list(range(1, lines + 1))
    assert "ended: all turns are played" in done.out


def test_long_lines_keep_to_the_right_of_their_numbers(run: Run, record: Path) -> None:
    """In a narrow terminal what happened is wrapped beside the numbers; in a pipe each line of the record is one."""
    out = io.StringIO()
    narrow = Console(file=out, force_terminal=True, color_system=None, width=40, height=50, highlight=False)
    show_replay(Replay(read_record(record)), boards=False, at=None, seat=None, console=narrow)
    told, _, _ = out.getvalue().partition("────")
    lines = told[told.index("    1  ") :].splitlines()
    assert max(map(len, lines)) <= 40
    numbered = [line for line in lines if line[:5].strip().isdigit()]
    assert len(numbered) < len(lines)
    assert all(line.startswith(" " * 7) for line in lines if line not in numbered)
    piped = run("replay", "show", record).out.splitlines()
    first = next(index for index, line in enumerate(piped) if line[:7] == "    1  ")
    assert [line[:5] for line in piped[first : first + len(numbered)]] == [line[:5] for line in numbered]


def test_show_draws_one_board(run: Run, record: Path) -> None:
    """`--at` draws the board after that line alone; 0 is the start, and what is not there is refused."""
    assert "place Crowns" not in run("replay", "show", record, "--at", 0).out
    at = run("replay", "show", record, "--at", 3)
    assert [line[:5].strip() for line in at.out.splitlines() if line[:5].strip().isdigit()] == ["3"]
    assert "·" in at.out
    assert [step["n"] for step in run("replay", "show", record, "--json", "--at", 3).json] == [3]
    beyond = run("replay", "show", record, "--at", 9999)
    assert (beyond.code, beyond.out) == (2, "")
    assert "0 (the start) to" in beyond.err


def test_show_keeps_a_seats_secrets(run: Run, record: Path) -> None:
    """`--seat` shows the events as that seat saw them: the other's placements without their values."""

    def values(*seat: object) -> list[Any]:
        steps = run("replay", "show", record, "--json", *seat).json
        return [event.get("value") for step in steps for event in step["events"] if event["event"] == "place"]

    full = values()
    assert None not in full
    for seat in (0, 1):
        seen = values("--seat", seat)
        assert seen.count(None) == len(full) // 2
        assert all(value in (None, true) for value, true in zip(seen, full, strict=True))
    assert "seats 0 to 1" in run("replay", "show", record, "--seat", 2).err


def test_a_seat_sees_no_notes_or_dice_of_others(
    run: Run, make_bot: MakeBot, first: Path, tmp_path: Path
) -> None:
    """`--seat` leaves out the others' notes, actions and faults, and what the dice showed; it keeps the seat's own."""
    source = """
from warpline.client import Reply, run

run(lambda question: Reply(0 if question.id < 3 else 9999, note="my plan"), wants=())
"""
    talker, kept = make_bot("talker", source), tmp_path / "kept.jsonl"
    assert run("match", "aliens", talker, first, "--seed", 1, "--record", kept).code == 0
    mine, theirs = (run("replay", "show", kept, "--seat", seat).out for seat in (0, 1))
    assert "my plan" in mine
    assert "out of range" in mine
    assert "my plan" not in theirs
    assert "out of range" not in theirs
    assert "talker left the match" in theirs
    for step in run("replay", "show", kept, "--seat", 1, "--json").json:
        line = step["line"]
        if line.get("seat") != 1:
            assert line.keys() <= {"n", "type", "seat"}


def test_a_seat_sees_no_sign_of_messages_between_others(run: Run, make_bot: MakeBot, tmp_path: Path) -> None:
    """`--seat` shows a message to who sent it and who got it; for the third seat there is not even a line."""
    source = """
from warpline.client import run, say

run(lambda question: say(1, "psst") if question.seat == 0 and question.talk == 8 else 0)
"""
    bot, kept = make_bot("gossip", source), tmp_path / "kept.jsonl"
    done = run("match", "coasters", bot, bot, bot, "--seed", 1, "--option", "max_rounds=1", "--record", kept)
    assert done.code == 0
    steps = run("replay", "show", kept, "--json").json
    sent = [step["n"] for step in steps if step["line"].get("action", {}).get("do") == "say"]
    assert sent
    for seat, knows in ((0, True), (1, True), (2, False)):
        text = run("replay", "show", kept, "--seat", seat).out
        assert ("psst" in text) == knows
        numbers = {step["n"] for step in run("replay", "show", kept, "--seat", seat, "--json").json}
        assert set(sent) & numbers == (set(sent) if knows else set())
        assert [line for line in text.splitlines() if "(act)" in line] == []


def test_show_tells_a_faults_evidence(run: Run, make_bot: MakeBot, first: Path, tmp_path: Path) -> None:
    """Under a fault stand the bot's last words, or the line that it is about, safe to print."""
    crash = make_bot(
        "crash", "import sys\nprint('\\x1b[31mdown', file=sys.stderr)\nraise RuntimeError('no board')"
    )
    chatty = make_bot("chatty", "print('hello world', flush=True)\ninput()\ninput()")
    for bot, words in ((crash, ["\\x1b[31mdown", "RuntimeError: no board"]), (chatty, ["hello world"])):
        kept = tmp_path / f"{bot.name}.jsonl"
        assert run("match", "aliens", bot, first, "--record", kept).code == 4
        shown = run("replay", "show", kept).out
        assert "\x1b" not in shown
        for word in words:
            assert word in shown
        assert words[0] not in run("replay", "show", kept, "--seat", 1).out


def test_a_bots_words_cannot_steer_the_terminal(
    run: Run, first: Path, make_bot: MakeBot, tmp_path: Path
) -> None:
    """Control characters in a note, and in names of a foreign record, are shown, not obeyed."""
    bot = make_bot(
        "loud",
        "from warpline.client import Reply, run\nrun(lambda question: Reply(0, note='\\x1b[2Jgone [bold]x'))\n",
    )
    path = tmp_path / "match.jsonl"
    assert run("match", "aliens", bot, first, "--option", "max_turns=1", "--record", path).code == 0
    header = json.loads(path.read_text().splitlines()[0])
    header["seats"][1]["bot"] = "\x1b[31mred"
    header["seats"][1]["version"] = "x"
    shown = run("replay", "show", rewrite(path, tmp_path / "foreign.jsonl", seats=header["seats"]), "--at", 3)
    assert "\x1b" not in shown.out
    assert "\\x1b[31mred" in shown.out
    notes = run("replay", "show", path).out
    assert "\x1b" not in notes
    assert "note: \\x1b[2Jgone [bold]x" in notes


def test_reproduce_finds_the_bots_again(run: Run, record: Path, first: Path, tmp_path: Path) -> None:
    """A match is played again from its record alone, comes out the same, and the new record verifies.

    Given the recorded bots themselves, there is nothing to remark.
    """
    again = tmp_path / "again.jsonl"
    done = run("reproduce", record, "--record", again)
    assert (done.code, done.err) == (0, "")
    assert "the same digest" in done.out
    assert run("replay", "verify", again).code == 0
    told = run("reproduce", record, first, first, "--json")
    assert (told.code, told.err) == (0, "")
    assert (told.json["same"], told.json["difference"]) == (True, None)
    assert told.json["digest"] == told.json["recorded_digest"]


NOTING = """
from warpline.client import Reply, run

run(lambda question: Reply(0 if question.id < 3 else {action}, note="{note}"))
"""


def test_reproduce_tells_another_action_not_another_note(
    run: Run, first: Path, make_bot: MakeBot, tmp_path: Path
) -> None:
    """Versions that only note other things play the same; one that decides otherwise is named, and shown where."""
    kept = tmp_path / "kept.jsonl"
    old, new = (make_bot(name, NOTING.format(action=0, note=name)) for name in ("old", "new"))
    more = ("--seed", 1, "--option", "max_turns=8", "--record", kept)
    assert run("match", "aliens", old, first, *more).code == 0
    same = run("reproduce", kept, new, first)
    assert same.code == 0
    assert "the same actions; what they say differs, first in line" in same.out
    told = run("reproduce", kept, new, first, "--json").json
    assert (told["same"], told["strict"], told["difference"]) == (True, False, None)
    assert told["digest"] != told["recorded_digest"]
    strict = run("reproduce", kept, new, first, "--strict", "--json")
    assert (strict.code, strict.json["same"], strict.json["strict"]) == (1, False, True)
    assert json.loads(strict.json["difference"]["recorded"])["note"] == "old"
    other = make_bot("other", NOTING.format(action=1, note="other"))
    found = run("reproduce", kept, other, first, "--json")
    assert (found.code, found.json["difference"]["seat"]) == (1, 0)
    recorded, played = (json.loads(found.json["difference"][word]) for word in ("recorded", "played"))
    assert recorded["n"] == played["n"] == found.json["difference"]["line"]
    assert recorded["action"] != played["action"]
    told_line = json.loads(kept.read_text().splitlines()[found.json["difference"]["line"]])
    assert told_line["action"] == recorded["action"]
    shown = run("reproduce", kept, other, first)
    assert shown.code == 1
    for words in ("DIFFERENT", ", seat 0 decides otherwise\n", "  recorded: {", "  played:   {"):
        assert words in shown.out
    assert f"{other} is not the old of the record" in shown.err


TALKING = """
from warpline.client import Reply, run, say

def choose(question):
    if question.talk == 8 and question.seat == 0:
        return {message}
    return Reply(0)

run(choose, wants=("legal",))
"""


def test_reproduce_tells_another_action_not_another_message(
    run: Run, make_bot: MakeBot, tmp_path: Path
) -> None:
    """What bots say to each other does not count by default; actions after it still do, each by its own line."""
    manifest = 'name = "{}"\ngames = ["coasters"]\nrun = ["python3", "bot.py"]\n'

    def bot(name: str, message: str) -> Path:
        return make_bot(name, TALKING.format(message=message), manifest.format(name))

    old, silent = bot("old", 'say(1, "psst")'), bot("silent", "Reply(0)")
    other, wordy = bot("other", "Reply(len(question.legal) - 1)"), bot("wordy", 'say(1, "hello")')
    kept = tmp_path / "kept.jsonl"
    more = ("--seed", 1, "--option", "max_rounds=2", "--record", kept)
    assert run("match", "coasters", old, old, old, *more).code == 0
    for changed in (silent, wordy):
        assert run("reproduce", kept, changed, old, old, "--json").json["same"]
        assert run("reproduce", kept, changed, old, old, "--strict").code == 1
    found = run("reproduce", kept, other, old, old, "--json").json["difference"]
    assert found["line"] == found["played_line"] + 1


def test_reproduce_confines_a_strangers_bots(run: Run, first: Path, tmp_path: Path) -> None:
    """A record that says `none` is played again at no less than a match is, and says so; `--level none` is obeyed."""
    kept, again = tmp_path / "none.jsonl", tmp_path / "again.jsonl"
    more = ("--seed", 1, "--option", "max_turns=2", "--record", kept)
    assert run("match", "aliens", first, first, "--level", "none", *more).code == 0
    done = run("reproduce", kept, "--record", again)
    assert done.code == 0
    assert "recorded at level none, and is played at level limits; --level none" in done.err
    assert "the same but for the level" in done.out
    header = json.loads(again.read_text().splitlines()[0])
    assert (header["level"], header["detail"]["level"]) == ("limits", "limits")
    told = run("reproduce", kept, "--level", "none", "--json")
    assert (told.code, told.err, told.json["level"]) == (0, "", "none")
    assert told.json["digest"] == told.json["recorded_digest"]


def test_reproduce_at_another_level_still_compares_the_play(
    run: Run, first: Path, make_bot: MakeBot, tmp_path: Path
) -> None:
    """The level alone makes no difference; another move at another level does."""
    last = make_bot(
        "last", "from warpline.client import run\nrun(lambda question: len(question.legal) - 1)\n"
    )
    kept = tmp_path / "none.jsonl"
    assert run("match", "aliens", first, first, "--level", "none", "--seed", 1, "--record", kept).code == 0
    told = run("reproduce", kept, first, last, "--json")
    assert (told.code, told.json["same"]) == (1, False)
    assert "action" in json.loads(told.json["difference"]["played"])


def test_reproduce_needs_the_key(run: Run, secret: Path) -> None:
    """A secret match cannot be reproduced, until its key is given."""
    done = run("reproduce", secret)
    assert (done.code, "--key" in done.err) == (2, True)
    assert run("reproduce", secret, "--key", match_key("kept").hex()).code == 0


def test_reproduce_needs_the_bots(
    run: Run, record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots that were never used on this machine are named, with what to do."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "elsewhere"))
    done = run("reproduce", record)
    assert done.code == 2
    assert "the bot of seat 0, first" in done.err
    assert "give the folders" in done.err
