"""Shares recorded matches of every game, and a league of such matches, all played by the referee in this process.

What pages and sites made of them must hold is told by the tests.
"""

import json
import re
from collections.abc import Callable
from concurrent.futures import Future
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest

from warpleague.games import load_game
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.running import run_league
from warpleague.league.referees.pool import Pool
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.match.chance import match_key
from warpleague.match.referee import Referee, Situation
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec, TimeControl, Violation
from warpleague.report.site.delta import LISTS
from warpleague.report.site.write import SiteSettings, write_site
from warpline.messages import BotHello

HOSTILE = '</script><img src=x onerror="alert(1)">\x1b[2J\u202egnp.\x07 & <b>\nsecond line'
# Captains is long: there all bots go before its end.
MATCHES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "aliens": (("noter", "late"), {"max_turns": 30}),
    "captains": (("noter brief", "late brief", "crash"), {}),
    "coasters": (("noter", "late", "plain", "crash"), {"max_rounds": 8}),
    "sheets": (("noter", "late"), {}),
}
_VOID = {"meta", "link", "input", "br", "img", "hr"}
_OUTSIDE = re.compile(r"(?i)\b(?:(?:https?|ftp|javascript):|file://)|(?<=[\"'(=\s])//\w|@import")


def patch(old: dict[str, Any], delta: dict[str, Any]) -> dict[str, Any]:
    """The scene that `delta` makes of `old`, which stays as it is."""
    new = {**old, **delta}
    for name in LISTS:
        if name in delta:
            items = list(old[name])
            for at, drop, *put in delta[name]:
                items[at : at + drop] = put
            new[name] = items
    return new


def referee(spec: MatchSpec, wall_ns: int = 2_000_000) -> tuple[MatchResult, dict[int, Any]]:
    """The result of a match between bots that choose at random, and the last bank told to each seat.

    Now and then a bot leaves a hostile note, one answers too late, another says something, and another crashes.
    """
    rng, banks = Random(spec.key), {}
    judge = Referee(load_game(spec.game), spec, started="2026-01-01T00:00:00+00:00")
    judge.begin()
    for seat in range(len(spec.seats)):
        judge.connect(seat, BotHello(protocol=1, wants=("legal",)))
    asked = 0
    while judge.advance() is not Situation.OVER:
        asked += 1
        question = json.loads(judge.line)
        bot = spec.seats[judge.seat].bot
        if question["clock"].get("bank_s") is not None:
            banks[judge.seat] = question["clock"]["bank_s"]
        if bot.startswith("late") and asked % 7 == 0:
            late = Violation("timeout", "no answer within 0.100 s", {"limit_ms": 100.0, "stderr": HOSTILE})
            judge.fault(judge.seat, late, 100_000_000)
            continue
        if asked > (20 if bot.startswith("crash") else 60 if bot.endswith("brief") else 9_999):
            judge.fault(judge.seat, Violation("crash", f"exited: {HOSTILE}", {"stderr": HOSTILE, "exit": 3}))
            continue
        answer = {"type": "act", "id": question["id"], "action": rng.randrange(len(question["legal"]))}
        if bot.startswith("noter") and asked % 3 == 0:
            answer["note"] = HOSTILE
        if bot.startswith("talker") and question.get("talk", 0) > 6:
            other = (judge.seat + 1) % len(spec.seats)
            answer["action"] = {"do": "say", "to": [other], "text": f"{asked}"}
        assert judge.answer(json.dumps(answer).encode(), wall_ns, 500_000, None) is None
    return judge.finish(), banks


def make_spec(game: str, bots: tuple[str, ...], **changes: Any) -> MatchSpec:
    """A match of `bots` by these names."""
    engine = load_game(game)
    facts: dict[str, Any] = {
        "id": "ab" * 10,
        "game": game,
        "options": options_json(engine.Options()),
        "seats": tuple(SeatSpec(bot, "1", bot) for bot in bots),
        "key": match_key("site"),
        "seed": "site",
        "clock": TimeControl(move_s=1.0),
        **changes,
    }
    return MatchSpec(**facts)


@pytest.fixture(scope="session")
def play() -> Callable[..., tuple[bytes, dict[int, Any]]]:
    """Plays a match of the named bots; gives its record and the last bank told to each seat."""

    def played(game: str, *bots: str, **changes: Any) -> tuple[bytes, dict[int, Any]]:
        result, banks = referee(make_spec(game, bots, **changes))
        return result.record, banks

    return played


@pytest.fixture(scope="session", params=MATCHES)
def record(request: pytest.FixtureRequest) -> bytes:
    """The record of a match of each game, with notes and a fault in it."""
    bots, options = MATCHES[request.param]
    options = options_json(load_game(request.param).Options(**options))
    spec = make_spec(request.param, bots, options=options, faults="substitute", strikes=2)
    return referee(spec)[0].record


@attrs.frozen
class Bundle:
    """A bot that is never run."""

    name: str
    games: tuple[str, ...] = ("aliens",)
    digest: str = "digest"

    def seat(self) -> SeatSpec:
        return SeatSpec(bot=self.name, version="1", digest=f"digest of {self.name}")


class Inline(Pool):
    """Runs a call when it is submitted; stands in for a pool of processes."""

    jobs = 2

    def __init__(self, *_: object) -> None:
        pass

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future

    def kill(self) -> None:
        pass


BOTS = ("noter", "late", "crash", "plain")


@pytest.fixture(scope="session")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a league of twelve matches, played to the end; its results are in the folder beside it."""
    folder = tmp_path_factory.mktemp("cup")
    for bot in BOTS:
        (folder / bot).mkdir()
    listed = ", ".join(f'{{ path = "{bot}", name = "{bot} <i>&{place}" }}' for place, bot in enumerate(BOTS))
    path = folder / "cup.toml"
    path.write_text(
        f'seed = "site of a league"\nbots = [{listed}]\n[game]\nid = "aliens"\noptions = {{ max_turns = 12 }}\n'
        "[format]\ndeals = 1\n"
        '[rules]\nfaults = "substitute"\nstrikes = 1\n[clock]\nmove_s = 0.1\nbank_s = 3.0\n',
        "utf-8",
    )
    with open_to_run(load_config(path), folder / "results", lambda where, *_: Bundle(where.name)) as league:
        done = run_league(league, play=lambda spec: referee(spec)[0], executor=Inline(), jobs=1)
        assert done.complete
    return path


@pytest.fixture
def site(cup: Path, tmp_path: Path) -> Callable[..., Any]:
    """Writes the site of the league into a folder of the test's own."""

    def written(out: Path = tmp_path / "site", write: Any = put, **options: Any) -> Any:
        with open_to_read(load_config(cup), cup.parent / "results") as league:
            return write_site(
                league,
                out,
                write,
                lambda *words: " ".join(words),
                SiteSettings(**{"new_pool": Inline, **options}),
            )

    return written


def put(path: Path, data: bytes) -> None:
    """Write a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


class Page(HTMLParser):
    """A page taken apart: every element with its attributes, the texts of scripts and styles, the text shown.

    Raises AssertionError if an element is not closed, or in the wrong order.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.shown: list[str] = []
        self.open: list[str] = []
        self.feed(data.decode())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert len(dict(attributes)) == len(attributes), f"{tag}: an attribute twice"
        self.elements.append((tag, dict(attributes)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.raw.append((self.open[-1], data))
        else:
            self.shown.append(data)

    @property
    def text(self) -> str:
        """What is shown without scripts."""
        return " ".join("".join(self.shown).split())

    def links(self) -> list[str]:
        """Where it leads to, and what it loads; not the picture that its head contains."""
        return [
            value
            for tag, attributes in self.elements
            for name in ("href", "src", "action", "data", "poster", "srcset", "xlink:href")
            if (value := attributes.get(name)) is not None
            and tag != "base"
            and not value.startswith("data:image/svg+xml,")
        ]

    def block(self, name: str) -> str:
        """The text of the element with the id `name`, which holds packed data."""
        found = [raw for _, raw in self.raw if re.fullmatch(r"[A-Za-z0-9+/=]+", raw)]
        assert ("script", {"type": "text/plain", "id": name}) in self.elements
        (block,) = found
        return block


@pytest.fixture(scope="session")
def take_apart() -> type[Page]:
    """Parses a page, which must be well-formed."""
    return Page


@pytest.fixture(scope="session")
def leads_outside() -> Callable[[str], list[str]]:
    """All of a text that looks like the address of another place."""
    return lambda text: [match.group() for match in _OUTSIDE.finditer(text)]


@pytest.fixture(scope="session")
def hostile() -> str:
    """What a hostile bot writes."""
    return HOSTILE
