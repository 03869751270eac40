"""Bounds a search by the bot's own processor time: a fifth of the clock, however busy the machine is.

    from warpline.budget import Budget

    def choose(question):
        budget = Budget.of(question)
        best = 0
        while there_is_more_to_search() and not budget.over():
            best = search_a_little_more(best)
        return Reply(best, note=budget.note)

A search that also stops at a count plays the same match again wherever this bound is not met; `note` tells where it
was. The bound is on processor time, not on the time of the day: other programs on the machine do not shorten the
search. What is left of the clock is for reading the question, for writing the answer, and for the machine.

Like `warpline.client` it needs only the standard library and runs on Python 3.8 and later.
"""

from __future__ import annotations

from time import process_time

TYPE_CHECKING = False  # importing `typing` for it would cost a bot start-up time
if TYPE_CHECKING:
    from warpline.client import Question

MOVE_SHARE = 0.2
"""The part of `move_s`, and of the increment to the bank, that a decision may use."""
BANK_SHARE = 0.01
"""The part of the bank: a match has many decisions, and all of them come out of it."""


class OverBudget(Exception):
    """The processor time for a decision is used up; `Budget.check` raises it."""


class Budget:
    """The processor time for one decision; it counts from when the budget is made, all threads of the process."""

    __slots__ = ("_start", "limit_s", "met")

    def __init__(self, limit_s: float | None = None) -> None:
        """`limit_s` are seconds of processor time; None means no limit."""
        self.limit_s = limit_s
        self.met = False
        """Whether the search must stop now."""
        self._start = process_time()

    @classmethod
    def of(cls, question: Question) -> Budget:
        """The budget for a decision, by what its question and the start of the match say of the clock.

        It is a fifth of `move_s`. Of a bank it is a fifth of what comes to it for each decision, and a hundredth of
        the rest. Where there are both it is the lesser.
        """
        limits = []
        move_s, bank_s = question.clock.get("move_s"), question.clock.get("bank_s")
        if move_s is not None:
            limits.append(MOVE_SHARE * move_s)
        if bank_s is not None:
            added_s = min(question.of.clock.get("increment_s") or 0.0, bank_s)
            limits.append(MOVE_SHARE * added_s + BANK_SHARE * (bank_s - added_s))
        return cls(min(limits) if limits else None)

    def over(self, part: float = 1.0) -> bool:
        """Whether this part of the time is used up: then the search must stop, and `met` becomes true."""
        if self.limit_s is not None and process_time() - self._start >= part * self.limit_s:
            self.met = True
            return True
        return False

    def check(self) -> None:
        """`OverBudget` once the time is used up: for searches that are deep in calls."""
        if self.over():
            raise OverBudget

    @property
    def note(self) -> str | None:
        """A remark for the record if the search had to stop, else None."""
        if not self.met or self.limit_s is None:
            return None
        return f"stopped the search after {1000 * self.limit_s:.3g} ms of processor time"
