"""Swiss: in each round bots of like scores meet that have not met before; a bye is worth a win."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.league.schedule.formats.api import Batches, describe_seatings, seatings, seatings_count
from warpleague.league.season.fixture import Group, Table, faulted_in, points_of
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from warpleague.league.season.season import Season


@attrs.define
class Meeting:
    """A table of a round, in the order in which it was paired; a bot alone at a table of more has a bye.

    `points` are, for each of its bots, two for each opponent beaten in a match and one for a tie; `deals` is how many
    were played, and `faulted` in how many matches each bot faulted.
    """

    round: int
    bots: Table
    points: dict[int, int] = attrs.Factory(dict)
    deals: int = 0
    faulted: Counter[int] = attrs.Factory(Counter)


@attrs.frozen
class Swiss:
    """A batch for each round. A bot that is disqualified is not paired any more; its opponents have a bye."""

    season: Season
    ahead: int | None = 0

    @property
    def win(self) -> int:
        """The points of a bot that won all matches of a round."""
        form, k = self.season.format, self.season.players
        return 2 * (k - 1) * form.deals * seatings_count(form.seats, k)

    @property
    def drawn(self) -> bool:
        """Whether equals are paired by a draw, and not by their seeds."""
        return self.season.format.seeding in (None, "draw")

    def field(self) -> Field:
        """The bots before the first round."""
        season = self.season
        seeds = {} if self.drawn else {bot: place for place, bot in enumerate(season.seeded)}
        return Field(season.players, self.win, list(season.by_name), season.format.seats == "fixed", seeds)

    def batches(self, field: Field | None = None, meetings: list[Meeting] | None = None) -> Batches:
        """The rounds, one after another; `field` and `meetings` hear of each."""
        season = self.season
        field = self.field() if field is None else field
        meetings = [] if meetings is None else meetings
        for round_ in range(season.format.rounds):
            if len(field.bots) < season.players:
                break
            luck = luck_of(season.names, season.secret, round_)
            tables, byes = pair_round(field, luck)
            field.seat(tables)
            for bot in byes:
                field.bye(bot)
            paired = {frozenset(table): Meeting(round_, table) for table in tables}
            meetings += [*paired.values(), *(Meeting(round_, (bot,), {bot: self.win}) for bot in byes)]
            for outcome in (yield list(self._groups(tables, round_))):
                if outcome.played is not None:
                    points = points_of(outcome, season.by_score)
                    field.scores.update(points)
                    meeting = paired[frozenset(outcome.group.bots)]
                    meeting.deals += 1
                    meeting.faulted.update(faulted_in(outcome))
                    for bot in meeting.bots:
                        meeting.points[bot] = meeting.points.get(bot, 0) + points[bot]
                    continue
                field.bots = [bot for bot in field.bots if bot not in outcome.absent]
                for bot in set(outcome.group.seats[0]) - outcome.absent:
                    field.scores[bot] += self.win // season.format.deals
        return False

    def _groups(self, tables: list[Table], round_: int) -> Iterator[Group]:
        season, k = self.season, self.season.players
        for deal in range(season.format.deals):
            for table in tables:
                if season.format.seats == "fixed":
                    orders: tuple[Table, ...] = (table[deal % k :] + table[: deal % k],)
                else:
                    orders = seatings(season.format.seats, table, deal, season.shuffled(table))
                yield Group(table, orders, round_, deal)

    def total(self, without: frozenset[int]) -> int | None:
        """All matches of all rounds; unknown where bots were taken out."""
        if without:
            return None
        form, n, k = self.season.format, len(self.season.bots), self.season.players
        return form.rounds * (n // k) * form.deals * seatings_count(form.seats, k)

    def describe(self) -> str:
        """Rounds, deals and seat orders."""
        form, n, k = self.season.format, len(self.season.bots), self.season.players
        byes = f", {counted(n % k, 'bye')}" if n % k else ""
        deals = counted(form.deals, "deal")
        tables = counted(n // k, "table")
        seeds = "" if self.drawn else f", seeded by {form.seeding}"
        return (
            f"swiss: {counted(form.rounds, 'round')} of {tables} of {k}{byes}{seeds}, {deals} each, "
            f"{describe_seatings(form)}"
        )


# -- pairing ---------------------------------------------------------------------------------------------
# Which bots meet in a round: those of like scores that have not met.
#
# Anyone must be able to compute a pairing again, on another machine and with another library. So it is a pure
# function of what was played. Each possible pair has a cost, a whole number whose parts cannot add up to the next
# one: a second meeting costs more than all differences of scores together. The last bits of it are a hash, which
# differs from pair to pair: so one pairing is the cheapest, whatever the algorithm of the matching.
#
# A matching finds the cheapest pairs, so at tables of two nobody meets twice if that can be avoided. For larger tables
# no such algorithm is known that is quick. There tables of neighbours exchange bots as long as that makes them better,
# and where some still meet twice, all bots of some tables are parted again, by trying. The search is bounded; 60 bots
# at tables of four play 12 rounds without a second meeting.


_REPEAT: Final = 10**12  # a meeting again, or a second bye: only where nothing else is possible
_SEAT: Final = 10**8  # two bots that are due the same seat
_SPAN: Final = 1_000  # what a difference of one win costs is the square of this
_LUCK_BITS: Final = 60
_SEED_BITS: Final = 28  # of these, the bits for luck where seeds decide between equals
_MAX_OFF: Final = 1 << 22  # so that the sum over a thousand pairs stays below the next figure
_NEAR: Final = 24
"""Bots that are tried as opponents of each, those nearest in the table; all of them only if that fails.

A round of 600 bots is paired in 0.08 s so, and in 2 s if all pairs are tried (measured).
"""
_PASSES: Final = 12
_REACHES: Final = (4, 8, 16, 32)  # tables that are parted again together
_MAX_TRIED: Final = 5_000  # bots that are tried at a place before it is given up


@attrs.define
class Field:
    """The bots of a Swiss and what they did so far; `win` is the score of a round won.

    `fixed`: a table plays one seat order only, so that seats must be balanced over the rounds; this comes before
    scores. `seeds` has the place of each bot, from 0; empty if equals are drawn. `scores`, `seats` (games in each
    seat), `met` (how often two met) and `byes` are counted over the rounds.
    """

    players: int
    win: int
    bots: list[int]
    fixed: bool = False
    seeds: dict[int, int] = attrs.Factory(dict)
    scores: Counter[int] = attrs.Factory(Counter)
    seats: Counter[tuple[int, int]] = attrs.Factory(Counter)
    met: Counter[tuple[int, int]] = attrs.Factory(Counter)
    byes: Counter[int] = attrs.Factory(Counter)

    def seat(self, tables: Sequence[Table]) -> None:
        """Count the meetings and the seats of a round."""
        for table in tables:
            self.met.update(combinations(sorted(table), 2))
            self.seats.update((bot, seat) for seat, bot in enumerate(table))

    def bye(self, bot: int) -> None:
        """Count a bye, which is worth a win."""
        self.byes[bot] += 1
        self.scores[bot] += self.win

    def cost(self, one: int, two: int) -> int:
        """How bad it is that two bots meet."""
        difference = abs(self.scores[one] - self.scores[two]) * _SPAN // self.win
        met = self.met[min(one, two), max(one, two)]
        due = self.fixed and self.players == 2 and self.due(one) * self.due(two) > 0
        return difference**2 + _REPEAT * met + _SEAT * due

    def due(self, bot: int) -> int:
        """Games in the first seat less those in the second."""
        return self.seats[bot, 0] - self.seats[bot, 1]

    def bye_cost(self, bot: int) -> int:
        """How bad it is that a bot has a bye: the lower it stands, the better."""
        return _REPEAT * self.byes[bot] + (self.scores[bot] * _SPAN // self.win) ** 2

    def seated(self, table: Sequence[int]) -> Table:
        """The seat order that evens out seats."""
        return min(permutations(table), key=lambda order: sum(self.seats[b, s] for s, b in enumerate(order)))


def pair_round(field: Field, luck: Callable[[Sequence[int]], int]) -> tuple[list[Table], list[int]]:
    """The tables of the next round, the best bots first, and the bots that have a bye.

    `luck` gives a number for some bots, which decides between equals; it should differ from round to round.
    """
    k = field.players
    order = sorted(field.bots, key=lambda bot: (-field.scores[bot], field.seeds.get(bot, 0), luck([bot])))
    if k == 2:
        tables, byes = _matched(field, order, luck)
    else:
        by_bye = sorted(order, key=field.bye_cost)
        byes = by_bye[: len(order) % k]
        seated = [bot for bot in order if bot not in byes]
        if field.seeds and len({field.scores[bot] for bot in seated}) == 1:
            # All are equal, so far: each table has bots of all parts of the list, the best seeds meet later.
            seated = [bot for i in range(len(seated) // k) for bot in seated[i :: len(seated) // k]]
        tables = _exchanged(field, seated)
    places = {bot: place for place, bot in enumerate(order)}
    tables.sort(key=lambda table: min(places[bot] for bot in table))
    return [field.seated(sorted(table, key=places.__getitem__)) for table in tables], byes


def _matched(
    field: Field, order: list[int], luck: Callable[[Sequence[int]], int]
) -> tuple[list[Table], list[int]]:
    import rustworkx  # only where it is needed: it takes time to load

    odd = len(order) % 2
    apart = _apart(field, order)
    for near in (_NEAR, 4 * _NEAR, len(order)):
        graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph(multigraph=False)
        graph.add_nodes_from(order + [-1] * odd)
        edges = []
        for place, one in enumerate(order):
            reach = range(place + 1, min(place + 1 + near, len(order)))
            far = apart[place] + place if apart else 0
            further = range(max(reach.stop, far - near // 2), min(far + near // 2, len(order)))
            for other in (*reach, *further):
                two = order[other]
                last = luck([one, two])
                if apart:
                    off = other - place - (apart[place] if apart[place] == apart[other] else 0)
                    last = min(off * off, _MAX_OFF) << _SEED_BITS | last >> (_LUCK_BITS - _SEED_BITS)
                edges.append((place, other, field.cost(one, two) << _LUCK_BITS | last))
            if odd:
                edges.append((place, len(order), field.bye_cost(one) << _LUCK_BITS | luck([one])))
        # The algorithm takes the heaviest pairs, so weights are what costs leave of the greatest one. It computes
        # with 128 bits, and would cut larger numbers: `_REPEAT` and all below it need 100.
        most = max(cost for _, _, cost in edges) + 1 if edges else 1
        graph.add_edges_from([(a, b, most - cost) for a, b, cost in edges])
        matched = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
        pairs = sorted((min(pair), max(pair)) for pair in matched)
        costs = [graph.get_edge_data(*pair) for pair in pairs]
        whole = 2 * len(pairs) == len(order) + odd
        if (whole and all(most - cost < _REPEAT << _LUCK_BITS for cost in costs)) or near >= len(order):
            break
    byes = [order[one] for one, two in pairs if two == len(order)]
    return [(order[one], order[two]) for one, two in pairs if two < len(order)], byes


def _apart(field: Field, order: list[int]) -> list[int]:
    """The ideal rank distance of an opponent, for each bot: half of its score group. Empty if equals are drawn."""
    if not field.seeds:
        return []
    many = Counter(field.scores[bot] for bot in order)
    return [many[field.scores[bot]] // 2 for bot in order]


def _exchanged(field: Field, order: list[int]) -> list[Table]:
    """Tables of neighbours in the standings, that exchange bots as long as that makes them better."""
    k = field.players
    tables = [order[start : start + k] for start in range(0, len(order), k)]
    _improve(field, tables)
    if any(_table_cost(field, table) >= _REPEAT for table in tables):
        _part_again(field, tables, order)
        _improve(field, tables)
    return [tuple(table) for table in tables]


def _table_cost(field: Field, table: Sequence[int]) -> int:
    return sum(field.cost(one, two) for one, two in combinations(table, 2))


def _improve(field: Field, tables: list[list[int]]) -> None:
    """Let tables that are near exchange a bot where that makes them better; those with a meeting again, with any."""
    k = field.players
    costs = [_table_cost(field, table) for table in tables]
    for turn in range(_PASSES):
        changed = False
        for i in range(len(tables)):
            repeats = costs[i] >= _REPEAT
            reach = len(tables) if repeats and turn else 4
            for j in range(0 if reach == len(tables) else i + 1, min(i + reach, len(tables))):
                if i == j:
                    continue
                for a in range(k):
                    for b in range(k):
                        one, two = tables[i].copy(), tables[j].copy()
                        one[a], two[b] = two[b], one[a]
                        new = (_table_cost(field, one), _table_cost(field, two))
                        if sum(new) < costs[i] + costs[j]:
                            tables[i], tables[j] = one, two
                            costs[i], costs[j] = new
                            changed = True
        if not changed:
            break


def _part_again(field: Field, tables: list[list[int]], order: list[int]) -> None:
    """Part the bots of tables at which some meet again, and of the tables nearest to them, so that none do.

    Where there is no such way, the tables stay as they are.
    """
    places = {bot: place for place, bot in enumerate(order)}
    for reach in _REACHES:
        for i in range(len(tables)):
            if _table_cost(field, tables[i]) < _REPEAT:
                continue
            near = sorted(range(len(tables)), key=lambda j: (abs(i - j), j))[:reach]
            bots = sorted((bot for j in near for bot in tables[j]), key=places.__getitem__)
            parts = _parted(field, bots)
            if parts is not None:
                parts.sort(key=lambda table: min(places[bot] for bot in table))
                for j, table in zip(sorted(near), parts, strict=True):
                    tables[j] = table
        if reach >= len(tables):
            break


def _parted(field: Field, bots: list[int]) -> list[list[int]] | None:
    """Tables of bots that have not met, by trying; None where there are none, or too much would have to be tried."""
    k, places = field.players, {bot: place for place, bot in enumerate(bots)}
    new = {
        one: {two for two in bots if one != two and not field.met[min(one, two), max(one, two)]}
        for one in bots
    }
    tables: list[list[int]] = []
    left = _MAX_TRIED

    def seat(table: list[int], free: set[int], fitting: set[int]) -> bool:
        """Whether the table, and tables of all who are free then, can be filled with those that fit."""
        nonlocal left
        if len(table) == k:
            tables.append(table)
            if not free:
                return True
            # Whoever has the fewest left to meet comes first.
            first = min(free, key=lambda bot: (len(new[bot] & free), places[bot]))
            if seat([first], free - {first}, new[first] & free):
                return True
            tables.pop()
            return False
        for bot in sorted(fitting, key=lambda bot: abs(places[bot] - places[table[0]])):
            left -= 1
            if left < 0 or len(fitting) < k - len(table):
                return False
            fitting = fitting - {bot}  # tables with it have been tried, or are tried now
            if seat([*table, bot], free - {bot}, fitting & new[bot]):
                return True
        return False

    first = min(bots, key=lambda bot: (len(new[bot]), places[bot]))
    return tables if seat([first], set(bots) - {first}, new[first]) else None


def luck_of(names: Sequence[str], secret: bytes, round_: int) -> Callable[[Sequence[int]], int]:
    """The numbers that decide between equals in a round: hashes of the season's secret, the round and names."""

    def luck(bots: Sequence[int]) -> int:
        text = "\n".join([f"pairing {round_}", *sorted(names[bot] for bot in bots)])
        digest = blake2b(text.encode(), key=secret, digest_size=8).digest()
        return int.from_bytes(digest, "big") >> (64 - _LUCK_BITS)

    return luck
