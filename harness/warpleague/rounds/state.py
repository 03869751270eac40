"""What has happened in a run of rounds so far: one small file, from which a run goes on after any kill.

It is replaced as a whole after each step. A step that is not in it has not happened, and is done anew from the state
before it; a step that is in it is never done again.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
from attrs.validators import ge

from warpleague.errors import StoreError
from warpleague.strict import structure

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = 1
"""The form of the file."""

Phase = Literal["edit", "check", "play", "over"]
"""What comes next in a round; nothing, if it is over."""


@attrs.frozen(kw_only=True)
class Usage:
    """What an author's command says that it used: tokens of language models, and their cost in the author's unit."""

    input_tokens: int = attrs.field(default=0, validator=ge(0))
    output_tokens: int = attrs.field(default=0, validator=ge(0))
    cost: float = attrs.field(default=0.0, validator=ge(0))


@attrs.frozen(kw_only=True)
class Edit:
    """One run of an author's edit command.

    `commit` is the workspace after it; `changed` is whether the bot is another one than before. `problem` says why its
    changes were dropped, if they were. `wall_s` and `cpu_s` are its time, `output_bytes` is how much it printed.
    """

    commit: str
    changed: bool
    problem: str = ""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    output_bytes: int = 0
    usage: Usage | None = None
    remark: str = ""
    lines_added: int = 0
    lines_removed: int = 0


@attrs.frozen(kw_only=True)
class Finding:
    """A finding of the check, as `warpleague bot check --json` prints it."""

    what: str
    verdict: str
    text: str
    code: str


@attrs.frozen(kw_only=True)
class Check:
    """The check of an author's bot: whether it is ready, all findings, and how long it took."""

    ready: bool
    findings: tuple[Finding, ...]
    elapsed_s: float = 0.0

    @property
    def failure(self) -> Finding | None:
        """The first finding that the bot failed by; None if there is none."""
        return next((one for one in self.findings if one.verdict == "failed"), None)


@attrs.frozen(kw_only=True)
class Version:
    """A version of an author's bot that passed the check; no version has the content of the one before it.

    `round` is the one in which it was made, 0 for the bot that the author starts with.
    """

    name: str
    author: str
    round: int
    commit: str
    digest: str
    lines_added: int = 0
    lines_removed: int = 0


@attrs.define(kw_only=True)
class Part:
    """An author's part in a round: how often its edit was begun, the edit, the check, the version that plays.

    An edit that was begun twice was interrupted by the end of this program; what it had done by then was dropped.
    `check` is None where the bot is as it was; `version` is None until it is known, or if the author forfeits.
    """

    begun: int = 0
    edit: Edit | None = None
    check: Check | None = None
    version: str | None = None


@attrs.define(kw_only=True)
class Round:
    """A round: what comes next in it, the commitment to its secret, and each author's part.

    `field` are the versions that play in it, once that is known. `seconds` is how long each phase took, over all runs.
    """

    number: int
    phase: Phase = "edit"
    commitment: str = ""
    committed: str = ""
    parts: dict[str, Part] = attrs.Factory(dict)
    field: tuple[str, ...] = ()
    seconds: dict[str, float] = attrs.Factory(dict)

    def spend(self, phase: str, seconds: float) -> None:
        """Count time that a phase took."""
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + seconds, 3)


@attrs.define(kw_only=True)
class State:
    """All that has happened in a run of rounds; `save` writes it to `path`."""

    conditions: dict[str, Any]
    format: int = FORMAT
    versions: list[Version] = attrs.Factory(list)
    rounds: list[Round] = attrs.Factory(list)

    def save(self, path: Path) -> None:
        """Replace the file; once this returns, the state outlives a loss of power."""
        text = json.dumps(attrs.asdict(self), indent=1)
        scratch = path.with_suffix(".tmp")
        try:
            with scratch.open("w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(path)
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from None

    def version(self, name: str) -> Version:
        """The version of this name, which there must be."""
        found = self.find(name)
        assert found is not None
        return found

    def find(self, name: str) -> Version | None:
        """The version of this name; None if there is none, as for an anchor."""
        return next((version for version in self.versions if version.name == name), None)

    def versions_of(self, author: str) -> list[Version]:
        """The versions of an author, the oldest first."""
        return [version for version in self.versions if version.author == author]


def load_state(path: Path) -> State | None:
    """The state in the file at `path`; None if there is none; `StoreError` for one that is no state."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        data = json.loads(text)
        found = data.get("format") if isinstance(data, dict) else None
    except ValueError as error:
        raise StoreError(f"{path}: is no JSON: {error}") from None
    if found != FORMAT:
        raise StoreError(f"{path}: has the format {found}; this version of Warp League reads format {FORMAT}")
    return structure(data, State, str(path))
