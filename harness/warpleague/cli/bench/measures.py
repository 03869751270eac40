"""The measures of the benchmark: how each figure is measured, and against which other figure it is compared.

Every round measures all figures one after the other on the same core, and ratios are formed within a round, so that a
machine whose speed drifts does not change them.
"""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import trio

from warpleague.cli.bench.nullgame import NullGame
from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.games.api import CHANCE
from warpleague.match.chance import match_key
from warpleague.match.replay import Replay
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, TimeControl
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.shipped import starter_folder
from warpleague.runner.play import peak_memory_mb, play_game

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Game
    from warpleague.match.spec import SeatSpec

QUESTION: Final = b'{"type":"act","id":1234,"ask":"turn","clock":{"move_s":1.0}}\n'
ANSWER: Final = b'{"type":"act","id":1234,"action":0}\n'

Figures = dict[str, Any]


class Bench:
    """All figures for `games`; `rounds` rounds, medians over them."""

    def __init__(self, games: tuple[str, ...], *, rounds: int, quick: bool = False) -> None:
        self.games = {name: load_game(name) for name in games}
        self.rounds = rounds
        self.scale = 0.05 if quick else 1.0

    def run(self, tell: Callable[[str], None] | None) -> Figures:
        """Measure every figure; `tell` is called with what is being measured."""
        compiler = shutil.which("cc")
        if compiler is None:
            raise BadInput("the bench needs a C compiler (cc) for the common measure and the trivial bot")
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        rounds: list[Figures] = []
        with tempfile.TemporaryDirectory() as folder:
            pingpong = Path(folder) / "pingpong"
            source = resources.files("warpleague.cli.bench") / "pingpong.c"
            with resources.as_file(source) as path:
                subprocess.run([compiler, "-O2", "-o", str(pingpong), str(path)], check=True)
            bot = prepare(starter_folder("first-c")).seat()
            try:
                if cores:
                    os.sched_setaffinity(0, {min(cores)})
                for number in range(self.rounds):
                    if tell is not None:
                        tell(f"round {number + 1} of {self.rounds}")
                    rounds.append(self._round(pingpong, bot))
            finally:
                if cores:
                    os.sched_setaffinity(0, cores)
        return {
            "python": sys.version.split()[0],
            "rounds": self.rounds,
            "peak_memory_mb": round(peak_memory_mb(), 1),
            "figures": _medians(rounds),
        }

    def _round(self, pingpong: Path, bot: SeatSpec) -> Figures:
        figures: Figures = {}
        base = self._pingpong(pingpong)
        figures["pingpong_us"] = base
        wire = self._whole(NullGame(), bot, max(1, round(3 * self.scale)))[0]
        figures["wire_us"], figures["wire_ratio"] = wire, wire / base
        for name, game in self.games.items():
            actions, steps = self._playouts(game)
            whole, share, decisions = self._whole(game, bot, max(1, round(30 * self.scale)))
            figures[name] = {
                "playout_steps_per_s": steps,
                "playout_us_per_action": 1e6 / actions,
                "match_us_per_decision": whole,
                "match_decisions_per_s": 1e6 / whole,
                "match_ratio": whole / base,
                "engine_share": share,
                "decisions": decisions,
            }
        figures.update(self._start_up())
        return figures

    # ------------------------------------------------------------------ single figures

    def _pingpong(self, program: Path) -> float:
        """Microseconds for a question and an answer of a match's size, from C to C, on this core."""
        rounds = str(max(1000, round(100_000 * self.scale)))
        argv = [str(program), rounds, str(len(QUESTION)), str(len(ANSWER))]
        return float(subprocess.run(argv, capture_output=True, check=True).stdout) / 1000

    def _playouts(self, game: Game[Any, Any]) -> tuple[float, float]:
        """Actions and steps (chance included) a second of random play through the engine alone."""
        rng = Random(1)
        players = game.players[0] if 2 not in game.players else 2
        options = game.Options()
        limit = 1.0 * self.scale
        actions = steps = 0
        begun = time.perf_counter()
        while (spent := time.perf_counter() - begun) < limit:
            taken, made = playout(game, players, options, rng)
            actions, steps = actions + taken, steps + made
        return actions / spent, steps / spent

    def _whole(self, game: Game[Any, Any], bot: SeatSpec, matches: int) -> tuple[float, float, int]:
        """Microseconds a decision of whole matches with trivial bots, the engine's share of it, decisions."""
        players = 2 if 2 in game.players else game.players[0]
        options = game.Options()
        spent = engine = 0.0
        decisions = 0
        for number in range(matches):
            seed = f"bench {number}"
            spec = MatchSpec(
                id="bench",
                game=game.id,
                options=options_json(options),
                seats=(bot,) * players,
                key=match_key(seed),
                seed=seed,
                clock=TimeControl(move_s=1.0),
            )
            gc.collect()
            result = trio.run(play_game, game, spec)
            spent += result.playing_s
            decisions += sum(times.decisions for times in result.times)
            if game.id != "null":
                engine += _engine_s(game, result.record)
        return spent * 1e6 / decisions, engine / spent, decisions

    def _start_up(self) -> Figures:
        """Start-up times in proportion to `python -c pass`, the best of some starts each."""
        # A script's own start is what a user feels; -I keeps both from looking at the current folder.
        bare = _fastest([sys.executable, "-I", "-c", "pass"])
        entry = [sys.executable, "-I", "-c", "import sys; from warpleague.cli import main; sys.exit(main())"]
        return {
            "help_ratio": _fastest([*entry, "--help"]) / bare,
            "version_ratio": _fastest([*entry, "--version"]) / bare,
        }


def playout(game: Game[Any, Any], players: int, options: Any, rng: Random) -> tuple[int, int]:
    """One random game through the engine alone; how many actions and how many steps it had."""
    actors, legal, apply, chance = game.actors, game.legal, game.apply, game.chance
    random = rng.random
    state = game.initial(players, options)
    actions = steps = 0
    while who := actors(state):
        steps += 1
        seat = who[0]
        if seat == CHANCE:
            state, _ = apply(state, tuple([_drawn(draw, random()) for draw in chance(state)]))
        else:
            choices = legal(state, seat)
            state, _ = apply(state, choices[int(random() * len(choices))])
            actions += 1
    return actions, steps


def _drawn(draw: int | tuple[int, ...], point: float) -> int:
    if isinstance(draw, int):
        return int(point * draw)
    rest = point * sum(draw)
    for index, weight in enumerate(draw):
        rest -= weight
        if rest < 0:
            return index
    return max(index for index, weight in enumerate(draw) if weight)


def _engine_s(game: Game[Any, Any], record: bytes) -> float:
    """Seconds the engine needs for what it did in a match: the recorded moves again, without wire and record."""
    replay = Replay(record)
    moves: list[Any] = []
    state = replay.first
    for step in replay:
        data = step.data
        if data["type"] == "chance":
            moves.append(tuple(data["outcome"]))
        else:
            moves.append(game.parse(state, data["seat"], data["action"]))
        state = step.state
    actors, legal, apply, chance, talk, ask = (
        game.actors,
        game.legal,
        game.apply,
        game.chance,
        game.talk,
        game.ask,
    )
    state = replay.first
    begun = time.perf_counter()
    for move in moves:
        seat = actors(state)[0]
        if seat == CHANCE:
            chance(state)
        else:
            len(legal(state, seat))
            talk(state, seat)
            ask(state, seat)
        state, _ = apply(state, move)
    return time.perf_counter() - begun


def _fastest(argv: list[str]) -> float:
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
        best = min(best, time.perf_counter() - begun)
    return best


def _medians(rounds: list[Figures]) -> Figures:
    first = rounds[0]
    return {
        name: _medians([one[name] for one in rounds])
        if isinstance(value, dict)
        else round(statistics.median(one[name] for one in rounds), 3)
        for name, value in first.items()
    }
