"""The logs for the author of a bot: its standard error, the lines of the wire, and the folder that they are in."""

from __future__ import annotations

import os
import select
import time
from collections import deque
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from warpleague.errors import BadInput
from warpleague.text import counted, printable, safe
from warpline.limits import MAX_LINE, STDERR_KEPT, STDERR_READ

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from warpleague.match.spec import SeatLog

EVIDENCE_CHARS: Final = 4000  # how much of a bot's standard error goes into the record with a fault
HEAD_BYTES: Final = STDERR_KEPT // 2
TAIL_BYTES: Final = STDERR_KEPT - HEAD_BYTES
_CHUNK: Final = 1 << 16


class StderrLog:
    """The head and the tail, half of `STDERR_KEPT` each, of a stream of bytes.

    Paths of files in `folder`, the copy of a bot in the cache, are written as the author knows them: relative to the
    bot's folder.
    """

    def __init__(self, folder: str = "") -> None:
        self._folder = f"{folder}/"
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    @property
    def full(self) -> bool:
        """Whether so much was read that the rest is left unread."""
        return self.total >= STDERR_READ

    def drain(self, fd: int) -> bool:
        """Read what the non-blocking pipe `fd` holds; false once it has ended or is left unread."""
        while not self.full:
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.feed(data)
        return False

    def drain_until(self, fd: int, other: int, until_ns: int) -> None:
        """Drain the pipe `fd` until there is something in `other`, or until that time of `time.perf_counter_ns`."""
        poll = select.poll()
        poll.register(other, select.POLLIN)
        if not self.full:
            poll.register(fd, select.POLLIN)
        while (left_ns := until_ns - time.perf_counter_ns()) > 0:
            ready = [readable for readable, _ in poll.poll(-(-left_ns // 1_000_000))]
            if fd in ready and not self.drain(fd):
                poll.unregister(fd)
            if other in ready:
                break

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self.total += len(data)
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def text(self, most: int = HEAD_BYTES + TAIL_BYTES) -> str:
        """The stored text, at most about `most` characters, with a line that says how much is missing.

        Control characters other than newline and tab are escaped: the text is safe for a terminal.
        """
        tail = bytes(self._tail[-TAIL_BYTES:])
        head = bytes(self._head)
        if len(head) + len(tail) > most:
            head, tail = head[: most // 2], (tail or head)[-(most - most // 2) :]
        missing = self.total - len(head) - len(tail)
        gap = f"\n[... {counted(missing, 'byte')} not shown ...]\n" if missing > 0 else ""
        text = printable(head) + gap + printable(tail)
        return text if len(self._folder) == 1 else text.replace(self._folder, "")


# The most bytes of lines in a log, half from the beginning of the match and half from its end.
WIRE_KEPT: Final = 2 * 1024 * 1024

# The most bytes of one line in a log, half from its beginning and half from its end; a line of a bot always fits.
LINE_KEPT: Final = MAX_LINE

_HALF: Final = WIRE_KEPT // 2
_TO, _FROM, _UNFINISHED = ">", "<", "<…"


class WireLog:
    """The lines that a bot is sent (`>`) and writes (`<`); times count from `begun_ns` of `time.perf_counter_ns`."""

    def __init__(self, begun_ns: int) -> None:
        self._begun_ns = begun_ns
        self._head: list[tuple[int, str, bytes]] = []
        self._tail: deque[tuple[int, str, bytes]] = deque()
        self._head_room = _HALF
        self._tail_bytes = 0
        self._lines_lost = self._bytes_lost = 0
        self._unfinished = bytearray()
        self._unfinished_lost = 0

    def sent(self, data: bytes) -> None:
        """Take what is handed to the bot."""
        self._keep(_TO, data.rstrip(b"\n"), 0)

    def received(self, data: bytes) -> None:
        """Take what was read from the bot; lines may begin and end anywhere in it."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._grow(line)
            self._keep(_FROM, bytes(self._unfinished), self._unfinished_lost)
            self._unfinished.clear()
            self._unfinished_lost = 0
        self._grow(rest)

    def _grow(self, piece: bytes) -> None:
        """Add to the line that is being read, whose middle is dropped when it is too long."""
        self._unfinished += piece
        if len(self._unfinished) > 4 * LINE_KEPT:
            self._unfinished_lost += len(self._unfinished) - 2 * LINE_KEPT
            del self._unfinished[LINE_KEPT:-LINE_KEPT]

    def _keep(self, way: str, line: bytes, lost: int) -> None:
        if lost or len(line) > LINE_KEPT:
            lost += len(line) - LINE_KEPT
            half = LINE_KEPT // 2
            line = b"%b[... %d bytes not kept ...]%b" % (line[:half], lost, line[-half:])
        # The first half stays. Of the rest the last lines do, and those between are only counted.
        entry = (time.perf_counter_ns() - self._begun_ns, way, line)
        if self._head_room > 0:
            self._head_room -= len(line)
            self._head.append(entry)
            return
        self._tail.append(entry)
        self._tail_bytes += len(line)
        while self._tail_bytes > _HALF:
            oldest = self._tail.popleft()[2]
            self._tail_bytes -= len(oldest)
            self._lines_lost += 1
            self._bytes_lost += len(oldest)

    def text(self) -> str:
        """A line of text for each line of the wire: milliseconds, direction, and the line, safe for a terminal."""
        if self._unfinished:
            self._keep(_UNFINISHED, bytes(self._unfinished), self._unfinished_lost)
            self._unfinished.clear()
        lost = f"{counted(self._lines_lost, 'line')}, {counted(self._bytes_lost, 'byte')}"
        gap = f"# [... {lost} not kept ...]\n" if self._lines_lost else ""
        return "".join([*map(_spelled, self._head), gap, *map(_spelled, self._tail)])


def _spelled(entry: tuple[int, str, bytes]) -> str:
    at_ns, way, line = entry
    return f"{at_ns / 1e6:11.3f} {way} {safe(line.decode('utf-8', 'backslashreplace'), keep='')}\n"


class BotLog:
    """The logs for the author of the bot in one seat: its standard error, and the wire log."""

    def __init__(self, begun_ns: int) -> None:
        self.wire = WireLog(begun_ns)
        self.stderr = StderrLog()


# -- the folder of logs ----------------------------------------------------------------------------------


# The files of a seat, by the word in their names.
KINDS: Final = {"stderr": "standard error", "wire": "wire log"}

BOT_BYTES: Final = 64 * 1024 * 1024  # the most bytes of logs stored for one bot; its oldest files go first
_NAME_BYTES: Final = 200
_MAX_READ: Final = 16 * 1024 * 1024


def name_of(text: str) -> str:
    """`text` as the name of a file: what a name may not have is percent-encoded, and a long one is shortened."""
    name = "".join(
        char if char.isprintable() and char not in "/\\%" else quote(char, safe="", errors="replace")
        for char in text
    )
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name.encode()) > _NAME_BYTES:
        name = f"{name[:40]}-{sha256(name.encode()).hexdigest()[:16]}"
    return name or "%"


def log_file(folder: Path, bot: str, match: str, seat: int, kind: str) -> Path:
    """Where the log of one kind (of `KINDS`) of the bot in a seat of a match belongs."""
    return folder / name_of(bot) / f"{name_of(match)}-{seat}.{kind}.txt"


class LogFolder:
    """Writes the logs of matches into `folder`; `problem` is why one could not be written, if that happened.

    Each bot's files may have `most` bytes in all, and those of all bots `in_all`: then the oldest ones go. What is in
    the folder is read once, so nobody else may write there.
    """

    def __init__(self, folder: Path, most: int = BOT_BYTES, in_all: int | None = None) -> None:
        self.folder = folder
        self.problem: str | None = None
        self._most, self._in_all = most, in_all
        self._bots: dict[Path, _Files] = {}
        self._all: _Files | None = None

    def keep(self, match: str, bots: Sequence[str], logs: Sequence[SeatLog]) -> None:
        """Write the logs of a match, one for each of its `bots` in seat order; nothing after a first problem."""
        if self.problem is not None:
            return
        try:
            for seat, (bot, log) in enumerate(zip(bots, logs, strict=True)):
                self._write(log_file(self.folder, bot, match, seat, "stderr"), log.stderr)
                title = f"# {bot}, seat {seat} of match {match}: ms since its start, > to the bot, < from it"
                self._write(log_file(self.folder, bot, match, seat, "wire"), f"{title}\n{log.wire}")
        except OSError as error:
            self.problem = f"{error.filename or self.folder}: cannot write it: {error.strerror or error}"

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent not in self._bots:
            self._bots[path.parent] = _Files(path.parent, "", self._most)
        if self._all is None and self._in_all is not None:
            self._all = _Files(self.folder, "*/", self._in_all)
        data = text.encode("utf-8", "backslashreplace")
        path.write_bytes(data)
        for files in (self._bots[path.parent], self._all):
            if files is not None:
                files.add(path, len(data))


class _Files:
    """Logs, the oldest first, with their sizes: at most `most` bytes; by path, since there may be many."""

    def __init__(self, folder: Path, below: str, most: int) -> None:
        self._most = most
        entries = []
        for kind in KINDS:
            for path in folder.glob(f"{below}*.{kind}.txt"):
                with suppress(OSError):
                    status = path.stat()
                    entries.append((status.st_mtime_ns, path, status.st_size))
        self._sizes = {path: size for _, path, size in sorted(entries)}
        self._bytes = sum(self._sizes.values())

    def add(self, path: Path, size: int) -> None:
        """Count a file that was written, and remove the oldest ones where all together have more than `most` bytes."""
        self._bytes += size - self._sizes.pop(path, 0)
        self._sizes[path] = size
        while self._bytes > self._most and len(self._sizes) > 1:
            oldest = next(iter(self._sizes))
            oldest.unlink(missing_ok=True)
            self._bytes -= self._sizes.pop(oldest)


def read_log(record: Path, header: Mapping[str, Any], seat: int, kind: str, folder: Path | None) -> str:
    """The log of a seat of a recorded match, safe for a terminal.

    The search covers `folder`, or else `logs` beside the record, or beside the folder that the record is in.
    Raises `BadInput` if there is none.
    """
    beside = record.resolve().parent
    folders = [beside / "logs", beside.parent / "logs"] if folder is None else [folder]
    bot = header["seats"][seat]["bot"]
    for place in folders:
        path = log_file(place, bot, header["id"], seat, kind)
        try:
            with path.open("rb") as file:
                return printable(file.read(_MAX_READ))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise BadInput(f"{path}: cannot read it: {error.strerror}") from None
    where = " or ".join(map(str, folders))
    raise BadInput(
        f"the {KINDS[kind]} of seat {seat} ({bot}) was not stored in {where}; --log DIR says where else it is, and "
        "keeps it when a match or a league is played"
    )
