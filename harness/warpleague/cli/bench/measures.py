"""Runs the rounds of the benchmark and gathers their figures.

Every round measures all figures one after the other, and ratios are formed within a round, so that a machine whose
speed drifts does not change them.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.cli.bench.engines import playouts
from warpleague.cli.bench.ground import WARPLEAGUE, Ground
from warpleague.cli.bench.matches import play
from warpleague.cli.bench.nullgame import NullGame
from warpleague.cli.bench.rows import medians
from warpleague.cli.bench.starts import bare_s, fastest
from warpleague.games import load_game
from warpleague.runner.confine.launch import compiled_starter
from warpleague.runner.play import peak_memory_mb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warpleague.cli.bench.rows import Figure, Row

Figures = dict[str, Any]


class Bench:
    """The figures of `rows`, with `general` also those of the wire and each game: medians over `rounds` rounds."""

    def __init__(
        self,
        games: tuple[str, ...],
        *,
        rounds: int,
        rows: Sequence[Row] = (),
        general: bool = True,
        peers: Mapping[str, str] | None = None,
        quick: bool = False,
    ) -> None:
        self.games = {name: load_game(name) for name in games}
        self.rounds = rounds
        self.rows = rows
        self.general = general
        self.peers = peers or {}
        self.scale = 0.05 if quick else 1.0

    def run(self, tell: Callable[[str], None] | None) -> Figures:
        """Measure every figure; `tell` is called with what is being measured."""
        general: list[Figures] = []
        taken: dict[str, list[Sequence[Figure]]] = {row.name: [] for row in self.rows}
        with tempfile.TemporaryDirectory() as folder:
            ground = Ground(Path(folder), self.games, self.scale, self.peers)
            for number in range(self.rounds):
                ground.measure_base()
                if self.general:
                    _say(tell, f"round {number + 1} of {self.rounds}: the games")
                    general.append(_general(ground))
                for row in self.rows:
                    if number == 0 or row.takes != "minutes":
                        _say(tell, f"round {number + 1} of {self.rounds}: {row.name}, {row.what}")
                        taken[row.name].append(row.load()(ground))
        return {
            "python": sys.version.split()[0],
            "rounds": self.rounds,
            "compiled": compiled_starter() is not None,
            "peak_memory_mb": round(peak_memory_mb(), 1),
            "figures": _medians(general) if general else {"pingpong_us": round(ground.base_us, 3)},
            "rows": [figure for row in self.rows for figure in medians(row, taken[row.name])],
        }


def _say(tell: Callable[[str], None] | None, text: str) -> None:
    if tell is not None:
        tell(text)


def _general(ground: Ground) -> Figures:
    """The figures without a goal: the wire, each game's engine and matches, and the start of the program."""
    with ground.one_core():
        base = ground.measure_base()
        seat = ground.seat()
        figures: Figures = {"pingpong_us": base}
        wire = play(ground, NullGame(), seat, 3).us
        figures["wire_us"], figures["wire_ratio"] = wire, wire / base
        for name, game in ground.games.items():
            actions, steps = playouts(game, ground.scale)
            played = play(ground, game, seat, 30)
            figures[name] = {
                "playout_steps_per_s": steps,
                "playout_us_per_action": 1e6 / actions,
                "match_us_per_decision": played.us,
                "match_decisions_per_s": 1e6 / played.us,
                "match_ratio": played.us / base,
                "engine_share": played.share,
                "decisions": played.decisions,
            }
        bare = bare_s()
        figures["help_ratio"] = fastest((*WARPLEAGUE, "--help")) / bare
        figures["version_ratio"] = fastest((*WARPLEAGUE, "--version")) / bare
    return figures


def _medians(rounds: list[Figures]) -> Figures:
    first = rounds[0]
    return {
        name: _medians([one[name] for one in rounds])
        if isinstance(value, dict)
        else round(statistics.median(one[name] for one in rounds), 3)
        for name, value in first.items()
    }
