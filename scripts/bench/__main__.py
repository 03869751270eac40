"""Measure the rates that docs/bench.md names on this machine, most of them as ratios within one run.

.venv/bin/python scripts/bench                                  every row that takes less than minutes, five times
.venv/bin/python scripts/bench wire match --rounds 3 --game aliens
.venv/bin/python scripts/bench --scale 0.05 --rounds 1          only a little, to try the script
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from context import Bench

from warpleague.games import game_ids, load_game
from warpleague.league.ratings.threads import one_thread
from warpleague.runner.confine.launch import compiled_starter

with one_thread():  # as commands load numpy: on one core its threads would only wait for each other
    from rows import ROWS, SLOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from context import Figure


def main() -> int:
    """Measure what the arguments name, and print a table or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    slow = ", ".join(SLOW)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"only these (default: all but {slow})")
    parser.add_argument(
        "--rounds", type=int, default=5, help="measure so often, and print medians (default 5)"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="how long each row is (default 1)")
    parser.add_argument("--game", action="append", choices=game_ids(), help="only this game, or these")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    args = parser.parse_args()
    chosen = args.rows or [name for name in ROWS if name not in SLOW]
    if unknown := set(chosen) - set(ROWS):
        parser.error(f"there is no row {', '.join(sorted(unknown))}; rows: {', '.join(ROWS)}")
    taken: dict[str, list[Sequence[Figure]]] = {name: [] for name in chosen}
    with tempfile.TemporaryDirectory() as folder:
        games = {name: load_game(name) for name in args.game or game_ids()}
        bench = Bench(Path(folder), games, args.scale)
        for number in range(args.rounds):
            for name in chosen:
                if number == 0 or name not in SLOW:
                    print(f"round {number + 1} of {args.rounds}: {name}", file=sys.stderr)
                    taken[name].append(ROWS[name](bench))
    figures = [row for name in chosen for row in medians(name, taken[name])]
    if args.json:
        print(json.dumps({"compiled": compiled_starter() is not None, "figures": figures}, indent=2))
        return 0
    print(f"medians of {args.rounds}, {'with' if compiled_starter() else 'without'} the part in C")
    for row in figures:
        goal = "" if row["goal"] is None else f"{row['goal_is']} {row['goal']:.4g}"
        verdict = {None: "", True: "reached", False: "missed"}[row["met"]]
        value = "" if row["value"] is None else f"{row['value']:,.4g} {row['unit']}"
        ratio = "not measurable" if row["ratio"] is None else f"{row['ratio']:.3g} x {row['over']}"
        if row["over"] is None:
            value, ratio = value or "not measurable", ""
        print(f"{row['row']:12} {row['label']:34} {value:>18} {ratio:>26} {goal:>14} {verdict}")
    return 0


def medians(name: str, rounds: Sequence[Sequence[Figure]]) -> list[dict[str, Any]]:
    """The figures of a row: medians of the rounds that could measure it, and whether these reach the goal."""
    found = []
    for same in zip(*rounds, strict=True):
        first = same[0]
        values = [figure.value for figure in same if figure.value is not None]
        ratios = [figure.ratio for figure in same if figure.ratio is not None]
        value, ratio = (round(median(all_), 4) if all_ else None for all_ in (values, ratios))
        judged = ratio if first.over else value
        met = None
        if first.goal is not None and judged is not None:
            met = judged <= first.goal if first.at_most else judged >= first.goal
        found.append(
            {
                "row": name,
                "label": first.label,
                "value": value,
                "unit": first.unit,
                "ratio": ratio,
                "over": first.over or None,
                "goal": first.goal,
                "goal_is": "at most" if first.at_most else "at least",
                "met": met,
            }
        )
    return found


if __name__ == "__main__":
    sys.exit(main())
