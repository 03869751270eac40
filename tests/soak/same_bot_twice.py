"""Plays each game with the same bot twice beside a random one: the twins' ratings must not differ by more than chance.

    python tests/soak/same_bot_twice.py [DEALS]

It plays so many deals a table (default 60; a multiple of 2 evens out neighbours), and exits with 1 if two twins differ
by more than 2.58 standard errors: by chance that happens in one of a hundred. Aliens has tables of two only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

BOTS = {"sheets": "sheets-greedy", "coasters": "coasters-hunter", "captains": "captains-planner"}


def differ(game: str, bot: str, deals: int) -> bool:
    """Whether the twins of a game differ, which is printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "twins.toml"
        file.write_text(
            f'seed = "twins"\nbots = ["bots/{bot}", {{ path = "bots/{bot}", name = "twin" }}, "bots/random-python"]\n'
            f'[game]\nid = "{game}"\nplayers = 3\n[format]\ndeals = {deals}\n',
            encoding="utf-8",
        )
        program = [sys.executable, "-m", "warpleague", "league", "run", str(file), "--json"]
        done = subprocess.run([*program, "--results", folder], stdout=subprocess.PIPE, check=True)
        lines = {line["bot"]: line for line in json.loads(done.stdout)["standings"]}
    one, two = lines[bot], lines["twin"]
    share = 100 * (one["points"] / one["played"] - two["points"] / two["played"])
    if one["fit"] is None or two["fit"] is None or not one["error"] or not two["error"]:
        print(f"{game}: {bot} {share:+.1f} points against itself; no error known")
        return False
    difference = one["fit"] - two["fit"]
    # Half the 95 % intervals; the errors of both, taken as independent.
    error = (one["error"] ** 2 + two["error"] ** 2) ** 0.5 / 1.96
    print(
        f"{game}: {bot} {share:+.1f} points, {difference:+.1f} Elo against itself, standard error {error:.1f}"
    )
    return abs(difference) > 2.58 * error


def main() -> int:
    """Play all games."""
    deals = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    found = [game for game, bot in BOTS.items() if differ(game, bot, deals)]
    print("twins differ in: " + ", ".join(found) if found else "no twins differ")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
