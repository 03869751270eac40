"""The workspace of an author: files written before an edit, and files removed after it."""

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
"""The script that runs this program in a workspace."""
USAGE: Final = "usage.json"
"""The file in which a command reports the tokens that it used, and their cost."""
HARNESS_FILES: Final = (TASK, DOCS, ENGINE, ROUNDS, PROGRAM, USAGE)
"""The names in a workspace that belong to the harness. An author's changes to them are dropped after each edit."""

_MAX_USAGE_BYTES: Final = 10_000


@attrs.frozen
class AuthorFolder:
    """The folders of one author in the folder of a run.

    `history` has its commits. Its command runs in `workspace`. `rounds` has its feedback on each round, `bots` its bot
    of each round, `output` the command's output. `scratch` is the command's home.
    """

    path: Path

    @property
    def history(self) -> History:
        """The commits of the workspace."""
        return History(self.path / "history.git")

    @property
    def workspace(self) -> Path:
        """The folder in which the command runs. It is created again before each edit."""
        return self.path / "workspace"

    @property
    def scratch(self) -> Path:
        """The home of the command at level limits."""
        return self.path / "scratch"

    def feedback(self, number: int) -> Path:
        """The folder with the author's feedback on a round."""
        return self.path / "rounds" / f"{number:02}"

    def bot(self, number: int) -> Path:
        """The bot that the author had after the edit of a round; 0: the one that it started with."""
        return self.path / "bots" / f"{number:02}"

    def output(self, number: int) -> Path:
        """The command's output in a round."""
        return self.path / "output" / f"{number:02}.txt"

    def create(self, start: Path) -> str:
        """Create the history with the bot in `start` as its first commit, which is returned.

        Raises `BotError` for a bad bot.
        """
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        self.history.create(HARNESS_FILES)
        first = self.path / "first"
        for file in files_of(start):
            place = first / BOT / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content(file))
            place.chmod(0o755 if file.executable else 0o644)
        commit = self.history.commit(first, 0, "Start", None)
        shutil.rmtree(first)
        return commit

    def prepare(self, commit: str, task: str, documents: Mapping[str, str]) -> None:
        """Replace the workspace: the files of `commit`, the task, the documents, the feedback on earlier rounds."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        self.history.extract(commit, self.workspace)
        self.history.copy_into(self.workspace, commit)
        (self.workspace / TASK).write_text(task, encoding="utf-8")
        (self.workspace / DOCS).mkdir()
        for name, text in documents.items():
            (self.workspace / DOCS / name).write_text(text, encoding="utf-8")
        write_engine(self.workspace)
        script = self.workspace / PROGRAM
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m warpleague "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        feedback = self.path / "rounds"
        if feedback.is_dir():
            shutil.copytree(feedback, self.workspace / ROUNDS)
        else:
            (self.workspace / ROUNDS).mkdir()
        _open_to_all(self.workspace)

    def remove_harness_files(self) -> None:
        """Remove the harness's files and all repositories from the workspace, so that only the author's remain."""
        for name in HARNESS_FILES:
            _remove(self.workspace / name)
        for place, folders, files in os.walk(self.workspace):
            for name in LEFT_OUT.intersection((*folders, *files)):
                _remove(Path(place, name))
            folders[:] = [name for name in folders if name not in LEFT_OUT]

    def read_usage(self) -> tuple[Usage | None, str]:
        """The usage that the command reports, if any, and a remark if the report is invalid."""
        try:
            # The author wrote this file: it may be a link or a pipe, and of any size.
            file = os.open(self.workspace / USAGE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            return None, f"{USAGE}: cannot be read: {error.strerror}"
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return None, f"{USAGE}: is not a file"
            return structure(json.loads(os.read(file, _MAX_USAGE_BYTES)), Usage, USAGE), ""
        except (OSError, ValueError, RecursionError, ConfigError) as error:
            return None, str(error).splitlines()[0] if isinstance(
                error, ConfigError
            ) else f"{USAGE}: is not JSON"
        finally:
            os.close(file)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _open_to_all(folder: Path) -> None:
    """Let every user read the folder: in the sandbox the command may run as another user."""
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
