"""Plays each game with the same bot twice beside random ones: the twins' ratings must not differ by more than chance.

    python tests/soak/same_bot_twice.py [DEALS] [GAME ...]

It plays tables of every size from three on: so many deals at tables of three (default 1000), and so many fewer at
larger ones that there are as many matches. (At tables of one and two twins are equal on every deal; aliens has no
others.) It plays in the seat orders and with the dice of a league, but in this process and without clocks: so a
quarter of an hour for each game and size is enough to see ten Elo. It says how far it is after each tenth. The exit
code is 1 if twins differ by more than chance makes it in one of a hundred such runs.
"""

import sys
from pathlib import Path
from statistics import NormalDist
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.programs import program

from warpleague.games import load_game
from warpleague.league.ratings.fit import joint_fit
from warpleague.league.ratings.outcomes import Outcomes
from warpleague.league.schedule.schedule import Schedule
from warpleague.league.season.config import FormatTable
from warpleague.league.season.season import Season
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import SeatSpec, TimeControl

BOTS = {
    "coasters": "coasters-hunter",
    "sheets": "sheets-greedy:SAMPLES=2",
    "captains": "captains-planner:SEARCHED=500",
}
TWIN, OTHER = 0, 1


def differ(luck: ModuleType, game_id: str, bot: str, size: int, deals: int, limit: float) -> bool:
    """Whether twins differ by more than `limit` standard errors at tables of this size, which is printed."""
    game = load_game(game_id)
    options = load_options(game, size, {})
    season = Season(
        game=game_id,
        rules=game.rules_version,
        options=options_json(options),
        players=size,
        format=FormatTable(deals=deals),
        clock=TimeControl(move_s=1.0),
        level="limits",
        faults="forfeit",
        strikes=0,
        secret=b"twins".ljust(32),
        bots=tuple(
            SeatSpec(bot=name, digest=name)
            for name in ("one twin", "the other", *(f"random {number}" for number in range(2, size)))
        ),
    )
    players = [luck.Player(bot if number < 2 else "random", max(number - 1, 0)) for number in range(size)]
    outcomes = Outcomes()
    for played, match in enumerate(Schedule(season), start=1):
        table = [players[number] for number in match.seats]
        ranks = luck.play(game, options, table, season.key_of(match.deal)).ranks
        outcomes.add(match.group, match.seats, tuple(ranks))
        if played % max(size * (deals // 10), size) == 0 and played < size * deals:
            print(f"  {told(outcomes, size, limit)[0]} after {played // size} deals", flush=True)
    text, differs = told(outcomes, size, limit)
    print(f"{game_id}: {bot} against itself, tables of {size}, {deals} deals: {text}", flush=True)
    return differs


def told(outcomes: Outcomes, size: int, limit: float) -> tuple[str, bool]:
    """By how much the twins differ in these matches, and whether that is more than `limit` standard errors."""
    fit = joint_fit(outcomes, size, start=0.0, anchor=OTHER)
    found, error = fit.ratings[TWIN], fit.errors[TWIN]
    if found is None or not error:
        return "no error known", True
    return f"{found:+.1f} Elo, standard error {error:.1f}", abs(found) > limit * error


def main() -> int:
    """Play all games."""
    deals = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    luck = program(Path(__file__).resolve().parents[2] / "scripts" / "luck.py")
    games = sys.argv[2:] or list(BOTS)
    designs = [(game, size) for game in games for size in load_game(game).players if size > 2]
    limit = NormalDist().inv_cdf(1 - 0.01 / len(designs) / 2)  # each may be wrong as much more seldom
    found = [
        f"{game} at tables of {size}"
        for game, size in designs
        if differ(luck, game, BOTS[game], size, max(3 * deals // size, 1), limit)
    ]
    print("twins differ in: " + ", ".join(found) if found else "no twins differ")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
