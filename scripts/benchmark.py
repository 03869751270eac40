#!/usr/bin/env python3
"""Measure the games as a benchmark, and write the tables of docs/games/benchmark.md.

    python scripts/benchmark.py                          every table of the list, some hours
    python scripts/benchmark.py "captains 4" --deals 20  one table
    python scripts/benchmark.py "sheets 2" --minutes 5   as many deals as fit in this processor time, at most 100
    python scripts/benchmark.py --check                  play nothing; fail if the page has not these figures

At a table of four, say, four times the strongest bot of the ladder plays each deal twice: with the same dice, but with
other random numbers of the bots. So the share of luck can be told: it is the correlation of the two results of a deal,
which is the part of the variance of results that lies between deals. (The strongest bot of coasters draws nothing. So
that its matches on a deal differ, it plays one of ten actions at random for this figure.) A result is the share of the
other seats that a seat beats; alone, its score. Then each level takes one seat beside the strongest bots, another seat
in each deal. All errors are 95 % intervals from the differences between deals.

The figures are kept in docs/games/benchmark.json, table by table, so a part can be measured anew. Matches are played
in this process, without clocks; time is that of the processor.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import lru_cache
from hashlib import blake2b
from math import ceil, floor, log2, perm, sqrt
from pathlib import Path
from statistics import mean
from time import process_time
from typing import TYPE_CHECKING, Any

from luck import Player, play

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.league.ratings.statistics import Mean, deals_interval, pair_points, t95
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAGE = Path(__file__).resolve().parent.parent / "docs" / "games" / "benchmark.md"
FIGURES = PAGE.with_suffix(".json")
TABLES = {
    "aliens": (2,),
    "captains": (1, 2, 3, 4, 5),
    "coasters": (2, 4, 6),
    "sheets": (1, 2, 4),
}
LEVELS = (2, 3, 4, 5)
LEAST = 20
"""Deals; the page has no errors from fewer."""
UNSTEADY = {"coasters": "coasters-5~"}
"""Who plays where the strongest bot draws no random numbers."""
START, END = "<!-- made by scripts/benchmark.py -->", "<!-- end -->"

Figures = dict[str, Any]


# -- what is hidden --------------------------------------------------------------------------------------------------


def hidden_in_aliens(view: Figures) -> float:
    """The bits of the enemy's coins: for each suit, in how many ways its unknown values can lie on the board."""
    bits = 0.0
    for suit in ("suns", "moons", "crowns", "arms"):
        lying = [hole for hole in view["wormholes"] if hole["suit"] == suit]
        unknown = sum(1 for hole in lying if hole["value"] is None)
        bits += log2(perm(6 - (len(lying) - unknown), unknown)) if unknown else 0.0
    return bits


def hidden_in_captains(view: Figures) -> float:
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


HIDDEN: dict[str, Callable[[Figures], float]] = {"aliens": hidden_in_aliens, "captains": hidden_in_captains}
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


def results(outcome: Any) -> list[float]:
    """For each seat the share of the others that it beats; alone its score, less that of the game's own opponent."""
    ranks = outcome.ranks
    if len(ranks) == 1:
        return [outcome.scores[0] - (outcome.rival or 0)]
    return [
        mean(pair_points(rank, other) for number, other in enumerate(ranks) if number != seat)
        for seat, rank in enumerate(ranks)
    ]


def interval(values: Sequence[float]) -> list[float]:
    """The mean, and half of its 95 % interval by Student's t (0 of one value, or if all are equal)."""
    found = Mean()
    for value in values:
        found.add(value)
    return [found.mean, found.half or 0.0]


def unsteady(name: str, game: Any, options: Any, seats: int, deals: int) -> list[tuple[Any, Any]]:
    """Two outcomes of each deal between bots that slip, where those that do not would play the same match twice."""
    if name not in UNSTEADY:
        return []
    bots = [Watched(UNSTEADY[name], seat) for seat in range(seats)]
    found = []
    for deal in range(deals):
        pair = []
        for again in (0, 1):
            for bot in bots:
                bot.again = again
            pair.append(play(game, options, bots, match_key(f"benchmark {deal}")))
        found.append((pair[0], pair[1]))
    return found


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


def luck(outcomes: Sequence[tuple[Any, Any]]) -> list[float]:
    """The share of luck, and half of its 95 % interval by a jackknife over deals."""
    pairs = [(results(one), results(two)) for one, two in outcomes]
    parts = [correlation([*pairs[:deal], *pairs[deal + 1 :]]) for deal in range(len(pairs))]
    middle, count = mean(parts), len(parts)
    return [
        correlation(pairs),
        t95(count - 1) * sqrt((count - 1) / count * sum((part - middle) ** 2 for part in parts)),
    ]


def measure_table(name: str, seats: int, deals: int, minutes: float, level_deals: int | None) -> Figures:
    """The figures of a table: first the strongest bots alone, then each level beside them, on half as many deals.

    `level_deals` says on how many, if not on half.
    """
    game = load_game(name)
    options = load_options(game, seats, {})
    strong = [Watched(f"{name}-5", seat) for seat in range(seats)]
    begun = process_time()
    outcomes: list[tuple[Any, Any]] = []
    times: list[float] = []
    # Two of three minutes are for the strongest alone.
    while len(outcomes) < deals and (len(outcomes) < 3 or process_time() - begun < 60 * minutes * 2 / 3):
        key, found = match_key(f"benchmark {len(outcomes)}"), []
        for again in (0, 1):
            for player in strong:
                player.again = again
            start = process_time()
            found.append(play(game, options, strong, key))
            times.append(process_time() - start)
        outcomes.append((found[0], found[1]))
    legal = [count for player in strong for count in player.legal]
    bits = [some for player in strong for some in player.bits]
    matches = len(times)
    won = [
        [found.ranks.count(1) ** -1 if rank == 1 else 0.0 for rank in found.ranks]
        for pair in outcomes
        for found in pair
    ]
    by_deal = [
        [mean(both) for both in zip(*won[deal : deal + 2], strict=True)] for deal in range(0, matches, 2)
    ]
    figures: Figures = {
        "deals": len(outcomes),
        "decisions": len(legal) / matches,
        "forced": legal.count(1) / len(legal),
        "legal": mean(legal),
        "most": max(legal),
        "bits": mean(bits) if bits else 0.0,
        "most_bits": max(bits, default=0.0),
        "seconds": mean(times),
        "luck": luck(unsteady(name, game, options, seats, len(outcomes)) or outcomes),
        "draws": mean(found.ranks.count(1) > 1 for pair in outcomes for found in pair),
        "firsts": [interval(column) for column in zip(*by_deal, strict=True)],
        "score": interval([mean([*one.scores, *two.scores]) for one, two in outcomes]),
    }
    played = max(3, len(outcomes) // 2) if level_deals is None else level_deals
    figures["levels"] = levels(name, game, options, strong, played) if played else {}
    return figures


def levels(name: str, game: Any, options: Any, strong: Sequence[Watched], deals: int) -> Figures:
    """For each level below the strongest: its results and scores in one seat beside the strongest bots."""
    found: Figures = {}
    for player in strong:
        player.again = 0
    for level in ["random", *[f"{name}-{number}" for number in LEVELS[:-1]]]:
        bot = Watched(level, len(strong))
        shares, scores = [], []
        for deal in range(deals):
            seat = deal % len(strong)
            outcome = play(
                game,
                options,
                [*strong[:seat], bot, *strong[seat + 1 :]],
                match_key(f"benchmark {deal}"),
            )
            shares.append(results(outcome)[seat])
            scores.append(outcome.scores[seat])
        found[level] = {"deals": deals, "share": interval(shares), "score": interval(scores)}
    return found


# -- the page --------------------------------------------------------------------------------------------------------


def plus_minus(pair: Sequence[float], digits: int = 0, times: float = 1) -> str:
    """`12.3 ± 4.5`."""
    return f"{times * pair[0]:.{digits}f} ± {times * pair[1]:.{digits}f}"


def percent(pair: Sequence[float], deals: int) -> str:
    """A share of points over `deals`, in percent: `12 ± 4`, or a bound if all deals ended alike."""
    if pair[1]:
        return plus_minus(pair, 0, 100)
    low, high = (100 * end for end in deals_interval([pair[0]] * deals))
    return f"at most {ceil(high)}" if low == 0 else f"{floor(low)} to {ceil(high)}"


def share_of_luck(pair: Sequence[float]) -> str:
    """`0.12 (0.00 to 0.40)`: a part of a variance, so what the estimate leaves below 0 or above 1 is cut off."""
    value, low, high = (min(max(each, 0.0), 1.0) for each in (pair[0], pair[0] - pair[1], pair[0] + pair[1]))
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def table(head: str, rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    return "\n".join([*lines, *[f"| {' | '.join(row)} |" for row in rows]])


def of_level(figures: Figures, seats: int) -> str:
    """How a level did beside the strongest bots."""
    score = plus_minus(figures["score"], 1)
    return (
        score
        if seats == 1
        else f"{percent(figures['share'], figures['deals'])} % ({figures['score'][0]:.1f})"
    )


def tables_of(all_figures: dict[str, Figures]) -> str:
    """The tables of the page."""
    shapes, fates, bots = [], [], []
    for name, figures in all_figures.items():
        game, _, number = name.partition(" ")
        seats = int(number)
        where = [game, "solo" if seats == 1 else number]
        hidden = f"{figures['bits']:.1f} ({figures['most_bits']:.1f})" if figures["most_bits"] else "0"
        shapes.append(
            [*where, f"{figures['decisions']:.0f}", f"{100 * figures['forced']:.0f} %", f"{figures['legal']:.1f}",
             str(figures["most"]), hidden, f"{figures['seconds']:.1f}"]
        )  # fmt: skip
        firsts = (
            ", ".join(percent(first, figures["deals"]) for first in figures["firsts"]) if seats > 1 else ""
        )
        draws = f"{100 * figures['draws']:.0f} %" if seats > 1 else ""
        if figures["deals"] >= LEAST:
            fates.append([*where, str(figures["deals"]), share_of_luck(figures["luck"]), firsts, draws])
        found = figures["levels"]
        own = plus_minus(figures["score"], 1) if seats == 1 else f"50 % ({figures['score'][0]:.1f})"
        played = min((each["deals"] for each in found.values()), default=0)
        if played >= LEAST:
            bots.append([*where, str(played), *[of_level(each, seats) for each in found.values()], own])
    return "\n\n".join(
        [
            table(
                "game | seats | decisions | forced | legal actions | most | hidden bits (most) | seconds",
                shapes,
            ),
            table(
                "game | seats | deals | share of luck | first places by seat, in % | shared first places",
                fates,
            ),
            table("game | seats | deals | random play | level 2 | level 3 | level 4 | level 5", bots),
        ]
    )


def page_with(text: str, tables: str) -> str:
    """The page with these tables in their place."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{tables}\n\n{END}{after}"


def read(path: Path) -> str:
    """The text of a file; empty if there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main() -> int:
    """Measure, and write figures and page; the exit code."""
    every = [f"{name} {seats}" for name, sizes in TABLES.items() for seats in sizes]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"some of: {', '.join(every)}")
    parser.add_argument("--deals", type=int, default=100, help="at most (default 100)")
    parser.add_argument(
        "--minutes", type=float, default=60, help="of processor time for each table, about (default 60)"
    )
    parser.add_argument(
        "--levels", type=int, metavar="DEALS", help="of the lower levels (default: half of the deals)"
    )
    parser.add_argument("--figures", type=Path, default=FIGURES, help="where the figures are kept")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page with the tables")
    parser.add_argument("--write", action="store_true", help="play nothing; write the page from the figures")
    parser.add_argument(
        "--check", action="store_true", help="play nothing; fail if the page is not up to date"
    )
    args = parser.parse_args()
    if args.deals < 3 or any(name not in every for name in args.tables):
        parser.error(f"at least three deals, and tables such as {every[0]!r}, {every[1]!r}")
    try:
        if args.check or args.write:
            page = read(args.page)
            wanted = page_with(page, tables_of(json.loads(read(args.figures))))
            if args.write:
                args.page.write_text(wanted, encoding="utf-8")
            return int(args.check and page != wanted)
        for name in args.tables or every:
            game, _, seats = name.partition(" ")
            figures = measure_table(game, int(seats), args.deals, args.minutes, args.levels)
            found = {
                **json.loads(read(args.figures) or "{}"),
                name: figures,
            }  # others may have measured meanwhile
            known = {each: found[each] for each in every if each in found}
            text = json.dumps(known, indent=1) + "\n"
            args.figures.write_text(text, encoding="utf-8")
            args.page.write_text(page_with(read(args.page), tables_of(known)), encoding="utf-8")
            print(f"{name}: {known[name]['deals']} deals", flush=True)
    except (BadInput, OSError, ValueError) as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
