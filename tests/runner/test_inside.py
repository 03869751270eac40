"""Seats that are played inside the process: told what a bot is told, recorded as persons, and played again."""

import json
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from tests.runner.conftest import MakeSeat, MakeSpec

from warpleague.errors import BadInput, BotError
from warpleague.match.chance import match_key
from warpleague.match.replay import verify_record
from warpleague.match.spec import MatchResult, SeatSpec, TimeControl, Violation
from warpleague.runner.bot.inside import InsideSeat, RecordedSeat, python_command
from warpleague.runner.play import play_inside, play_match

# ruff: noqa: ARG002 - seats that do not look at the time left


FIRST = "from warpline.client import run\nrun(lambda question: 0, wants=())\n"
PERSON = SeatSpec("Ada", kind="person")


class LastSeat(InsideSeat):
    """Takes the last legal action, and leaves after so many answers."""

    def __init__(self, leaves_after: int = 1000, **more: Any) -> None:
        super().__init__(PERSON, **more)
        self.lines: list[dict[str, Any]] = []
        self.leaves_after = leaves_after

    def start(self, line: bytes) -> None:
        self.lines.append(json.loads(line))

    def tell(self, line: bytes) -> None:
        self.lines.append(json.loads(line))

    async def message(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        question = json.loads(line)
        self.lines.append(question)
        await trio.lowlevel.checkpoint()
        if len(self.lines) > self.leaves_after:
            return Violation("crash", "it left")
        return {"type": "act", "id": question["id"], "action": len(question["legal"]) - 1}


def test_a_person_is_an_entrant_of_the_record(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """It is asked over the wire, and the record says that it was a person, holds, and can be played again."""
    spec = make_spec(PERSON, make_seat("first", FIRST))
    seat = LastSeat()
    result = play_match(spec, present={0: seat})
    assert [line["type"] for line in seat.lines[-2:]] == ["end", "quit"]
    assert seat.lines[0]["type"] == "start"
    assert {"state", "legal", "events"} < seat.lines[1].keys()
    lines = [json.loads(line) for line in result.record.splitlines()]
    assert lines[0]["seats"][0] == {"bot": "Ada", "version": "", "digest": "", "kind": "person"}
    assert "kind" not in lines[0]["seats"][1]
    assert verify_record(result.record).digest == result.digest
    assert play_match(spec, present={0: RecordedSeat(PERSON, 0, lines)}).digest == result.digest


def test_who_leaves_is_out(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """What a seat says instead of an answer is judged as a bot's fault is, and is played again likewise."""
    spec = make_spec(PERSON, make_seat("first", FIRST))
    result = play_match(spec, present={0: LastSeat(leaves_after=3)})
    assert [fault.message for fault in result.faults[0]] == ["it left"]
    assert result.ranks == (2, 1)
    lines = [json.loads(line) for line in result.record.splitlines()]
    assert play_match(spec, present={0: RecordedSeat(PERSON, 0, lines)}).digest == result.digest


def test_nobody_sits_for_a_person(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """A person's seat is never run as a bot."""
    with pytest.raises(BadInput, match="seat 0 is a person's"):
        play_match(make_spec(PERSON, make_seat("first", FIRST)))


def test_a_clock_holds_only_for_who_wants_it(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """A seat without a clock may take longer than a bot may."""

    class Slow(LastSeat):
        async def message(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
            self.left_s = left_s
            if left_s < 1:
                await trio.sleep_forever()
            return await super().message(line, left_s)

    spec = make_spec(PERSON, make_seat("first", FIRST), clock=TimeControl(move_s=0.5))
    free, timed = Slow(), Slow(timed=True)
    assert play_match(spec, present={0: free}).faults[0] == ()
    assert free.left_s == float("inf")
    assert [fault.kind for fault in play_match(spec, present={0: timed}).faults[0]] == ["timeout"]


# Bots in Python that play inside this process: they play as they do in processes of their own, without clocks.


DRAWS = """
from hashlib import sha256
from warpline.client import Reply, run

def choose(question):
    text = f"{question.seed} {question.id}".encode()
    return Reply(int.from_bytes(sha256(text).digest()[:8], "big") % len(question.legal), note=f"{question.ask} é")

run(choose, wants=("legal",))
"""


def notes(result: MatchResult, seat: int) -> list[str]:
    """The notes of a seat in the record."""
    lines = map(json.loads, result.record.splitlines())
    return [line["note"] for line in lines if line.get("seat") == seat and "note" in line]


def folder_seat(folder: Path, name: str, files: dict[str, str], *run: str, **more: Any) -> SeatSpec:
    """The seat of a bot with a folder of its own."""
    home = folder / name
    home.mkdir()
    for file, text in files.items():
        (home / file).write_text(text, encoding="utf-8")
    argv = (sys.executable, *(run or ("bot.py",)))
    return SeatSpec(bot=name, version="1", digest=name * 2, run=argv, cwd=str(home), **more)


def test_a_match_is_the_same_as_between_processes(make_spec: MakeSpec, make_seat: MakeSeat) -> None:
    """The record has the same digest, and the same notes; charged is processor time."""
    spec = attrs.evolve(make_spec(make_seat("draws", DRAWS), make_seat("other", DRAWS)), level="none")
    inside, between = play_inside(spec), play_match(spec)
    assert inside.digest == between.digest
    assert notes(inside, 0) == notes(between, 0)
    assert not any(inside.faults)
    for times in inside.times:
        assert times.wall_ms == times.cpu_ms
        assert times.wait_ms == 0


def test_no_clock_runs(make_spec: MakeSpec, make_seat: MakeSeat) -> None:
    """A bot that sleeps past its clock loses nothing, and is charged nothing for it."""
    slow = "import time\nfrom warpline.client import run\nrun(lambda q: time.sleep(0.02) or 0, wants=())\n"
    spec = make_spec(make_seat("slow", slow), make_seat("draws", DRAWS))
    spec = attrs.evolve(spec, level="none", clock=attrs.evolve(spec.clock, move_s=0.001))
    result = play_inside(spec)
    assert not any(result.faults)
    assert result.times[0].decisions > 0


HELPED = """
import sys
from pathlib import Path
import helper
from warpline.client import Reply, run

def choose(question):
    import late
    print("to standard error")
    return Reply(0, note=f"{helper.NAME} {late.NAME} {Path('data.txt').read_text()} {sys.argv[1:]} {__name__}")

if __name__ == "__main__":
    run(choose, wants=())
"""


def test_bots_do_not_get_in_each_others_way(
    make_spec: MakeSpec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has its own modules, also those imported late, its folder and its arguments; prints are no output."""
    seats = []
    for name in ("one", "two"):
        files = {"bot.py": HELPED, "helper.py": f"NAME = {name!r}", "late.py": f"NAME = 'late {name}'"}
        seats.append(
            folder_seat(tmp_path, name, {**files, "data.txt": f"data {name}"}, "bot.py", f"for {name}")
        )
    before = Path.cwd(), list(sys.path), sys.argv, sys.modules["__main__"]
    result = play_inside(attrs.evolve(make_spec(*seats), level="none"))
    assert not any(result.faults), result.faults
    for seat, name in enumerate(("one", "two")):
        assert set(notes(result, seat)) == {f"{name} late {name} data {name} ['for {name}'] __main__"}
    assert (Path.cwd(), list(sys.path), sys.argv, sys.modules["__main__"]) == before
    assert not {"helper", "late"} & sys.modules.keys()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "to standard error" in captured.err


COUNTS = """
from warpline.client import Reply, run
matches = []
def choose(question):
    return Reply(0, note=str(len(matches)))
run(choose, wants=(), reusable={reusable}, on_start=lambda match: matches.append(match.id))
"""


@pytest.mark.parametrize(("reusable", "counted"), [(True, {"1", "2"}), (False, {"1"})])
def test_only_reusable_bots_stay(
    make_spec: MakeSpec, tmp_path: Path, reusable: bool, counted: set[str]
) -> None:
    """A reusable bot remembers the match before; any other is loaded anew."""
    name = f"counts{reusable}"
    seats = [
        folder_seat(tmp_path, f"{name}{seat}", {"bot.py": COUNTS.format(reusable=reusable)})
        for seat in (0, 1)
    ]
    spec = attrs.evolve(make_spec(*seats), level="none")
    again = attrs.evolve(spec, key=match_key("again"), id="again")
    results = [play_inside(each) for each in (spec, again)]
    assert {note for result in results for note in notes(result, 0)} == counted


@pytest.mark.parametrize(
    ("source", "kind", "told"),
    [
        (
            "from warpline.client import run\nrun(lambda q: 1 / 0, wants=())\n",
            "crash",
            "ZeroDivisionError: division",
        ),
        ("from warpline.client import run\nrun(lambda q: exit(3), wants=())\n", "crash", "SystemExit: 3"),
        ("from warpline.client import run\nrun(lambda q: 'up', wants=())\n", "crash", "a choice is an index"),
        ("from warpline.client import run\nrun(lambda q: 999, wants=())\n", "illegal", "999"),
        ("import nothing_of_this_name\n", "startup", "nothing_of_this_name"),
    ],
)
def test_what_a_bot_raises_is_its_fault(
    make_spec: MakeSpec, make_seat: MakeSeat, source: str, kind: str, told: str
) -> None:
    """An exception ends the bot, as it ends the process of one; the referee goes on."""
    spec = make_spec(make_seat("wrong", source), make_seat("draws", DRAWS))
    result = play_inside(attrs.evolve(spec, level="none"))
    (fault,) = result.faults[0]
    assert fault.kind == kind
    assert told in fault.message
    assert result.ranks == (2, 1)


@pytest.mark.parametrize(
    ("run", "command"),
    [
        (("/usr/bin/python3", "-P", "bot.py", "a"), (("-P",), False, ("bot.py", "a"))),
        (("python3.12", "-m", "pack.bot", "-x"), ((), True, ("pack.bot", "-x"))),
        (("python3", "-X", "dev", "bot.py"), None),
        (("python3", "-m"), None),
        (("python3", "-c", "1"), None),
        (("./bot",), None),
        ((), None),
    ],
)
def test_the_command_of_a_bot_in_python(run: tuple[str, ...], command: object) -> None:
    """Python with a script or a module is understood; whatever else may be there is not guessed."""
    assert python_command(run) == command


def test_a_module_of_python_plays(make_spec: MakeSpec, make_seat: MakeSeat, tmp_path: Path) -> None:
    """`python -m` works as well: the module's name is its program."""
    seat = folder_seat(tmp_path, "module", {"player.py": DRAWS}, "-m", "player")
    spec = attrs.evolve(make_spec(seat, make_seat("draws", DRAWS)), level="none")
    assert not any(play_inside(spec).faults)


def test_what_cannot_be_called_is_no_fault(make_spec: MakeSpec, make_seat: MakeSeat) -> None:
    """A program that ends, or reads the wire itself, may play well in a process of its own."""
    spec = make_spec(make_seat("none", "print('I am no bot')\n"), make_seat("draws", DRAWS))
    with pytest.raises(BotError, match=r"none ended without a call of warpline\.client\.run"):
        play_inside(attrs.evolve(spec, level="none"))
