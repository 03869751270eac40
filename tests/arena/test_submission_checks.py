"""The checker: what it accepts and refuses, what it does on a machine that cannot, and that it may be killed."""

import errno
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from tests.arena.harness import BOT, LEAGUE, ArenaHarness
from tests.waiting import wait_until

from warpleague.arena.submissions import entering, jobs, versions, workers
from warpleague.arena.submissions.conditions import conditions_of, facts
from warpleague.arena.submissions.ledger import Ledger, set_limit
from warpleague.cli import main
from warpleague.errors import BadInput, HarnessFault
from warpleague.league.season.config import load_config
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.runner.checkup import Checkup
from warpleague.runner.doctor import Report
from warpleague.runner.findings import MACHINE, Finding

RANDOM: Final = (shipped_root() / "bots" / "random-python" / "bot.py").read_text()


def check(arena: ArenaHarness, check_bot: Callable[..., bool] | None = None) -> None:
    """Check what there is to check; with `check_bot`, that stands for the sandbox and the check of a bot."""
    tests = workers.CheckerTests() if check_bot is None else passing(check_bot)
    workers.run_checker(arena.ledger, {"cup": arena.config}, lambda _: False, once=True, tests=tests)


def passing(check_bot: Callable[..., bool] = lambda *_: True) -> workers.CheckerTests:
    """Tests in which the sandbox holds, and bots are checked by `check_bot`."""
    return workers.CheckerTests(lambda level, **_: Report(level, "tried"), check_bot)


def send(arena: ArenaHarness, manifest: str = BOT, author: str = "ada", **files: str) -> int:
    """Submit a bot that plays at random; its number."""
    data = arena.bot(manifest, **{"bot.py": RANDOM, **files})
    return versions.submit(arena.ledger, arena.author(author), "cup", data).id


def test_a_clock_that_jumps_changes_no_quota(arena: ArenaHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives nobody more submissions, and where it was ahead by years, nobody waits for them."""
    set_limit(arena.ledger, "per_day", 2, "test")
    true = time.time
    send(arena)
    monkeypatch.setattr(time, "time", lambda: true() + 3 * jobs.DAY_S)
    send(arena, BOT + "# 2\n")
    with pytest.raises(jobs.OverQuota, match=r"2 submissions .* in 2[34]\.\d hours"):
        send(arena, BOT + "# 3\n")
    with Ledger.open(arena.results) as begun_ahead:
        data = arena.bot(BOT + "# 4\n")
        versions.submit(begun_ahead, arena.author("bob"), "cup", data)
    monkeypatch.undo()
    with Ledger.open(arena.results) as begun_later:
        bob = arena.author("bob")
        assert jobs.used_today(begun_later, jobs.SUBMISSION, bob) == 1
        versions.submit(begun_later, bob, "cup", arena.bot(BOT + "# 5\n"))
        with pytest.raises(jobs.OverQuota, match=r"in 2[34]\.\d hours"):
            versions.submit(begun_later, bob, "cup", arena.bot(BOT + "# 6\n"))


SPY: Final = """
for path in {results}/arena.db {results}/arena/bots/*/bot.toml {results}/cup/league.sqlite {results}; do
    cat "$path" && echo "READ $path"
done
ls {results}/arena/bots && echo "LISTED"
touch {results}/arena/evil && echo "WRITTEN"
env | grep -i wl- && echo "TOKEN"
exit 1
"""


THINKER: Final = """
import time
from warpline.client import run
run(lambda question: (time.sleep(1.1 if question.id == 2 else 0), 0)[1], wants=())
"""
"""Thinks once for longer than a second."""


@pytest.mark.usefixtures("sandboxed")
def test_what_the_checker_decides(arena: ArenaHarness) -> None:
    """One good bot plays; others are refused, each with its reason, and none could read what is not its own.

    The good one thinks long once, since the league has a bank and no other limit.
    """
    (arena.folder / "cup.toml").write_text(
        LEAGUE.replace("[rules]", "[clock]\nbank_s = 120.0\nstart_s = 3.0\n[rules]")
    )
    arena.config = load_config(arena.folder / "cup.toml")
    with arena.ledger.writing() as db:
        db.execute("INSERT INTO setting VALUES ('limit per_day', '100')")
        db.execute("INSERT INTO setting VALUES ('limit build_s', '2')")
    good = send(arena, **{"bot.py": THINKER})
    build = '\nbuild = ["sh", "build.sh"]'
    wrong = {
        send(arena, BOT.replace("aliens", "sheets")): "plays aliens, which is not among them",
        send(arena, BOT + f'[sandbox]\npaths = ["{arena.results}"]'): "is not below /opt",
        send(arena, BOT + '[sandbox]\npaths = ["/opt/other"]'): "has not granted",
        send(arena, BOT + f'[files."store"]\nsha256 = "{"0" * 64}"\npath = "/x"'): "cannot link files",
        send(arena, BOT + "[limits]\nmemory_mb = 9000"): "at most 1024 here, not 9000",
        send(arena, BOT + "[limits]\nprocesses = 1000"): "at most 64 here, not 1000",
        send(arena, BOT.replace("mine", "Random-Python")): "is a bot of the organiser",
        send(arena, BOT.replace('"mine"', '"../../x"')): "may consist of",
        send(
            arena, BOT.replace("mine", "MINE"), "bob"
        ): "another author has a bot called mine, which looks like MINE",
        send(
            arena, BOT.replace("mine", "rand0m-python")
        ): "looks like random-python, which is a bot of the organiser",
        send(arena, BOT + f"# {'x' * 70_000}"): "64 KiB",
        send(arena, "name = [[[["): "bot.toml",
        send(arena, BOT.replace("python3", "/tmp/evil")): "must be in the bot's folder",
        send(arena, BOT + build, **{"build.sh": "sleep 60"}): "took more than 2 s",
        send(arena, BOT.replace("mine", "silent"), **{"bot.py": "import time; time.sleep(99)"}): "startup",
    }
    spy = send(arena, BOT.replace("mine", "spy") + build, **{"build.sh": SPY.format(results=arena.results)})
    check(arena)
    found = {one.id: one for one in versions.submissions(arena.ledger)}
    assert found[good].state == "accepted", found[good].found
    for number, reason in wrong.items():
        assert found[number].state == "refused"
        text = found[number].found[-1].text
        assert reason in text
        assert str(arena.results / "arena") not in text
        assert versions.stored_archive(arena.ledger, number) is None
    said = found[spy].found[-1].text
    assert found[spy].state == "refused"
    assert "exit status 1" in said
    assert not any(word in said for word in ("READ", "LISTED", "WRITTEN", "TOKEN"))
    assert not (arena.results / "arena" / "evil").exists()
    assert arena.active() == [good]
    # The source can be made again from the ledger, and a new version takes the place of the old one.
    config = entering.entered(arena.ledger, arena.config)
    folder = arena.results / "arena" / "bots"
    assert config.entries[-1].path == str(next(folder.iterdir()))
    shutil.rmtree(folder)
    assert entering.entered(arena.ledger, arena.config).entries == config.entries
    before = entering.active_versions(arena.ledger, "cup")
    newer = arena.accepted("ada", version="2")
    assert entering.active_versions(arena.ledger, "cup") != before
    assert arena.active() == [newer]
    assert not (arena.results / "arena" / "check").exists() or not [*(folder.parent / "check").iterdir()]


@pytest.mark.usefixtures("sandboxed")
def test_a_checker_that_is_killed(arena: ArenaHarness) -> None:
    """Wherever it was: the submission is checked again, and settled once."""
    number = send(arena)
    command = [
        sys.executable,
        "-m",
        "warpleague",
        "arena",
        "check",
        str(arena.folder / "cup.toml"),
        "--once",
    ]
    command += ["--results", str(arena.results)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: process.poll() is not None or len(arena.submission(number).found) >= 2)
        process.kill()
    assert arena.submission(number).state == "checking"
    assert subprocess.run(command, timeout=120, check=True).returncode == 0
    found = arena.submission(number)
    assert (found.state, found.active) == ("accepted", True)
    assert [finding.what for finding in found.found].count("bundle") == 1
    said = [entry.what for entry in arena.ledger.journal()]
    assert said.count("submission accepted") == 1
    assert said.count("submission received") == 1


def test_a_check_that_ends_the_checker_again_and_again(arena: ArenaHarness) -> None:
    """After three times the submission is refused, so that others get their turn; a command hears of it, too."""
    path = arena.folder / "cup.toml"
    path.write_text(LEAGUE + '[arena]\non_event = ["sh", "-c", "cat > heard.json"]\n')
    arena.config = load_config(path)
    number = send(arena)
    for again in ([], [], [number]):
        assert arena.claim() == number
        assert jobs.recover(arena.ledger, jobs.SUBMISSION) == again
    check(arena, lambda *_: pytest.fail("it ran"))
    found = arena.submission(number)
    assert found.state == "refused"
    assert "ended the checker 3 times" in found.found[-1].text
    told = json.loads((arena.folder / "heard.json").read_text())
    assert (told["submission"], told["verdict"]) == (number, "refused")
    assert "its check ended the checker 3 times" in told["reason"]


def test_a_machine_without_a_sandbox(arena: ArenaHarness) -> None:
    """Nothing of a submission runs there; its author is told why."""

    def examine(level: Any, **_: Any) -> Report:
        return Report(level, "", (), "bubblewrap is not installed")

    number = send(arena)
    tests = workers.CheckerTests(examine, lambda *_: pytest.fail("it ran"))
    workers.run_checker(arena.ledger, {"cup": arena.config}, lambda _: False, once=True, tests=tests)
    found = arena.submission(number)
    assert found.state == "failed"
    assert "bubblewrap is not installed" in found.found[-1].text
    assert "bubblewrap" in (entering.sandbox_refusal(arena.ledger) or "")


@pytest.mark.parametrize(
    ("error", "state"),
    [(HarnessFault("the kernel said no"), "failed"), (OSError(errno.ENOSPC, "no space left"), "received")],
)
def test_trouble_of_the_machine(arena: ArenaHarness, error: Exception, state: str) -> None:
    """It is not the bot's fault: a full disk is waited for, and what the harness failed at costs no quota."""

    def fail(*_: Any) -> bool:
        raise error

    number = send(arena)
    stops = iter([False, True, True])
    workers.run_checker(arena.ledger, {"cup": arena.config}, lambda _: next(stops), tests=passing(fail))
    found = arena.submission(number)
    assert found.state == state
    if state == "received":
        check(arena, lambda *_: True)
        assert arena.submission(number).state == "accepted"


def test_the_log_says_why_a_check_does_not_get_on(
    arena: ArenaHarness, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, with the setting that allows more; and again when it does."""
    troubles = [OSError(errno.EMFILE, "Too many open files")] * 2

    def fail_twice(*_: Any) -> bool:
        if troubles:
            raise troubles.pop()
        return True

    number = send(arena)
    tests = passing(fail_twice)
    stops = iter([False] * 10 + [True] * 3)
    workers.run_checker(arena.ledger, {"cup": arena.config}, lambda _: next(stops), tests=tests)
    assert arena.submission(number).state == "accepted"
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    told = [event for event in events if event["event"] in ("does not get on", "gets on again")]
    assert [event["event"] for event in told] == ["does not get on", "gets on again"]
    assert told[0]["doing"] == f"checks submission {number}"
    assert "the check is made again later: it may open" in told[0]["why"]
    assert "`ulimit -n`" in told[0]["why"]


def test_a_machine_that_is_too_busy_for_a_check(arena: ArenaHarness) -> None:
    """The check is made again, three times in all; then its author is told that it was not the bot's fault."""
    made = []

    def busy(_folder: Path, _how: Checkup, tell: Callable[[Finding], None]) -> bool:
        made.append(1)
        tell(Finding(MACHINE, "failed", "this machine was busy"))
        return False

    number = send(arena)
    check(arena, busy)
    found = arena.submission(number)
    assert (found.state, len(made)) == ("failed", 3)
    assert found.reason == (
        "harness: the check failed, but not because of the bot; please send it again: this machine was busy"
    )


def test_the_check_is_of_the_league(arena: ArenaHarness) -> None:
    """It has the league's clock, options and table, other dice each time, and a command that repeats it at home."""
    league = LEAGUE.replace("[rules]", '[clock]\nbank_s = 40.0\n[rules]\nillegal = "ask-again 2"')
    (arena.folder / "cup.toml").write_text(league)
    config = load_config(arena.folder / "cup.toml")
    arena.ledger.set("limit check_s", "240", "test")
    made: list[Checkup] = []

    def note(_folder: Path, how: Checkup, tell: Callable[[Finding], None]) -> bool:
        made.append(how)
        tell(Finding("aliens", "ok", "played"))
        return True

    arena.accepted("bob", "rival")
    numbers = [send(arena), send(arena, version="2")]
    workers.run_checker(arena.ledger, {"cup": config}, lambda _: False, once=True, tests=passing(note))
    one, other = made
    assert one.conditions == config.conditions
    assert one.conditions.clock.bank_s == 40
    assert [(table.game, table.players, table.options) for table in one.tables] == [
        ("aliens", 2, config.game.options)
    ]
    assert (one.quick, one.within_s, one.hidden) == (True, 240, (arena.results,))
    assert set(one.names) >= {"random-python", "aliens-greedy", "rival"}
    assert one.seed != other.seed
    for number, how in zip(numbers, made, strict=True):
        told = arena.submission(number)
        words = "bot check FOLDER --matches 1 --game aliens --players 2 --option max_turns=10 --bank-s 40"
        command = f"warpleague {words} --ask-again 2 --level sandbox --seed {how.seed}"
        assert told.found[0] == Finding("repeat at home", "ok", command, "repeat")
        page = arena.client("ada").ask("GET", f"/submit/{number}").text
        assert f">{command}</code>" in page


def test_everybody_concerned_sees_which_bot_was_refused_and_why(
    arena: ArenaHarness, capsys: pytest.CaptureFixture[str]
) -> None:
    """In lists of authors and organisers, on pages and in the journal; a refused bot does not own its name."""

    def fail(_folder: Path, _how: Checkup, tell: Callable[[Finding], None]) -> bool:
        tell(Finding("bundle", "ok", "fine"))
        tell(Finding("aliens, 2 players", "failed", "illegal: <b>it</b>\n  more about it"))
        return False

    number = send(arena, BOT + 'version = "7"\n')
    unread = send(arena, "name = [[[[", "bob")
    check(arena, fail)
    why = "aliens, 2 players: illegal: <b>it</b>"
    assert main(["arena", "submissions", "--results", str(arena.results)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{unread}  ")
    assert "  bob  cup  -  refused: bundle: bot.toml: " in lines[0]
    assert lines[1].endswith(f"  ada  cup  mine 7  refused: {why}")
    assert main(["arena", "submissions", "--results", str(arena.results), "--json"]) == 0
    assert [one["reason"] for one in json.loads(capsys.readouterr().out)][1] == why
    entry = next(one for one in arena.ledger.journal() if one.details.get("submission") == number)
    assert (entry.what, entry.details["bot"], entry.details["text"]) == ("submission refused", "mine", why)
    page = arena.client("olga").ask("GET", "/organise").text
    shown = why.replace("<", "&lt;").replace(">", "&gt;")
    mine = arena.client("ada")
    assert f"mine 7, <b>refused</b>: {shown}" in mine.ask("GET", "/submit").text
    token = f"Bearer {arena.tokens['ada']}"
    (listed,) = mine.ask("GET", "/api/submissions", authorization=token).json
    assert (listed["bot"], listed["version"], listed["reason"]) == ("mine", "7", why)
    assert f"mine 7, <b>refused</b>: {shown}" in page
    assert f"submission {number} to cup (mine 7) is refused: {shown}" in page
    other = send(arena, author="bob")
    check(arena, lambda *_: True)
    assert arena.submission(other).state == "accepted"


def test_leagues_that_take_no_bots(arena: ArenaHarness) -> None:
    """A league whose bots are not in the sandbox, and one that the organiser has closed, say so."""
    assert entering.closed_to_bots(arena.ledger, arena.config) is None
    loose = attrs.evolve(arena.config, rules=attrs.evolve(arena.config.rules, level="limits"))
    assert "not confined" in (entering.closed_to_bots(arena.ledger, loose) or "")
    late, soon = (
        attrs.evolve(arena.config, arena=attrs.evolve(arena.config.arena, close_at=at))
        for at in ("2020-12-28T18:00:00+00:00", "2120-12-28T18:00:00+00:00")
    )
    ended = "cup takes no more submissions: the time for them ended at 2020-12-28T18:00:00+00:00"
    assert conditions_of(arena.ledger, late).closed == ended
    told = dict(facts(conditions_of(arena.ledger, soon)))["submissions"]
    assert told.startswith("taken until 2120-12-28T18:00:00+00:00; ")
    number = send(arena)
    assert not entering.may_end(arena.ledger, late)  # what came in time is checked first
    arena.claim()
    assert not entering.may_end(arena.ledger, late)
    arena.refuse(number, "a fault")
    assert entering.may_end(arena.ledger, late)
    assert not entering.may_end(arena.ledger, soon)
    entering.close(arena.ledger, "cup", "test")
    assert "closed it" in (entering.closed_to_bots(arena.ledger, arena.config) or "")


def test_a_bot_that_comes_too_late(arena: ArenaHarness) -> None:
    """A check may end when the season is over: the bot is refused, since its author could know the dice."""
    number = send(arena)
    arena.end_season()
    check(arena, lambda *_: True)
    found = arena.submission(number)
    assert (found.state, found.active) == ("refused", False)
    assert found.found[-1].text == "came too late for cup: the season is over, and its secret is public"
    with pytest.raises(BadInput, match="cup: cannot be extended: the season is over"):
        entering.extend(arena.ledger, arena.config, "test", "max_matches", 1_000_000)


def test_a_command_hears_of_each_check(arena: ArenaHarness) -> None:
    """The league's file names a command that is told verdict, bot and reason; a failing one is in the journal."""
    path, heard = arena.folder / "cup.toml", arena.folder / "heard.jsonl"
    command = '[arena]\non_event = ["sh", "-c", "cat >> heard.jsonl; grep -q accepted heard.jsonl"]\n'
    path.write_text(LEAGUE + command)
    arena.config = load_config(path)
    refused = send(arena, BOT.replace("aliens", "sheets"))
    check(arena, lambda *_: True)
    accepted = send(arena)
    check(arena, lambda *_: True)
    first, second = map(json.loads, heard.read_text().splitlines())
    assert first["event"] == second["event"] == "check"
    assert (first["submission"], first["author"], first["verdict"]) == (refused, "ada", "refused")
    assert first["reason"].startswith("bot.toml: games: the league cup plays aliens")
    assert (second["submission"], second["bot"], second["verdict"]) == (accepted, "mine", "accepted")
    assert second["reason"] is None
    (entry,) = [entry for entry in arena.ledger.journal() if entry.what == "on_event failed"]
    assert entry.details["submission"] == refused
    assert "ended with exit code 1: it printed nothing" in entry.details["why"]
