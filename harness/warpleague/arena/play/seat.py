"""A person's seat in a match: it gets the same messages as a bot, and waits for the person's choice."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import trio

from warpleague.arena.play.draft import Draft
from warpleague.errors import ActionError, BadInput
from warpleague.match.spec import Violation
from warpleague.runner.bot.inside import InsideSeat

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Game, JsonObject
    from warpleague.match.spec import SeatSpec

RESIGNED = "the person resigned"


class PersonSeat(InsideSeat):
    """A seat whose `draft` a person makes; `changed` is called whenever there is something new to show.

    It knows only the part of the match that the wire sent to it.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        number: int,
        seat: SeatSpec,
        changed: Callable[[], None],
        *,
        timed: bool = False,
    ) -> None:
        super().__init__(seat, timed=timed)
        self.game = game
        self.number = number
        self.hold = False
        """Whether a complete choice waits to be sent."""
        self.draft: Draft | None = None
        self.question: JsonObject = {}
        self.deadline = trio.current_time()
        self.start_message: JsonObject = {}
        self.resigned = False
        self._changed = changed
        self._sent: list[JsonObject] = []
        self._resume: list[JsonObject] = []
        self._answered = trio.Event()

    def start(self, line: bytes) -> None:
        """Keep the start message: a hint needs it."""
        self.start_message = json.loads(line)

    async def reply(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        """The person's action, which may have been chosen together with an earlier one."""
        await trio.lowlevel.checkpoint()
        if self.resigned:
            return Violation("crash", RESIGNED)
        self.question = json.loads(line)
        if self._sent:
            if self._sent[0] in self.question["legal"]:
                return self._answer(self._sent.pop(0))
            self._sent = []  # something happened in between: the person chooses again
        self.draft = Draft(self.game, self.number, self.question["state"])
        self.draft.resume(self._resume)
        self._resume = []
        self.deadline = trio.current_time() + left_s
        self._answered = trio.Event()
        self._changed()
        try:
            await self._answered.wait()
        finally:
            self.draft = None
        # A person who has resigned meanwhile sends nothing.
        return self._answer(self._sent.pop(0)) if self._sent else Violation("crash", RESIGNED)

    def _answer(self, action: JsonObject) -> JsonObject:
        return {"type": "act", "id": self.question["id"], "action": action}

    # ------------------------------------------------------------------ actions of the person

    def _asked(self) -> Draft:
        if self.draft is None:
            raise BadInput("it is not your turn")
        return self.draft

    def choose(self, index: int) -> None:
        """Choose a legal action; a complete choice is sent, unless it is to wait."""
        draft = self._asked()
        if not 0 <= index < len(draft.legal()):
            raise BadInput("there is no such move now")
        draft.choose(index)
        if draft.complete and not self.hold:
            self.send()
        else:
            self._changed()

    def undo(self) -> None:
        """Take the last choice back that was not sent."""
        draft = self._asked()
        if not draft.chosen:
            raise BadInput("nothing can be taken back: sent choices are part of the match")
        draft.undo()
        self._changed()

    def send(self) -> None:
        """Send the chosen actions."""
        draft = self._asked()
        if not draft.chosen:
            raise BadInput("nothing is chosen yet")
        self._answer_with(draft.chosen)

    def _answer_with(self, actions: list[JsonObject]) -> None:
        self._sent = actions
        self.draft = None
        self._answered.set()
        self._changed()

    def say(self, to: list[int], text: str) -> None:
        """Send a message at once; the chosen actions stay."""
        draft = self._asked()
        message = {"do": "say", "to": to, "text": text}
        if not self.question.get("talk"):
            raise BadInput("no message can be sent now")
        try:
            self.game.parse(
                self.game.determinize(self.question["state"], self.number, Random(0)), self.number, message
            )
        except ActionError as error:
            raise BadInput(str(error)) from None
        self._resume = draft.chosen
        self._answer_with([message])

    def resign(self) -> None:
        """Leave the match, as soon as it is the seat's turn."""
        self.resigned = True
        self._answer_with([])
