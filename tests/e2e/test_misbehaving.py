"""Every misbehaving bot among honest ones: the verdict, its evidence, and what is left behind.

The bots, and what they deserve, are in tests/bots/manifest.toml; how they do it is in their own files. With
`HOSTILE=all` in the environment (`make hostile`) they play every game, at the smallest table and at one of three
where the game has it.
"""

import gc
import hashlib
import json
import os
import pickle
import resource
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from warpleague.errors import BadInput
from warpleague.games import game_ids, load_game
from warpleague.match.chance import match_key
from warpleague.match.replay import verify_record
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import Level, MatchSpec, SeatSpec, TimeControl
from warpleague.runner.doctor import KEPT_BY, check_level
from warpleague.runner.play import play_match

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

SOURCES = Path(__file__).parents[1] / "bots"
MANIFEST = tomllib.loads((SOURCES / "manifest.toml").read_text())
BOTS = [{**MANIFEST["defaults"], **bot} for bot in MANIFEST["bot"]]
HONEST = {**MANIFEST["defaults"], "file": "honest.py", "language": "python"}
SECRET = "WARPLEAGUE_TEST_SECRET"
PROMISED = {level: set(KEPT_BY[level]) - {"addresses", "hoard", "orphan"} for level in ("limits", "sandbox")}
"""What the record must say was found kept; these three take too long to be tried each time."""

MARK = f"started-by-{secrets.token_hex(8)}"
"""The last argument of every bot, by which other test processes' bots are told apart."""

SHORT = {"aliens": {"max_turns": 40}, "captains": {"max_rounds": 20}, "coasters": {"max_rounds": 10}}
"""Options that keep a match of honest bots short."""


def tables() -> list[tuple[str, int]]:
    """The games and table sizes to play."""
    if os.environ.get("HOSTILE") != "all":
        return [("aliens", 2)]
    found = []
    for name in game_ids():
        sizes = [size for size in load_game(name).players if size > 1]
        found += [(name, size) for size in sizes if size in (min(sizes), 3)]
    return found


ON_THE_WIRE = {"malformed", "protocol", "illegal"}
"""Kinds of faults that are in what a bot writes; for other verdicts the manifest says it."""

AT_LIMITS = {
    *("honest.py", "late_answer.py", "exit_before_hello.py", "exception.py", "page_tables_hog.c"),
    *("deaf_to_quit.py", "child_keeps_the_pipe.py", "fork_bomb.py", "forks_a_daemon.py", "stops_itself.py"),
    *("continues_by_timers.c", "reads_its_environment.py"),
}
"""Of the bots that do more than write: one for each kind of verdict, and those that leave processes behind, for which
level limits has code of its own."""


def cases() -> list[Any]:
    """Bot, level, game and table size of every match; what only the sandbox contains stays out of the others.

    Bots that do nothing but write what is wrong play at level limits, all others in the sandbox, and only those of
    `AT_LIMITS`, or with another verdict there, at both, unless all is to be played.
    """
    every = os.environ.get("HOSTILE") == "all"
    found = []
    for level in ("limits", "sandbox"):
        for game, players in tables():
            for bot in BOTS:
                only_writes = bot["only_writes"] or ON_THE_WIRE.issuperset(bot["verdicts"])
                if level == "sandbox":
                    plays = every or not only_writes
                else:
                    chosen = every or only_writes or bot["sandbox"] or bot["file"] in AT_LIMITS
                    plays = chosen and not bot["needs_sandbox"]
                if plays:
                    names = (level, game, str(players), Path(bot["file"]).stem)
                    found.append(pytest.param(bot, level, game, players, id="-".join(names)))
    return found


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scratch copy of the bots, some of which write into their folder; built, and open to the sandbox's users."""
    target = tmp_path_factory.mktemp("misbehaving") / "bots"
    shutil.copytree(SOURCES, target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "armed-for-the-sandbox").touch()
    target.chmod(0o755)
    for path in target.iterdir():
        path.chmod(0o644)
    return target


@pytest.fixture(scope="session")
def host(folder: Path) -> Iterator[None]:
    """What the bots reach out for: sockets of the host, a file, and a secret in the environment."""
    secret = folder.parent / "store.sqlite"
    secret.write_text("all results\n")
    (folder / "secret").write_text(str(secret))
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as hidden,
        pytest.MonkeyPatch.context() as patch,
    ):
        name = f"warpleague-test-{secrets.token_hex(8)}"
        hidden.bind(f"\0{name}")
        hidden.listen()
        (folder / "socket").write_text(name)
        (folder / "port").write_text(str(server.getsockname()[1]))
        patch.setenv(SECRET, "1")
        yield


def seat(bot: dict[str, Any], folder: Path) -> SeatSpec:
    """How to run `bot` in `folder`; skips the test where its compiler is missing."""
    stem = Path(bot["file"]).stem
    names = {"file": bot["file"], "stem": stem}
    build = MANIFEST["build"].get(bot["language"])
    if build is not None and not (folder / stem).exists():
        if shutil.which(build[0]) is None:
            pytest.skip(f"{build[0]} is not installed")
        subprocess.run([part.format(**names) for part in build], cwd=folder, check=True)
    program, *rest = (part.format(**names) for part in MANIFEST["run"][bot["language"]])
    argv = (sys.executable, "-P") if program == "python3" else (str((folder / program).absolute()),)
    return SeatSpec(bot=stem, run=(*argv, *rest, MARK), cwd=str(folder), memory_mb=bot["memory_mb"])


def running(stem: str) -> list[int]:
    """The processes that this test process has started and that have `stem` among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if {stem.encode(), MARK.encode()} <= set(arguments):
                found.append(int(entry.name))
    return found


@cache
def why_not(level: Level) -> str:
    """Why `level` cannot be had here, if it cannot."""
    try:
        check_level(level)
    except BadInput as error:
        return str(error)
    return ""


def content(folder: Path) -> dict[str, str]:
    """What is in a folder and below it: paths, and the digests of files."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(("bot", "level", "game", "players"), cases())
def test_verdict_and_evidence(
    bot: dict[str, Any],
    level: Level,
    game: str,
    players: int,
    folder: Path,
    host: None,
    own_groups: Callable[[], set[str]],
) -> None:
    """The bot gets the fault it deserves, with evidence; the honest ones play on, and nothing is left."""
    if why_not(level):
        pytest.skip(why_not(level))
    bot = {**bot, **bot.get(level, {}), **bot["games"].get(game, {})}
    groups = own_groups()
    mine_first = seat(bot, folder)
    options = load_options(load_game(game), players, SHORT.get(game, {}))
    spec = MatchSpec(
        id="misbehaving",
        game=game,
        options=options_json(options),
        seats=(mine_first, *(seat(HONEST, folder) for _ in range(players - 1))),
        key=match_key(bot["file"]),
        seed=bot["file"],
        clock=TimeControl(**bot["clock"]),
        level=level,
        faults=bot["faults"],
        strikes=bot["strikes"],
    )
    gc.collect()  # what other tests left is not to go meanwhile
    before, files = os.listdir("/proc/self/fd"), content(folder)
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = play_match(spec)

    mine, *others = result.faults
    assert not any(others)
    lines = [json.loads(line) for line in result.record.splitlines()]
    asked = [line for line in lines if line["type"] in ("act", "fault") and line["seat"] == 0]
    if not mine:
        assert "ok" in bot["verdicts"]
    else:
        assert len(mine) == 1, mine
        assert mine[0].kind in bot["verdicts"], lines[mine[0].n]
        fault = lines[mine[0].n]
        assert fault["seat"] == 0
        assert bot["evidence"] in json.dumps(fault["detail"], ensure_ascii=False)
        if bot["faults"] == "forfeit":
            assert result.ranks[0] == players
            assert players not in result.ranks[1:]
    answered = [line for line in asked if line["type"] == "act" and "ms" in line]
    assert len(answered) >= bot["answered"]
    assert verify_record(result.record).digest == result.digest
    assert b"\x1b" not in result.record
    assert lines[0]["detail"]["level"] == level
    assert set(lines[0]["detail"]["kept"]) >= PROMISED[level]
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_kb < 64 * 1024
    if bot["leaves_nothing"] or level == "sandbox":
        assert running(mine_first.bot) == []
    assert own_groups() == groups
    if level == "sandbox":
        assert content(folder) == files


def test_plays_two_matches_at_once(folder: Path) -> None:
    """The same bot in two matches at the same time gets the same results as one after the other."""
    if why_not("sandbox"):
        pytest.skip(why_not("sandbox"))
    options = options_json(load_options(load_game("aliens"), 2, SHORT["aliens"]))
    seats = (seat(HONEST, folder), seat({**HONEST, "file": "forges_answers.py"}, folder))
    specs = [
        MatchSpec(
            id=f"m{n}",
            game="aliens",
            options=options,
            seats=seats,
            key=match_key(f"at once {n}"),
            clock=TimeControl(move_s=60.0, start_s=60.0),
            level="sandbox",
        )
        for n in (1, 2)
    ]
    apart = [play_match(spec).digest for spec in specs]
    script = (
        "import pickle, sys; from warpleague.runner.play import play_match; "
        "print(play_match(pickle.load(sys.stdin.buffer)).digest)"
    )
    found: list[str] = []

    def play(spec: MatchSpec) -> None:
        done = subprocess.run(
            [sys.executable, "-c", script], input=pickle.dumps(spec), capture_output=True, check=True
        )
        found.append(done.stdout.decode().strip())

    threads = [threading.Thread(target=play, args=(spec,)) for spec in specs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(apart)
