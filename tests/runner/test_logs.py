"""What is kept for a bot's author: its standard error and the wire log, how much of each, and in which file.

The commands that keep and show it are tested in tests/cli/test_logs.py.
"""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runner.conftest import MakeSeat, MakeSpec

from warpleague.errors import BadInput
from warpleague.match.spec import SeatLog
from warpleague.runner.bot.logs import LINE_KEPT, WIRE_KEPT, LogFolder, WireLog, log_file, name_of, read_log
from warpleague.runner.play import end_idle, play_in_series, play_match

SAYING = """
import os, sys
from warpline.client import run

def choose(question):
    print("stray print")
    print(f"deciding {question.id} of match {question.match}", file=sys.stderr)
    return 0

run(choose, wants=("legal",), reusable=True)
"""


def wire(text: str) -> list[tuple[float, str, str]]:
    """Time, direction and line of each line of a wire log."""
    lines = (line.lstrip().split(" ", 2) for line in text.splitlines() if not line.startswith("#"))
    return [(float(at), way, rest) for at, way, rest in lines]


@given(st.lists(st.binary(max_size=30), max_size=8), st.lists(st.integers(0, 300), max_size=6))
def test_lines_are_whole_however_they_come(lines: list[bytes], cuts: list[int]) -> None:
    """What is read in any pieces is logged line by line, each safe to print."""
    lines = [line.replace(b"\n", b"") for line in lines]
    stream = b"".join(line + b"\n" for line in lines)
    log = WireLog(time.perf_counter_ns())
    at = 0
    for cut in [*sorted(cuts), len(stream)]:
        log.received(stream[at:cut])
        at = max(at, cut)
    text = log.text()
    assert len(wire(text)) == len(lines)
    assert all(char.isprintable() or char == "\n" for char in text)


def test_an_unfinished_line_is_marked() -> None:
    """The beginning of a line that never ended is there, and told from a line."""
    log = WireLog(time.perf_counter_ns())
    log.sent(b'{"type":"act"}\n')
    log.received(b"\x1b[2Jhalf")
    assert [line[1:] for line in wire(log.text())] == [(">", '{"type":"act"}'), ("<…", "\\x1b[2Jhalf")]


def test_much_is_cut_in_the_middle() -> None:
    """The first and the last lines stay, and between them it is told how much is missing; so inside a long line."""
    log = WireLog(time.perf_counter_ns())
    for number in range(3000):
        log.sent(b"%04d" % number + b"x" * 1000 + b"\n")
    text = log.text()
    assert WIRE_KEPT - 2 * LINE_KEPT < len(text) < 1.1 * WIRE_KEPT
    found = wire(text)
    assert (found[0][2][:4], found[-1][2][:4]) == ("0000", "2999")
    (gap,) = [line for line in text.splitlines() if line.startswith("#")]
    assert gap == f"# [... {3000 - len(found)} lines, {(3000 - len(found)) * 1004:,} bytes not kept ...]"

    long = WireLog(time.perf_counter_ns())
    for _ in range(100):
        long.received(b"a" * 100_000)
    long.received(b"z\n")
    ((_, _, line),) = wire(long.text())
    assert line.startswith("aaa")
    assert line.endswith("aaz")
    assert f"[... {100 * 100_000 + 1 - LINE_KEPT} bytes not kept ...]" in line
    assert len(line) < LINE_KEPT + 100


def test_a_match_is_logged_seat_by_seat(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Each seat's log has its own words only, all lines in order and in time, and nothing of the key."""
    spec = make_spec(make_seat("one", SAYING), make_seat("two", SAYING), max_turns=6)
    assert play_match(spec).logs == ()
    result = play_match(spec, log=True)
    assert result.faults == ((), ())
    for seat, log in enumerate(result.logs):
        told = wire(log.wire)
        assert [at for at, _, _ in told] == sorted(at for at, _, _ in told)
        assert 0 <= told[0][0] <= told[-1][0] <= result.elapsed_s * 1000
        types = [(way, line.split('"type":"')[1].split('"')[0]) for _, way, line in told]
        assert types[:4] == [(">", "hello"), ("<", "hello"), (">", "start"), ("<", "ready")]
        assert types[-2:] == [(">", "end"), (">", "quit")]
        asked = [line for _, way, line in told[4:-2] if way == ">"]
        assert len(asked) == result.times[seat].decisions == types[4:-2].count(("<", "act"))
        assert f'"seat":{seat}' in told[2][2]
        assert log.stderr.splitlines() == [
            line
            for number in range(1, len(asked) + 1)
            for line in ("stray print", f"deciding {number} of match {spec.id}")
        ]
        assert spec.key.hex() not in log.wire
    assert result.logs[0].wire != result.logs[1].wire


def test_a_reused_bot_has_a_log_for_each_match(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """What it wrote in one match is not told with the next one."""
    seats = [make_seat(name, SAYING, reusable=True) for name in ("one", "two")]
    try:
        for name in ("first", "second"):
            spec = make_spec(*seats, max_turns=4, seed=name)
            result = play_in_series(spec, log=True)
            assert result.faults == ((), ())
            for log in result.logs:
                assert {line.split()[-1] for line in log.stderr.splitlines()} <= {"print", spec.id}
                assert f'"match":"{spec.id}"' in log.wire
    finally:
        end_idle()


def test_a_bot_that_never_starts_has_an_empty_log(
    make_seat: MakeSeat, make_spec: MakeSpec, tmp_path: Path
) -> None:
    """Its opponent's is whole; a traceback at the start is kept."""
    import attrs

    broken = tmp_path / "broken"
    broken.write_text("no program")
    gone = attrs.evolve(make_seat("gone", SAYING), run=(str(broken),))
    result = play_match(make_spec(gone, make_seat("bad", "1 / 0"), max_turns=2), log=True)
    assert [faults[0].kind for faults in result.faults if faults] == ["startup", "startup"]
    assert result.logs[0] == SeatLog.of("", "")
    assert "ZeroDivisionError" in result.logs[1].stderr


def test_answers_that_are_no_lines_are_logged(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """Lines that nobody asked for, and a flood, are there, where the author looks for the cause."""
    chatty = make_seat("chatty", "print('hi', flush=True)\ninput()\ninput()")
    flood = make_seat("flood", "import sys\nsys.stdout.write('x' * 10**7)\nsys.stdout.flush()\ninput()")
    result = play_match(make_spec(chatty, flood, max_turns=2), log=True)
    assert ("<", "hi") in [line[1:] for line in wire(result.logs[0].wire)]
    assert [way for _, way, _ in wire(result.logs[1].wire)][:2] == [">", ">"]
    assert "<… xxxxx" in result.logs[1].wire
    assert len(result.logs[1].wire) < 2 * LINE_KEPT


@given(st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=300))
def test_each_name_is_a_name_of_a_file(one: str, other: str) -> None:
    """Any name becomes one part of a path that every file system takes; other names become other ones."""
    for text in (one, other, "..", ".", "a/../b", "\0"):
        name = name_of(text)
        assert name.isprintable()
        assert name not in ("", ".", "..")
        assert "/" not in name
        assert len(name.encode()) < 255
    assert (name_of(one) == name_of(other)) == (one == other)


def test_names_of_manifests_stay_as_they_are() -> None:
    """A folder is called like its bot, where nothing speaks against it."""
    assert name_of("my-bot_2.0+x") == "my-bot_2.0+x"
    assert name_of("Ärger") == "Ärger"


def test_a_folder_holds_so_much_of_each_bot(tmp_path: Path) -> None:
    """Where a bot's logs are too large together its oldest ones go, also those of an earlier run; others' stay."""
    quiet, loud = SeatLog.of("", ""), SeatLog.of("x" * 900, "")
    old = log_file(tmp_path, "loud", "old", 0, "stderr")
    old.parent.mkdir()
    old.write_text("x" * 900)
    os.utime(old, (1, 1))
    (tmp_path / "loud" / "notes.md").write_text("mine")
    logs = LogFolder(tmp_path, most=3000)
    logs.keep("m0", ["quiet", "loud"], [quiet, loud])
    assert old.exists()
    for number in range(1, 6):
        logs.keep(f"m{number}", ["quiet", "loud"], [quiet, loud])
    assert not old.exists()
    stderr = sorted(path.name for path in (tmp_path / "loud").glob("*.stderr.txt"))
    assert stderr[-1] == "m5-1.stderr.txt"
    assert sum(path.stat().st_size for path in (tmp_path / "loud").glob("*.txt")) <= 3000
    assert len(list((tmp_path / "quiet").iterdir())) == 12
    assert (tmp_path / "loud" / "notes.md").exists()
    logs.keep("m5", ["quiet", "loud"], [quiet, loud])  # played again: its log is replaced
    assert sorted(path.name for path in (tmp_path / "loud").glob("*.stderr.txt")) == stderr


def test_a_folder_holds_so_much_of_all_bots(tmp_path: Path) -> None:
    """Where the logs of all bots are too large together the oldest ones go, whoever's they are."""
    gone = log_file(tmp_path, "gone", "old", 0, "wire")
    gone.parent.mkdir()
    gone.write_text("x" * 900)
    os.utime(gone, (1, 1))
    logs = LogFolder(tmp_path, in_all=5000)
    for number in range(8):
        logs.keep(f"m{number}", ["one", "two"], [SeatLog.of("x" * 400, ""), SeatLog.of("y" * 400, "")])
        assert gone.exists() == (number < 4)
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*")) <= 5000
    assert log_file(tmp_path, "one", "m7", 0, "stderr").exists()
    assert not log_file(tmp_path, "one", "m1", 0, "stderr").exists()


def test_logs_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    """A file in the way is a problem that is told, not a failure of the match; nothing more is tried."""
    (tmp_path / "bot").write_text("in the way")
    logs = LogFolder(tmp_path)
    logs.keep("m", ["bot"], [SeatLog.of("", "")])
    assert logs.problem == f"{tmp_path / 'bot'}: cannot write it: File exists"
    logs.keep("m", ["other"], [SeatLog.of("", "")])
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("bot", ["..", "../..", ".", "/", ""])
def test_a_foreign_record_leads_nowhere_else(tmp_path: Path, bot: str) -> None:
    """Whatever a record calls its match and its bots, only files below the folder of logs are read."""
    folder = tmp_path / "a" / "logs"
    folder.mkdir(parents=True)
    for place in (tmp_path, folder.parent, folder):
        (place / "secret-0.stderr.txt").write_text("secret")
    for match in ("secret", "../secret", "../../secret", str(tmp_path / "secret")):
        header = {"id": match, "seats": [{"bot": bot}]}
        with pytest.raises(BadInput, match="was not stored"):
            read_log(tmp_path / "one.jsonl", header, 0, "stderr", folder)
