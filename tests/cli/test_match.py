"""`warpleague match`: what it plays, prints and writes.

Bad input is the business of test_bad_input.py.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from warpleague.match.replay import verify_record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import MakeBot, Run

SHORT = ("--option", "max_turns=4")


def test_json_has_the_promised_form(run: Run, first: Path, tmp_path: Path) -> None:
    """`--json` prints one object with the fixed keys, and nothing else."""
    path = tmp_path / "new" / "match.jsonl"
    done = run("match", "aliens", first, first, *SHORT, "--seed", "x", "--json", "--record", path)
    assert (done.code, done.err) == (0, "")
    told = done.json
    assert set(told) >= {"match", "game", "seed", "seats", "ranks", "scores", "faults", "digest", "record"}
    assert (told["game"], told["seed"], told["seats"]) == ("aliens", "x", ["first", "first"])
    assert (told["ranks"], told["scores"], told["faults"]) == ([1, 1], [0.5, 0.5], [None, None])
    assert told["record"] == str(path)
    summary = verify_record(path.read_bytes())
    assert (summary.digest, summary.header["id"]) == (told["digest"], told["match"])


def test_a_fault_is_told_for_its_seat(run: Run, first: Path, make_bot: MakeBot) -> None:
    """The entry of a seat that faulted names the kind; the match is decided, so the exit code is 0."""
    bad = make_bot("bad", "from warpline.client import run\nrun(lambda question: 9999)\n")
    done = run("match", "aliens", first, bad, *SHORT, "--json")
    assert done.code == 0
    assert done.json["faults"][0] is None
    assert done.json["faults"][1]["kind"] == "illegal"
    assert done.json["ranks"] == [1, 2]


def test_the_table_names_bots_faults_and_seed(run: Run, first: Path, make_bot: MakeBot) -> None:
    """Without `--json` a person reads who played, who faulted and why, and the seed that repeats the match."""
    bad = make_bot("bad", "raise SystemExit(3)\n")
    done = run("match", "aliens", first, bad, *SHORT, "--seed", "[red]seed")
    assert done.code == 4  # a bot did not start
    assert "first" in done.out
    assert "startup: after hello: exited with status 3" in done.out
    assert "'[red]seed'" in done.out


def test_a_bot_that_does_not_claim_the_game_is_noted(run: Run, first: Path) -> None:
    """The match is played, with a remark: a league would refuse the bot."""
    done = run("match", "sheets", first, first, "--seed", "1")
    assert done.code == 0
    assert "does not claim to play sheets" in done.err


def test_a_random_seed_is_drawn_and_told(run: Run, first: Path) -> None:
    """Two matches without `--seed` have different seeds, and each is told."""
    seeds = {run("match", "aliens", first, first, *SHORT, "--json").json["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_the_header_holds_what_was_asked_for(run: Run, first: Path, tmp_path: Path) -> None:
    """Options, clock, level and fault policy of the command line stand in the record."""
    path = tmp_path / "match.jsonl"
    options = ("--option", "both_ships=true", "--option", "diagonals=swapped")
    clock = ("--move-s", 5, "--bank-s", 60.5, "--increment-s", 0.25, "--start-s", 20)
    policy = ("--faults", "substitute", "--strikes", 2, "--level", "none")
    assert run("match", "aliens", first, first, *SHORT, *options, *clock, *policy, "--record", path).code == 0
    header = json.loads(path.read_text().splitlines()[0])
    assert header["options"] == {"max_turns": 4, "both_ships": True, "diagonals": "swapped"}
    assert header["clock"] == {"move_s": 5, "bank_s": 60.5, "increment_s": 0.25, "start_s": 20}
    assert (header["faults"], header["strikes"], header["level"]) == ("substitute", 2, "none")


def test_a_bot_may_have_a_clock_of_its_own(run: Run, first: Path, tmp_path: Path) -> None:
    """Behind its folder stands its clock, which is in its name and in the record."""
    path = tmp_path / "match.jsonl"
    done = run("match", "aliens", first, f"{first}@50s", *SHORT, "--json", "--record", path)
    assert (done.code, done.json["seats"]) == (0, ["first", "first@50s"])
    clocks = [seat.get("clock") for seat in json.loads(path.read_text().splitlines()[0])["seats"]]
    assert clocks[0] is None
    assert clocks[1]["move_s"] == 50


@pytest.mark.parametrize(
    ("name", "magic"), [("m.jsonl.zst", b"\x28\xb5\x2f\xfd"), ("m.jsonl.gz", b"\x1f\x8b")]
)
def test_records_are_packed_by_name(run: Run, first: Path, tmp_path: Path, name: str, magic: bytes) -> None:
    """A record's suffix says how it is compressed, and any form verifies."""
    path = tmp_path / name
    assert run("match", "aliens", first, first, *SHORT, "--record", path).code == 0
    assert path.read_bytes().startswith(magic)
    assert run("replay", "verify", path).code == 0
    assert list(tmp_path.iterdir()) == [path]


def test_watching_tells_the_events(run: Run, first: Path) -> None:
    """`--watch` without a terminal tells each event on a line, before the result."""
    done = run("match", "aliens", first, first, *SHORT, "--watch", "--seed", "x")
    assert done.code == 0
    assert "opening roll" in done.out.splitlines()[0]
    assert "digest" in done.out.splitlines()[-1]


def test_a_bot_that_is_out_is_quoted(run: Run, first: Path, make_bot: MakeBot) -> None:
    """Under the table stands what a faulting bot wrote: its line, or the end of its standard error."""
    printing = make_bot("printing", "print('thinking', flush=True)\ninput()")
    raising = make_bot("raising", "from warpline.client import run\nrun(lambda question: 1 / 0)\n")
    for bot, words, code in ((printing, "; it wrote: thinking", 4), (raising, "ZeroDivisionError", 0)):
        done = run("match", "aliens", bot, first, "--seed", "1")
        assert done.code == code
        assert words in done.out
    assert 'File "bot.py", line 2' in done.out  # not the copy in the cache


@pytest.mark.parametrize(("players", "ai"), [(5, None), (1, "azimuth")])
def test_captains_of_any_table_is_verified_and_reproduced(
    run: Run, make_bot: MakeBot, tmp_path: Path, players: int, ai: str | None
) -> None:
    """The record of a table of five, and of one alone, holds, and the same match is played from it again."""
    source = "from random import Random\nfrom warpline.client import run\nrng = Random(5)\n"
    source += 'run(lambda question: rng.randrange(len(question.legal)), wants=("legal",))\n'
    manifest = 'name = "captain"\ngames = ["captains"]\nrun = ["python3", "bot.py"]\n'
    bots = [make_bot("captain", source, manifest)] * players
    path = tmp_path / "match.jsonl"
    options = ["--option", "max_rounds=3", *(["--option", f"ai={ai}"] if ai else [])]
    played = run("match", "captains", *bots, *options, "--seed", "x", "--record", path, "--json")
    assert (played.code, played.json["faults"]) == (0, [None] * players)
    verified = run("replay", "verify", path, "--json")
    assert (verified.code, verified.json["digest"]) == (0, played.json["digest"])
    again = run("reproduce", path, "--json")
    assert (again.code, again.json["same"], again.json["digest"]) == (0, True, played.json["digest"])
