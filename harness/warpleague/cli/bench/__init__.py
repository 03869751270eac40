"""Measure the wire, the engines, whole matches and start-up on this machine, as ratios within one run.

How each figure is measured is in `warpleague.cli.bench.measures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.cli.common import add_examples, count, print_json, say

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague bench`."""
    parser.add_argument(
        "--rounds", type=count(1), default=5, metavar="N", help="rounds; medians are shown (default 5)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one short round: to see that it works, not to measure"
    )
    parser.add_argument(
        "--game", action="append", metavar="GAME", help="only this game; repeatable (default: all)"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    add_examples(parser, "bench --quick", "bench --game aliens --json")
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """Take all figures and print them."""
    from warpleague.cli.bench.measures import Bench
    from warpleague.games import game_ids

    games = tuple(args.game or game_ids())
    bench = Bench(games, rounds=1 if args.quick else args.rounds, quick=args.quick)
    figures = bench.run(None if args.json else say)
    if args.json:
        print_json(figures)
        return 0
    from warpleague.report.bench import print_figures

    print_figures(figures)
    return 0
