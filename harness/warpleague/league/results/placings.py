"""Who stands where in a cup or a Swiss: by how far a bot came, or by the points of its rounds with a tie-break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from warpleague.league.results.league import League


@attrs.frozen
class Placing:
    """The rank key of a bot where a format decides it: the greater `order`, the better.

    In a cup `reached` is the round in which it lost for good or now plays, or that it won. In a Swiss `points` are
    those of its whole rounds, one for each match won at a table of two, and `buchholz` the points of all that it met;
    a bye counts as a meeting with the bot itself.
    """

    order: tuple[float, ...]
    reached: str | None = None
    points: float | None = None
    buchholz: float | None = None


def placings(league: League) -> list[Placing] | None:
    """The placing of each bot; None for formats in which ratings rank."""
    kind = league.season.format.kind
    if kind in ("knockout", "double-elimination"):
        return _cup(league)
    return _swiss(league) if kind == "swiss" else None


def _cup(league: League) -> list[Placing]:
    from warpleague.league.schedule.brackets import ties_of

    ties, lives = ties_of(league.schedule), 2 if league.season.format.kind == "double-elimination" else 1
    rounds: dict[str, int] = {}
    for tie in ties:
        rounds.setdefault(tie.round, len(rounds))
    bots = range(len(league.season.bots))
    last, lost = dict.fromkeys(bots, ""), dict.fromkeys(bots, 0)
    for tie in ties:
        for bot in tie.bots:
            if bot is not None:
                last[bot] = tie.round
                lost[bot] += tie.winner not in (None, bot)
    left = [bot for bot in bots if lost[bot] < lives]
    placings = []
    for bot in bots:
        out = bot not in left
        reached = last[bot] if out else "winner" if len(left) == 1 else f"{last[bot]}, still in"
        placings.append(Placing((float(not out), float(rounds.get(last[bot], -1))), reached=reached))
    return placings


def _swiss(league: League) -> list[Placing]:
    from warpleague.league.schedule.brackets import rounds_of

    field, meetings = rounds_of(league.schedule)
    unit = 2 * (league.season.players - 1)
    bots = range(len(league.season.bots))
    points = [field.scores[bot] / unit for bot in bots]
    against = [0.0 for _ in bots]
    for meeting in meetings:
        for bot in meeting.bots:
            met = [other for other in meeting.bots if other != bot] or [bot]
            against[bot] += sum(points[other] for other in met)
    return [Placing((points[bot], against[bot]), points=points[bot], buchholz=against[bot]) for bot in bots]
