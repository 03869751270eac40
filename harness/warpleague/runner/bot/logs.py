"""The folder of logs: a folder for each bot, with two files for each match and seat."""

from __future__ import annotations

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
"""How much is kept of all matches of one bot; its oldest files go first."""

_NAME_BYTES: Final = 200
_MOST_READ: Final = 16 * 1024 * 1024


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

    Each bot's files may have `most` bytes in all: then the oldest ones go.
    """

    def __init__(self, folder: Path, most: int = BOT_BYTES) -> None:
        self.folder = folder
        self.problem: str | None = None
        self._most = most
        self._bots: dict[Path, _BotFolder] = {}

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
            self._bots[path.parent] = _BotFolder(path.parent)
        self._bots[path.parent].write(path.name, text.encode("utf-8", "backslashreplace"), self._most)


class _BotFolder:
    """The logs that lie in a bot's folder, the oldest first, with their sizes; by name, since there may be many."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        files = [(path.name, path.stat()) for kind in KINDS for path in folder.glob(f"*.{kind}.txt")]
        files.sort(key=lambda found: found[1].st_mtime_ns)
        self._sizes = {name: status.st_size for name, status in files}
        self._bytes = sum(self._sizes.values())

    def write(self, name: str, data: bytes, most: int) -> None:
        """Write one more, and remove the oldest ones where all together would have more than `most` bytes."""
        (self._folder / name).write_bytes(data)
        self._bytes += len(data) - self._sizes.pop(name, 0)
        self._sizes[name] = len(data)
        while self._bytes > most and len(self._sizes) > 1:
            oldest = next(iter(self._sizes))
            (self._folder / oldest).unlink(missing_ok=True)
            self._bytes -= self._sizes.pop(oldest)


def read_log(record: Path, header: Mapping[str, Any], seat: int, kind: str, folder: Path | None) -> str:
    """The log of a seat of a recorded match, safe for a terminal.

    It is looked for in `folder`, or else in `logs` beside the record, or beside the folder that the record is in.
    Raises `BadInput` if there is none.
    """
    beside = record.resolve().parent
    folders = [beside / "logs", beside.parent / "logs"] if folder is None else [folder]
    bot = header["seats"][seat]["bot"]
    for place in folders:
        path = log_file(place, bot, header["id"], seat, kind)
        try:
            with path.open("rb") as file:
                return printable(file.read(_MOST_READ))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise BadInput(f"{path}: cannot read it: {error.strerror}") from None
    where = " or ".join(map(str, folders))
    raise BadInput(
        f"the {KINDS[kind]} of seat {seat} ({bot}) was not kept in {where}; --log DIR says where else it is, and "
        "keeps it when a match or a league is played"
    )
