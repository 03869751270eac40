"""What beginners do wrong, and what they are told: where the mistake is, and what to do about it.

One row is one mistake. Its first word names the place, the second one the remedy; nothing is played or changed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest
from tests.cli.conftest import write_bot

from warpleague.cli import main
from warpleague.league.store.database import take_lock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

GAME = '[game]\nid = "aliens"\noptions = { max_turns = 2 }\n'
BOTS = 'bots = ["../mine", "../other"]\n'
MANIFEST = 'name = "bot"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n'

LEAGUES = {
    "level": f'level = "sandbox"\n{BOTS}{GAME}',
    "players": f"players = 2\n{BOTS}{GAME}",
    "options": f'max_turns = 2\n{BOTS}[game]\nid = "aliens"\n',
    "text": f'game = "sheets"\n{BOTS}',
    "behind": f"{GAME}{BOTS}",
    "nogame": BOTS,
    "nobots": GAME,
    "one": f'bots = ["../mine"]\n{GAME}',
    "twice": f'bots = ["../mine", "../mine"]\n{GAME}',
    "alike": f'bots = [{{ path = "../mine", name = "Ada" }}, {{ path = "../other", name = "ada" }}]\n{GAME}',
    "cyrillic": f'bots = [{{ path = "../mine", name = "Ada" }}, {{ path = "../other", name = "Adа" }}]\n{GAME}',
    "path": f'bots = ["mine", "../other"]\n{GAME}',
    "typo": f'bots = ["../mien", "../other"]\n{GAME}',
    "empty": f'bots = [".", "../other"]\n{GAME}',
    "opponent": f'bots = ["../mine", "bots/opponents/aliens-9"]\n{GAME}',
    "file": f'bots = ["../mine/bot.py", "../other"]\n{GAME}',
    "list": f'bots = "../mine"\n{GAME}',
    "chess": f'{BOTS}[game]\nid = "chess"\n',
    "alien": f'{BOTS}[game]\nid = "alien"\n',
    "three": f'{BOTS}[game]\nid = "aliens"\nplayers = 3\n',
    "unit": f'{BOTS}{GAME}[clock]\nmove_s = "1s"\n',
    "ms": f"{BOTS}{GAME}[clock]\nmove_s = 500ms\n",
    "kind": f'{BOTS}{GAME}[format]\nkind = "roundrobin"\n',
    "challenger": f'{BOTS}{GAME}[format]\nkind = "gauntlet"\nchallengers = ["min"]\n',
    "unquoted": f"{BOTS}[game]\nid = aliens\n",
    "colon": f'{BOTS}[game]\nid: "aliens"\n',
    "comma": f'bots = ["../mine" "../other"]\n{GAME}',
    "again": f"{BOTS}{GAME}{GAME}",
    "name": f'name = "my cup"\n{BOTS}{GAME}',
    "seed": f"seed = 5\n{BOTS}{GAME}",
    "logs": f'{BOTS}{GAME}[run]\nlogs = "yes"\n',
    "strikes": f"{BOTS}{GAME}[rules]\nstrikes = 2\n",
    "good": f"{BOTS}{GAME}",
    "old": f"{BOTS}{GAME}",
}
MANIFESTS = {
    "table": f"memory_mb = 64\n{MANIFEST}",
    "command": MANIFEST.replace('["python3", "bot.py"]', '"python3 bot.py"'),
    "games": MANIFEST.replace('["aliens"]', '"aliens"'),
    "blank": MANIFEST.replace('"bot"', '"my bot"'),
    "missing": MANIFEST.replace("python3", "pyton3"),
    "script": MANIFEST.replace("bot.py", "bott.py"),
    "windows": MANIFEST.replace('"python3", "bot.py"', '"./crlf.py"'),
    "unnamed": MANIFEST.replace('"python3", "bot.py"', '"./unnamed.py"'),
    "plain": MANIFEST.replace('"python3", "bot.py"', '"./bot.py"'),
    "league": f"{BOTS}{GAME}",
}

MISTAKES = """
# options
match aliens mine other --sed 1                         | --sed                | did you mean --seed?
match aliens mine other -seed 1                         | -seed                | did you mean --seed?
match aliens mine other \N{EN DASH}seed 1               | instead of a hyphen  | write --seed
match aliens mine other --move_s 1                      | --move_s             | did you mean --move-s?
match aliens mine other --rec one.jsonl                 | --rec                | did you mean --record?
match aliens mine other --seed                          | --seed               | write --seed TEXT
match aliens mine other --json=yes                      | --json               | write it alone
match aliens mine other --jobs 2                        | --jobs               | belongs to
match aliens mine other --players 3                     | --players            | as many players as you name bots
match aliens mine other --level sandbx                  | --level              | did you mean 'sandbox'?
match aliens mine other --move-s 1min                   | --move-s             | such as 500ms, 1.5s, 10m
match aliens mine other --move-s 0                      | --move-s             | a number alone is in seconds
match aliens mine other --option turns=2                | --option: turns      | did you mean 'max_turns'?
match aliens mine other --option max_turns              | --option max_turns   | KEY=VALUE
match aliens mine other --option max_turns=many         | max_turns            | must be a whole number
match aliens mine other --option players=2              | --option players     | as many players as you name bots
match aliens mine other --option seed=2                 | --option seed        | write --seed
match aliens mine other --strikes 2                     | --strikes            | --faults substitute
match aliens mine other --option =3                     | =3                   | KEY=VALUE
match aliens mine other --option max_turns=true         | max_turns            | whole number
match aliens mine other --option max_turns=3.0          | max_turns            | whole number
match aliens mine other --option max_turns=0            | max_turns            | from 1
match aliens mine other --option both_ships=1           | both_ships           | true or false
match aliens mine other --option diagonals=twisted      | 'twisted'            | 'swapped'
match aliens mine other --option max_turns=3 --option max_turns=4| max_turns            | twice
match aliens mine other --faults forgive                | 'forgive'            | substitute
match aliens mine other --strikes -1                    | --strikes            | at least 0
match aliens mine other --bank-s nan                    | --bank-s             | above 0
match aliens mine other --increment-s soon              | --increment-s        | 'soon'
bot check mine --matches 0                              | --matches            | at least 1
bot new x --lang cobol                                  | 'cobol'              | any language works
bot new x --lang pyton                                  | 'pyton'              | did you mean 'python'?
league standings leagues/good.toml --bot mine           | --bot                | league matches
league run leagues/good.toml --level sandbox            | --level              | `level` belongs under [rules]
league run leagues/good.toml --move-s 1                 | --move-s             | `move_s` belongs under [clock]
league run leagues/good.toml --for soon                 | --for                | 10m, 2h
league run leagues/good.toml --matches 0                | --matches            | at least 1
league export leagues/good.toml --decisions             | --decisions          | --format csv
league verify leagues/good.toml --head abc              | 'abc'                | behind Receipt
league report leagues/good.toml --replays some          | --replays            | all or none
serve leagues/good.toml --port 99999                    | --port               | 65535
compare mine other --game aliens --elo0 20 --elo1 0     | --elo1               | above elo0
compare mine other --game aliens --alpha 5              | --alpha              | at most 0.5
compare mine other --game aliens --field a,,b           | --field              | with commas between them
compare mine other third --game aliens                  | third: a third bot   | --field third
compare mine other --game aliens --beta few             | --beta               | must be a number
play aliens --seat 5                                    | --seat 5             | seats 0 to 1
reproduce RECORD --key abc                              | --key abc            | 64 hexadecimal digits
cache clean --older-than old                            | --older-than         | in days
--verison                                               | --verison            | did you mean --version?
-x                                                      | -x                   | known: --help, --version
play aliens mine other                                  | aliens is for 2      | name more or fewer bots
# commands and their order
leage run leagues/good.toml                             | 'leage'              | did you mean 'league'?
League run leagues/good.toml                            | 'League'             | did you mean 'league'?
run leagues/good.toml                                   | 'run'                | league run leagues/good.toml
standing leagues/good.toml                              | 'standing'           | league standings
aliens mine other                                       | aliens is a game     | play aliens
leagues/good.toml                                       | leagues/good.toml    | league run leagues/good.toml
mine                                                    | mine                 | bot check mine
league leagues/good.toml                                | leagues/good.toml    | league run leagues/good.toml
league leagues/good.toml run                            | first                | league run leagues/good.toml
league rnu leagues/good.toml                            | 'rnu'                | did you mean 'run'?
bot mine check                                          | first                | bot check mine
replay RECORD                                           | RECORD               | replay show RECORD
--json games                                            | --json               | behind the command
league --json run leagues/good.toml                     | --json               | behind the command
help leage                                              | 'leage'              | did you mean 'league'?
games chess                                             | 'chess'              | known: aliens
docs leage                                              | 'leage'              | did you mean 'league'?
completion fish                                         | 'fish'               | bash, zsh, tcsh
sim                                                     | sim                  | --serve
# arguments
match                                                   | GAME                 | for example: warpleague match
match --from-folders wrong                              | GAME                 | for example: warpleague match
match mine other                                        | 'mine'               | the game comes first
match alien mine other                                  | 'alien'              | did you mean 'aliens'?
match aliens mine                                       | 2 players            | name as many bots
match aliens mine other mine                            | 2 players            | not 3
games alien                                             | 'alien'              | did you mean 'aliens'?
match aliens mine --seed 1 other                        | other                | side by side
league run leagues/good.toml leagues/one.toml           | leagues/one.toml     | it takes one LEAGUE at a time
league disqualify leagues/good.toml mine                | --reason             | for example:
league disqualify leagues/good.toml min --reason x      | 'min'                | did you mean 'mine'?
league matches leagues/good.toml --bot min              | --bot                | did you mean 'mine'?
compare mine other                                      | which game?          | --game GAME
compare aliens mine                                     | aliens               | name two bots
reproduce RECORD mine                                   | RECORD               | name 2 bots
bot rerun RECORD mine                                   | RECORD               | the bot comes first
arena author ada                                        | 'ada'                | did you mean 'add'?
arena limits per_day                                    | 'per_day'            | KEY=NUMBER
arena submissions                                       | results              | --results names
submit mine --to http://127.0.0.1:1                     | token                | --token-file
submit mine --to http://example.org --token-file token  | --to                 | use https://
submit mine                                             | --to                 | for example:
# paths
match aliens mien other                                 | mien                 | did you mean 'mine'?
match aliens mine random-pyton                          | no such folder       | bots/random-python'?
match aliens mine random-python                         | did you mean '       | bots/random-python'?
match aliens mine bots/opponents/aliens-9               | no such folder       | did you mean 'bots/opponents/aliens-
match aliens mine bots/oponents/aliens-2                | no such folder       | bots/opponents/aliens-2'?
match aliens mine LONG                                  | LONG                 | no such folder
match aliens mine other --position none.json            | none.json            | cannot read
bot check nowhere                                       | nowhere              | no such folder
bot list nowhere                                        | nowhere              | no such folder
league run elsewhere/good.toml                          | elsewhere/good.toml  | did you mean 'leagues/good.toml'?
replay show none.jsonl                                  | none.jsonl           | cannot read
reproduce none.jsonl                                    | none.jsonl           | cannot read
match aliens mine/bot.py other                          | mine/bot.py          | by its folder: mine
match aliens leagues/good.toml other                    | leagues/good.toml    | name the folder
match aliens leagues other                              | leagues              | bot.toml
match aliens . other                                    | no bot.toml          | a folder in it, such as
match aliens mine other --record mine                   | mine                 | name a file
match aliens mine other --record RECORD                 | RECORD               | --force
match aliens mine other --position RECORD               | RECORD               | replay position
match aliens mine other --log RECORD                    | RECORD               | name a folder
bot new mine                                            | mine                 | choose another name
bot check leagues/good.toml                             | leagues/good.toml    | name the folder
league run leagues                                      | leagues              | such as leagues/again.toml
league run mine                                         | mine                 | name the league's TOML file
league run mine/bot.toml                                | mine/bot.toml        | name the file of a league
league run RECORD                                       | RECORD               | name a TOML file
league run results/good/league.sqlite                   | league.sqlite        | name the league's TOML file
league run leagues/god.toml                             | leagues/god.toml     | did you mean 'leagues/good.toml'?
league run good                                         | good                 | did you mean 'leagues/good.toml'?
league standings leagues/good.toml --results elsewhere  | elsewhere            | start with:
league merge leagues/good.toml leagues/one.toml         | leagues/one.toml     | name a store
league merge results/good leagues/good.toml             | results/good         | comes first
league standings leagues/old.toml                       | old/league.sqlite    | another name
replay show leagues/good.toml                           | leagues/good.toml    | --record FILE
replay show results/good/league.sqlite                  | league.sqlite        | --record FILE
replay show records                                     | records              | such as records/
replay show records/mach.jsonl                          | records/mach.jsonl   | did you mean
# league files
league run leagues/level.toml                           | level:               | belongs under [rules]
league run leagues/players.toml                         | players:             | belongs under [game]
league run leagues/options.toml                         | max_turns:           | belongs under [game.options]
league run leagues/text.toml                            | game:                | [game] and below it id = "sheets"
league run leagues/behind.toml                          | bots:                | at the top of the file
league run leagues/nogame.toml                          | game:                | write [game] and below it id =
league run leagues/nobots.toml                          | bots:                | write bots = ["FOLDER", "FOLDER"]
league run leagues/one.toml                             | bots:                | add some
league run leagues/twice.toml                           | bots:                | give one of them another
league run leagues/alike.toml                           | 'Ada' and 'ada'      | give one of them another
league run leagues/cyrillic.toml                        | CYRILLIC             | give one of them another
league run leagues/path.toml                            | bots[0]              | did you mean '../mine'?
league run leagues/typo.toml                            | bots[0]              | did you mean 'mine'?
league run leagues/empty.toml                           | bots[0]              | no bot.toml
league run leagues/opponent.toml                        | bots[1]              | did you mean 'aliens-
league run leagues/file.toml                            | bots[0]              | by its folder
league run leagues/list.toml                            | bots:                | write it in brackets
league run leagues/chess.toml                           | game.id:             | known: aliens
league run leagues/alien.toml                           | game.id:             | did you mean 'aliens'?
league run leagues/three.toml                           | game.players:        | is for 2 players
league run leagues/unit.toml                            | clock.move_s:        | without quotes and unit: 1
league run leagues/ms.toml                              | line 6               | without a unit
league run leagues/kind.toml                            | format.kind:         | did you mean 'round-robin'?
league run leagues/challenger.toml                      | challengers[0]       | did you mean 'mine'?
league run leagues/unquoted.toml                        | line 3               | id = "aliens"
league run leagues/colon.toml                           | line 3               | not a colon
league run leagues/comma.toml                           | line 1               | a comma between
league run leagues/again.toml                           | line 5               | in the file twice
league run leagues/name.toml                            | name:                | such as 'my-cup'
league run leagues/seed.toml                            | seed:                | write it in quotes: "5"
league run leagues/logs.toml                            | run.logs:            | without quotes
league run leagues/strikes.toml                         | rules.strikes:       | faults = "substitute"
# bots
match aliens wrong/table other                          | memory_mb:           | belongs under [limits]
match aliens wrong/command other                        | run:                 | run = ["python3", "bot.py"]
match aliens wrong/games other                          | games:               | write it in brackets
match aliens wrong/blank other                          | name                 | such as 'my-bot'
match aliens wrong/missing other                        | 'pyton3'             | did you mean 'python3'?
match aliens wrong/script other                         | bott.py              | did you mean 'bot.py'?
match aliens wrong/windows other                        | ./crlf.py            | Unix line ends
match aliens wrong/unnamed other                        | ./unnamed.py         | #!/usr/bin/env python3; or name
match aliens wrong/plain other                          | ./bot.py             | chmod +x
match aliens wrong/league other                         | bot.toml             | the bot's own
match aliens wrong/capital other                        | no bot.toml          | rename Bot.toml
"""


def rows() -> list[tuple[str, str, str]]:
    """The command, the place and the remedy of each mistake."""
    lines = [line for line in MISTAKES.splitlines() if line and not line.startswith("#")]
    return [
        (command, place, remedy)
        for command, place, remedy in (map(str.strip, line.split("|")) for line in lines)
    ]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, record: Path, bot_cache: Path) -> Path:
    """A folder with two good bots, a league that is played, a record, and all that is wrong."""
    folder = tmp_path_factory.mktemp("mistakes")
    for name in ("mine", "other"):
        write_bot(folder / name)
    for name, manifest in MANIFESTS.items():
        write_bot(folder / "wrong" / name, manifest=manifest)
    for script, first in (
        (folder / "wrong" / "windows" / "crlf.py", b"#!/usr/bin/env python3\r\n"),
        (folder / "wrong" / "unnamed" / "unnamed.py", b"import sys\n"),
    ):
        script.write_bytes(first)
        script.chmod(0o755)
    write_bot(folder / "wrong" / "capital")
    (folder / "wrong" / "capital" / "bot.toml").rename(folder / "wrong" / "capital" / "Bot.toml")
    (folder / "leagues").mkdir()
    for name, text in LEAGUES.items():
        (folder / "leagues" / f"{name}.toml").write_text(text, encoding="utf-8")
    (folder / "token").write_text("wl-0123456789\n")
    (folder / "token").chmod(0o600)
    (folder / "records").mkdir()
    shutil.copy(record, folder / "records" / "match.jsonl")
    league = ("--results", str(folder / "results"), "--jobs", "1", "--quiet")
    assert main(["league", "run", str(folder / "leagues" / "good.toml"), *league]) == 0
    shutil.copytree(folder / "results" / "good", folder / "results" / "old")
    with sqlite3.connect(folder / "results" / "old" / "league.sqlite") as store:
        store.execute("UPDATE meta SET value = '5' WHERE key = 'format'")
    store.close()
    return folder


def whole(text: str) -> str:
    """A text of the table with what its capital words stand for."""
    return text.replace("RECORD", "records/match.jsonl").replace("LONG", "x" * 300)


@pytest.mark.parametrize(("command", "where", "remedy"), rows(), ids=[command for command, *_ in rows()])
def test_beginners_mistakes_name_place_and_remedy(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch, command: str, where: str, remedy: str
) -> None:
    """The answer to a mistake says where it is and what to do, in a few lines and without a traceback."""
    monkeypatch.chdir(place)
    monkeypatch.delenv("WARPLEAGUE_TOKEN", raising=False)
    before = sorted(place.rglob("*.jsonl"))
    done = run(*map(whole, shlex.split(command)))
    told = done.out + done.err
    assert done.code == 2
    for text in (where, remedy):
        assert whole(text) in told
    assert len(told.splitlines()) <= 4
    assert sorted(place.rglob("*.jsonl")) == before


def test_two_runs_at_once_are_told_who_runs(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run of a league is refused with the process of the first."""
    monkeypatch.chdir(place)
    lock = take_lock(place / "results" / "good" / "league.lock")
    try:
        done = run("league", "run", "leagues/good.toml")
    finally:
        os.close(lock)
    assert done.code == 2
    assert "is being run already, by process" in done.err
    assert "wait for it, or stop it first" in done.err
