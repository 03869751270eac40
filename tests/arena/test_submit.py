"""The command `warpleague submit`, over a socket: what it sends and shows, what it refuses to send, and its words.

Beside it stand `arena challenge`, and `bot check` for the league of an arena.
"""

import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from tests.arena.harness import BOT, Answer, ApiHarness, ArenaHarness, Client, player, served

from warpleague.arena.submissions import entering, versions
from warpleague.arena.submissions.conditions import conditions_of, config_of
from warpleague.arena.submissions.workers import run_challenges
from warpleague.cli import main
from warpleague.errors import BadInput
from warpleague.league.season.bot_check import check_for
from warpleague.match.replay import verify_record
from warpleague.match.spec import MatchResult, MatchSpec
from warpleague.runner.findings import REPEAT, Finding

Command = Callable[..., tuple[int, str, str]]


# -- a bot is sent -----------------------------------------------------------------------------------------


@pytest.fixture
def checking(arena: ArenaHarness) -> Iterator[str]:
    """The address of a server that loses its first answer, and accepts a bot when it is asked about it."""
    asked: list[str] = []

    def ask(method: str, path: str, body: bytes, **headers: Any) -> Answer | None:
        asked.append(path)
        if method == "GET" and (found := arena.claim()) is not None:
            command = "warpleague bot check FOLDER --quick --seed 1; rm --all"
            versions.add_finding(arena.ledger, found, Finding(REPEAT, "ok", command))
            versions.add_finding(arena.ledger, found, Finding("bundle", "ok", "built \x1b[2J"))
            versions.accept(arena.ledger, found, "mine", "1", "0" * 64)
        answer = Client(arena.server).ask(method, path, body, **headers)
        return None if len(asked) == 1 else answer

    with served(ask) as address:
        yield address


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """The folder of a bot."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text(BOT)
    (folder / "bot.py").write_text("")
    return folder


def test_a_bot_is_submitted(
    arena: ArenaHarness, checking: str, bot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, though an answer is lost; its findings are shown, and nothing in them can steer the terminal."""
    token = tmp_path / "token"
    token.write_text(arena.tokens["ada"] + "\n")
    token.chmod(0o600)
    assert main(["submit", str(bot), "--to", checking, "--token-file", str(token)]) == 0
    shown = capsys.readouterr()
    assert "mine 1: accepted; it plays in cup" in shown.out
    assert "built" in shown.out
    # The command that repeats the check, on this folder; what a strange server says is quoted word by word.
    last = shown.out.splitlines()[-1]
    assert last == f"the same check here: warpleague bot check {bot} --quick --seed '1;' rm --all"
    assert "\x1b[2J" not in shown.out
    assert len(versions.submissions(arena.ledger)) == 1
    assert arena.tokens["ada"] not in shown.out + shown.err


def test_what_is_not_sent(
    arena: ArenaHarness,
    checking: str,
    bot: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No token to a stranger without encryption, none that is no token, and no folder that is no bot."""
    monkeypatch.delenv("WARPLEAGUE_TOKEN", raising=False)
    assert main(["submit", str(bot), "--to", checking]) == 2
    assert "a token is needed" in capsys.readouterr().err
    monkeypatch.setenv("WARPLEAGUE_TOKEN", "wl-1-" + "x" * 32)
    assert main(["submit", str(bot), "--to", checking]) == 2
    assert "not the token of an author" in capsys.readouterr().err
    assert main(["submit", str(bot), "--to", "http://arena.example.org"]) == 2
    assert "unencrypted" in capsys.readouterr().err
    assert main(["submit", str(bot), "--to", checking.removeprefix("http://")]) == 2
    assert f"without encryption; write {checking}" in capsys.readouterr().err
    assert main(["submit", str(bot), "--to", "ftp://arena.example.org"]) == 2
    assert "begins with https://" in capsys.readouterr().err
    monkeypatch.setenv("WARPLEAGUE_TOKEN", arena.tokens["ada"])
    assert main(["submit", str(bot), "--to", checking, "--league", "nosuch"]) == 2
    assert "There is no league 'nosuch' here. Say to which league: cup." in capsys.readouterr().err
    assert main(["submit", str(bot.parent / "none"), "--to", checking]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert versions.submissions(arena.ledger) == []


SUBMISSION: Final = {
    "id": 5,
    "author": "ada",
    "league": "cup",
    "state": "refused",
    "sha256": "0" * 64,
    "bytes": 9,
    "received": "2026-01-01",
    "found": [{"what": "bundle", "verdict": "failed", "text": "no", "more": 1}],
    "settled": "2026-01-01",
    "bot": None,
    "version": None,
    "digest": None,
    "active": False,
    "reason": "bundle: no",
    "of a later version": [],
}


ANSWERS: Final[list[tuple[dict[str, object] | bytes, int, str]]] = [
    (SUBMISSION, 1, ""),
    (SUBMISSION | {"id": {"a": 1}}, 1, "id: must be a whole number, not a table"),
    (
        SUBMISSION | {"league": 5, "found": 7},
        1,
        "answers as no arena does: its answer: league: must be a text",
    ),
    (SUBMISSION | {"found": 7}, 1, "found: must be a list, not 7"),
    (SUBMISSION | {"found": ["x"]}, 1, "found[0]: must be a table"),
    (SUBMISSION | {"found": [{"what": "x"}]}, 1, "found[0].verdict: is required"),
    ({}, 1, "is required, but missing"),
    ({"error": "first\nsecond \x1b[31m"}, 2, "first\\x0asecond \\x1b[31m"),
    ({"error": {"x": ["\ud800"]}}, 2, "ud800"),
    (b"[" * 100_000, 1, "nests too deep"),
    (b'{"id": ' + b"9" * 6000 + b"}", 1, "too many digits"),
    (b"<html>", 2, "answers as no arena does (status 200): check the address"),
    (b"[1]", 2, "check the address"),
    (b"\xff", 2, "check the address"),
]
"""What a server answers, the exit code, and what is told."""


def test_what_a_server_answers_that_is_no_arena(
    bot: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it answers is told in one line; what a later arena says besides is passed over."""
    bodies: list[bytes] = []
    monkeypatch.setenv("WARPLEAGUE_TOKEN", "wl-1-" + "x" * 32)
    with served(lambda *_, **__: Answer(200, {}, bodies[-1])) as address:
        for answer, code, told in ANSWERS:
            bodies.append(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
            assert main(["submit", str(bot), "--to", address]) == code
            err = capsys.readouterr().err
            assert told in err
            assert err.count("\n") == (1 if told else 0), answer


def test_an_answer_before_all_is_sent(
    arena: ArenaHarness,
    checking: str,
    bot: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A server that refuses what is too long need not read all of it: what it said is shown."""
    request = HTTPConnection.request

    def request_cut_off(*words: Any) -> None:
        request(*words)
        raise BrokenPipeError

    monkeypatch.setattr(HTTPConnection, "request", request_cut_off)
    monkeypatch.setenv("WARPLEAGUE_TOKEN", arena.tokens["ada"])
    entering.close(arena.ledger, "cup", "test")
    assert main(["submit", str(bot), "--to", checking]) == 2
    assert "closed it" in capsys.readouterr().err


# -- what was sent before ----------------------------------------------------------------------------------


def test_https_goes_through_the_proxy_of_the_environment(bot: Path, monkeypatch: Any, capsys: Any) -> None:
    """Through a tunnel, in which a proxy reads nothing; the error names the proxy, but not its password."""
    monkeypatch.setenv("WARPLEAGUE_TOKEN", "wl-1-secret")
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            asked.append(f"{self.requestline}\n{self.headers}")
            self.send_error(407)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        name = f"127.0.0.1:{proxy.server_port}"
        monkeypatch.setenv("https_proxy", f"http://me:a%20b@{name}")
        monkeypatch.setenv("no_proxy", "127.0.0.1,elsewhere.example")
        assert main(["submit", str(bot), "--to", "https://arena.example.org"]) == 2
        assert (
            f"through the proxy {name} (https_proxy): Tunnel connection failed: 407"
            in capsys.readouterr().err
        )
        told = set(asked)
        assert main(["submit", str(bot), "--to", "https://127.0.0.1:1"]) == 2
        assert "proxy" not in capsys.readouterr().err
        proxy.shutdown()
        thread.join()
    assert set(asked) == told
    (seen,) = told
    assert seen.startswith("CONNECT arena.example.org:443 ")
    assert "secret" not in seen
    assert "Proxy-Authorization: Basic bWU6YSBi" in seen


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "http://", "http://[", "http://a:b:c"])
def test_a_proxy_that_cannot_be_used(proxy: str, bot: Path, monkeypatch: Any, capsys: Any) -> None:
    """It is said which form it must have, and nothing is sent."""
    monkeypatch.setenv("WARPLEAGUE_TOKEN", "wl-1-secret")
    monkeypatch.setenv("https_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    assert main(["submit", str(bot), "--to", "https://arena.example.org"]) == 2
    assert "https_proxy: is not the address of an HTTP proxy" in capsys.readouterr().err


@pytest.fixture
def league(tmp_path: Path) -> Iterator[ApiHarness]:
    found = ApiHarness(tmp_path)
    yield found
    found.close()


@pytest.fixture
def address(league: ApiHarness) -> Iterator[str]:
    """The address of a server that answers as the one of the arena does."""
    with served(league.answer) as found:
        yield found


@pytest.fixture
def submit(
    league: ApiHarness, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Runs `warpleague submit WORDS --to` the server, as ada; gives exit code, output and remarks."""
    monkeypatch.setenv("WARPLEAGUE_TOKEN", league.tokens["ada"])

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["submit", *words, "--to", address])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_status_of_a_submission_is_an_exit_code(league: ApiHarness, submit: Command) -> None:
    """0 for accepted, 1 for refused, 3 as long as nobody knows; the list has all of them."""
    accepted = league.number
    waiting = versions.submit(league.ledger, league.author("ada"), "cup", league.bot()).id
    code, out, _ = submit("status", str(accepted))
    assert (code, "mine 1  accepted, plays" in out) == (0, True)
    assert submit("status", str(waiting))[0] == 3
    assert league.claim() is not None
    league.refuse(waiting, "it does not build", "build")
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


def test_an_author_gets_records_and_logs(league: ApiHarness, submit: Command, tmp_path: Path) -> None:
    """The league is found by the bot's name."""
    file = tmp_path / "mine.zip"
    code, out, _ = submit("records", "mine", "--out", str(file))
    assert (code, str(file) in out) == (0, True)
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
        assert len([name for name in archive.namelist() if name.endswith(".jsonl")]) == 6
    assert submit("log", "mine") == (0, "said\n", "")
    told = json.loads(submit("log", "mine", league.matches[0], "--json")[1])
    assert told == {
        "league": "played",
        "bot": "mine",
        "match": league.matches[0],
        "kind": "stderr",
        "text": "said",
    }
    code, _, err = submit("log", "mine", league.matches[0], "--kind", "wire")
    assert (code, "is no longer stored" in err) == (2, True)
    code, _, err = submit("records", "loser")
    assert (code, "you have no bot of that name" in err) == (2, True)


def test_who_watches_sees_the_matches_of_the_version(league: ApiHarness, submit: Command) -> None:
    """The check first, then each match once, oldest first."""
    code, out, _ = submit("watch", str(league.number), "--matches", "3", "--json")
    first, *matches = [json.loads(line) for line in out.splitlines()]
    assert (code, first["id"], len(matches)) == (0, league.number, 3)
    assert len({match["match"] for match in matches}) == 3
    code, out, _ = submit("watch", "--matches", "1")
    assert (code, " – " in out.splitlines()[-1]) == (0, True)
    refused = versions.submit(league.ledger, league.author("ada"), "cup", league.bot()).id
    assert league.claim() is not None
    league.refuse(refused, "it does not build", "build")
    code, out, _ = submit("watch")  # the last one, though the one before it plays
    assert (code, out.split()[-1], f"{refused}  " in out) == (1, "build", True)


def test_versions_are_changed_by_commands(league: ApiHarness, submit: Command) -> None:
    """A bot is withdrawn, and an old version plays again; then its first match is told."""
    number = league.accepted("ada", "other")
    assert submit("withdraw", "other") == (0, "other: plays in cup no more\n", "")
    assert "plays" not in submit("status", str(number))[1].splitlines()[0]
    code, out, _ = submit("activate", str(number))
    assert (code, "accepted, plays" in out) == (0, True)
    told = json.loads(submit("status", str(number), "--json")[1])
    assert told["played"] == 0
    assert "within about 60 s" in told["first_match"]
    entering.pause(league.ledger, "cup", "test", on=True)
    assert "organiser" in json.loads(submit("status", str(number), "--json")[1])["first_match"]
    played = json.loads(submit("status", str(league.number), "--json")[1])
    assert (played["played"], played["first_match"]) == (6, None)


def test_a_check_that_could_not_be_made_is_told_apart(
    league: ApiHarness, submit: Command, tmp_path: Path
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
    assert league.claim() is not None
    stop = threading.Event()

    def fail() -> None:
        while not stop.wait(0.05):
            if (found := league.claim()) is not None:
                versions.add_finding(league.ledger, found, Finding("machine", "failed", "busy", "machine"))
                league.refuse(found, "no disk", "harness", "failed")

    league.refuse(number, "no disk", "harness", "failed")
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
    league: ApiHarness,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It waits for the match, prints the result, and writes the record; 3 if the match could not be played."""
    number = league.accepted("ada", "late")
    monkeypatch.setenv("WARPLEAGUE_TOKEN", league.tokens["ada"])
    stop = threading.Event()
    plays = [player([]), player([], outcome="late")]

    def play(spec: MatchSpec, seconds: float, log: bool) -> MatchResult | None:
        return plays[0](spec, seconds, log)

    leagues = {league.config.name: league.config}
    words = (league.ledger, leagues, lambda seconds: stop.wait(min(seconds, 0.05)))
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
        plays.pop(0)
        assert main(command) == 3
        assert "not played, which does not count: it was not over within 300 s" in capsys.readouterr().out
        assert main([*command[:3], "nobody", *command[4:]]) == 2
        assert "no bot 'nobody' plays in cup" in capsys.readouterr().err
    finally:
        stop.set()
        thread.join()


def test_the_conditions_make_the_same_check_as_the_file(league: ApiHarness, tmp_path: Path) -> None:
    """Clock, rules, options, table and names: nothing that a bot could notice differs."""
    for config in (league.config, league.played):
        told = conditions_of(league.ledger, config)
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
    league: ApiHarness, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
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
