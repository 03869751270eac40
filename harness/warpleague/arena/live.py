"""Shows matches while they are played: the referee of each writes a file, which the server reads.

The file holds everything that happened, hidden things too, as the record in the store does. The reader decides what a
spectator may see: only facts that every seat knows, some seconds late.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.errors import BadInput, RecordError
from warpleague.games.api import SPECTATOR, JsonObject
from warpleague.match.replay import Replay, ReplayStep
from warpleague.report.site.delta import diff
from warpleague.report.wording.match_words import ending, labels, one_line, outcome
from warpleague.runner.play import play_beside
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warpleague.games.scene import Scene
    from warpleague.match.referee import Referee
    from warpleague.match.spec import MatchResult, MatchSpec


# -- the referee's side ----------------------------------------------------------------------------------
# The lines of a match's record go into a file while it is played; the file is removed when the match ends. This
# does not slow down the bots' answers: a task beside the match copies new lines now and then. A match that is
# over soon gets no file: a spectator who waits for it sees its record.


FOLDER: Final = "live"
"""The folder beside a league's store with a file for each match that is being played."""
ENDING: Final = ".part"

_PATIENCE_S: Final = 0.5
"""How long a match is played before it gets a file; pages say so in `short_matches.html.j2`."""
_POLL_S: Final = 0.25
"""How often new lines are copied."""


async def play_shown(spec: MatchSpec, folder: str, log: bool = False, private: bool = False) -> MatchResult:
    """Play a match as `play_beside` does, and write it into a file of `folder` meanwhile."""
    path = os.path.join(folder, spec.id + ENDING)  # noqa: PTH118 - paths come late
    try:
        return await play_beside(spec, log, private=private, attendant=partial(write_on, path))
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - as above


async def write_on(path: str, referee: Referee) -> None:
    """Write what happens in a match into the file at `path` until this is cancelled.

    A full disk ends the writing and nothing else.
    """
    await trio.sleep(_PATIENCE_S)
    with contextlib.suppress(OSError):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - left by a referee that died; its readers must not see it change
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        written = 0
        try:
            while True:
                written = _write(file, referee, written)
                await trio.sleep(_POLL_S)
        except trio.Cancelled:
            _write(file, referee, written)  # the last moves
            raise
        finally:
            os.close(file)


def _write(file: int, referee: Referee, written: int) -> int:
    """Write the lines since number `written`; the number of the next one."""
    lines = referee.lines_since(written)
    rest = memoryview(b"@%.2f\n%b" % (time.time(), b"".join(lines)) if lines else b"")
    while rest:
        rest = rest[os.write(file, rest) :]
    return written + len(lines)


def clear(folder: Path) -> None:
    """Remove the files of referees that died, and make the folder if it is missing; only for who runs the league."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.glob(f"*{ENDING}"):
        path.unlink(missing_ok=True)


# -- frames: words, and pictures sent as differences -----------------------------------------------------


MAX_FRAMES: Final = 120
"""The number of last frames that a newly opened page gets."""
MAX_PICTURES: Final = 60
"""When there are more new frames than this, a page gets the pictures of the last ones only, the others in words."""


@attrs.frozen
class Frame:
    """A position as one viewer sees it, and in words what led to it; `scene` is None if no picture was made."""

    words: tuple[str, ...]
    scene: Scene | None


def new_frames(
    frames: Sequence[Frame], sent: int, shown: Scene | None, before: int = 0
) -> tuple[list[JsonObject], Scene | None]:
    """The frames from number `sent` on, each as the difference from the scene `shown` before, and the last scene.

    Of more than `MAX_FRAMES` these are the last ones. `before` is the number of the first of `frames`: older ones were
    dropped.
    """
    count = before + len(frames)
    new: list[JsonObject] = []
    for number in range(max(sent, before, count - MAX_FRAMES), count):
        frame = frames[number - before]
        entry: JsonObject = {"told": list(frame.words)}
        if number >= count - MAX_PICTURES and frame.scene is not None:
            entry["scene"] = diff(shown, frame.scene)
            shown = frame.scene
        new.append(entry)
    return new, shown


# -- changes ---------------------------------------------------------------------------------------------


class Broadcast:
    """Counts changes, and wakes all tasks that wait for the next one."""

    def __init__(self) -> None:
        self.count = 0
        self._event = trio.Event()

    def notify(self) -> None:
        """Count one change, and wake all who wait."""
        self.count += 1
        self._event.set()
        self._event = trio.Event()

    async def after(self, count: int) -> int:
        """Wait until there were more than `count` changes; returns their number."""
        while self.count <= count:
            await self._event.wait()
        return self.count

    async def comes_within(self, seconds: float, count: int) -> bool:
        """Wait at most that many seconds; returns whether there were more than `count` changes by then."""
        with trio.move_on_after(seconds):
            await self.after(count)
            return True
        return False


# -- the server's side -----------------------------------------------------------------------------------
# The lines of a match are executed only while somebody watches it.


_READ: Final = 1 << 20
_SLICE: Final = 50
"""Lines that are executed before other tasks run."""
ENDED_S: Final = 60.0
"""How long a match stays here after its end: for those who watch it, and for those who come a moment too late."""
_MAX_MATCHES: Final = 1_000
"""Matches followed at a time in one folder."""


class LiveMatch:
    """A match that is being played, as far as a spectator may know it."""

    def __init__(self, match_id: str, file: int, delay_s: float) -> None:
        self.id = match_id
        self.news = Broadcast()
        self.over = False
        """Whether a spectator may know that it is over."""
        self.watchers = 0
        self.frames: deque[Frame] = deque(maxlen=MAX_FRAMES)
        self.before = 0  # how many older frames were dropped
        self._last: Any = None  # the last position that may be shown
        self.trouble = ""
        self.ended_s: float | None = None  # when its file was gone
        self.began_s = float("inf")
        self._delay_s = delay_s
        self._file = file
        self.inode = -1 if file < 0 else os.fstat(file).st_ino
        self._rest = b""
        self._batches: deque[tuple[float, list[bytes]]] = deque()
        self._replay: Replay | None = None
        self._steps: Iterator[ReplayStep | None] = iter(())
        self._executing = trio.Lock()

    @classmethod
    def of_file(cls, path: Path, delay_s: float) -> LiveMatch:
        """The match that is being written into a file."""
        return cls(path.name.removesuffix(ENDING), os.open(path, os.O_RDONLY | os.O_CLOEXEC), delay_s)

    @classmethod
    def of_record(cls, match_id: str, record: bytes, began_s: float, ended_s: float) -> LiveMatch:
        """A match that is over, all of which may be shown. Raises `RecordError` if it cannot be."""
        match = cls(match_id, -1, 0.0)
        match.over, match.began_s, match.ended_s = True, began_s, ended_s
        match._follow(Replay(record, where=f"match {match_id}"))
        return match

    @property
    def shown(self) -> bool:
        """Whether spectators may know that it has begun."""
        return self._replay is not None

    @property
    def names(self) -> list[str]:
        """The labels of the bots by seat."""
        assert self._replay is not None
        return labels([one_line(seat["bot"]) for seat in self._replay.header["seats"]])

    @property
    def outcome(self) -> str:
        """Who has won, in a sentence; empty where the match has not come to an end."""
        if self._replay is None or self._replay.game.actors(self._last):
            return ""
        end = self._replay.outcome(self._last)
        return outcome(self.names, end.ranks, end.scores, end.rival, ending(self._replay.game, end.why))

    def has(self, bot: str) -> bool:
        """Whether a bot plays in it."""
        return self._replay is not None and any(seat["bot"] == bot for seat in self._replay.header["seats"])

    def close(self) -> None:
        """Read no more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def read(self, now_s: float) -> None:
        """Read new lines, and add those to the replay that are old enough to be shown."""
        while self._file >= 0 and (data := os.read(self._file, _READ)):
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                if line.startswith(b"@"):
                    with contextlib.suppress(ValueError):
                        self._batches.append((float(line[1:]), []))
                elif self._batches:
                    self._batches[-1][1].append(line + b"\n")
        changed = False
        while self._batches and self._batches[0][0] <= now_s - self._delay_s:
            at_s, lines = self._batches.popleft()
            changed |= self._add(at_s, lines)
        ended = self.ended_s is not None and now_s >= self.ended_s + self._delay_s
        if ended and not self.over and not self._batches:
            self.over = changed = True
            self.close()
        if changed:
            self.news.notify()

    def _add(self, at_s: float, lines: list[bytes]) -> bool:
        if self._replay is None and lines:
            self.began_s = at_s
            try:
                self._follow(Replay(lines[0], where=f"match {self.id}"))
            except RecordError as error:
                self.trouble = str(error)
                return True
            lines = lines[1:]
        if self._replay is not None:
            self._replay.lines += lines
        return bool(lines)

    def _follow(self, replay: Replay) -> None:
        self._replay, self._steps = replay, replay.follow()
        self._see(replay.first, ())

    def give_up(self) -> None:
        """Stop showing this match, after an error."""
        self.trouble, self._steps = "the server has failed; its log says how", iter(())
        self.news.notify()

    async def execute(self) -> None:
        """Execute the lines that may be shown by now; other tasks run meanwhile."""
        async with self._executing:
            await self._execute()

    async def _execute(self) -> None:
        count = 0
        left = 0 if self._replay is None else len(self._replay.lines)
        try:
            for step in self._steps:
                if step is None:
                    break
                pictured = step.n >= left - MAX_PICTURES
                self._see(step.state, self._words(step), pictured=pictured)
                count += 1
                if count % _SLICE == 0:
                    await trio.lowlevel.checkpoint()
        except RecordError as error:
            self.trouble, self._steps = str(error), iter(())
        if count or self.trouble:
            self.news.notify()

    def _words(self, step: ReplayStep) -> tuple[str, ...]:
        assert self._replay is not None
        seen = (event.seen_by(SPECTATOR) for event in step.events)
        return tuple(safe(self._replay.game.tell(data), keep="") for data in seen if data is not None)

    def _see(self, state: Any, words: tuple[str, ...], *, pictured: bool = True) -> None:
        assert self._replay is not None
        game, self._last = self._replay.game, state
        if len(self.frames) == self.frames.maxlen:
            self.before += 1
        self.frames.append(Frame(words, game.scene(state, SPECTATOR) if pictured else None))

    def to_json(self) -> JsonObject:
        """The match as an entry of a list of matches."""
        return {"id": self.id, "bots": self.names, "began": round(self.began_s)}


class LiveFolder:
    """The matches that the referees of a league write into one folder."""

    def __init__(self, folder: Path, delay_s: float = 0.0) -> None:
        self.matches: dict[str, LiveMatch] = {}
        self._folder = folder
        self._delay_s = delay_s

    def refresh(self, now_s: float) -> bool:
        """Find matches that began or ended, and read new lines; returns whether the list of matches has changed."""
        before = [match.id for match in self.playing()]
        folders: dict[str, os.DirEntry[str]] = {}
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            folders = {
                entry.name.removesuffix(ENDING): entry for entry in entries if entry.name.endswith(ENDING)
            }
        for name, match in list(self.matches.items()):
            # A match that is begun again gets a new file.
            if match.ended_s is None and not (name in folders and match.inode == folders[name].inode()):
                match.ended_s = now_s
            match.read(now_s)
            if match.over and match.ended_s is not None and now_s > match.ended_s + self._delay_s + ENDED_S:
                del self.matches[name]
        for name, entry in folders.items():
            known = self.matches.get(name)
            if known is not None and not known.over:
                continue
            if known is None and len(self.matches) >= _MAX_MATCHES:
                continue
            with contextlib.suppress(OSError, BadInput):
                self.matches[name] = match = LiveMatch.of_file(self._folder / entry.name, self._delay_s)
                match.read(now_s)
        return before != [match.id for match in self.playing()]

    def add(self, match: LiveMatch) -> None:
        """Keep a match that is over for those who watch it."""
        if len(self.matches) < _MAX_MATCHES:
            self.matches.setdefault(match.id, match)

    def playing(self) -> list[LiveMatch]:
        """The matches that are being played, as far as spectators may know, the oldest first."""
        shown = (match for match in self.matches.values() if match.shown and not match.over)
        return sorted(shown, key=lambda match: (match.began_s, match.id))

    def match_of(self, bot: str, after: str = "") -> LiveMatch | None:
        """The match of a bot to watch now: the one that is being played, else of those just over the first one.

        Only matches that began later than the one with the id `after`, which has been watched.
        """
        seen = self.matches.get(after)
        since = (-inf, "") if seen is None else (seen.began_s, seen.id)
        begun = {(match.began_s, match.id): match for match in self.matches.values() if match.has(bot)}
        newer = sorted(key for key in begun if key > since)
        playing = [key for key in newer if not begun[key].over]
        return begun[(playing or newer)[0]] if newer else None

    def close(self) -> None:
        """Read no more."""
        for match in self.matches.values():
            match.close()
