"""A branch goes on from the parent's position, with its dice or others, and its record is compared with the parent."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.study.conftest import played

from warpleague.cli import main
from warpleague.match.chance import match_key
from warpleague.match.replay import Replay
from warpleague.match.spec import MatchResult, SeatSpec

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
    folder = tmp_path_factory.mktemp("bots") / "steady"
    folder.mkdir()
    (folder / "bot.py").write_text(STEADY)
    (folder / "bot.toml").write_text('name = "steady"\ngames = ["*"]\nrun = ["python3", "bot.py"]\n')
    return folder


@pytest.fixture(scope="module")
def parent(steady: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a match of captains, whose dice count the rolls of each seat."""
    from warpleague.runner.bundle.bundle import prepare

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
        (
            lambda header: header["parent"].update(rolls={"x": -1}),
            "parent.rolls.x: must be a whole number",
        ),
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
