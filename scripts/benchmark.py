#!/usr/bin/env python3
"""Measure the games as a benchmark, and write the tables of docs/games/benchmark.md.

    python scripts/benchmark.py                          every table of the list, some hours; again: what is missing
    python scripts/benchmark.py "captains 4" --deals 20  one table, to this many deals
    python scripts/benchmark.py --write                  play nothing; write the page from the results
    python scripts/benchmark.py --check                  play nothing; fail if the page has not these figures

At a table of four, say, four times the strongest opponent plays each deal twice: with the same dice, but with
other random numbers of the bots. So the share of luck can be told: it is the correlation of the two results of a deal,
which is the part of the variance of results that lies between deals. (The strongest bot of coasters draws nothing. So
that its matches on a deal differ, it plays one of ten actions at random for this figure.) A result is the share of the
other seats that a seat beats; alone, its score. Then each level takes one seat beside the strongest bots, another seat
in each deal.

Each match leaves a line in docs/games/benchmark.csv, and what is there is not played again. So this can be
stopped at any time, and several may run beside each other, each with tables of its own. Matches are played in this
process, without clocks; time is that of the processor.
"""

from __future__ import annotations

import argparse
import csv
import sys
from bisect import bisect_left
from collections import defaultdict
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import accumulate
from math import atanh, exp, log2, perm, sqrt
from pathlib import Path
from statistics import mean, pvariance
from time import process_time
from typing import TYPE_CHECKING, Any

from luck import Player, play

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.league.ratings.statistics import Mean, pair_points
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PAGE = Path(__file__).resolve().parent.parent / "docs" / "games" / "benchmark.md"
RESULTS = PAGE.with_suffix(".csv")
TABLES = {
    "aliens": (2,),
    "captains": (1, 2, 3, 4, 5),
    "coasters": (2, 3, 4, 5, 6),
    "sheets": (1, 2, 3, 4),
}
DEALS = {"aliens": 100, "captains": 40, "coasters": 100, "sheets": 100}
SEED = "benchmark 2"
"""With the number of a deal it gives the dice. Chosen before the first match; no deal was drawn again."""
LEVELS = (2, 3, 4)
LEAST = 20
"""Deals; the page has no figures from fewer."""
UNSTEADY = {"coasters": "coasters-5~"}
"""Who plays where the strongest bot draws no random numbers."""
START, END = "<!-- made by scripts/benchmark.py -->", "<!-- end -->"

COLUMNS = ["table", "row", "deal", "ranks", "scores", "rival", "decisions", "forced", "legal", "most"]
COLUMNS += ["views", "bits", "most_bits", "seconds"]

Line = dict[str, Any]
"""A match: its table, row, deal; ranks, scores and the score of the game's own opponent; what the strongest bots' \
decisions were like, and processor time in seconds."""


# -- what is hidden --------------------------------------------------------------------------------------------------


def hidden_in_aliens(view: Line) -> float:
    """The bits of the enemy's coins: for each suit, in how many ways its unknown values can lie on the board."""
    bits = 0.0
    for suit in ("suns", "moons", "crowns", "arms"):
        lying = [hole for hole in view["wormholes"] if hole["suit"] == suit]
        unknown = sum(1 for hole in lying if hole["value"] is None)
        bits += log2(perm(6 - (len(lying) - unknown), unknown)) if unknown else 0.0
    return bits


def hidden_in_captains(view: Line) -> float:
    """The bits of the other hands: how many sets of cards they can be, by the number of cards that nobody showed."""
    if "known" not in view:
        return 0.0
    sizes = [
        cards - sum(known["sure"])
        for seat, (cards, known) in enumerate(zip(view["hands"], view["known"], strict=True))
        if seat != view["you"]
    ]
    return log2(_hands(tuple(view["unseen"]), tuple(sizes)))


@lru_cache(maxsize=4096)
def _hands(unseen: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """In how many ways cards of kinds, of which there are `unseen`, can make hands of these `sizes`."""
    if not unseen:
        return int(not any(sizes))
    return sum(_hands(unseen[1:], left) for left in _less(sizes, unseen[0]))


@lru_cache(maxsize=4096)
def _less(sizes: tuple[int, ...], cards: int) -> tuple[tuple[int, ...], ...]:
    """What is left of `sizes` when each hand gets some of so many cards, or none."""
    if not sizes:
        return ((),)
    return tuple(
        (sizes[0] - some, *rest)
        for some in range(min(sizes[0], cards) + 1)
        for rest in _less(sizes[1:], cards - some)
    )


HIDDEN: dict[str, Callable[[Line], float]] = {"aliens": hidden_in_aliens, "captains": hidden_in_captains}
"""In coasters only talk is hidden, in sheets nothing."""


# -- matches ---------------------------------------------------------------------------------------------------------


class Watched(Player):
    """A player that notes how many legal actions each of its decisions had, and how much was hidden then."""

    def __init__(self, name: str, number: int) -> None:
        super().__init__(name, number)
        self.again = 0
        self.legal: list[int] = []
        self.bits: list[float] = []

    def start(self, game: Any, options: Any, state: Any, seat: int, key: bytes) -> None:
        """Begin a match; with another number `again` the bot draws other random numbers."""
        own = blake2b(key + bytes([self.again]), digest_size=len(key)).digest()
        super().start(game, options, state, seat, own)

    def choose(self, game: Any, state: Any, seat: int) -> Any:
        """Its action."""
        self.legal.append(len(game.legal(state, seat)))
        if game.id in HIDDEN and len(self.legal) % 10 == 1:
            self.bits.append(HIDDEN[game.id](game.view(state, seat)))
        return super().choose(game, state, seat)


@cache
def watched(bot: str, seat: int) -> Watched:
    """The player of a bot for a seat, which plays match after match."""
    return Watched(bot, seat)


# -- playing ---------------------------------------------------------------------------------------------------------


def rows_of(game: str) -> list[str]:
    """What is played on each deal: the strongest bots twice, slipping ones twice if they draw nothing, each level."""
    slipping = ["slips", "slips again"] if game in UNSTEADY else []
    return ["strongest", "again", *slipping, "random", *[f"level {level}" for level in LEVELS]]


class Table:
    """One table: a game and its number of seats."""

    def __init__(self, name: str) -> None:
        self.name = name
        game, _, seats = name.partition(" ")
        self.game, self.seats = load_game(game), int(seats)
        self.options = load_options(self.game, self.seats, {})

    def match(self, row: str, deal: int) -> Line:
        """Play a match of a row."""
        players = [watched(self._bot(row, seat, deal), seat) for seat in range(self.seats)]
        for player in players:
            player.again = int(row.endswith("again"))
            player.legal, player.bits = [], []
        start = process_time()
        found = play(self.game, self.options, players, match_key(f"{SEED} {deal}"))
        seconds = process_time() - start
        legal = [count for player in players for count in player.legal]
        bits = [some for player in players for some in player.bits]
        return {
            "table": self.name,
            "row": row,
            "deal": deal,
            "ranks": " ".join(map(str, found.ranks)),
            "scores": " ".join(f"{score:g}" for score in found.scores),
            "rival": f"{found.rival or 0:g}",
            "decisions": len(legal),
            "forced": legal.count(1),
            "legal": sum(legal),
            "most": max(legal),
            "views": len(bits),
            "bits": round(sum(bits), 3),
            "most_bits": round(max(bits, default=0.0), 3),
            "seconds": round(seconds, 4),
        }

    def _bot(self, row: str, seat: int, deal: int) -> str:
        game = self.game.id
        if row.startswith("slips"):
            return UNSTEADY[game]
        if row in ("strongest", "again") or seat != deal % self.seats:
            return f"{game}-5"
        return row.replace("level ", f"{game}-")


def measure(names: Sequence[str], deals: int | None, path: Path) -> None:
    """Play what the results lack, deal by deal, so that all tables grow alike; each match is written at once."""
    done = {(line["table"], line["row"], line["deal"]) for line in lines_of(path)}
    path.write_text(whole_lines(path, COLUMNS), encoding="utf-8")
    tables = [Table(name) for name in names]
    wanted = {table.name: deals or DEALS[table.game.id] for table in tables}
    with path.open("a", encoding="utf-8", buffering=1, newline="") as file:
        rows_file = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        for deal in range(max(wanted.values())):
            for table in tables:
                for row in rows_of(table.game.id):
                    if deal < wanted[table.name] and (table.name, row, deal) not in done:
                        rows_file.writerow(table.match(row, deal))
            print(f"deal {deal + 1} of {max(wanted.values())}", flush=True)


def whole_lines(path: Path, columns: Sequence[str]) -> str:
    """The text of a file of results without a last line that a stop cut short; only the head if there is no file."""
    text = path.read_text(encoding="utf-8") if path.exists() else ",".join(columns) + "\n"
    return text[: text.rfind("\n") + 1]


def lines_of(path: Path) -> list[Line]:
    """The results of a file, none if there is no file."""
    found = []
    for row in csv.DictReader(whole_lines(path, COLUMNS).splitlines()):
        line: Line = {key: float(row[key] or 0) for key in COLUMNS[5:]}
        line |= {"table": row["table"], "row": row["row"], "deal": int(row["deal"])}
        line["ranks"] = [int(rank) for rank in row["ranks"].split()]
        line["scores"] = [float(score) for score in row["scores"].split()]
        found.append(line)
    return found


# -- figures ---------------------------------------------------------------------------------------------------------


Rows = dict[str, list[Line]]
"""The matches of a table by row, each in the order of deals."""


def rows_by_table(lines: Iterable[Line]) -> dict[str, Rows]:
    """The tables that have results, in the order of the list; of each only the deals that all its rows have."""
    found: dict[str, dict[str, dict[int, Line]]] = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        found[line["table"]][line["row"]][line["deal"]] = line
    tables = {}
    for name in [name for name in every_table() if name in found]:
        rows = [found[name][row] for row in rows_of(name.partition(" ")[0])]
        deals = sorted(set.intersection(*[set(row) for row in rows]))
        if deals:
            tables[name] = {row: [found[name][row][deal] for deal in deals] for row in found[name]}
    return tables


def results(line: Line) -> list[float]:
    """For each seat the share of the others that it beats; alone its score, less that of the game's own opponent."""
    ranks = line["ranks"]
    if len(ranks) == 1:
        return [line["scores"][0] - line["rival"]]
    return [
        mean(pair_points(rank, other) for number, other in enumerate(ranks) if number != seat)
        for seat, rank in enumerate(ranks)
    ]


def interval(values: Iterable[float]) -> tuple[float, float]:
    """The mean, and half of its 95 % interval by Student's t (0 of one value, or if all are equal)."""
    found = Mean.of(values)
    return found.mean, found.half or 0.0


def correlation(pairs: Sequence[tuple[list[float], list[float]]]) -> float:
    """Of the two results of a deal, all seats together."""
    shared = total = 0.0
    for one, two in zip(
        zip(*[a for a, _ in pairs], strict=True), zip(*[b for _, b in pairs], strict=True), strict=True
    ):
        middle = mean([*one, *two])
        shared += sum((x - middle) * (y - middle) for x, y in zip(one, two, strict=True))
        total += sum(((x - middle) ** 2 + (y - middle) ** 2) / 2 for x, y in zip(one, two, strict=True))
    return shared / total if total else 0.0


def luck(one: Sequence[Line], two: Sequence[Line]) -> tuple[float, float, float]:
    """The share of luck from two matches a deal: median and ends of its 95 % interval, all between 0 and 1.

    Fisher's z of the correlation is nearly normal (Fisher 1921); its error is from a jackknife over deals. Before the
    data, each share from 0 to 1 is as likely as any other. What the data make of that is summed on a grid.
    """
    pairs = [(results(a), results(b)) for a, b in zip(one, two, strict=True)]
    parts = [
        atanh(min(max(correlation([*pairs[:deal], *pairs[deal + 1 :]]), -0.999), 0.999))
        for deal in range(len(pairs))
    ]
    middle, count = mean(parts), len(parts)
    error = max(sqrt((count - 1) / count * sum((part - middle) ** 2 for part in parts)), 0.001)
    grid = [(step + 0.5) / 1000 for step in range(1000)]
    sums = list(accumulate(exp(-(((atanh(share) - middle) / error) ** 2) / 2) for share in grid))
    low, median, high = (grid[bisect_left(sums, end * sums[-1])] for end in (0.025, 0.5, 0.975))
    return median, low, high


def skill(strongest: Sequence[Line], level: Sequence[Line]) -> tuple[float, float, float]:
    """The part of the variance of results that it decides who is stronger, and its 95 % interval.

    Results are those of two bots of equal number, a level's and the strongest's: the variance between the two over
    all the variance (eta squared), which is the square of the correlation of being stronger and doing better.
    """
    if len(strongest[0]["ranks"]) == 1:
        own, other = ([results(line)[0] for line in row] for row in (strongest, level))
        within = (pvariance(own) + pvariance(other)) / 2
        gap, half = interval(a - b for a, b in zip(own, other, strict=True))
        ends = [abs(gap), max(abs(gap) - half, 0.0), abs(gap) + half]
        value, low, high = (end**2 / (end**2 + 4 * within) if end else 0.0 for end in ends)
        return value, low, high
    shares, spread = [], []
    for line in level:
        seat = line["deal"] % len(line["ranks"])
        points = [
            pair_points(line["ranks"][seat], rank)
            for other, rank in enumerate(line["ranks"])
            if other != seat
        ]
        shares.append(mean(points))
        spread.append(mean((point - 0.5) ** 2 for point in points))
    low, high = Mean.of(shares).share_interval() or (0.0, 1.0)
    ends = [abs(mean(shares) - 0.5), *sorted([abs(low - 0.5), abs(high - 0.5)])]
    if low <= 0.5 <= high:
        ends[1] = 0.0
    value, low, high = (min(end**2 / mean(spread), 1.0) if end else 0.0 for end in ends)
    return value, low, high


# -- the page --------------------------------------------------------------------------------------------------------


def plus_minus(pair: tuple[float, float]) -> str:
    """`12.3 ± 4.5`."""
    return f"{pair[0]:.1f} ± {pair[1]:.1f}"


def percent(shares: Sequence[float]) -> str:
    """The mean of shares, a value a deal, in percent, and its 95 % interval: `12 (8 to 17)`."""
    low, high = Mean.of(shares).share_interval() or (0.0, 1.0)
    return f"{100 * mean(shares):.0f} ({100 * low:.0f} to {100 * high:.0f})"


def part(value: float, low: float, high: float) -> str:
    """`0.12 (0.01 to 0.40)`: a part of a variance."""
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def table(head: str, rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    return "\n".join([*lines, *[f"| {' | '.join(row)} |" for row in rows]])


def shape_of(rows: Rows) -> list[str]:
    """What matches of the strongest bots are like."""
    lines = rows["strongest"] + rows["again"]
    total = {
        key: sum(line[key] for line in lines) for key in ("decisions", "forced", "legal", "views", "bits")
    }
    most_bits = max(line["most_bits"] for line in lines)
    hidden = f"{total['bits'] / total['views']:.1f} ({most_bits:.1f})" if most_bits else "0"
    return [
        f"{total['decisions'] / len(lines):.0f}",
        f"{100 * total['forced'] / total['decisions']:.0f} %",
        f"{total['legal'] / total['decisions']:.1f}",
        f"{max(line['most'] for line in lines):.0f}",
        hidden,
        f"{mean(line['seconds'] for line in lines):.1f}",
    ]


def fate_of(game: str, rows: Rows) -> list[str]:
    """How much dice, seats and bots decide."""
    slipping = "slips" if game in UNSTEADY else "strongest"
    found = [part(*luck(rows[slipping], rows["slips again" if game in UNSTEADY else "again"]))]
    found += [part(*skill(rows["strongest"], rows[f"level {level}"])) for level in (4, 2)]
    if len(rows["strongest"][0]["ranks"]) == 1:
        return [*found, "", ""]
    won = [
        [[(rank == 1) / line["ranks"].count(1) for rank in line["ranks"]] for line in pair]
        for pair in zip(rows["strongest"], rows["again"], strict=True)
    ]
    firsts = zip(*[[mean(both) for both in zip(*pair, strict=True)] for pair in won], strict=True)
    draws = mean(line["ranks"].count(1) > 1 for row in ("strongest", "again") for line in rows[row])
    return [*found, ", ".join(percent(column) for column in firsts), f"{100 * draws:.0f} %"]


def levels_of(rows: Rows) -> list[str]:
    """How each level did beside the strongest bots: its share of the others that it beat; alone, its score."""
    found = []
    for row in ["random", *[f"level {level}" for level in LEVELS], "strongest"]:
        if len(rows[row][0]["ranks"]) == 1:
            found.append(plus_minus(interval(line["scores"][0] for line in rows[row])))
        elif row == "strongest":
            found.append("50")
        else:
            found.append(percent([results(line)[line["deal"] % len(line["ranks"])] for line in rows[row]]))
    return found


def tables_of(lines: Iterable[Line]) -> str:
    """The tables of the page."""
    shapes, fates, bots = [], [], []
    for name, rows in rows_by_table(lines).items():
        game, _, number = name.partition(" ")
        deals = str(len(rows["strongest"]))
        where = [game, "solo" if number == "1" else number]
        shapes.append([*where, *shape_of(rows)])
        if int(deals) >= LEAST:
            fates.append([*where, deals, *fate_of(game, rows)])
            bots.append([*where, deals, *levels_of(rows)])
    fate = "luck | skill, 5 and 4 | skill, 5 and 2 | first places by seat, in % | shared first places"
    return "\n\n".join(
        [
            table("game | seats | decisions | forced | legal actions | most | hidden bits (most) | seconds", shapes),
            table(f"game | seats | deals | {fate}", fates),
            table("game | seats | deals | random play | level 2 | level 3 | level 4 | level 5", bots),
        ]
    )  # fmt: skip


def page_with(text: str, tables: str, start: str = START) -> str:
    """The page with these tables in their place: between `start` and the next end."""
    before, mark, rest = text.partition(start)
    if not mark:
        raise BadInput(f"the page has no line {start}")
    _, _, after = rest.partition(END)
    return f"{before}{start}\n\n{tables}\n\n{END}{after}"


def every_table() -> list[str]:
    """The names of all tables: `aliens 2`, ..."""
    return [f"{name} {seats}" for name, sizes in TABLES.items() for seats in sizes]


def main() -> int:
    """Measure, and write results and page; the exit code."""
    every = every_table()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"some of: {', '.join(every)}")
    parser.add_argument("--deals", type=int, help="of each table (default 40 in captains, else 100)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results are kept")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page with the tables")
    parser.add_argument("--write", action="store_true", help="play nothing; write the page from the results")
    parser.add_argument(
        "--check", action="store_true", help="play nothing; fail if the page is not up to date"
    )
    args = parser.parse_args()
    if (args.deals or 2) < 2 or any(name not in every for name in args.tables):
        parser.error(f"at least two deals, and tables such as {every[0]!r}, {every[1]!r}")
    try:
        if not (args.check or args.write):
            measure(args.tables or every, args.deals, args.results)
        page = args.page.read_text(encoding="utf-8")
        wanted = page_with(page, tables_of(lines_of(args.results)))
        if not args.check:
            args.page.write_text(wanted, encoding="utf-8")
    except (BadInput, OSError, ValueError, KeyError) as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 2
    return int(args.check and page != wanted)


if __name__ == "__main__":
    sys.exit(main())
