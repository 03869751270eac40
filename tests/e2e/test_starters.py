"""The starter bots, each run as it stands against a handwritten referee over real pipes.

What a match makes of them is tested with the runner; here it is only the wire and the bots' own manners.
"""

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.waiting import PATIENCE_S

from warpleague.errors import BadInput, MissingToolchain
from warpleague.match.spec import Level
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.doctor import check_level
from warpline import codec

BOTS = Path(__file__).parents[2] / "bots"
STARTERS = [*sorted(folder.name for folder in BOTS.glob("random-*")), "first-c"]
SEED = "0123456789abcdef" * 4
OTHER = "00000000000000ff" + SEED[16:]

# Names of keys and JSON's own signs inside strings, and the wanted keys again one level down: whoever looks
# for text instead of structure counts these.
DECOY = {"id": 999, "legal": [1, 2, 3], "type": "quit", "text": 'a,"legal":[ ]}\\'}


def question(number: int, legal: int) -> dict[str, Any]:
    """A question with `legal` actions, awkward in every way that JSON allows."""
    actions = [
        {"do": "say", "to": [[], {}, [index, {"x": DECOY}]], "text": '],{ "\\'} for index in range(legal)
    ]
    return {
        "type": "act",
        "id": number,
        "ask": "legal",
        "not-known é": DECOY,
        "clock": {"bank_s": 9.3, "move_s": 1.0},
        "events": [DECOY],
        "state": DECOY,
        "legal": actions,
    }


def start(seed: str) -> dict[str, Any]:
    """The message that opens a match with `seed`."""
    return {
        "type": "start",
        "match": "m",
        "game": "aliens",
        "rules": 1,
        "options": {},
        "seat": 0,
        "players": ['"seed":"', "é\u2028"],
        "seed": seed,
        "clock": {"move_s": 1.0},
        "setup": {"seed": "f" * 64, "board": list(range(20_000))},
    }


def xorshift64(seed: str) -> Iterator[int]:
    """The numbers that every starter without a library draws its index from."""
    mask = 2**64 - 1
    state = int(seed[:16], 16) or 1
    while True:
        state ^= state << 13 & mask
        state ^= state >> 7
        state ^= state << 17 & mask
        yield state


class Session:
    """A running bot, and the referee's end of its pipes; a bot that hangs is killed after `PATIENCE_S`."""

    def __init__(self, argv: list[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            argv, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.left: tuple[bytes, bytes] | None = None
        self.watchdog = threading.Timer(PATIENCE_S, self.process.kill)
        self.watchdog.daemon = True
        self.watchdog.start()

    def tell(self, message: dict[str, Any]) -> None:
        self.tell_line(json.dumps(message, separators=(",", ":"), ensure_ascii=False))

    def tell_line(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), (line, self.process.poll())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def open(self, seed: str) -> None:
        """Handshake and start."""
        self.tell({"type": "hello", "protocol": 1, "referee": "test"})
        hello = self.hear()
        assert (hello["type"], hello["protocol"]) == ("hello", 1)
        self.tell(start(seed))
        assert self.hear() == {"type": "ready"}

    def act(self, number: int, legal: int) -> int:
        """Asks one question and returns the index that the bot answers."""
        self.tell(question(number, legal))
        answer = self.hear()
        assert (answer["type"], answer["id"]) == ("act", number)
        index = answer["action"]
        assert isinstance(index, int)
        assert 0 <= index < legal
        return index

    def finish(self) -> tuple[bytes, bytes]:
        """Closes the pipes and returns what was left in stdout and stderr once the bot is gone."""
        if self.left is None:
            try:
                self.left = self.process.communicate(timeout=PATIENCE_S)
            finally:
                self.watchdog.cancel()
                self.process.kill()
                self.process.wait()
        return self.left


@cache
def build(name: str) -> tuple[list[str], Path]:
    """Build a starter in the cache that all tests share, and give its argv and folder.

    It is built in the sandbox where there is one, as in the tests of the sandbox: some builds take long.
    """
    try:
        check_level("sandbox")
        level: Level = "sandbox"
    except BadInput:
        level = "limits"
    try:
        seat = prepare(BOTS / name, level).seat()
    except MissingToolchain as error:
        pytest.skip(str(error))
    return list(seat.run), Path(seat.cwd)


@pytest.fixture
def launch() -> Iterator[Callable[[str], Session]]:
    """A function that starts a starter by name; what still runs after the test is killed."""
    sessions: list[Session] = []

    def launch(name: str) -> Session:
        sessions.append(Session(*build(name)))
        return sessions[-1]

    yield launch
    for session in sessions:
        session.finish()


@pytest.mark.parametrize("language", ["go", "js", "nim", "perl", "php", "python", "ruby", "ts"])
def test_a_starter_with_a_json_library_is_short(language: str) -> None:
    """Where the language has a library for JSON, a starter takes at most 60 lines, with its comments."""
    (source,) = [path for path in (BOTS / f"random-{language}").glob("bot.*") if path.suffix != ".toml"]
    assert len(source.read_text().splitlines()) <= 60


def drawn(name: str, seed: str, counts: list[int], answers: list[int]) -> None:
    """Check the answers that a starter gave to questions with so many actions: those of its seed, exactly."""
    if name == "first-c":
        assert answers == [0] * len(counts)
    elif name != "random-python":
        # The exact index proves that the bot counted exactly.
        assert answers == [draw % legal for draw, legal in zip(xorshift64(seed), counts, strict=False)]


@pytest.mark.parametrize("name", STARTERS)
def test_plays_and_leaves_at_quit(name: str, launch: Callable[[str], Session]) -> None:
    """A starter answers short, awkward and 300 KB questions, and exits at `quit` while its input is open."""
    session = launch(name)
    session.open(SEED)
    counts = [1, 2, 97, 1, 2999]
    assert len(json.dumps(question(5, counts[-1]))) > 300_000
    drawn(name, SEED, counts, [session.act(number, legal) for number, legal in enumerate(counts, start=1)])
    session.tell({"type": "end", "result": {"ranks": [1, 2]}, "events": []})
    session.tell({"type": "quit"})
    assert session.process.wait(timeout=PATIENCE_S) == 0
    assert session.finish() == (b"", b"")


PARTS = [*'"\\{}[],:\n\t\0é\u2028\U0001f600', "legal", "id", "type"]


def any_text(rng: Random) -> str:
    return "".join(rng.choices(PARTS, k=rng.randrange(8)))


def any_value(rng: Random, depth: int = 0) -> Any:
    """JSON of any kind, up to a dozen levels deep."""
    match rng.randrange(8 if depth < 12 else 5):
        case 0:
            return rng.choice([True, False, None])
        case 1:
            return rng.choice([0, -1, 2**53 - 1, 1.5e300, -0.0, 1e-7])
        case 2 | 3 | 4:
            return any_text(rng)
        case 5 | 6:
            return [any_value(rng, depth + 1) for _ in range(rng.randrange(5))]
        case _:
            return {f"{any_text(rng)}{n}": any_value(rng, depth + 1) for n in range(rng.randrange(5))}


@pytest.mark.parametrize("name", STARTERS)
def test_counts_the_legal_actions_of_any_json(name: str, launch: Callable[[str], Session]) -> None:
    """Whatever is in a question and however it is spelled, the index answered is the one drawn among all of them.

    A starter that is told it is out answers nothing more and exits cleanly. (first-c counts nothing.)
    """
    rng = Random(name)
    session = launch(name)
    session.open(OTHER)
    counts, answers = [], []
    for _ in range(0 if name == "first-c" else 100):
        number, legal = rng.randrange(2**53), rng.randrange(1, 40)
        message = {
            "type": "act",
            "id": number,
            "ask": any_text(rng),
            "state": any_value(rng),
            "legal": [{"do": any_text(rng), "x": any_value(rng)} for _ in range(legal)],
            "new" + any_text(rng): any_value(rng),
        }
        keys = rng.sample(list(message), len(message))
        separators = rng.choice([(",", ":"), (", ", ": "), (" ,\t", " :\t")])
        line = json.dumps(
            {key: message[key] for key in keys}, separators=separators, ensure_ascii=rng.random() < 0.5
        )
        session.tell_line(line)
        answer = session.hear()
        assert answer == {"type": "act", "id": number, "action": answer["action"]}, line
        counts.append(legal)
        answers.append(answer["action"])
        assert 0 <= answers[-1] < legal, line
    drawn(name, OTHER, counts, answers)
    session.tell({"type": "fault", "kind": "illegal", "message": "index 7 of 3 legal actions"})
    session.tell({"type": "quit"})
    out, _ = session.finish()
    assert (session.process.returncode, out) == (0, b"")


@pytest.mark.parametrize("name", STARTERS)
def test_leaves_at_end_of_input(name: str, launch: Callable[[str], Session]) -> None:
    """A starter exits with code 0 when its input ends without a `quit`, even in the middle of a match.

    The seed is another referee's, shorter than the digits that starters take.
    """
    session = launch(name)
    session.open("9a40")
    session.act(1, 3)
    out, err = session.finish()
    assert (session.process.returncode, out, err) == (0, b"", b"")


def test_the_starter_with_a_library_reproduces_a_match_from_its_seed(
    launch: Callable[[str], Session],
) -> None:
    """The same seed gives the same answers, another seed other ones; those of the other starters are known above."""

    def play(seed: str) -> list[int]:
        session = launch("random-python")
        session.open(seed)
        answers = [session.act(number, 50) for number in range(1, 9)]
        session.finish()
        return answers

    first = play(SEED)
    assert play(SEED) == first
    assert play(OTHER) != first


PAGE = BOTS.parent / "docs" / "write-a-bot.md"


def fenced(language: str) -> str:
    """The first block in `language` on the page about writing bots."""
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_page_shows_a_session_as_it_is() -> None:
    """Every line of the session on the page is a message of its direction."""
    for line in fenced("text").splitlines():
        speaker, _, message = line.partition(" ")
        {">": codec.decode_referee, "<": codec.decode_bot}[speaker](message.encode())


def test_the_page_shows_a_working_bot_without_a_library(tmp_path: Path) -> None:
    """The JavaScript bot on the page plays a session and exits at `quit`."""
    if shutil.which("node") is None:
        pytest.skip("needs node, which is not installed")
    (tmp_path / "bot.js").write_text(fenced("js"), encoding="utf-8")
    session = Session(["node", "bot.js"], tmp_path)
    session.open(SEED)
    assert [session.act(number, 2999) for number in (1, 2)] == [0, 0]
    session.tell({"type": "quit"})
    assert session.process.wait(timeout=PATIENCE_S) == 0
    assert session.finish() == (b"", b"")
