"""The referee of games in which several seats decide at once: it poses their questions together.

Their answers are judged one after the other, in the order of the seats, as in all matches. So what is recorded is the
same as if they had been asked in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from warpleague.match.referee import Referee

if TYPE_CHECKING:
    from collections.abc import Sequence


class Question(NamedTuple):
    """A question that was posed: `line` is for the bot of `seat`, to be answered within `budget_ns`."""

    seat: int
    line: bytes
    budget_ns: int | None
    id: int


class TogetherReferee(Referee):
    """A referee that can pose the questions of all seats that decide at once.

    Where `advance` says `Situation.ASK`, `questions` tells whom to ask at once. For each of the others `advance` stops
    again, in the order of the seats, to have its answer judged: it is not to be asked then.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._posed: dict[int, Question] = {}  # by seat, until their answers are to be judged

    def questions(self) -> Sequence[Question]:
        """The question where `advance` stopped, and those of the seats that decide at once with its seat.

        Seats that have nothing to decide, or whose question has been told before, are left out.
        """
        seat, legal, ask, used_ns = self.seat, self.legal, self._ask, self._used_ns
        noted, talked = self._noted, self._talked
        asked = Question(seat, self.line, self.budget_ns, self._id)
        found = [asked]
        self._noted, self._talked = {}, False
        for other in self.game.together(self._state):
            if other == seat or other in self._posed:
                continue
            self.seat, self.legal = other, self.game.legal(self._state, other)
            self._ask = self.game.ask(self._state, other)
            if len(self.legal) > 1:
                super()._pose(other, 0)
                self._posed[other] = Question(other, self.line, self.budget_ns, self._id)
                found.append(self._posed[other])
        self.seat, self.legal, self._ask = seat, legal, ask
        self._noted, self._talked = noted, talked
        self._resume(asked, used_ns)
        return found

    def _pose(self, seat: int, talk: int) -> None:
        """Write the question for `seat`, unless it has been asked already."""
        posed = self._posed.pop(seat, None)
        if posed is None:
            super()._pose(seat, talk)
        else:
            self._resume(posed)

    def _resume(self, question: Question, used_ns: int = 0) -> None:
        self.line, self.budget_ns, self._id, self._used_ns = *question[1:], used_ns
