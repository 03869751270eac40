"""Plays a bot that computes a known time beside many programs that compute, and shows what it was charged.

The bot is owed its time at any niceness and load: it is charged what it computes, and it never faults. The programs
beside it end after `--seconds`, so that the machine is busy for no longer than that; what is left of the match is
played without them.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BURNER = "import signal, sys; signal.alarm(int(sys.argv[1]))\nwhile True: pass"
BOT = """
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
def burners(count: int, seconds: int) -> Iterator[None]:
    """So many programs that compute, for so many seconds at most, however this program ends."""
    command = [sys.executable, "-c", BURNER, str(seconds)]
    running = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
        for each in running:
            each.wait()


def play(args: argparse.Namespace, niceness: int, level: str, folder: Path) -> list[dict[str, Any]]:
    """Play one match at `niceness`, with programs beside it; the lines of its record."""
    record = folder / f"{level}-{niceness}.jsonl"
    command = ["nice", "-n", str(niceness), sys.executable, "-m", "warpleague", "match", "aliens"]
    command += [str(folder / "burn")] * 2
    command += [
        "--seed",
        "1",
        "--option",
        f"max_turns={args.turns}",
        "--move-s",
        str(args.move_s),
        "--level",
        level,
    ]
    with burners(args.load, args.seconds):
        done = subprocess.run(
            [*command, "--record", str(record)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if done.returncode:
        print(done.stdout)
        return []
    return [json.loads(line) for line in record.read_text().splitlines()]


def main() -> int:
    """Exit code 0: every decision was charged what it computed, within the tolerance, and nobody faulted; else 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--load", type=int, default=20, help="programs that compute beside (default 20)")
    parser.add_argument(
        "--seconds", type=int, default=60, help="for how long at most, for each match (default 60)"
    )
    parser.add_argument("--nice", type=int, nargs="+", default=[0, 10, 19], help="niceness of the harness")
    parser.add_argument("--levels", nargs="+", default=["limits", "sandbox"])
    parser.add_argument("--computes-s", type=float, default=0.1, help="what each decision computes")
    parser.add_argument("--move-s", type=float, default=0.33, help="the clock of each decision")
    parser.add_argument("--tolerance-s", type=float, default=0.02, help="what may be charged beyond that")
    parser.add_argument("--turns", type=int, default=2, help="turns of aliens (default 2)")
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="warpleague-clock-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        (folder / "burn").mkdir()
        (folder / "burn" / "bot.toml").write_text(MANIFEST)
        (folder / "burn" / "bot.py").write_text(BOT.format(computes_s=args.computes_s))
        print(
            f"{'level':8} {'nice':>4} {'decisions':>9} {'charged ms: least':>17} {'median':>7} {'most':>7}",
            end="",
        )
        print(f" {'beyond computing':>16} {'waited ms':>10}  faults")
        for level in args.levels:
            for niceness in args.nice:
                lines = play(args, niceness, level, folder)
                times = [line["ms"] for line in lines if "ms" in line and line.get("type") != "end"]
                faults = [line["detail"]["message"] for line in lines if line.get("type") == "fault"]
                charged = sorted(ms[0] for ms in times) or [0.0]
                beyond = max((ms[0] - (ms[1] or 0.0) for ms in times), default=0.0)
                waited = sum(ms[2] for ms in times)
                print(f"{level:8} {niceness:4} {len(times):9} {charged[0]:17.1f} ", end="")
                print(f"{statistics.median(charged):7.1f} {charged[-1]:7.1f} {beyond:16.1f} ", end="")
                print(f"{waited:10.0f}  {faults or 'none'}", flush=True)
                failures += (
                    len(faults) + (charged[-1] > 1000 * (args.computes_s + args.tolerance_s)) + (not lines)
                )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
