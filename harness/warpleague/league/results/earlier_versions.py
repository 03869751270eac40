"""Results of a ladder's earlier versions and of bots that have left, which tell how strong the bots of now are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from warpleague.league.ratings.outcomes import Earlier, Outcomes
from warpleague.league.schedule.formats.round_robin import group_of
from warpleague.league.season.season import deal_of
from warpleague.league.store import disqualifications
from warpleague.league.store.entrants_commitment import ENTRANTS

if TYPE_CHECKING:
    from warpleague.league.ratings.outcomes import Match
    from warpleague.league.results.league import League

_MAX: Final = 100
"""The most versions and retired bots to rate, the newest: ratings cost the cube of the number of bots."""


def earlier_versions(league: League) -> Earlier:
    """The results of earlier versions of a ladder's bots, and of bots that have left, before the last entry.

    A version that plays once more is the same as before: what it played then tells of it, too.
    """
    season = league.season
    if season.format.kind != "ladder":
        return Earlier()
    store = league.store
    entries = store.facts(ENTRANTS)
    if len(entries) < 2:
        return Earlier()
    known = {(bot.bot, bot.identity): place for place, bot in enumerate(season.bots)}
    chains: dict[str, dict[str, None]] = {}  # the versions of each bot, as they came first
    for entry in season.history:
        for name, identity in entry.bots:
            chains.setdefault(name, {})[identity] = None
    arrived = dict.fromkeys(bot for entry in season.history for bot in entry.bots)
    gone = [bot for bot in arrived if bot not in known][-_MAX:]
    known.update({bot: len(season.bots) + place for place, bot in enumerate(gone)})
    links = []
    for name, identities in chains.items():
        there = [known[name, identity] for identity in identities if (name, identity) in known]
        links += list(pairwise(there))
    decisions = disqualifications.disqualified(store)  # also of bots that have left
    out = {name for name, decision in decisions.items() if decision.results == "out"}
    again = {season.names.index(name) for name in season.returns}
    counted = _deals_of(league, again)
    deals: dict[tuple[int, tuple[int, ...]], list[Match]] = {}
    for _, deal, bots, ranks in store.results_before(entries[-1].seq):
        if not out.isdisjoint(name for name, _ in bots) or not all(bot in known for bot in bots):
            continue
        seats = tuple([known[bot] for bot in bots])
        # Among those of now all matches count, but for those from before a version came back.
        if max(seats) >= len(season.bots) or (again.intersection(seats) and deal not in counted):
            deals.setdefault((deal, tuple(sorted(seats))), []).append((seats, ranks))
    outcomes = Outcomes()
    for matches in deals.values():
        outcomes.add_deal(matches)
    return Earlier(len(gone), tuple(links), outcomes)


def _deals_of(league: League, bots: set[int]) -> set[int]:
    """The numbers of the deals that had begun at the last entry, of tables with one of `bots`."""
    season = league.season
    groups = [
        group_of(season, one.table, number)
        for one in season.taken_over
        if bots.intersection(one.table) and max(one.table) < len(season.bots)
        for number in range(one.deals)
    ]
    return {deal_of(season, group, seats) for group in groups for seats in group.seats}
