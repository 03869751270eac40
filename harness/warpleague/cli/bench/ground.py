"""Shared parts of the rows of the benchmark: the common measure, the bots, one core, and leagues as commands."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import tomli_w

from warpleague.errors import BadInput, HarnessFault
from warpleague.games import game_ids, load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, TimeControl
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.host.reaper import descendants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warpleague.games.api import Game
    from warpleague.match.spec import SeatSpec

_MEMORY_S: Final = 0.5
QUESTION: Final = b'{"type":"act","id":1234,"ask":"turn","clock":{"move_s":1.0}}\n'
PINGPONG_US: Final = 2.2
"""The ping-pong on the quiet machine that goals in other units were set for, in microseconds."""
ASKING: Final = "WANTS"
"""The flag with which the bot of the bench asks for all that bots get by default."""
SHORT: Final[dict[str, Any]] = {"max_rounds": 13}
"""Options of coasters for matches of 30 decisions."""
ANSWER: Final = b'{"type":"act","id":1234,"action":0}\n'
WARPLEAGUE: Final = (
    sys.executable,
    "-I",
    "-c",
    "import sys; from warpleague.cli import main; sys.exit(main())",
)
"""The program as a command of its own: not by its name, which may be another version's."""


@attrs.frozen
class LeagueRun:
    """A league that was run as a command: wall time and the processor time of all its processes in seconds, what was
    played, the processor time of the bots' decisions in seconds, and the most memory of the harness in MB, if that was
    measured.
    """

    seconds: float
    cpu_s: float
    matches: int
    decisions: int
    bots_cpu_s: float
    memory_mb: float


class Ground:
    """The ground of a round. `scale` makes every row shorter; `base_us` is the common measure of this round."""

    def __init__(
        self, folder: Path, games: Mapping[str, Game[Any, Any]], scale: float, peers: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.games = games
        self.scale = scale
        self.peers = peers
        self.base_us = 0.0
        self.cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        self._programs: dict[str, Path] = {}
        self._bots: dict[tuple[str, ...], Path] = {}
        self._leagues = 0

    def times(self, count: int) -> int:
        """`count` repetitions, or fewer in a shorter round."""
        return max(1, round(count * self.scale))

    @contextlib.contextmanager
    def one_core(self) -> Iterator[None]:
        """Keep this process, and all that it starts, on one core."""
        before = os.sched_getaffinity(0) if self.cores else set()  # one core where calls are nested
        try:
            if self.cores:
                os.sched_setaffinity(0, {min(self.cores)})
            yield
        finally:
            if before:
                os.sched_setaffinity(0, before)

    # ------------------------------------------------------------------ programs in C

    def program(self, name: str) -> Path:
        """The program made of `name`.c beside this module."""
        if name not in self._programs:
            compiler = shutil.which("cc")
            if compiler is None:
                raise BadInput("the bench needs a C compiler (cc) for the common measure and the trivial bot")
            target = self.folder / name
            source = resources.files("warpleague.cli.bench") / f"{name}.c"
            with resources.as_file(source) as path:
                subprocess.run([compiler, "-O2", "-o", str(target), str(path)], check=True)
            self._programs[name] = target
        return self._programs[name]

    def measure_base(self) -> float:
        """Microseconds for a question and an answer of a match's size, from C to C, on one core."""
        rounds = str(max(1000, round(100_000 * self.scale)))
        argv = [str(self.program("pingpong")), rounds, str(len(QUESTION)), str(len(ANSWER))]
        with self.one_core():
            self.base_us = float(subprocess.run(argv, capture_output=True, check=True).stdout) / 1000
        return self.base_us

    def bot_folder(self, *flags: str, reusable: bool = True) -> Path:
        """The folder of the bot in bot.c beside this module, compiled with `flags` (see there)."""
        key = *flags, str(reusable)
        if key not in self._bots:
            target = self.folder / f"bot-{len(self._bots)}"
            target.mkdir()
            (target / "bot.c").write_bytes((resources.files("warpleague.cli.bench") / "bot.c").read_bytes())
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

    def seat(self, *, wants: bool = False) -> SeatSpec:
        """The trivial bot, built: it wants nothing, or with `wants` all that bots get by default."""
        return self.built(self.bot_folder(f"-D{ASKING}") if wants else self.bot_folder())

    @staticmethod
    def built(folder: Path) -> SeatSpec:
        """The bot in `folder`, built."""
        return prepare(folder).seat()

    def spec(self, game: Game[Any, Any], seat: SeatSpec, number: int, **changes: Any) -> MatchSpec:
        """Match `number` of trivial bots: the same dice in every round."""
        seed = f"bench {number}"
        spec = MatchSpec(
            id="bench",
            game=game.id,
            options=options_json(game.Options()),
            seats=(seat,) * players_of(game),
            key=match_key(seed),
            seed=seed,
            clock=TimeControl(move_s=1.0),
        )
        return attrs.evolve(spec, **changes)

    # ------------------------------------------------------------------ leagues

    def league(
        self,
        bot: Path,
        deals: int,
        *,
        game: str = "coasters",
        options: Mapping[str, Any] = SHORT,
        level: str = "limits",
        jobs: int = 0,
        move_s: float = 1.0,
        together: int | str = 1,
        measure_memory: bool = False,
    ) -> LeagueRun:
        """Run a league of copies of one bot as a command, `deals` deals with every seat order.

        The default is short matches of coasters. Each match has its own dice, so that bots may be reused for the next.
        `together` is how many matches a job plays at a time.
        """
        file, results = self._league_file(bot, deals, game, options, level, move_s, together)
        run = [
            *WARPLEAGUE,
            "league",
            "run",
            str(file),
            "--results",
            str(results),
            "--quiet",
            "--jobs",
            str(jobs),
        ]
        begun, cpu_s = time.perf_counter(), children_cpu_s()
        memory_mb = _run(run, measure_memory)
        seconds, cpu_s = time.perf_counter() - begun, children_cpu_s() - cpu_s
        rows, bots_cpu_s = decisions_cpu_s(file, results)
        shutil.rmtree(results)
        return LeagueRun(
            seconds=seconds,
            cpu_s=cpu_s,
            matches=sum(row["matches"] for row in rows) // len(rows),
            decisions=sum(row["decisions"] for row in rows),
            bots_cpu_s=bots_cpu_s,
            memory_mb=memory_mb,
        )

    @contextlib.contextmanager
    def played_league(self) -> Iterator[tuple[Path, Path]]:
        """A small league that has been played: its file, and its folder of results."""
        file, results = self._league_file(self.bot_folder(), 1, "coasters", SHORT, "none", 1.0)
        _run([*WARPLEAGUE, "league", "run", str(file), "--results", str(results), "--quiet"])
        try:
            yield file, results
        finally:
            shutil.rmtree(results)

    def _league_file(
        self,
        bot: Path,
        deals: int,
        game: str,
        options: Mapping[str, Any],
        level: str,
        move_s: float,
        together: int | str = 1,
    ) -> tuple[Path, Path]:
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
        file.write_text(tomli_w.dumps(data))
        return file, self.folder / f"results-{self._leagues}"


def children_cpu_s() -> float:
    """The processor time in seconds of all processes that this one and its children have started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def decisions_cpu_s(file: Path, results: Path) -> tuple[list[dict[str, Any]], float]:
    """The table `league times` of a league that was played, and the processor time in seconds of all decisions."""
    look = [*WARPLEAGUE, "league", "times", str(file), "--results", str(results), "--json"]
    rows = json.loads(subprocess.run(look, capture_output=True, check=True).stdout)
    return rows, sum(row["decisions"] * row["cpu_ms"] for row in rows) / 1000


def players_of(game: Game[Any, Any]) -> int:
    """How many seats the bench fills: two where the game may be played so."""
    return 2 if 2 in game.players else game.players[0]


def _run(argv: list[str], measure_memory: bool = False) -> float:
    """Run a command. Returns the most memory in MB of it and its Python children, with `measure_memory`."""
    most_kb = 0
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(argv, stdout=output, stderr=output)
        try:
            while measure_memory and process.poll() is None:
                most_kb = max(most_kb, sum(map(_memory_kb, [process.pid, *descendants(process.pid)])))
                time.sleep(_MEMORY_S)
            process.wait()
        finally:
            process.kill()
        if process.returncode:
            output.seek(0)
            text = output.read().decode(errors="replace")
            raise HarnessFault(f"warpleague {' '.join(argv[4:])} failed:\n{text[-2000:]}")
    return most_kb / 1000


def _memory_kb(pid: int) -> int:
    """The memory of a process in kB, shared pages divided; 0 for a bot, which runs another program."""
    with contextlib.suppress(OSError, ValueError):
        folder = Path(f"/proc/{pid}")
        if (folder / "exe").readlink() == Path(sys.executable).resolve():
            for line in (folder / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1])
    return 0
