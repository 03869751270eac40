"""What the commands say to input that cannot be used: one text that helps, exit code 2, never a traceback.

Damaged records are the business of test_records.py.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from warpleague.games import load_game

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import MakeBot, Outcome, Run


def refused(done: Outcome, *words: str) -> None:
    """The command failed for its input, with these words and no output."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("warpleague")
    for word in words:
        assert word in done.err


MANIFEST = 'name = "x"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n'
MISFITS = r"""
name = "x"            -> name = x                            | not TOML | line 1
"x"                   -> 1                                   | name | a text
"x"                   -> "../x"                              | name '../x' | letters
games                 -> game                                | game: unknown key | did you mean 'games'
games                 -> game                                | game: unknown key | games: is required
["aliens"]            -> []                                  | games | empty
"python3", "bot.py"   -> "python3 bot.py"                    | each word by itself | run = ["python3", "bot.py"]
bot.py                -> main.py                             | run names main.py, which is not | known: bot.py
bot.py                -> /srv/bot.py                         | run names /srv/bot.py | not in the bot's folder
["python3", "bot.py"] -> []                                  | run | empty
"python3"             -> ""                                  | run | empty
bot.py                -> bot\u0000.py                        | run | NUL
python3               -> no-such-interpreter                 | 'no-such-interpreter' | not installed
python3               -> ./bot                               | ./bot | not in the folder
END                   -> build = ["no-such-compiler"]        | 'no-such-compiler' | not installed
END                   -> build = ["/bin/sh", "-c", "echo wrong here >&2; exit 7"] | status 7 | wrong here
END                   -> build = ["/bin/sh", "-c", "printf '\\033[1mbold'; exit 1"] | status 1 | \x1b[1mbold
END                   -> limits.memory_mb = 4                | memory_mb | from 16 to 16384
END                   -> limits.memory_mb = 99999 (5000 digits) | bot.toml: not TOML | a number has too many digits
END                   -> limits.memory = 64                  | limits.memory: unknown key | did you mean 'memory_mb'
"""
"""What is changed in the manifest or added at its end, and what is said of it."""


@pytest.mark.parametrize("row", MISFITS.strip().splitlines())
def test_manifests_are_judged_strictly(run: Run, make_bot: MakeBot, row: str) -> None:
    """A bot.toml that does not fit, or whose programs are missing, is refused in plain words."""
    change, *words = map(str.strip, row.split(" | "))
    old, new = map(str.strip, change.split(" -> "))
    new = new.replace("99999 (5000 digits)", "9" * 5000)
    manifest = MANIFEST + new if old == "END" else MANIFEST.replace(old, new)
    bot = make_bot("bot", manifest=manifest)
    refused(run("match", "aliens", bot, bot), *words)


def test_a_script_is_not_named_by_where_it_is_now(run: Run, make_bot: MakeBot) -> None:
    """The path of the bot's own file on this machine is refused: the copy of the bot would run the original."""
    bot = make_bot("bot")
    (bot / "bot.toml").write_text(MANIFEST.replace("bot.py", f"{bot}/bot.py"))
    refused(run("match", "aliens", bot, bot), f"say 'bot.py', not '{bot}/bot.py'")


@pytest.mark.parametrize("place", ["env", "."])
def test_a_virtual_environment_is_told_for_what_it_is(run: Run, make_bot: MakeBot, place: str) -> None:
    """It is full of links out of the folder: what to do instead is told, not each link."""
    bot = make_bot("bot")
    (bot / place / "bin").mkdir(parents=True)
    (bot / place / "bin" / "python3").symlink_to("/usr/bin/python3")
    (bot / place / "pyvenv.cfg").touch()
    refused(run("match", "aliens", bot, bot), "virtual environment", "pip install --target vendor")


def test_a_folder_without_manifest_is_refused(run: Run, first: Path, tmp_path: Path) -> None:
    """The text says what the missing file must hold."""
    refused(run("match", "aliens", first, tmp_path), "no bot.toml", "name, games, run")


@pytest.mark.parametrize(
    ("link", "target", "words"),
    [
        ("out", "/etc/hostname", ["out", "leads out of the bot's folder"]),
        ("up", "../../x", ["up", "leads out of the bot's folder"]),
        ("folder", "/etc", ["folder", "links to folders"]),
        ("circle", ".", ["circle", "links to folders"]),
        ("nowhere", "gone", ["nowhere", "leads nowhere"]),
        ("loop", "loop", ["bot/loop", "cannot be followed", "symbolic links"]),
        ("through", "bot.py/x", ["bot/through", "cannot be followed"]),
        ("device", "/dev/zero", ["bot/device", "leads out of the bot's folder"]),
        ("__pycache__.pyc", "__pycache__.pyc", []),
        ("bot.toml", "bot.toml", ["bot.toml", "cannot read it"]),
    ],
)
def test_links_are_refused(run: Run, make_bot: MakeBot, link: str, target: str, words: list[str]) -> None:
    """A link that leads out of a bot's folder, to a folder, in circles or nowhere cannot be bundled."""
    bot = make_bot("bot")
    (bot / link).unlink(missing_ok=True)
    (bot / link).symlink_to(target)
    if words:
        refused(run("match", "aliens", bot, bot), *words)
    else:
        assert run("match", "aliens", bot, bot, "--option", "max_turns=2").code == 0


def test_links_in_circles_stop_no_command(run: Run, make_bot: MakeBot, first: Path, tmp_path: Path) -> None:
    """`bot check` tells of them as of any other finding, a league as of any other bad bot."""
    bot = make_bot("bot")
    (bot / "one").symlink_to("two")
    (bot / "two").symlink_to("one")
    done = run("bot", "check", bot)
    assert (done.code, done.err) == (1, "")
    assert "bot/one: this link cannot be followed" in done.out
    league = tmp_path / "league.toml"
    league.write_text(f'bots = ["{first}", "bot"]\n[game]\nid = "aliens"\n')
    done = run("league", "run", league, "--results", tmp_path / "results")
    assert done.code == 2
    assert "bot/one: this link cannot be followed" in done.err


def test_a_new_bot_does_not_go_where_a_link_is(run: Run, tmp_path: Path) -> None:
    """A link that leads in circles is something that exists already."""
    (tmp_path / "new").symlink_to("new")
    refused(run("bot", "new", tmp_path / "new"), "exists already")


def test_what_is_no_file_is_refused(run: Run, make_bot: MakeBot) -> None:
    """A named pipe in a bot's folder does not hang the bundling."""
    bot = make_bot("bot")
    os.mkfifo(bot / "pipe")
    refused(run("match", "aliens", bot, bot), "bot/pipe", "only files and folders")
    (bot / "pipe").unlink()
    (bot / "linked").symlink_to("pipe")
    os.mkfifo(bot / "pipe")
    refused(run("match", "aliens", bot, bot), "only files and folders")
    for name in ("pipe", "linked"):
        (bot / name).unlink()
    os.mknod(bot / "socket", 0o644 | stat.S_IFSOCK)
    refused(run("match", "aliens", bot, bot), "bot/socket", "only files and folders")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(run: Run, make_bot: MakeBot) -> None:
    """A file without the right to read it is named."""
    bot = make_bot("bot")
    (bot / "secret").write_text("x")
    (bot / "secret").chmod(0)
    refused(run("match", "aliens", bot, bot), "secret", "cannot read")
    (bot / "secret").unlink()
    (bot / "closed").mkdir(mode=0)
    try:
        refused(run("match", "aliens", bot, bot), "bot/closed", "cannot read")
    finally:
        (bot / "closed").chmod(0o755)


def test_a_cache_that_cannot_be_written_is_named(
    run: Run, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache folder that is a file ends in a text that names the variable to change."""
    (tmp_path / "cache").write_text("")
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    refused(run("match", "aliens", first, first), "WARPLEAGUE_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ["not JSON"]),
        ("[" * 100_000, ["not JSON"]),
        ("[]", ["a JSON object"]),
        ("{}", ["options: is missing"]),
        ('{"options": {"max_turns": 3}}', ["missing"]),
    ],
    ids=["cut", "deep", "list", "empty", "partial"],
)
def test_positions_are_judged(run: Run, first: Path, tmp_path: Path, text: str, words: list[str]) -> None:
    """A position file that holds no position is named, with what is wrong."""
    path = tmp_path / "start.json"
    path.write_text(text)
    refused(run("match", "aliens", first, first, "--position", path), str(path), *words)


@pytest.mark.parametrize(
    ("game", "keys", "words"),
    [
        ("captains", ["match"], "match: is missing"),
        ("captains", ["match", "players"], "match.players: is missing"),
        ("coasters", ["players"], "players"),
        ("sheets", ["dice"], "dice: is missing"),
    ],
)
def test_a_position_without_a_key(
    run: Run, first: Path, tmp_path: Path, game: str, keys: list[str], words: str
) -> None:
    """What is not there is said to be missing, not to be of a wrong type."""
    engine = load_game(game)
    data = json.loads(json.dumps(engine.to_json(engine.initial(2, engine.Options()))))
    table = data
    for key in keys[:-1]:
        table = table[key]
    del table[keys[-1]]
    path = tmp_path / "start.json"
    path.write_text(json.dumps(data))
    refused(run("match", game, first, first, "--position", path), str(path), words)


def test_a_position_of_another_match_is_refused(run: Run, first: Path, tmp_path: Path) -> None:
    """The end of a game leaves nothing to play; bots and options must be those of the position."""
    aliens, coasters = load_game("aliens"), load_game("coasters")
    start = aliens.initial(2, aliens.Options(max_turns=8))
    over, _ = aliens.retire(start, 0)
    path = tmp_path / "start.json"
    for game, state, more, word in (
        (aliens, over, (), "over"),
        (aliens, start, ("--option", "max_turns=9"), "options"),
        (coasters, coasters.initial(3, coasters.Options()), (), "3 players"),
    ):
        path.write_text(json.dumps(game.to_json(state)))
        refused(run("match", game.id, first, first, "--position", path, *more), str(path), word)


@pytest.mark.parametrize("name", ["", "file/match.jsonl"])
def test_the_records_path_is_tried_before_the_match(
    run: Run, make_bot: MakeBot, tmp_path: Path, name: str
) -> None:
    """A record that cannot be written is refused before anything is played, and leaves no draft behind."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").write_text("kept")
    witness = tmp_path / "started"
    bot = make_bot("bot", f"open({str(witness)!r}, 'w')\n")
    refused(run("match", "aliens", bot, bot, "--record", tmp_path / "out" / name), "cannot write it")
    assert not witness.exists()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["file"]


def test_an_encoding_without_a_character_ends_no_command(tmp_path: Path) -> None:
    """Where output is ASCII, what it lacks is escaped, in JSON so that it stays JSON."""
    bot = tmp_path / "b\u00f6t"
    bot.mkdir()
    (bot / "bot.toml").write_text('name = "x"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n')
    plain, told = (
        subprocess.run(
            [sys.executable, "-m", "warpleague", "bot", "list", str(tmp_path), *more],
            env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "400"},
            capture_output=True,
            check=True,
        )
        for more in ((), ("--json",))
    )
    assert b"b\\xf6t" in plain.stdout
    assert json.loads(told.stdout)[0]["folder"] == str(bot)


@pytest.mark.parametrize(
    "value", ["[" * 20_000, "9" * 5000, ".a" * 4000, "{a=" * 200 + "1" + "}" * 200], ids=lambda text: text[:4]
)
def test_an_option_beyond_all_need_is_bad_input(run: Run, first: Path, value: str) -> None:
    """An option's value that nests deeply, or is an endless number, is refused like any other wrong value."""
    refused(run("match", "aliens", first, first, "--option", f"max_turns={value}"), "max_turns")


def test_a_user_without_a_home_folder_is_told_what_to_set(
    run: Run, first: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no cache folder can be derived, the error names the variable that sets one."""
    for name in ("WARPLEAGUE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", raise_key_error)
    refused(run("match", "aliens", first, first), "name one in WARPLEAGUE_CACHE")


def raise_key_error(_: int) -> None:
    raise KeyError
