"""Plays aliens: in some of its decisions it follows the plan in plan.py, if that is there; all others are random.

Authors of the demo of rounds start with it.
"""

import sys
from pathlib import Path
from random import Random

from warpline.client import run

sys.path.insert(0, str(Path(__file__).parent))

CARE = 0.0  # the part of its decisions in which it follows the plan


def main():
    """Play over standard input and output."""
    player = None

    def start(match):
        nonlocal player
        if CARE:
            from plan import Player

            player = Player(match)

    def choose(question):
        random = Random(f"{question.seed} {question.id}")
        if player is not None and random.random() < CARE:
            return player.choose(question)
        return random.randrange(len(question.legal))

    run(choose, wants=("state", "legal"), reusable=True, on_start=start)


if __name__ == "__main__":
    main()
