"""The logs of bots for their authors: kept by `match`, `bot check` and `league run`, shown by `replay show`.

What a log holds is tested with the runner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warpleague.errors import BadInput
from warpleague.runner.doctor import check_level

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import MakeBot, Run

SAYING = """
import sys
from warpline.client import run

def choose(question):
    print(f"{NAME} \\x1b[2Jthinks of {question.id}", file=sys.stderr)
    return 0

run(choose, wants=())
"""


@pytest.fixture
def saying(make_bot: MakeBot) -> dict[str, Path]:
    """Two bots that say who they are before each decision."""
    return {name: make_bot(name, f"NAME = {name!r}\n{SAYING}") for name in ("anna", "bert")}


@pytest.mark.parametrize("level", ["none", "limits", "sandbox"])
def test_what_a_bot_prints_is_kept_at_every_level(
    run: Run, saying: dict[str, Path], tmp_path: Path, level: str
) -> None:
    """`--log` keeps the words of each bot in its own folder; `replay show` finds them beside the record."""
    try:
        check_level(level)
    except BadInput as error:
        pytest.skip(str(error))
    kept, logs = tmp_path / "kept" / "one.jsonl", tmp_path / "kept" / "logs"
    more = ("--option", "max_turns=4", "--level", level, "--record", kept, "--log", logs)
    done = run("match", "aliens", saying["anna"], saying["bert"], *more)
    assert done.code == 0
    assert f"logs written to {logs}" in done.err
    for seat, (name, other) in enumerate((("anna", "bert"), ("bert", "anna"))):
        assert len(list((logs / name).iterdir())) == 2
        shown = run("replay", "show", kept, "--stderr", seat)
        assert (shown.code, shown.err) == (0, "")
        lines = shown.out.splitlines()
        assert lines == [f"{name} \\x1b[2Jthinks of {number + 1}" for number in range(len(lines))]
        assert other not in shown.out
        wire = run("replay", "show", kept, "--wire", seat, "--json").json
        assert (wire["seat"], wire["bot"]) == (seat, name)
        assert wire["wire"].count('< {"type":"act"') == len(lines) > 0


def test_nothing_is_kept_unless_asked_for(run: Run, saying: dict[str, Path], tmp_path: Path) -> None:
    """Without `--log` there are no logs; the text says where they were looked for, and how to keep them."""
    kept = tmp_path / "one.jsonl"
    run("match", "aliens", *saying.values(), "--option", "max_turns=1", "--record", kept)
    done = run("replay", "show", kept, "--stderr", 1)
    assert (done.code, done.out) == (2, "")
    assert "the standard error of seat 1 (bert) was not stored" in done.err
    assert f"{tmp_path / 'logs'}" in done.err
    assert "--log DIR" in done.err
    beyond = run("replay", "show", kept, "--wire", 2)
    assert (beyond.code, "--wire 2: the match has seats 0 to 1" in beyond.err) == (2, True)


def test_a_silent_bot_is_told_from_one_without_a_log(run: Run, first: Path, tmp_path: Path) -> None:
    """A bot that wrote nothing has an empty log, and that is said."""
    kept = tmp_path / "one.jsonl"
    more = ("--option", "max_turns=1", "--record", kept, "--log", tmp_path / "words")
    assert run("match", "aliens", first, first, *more).code == 0
    done = run("replay", "show", kept, "--stderr", 1, "--log", tmp_path / "words")
    assert (done.code, done.out, done.err) == (0, "", "seat 1 wrote nothing to standard error\n")


def test_a_folder_that_cannot_be_is_refused_at_once(run: Run, first: Path, tmp_path: Path) -> None:
    """Before the match is played, with the path."""
    file = tmp_path / "file"
    file.touch()
    done = run("match", "aliens", first, first, "--log", file / "logs")
    assert (done.code, done.out) == (2, "")
    assert f"{file / 'logs'}: cannot write there: " in done.err


def test_check_keeps_the_words_of_each_match(run: Run, saying: dict[str, Path], tmp_path: Path) -> None:
    """`bot check --log` keeps the logs of all matches it played, both seats."""
    logs = tmp_path / "logs"
    done = run("bot", "check", saying["anna"], "--matches", 1, "--log", logs)
    assert done.code == 0
    names = sorted(path.name.split("-", 1)[1] for path in (logs / "anna").iterdir())
    assert names == ["0.stderr.txt", "0.wire.txt", "1.stderr.txt", "1.wire.txt"]
    for path in (logs / "anna").glob("*.stderr.txt"):
        assert "anna \\x1b[2Jthinks of 1" in path.read_text()
    for path in (logs / "anna").glob("*.wire.txt"):
        assert "padding" not in path.read_text()  # it is of the match that was played as usual


@pytest.mark.parametrize("way", ["option", "file"])
def test_a_league_keeps_the_words_of_each_bot(
    run: Run, saying: dict[str, Path], tmp_path: Path, way: str
) -> None:
    """By `--log DIR`, or `logs = true` in the file; then `replay show` finds the log of an exported record."""
    file, results = tmp_path / "cup.toml", tmp_path / "results"
    file.write_text(
        'bots = ["anna", "bert"]\n[game]\nid = "aliens"\noptions = { max_turns = 2 }\n'
        + ("[run]\nlogs = true\n" if way == "file" else "")
    )
    logs = results / "cup" / "logs" if way == "file" else tmp_path / "words"
    more = () if way == "file" else ("--log", logs)
    assert run("league", "run", file, "--results", results, "--jobs", 1, *more).code == 0
    matches = run("league", "matches", file, "--results", results, "--json").json
    assert len(matches) == 2
    for match in matches:
        done = run("league", "export", file, "--results", results, "--match", match["number"])
        where = () if way == "file" else ("--log", logs)
        for seat, name in enumerate(match["seats"]):
            shown = run("replay", "show", done.out.strip(), "--stderr", seat, *where)
            assert (shown.code, shown.out.split()[0]) == (0, name)
    assert len(list((logs / "anna").iterdir())) == 4
