"""The checker: what it accepts and refuses, what it does on a machine that cannot, and that it may be killed."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.arena.submission_ground import BOT, LEAGUE, Ground
from tests.waiting import wait_until

from warpleague.arena.submissions import entering, versions, workers
from warpleague.arena.submissions.ledger import DAY_S, Ledger
from warpleague.arena.submissions.limits import set_limit
from warpleague.cli import main
from warpleague.errors import BadInput, HarnessFault
from warpleague.league.season.config import load_config
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.runner.checkup import MACHINE, Checkup, Finding
from warpleague.runner.doctor import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


RANDOM: Final = (shipped_root() / "bots" / "random-python" / "bot.py").read_text()


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    found = Ground(tmp_path)
    yield found
    found.close()


def check(ground: Ground, check_bot: Callable[..., bool] | None = None) -> None:
    """Check what there is to check; with `check_bot`, that stands for the sandbox and the check of a bot."""
    tests = workers.CheckerTests() if check_bot is None else passing(check_bot)
    workers.run_checker(ground.ledger, {"cup": ground.config}, lambda _: False, once=True, tests=tests)


def passing(check_bot: Callable[..., bool] = lambda *_: True) -> workers.CheckerTests:
    """Tests in which the sandbox holds, and bots are checked by `check_bot`."""
    return workers.CheckerTests(lambda level, **_: Report(level, "tried"), check_bot)


def send(ground: Ground, manifest: str = BOT, author: str = "ada", **files: str) -> int:
    """Submit a bot that plays at random; its number."""
    data = ground.bot(manifest, **{"bot.py": RANDOM, **files})
    return versions.submit(ground.ledger, ground.author(author), "cup", data).id


def test_a_clock_that_jumps_changes_no_quota(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives nobody more submissions, and where it was ahead by years, nobody waits for them."""
    set_limit(ground.ledger, "per_day", 2, "test")
    true = time.time
    send(ground)
    monkeypatch.setattr(time, "time", lambda: true() + 3 * DAY_S)
    send(ground, BOT + "# 2\n")
    with pytest.raises(versions.OverQuota, match=r"2 submissions .* in 2[34]\.\d hours"):
        send(ground, BOT + "# 3\n")
    with Ledger.open(ground.results) as begun_ahead:
        data = ground.bot(BOT + "# 4\n")
        versions.submit(begun_ahead, ground.author("bob"), "cup", data)
    monkeypatch.undo()
    with Ledger.open(ground.results) as begun_later:
        bob = ground.author("bob")
        assert versions.sent_today(begun_later, bob) == 1
        versions.submit(begun_later, bob, "cup", ground.bot(BOT + "# 5\n"))
        with pytest.raises(versions.OverQuota, match=r"in 2[34]\.\d hours"):
            versions.submit(begun_later, bob, "cup", ground.bot(BOT + "# 6\n"))


SPY: Final = """
for path in {results}/arena.db {results}/arena/bots/*/bot.toml {results}/cup/league.sqlite {results}; do
    cat "$path" && echo "READ $path"
done
ls {results}/arena/bots && echo "LISTED"
touch {results}/arena/evil && echo "WRITTEN"
env | grep -i wl- && echo "TOKEN"
exit 1
"""


@pytest.mark.usefixtures("sandboxed")
def test_what_the_checker_decides(ground: Ground) -> None:
    """One good bot plays; others are refused, each with its reason, and none could read what is not its own."""
    with ground.ledger.writing() as db:
        db.execute("INSERT INTO setting VALUES ('limit per_day', '100')")
        db.execute("INSERT INTO setting VALUES ('limit build_s', '2')")
    good = send(ground)
    build = '\nbuild = ["sh", "build.sh"]'
    wrong = {
        send(ground, BOT.replace("aliens", "sheets")): "plays aliens, which is not among them",
        send(ground, BOT + f'[sandbox]\npaths = ["{ground.results}"]'): "is not below /opt",
        send(ground, BOT + '[sandbox]\npaths = ["/opt/other"]'): "has not granted",
        send(ground, BOT + f'[files."store"]\nsha256 = "{"0" * 64}"\npath = "/x"'): "cannot link files",
        send(ground, BOT + "[limits]\nmemory_mb = 9000"): "at most 1024 here, not 9000",
        send(ground, BOT + "[limits]\nprocesses = 1000"): "at most 64 here, not 1000",
        send(ground, BOT.replace("mine", "Random-Python")): "is a bot of the organiser",
        send(ground, BOT.replace('"mine"', '"../../x"')): "may consist of",
        send(
            ground, BOT.replace("mine", "MINE"), "bob"
        ): "another author has a bot called mine, which looks like MINE",
        send(
            ground, BOT.replace("mine", "rand0m-python")
        ): "looks like random-python, which is a bot of the organiser",
        send(ground, BOT + f"# {'x' * 70_000}"): "64 KiB",
        send(ground, "name = [[[["): "bot.toml",
        send(ground, BOT.replace("python3", "/tmp/evil")): "must be in the bot's folder",
        send(ground, BOT + build, **{"build.sh": "sleep 60"}): "took more than 2 s",
        send(ground, BOT.replace("mine", "silent"), **{"bot.py": "import time; time.sleep(99)"}): "startup",
    }
    spy = send(ground, BOT.replace("mine", "spy") + build, **{"build.sh": SPY.format(results=ground.results)})
    check(ground)
    found = {one.id: one for one in versions.submissions(ground.ledger)}
    assert found[good].state == "accepted", found[good].found
    for number, reason in wrong.items():
        assert found[number].state == "refused"
        text = found[number].found[-1]["text"]
        assert reason in text
        assert str(ground.results / "arena") not in text
        assert versions.archive(ground.ledger, number) is None
    said = found[spy].found[-1]["text"]
    assert found[spy].state == "refused"
    assert "exit status 1" in said
    assert not any(word in said for word in ("READ", "LISTED", "WRITTEN", "TOKEN"))
    assert not (ground.results / "arena" / "evil").exists()
    assert [one.id for one in versions.active(ground.ledger, "cup")] == [good]
    # The source can be made again from the ledger, and a new version takes the place of the old one.
    config = entering.entered(ground.ledger, ground.config)
    folder = ground.results / "arena" / "bots"
    assert config.entries[-1].path == str(next(folder.iterdir()))
    shutil.rmtree(folder)
    assert entering.entered(ground.ledger, ground.config).entries == config.entries
    before = entering.playing(ground.ledger, "cup")
    newer = ground.accepted("ada", version="2")
    assert entering.playing(ground.ledger, "cup") != before
    assert [one.id for one in versions.active(ground.ledger, "cup")] == [newer]
    assert not (ground.results / "arena" / "check").exists() or not [*(folder.parent / "check").iterdir()]


@pytest.mark.usefixtures("sandboxed")
def test_a_checker_that_is_killed(ground: Ground) -> None:
    """Wherever it was: the submission is checked again, and settled once."""
    number = send(ground)
    command = [
        sys.executable,
        "-m",
        "warpleague",
        "arena",
        "check",
        str(ground.folder / "cup.toml"),
        "--once",
    ]
    command += ["--results", str(ground.results)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        wait_until(
            lambda: process.poll() is not None or len(versions.submission(ground.ledger, number).found) >= 2
        )
        process.kill()
    assert versions.submission(ground.ledger, number).state == "checking"
    assert subprocess.run(command, timeout=120, check=True).returncode == 0
    found = versions.submission(ground.ledger, number)
    assert (found.state, found.active) == ("accepted", True)
    assert [finding["what"] for finding in found.found].count("bundle") == 1
    said = [entry.what for entry in ground.ledger.journal()]
    assert said.count("submission accepted") == 1
    assert said.count("submission received") == 1


def test_a_check_that_ends_the_checker_again_and_again(ground: Ground) -> None:
    """After three times the submission is refused, so that others get their turn."""
    number = send(ground)
    for _ in range(3):
        versions.recover(ground.ledger)
        assert versions.claim(ground.ledger) is not None
    versions.recover(ground.ledger)
    found = versions.submission(ground.ledger, number)
    assert found.state == "refused"
    assert "ended the checker 3 times" in found.found[-1]["text"]


def test_a_machine_without_a_sandbox(ground: Ground) -> None:
    """Nothing of a submission runs there; its author is told why."""

    def examine(level: Any, **_: Any) -> Report:
        return Report(level, "", (), "bubblewrap is not installed")

    number = send(ground)
    tests = workers.CheckerTests(examine, lambda *_: pytest.fail("it ran"))
    workers.run_checker(ground.ledger, {"cup": ground.config}, lambda _: False, once=True, tests=tests)
    found = versions.submission(ground.ledger, number)
    assert found.state == "failed"
    assert "bubblewrap is not installed" in found.found[-1]["text"]
    assert "bubblewrap" in (workers.sandbox_refusal(ground.ledger) or "")


@pytest.mark.parametrize(
    ("error", "state"),
    [(HarnessFault("the kernel said no"), "failed"), (OSError(errno.ENOSPC, "no space left"), "received")],
)
def test_trouble_of_the_machine(ground: Ground, error: Exception, state: str) -> None:
    """It is not the bot's fault: a full disk is waited for, and what the harness failed at costs no quota."""

    def fail(*_: Any) -> bool:
        raise error

    number = send(ground)
    stops = iter([False, True, True])
    workers.run_checker(ground.ledger, {"cup": ground.config}, lambda _: next(stops), tests=passing(fail))
    found = versions.submission(ground.ledger, number)
    assert found.state == state
    if state == "received":
        check(ground, lambda *_: True)
        assert versions.submission(ground.ledger, number).state == "accepted"


def test_a_machine_that_is_too_busy_for_a_check(ground: Ground) -> None:
    """The check is made again, three times in all; then its author is told that it was not the bot's fault."""
    made = []

    def busy(_folder: Path, _how: Checkup, tell: Callable[[Finding], None]) -> bool:
        made.append(1)
        tell(Finding(MACHINE, "failed", "this machine was busy"))
        return False

    number = send(ground)
    check(ground, busy)
    found = versions.submission(ground.ledger, number)
    assert (found.state, len(made)) == ("failed", 3)
    assert found.reason == (
        "harness: the check failed, but not because of the bot; please send it again: this machine was busy"
    )


def test_the_check_is_of_the_league(ground: Ground) -> None:
    """It has the league's clock, options and table, other dice each time, and a command that repeats it at home."""
    league = LEAGUE.replace("[rules]", '[clock]\nbank_s = 40.0\n[rules]\nillegal = "ask-again 2"')
    (ground.folder / "cup.toml").write_text(league)
    config = load_config(ground.folder / "cup.toml")
    ground.ledger.set("limit check_s", "240", "test")
    made: list[Checkup] = []

    def note(_folder: Path, how: Checkup, tell: Callable[[Finding], None]) -> bool:
        made.append(how)
        tell(Finding("aliens", "ok", "played"))
        return True

    ground.accepted("bob", "rival")
    numbers = [send(ground), send(ground, version="2")]
    workers.run_checker(ground.ledger, {"cup": config}, lambda _: False, once=True, tests=passing(note))
    one, other = made
    assert one.conditions == config.conditions
    assert one.conditions.clock.bank_s == 40
    assert [(table.game, table.players, table.options) for table in one.tables] == [
        ("aliens", 2, config.game.options)
    ]
    assert (one.quick, one.within_s, one.hidden) == (True, 240, (ground.results,))
    assert set(one.names) >= {"random-python", "aliens-greedy", "rival"}
    assert one.seed != other.seed
    for number, how in zip(numbers, made, strict=True):
        told = versions.submission(ground.ledger, number)
        words = "bot check FOLDER --matches 1 --game aliens --players 2 --option max_turns=10 --bank-s 40"
        command = f"warpleague {words} --ask-again 2 --level sandbox --seed {how.seed}"
        assert told.found[0] == {
            "what": "repeat at home",
            "verdict": "ok",
            "text": command,
            "code": "repeat",
        }
        page = ground.client("ada").ask("GET", f"/submit/{number}").text
        assert f">{command}</code>" in page


@pytest.mark.usefixtures("sandboxed")
def test_a_bank_is_a_bank_in_the_check_too(ground: Ground) -> None:
    """A bot that thinks once for longer than a second is accepted where the league has a bank and no other limit."""
    (ground.folder / "cup.toml").write_text(
        LEAGUE.replace("max_turns = 10", "max_turns = 4").replace(
            "[rules]", "[clock]\nbank_s = 120.0\n[rules]"
        )
    )
    config = load_config(ground.folder / "cup.toml")
    thinker = "import time\nfrom warpline.client import run\n"
    thinker += "run(lambda question: (time.sleep(1.5 if question.id == 2 else 0), 0)[1], wants=())\n"
    number = send(ground, **{"bot.py": thinker})
    workers.run_checker(ground.ledger, {"cup": config}, lambda _: False, once=True)
    found = versions.submission(ground.ledger, number)
    assert found.state == "accepted", found.found


def test_organisers_see_which_bot_was_refused_and_why(
    ground: Ground, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the list of submissions, on the page and in the journal; a bot that was refused does not own its name."""

    def fail(_folder: Path, _how: Checkup, tell: Callable[[Finding], None]) -> bool:
        tell(Finding("bundle", "ok", "fine"))
        tell(Finding("aliens, 2 players", "failed", "illegal: <b>it</b>\n  more about it"))
        return False

    number = send(ground, BOT + 'version = "7"\n')
    unread = send(ground, "name = [[[[", "bob")
    check(ground, fail)
    why = "aliens, 2 players: illegal: <b>it</b>"
    assert main(["arena", "submissions", "--results", str(ground.results)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{unread}  ")
    assert "  bob  cup  -  refused: bundle: bot.toml: " in lines[0]
    assert lines[1].endswith(f"  ada  cup  mine 7  refused: {why}")
    assert main(["arena", "submissions", "--results", str(ground.results), "--json"]) == 0
    assert [one["reason"] for one in json.loads(capsys.readouterr().out)][1] == why
    entry = next(one for one in ground.ledger.journal() if one.said.get("submission") == number)
    assert (entry.what, entry.said["bot"], entry.said["text"]) == ("submission refused", "mine", why)
    page = ground.client("olga").ask("GET", "/organise").text
    shown = why.replace("<", "&lt;").replace(">", "&gt;")
    assert f"mine 7, <b>refused</b>: {shown}" in page
    assert f"submission {number} to cup (mine 7) is refused: {shown}" in page
    other = send(ground, author="bob")
    check(ground, lambda *_: True)
    assert versions.submission(ground.ledger, other).state == "accepted"


def test_leagues_that_take_no_bots(ground: Ground) -> None:
    """A league whose bots are not in the sandbox, and one that the organiser has closed, say so."""
    import attrs

    assert entering.closed_to_bots(ground.ledger, ground.config) is None
    loose = attrs.evolve(ground.config, rules=attrs.evolve(ground.config.rules, level="limits"))
    assert "not confined" in (entering.closed_to_bots(ground.ledger, loose) or "")
    entering.close(ground.ledger, "cup", "test")
    assert "closed it" in (entering.closed_to_bots(ground.ledger, ground.config) or "")


def test_a_bot_that_comes_too_late(ground: Ground) -> None:
    """A check may end when the season is over: the bot is refused, since its author could know the dice."""
    number = send(ground)
    ground.end_season()
    check(ground, lambda *_: True)
    found = versions.submission(ground.ledger, number)
    assert (found.state, found.active) == ("refused", False)
    assert found.found[-1]["text"] == "came too late for cup: the season is over, and its secret is public"
    with pytest.raises(BadInput, match="cup: cannot be extended: the season is over"):
        entering.extend(ground.ledger, ground.config, "test", max_matches=1_000_000)


def test_a_command_hears_of_each_check(ground: Ground) -> None:
    """The league's file names a command that is told verdict, bot and reason; a failing one is in the journal."""
    path, heard = ground.folder / "cup.toml", ground.folder / "heard.jsonl"
    command = '[arena]\non_event = ["sh", "-c", "cat >> heard.jsonl; grep -q accepted heard.jsonl"]\n'
    path.write_text(LEAGUE + command)
    ground.config = load_config(path)
    refused = send(ground, BOT.replace("aliens", "sheets"))
    check(ground, lambda *_: True)
    accepted = send(ground)
    check(ground, lambda *_: True)
    first, second = map(json.loads, heard.read_text().splitlines())
    assert first["event"] == second["event"] == "check"
    assert (first["submission"], first["author"], first["verdict"]) == (refused, "ada", "refused")
    assert first["reason"].startswith("bot.toml: games: the league cup plays aliens")
    assert (second["submission"], second["bot"], second["verdict"]) == (accepted, "mine", "accepted")
    assert second["reason"] is None
    (entry,) = [entry for entry in ground.ledger.journal() if entry.what == "on_event failed"]
    assert entry.said["submission"] == refused
    assert "ended with exit code 1: it printed nothing" in entry.said["why"]


def test_a_command_hears_of_a_check_that_ends_the_checker(ground: Ground) -> None:
    """A submission that is refused since its checks were killed is told by the next checker."""
    path = ground.folder / "cup.toml"
    path.write_text(LEAGUE + '[arena]\non_event = ["sh", "-c", "cat > heard.json"]\n')
    ground.config = load_config(path)
    number = send(ground)
    with ground.ledger.writing() as db:
        db.execute("UPDATE submission SET state = 'checking', claims = 3 WHERE id = ?", (number,))
    check(ground, lambda *_: True)
    told = json.loads((ground.folder / "heard.json").read_text())
    assert (told["submission"], told["verdict"]) == (number, "refused")
    assert "its check ended the checker 3 times" in told["reason"]
