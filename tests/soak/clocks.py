"""Plays bots beside programs that compute: nobody may be charged with a fault, or with time that others took.

First a bot that computes a known time plays itself, at several nicenesses and levels: it is charged what it computes.
Then every shipped bot that searches plays, at every size of table, with short clocks. Told of each match are the
longest decision of each bot, in processor time, and how many of its searches were stopped by their bound. The exit
code is 1 if somebody was charged with more than was its own.

    python tests/soak/clocks.py [--busy 8] [--deals 1] [--games captains coasters]
    python tests/soak/clocks.py --games --busy 20 --nice 0 10 19        the known time alone
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
SHORT: dict[str, dict[str, int]] = {
    "aliens": {"max_turns": 40},
    "captains": {"max_rounds": 8},
    "coasters": {"max_rounds": 8},
    "sheets": {},
}
BURN = """
import time
from warpline.client import run

def choose(question):
    until = time.process_time() + {computes_s}
    while time.process_time() < until:
        pass
    return 0

run(choose, wants=())
"""
MANIFEST = 'name = "burn"\nversion = "1"\ngames = ["*"]\nrun = ["python3", "bot.py"]\n'


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many programs that compute, for ten minutes at most, however this program ends."""
    code = "import signal; signal.alarm(600)\nwhile True: pass"
    running = [subprocess.Popen([sys.executable, "-c", code], start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def known(args: argparse.Namespace) -> int:
    """Play the bot that computes a known time; how many matches it was charged too much in."""
    failures = 0
    with tempfile.TemporaryDirectory(prefix="warpleague-clock-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        bot = folder / "burn"
        bot.mkdir()
        (bot / "bot.toml").write_text(MANIFEST)
        (bot / "bot.py").write_text(BURN.format(computes_s=args.computes_s))
        for level in args.levels:
            for niceness in args.nice:
                record = folder / f"{level}-{niceness}.jsonl"
                match = (
                    sys.executable,
                    "-m",
                    "warpleague",
                    "match",
                    "aliens",
                    str(bot),
                    str(bot),
                    "--seed",
                    "1",
                )
                more = ("--option", f"max_turns={args.turns}", "--move-s", str(args.move_s), "--level", level)
                command = ["nice", "-n", str(niceness), *match, *more, "--record", str(record)]
                with busy(args.busy):
                    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                lines: list[dict[str, Any]] = [json.loads(line) for line in record.read_text().splitlines()]
                times = [line["ms"] for line in lines if "ms" in line and line.get("type") != "end"]
                faults = [line["detail"]["message"] for line in lines if line.get("type") == "fault"]
                charged = sorted(ms[0] for ms in times)
                failures += bool(faults) or charged[-1] > 1000 * (args.computes_s + args.tolerance_s)
                print(
                    f"{level}, niceness {niceness}: {len(times)} decisions of {1000 * args.computes_s:.0f} ms, "
                    f"charged {charged[0]:.1f}, {statistics.median(charged):.1f}, {charged[-1]:.1f} ms "
                    f"(least, median, most), waited {sum(ms[2] for ms in times):.0f} ms; faults: {faults or 'none'}",
                    flush=True,
                )
    return failures


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


def searching(args: argparse.Namespace) -> int:
    """Play all tables of the bots that search; how many faults they were charged with."""
    faults = 0
    for game in args.games:
        field = [*OTHERS[game], *(f"opponents/{game}-{level}" for level in (5, 4, 3, 2)), "search-python"]
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
    return faults


def main() -> int:
    """Exit code 0: nobody was charged with what was not its own; else 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--busy", type=int, default=8, help="programs that compute beside (default 8)")
    parser.add_argument("--deals", type=int, default=1, help="of each table and clock (default 1)")
    parser.add_argument("--games", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--nice", type=int, nargs="+", default=[0, 10, 19], help="niceness of the harness")
    parser.add_argument("--levels", nargs="+", default=["limits", "sandbox"])
    parser.add_argument("--computes-s", type=float, default=0.1, help="what each known decision computes")
    parser.add_argument("--move-s", type=float, default=0.33, help="its clock")
    parser.add_argument("--tolerance-s", type=float, default=0.02, help="what may be charged beyond that")
    parser.add_argument("--turns", type=int, default=2, help="its turns of aliens (default 2)")
    args = parser.parse_args()
    wrong = known(args)
    with busy(args.busy):
        wrong += searching(args)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
