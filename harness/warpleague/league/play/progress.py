"""The output of a run: progress for a watcher, and a report at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture
    from warpleague.match.spec import MatchResult, SeatFault


@attrs.frozen
class Void:
    """A match that the harness failed to play: nobody loses, and the next run tries it again."""

    fixture: Fixture
    error: str
    trace: str


@attrs.frozen
class MatchFault:
    """A fault in a match of a run: whose, in which seat, and what it was."""

    fixture: Fixture
    seat: int
    bot: str
    fault: SeatFault

    def to_json(self) -> dict[str, Any]:
        """The fault as a JSON object; `n` is the number of the record's line."""
        where = {"number": self.fixture.number, "match": self.fixture.id, "seat": self.seat, "bot": self.bot}
        return where | attrs.asdict(self.fault)


@attrs.frozen
class RunReport:
    """The report of a run: matches that count in the end, stored before it, played by it, void; and how it ended.

    `total` is None where results that are missing decide it. `stored` are those of `total` that are stored now.
    `stopped`: by the user. `failure`: why it was given up, or None. `complete`: all matches are stored. `cpu_ms` and
    `wait_ms`: how long the bots of the matches played computed in their decisions, and waited for a processor.
    `fault`: the one at which the run stopped, if it was to stop at a fault.
    """

    total: int | None
    before: int
    stored: int
    played: int
    void: tuple[Void, ...]
    stopped: bool
    failure: str | None
    elapsed_s: float
    cpu_ms: float = 0.0
    wait_ms: float = 0.0
    fault: MatchFault | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing is left to play."""
        return self.stored == self.total


class RunWatcher:
    """Receives the events of a run; `run_league` calls every method in its own thread."""

    def started(self, league: League, total: int | None, before: int, jobs: int) -> None:
        """The run begins: `before` of the `total` matches (None: results decide that) are stored already."""

    def submitted(self, fixture: Fixture) -> None:
        """A match waits for a referee; referees take matches in this order."""

    def finished(self, fixture: Fixture, result: MatchResult) -> None:
        """A match has been played and is in the store."""

    def failed(self, void: Void) -> None:
        """A match is void."""

    def stopping(self) -> None:
        """The user asked to stop: the matches being played are the last."""

    def note(self, text: str) -> None:
        """Something about where matches are played that the user should know."""

    def tick(self) -> None:
        """Some time has passed, a quarter of a second or so."""
