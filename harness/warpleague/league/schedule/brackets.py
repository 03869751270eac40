"""How the ties of a knock-out and the rounds of a Swiss tournament went, as far as results are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.league.schedule.formats.knockout import Knockout
from warpleague.league.schedule.formats.swiss import Meeting, Swiss
from warpleague.league.schedule.schedule import Course

if TYPE_CHECKING:
    from warpleague.league.schedule.formats.knockout import Tie
    from warpleague.league.schedule.formats.pairing import Field
    from warpleague.league.schedule.schedule import Schedule


def ties_of(schedule: Schedule) -> list[Tie]:
    """The bracket of a season as far as it is known, in the order in which ties are played."""
    assert isinstance(schedule.format, Knockout)
    ties: list[Tie] = []
    for _ in Course(schedule, schedule.format.batches(ties)).counted():
        pass
    return ties


def rounds_of(schedule: Schedule) -> tuple[Field, list[Meeting]]:
    """The rounds of a season as far as they are known, and what its bots did in those that are whole."""
    assert isinstance(schedule.format, Swiss)
    field, meetings = schedule.format.field(), list[Meeting]()
    for _ in Course(schedule, schedule.format.batches(field, meetings)).counted():
        pass
    return field, meetings
