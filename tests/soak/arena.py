"""Measures a server under spectators: what it takes from the matches, how fast its pages are, whether memory grows.

A league is played for some time without spectators and without a server, then with a server and spectators on live
pages who ask for pages besides, and so on in turns. Ratios count, since machines differ: matches a minute with a
server against those without, and the processor time of the server against all that is there. With `--kills` server and
scheduler are killed at random moments instead, and the store is verified in the end.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any

import trio

from warpleague.league.store import Store
from warpleague.runner.bundle.shipped import shipped_root

GAME = "aliens"
WORDS = (sys.executable, "-m", "warpleague")


def write_league(folder: Path, bots: list[str]) -> None:
    """A ladder without end."""
    root = shipped_root() / "bots"
    paths = ", ".join(json.dumps(str(root / bot)) for bot in bots)
    (folder / "open.toml").write_text(
        f'bots = [{paths}]\n[game]\nid = "{GAME}"\n[format]\nkind = "ladder"\n[rules]\nlevel = "none"\n'
    )


def stored(folder: Path) -> int:
    """How many matches are stored."""
    with Store.open_to_read(folder / "results" / "open") as store:
        return store.count()


class Running:
    """A process of ours, until the block ends."""

    def __init__(self, folder: Path, *words: str) -> None:
        with (folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                (*WORDS, *words), cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True
            )

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def cpu_s(self) -> float:
        """The processor time that it has taken, without that of its children."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Have it end."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(90)


async def get(port: int, path: str) -> tuple[int, float]:
    """Status of a page, and how long it took in seconds."""
    begun = time.perf_counter()
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        await stream.send_all(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
        )
        data = b""
        while part := await stream.receive_some(65536):
            data += part
    return int(data.split(b" ", 2)[1]), time.perf_counter() - begun


async def spectate(port: int, told: list[int]) -> None:
    """Keep a live page open, and count what it is told."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        await stream.send_all(f"GET /l/open/news?v=0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        while part := await stream.receive_some(65536):
            told[0] += len(part)
            told[1] += part.count(b"data: ")


async def crowd(port: int, spectators: int, seconds: float, times: list[float], told: list[int]) -> None:
    """Spectators for some time, one of whom asks for a page every tenth of a second."""
    pages = ["/", "/l/open/", "/bots", "/authors", "/health", "/rules/aliens", "/l/open/bots/aliens-greedy"]
    async with trio.open_nursery() as nursery:
        for _ in range(spectators):
            nursery.start_soon(spectate, port, told)
        end_s = trio.current_time() + seconds
        rng = random.Random(1)
        while trio.current_time() < end_s:
            status, took_s = await get(port, rng.choice(pages))
            if status == 200:
                times.append(took_s)
            await trio.sleep(0.1)
        nursery.cancel_scope.cancel()


def measure(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Turns without and with a server and spectators."""
    rates: dict[str, list[float]] = {"without": [], "with": []}
    times: list[float] = []
    told = [0, 0]
    shares, memory = [], []
    for _ in range(args.rounds):
        alone = Running(folder, "arena", "play", "open.toml", "--logs-mb", "0")
        rates["without"].append(rate(folder, args.seconds))
        alone.end()
        server = Running(folder, "serve", "open.toml", "--port", "0", "--logs-mb", "0")
        port = int(re.findall(r":(\d+)/", server.line())[0])
        before = wait_for_play(folder)
        cpu_s, begun = server.cpu_s(), time.monotonic()
        trio.run(crowd, port, args.spectators, args.seconds, times, told)
        passed_s = time.monotonic() - begun
        rates["with"].append(60 * (stored(folder) - before) / passed_s)
        shares.append((server.cpu_s() - cpu_s) / passed_s / len(os.sched_getaffinity(0)))
        memory.append(json.loads(body(port, "/health"))["memory_bytes"])
        server.end()
    times.sort()
    return {
        "spectators": args.spectators,
        "matches_a_minute": {name: [round(value) for value in found] for name, found in rates.items()},
        "ratio": round(statistics.median(rates["with"]) / statistics.median(rates["without"]), 3),
        "servers_share_of_processors": [round(share, 3) for share in shares],
        "pages": len(times),
        "page_ms": {
            "median": round(1000 * statistics.median(times), 1),
            "p99": round(1000 * times[int(len(times) * 0.99)], 1),
            "most": round(1000 * times[-1], 1),
        },
        "told": {"bytes": told[0], "messages": told[1]},
        "memory_bytes": memory,
    }


def wait_for_play(folder: Path) -> int:
    """The number of matches stored as soon as one more is."""
    first = None
    while True:
        try:
            now = stored(folder)
        except Exception:  # noqa: BLE001 - there may be no store yet
            now = 0
        first = now if first is None else first
        if now > first:
            return now
        time.sleep(0.05)


def rate(folder: Path, seconds: float) -> float:
    """Matches a minute, from the first that is stored on."""
    before = wait_for_play(folder)
    begun = time.monotonic()
    time.sleep(seconds)
    return 60 * (stored(folder) - before) / (time.monotonic() - begun)


def body(port: int, path: str) -> bytes:
    """The text of a page."""
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    data = connection.getresponse().read()
    connection.close()
    return data


def kill(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Kill the server or its scheduler at random moments; in the end the store must hold, and no process be left."""
    rng = random.Random(args.seed)
    counts, wrong = [], []
    killed = {"server": 0, "scheduler": 0}
    server: Running | None = None
    for _ in range(args.kills):
        if server is None:
            server = Running(folder, "serve", "open.toml", "--port", "0", "--logs-mb", "1")
            port = int(re.findall(r":(\d+)/", server.line())[0])
        time.sleep(rng.uniform(0, args.within_s))
        try:
            pid = json.loads(body(port, "/health"))["processes"]["scheduler open"]["pid"]
        except (OSError, HTTPException, KeyError):
            pid = None
        if pid is not None and rng.random() < 0.5:
            os.kill(pid, signal.SIGKILL)
            killed["scheduler"] += 1
        else:
            server.process.kill()
            server.process.wait()
            killed["server"] += 1
            server = None
        try:
            counts.append(stored(folder))
        except Exception:  # noqa: BLE001 - nothing was stored yet
            counts.append(0)
        if len(counts) > 1 and counts[-1] < counts[-2]:
            wrong.append(f"{counts[-2]} matches were stored, now {counts[-1]}")
    if server is None:
        server = Running(folder, "serve", "open.toml", "--port", "0", "--logs-mb", "1")
        server.line()
    wait_for_play(folder)
    server.end()
    done = subprocess.run(
        (*WORDS, "league", "verify", "open.toml"), cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        wrong.append(done.stdout + done.stderr)
    left = list((folder / "results" / "open" / "live").glob("*"))
    if left:
        wrong.append(f"files of matches that nobody plays: {left}")
    return {"killed": killed, "matches": counts[-1], "verified": done.stdout.splitlines()[:2], "wrong": wrong}


def main() -> int:
    """Exit code 1: something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spectators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each turn takes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bots", nargs="+", default=["aliens-greedy", "random-python", "aliens-search"])
    parser.add_argument("--kills", type=int, default=0, help="kill so often instead")
    parser.add_argument("--within-s", type=float, default=3.0, help="the longest time between two kills")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_league(folder, args.bots)
        found = (kill if args.kills else measure)(folder, args)
    print(json.dumps(found, indent=2))
    return 1 if found.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
