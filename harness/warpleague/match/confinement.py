"""How the bots of a match were confined, as its record has it: the means, the host, the tested promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject


@attrs.frozen
class Confinement:
    """How the bots of a match were confined. What is None is not known: the record does not have it.

    `made_by` names the means, such as bubblewrap; it is empty at level `none`. `kept` are the promises of the level
    that passed a test before the match, `untried` those that were not tested. `paths` are the additional paths
    of the machine that bots in the sandbox saw, `network` the addresses that some of them
    could reach. `pondering` says whether bots could compute out of turn.
    """

    level: str | None = None
    made_by: str | None = None
    host: str | None = None
    kept: tuple[str, ...] | None = None
    untried: tuple[str, ...] | None = None
    pondering: str | None = None
    paths: tuple[str, ...] | None = None
    network: tuple[str, ...] | None = None

    def to_json(self) -> JsonObject:
        """The `detail` of a record's header."""
        fields = attrs.asdict(self, filter=lambda _, value: value is not None)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    def short_text(self) -> str:
        """The means; empty if there were none, or if they are not known."""
        return self.made_by or ""

    def long_text(self) -> str:
        """The means, with the filter of system calls, the additional paths and the host."""
        parts = [self.short_text()]
        if "calls" in (self.kept or ()):
            parts.append("system calls filtered by seccomp")
        if self.paths:
            parts.append(f"bots were shown {', '.join(self.paths)}")
        if self.network:
            parts.append(f"bots could reach {', '.join(self.network)}")
        if self.host:
            parts.append(f"on {self.host}")
        return "; ".join(filter(None, parts))
