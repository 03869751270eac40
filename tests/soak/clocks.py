"""Plays every shipped bot that searches, at every size of table, with short clocks and beside programs that compute.

    python tests/soak/clocks.py [--busy 8] [--deals 1] [--games captains coasters]

Nobody may be charged with a fault. Each match is told with the longest decision of each bot, in processor time, and
how many of its searches were stopped by their bound. The exit code is 1 if there was a fault.
"""

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import MatchResult, MatchSpec, TimeControl
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.play import play_match

BOTS = Path(__file__).parents[2] / "bots"
CLOCKS = {
    "50 ms": TimeControl(move_s=0.05),
    "100 ms": TimeControl(move_s=0.1),
    "bank 1 s + 50 ms": TimeControl(bank_s=1.0, increment_s=0.05),
    "1 s": TimeControl(move_s=1.0),
}
SIZES = {"aliens": (2,), "captains": (1, 2, 3, 4, 5), "coasters": (2, 4, 6, 10), "sheets": (1, 2, 3, 4)}
OTHERS = {
    "aliens": ["aliens-search", "aliens-greedy"],
    "captains": ["captains-planner"],
    "coasters": ["coasters-hunter", "coasters-diplomat"],
    "sheets": ["sheets-greedy"],
}
SHORT = {
    "aliens": {"max_turns": 40},
    "captains": {"max_rounds": 8},
    "coasters": {"max_rounds": 8},
    "sheets": {},
}


def play(game_id: str, bots: list[str], clock: TimeControl, seed: str) -> MatchResult:
    """A short match of these bots."""
    game = load_game(game_id)
    seats = tuple(prepare(BOTS / bot, "limits").seat() for bot in bots)
    options = options_json(load_options(game, len(bots), SHORT[game_id]))
    spec = MatchSpec("clock", game_id, options, seats, match_key(seed), clock=clock, level="limits")
    return play_match(spec)


def told(bots: list[str], result: MatchResult) -> str:
    """The longest decision of each bot, and how many were stopped."""
    longest: dict[str, float] = defaultdict(float)
    stopped: dict[str, int] = defaultdict(int)
    for text in result.record.splitlines():
        line = json.loads(text)
        if line["type"] == "act" and "ms" in line:
            bot = bots[line["seat"]]
            longest[bot] = max(longest[bot], line["ms"][1] or line["ms"][0])
            stopped[bot] += line.get("note", "").startswith("stopped the search")
    return ", ".join(f"{bot} {longest[bot]:.0f} ms ({stopped[bot]} stopped)" for bot in sorted(longest))


def main() -> int:
    """Play all tables; 1 if anybody was charged with a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--busy", type=int, default=8, help="programs that compute at the same time (default 8)"
    )
    parser.add_argument("--deals", type=int, default=1, help="of each table and clock (default 1)")
    parser.add_argument("--games", nargs="+", choices=SIZES, default=list(SIZES))
    args = parser.parse_args()
    faults = 0
    with ExitStack() as stack:
        for _ in range(args.busy):
            program = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(program.kill)
        for game in args.games:
            field = [*OTHERS[game], *(f"ladder/{game}-{level}" for level in (5, 4, 3, 2)), "search-python"]
            for size in SIZES[game]:
                for first in range(0, len(field), size):
                    bots = [field[(first + seat) % len(field)] for seat in range(size)]
                    for name, clock in CLOCKS.items():
                        for deal in range(args.deals):
                            result = play(game, bots, clock, f"{game} {size} {deal}")
                            found = [fault for seat in result.faults for fault in seat]
                            faults += len(found)
                            print(f"{game}, {size} seats, {name}: {told(bots, result)}", *found, flush=True)
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
