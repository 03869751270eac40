"""Measures the bytes that leave client, scheduler and workers while a league of large bots is played on a cluster.

A Swiss league of bots that each hold a file of random bytes, on workers that are processes of this machine, each with
a bot cache of its own. Prints what each part wrote to its connections.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from distributed import Client
from distributed.comm.tcp import TCP
from tests.soak.dask_processes import DaskProcesses

from warpleague.cli import main as warpleague

RANDOM = Path(__file__).parents[2] / "bots" / "random-python"
LEAGUE = """
name = "large"
seed = "large"
bots = [{bots}]
[game]
id = "aliens"
options = {{ max_turns = 4 }}
[format]
kind = "swiss"
rounds = {rounds}
[clock]
move_s = 600.0
start_s = 600.0
[rules]
level = "none"
"""


def count_writes(**_: Any) -> None:
    """Have this process count the bytes that it writes to connections of Dask's."""
    write = TCP.write

    async def counted(self: Any, *args: Any, **how: Any) -> Any:
        size = await write(self, *args, **how)
        TCP.written = written() + size  # type: ignore[attr-defined]
        return size

    TCP.write = counted


def written(**_: Any) -> int:
    """How many bytes this process has written since `count_writes`."""
    return int(getattr(TCP, "written", 0))


def make_league(folder: Path, bots: int, mb: float, rounds: int) -> Path:
    """A league file with so many bots, each with a file of so many MB."""
    names = []
    for number in range(bots):
        bot = folder / "bots" / f"large-{number}"
        bot.mkdir(parents=True)
        text = (RANDOM / "bot.toml").read_text().replace("random-python", bot.name)
        (bot / "bot.toml").write_text(text)
        (bot / "bot.py").write_bytes((RANDOM / "bot.py").read_bytes())
        (bot / "weights").write_bytes(os.urandom(int(mb * 1e6)))
        names.append(f'"{bot}"')
    path = folder / "large.toml"
    path.write_text(LEAGUE.format(bots=", ".join(names), rounds=rounds))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--mb", type=float, default=2.0, help="size of a bot")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--runs", type=int, default=1, help="play so many leagues of the same bots")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        league = make_league(folder, args.bots, args.mb, args.rounds)
        os.environ["WARPLEAGUE_CACHE"] = str(folder / "cache")
        dask = DaskProcesses(folder)
        try:
            for _ in range(args.workers):
                dask.worker()
            with Client(dask.address, set_as_default=False) as client:
                client.wait_for_workers(args.workers)
                client.run_on_scheduler(count_writes)
                client.run(count_writes)
                count_writes()
                for number in range(args.runs):
                    before = written(), client.run_on_scheduler(written), sum(client.run(written).values())
                    command = ["league", "run", str(league), "--cluster", dask.address, "--quiet"]
                    status = warpleague([*command, "--results", str(folder / f"results{number}")])
                    after = written(), client.run_on_scheduler(written), sum(client.run(written).values())
                    parts = zip(("client", "scheduler", "workers"), before, after, strict=True)
                    print(
                        f"run {number + 1}, exit code {status}: {args.bots} bots of {args.mb:g} MB, "
                        f"{args.workers} workers:",
                        ", ".join(f"{part} {(end - begin) / 1e6:,.1f} MB" for part, begin, end in parts),
                        flush=True,
                    )
                    if status:
                        sys.exit(status)
        finally:
            dask.end()


if __name__ == "__main__":
    main()
