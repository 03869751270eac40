"""The state of a run of rounds: one small file, with which a killed run continues.

The file is replaced as a whole after each step. A step that it lacks is done again, from the state before that step. A
step that it has is never done again.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
from attrs.validators import ge, max_len, optional

from warpleague.errors import StoreError
from warpleague.strict import structure

if TYPE_CHECKING:
    from pathlib import Path


FORMAT: Final = 3
"""The format of the file."""

Phase = Literal["edit", "check", "play", "over"]
"""The next phase of a round, or "over"."""


@attrs.frozen(kw_only=True)
class Usage:
    """The usage that an author's command reports: tokens of language models, and their cost in the author's unit.

    `model` and `effort` are those of the author's table, unless it reports others. None: not told.
    """

    input_tokens: int | None = attrs.field(default=None, validator=optional(ge(0)))
    output_tokens: int | None = attrs.field(default=None, validator=optional(ge(0)))
    cost: float | None = attrs.field(default=None, validator=optional(ge(0)))
    model: str | None = attrs.field(default=None, validator=optional(max_len(100)))
    effort: str | None = attrs.field(default=None, validator=optional(max_len(100)))


@attrs.frozen(kw_only=True)
class Edit:
    """One run of an author's edit command.

    `commit` is the workspace after it. `changed` is true if the bot changed. `problem` says what went wrong, or is
    empty; the changes were dropped then, unless they were `kept`. `wall_s` and `cpu_s` are the times of the command,
    `output_bytes` the size of its output, `transcript` the name of the file with a transcript of its own, or empty.
    `remark` says why a report of its usage is invalid, or is empty.
    """

    commit: str
    changed: bool
    problem: str = ""
    kept: bool = False
    wall_s: float = 0.0
    cpu_s: float = 0.0
    output_bytes: int = 0
    transcript: str = ""
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
    """The check of an author's bot: whether the bot is ready, all findings, and the time of the check."""

    ready: bool
    findings: tuple[Finding, ...]
    elapsed_s: float = 0.0

    @property
    def failure(self) -> Finding | None:
        """The first finding with the verdict "failed", or None."""
        return next((one for one in self.findings if one.verdict == "failed"), None)


@attrs.frozen(kw_only=True)
class Version:
    """A version of an author's bot that passed the check. Its content differs from the version before.

    `round` is the round in which it was made, 0 for the bot that the author starts with.
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
    """An author's part in a round: how often its edit began, the edit, the check, the version that plays.

    An edit began twice if this program ended during the first try, whose changes were dropped. `check` is None if the
    bot did not change. `version` is None until it is known, or if the author forfeits.
    """

    begun: int = 0
    edit: Edit | None = None
    check: Check | None = None
    version: str | None = None


@attrs.define(kw_only=True)
class Round:
    """A round: its next phase, the commitment to its secret, and each author's part.

    `field` are the names of all its bots, empty until they are known. `seconds` is the time of each phase.
    """

    number: int
    phase: Phase = "edit"
    commitment: str = ""
    committed: str = ""
    parts: dict[str, Part] = attrs.Factory(dict)
    field: tuple[str, ...] = ()
    seconds: dict[str, float] = attrs.Factory(dict)

    def spend(self, phase: str, seconds: float) -> None:
        """Add to the time of a phase."""
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + seconds, 3)


@attrs.define(kw_only=True)
class State:
    """All that has happened in a run of rounds; `save` writes it to `path`.

    `anchors` are the digests of the bots of fixed authors, by name.
    """

    conditions: dict[str, Any]
    anchors: dict[str, str] = attrs.Factory(dict)
    format: int = FORMAT
    versions: list[Version] = attrs.Factory(list)
    rounds: list[Round] = attrs.Factory(list)

    def save(self, path: Path) -> None:
        """Replace the file. Once this returns, the state survives a power failure."""
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
        """The version of this name, which must exist."""
        version = self.find(name)
        assert version is not None
        return version

    def find(self, name: str) -> Version | None:
        """The version of this name, or None, as for an anchor."""
        return next((version for version in self.versions if version.name == name), None)

    def digest(self, name: str) -> str:
        """The content of a version or of an anchor. Versions of one content are one program."""
        version = self.find(name)
        return self.anchors[name] if version is None else version.digest

    def versions_of(self, author: str) -> list[Version]:
        """The versions of an author, the oldest first."""
        return [version for version in self.versions if version.author == author]


def load_state(path: Path) -> State | None:
    """The state in the file at `path`, or None if there is no file. Raises `StoreError` if it is invalid."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        data = json.loads(text)
        version = data.get("format") if isinstance(data, dict) else None
    except ValueError as error:
        raise StoreError(f"{path}: is not JSON: {error}") from None
    if version != FORMAT:
        raise StoreError(
            f"{path}: has the format {version}; this version of Warp League reads format {FORMAT}"
        )
    return structure(data, State, str(path))
