"""The input and the output of a match: the values that schedule, referee and record share."""

from __future__ import annotations

import math
from operator import add
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

import attrs

from warpline.bounds import Range
from warpline.limits import NOTE_BYTES, FaultKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import JsonObject

# -- spec ------------------------------------------------------------------------------------------------


Level = Literal["none", "limits", "sandbox"]
FaultPolicy = Literal["forfeit", "substitute"]
Pondering = Literal["off", "always-stop", "on"]
"""Whether bots may compute while it is not their turn: "off" stops those that are seen to, "always-stop" all."""

Seconds = Annotated[float, Range(0, 1_000_000, open=True)]
"""A time limit."""
Increment = Annotated[float, Range(0, 1_000_000)]

EntrantKind = Literal["bot", "person"]
"""Who plays a seat."""

Mark = Literal["auto", "substituted", "then"]
"""Why an action stands in a record without having been asked for: it was the only legal one, the referee played it
after a fault, or the bot had given it before in a `then` list."""

MAX_LOG = 1 << 28
"""No log of the lines to and from a bot is as large, in bytes."""

FORMAT = 2
"""The form of records, as their header says: the first that a release writes."""

LEVELS: tuple[Level, ...] = ("none", "limits", "sandbox")
"""From the one that confines nothing to the one that confines most."""
LEVEL: Level = "limits"
"""The default level of confinement."""
POLICIES: tuple[FaultPolicy, ...] = ("forfeit", "substitute")
STRIKES = 3
"""The default number of faults of a seat that are substituted before it forfeits."""
FATAL: frozenset[FaultKind] = frozenset({"startup", "crash", "flood", "memory"})
"""Faults after which no answer can come any more: the seat is retired under every policy."""


def retires(policy: FaultPolicy, strikes: int, kind: FaultKind, count: int) -> bool:
    """Whether a fault of `kind`, the `count`-th of its seat (from 1), retires it where `strikes` are substituted."""
    return policy != "substitute" or kind in FATAL or count > strikes


@attrs.frozen
class TimeControl:
    """The time limits of a match, in seconds; each may be absent (None).

    `move_s` caps one decision; `bank_s` is a bank for the whole match; `increment_s` is added to the bank
    before each decision. `start_s`, the time to say hello and get ready, is always there and costs no move
    time.
    """

    move_s: Seconds | None = None
    bank_s: Seconds | None = None
    increment_s: Increment | None = None
    start_s: Seconds = 10.0

    def in_words(self) -> str:
        """The limits but that of the start, for people."""
        parts = []
        if self.bank_s is not None:
            parts.append(f"{self.bank_s:g} s for a match")
        if self.increment_s:
            parts.append(f"{self.increment_s:g} s more for each decision")
        if self.move_s is not None:
            parts.append(f"{self.move_s:g} s for a decision")
        return ", ".join(parts)

    def most_s(self, decisions: int) -> float:
        """The most seconds that a seat may take for `decisions` decisions; infinite without a limit."""
        moves_s = math.inf if self.move_s is None else self.move_s * decisions
        bank_s = math.inf if self.bank_s is None else self.bank_s + (self.increment_s or 0.0) * decisions
        return min(moves_s, bank_s)


@attrs.frozen
class SeatSpec:
    """One seat's bot: its name and version, the digest that identifies its content, and how to run it.

    `run` is the argv, `cwd` the folder to run it in (both resolved, absolute where they are files);
    `reusable` allows to keep its process for the next match of the same referee. At level sandbox the bot may have
    `processes` processes and threads at once, and `tmp_mb` MiB of /tmp and /dev/shm each, none by default,
    and sees `paths` of this machine beside what every bot sees, and reaches the addresses in `network`. `key_file` is
    a file with a secret for this bot alone. A seat of kind "person" is played by a person: it has a name, and nothing
    to run. `clock` is the seat's own, instead of that of the match.
    """

    bot: str
    version: str = ""
    digest: str = ""
    run: tuple[str, ...] = ()
    cwd: str = "."
    reusable: bool = False
    memory_mb: int = 512
    processes: int = 64
    tmp_mb: int = 0
    paths: tuple[str, ...] = ()
    kind: EntrantKind = "bot"
    clock: TimeControl | None = None
    network: tuple[str, ...] = ()
    key_file: str | None = None

    @property
    def identity(self) -> str:
        """The digest, and behind a blank the seat's own clock if it has one: with the name it tells who plays."""
        return identity_of(self.digest, None if self.clock is None else attrs.asdict(self.clock))


def identity_of(digest: str, clock: Mapping[str, float | None] | None) -> str:
    """`SeatSpec.identity` from the digest of a bot and the seat's own clock, as a record has them."""
    if clock is None:
        return digest
    parts = [f"{name}={float(value)!r}" for name, value in sorted(clock.items()) if value is not None]
    return " ".join([digest, *parts])


@attrs.frozen
class MatchSpec:
    """Everything that determines a match.

    `options` and `position` are JSON forms, options complete with their defaults. `key` is the 32-byte match
    key (design: BLAKE2b of the seed text, or derived from the season's secret); `seed` the text it came from,
    or None. With `publish_key` false, `seed` and `key` are null in the record. If it is
    `private`, what bots printed stays out of the record.
    `parent` says which match it branches off from, as the record's header does (`docs/reproduce.md`). A decision is
    asked `again` so many times after an illegal action, before that is a fault, and each seat may say so many times
    that its service failed (`failures`). A note of a bot has at most `note_bytes`. Seats that go out at the same stage
    rank equal. `names` gives for each seat the names of the
    players that its bot gets, if they are not those of the seats. `attempt` counts how often the match was begun in
    vain before: other dice come from that. `machine` is the name of that of a cluster which plays it, for the record.
    """

    id: str
    game: str
    options: dict[str, Any]
    seats: tuple[SeatSpec, ...]
    key: bytes
    seed: str | None = None
    clock: TimeControl = TimeControl(move_s=1.0)
    level: Level = LEVEL
    faults: FaultPolicy = "forfeit"
    strikes: int = 0
    pondering: Pondering = "off"
    position: dict[str, Any] | None = None
    publish_key: bool = True
    private: bool = False
    parent: dict[str, Any] | None = None
    again: int = 0
    failures: int = 0
    note_bytes: int = NOTE_BYTES
    names: tuple[tuple[str, ...], ...] = ()
    attempt: int = 0
    machine: str | None = None

    @property
    def rolled(self) -> dict[str, int]:
        """How many rolls each address had in the parent; empty if the dice start again."""
        rolls: dict[str, int] = (self.parent or {}).get("rolls", {})
        return rolls


@attrs.frozen
class SeatTimes:
    """One seat's time over a match: number of asked decisions, and wall, CPU and wait times in milliseconds.

    Of bots that use a service also what is `Taken`.
    """

    decisions: int = 0
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    wait_ms: float = 0.0
    longest_ms: float = 0.0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    retries: int = 0


class Taken(NamedTuple):
    """What a seat's service did and took: failures; tokens and cost as the bot reported them; requests sent again."""

    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    retries: int = 0

    def plus(self, more: Taken) -> Taken:
        """The sum of both."""
        return Taken(*map(add, self, more))


@attrs.define
class Violation:
    """A bot's mistake, before the referee has judged it: its kind, a text, and evidence as JSON."""

    kind: FaultKind
    message: str
    detail: dict[str, Any] = attrs.field(factory=dict)


KILLED_BY_OTHERS: Final = "killed by SIGKILL, not by the referee and not at its memory limit"
"""How a bot ended that something else on the machine killed, or that killed itself: nobody can know which."""


@attrs.frozen
class SeatFault:
    """A fault as a table shows it: its kind, the number of its record line, and whether it retired the seat."""

    kind: FaultKind
    n: int
    retired: bool
    message: str

    @property
    def killed_by_others(self) -> bool:
        """Whether the bot was killed, and neither by the referee nor at its limit of memory."""
        return KILLED_BY_OTHERS in self.message


@attrs.frozen
class SeatLog:
    """A bot's own words over a match, for its author: its standard error, and each line to and from it.

    Both are text that is safe for a terminal, and say where something is missing. The lines repeat much, so they are
    compressed with zstd on their way from the process that plays to the one that writes them.
    """

    stderr: str
    packed: bytes

    @classmethod
    def of(cls, stderr: str, wire: str) -> SeatLog:
        """The log of these two texts."""
        from warpleague.match.zstd import compress

        return cls(stderr, compress(wire.encode("utf-8", "backslashreplace")))

    @property
    def wire(self) -> str:
        """Each line to and from the bot."""
        from warpleague.match.zstd import decompress

        return decompress(self.packed, MAX_LOG).decode()


@attrs.frozen
class MatchResult:
    """A finished match: who stands where, why it ended, what the bots did wrong, and the whole record.

    `record` is the canonical JSON lines, uncompressed, the end line included. `faults` holds for each seat
    all its faults in order. `lines` counts the record's lines after the header. `elapsed_s` is all it took, in
    seconds, the bots' start and end included; `playing_s` the part from the first question to the finished record.
    `stopped` are the seats whose bots were stopped between their decisions, for pondering or because all were.
    `rival` is the score of the game's own opponent, where a solo game has one. `confinement` says how the bots
    were confined, if that is known. `logs` are there, one for each seat, if the caller wanted them.
    """

    id: str
    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    why: str
    digest: str
    faults: tuple[tuple[SeatFault, ...], ...]
    times: tuple[SeatTimes, ...]
    record: bytes
    lines: int
    elapsed_s: float = 0.0
    playing_s: float = 0.0
    rival: float | None = None
    stopped: tuple[int, ...] = ()
    confinement: Confinement | None = None
    logs: tuple[SeatLog, ...] = ()


# -- confinement -----------------------------------------------------------------------------------------
# How the bots of a match were confined, as its record has it: the means, the host, the tested promises.


@attrs.frozen
class Confinement:
    """How the bots of a match were confined. What is None is not known: the record does not have it.

    `made_by` names the means, such as bubblewrap; it is empty at level `none`. `kept` are the promises of the level
    that passed a test before the match, `untried` those that were not tested. `paths` are the additional paths
    of the machine that bots in the sandbox saw, `network` the addresses that some of them
    could reach. `pondering` says whether bots could compute out of turn. `machine` is the name of the machine of a
    cluster that played the match.
    """

    level: str | None = None
    made_by: str | None = None
    host: str | None = None
    kept: tuple[str, ...] | None = None
    untried: tuple[str, ...] | None = None
    pondering: str | None = None
    paths: tuple[str, ...] | None = None
    network: tuple[str, ...] | None = None
    machine: str | None = None

    def to_json(self) -> JsonObject:
        """The `detail` of a record's header."""
        fields = attrs.asdict(self, filter=lambda _, value: value is not None)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    def short_text(self) -> str:
        """The means; empty if there were none, or if they are not known."""
        return self.made_by or ""

    def long_text(self) -> str:
        """The means, with the filter of system calls, the additional paths and the host."""
        parts = [self.short_text()]
        if "calls" in (self.kept or ()):
            parts.append("system calls filtered by seccomp")
        if self.paths:
            parts.append(f"bots were shown {', '.join(self.paths)}")
        if self.network:
            parts.append(f"bots could reach {', '.join(self.network)}")
        if self.host:
            parts.append(f"on {self.host}")
        return "; ".join(filter(None, parts))


# -- conditions ------------------------------------------------------------------------------------------
# The conditions of matches: what is the same whatever the game, the bots and the dice.
#
# A league and the check of a bot for it make their matches from the same conditions, so that both are played
# alike.


@attrs.frozen(kw_only=True, slots=False)
class Conditions:
    """How long bots may think, how they are confined, and what a fault costs; each as in `MatchSpec`."""

    clock: TimeControl = attrs.Factory(lambda: TimeControl(move_s=1.0))
    level: Level = LEVEL
    faults: FaultPolicy = "forfeit"
    strikes: int = 0
    pondering: Pondering = "off"
    again: int = 0
    failures: int = 0
    note_bytes: int = NOTE_BYTES

    def match(self, **what: Any) -> MatchSpec:
        """A match under these conditions; `what` are the other fields of `MatchSpec`."""
        shared = {field.name: getattr(self, field.name) for field in attrs.fields(Conditions)}
        return MatchSpec(**shared, **what)
