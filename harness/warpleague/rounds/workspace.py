"""The workspace of an author: what it finds there before an edit, and what is taken out after it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BadInput, ConfigError
from warpleague.rounds.history import BOT, History
from warpleague.rounds.state import Usage
from warpleague.runner.bundle.content import LEFT_OUT, content, files_of
from warpleague.runner.bundle.engine import write_engine
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.runner.confine.mounts import python_places
from warpleague.strict import structure

if TYPE_CHECKING:
    from collections.abc import Mapping

TASK: Final = "TASK.md"
DOCS: Final = "docs"
ENGINE: Final = "engine"
ROUNDS: Final = "rounds"
PROGRAM: Final = "warpleague"
"""The script with which an author calls this program in its workspace."""
USAGE: Final = "usage.json"
"""The file by which a command says which tokens it used, and what they cost."""
OURS: Final = (TASK, DOCS, ENGINE, ROUNDS, PROGRAM, USAGE)
"""The names in a workspace that belong to the harness: whatever an author does to them is dropped after each edit."""

_MOST_USAGE: Final = 10_000  # bytes


@attrs.frozen
class Desk:
    """The folders of one author in the folder of a run.

    `history` has its commits, `workspace` is where its command runs, `shown` has what it is told of each round,
    `bots` its bot of each round, and `scratch` is for the command alone.
    """

    folder: Path

    @property
    def history(self) -> History:
        """The commits of the workspace."""
        return History(self.folder / "history.git")

    @property
    def workspace(self) -> Path:
        """Where the command runs; it is made anew before each edit."""
        return self.folder / "workspace"

    @property
    def scratch(self) -> Path:
        """The home of the command at level limits."""
        return self.folder / "scratch"

    def shown(self, number: int) -> Path:
        """What the author is told of a round."""
        return self.folder / "rounds" / f"{number:02}"

    def bot(self, number: int) -> Path:
        """The bot that the author had after the edit of a round; 0: the one that it started with."""
        return self.folder / "bots" / f"{number:02}"

    def output(self, number: int) -> Path:
        """What the command printed in a round."""
        return self.folder / "output" / f"{number:02}.txt"

    def begin(self, start: Path) -> str:
        """Make the history, with the bot in `start` as its first commit, and return that; `BotError` for a bad bot."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.history.create(OURS)
        first = self.folder / "first"
        for file in files_of(start):
            place = first / BOT / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content(file))
            place.chmod(0o755 if file.executable else 0o644)
        commit = self.history.commit(first, 0, "Start", None)
        shutil.rmtree(first)
        return commit

    def lay_out(self, commit: str, task: str, documents: Mapping[str, str]) -> None:
        """Make the workspace anew: the files of `commit`, the task, the documents, what is told of earlier rounds."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        self.history.take_out(commit, self.workspace)
        self.history.copy_into(self.workspace, commit)
        (self.workspace / TASK).write_text(task, encoding="utf-8")
        (self.workspace / DOCS).mkdir()
        for name, text in documents.items():
            (self.workspace / DOCS / name).write_text(text, encoding="utf-8")
        write_engine(self.workspace)
        script = self.workspace / PROGRAM
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m warpleague "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        told = self.folder / "rounds"
        if told.is_dir():
            shutil.copytree(told, self.workspace / ROUNDS)
        else:
            (self.workspace / ROUNDS).mkdir()
        _open_to_all(self.workspace)

    def tidy(self) -> None:
        """Remove from the workspace what is the harness's, and all repositories: what is left is the author's."""
        for name in OURS:
            _remove(self.workspace / name)
        for place, folders, files in os.walk(self.workspace):
            for name in LEFT_OUT.intersection((*folders, *files)):
                _remove(Path(place, name))
            folders[:] = [name for name in folders if name not in LEFT_OUT]

    def usage(self) -> tuple[Usage | None, str]:
        """What the command says that it used, if it says so; and what is wrong with how it says it."""
        try:
            # The author made this file: it may be a link or a pipe, and of any size.
            file = os.open(self.workspace / USAGE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            return None, f"{USAGE}: cannot be read: {error.strerror}"
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return None, f"{USAGE}: is no file"
            return structure(json.loads(os.read(file, _MOST_USAGE)), Usage, USAGE), ""
        except (OSError, ValueError, RecursionError, ConfigError) as error:
            return None, str(error).splitlines()[0] if isinstance(
                error, ConfigError
            ) else f"{USAGE}: is no JSON"
        finally:
            os.close(file)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _open_to_all(folder: Path) -> None:
    """Let every user read the folder: in the sandbox the command may run as another one."""
    for place, _, files in os.walk(folder):
        os.chmod(place, 0o755)  # noqa: PTH101
        for name in files:
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def program_paths() -> tuple[str, ...]:
    """The paths of this machine that `PROGRAM` needs: Python, this program, the bots and pages that come with it."""
    try:
        places = python_places(sys.executable)
    except BadInput:
        return ()
    root = shipped_root()
    ours = [str(root / name) for name in ("bots", "leagues", "docs", "README.md", "protocol")]
    return tuple(sorted({place for place in (*places, *ours) if os.path.exists(place)}))  # noqa: PTH110
