"""Measures a server under spectators: what it takes from the matches, how fast its pages are, whether memory grows.

A league is played for some time without spectators and without a server, then with a server, with spectators on
live pages who ask for pages besides, and with bots that are submitted, and so on in turns. Ratios count, since
machines differ: matches a minute with a server against those without. All bots are copies of one, so that a match
costs the same in each turn, whoever meets whom. The visitors are a process of this machine, too, so the ratio is a
lower bound. With `--minutes` one server runs for so long instead, and the memory of each process is told by quarters
of that time.

    python tests/soak/arena.py
    python tests/soak/arena.py --minutes 30 --spectators 25 --submissions 2
"""

import argparse
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import attrs
import trio
from served import API, BOTS, WORDS, Running, archive, ask, author, stored, write_league

from warpleague.runner.host import descendants

T = TypeVar("T")

PAGES = ("/", "/l/open/", "/bots", "/authors", "/health", "/rules/aliens", "/l/open/bots/house-0")
_CHUNK = re.compile(rb"(?:^|\r\n)[0-9a-f]{1,8}\r\n")
"""How a message begins on a stream: with its size."""
_QUARTERS = 4
_SAMPLE_S = 5.0
_PAGE_S = 0.5
_NEARLY = 0.95
"""This part of the spectators is all of them: who changes to the next match has no page open for a moment."""
_GROWTH = 1.1
"""What a process may have more in the last quarter than in the second; the first one is still filling its caches."""


@attrs.define
class Seen:
    """What visitors have seen: how long pages took in seconds, bytes and messages on live pages, submissions."""

    page_s: list[tuple[float, str]] = attrs.Factory(list)
    bytes: int = 0
    messages: int = 0
    sent: int = 0
    settled_s: list[float] = attrs.Factory(list)
    not_accepted: list[str] = attrs.Factory(list)


async def get(port: int, path: str) -> tuple[int, float, bytes]:
    """Status of a page, how long it took in seconds, and the page."""
    begun = time.perf_counter()
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        await stream.send_all(head.encode())
        data = b""
        while part := await stream.receive_some(65536):
            data += part
    return int(data.split(b" ", 2)[1]), time.perf_counter() - begun, data


async def follow(port: int, path: str, seen: Seen) -> None:
    """Keep a live page open until the server ends it, and count what it is told."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept-Encoding: gzip\r\n\r\n"
        await stream.send_all(head.encode())
        while part := await stream.receive_some(65536):
            seen.bytes += len(part)
            # A chunk of its own; what says how large it is has a line of its own.
            seen.messages += len(_CHUNK.findall(part))
            if part.endswith(b"0\r\n\r\n"):
                return


async def spectate(port: int, seen: Seen, number: int) -> None:
    """See the page of the league; one spectator of five sees a match, and the next one when that is over."""
    while True:
        live = []
        if number % 5 == 0:
            _, _, page = await get(port, "/l/open/")
            live = re.findall(rb'href="(live/[0-9a-f]{20})"', page)
        # A page that was loaded before tells which version it shows.
        path = f"{random.choice(live).decode()}/news" if live else f"news?v={int(time.time() * 1000)}"
        with trio.move_on_after(60 if live else 3600):
            await follow(port, f"/l/open/{path}", seen)
        await trio.sleep(0.5)


async def submit(port: int, token: str, args: argparse.Namespace, seen: Seen, first: int) -> None:
    """Send bots, and measure how long each takes until its author knows the result."""
    async with trio.open_nursery() as nursery:
        for number in range(first, sys.maxsize):
            nursery.start_soon(send, port, token, archive(number, bot=args.bot), seen)
            await trio.sleep(60 / args.submissions)


async def send(port: int, token: str, packed: bytes, seen: Seen) -> None:
    """Send one bot, and ask for its result until that is there."""
    begun = time.monotonic()
    status, told = await trio.to_thread.run_sync(ask, port, API, packed, token)
    assert status == 202, told
    seen.sent += 1
    while not told["settled"]:
        await trio.sleep(0.5)
        path = f"/api/submissions/{told['id']}"
        _, told = await trio.to_thread.run_sync(ask, port, path, None, token)
    seen.settled_s.append(time.monotonic() - begun)
    if told["state"] != "accepted":
        seen.not_accepted.append(f"{told['state']}: {told['found']}")


async def crowd(
    port: int, token: str, args: argparse.Namespace, seconds: float, seen: Seen, begin: Callable[[], T]
) -> T:
    """Spectators and authors for some time; one visitor asks for two pages a second, to see how long they take.

    The time begins when nearly all spectators have come; what `begin` returns then is returned in the end.
    """
    async with trio.open_nursery() as nursery:
        for number in range(args.spectators):
            nursery.start_soon(spectate, port, seen, number)
        await arrived(port, args.spectators)
        begun = begin()
        if args.submissions:
            nursery.start_soon(submit, port, token, args, seen, seen.sent)
        end_s = trio.current_time() + seconds
        rng = random.Random(1)
        while trio.current_time() < end_s:
            path = rng.choice(PAGES)
            status, took_s, page = await get(port, path)
            if status == 200:
                seen.page_s.append((took_s, path))
            found = re.findall(rb'href="(matches/[0-9a-f]{20}\.html)"', page)
            if found and rng.random() < 0.5:  # a replay now and then: it is made on demand
                await get(port, f"/l/open/{rng.choice(found).decode()}")
            await trio.sleep(_PAGE_S)
        nursery.cancel_scope.cancel()
    return begun


async def arrived(port: int, spectators: int) -> None:
    """Wait until nearly all spectators have a live page open."""
    with trio.fail_after(60):
        while True:
            _, health = await trio.to_thread.run_sync(ask, port, "/health")
            if health["leagues"]["open"]["watchers"] >= _NEARLY * spectators:
                return
            await trio.sleep(0.1)


def wait_for_play(folder: Path) -> int:
    """The number of matches stored as soon as one more is."""
    first = stored(folder)
    while (now := stored(folder)) == first:
        time.sleep(0.05)
    return now


def fill(folder: Path, args: argparse.Namespace, token: str) -> None:
    """Have the first version of each bot submitted and accepted, so that each turn has equally many bots."""
    server = Running(folder, "serve", "open.toml", "--port", "0", "--logs-mb", "0")
    port, seen = server.port(), Seen()
    for number in range(-BOTS, 0):
        trio.run(send, port, token, archive(number, bot=args.bot), seen)
    assert not seen.not_accepted, seen.not_accepted
    server.end()


def measure(folder: Path, args: argparse.Namespace, token: str) -> dict[str, Any]:
    """Turns without and with a server, spectators and submissions."""
    fill(folder, args, token)
    rates: dict[str, list[float]] = {"without": [], "with": []}
    seen = Seen()

    def begin() -> tuple[int, float]:
        return wait_for_play(folder), time.monotonic()

    def end(which: str, running: Running, before: int, begun: float) -> None:
        rates[which].append(60 * (stored(folder) - before) / (time.monotonic() - begun))
        running.end()

    for _ in range(args.rounds):
        alone = Running(folder, "arena", "play", "open.toml", "--logs-mb", "0")
        wait_for_play(folder)
        begun = begin()
        time.sleep(args.seconds)
        end("without", alone, *begun)
        server = Running(folder, "serve", "open.toml", "--port", "0", "--logs-mb", "0")
        port = server.port()
        wait_for_play(folder)
        end("with", server, *trio.run(crowd, port, token, args, args.seconds, seen, begin))
    middle = {which: statistics.median(found) for which, found in rates.items()}
    return {
        "spectators": args.spectators,
        "matches_a_minute": {name: [round(value) for value in found] for name, found in rates.items()},
        "ratio": round(middle["with"] / middle["without"], 3),
        **told(seen),
    }


def told(seen: Seen) -> dict[str, Any]:
    """What visitors have seen, as figures."""
    times = sorted(seen.page_s)
    waits = sorted(seen.settled_s)
    return {
        "pages": len(times),
        "page_ms": {
            "median": round(1000 * times[len(times) // 2][0], 1),
            "p99": round(1000 * times[int(len(times) * 0.99)][0], 1),
            "slowest": [f"{1000 * took_s:.1f} {path}" for took_s, path in times[-5:]],
        },
        "told": {"bytes": seen.bytes, "messages": seen.messages},
        "submissions": {
            "sent": seen.sent,
            "settled": len(waits),
            "settled_after_s": [round(waits[len(waits) // 2], 1), round(waits[-1], 1)] if waits else [],
            "not_accepted": seen.not_accepted,
        },
    }


def memory_of(running: Running) -> Iterator[tuple[str, int]]:
    """What each process of the harness has of the memory, in bytes; pages that several share count in parts.

    Without the pages of files: how much these count depends on which other programs run on the machine.
    """
    server = running.process.pid
    roles = {server: "server"}
    for name, worker in running.workers().items():
        for pid in (worker, *descendants(worker)):
            roles[pid] = name.split()[0] if pid == worker else f"below {name.split()[0]}"
    for pid in (server, *descendants(server)):
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if any(word.partition(b".")[0] == b"warpleague" for word in words):  # bots are not ours
                found = re.search(r"Pss_Anon: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())
                if found:
                    yield roles.get(pid, "page maker"), int(found[1]) * 1024


async def watch_memory(server: Running, samples: list[dict[str, int]]) -> None:
    """Sample memory until this is cancelled."""
    while True:
        found: defaultdict[str, int] = defaultdict(int)
        for role, size in await trio.to_thread.run_sync(lambda: list(memory_of(server))):
            found[role] += size
        files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
        samples.append({**found, "open files of the server": files})
        await trio.sleep(_SAMPLE_S)


def remember(folder: Path, args: argparse.Namespace, token: str) -> dict[str, Any]:
    """Have one server run for long, and compare the quarters of that time."""
    seen, samples = Seen(), list[dict[str, int]]()
    server = Running(folder, "serve", "open.toml", "--port", "0", "--logs-mb", "5", "--pages-mb", "5")
    port = server.port()
    wait_for_play(folder)

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch_memory, server, samples)
            await crowd(port, token, args, 60 * args.minutes, seen, lambda: None)
            nursery.cancel_scope.cancel()

    trio.run(run)
    matches = stored(folder)
    server.end()
    parts = [
        samples[len(samples) * part // _QUARTERS : len(samples) * (part + 1) // _QUARTERS]
        for part in range(4)
    ]
    medians = {
        role: [round(statistics.median(sample.get(role, 0) for sample in part)) for part in parts]
        for role in sorted({role for sample in samples for role in sample})
    }
    flat = {
        role: found[-1] <= _GROWTH * found[1] + 1_000_000
        for role, found in medians.items()
        if role != "below checker"
    }
    return {
        "minutes": args.minutes,
        "matches": matches,
        "spectators": args.spectators,
        "median_of_each_quarter": {
            role: [round(size / 1e6, 1) if size > 10_000 else size for size in found]
            for role, found in medians.items()
        },
        **told(seen),
        "wrong": [f"{role}: grows" for role, good in flat.items() if not good],
    }


def main() -> int:
    """Exit code 1: something was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spectators", type=int, default=200)
    parser.add_argument("--submissions", type=float, default=20.0, help="a minute")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each turn takes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bot", default="aliens-greedy", help="all bots are copies of this one")
    parser.add_argument("--minutes", type=float, help="look at memory for so long instead")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["WARPLEAGUE_CACHE"] = str(folder / "cache")
        write_league(folder, [args.bot] * 3)
        token = author(folder / "results")
        # What the machine keeps of the sandbox is tried once, and not within a turn.
        check = (*WORDS, "arena", "check", "open.toml", "--once")
        subprocess.run(check, cwd=folder, check=True, stderr=subprocess.DEVNULL)
        found = (remember if args.minutes else measure)(folder, args, token)
    print(json.dumps(found, indent=2))
    return 1 if found.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
