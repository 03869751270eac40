"""The small parts of the runner: what is kept of standard error, and what is swept up after a match.

Matches are tested in test_play.py.
"""

import subprocess
import sys

import pytest
from tests.runner.conftest import MakeSeat, MakeSpec

from warpleague.runner.bot.logs import HEAD_BYTES, TAIL_BYTES, StderrLog
from warpleague.runner.checkup import try_out, whole
from warpleague.runner.host import become_subreaper, children, sweep
from warpline.limits import STDERR_READ


@pytest.mark.parametrize("piece", [7, 1000, HEAD_BYTES + 1, 10**6])
def test_head_and_tail_are_kept(piece: int) -> None:
    """However the bytes arrive, the first and the last half of the limit are kept, and the gap is counted."""
    data = bytes(range(97, 123)) * 8000
    log = StderrLog()
    for at in range(0, len(data), piece):
        log.feed(data[at : at + piece])
    assert log.total == len(data)
    head, gap, tail = log.text().split("\n")
    assert head == data[:HEAD_BYTES].decode()
    assert tail == data[-TAIL_BYTES:].decode()
    assert gap == f"[... {len(data) - HEAD_BYTES - TAIL_BYTES:,} bytes not shown ...]"


def test_a_short_log_is_whole() -> None:
    """What fits is shown as it is."""
    log = StderrLog()
    log.feed(b"one\n")
    log.feed(b"two\n")
    assert log.text() == "one\ntwo\n"
    assert not log.full


def test_the_text_is_cut_to_what_is_asked_for() -> None:
    """A smaller excerpt still has both ends."""
    log = StderrLog()
    log.feed(b"a" * 5000 + b"z" * 5000)
    head, gap, tail = log.text(100).split("\n")
    assert (head, tail) == ("a" * 50, "z" * 50)
    assert gap == "[... 9,900 bytes not shown ...]"


def test_the_text_is_safe_for_a_terminal() -> None:
    """Control characters and broken UTF-8 are spelled out."""
    log = StderrLog()
    log.feed(b"\x1b[2J\xff\ttab\r\n")
    assert log.text() == "\\x1b[2J\\xff\ttab\\x0d\n"


def test_reading_stops_at_the_limit() -> None:
    """A log that has been fed so much asks for no more, and has kept little of it."""
    log = StderrLog()
    for _ in range(STDERR_READ // (1 << 20)):
        log.feed(b"x" * (1 << 20))
    assert log.full
    assert len(log.text()) < HEAD_BYTES + TAIL_BYTES + 100


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_orphans_are_swept_up() -> None:
    """A process whose parent has died comes to us and is killed; children that are to stay, stay."""
    assert become_subreaper()
    own = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        keep = children()
        assert own.pid in keep
        orphan = (
            "import subprocess, sys\n"
            "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        )
        subprocess.run([sys.executable, "-c", orphan], check=True)
        assert len(children() - keep) == 1
        assert sweep(keep) == 1
        assert children() == keep
        assert own.poll() is None
    finally:
        own.communicate(b"\n")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_what_may_not_be_killed_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has become another user's is left alone, and is no trouble of the match's."""

    def forbidden(*_: int) -> None:
        raise PermissionError

    keep = children()
    stray = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with monkeypatch.context() as patch:
            patch.setattr("warpleague.runner.host.os.kill", forbidden)
            assert sweep(keep) == 0
        assert stray.poll() is None
    finally:
        stray.communicate(b"\n")


LEAVER = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3): os.dup2(null, fd)
        time.sleep(600)
    os._exit(0)
os.wait()
from warpline.client import run
run(lambda question: 0, wants=())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_a_trial_leaves_nothing(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """A daemon of a bot that is tried out ends with the trial."""
    assert become_subreaper()
    before = children()
    seat = make_seat("leaver", LEAVER)
    assert try_out(make_spec(seat, seat, level="none"), 0, [whole], 1).trouble is None
    assert children() == before
