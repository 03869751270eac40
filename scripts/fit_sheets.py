#!/usr/bin/env python3
"""Fit the weights by which the opponents of sheets value a sheet, and write them.

    python scripts/fit_sheets.py [GAMES]

The strongest level plays itself, with weights that differ a little from seat to seat. Then, for each number of own
turns left, the weights are those that foretell best how many points were still to come (ridge regression). Run it
again to fit to the play of the weights just found. A game takes about half a second.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from textwrap import fill
from typing import Any, Final

import numpy as np

from warpleague.games.api import CHANCE
from warpleague.games.playout import random_move
from warpleague.games.sheets import GAME
from warpleague.games.sheets.geometry import ROUNDS
from warpleague.opponents import sheets
from warpleague.opponents.player import Skill
from warpleague.opponents.sheets import box_points, features, marks_of, pairs
from warpleague.opponents.sheets_weights import WEIGHTS
from warpline.budget import Budget

FILE: Final = Path(sheets.__file__).parent / "sheets_weights.py"
ROLLS: Final = 8
DIFFER: Final = 0.3
"""How much weights differ, as a part of them."""
PENALTY: Final = 20.0
"""How strongly weights are held near those with one turn less."""
Row = tuple[tuple[float, ...], float]


def varied(rng: Random) -> list[tuple[float, ...]]:
    """The weights, each feature's scaled a little."""
    scale = [1 + rng.gauss(0, DIFFER) for _ in WEIGHTS[0]]
    return [tuple(weight * by for weight, by in zip(row, scale, strict=True)) for row in WEIGHTS]


def play(rng: Random, rows: dict[int, list[Row]]) -> None:
    """One game of two; adds for each seat and turn the features, and the points that came after."""
    weights = [varied(rng), varied(rng)]
    state: Any = GAME.initial(2, GAME.Options())
    seen: list[tuple[int, int, Any]] = []
    players = [seat_of(seat) for seat in (0, 1)]
    turn = (-1, -1)
    while actors := GAME.actors(state):
        if (state.round, state.seat) != turn:
            turn = state.round, state.seat
            seen += [
                (seat, ROUNDS - state.round + (seat >= state.seat), sheet)
                for seat, sheet in enumerate(state.sheets)
            ]
        if actors == (CHANCE,):
            state, _ = GAME.apply(state, random_move(GAME, state, rng))
            continue
        player = players[actors[0]]
        sheets.WEIGHTS = tuple(weights[actors[0]])  # type: ignore[attr-defined]
        sheets.worth_with = player.worths
        legal = GAME.legal(state, player.seat)
        question: Any = type("Asked", (), {"ask": GAME.ask(state, player.seat)})
        state, _ = GAME.apply(state, legal[player.choose(question, state, legal)])
    scores = GAME.outcome(state).scores
    for seat, left, sheet in seen:
        marks = marks_of(sheet)
        now = box_points(marks.edges, marks.holes, marks.free_lines) + 3 * pairs(marks.holes)
        rows.setdefault(left, []).append((features(marks), scores[seat] - now))


def seat_of(seat: int) -> Any:
    """A player with a memory of worths of its own."""
    player: Any = sheets.Sheets.__new__(sheets.Sheets)
    player.seat, player.skill, player.rng = seat, Skill(0.0, ROLLS), Random(seat)
    player.budget = Budget()
    known: dict[int, sheets.Worth] = {}
    player.worths = lambda left: known.setdefault(left, sheets.Worth(left))
    return player


def fit(rows: dict[int, list[Row]]) -> list[tuple[float, ...]]:
    """The weights by own turns left; none are needed when the last turn is over."""
    size = len(WEIGHTS[0])
    found = np.zeros(size + 1)
    fitted = [tuple(0.0 for _ in range(size))]
    for left in range(1, ROUNDS + 1):
        x = np.array([[*row, 1.0] for row, _ in rows[left]])
        y = np.array([points for _, points in rows[left]])
        penalty = np.diag([*[PENALTY] * size, 1e-6])
        found = found + np.linalg.solve(x.T @ x + penalty, x.T @ (y - x @ found))
        fitted.append(tuple(float(weight) for weight in found[:size]))
    return fitted


def main() -> None:
    """Play, fit, write."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rows: dict[int, list[Row]] = {}
    for number in range(games):
        play(Random(f"fit {number}"), rows)
    head = FILE.read_text(encoding="utf-8").partition("WEIGHTS: Final")[0]
    table = "".join([f"    (\n{_lines(row)}\n    ),\n" for row in fit(rows)])
    text = f"{head}WEIGHTS: Final[tuple[tuple[float, ...], ...]] = (\n{table})  # fmt: skip\n"
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE}: weights from {games} games")


def _lines(row: tuple[float, ...]) -> str:
    """The weights of a row, many on a line."""
    text = ", ".join(f"{weight:.2f}" for weight in row)
    return fill(f"{text},", 110, initial_indent=" " * 8, subsequent_indent=" " * 8)


if __name__ == "__main__":
    main()
