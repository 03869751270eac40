"""The seat orders of all tables of a season: seats and neighbours come out even over the whole league."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.match.chance import ChanceStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpleague.league.season.config import Seating
    from warpleague.league.season.fixture import Table


_MAX_PLANNED: Final = 20_000
"""Tables; more of them come out even by chance, and would take seconds."""
_PASSES: Final = 2
"""In these each table may choose again, when all have chosen."""
_TRIES: Final = 20
"""Exchanges of seats that are tried for each table."""
_FEWEST_TRIES: Final = 2_000
"""And for all of them."""
_MAX_TRIES: Final = 20_000


@attrs.define
class _Stage:
    """Tables that came with the same entry, as numbers of bots in order, and the `earlier` ones of the same bots.

    `seated` has, for each round that is known, the seat order of each table. What is drawn depends on these bots and
    on no others, so that a store has the same orders as one whose matches it has taken over.
    """

    tables: list[Table]
    earlier: list[tuple[_Stage, int]]
    stream: ChanceStream
    seated: list[list[Table]] = attrs.Factory(list)
    follows: list[int] = attrs.Factory(list)
    """How often each bot followed each other one, in rounds of this period."""
    used: list[set[int]] = attrs.Factory(list)
    """The cyclic orders each table has had in this period."""


class SeatPlan:
    """The seat order of every table on every deal, such that over all tables seats and neighbours come out even.

    `lineups` are the names that were entered together, entry by entry. What comes later changes no order that was
    planned before, and is planned for the bots that are there. With one seat order a deal ("fixed"), each bot has each
    seat equally often, within one, over the tables of its entry; with rotations, each bot follows each other one as
    equally often as the search gets it. Where a `guest` is given, it sits at every table, beside one bot less of the
    lineup.
    """

    def __init__(
        self,
        kind: Seating,
        players: int,
        key: bytes,
        lineups: Iterable[Sequence[str]],
        guest: str | None = None,
    ) -> None:
        self._kind, self._players = kind, players
        self._key = key
        self._numbers: dict[str, int] = {}
        self._places: dict[frozenset[int], tuple[_Stage, int]] = {}
        self._stages: list[_Stage] = []
        self._rounds = 0
        size = players - (guest is not None)
        for lineup in lineups:
            if 0 < size <= len(lineup) and comb(len(lineup), size) <= _MAX_PLANNED:
                self._add(sorted(lineup, key=self._drawn), size, () if guest is None else (guest,))

    def orders(self, names: Sequence[str], round_: int) -> tuple[tuple[str, ...], ...] | None:
        """The seat orders of a table in a round; None for one that is not planned, because there are too many."""
        try:
            bots = {self._numbers[name]: name for name in names}
            stage, index = self._places[frozenset(bots)]
        except KeyError:
            return None
        design, k = cycles(self._players), self._players
        if self._kind == "rotations":
            order = self._seated(stage, index, round_ % len(design))
            return tuple(tuple(bots[bot] for bot in order[i:] + order[:i]) for i in range(k))
        block, turn = divmod(round_, k)
        order = self._seated(stage, index, 0)
        order = order[turn:] + order[:turn]
        # The same exchange of seats at every table keeps all even, and gives other neighbours.
        places = dict(zip(design[0], order, strict=True))
        return (tuple(bots[places[place]] for place in design[block % len(design)]),)

    def _drawn(self, *names: str) -> bytes:
        return blake2b("\n".join(names).encode(), key=self._key, digest_size=32).digest()

    def _add(self, lineup: Sequence[str], size: int, guests: tuple[str, ...]) -> None:
        """Plan the tables of a lineup of `bots` bots that are not planned yet, and keep the others."""
        for name in (*guests, *lineup):
            self._numbers.setdefault(name, len(self._numbers))
        new, earlier, stream = [], [], ChanceStream(self._drawn("", *lineup))
        for names in combinations(lineup, size):
            table = tuple(self._numbers[name] for name in (*guests, *names))
            known = self._places.get(frozenset(table))
            if known is None:
                new.append(table)
            else:
                earlier.append(known)
        if new:
            # In the order of the list, tables of the same bots would choose one after another.
            new = [new.pop(stream.below(len(new))) for _ in range(len(new))]
            stage = _Stage(new, earlier, stream)
            self._stages.append(stage)
            self._places.update((frozenset(table), (stage, index)) for index, table in enumerate(new))

    def _seated(self, stage: _Stage, index: int, round_: int) -> Table:
        while self._rounds <= round_:
            for one in self._stages:
                one.seated.append(self._by_seat(one) if self._kind == "fixed" else self._by_neighbour(one))
            self._rounds += 1
        return stage.seated[round_][index]

    def _by_seat(self, stage: _Stage) -> list[Table]:
        """Each bot takes each seat equally often, and the same holds when all orders are turned by a few seats."""
        n, k = len(self._numbers), self._players
        counts = {bot: [0] * k for table in stage.tables for bot in table}
        follows = Counter[int]()
        seated = [list(table) for table in balance_seats(stage.tables)]
        for row in [*(other.seated[0][index] for other, index in stage.earlier), *seated]:
            follows.update(_neighbours(tuple(row), n))
            for seat, bot in enumerate(row):
                if bot in counts:
                    counts[bot][seat] += 1
        _Exchanges(seated, counts, follows, n).make(stage.stream)
        return [tuple(row) for row in seated]

    def _by_neighbour(self, stage: _Stage) -> list[Table]:
        """Each table takes the cyclic order that evens out who follows whom, of those it has not had yet."""
        n, design = len(self._numbers), cycles(self._players)
        if not stage.follows:
            stage.follows, stage.used = [0] * (n * n), [set() for _ in stage.tables]
        follows = stage.follows
        for other, index in stage.earlier:
            for pair in _neighbours(other.seated[self._rounds][index], n):
                follows[pair] += 1
        options = [
            [
                (number, order, _neighbours(order, n))
                for number, places in enumerate(design)
                if number not in used
                for order in [tuple(table[place] for place in places)]
            ]
            for table, used in zip(stage.tables, stage.used, strict=True)
        ]
        chosen: list[tuple[int, Table, list[int]] | None] = [None] * len(options)
        # Each table takes what evens out best; then all may choose again, when the others are known. A table's own
        # order is taken out of the counts before: else it would avoid the one it has.
        for _ in range(1 + _PASSES):
            for index, several in enumerate(options):
                if (now := chosen[index]) is not None:
                    for pair in now[2]:
                        follows[pair] -= 1
                costs = [sum([follows[pair] for pair in pairs]) for _, _, pairs in several]
                least = min(costs)
                best = [option for option, cost in zip(several, costs, strict=True) if cost == least]
                chosen[index] = now = best[stage.stream.below(len(best))] if len(best) > 1 else best[0]
                for pair in now[2]:
                    follows[pair] += 1
        filled = [option for option in chosen if option is not None]
        for used, (number, _, _) in zip(stage.used, filled, strict=True):
            used.add(number)
        return [order for _, order, _ in filled]


def _neighbours(order: Table, n: int) -> list[int]:
    """Who follows whom in a cyclic order of numbers below `n`: each pair as one number."""
    return [one * n + two for one, two in zip(order, order[1:] + order[:1], strict=True)]


@attrs.define
class _Exchanges:
    """Exchanges of seats at one table, or at two tables at once, that make seats more even, or else neighbours.

    `counts` has how often each bot takes each seat, those of other tables included; `follows` how often each bot
    follows each other one of `n`.
    """

    rows: list[list[int]]
    counts: dict[int, list[int]]
    follows: Counter[int]
    n: int

    def make(self, stream: ChanceStream) -> None:
        """Try seats that are drawn; no bot's seats become more uneven than they are, or than they must be.

        Seats come first, neighbours only between exchanges that change nothing of seats. Only what is no worse stays,
        so more tries never harm.
        """
        k, places = len(self.rows[0]), defaultdict[tuple[int, int, int, int], set[int]](set)
        for index, row in enumerate(self.rows):
            for a, b in combinations(range(k), 2):
                places[a, b, row[a], row[b]].add(index)

        def swap(index: int, a: int, b: int) -> None:
            row = self.rows[index]
            for one, two in combinations(range(k), 2):
                places[one, two, row[one], row[two]].discard(index)
            row[a], row[b] = row[b], row[a]
            for one, two in combinations(range(k), 2):
                places[one, two, row[one], row[two]].add(index)

        for _ in range(min(max(_TRIES * len(self.rows), _FEWEST_TRIES), _MAX_TRIES)):
            index = stream.below(len(self.rows))
            a, b = sorted((stream.below(k), stream.below(k - 1)))
            b += a == b
            row = self.rows[index]
            one, two = row[a], row[b]
            gain = self._gain(one, two, a, b)
            if gain is not None and gain <= 0:
                nearer = self._change([index], a, b, swap)
                if gain < 0 or nearer <= 0:
                    for bot, out, into in ((one, a, b), (two, b, a)):
                        self.counts[bot][out] -= 1
                        self.counts[bot][into] += 1
                    continue
                self._change([index], a, b, swap)
            # Another table at which the two sit the other way round: if both exchange, all keep their seats.
            others = places[a, b, two, one]
            if others:
                both = [index, min(others)]
                if self._change(both, a, b, swap) > 0:
                    self._change(both, a, b, swap)

    def _gain(self, one: int, two: int, a: int, b: int) -> int | None:
        """How much more uneven seats become if two bots exchange theirs; None where that may not be."""
        total = 0
        for bot, out, into in ((one, a, b), (two, b, a)):
            counts = self.counts[bot]
            changed = list(counts)
            changed[out] -= 1
            changed[into] += 1
            if max(changed) - min(changed) > max(max(counts) - min(counts), 1):
                return None
            total += _uneven(changed) - _uneven(counts)
        return total

    def _change(self, tables: Sequence[int], a: int, b: int, swap: Callable[[int, int, int], None]) -> int:
        """Exchange two seats at some tables; how much more uneven neighbours become."""
        change = 0
        for index in tables:
            for pair in _neighbours(tuple(self.rows[index]), self.n):
                self.follows[pair] -= 1
                change -= 2 * self.follows[pair] + 1
            swap(index, a, b)
            for pair in _neighbours(tuple(self.rows[index]), self.n):
                change += 2 * self.follows[pair] + 1
                self.follows[pair] += 1
        return change


def _uneven(counts: Sequence[int]) -> int:
    """How unevenly seats are taken in some rounds, each turned by one seat more: a sum of squares over all numbers."""
    k, total = len(counts), 0
    sums = list(counts)
    for width in range(1, k):
        total += sum(value * value for value in sums)
        sums = [value + counts[(seat + width) % k] for seat, value in enumerate(sums)]
    return total


@lru_cache
def cycles(k: int) -> tuple[Table, ...]:
    """Cyclic orders of 0..k-1: over all of them, each number is followed by each other one equally often.

    For a prime k these are the multiples of 1..k-1 modulo k. For others they are Walecki's Hamiltonian cycles
    (Lucas, Récréations mathématiques II, 1892), each in both directions.
    """
    if k < 3:
        return (tuple(range(k)),)
    if all(k % d for d in range(2, k)):
        return tuple(tuple(step * place % k for place in range(k)) for step in range(1, k))
    rest = k - 1
    zigzag = [(place + 1) // 2 * (1 if place % 2 else -1) for place in range(rest)]
    rows: list[Table] = []
    for turn in range(rest):
        cycle = (rest, *((place + turn) % rest for place in zigzag))
        rows += [cycle, (rest, *cycle[:0:-1])]
    return tuple(rows)


def balance_seats(tables: Sequence[Table]) -> list[Table]:
    """The same tables in the same order, seated so that each bot takes each seat equally often, within 1.

    Each bot's games are split into chunks of k; a bipartite graph of chunks and tables has degree k at most, so
    k colours suffice for its edges (König 1916): the colour is the seat.
    """
    if not tables:
        return []
    k = len(tables[0])
    played: Counter[int] = Counter()
    chunk_at: dict[tuple[int, int], list[int]] = {}  # (bot, chunk) -> the table at each seat, -1: none
    table_at = [[-1] * k for _ in tables]  # the bot at each seat of a table
    chunk_of: list[dict[int, tuple[int, int]]] = []
    for index, table in enumerate(tables):
        chunk_of.append({bot: (bot, played[bot] // k) for bot in table})
        for bot in table:
            played[bot] += 1
            seats = chunk_at.setdefault(chunk_of[index][bot], [-1] * k)
            a, b = seats.index(-1), table_at[index].index(-1)
            if a != b:
                _flip(index, a, b, table_at, chunk_at, chunk_of)
            seats[a], table_at[index][a] = index, bot
    return [tuple(seats) for seats in table_at]


def _flip(
    table: int,
    a: int,
    b: int,
    table_at: list[list[int]],
    chunk_at: dict[tuple[int, int], list[int]],
    chunk_of: list[dict[int, tuple[int, int]]],
) -> None:
    """Exchange seats `a` and `b` along the path from `table`, so that seat `a` is free there (Kempe)."""
    path = []
    at = table
    want, other = a, b
    while (bot := table_at[at][want]) != -1:
        chunk = chunk_of[at][bot]
        path.append((at, bot, want))
        following = chunk_at[chunk][other]
        if following == -1:
            break
        path.append((following, bot, other))
        at = following
    for at, bot, seat in path:
        table_at[at][seat] = -1
        chunk_at[chunk_of[at][bot]][seat] = -1
    for at, bot, seat in path:
        new = other if seat == want else want
        table_at[at][new] = bot
        chunk_at[chunk_of[at][bot]][new] = at
