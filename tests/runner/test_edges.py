"""The small parts of the runner: what is kept of standard error, and what is swept up after a match.

Matches are tested in test_play.py.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from warpleague.runner.reaper import become_subreaper, children, sweep
from warpleague.runner.stderr import HEAD_BYTES, TAIL_BYTES, StderrLog
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
    assert gap == f"[... {len(data) - HEAD_BYTES - TAIL_BYTES} bytes not shown ...]"


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
    assert gap == "[... 9900 bytes not shown ...]"


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
