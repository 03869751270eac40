#!/usr/bin/env python3
"""Play two bots against each other in this process, without clocks: the share of points, Elo, and time of each.

    python scripts/duels.py sheets sheets-5 sheets-greedy --deals 100
    python scripts/duels.py aliens aliens-5:HORIZON=1 aliens-search --deals 40 --seed other
    python scripts/duels.py "captains solo" captains-4 captains-planner

Each deal is played in both seat orders, and its luck is shared; so the error comes from the sums of deals. In solo the
bots play the same deals, and the one with more points wins. Bots are named as in `scripts/luck.py`.
The time is that of the processor, so a busy machine changes it little.
"""

from __future__ import annotations

import argparse
from math import log10, sqrt
from statistics import mean, stdev
from time import process_time
from typing import Any

from luck import Player, play

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options

FORM = 2
"""Of the records whose dice are used."""
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


def elo(share: float) -> float:
    """The difference in Elo that a share of points means."""
    share = min(max(share, 0.001), 0.999)
    return 400 * log10(share / (1 - share))


def points(one: float, two: float) -> float:
    """1 for a win, 0.5 for a draw."""
    return (1 + (one > two) - (one < two)) / 2


def deal(game: Any, options: Any, pair: list[Timed], key: bytes) -> tuple[float, float]:
    """The share of points of the first bot in one deal, and by how much its score is better, on average."""
    if game.match_of(game.initial(options[0], options[1]))[0] == 1:
        one, two = (play(game, options[1], [player], key, FORM) for player in pair)
        scores = [outcome.scores[0] - (outcome.rival or 0) for outcome in (one, two)]
        return points(scores[0], scores[1]), scores[0] - scores[1]
    first = play(game, options[1], pair, key, FORM)
    second = play(game, options[1], pair[::-1], key, FORM)
    share = (points(-first.ranks[0], -first.ranks[1]) + points(-second.ranks[1], -second.ranks[0])) / 2
    return share, (first.scores[0] - first.scores[1] + second.scores[1] - second.scores[0]) / 2


def main() -> None:
    """Print how it stands now and then, and at the end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game", help='such as sheets, or "sheets solo"')
    parser.add_argument("bots", nargs=2, metavar="BOT")
    parser.add_argument("--deals", type=int, default=50)
    parser.add_argument("--seed", default="duels")
    args = parser.parse_args()
    name, _, alone = args.game.partition(" ")
    if args.deals < 2 or alone not in ("", "solo"):
        parser.error('at least two deals, and a game such as sheets or "sheets solo"')
    try:
        game = load_game(name)
    except BadInput as error:
        parser.error(str(error))
    players = 1 if alone else 2
    options = (players, load_options(game, players, {}))
    pair = [Timed(bot, number) for number, bot in enumerate(args.bots)]
    found: list[tuple[float, float]] = []
    for number in range(args.deals):
        found.append(deal(game, options, pair, match_key(f"{args.seed} {number}")))
        count = number + 1
        if count == args.deals or (count > 1 and count % TOLD == 0):
            shares, margins = zip(*found, strict=True)
            share, error = mean(shares), 1.96 * stdev(shares) / sqrt(count)
            margin, wide = mean(margins), 1.96 * stdev(margins) / sqrt(count)
            one, two = args.bots
            told = f"{count} deals: {one} scored {100 * share:.1f} % ± {100 * error:.1f} against {two}"
            low, high = elo(share - error), elo(share + error)
            told += f", Elo {elo(share):+.0f} ({low:+.0f} to {high:+.0f}), score {margin:+.2f} ± {wide:.2f}"
            print(told, flush=True)
    for bot, player in zip(args.bots, pair, strict=True):
        times = player.times_ms
        print(f"{bot}: {len(times)} decisions, {mean(times):.0f} ms each, at most {max(times):.0f} ms")


if __name__ == "__main__":
    main()
