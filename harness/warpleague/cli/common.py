"""Shared parts of the commands: what they print, files they write, and how this program is called."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final

from warpleague.errors import BadInput
from warpleague.text import SafeStream, nearest_path, safe_json

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

RESULTS: Final = Path("results")
_TERMINAL_S: Final = 0.5
_ELSEWHERE_S: Final = 20.0


# -- output ----------------------------------------------------------------------------------------------


def print_json(data: object) -> None:
    """Print `data` as indented JSON in UTF-8; in ASCII, escaped as JSON does it, where output has another encoding.

    Characters that could steer a terminal are escaped in both.
    """
    print(json_text(data))


def json_text(data: object, indent: int | None = 2) -> str:
    """The text that `print_json` prints of `data`, without the end of the last line; with no `indent` in one line."""
    utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    return safe_json(json.dumps(data, indent=indent, ensure_ascii=not utf8))


def write_out(text: str) -> None:
    """Print `text`, which a safe console has made or `json_text`, as it is: with its colours."""
    if sys.stdout is not None:
        stream = sys.stdout.inner if isinstance(sys.stdout, SafeStream) else sys.stdout
        stream.write(text)


def say(text: str) -> None:
    """A remark for the person at the terminal: on standard error, after what was printed before it."""
    if sys.stdout is not None:
        sys.stdout.flush()
    print(text, file=sys.stderr)


def program() -> tuple[str, ...]:
    """The words that call this program again from the same folder: its name if it is on PATH, else its path."""
    if which("warpleague") is not None:
        return ("warpleague",)
    called = sys.argv[0]
    if Path(called).name == "warpleague":
        return (os.path.relpath(called),)
    return (sys.executable, "-m", "warpleague")


class WorkProgress:
    """Shows on standard error how far a computation is: in a terminal in one line, elsewhere in a line now and then.

    As a context manager it removes the line at its end.
    """

    def __init__(self) -> None:
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._began_s = time.monotonic()
        self._next_s = self._began_s + (0 if self._live else _ELSEWHERE_S)
        self._width = 0

    def show(self, text: str) -> None:
        """Show `text` if it is time for it; may be called as often as one likes."""
        now_s = time.monotonic()
        if sys.stderr is None or now_s < self._next_s:
            return
        self._next_s = now_s + (_TERMINAL_S if self._live else _ELSEWHERE_S)
        line = f"{text}, {now_s - self._began_s:.0f} s"
        if self._live:
            print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width and sys.stderr is not None:
            print("\r" + self._width * " " + "\r", end="", file=sys.stderr, flush=True)


# -- files -----------------------------------------------------------------------------------------------


def check_new(path: Path, force: bool) -> None:
    """Raise `BadInput` if `path` is there already, unless `force` allows to overwrite it (a folder never is)."""
    if not force and not path.is_dir() and (path.exists() or path.is_symlink()):
        raise BadInput(f"{path}: exists already; choose another name, or overwrite it with --force")


def check_writable(path: Path) -> None:
    """Raise `BadInput` if `path` cannot be written. Call it before the work whose result goes there."""
    if path.is_dir():
        raise BadInput(
            f"{path}: cannot write it: it is a folder; name a file, such as {path / 'match.jsonl'}"
        )
    if path.exists() and not path.is_file():
        raise BadInput(f"{path}: cannot write it: it is a device or a pipe, not a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _try_to_write(path.parent)
    except OSError as error:
        raise BadInput(f"{path}: cannot write it: {_reason(error)}") from None


def make_folder(folder: Path) -> None:
    """Make a folder, and try to write there; `BadInput` if that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _try_to_write(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot write there: {_reason(error)}") from None


def _try_to_write(folder: Path) -> None:
    draft = folder / f".{os.getpid()}.draft"
    draft.touch()
    draft.unlink(missing_ok=True)


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; `BadInput` if that is not possible."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(data)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: cannot write it: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    # mkdir of a folder that is a file says "File exists", which does not explain the problem.
    if isinstance(error, FileExistsError):
        return f"{error.filename} is a file, not a folder; name a folder"
    return error.strerror or str(error)


def unreadable(path: Path, error: OSError) -> str:
    """Why a file cannot be read, and the file that was probably meant."""
    near = ""
    if isinstance(error, FileNotFoundError):
        with suppress(OSError):
            near = nearest_path(
                path.name, [str(other) for other in sorted(path.parent.iterdir()) if other.is_file()]
            )
    elif isinstance(error, IsADirectoryError):
        near = "name a file in it"
    return f"{error.strerror}{'; ' if near else ''}{near}"


def parse_key(text: str | None) -> bytes | None:
    """The 32 bytes of a match key given in hexadecimal."""
    if text is None:
        return None
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise BadInput(f"--key {text}: must be 64 hexadecimal digits")
    return key
