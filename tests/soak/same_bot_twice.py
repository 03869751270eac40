"""Plays each game with the same bot twice beside a random one: the twins' ratings must not differ by more than chance.

    python tests/soak/same_bot_twice.py [DEALS]

It plays so many deals a table (default 1000; a multiple of 2 evens out neighbours), in the seat orders and with the
dice of a league, but in this process and without clocks: so a quarter of an hour is enough to see ten Elo. The exit
code is 1 if two twins differ by more than 2.58 standard errors; by chance that happens in one of a hundred. Aliens has
tables of two only, where twins are equal on every deal.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from warpleague.games import load_game
from warpleague.league.config import FormatTable
from warpleague.league.ratings.fit import joint_fit
from warpleague.league.ratings.outcomes import Outcomes
from warpleague.league.schedule import Schedule
from warpleague.league.season import Season
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import FORMAT, SeatSpec, TimeControl

if TYPE_CHECKING:
    from types import ModuleType

BOTS = {
    "coasters": "coasters-hunter",
    "sheets": "sheets-greedy:SAMPLES=2",
    "captains": "captains-planner:SEARCHED=500",
}
TWIN, OTHER = 0, 1


def script() -> ModuleType:
    """`scripts/luck.py`, which plays shipped bots in this process."""
    path = Path(__file__).resolve().parents[2] / "scripts" / "luck.py"
    spec = importlib.util.spec_from_file_location("luck", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differ(luck: ModuleType, game_id: str, bot: str, deals: int) -> bool:
    """Whether the twins of a game differ, which is printed."""
    game = load_game(game_id)
    options = load_options(game, 3, {})
    season = Season(
        game=game_id,
        rules=game.rules_version,
        options=options_json(options),
        players=3,
        format=FormatTable(deals=deals),
        clock=TimeControl(move_s=1.0),
        level="limits",
        faults="forfeit",
        strikes=0,
        secret=b"twins".ljust(32),
        bots=tuple(SeatSpec(bot=name, digest=name) for name in ("one twin", "the other", "random")),
    )
    players = [luck.Player(name, 0) for name in (bot, bot, "random")]
    outcomes = Outcomes()
    for match in Schedule(season):
        table = [players[number] for number in match.seats]
        ranks = luck.play(game, options, table, season.key_of(match.deal), FORMAT).ranks
        outcomes.add(match.group, match.seats, tuple(ranks))
    fit = joint_fit(outcomes, 3, start=0.0, anchor=OTHER)
    found, error = fit.ratings[TWIN], fit.errors[TWIN]
    if found is None or not error:
        print(f"{game_id}: {bot}: no error known", flush=True)
        return True
    print(f"{game_id}: {bot} against itself: {found:+.1f} Elo, standard error {error:.1f}", flush=True)
    return abs(found) > 2.58 * error


def main() -> int:
    """Play all games."""
    deals, luck = int(sys.argv[1]) if len(sys.argv) > 1 else 1000, script()
    found = [game for game, bot in BOTS.items() if differ(luck, game, bot, deals)]
    print("twins differ in: " + ", ".join(found) if found else "no twins differ")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
