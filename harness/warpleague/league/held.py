"""How the bots of a league were confined: by what means, on what kind of host, and which promises were tried.

The runner finds this out and notes it with every match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from warpleague.league.league import League


@attrs.frozen
class Held:
    """How bots were confined in `matches` of a league's matches. `found` is the `detail` of their records' headers.

    `found` is None if the records of these matches do not say it.
    """

    matches: int
    found: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {"matches": self.matches, "found": self.found}

    @property
    def made_by(self) -> str:
        """By what means bots were confined, in words; empty if there were none, or if it is not known."""
        made_by = str((self.found or {}).get("made_by") or "")
        if "calls" in self.kept:
            made_by += "; system calls filtered by seccomp"
        if paths := (self.found or {}).get("paths"):
            made_by += f"; bots were shown {', '.join(map(str, paths))}"
        return made_by

    @property
    def host(self) -> str:
        """The kind of host, in words; empty if it is not known."""
        return str((self.found or {}).get("host") or "")

    @property
    def kept(self) -> tuple[str, ...]:
        """The promises of the level that were tried before these matches and held."""
        return tuple((self.found or {}).get("kept", ()))

    @property
    def untried(self) -> tuple[str, ...]:
        """The promises of the level that were not tried before these matches."""
        return tuple((self.found or {}).get("untried", ()))


def held(league: League) -> list[Held]:
    """How bots were confined in the stored matches that count, the most frequent way first."""
    found = league.store.held()
    counts = league.store.count_held(league.counting)
    lines = [Held(count, None if number is None else found.get(number)) for number, count in counts.items()]
    return sorted(lines, key=lambda line: (-line.matches, str(line.found)))
