"""Counts what went wrong in matches: faults of bots, failures of services they use; and how bots were confined."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import ServiceFailed
from warpleague.league.store.journal import VOIDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.league.results.league import League
    from warpleague.league.store.columns import Array, Columns
    from warpleague.league.store.store import Store
    from warpleague.match.spec import Confinement, MatchResult, MatchSpec, SeatFault


_LOOKED_AT: Final = 20
"""The number of a bot's first matches with faults whose faults are read."""


@attrs.define
class BotFaults:
    """The faults of a bot: in how many of the matches that it `played`, and what they were.

    `kinds` counts the faults by kind, and `messages` has the message of the first one of each kind; of many matches
    both tell only the first ones.
    """

    bot: str
    played: int = 0
    matches: int = 0
    kinds: Counter[str] = attrs.Factory(Counter)
    messages: dict[str, str] = attrs.Factory(dict)

    def add(self, faults: Iterable[SeatFault]) -> None:
        """Count what the faults of a match were."""
        for fault in faults:
            self.kinds[fault.kind] += 1
            self.messages.setdefault(fault.kind, fault.message)

    @property
    def kind(self) -> str | None:
        """The most frequent kind."""
        return next((kind for kind, _ in self.kinds.most_common(1)), None)

    def to_json(self) -> dict[str, Any]:
        """The faults as a JSON object."""
        kind = self.kind
        return {
            "bot": self.bot,
            "played": self.played,
            "faulted": self.matches,
            "kind": kind,
            "message": None if kind is None else self.messages[kind],
        }


class FaultCounts:
    """Counts the faults of a season's bots match by match."""

    def __init__(self, names: Sequence[str]) -> None:
        self._of = [BotFaults(name) for name in names]

    @classmethod
    def of(cls, league: League) -> FaultCounts:
        """The counts of what is stored of a league."""
        counts = cls(league.season.names)
        if league.store.count():
            counts._of = _counted(league)
        return counts

    def add(self, bots: Sequence[int], faults: Sequence[Sequence[SeatFault]]) -> None:
        """Count a match, with bots and faults by seat."""
        for bot, fault in zip(bots, faults, strict=True):
            counts = self._of[bot]
            counts.played += 1
            counts.matches += bool(fault)
            counts.add(fault)

    def most_often_first(self) -> list[BotFaults]:
        """The bots that faulted, those that did most often first."""
        return _often_first(self._of)


def bot_faults(league: League, columns: Columns | None = None) -> list[BotFaults]:
    """The bots of `league` that faulted, those that did most often first.

    `columns` are those of the matches that count, if they have been read already: of the part "results" at least.
    """
    return _often_first(_counted(league, columns))


def _often_first(bots: Iterable[BotFaults]) -> list[BotFaults]:
    return sorted((one for one in bots if one.matches), key=lambda one: (-one.matches, one.bot))


def _counted(league: League, columns: Columns | None = None) -> list[BotFaults]:
    names, store = league.season.names, league.store
    if league.is_numbered and len(league.counting.left_out) == 0:
        of_bots = {(bot.bot, bot.identity): BotFaults(bot.bot) for bot in league.season.bots}
        counted = list(of_bots.values())
        if columns is not None:
            for one, many in zip(counted, _played(columns, len(names)), strict=True):
                one.played = many
        else:
            for bot, many in store.seat_counts():
                if bot in of_bots:
                    of_bots[bot].played = many
        faulty = [
            (of_bots[bot], match_id, seat) for bot, match_id, seat in store.faulty_seats() if bot in of_bots
        ]
    else:
        if columns is None or ("id" not in columns.values and columns.faults.any()):
            columns = league.columns("matches")
        counted, faulty = _faulty_of(columns, names)
    looked_at = []
    for one, match_id, seat in faulty:
        one.matches += 1
        if one.matches <= _LOOKED_AT:
            looked_at.append((one, match_id, seat))
    read = store.faults([match_id for _, match_id, _ in looked_at])
    for (one, _, seat), (_, faults) in zip(looked_at, read, strict=True):
        if faults:
            one.add(faults[seat])
    return counted


def _faulty_of(
    columns: Columns, names: Sequence[str]
) -> tuple[list[BotFaults], list[tuple[BotFaults, str, int]]]:
    """The bots, each with how many matches it played, and whose fault it was in which match and seat, in order."""
    import numpy as np  # as below

    bots = [BotFaults(name, count) for name, count in zip(names, _played(columns, len(names)), strict=True)]
    rows, seats = np.nonzero(columns.faults)
    if not len(rows):
        return bots, []
    parts = (columns.seats[rows, seats].tolist(), columns.id[rows].tolist(), seats.tolist())
    return bots, [(bots[bot], match_id.decode(), seat) for bot, match_id, seat in zip(*parts, strict=True)]


def _played(columns: Columns, bots: int) -> list[int]:
    """How many seats each of so many bots took."""
    import numpy as np  # a league without matches does not need it, and it takes longer to load than all else

    played: list[int] = np.bincount(columns.seats.ravel(), minlength=bots).tolist()
    return played


def forfeits(league: League) -> dict[str, tuple[int, int]]:
    """In how many matches each bot was retired for a fault, and how many it won in which an opponent was.

    Bots without any of them are not there.
    """
    if league.is_numbered and not league.counting.left_out:
        ids = list(dict.fromkeys(match_id for _, match_id, _ in league.store.faulty_seats()))
    else:
        columns = league.columns("matches")
        ids = [match_id.decode() for match_id in columns.id[columns.faults.any(axis=1)].tolist()]
    forfeited: dict[str, tuple[int, int]] = {}
    for match in league.store.matches(ids):
        seats = [name for name, _ in match.bots]
        retired = {
            seats[seat] for seat, faults in enumerate(match.faults) if any(one.retired for one in faults)
        }
        winners = {name for name, rank in zip(seats, match.ranks, strict=True) if rank == 1}
        won = winners - retired if retired else set()
        for name in retired | won:
            lost, gained = forfeited.get(name, (0, 0))
            forfeited[name] = (lost + (name in retired), gained + (name in won))
    return forfeited


def retired_seats(league: League, columns: Columns) -> Array:
    """Whether a bot was retired for a fault, by match and seat of `columns`: so a fault decided the match."""
    import numpy as np  # as above

    retired = np.zeros(columns.seats.shape, bool)
    if not columns.faults.any() or not (found := league.store.retired_seats()):
        return retired
    faulted = np.flatnonzero(columns.faults.any(axis=1)).tolist()
    rows = dict(zip(columns.number[faulted].tolist(), faulted, strict=True))
    if not league.is_numbered:  # the numbers in the store are of no use then
        # If ids must be read now, more matches may be stored than before; their numbers stay.
        wide = columns if "id" in columns.values else league.columns("matches")
        few = wide.only(np.isin(wide.id, [match_id.encode() for match_id, *_ in found]))
        numbers = dict(zip(few.id.tolist(), few.number.tolist(), strict=True))
        found = [(match_id, numbers.get(match_id.encode()), seat) for match_id, _, seat in found]
    for _, number, seat in found:
        if (at := rows.get(number)) is not None:
            retired[at, seat] = True
    return retired


# -- services --------------------------------------------------------------------------------------------
# What the services that bots use, such as language models, failed and cost.


@attrs.define
class ServiceLine:
    """One bot: its failures in all stored matches and the most in one, its void matches, tokens, cost, and how often
    the service was asked again.
    """

    bot: str
    matches: int = 0
    failures: int = 0
    most_failures: int = 0
    void: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    retries: int = 0


def services(league: League) -> list[ServiceLine]:
    """The bots of which there is something to tell, in the order of the season; all stored matches are read."""
    void = voided(league.store)
    lines = [ServiceLine(name, void=void[name]) for name in league.season.names]
    if league.store.tells_services():
        for fixture, played in league.stored():
            for bot, used in zip(fixture.seats, played.times, strict=True):
                line = lines[bot]
                line.matches += 1
                line.failures += used.failures
                line.most_failures = max(line.most_failures, used.failures)
                line.input_tokens += used.input_tokens
                line.output_tokens += used.output_tokens
                line.cost += used.cost
                line.retries += used.retries
    return [
        line
        for line in lines
        if any((line.failures, line.void, line.input_tokens, line.output_tokens, line.cost, line.retries))
    ]


def voids(store: Store) -> dict[str, int]:
    """In how many matches that were begun in vain, and so are void, each bot played; the most first."""
    bots = (event.details.get("bots") for event in store.events(VOIDED))
    counts = Counter(str(bot) for some in bots if isinstance(some, list) for bot in some)
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def voided(store: Store) -> Counter[str]:
    """How many matches are void so far because a service failed, by bot."""
    events = store.events(VOIDED)
    return Counter(str(event.details["bot"]) for event in events if "bot" in event.details)


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
            store.void(result.id, spec.seats, fault.message, bot=bot, seat=seat)
            return ServiceFailed(f"{bot}: {fault.message} (void match {void[bot]} of {most} allowed)")
    return None


# -- confinements ----------------------------------------------------------------------------------------


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
    """How bots were confined in the stored matches that count, on any machine, the most frequent way first."""
    known = {number: attrs.evolve(way, machine=None) for number, way in league.store.confinements().items()}
    counts: Counter[Confinement | None] = Counter()
    for number, count in league.count_confinements().items():
        counts[None if number is None else known.get(number)] += count
    ways = [ConfinedMatches(count, way) for way, count in counts.items()]
    return sorted(ways, key=lambda way: (-way.matches, str(way.to_json())))
