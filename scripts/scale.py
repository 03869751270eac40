#!/usr/bin/env python3
"""Measure the scale of the ladder: how strong each level is, in Elo over random play.

python scripts/scale.py aliens --deals 40       play on until each pair of levels has played 40 deals
python scripts/scale.py --write                 fit what is measured, and write the scale that the package ships

Each level plays the next two above it, in both seat orders of each deal, in this process and without clocks. Deals are
kept in results/scale, so a run that was stopped goes on where it was. They belong to the ladder as it was: after a
change of its programs the files have other names. The fit is the one of leagues; its anchor is random play.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from ladder import games, version
from luck import Player, play

from warpleague.games import load_game
from warpleague.league.ratings.fit import joint_fit
from warpleague.league.ratings.outcomes import Outcomes
from warpleague.league.ratings.statistics import rounded
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options
from warpleague.opponents.player import LEVELS
from warpleague.opponents.scale import SCALE_FILE
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.bundle.manifest import read_manifest

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "results" / "scale"
PAIRS = tuple((low, low + step) for step in (1, 2) for low in range(1, LEVELS + 1) if low + step <= LEVELS)
"""Each level with the next above it, and then with the next but one."""


def deals_file(game: str) -> Path:
    """Where the deals of a game are kept, one a line, for the ladder as it is."""
    return MEASURED / f"{game}-2-{version(game).partition('+')[2]}.jsonl"


def measured(game: str) -> list[dict[str, Any]]:
    """All deals of a game: its number, the pair of levels, and the ranks of this pair in each seat order."""
    path = deals_file(game)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def measure(game_id: str, deals: int) -> None:
    """Play the deals that are missing, all pairs in turn."""
    game = load_game(game_id)
    options = load_options(game, 2, {})
    done = {(*one["pair"], one["deal"]) for one in measured(game_id)}
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


def fitted(game_id: str) -> dict[str, Any]:
    """The scale of a game, as the file has it."""
    outcomes, pairs = Outcomes(), Counter[tuple[int, int]]()
    for one in measured(game_id):
        low, high = (level - 1 for level in one["pair"])
        first, second = (tuple(ranks) for ranks in one["ranks"])
        outcomes.add_deal([((low, high), first), ((high, low), second[::-1])])
        pairs[low + 1, high + 1] += 1
    fit = joint_fit(outcomes, LEVELS, start=0.0, anchor=0)
    if None in fit.ratings or len(pairs) < len(PAIRS):
        raise SystemExit(f"{game_id}: not every pair has played; run: python scripts/scale.py {game_id}")
    folders = ["bots/random-python", *(f"bots/ladder/{game_id}-{level}" for level in range(2, LEVELS + 1))]
    # A level that won every match against all below is placed by one more deal, drawn: that is no estimate.
    bounds = [fit.tiers[level] != fit.tiers[level - 1] for level in range(1, LEVELS)]
    return {
        "game": game_id,
        "players": 2,
        "levels": [
            {
                "bot": folder,
                "digest": folder_digest(ROOT / folder, read_manifest(ROOT / folder).files),
                "elo_over_random": round(fit.ratings[level] or 0.0, 1),
                # Beyond a guess an error is that within a tier, not of the distance to random play.
                "half_interval_elo": None if any(bounds[:level]) else rounded(fit.half(level) or 0.0, 1),
                "step_is_a_guess": level > 0 and bounds[level - 1],
            }
            for level, folder in enumerate(folders)
        ],
        "deals": [[low, high, count] for (low, high), count in sorted(pairs.items())],
    }


def main() -> None:
    """Measure, or write the scale."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game", nargs="?", choices=games(), help="default: all games")
    parser.add_argument("--deals", type=int, default=40, help="of each pair (default 40)")
    parser.add_argument("--write", action="store_true", help="play nothing, and write the scale")
    args = parser.parse_args()
    if args.write:
        scales = {"scales": [fitted(game) for game in games()]}
        SCALE_FILE.write_text(json.dumps(scales, indent=1) + "\n", encoding="utf-8")
        return
    for game in [args.game] if args.game else games():
        measure(game, args.deals)


if __name__ == "__main__":
    main()
