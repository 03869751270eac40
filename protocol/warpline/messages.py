"""The messages of the wire and their fields, in both directions.

A field's metadata holds its `help`. A field with a default may be absent on the wire, and a null counts as absent.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import attrs

from warpline.bounds import Bounds, MaxBytes, Range
from warpline.limits import MAX_COST, MAX_NOTE_BYTES, NAME_BYTES, NOTE_BYTES, PROTOCOL, FaultKind

JsonObject: TypeAlias = dict[str, Any]
Natural: TypeAlias = Annotated[int, Bounds(0)]
Note: TypeAlias = Annotated[str, MaxBytes(MAX_NOTE_BYTES)]
Reason: TypeAlias = Annotated[str, MaxBytes(NOTE_BYTES)]
Name: TypeAlias = Annotated[str, MaxBytes(NAME_BYTES)]
Share: TypeAlias = Annotated[float, Range(0, 1)]
Cost: TypeAlias = Annotated[float, Range(0, MAX_COST)]
Action: TypeAlias = Natural | JsonObject
"""An index into the engine's canonical list of legal actions, or the action's JSON form."""

Want: TypeAlias = Literal["state", "legal", "events", "text"]
WANTS: tuple[Want, ...] = ("state", "legal", "events")


# From the referee ------------------------------------------------------------


@attrs.define
class Hello:
    """The referee's first line."""

    type: ClassVar[str] = "hello"
    protocol: Natural = attrs.field(metadata={"help": "version of the protocol"}, default=PROTOCOL)
    referee: str = attrs.field(
        metadata={"help": "name and version of the referee, for the bot's log"}, default=""
    )


@attrs.define
class Clock:
    """The time limits of a match in seconds; one that is absent does not limit."""

    move_s: float | None = attrs.field(metadata={"help": "cap on one decision"}, default=None)
    bank_s: float | None = attrs.field(metadata={"help": "bank of time for the whole match"}, default=None)
    increment_s: float | None = attrs.field(
        metadata={"help": "added to the bank before each decision"}, default=None
    )
    start_s: float | None = attrs.field(
        metadata={"help": "time to answer hello, and again to get ready"}, default=None
    )


@attrs.define
class Start:
    """A match begins; the bot gets ready and says so."""

    type: ClassVar[str] = "start"
    match: str = attrs.field(metadata={"help": "id of the match"})
    game: str = attrs.field(metadata={"help": "id of the game"})
    rules: Natural = attrs.field(metadata={"help": "version of the game's rules"})
    options: JsonObject = attrs.field(metadata={"help": "the game's options, complete with their defaults"})
    seat: Natural = attrs.field(metadata={"help": "the bot's seat, counted from 0"})
    players: tuple[str, ...] = attrs.field(metadata={"help": "names of the bots by seat"})
    seed: str = attrs.field(
        metadata={"help": "the bot's own seed, in hexadecimal; it tells nothing of the match's dice"}
    )
    clock: Clock = attrs.field(metadata={"help": "the time limits of the match"})
    setup: JsonObject = attrs.field(metadata={"help": "static facts of the game: board, numbering"})
    note_bytes: Natural | None = attrs.field(
        metadata={"help": f"how long a note may be, in bytes of UTF-8; absent: {NOTE_BYTES}"}, default=None
    )


@attrs.define
class Remaining:
    """The time left for this decision, in seconds; what does not limit is absent."""

    bank_s: float | None = attrs.field(
        metadata={"help": "left in the bank, this decision's increment included"}, default=None
    )
    move_s: float | None = attrs.field(metadata={"help": "cap on this decision"}, default=None)


@attrs.define
class Act:
    """A question: the bot decides and answers."""

    type: ClassVar[str] = "act"
    id: Natural = attrs.field(metadata={"help": "counts this bot's questions; the answer repeats it"})
    ask: str = attrs.field(metadata={"help": "the kind of decision, in one word"})
    clock: Remaining | None = attrs.field(metadata={"help": "the time left"}, default=None)
    talk: Natural | None = attrs.field(
        metadata={"help": "messages that may still be sent now; absent where there is no talk"}, default=None
    )
    events: tuple[JsonObject, ...] | None = attrs.field(
        metadata={
            "help": "what happened since the last line, as far as this seat may know; absent if not wanted"
        },
        default=None,
    )
    state: JsonObject | None = attrs.field(
        metadata={"help": "everything this seat may know; absent if not wanted"}, default=None
    )
    legal: tuple[JsonObject, ...] | None = attrs.field(
        metadata={"help": "the legal actions in the engine's canonical order; absent if not wanted"},
        default=None,
    )
    error: str | None = attrs.field(
        metadata={"help": "why the last answer was refused: the same decision is asked again"}, default=None
    )
    text: str | None = attrs.field(
        metadata={
            "help": "what happened, the position and the numbered legal actions in words; absent if not wanted"
        },
        default=None,
    )


@attrs.define
class End:
    """The match is over; a reusable bot may get another start."""

    type: ClassVar[str] = "end"
    result: JsonObject = attrs.field(
        metadata={
            "help": "ranks (1 the best) and scores by seat, the scores' breakdown, why the match ended, and"
            " in a solo game against the game's own opponent its score as rival"
        },
        factory=dict,
    )
    events: tuple[JsonObject, ...] | None = attrs.field(
        metadata={"help": "what happened since the last line; empty or absent if not wanted"}, default=None
    )


@attrs.define
class Fault:
    """The bot is out, and why; for its own log."""

    type: ClassVar[str] = "fault"
    kind: FaultKind = attrs.field(metadata={"help": "the kind of fault"})
    message: str = attrs.field(metadata={"help": "what was wrong, for a human"})


@attrs.define
class Quit:
    """The bot must exit; the end of input follows."""

    type: ClassVar[str] = "quit"


# From the bot ------------------------------------------------------------


@attrs.define
class BotHello:
    """The bot's first line."""

    type: ClassVar[str] = "hello"
    protocol: Natural = attrs.field(metadata={"help": "version of the protocol that the bot speaks"})
    name: Name | None = attrs.field(metadata={"help": "the bot's own name"}, default=None)
    version: Name | None = attrs.field(metadata={"help": "the bot's own version"}, default=None)
    wants: tuple[Want, ...] = attrs.field(metadata={"help": "the parts of a question to send"}, default=WANTS)
    reusable: bool = attrs.field(
        metadata={"help": "whether the process can play another match after `end`"}, default=False
    )


@attrs.define
class Ready:
    """The bot is ready for the match that was started."""

    type: ClassVar[str] = "ready"


@attrs.define
class Usage:
    """The cost of an answer by a service that the bot uses, such as a language model."""

    input_tokens: Natural = attrs.field(metadata={"help": "tokens that the service read"}, default=0)
    output_tokens: Natural = attrs.field(metadata={"help": "tokens that the service wrote"}, default=0)
    cost: Cost = attrs.field(
        metadata={"help": "what it cost, in a currency that the league agrees on"}, default=0.0
    )
    retries: Natural = attrs.field(
        metadata={"help": "how often the service was asked again, after a failure or a useless reply"},
        default=0,
    )


@attrs.define
class Answer:
    """The answer to a question."""

    type: ClassVar[str] = "act"
    id: Natural = attrs.field(metadata={"help": "the question's id"})
    action: Action = attrs.field(
        metadata={"help": "an index into the canonical list of legal actions, or the action itself"}
    )
    then: tuple[JsonObject, ...] = attrs.field(
        metadata={
            "help": "further actions, played while the seat is still to act and nothing new was learned"
        },
        default=(),
    )
    note: Note | None = attrs.field(metadata={"help": "a remark for the record"}, default=None)
    value: Share | None = attrs.field(
        metadata={
            "help": "the share of the points that the bot expects for its seat, from 0 to 1; stored in the record"
        },
        default=None,
    )
    usage: Usage | None = attrs.field(
        metadata={"help": "the usage of services for this answer; stored in the record"}, default=None
    )


@attrs.define
class Failed:
    """Instead of an answer: a service that the bot uses failed. It has no `action`."""

    type: ClassVar[str] = "act"
    id: Natural = attrs.field(metadata={"help": "the question's id"})
    failed: Reason = attrs.field(metadata={"help": "the failure, in words for people; stored in the record"})
    usage: Usage | None = attrs.field(
        metadata={"help": "the usage of services nevertheless; stored in the record"}, default=None
    )


RefereeMessage: TypeAlias = Hello | Start | Act | End | Fault | Quit
BotMessage: TypeAlias = BotHello | Ready | Answer | Failed

REFEREE_MESSAGES: dict[str, type[RefereeMessage]] = {
    cls.type: cls for cls in (Hello, Start, Act, End, Fault, Quit)
}
BOT_MESSAGES: dict[str, type[BotMessage]] = {cls.type: cls for cls in (BotHello, Ready, Answer)}
