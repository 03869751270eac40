"""The commits of an author's workspace, in a git repository of our own.

The author gets a copy of the repository. Nothing of that copy is ever used, so neither its hooks nor its settings have
an effect here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import BadInput
from warpleague.runner.bundle.staging import remove

if TYPE_CHECKING:
    from collections.abc import Sequence

BOT: Final = "bot"
"""The folder of the workspace that has the author's bot."""

IN_WORKSPACE: Final = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}
"""Variables for a command in a workspace: in the sandbox the folder belongs to another user than the command."""

_BRANCH: Final = "refs/heads/main"
# Files come out of a commit as they were, byte by byte, whatever attributes an author's files ask for.
_ATTRIBUTES: Final = "* -text -filter -ident -working-tree-encoding -export-subst -export-ignore\n"
_DAY_S: Final = 86_400


class GitError(Exception):
    """Git failed; the text is its message."""


class History:
    """The repository in `folder`. Each commit has the workspace of one round, without the harness's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, exclude: Sequence[str]) -> None:
        """Create the repository, and replace an older one. Its copies ignore the names in `exclude`."""
        require_git()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._run("init", "--quiet", "--bare", "--initial-branch=main", str(self.folder))
        info = self.folder / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
        (info / "exclude").write_text("".join(f"/{name}\n" for name in exclude), encoding="utf-8")

    def commit(self, tree: Path, number: int, message: str, parent: str | None) -> str:
        """Commit the files in `tree` as those of round `number`. Returns the commit's id.

        The commit follows from the files, the number, the message and the parent alone: its date is day `number` of
        1970. So a repeated run has the same commits. Raises `GitError` if git refuses a file.
        """
        with tempfile.TemporaryDirectory(prefix="warpleague-") as scratch:
            index = {"GIT_INDEX_FILE": str(Path(scratch, "index")), "GIT_WORK_TREE": str(tree)}
            self._run("add", "--all", "--force", "--", ".", more=index, cwd=tree)
            written = self._run("write-tree", more=index).strip()
        when = f"@{_DAY_S * number} +0000"
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        parents = [] if parent is None else ["-p", parent]
        commit = self._run("commit-tree", written, *parents, "-m", message, more=dates).strip()
        self._run("update-ref", _BRANCH, commit)
        return commit

    def extract(self, commit: str, target: Path, below: str = "") -> None:
        """Replace `target` by the files of a commit, or of its folder `below`. Raises `GitError` if there is none."""
        remove(target)
        target.mkdir(parents=True)
        with tempfile.TemporaryDirectory(prefix="warpleague-") as scratch:
            index = {"GIT_INDEX_FILE": str(Path(scratch, "index")), "GIT_WORK_TREE": str(target)}
            self._run("read-tree", f"{commit}:{below}", more=index)
            self._run("checkout-index", "--all", "--force", more=index, cwd=target)

    def tree(self, commit: str, below: str = BOT) -> str:
        """The id of the content of a folder in a commit; empty if there is no such folder."""
        try:
            name = self._run("rev-parse", "--verify", "--quiet", f"{commit}:{below}").strip()
            return name if self._run("cat-file", "-t", name).strip() == "tree" else ""
        except GitError:
            return ""

    def lines(self, old: str, new: str) -> tuple[int, int]:
        """How many lines of the bot were added and removed between two commits, without binary files."""
        added = removed = 0
        for line in self._run(
            "diff", "--no-ext-diff", "--no-textconv", "--numstat", old, new, "--", BOT
        ).splitlines():
            plus, minus, _ = line.split("\t", 2)
            if plus.isdecimal() and minus.isdecimal():
                added, removed = added + int(plus), removed + int(minus)
        return added, removed

    def ancestors(self, commit: str) -> list[str]:
        """The commits up to this one, the newest first; `GitError` if one is damaged."""
        return self._run("rev-list", commit).split()

    def check(self) -> None:
        """Raise `GitError` if the repository is damaged."""
        self._run("fsck", "--strict", "--no-dangling", "--no-progress")

    def copy_into(self, workspace: Path, commit: str) -> None:
        """Put a repository with the commits up to `commit` into a workspace that has the files of `commit`."""
        copy = workspace / ".git"
        shutil.copytree(self.folder, copy)
        (copy / "info" / "attributes").unlink()
        variables = {"GIT_DIR": str(copy), "GIT_WORK_TREE": str(workspace)}
        for name, value in (
            ("core.bare", "false"),
            ("user.name", "author"),
            ("user.email", "author@invalid"),
        ):
            self._run("config", name, value, more=variables)
        self._run("update-ref", _BRANCH, commit, more=variables)
        self._run("read-tree", commit, more=variables)

    def _run(self, *words: str, more: dict[str, str] | None = None, cwd: Path | None = None) -> str:
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C.UTF-8",
            "GIT_DIR": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            **{
                f"GIT_{who}_{what}": text
                for who in ("AUTHOR", "COMMITTER")
                for what, text in (("NAME", "warpleague"), ("EMAIL", "rounds@warpleague.invalid"))
            },
            **(more or {}),
        }
        settings = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "core.fileMode=true")
        chosen = [word for setting in settings for word in ("-c", setting)]
        result = subprocess.run(
            ["git", *chosen, *words],
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if result.returncode:
            text = result.stderr.decode("utf-8", "replace").strip().splitlines()
            raise GitError(text[-1] if text else f"git {words[0]} failed")
        return result.stdout.decode("utf-8", "replace")


def require_git() -> None:
    """Raise `BadInput` if git is not installed."""
    if shutil.which("git") is None:
        raise BadInput("rounds need git for the workspaces of authors: apt-get install git")
