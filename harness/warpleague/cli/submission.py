"""A submission as an arena tells it: what commands need of it, and how they wait for its check."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.arena_client import PAUSE_S, Arena, path_of

if TYPE_CHECKING:
    from warpleague.runner.findings import Finding

REFUSED: Final = 1
"""The exit code if a bot was not accepted."""
UNDECIDED: Final = 3
"""The exit code with `--wait` if the check was not possible, but not because of the bot, or is not over yet."""


@attrs.frozen
class Submission:
    """The parts of an arena's answer that commands need: the submission's number, league, state, findings and bot.

    `settled` is when it was accepted or refused; `bot` and `version` are known once it was unpacked.
    """

    id: int
    league: str
    state: str
    found: tuple[Any, ...]
    settled: str | None
    bot: str | None
    version: str | None
    first_match: str | None = None

    @property
    def code(self) -> int:
        """The exit code that tells its state, one that `--wait` gives."""
        return {"accepted": 0, "refused": REFUSED}.get(self.state, UNDECIDED)


def wait_for(
    arena: Arena, answer: dict[str, Any], max_s: float | None = None, *, quiet: bool = False
) -> dict[str, Any]:
    """Wait until a submission is settled, at most `max_s` seconds, and print its findings as they come, unless quiet.

    The last answer about it.
    """
    end_s = float("inf") if max_s is None else time.monotonic() + max_s
    shown = 0
    while True:
        now = read_submission(arena, answer)
        shown = 0 if quiet else print_findings(now, shown)
        if now.settled or time.monotonic() >= end_s:
            return answer
        time.sleep(PAUSE_S)
        answer = arena.ask("GET", path_of("submissions", now.id))


def read_submission(arena: Arena, answer: Any) -> Submission:
    """The submission in an answer. Raises `NoArena`."""
    from warpleague.runner.findings import Finding

    now = arena.read(answer, Submission)
    each = enumerate(now.found)
    findings: list[Finding] = [arena.read(one, Finding, f"its answer: found[{n}]") for n, one in each]
    return attrs.evolve(now, found=tuple(findings))


def print_findings(now: Submission, shown: int = 0) -> int:
    """Print the findings from this number on; how many there are."""
    from warpleague.league.season.bot_check import REPEAT
    from warpleague.report.terminal.bots import print_finding

    for finding in now.found[shown:]:
        if finding.what != REPEAT:
            print_finding(finding)
    return len(now.found)
