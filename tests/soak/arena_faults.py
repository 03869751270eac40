"""Kills the processes of a server at random moments, or fills its disk, while bots are submitted and matches played.

Authors send archive after archive; some break off in the middle, and what was not answered is sent again, as
`warpleague submit` does. In the end each archive that was sent whole must be there once, settled, and each that was
broken off not at all; of each bot one version plays, and its source can be read; the journal agrees; no match is lost,
and the store verifies. A check that was killed three times may be refused for that, and for nothing else.

    python tests/soak/arena_faults.py --kills 100
    python tests/soak/arena_faults.py --full 10      needs root, for a small disk
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from random import Random
from typing import Any

from served import API, WORDS, Running, archive, ask, author, end_all, stored, write_league

from warpleague.arena.submissions import entering, versions
from warpleague.arena.submissions.ledger import Ledger
from warpleague.league.season.config import load_config

_PADDING = 300_000
"""Bytes of an archive beside its bot, so that it is on its way for some time."""
_LARGE = 8_000_000
"""Bytes of an archive for which a full disk has no place, not even in a file that was larger before."""
_PAUSE_S = 1.5
"""At most so long an author waits before the next archive: checks are slow while the checker is killed."""
_MAX_WAITING = {"kills": 300, "full": 20}
"""Archives that wait for their check; beyond that only broken ones are sent. The small disk has no place for more."""
_DISK_MIB = 400
_RESERVE = 1 << 20
_LONGEST_WAIT_S = 900.0


def wait_for(what: str, ready: Callable[[], Any]) -> Any:
    """What `ready` returns once that is true; an error of the connection means that it is not."""
    end_s = time.monotonic() + _LONGEST_WAIT_S
    while time.monotonic() < end_s:
        with suppress(OSError, HTTPException):
            if found := ready():
                return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain: {what}")


def wait_for_change(what: str, look: Callable[[], Any]) -> None:
    """Wait until `look` returns something else than now."""
    before = look()
    wait_for(what, lambda: look() != before)


class Authors:
    """Send archives to a port until they are stopped."""

    def __init__(self, port: int, token: str, ledger: Ledger, seed: str, most_waiting: int) -> None:
        self.sent: dict[str, str] = {}
        """The archives that were sent whole, by their digests; what the server answered."""
        self.cut: set[str] = set()
        self.answers: Counter[str] = Counter()
        self.failure: BaseException | None = None
        self.port, self.token, self.ledger, self.rng = port, token, ledger, Random(seed)
        self.most_waiting = most_waiting
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def stop(self) -> None:
        """Send no more."""
        self.over.set()
        self.thread.join()
        if self.failure is not None:
            raise self.failure

    def run(self) -> None:
        try:
            number = 0
            while not self.over.is_set():
                left = sum(one.settled is None for one in versions.submissions(self.ledger, most=9999))
                number += 1
                data = archive(number, self.rng.randrange(_PADDING))
                if left >= self.most_waiting or self.rng.random() < 0.3:
                    self.break_off(data)
                else:
                    self.send(data)
                self.over.wait(self.rng.uniform(0, _PAUSE_S))
        except BaseException as error:  # noqa: BLE001 - raised in the main thread
            self.failure = error

    def send(self, data: bytes) -> None:
        """Send an archive until it is answered that it is there."""
        digest = sha256(data).hexdigest()
        self.sent[digest] = ""  # it may be there from now on
        while True:
            try:
                status, told = ask(self.port, API, data, self.token)
            except (OSError, HTTPException):
                self.answers["no answer"] += 1
            else:
                self.answers[str(status)] += 1
                if status == 202:
                    self.sent[digest] = "received"
                    return
                assert status in (503, 507), (status, told)
                assert told["error"], told
            if self.over.wait(0.05):
                return

    def try_large(self, rng: Random) -> str:
        """Send an archive that has no place on a full disk; what is answered."""
        data = archive(rng.randrange(1 << 40), _LARGE)
        status, told = ask(self.port, API, data, self.token)
        assert status == 507, (status, told)
        self.cut.add(sha256(data).hexdigest())  # so it must not be there
        return f"{status} {told['error']}"

    def break_off(self, data: bytes) -> None:
        """Send a part of an archive, and go."""
        self.cut.add(sha256(data).hexdigest())
        head = (
            f"POST {API} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/x-tar\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        self.answers["broken off"] += 1
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 60) as connection:
            connection.sendall(head.encode() + data[: self.rng.randrange(len(data))])
            if self.rng.random() < 0.5:  # not even an end: the server sees a broken connection
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def free_port() -> int:
    """A port that nobody has; the server that is started again gets the same one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def serve(folder: Path, port: int) -> Running:
    """A server, once it answers."""
    server = Running(folder, "serve", "open.toml", "--port", str(port), "--logs-mb", "1")
    server.port()
    return server


def progress(folder: Path, ledger: Ledger) -> tuple[int, int]:
    """How many matches are stored, and how many steps of submissions were made."""
    return stored(folder), int(ledger.rows("SELECT count(*) FROM journal")[0][0])


def kill(folder: Path, port: int, args: argparse.Namespace, rng: Random, authors: Authors) -> str:
    """Kill the server, its scheduler or its checker at random moments."""
    server: Running | None = None
    ledger = authors.ledger
    killed, most = Counter[str](), 0
    for number in range(args.kills):
        server = server or serve(folder, port)
        if number % 3:  # most of them while something happens, the others while it begins
            wait_for_change("something happens", partial(progress, folder, ledger))
        time.sleep(rng.uniform(0, args.within_s))
        victim = rng.choice(["server", "scheduler open", "checker"])
        pid = server.workers().get(victim)
        if pid is None:  # the server itself, or nobody is there at this moment
            victim = "server"
            server.kill()
            server = None
        else:
            os.kill(pid, signal.SIGKILL)
        killed[victim.split()[0]] += 1
        count = stored(folder)
        assert count >= most, f"{most} matches were stored, now {count}"
        most = count
    (server or serve(folder, port)).end()
    return f"kills: {dict(killed)}"


def fill(folder: Path, port: int, args: argparse.Namespace, rng: Random, authors: Authors) -> str:
    """Fill the disk to the brim at random moments, see what is told, and give it room again."""
    server, ballast = serve(folder, port), folder / "results" / "ballast"
    told = Counter[str]()
    for _ in range(args.full):
        wait_for_change("a match is played", partial(stored, folder))
        time.sleep(rng.uniform(0, args.within_s))
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(_RESERVE if rng.random() < 0.9 else 4096))
        status, health = ask(port, "/health")
        assert (status, health["status"]) == (503, "failing"), health
        for path in ("/", "/l/open/", "/bots"):
            assert ask(port, path)[0] == 200, path
        told[authors.try_large(rng)] += 1
        time.sleep(rng.uniform(0, args.within_s))
        if rng.random() < 0.5:  # room for uploads, but not enough to check them
            os.truncate(ballast, ballast.stat().st_size - 64 * _RESERVE)
            time.sleep(rng.uniform(0, args.within_s))
        ballast.unlink()
        wait_for("all is well again", lambda: ask(port, "/health")[0] == 200)
        told["full disks"] += 1
    server.end()
    return f"{dict(told)}"


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A disk of its own for the results."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MIB}m", "tmpfs", str(folder)]
    if subprocess.run(command, check=False).returncode:
        sys.exit("this needs root, to mount a small disk")
    try:
        yield
    finally:
        end_all()
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def settle(folder: Path, port: int, ledger: Ledger, path: Path) -> None:
    """Let everything that was sent be checked and entered."""
    server = serve(folder, port)
    wait_for("all is settled", lambda: all(one.settled for one in versions.submissions(ledger, most=9999)))
    before = stored(folder)
    wait_for("a match is played", lambda: stored(folder) > before)
    server.end()
    command = (*WORDS, "league", "verify", "open.toml")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    left = list((folder / "results" / "open" / "live").glob("*"))
    assert not left, f"files of matches that nobody plays: {left}"
    config = load_config(path)
    assert len(entering.entered(ledger, config).bots) == 2 + len(
        versions.versions_in(ledger, "open", active=True)
    )


def look(ledger: Ledger, authors: Authors) -> str:
    """Compare the rows with what was sent, with the journal, and with what lies in the folder."""
    found = versions.submissions(ledger, most=99_999)
    told = Counter(
        (entry.details["submission"], entry.what)
        for entry in ledger.journal(100_000)
        if entry.what.startswith("submission")
    )
    count = Counter(one.sha256 for one in found)
    assert not authors.cut & set(count), "half an upload is in"
    for digest, answer in authors.sent.items():
        assert count.pop(digest, 0) == 1 or not answer, f"archive {digest} was lost or doubled"
    assert not count, f"nobody sent {count}"
    for one in found:
        assert one.settled, one
        assert told[one.id, "submission received"] == told[one.id, f"submission {one.state}"] == 1, one
        assert one.state == "accepted" or "ended the checker" in one.found[-1].text, one
        assert (versions.stored_archive(ledger, one.id) is not None) == (one.state == "accepted"), one
    for bot in {one.bot for one in found if one.bot}:
        newest = max(one.id for one in found if one.bot == bot and one.state == "accepted")
        assert [one.id for one in found if one.bot == bot and one.active] == [newest]
    kept = {int(path.name.partition("-")[0]) for path in (ledger.results / "arena" / "bots").iterdir()}
    assert kept == {one.id for one in found if one.state == "accepted"}
    accepted = sum(one.state == "accepted" for one in found)
    return (
        f"{len(authors.sent)} archives sent whole, {len(authors.cut)} broken off, answers: {dict(authors.answers)}\n"
        f"{len(found)} submissions, {accepted} accepted: none half in, lost or doubled"
    )


def main() -> None:
    """Kill or fill, while bots are submitted; then look."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--full", type=int, default=0, help="fill the disk so often instead")
    parser.add_argument("--within-s", type=float, default=4.0, help="the longest time between two of these")
    parser.add_argument("--seed", default="arena")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, rng, port = Path(name), Random(args.seed), free_port()
        os.environ["WARPLEAGUE_CACHE"] = str(folder / "cache")
        path = write_league(folder, ["aliens-greedy", "random-python"], options="{ max_turns = 20 }")
        try:
            with small_disk(folder / "results") if args.full else nullcontext():
                run(folder, path, port, args, rng)
        finally:
            end_all()


def run(folder: Path, path: Path, port: int, args: argparse.Namespace, rng: Random) -> None:
    """All of it, in one folder."""
    token = author(folder / "results")
    begun = time.monotonic()
    with Ledger.open(folder / "results") as ledger:
        most_waiting = _MAX_WAITING["full" if args.full else "kills"]
        authors = Authors(port, token, ledger, args.seed, most_waiting)
        try:
            happened = (fill if args.full else kill)(folder, port, args, rng, authors)
        except BaseException:
            print((folder / "log").read_text()[-5000:], file=sys.stderr)
            raise
        finally:
            authors.stop()
        settle(folder, port, ledger, path)
        print(f"{happened}, {stored(folder)} matches, {time.monotonic() - begun:.0f} s")
        print(look(ledger, authors))


if __name__ == "__main__":
    main()
