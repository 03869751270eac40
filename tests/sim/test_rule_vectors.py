"""The test vectors of the rules: our own simulator agrees with them, and wrong programs are caught."""

import json
import lzma
import re
import sys
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from tests.programs import program

from warpleague.cli import main
from warpleague.extras.rule_vectors.vectors import rule_vectors
from warpleague.games import GAMES, load_game
from warpleague.sim.serve import Session

ROOT = Path(__file__).parents[2]
CONFORMANCE = ROOT / "protocol" / "conformance"
MOST_BYTES = 300_000

PORT = """
import json, sys
from warpleague.sim.serve import Session

session = Session()
for line in sys.stdin.buffer:
    request = json.loads(line)
    answer = session.answer(line)
    {change}
    print(json.dumps(answer), flush=True)
"""
"""A program that knows the rules of sheets by heart, except for what `change` does."""


@cache
def vectors(game: str) -> tuple[dict[str, Any], ...]:
    """The lines of the file of a game; the first is its title."""
    with lzma.open(CONFORMANCE / "rules" / f"{game}.jsonl.xz", "rt", encoding="utf-8") as lines:
        return tuple(map(json.loads, lines))


@pytest.fixture(scope="module")
def check() -> ModuleType:
    """The program that puts vectors to another program."""
    return program(CONFORMANCE / "check_rules.py")


def documented_events(game: str) -> set[str]:
    """The kinds of events on the page of a game: in lines of JSON, or in the first column of the table of events."""
    page = (ROOT / "docs" / "games" / f"{game}.md").read_text(encoding="utf-8")
    if found := set(re.findall(r'"event": ?"([a-z-]+)"', page)):
        return found
    table = page.split("## Events\n")[1].split("\n## ")[0]
    firsts = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    return {kind for first in firsts for kind in re.findall("`([a-z-]+)`", first)} - {"event"}


class Inside:
    """The simulator in this process, in place of a program."""

    def __init__(self) -> None:
        self.session = Session()

    def ask(self, request: dict[str, Any]) -> Any:
        """The answer to one request."""
        return self.session.answer(json.dumps(request).encode())


@pytest.mark.parametrize("game", GAMES)
def test_the_simulator_agrees_with_the_vectors(game: str, check: ModuleType) -> None:
    """If this fails after a change of rules, count `rules_version` up and run `make vectors`."""
    title, *rest = vectors(game)
    assert title == {"vectors": 1, "game": game, "rules": load_game(game).rules_version, "seed": "vectors"}
    program = Inside()
    for vector in rest[::12]:
        new = {"do": "new", "game": game, "players": vector["players"], "options": vector["options"]}
        assert "error" not in program.ask(new)
        check.check(program, vector)


@pytest.mark.parametrize("game", GAMES)
def test_every_action_event_and_table_occurs(game: str) -> None:
    """Each kind of action, each event of the game's page, each number of players, and each option in two ways."""
    engine = load_game(game)
    _, *rest = vectors(game)
    assert 2000 <= len(rest) <= 4000
    assert (CONFORMANCE / "rules" / f"{game}.jsonl.xz").stat().st_size <= MOST_BYTES
    assert {vector["action"]["do"] for vector in rest if "action" in vector} == {
        vars(action)["do"] for action in engine.Actions
    }
    assert {event["full"]["event"] for vector in rest for event in vector["events"]} == documented_events(
        game
    )
    assert {vector["players"] for vector in rest} == set(engine.players)
    for option in attrs.fields(engine.Options):
        values = {json.dumps(vector["options"][option.name]) for vector in rest}
        assert len(values) >= 2 or option.name in engine.file_options
    assert any("outcome" in vector for vector in rest)
    assert any("retire" in vector for vector in rest)
    assert any(vector["next_turn"]["actor"] is None for vector in rest)


def test_equal_seeds_give_equal_vectors() -> None:
    """The vectors follow from game, number and seed alone; other seeds give others."""
    first, again, other = (list(rule_vectors("aliens", 40, seed)) for seed in ("a", "a", "b"))
    assert first == again
    assert len(first) == 41
    assert first[1:] != other[1:]


def some_vectors(folder: Path, game: str = "sheets") -> Path:
    """A file with a few vectors of each table."""
    title, *rest = vectors(game)
    file = folder / "some.jsonl"
    file.write_text("".join(json.dumps(vector) + "\n" for vector in (title, *rest[::60])), encoding="utf-8")
    return file


def test_sim_serve_passes_as_a_program(
    tmp_path: Path, check: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real `warpleague sim --serve` passes, over real pipes."""
    file = some_vectors(tmp_path)
    assert check.main([str(file), "--", sys.executable, "-m", "warpleague", "sim", "--serve"]) == 0
    assert capsys.readouterr().out == f"{file}: ok, 40 vectors\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "if request['do'] == 'legal': answer['legal'].pop()",
            r"the legal actions: \{.*\} is missing; expected",
        ),
        (
            "if request['do'] == 'legal': answer['legal'].append({'do': 'fly'})",
            r'the legal actions: \{"do": "fly"\} is not legal; expected \d+ actions, got \d+',
        ),
        (
            "if request['do'] == 'legal': answer['legal'].reverse()",
            r"the actions are right, but not their order or number: \[0\].*expected",
        ),
        ("if 'events' in answer: answer['events'] = []", r"the events: expected a list of \d+, got 0: \[\]"),
        (
            "if 'position' in answer: answer['position'].pop('round')",
            r"the next position: 'round' is missing, expected \d+",
        ),
        (
            "if 'position' in answer: answer['position']['round'] += 1",
            r"the next position: round: expected \d+, got \d+",
        ),
        (
            "if 'position' in answer: answer['position']['x'] = True",
            "the next position: 'x' is too much, got true",
        ),
        ("if request['do'] == 'load': answer['actor'] = 7", "the position: actor: expected -?[0-9]+, got 7"),
        ("if request['do'] == 'load': del answer['state']", "the answer must have a number as state"),
        ("if request['do'] == 'apply': answer = {'error': 'not yet'}", 'the program refuses: "not yet"'),
        ("if request['do'] == 'new': print('Hello!')", "the answer is no JSON: "),
        ("if request['do'] == 'new': answer = []", r"the answer must be an object, not \[\]"),
        ("if request['do'] == 'load': sys.exit(3)", "no answer: the program ended with status 3"),
    ],
)
def test_a_wrong_program_is_caught(
    change: str, told: str, tmp_path: Path, check: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first difference is told in words, with the line, the table and the move."""
    assert (
        check.main([str(some_vectors(tmp_path)), "--", sys.executable, "-c", PORT.format(change=change)]) == 1
    )
    head, where, difference = capsys.readouterr().out.splitlines()
    assert re.search(r"FAILED at line \d+, after \d+ right ones$", head)
    assert re.search(r"^  [1-4] players, options \{.*\}: (seat \d (plays|retires)|the dice show)", where)
    assert re.search(told, difference)


def test_a_program_that_hangs_is_ended(
    tmp_path: Path, check: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that does not answer fails when its time is up."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert check.main(["--timeout", "0.2", str(some_vectors(tmp_path)), "--", *command]) == 1
    assert "no answer: the program ended with status -9, after 0.2 s at most" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["chess", "--", sys.executable], "chess.jsonl.xz"),
        (["sheets"], "say the program's command after --"),
        (["sheets", "--", "./no-such-program"], "./no-such-program"),
        ([__file__, "--", sys.executable, "-c", ""], "these are no vectors"),
    ],
)
def test_bad_input_is_named(
    argv: list[str], told: str, check: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files and programs that are not there are told in one line, with exit code 2."""
    with pytest.raises(SystemExit) as caught:
        check.main(argv)
    assert caught.value.code == 2
    assert told in capsys.readouterr().err


def test_the_command_makes_the_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`sim --vectors` writes to standard output or, compressed, to a file, which it does not overwrite."""
    words = ["sim", "--vectors", "aliens", "--count", "8", "--seed", "x"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert [json.loads(line) for line in printed.splitlines()] == list(rule_vectors("aliens", 8, "x"))
    out = tmp_path / "a.jsonl.xz"
    assert main([*words, "--out", str(out)]) == 0
    assert capsys.readouterr().err == f"{out}: 8 vectors\n"
    assert lzma.decompress(out.read_bytes()).decode() == printed
    assert main([*words, "--out", str(out)]) == 2
    assert main(["sim", "--vectors", "aliens", "--count", "2"]) == 2
    assert "--count: aliens has 4 kinds of tables" in capsys.readouterr().err
    assert main(["sim", "--vectors", "chess"]) == 2


def asked(session: Session, **request: Any) -> Any:
    """The answer to one request."""
    return session.answer(json.dumps(request).encode())


def test_events_are_told_if_asked_for() -> None:
    """`apply`, `roll` and `retire` give the events, with who sees them; without `events` they do not."""
    title, *rest = vectors("aliens")
    placed = next(vector for vector in rest if vector.get("action", {}).get("do") == "place")
    session = Session()
    asked(session, do="new", game=title["game"], players=2, options=placed["options"])
    asked(session, do="load", position=placed["position"])
    answer = asked(session, do="apply", state=2, action=placed["action"], events=True)
    (event,) = islice(answer["events"], 1)
    assert event["full"]["value"] == placed["action"]["value"]
    assert event["seats"] == [placed["turn"]["actor"]]
    assert "value" not in event["others"]
    assert "events" not in asked(session, do="apply", state=2, action=placed["action"])
    refused = asked(session, do="apply", state=2, action=0, events=True, roll=True)
    assert "send a request to roll" in refused["error"]
    assert "events must be true or false" in asked(session, do="apply", state=2, action=0, events=1)["error"]
    retired = asked(session, do="retire", state=2, seat=1, events=True)
    assert retired["actor"] is None
    assert retired["events"][0] == {"full": {"event": "retired", "seat": 1}}
    assert "the game is over" in asked(session, do="retire", state=retired["state"], seat=0)["error"]
    assert "seats are 0 to 1" in asked(session, do="retire", state=2, seat=2)["error"]
