"""Commands that are run when something has ended: what they are told, and that they cannot hurt a league."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.league.conftest import Command, WriteLeague

from warpleague.errors import ConfigError
from warpleague.league.play.hooks import run_hook
from warpleague.league.season.config import load_config

KEEP = ["sh", "-c", "cat >> told.jsonl"]


def told(folder: Path) -> list[dict[str, Any]]:
    """What `KEEP` was told."""
    path = folder / "told.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_command_gets_one_line(tmp_path: Path) -> None:
    """It reads one line of JSON, runs in the folder of the file, and what it prints is not told if it succeeds."""
    script = tmp_path / "notify"
    script.write_text('#!/bin/sh\ncat > "$1"; echo done\n')
    script.chmod(0o755)
    assert run_hook(["./notify", "here.json"], tmp_path, {"event": "run", "text": "a\nb ü"}) is None
    (line,) = (tmp_path / "here.json").read_text().splitlines()
    assert json.loads(line) == {"event": "run", "text": "a\nb ü"}


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["no-such-program"], "no-such-program: could not be run: No such file or directory"),
        (["./missing", "x y"], "./missing 'x y': could not be run: No such file or directory"),
        (["sh", "-c", "echo one; echo two >&2; exit 3"], "ended with exit code 3: two"),
        (["sh", "-c", "exit 3"], "ended with exit code 3: it printed nothing"),
        (["sh", "-c", "printf 'a\\033[31mb'; exit 1"], r"a\x1b[31mb"),
        (["sh", "-c", "kill -9 $$"], "was killed by signal 9"),
    ],
)
def test_what_goes_wrong_is_one_line(tmp_path: Path, command: list[str], problem: str) -> None:
    """The line names the command, how it ended, and the last line that it printed."""
    found = run_hook(command, tmp_path, {})
    assert found is not None
    assert found.startswith(shlex.join(command))
    assert problem in found
    assert "\n" not in found


def test_a_command_that_prints_without_end_is_read_and_killed(tmp_path: Path) -> None:
    """It is killed when its time is over, however much it prints and whatever it ignores."""
    loop = "trap '' TERM; while :; do echo again; done"
    found = run_hook(["sh", "-c", loop], tmp_path, {}, limit_s=0.1)
    assert found is not None
    assert "was not done after 0.1 s, and was killed" in found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux finds what has left its session")
def test_what_a_command_leaves_behind_is_killed(tmp_path: Path) -> None:
    """A process in the background ends with the command, even one in a session of its own."""
    leave = "import subprocess, sys; print(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid)"
    assert run_hook(["sh", "-c", f'{sys.executable} -c "{leave}" > pid'], tmp_path, {}) is None
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.fixture
def played(command: Command, write_league: WriteLeague, tmp_path: Path) -> tuple[Path, str]:
    """A league that was played with `on_end`, and what its run said besides."""
    path = write_league("anna", "bert", "cleo", top=f'seed = "test"\non_end = {json.dumps(KEEP)}')
    code, _, err = command("run", path, "--quiet")
    assert code == 0
    return path, err


def test_a_run_tells_how_it_ended(played: tuple[Path, str], command: Command, tmp_path: Path) -> None:
    """The run that ends the season says so, with counts, faults and the head of the standings; the next is a run.

    The command is named before it is run. Nothing but a run runs it, and nothing that is stored has it.
    """
    path, err = played
    assert f"note: when the run has ended, {path} has this run: sh -c 'cat >> told.jsonl'" in err
    (season,) = told(tmp_path)
    assert season["event"] == "season"
    assert (season["league"], season["game"], season["complete"], season["stopped"]) == (
        "cup",
        "aliens",
        True,
        False,
    )
    assert (season["matches"], season["stored"], season["played"], season["void"]) == (18, 18, 18, 0)
    assert {line["bot"] for line in season["standings"]} == {"anna", "bert", "cleo"}
    assert (season["verdict"], season["failure"]) == (None, None)
    for action in ("status", "standings", "verify", "report", "export"):
        command(action, path)
    assert len(told(tmp_path)) == 1
    assert "on_end" not in (tmp_path / "results" / "cup" / "league.toml").read_text()
    command("run", path, "--quiet")
    assert [line["event"] for line in told(tmp_path)] == ["season", "run"]
    assert told(tmp_path)[1]["played"] == 0


def test_a_command_changes_no_match(played: tuple[Path, str], command: Command, tmp_path: Path) -> None:
    """The matches and their ids are those of the same file without a command."""
    path, _ = played
    before = command("matches", path, "--json")[1]
    path.write_text(path.read_text().replace(f"on_end = {json.dumps(KEEP)}\n", ""))
    assert json.loads(command("run", path, "--json")[1])["played"] == 0
    assert command("matches", path, "--json")[1] == before


def test_a_command_that_fails_fails_no_run(command: Command, write_league: WriteLeague) -> None:
    """A note says what went wrong; the exit code is that of the run."""
    path = write_league("anna", "bert", top='on_end = ["sh", "-c", "echo no network; exit 7"]')
    code, _, err = command("run", path, "--quiet")
    assert code == 0
    assert err.splitlines()[-1].endswith("ended with exit code 7: no network")
    assert err.splitlines()[-1].startswith("note: on_end: sh -c ")


def test_a_test_tells_its_verdict(command: Command, write_league: WriteLeague, tmp_path: Path) -> None:
    """What is told of a test has its decision."""
    path = write_league(
        "anna", "bert", top=f"on_end = {json.dumps(KEEP)}", extra='kind = "test"\nfixed = 4', deals=1
    )
    command("run", path, "--quiet")
    (line,) = told(tmp_path)
    assert line["event"] == "test"
    assert line["verdict"]["decision"] == "undecided"
    assert line["verdict"]["matches"] == line["played"] == 4


@pytest.mark.parametrize(
    ("top", "problem"),
    [
        ('on_end = "notify"', "on_end: "),
        ('on_end = ["", "x"]', 'on_end: must begin with a program, such as ["./notify.sh"]'),
        ('on_end = ["a\\u0000"]', "on_end: no word of a command can have a NUL"),
        ("arena = { on_event = [1] }", "arena.on_event"),
        ('on_event = ["x"]', "on_event: unknown key"),
    ],
)
def test_what_is_no_command(write_league: WriteLeague, top: str, problem: str) -> None:
    """A command is a list of words, and the first is a program."""
    with pytest.raises(ConfigError) as raised:
        load_config(write_league("anna", "bert", top=top))
    assert problem in str(raised.value)
