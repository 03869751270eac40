"""A bot that is put a record again hears what it heard in the match, and every difference is found."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.study.conftest import MakeSeat, bot_folder, interrupted, played

from warpleague.cli import Tools, main
from warpleague.errors import RecordError
from warpleague.extras.study.rerun import Bot, Seen, Task, rerun_one, spread
from warpleague.match.chance import match_key
from warpleague.match.replay import Replay
from warpleague.match.spec import MatchResult, SeatSpec
from warpleague.runner.bundle.bundle import prepare


def put(record: bytes, seat: SeatSpec, number: int | None = None) -> Seen:
    """The record put to a bot in one seat."""
    (seen,) = rerun_one(Bot(seat, "none", frozenset({seat.bot})), Task("here", record, number))
    return seen


@pytest.fixture(scope="module")
def coasters(listener: MakeSeat) -> MatchResult:
    """A match with talk; one bot gives several actions at once, one faults and is substituted, then out."""
    seats = [
        listener("talker"),
        listener("quiet", wants=("state", "legal")),
        listener("faulty", wrong=3),
        listener("many", then=[{"do": "stay"}, {"do": "end"}]),
    ]
    return played("coasters", seats, {"max_rounds": 6}, faults="substitute", strikes=1)


@pytest.mark.parametrize(("name", "wants"), [("talker", None), ("quiet", ("state", "legal"))])
def test_a_bot_hears_what_it_heard(
    name: str, wants: tuple[str, ...] | None, coasters: MatchResult, listener: MakeSeat
) -> None:
    """A bot whose every choice follows from all it has heard decides as recorded, talk of others included."""
    again = put(coasters.record, listener(name, wants=wants) if wants else listener(name))
    assert again.fault is None
    assert again.different == ()
    lines = [json.loads(line) for line in coasters.record.splitlines()]
    mine = [line["n"] for line in lines if line.get("seat") == again.seat and "ms" in line]
    assert [choice.n for choice in again.choices] == mine
    assert again.seeded


def test_what_a_bot_gives_for_later_counts_as_decided(coasters: MatchResult, listener: MakeSeat) -> None:
    """Actions of a `then` list are compared with what was recorded; where one is not legal, that is a fault."""
    again = put(coasters.record, listener("many", then=[{"do": "stay"}, {"do": "end"}]))
    lines = [json.loads(line) for line in coasters.record.splitlines()]
    mine = [line for line in lines if line.get("seat") == again.seat and line["type"] in ("act", "fault")]
    assert again.different == ()
    if (first := next((line for line in mine if line["type"] == "fault"), None)) is not None:
        assert again.fault is not None
        assert (again.fault.n, again.fault.kind) == (first["n"], first["kind"])


def test_a_fault_is_told_with_its_place(coasters: MatchResult, listener: MakeSeat) -> None:
    """A bot that faults where it faulted is told so; one that answers there is asked on, to the end."""
    lines = [json.loads(line) for line in coasters.record.splitlines()]
    recorded = next(line for line in lines if line["type"] == "fault" and line["seat"] == 2)
    again = put(coasters.record, listener("faulty", wrong=3))
    assert again.fault is not None
    assert (again.fault.n, again.fault.kind) == (recorded["n"], "illegal")
    mended = put(coasters.record, listener("faulty"))
    assert mended.fault is None
    there = next(choice for choice in mended.choices if choice.n == recorded["n"])
    assert (there.recorded, there.same) == (None, None)
    assert mended.choices[-1].n > recorded["n"]


def test_a_difference_does_not_change_what_follows(listener: MakeSeat) -> None:
    """A bot that decides differently gets the recorded continuation, and only that decision differs."""
    result = played("sheets", [listener("one"), listener("two")], {})
    record = result.record
    again = put(record, listener("one", other=5))
    assert {choice.id for choice in again.different} <= {5}
    assert len(again.choices) == len(put(record, listener("one")).choices)
    swapped = put(record, listener("one"), 1)  # the same program has the other seat
    assert (swapped.seat, swapped.different) == (1, ())
    deafer = put(record, listener("two", wants=("legal",)))
    assert len(deafer.different) > 1


def test_records_that_do_not_fit(listener: MakeSeat, coasters: MatchResult) -> None:
    """A seat that is not there, and a record that was changed, are errors that name the record."""
    one = listener("one")
    with pytest.raises(RecordError, match="here: the match has seats 0 to 3, not 4"):
        put(coasters.record, one, 4)
    with pytest.raises(RecordError, match="here: line"):
        put(coasters.record.replace(b'"seat":1', b'"seat":0', 1), one, 0)
    assert rerun_one(Bot(one, "none", frozenset({"nobody"})), Task("here", coasters.record)) == []


SLOW = """
import time
from warpline.client import run

def choose(question):
    if question.game == "coasters":
        time.sleep(600)
    return 0

run(choose, wants=())
"""


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A command that puts two records to a bot, without the records; then these: it sleeps over the second one."""
    folder = tmp_path_factory.mktemp("slow")
    home = bot_folder(folder / "slow", SLOW)
    records = []
    for game, option in (("aliens", "max_turns=4"), ("coasters", "max_rounds=1")):
        records.append(str(folder / f"{game}.jsonl"))
        words = ["match", game, "bots/random-python", "bots/random-python", "--option", option]
        assert main([*words, "--record", records[-1], "--move-s", "1000", "--level", "none"]) == 0
    return ["bot", "rerun", str(home), "--level", "none", "--seat", "0", "--jobs", "1", *records]


def test_time_that_is_up_leaves_what_was_found(slow: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A record that is not done in time is broken off, with its bot; the first one is always waited for."""
    capsys.readouterr()
    assert main([*slow, "--seconds", "0.000001", "--json"]) == 1
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["records"], found["stopped"], found["faults"]) == (1, True, {})
    assert "stopped after 1e-06 s: the records after that were not put to the bot" in captured.err
    *command, first, _ = slow
    assert main([*command, first, "--seconds", "1000", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["stopped"]) == (1, False)


def test_ctrl_c_prints_what_was_found(slow: list[str]) -> None:
    """Ctrl-C breaks off the record that is being put to the bot, and what was found before is printed."""
    text = interrupted(slow, b"1 record, ")
    assert b"stopped by Ctrl-C: the records after that were not put to the bot" in text
    assert b"slow: " in text


def test_the_command_reads_folders_and_leagues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`bot rerun` takes records, folders and leagues; it finds the bot's seats by its name; the exit code tells."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(
        'bots = ["bots/random-python", "bots/random-perl"]\nseed = "7"\n[game]\nid = "sheets"\n'
        "[format]\ndeals = 2\n[clock]\nmove_s = 60\n"
    )
    assert main(["league", "run", "small.toml", "--jobs", "2", "--quiet"]) == 0
    assert main(["league", "export", "small.toml"]) == 0
    capsys.readouterr()
    folder = tmp_path / "results" / "small" / "records"
    told: list[Any] = []
    for source in ("small.toml", str(folder)):
        assert main(["bot", "rerun", "bots/random-python", source, "--json", "--jobs", "2"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert [(one["records"], one["different"], one["faults"]) for one in told] == [(4, 0, {})] * 2
    assert [len(one["seats"]) for one in told] == [2, 2]  # sheets is played alone, by each bot
    first = min(folder.iterdir())
    assert main(["bot", "rerun", "bots/sheets-greedy", str(first), "--seat", "0", "--list", "1"]) == 1
    out = capsys.readouterr().out
    assert "Decided differently (1, and" in out
    assert main(["bot", "rerun", "bots/sheets-greedy", str(first)]) == 2
    assert "--name says whose seats to take" in capsys.readouterr().err


# Spreading tasks over processes: what a Ctrl-C at a bad moment ends in.


def double(number: int) -> int:
    """A task."""
    return 2 * number


def interrupted_wait() -> None:
    """Do what a wait does that a Ctrl-C breaks off just when it has let go of its lock."""
    condition = threading.Condition()
    with condition:
        condition.release()
        raise KeyboardInterrupt


def test_a_ctrl_c_that_leaves_a_lock_free_is_a_ctrl_c() -> None:
    """The error of the lock, which hides the Ctrl-C, does not reach whoever waits for the results."""

    def tasks() -> Iterator[int]:
        yield from range(4)
        interrupted_wait()

    with pytest.raises(RuntimeError, match="un-acquired lock"):
        interrupted_wait()
    with closing(spread(double, tasks(), jobs=1)) as results:
        assert next(results) == 0
        with pytest.raises(KeyboardInterrupt):
            list(results)


def test_other_errors_of_locks_are_bugs() -> None:
    """An error of a lock that hides nothing is raised as it is."""

    def tasks() -> Iterator[int]:
        yield 1
        threading.Condition().release()

    with pytest.raises(RuntimeError, match="un-acquired lock"):
        list(spread(double, tasks(), jobs=1))


def test_the_command_line_reports_it_as_a_ctrl_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that ends so has exit code 130 and no traceback."""

    def prepare(folder: Path) -> NoReturn:
        interrupted_wait()
        raise AssertionError(folder)

    words = ["league", "run", "leagues/demo.toml", "--results", str(tmp_path)]
    assert main(words, Tools(prepare=prepare)) == 130
    assert "interrupted" in capsys.readouterr().err


# A branch goes on from the parent's position, with its dice or others, and its record is compared with the parent.


STEADY = """
from hashlib import sha256
from warpline.client import run

def choose(q):  # by the legal actions alone: the same in a branch as in its parent
    return int(sha256(repr(q.legal).encode()).hexdigest(), 16) % len(q.legal)

run(choose, wants=("legal",))
"""


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bot that chooses by nothing but the legal actions."""
    return bot_folder(tmp_path_factory.mktemp("bots") / "steady", STEADY)


@pytest.fixture(scope="module")
def parent(steady: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a match of captains, whose dice count the rolls of each seat."""
    seat: SeatSpec = prepare(steady, "none").seat()
    result: MatchResult = played("captains", [seat, seat], {"max_rounds": 6})
    path = tmp_path_factory.mktemp("records") / "parent.jsonl"
    path.write_bytes(result.record)
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a record."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def bare(line: dict[str, Any]) -> dict[str, Any]:
    """What a line tells, without what belongs to its place and the time."""
    return {name: value for name, value in line.items() if name not in ("n", "ms", "bank_s", "digest")}


def branched(parent: Path, out: Path, *more: object) -> int:
    """The exit code of a branch, written to `out`."""
    return main(["replay", "branch", str(parent), *map(str, more), "--record", str(out), "--level", "none"])


def test_a_branch_of_the_same_bots_is_the_rest_of_the_parent(parent: Path, tmp_path: Path) -> None:
    """With the same bots and dice, all that follows is as it was, dice counted by address included."""
    whole = lines(parent)
    at = len(whole) // 2
    out = tmp_path / "branch.jsonl"
    assert branched(parent, out, "--at", at) == 0
    found = lines(out)
    assert [bare(line) for line in found[1:-1]] == [bare(line) for line in whole[at + 1 : -1]]
    assert found[0]["parent"]["digest"] == whole[-2]["digest"]
    assert found[0]["parent"]["n"] == at
    assert main(["replay", "verify", str(out), "--parent", str(parent)]) == 0
    page = tmp_path / "branch.html"
    assert main(["replay", "page", str(out), "-o", str(page)]) == 0
    assert f"from line {at} of the match with digest {whole[-2]['digest']}" in page.read_text()


def test_another_action_other_dice_and_other_hidden_facts(
    parent: Path, steady: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is changed is in the header; the record verifies alone and with its parent, and not with another."""
    whole = lines(parent)
    at = next(line["n"] for line in whole[10:] if line["type"] == "act" and "auto" not in line) - 1
    seat = whole[at + 1]["seat"]
    out = tmp_path / "other.jsonl"
    more = (
        "--at",
        at,
        "--action",
        0,
        "--seat",
        seat,
        "--redeal",
        "--seed",
        "other",
        "--bots",
        steady,
        steady,
    )
    assert branched(parent, out, *more) == 0
    header = lines(out)[0]
    told = header["parent"]
    assert (told["n"], told["seat"], "rolls" in told) == (at, seat, False)
    assert header["key"] == match_key("other").hex()
    before = next(step.state for step in Replay(parent.read_bytes()) if step.data["n"] == at)
    game = Replay(parent.read_bytes()).game
    assert told["action"] == game.action_json(game.legal(before, seat)[0])
    capsys.readouterr()
    assert main(["replay", "verify", str(out)]) == 0
    assert "not compared" in capsys.readouterr().out
    assert main(["replay", "verify", str(out), "--parent", str(parent)]) == 0
    assert main(["reproduce", str(out), "--level", "none"]) == 0
    assert main(["replay", "verify", str(out), "--parent", str(out)]) == 1
    assert "NOT VERIFIED" in capsys.readouterr().out


def test_the_clock_may_be_another(parent: Path, tmp_path: Path) -> None:
    """`--move-s` gives all bots this time for a decision; the record verifies with its parent."""
    out = tmp_path / "slower.jsonl"
    assert branched(parent, out, "--at", 10, "--move-s", "2500ms") == 0
    header = lines(out)[0]
    assert {name: value for name, value in header["clock"].items() if value is not None} == {
        "move_s": 2.5,
        "start_s": lines(parent)[0]["clock"]["start_s"],
    }
    assert main(["replay", "verify", str(out), "--parent", str(parent)]) == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda header: header["parent"].update(n=3), "parent"),
        (lambda header: header["parent"].update(digest=5), "parent.digest: must be a text"),
        (lambda header: header.update(parent=[]), "parent: must be an object"),
        (lambda header: header.update(position=None), "a match with a parent starts from a position"),
        (lambda header: header["parent"].update(rolls={"x": -1}), "parent.rolls.x: must be a whole number"),
    ],
)
def test_a_changed_parent_is_found(
    change: Any, told: str, parent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A header that tells of another parent, or in another form, does not hold."""
    out = tmp_path / "branch.jsonl"
    assert branched(parent, out, "--at", 12) == 0
    header, *rest = out.read_bytes().splitlines(keepends=True)
    data = json.loads(header)
    change(data)
    forged = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    out.write_bytes(b"".join([forged, *rest[:-1]]))  # without its seal
    capsys.readouterr()
    assert main(["replay", "verify", str(out), "--parent", str(parent)]) == 1
    assert told in capsys.readouterr().out or told == "parent"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--at", 100_000), "lines are numbered 0 (the start) to"),
        (("--at", 12, "--action", 9999), "legal actions, counted from 0"),
        (("--at", 12, "--action", "fly"), "must be an index, or the JSON object"),
        (("--at", 12, "--action", '{"do":"fly"}'), "no action is called"),
        (("--at", 12, "--action", 0, "--seat", 7), "the match has seats 0 to 1"),
        (("--at", 12, "--bots", "x"), "name as many bots"),
    ],
)
def test_what_cannot_be_branched(
    more: tuple[object, ...], told: str, parent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad input is told in words, and nothing is written."""
    out = tmp_path / "none.jsonl"
    assert branched(parent, out, *more) == 2
    assert told in capsys.readouterr().err
    assert not out.exists()
