"""What checks of bots report: findings, each with a verdict and a code that never changes.

It is apart from the checks, which take long to import: who only shows findings does without them.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs

Verdict = Literal["ok", "warning", "failed"]

TIME: Final = "time"
"""The subject of the finding that the time was over."""
MACHINE: Final = "machine"
"""The same if the cause was this busy machine, not the bot."""
REPEAT: Final = "repeat at home"
"""The subject of the finding whose text is the command that makes the same check at home."""
FOLDER: Final = "FOLDER"
"""Stands for the bot's folder in that command."""

CODES: Final = {
    "manifest": "bot.toml, or a file that it names, is invalid",
    "build": "the build failed, or exceeded a limit",
    "toolchain": "the program that builds or runs the bot is not installed on this machine",
    "bundle": "the bot was read and built",
    "game-not-claimed": "bot.toml does not name the game",
    "game-unknown": "no such game is installed",
    "plan": "the matches of the check",
    "matches": "the matches at a table were played to the end",
    "slow-decision": "a decision took more than half of the time allowed",
    "not-repeatable": "the same match came out differently the second time",
    "reused": "whether one process plays match after match, and as a new one does",
    "reading": "how the bot reads lines that come in awkward ways",
    "lingers": "the bot does not exit at once on request",
    "files-written": "the bot wrote into its own folder",
    TIME: "the time of the check was over",
    MACHINE: "the time of the check was over, because this machine was busy",
}
"""The codes of findings, and what each is about."""
FAULT: Final = "fault-"
"""The prefix of the code of a fault in a match; its kind follows."""


@attrs.frozen
class Finding:
    """A finding of a check."""

    what: str
    """the subject, in words; of the code `repeat` the text is the command that makes the same check at home"""
    verdict: Verdict
    """only `failed` keeps the bot out"""
    text: str
    """the finding, and the way to mend it"""
    code: str = ""
    """the subject, as a code that never changes: `warpleague docs api` lists all of them"""
