"""`warpleague bot` and `games`: what they find, copy and list.

How bots are confined and played is tested with the runner.
"""

from __future__ import annotations

import re
import secrets
import shutil
import sys
import tomllib
from typing import TYPE_CHECKING, Final

import pytest
import tomli_w

from warpleague.cli.bot import STARTERS, copy_starter
from warpleague.cli.game_engine import describe
from warpleague.games import GAMES, game_ids, load_game
from warpleague.match.spec import Conditions, TimeControl
from warpleague.runner.bundle.shipped import starter_folder
from warpleague.runner.checkup import Checkup, check_bot
from warpleague.runner.findings import MACHINE, TIME, Finding

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import MakeBot, Run

CHECK = ("bot", "check", "--matches", 1)


def quick_check(bot: Path) -> tuple[bool, list[Finding]]:
    """What `--quick` finds, with more than a minute for it, since the machine may be busy."""
    found: list[Finding] = []
    ready = check_bot(bot, Checkup(matches=1, quick=True, within_s=600), found.append)
    return ready, found


def test_check_passes_a_good_bot(run: Run, first: Path) -> None:
    """A bot that does all right is ready; its matches, its time and the awkward questions are told."""
    found: list[Finding] = []
    clock = TimeControl(move_s=60.0)
    how = Checkup(conditions=Conditions(clock=clock), matches=1, grace_s=60.0)  # the machine may be busy
    assert check_bot(first, how, found.append)
    assert {one.verdict for one in found} == {"ok"}
    done = run(*CHECK, first)
    assert (done.code, done.err) == (0, "")
    for word in ("content", "decisions", "ms on average", "in pieces", "long lines", "legal actions"):
        assert word in done.out
    assert "ready for a league" in done.out.splitlines()[-1]


def test_check_sends_what_the_bot_wants(run: Run, make_bot: MakeBot) -> None:
    """Awkward questions, like those of a match, hold the events, the state and the legal actions asked for."""
    whole = "assert isinstance(question.events, list) and question.state and question.legal; return 0"
    source = f"{START}def choose(question): {whole}\nrun(choose)"
    assert run(*CHECK, make_bot("whole", source)).code == 0


def test_a_bot_of_any_game_is_checked_in_those_asked_for(run: Run, make_bot: MakeBot) -> None:
    """`games = ["*"]` claims every game: without `--game` all that come with Warp League are played."""
    first = make_bot("any", START + "run(lambda question: 0, wants=())")
    manifest = tomllib.loads((first / "bot.toml").read_text())
    (first / "bot.toml").write_text(tomli_w.dumps({**manifest, "games": ["*"]}))
    done = run(*CHECK, first, "--game", "sheets")
    assert done.code == 0
    assert "sheets, 4 players" in done.out
    assert "aliens, " not in done.out
    done = run(*CHECK, first, "--game", "nosuch")
    assert done.code == 1
    assert "no such game is installed" in done.out
    assert re.findall(r"(\w+) with \d", plan_of(first)) == list(GAMES)
    assert run("match", "coasters", first, first, "--seed", 1).err == ""
    assert "any game" in run("bot", "list", first.parent).out


class Planned(Exception):
    """Ends a check once it has told what it will play."""


def plan_of(bot: Path) -> str:
    """What a check without any options says it will play."""

    def tell(finding: Finding) -> None:
        if finding.what == "plan":
            raise Planned(finding.text)

    with pytest.raises(Planned) as planned:
        check_bot(bot, tell=tell)
    return str(planned.value)


def test_check_as_json(run: Run, make_bot: MakeBot) -> None:
    """`--json` prints one object: whether the bot is ready, and every finding."""
    bot = make_bot("broken", "def (")
    told = run(*CHECK, bot, "--json")
    assert told.code == 1
    assert (told.json["ready"], told.json["bot"]) == (False, str(bot))
    assert [finding["verdict"] for finding in told.json["findings"]] == ["ok", "ok", "failed"]


START = "from warpline.client import run\n"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def (", ["startup", "SyntaxError", "hello"]),
        ("import nothing_of_this_name", ["startup", "ModuleNotFoundError"]),
        ("pass", ["startup", "exited with status 0"]),
        ("print('hello world', flush=True)\ninput()\ninput()", ["startup", "it wrote: hello world"]),
        (
            "import os\nos.execlp('sh', 'sh', '-c', 'no-such-tool')",
            ["status 127", "no-such-tool", "not found"],
        ),
        (
            START + "run(lambda question: exit('cannot find a move'))",
            ["crash", "status 1: cannot find a move"],
        ),
        (START + "run(lambda question: 1 / 0)", ["crash", "ZeroDivisionError", "look at its own line first"]),
        (START + "run(lambda question: len(question.legal))", ["illegal", "out of range", "counted from 0"]),
        (START + "run(lambda question: {'do': 'win'})", ["illegal", '"win"']),
        ("import no_such_library_here", ["pip install --target vendor"]),
        ("[0] * (1 << 33)", ["it may use 512 MiB", "memory_mb"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_check_says_what_to_mend(run: Run, make_bot: MakeBot, source: str, words: list[str]) -> None:
    """A broken bot is not ready: the fault, its evidence and the advice are told, and the exit code is 1."""
    done = run(*CHECK, make_bot("bot", source))
    assert (done.code, done.err) == (1, "")
    assert "not ready" in done.out.splitlines()[-1]
    for word in ("failed", *words):
        assert word in done.out


def test_check_reports_a_bot_that_cannot_be_built(run: Run, make_bot: MakeBot) -> None:
    """A failing build and a missing tool are findings, not errors of the command."""
    base = 'name = "x"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n'
    failing = make_bot("failing", manifest=base + 'build = ["/bin/sh", "-c", "echo mistake; exit 1"]\n')
    missing = make_bot("missing", manifest=base + 'build = ["no-such-compiler"]\n')
    for bot, word in ((failing, "mistake"), (missing, "not installed")):
        done = run(*CHECK, bot)
        assert (done.code, done.err) == (1, "")
        assert word in done.out


@pytest.mark.parametrize(
    ("games", "tables", "code", "words"),
    [
        ('"chess", "aliens"', (), 0, "warning chess"),
        ('"alien"', ("--players", 2), 1, "did you mean 'aliens'?"),
    ],
)
def test_check_tells_of_games_it_does_not_know(
    run: Run, make_bot: MakeBot, games: str, tables: tuple[object, ...], code: int, words: str
) -> None:
    """Beside a game that is known another one is a warning; a bot without any known game is not ready."""
    manifest = f'name = "x"\ngames = [{games}]\nrun = ["python3", "bot.py"]\n'
    done = run(*CHECK, make_bot("ahead", manifest=manifest), *tables)
    assert done.code == code
    assert words in done.out


def test_check_hints_at_a_module_of_the_bots_own(run: Run, make_bot: MakeBot) -> None:
    """An import of a file beside the program fails by design, and the way to do it is told."""
    bot = make_bot("two", "import helper")
    (bot / "helper.py").touch()
    assert "sys.path.append" in run(*CHECK, bot).out


def test_check_hints_at_libraries_that_were_not_brought_along(run: Run, make_bot: MakeBot) -> None:
    """A folder of libraries that is no part of a bot is told with the way to bring them."""
    manifest = 'name = "x"\ngames = ["aliens"]\nrun = [".venv/bin/python", "bot.py"]\n'
    bot = make_bot("venv", manifest=manifest)
    (bot / ".venv" / "bin").mkdir(parents=True)
    (bot / "lib" / "node_modules" / "target").mkdir(parents=True)
    assert (
        "a folder called .venv is left out of a bot: run python3, with the libraries" in run(*CHECK, bot).out
    )
    (bot / "bot.toml").write_text(manifest.replace(".venv/bin/python", "python3"))
    for name in ("target", "old.pyc", "._bot.py", "Thumbs.db", "lib/desktop.ini"):
        (bot / name).write_bytes(b"")
    assert "left out: .venv, lib/node_modules, old.pyc, target\n" in run(*CHECK, bot).out


def test_check_warns_of_a_bot_that_stays_and_of_one_that_writes(make_bot: MakeBot) -> None:
    """A bot that does not exit after quit, and writes into its own folder, is told both."""
    source = (
        "open('log.txt', 'a').write('x')\n" + START + "run(lambda question: 0)\nimport time; time.sleep(60)\n"
    )
    found: list[Finding] = []
    clock = TimeControl(move_s=60.0)
    how = Checkup(conditions=Conditions(clock=clock), matches=1, grace_s=0.1)
    assert check_bot(make_bot("both", source), how, found.append)
    warnings = {one.what: one.text for one in found if one.verdict == "warning"}
    assert warnings["aliens, end"].startswith("it was still there 0.1 s after quit")
    assert warnings["files"].startswith("it wrote log.txt")


SILENT: dict[str, tuple[str, str, str]] = {
    "not flushed": (
        'import sys\nsys.stdout.write(\'{"type":"hello"}\\n\')\nfor line in sys.stdin: pass\n',
        "it has read all that it was sent, and waits for more",
        "flush=True",
    ),
    "read to the end": (
        "import sys\nprint(sys.stdin.read())\n",
        "it has read all that it was sent, and waits for more",
        "reads to the end of its input",
    ),
    "sleeps": (
        "import time\ntime.sleep(60)\n",
        "of its input it has not read ",
        "look for what it waits for",
    ),
    "sleeps after reading": (
        "import time\ninput()\ntime.sleep(60)\n",
        "it waited for something other than its input, as a sleep does",
        "a sleep, a lock, another process",
    ),
    "another thread reads": (
        "import os, threading\nthreading.Thread(target=os.fdopen(os.dup(0)).read).start()\n",
        "it has read all that it was sent, and waits for more",
        "reads to the end of its input",
    ),
    "waits for several things": (
        "import select\ninput()\nselect.select([0], [], [])\n",
        "it has read all that it was sent, and waits; it computed for",
        "if it waits for its input, flush",
    ),
    "computes": ("while True: pass\n", "it computed for 0.", ""),
}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("what", SILENT)
def test_why_a_bot_is_silent_is_said_from_evidence(run: Run, make_bot: MakeBot, what: str) -> None:
    """What it did until its time was up is asked of the kernel, not guessed; `match` says the same."""
    source, told, remedy = SILENT[what]
    bot = make_bot("silent", source)
    done = run("match", "aliens", bot, bot, "--start-s", 0.5, "--move-s", 60)
    assert done.code == 4
    assert told in done.out
    assert remedy in done.out
    if what == "computes":
        assert "flush=True" not in done.out


CALLS: Final = """
import threading, urllib.request
from warpline.client import run

def choose(question):
    return {call}  # mine

run(choose, wants=("legal",))
"""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("question.state['ships']", "question.state was not asked for: name it in run(choose, wants=("),
        ("urllib.request.urlopen('http://127.0.0.1:9/')", "a bot has no network: bring along"),
        ("open('data/table.txt')", 'look at its own line first: File "bot.py", line 6, in choose'),
        ("exec('raise RuntimeError(\"can\\'t start new thread\")')", "processes and threads together"),
    ],
)
def test_the_authors_own_line_and_the_limit_that_was_hit_are_shown(
    run: Run, make_bot: MakeBot, call: str, told: str
) -> None:
    """Of a long traceback the frame in the bot's own file stays; what it asked for in vain is named."""
    bot = make_bot("caller", CALLS.format(call=call))
    done = run("match", "aliens", bot, bot, "--option", "max_turns=2")
    assert told in done.out
    assert "# mine" in done.out
    assert ("a bot has no network" in done.out) == ("urlopen" in call)


def test_check_names_what_a_script_asks_for_in_vain(run: Run, make_bot: MakeBot) -> None:
    """Windows line ends, and an interpreter that is not there, are told for what they are."""
    for line, words in (("#!/bin/sh\r\n", "Windows line end"), ("#!/opt/no/such\n", "needs '/opt/no/such'")):
        bot = make_bot(f"script{len(line)}", manifest='name = "x"\ngames = ["aliens"]\nrun = ["./bot.sh"]\n')
        (bot / "bot.sh").write_bytes(line.encode())
        (bot / "bot.sh").chmod(0o755)
        done = run(*CHECK, bot)
        assert done.code == 1
        assert words in done.out


def test_a_manifest_saved_on_windows_is_read(run: Run, make_bot: MakeBot) -> None:
    """A byte order mark and Windows line ends make no difference to bot.toml; another encoding is named."""
    bot = make_bot("windows")
    path = bot / "bot.toml"
    text = path.read_text().replace("\n", "\r\n")
    path.write_bytes(text.encode("utf-8-sig"))
    assert [found["name"] for found in run("bot", "list", bot.parent, "--json").json] == ["windows"]
    path.write_bytes(text.encode("utf-16"))
    assert "not UTF-8 text but UTF-16; save it as UTF-8" in run(*CHECK, bot).out


def test_a_bot_that_finished_no_match_is_not_ready(make_bot: MakeBot) -> None:
    """What was not looked at is not passed: the check breaks the match off, and tells how slowly the bot decided."""
    slow = make_bot("slow", f"{START}import time\nrun(lambda question: time.sleep(0.2) or 0)\n")
    found: list[Finding] = []
    how = Checkup(quick=True, within_s=1.5, now=lambda: 0.0)  # whatever others take from the bots
    assert not check_bot(slow, how, found.append)
    assert [one.what for one in found if one.verdict == "failed"] == [TIME]
    assert re.search(
        r"no match was finished in 2 s, slow decisions: \d+, \d+ ms on average, longest \d+ ms",
        found[-1].text,
    )


def test_a_table_without_a_whole_match_is_named(make_bot: MakeBot) -> None:
    """A whole match at one table says nothing about another one."""
    manifest = 'name = "x"\ngames = ["sheets"]\nrun = ["python3", "bot.py"]\n'
    found: list[Finding] = []
    how = Checkup(
        conditions=Conditions(clock=TimeControl(move_s=60)),
        quick=True,
        within_s=600,
        now=lambda: 1000.0 * sum(one.what == "sheets, 1 player" for one in found),
    )
    assert not check_bot(make_bot("x", START + "run(lambda question: 0)\n", manifest), how, found.append)
    assert [(one.what, one.verdict) for one in found[2:]] == [
        ("sheets, 1 player", "ok"),
        (MACHINE, "failed"),
    ]
    assert "no match at sheets, 4 players was finished in 600 s" in found[-1].text


def test_a_quick_check_plays_the_smallest_and_the_largest_table(make_bot: MakeBot) -> None:
    """A fast bot gets through all of a quick check: a match at two tables, and the awkward questions."""
    manifest = 'name = "x"\ngames = ["sheets"]\nrun = ["python3", "bot.py"]\n'
    ready, found = quick_check(make_bot("fast", START + "run(lambda question: 0)\n", manifest))
    assert ready
    assert [one.what for one in found[2:4]] == ["sheets, 1 player", "sheets, 4 players"]
    assert "sheets, long lines" in [one.what for one in found]


def test_check_gives_the_time_to_start_that_is_asked_for(run: Run, make_bot: MakeBot) -> None:
    """`--start-s` is the time to get ready, as in a match.

    The bot sleeps: time that a busy machine takes from a bot is not charged.
    """
    source = f"import time; time.sleep(0.5)\n{START}run(lambda question: 0)\n"
    assert "no answer within 0.100 s" in run(*CHECK, make_bot("sleeper", source), "--start-s", 0.1).out


def test_check_of_one_game_only(run: Run, first: Path) -> None:
    """`--game` checks that game alone, and a game that the bot does not claim is a failure."""
    claimed = run(*CHECK, first, "--game", "aliens", "--json")
    assert {finding["what"].split(",")[0] for finding in claimed.json["findings"]} == {
        "bundle",
        "plan",
        "aliens",
    }
    unclaimed = run(*CHECK, first, "--game", "sheets")
    assert unclaimed.code == 1
    assert "does not claim it" in unclaimed.out


def test_check_tells_a_reusable_bot_that_remembers(run: Run, make_bot: MakeBot) -> None:
    """A bot that says it is reusable, but plays otherwise after another match in its process, is not ready."""
    source = (
        "seen = []\ndef choose(question):\n    seen.append(1)\n    return len(seen) % len(question.legal)\n"
    )
    remembers = make_bot("remembers", f"{START}{source}run(choose, wants=('legal',), reusable=True)\n")
    with (remembers / "bot.toml").open("a") as manifest:
        manifest.write("reusable = true\n")
    done = run(*CHECK, remembers)
    assert done.code == 1
    assert (
        "after another match in the same process it plays a match otherwise than in a new process" in done.out
    )


@pytest.mark.parametrize(("in_file", "in_hello"), [(True, False), (False, True)])
def test_check_tells_a_bot_that_is_reusable_in_one_place_only(
    make_bot: MakeBot, *, in_file: bool, in_hello: bool
) -> None:
    """Its process plays one match, whatever the author meant: a warning."""
    bot = make_bot("half", f"{START}run(lambda question: 0, wants=(), reusable={in_hello})\n")
    with (bot / "bot.toml").open("a") as manifest:
        manifest.write(f"reusable = {str(in_file).lower()}\n")
    ready, found = quick_check(bot)
    (warning,) = [one for one in found if one.what == "reusable"]
    assert (ready, warning.verdict, warning.code) == (True, "warning", "reused")
    says, missing = ("bot.toml", "the hello") if in_file else ("the hello", "bot.toml")
    assert warning.text.startswith(f"{says} says reusable, and {missing} does not")


def test_check_warns_of_a_bot_that_does_not_repeat_itself(run: Run, make_bot: MakeBot) -> None:
    """Randomness that does not come from the seed is a warning, with what to do."""
    source = START + "import random\nrun(lambda question: random.randrange(len(question.legal)))\n"
    done = run(*CHECK, make_bot("dice", source))
    assert done.code == 0
    assert "came out differently" in done.out


def test_awkward_lines_are_told_from_chance(make_bot: MakeBot) -> None:
    """If two more matches differ as well, chance is the cause; if they are alike, the awkward lines are."""
    dice = START + "import random\nrun(lambda question: random.randrange(len(question.legal)))\n"
    _, found = quick_check(make_bot("dice", dice))
    assert [one.what for one in found if one.verdict == "warning"] == ["aliens, 2 players"]
    late = READER.format(take=CAREFUL, size=1 << 16).replace("action=0", 'action=int("padding" in message)')
    _, found = quick_check(make_bot("late", late))
    warned = [(one.what, one.text) for one in found if one.verdict == "warning"]
    assert [what for what, _ in warned] == ["aliens, awkward lines"]
    assert "decided otherwise when lines came in pieces, or were long" in warned[0][1]


def test_awkward_lines_come_in_one_start_after_the_matches(make_bot: MakeBot, tmp_path: Path) -> None:
    """A quick check that repeats nothing starts the bot of a table of two three times; one that does, six times."""
    log = tmp_path / "starts"
    counts = make_bot("counts", f"{START}open({str(log)!r}, 'a').write('one')\nrun(lambda question: 0)\n")

    def starts(*, again: bool) -> int:
        log.write_text("")
        found: list[Finding] = []
        how = Checkup(conditions=Conditions(level="none"), quick=True, again=again)
        assert check_bot(counts, how, found.append)
        assert ("aliens, long lists", "ok") in [(one.what, one.verdict) for one in found]
        return log.read_text().count("one")

    assert starts(again=False) == 3
    assert starts(again=True) == 6


def test_a_quick_check_tells_a_fault_that_no_way_alone_explains(make_bot: MakeBot) -> None:
    """A bot that fails only after lines of both kinds is not ready."""
    choice = '(10**6 if plain else 0) if "padding" in message else (plain := True) and 0'
    mixed = READER.format(take=CAREFUL, size=1 << 16).replace("action=0", f"action={choice}")
    mixed = mixed.replace("for line in lines():", "plain = False\nfor line in lines():")
    ready, found = quick_check(make_bot("mixed", mixed))
    assert not ready
    failed = [one for one in found if one.verdict == "failed"]
    assert [one.what for one in failed] == ["aliens, awkward lines"]
    assert "out of range" in failed[0].text


READER = """
import json, os

def lines():
    held = b""
    while data := os.read(0, {size}):
        {take}

def say(**message):
    os.write(1, json.dumps(message).encode() + b"\\n")

for line in lines():
    message = json.loads(line)
    if message["type"] == "hello":
        say(type="hello", protocol=1, wants=[])
    elif message["type"] == "start":
        say(type="ready")
    elif message["type"] == "act":
        say(type="act", id=message["id"], action=0)
    elif message["type"] == "quit":
        break
"""
CAREFUL = "held += data\n        *whole, held = held.split(b'\\n')\n        yield from whole"
NAIVE = "yield data"


@pytest.mark.parametrize("quick", [False, True], ids=["whole", "quick"])
@pytest.mark.parametrize(
    ("take", "size", "failing"),
    [
        (CAREFUL, 1 << 16, []),
        (CAREFUL, 500, []),
        (NAIVE, 1 << 20, ["aliens, lines in pieces", "aliens, long lines"]),
    ],
    ids=["careful", "little by little", "naive"],
)
def test_check_finds_readers_that_take_a_read_for_a_line(
    make_bot: MakeBot, take: str, size: int, failing: list[str], quick: bool
) -> None:
    """A bot that reads well is ready however little it reads at once; one that takes each read for a line is not."""
    findings = []
    ready = check_bot(
        make_bot("reader", READER.format(take=take, size=size)),
        Checkup(conditions=Conditions(clock=TimeControl(move_s=60.0)), matches=1, quick=quick),
        findings.append,
    )
    failed = [finding.what for finding in findings if finding.verdict == "failed"]
    assert failed == failing
    assert ready == (not failing)


def test_new_makes_a_bot_that_is_ready(run: Run, tmp_path: Path) -> None:
    """The Python starter, copied under a name of one's own, plays a match at once."""
    folder = tmp_path / "below" / "my bot"
    done = run("bot", "new", folder)
    assert done.code == 0
    assert f"warpleague bot check '{folder}'" in done.out
    found = run("bot", "list", folder.parent, "--json").json
    assert [(bot["name"], bot["folder"]) for bot in found] == [("my-bot", str(folder))]
    assert run("match", "aliens", folder, folder, "--option", "max_turns=2").code == 0


def test_new_copies_only_what_is_part_of_a_bot(tmp_path: Path) -> None:
    """What Python or a compiler left beside the starter stays there."""
    source = shutil.copytree(
        starter_folder("random-python"), tmp_path / "starter", ignore=lambda *_: ["__pycache__"]
    )
    for name in ("__pycache__", "target"):
        (source / name).mkdir()
    copy_starter(source, tmp_path / "mine", "mine")
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["bot.py", "bot.toml"]


@pytest.mark.parametrize("language", STARTERS)
def test_new_knows_every_language(run: Run, tmp_path: Path, language: str) -> None:
    """Each language's starter is there, with a manifest of its own name that is laid out as the starter's is."""
    assert run("bot", "new", tmp_path / "bot", "--lang", language).code == 0
    (bot,) = run("bot", "list", tmp_path, "--json").json
    assert (bot["name"], bot["version"]) == ("bot", "0.1")
    assert bot["games"] == ["*"]
    starter = (starter_folder(STARTERS[language].starter) / "bot.toml").read_text().splitlines()
    made = (tmp_path / "bot" / "bot.toml").read_text().splitlines()
    changed = {line.split()[0] for line, before in zip(made, starter, strict=True) if line != before}
    assert changed == {"name", "version", "authors"}
    assert run("bot", "new", tmp_path / "again", "--lang", language).out.startswith(
        f"{tmp_path / 'again'}: a bot in {STARTERS[language].name} that"
    )


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_check_builds_a_bot_in_c(run: Run, tmp_path: Path) -> None:
    """The C starter is built and plays; a mistake in it is told with the compiler's words."""
    folder = tmp_path / "c"
    run("bot", "new", folder, "--lang", "c")
    manifest = folder / "bot.toml"
    told = {**tomllib.loads(manifest.read_text()), "games": ["aliens"]}  # the others take their time
    manifest.write_text(tomli_w.dumps(told))
    assert run(*CHECK, folder).code == 0
    source = folder / "bot.c"
    source.write_text(source.read_text() + "int mistake(void) { return nonsense; }\n")
    done = run(*CHECK, folder)
    assert done.code == 1
    assert "nonsense" in done.out


def test_list_shows_the_bots_at_hand(run: Run) -> None:
    """Without a folder, the bots that come with the program are listed, as a table and as JSON."""
    found = run("bot", "list", "--json")
    assert found.code == 0
    names = {bot["name"] for bot in found.json}
    assert names >= {"first-c", "random-python", "sheets-5"}
    table = run("bot", "list")
    assert table.code == 0
    assert "random-python" in table.out


def test_list_goes_on_after_a_bad_manifest(run: Run, make_bot: MakeBot, tmp_path: Path) -> None:
    """A manifest that cannot be read is told beside the others, and the exit code is 1."""
    make_bot("bad", manifest="name")
    make_bot("good")
    done = run("bot", "list", tmp_path)
    assert done.code == 1
    assert "good" in done.out
    assert "bad/bot.toml: not TOML" in done.out
    assert [set(bot) >= {"error"} for bot in run("bot", "list", tmp_path, "--json").json] == [True, False]


def test_list_of_an_empty_folder_says_so(run: Run, tmp_path: Path) -> None:
    """No bots are no table."""
    done = run("bot", "list", tmp_path)
    assert (done.code, "no bots" in done.out) == (0, True)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def (", ["SyntaxError", "tells where"]),
        ("GAMES = 1", ["AttributeError", "GAME"]),
        ("GAME = 5", ["int.id is None", "name of the entry point"]),
    ],
    ids=["no Python", "no object", "no game"],
)
def test_a_broken_game_is_named_and_spoils_no_other(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, words: list[str]
) -> None:
    """A package whose game cannot be loaded is told of by name; the other games are listed and played."""
    module = f"broken_{secrets.token_hex(4)}"
    told = tmp_path / f"{module}-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    (told / "entry_points.txt").write_text(f"[warpleague.games]\n{module} = {module}:GAME\n")
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    listed = run("games", "--json")
    assert listed.code == 1
    names = {game["game"] for game in listed.json}
    assert set(GAMES) <= names
    assert module not in names
    one = run("games", module)
    assert (one.code, one.out) == (2, "")
    for word in (module, *words):
        assert word in listed.err
        assert word in one.err
    assert run("games", "aliens").code == 0


def test_games_lists_and_describes_each(run: Run) -> None:
    """Every game is listed; its description names its options, defaults and actions."""
    listed = run("games", "--json").json
    assert [game["game"] for game in listed] == list(game_ids())
    table = run("games").out
    for game in listed:
        assert game["game"] in table
        told = run("games", game["game"])
        assert told.code == 0
        assert run("games", game["game"], "--json").json == game
        assert game == describe(load_game(game["game"]))  # what is kept of it is what its engine says
        for word in (*game["options"], *game["actions"]):
            assert word in told.out
