"""What was found to hold of the level over the matches of a league: by what means, where, and what was not tried.

Leaves finding it out to the runner, which notes it with every match, and its looks to `warpleague.report`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from warpleague.league.league import League


@attrs.frozen
class Held:
    """What held in `matches` of a league's matches: `found` is the `detail` of their records' headers.

    None: the matches were played where nothing is noted, or the store is of a format that does not tell.
    """

    matches: int
    found: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {"matches": self.matches, "found": self.found}

    @property
    def made_by(self) -> str:
        """By what means bots were confined, in words; empty if that is not known, or by none."""
        made_by = str((self.found or {}).get("made_by") or "")
        if "calls" in self.kept:
            made_by += "; system calls filtered by seccomp"
        if paths := (self.found or {}).get("paths"):
            made_by += f"; bots were shown {', '.join(map(str, paths))}"
        return made_by

    @property
    def host(self) -> str:
        """The kind of host, in words; empty if that is not known."""
        return str((self.found or {}).get("host") or "")

    @property
    def kept(self) -> tuple[str, ...]:
        """The promises of the level that were tried before these matches, and kept."""
        return tuple((self.found or {}).get("kept", ()))

    @property
    def untried(self) -> tuple[str, ...]:
        """The promises of the level that were not tried before these matches."""
        return tuple((self.found or {}).get("untried", ()))


def held(league: League) -> list[Held]:
    """What held in the stored matches that count, the most frequent first."""
    found = league.store.held()
    counts = league.store.count_held(league.counting)
    lines = [Held(count, None if number is None else found.get(number)) for number, count in counts.items()]
    return sorted(lines, key=lambda line: (-line.matches, str(line.found)))
