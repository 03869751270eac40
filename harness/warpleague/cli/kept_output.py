"""Keeps what a command printed, and prints it again while nothing that it came from has changed.

Counting a million matches takes a second; for a small league it takes longer to load what counts and draws than to do
all else. What is kept lies in this user's cache, where no stranger's results can bring it. It is used only if all that
it came from is as it was: the program, the way output is to look, and each file and folder. Of files, what the file
system says is compared: number, size, and the times of the last changes to content and to anything else.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import warpleague
from warpleague.cli.common import ARENA
from warpleague.errors import BadInput
from warpleague.user_cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warpleague.games.api import Game
    from warpleague.league.results.league import League

_SETTLED_S: Final = 1.0
"""How long files must have been left alone: a change soon after another one may get the same time."""
_FOLDER: Final = "outputs"
_MAX_CHARS: Final = 2_000_000
_MAX_FILES: Final = 20_000  # that may be looked at
_MAX_OUTPUTS: Final = 200
_LOOK: Final = (
    "TERM",
    "COLUMNS",
    "LINES",
    "COLORTERM",
    "FORCE_COLOR",
    "NO_COLOR",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)
"""The variables by which people say how output is to look."""
_MADE_ANEW: Final = ("__pycache__", ".git")


class _TooMany(Exception):
    pass


class KeptOutput:
    """The output of a command; `words` are all that it was asked, and the current folder is added."""

    def __init__(self, *words: object) -> None:
        self._begun_s = time.time()
        self._asked = [os.getcwd(), *map(str, words)]  # noqa: PTH109 - as text
        name = blake2b(json.dumps(self._asked).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        self._file: Path | None = None  # there is none for a user without a home folder
        with suppress(BadInput):
            self._file = cache_folder() / _FOLDER / f"{name}.txt"

    def recall(self) -> str | None:
        """What was printed last time, if the same would be printed now."""
        if self._file is None:
            return None
        with suppress(OSError, ValueError, KeyError, TypeError, _TooMany):
            head, _, text = self._file.read_bytes().decode().partition("\n")
            known = json.loads(head)
            if known["key"] == self._key(known["sources"])[0]:
                return text
        return None

    def keep(self, text: str, sources: Iterable[Path | str]) -> None:
        """Keep what was printed, which came from `sources`: files, and folders with all that is in them.

        Nothing is kept while something has just changed.
        """
        if self._file is None or len(text) > _MAX_CHARS:
            return
        told = sorted({os.path.abspath(source) for source in sources})  # noqa: PTH100 - links in it stay
        with suppress(OSError, ValueError, _TooMany):
            key, changed_s = self._key(told)
            if changed_s > self._begun_s - _SETTLED_S:
                return
            head = json.dumps({"key": key, "sources": told})
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            try:
                draft.write_bytes(f"{head}\n{text}".encode())
                draft.replace(self._file)
            finally:
                draft.unlink(missing_ok=True)
            _tidy(self._file.parent)

    def _key(self, sources: Iterable[str]) -> tuple[str, float]:
        """What the output depends on, as one text, and when any of it was last changed, in seconds since 1970."""
        key = blake2b(repr((self._asked, _surroundings())).encode("utf-8", "surrogateescape"), digest_size=20)
        program = str(Path(warpleague.__file__).parent)
        changed_ns = 0
        signs = chain.from_iterable(_signs(path) for path in (program, *sources))
        for count, sign in enumerate(signs):
            if count > _MAX_FILES:
                raise _TooMany
            key.update(repr(sign).encode("utf-8", "surrogateescape"))
            changed_ns = max(changed_ns, *sign[-2:])
        return key.hexdigest(), changed_ns / 1e9


def league_sources(league: League) -> list[Path]:
    """All that the tables of an open league come from, the program aside: its file, store, bots and game."""
    from warpleague.games import load_game
    from warpleague.league.season.entry import folder_of

    config, store = league.config, league.store.path
    found = [
        config.path,
        store,
        store.with_name(f"{store.name}-wal"),
        *(store.parent.parent / f"{ARENA}{end}" for end in ("", "-wal")),
        *game_sources(load_game(league.season.game)),
    ]
    for entry in config.entries:
        # Where the league file's folder has no such bot, it is one of ours: until there is one.
        found += [config.path.parent / entry.path, folder_of(config, entry)]
    return found


def game_sources(game: Game[Any, Any]) -> list[Path]:
    """The folder of a game's package, where it is not one of ours."""
    kind = type(game)
    file = getattr(sys.modules[kind.__module__], "__file__", None)
    return [] if file is None or kind.__module__.startswith("warpleague.") else [Path(file).parent]


def _surroundings() -> tuple[Any, ...]:
    """All but files that decides what is printed."""
    out = sys.stdout
    size = None
    with suppress(OSError, ValueError, AttributeError):
        size = tuple(os.get_terminal_size(out.fileno()))
    return (
        warpleague.__version__,
        sys.version,
        None if out is None else (out.isatty(), getattr(out, "encoding", None)),
        size,
        [os.environ.get(name) for name in _LOOK],
    )


def _signs(path: str) -> Iterator[tuple[Any, ...]]:
    """What the file system says of a file, or of a folder and all that is in it."""
    sign = _sign(path)
    yield sign
    if stat.S_ISDIR(sign[2]):
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            if entry.is_symlink():
                yield _sign(entry.path, linked=False)
                yield _sign(entry.path)
            elif entry.name not in _MADE_ANEW:
                yield from _signs(entry.path)


def _sign(path: str, *, linked: bool = True) -> tuple[Any, ...]:
    """Path, number, kind and size of a file, and when it was changed, in nanoseconds since 1970; zeros without one."""
    try:
        found = os.stat(path, follow_symlinks=linked)  # noqa: PTH116 - by name, and in a hurry
    except OSError:
        return path, 0, 0, 0, 0, 0
    if path.endswith("-wal") and not found.st_size:
        return path, 0, 0, 0, 0, 0  # whoever reads the store may make it
    return path, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _tidy(folder: Path) -> None:
    """Remove the oldest outputs, if there are many."""
    kept = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[_MAX_OUTPUTS:]:
        path.unlink(missing_ok=True)
