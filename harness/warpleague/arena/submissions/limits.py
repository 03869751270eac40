"""The limits of submissions: size, number a day, build time, and the resources in a manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BadInput, BotError
from warpleague.runner.bundle.manifest import plays

if TYPE_CHECKING:
    from warpleague.arena.submissions.ledger import Ledger
    from warpleague.league.season.config import LeagueConfig
    from warpleague.runner.bundle.manifest import Manifest


@attrs.frozen
class SubmissionLimits:
    """The limits of every submission; the settings of a ledger change them."""

    per_day: int = 20
    bots: int = 3
    upload_mb: int = 16
    folder_mb: int = 64
    files: int = 2000
    build_s: int = 60
    check_s: int = 55
    memory_mb: int = 1024
    processes: int = 64
    tmp_mb: int = 64
    challenges: int = 20
    challenge_s: int = 300
    trials: int = 4
    trial_size: int = 200


WORDS: Final = {
    "per_day": "submissions of an author within 24 hours",
    "bots": "bots of an author that play in one league",
    "upload_mb": "MiB of an upload",
    "folder_mb": "MiB of files, unpacked",
    "files": "files and folders",
    "build_s": "seconds to build, of processor time",
    "check_s": "seconds for the matches of the check",
    "memory_mb": "MiB of memory that a bot may ask for",
    "processes": "processes that a bot may ask for",
    "tmp_mb": "MiB of /tmp that a bot may ask for",
    "challenges": "matches on demand of an author within 24 hours",
    "challenge_s": "seconds for a match on demand, or of a trial",
    "trials": "trials of an author within 24 hours",
    "trial_size": "matches of a trial",
}
"""Each of the limits in words."""

_MAX: Final = {
    "upload_mb": 256,
    "folder_mb": 256,
    "files": 50_000,
    "build_s": 300,
    "check_s": 3600,
    "challenge_s": 3600,
    "trial_size": 10_000,
}
_MIN: Final = {"check_s": 1, "challenge_s": 1}
"""The code that reads and builds bots has these limits of its own."""


def limits_of(ledger: Ledger) -> SubmissionLimits:
    """The limits that hold now."""
    given = {
        field.name: int(text)
        for field in attrs.fields(SubmissionLimits)
        if (text := ledger.setting(f"limit {field.name}")) is not None
    }
    return SubmissionLimits(**given)


def set_limit(ledger: Ledger, key: str, value: int, who: str) -> None:
    """Change a limit; `BadInput` for a value that cannot be."""
    if key not in WORDS:
        raise BadInput(f"there is no limit {key!r}; there are {', '.join(WORDS)}")
    max_value = _MAX.get(key, 1_000_000)
    least = _MIN.get(key, 0)
    if not least <= value <= max_value:
        raise BadInput(f"{key}: must be from {least} to {max_value}, not {value}")
    ledger.set(f"limit {key}", str(value), who)


def check_manifest(manifest: Manifest, config: LeagueConfig, limits: SubmissionLimits) -> None:
    """Raise `BotError` if a submitted bot needs permissions of an organiser, or does not fit the league."""
    if not plays(manifest.games, config.game.id):
        raise BotError(
            f"bot.toml: games: the league {config.name} plays {config.game.id}, which is not among them"
        )
    if manifest.files:
        raise BotError(
            "bot.toml: files: a submission cannot link files of this machine; put them into its folder"
        )
    if more := set(manifest.sandbox.paths) - set(config.sandbox.paths):
        raise BotError(
            f"bot.toml: sandbox.paths: the organiser has not granted {', '.join(sorted(more))}; "
            "ask for it, or leave it out"
        )
    for key in ("memory_mb", "processes", "tmp_mb"):
        asked, max_value = getattr(manifest.limits, key), getattr(limits, key)
        if asked > max_value:
            raise BotError(f"bot.toml: limits.{key}: at most {max_value} here, not {asked}")
