#!/usr/bin/env python3
"""Measure the scale of the ladder: how strong each level is, in Elo over random play.

python scripts/scale.py aliens --deals 40       play on until each pair of levels has played 40 deals
python scripts/scale.py --write                 fit what is measured, and write the scale that the package ships

Each level plays the next two above it, in both seat orders of each deal, in this process and without clocks. Deals are
kept in results/scale, so a run that was stopped goes on where it was. They belong to the ladder as it was: after a change
of its programs the files have other names. The fit is the one of leagues; its anchor is random play.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ladder import games, version
from luck import Player, play

from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options
from warpleague.opponents.player import LEVELS

MEASURED = Path(__file__).resolve().parent.parent / "results" / "scale"
PAIRS = tuple(
    (low, low + step) for step in (1, 2) for low in range(1, LEVELS + 1) if low + step <= LEVELS
)
"""Each level with the next above it, and then with the next but one."""


def deals_file(game: str) -> Path:
    """Where the deals of a game are kept, one a line, for the ladder as it is."""
    return MEASURED / f"{game}-2-{version(game).partition('+')[2]}.jsonl"


def measured(game: str) -> list[dict[str, list[list[int]] | list[int] | int]]:
    """All deals of a game: its number, the pair of levels, and the ranks of this pair in each seat order."""
    path = deals_file(game)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def measure(game_id: str, deals: int) -> None:
    """Play the deals that are missing, all pairs in turn."""
    game = load_game(game_id)
    options = load_options(game, 2, {})
    done = {(*one["pair"], one["deal"]) for one in measured(game_id)}  # type: ignore[misc]
    players = {
        level: Player("random" if level == 1 else f"{game_id}-{level}", level)
        for level in range(1, LEVELS + 1)
    }
    path = deals_file(game_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for deal in range(deals):
            for low, high in PAIRS:
                if (low, high, deal) in done:
                    continue
                key = match_key(f"scale {low} {high} {deal}")
                first = play(game, options, [players[low], players[high]], key).ranks
                second = play(game, options, [players[high], players[low]], key).ranks
                line = {"deal": deal, "pair": [low, high], "ranks": [list(first), list(second[::-1])]}
                print(json.dumps(line), file=file, flush=True)
