"""The workspace of an author: files written before an edit, and files removed after it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BadInput, ConfigError
from warpleague.extras.rounds.state import Usage
from warpleague.games import GAMES
from warpleague.report.wording.brief import brief_text
from warpleague.report.wording.docs import page_text, pages
from warpleague.runner.bundle.content import LEFT_OUT, copy_files
from warpleague.runner.bundle.shipped import shipped_root, write_engine
from warpleague.runner.confine.mounts import python_places
from warpleague.runner.tree import new_folder, remove_tree, scratch_folder, walk
from warpleague.strict import structure
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpleague.extras.rounds.file import Author, RoundsConfig


# -- history ---------------------------------------------------------------------------------------------
# The commits of an author's workspace, in a git repository of our own.
#
# The author gets a copy of the repository. Nothing of that copy is ever used, so neither its hooks nor its
# settings have an effect here.

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
        remove_tree(self.folder)
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
        with scratch_folder() as scratch:
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
        new_folder(target)
        with scratch_folder() as scratch:
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


# -- workspace -------------------------------------------------------------------------------------------

TASK: Final = "TASK.md"
DOCS: Final = "docs"
ENGINE: Final = "engine"
ROUNDS: Final = "rounds"
PROGRAM: Final = "warpleague"
"""The script that runs this program in a workspace."""
USAGE: Final = "usage.json"
"""The file in which a command reports the tokens that it used, and their cost."""
TRANSCRIPTS: Final = ("transcript.txt", "transcript.md", "transcript.json", "transcript.jsonl")
"""The files in which a command may leave a transcript of its own: the first one that is there is kept."""
HARNESS_FILES: Final = (TASK, DOCS, ENGINE, ROUNDS, PROGRAM, USAGE, *TRANSCRIPTS)
"""The names in a workspace that belong to the harness. An author's changes to them are dropped after each edit."""

_MAX_USAGE_BYTES: Final = 10_000


def transcripts(author: str, number: int, own: str = "") -> tuple[str, ...]:
    """The files, in the folder of a run, with what a command printed in a round, and with its `own` transcript."""
    return tuple(f"authors/{author}/output/{number:02}.{name}" for name in ("txt", own) if name)


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
        """What the command printed in a round."""
        return self.path.parent.parent / transcripts(self.path.name, number)[0]

    def keep_transcript(self, number: int, most: int) -> str:
        """Keep at most `most` bytes of the transcript that the command left. Returns its name, empty without one."""
        for name in TRANSCRIPTS:
            try:
                data = self._left(name, most)
            except OSError:
                continue
            (self.path.parent.parent / transcripts(self.path.name, number, name)[1]).write_bytes(data)
            return name
        return ""

    def _left(self, name: str, most: int) -> bytes:
        """The first bytes of a file that the author left. Raises `OSError` if there is none."""
        # The author wrote it: it may be a link or a pipe, and of any size.
        file = os.open(self.workspace / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(file, "rb") as stream:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(errno.EINVAL, "is not a file")
            return stream.read(most)

    def create(self, start: Path) -> str:
        """Create the history with the bot in `start` as its first commit, which is returned.

        Raises `BotError` for a bad bot.
        """
        new_folder(self.path)
        self.history.create(HARNESS_FILES)
        first = self.path / "first"
        copy_files(start, first / BOT)
        commit = self.history.commit(first, 0, "Start", None)
        remove_tree(first)
        return commit

    def prepare(self, commit: str, task: str, documents: Mapping[str, str]) -> None:
        """Replace the workspace: the files of `commit`, the task, the documents, the feedback on earlier rounds."""
        new_folder(self.scratch)
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
            remove_tree(self.workspace / name)
        for entry in walk(self.workspace, lambda entry: entry.base not in LEFT_OUT):
            if entry.base in LEFT_OUT:
                remove_tree(self.workspace / entry.name)

    def read_usage(self) -> tuple[Usage | None, str]:
        """The usage that the command reports, if any, and a remark if the report is invalid."""
        try:
            return structure(json.loads(self._left(USAGE, _MAX_USAGE_BYTES)), Usage, USAGE), ""
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            return None, f"{USAGE}: cannot be read: {error.strerror}"
        except ConfigError as error:
            return None, str(error).splitlines()[0]
        except (ValueError, RecursionError):
            return None, f"{USAGE}: is not JSON"


def _open_to_all(folder: Path) -> None:
    """Let every user read the folder: in the sandbox the command may run as another user."""
    folder.chmod(0o755)
    for entry in walk(folder):
        if not entry.is_link:
            executable = entry.is_folder or entry.status.st_mode & 0o100
            os.chmod(entry.base, 0o755 if executable else 0o644, dir_fd=entry.folder)


def program_paths() -> tuple[str, ...]:
    """The paths of this machine that `PROGRAM` needs: Python, this program, the bots and pages that come with it."""
    try:
        places = python_places(sys.executable)
    except BadInput:
        return ()
    root = shipped_root()
    ours = [str(root / name) for name in ("bots", "leagues", "docs", "README.md", "protocol")]
    return tuple(sorted({place for place in (*places, *ours) if os.path.exists(place)}))  # noqa: PTH110


# -- rounds task -----------------------------------------------------------------------------------------
# Writes the task of an author in rounds, and selects the documentation pages for its workspace.

_PAGES: Final = ("write-a-bot", "simulator", "compare", "study", "protocol", "spec")

_OTHERS: Final = {
    "own": "You see only results of the other authors, and records of the matches in which you played.",
    "records": "You also see records of matches in which you did not play.",
    "sources": "You also see records of matches in which you did not play, and the bots of the others: `sources/`.",
}
_FAILED: Final = {
    "last": "your last version that passed plays in its place",
    "forfeit": "you do not play in this round",
}

_REPLACED: Final = " Before each round everything is replaced except `bot/` and your notes."

_TESTS: Final = (
    "`./warpleague compare NEW OLD --game GAME` tests whether a bot is better than another: `docs/compare.md`. "
    "`git log` shows the commits of your earlier rounds."
)

_TASK: Final = """# Your task

{task}

{work}

## The game

{rules}

- A table has {players} seats. The options of the game are in `start` of each match.
- The clock: {clock}. Matches are played at level {level}.
- A fault {fault}. `docs/brief.md` lists the faults.

## What is here

| path | what it is |
|---|---|
| `bot/` | your bot; `bot.toml` says how it is run |
| `docs/` | the documentation |
| `engine/` | the rules and a simulator in Python: `docs/simulator.md` |
| `rounds/01/` and so on | feedback on earlier rounds: standings, check, records, logs, output of your edit |
| `./warpleague` | the program that plays the matches |
| all other files | your own notes, which stay from round to round |

{others}

## How to test

```sh
./warpleague bot check bot --game {game} --players {players} --quick --level none
./warpleague match {game} {opponents} --seed 1 --level none
git log --stat
```

{tests}

## What happens next

{steps}

To report tokens of language models and their cost, write this to `usage.json`:

```json
{{"model": "", "effort": "", "input_tokens": 0, "output_tokens": 0, "cost": 0.0}}
```
"""


def task_text(config: RoundsConfig, author: Author, number: int) -> str:
    """The text of TASK.md for `author` before the edit of round `number`, in Markdown."""
    game, limits = config.game, author.limits
    others = ", ".join(other.name for other in config.authors if other.name != author.name)
    feedback = f"rounds/{number:02}"
    task = (
        f"You are the author `{author.name}`. Make the bot in `bot/` stronger at the game {game.id}. This is round "
        f"{number} of {config.rounds}. The other authors are {others}. After each round all bots play each other."
    )
    work = (
        f"Change the files in `bot/`, then end. You have {limits.time_s:g} s, {limits.memory_mb} MiB of memory and "
        f"{counted(limits.processes, 'process')}, and the workspace may have {limits.folder_mb} MiB. If your command "
        f"{'exceeds' if author.on_error == 'keep' else 'fails or exceeds'} a limit, all its changes are dropped."
    )
    rules = (
        f"`docs/brief.md` has the rules, the messages and their types; `docs/{game.id}.md` has all details."
    )
    if game.id not in GAMES:
        rules = "`./warpleague games` describes the game."
    fault = "loses the match" if config.rules.faults == "forfeit" else "is a strike"
    steps = (
        f"1. The league checks your bot: it must finish whole matches. If it fails, {_FAILED[config.on_fail]}, and "
        f"in the next round `{feedback}/check.json` says why.",
        f"2. All tables play {counted(config.deals, 'deal')}. Earlier versions of the bots play, too. The secret of "
        f"the dice was fixed before you began{'' if config.proves_nothing else ', so nobody knows them'}.",
        f"3. In the next round `{feedback}/own.json` says how your version did. `helped` there compares it with your "
        f"version before{'' if config.climb is None else ', `climb` says which of the published levels it beats'}.",
    )
    return _TASK.format(
        task=_filled(task),
        work=_filled(work),
        rules=_filled(rules),
        players=game.players,
        clock=config.clock.in_words(),
        level=config.rules.level,
        fault=fault,
        others=_filled(_OTHERS[config.shows] + _REPLACED),
        game=game.id,
        opponents=" ".join(["bot", *["bots/random-python"] * (game.players - 1)]),
        tests=_filled(_TESTS),
        steps="\n".join(_filled(step, "   ") for step in steps),
    )


def task_documents(config: RoundsConfig) -> dict[str, str]:
    """The texts of the folder `docs` of a workspace, by file name."""
    known = pages()
    texts = {f"{name}.md": page_text(known[name]) for name in (*_PAGES, config.game.id) if name in known}
    if config.game.id in GAMES:
        texts["brief.md"] = brief_text(config.game.id, config.game.players)
    return texts


def _filled(text: str, indent: str = "") -> str:
    return fill(text, 110, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
