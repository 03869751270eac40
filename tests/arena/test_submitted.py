"""The words of `warpleague submit` that ask about bots that were sent, and `bot check` for the league of an arena."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from typing import TYPE_CHECKING

import attrs
import pytest
from tests.arena.harness import BOT, ApiHarness, served
from tests.league.fakes import fakeplay

from warpleague.arena.submissions import entering, versions
from warpleague.arena.submissions.conditions import conditions_of, config_of
from warpleague.arena.submissions.workers import run_challenges
from warpleague.cli import main
from warpleague.errors import BadInput
from warpleague.league.season.bot_check import check_for
from warpleague.match.replay import verify_record
from warpleague.match.spec import MatchResult, MatchSpec, SeatLog
from warpleague.runner.checkup import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ApiHarness]:
    found = ApiHarness(tmp_path)
    yield found
    found.close()


@pytest.fixture
def address(arena: ApiHarness) -> Iterator[str]:
    """The address of a server that answers as the one of the arena does."""
    with served(arena) as found:
        yield found


@pytest.fixture
def submit(
    arena: ApiHarness, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Runs `warpleague submit WORDS --to` the server, as ada; gives exit code, output and remarks."""
    monkeypatch.setenv("WARPLEAGUE_TOKEN", arena.tokens["ada"])

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["submit", *words, "--to", address])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_status_of_a_submission_is_an_exit_code(arena: ApiHarness, submit: Command) -> None:
    """0 for accepted, 1 for refused, 3 as long as nobody knows; the list has all of them."""
    accepted = arena.number
    waiting = versions.submit(arena.ledger, arena.author("ada"), "cup", arena.bot()).id
    code, out, _ = submit("status", str(accepted))
    assert (code, "mine 1  accepted, plays" in out) == (0, True)
    assert submit("status", str(waiting))[0] == 3
    assert arena.claim() is not None
    arena.refuse(waiting, "it does not build", "build")
    code, out, _ = submit("status", str(waiting), "--json")
    assert code == 1
    assert json.loads(out)["found"][-1]["code"] == "build"
    code, out, _ = submit("status")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [str(waiting), str(accepted)]
    assert "refused: bundle: it does not build" in out
    assert len(json.loads(submit("status", "--json", "--league", "cup")[1])) == 1
    assert submit("status", "12x")[0] == 2
    assert submit("status", "999")[0] == 2
    assert submit("status", "1", "2")[0] == 2


def test_an_author_gets_records_and_logs(arena: ApiHarness, submit: Command, tmp_path: Path) -> None:
    """The league is found by the bot's name."""
    file = tmp_path / "mine.zip"
    code, out, _ = submit("records", "mine", "--out", str(file))
    assert (code, str(file) in out) == (0, True)
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
        assert len([name for name in archive.namelist() if name.endswith(".jsonl")]) == 6
    assert submit("log", "mine") == (0, "said\n", "")
    told = json.loads(submit("log", "mine", arena.matches[0], "--json")[1])
    assert told == {
        "league": "played",
        "bot": "mine",
        "match": arena.matches[0],
        "kind": "stderr",
        "text": "said",
    }
    code, _, err = submit("log", "mine", arena.matches[0], "--kind", "wire")
    assert (code, "is no longer stored" in err) == (2, True)
    code, _, err = submit("records", "loser")
    assert (code, "you have no bot of that name" in err) == (2, True)


def test_who_watches_sees_the_matches_of_the_version(arena: ApiHarness, submit: Command) -> None:
    """The check first, then each match once, oldest first."""
    code, out, _ = submit("watch", str(arena.number), "--matches", "3", "--json")
    first, *matches = [json.loads(line) for line in out.splitlines()]
    assert (code, first["id"], len(matches)) == (0, arena.number, 3)
    assert len({match["match"] for match in matches}) == 3
    code, out, _ = submit("watch", "--matches", "1")
    assert (code, " – " in out.splitlines()[-1]) == (0, True)


def test_versions_are_changed_by_commands(arena: ApiHarness, submit: Command) -> None:
    """A bot is withdrawn, and an old version plays again; then its first match is told."""
    number = arena.accepted("ada", "other")
    assert submit("withdraw", "other") == (0, "other: plays in cup no more\n", "")
    assert "plays" not in submit("status", str(number))[1].splitlines()[0]
    code, out, _ = submit("activate", str(number))
    assert (code, "accepted, plays" in out) == (0, True)
    told = json.loads(submit("status", str(number), "--json")[1])
    assert told["played"] == 0
    assert "within about 60 s" in told["first_match"]
    entering.pause(arena.ledger, "cup", "test", on=True)
    assert "organiser" in json.loads(submit("status", str(number), "--json")[1])["first_match"]
    played = json.loads(submit("status", str(arena.number), "--json")[1])
    assert (played["played"], played["first_match"]) == (6, None)


def test_a_check_that_could_not_be_made_is_told_apart(
    arena: ApiHarness, submit: Command, tmp_path: Path
) -> None:
    """With `--wait` by exit code 3; without, the code is 1, as it always was. So is a check that takes too long."""
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text(BOT.replace('"mine"', '"late"'))
    (folder / "bot.py").write_text("")
    words = (str(folder), "--league", "cup", "--json")
    code, out, _ = submit(*words, "--wait", "--max-wait", "0")
    assert (code, json.loads(out)["state"]) == (3, "received")
    number = json.loads(out)["id"]
    assert arena.claim() is not None
    stop = threading.Event()

    def fail() -> None:
        while not stop.wait(0.05):
            if (found := arena.claim()) is not None:
                versions.add_finding(arena.ledger, found, Finding("machine", "failed", "busy", "machine"))
                arena.refuse(found, "no disk", "harness", "failed")

    arena.refuse(number, "no disk", "harness", "failed")
    thread = threading.Thread(target=fail)
    thread.start()
    try:
        code, out, _ = submit(*words, "--wait")
        assert (code, json.loads(out)["state"]) == (3, "failed")
        code, out, _ = submit(str(folder), "--league", "cup")
        assert (code, "but not because of the bot: submit it again" in out) == (1, True)
        assert "cup: aliens with 2 players; 1 s for a decision; 10 s to start; level sandbox" in out
    finally:
        stop.set()
        thread.join()


def test_a_folder_with_the_name_of_a_word_is_still_sent(
    submit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As before there were such words; a remark says so."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "status").mkdir()
    (tmp_path / "status" / "bot.toml").write_text(BOT.replace('"mine"', '"status"'))
    (tmp_path / "status" / "bot.py").write_text("")
    code, out, err = submit("status", "--no-wait", "--league", "cup")
    assert (code, "submission" in out, "is the folder of a bot here" in err) == (0, True, True)


def test_a_match_is_asked_for_by_a_command(
    arena: ApiHarness,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It waits for the match, prints the result, and writes the record; 3 if the match could not be played."""
    number = arena.accepted("ada", "late")
    monkeypatch.setenv("WARPLEAGUE_TOKEN", arena.tokens["ada"])
    stop = threading.Event()
    fails: list[int] = []

    def play(spec: MatchSpec, seconds: float, log: bool) -> MatchResult | None:
        if fails:
            return None
        found = fakeplay.play_refereed(spec)
        return attrs.evolve(found, logs=tuple(SeatLog.of("", "") for _ in spec.seats))

    leagues = {arena.config.name: arena.config}
    words = (arena.ledger, leagues, lambda seconds: stop.wait(min(seconds, 0.05)))
    thread = threading.Thread(target=run_challenges, args=words, kwargs={"play": play})
    thread.start()
    try:
        record = tmp_path / "match.jsonl"
        command = ["arena", "challenge", "late", "random-python", "--to", f"{address}/l/cup/"]
        assert main([*command, "--out", str(record)]) == 0
        out = capsys.readouterr().out
        assert f"match {number + 1} in cup: late ({number}) – random-python" in out
        assert f"record: {record}" in out
        verify_record(record.read_bytes())
        fails.append(1)
        assert main(command) == 3
        assert "not played, which does not count: it was not over within 300 s" in capsys.readouterr().out
        assert main([*command[:3], "nobody", *command[4:]]) == 2
        assert "no bot 'nobody' plays in cup" in capsys.readouterr().err
    finally:
        stop.set()
        thread.join()


def test_the_conditions_make_the_same_check_as_the_file(arena: ApiHarness, tmp_path: Path) -> None:
    """Clock, rules, options, table and names: nothing that a bot could notice differs."""
    for config in (arena.config, arena.played):
        told = conditions_of(arena.ledger, config)
        there = config_of(told)
        assert there.conditions == config.conditions
        folder = tmp_path / "somewhere"
        first = check_for(config, folder, names=("x",), seed="1")
        second = check_for(there, folder, names=tuple(told.names), seed="1")
        assert first.tables == second.tables
        assert (first.one_core, first.paths) == (second.one_core, second.paths)
        assert {*first.names, *told.names} == {*second.names, "x"}
    with pytest.raises((BadInput, ValueError)):
        config_of(attrs.evolve(told, clock=attrs.evolve(told.clock, move_s=None), strikes=-1))


def test_a_bot_is_checked_for_the_league_of_an_arena(
    arena: ApiHarness, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the address of the league's page, without a token; a bot that does not play its game is not ready."""
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "b"\ngames = ["sheets"]\nrun = ["python3", "bot.py"]\n')
    (folder / "bot.py").write_text("")
    words = ["bot", "check", str(folder), "--level", "none", "--json", "--league"]
    assert main([*words, f"{address}/l/cup/"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["code"], one["what"]) for one in found][1] == ("game-not-claimed", "aliens")
    assert main([*words, address]) == 2
    assert "name one of its leagues: cup, played" in capsys.readouterr().err
    assert main([*words, f"{address}/l/none"]) == 2
    assert "No league of this server has that name" in capsys.readouterr().err
