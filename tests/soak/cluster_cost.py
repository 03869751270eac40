"""Measures the processor time of client and scheduler for each match of a league on a cluster of this machine.

Prints matches a second on this machine alone and on clusters of 1, 2, ... workers, and for each cluster the
milliseconds of processor that `league run` and the scheduler took for a match, its start subtracted.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dask_processes import DaskProcesses

IDLE_S = 10.0
BOTS = Path(__file__).parents[2] / "bots"
CONFIG = """
name = "cost"
seed = "cost"
bots = ["{bots}/{bot}", {{ path = "{bots}/{bot}", name = "twin" }}]
[game]
id = "aliens"
options = {{ max_turns = {turns} }}
[format]
deals = {deals}
dice = "{dice}"
[rules]
level = "none"
"""


def cpu_s(pid: int) -> float:
    """The processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(config: Path, *more: str) -> tuple[float, float]:
    """Play the league; the seconds that its run took, and its processor time without that of its children."""
    command = [sys.executable, "-P", "-m", "warpleague", "league", "run", str(config), "--quiet", *more]
    began_s, last_s = time.monotonic(), 0.0
    with subprocess.Popen(
        [*command, "--results", str(config.parent / "results")], stdout=subprocess.DEVNULL
    ) as done:
        while done.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                last_s = cpu_s(done.pid)
            time.sleep(0.02)
    assert done.returncode == 0, f"the run ended with exit code {done.returncode}"
    return time.monotonic() - began_s, last_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=2000)
    parser.add_argument("--turns", type=int, default=20, help="longer matches have more")
    parser.add_argument("--bot", default="random-c")
    parser.add_argument("--dice", default="own")
    parser.add_argument("--workers", type=int, nargs="*", default=[1])
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of each worker")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:

        def league(name: str, matches: int) -> Path:
            config = Path(folder, name, "cost.toml")
            config.parent.mkdir()
            text = CONFIG.format(
                bots=BOTS, bot=args.bot, turns=args.turns, deals=matches // 2, dice=args.dice
            )
            config.write_text(text)
            return config

        few = args.matches // 10
        run(league("built", 2), "--jobs", "1")
        first, all_ = run(league("here-few", few)), run(league("here", args.matches))
        count = args.matches - few
        print(
            f"here: {count / (all_[0] - first[0]):.0f} matches a second, "
            f"client {1000 * (all_[1] - first[1]) / count:.2f} ms a match",
            flush=True,
        )
        for workers in args.workers:
            place = Path(folder, f"dask{workers}")
            place.mkdir()
            dask = DaskProcesses(place)
            try:
                for _ in range(workers):
                    dask.worker(args.threads)
                wait_for(dask, workers)
                more = ("--cluster", dask.address)
                first = run(league(f"few{workers}", few), *more)
                before_s = cpu_s(dask.scheduler.pid)
                all_ = run(league(f"all{workers}", args.matches), *more)
                scheduler_s = cpu_s(dask.scheduler.pid) - before_s
                time.sleep(IDLE_S)
                idle = (cpu_s(dask.scheduler.pid) - before_s - scheduler_s) / IDLE_S
                print(
                    f"{workers} workers of {args.threads}: {count / (all_[0] - first[0]):.0f} matches a second, "
                    f"client {1000 * (all_[1] - first[1]) / count:.2f} ms, "
                    f"scheduler {1000 * scheduler_s / args.matches:.2f} ms a match; "
                    f"an idle scheduler takes {1000 * idle:.0f} ms a second",
                    flush=True,
                )
            finally:
                dask.end()


def wait_for(dask: DaskProcesses, workers: int) -> None:
    """Wait until so many workers are registered."""
    from distributed import Client

    with Client(dask.address, set_as_default=False) as client:
        client.wait_for_workers(workers)


if __name__ == "__main__":
    main()
