"""What the scripts about the server share: processes that end with the script, requests, and bots to submit."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, ClassVar

from warpleague.arena.submissions import accounts
from warpleague.arena.submissions.ledger import Ledger, set_limit
from warpleague.errors import StoreError
from warpleague.league.store.store import Store
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.runner.host import descendants

WORDS = (sys.executable, "-m", "warpleague")
API = "/api/submissions?league=open"
BOTS = 4
"""So many bots are submitted, version after version."""


def write_league(folder: Path, bots: list[str], *, level: str = "sandbox", options: str = "{}") -> Path:
    """A ladder without end; its file. Of a bot that is named more than once, each plays under a name of its own."""
    root = shipped_root() / "bots"
    entries = []
    for number, bot in enumerate(bots):
        own = f', name = "house-{number}"' if bots.count(bot) > 1 else ""
        entries.append(f"{{path = {json.dumps(str(root / bot))}{own}}}")
    path = folder / "open.toml"
    path.write_text(
        f'bots = [{", ".join(entries)}]\n[game]\nid = "aliens"\noptions = {options}\n[format]\nkind = "ladder"\n'
        f'[rules]\nlevel = "{level}"\n'
    )
    return path


def author(results: Path) -> str:
    """The token of an author who may send as much as there is."""
    with Ledger.open(results) as ledger:
        set_limit(ledger, "per_day", 100_000, "soak")
        set_limit(ledger, "bots", BOTS, "soak")
        return accounts.add_author(ledger, "ada", "soak")


def archive(number: int, padding: int = 0, bot: str = "random-python") -> bytes:
    """The archive of a copy of `bot`: the next version of one of `BOTS`, with so many bytes more."""
    files = {
        path.name: path.read_bytes() for path in (shipped_root() / "bots" / bot).iterdir() if path.is_file()
    }
    manifest = files["bot.toml"].decode()
    for key, value in (("name", f"bot-{number % BOTS}"), ("version", str(number))):
        manifest = re.sub(rf"(?m)^{key} = .*$", f'{key} = "{value}"', manifest)
    files |= {"bot.toml": manifest.encode(), "padding": os.urandom(padding)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as packed:
        for path, data in files.items():
            head = tarfile.TarInfo(path)
            head.size = len(data)
            packed.addfile(head, io.BytesIO(data))
    return out.getvalue()


def stored(folder: Path) -> int:
    """How many matches are stored; 0 as long as there is no store."""
    try:
        with Store.open_to_read(folder / "results" / "open") as store:
            return store.count()
    except StoreError as error:
        if "nothing has been played yet" in str(error):
            return 0
        raise


class Running:
    """A process of ours: `warpleague WORDS...` in a folder. Its log is the file `log` there."""

    begun: ClassVar[list["Running"]] = []
    """All of them, so that a script that fails can end them."""

    def __init__(self, folder: Path, *words: str, preexec_fn: Any = None) -> None:
        self.log = folder / "log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                (*WORDS, *words),
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=preexec_fn,
            )
        self.begun.append(self)

    def port(self) -> int:
        """The port of a server, once it is there."""
        assert self.process.stdout is not None
        return int(re.findall(r":(\d+)/", self.process.stdout.readline())[0])

    def workers(self) -> dict[str, int]:
        """The processes of a server that run now, by the names that it gives them in its log."""
        lines = [line for line in self.log.read_text().splitlines() if line.startswith('{"at"')]
        events = [event for event in map(json.loads, lines) if event["event"] == "started"]
        alive = descendants(self.process.pid)
        return {event["process"]: event["pid"] for event in events if event["pid"] in alive}

    def kill(self) -> None:
        """End it as nothing can be prepared for."""
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Have it end."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(90)


def end_all() -> None:
    """End what is left of all processes that were begun, with what these have started."""
    for one in Running.begun:
        left = descendants(one.process.pid) if one.process.poll() is None else []
        one.kill()
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def ask(port: int, path: str, data: bytes | None = None, token: str = "") -> tuple[int, Any]:
    """Ask for a page, or send an archive: the status, and what is told, from JSON if it is that."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if data is not None:
        headers["Content-Type"] = "application/x-tar"
    try:
        connection.request("GET" if data is None else "POST", path, data, headers)
        answer = connection.getresponse()
        text = answer.read()
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        return answer.status, json.loads(text) if is_json else text
    finally:
        connection.close()
