"""Runs the edit command of an author in its workspace, confined as the level says, and commits the result."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, BinaryIO, Final

import attrs

from warpleague.counts import counted
from warpleague.errors import HarnessFault
from warpleague.rounds.history import BOT, GitError
from warpleague.rounds.state import Edit
from warpleague.rounds.workspace import AuthorFolder
from warpleague.runner.bundle.command import Command, CommandLimits, run_command
from warpleague.runner.host.reaper import end_started_with

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from warpleague.match.spec import Level


WORKSPACE: Final = "WARPLEAGUE_WORKSPACE"
"""The variable that tells a command, at other levels than sandbox, where its workspace is."""


@attrs.frozen(kw_only=True)
class EditRequest:
    """An edit to run in another process.

    `commit` is the workspace before it. `task` and `documents` are the texts to write there.
    """

    author: str
    number: int
    folder: Path
    commit: str
    task: str
    documents: Mapping[str, str]
    argv: tuple[str, ...]
    level: Level
    limits: CommandLimits
    output_mb: int
    paths: tuple[str, ...]
    network: tuple[str, ...]
    variables: Mapping[str, str]


class _Output:
    """Writes the first bytes of a command's output to a file, and at the end the number of bytes left out."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Write more output."""
        self._file.write(data[: max(self._most - self.total, 0)])
        self.total += len(data)

    def close(self) -> None:
        """Write how many bytes are missing."""
        if self.total > self._most:
            self._file.write(f"\n[... {counted(self.total - self._most, 'byte')} not stored ...]\n".encode())


def edit(request: EditRequest) -> Edit:
    """Run an edit from its beginning: prepare the workspace, run the command, commit.

    A command that fails or exceeds a limit changes nothing: its commit is the one before it. Raises `BadInput` if the
    level does not hold here, and `HarnessFault` if the sandbox fails.
    """
    author_folder = AuthorFolder(request.folder)
    own = str(author_folder.workspace)
    end_leftover_processes(author_folder)
    author_folder.prepare(request.commit, request.task, request.documents)
    path = author_folder.output(request.number)
    path.parent.mkdir(exist_ok=True)
    command = Command(
        name=request.author,
        argv=request.argv,
        folder=author_folder.workspace,
        scratch=author_folder.scratch,
        limits=request.limits,
        paths=request.paths,
        network=request.network,
        variables=request.variables if request.level == "sandbox" else {**request.variables, WORKSPACE: own},
    )
    with path.open("wb") as file:
        output = _Output(file, request.output_mb << 20)
        end = run_command(command, request.level, output.feed)
        output.close()
    if end.fault:
        raise HarnessFault(f"the sandbox failed in the edit of {request.author}: {end.fault}")
    result = Edit(
        commit=request.commit,
        changed=False,
        problem=end.problem,
        wall_s=round(end.time.wall_s, 3),
        cpu_s=round(end.time.cpu_s, 3),
        output_bytes=output.total,
    )
    if not end.problem:
        result = _committed(author_folder, request, result)
    shutil.rmtree(author_folder.scratch, ignore_errors=True)
    return result


def end_leftover_processes(author_folder: AuthorFolder) -> None:
    """End processes of an interrupted edit of this author at level limits: they would disturb the next edit."""
    end_started_with(WORKSPACE, str(author_folder.workspace))


def _committed(author_folder: AuthorFolder, request: EditRequest, result: Edit) -> Edit:
    usage, remark = author_folder.read_usage()
    author_folder.remove_harness_files()
    result = attrs.evolve(result, usage=usage, remark=remark)
    history = author_folder.history
    try:
        commit = history.commit(
            author_folder.workspace, request.number, f"Round {request.number}", request.commit
        )
    except GitError as error:
        return attrs.evolve(result, problem=f"left files that git refuses: {error}")
    added, removed = history.lines(request.commit, commit)
    changed = history.tree(commit, BOT) != history.tree(request.commit, BOT)
    return attrs.evolve(result, commit=commit, changed=changed, lines_added=added, lines_removed=removed)


def variables_of(names: tuple[str, ...]) -> dict[str, str]:
    """The values of these environment variables, without those that are not set."""
    return {name: os.environ[name] for name in names if name in os.environ}
