"""How the figures of a league are written: the same in a terminal's tables and on the pages of a site.

Leaves computing them to `warpleague.league.standings`, and columns to `tables` and the site.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.league.means import Z95, share_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.league.means import Mean
    from warpleague.league.standings import FaultLine, Standing, Standings, TimeLine


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def fit_words(line: Standing) -> tuple[str, str]:
    """The fitted rating and half its 95 % interval; for a bot that won or lost everything, its bound."""
    if line.above is not None:
        return f"> {line.above:.0f}", "won all"
    if line.below is not None:
        return f"< {line.below:.0f}", "lost all"
    if line.fit is None:
        return "-", ""
    return f"{line.fit:.0f}", "" if line.error is None else f"{line.error:.0f}"


def share_span(won: int, played: int) -> str:
    """The 95 % interval of a share of matches, in percent; empty where none was played."""
    if not played:
        return ""
    low, high = share_interval(won, played)
    return f"{100 * low:.0f} to {100 * high:.0f}"


def mean_words(mean: Mean, *, signed: bool = False) -> tuple[str, str]:
    """A mean and half its 95 % interval; empty where there is none."""
    if not mean.count:
        return "-", ""
    error = "" if mean.error is None else f"{mean.error * Z95:.2f}"
    return f"{mean.mean:{'+' if signed else ''}.2f}", error


@attrs.define
class FaultTally:
    """All faults of one kind by one bot: how many, how many cost the match, the first in each of the first matches."""

    bot: str
    kind: str
    count: int = 0
    retired: int = 0
    first: list[FaultLine] = attrs.field(factory=list)

    def what(self, most: int) -> str:
        """How the first one was told, in one line of so many characters at most."""
        return (self.first[0].fault.message.splitlines() or [""])[0][:most]


def by_kind(lines: Iterable[FaultLine], first: int = 1) -> list[FaultTally]:
    """Faults by bot and kind, the most frequent first, with those of so many `first` matches; read as a stream."""
    found: dict[tuple[str, str], FaultTally] = {}
    for line in lines:
        key = (line.bot, str(line.fault.kind))
        kind = found.setdefault(key, FaultTally(*key))
        kind.count += 1
        kind.retired += line.fault.retired
        if len(kind.first) < first and line.match not in {before.match for before in kind.first}:
            kind.first.append(line)
    return sorted(found.values(), key=lambda kind: (-kind.count, kind.bot, kind.kind))


def slowest_first(lines: Iterable[TimeLine]) -> list[TimeLine]:
    """By the mean time of a decision."""
    return sorted(lines, key=lambda line: -(line.mean(line.wall_ms) or 0.0))


def time_words(line: TimeLine) -> list[str]:
    """What a decision took on average, in milliseconds: in all, of the processor, waiting for one."""
    means = [line.mean(total) for total in (line.wall_ms, line.cpu_ms, line.wait_ms)]
    return ["-" if mean is None else f"{mean:.3f}" for mean in means]


def remarks(standings: Standings, *, wide: bool) -> list[str]:
    """What the columns of fitted standings mean, and what must not be compared; `wide` ones have all columns."""
    found = ["Elo: match by match. fit: all results at once."]
    if wide:
        found[0] += " LOS: likelihood to be stronger than the next."
    tiers = {line.tier for line in standings.lines if line.error is not None}
    if len(tiers) > 1:
        found.append(
            f"Of {len(tiers)} groups of bots one won all against another: their distance is where that is an even bet."
        )
    islands = {line.island for line in standings.lines if line.island is not None}
    if len(islands) > 1:
        found.append(f"{len(islands)} groups of bots never met each other: do not compare their fits.")
    return found


def solo_remarks(*, rival: bool, compared: bool) -> list[str]:
    """What the columns of solo standings mean."""
    found = []
    if rival:
        found.append("wins: against the game's own opponent. margin: mean score less the opponent's.")
    if compared:
        what = "margin" if rival else "score"
        found.append(f"ahead: mean difference in {what} to the next bot, on the deals both played.")
    return found
