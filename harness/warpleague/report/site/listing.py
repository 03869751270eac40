"""The list of matches on a league's page, and the choice of matches that get a replay.

`assets/matches.js` shows the list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from warpleague.report.match import BUSY_SHARE
from warpleague.report.site.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.schedule import Fixture
    from warpleague.league.stored_match import StoredMatch


@attrs.frozen
class ListedMatch:
    """A match as the list has it: its faults as bot and kind, whether the host was busy, and its row."""

    fixture: Fixture
    faults: frozenset[tuple[int, str]]
    busy: bool
    row: list[Any]


def listed(fixture: Fixture, played: StoredMatch) -> ListedMatch:
    """A match with its row of the list; what it says is in `assets/matches.js`."""
    faults = [(seat, str(fault.kind), fault.n) for seat, found in enumerate(played.faults) for fault in found]
    kinds = frozenset((fixture.seats[seat], kind) for seat, kind, _ in faults)
    busy = any(used.wait_ms > BUSY_SHARE * used.wall_ms for used in played.times)
    row = [
        fixture.number,
        fixture.id,
        list(fixture.seats),
        list(played.ranks),
        [round(score, 4) for score in played.scores],
        one_line(played.why),
        played.lines,
        round(played.elapsed_s, 3),
        faults,
        int(busy),
        played.rival,
    ]
    return ListedMatch(fixture, kinds, busy, row)


def choose(matches: Sequence[ListedMatch], most: int | None) -> list[ListedMatch]:
    """The matches that get a replay, `most` at most (None: all), in schedule order.

    The first one of each bot's kinds of fault comes first, then the other faulty matches, then all others; of those
    that do not all fit, a spread over the season.
    """
    if most is None or len(matches) <= most:
        return list(matches)
    seen: set[tuple[int, str]] = set()
    groups: list[list[ListedMatch]] = [[], [], []]
    for match in matches:
        groups[0 if match.faults - seen else 1 if match.faults else 2].append(match)
        seen |= match.faults
    chosen: list[ListedMatch] = []
    for group in groups:
        room = min(most - len(chosen), len(group))
        chosen += [group[place * len(group) // room] for place in range(room)]
    return sorted(chosen, key=lambda match: match.fixture.number)
