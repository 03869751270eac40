#!/usr/bin/env python3
"""Play two bots against each other in this process, without clocks: the share of points, Elo, and time of each.

    python scripts/duels.py sheets sheets-5 sheets-greedy --deals 100
    python scripts/duels.py aliens aliens-5:HORIZON=1 aliens-search --deals 40 --seed other
    python scripts/duels.py "captains solo" captains-4 captains-planner
    python scripts/duels.py captains captains-4 captains-3 --seats 5 --deals 40

Each deal is played in both seat orders, and its luck is shared; so the error comes from the sums of deals. At larger
tables (`--seats`) the bots share the seats, in turn one by one and half by half, and change them for the second match
of the deal; the share is that of all pairs of seats of different bots. In solo the bots play the same deals, and the
one with more points wins. Bots are named as in `scripts/luck.py`.
With `--results FILE` each deal leaves a line of JSON, and deals that have one are not played again: so a row can be
stopped and continued. The dice of a deal follow from the seed and its number, and no deal is drawn again.
The time is that of the processor, so a busy machine changes it little.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

from luck import Player, play

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.league.ratings.statistics import Mean, elo_of
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options

TOLD = 20
"""Deals between two lines."""


class Timed(Player):
    """A player that counts the processor time of its decisions."""

    def __init__(self, name: str, number: int) -> None:
        super().__init__(name, number)
        self.times_ms: list[float] = []

    def choose(self, game: Any, state: Any, seat: int) -> Any:
        """Its action."""
        start = process_time()
        action = super().choose(game, state, seat)
        self.times_ms.append(1000 * (process_time() - start))
        return action


def elo(share: float, low: float, high: float) -> str:
    """The difference in Elo that a share of points means, with its interval: `+269 (+169 to +369)`."""
    value, *ends = (f"{elo_of(each):+.0f}" if 0.001 < each < 0.999 else "" for each in (share, low, high))
    least, most = ends
    between = f"{least} to {most}" if least and most else f"at least {least}" if least else f"at most {most}"
    return f"{value} ({between})" if value else between


def points(one: float, two: float) -> float:
    """1 for a win, 0.5 for a draw."""
    return (1 + (one > two) - (one < two)) / 2


def seating(seats: int, number: int) -> list[int]:
    """Which bot, 0 or 1, has each seat in a deal's first match: one by one or half by half, moved on each time."""
    bots = [seat % 2 if number % 2 == 0 else seat * 2 // seats for seat in range(seats)]
    moved = number // 2 % seats
    return bots[moved:] + bots[:moved]


def deal(
    game: Any, options: Any, bots: list[list[Timed]], key: bytes, places: list[int]
) -> tuple[list[float], float]:
    """The share of points of the first bot in each match of a deal, and by how much its score is better, on average.

    `bots` has a player of each bot for each seat; `places` says which bot has which seat in the first match. A third
    bot keeps its seats in the second match, and does not count.
    """
    if len(places) == 1:
        one, two = (play(game, options, players, key) for players in bots[:2])
        scores = [outcome.scores[0] - (outcome.rival or 0) for outcome in (one, two)]
        return [points(scores[0], scores[1])], scores[0] - scores[1]
    shares, margins = [], []
    for here in (places, [(1, 0, 2)[bot] for bot in places]):
        found = play(game, options, [bots[bot][seat] for seat, bot in enumerate(here)], key)
        own, other = ([seat for seat, bot in enumerate(here) if bot == which] for which in (0, 1))
        shares.append(mean(points(-found.ranks[a], -found.ranks[b]) for a in own for b in other))
        margins.append(mean(found.scores[a] for a in own) - mean(found.scores[b] for b in other))
    return shares, mean(margins)


def kept(path: Path | None, row: dict[str, Any]) -> list[tuple[float, float]]:
    """The results of the first deals of a row that a file has: share and margin of each, in order."""
    if path is None or not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = {line["deal"]: (line["share"], line["margin"]) for line in lines if row.items() <= line.items()}
    return [found[number] for number in range(len(found)) if number in found]


def told(bots: list[str], found: list[tuple[float, float]]) -> str:
    """How it stands after two deals or more: the share of points, Elo and score, with 95 % intervals over deals."""
    shares, margins = zip(*found, strict=True)
    low, high = Mean.of(shares).share_interval() or (0.0, 1.0)
    score = Mean.of(margins)
    share, one, two = mean(shares), *bots
    text = f"{len(found)} deals: {one} scored {100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f}) against {two}"
    text += f", Elo {elo(share, low, high)}, score {score.mean:+.2f}"
    return text + ("" if score.half is None else f" ± {score.half:.2f}")


def main() -> None:
    """Print how it stands now and then, and at the end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game", help='such as sheets, or "sheets solo"')
    parser.add_argument("bots", nargs=2, metavar="BOT")
    parser.add_argument("--seats", type=int, default=2, help="at each table (default 2)")
    parser.add_argument("--deals", type=int, default=50)
    parser.add_argument("--seed", default="duels")
    parser.add_argument("--results", type=Path, metavar="FILE", help="one line a deal, to stop and continue")
    args = parser.parse_args()
    name, _, alone = args.game.partition(" ")
    if args.deals < 2 or alone not in ("", "solo"):
        parser.error('at least two deals, and a game such as sheets or "sheets solo"')
    players = 1 if alone else args.seats
    try:
        game = load_game(name)
        options = load_options(game, players, {})
    except BadInput as wrong:
        parser.error(str(wrong))
    bots = [[Timed(bot, number) for _ in range(players)] for number, bot in enumerate(args.bots)]
    row = {"game": name, "seats": players, "bots": args.bots, "seed": args.seed}
    try:
        found = kept(args.results, row)[: args.deals]
    except (OSError, ValueError, KeyError) as wrong:
        parser.error(f"{args.results}: not a file of results, one line of JSON a deal: {wrong!r}")
    if len(found) == args.deals:
        print(told(args.bots, found))
    for number in range(len(found), args.deals):
        places = seating(players, number)
        shares, margin = deal(game, options, bots, match_key(f"{args.seed} {number}"), places)
        found.append((mean(shares), margin))
        if args.results:
            line = {**row, "deal": number, "share": found[-1][0], "margin": found[-1][1]}
            with args.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        count = number + 1
        if count == args.deals or (count > 1 and count % TOLD == 0):
            print(told(args.bots, found), flush=True)
    for bot, seated in zip(args.bots, bots, strict=True):
        times = [ms for player in seated for ms in player.times_ms]
        if times:
            print(f"{bot}: {len(times)} decisions, {mean(times):.0f} ms each, at most {max(times):.0f} ms")


if __name__ == "__main__":
    main()
