"""Playing, watching and stepping in a real terminal of 80 columns and 24 lines."""

import os
import pty
import select
import struct
import subprocess
import sys
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from tests.waiting import PATIENCE_S

from warpleague.match.replay import verify_record


class Terminal:
    """A command in a terminal: what it writes is read, keys are sent."""

    def __init__(
        self, *words: str, folder: Path, lines: int = 24, program: tuple[str, str] = ("-m", "warpleague")
    ) -> None:
        self.fd, end = pty.openpty()
        self.resize(lines)
        unset = ("COLUMNS", "LINES", "NO_COLOR")
        env = {name: value for name, value in os.environ.items() if name not in unset}
        self.process = subprocess.Popen(
            [sys.executable, *program, *words],
            stdin=end,
            stdout=end,
            stderr=end,
            cwd=folder,
            env={**env, "TERM": "xterm-256color"},
        )
        os.close(end)
        self.seen = ""

    def resize(self, lines: int) -> None:
        """Make the terminal so many lines high."""
        ioctl(self.fd, TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))

    def until(self, text: str) -> str:
        """All that was written since the last call, up to `text`."""
        while text not in self.seen:
            assert select.select([self.fd], [], [], PATIENCE_S)[0], f"no {text!r} in {self.seen!r}"
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:  # the other end is closed
                data = b""
            assert data, f"ended without {text!r}: {self.seen!r}"
            self.seen += data.decode("utf-8", "replace")
        found, _, self.seen = self.seen.partition(text)
        return found

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.fd, keys.encode())

    def end(self) -> int:
        """The exit code, what is still written read."""
        for _ in self.rest():
            pass
        code = self.process.wait(PATIENCE_S)
        os.close(self.fd)
        return code

    def rest(self) -> Iterator[bytes]:
        try:
            while data := os.read(self.fd, 1 << 16):
                yield data
        except OSError:
            return


def test_a_match_in_the_terminal(tmp_path: Path) -> None:
    """Moves are chosen by number; undo, help and a hint are a letter; the record holds."""
    record = tmp_path / "one.jsonl"
    words = ("play", "captains", "bots/random-python", "--option", "max_rounds=2", "--terminal")
    terminal = Terminal(*words, "--seed", "1", "--record", str(record), folder=tmp_path)
    terminal.until("person (seat 0)> ")
    terminal.type("u\n")
    terminal.until("nothing can be taken back")
    terminal.type("?\n")
    terminal.until("the choice of a bot")
    terminal.until("person (seat 0)> ")
    terminal.type("rules\n")
    assert "In your turn you have 3 energy" in terminal.until("person (seat 0)> ")
    terminal.type("first\n")
    assert "Deliver 1 passenger to planet 5, for 2 points" in terminal.until("person (seat 0)> ")
    terminal.type("1\n")
    assert "Move to space" in terminal.until("person (seat 0)> ")
    terminal.type("nothing like this\n")
    terminal.until("no move has")
    terminal.type("99999\n")
    terminal.until("there is no such move now")
    terminal.type("resign\n")
    terminal.until("another match")
    terminal.type("n\n")
    assert terminal.end() == 0
    verify_record(record.read_bytes())


def test_watching_and_stepping_on_a_low_terminal(tmp_path: Path) -> None:
    """Scores come first, the board scrolls instead of being cut, keys pause and quit; a resized view is drawn anew."""
    record = tmp_path / "one.jsonl"
    bots = ("bots/random-python", "bots/random-python")
    words = ("match", "aliens", *bots, "--seed", "1", "--option", "max_turns=2", "--record", str(record))
    terminal = Terminal(*words, "--watch", "--pace", "60", folder=tmp_path)
    first = terminal.until("q end")
    assert first.index("random-python") < first.index("·")
    assert "…" not in first
    assert " of " in first  # which lines of the board are shown
    terminal.type(" ")
    terminal.until("paused")
    terminal.type("\x1b[C")
    terminal.until("paused")
    terminal.type("q")
    assert terminal.end() == 0
    terminal = Terminal("replay", "show", str(record), "--step", folder=tmp_path)
    terminal.until("the start")
    terminal.type("n")
    terminal.until("1/")
    assert " of " in terminal.until("q quit")
    terminal.resize(90)
    assert " of " not in terminal.until("q quit")  # the whole board has room
    terminal.type("\x1b[F")
    terminal.until("q quit")
    terminal.type("q")
    assert terminal.end() == 0
