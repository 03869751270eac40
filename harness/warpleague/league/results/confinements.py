"""Counts how the bots of a league were confined: which confinement was noted with how many matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from warpleague.league.results.league import League
    from warpleague.match.confinement import Confinement


@attrs.frozen
class ConfinedMatches:
    """In how many matches of a league bots were confined in one way; None if their records do not say how."""

    matches: int
    confinement: Confinement | None

    def to_json(self) -> dict[str, Any]:
        """The same as JSON; the keys are those of `--json`."""
        return {
            "matches": self.matches,
            "found": None if self.confinement is None else self.confinement.to_json(),
        }


def confined_matches(league: League) -> list[ConfinedMatches]:
    """How bots were confined in the stored matches that count, the most frequent way first."""
    known = league.store.confinements()
    counts = league.count_confinements()
    ways = [
        ConfinedMatches(count, None if number is None else known.get(number))
        for number, count in counts.items()
    ]
    return sorted(ways, key=lambda way: (-way.matches, str(way.to_json())))
