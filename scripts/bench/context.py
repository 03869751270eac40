"""What the rows of the bench share: the ping-pong, trivial bots, one core, and leagues run as commands."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import tomli_w

from warpleague.games import game_ids, load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl
from warpleague.runner.bundle.bundle import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warpleague.games.api import Game

HERE: Final = Path(__file__).parent
QUESTION: Final = b'{"type":"act","id":1234,"ask":"turn","clock":{"move_s":1.0}}\n'
ANSWER: Final = b'{"type":"act","id":1234,"action":0}\n'
SHORT: Final[dict[str, Any]] = {"max_rounds": 13}
"""Options of coasters for matches of 30 decisions."""
PROGRAM: Final = (sys.executable, "-I", "-c", "import sys; from warpleague.cli import main; sys.exit(main())")
"""The program as a command of its own: not by its name, which may be another version's."""
_RUNS: Final = 3
_CLEAR: Final = 5  # the difference must be this many times the spread of equal runs
_DOUBLED: Final = 3  # times; after that the run would take minutes


@attrs.frozen
class Figure:
    """One figure of a row. Its goal is for the ratio to another figure of this run, or without one for the value.

    Both are None where this run is too noisy to measure them.
    """

    label: str
    value: float | None = None
    unit: str = ""
    ratio: float | None = None
    over: str = ""
    goal: float | None = None
    at_most: bool = True


@attrs.frozen
class LeagueRun:
    """A league that was run as a command: wall time and processor time of all its processes, and what was played."""

    seconds: float
    cpu_s: float
    matches: int
    decisions: int


class Bench:
    """Measures in `folder`; a `scale` below 1 makes every row shorter."""

    def __init__(self, folder: Path, games: Mapping[str, Game[Any, Any]], scale: float) -> None:
        self.folder = folder
        self.games = games
        self.scale = scale
        self.where: tuple[Path | str, ...] = ()  # the last league, as arguments of a command
        self.cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        self._bots: dict[tuple[str, ...], Path] = {}
        self._leagues = 0

    def times(self, count: int) -> int:
        """`count` repetitions, or fewer in a shorter round."""
        return max(1, round(count * self.scale))

    @contextlib.contextmanager
    def one_core(self) -> Iterator[None]:
        """Keep this process, and all that it starts, on one core."""
        before = os.sched_getaffinity(0) if self.cores else set()  # one core where calls are nested
        if self.cores:
            os.sched_setaffinity(0, {min(self.cores)})
        try:
            yield
        finally:
            if self.cores:
                os.sched_setaffinity(0, before)

    def pingpong_us(self) -> float:
        """Microseconds for a question and an answer of a match's size between two programs in C, on one core."""
        program = self.folder / "pingpong"
        if not program.exists():
            subprocess.run(["cc", "-O2", "-o", program, HERE / "pingpong.c"], check=True)
        argv: list[Path | str] = [
            program,
            str(max(1000, self.times(100_000))),
            str(len(QUESTION)),
            str(len(ANSWER)),
        ]
        with self.one_core():
            return float(subprocess.run(argv, capture_output=True, check=True).stdout) / 1000

    def bot(self, *flags: str, reusable: bool = True) -> Path:
        """The folder of the bot in bot.c, compiled with `flags` (see there)."""
        key = *flags, str(reusable)
        if key not in self._bots:
            target = self.folder / f"bot-{len(self._bots)}"
            target.mkdir()
            shutil.copy(HERE / "bot.c", target)
            manifest = {
                "name": "first",
                "version": "1.0",
                "games": list(game_ids()),
                "build": ["cc", "-O2", *flags, "-o", "bot", "bot.c"],
                "run": ["./bot"],
                "reusable": reusable,
            }
            (target / "bot.toml").write_text(tomli_w.dumps(manifest))
            self._bots[key] = target
        return self._bots[key]

    def seat(self, *flags: str) -> SeatSpec:
        """The bot in bot.c, built."""
        return prepare(self.bot(*flags)).seat()

    @staticmethod
    def spec(game: Game[Any, Any], seat: SeatSpec, number: int) -> MatchSpec:
        """Match `number` of trivial bots: the same dice in every round."""
        seed = f"bench {number}"
        return MatchSpec(
            id="bench",
            game=game.id,
            options=options_json(game.Options()),
            seats=(seat,) * players_of(game),
            key=match_key(seed),
            seed=seed,
            clock=TimeControl(move_s=1.0),
        )

    def league(
        self,
        bot: Path,
        deals: int,
        *,
        game: str = "coasters",
        options: Mapping[str, Any] = SHORT,
        level: str = "limits",
        move_s: float = 1.0,
        together: int | str = 1,
        jobs: int = 0,
    ) -> LeagueRun:
        """Run a league of copies of one bot as a command, `deals` deals with every seat order.

        Each match has its own dice, so that bots may be reused for the next.
        """
        self._leagues += 1
        seats = players_of(load_game(game))
        data: dict[str, Any] = {
            "seed": "bench",
            "bots": [{"path": str(bot), "name": f"bot-{seat}"} for seat in range(seats)],
            "game": {"id": game, "players": seats, "options": dict(options)},
            "format": {"deals": deals, "dice": "own"},
            "clock": {"move_s": move_s},
            "rules": {"level": level},
            "run": {"matches_per_job": together},
        }
        file = self.folder / f"league-{self._leagues}.toml"
        self.where = file, "--results", self.folder / f"results-{self._leagues}"
        file.write_text(tomli_w.dumps(data))
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        command("league", "run", *self.where, "--quiet", "--jobs", jobs)
        seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        rows = json.loads(command("league", "times", *self.where, "--json"))
        return LeagueRun(
            seconds,
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            sum(row["matches"] for row in rows) // len(rows),
            sum(row["decisions"] for row in rows),
        )

    def league_beyond_one_deal(self, bot: Path, deals: int, **league: Any) -> tuple[LeagueRun, bool]:
        """What a league of `deals` deals takes more than one of a single deal, and whether noise leaves that clear.

        A difference of two wall times says nothing where they vary by as much. So each league is run three times, and
        the difference of the fastest must be five times the spread of equal runs. If it is not, `deals` is doubled,
        up to three times.
        """
        few = self._fastest(bot, 1, league)
        deals, clear = max(2, self.times(deals)), False
        for _ in range(_DOUBLED + 1):
            many = self._fastest(bot, deals, league)
            spread = max(runs[-1].seconds - runs[0].seconds for runs in (few, many))
            clear = many[0].seconds - few[0].seconds >= _CLEAR * spread
            if clear:
                break
            deals *= 2
        short, long = few[0], many[0]
        more = LeagueRun(
            long.seconds - short.seconds,
            long.cpu_s - short.cpu_s,
            long.matches - short.matches,
            long.decisions - short.decisions,
        )
        return more, clear

    def _fastest(self, bot: Path, deals: int, league: dict[str, Any]) -> list[LeagueRun]:
        return sorted((self.league(bot, deals, **league) for _ in range(_RUNS)), key=lambda run: run.seconds)


def players_of(game: Game[Any, Any]) -> int:
    """How many seats the bench fills: two where the game may be played so."""
    return 2 if 2 in game.players else game.players[0]


def command(*words: object) -> bytes:
    """Run the program as a command; its output."""
    return subprocess.run([*PROGRAM, *map(str, words)], check=True, stdout=subprocess.PIPE).stdout


def fastest_s(*argv: str, runs: int = 5) -> float:
    """Seconds of the fastest of some runs of a command."""
    best = float("inf")
    for _ in range(runs):
        begun = time.perf_counter()
        subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
        best = min(best, time.perf_counter() - begun)
    return best


def bare_s() -> float:
    """Seconds that `python -c pass` takes; -I keeps it, as it does our commands, from the current folder."""
    return fastest_s(sys.executable, "-I", "-c", "pass")
