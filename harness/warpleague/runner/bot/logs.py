"""The folder of logs: a folder for each bot, with two files for each match and seat."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from warpleague.errors import BadInput
from warpleague.safe_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from warpleague.match.spec import SeatLog

KINDS: Final = {"stderr": "standard error", "wire": "wire log"}
"""The files of a seat, by the word in their names."""

BOT_BYTES: Final = 64 * 1024 * 1024
"""The most bytes of logs stored for one bot; its oldest files go first."""

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
                title = (
                    f"# {bot}, seat {seat} of match {match}: ms since its start, > to the bot, < from it\n"
                )
                self._write(log_file(self.folder, bot, match, seat, "wire"), title + log.wire)
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
