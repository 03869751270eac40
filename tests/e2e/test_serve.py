"""A server with its scheduler: pages while matches are played, restarts, and a clean end."""

import json
import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import PATIENCE_S

from warpleague.league.store.store import Store

BOT = """\
import time
from random import Random
from warpline.client import run


def choose(question):
    time.sleep(0.015)
    return Random(f"{question.seed} {question.id}").randrange(len(question.legal))


run(choose, wants=("legal",))
"""
MANIFEST = """\
name = "{name}"
version = "1"
games = ["aliens"]
run = ["python3", "bot.py"]
authors = ["Ada <script>alert(1)</script>"]
description = "thinks <b>a little</b>"
"""


SERVE = """
import sys
from warpleague.arena import live
from warpleague.arena.web import league_feed
live.ENDED_S = 3600.0
league_feed._MAX_CPU_SHARE = 1.0
from warpleague.cli import main
sys.exit(main())
"""
"""Serves; what is over can be watched for an hour, since on a busy machine a minute is soon over, and the page of the
league is made anew each second, however long that takes."""


class Server:
    """A running `warpleague serve`, and how to ask it."""

    def __init__(self, process: subprocess.Popen[str], host: str) -> None:
        self.process, self.host = process, host

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Status and text of a page."""
        connection = HTTPConnection(self.host, timeout=PATIENCE_S)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def leads(self, path: str) -> str | None:
        """Where a page leads to."""
        connection = HTTPConnection(self.host, timeout=PATIENCE_S)
        with closing(connection):
            connection.request("GET", path)
            return connection.getresponse().getheader("Location")

    def news(self, path: str) -> Generator[dict[str, Any], None, None]:
        """What a stream tells, message by message."""
        connection = HTTPConnection(self.host, timeout=PATIENCE_S)
        with closing(connection):
            connection.request("GET", path)
            with connection.getresponse() as answer:
                assert answer.status == 200
                while line := answer.readline():
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])

    def packed_news(self, path: str) -> Generator[dict[str, Any], None, None]:
        """The same for who unpacks gzip, as browsers do: each message can be read as soon as it has come."""
        unpacker, text = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS), b""
        connection = HTTPConnection(self.host, timeout=PATIENCE_S)
        with closing(connection):
            connection.request("GET", path, headers={"Accept-Encoding": "gzip, br"})
            with connection.getresponse() as answer:
                assert answer.getheader("Content-Encoding") == "gzip"
                while data := answer.read1():
                    *lines, text = (text + unpacker.decompress(data)).split(b"\n")
                    yield from (json.loads(line[6:]) for line in lines if line.startswith(b"data: "))

    def health(self) -> Any:
        """What the health page tells."""
        return json.loads(self.get("/health")[1])


def scheduler_of(folder: Path) -> int:
    """The process of the scheduler, which the server names in its own log only."""
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    return int([line for line in lines if line.get("process") == "scheduler open"][-1]["pid"])


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[Server]:
    """A server over the league file in a folder."""
    command = [sys.executable, "-c", SERVE, "serve", "open.toml", "--port", "0", *words]
    with (folder / "log").open("a") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("open http://127.0.0.1:"), (folder / "log").read_text()
        yield Server(process, line.split("/")[2])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        process.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a league of two bots that think a little; what they write goes on without end."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(BOT)
        (tmp_path / name / "bot.toml").write_text(MANIFEST.format(name=name))
    (tmp_path / "open.toml").write_text(
        'bots = ["one", "two"]\n[game]\nid = "aliens"\n[game.options]\nmax_turns = 10\n'
        '[format]\nkind = "ladder"\n[run]\njobs = 1\n[rules]\nlevel = "none"\n'
    )
    return tmp_path


def stored(folder: Path) -> int:
    """How many matches are stored."""
    with Store.open_to_read(folder / "results" / "open") as store:
        return store.count()


def test_what_nobody_could_follow_is_shown_when_it_is_over(folder: Path) -> None:
    """Who watches a bot sees its matches of the last minute from their records, one after the other, then waits."""
    league = folder / "open.toml"
    league.write_text(league.read_text().replace('kind = "ladder"', "deals = 1"))
    command = [sys.executable, "-m", "warpleague", "league", "run", "open.toml", "--quiet"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with Store.open_to_read(folder / "results" / "open") as store:
        records = {match.id: store.record(match.id) for match in store.latest(9)}
    with serving(folder, "--no-play") as server:
        with closing(server.news("/l/open/news?v=0")) as news:
            next(told for told in news if "standings" in told["sections"])
        watch = "/l/open/bots/one/live"
        seen = []
        while (place := server.leads(f"{watch}?after={seen[-1] if seen else ''}")) is not None:
            match = place.removeprefix("../../live/").removesuffix("?bot=one")
            told = list(server.news(f"/l/open/live/{match}/news?whole"))
            moves = [words for message in told for frame in message["frames"] for words in frame["told"]]
            assert told[-1]["over"]
            assert "trouble" not in told[-1]
            assert len(moves) >= records[match].count(b'"type":"act"')
            seen.append(match)
        assert sorted(seen) == sorted(records)
        assert server.get(f"{watch}?after={seen[-1]}")[0] == 200
        status, text = server.get("/l/open/bots/nobody/live")
        assert status == 404
        assert "has not played in this league yet" in text


def test_a_league_is_served_while_it_is_played(folder: Path) -> None:
    """Standings, matches move by move, replays, bots and texts; a killed scheduler is replaced; the end is clean."""
    with serving(folder) as server:
        watched: list[dict[str, Any]] = []
        with closing(server.news("/l/open/news?v=0")) as news:
            for told in news:
                if told["playing"] and not watched:
                    match = told["playing"][0]["id"]
                    status, page = server.get(f"/l/open/live/{match}")
                    if status == 303:
                        continue  # it was over before it could be watched
                    assert '<html lang="en">' in page
                    watched = list(server.news(f"/l/open/live/{match}/news"))
                if "standings" in told["sections"] and told["latest"] and watched:
                    break
        assert watched[-1]["over"]
        # Who comes a moment too late is led to the replay; who watches a bot sees the match from its beginning.
        assert server.get(f"/l/open/live/{match}")[0] == 303
        status, text = server.get(f"/l/open/live/{match}?bot=one")
        assert (status, "the next match of one" in text) == (200, True)
        assert server.get(f"/l/open/bots/one/live?after={'0' * 20}")[0] == 303
        again = list(server.news(f"/l/open/live/{match}/news?whole"))
        assert again[-1]["over"]
        assert len([frame for message in again for frame in message["frames"] if "scene" in frame]) > 2
        assert server.get("/l/open/bots/three/live")[0] == 404
        lines = [line for message in watched for frame in message["frames"] for line in frame["told"]]
        assert any("place" in line for line in lines)
        assert any("scene" in frame for message in watched for frame in message["frames"])
        # The values of coins that lie face down are their owner's secret.
        assert not [line for line in lines if " at (" in line and " place " in line and "?" not in line]

        replay = f"/l/open/matches/{told['latest'][0]['id']}.html"
        status, text = server.get(replay)
        assert (status, "Check it" in text) == (200, True)
        assert server.get(replay) == (200, text)
        assert len(list((folder / "results" / "open" / "pages").glob("*.html"))) == 1
        # What few look at comes from a file beside it, which is made when it is wanted, also where it was pruned.
        assert not list((folder / "results" / "open" / "pages").glob("*.js"))
        status, script = server.get(replay.replace(".html", ".js"))
        assert (status, "warpleagueMore" in script) == (200, True)
        assert server.get(replay) == (200, text)
        (beside,) = (folder / "results" / "open" / "pages").glob("*.js")
        beside.unlink()
        assert server.get(replay.replace(".html", ".js")) == (200, script)
        assert server.get("/l/open/matches/order.js")[0] == 200
        for path in ("/", "/l/open/", "/bots", "/authors", "/l/open/bots/one", "/docs/", "/rules/aliens"):
            status, text = server.get(path)
            assert (path, status) == (path, 200)
            assert "<script>alert" not in text
            assert "<b>a little" not in text
        home = server.get("/")[1]
        assert ">one</a>" in home
        latest = told["latest"][0]
        assert [place["rank"] for place in latest["places"]] == sorted(latest["ranks"])
        with closing(server.packed_news("/news")) as news:
            sections = next(news)["sections"]
        assert "matches/" in sections["latest"]
        assert " s, <time" in sections["latest"]
        assert "Being played" in sections["playing"]
        assert "l/open/bots/two" in sections["leagues"]
        page = server.get("/l/open/bots/one")[1]
        for part in ("course", "last", "against", "versions", "faults", "times"):
            assert f'<section id="{part}">' in page
        assert "Ada &lt;script&gt;" in server.get("/authors")[1]
        for path in (
            "/l/other/",
            f"/l/open/matches/{'0' * 20}.html",
            f"/l/open/matches/{'0' * 20}.js",
            "/docs/../x",
            "/l/open/bots/three",
            "/x",
        ):
            assert server.get(path)[0] == 404
        assert server.get("/", host="rebound.example")[0] == 421

        before = server.health()["processes"]["scheduler open"]
        assert before["runs"]
        assert "pid" not in before
        os.kill(scheduler_of(folder), signal.SIGKILL)
        played = stored(folder)
        with closing(server.packed_news("/l/open/news?v=0")) as news:
            first = next(news)
            next(_ for _ in news if stored(folder) > played)
        assert first["sections"].keys() >= told["sections"].keys()
        now = server.health()
        assert now["processes"]["scheduler open"]["starts"] == 2
        scheduler = scheduler_of(folder)
    assert server.process.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(scheduler, 0)
    events = [json.loads(line)["event"] for line in (folder / "log").read_text().splitlines()]
    assert (events[-1], "takes no bots" in events) == ("ended", True)  # they are not in the sandbox
    assert "request failed" not in events
    assert not list((folder / "results" / "open" / "live").iterdir())
