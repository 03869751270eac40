"""Sampled: a round-robin of some of the sets of bots, chosen so that bots, pairs and seats are as even as possible."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import attrs

from warpleague.league.schedule.formats.api import Static, seatings, seatings_count
from warpleague.league.schedule.formats.round_robin import described, spread_sets
from warpleague.league.season.fixture import Group, Table
from warpleague.league.season.seat_plan import balance_seats, cycles
from warpleague.match.chance import ChanceStream, season_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warpleague.league.season.season import Season


@attrs.frozen(slots=False)
class Sampled(Static):
    """The tables of a balanced sample, one deal after another; the tables of earlier entries are among them."""

    season: Season

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in the order to play them, with the bots of `Season.bots` in seat order."""
        season = self.season
        places = {name: place for place, name in enumerate(season.arrivals)}
        stages: list[tuple[frozenset[int], int]] = []
        for entry in season.entries:
            present = frozenset(places[name] for name, _ in entry.bots)
            if entry.tables is not None and len(present) >= season.players:
                stages.append((present, entry.tables))
        bots = dict(zip(season.arrived, range(len(season.bots)), strict=True))
        sampled = sample_tables(season.players, tuple(stages))
        return tuple(tuple(bots[place] for place in table) for table in sampled)

    def groups(self) -> Iterator[Group]:
        """A round plays one deal at every table."""
        season, k = self.season, self.season.players
        turns, firsts = self._turns_and_firsts
        for round_ in range(season.format.deals):
            for table, turn, first in zip(self.tables, turns, firsts, strict=True):
                bots = [bot for bot in table if k > 1 or bot in season.renewed]
                yield Group(tuple(bots), seatings(season.format.seats, table, round_, first), round_, turn)

    @cached_property
    def _turns_and_firsts(self) -> tuple[list[int], list[int]]:
        """For each table: how often its bots sat together before, and the cyclic order that evens out neighbours."""
        seen: Counter[frozenset[int]] = Counter()
        turns, firsts = [], []
        follows: Counter[tuple[int, int]] = Counter()
        design = cycles(self.season.players)
        for table in self.tables:
            bots = frozenset(table)
            turns.append(seen[bots])
            seen[bots] += 1
            pairs = [[(table[a], table[b]) for a, b in zip(c, c[1:] + c[:1], strict=True)] for c in design]
            costs = [sum(follows[pair] for pair in order) for order in pairs]
            best = costs.index(min(costs))
            follows.update(pairs[best])
            firsts.append(0 if self.season.format.seats == "fixed" else best)
        return turns, firsts

    def total(self, without: frozenset[int]) -> int:
        """All matches but those of the bots `without`."""
        form = self.season.format
        tables = sum(without.isdisjoint(table) for table in self.tables)
        return tables * form.deals * seatings_count(form.seats, self.season.players)

    def describe(self) -> str:
        """Tables, deals, seat orders, and how even it is."""
        games, met, _ = spreads(range(len(self.season.bots)), self.tables)
        return (
            f"{described(self.season, 'round-robin', len(self.tables))}; "
            f"meetings of pairs differ by {met} at most, tables of bots by {games}"
        )


# -- the sample ------------------------------------------------------------------------------------------
# Everything is a pure function of its numbers: the search draws from a keyed stream and decides by whole
# numbers, so every machine finds the same tables.


_CHUNK = 4  # base blocks searched together: more gain nothing measurable
_CYCLIC_STEPS = 6_000  # exchanges tried for one chunk
_CYCLIC_BUDGET = 300_000  # and for all of them, about three seconds
_ANNEAL_STEPS = 60_000
_ANNEALINGS = 3  # tried while meetings differ by more than one
_MAX_ANNEALED = 500  # tables, for more than one annealing
_STEPS_ADDED = 100  # for each table that is added to others: more gain little, as the others stay
_IN_TURN = 64  # tables that the next one to play is chosen from


@lru_cache(maxsize=8)
def sample_tables(k: int, stages: tuple[tuple[frozenset[int], int], ...]) -> tuple[Table, ...]:
    """Tables of `k` bots, in playing order: games within 1, meetings and neighbours as even as the search gets them.

    Each stage has the bots that take part, and the number of tables. A stage keeps the tables of earlier
    ones and adds to them until there are as many, and all bots have as many games, within 1. Bots in seat order: the
    seats of one stage are within 1. Trusts its caller that there are `k` bots at least, and one table.
    """
    tables: list[Table] = []
    chosen: list[Table] = []
    for present, count in stages:
        bots = sorted(present)
        chosen = [table for table in tables if present.issuperset(table)]
        if chosen:
            new = _extension(bots, k, chosen, count)
        else:
            new = [tuple(bots[place] for place in table) for table in _first_sample(len(bots), k, count)]
        seated = balance_seats(new) if k > 1 else new
        chosen += seated
        tables += seated
    return tuple(chosen)


def spreads(bots: Sequence[int], tables: Sequence[Table]) -> tuple[int, int, int]:
    """The largest count less the smallest: of games over bots, of meetings over pairs, of a bot's games by seat."""
    k = len(tables[0])
    places = {bot: place for place, bot in enumerate(bots)}
    numbered = [tuple(places[bot] for bot in table) for table in tables]
    n = len(bots)
    return (
        _spread(_games(n, numbered)),
        _spread(meetings(n, numbered).values()) if n > 1 else 0,
        max(_spread(row) for row in seat_counts(n, k, numbered)),
    )


def _first_sample(n: int, k: int, count: int) -> list[Table]:
    """Whole passes over all sets come first; the remainder is developed from base blocks in Z_n, and what is less
    than a whole development comes from exchanges.
    """
    passes, rest = divmod(count, comb(n, k))
    tables = [table for _ in range(passes) for table in spread_sets(n, k)]
    return tables + _in_turn(n, _sample(n, k, rest))


def _extension(bots: list[int], k: int, chosen: list[Table], count: int) -> list[Table]:
    """The tables to add to those `chosen`: first for the bots with the fewest games, then exchanged."""
    places = {bot: place for place, bot in enumerate(bots)}
    before = [tuple(places[bot] for bot in table) for table in chosen]
    n = len(bots)
    games, met = _games(n, before), meetings(n, before)
    stream = ChanceStream(season_secret(f"tables {n} {k} {len(chosen)} {count}"))
    new: list[Table] = []
    while len(chosen) + len(new) < count or _spread(games) > 1:
        order = sorted(_choose(n, n, stream), key=games.__getitem__)
        table = tuple(order[:k])
        new.append(table)
        for bot in table:
            games[bot] += 1
    if new:
        new = _annealed(n, new, met, stream, min(_STEPS_ADDED * len(new), _ANNEAL_STEPS))
    return [tuple(bots[place] for place in table) for table in _in_turn(n, new, before)]


def _in_turn(n: int, tables: Sequence[Table], before: Sequence[Table] = ()) -> list[Table]:
    """The same tables, so ordered that in any part of them all have played and met about as often as others."""
    games, met = _games(n, before), meetings(n, before)
    left = list(tables)
    stream = ChanceStream(season_secret(f"order {n} {len(left)}"))
    for i in range(len(left) - 1, 0, -1):
        j = stream.below(i + 1)
        left[i], left[j] = left[j], left[i]
    window, ordered = left[:_IN_TURN], []
    rest = iter(left[_IN_TURN:])
    while window:
        low = min(games)
        costs = [
            (
                sum((games[bot] - low) ** 2 for bot in table),
                sum(met[pair] for pair in combinations(sorted(table), 2)),
            )
            for table in window
        ]
        table = window.pop(costs.index(min(costs)))
        window += [following] if (following := next(rest, None)) is not None else []
        ordered.append(table)
        for bot in table:
            games[bot] += 1
        for pair in combinations(sorted(table), 2):
            met[pair] += 1
    return ordered


def meetings(n: int, tables: Sequence[Table]) -> dict[tuple[int, int], int]:
    """How often each pair (i < j) of bots meets."""
    counts = dict.fromkeys(combinations(range(n), 2), 0)
    for table in tables:
        for pair in combinations(sorted(table), 2):
            counts[pair] += 1
    return counts


def seat_counts(n: int, k: int, tables: Sequence[Table]) -> list[list[int]]:
    """How often each bot takes each seat: one row for each bot."""
    counts = [[0] * k for _ in range(n)]
    for table in tables:
        for seat, bot in enumerate(table):
            counts[bot][seat] += 1
    return counts


def _games(n: int, tables: Sequence[Table]) -> list[int]:
    counts = [0] * n
    for table in tables:
        for bot in table:
            counts[bot] += 1
    return counts


def _spread(counts: Iterable[int]) -> int:
    values = list(counts)
    return max(values) - min(values) if values else 0


def _sample(n: int, k: int, count: int) -> list[Table]:
    """Fewer tables than there are sets."""
    if count == 0:
        return []
    stream = ChanceStream(season_secret(f"tables {n} {k} {count}"))
    blocks, rest = divmod(count, n)
    developed = [
        tuple((x + t) % n for x in block) for block in _base_blocks(n, k, blocks, stream) for t in range(n)
    ]
    if not rest and _spread(meetings(n, developed).values()) <= 1:
        return developed
    tables = developed + _exchange(n, k, rest, meetings(n, developed), stream)
    if developed and _spread(meetings(n, tables).values()) > 1 and count <= 2_000:
        fresh = _exchange(n, k, count, meetings(n, []), stream)
        tables = min(tables, fresh, key=lambda drawn: _spread(meetings(n, drawn).values()))
    return tables


def _base_blocks(n: int, k: int, count: int, stream: ChanceStream) -> list[list[int]]:
    """Base blocks whose differences are as even as exchanges make them (cyclic difference families, relaxed)."""
    half = n // 2
    # A pair at distance n/2 is met by two of the n translations, and there are only n/2 such pairs.
    weight = [0] + [2 if 2 * d == n else 1 for d in range(1, half + 1)]
    met = [0] * (half + 1)
    steps = max(min(_CYCLIC_STEPS, _CYCLIC_BUDGET * _CHUNK // max(count, 1)), 200)
    blocks: list[list[int]] = []

    def add(block: list[int], x: int, sign: int) -> None:
        for y in block:
            d = min((x - y) % n, (y - x) % n)
            met[d] += sign * weight[d]

    def cost() -> int:
        # Twice the sum of squared meetings over the pairs of one development.
        return sum(met[d] * met[d] * (1 if 2 * d == n else 2) for d in range(1, half + 1))

    def even() -> bool:
        return max(met[1:]) - min(met[1:]) <= 1

    while len(blocks) < count:
        chunk: list[list[int]] = []
        for _ in range(min(_CHUNK, count - len(blocks))):
            block: list[int] = []
            for x in _choose(n, k, stream):
                add(block, x, 1)
                block.append(x)
            chunk.append(block)
        now = cost()
        for step in range(steps if 1 < k < n else 0):
            if even():
                break
            block = chunk[stream.below(len(chunk))]
            place = stream.below(k)
            old, new = block[place], stream.below(n)
            if new in block:
                continue
            others = block[:place] + block[place + 1 :]
            add(others, old, -1)
            add(others, new, 1)
            then = cost()
            # Threshold accepting: whole numbers, so no rounding of any machine decides.
            if then - now <= 3 - 4 * step // steps:
                block[place], now = new, then
            else:
                add(others, new, -1)
                add(others, old, 1)
        blocks += chunk
    return blocks


def _choose(n: int, k: int, stream: ChanceStream) -> list[int]:
    """`k` different numbers below `n`, in random order."""
    pool = list(range(n))
    return [pool.pop(stream.below(len(pool))) for _ in range(k)]


def _exchange(
    n: int, k: int, count: int, met: dict[tuple[int, int], int], stream: ChanceStream
) -> list[Table]:
    """`count` tables that even out the meetings `met` so far; games stay within 1."""
    if count == 0:
        return []
    places: list[int] = []
    while len(places) < count * k:
        places += _fitting(places, k, _choose(n, n, stream))
    return _exchanged(n, [tuple(places[i * k : (i + 1) * k]) for i in range(count)], met, stream)


def _exchanged(
    n: int, start: Sequence[Table], before: dict[tuple[int, int], int], stream: ChanceStream
) -> list[Table]:
    """Tables of the same games, in which pairs meet as evenly as the search gets them, with the meetings `before`."""
    best: list[Table] = list(start)
    if not start:
        return best

    def spread(tables: Sequence[Table]) -> int:
        return _spread(before[pair] + count for pair, count in meetings(n, tables).items())

    for _ in range(_ANNEALINGS if len(start) <= _MAX_ANNEALED else 1):
        if spread(best) <= 1:
            break
        best = min(best, _annealed(n, best, before, stream, _ANNEAL_STEPS), key=spread)
    return best


def _annealed(
    n: int, start: Sequence[Table], before: dict[tuple[int, int], int], stream: ChanceStream, steps: int
) -> list[Table]:
    """Two tables swap a bot, again and again; a swap for the worse is taken less and less.

    So the search leaves places where each single swap is for the worse. The sum of squared meetings is least where all
    pairs meet equally often, and a swap changes few of its terms: only these are computed.
    """
    tables, met = [list(table) for table in start], dict(before)
    count, k = len(tables), len(tables[0])

    def change(table: list[int], out: int, into: int, sign: int) -> int:
        """The change of the sum of squared meetings when `into` takes the place of `out`; counts it as made."""
        delta = 0
        for other in table:
            if other == out:
                continue
            for bot, step in ((out, -sign), (into, sign)):
                pair = (bot, other) if bot < other else (other, bot)
                delta += 2 * step * met[pair] + 1
                met[pair] += step
        return delta

    for table in tables:
        for pair in combinations(sorted(table), 2):
            met[pair] += 1
    for step in range(steps if count > 1 and k < n else 0):
        if step % 1_000 == 0 and _spread(met.values()) <= 1:
            break
        one, two = tables[stream.below(count)], tables[stream.below(count)]
        a, b = one[stream.below(k)], two[stream.below(k)]
        if b in one or a in two:
            continue
        delta = change(one, a, b, 1)
        delta += change(two, b, a, 1)
        if delta <= 4 - 6 * step // steps:
            one[one.index(a)], two[two.index(b)] = b, a
        else:
            change(two, b, a, -1)
            change(one, a, b, -1)
    return [tuple(table) for table in tables]


def _fitting(places: Sequence[int], k: int, deck: list[int]) -> list[int]:
    """The new `deck` (each bot once), reordered so that the table it completes holds no bot twice."""
    open_places = len(places) % k
    seated = set(places[len(places) - open_places :]) if open_places else set()
    return [bot for bot in deck if bot not in seated] + [bot for bot in deck if bot in seated]
