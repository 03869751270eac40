"""The tools with which commands play leagues; a caller, such as a test, may pass others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from warpleague.league.referees.pool import Pool
    from warpleague.league.season.entry import Prepared
    from warpleague.match.spec import MatchResult, MatchSpec


class Tools(NamedTuple):
    """`prepare` makes a bundle of a bot's folder, `play` plays a match, `new_pool` makes the processes for matches.

    None: what commands always use.
    """

    prepare: Callable[[Path], Prepared] | None = None
    play: Callable[[MatchSpec], MatchResult] | None = None
    new_pool: Callable[..., Pool] | None = None

    @property
    def pool(self) -> dict[str, Any]:
        """The argument `new_pool` for functions that have a default of their own."""
        return {} if self.new_pool is None else {"new_pool": self.new_pool}


TOOLS: Final = Tools()
"""The tools that commands use."""
