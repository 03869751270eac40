"""A referee that plays a record again with one bot: it asks that bot, and continues as recorded.

So the bot gets the same questions as its seat, after any answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import msgspec

from warpleague.errors import RecordError
from warpleague.match.referee import Referee, Situation
from warpleague.match.spec import FATAL, Violation

if TYPE_CHECKING:
    from warpleague.games.api import Game, JsonObject
    from warpleague.match.spec import Mark, MatchSpec

_NANO = 1_000_000_000


@attrs.define
class Choice:
    """The bot's decision where the record has line `n`: `same` is None where the two cannot be compared.

    That is where one of them sent a message, or where the recorded bot had faulted. `id` is the number of the question
    that the bot got last. `ms` and `recorded_ms` are the wall times, None for actions in a `then` list.
    """

    n: int
    id: int
    ask: str
    action: JsonObject
    recorded: JsonObject | None
    same: bool | None
    ms: float | None = None
    recorded_ms: float | None = None
    value: float | None = None


class Follower(Referee):
    """The referee of a record that holds, for the bot of seat `follows`.

    Life: `begin`; `start_line` and `connect` of that seat; then, while `next_question` says so, send `line` and report
    the `answer`. `choices` has the decisions.
    """

    def __init__(self, game: Game[Any, Any], spec: MatchSpec, record: bytes, follows: int) -> None:
        super().__init__(game, spec)
        self.follows = follows
        self.choices: list[Choice] = []
        self._record: list[JsonObject] = [msgspec.json.decode(line) for line in record.splitlines()[1:]]
        self._at = 0
        self._ms: float | None = None
        self._begun = False
        for seat in range(len(spec.seats)):
            if seat != follows:
                self._audience.leave(seat)

    def is_over(self) -> bool:
        """Whether the match has ended; where the bot's seat is out before, the record is not followed any further."""
        return not self.game.actors(self._state)

    @property
    def _next(self) -> JsonObject:
        """The next line of the record."""
        return self._record[self._at]

    def next_question(self) -> bool:
        """Go on as the record did until the bot must be asked; false at the end, or when its seat is out.

        `violation` is set, and false comes back, when an action of its `then` list is not legal.
        """
        while not self._begun and self._next["type"] == "fault" and self._fell_at_start(self._next):
            self._fault_as_recorded()
        self._begun = True
        while not self.is_retired(self.follows):
            if self.advance() is not Situation.ASK:
                return False
            if self.seat == self.follows:
                return True
            if self._next["type"] == "fault":
                self._fault_as_recorded()
            else:
                self._act_as_recorded()
        return False

    def _fell_at_start(self, fault: JsonObject) -> bool:
        """Whether a seat failed before the first question; a crash at its first one has the same message."""
        return fault["kind"] == "startup" or (fault["kind"] in FATAL and fault["seat"] != self.follows)

    def judge(self, line: bytes, wall_ns: int) -> Violation | None:
        """Judge the bot's answer, which took `wall_ns`, and continue as recorded."""
        self._ms = wall_ns / 1e6
        times = self._next.get("ms")
        # The bank loses the recorded time, so that the next question has the same clock.
        return self.answer(line, round(times[0] * 1e6) if times else 0, None, None)

    def place(self) -> int:
        """The number of the record's line that is next."""
        number: int = self._next.get("n", len(self._record))
        return number

    # ------------------------------------------------------------------ as the record has it

    def _take(self, kind: str) -> JsonObject:
        line = self._next
        if line["type"] != kind:
            raise RecordError(f"line {self._at + 2}: expected {kind}, found {line['type']}")
        self._at += 1
        return line

    def _act_as_recorded(self) -> None:
        line = self._next
        if "ms" in line:
            self.charge(round(line["ms"][0] * 1e6))
        self._play(self.game.parse(self._state, self.seat, line["action"]))

    def _fault_as_recorded(self) -> None:
        line = self._take("fault")
        lost_ns = (self.budget_ns or 0) if line["kind"] == "timeout" else 0
        self.fault(line["seat"], Violation(line["kind"], line["detail"]["message"]), lost_ns)

    def _roll(self) -> None:
        shown = tuple(self._take("chance")["outcome"])
        self._then = []
        state, events = self.game.apply(self._state, shown)
        self._became(state, events)

    def _play(
        self,
        action: Any,
        mark: Mark | None = None,
        times_ns: tuple[int, int | None, int | None] | None = None,  # noqa: ARG002 - the record has them
        note: str | None = None,  # noqa: ARG002
        bank_ns: int | None = None,  # noqa: ARG002
        value: float | None = None,
    ) -> None:
        """Store the bot's decision, and play the recorded one."""
        self._noted = {}
        asked = self.seat == self.follows and mark in (None, "then")
        if asked and self._next["type"] == "fault":
            self._note(action, None, self._next, mark, value)
            self._fault_as_recorded()
            return
        line = self._take("act")
        recorded = self.game.parse(self._state, self.seat, line["action"])
        if asked:
            self._note(action, recorded, line, mark, value)
        if recorded != action:
            self._then = []  # the rest was meant for another position
        self._talked = self._talk > 0 and recorded not in self.legal
        state, events = self.game.apply(self._state, recorded)
        if self._then and any(event.reveals for event in events):
            self._then = []
        if "bank_s" in line:
            self._banks[self.seat] = round(line["bank_s"] * _NANO)
        self._became(state, events)

    def _note(
        self, action: Any, recorded: Any, line: JsonObject, mark: Mark | None, value: float | None
    ) -> None:
        talks = self._talk > 0 and (action not in self.legal or recorded not in self.legal)
        form = self.game.action_json
        times = line.get("ms")
        self.choices.append(
            Choice(
                n=line["n"],
                id=self._id,
                ask=self._ask,
                action=form(action),
                recorded=None if recorded is None else form(recorded),
                same=None if recorded is None or talks else action == recorded,
                ms=self._ms if mark is None else None,
                recorded_ms=times[0] if times and mark is None else None,
                value=value,
            )
        )
