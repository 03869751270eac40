"""A bot that is put a record again hears what it heard in the match, and every difference is found."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.study.conftest import MakeSeat, played, until

from warpleague.errors import RecordError
from warpleague.extras.study.rerun import Bot, Seen, Task, rerun_one
from warpleague.match.spec import MatchResult, SeatSpec


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
    from warpleague.cli import main

    folder = tmp_path_factory.mktemp("slow")
    home = folder / "slow"
    home.mkdir()
    (home / "bot.py").write_text(SLOW)
    (home / "bot.toml").write_text('name = "slow"\ngames = ["*"]\nrun = ["python3", "bot.py"]\n')
    records = []
    for game, option in (("aliens", "max_turns=4"), ("coasters", "max_rounds=1")):
        records.append(str(folder / f"{game}.jsonl"))
        words = ["match", game, "bots/random-python", "bots/random-python", "--option", option]
        assert main([*words, "--record", records[-1], "--move-s", "1000", "--level", "none"]) == 0
    return ["bot", "rerun", str(home), "--level", "none", "--seat", "0", "--jobs", "1", *records]


def test_time_that_is_up_leaves_what_was_found(slow: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A record that is not done in time is broken off, with its bot; the first one is always waited for."""
    from warpleague.cli import main

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
    shown, end = pty.openpty()
    command = [sys.executable, "-P", "-m", "warpleague", *slow]
    with subprocess.Popen(command, preexec_fn=lambda: os.login_tty(end)) as run:
        os.close(end)
        text = until(shown, b"1 record, ")
        os.write(shown, b"\x03")
        text += until(shown, None)
        assert run.wait() == 130, text
    os.close(shown)
    assert b"stopped by Ctrl-C: the records after that were not put to the bot" in text
    assert b"slow: " in text
    assert b"Traceback" not in text


def test_the_command_reads_folders_and_leagues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`bot rerun` takes records, folders and leagues; it finds the bot's seats by its name; the exit code tells."""
    from warpleague.cli import main

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
