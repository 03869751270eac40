"""`bot check --league`: the check is played as the league's matches are, and no bot can tell one from the other."""

from __future__ import annotations

import json
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any, Final

import attrs
import pytest

from warpleague.cli.bot_check import checkup_of
from warpleague.cli.parser import parser_for
from warpleague.league.season.bot_check import check_for, home_command
from warpleague.league.season.config import load_config
from warpleague.match.spec import Conditions, TimeControl
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.checkup import Checkup, Table, check_bot
from warpleague.runner.findings import FOLDER, MACHINE, Finding

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import MakeBot, Run

SPY: Final = """
import json, os, resource, sys

def say(**message):
    print(json.dumps(message), flush=True)

seen = {{
    "environment": dict(os.environ), "folder": os.getcwd(), "arguments": sys.argv, "files": sorted(os.listdir(".")),
    "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0, "niceness": os.nice(0),
    "files open": sorted(fd for fd in range(64) if os.path.exists(f"/dev/fd/{{fd}}")),
    "limits": [resource.getrlimit(kind) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_DATA)],
}}
lines = []
for line in sys.stdin:
    lines.append(line)
    message = json.loads(line)
    if message["type"] == "hello":
        say(type="hello", protocol=1, wants=["legal"])
    elif message["type"] == "start":
        seen["start"] = message
        say(type="ready")
    elif message["type"] == "act":
        say(type="act", id=message["id"], action=0)
    elif message["type"] == "quit":
        break
seen["plain"] = not any("padding" in line for line in lines)
with open({folder!r} + f"/{{os.getpid()}}-{{os.urandom(8).hex()}}.json", "w") as file:
    json.dump(seen, file)
"""
LEAGUE: Final = """
bots = ["spy", "other", "third"]
[game]
id = "aliens"
options = { max_turns = 2 }
[clock]
bank_s = 500.0
increment_s = 0.5
[rules]
faults = "substitute"
illegal = "ask-again 2"
[service]
note_bytes = 4096
[run]
jobs = 1
"""


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    """Where spies write down what they saw."""
    folder = tmp_path / "seen"
    folder.mkdir()
    return folder


@pytest.fixture
def spy(make_bot: MakeBot, seen: Path) -> Path:
    """A bot that writes down all that it can see."""
    return make_bot("spy", SPY.format(folder=str(seen)))


def told(seen: Path) -> list[dict[str, Any]]:
    """What spies saw in whole matches since this was last called."""
    found = [json.loads(path.read_text()) for path in sorted(seen.iterdir())]
    for path in seen.iterdir():
        path.unlink()
    return [one for one in found if one["plain"]]


def shape(value: object) -> object:
    """What kind of text or number it is: of which length, and of which characters."""
    if isinstance(value, str):
        return re.sub(r"[0-9a-f]", "x", value) if re.fullmatch(r"[0-9a-f]{8,}", value) else value
    return value


def test_a_check_cannot_be_told_from_a_match(run: Run, spy: Path, make_bot: MakeBot, seen: Path) -> None:
    """Start message, environment and folder are those of a match of the league; each check has new dice."""
    make_bot("other")
    make_bot("third")
    file = spy.parent / "cup.toml"
    file.write_text(LEAGUE)
    assert run("league", "run", file, "--results", spy.parent / "results").code == 0
    matches = told(seen)
    assert len(matches) == 4
    first = check_for(load_config(file), spy, matches=1, again=False)
    plan = next(one.text for one in findings(spy, first) if one.what == "plan")
    assert f"seed {first.seed}" in plan
    checks = told(seen)
    assert len(checks) >= 2

    def common(one: dict[str, Any]) -> dict[str, Any]:
        start = {
            name: shape(value) for name, value in one["start"].items() if name not in ("players", "setup")
        }
        return {**one, "start": start}

    league = {json.dumps(common(one), sort_keys=True) for one in matches}
    assert {json.dumps(common(one), sort_keys=True) for one in checks} == league
    assert {one["start"]["seat"] for one in checks} == {0, 1}
    for one in (*matches, *checks):
        names = one["start"]["players"]
        own = names.pop(one["start"]["seat"])
        assert own == "spy"
        assert names[0] in ("other", "third")
    seeds = {one["start"]["seed"] for one in checks}
    findings(spy, check_for(load_config(file), spy, matches=1, again=False, seed=first.seed))
    assert {one["start"]["seed"] for one in told(seen)} == seeds
    findings(spy, check_for(load_config(file), spy, matches=1, again=False))
    assert seeds.isdisjoint(one["start"]["seed"] for one in told(seen))


def findings(bot: Path, how: Checkup) -> list[Finding]:
    """What a check finds."""
    found: list[Finding] = []
    ready = check_bot(bot, how, found.append)
    assert ready == all(one.verdict != "failed" for one in found)
    return found


SLOW: Final = """
import time
from warpline.client import run

def choose(question):
    if question.id == 2:
        time.sleep(0.2)
    return 0

run(choose, wants=())
"""


def test_the_clock_is_the_leagues(run: Run, make_bot: MakeBot, tmp_path: Path) -> None:
    """A bank allows one slow decision that a limit for each does not; a bot's own clock takes the league's place."""
    slow = make_bot("slow", SLOW)
    head = '[game]\nid = "aliens"\noptions = { max_turns = 6 }\n'
    (tmp_path / "bank.toml").write_text(f"{head}[clock]\nbank_s = 300\n")
    (tmp_path / "move.toml").write_text(f"{head}[clock]\nmove_s = 0.1\n")
    own = 'bots = [{ path = "slow", clock = { move_s = 200 } }]\n'
    (tmp_path / "own.toml").write_text(f"{own}{head}[clock]\nmove_s = 0.1\n")
    check = ("bot", "check", slow, "--quick", "--league")
    done = run(*check, tmp_path / "bank.toml")
    assert done.code == 0
    assert "300 s for a match" in done.out
    assert "from a bank of 300 s" in done.out
    done = run(*check, tmp_path / "move.toml")
    assert done.code == 1
    assert "no answer within 0.100 s" in done.out
    how = check_for(load_config(tmp_path / "own.toml", without_bots=True), slow)
    assert how.enter(prepare(slow)).clock == TimeControl(move_s=200)


def test_a_fault_costs_what_the_league_says(make_bot: MakeBot) -> None:
    """Where faults are substituted, one of them is a warning; what is too many there is a failure here."""
    once = (
        "from warpline.client import run\nrun(lambda question: 10**6 if question.id == {} else 0, wants=())\n"
    )
    table = Table("aliens", 2, {"max_turns": 6, "both_ships": False, "diagonals": "normal"})
    clock = TimeControl(move_s=60)
    how = Checkup(
        conditions=Conditions(clock=clock, faults="substitute", strikes=1), tables=(table,), quick=True
    )
    found = findings(make_bot("late", once.format(9)), how)
    told = [one for one in found if one.what == "aliens, 2 players"]
    assert [one.verdict for one in told] == ["ok", "warning"]
    assert "the first legal action was played: illegal: in seat" in told[1].text
    forfeit = attrs.evolve(how, conditions=Conditions(clock=clock))
    assert "failed" in [one.verdict for one in findings(make_bot("late2", once.format(9)), forfeit)]


def test_the_table_is_the_leagues(make_bot: MakeBot, tmp_path: Path) -> None:
    """A league of two is checked with two players and its options, and at no other table."""
    manifest = 'name = "x"\ngames = ["aliens", "sheets"]\nrun = ["python3", "bot.py"]\n'
    bot = make_bot("x", manifest=manifest)
    (tmp_path / "two.toml").write_text(
        '[game]\nid = "sheets"\nplayers = 2\noptions = { shared_discards = true }\n[clock]\nmove_s = 60\n'
    )
    how = check_for(load_config(tmp_path / "two.toml", without_bots=True), bot, quick=True)
    assert [(one.game, one.players, one.options) for one in how.chosen(["sheets"])] == [
        ("sheets", 2, {"shared_discards": True})
    ]
    found = [one.what for one in findings(bot, attrs.evolve(how, again=False))]
    assert found[:3] == ["bundle", "plan", "sheets, 2 players"]
    assert all("sheets" in what for what in found[2:])


def test_what_the_file_says_is_not_said_again(run: Run, first: Path, tmp_path: Path) -> None:
    """An option beside the file that says the same is refused; only the level may be another one."""
    file = tmp_path / "cup.toml"
    file.write_text('[game]\nid = "aliens"\noptions = { max_turns = 2 }\n[clock]\nmove_s = 60\n')
    done = run("bot", "check", first, "--league", file, "--game", "aliens", "--bank-s", 3)
    assert (done.code, done.out) == (2, "")
    assert "--game, --bank-s: the file of --league says this" in done.err
    done = run("bot", "check", first, "--league", file, "--quick", "--level", "none")
    assert done.code == 0
    assert "level none" in done.out
    assert run("bot", "check", first, "--league", tmp_path / "no.toml").code == 2


def test_players_and_options_choose_the_tables(run: Run, first: Path) -> None:
    """Without a league's file they choose the tables of the games of the bot, or of those named."""
    for more in ((), ("--game", "aliens")):
        done = run("bot", "check", first, *more, "--players", 3)
        assert (done.code, "aliens is for 2 players, not 3" in done.err) == (2, True)
    done = run("bot", "check", first, "--players", 2, "--option", "max_turns=2", "--matches", 1)
    assert done.code == 0
    assert "at each table: aliens with 2 players" in done.out
    done = run("bot", "check", "bots/random-python", "--option", "max_turns=2")
    assert (done.code, "--option is about one game: name it with --game" in done.err) == (2, True)
    done = run("bot", "check", "bots/random-python", "--players", 11)
    assert (done.code, "coasters is for 2 to 10 players" in done.err) == (2, True)


FILES: Final = {
    "plain": '[game]\nid = "aliens"\n',
    "bank": '[game]\nid = "sheets"\nplayers = 2\n[clock]\nbank_s = 120\nincrement_s = 0.25\nstart_s = 4\n',
    "rules": '[game]\nid = "aliens"\noptions = { max_turns = 3, diagonals = "swapped", both_ships = true }\n'
    '[rules]\nfaults = "substitute"\nstrikes = 2\nillegal = "ask-again 3"\nlevel = "sandbox"\npondering = "on"\n'
    "[service]\nask_again = 5\nnote_bytes = 4096\n",
}


@pytest.mark.parametrize("name", FILES)
def test_the_command_for_home_says_all_that_the_file_does(name: str, first: Path, tmp_path: Path) -> None:
    """The check that it makes has the conditions, the table and the seed of the arena's."""
    (tmp_path / "cup.toml").write_text(FILES[name])
    config = load_config(tmp_path / "cup.toml", without_bots=True)
    words = home_command(config, "0badcafe", 55)
    assert words[:3] == ["warpleague", "bot", "check"]
    parser, rest = parser_for([str(first) if word == FOLDER else word for word in words[1:]])
    made = checkup_of(parser.parse_args(rest), first)
    wanted = check_for(config, first, seed="0badcafe", quick=True)
    fields = ("conditions", "tables", "seed", "quick", "paths", "one_core")
    assert [getattr(made, field) for field in fields] == [getattr(wanted, field) for field in fields]


def test_what_no_option_tells_needs_the_file(tmp_path: Path) -> None:
    """Then the command names the league's file; where an arena gives more time, nothing breaks the check off."""
    file = tmp_path / "cup.toml"
    file.write_text(
        '[game]\nid = "aliens"\n[rules]\nlevel = "sandbox"\n[sandbox]\nnetwork = ["127.0.0.1:80"]\n'
    )
    words = home_command(load_config(file, without_bots=True), "s", 240)
    assert shlex.join(words) == "warpleague bot check FOLDER --matches 1 --league cup.toml --seed s"


def test_a_busy_machine_is_told_from_a_slow_bot(first: Path) -> None:
    """If the time is over and the bots were charged little of it, that is said of the machine."""
    found = findings(first, Checkup(quick=True, within_s=1e-9))
    assert [(one.what, one.verdict) for one in found[2:]] == [(MACHINE, "failed")]
    assert "but this machine was busy: the bots were charged 0.0 s of it" in found[-1].text


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere bots do not wait for another match")
def test_a_reusable_bot_plays_a_second_match_as_in_a_league(make_bot: MakeBot) -> None:
    """A bot that fails in the second match of its process is not ready."""
    source = """
import json, sys

def say(**message):
    print(json.dumps(message), flush=True)

matches = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say(type="hello", protocol=1, wants=[], reusable=True)
    elif message["type"] == "start":
        matches += 1
        say(type="ready")
    elif message["type"] == "act":
        say(type="act", id=message["id"], action=0 if matches == 1 else 10**6)
    elif message["type"] == "quit":
        break
"""
    manifest = 'name = "x"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\nreusable = true\n'
    table = Table("aliens", 2, {"max_turns": 2, "both_ships": False, "diagonals": "normal"})
    how = Checkup(conditions=Conditions(clock=TimeControl(move_s=60)), tables=(table,), quick=True)
    failed = [one for one in findings(make_bot("x", source, manifest), how) if one.verdict == "failed"]
    assert [one.what for one in failed] == ["aliens, 2 players"]
    assert "illegal" in failed[0].text
