#!/usr/bin/env python3
"""Measure the opponents: how strong each level is, and the steps between levels at all tables.

python scripts/scale.py                       play what is missing, some hours; it may be stopped and continued
python scripts/scale.py "captains 4" --deals 20
python scripts/scale.py --write               play nothing; write the scale of the package and docs/opponents.md
python scripts/scale.py --check               play nothing; fail if the page has not these figures

Each level plays the next two above it. Matches are those of `scripts/duels.py`: on each deal the two bots exchange
their seats, in this process, without clocks; alone at the table, each plays the deal. At tables of three and more all
other seats have bots of level 3, the field. The results are in docs/opponents.csv, one line a deal. They belong to the
bots as they are: after a change of their programs, begin anew. A scale is the fit of leagues to the two bots of each
deal; its anchor is random play. There is one for each table size of which all rows have 20 deals.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

from benchmark import DEALS, LEAST, page_with, table, whole_lines
from duels import deal, elo
from luck import Player

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.league.ratings.fit import joint_fit
from warpleague.league.ratings.outcomes import Outcomes
from warpleague.league.ratings.statistics import Mean, rounded
from warpleague.league.schedule.formats.placement import seats_of
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options
from warpleague.opponents.player import LEVELS
from warpleague.opponents.scale import FIELD_LEVEL, SCALE_FILE, SHOWN, all_scales
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.bundle.manifest import read_manifest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "opponents.md"
RESULTS = PAGE.with_suffix(".csv")
SEED = "ladder 2"
"""With the two bots, the seats, and the number of a deal it gives the dice. No deal was drawn again."""
FEWER = 40
"""Deals at other tables than those of two; of coasters not, where dice decide more, and matches are short."""
OTHERS = {
    "aliens": [("aliens-search", "aliens-5")],
    "captains": [("captains-planner", "captains-5")],
    "coasters": [("coasters-hunter", "coasters-5")],
    "sheets": [("sheets-greedy", "sheets-5")],
}
"""Bots beside the opponents, which play duels against level 5."""
COLUMNS = ["table", "one", "two", "deal", "first", "second"]

Row = tuple[str, str, str]
"""A table such as `sheets 2`, and the two bots, the weaker one first."""
Played = dict[Row, dict[int, list[float]]]
"""By row and deal: the share of points of the second bot in each match, two matches a deal and alone one."""


def bot_of(game: str, level: int) -> str:
    """The name of a level, for `luck.Player`."""
    return "random" if level == 1 else f"{game}-{level}"


def every_table() -> list[str]:
    """All table sizes of all games: `aliens 2`, ..."""
    return [f"{game} {seats}" for game in DEALS for seats in load_game(game).players]


def rows_of(name: str) -> list[Row]:
    """What is played at a table."""
    game, _, seats = name.partition(" ")
    pairs = [
        (bot_of(game, low), bot_of(game, low + step))
        for step in (1, 2)
        for low in range(LEVELS - step, 0, -1)
    ]
    return [(name, *pair) for pair in pairs + (OTHERS[game] if seats == "2" else [])]


def read(path: Path) -> Played:
    """The results of a file."""
    found: Played = defaultdict(dict)
    for line in csv.DictReader(whole_lines(path, COLUMNS).splitlines()):
        shares = [float(line[key]) for key in ("first", "second") if line[key]]
        found[line["table"], line["one"], line["two"]][int(line["deal"])] = shares
    return found


def measure(names: list[str], deals: int | None, path: Path) -> None:
    """Play the deals that are missing, all rows in turn; each deal is written at once."""
    done = read(path)
    path.write_text(whole_lines(path, COLUMNS), encoding="utf-8")
    rows = [row for name in names for row in rows_of(name)]
    most = deals or max(DEALS.values())
    with path.open("a", encoding="utf-8", buffering=1) as file:
        for number in range(most):
            for row in rows:
                if number < (deals or wanted(row[0])) and number not in done[row]:
                    shares = [f"{share:g}" for share in play_deal(row, number)]
                    file.write(",".join([*row, str(number), *shares, ""][: len(COLUMNS)]) + "\n")
            print(f"deal {number + 1} of {most}", flush=True)


def wanted(name: str) -> int:
    """How many deals a row of this table needs."""
    game, _, seats = name.partition(" ")
    return DEALS[game] if seats == "2" or game == "coasters" else FEWER


def play_deal(row: Row, number: int) -> list[float]:
    """The share of points of the second bot in each match of a deal."""
    name, one, two = row
    game_id, seats = name.split()
    game, players = load_game(game_id), int(seats)
    names = (two, one, bot_of(game_id, FIELD_LEVEL))
    bots = [[player(bot, which, seat) for seat in range(players)] for which, bot in enumerate(names)]
    places = [2] * players
    for which, seat in enumerate(seats_of(players, number)):
        places[seat] = which
    key = match_key(" ".join([SEED, *row, str(number)]))
    return deal(game, load_options(game, players, {}), bots, key, places)[0]


@cache
def player(bot: str, which: int, _seat: int) -> Player:
    """A player for each seat of a bot."""
    return Player(bot, which)


def fitted(name: str, played: Played) -> dict[str, Any] | None:
    """The scale of a table, as the file has it; None as long as a row has too few deals."""
    game, seats = name.split()
    outcomes, pairs = Outcomes(), []
    ranks = {1.0: (2, 1), 0.5: (1, 1), 0.0: (1, 2)}  # of the lower and the higher level
    for low in range(1, LEVELS + 1):
        for high in range(low + 1, min(low + 2, LEVELS) + 1):
            deals = played[name, bot_of(game, low), bot_of(game, high)]
            if len(deals) < LEAST:
                return None
            for shares in deals.values():
                outcomes.add_deal([((low - 1, high - 1), ranks[share]) for share in shares])
            pairs.append([low, high, len(deals)])
    fit = joint_fit(outcomes, LEVELS, start=0.0, anchor=0)
    folders = ["bots/random-python", *(f"bots/opponents/{game}-{level}" for level in range(2, LEVELS + 1))]
    # A level that won every match against all below is placed by one more deal, drawn: that is no estimate.
    bounds = [fit.tiers[level] != fit.tiers[level - 1] for level in range(1, LEVELS)]
    return {
        "game": game,
        "players": int(seats),
        **({"field_level": FIELD_LEVEL} if int(seats) > 2 else {}),
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
        "deals": pairs,
    }


def steps(game: str, played: Played) -> str:
    """The table of the page for a game: by how much the second bot of a row is stronger."""
    rows = []
    for name in (name for name in every_table() if name.startswith(f"{game} ")):
        seats = name.partition(" ")[2]
        for row in rows_of(name):
            shares = [mean(matches) for _, matches in sorted(played[row].items())]
            if len(shares) >= LEAST:
                ends = mean(shares), *(Mean.of(shares).share_interval() or (0.0, 1.0))
                score = "{:.1f} ({:.1f} to {:.1f})".format(*(100 * end for end in ends))
                alone = "solo" if seats == "1" else seats
                rows.append([f"{row[2]}, {row[1]}", alone, str(len(shares)), score, elo(*ends)])
    return table("step | seats | deals | score in % | Elo", rows)


def strengths(game: str, found: list[dict[str, Any]]) -> str:
    """The table of the page with the scales of a game: the Elo of each level over random play."""
    rows = []
    for scale, data in zip(all_scales(), found, strict=True):
        if scale.game == game:
            deals = sum(deals for _, _, deals in data["deals"])
            ratings = [
                f"≈ {level.elo_over_random:.0f}"
                if level.half_interval_elo is None
                else f"{level.elo_over_random:.0f} ± {level.half_interval_elo:.0f}"
                for level in scale.levels[1:]
            ]
            seats = "solo" if scale.players == 1 else str(scale.players)
            rows.append([seats, str(deals), *ratings, f"`{scale.digest[:SHOWN]}`"])
    levels = " | ".join(f"level {level}" for level in range(2, LEVELS + 1))
    return table(f"seats | deals | {levels} | scale", rows)


def main() -> int:
    """Measure, or write scale and page; the exit code."""
    every = every_table()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"some of: {', '.join(every)}")
    parser.add_argument("--deals", type=int, help="of each row (default 100 or 40)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results are kept")
    parser.add_argument("--write", action="store_true", help="play nothing, and write scale and page")
    parser.add_argument("--check", action="store_true", help="play nothing; fail if they are not up to date")
    args = parser.parse_args()
    if any(name not in every for name in args.tables):
        parser.error(f"there are tables such as {every[0]!r}, {every[1]!r}")
    if not (args.write or args.check):
        measure(args.tables or every, args.deals, args.results)
        return 0
    try:
        played = read(args.results)
        found = [scale for name in every if (scale := fitted(name, played))]
        scales = json.dumps({"scales": found}, indent=1) + "\n"
        if args.write:
            SCALE_FILE.write_text(scales, encoding="utf-8")
        page = text = PAGE.read_text(encoding="utf-8")
        for game in DEALS:
            tables = f"{strengths(game, found)}\n\n{steps(game, played)}"
            page = page_with(page, tables, f"<!-- made by scripts/scale.py: {game} -->")
    except (BadInput, OSError, ValueError, KeyError) as error:
        print(f"scale: {error}", file=sys.stderr)
        return 2
    if args.check:
        return int((page, scales) != (text, SCALE_FILE.read_text(encoding="utf-8")))
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
