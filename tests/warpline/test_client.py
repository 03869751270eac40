"""The Python client: what it makes of the wire for a bot, and how it keeps the bot off the wire."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warpline import client, limits
from warpline.budget import Budget, OverBudget
from warpline.client import Match, Question
from warpline.codec import decode_bot
from warpline.messages import Answer

START = {
    "type": "start",
    "match": "m1",
    "game": "coasters",
    "rules": 1,
    "options": {"alliances": True},
    "seat": 1,
    "players": ["a", "b"],
    "seed": "ff",
    "clock": {"bank_s": 10.0, "move_s": 1.0},
    "setup": {"squares": [1]},
}
ACT = {
    "type": "act",
    "id": 7,
    "ask": "turn",
    "clock": {"bank_s": 0.25, "move_s": 1.0},
    "talk": 3,
    "events": [{"event": "é"}],
    "state": {"s": 1},
    "legal": [{"do": "step"}, {"do": "turn", "way": "left"}, {"do": "turn", "way": "right"}],
}
OPENING: list[dict[str, Any]] = [{"type": "hello", "protocol": 1}, START]
FAULT = {"type": "fault", "kind": "illegal", "message": "no"}
QUIT = {"type": "quit"}
PRELUDE = """
import json, os, subprocess, sys
from warpline.client import Reply, run, say
"""


def converse(program: str, *messages: dict[str, Any]) -> tuple[list[Any], str, int]:
    """What a bot whose source is `program` says on the wire and on standard error to `messages`, and its status."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + program],
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr, done.returncode


def answer(choice: str, act: dict[str, Any] = ACT) -> Any:
    """What the bot that chooses the expression `choice` answers."""
    said, _, status = converse(f"run(lambda question: {choice})", *OPENING, act, QUIT)
    assert status == 0
    return said[2]


def test_introduction() -> None:
    """The bot says hello with what it was told to say, and is ready after its preparation."""
    program = """
run(lambda question: 0, name="é", version="2", wants=("legal",), reusable=True,
    on_start=lambda match: print(match.id, match.game, match.rules, match.seat, match.clock["bank_s"]))
"""
    said, err, status = converse(program, *OPENING, QUIT)
    hello = {
        "type": "hello",
        "protocol": 1,
        "name": "é",
        "version": "2",
        "wants": ["legal"],
        "reusable": True,
    }
    assert said == [hello, {"type": "ready"}]
    assert err == "m1 coasters 1 1 10.0\n"
    assert status == 0


def test_a_question_tells_all_there_is() -> None:
    """Every field of its message and of the start message; what is not limited is None."""
    told = """[question.id, question.ask, question.clock, question.talk, question.events, question.state,
        question.legal, question.match, question.game, question.options, question.setup, question.seat,
        question.players, question.seed, question.time_s, question.options_to("turn")]"""
    found = answer(f"""Reply(0, note=json.dumps({told}))""")
    assert json.loads(found["note"]) == [
        *(ACT[key] for key in ("id", "ask", "clock", "talk", "events", "state", "legal")),
        *(START[key] for key in ("match", "game", "options", "setup", "seat", "players", "seed")),
        0.25,
        [1, 2],
    ]
    bare = {"type": "act", "id": 1, "ask": "turn"}
    found = answer(
        "Reply(0, note=json.dumps([question.clock, question.talk, question.time_s, question.heard]))", bare
    )
    assert json.loads(found["note"]) == [{}, 0, None, []]
    unwanted = "[hasattr(question, name) for name in ('events', 'state', 'legal', 'text', 'id')]"
    assert json.loads(answer(f"Reply(0, note=json.dumps({unwanted}))", bare)["note"]) == [False] * 4 + [True]


def test_a_question_tells_what_others_said() -> None:
    """Messages of others come as seat and text; one's own, and other events, are no messages heard."""
    events = [
        {"event": "said", "seat": 0, "to": [1], "text": "peace?"},
        {"event": "rolled", "seat": 0, "colour": 0, "d6": 1, "flux": "TIP"},
        {"event": "said", "seat": 1, "to": [0], "text": "peace!"},
        {"event": "said", "seat": 2, "to": [0, 1], "text": "never"},
    ]
    found = answer("Reply(0, note=json.dumps(question.heard))", {**ACT, "events": events})
    assert json.loads(found["note"]) == [[0, "peace?"], [2, "never"]]
    found = answer("Reply(0, note=json.dumps(question.heard))", {"type": "act", "id": 1, "ask": "turn"})
    assert json.loads(found["note"]) == []


@pytest.mark.parametrize(
    ("choice", "meant"),
    [
        ("2", Answer(7, 2)),
        ("True", Answer(7, 1)),
        ("{'do': 'step'}", Answer(7, {"do": "step"})),
        (
            "Reply(1, then=({'do': name} for name in ('a', 'b')), note='é')",
            Answer(7, 1, ({"do": "a"}, {"do": "b"}), "é"),
        ),
        ("Reply(0, note='x' * 1023 + 'é')", Answer(7, 0, (), "x" * 1023)),
        ("Reply(0, note='\\ud800')", Answer(7, 0, (), "?")),
        ("Reply(2, value=0.25)", Answer(7, 2, value=0.25)),
        ("Reply(2, value=True)", Answer(7, 2, value=1.0)),
        ("say(0, 'Hi')", Answer(7, {"do": "say", "to": [0], "text": "Hi"})),
        ("say((0, 2), 'Hi')", Answer(7, {"do": "say", "to": [0, 2], "text": "Hi"})),
    ],
)
def test_choices(choice: str, meant: Answer) -> None:
    """Each kind of choice becomes the answer that the referee's codec accepts."""
    assert decode_bot(json.dumps(answer(choice)).encode()) == meant


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("None", "TypeError: a choice is an index, an action object or a Reply, not None"),
        ("1.0", "TypeError: a choice is an index, an action object or a Reply, not 1.0"),
        ("-1", "ValueError: an index counts from 0; this one is -1"),
        ("{'do': 'x' * 70000}", "ValueError: an answer has at most 65536 bytes; this one has 70040"),
        ("{'do': float('nan')}", "ValueError"),
        ("question.legal[9]", "IndexError: list index out of range"),
    ],
)
def test_a_bug_of_the_bot_ends_it(choice: str, told: str) -> None:
    """An exception leaves its traceback on standard error and exit code 1, and nothing on the wire."""
    said, err, status = converse(f"run(lambda question: {choice})", *OPENING, ACT, QUIT)
    assert (len(said), status) == (2, 1)
    assert err.startswith("Traceback")
    assert told in err


def test_run_refuses_what_it_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, not at the first question: what is no function, and wishes that no message knows."""
    monkeypatch.setattr(client, "taken_by", str)
    with pytest.raises(TypeError, match="choose must be a function of a question, not None"):
        client.run(None)  # type: ignore[arg-type]
    for wants, told in (
        (("foo",), "'foo' is not one of events, state, legal, text"),
        ("legal", "'l' is not one"),
    ):
        with pytest.raises(ValueError, match=told):
            client.run(id, wants=wants)
    client.run(id, wants=iter(["text"]))  # type: ignore[arg-type]


def test_the_wire_is_out_of_reach() -> None:
    """Printing, writing to descriptor 1, children and reading input neither write to the wire nor read from it."""
    program = """
def choose(question):
    print("printed")
    os.write(1, b"written\\n")
    subprocess.run([sys.executable, "-c", "import sys; print('a child'); sys.stdin.read()"])
    try:
        input("asked")
    except EOFError:
        print(" and got nothing")
    return len(sys.stdin.read())
run(choose)
"""
    said, err, status = converse(program, *OPENING, ACT, {**ACT, "id": 8}, QUIT)
    assert said[2:] == [{"type": "act", "id": 7, "action": 0}, {"type": "act", "id": 8, "action": 0}]
    assert status == 0
    for text in ("printed", "written", "a child", "asked and got nothing"):
        assert err.count(text) == 2


def test_what_was_printed_before_stays_off_the_wire(protocol: Path) -> None:
    """What sat in the buffer of standard output before `run` goes to standard error."""
    done = subprocess.run(
        [sys.executable, "-c", "print('early')\nfrom warpline.client import run\nrun(lambda question: 0)"],
        input=b'{"type":"hello","protocol":1}\n',
        capture_output=True,
        timeout=120,
        check=True,
        env={"PYTHONPATH": str(protocol)},  # above all without PYTHONUNBUFFERED
    )
    assert json.loads(done.stdout)["type"] == "hello"
    assert done.stderr == b"early\n"


def test_several_matches() -> None:
    """A reusable bot plays one after another and hears how each ended, and says on standard error why it is out."""
    program = """
run(lambda question: Reply(0, note=question.match), reusable=True,
    on_end=lambda end: print(end.of.id, end.result["ranks"], end.events))
"""
    end = {"type": "end", "result": {"ranks": [2, 1]}, "events": [{"event": "x"}]}
    said, err, status = converse(
        program, *OPENING, ACT, end, {**START, "match": "m2"}, ACT, {"type": "end"} | end, QUIT
    )
    assert [line.get("note", line["type"]) for line in said] == ["hello", "ready", "m1", "ready", "m2"]
    assert err == "m1 [2, 1] [{'event': 'x'}]\nm2 [2, 1] [{'event': 'x'}]\n"
    assert status == 0
    _, err, status = converse("run(lambda question: 0)", *OPENING, FAULT)
    assert (err, status) == ("fault: illegal: no\n", 0)


def test_a_referee_that_is_gone() -> None:
    """A bot whose referee has closed both pipes ends in silence."""
    bot = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + "run(lambda question: 0)"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert bot.stdout is not None
    bot.stdout.close()
    _, err = bot.communicate(b'{"type":"hello","protocol":1}\n' * 3, timeout=120)
    assert (err, bot.returncode) == (b"", 0)


@pytest.mark.parametrize("first", ["", "import os; os.close(2)"])
def test_a_bot_without_standard_error(first: str) -> None:
    """A bot whose standard error is closed, from the start or later, plays all the same."""
    program = first + PRELUDE + "run(lambda question: print('x') or 0)"
    done = subprocess.run(
        ["sh", "-c", 'exec "$@"' + ("" if first else " 2>&-"), "sh", sys.executable, "-c", program],
        input="".join(json.dumps(message) + "\n" for message in (*OPENING, ACT, FAULT, QUIT)),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["hello", "ready", "act"]


def test_it_stands_alone(protocol: Path) -> None:
    """The client imports little of the standard library and nothing else, and its syntax is Python 3.8's."""
    program = (
        "import sys; before = set(sys.modules); import warpline.client; print(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={"PYTHONPATH": str(protocol)},
    )
    imported = {name.partition(".")[0] for name in done.stdout.split()}
    assert imported - {"warpline"} <= sys.stdlib_module_names
    assert not imported & {"typing", "dataclasses", "inspect", "subprocess", "random", "traceback"}
    ast.parse((protocol / "warpline" / "client.py").read_text(encoding="utf-8"), feature_version=(3, 8))


def test_the_page_tells_all_that_it_has() -> None:
    """The page about writing bots names every part of a question, and none that there is not."""
    page = (Path(__file__).parents[2] / "docs" / "write-a-bot.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\bquestion\.(\w+)", page))
    assert named == {name for name in dir(client.Question) if not name.startswith("_")} - {"of"}


def test_its_numbers_are_the_protocols() -> None:
    """The client's own copies of the limits are the limits."""
    assert (client.PROTOCOL, client.MAX_LINE, client.NOTE_BYTES) == (
        limits.PROTOCOL,
        limits.MAX_LINE,
        limits.NOTE_BYTES,
    )


# The bound on a search: how much of which clock, and what is said when it is met.


def question(now: dict[str, float], clock: dict[str, float] | None = None) -> Question:
    start = {
        "match": "m", "game": "g", "rules": 1, "options": {}, "seat": 0, "players": ["a"], "seed": "s", "setup": {},
        "clock": now if clock is None else clock,
    }  # fmt: skip
    return Question({"id": 1, "ask": "turn", "clock": now}, Match(start))


@pytest.mark.parametrize(
    ("now", "clock", "limit_s"),
    [
        ({}, None, None),
        ({"move_s": 1.0}, None, 0.2),
        ({"move_s": 0.05}, None, 0.01),
        ({"bank_s": 60.0}, None, 0.6),
        ({"bank_s": 2.0}, {"bank_s": 60.0, "increment_s": 1.0}, 0.21),
        ({"bank_s": 0.5}, {"bank_s": 60.0, "increment_s": 1.0}, 0.1),
        ({"bank_s": 60.0, "move_s": 1.0}, None, 0.2),
        ({"bank_s": 3.0, "move_s": 1.0}, None, 0.03),
    ],
)
def test_a_decision_gets_a_part_of_the_clock(
    now: dict[str, float], clock: dict[str, float] | None, limit_s: float | None
) -> None:
    """A fifth of a limit for each decision; of a bank little, since all decisions come out of it."""
    assert Budget.of(question(now, clock)).limit_s == pytest.approx(limit_s)


def test_a_budget_that_is_used_up_stops_the_search_and_says_so() -> None:
    """After how much processor time; before, it says nothing; a question without limits has no bound."""
    plenty, none = Budget(1000.0), Budget(1e-9)
    assert (plenty.over(), plenty.over(0.5), plenty.met, plenty.note) == (False, False, False, None)
    assert (none.over(), none.met, none.note) == (
        True,
        True,
        "stopped the search after 1e-06 ms of processor time",
    )
    with pytest.raises(OverBudget):
        none.check()
    budget = Budget.of(question({}))
    budget.check()
    assert (budget.over(0.0), budget.note) == (False, None)
