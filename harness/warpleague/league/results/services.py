"""Counts the services that bots use, such as language models: failures, void matches, tokens, cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import attrs

from warpleague.errors import ServiceFailed
from warpleague.league.store.journal import VOIDED

if TYPE_CHECKING:
    from warpleague.league.results.league import League
    from warpleague.league.store.store import Store
    from warpleague.match.spec import MatchResult, MatchSpec


@attrs.define
class ServiceLine:
    """One bot: its failures in all stored matches and the most in one, its void matches, tokens, cost."""

    bot: str
    matches: int = 0
    failures: int = 0
    most_failures: int = 0
    void: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def has_any(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.failures or self.void or self.input_tokens or self.output_tokens or self.cost)


def services(league: League) -> list[ServiceLine]:
    """The bots of which there is something to tell, in the order of the season; all stored matches are read."""
    void = voided(league.store)
    lines = [ServiceLine(name, void=void[name]) for name in league.season.names]
    for fixture, played in league.stored() if league.store.tells_services() else ():
        for bot, used in zip(fixture.seats, played.times, strict=True):
            line = lines[bot]
            line.matches += 1
            line.failures += used.failures
            line.most_failures = max(line.most_failures, used.failures)
            line.input_tokens += used.input_tokens
            line.output_tokens += used.output_tokens
            line.cost += used.cost
    return [line for line in lines if line.has_any]


def voided(store: Store) -> Counter[str]:
    """How many matches are void so far because a service failed, by bot."""
    return Counter(str(fact.said.get("bot")) for fact in store.facts(VOIDED))


def judge(
    store: Store, void: Counter[str], most: int, spec: MatchSpec, result: MatchResult
) -> ServiceFailed | None:
    """Why a match is void, if it is because a service failed; that is noted in the store.

    Each bot may have `most` such matches in a season; `void` counts them.
    """
    for seat, faults in enumerate(result.faults):
        bot = spec.seats[seat].bot
        fault = next((fault for fault in faults if fault.kind == "service"), None)
        if fault is not None and void[bot] < most:
            void[bot] += 1
            store.note(VOIDED, {"match": result.id, "bot": bot, "seat": seat, "why": fault.message})
            return ServiceFailed(f"{bot}: {fault.message} (void match {void[bot]} of {most} allowed)")
    return None
