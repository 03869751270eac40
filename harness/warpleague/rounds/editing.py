"""Runs the edit command of an author in its workspace, confined as the level says, and commits what comes of it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, BinaryIO, Final

import attrs

from warpleague.counts import counted
from warpleague.errors import HarnessFault
from warpleague.rounds.history import BOT, GitError
from warpleague.rounds.state import Edit
from warpleague.rounds.workspace import Desk
from warpleague.runner.bundle.command import Command, CommandLimits, run_command
from warpleague.runner.host.reaper import end_started_with

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from warpleague.match.spec import Level


WORKSPACE: Final = "WARPLEAGUE_WORKSPACE"
"""The variable that tells a command, at other levels than sandbox, where its workspace is."""


@attrs.frozen(kw_only=True)
class Order:
    """An edit that is due: all that the process which runs it needs.

    `commit` is the workspace before it. `task` and `documents` are the texts to lay out there.
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
    """Writes what a command prints to a file: the first bytes, and at the end how many more there were."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self._file.write(data[: max(self._most - self.total, 0)])
        self.total += len(data)

    def close(self) -> None:
        """Say what is missing."""
        if self.total > self._most:
            self._file.write(f"\n[... {counted(self.total - self._most, 'byte')} not stored ...]\n".encode())


def edit(order: Order) -> Edit:
    """Run an edit from its beginning: lay the workspace out, run the command, commit.

    A command that fails, or takes too much of anything, changes nothing: its commit is the one before it. Raises
    `BadInput` if the level does not hold here, and `HarnessFault` if the sandbox fails.
    """
    desk = Desk(order.folder)
    own = str(desk.workspace)
    end_leftovers(desk)
    desk.lay_out(order.commit, order.task, order.documents)
    path = desk.output(order.number)
    path.parent.mkdir(exist_ok=True)
    command = Command(
        name=order.author,
        argv=order.argv,
        folder=desk.workspace,
        scratch=desk.scratch,
        limits=order.limits,
        paths=order.paths,
        network=order.network,
        variables=order.variables if order.level == "sandbox" else {**order.variables, WORKSPACE: own},
    )
    with path.open("wb") as file:
        output = _Output(file, order.output_mb << 20)
        end = run_command(command, order.level, output.feed)
        output.close()
    if end.fault:
        raise HarnessFault(f"the sandbox to run the edit of {order.author} in failed: {end.fault}")
    made = Edit(
        commit=order.commit,
        changed=False,
        problem=end.problem,
        wall_s=round(end.time.wall_s, 3),
        cpu_s=round(end.time.cpu_s, 3),
        output_bytes=output.total,
    )
    if not end.problem:
        made = _committed(desk, order, made)
    shutil.rmtree(desk.scratch, ignore_errors=True)
    return made


def end_leftovers(desk: Desk) -> None:
    """End what an interrupted edit of this author has left running at limits: it would write into the next one."""
    end_started_with(WORKSPACE, str(desk.workspace))


def _committed(desk: Desk, order: Order, made: Edit) -> Edit:
    usage, remark = desk.usage()
    desk.tidy()
    made = attrs.evolve(made, usage=usage, remark=remark)
    history = desk.history
    try:
        commit = history.commit(desk.workspace, order.number, f"Round {order.number}", order.commit)
    except GitError as error:
        return attrs.evolve(made, problem=f"left files that git refuses: {error}")
    added, removed = history.lines(order.commit, commit)
    changed = history.tree(commit, BOT) != history.tree(order.commit, BOT)
    return attrs.evolve(made, commit=commit, changed=changed, lines_added=added, lines_removed=removed)


def variables_of(names: tuple[str, ...]) -> dict[str, str]:
    """The values of these variables of our own environment; those that are not set are left out."""
    return {name: os.environ[name] for name in names if name in os.environ}
