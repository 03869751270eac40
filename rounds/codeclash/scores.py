"""Prints the scores of a tournament of CodeClash, theirs beside those of Warp League.

    python3 scores.py FOLDER    the folder of a tournament, with its metadata.json

CodeClash counts rounds: the bot with the highest score wins a round, by however little; round 0, before any edit, does
not count. Warp League says of each round which ranks a bot may have by strength, with 95 % confidence. A round is
won for sure only where the first rank is the only one.
"""

import json
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Print a block for each round, then both counts for each player."""
    rounds = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))["round_stats"]
    won: dict = {}
    sure: dict = {}
    for number, stats in rounds.items():
        print(f"round {number}: winner {stats['winner']}")
        for name, score in sorted(stats["scores"].items()):
            figures = next(
                (line for line in stats["details"] if line.startswith(f"{name}: ")), f"{name}: not played"
            )
            print(f"  score {score:g}; {figures}")
            counts = number != "0"
            won[name] = won.get(name, 0) + (counts and stats["winner"] == name)
            sure[name] = sure.get(name, 0) + (counts and figures.startswith(f"{name}: rank 1, "))
    for name in sorted(won):
        print(f"{name}: won {won[name]} of {len(rounds) - 1} rounds, {sure[name]} of them for sure")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "metadata.json").is_file():
        sys.exit("usage: scores.py FOLDER, the folder of a tournament with its metadata.json")
    main(Path(sys.argv[1]))
