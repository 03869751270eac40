"""The referee: decides whom to ask, and what each answer, fault and roll of the dice does to a match.

It has no processes, pipes or clocks: lines and durations come in as values from `warpleague.runner`, and lines go
out. It writes the record through `scribe`.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property
from operator import add
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from warpleague.errors import ActionError
from warpleague.games.api import CHANCE, Event, Game, JsonObject, Outcome
from warpleague.games.together import leaving
from warpleague.games.values import decoded
from warpleague.games.words import scene_in_words
from warpleague.match import greeting
from warpleague.match.chance import Dice
from warpleague.match.faults import Ties, quote
from warpleague.match.scribe import Scribe, action_cache, number, outcome_form
from warpleague.match.setup import first_state, load_options
from warpleague.match.spec import (
    Confinement,
    Mark,
    MatchResult,
    MatchSpec,
    SeatFault,
    Taken,
    Violation,
    retires,
)
from warpleague.text import safe
from warpline import codec
from warpline.messages import Answer, BotHello, End, Failed, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from warpleague.match.scribe import Remarks, Times


_NANO: Final = 1_000_000_000

_LEAST_SHARE: Final = 8
"""After a message, at least this part of `move_s` is left: an answer in time that the host delayed costs no more."""


class Situation(IntEnum):
    """Where `Referee.advance` stopped: at the end (false), at a question, or at a fault in a bot's `then` list."""

    OVER = 0
    ASK = 1
    FAULT = 2


class Question(NamedTuple):
    """A question to the bot of `seat`: its line, and how long the bot may take, in nanoseconds (None: any time)."""

    seat: int
    id: int
    line: bytes
    budget_ns: int | None


class Referee:
    """One match as pure code.

    Life: `begin`; for each seat that said hello (`greeting`) `start_line` and `connect`, or `fault`. Then, while
    `advance` says `Situation.ASK`, send `line` to the bot of `seat` and within `budget_ns` report its `answer`, or a
    `fault`. At last `end_line` for each seat and `finish`.

    Several seats may decide at once. `questions` then has the questions of all of them, so that their bots can think
    at the same time. `advance` stops for each of these seats in turn, in the order of the seats, to take its answer.
    So the record is the same as if they had been asked one after the other.

    `confinement`, if given, goes into the record's header: how the bots are confined. `observer`, if given, is called
    with every state and the events that led to it; `fault_observer` with every fault and its seat, before what comes
    of it.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        spec: MatchSpec,
        *,
        started: str = "",
        confinement: Confinement | None = None,
        observer: Callable[[Any, Sequence[Event]], None] | None = None,
        fault_observer: Callable[[int, SeatFault], None] | None = None,
    ) -> None:
        self.game = game
        self.spec = spec
        seats = len(spec.seats)
        self._options = load_options(game, seats, spec.options)
        self._state: Any = None
        self._dice = Dice(spec.key, spec.rolled)
        self._actions = action_cache(game)
        self._scribe = Scribe(game, spec, started, confinement)
        self._spent = self._scribe.spent
        self._confinement = confinement
        self._observer = observer
        self._fault_observer = fault_observer

        clocks = [seat.clock or spec.clock for seat in spec.seats]
        self._move_s = [clock.move_s for clock in clocks]
        self._move_ns = [None if clock.move_s is None else round(clock.move_s * _NANO) for clock in clocks]
        self._increment_ns = [round((clock.increment_s or 0) * _NANO) for clock in clocks]
        # The rest of each seat's bank; None for a seat without one.
        self._banks: list[int | None] = [
            None if clock.bank_s is None and clock.increment_s is None else round((clock.bank_s or 0) * _NANO)
            for clock in clocks
        ]

        self.seat = 0
        self.line = b""
        self.budget_ns: int | None = None
        self.violation: Violation | None = None
        self.legal: Sequence[Any] = ()  # what the seat that is asked may do
        self._ask = ""
        self._id = 0
        # Questions to seats that decide at once, until `advance` comes to them.
        self._posed: dict[int, Question] = {}
        self._talk = 0  # how many more messages the seat that is asked may send
        self._talks = type(game).talk is not Game.talk
        self._talked = False  # whether the last action was one, so that the same decision goes on
        self._used_ns = 0  # what this decision has taken so far, its messages included
        # Of this decision: illegal answers (`again`), failures of services (`failed`), what they took (`usage`).
        self._noted: JsonObject = {}
        self._renewed = False  # whether to ask for this decision again, unchanged
        self._refused_ns: tuple[int, ...] = (0, 0, 0)  # their wall, processor and waiting time
        self._ids = [0] * seats
        self._late: list[set[int]] = [set() for _ in range(seats)]
        self._audience = Audience(seats)
        self._retired = [False] * seats
        self._ties = Ties()
        self._strikes = [0] * seats
        self._then: list[JsonObject] = []
        self._faults: list[list[SeatFault]] = [[] for _ in range(seats)]

    def lines_since(self, line: int) -> list[bytes]:
        """The lines of the record from number `line` on, as far as they are written; the header is number 0."""
        return self._scribe.since(line)

    # ------------------------------------------------------------------ before the first question

    def begin(self) -> None:
        """Set up the game and roll the dice that come before the first decision."""
        self._state = first_state(self.game, len(self.spec.seats), self._options, self.spec.position)
        self._roll_all()

    def start_line(self, seat: int) -> bytes:
        """The start message for `seat`; after `begin`."""
        return greeting.start_line(self.spec, self.game, self._state, seat)

    def connect(self, seat: int, hello: BotHello) -> None:
        """Note which messages the bot of `seat` wants."""
        self._audience.connect(seat, hello.wants)

    # ------------------------------------------------------------------ the match

    def advance(self) -> Situation:
        """Play all that needs no bot; stop at the next question, at a fault, or at the end."""
        game, talks = self.game, self._talks
        while True:
            actors = game.actors(self._state)
            if not actors:
                return Situation.OVER
            seat = actors[0]
            if seat == CHANCE:
                self._roll()
                continue
            if self._then and seat != self.seat:
                self._then = []
            state = self._state
            legal = game.legal(state, seat)
            talk = self._talk = game.talk(state, seat) if talks else 0
            self.seat = seat
            self.legal = legal
            self._ask = game.ask(state, seat)
            if len(legal) == 1 and not talk:
                # A bot may give a forced move in its `then` list, or leave it out.
                if self._then and self._then[0] == game.action_json(legal[0]):
                    del self._then[0]
                self._play(legal[0], "auto")
            elif not self._then:
                self._ask_now()
                return Situation.ASK
            elif not self._play_then():
                return Situation.FAULT

    def _play_then(self) -> bool:
        """Play the next action of the bot's `then` list; false if it is a fault, which is then in `violation`."""
        wanted = self._then.pop(0)
        try:
            action = self.game.parse(self._state, self.seat, wanted)
        except ActionError as error:
            self._then = []
            evidence = quote(codec.canonical(wanted))
            self.violation = self._refused(Violation("illegal", f"in the then list: {error}", evidence))
            return self.violation is None
        talked = self._talked
        self._play(action, "then")
        # A message that follows an action is about the next decision: that one has not begun.
        self._talked = self._talked and talked
        return True

    def questions(self) -> list[Question]:
        """The question where `advance` stopped, and those of all other seats that decide at once and were not asked.

        Seats that have nothing to decide are left out.
        """
        questions = [Question(self.seat, self._id, self.line, self.budget_ns)]
        game, state = self.game, self._state
        for seat in game.together(state):
            if seat != self.seat and seat not in self._posed:
                legal = game.legal(state, seat)
                if len(legal) > 1:
                    self._posed[seat] = self._pose(seat, game.ask(state, seat), legal)
                    questions.append(self._posed[seat])
        return questions

    def _ask_now(self) -> None:
        """Set `line` and `budget_ns` for the next seat to ask."""
        seat = self.seat
        if self._renewed:
            # Its service failed: the very same question under the next id, with all of its time.
            self._renewed = False
            self.line = self.line.replace(b'"id":%d,' % self._id, b'"id":%d,' % (self._id + 1), 1)
            self._ids[seat] = self._id = self._id + 1
            return
        if not self._talked:
            self._used_ns = 0
        question = self._posed.pop(seat, None) if self._posed else None
        if question is None:
            again = self._noted.get("again") if self._noted else None
            error = again[-1]["message"] if again else None
            question = self._pose(seat, self._ask, self.legal, self._talk, goes_on=self._talked, error=error)
        _, self._id, self.line, self.budget_ns = question

    def _pose(
        self,
        seat: int,
        ask: str,
        legal: Sequence[Any],
        talk: int = 0,
        *,
        goes_on: bool = False,
        error: str | None = None,
    ) -> Question:
        """Write the question for `seat`.

        `talk` is how many messages it may send. The decision may have begun before (`goes_on`), with a message or an
        illegal action; `error` is why that was illegal.
        """
        self._ids[seat] = number = self._ids[seat] + 1
        audience, bank_ns = self._audience, self._banks[seat]
        move_ns, move_s = self._move_ns[seat], self._move_s[seat]
        if audience.bare[seat] and bank_ns is None and not (talk or goes_on or error):
            return Question(seat, number, codec.encode_bare(number, ask, move_s), move_ns)
        if goes_on and move_ns is not None:
            move_ns = max(move_ns - self._used_ns, move_ns // _LEAST_SHARE)
            move_s = move_ns / _NANO
        bank_s = None
        budget_ns = move_ns
        if bank_ns is not None:
            if not goes_on:
                bank_ns = self._banks[seat] = bank_ns + self._increment_ns[seat]
            bank_s = bank_ns / _NANO
            budget_ns = bank_ns if move_ns is None or bank_ns < move_ns else move_ns
        events = audience.take(seat)
        text = view = listed = None
        if audience.text[seat]:
            text = question_text(self.game, self._state, seat, legal, decoded(events or b"[]"))
            if not audience.events[seat]:
                events = None
        if audience.state[seat]:
            view = self.game.view_json(self._state, seat)
        if audience.legal[seat]:
            listed = self.game.legal_json(self._state, seat, legal) or self._actions.listed(legal)
        line = codec.encode_act(number, ask, bank_s, move_s, talk or None, events, view, listed)
        if error is not None:
            line = codec.with_texts(line, error=error)
        if text is not None:
            line = codec.with_texts(line, text=text)
        return Question(seat, number, line, budget_ns)

    def answer(self, line: bytes, wall_ns: int, cpu_ns: int | None, wait_ns: int | None) -> Violation | None:
        """Judge and play the line that the bot of `seat` answered; a violation is returned, not yet punished.

        `line` comes without its newline. `wall_ns` is the time it took, `cpu_ns` the bot's CPU time over it,
        `wait_ns` how long it was ready but without a processor; None where the system cannot tell. A late
        answer to an earlier question that has been substituted is neither an answer nor a fault (`is_late`).
        """
        index = codec.decode_index(line, self._id)
        if index is not None and index < len(self.legal) and not self._noted:
            # Nearly always.
            bank_ns = self._pay(wall_ns)
            remarks = None if bank_ns is None else (None, bank_ns, None)
            self._play(self.legal[index], None, (wall_ns, cpu_ns, wait_ns), remarks)
            return None
        try:
            message = codec.decode_bot(line, self.spec.note_bytes)
        except codec.WireError as error:
            return Violation(error.kind, str(error), quote(line))
        if not isinstance(message, (Answer, Failed)):
            text = f"expected an act message, got {message.type}"
            return Violation("protocol", text, quote(line))
        if message.id != self._id:
            return Violation("protocol", f"answered id {message.id} to question {self._id}", quote(line))
        note_usage(self._noted, message.usage)
        if isinstance(message, Failed):
            return self._failed(message, line, wall_ns)
        try:
            action = self._action(message.action)
        except ActionError as error:
            return self._refused(Violation("illegal", str(error), quote(line)), wall_ns, cpu_ns, wait_ns)
        bank_ns = self._pay(wall_ns)
        if self._noted and "again" in self._noted:
            wall_ns, cpu_ns, wait_ns = map(add, self._refused_ns, (wall_ns, cpu_ns or 0, wait_ns or 0))
        if message.then:
            self._then = list(message.then)
        self._play(action, None, (wall_ns, cpu_ns, wait_ns), (message.note, bank_ns, message.value))
        return None

    def _action(self, action: object) -> Any:
        """The action that a bot gave, as an index or as an object; `ActionError` if it is not legal."""
        if not isinstance(action, int):
            return self.game.parse(self._state, self.seat, action)
        if action >= len(self.legal):
            raise ActionError(f"action {action} is out of range: there are {len(self.legal)} legal actions")
        return self.legal[action]

    def _pay(self, wall_ns: int) -> int | None:
        """Charge an answer that took `wall_ns`; returns the rest of the bank, or None without one."""
        # An answer later than its time was owed that: the host was busy, and nobody pays for it.
        budget_ns = self.budget_ns
        charged_ns = wall_ns if budget_ns is None or wall_ns < budget_ns else budget_ns
        self._used_ns += charged_ns
        return None if self._banks[self.seat] is None else self.charge(charged_ns)

    def _refused(
        self, violation: Violation, wall_ns: int = 0, cpu_ns: int | None = None, wait_ns: int | None = None
    ) -> Violation | None:
        """Handle an illegal action: a fault, or None if the decision is asked again, within the time that is left."""
        again = self._noted.get("again", [])
        if len(again) >= self.spec.again:
            if again:
                violation.detail["again"] = again
            return violation
        if not again:
            self._refused_ns = (0, 0, 0)
        self._noted["again"] = [*again, {"message": violation.message, **violation.detail}]
        if wall_ns:
            self._pay(wall_ns)
            self._refused_ns = tuple(map(add, self._refused_ns, (wall_ns, cpu_ns or 0, wait_ns or 0)))
            self._talked = True
        return None

    def _failed(self, failure: Failed, line: bytes, wall_ns: int) -> Violation | None:
        """Handle a failed service: a fault, or None if the decision is asked again, with all of its time."""
        so_far = self._spent.failures(self.seat) + len(self._noted.get("failed", ()))
        self._renewed = so_far < self.spec.failures
        return note_failure(self._noted, failure, line, wall_ns, allowed=self._renewed)

    def is_late(self, seat: int, line: bytes) -> bool:
        """Whether `line` of the bot of `seat` answers an earlier question that was substituted; true once for each."""
        late = self._late[seat]
        if not late:
            return False
        try:
            message = codec.decode_bot(line, self.spec.note_bytes)
        except codec.WireError:
            return False
        if not isinstance(message, (Answer, Failed)) or message.id not in late:
            return False
        late.discard(message.id)
        return True

    def charge(self, wall_ns: int) -> int | None:
        """Take `wall_ns` from the bank of the seat that is asked; returns the rest, or None without a bank."""
        bank_ns = self._banks[self.seat]
        if bank_ns is None:
            return None
        left_ns = self._banks[self.seat] = max(0, bank_ns - wall_ns)
        return left_ns

    def fault(self, seat: int, violation: Violation, wall_ns: int = 0) -> bool:
        """Punish a violation by the policy of the match; true if it retired the seat.

        After a substitution the decision is played with the engine's first legal action.
        """
        self.violation = None
        self._then = []
        self._talked = False
        kind = violation.kind
        detail = {**violation.detail, **self._noted}
        self._count_usage(seat, kind)
        self._strikes[seat] += 1
        retired = retires(self.spec.faults, self.spec.strikes, kind, self._strikes[seat])
        tied = retired and self._is_tied()
        self._scribe.fault(seat, kind, retired, {"message": violation.message, **detail}, tied=tied)
        self._faults[seat].append(SeatFault(kind, self._scribe.count, retired, violation.message))
        if self._fault_observer is not None:
            self._fault_observer(seat, self._faults[seat][-1])
        if retired:
            self._retired[seat] = True
            self._ties.add(seat, tied=tied)
            self._audience.leave(seat)
            state, events = self.game.retire(self._state, seat)
            self._became(state, events)
        else:
            bank_ns = self.charge(wall_ns)
            if wall_ns:
                self._spent.add(seat, wall_ns, 0, 0)
            if kind == "timeout":
                self._late[seat].add(self._id)
            self._play(self.legal[0], "substituted", remarks=(None, bank_ns, None))
        return retired

    def _is_tied(self) -> bool:
        """Whether a seat that goes out now does so at the same stage as the one before it."""
        if self._ties.empty:
            return False
        return not any(self._ids) or bool(leaving(self._state))

    def is_retired(self, seat: int) -> bool:
        """Whether the bot of `seat` is out."""
        return self._retired[seat]

    # ------------------------------------------------------------------ the end

    def end_line(self, seat: int) -> bytes:
        """The end message for `seat`; after `advance` returned `Situation.OVER`."""
        result = {name: value for name, value in outcome_form(self._outcome).items() if name != "type"}
        return codec.encode(End(result=result, events=tuple(map(decoded, self._audience.last(seat)))))

    def finish(self, stopped: tuple[int, ...] = ()) -> MatchResult:
        """The result and the sealed record; after `advance` returned `Situation.OVER`."""
        outcome = self._outcome
        digest, record = self._scribe.end(outcome, {"stopped": list(stopped)} if stopped else None)
        return MatchResult(
            id=self.spec.id,
            ranks=outcome.ranks,
            scores=tuple(number(score) for score in outcome.scores),
            why=outcome.why,
            digest=digest,
            faults=tuple(tuple(faults) for faults in self._faults),
            times=self._spent.times(),
            record=record,
            lines=self._scribe.count,
            stopped=stopped,
            confinement=self._confinement,
            rival=None if outcome.rival is None else number(outcome.rival),
        )

    @cached_property
    def _outcome(self) -> Outcome:
        """How the match ended."""
        return self._ties.rank(self.game.outcome(self._state))

    # ------------------------------------------------------------------ moves and lines

    def _roll_all(self) -> None:
        while self.game.actors(self._state) == (CHANCE,):
            self._roll()

    def _roll(self) -> None:
        draws = self.game.chance(self._state)
        at = self._dice.at(self.game.address(self._state))
        outcome = self._dice.roll(at, draws)
        self._scribe.chance(at, draws, outcome)
        self._then = []
        state, events = self.game.apply(self._state, outcome)
        self._became(state, events)

    def _play(
        self,
        action: Any,
        mark: Mark | None = None,
        times_ns: Times | None = None,
        remarks: Remarks | None = None,
    ) -> None:
        """Record an action of `seat`, with what else its line tells, and apply it."""
        self._talked = self._talk > 0 and action not in self.legal
        self._scribe.act((action, self._ask, self.seat, mark), times_ns, remarks, self._noted)
        if self._noted:
            self._count_usage(self.seat)
        state, events = self.game.apply(self._state, action)
        if self._then and any(event.reveals for event in events):
            self._then = []
        self._became(state, events)

    def _count_usage(self, seat: int, kind: str = "") -> None:
        """Count what is noted of the decision of `seat`, which is over, by a fault of this `kind` if one is given."""
        self._spent.take(seat, taken({"detail": self._noted, "kind": kind}))
        self._noted = {}

    def _became(self, state: Any, events: Sequence[Event]) -> None:
        self._state = state
        if events and self._audience.listening:
            self._audience.tell(events)
        if self._observer is not None:
            self._observer(state, events)


# -- audience --------------------------------------------------------------------------------------------


class Audience:
    """Which parts of a question each seat subscribed to, and the events, as JSON, that wait for its next question."""

    __slots__ = ("_inboxes", "_listeners", "bare", "events", "legal", "listening", "state", "text")

    def __init__(self, seats: int) -> None:
        self.state = [False] * seats
        self.legal = [False] * seats
        self.text = [False] * seats
        self.events = [True] * seats
        self.bare = [False] * seats
        """Who wants nothing but the question itself."""
        self.listening = True
        """Whether anyone may want events."""
        self._inboxes: list[list[bytes] | None] = [[] for _ in range(seats)]
        self._listeners = [(seat, inbox) for seat, inbox in enumerate(self._inboxes) if inbox is not None]

    def connect(self, seat: int, wants: Collection[str]) -> None:
        """Note which messages the bot of `seat` wants."""
        self.state[seat] = "state" in wants
        self.legal[seat] = "legal" in wants
        self.text[seat] = "text" in wants
        self.events[seat] = "events" in wants
        if not self.events[seat] and not self.text[seat]:
            self.leave(seat)
            self.bare[seat] = not wants

    def leave(self, seat: int) -> None:
        """Tell `seat` of no events any more."""
        self._inboxes[seat] = None
        self._listeners = [(other, inbox) for other, inbox in self._listeners if other != seat]
        self.listening = bool(self._listeners)

    def tell(self, events: Sequence[Event]) -> None:
        """Keep events for those who want them, in the form that each sees."""
        listeners = self._listeners
        for event in events:
            if event.seats is None:
                form = event.json
                for _, inbox in listeners:
                    inbox.append(form)
                continue
            for seat, inbox in listeners:
                seen = event.json_for(seat)
                if seen is not None:
                    inbox.append(seen)

    def take(self, seat: int) -> bytes | None:
        """The events that wait for `seat`, as a JSON list; None if it gets none."""
        inbox = self._inboxes[seat]
        if inbox is None:
            return None
        events = b"[" + b",".join(inbox) + b"]"
        inbox.clear()
        return events

    def last(self, seat: int) -> Sequence[bytes]:
        """The events that `seat` gets with the end, if it wants events."""
        return (self._inboxes[seat] or ()) if self.events[seat] else ()


# -- question text ---------------------------------------------------------------------------------------


def question_text(
    game: Game[Any, Any], state: Any, seat: int, legal: Sequence[Any], events: Iterable[JsonObject]
) -> str:
    """The question to `seat` at `state` in words, telling only what the seat may know.

    `events` are those since the last question, as the seat saw them. The number before an action is its index in
    `legal`, so that it may be the answer. A decision that allows messages says so.
    """
    parts = [f"You are seat {seat}."]
    if happened := [game.tell(event) for event in events]:
        parts.append("What happened since your last question:")
        parts += [f"{number}. {line}" for number, line in enumerate(happened, 1)]
    parts += ["", "The position:", *scene_in_words(game.scene(state, seat)), ""]
    if talk := game.talk(state, seat):
        parts.append(f"Before you decide you may send messages, {talk} at most.")
    parts.append(f"Decide ({game.ask(state, seat)}): {game.heading(state, seat)}.")
    parts.append("The number of each legal action, and the action:")
    parts += [f"{index}. {game.phrase(state, action)}" for index, action in enumerate(legal)]
    return "\n".join(parts)


# -- services --------------------------------------------------------------------------------------------
# Services that bots use, such as language models: failures, tokens and cost in a record.


REPORTED: Final = Taken._fields[1:]
"""What an answer may say of a service: all but its failures, which have answers of their own."""


def note_usage(noted: JsonObject, usage: Usage | None) -> None:
    """Add what a service took to what is noted of a decision."""
    if usage is not None:
        before = noted.get("usage", {})
        total = {name: number(before.get(name, 0) + getattr(usage, name)) for name in REPORTED}
        if not total["retries"]:
            del total["retries"]
        noted["usage"] = total


def note_failure(
    noted: JsonObject, failure: Failed, line: bytes, wall_ns: int, *, allowed: bool
) -> Violation | None:
    """Note a failure that is `allowed` with the decision, which took `wall_ns`; else it is a fault."""
    message = safe(" ".join(failure.failed.split()), keep="")
    if not allowed:
        return Violation("service", f"its service failed: {message}", quote(line))
    noted.setdefault("failed", []).append({"message": message, "ms": number(wall_ns // 1000 / 1000)})
    return None


def taken(line: Mapping[str, Any]) -> Taken:
    """What a line of a record notes of services; the form of its detail was checked."""
    detail = line.get("detail", {})
    usage = detail.get("usage", {})
    failures = len(detail.get("failed", ())) + (line.get("kind") == "service")
    return Taken(failures, **usage)
